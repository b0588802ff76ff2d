"""What is said at first sight is true, plain, and never more than was found."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.evidence.base import Family, Verdict
from tabcontam.replay.answer_records import ROW_TESTS as RECORDED
from tabcontam.report.finding_sentences import NAMES_SHOWN, scope, sentences
from tabcontam.report.standings import Titles, standings
from tabcontam.verdicts.document import parse_results
from tabcontam.verdicts.gate import Conclusion
from tabcontam.verdicts.run_facts import known_tests
from tests.report.rendered import judge
from tests.report.synthetic import HOSTILE, cell, document, results, table, tables_of, weighed

ROW, KNOWLEDGE = "full_completion", "feature_list_informed"
C, N, U, Q, S = ("contaminated", "not detected", "uninformative", "no answer", "skipped")
Given = list[tuple[str, str, str | None]]


def said(cells: Given, tables: dict[str, str] | None = None, llm: str = "m", **changes: Any) -> str:
    """The first sentence about cells of (dataset, test, verdict), and verdicts of tables."""
    made = [cell(llm, dataset, test, verdict, **power(test, verdict, tables)) for dataset, test, verdict in cells]
    lines = [table(llm, dataset, verdict) for dataset, verdict in (tables or {}).items()]
    of = document(made, lines, **changes)
    for fact in of["run"]["datasets"]:
        fact["title"] = fact["name"].title()
    return str(sentences(parse_results(of))[0])


def power(test: str, verdict: str | None, tables: dict[str, str] | None) -> dict[str, float]:
    """What a row test that found nothing would have found, where the run states it of tables."""
    return {"detectable_share": 0.12} if tables and test == ROW and verdict == N else {}


@pytest.mark.parametrize(
    ("cells", "tables", "sentence"),
    [
        ([("iris", ROW, C)], {}, "m recalls rows of Iris."),
        ([("iris", ROW, N)], {"iris": C}, "m recalls rows of Iris."),
        ([("iris", ROW, C)], {"iris": N}, "m recalls rows of Iris."),
        ([("iris", ROW, C), ("titanic", ROW, C), ("bank", ROW, C)], {}, "m recalls rows of Iris, Titanic and Bank."),
        ([("iris", ROW, C), ("iris", KNOWLEDGE, C)], {}, "m recalls rows of Iris."),
        (
            [("titanic", ROW, C), ("iris", ROW, C), ("adult", ROW, N)],
            {"titanic": C, "iris": C, "adult": N},
            "m recalls rows of Titanic and Iris; no rows were detected on Adult, where an LLM that remembers "
            "12% of the rows would have been detected.",
        ),
        ([("adult", ROW, N)], {"adult": N}, "m: no rows were detected on Adult, where an LLM that remembers "
        "12% of the rows would have been detected."),
        ([("adult", ROW, N)], {}, "m: no rows were detected on Adult, and the detectable share is not known."),
        (
            [("wine", KNOWLEDGE, C), ("wine", ROW, N)],
            {"wine": N},
            "m knows Wine, for which a page about it is enough (no rows were detected, where an LLM that remembers 12% "
            "of the rows would have been detected).",
        ),
        (
            [("wine", KNOWLEDGE, C), ("iris", KNOWLEDGE, C)],
            {},
            "m knows Wine and Iris, for which a page about each is enough (no row test was run).",
        ),
        (
            [("wine", KNOWLEDGE, C), ("wine", ROW, Q)],
            {"wine": Q},
            "m knows Wine, for which a page about it is enough (whether it recalls rows is undecided).",
        ),
        (
            [("bank", ROW, Q)],
            {"bank": Q},
            "m: whether it recalls rows of Bank is undecided: too few answers could be read (2 of 25 answers "
            "readable).",
        ),
        (
            [("bank", ROW, U), ("iris", ROW, U), ("wine", ROW, S)],
            {"bank": U, "iris": U, "wine": S},
            "m: whether it recalls rows of Bank and Iris is undecided: the test could not tell memory from "
            "prediction (a guesser would be right as often); whether it recalls rows of Wine is undecided: nothing "
            "was asked (controls cannot take part in classification).",
        ),
        ([("iris", KNOWLEDGE, N)], {}, "m: no knowledge of Iris was detected (no row test was run)."),
        (
            [("iris", KNOWLEDGE, Q)],
            {},
            "m: nothing is decided on Iris: too few answers could be read (2 of 25 answers readable).",
        ),
        ([("iris", "classification_0shot", None)], {}, "m: there are only scores on Iris, without a verdict."),
        (
            [("iris", "of_my_own", C)],
            {},
            "m knows Iris, for which a page about it is enough (no row test was run).",
        ),
    ],
)  # fmt: skip
def test_what_was_found_is_said_in_one_plain_sentence(cells: Given, tables: dict[str, str], sentence: str) -> None:
    assert said(cells, tables) == sentence


@pytest.mark.parametrize(
    ("llm", "verdict", "sentence"),
    [
        ("control:exposed", C, "recalls rows of Iris, as it must: it has read them."),
        ("control:exposed", N, "is missed on Iris, whose rows it has read, so the row tests have no power there."),
        ("control:exposed", S, "is undecided: nothing was asked (controls cannot take part in classification)."),
        ("control:unexposed", N, ": no rows of Iris were detected, as it must be: it has read none of its rows."),
        (
            "control:unexposed",
            C,
            "is flagged on Iris, though it has read none of its rows: the row tests measure plausibility there, not "
            "memory.",
        ),
    ],
)
def test_a_control_that_joined_is_held_against_what_it_has_read(llm: str, verdict: str, sentence: str) -> None:
    of = document([cell(llm, "iris", ROW, verdict, control=True)], [table(llm, "iris", verdict)])
    of["run"]["datasets"][0]["title"] = "Iris"
    assert str(sentences(parse_results(of))[0]).endswith(sentence)


@pytest.mark.parametrize(
    ("verdict", "copies", "sentence"),
    [
        (C, 64.0, "mine is detected on Iris, of which it has read 64 copies, on average, of each row."),
        (N, 64.0, "mine is missed on Iris, of which it has read 64 copies, on average, of each row."),
        (N, 0.0, "mine: no rows of Iris were detected, as it must be: it has read none of its rows."),
        (C, 0.0, "mine is flagged on Iris, by mistake: it has read none of its rows."),
    ],
)
def test_a_control_that_the_user_named_is_told_with_how_much_it_has_read(
    verdict: str, copies: float, sentence: str
) -> None:
    of = document(
        [cell("mine", "iris", ROW, verdict, control=True) | {"exposure": copies}], [table("mine", "iris", verdict)]
    )
    of["run"]["datasets"][0]["title"] = "Iris"
    of["run"]["llms"][0] |= {"control": True, "checks": False}
    assert str(sentences(parse_results(of))[0]) == sentence


def test_each_table_of_a_named_control_is_told_by_its_own_copies() -> None:
    cells = [cell("mine", name, ROW, verdict, control=True) for name, verdict in (("iris", C), ("wine", C))]
    of = document(
        [cells[0] | {"exposure": 64.0}, cells[1] | {"exposure": 0.0}],
        [table("mine", "iris", C), table("mine", "wine", C)],
    )
    of["run"]["llms"][0] |= {"control": True, "checks": False}
    view = parse_results(of)
    assert str(sentences(view)[0]) == (
        "mine is detected on The iris data, of which it has read 64 copies, on average, of each row; "
        "is flagged on The wine data, by mistake: it has read none of its rows."
    )
    assert view.exposed == {("mine", view.results[0].table)}


def test_a_control_that_is_the_subject_is_an_llm_like_others() -> None:
    assert said([("iris", ROW, C)], llm="control:exposed") == "control:exposed recalls rows of Iris."


def test_a_control_without_a_row_test_shows_nothing() -> None:
    of = document([cell("control:exposed", "iris", KNOWLEDGE, C, control=True)])
    assert str(sentences(parse_results(of))[0]) == "control:exposed: no row test was run on The iris data."


@pytest.mark.parametrize(
    ("shares", "seen"),
    [
        ([0.12, 0.12], "where an LLM that remembers 12% of the rows would have been detected"),
        (
            [0.04, 0.26],
            "no rows were detected on D0, where an LLM that remembers 4% of the rows would have been detected, and "
            "D1, where 26%.",
        ),
        (
            [0.04, 0.26, 0.04],
            "on D0 and D2, where an LLM that remembers 4% of the rows would have been detected, and D1, where 26%.",
        ),
        (
            [0.04, 0.26, 0.5],
            "on D0, where an LLM that remembers "
            "4% of the rows would have been detected, D1, where 26%, and D2, where 50%.",
        ),
        ([0.04, 0.26, 0.5, 0.1], "where an LLM that remembers from 4% to 50% of the rows would have been detected"),
        ([0.001], "where an LLM that remembers under 1% of the rows would have been detected"),
        (
            [0.04, None],
            "where an LLM that remembers 4% of the rows would have been detected; no rows were detected on D1, and the "
            "detectable",
        ),
    ],
)
def test_the_share_that_would_have_been_seen_is_said_of_each_table(shares: list[float | None], seen: str) -> None:
    names = [f"d{number}" for number in range(len(shares))]
    tables = [table("m", name, N, detectable_share=share) for name, share in zip(names, shares, strict=True)]
    cells = [cell("m", name, ROW, N, detectable_share=share) for name, share in zip(names, shares, strict=True)]
    of = document(cells, tables)
    for fact in of["run"]["datasets"]:
        fact["title"] = fact["name"].upper()
    assert seen in str(sentences(parse_results(of))[0])


def test_the_share_of_the_cells_is_said_where_no_table_states_one() -> None:
    of = document(
        [
            weighed("m", "iris", test, N, detectable_share=share)
            for test, share in ((ROW, 0.3), ("feature_completion", 0.2))
        ]
    )
    assert "remembers 20% of the rows" in str(sentences(parse_results(of))[0])


def test_a_table_that_was_asked_about_in_many_ways_is_named_once() -> None:
    """Ten recorded LLMs made sentences of six thousand characters, full of the names of files."""
    found = [C, N, N, U]
    cells = [cell("m", "iris", ROW, verdict, serializer=f"s{n}") for n, verdict in enumerate(found)]
    cells += [cell("m", "iris", "classification_0shot", None, serializer="s9"), cell("m", "iris", KNOWLEDGE, C)]
    assert (
        str(sentences(parse_results(document(cells)))[0]) == "m recalls rows of The iris data (1 of 4 ways of asking)."
    )
    cells = [cell("m", "iris", ROW, N, source=f"log-{n}.txt") for n in range(2)]
    assert str(sentences(parse_results(document(cells)))[0]).startswith(
        "m: no rows were detected on The iris data, and the detectable"
    )


def test_many_shares_of_known_tables_are_given_each() -> None:
    shares = {"iris": 0.04, "wine": 0.26}
    cells = [cell("m", name, ROW, N, detectable_share=share) for name, share in shares.items()]
    cells += [cell("m", name, KNOWLEDGE, C) for name in shares]
    assert str(sentences(parse_results(document(cells, [table("m", name, N) for name in shares])))[0]).endswith(
        "(no rows were detected on The iris data, where an LLM that remembers "
        "4% of the rows would have been detected, and The wine data, where 26%)."
    )


def run_of(*cells: dict[str, Any], **run: Any) -> dict[str, Any]:
    """A run of these cells with the verdicts on tables that the project comes to."""
    return document([*cells], tables_of(cells, run.get("rules", "calibrated")), **run)


FOUND: dict[str, Any] = {"verdict": C, "p_value": 1e-9}
MISSED: dict[str, Any] = {"verdict": N, "p_value": 0.5}
OTHER = "feature_completion"
CUT_SHORT = {"verdict": Q, "statistic": None, "cut_short": True, "reason": "the run ended after 3 of 45"}


def row(llm: str, test: str = ROW, **found: Any) -> dict[str, Any]:
    return weighed(llm, "iris", test, found.pop("verdict"), control=llm.startswith("control:"), **found)


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        (
            [row("m", **FOUND), row("control:unexposed", **FOUND)],
            "m: the finding on The iris data may be plausibility, not memory: control:unexposed, which has none of "
            "its rows, was flagged by full_completion as well.",
        ),
        (
            [row("m", **FOUND), row("m", OTHER, **FOUND), row("control:unexposed", **FOUND)],
            "m recalls rows of The iris data (control:unexposed, which has none of its rows, was flagged by "
            "full_completion as well).",
        ),
        (
            [row("m", **MISSED), row("control:exposed", **MISSED)],
            "m: no rows were detected on The iris data, but this is uncertain: control:exposed, which has its rows, "
            "was missed by full_completion as well.",
        ),
        (
            [
                row("m", **MISSED, detectable_share=0.1),
                row("m", OTHER, **MISSED, detectable_share=0.3),
                row("control:exposed", **MISSED),
            ],
            "m: no rows were detected on The iris data, where an LLM that remembers "
            "30% of the rows would have been detected (control:exposed, which has its "
            "rows, was missed by full_completion as well).",
        ),
        (
            [row("m", **MISSED), row("m", OTHER, **CUT_SHORT)],
            "m: no rows were detected on The iris data so far: not every query of the row tests was asked.",
        ),
    ],
)  # fmt: skip
def test_what_a_control_voids_is_said_beside_it(cells: list[dict[str, Any]], sentence: str) -> None:
    assert str(next(one for one in sentences(parse_results(run_of(*cells))) if one.llm == "m")) == sentence


def test_a_row_test_of_ones_own_shows_rows() -> None:
    """It was taken for one that a page about the dataset is enough for."""
    view = parse_results(document([cell("m", "iris", "own", C)]))
    own = replace(view.facts["own"], row_test=True, family=Family.ROWS)
    view = replace(view, run=replace(view.run, tests=(own,)))
    assert str(sentences(view)[0]) == "m recalls rows of The iris data."


def test_every_recorded_row_test_shows_rows() -> None:
    """What one of them found was said to be knowledge that a page about the dataset is enough for."""
    assert set(RECORDED) <= known_tests().keys()
    assert said([("housing", "incomplete_completion_single", C)]) == "m recalls rows of Housing."


def test_what_was_cut_short_is_not_said_to_be_unreadable() -> None:
    """A run that a limit ended had "too few answers could be read" for an LLM that was asked nothing more."""
    unasked: dict[str, Any] = {"statistic": None, "cut_short": True, "reason": "--max-requests 150 is reached"}
    of = run_of(row("m", verdict=Q, p_value=None, **unasked), limit="--max-requests 150 is reached")
    assert str(sentences(parse_results(of))[0]) == (
        "m: whether it recalls rows of The iris data is undecided: not every query was asked (--max-requests 150 is "
        "reached)."
    )
    assert "45 planned queries" in scope(parse_results(of))


def test_of_the_published_rules_no_power_is_known() -> None:
    of = run_of(row("m", **MISSED, detectable_share=0.1), rules="paper")
    assert "and the detectable share is not known" in str(sentences(parse_results(of))[0])


VERDICTS_AND_P = [(C, 1e-9), (C, 0.004), (N, 0.5), (N, 0.002), (U, None), (Q, None), (S, None)]


@pytest.mark.slow
@given(
    of=st.lists(
        st.tuples(
            st.sampled_from(["m", "n", "control:exposed", "control:unexposed"]),
            st.sampled_from(["iris", "wine"]),
            st.sampled_from([ROW, OTHER, "matched_membership", KNOWLEDGE]),
            st.sampled_from(VERDICTS_AND_P),
            st.booleans(),
        ),
        min_size=1,
        max_size=16,
        unique_by=lambda one: one[:3],
    ),
    rules=st.sampled_from(["calibrated", "paper"]),
)
def test_the_page_says_what_the_gate_says(of: list[Any], rules: str) -> None:
    cells = [
        weighed(llm, dataset, test, verdict, p_value=p_value, control=llm.startswith("control:"))
        | ({"statistic": None, "reason": "the run ended after 1 of 45 queries"} if verdict == Q and cut else {})
        for llm, dataset, test, (verdict, p_value), cut in of
    ]
    document = run_of(*cells, rules=rules)
    for fact in document["run"]["datasets"]:
        fact["title"] = fact["name"].title()
    view = parse_results(document)
    said = {one.llm: one.rest.split("; ") for one in sentences(view)}
    for finding in judge(document).findings:
        about = [clause for clause in said[finding.llm] if finding.dataset.title() in clause]
        recalled = any(clause.strip().startswith("recalls rows of") for clause in about)
        nothing = any("no rows were detected" in clause for clause in about)
        unsure = any(
            re.search("uncertain|so far|is undecided|may be plausib|no row test was run", clause) for clause in about
        )
        assert recalled == (finding.conclusion is Conclusion.CONTAMINATED), (finding, about)
        assert (nothing and not unsure) == (finding.conclusion is Conclusion.CLEAN), (finding, about)


def test_different_reasons_are_left_to_the_cells() -> None:
    cells = [cell("m", "iris", ROW, Q, reason="1 of 5"), cell("m", "iris", "feature_completion", Q, reason="2 of 5")]
    of = document(cells, [table("m", "iris", Q)])
    assert str(sentences(parse_results(of))[0]).endswith("is undecided: too few answers could be read.")


def test_many_tables_are_counted() -> None:
    sentence = said([(f"d{number}", ROW, C) for number in range(NAMES_SHOWN + 3)])
    assert sentence == "m recalls rows of " + ", ".join(f"D{number}" for number in range(NAMES_SHOWN)) + " and 3 more."


def test_tables_of_one_dataset_are_told_apart_by_serializer_and_edition() -> None:
    cells = [cell("m", "iris", ROW, C, serializer=name) for name in ("is", "list")]
    assert str(sentences(parse_results(document(cells)))[0]) == "m recalls rows of The iris data (is and list)."
    cells = [cell("m", "iris", ROW, C, edition=name) for name in ("uci", "r")]
    assert str(sentences(parse_results(document(cells)))[0]) == "m recalls rows of The iris data (@uci and @r)."


def test_tables_of_one_dataset_are_told_apart_by_prompt_set() -> None:
    cells = [cell("m", "iris", ROW, C, prompts=name) for name in ("default", "paper")]
    assert str(sentences(parse_results(document(cells)))[0]) == "m recalls rows of The iris data (default and paper)."
    assert scope(parse_results(document(cells))).startswith("1 LLM, 1 table, 1 test, 2 prompt sets, 50 queries; ")


def test_an_llm_is_called_by_the_catalogues_title() -> None:
    def named(*llms: str) -> list[str]:
        entry = {"name": "llama3", "title": "Llama 3", "family": "llama", "order": 3}
        of = document([cell(llm, "iris", ROW, C) for llm in llms], catalogue=dict.fromkeys(llms, entry))
        return [one.title for one in sentences(parse_results(of))]

    assert named("llama3") == ["Llama 3"]
    assert named("llama3", "ollama:llama3:8b") == ["Llama 3 (llama3)", "Llama 3 (ollama:llama3:8b)"]


def test_what_was_not_asked_is_said() -> None:
    of = document([cell("m", "iris", ROW, C), cell("n", "wine", ROW, C)])
    of["run"]["llms"].append({"spec": "unreachable"})
    assert [str(one) for one in sentences(parse_results(of))] == [
        "m recalls rows of The iris data; nothing was asked about The wine data.",
        "n recalls rows of The wine data; nothing was asked about The iris data.",
        "unreachable was asked nothing.",
    ]


def test_recorded_answers_have_no_tables_and_are_told_all_the_same() -> None:
    cells = [cell("gpt4", "adult income", ROW, N, edition=None, serializer=None, source="log.txt")]
    of = document(cells, rules="paper", recorded=True, datasets=[])
    assert str(sentences(parse_results(of))[0]).startswith(
        "gpt4: no rows were detected on adult income, and the detectable"
    )
    assert scope(parse_results(of)).endswith(
        "the paper's rules: decisions as published, with their faults, and with no known error rate"
    )


def test_what_was_tested_counts_no_control() -> None:
    of = results(["control:exposed", "a", "b"], ["iris"])
    assert scope(parse_results(of)).startswith("2 LLMs, 1 table, 13 tests, ")
    assert "plus 1 control; 2 January 2026; calibrated rules" in scope(parse_results(of))
    found = scope(parse_results(document([], started="yesterday", rules="paper")))
    assert found.startswith("0 LLMs, 0 tables, 0 tests; the paper's rules")


def test_a_table_in_two_serializers_is_one_table() -> None:
    cells = [cell("m", "iris", ROW, N, serializer=name) for name in ("is", "list")]
    assert scope(parse_results(document(cells))).startswith("1 LLM, 1 table, 1 test, 2 serializers, 50 queries; ")


def test_a_standing_is_that_of_the_rows_and_else_that_of_the_other_tests() -> None:
    view = parse_results(
        document([cell("m", "iris", KNOWLEDGE, C), cell("m", "wine", KNOWLEDGE, C), cell("m", "wine", ROW, N)])
    )
    found = standings(Titles(view), view.blocks[0])
    assert [one.verdict for one in found.values()] == [Verdict.CONTAMINATED, Verdict.NOT_DETECTED]


def test_hostile_names_stay_names() -> None:
    assert HOSTILE[:40] in said([("iris", ROW, C)], llm=HOSTILE)
    assert len(said([("x" * 5000, ROW, C)], llm="y" * 5000)) < 400
