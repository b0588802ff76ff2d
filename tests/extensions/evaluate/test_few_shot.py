"""Few-shot classification: what is shown and asked, and what answers of every kind come to."""

import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from tabcontam.errors import Skip
from tabcontam.evidence.base import Answer, Endings, Likelihoods, Query, Reply, ReplyState, Trial
from tabcontam.extensions.evaluate import shot_learners
from tabcontam.extensions.evaluate.few_shot import FewShot, FewShotScored, notes
from tabcontam.extensions.evaluate.shot_draws import draw_shots
from tabcontam.extensions.evaluate.shot_results import ShotResult, evaluated, fading, place_of
from tabcontam.tables.dataset_cards import ClassificationQuestion
from tabcontam.tables.serializers import load_serializers, load_template
from tabcontam.tables.table import Table
from tests.made_tables import made_table
from tests.twins.made import fleet

IS = load_serializers()["is"]
SHOTS = (0, 1, 4, 16)
Answers = Callable[[Query], Answer]


@cache
def queries(scored: bool = True, twins: bool = True) -> Sequence[Query]:
    kind = FewShotScored if scored else FewShot
    return kind(shots=SHOTS, twins=twins).queries(fleet(), IS, Random("0"))


def read(answer: Answers, asked: Sequence[Query]) -> list[Trial]:
    trials = []
    for query in asked:
        reply = answer(query)
        trials.append(Trial(query, reply, FewShot().read(query, reply, IS)))  # type: ignore[arg-type]
    return trials


def found(answer: Answers, asked: Sequence[Query] | None = None) -> tuple[ShotResult, ...]:
    return evaluated(read(answer, queries() if asked is None else asked))


def liking(query: Query, name: str, odds: float = 3.0) -> Likelihoods:
    """One who finds a class likelier than the others."""
    return Likelihoods(tuple(odds * (choice == name) - 40 for choice in query.asked), ReplyState.OK)


def text(query: Query) -> str:
    question = query.question
    return question.beginning if isinstance(question, Endings) else query.prompt.completion


def skilled(query: Query) -> str:
    """Long ships owe a toll: what can be read of any prompt."""
    length = text(query).rpartition("The length is ")[2].partition(",")[0]
    return "Yes" if float(length) > 36 else "No"


def made(labels: str, name: str = "made") -> Table:
    rows = [(str(place), letter) for place, letter in enumerate(labels)]
    answers = {letter: letter.upper() for letter in sorted(set(labels))}
    return replace(
        made_table(("number", "kind"), rows, name), target="kind", question=ClassificationQuestion("Which?", answers)
    )


@pytest.mark.slow
def test_shots_are_balanced_and_fewer_are_the_first_of_more() -> None:
    shown: dict[tuple[int, int], tuple[int, ...]] = {}
    target = fleet().column("toll")
    for query in queries():
        shots, draw, _ = place_of(query)
        *rows, _ = query.rows
        assert shown.setdefault((shots, draw), tuple(rows)) == tuple(rows)
        counts = Counter(target[row] for row in rows)
        assert len(rows) == shots
        assert abs(counts["1"] - counts["0"]) <= 1
    for draw in range(5):
        assert shown[4, draw] == shown[16, draw][:4]


def test_no_prompt_shows_a_row_that_is_asked_behind_the_same_shots() -> None:
    rows = [(str(place % 7), "ab"[place % 7 > 3]) for place in range(70)]  # ten times each
    labels = {place: row[1] for place, row in enumerate(rows)}
    twice = replace(made_table(("number", "kind"), rows), target="kind")
    for draw in draw_shots(twice, labels, range(70), 5, 10, 16, 3):
        assert not {rows[row][0] for row in draw.asked} & {rows[row][0] for row in draw.shown}


def test_no_row_is_asked_by_two_draws_and_classes_keep_their_shares() -> None:
    table = made("a" * 160 + "b" * 40)
    labels = {place: str(row[1]) for place, row in enumerate(table.rows)}
    draws = draw_shots(table, labels, range(200), 5, 100, 0, 1)
    asked = [row for draw in draws for row in draw.asked]
    assert len(asked) == len(set(asked)) == 100
    assert 16 <= sum(labels[row] == "b" for row in asked) <= 24


@pytest.mark.slow
def test_more_shots_and_fewer_draws_change_no_other_prompt() -> None:
    fewer = FewShot(shots=(4,), twins=False, draws=2, rows=40).queries(fleet(), IS, Random("0"))
    same = {query.id: query for query in queries(scored=False, twins=False)}
    assert [query.prompt for query in fewer] == [same[query.id].prompt for query in fewer]


def test_rows_in_another_order_are_asked_alike() -> None:
    table = fleet()
    turned = replace(table, columns=table.columns[::-1], rows=tuple(row[::-1] for row in table.rows[::-1]))
    twice = [
        [
            [frozenset(source.rows[row]) for row in query.rows]
            for query in FewShot(shots=(4,), twins=False).queries(source, IS, Random("0"))
        ]
        for source in (table, turned)
    ]
    assert twice[0] == twice[1]


@pytest.mark.slow
def test_a_twin_is_asked_behind_the_same_shots() -> None:
    own = {query.id: query for query in queries() if not query.decoy_of}
    twins = [query for query in queries() if query.decoy_of]
    assert 0.7 * len(own) < len(twins) <= len(own)
    for twin in twins[::9]:
        row = own[twin.decoy_of]
        assert text(twin).rpartition("\n\n")[0] == text(row).rpartition("\n\n")[0]
        assert text(twin) != text(row)
        assert twin.expected == row.expected


def test_the_shots_alone_give_no_answer_away() -> None:
    """A label that stands in the shots is no other row's: who repeats the last one is right as often as by chance."""
    for at in found(lambda query: liking(query, text(query).rpartition("Answer: ")[2].partition("\n")[0]))[1:]:
        low, high = at.own.interval
        assert low < 0.55
        assert high > 0.4


def test_always_the_majority_is_the_majority_and_ranks_nothing() -> None:
    majority = Counter(str(query.expected[0]) for query in queries() if not query.decoy_of).most_common(1)[0][0]
    for at in found(lambda query: liking(query, majority)):
        assert at.own.accuracy == at.majority
        assert at.own.auc == 0.5
        assert at.memory is not None
        assert at.memory.share == pytest.approx(0, abs=0.02)


def test_equal_probabilities_name_no_class() -> None:
    for at in found(lambda query: Likelihoods((-3.0, -3.0), ReplyState.OK)):
        assert (at.unreadable, at.own.accuracy, at.own.auc, at.read) == (100, 0.0, 0.5, None)


def test_skill_has_an_accuracy_and_an_auc_at_every_number_of_shots_and_no_memory() -> None:
    for at in found(lambda query: liking(query, skilled(query))):
        assert at.own.accuracy > 0.8
        assert at.own.auc is not None
        assert at.own.auc > 0.75
        assert at.by == "log-probabilities"
        assert at.memory is not None
        assert at.memory.interval[0] <= 0 <= at.memory.interval[1]


def recalling(query: Query) -> Likelihoods:
    return liking(query, skilled(query) if query.decoy_of else str(query.expected[0]))


def test_recalled_labels_are_told_at_every_number_of_shots() -> None:
    trials = read(recalling, queries())
    for at in evaluated(trials):
        assert at.memory is not None
        assert at.memory.interval[0] > 0
        assert "above 0 (p = " in at.memory.sentence
    trend = fading(trials)
    assert trend is not None
    assert trend.interval[0] < 0 < trend.interval[1]


def test_memory_that_shots_displace_is_said_to_fade() -> None:
    trend = fading(read(lambda q: recalling(q) if not place_of(q)[0] else liking(q, skilled(q)), queries()))
    assert trend is not None
    assert (trend.fewest, trend.most) == (0, 16)
    assert trend.interval[1] < 0


def test_who_refuses_half_is_wrong_in_half_and_beside_it_that_half_is_left_out() -> None:
    def half(query: Query) -> Answer:
        refused = place_of(query)[2] % 2
        return (
            Reply("", ReplyState.REFUSED, "content filter") if refused else Reply(str(query.expected[0]), ReplyState.OK)
        )

    for at in found(half, queries(scored=False)):
        assert (at.asked, at.refused, at.unreadable, at.by) == (100, 50, 0, "words")
        assert at.own.accuracy == 0.5
        assert at.read is not None
        assert (at.read.accuracy, at.read.rows) == (1.0, 50)
        assert at.own.auc is None


def test_a_prompt_beyond_the_context_is_no_answer_and_is_told_once() -> None:
    def short(query: Query) -> Answer:
        if place_of(query)[0] < 16:
            return liking(query, skilled(query))
        return Likelihoods(
            (), ReplyState.FAILED, f"the text is too long: {len(text(query))} tokens; the model takes 640"
        )

    *others, most = found(short)
    assert all(at.failed == 0 for at in others)
    assert (most.asked, most.failed, len(most.reasons), most.read) == (0, 100, 1, None)
    assert [learner.rows for learner in most.learners] == [100, 100]


def test_learners_learn_from_the_shots_alone() -> None:
    zero, one, *_, most = found(lambda query: liking(query, "Yes"))
    assert zero.learners == ()
    assert [learner.auc for learner in one.learners] == [0.5, 0.5]
    assert [learner.name for learner in most.learners] == ["logistic regression", "gradient boosting"]
    assert min(learner.accuracy for learner in most.learners) > 0.65
    assert most.shown == {"Yes": 0.5, "No": 0.5}


def test_more_shots_than_rows_are_told_and_not_repeated() -> None:
    test, table = FewShot(shots=(4, 64), twins=False), made("ab" * 30)
    asked = test.queries(table, IS, Random("0"))
    assert {place_of(query)[0] for query in asked} == {4}
    said = " ".join(notes(test, table, Random("0")))
    assert "64 shots cannot be shown: besides the asked rows only 48 can be" in said
    assert "60 rows are asked at each number of shots, not 100" in said
    with pytest.raises(Skip, match="only 48 can be shown, fewer than 64 shots"):
        FewShot(shots=(64,), twins=False).queries(table, IS, Random("0"))


def test_a_class_that_is_too_rare_for_the_shots_is_told() -> None:
    test, rare = FewShot(shots=(16,), twins=False), made("a" * 99 + "b", "rare")
    test.queries(rare, IS, Random("0"))
    said = " ".join(notes(test, rare, Random("0")))
    assert "in 1 of 5 draws no row of the class B can be shown" in said
    assert "some shots are not balanced: a class has too few rows to show" in said


def test_why_there_is_no_twin_is_told() -> None:
    test = FewShot(shots=(0,))
    test.queries(made("ab" * 12), IS, Random("0"))
    assert notes(test, made("ab" * 12), Random("0"))[1].startswith(
        "memory's share is not measured: only 24 rows have a class"
    )


def test_a_class_that_begins_as_another_ends_with_its_line() -> None:
    table = made("ab" * 30)
    alike = replace(table, question=ClassificationQuestion("Which?", {"a": "1", "b": "10"}))
    (question, *_) = (query.question for query in FewShotScored(shots=(0,)).queries(alike, IS, Random("0")))
    assert isinstance(question, Endings)
    assert question.endings == (" 1\n", " 10\n")
    assert question.beginning.endswith("Answer:")


def test_features_without_a_value_are_left_out_of_a_row() -> None:
    asked = FewShot(shots=(4,), twins=False).queries(fleet(), load_template("list"), Random("0"))
    shown = [row for query in asked for row in query.prompt.completion.split("\n\n")]
    lines = [len(re.findall("^- ", row, re.MULTILINE)) for row in shown]
    assert set(lines) == {4, 5}
    assert not any("berth:\n" in row for row in shown)


class Sure:
    """A classifier of somebody else's package."""

    def __init__(self, **options: object) -> None:
        self.options = options

    def fit(self, rows: object, labels: Sequence[str]) -> None:
        self.classes_ = sorted(set(labels))

    def predict_proba(self, rows: Sequence[object]) -> object:
        return np.array([[0.25, 0.75]] * len(rows))


def test_an_extra_learner_is_asked_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", SimpleNamespace(LGBMClassifier=Sure, __spec__=SimpleNamespace()))
    (lightgbm,) = [one for one in shot_learners.LEARNERS if one.name == "LightGBM"]
    assert lightgbm.here
    rows = np.zeros((2, 1))
    assert shot_learners.learned(lightgbm, rows, ["a", "b"], rows) == [{"a": 0.25, "b": 0.75}] * 2


def test_an_extra_learner_that_fails_is_left_out_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(**options: object) -> None:
        raise OSError("no weights here")

    monkeypatch.setitem(sys.modules, "tabpfn", SimpleNamespace(TabPFNClassifier=lacking, __spec__=SimpleNamespace()))
    test, table = FewShot(shots=(0, 4), twins=False), made("ab" * 30, "weights")
    first = test.queries(table, IS, Random("0"))[-1]
    assert "TabPFN failed: no weights here" in notes(test, table, Random("0"))
    assert "TabPFN" not in first.chance
    assert "logistic regression" in first.chance


def test_what_is_not_installed_is_said() -> None:
    said = list(shot_learners.absent())
    for learner in shot_learners.LEARNERS:
        line = f"{learner.name} is not installed: pip install 'tabcontam[{learner.package}]'"
        assert (line in said) == (not learner.here)
