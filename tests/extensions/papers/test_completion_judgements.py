"""Whose word counts, what is no word, how often a judge errs, and how far judges agree."""

from dataclasses import replace
from typing import Any

import pytest

from tabcontam.evidence.base import EvidenceKind, Verdict
from tabcontam.evidence.completion_pairs import CompletionJudgement, CompletionPair, Likeness
from tabcontam.extensions.papers.completion_judgements import (
    SETTINGS,
    TEXT,
    Judgement,
    Judgements,
    agreements,
    judge_facts,
    judgement_of,
    pair_of,
)
from tabcontam.verdicts.columns import record_of
from tabcontam.verdicts.result_types import Result, ResultKey

EXACT, NEAR, NONE = Likeness
PLACE = ResultKey("llm", "news", "1", "is", "guided_match")
OTHER = PLACE._replace(llm="other")


def completion(number: int, said: str = "something else") -> CompletionPair:
    return CompletionPair(f"q-{number}", "first", f"true ending {number}", said)


def judgement(
    one: CompletionPair, by: str, word: Likeness | None, place: ResultKey = PLACE, **changes: Any
) -> Judgement:
    return replace(Judgement(place, one.query_id, by, pair_of(one), word), **changes)


def person(one: CompletionPair, by: str, word: Likeness, place: ResultKey = PLACE) -> Judgement:
    return judgement(one, by, word, place, person=True)


def test_a_line_is_read_as_it_was_written() -> None:
    one = judgement(completion(0), "judge", NEAR, made=NONE, begging=True, reply="x", detail="y", version="1")
    assert judgement_of(one.line()) == one
    silent = judgement(completion(0), "judge", None)
    assert judgement_of(silent.line()) == silent


@pytest.mark.parametrize(
    "change", [{"word": "yes"}, {"word": 3}, {"by": None}, {"made": "maybe"}, {"llm": 7}, {"query": []}]
)
def test_a_line_that_is_none_is_refused(change: dict[str, object]) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        judgement_of(judgement(completion(0), "judge", NEAR).line() | change)


def test_the_llm_that_judged_last_counts_and_people_where_it_has_no_word() -> None:
    one, two, three = (completion(number) for number in range(3))
    judgements = Judgements(
        [
            person(one, "Ida", EXACT),
            person(two, "Ida", NEAR),
            judgement(one, "early", NONE),
            judgement(one, "late", NEAR),
            judgement(two, "late", None, detail="refused"),
        ]
    )
    assert judgements.judges == ("late", "early", "Ida")
    assert judgements.word(PLACE, one) == CompletionJudgement(NEAR, "late")
    assert judgements.word(PLACE, two) == CompletionJudgement(NEAR, "Ida")
    assert judgements.word(PLACE, three) is None
    assert judgements.word(OTHER, one) is None


def test_a_later_word_of_the_same_judge_takes_the_place_of_the_earlier() -> None:
    one = completion(0)
    assert Judgements([person(one, "Ida", NONE), person(one, "Ida", NEAR)]).word(PLACE, one) == CompletionJudgement(
        NEAR, "Ida"
    )


def test_a_word_says_nothing_of_another_completion() -> None:
    judgements = Judgements([judgement(completion(0), "judge", NEAR)])
    assert judgements.word(PLACE, completion(0, "what was said when it was asked again")) is None


def test_no_word_is_not_counted_as_a_word() -> None:
    one, two = completion(0), completion(1)
    judgements = Judgements([judgement(one, "judge", None, detail="refused"), judgement(two, "judge", NONE)])
    (facts,) = judge_facts(judgements, {PLACE: [one, two]})
    assert (facts.judged, facts.unjudged, facts.words) == (1, 1, {"no match": 1})
    assert facts.errs == ""


def test_the_error_rate_is_that_on_made_pairs() -> None:
    made = [(EXACT, EXACT), (NEAR, NEAR), (NEAR, NONE), (NONE, NONE), (NONE, None), (NONE, EXACT)]
    lines = [
        judgement(completion(number), "judge", said, PLACE._replace(llm=""), made=true, begging=number == 5)
        for number, (true, said) in enumerate(made)
    ]
    (facts,) = judge_facts(Judgements([*lines, judgement(completion(9), "judge", NONE)]), {PLACE: [completion(9)]})
    assert [(one.word, one.pairs, one.right, one.unjudged) for one in facts.made] == [
        (EXACT, 1, 1, 0),
        (NEAR, 2, 1, 0),
        (NONE, 3, 1, 1),
    ]
    assert (facts.made[2].begging, facts.made[2].led) == (1, 1)
    wrong = "wrong on 1 of 2 near-exact, 1 of 3 no match; no label for 1; misled by 1 of 1 that asks for another label"
    assert facts.errs == f"it labelled 3 of 6 made pairs right ({wrong})"
    assert facts.sentence.startswith("judge judge judged 1 completions (1 no match); it labelled 3 of 6")


def cell(test: str, paper: Verdict | None, place: ResultKey = PLACE) -> Result:
    named = place._replace(test=test)._asdict()
    return record_of(Result, **named, kind=EvidenceKind.MEMORIZATION, verdict=None, paper_verdict=paper)


def test_people_judges_the_text_and_methods_agree_as_the_tables_of_time_travel_have_it() -> None:
    completions = [completion(0, "true ending 0"), completion(1), completion(2), completion(3)]
    held = {PLACE: completions, OTHER: [completion(number, "else") for number in range(2)]}
    lines = [person(one, "Ida", word) for one, word in zip(completions, (EXACT, NEAR, NEAR, NONE), strict=True)]
    lines += [person(one, "Ida", NONE, OTHER) for one in held[OTHER]]
    lines += [judgement(one, "judge", word) for one, word in zip(completions[1:], (NEAR, NONE, NONE), strict=True)]
    lines += [judgement(held[OTHER][0], "judge", NEAR, OTHER), judgement(held[OTHER][1], "judge", NEAR, OTHER)]
    cells = [
        cell("guided_completion", Verdict.CONTAMINATED),
        cell("guided_completion", Verdict.NOT_DETECTED, OTHER),
        cell("guided_match", Verdict.CONTAMINATED),
        cell("feature_completion", Verdict.SKIPPED),
    ]
    found = {(one.kind, one.first, one.second): one for one in agreements(Judgements(lines), held, cells)}
    one = found["completions", "judge", "Ida"]
    assert (one.items, one.agree) == (6, 3)  # the exact one, which no judge is asked about, counts as its word
    assert one.kappa == pytest.approx((0.5 - 13 / 36) / (1 - 13 / 36), abs=1e-6)
    text = found["completions", TEXT, "Ida"]
    assert (text.items, text.agree) == (6, 4)
    settings = {(a, b): (one.items, one.agree) for (of, a, b), one in found.items() if of == SETTINGS}
    assert settings["judge", "Ida"] == (2, 1)
    assert settings["Ida", "guided_completion"] == (2, 2)
    assert not any("feature_completion" in pair or "guided_match" in pair for pair in settings)


def test_a_setting_that_is_judged_in_part_is_decided_only_where_it_is_found() -> None:
    completions = [completion(number) for number in range(4)]
    half = [person(one, "Ida", NONE) for one in completions[:3]]
    all_of_it = [judgement(one, "judge", NONE) for one in completions]
    found = agreements(Judgements([*half, *all_of_it]), {PLACE: completions}, [])
    assert not [one for one in found if one.kind == SETTINGS and "Ida" in (one.first, one.second)]
    half[0] = person(completions[0], "Ida", EXACT)
    found = agreements(Judgements([*half, *all_of_it]), {PLACE: completions}, [])
    assert [
        (one.items, one.agree) for one in found if one.kind == SETTINGS and (one.first, one.second) == ("judge", "Ida")
    ] == [(1, 0)]
