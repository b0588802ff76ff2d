"""Memory's share: what recalled labels add to an accuracy, and nothing that skill or knowledge of names adds."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import pytest

from tabcontam.asking.trial_file import trial_line, trial_of
from tabcontam.errors import Skip
from tabcontam.evidence.base import Evidence, Query, Reply, ReplyState, Trial
from tabcontam.evidence.score.memory_share import MemoryShare
from tabcontam.evidence.trial_reading import read_trial
from tabcontam.models.prompt_form import PromptForm
from tabcontam.tables.serializers import load_serializers
from tabcontam.twins.twin_making import unseen
from tabcontam.verdicts.reference_correction import Reference, asked_of_reference
from tabcontam.verdicts.result_building import build_result
from tabcontam.verdicts.result_types import ResultKey
from tests.twins.made import fleet, harbours, sea_of

IS = load_serializers()["is"]
TEST = MemoryShare()
Says = Callable[[Query], str]


def queries() -> Sequence[Query]:
    return TEST.queries(fleet(), IS, Random("0"))


def answered(say: Says, asked: Sequence[Query] | None = None) -> list[Trial]:
    trials = []
    for query in queries() if asked is None else asked:
        reply = Reply(say(query), ReplyState.OK)
        trials.append(Trial(query, reply, TEST.read(query, reply, IS)))
    return trials


def weighed(say: Says, asked: Sequence[Query] | None = None) -> Evidence:
    return TEST.weigh(answered(say, asked), 0.01)


def skilled(query: Query) -> str:
    """Long ships owe a toll: what can be read of any prompt."""
    length = query.prompt.completion.rpartition("The length is ")[2].partition(",")[0]
    return "Yes" if float(length) > 36 else "No"


def careless(query: Query) -> str:
    return "No"


def recalling(query: Query) -> str:
    """One who has no skill, and recalls all rows."""
    return careless(query) if query.decoy_of else str(query.expected[0])


def test_a_row_and_its_twin_stand_behind_the_same_examples() -> None:
    asked = queries()
    assert len(asked) == 200
    for own, twin in zip(asked[::2], asked[1::2], strict=True):
        assert twin.decoy_of == own.id
        shown, also = (query.prompt.completion.rpartition("\n\n")[0] for query in (own, twin))
        assert shown == also
        assert own.prompt.completion != twin.prompt.completion
        assert own.expected == twin.expected


def test_fewer_rows_are_the_first_of_more_behind_the_same_examples() -> None:
    def texts(rows: int) -> list[str]:
        return [query.prompt.completion for query in TEST.about(rows).queries(fleet(), IS, Random("0"))]

    usual, most = [query.prompt.completion for query in queries()], texts(1000)
    assert (texts(30), texts(120)) == (usual[:60], most[:240])
    assert most[:200] == usual
    assert len(set(most[::2])) == len(most) // 2 == len(unseen(fleet(), "perturbed").originals)


def test_skill_is_no_memory() -> None:
    """One who learned the task in general does as well on rows that nobody has seen."""
    found = weighed(skilled)
    low, high = found.interval or (0.0, 0.0)
    assert low <= 0 <= high
    assert "not shown to be above 0" in found.sentence


@pytest.mark.slow
def test_knowing_what_names_mean_is_no_memory() -> None:
    """The twin keeps the names of features and categories; one in other words would accuse who knows them."""
    assert (
        abs(weighed(lambda query: "Yes" if "sloop" in query.prompt.completion[-120:] else "No").measured.value) < 0.15
    )
    known = {name for name in fleet().columns if name != "toll"}
    assert not known & set(unseen(fleet(), "recoded").features)
    assert known == set(unseen(fleet(), "perturbed").features)


def test_recalled_labels_are_told_with_their_share() -> None:
    own = weighed(recalling)
    accuracy = weighed(careless).hits / 100
    low, high = own.interval or (0.0, 0.0)
    assert low <= 1 - accuracy <= high
    assert own.sentence.startswith("accuracy 1.00, on unseen twins of the same rows 0.")
    assert f"memory's share {own.measured.value:.2f} ({low:.2f} to {high:.2f}), above 0 (p = " in own.sentence
    assert own.score == own.measured.value
    assert own.p_value is None


def test_the_numbers_behind_the_share_stand_beside_it() -> None:
    found = weighed(recalling)
    twins = found.memory
    assert twins is not None
    assert (twins.pairs, twins.left_out, twins.accuracy) == (100, 0, 1.0)
    assert (twins.share, twins.interval, twins.if_wrong) == (found.measured.value, found.interval, None)
    assert f"on unseen twins of the same rows {twins.twin_accuracy:.2f};" in found.sentence
    assert f"(p = {twins.p_value:.2g})" in found.sentence
    assert 0 < twins.deviation < 1


def test_who_recalls_twins_by_likeness_shows_no_share() -> None:
    """What the test cannot show: recall that other cells do not keep from the row."""
    found = weighed(lambda query: str(query.expected[0]))
    assert found.hits == 100
    assert "not shown to be above 0" in found.sentence


def test_answers_that_cannot_be_read_count_for_neither_side_and_are_said() -> None:
    left = {f"memory_share-{number}" for number in range(5)} | {"memory_share-7-twin"}
    found = weighed(lambda query: "I would rather not say" if query.id in left else recalling(query))
    assert (found.asked, found.answered) == (100, 94)
    assert "; 6 pairs are left out: no class was named for 5 rows and 1 twin (if they count as " in found.sentence
    assert "wrong, the share is 0." in found.sentence


def test_a_row_whose_twin_was_not_asked_counts_for_nothing() -> None:
    found = weighed(recalling, queries()[:-1])
    assert found.answered == 99
    assert "; 1 row without an asked twin counted for nothing" in found.sentence


def test_nothing_answered_is_no_share_at_all() -> None:
    found = weighed(lambda query: "")
    assert (found.answered, found.interval) == (0, (-1.0, 1.0))
    assert found.sentence.startswith("the model answered no row together with its unseen twin; 100 pairs are left out")
    assert "count as wrong" not in found.sentence
    assert found.memory is None


def test_who_answers_recalled_rows_alone_is_said_to_lose_his_answers_on_twins() -> None:
    """Silence on twins would hide memory: so it is also said what it comes to if silence is wrong."""
    found = weighed(lambda query: "" if query.decoy_of and careless(query) != query.expected[0] else recalling(query))
    assert "accuracy 1.00, on unseen twins of the same rows 1.00" in found.sentence
    assert ", not shown to be above 0" in found.sentence
    said = r"no class was named for \d+ twins \(if they count as wrong, the share is 0\.\d\d, 0\.\d\d to 0\.\d\d\)"
    assert re.search(said, found.sentence)
    assert found.memory is not None
    assert found.memory.left_out == (found.asked or 0) - found.memory.pairs > 0
    low, high = found.memory.if_wrong or (0.0, 0.0)
    assert f", {low:.2f} to {high:.2f})" in found.sentence


def test_a_call_that_failed_is_no_wrong_answer() -> None:
    trials = []
    for number, query in enumerate(queries()):
        reply = Reply("", ReplyState.FAILED, "timeout") if number < 20 else Reply(recalling(query), ReplyState.OK)
        trials.append(Trial(query, reply, TEST.read(query, reply, IS)))
    found = TEST.weigh(trials, 0.01)
    assert found.answered == 90
    assert "count as wrong" not in found.sentence


def test_who_gives_the_same_answer_always_is_said_to_recall_nothing_however_easy_twins_are_for_models() -> None:
    def easier(query: Query) -> Query:
        if query.decoy_of:
            return query
        wrong = {answer: 1.0 for answer in query.asked if answer != query.expected[0]}
        return replace(query, chance={**query.chance, "supervised": replace(query.chance["supervised"], values=wrong)})

    found = weighed(lambda query: "Yes", [easier(query) for query in queries()])
    assert found.measured.value > 0.5
    assert "not shown to be above 0 (p = 1)" in found.sentence


def test_it_is_said_of_which_features_the_twins_keep_all_values() -> None:
    assert weighed(skilled).sentence.endswith(
        "; the twins keep 'name', so that the test misses labels that are recalled by these alone"
    )


@pytest.mark.slow
def test_who_knows_where_harbours_lie_recalls_nothing() -> None:
    def knowing(query: Query) -> str:
        return sea_of(query.prompt.completion.rpartition("The harbour is ")[2].partition(",")[0])

    found = weighed(knowing, TEST.queries(harbours(8), IS, Random("0")))
    assert found.hits == 100
    assert "accuracy 1.00, on unseen twins of the same rows 1.00" in found.sentence
    assert "not shown to be above 0" in found.sentence


def test_what_is_harder_for_models_that_learned_is_taken_off() -> None:
    def harder(query: Query) -> Query:
        if not query.decoy_of:
            return query
        wrong = {answer: 1.0 for answer in query.asked if answer != query.expected[0]}
        return replace(query, chance={**query.chance, "supervised": replace(query.chance["supervised"], values=wrong)})

    every = [harder(query) for query in queries()]
    found, plain = weighed(recalling, every), weighed(recalling)
    assert found.measured.value < plain.measured.value - 0.5
    assert ", and this difference is subtracted" in found.sentence


def test_the_same_rows_are_asked_in_whatever_order_they_stand() -> None:
    turned = replace(fleet(), rows=fleet().rows[::-1])
    first, second = (
        [query.prompt.completion for query in TEST.queries(table, IS, Random("1"))] for table in (fleet(), turned)
    )
    assert first == second


def test_a_table_without_a_twin_is_skipped_with_the_reason() -> None:
    with pytest.raises(Skip, match="an unseen twin needs 40"):
        TEST.queries(replace(fleet(), rows=fleet().rows[:30]), IS, Random("0"))


def test_a_share_is_no_accuracy_of_a_ranking() -> None:
    assert (TEST.measure, TEST.on_request, TEST.decides) == ("recalled", True, False)


def test_a_query_names_its_row_and_that_of_a_twin_none() -> None:
    own, twin = queries()[:2]
    assert own.row == own.rows[-1]
    assert twin.row is None


def test_what_a_reference_loses_on_the_same_twins_is_no_memory() -> None:
    """Twins that are harder for everybody, as one who has not seen the table shows, accuse nobody."""

    def easier(query: Query) -> str:
        return str(query.expected[0]) if not query.decoy_of or query.id < "memory_share-5" else "No"

    alone, found = weighed(easier), TEST.compare_with_reference(answered(easier), answered(easier))
    assert found is not None
    assert alone.measured.value > 0.1
    assert (found.pairs, found.share, found.p_value) == (100, 0.0, 1.0)
    beside = TEST.compare_with_reference(answered(recalling), answered(careless))
    assert beside is not None
    low, high = beside.interval
    assert low <= beside.share == 1 - beside.accuracy <= high
    assert beside.p_value < 0.05


def test_only_rows_that_both_answered_are_compared_with_a_reference() -> None:
    silent = answered(lambda query: "" if query.id.startswith("memory_share-1") else skilled(query))
    found = TEST.compare_with_reference(answered(recalling), silent)
    assert found is not None
    assert found.pairs == 89
    assert TEST.compare_with_reference(answered(recalling), []) is None
    assert TEST.compare_with_reference(answered(recalling), answered(lambda query: "I would rather not say")) is None


def test_a_cell_says_what_it_is_beside_the_reference() -> None:
    trials, name = answered(recalling), ResultKey("m", "fleet", "1", "is", TEST.id)
    cell = build_result(
        name, TEST, trials, len(trials), "calibrated", 0.01, reference=Reference("old", answered(skilled))
    )
    memory = cell.evidence.memory
    assert memory is not None
    assert memory.single_reference is not None
    assert (cell.reference, memory.pairs, memory.single_reference.pairs) == ("old", 100, 100)
    assert f"larger than that of the reference old ({memory.single_reference.accuracy:.2f} and " in (
        cell.evidence.sentence or ""
    )
    assert "count for nothing" not in cell.evidence.sentence
    plain = build_result(name, TEST, trials, len(trials), "calibrated", 0.01)
    assert plain.evidence.memory == replace(memory, single_reference=None)
    assert asked_of_reference(TEST)


def test_a_trial_that_was_written_down_says_what_its_twin_keeps() -> None:
    cell = {"llm": "m", "dataset": "fleet", "edition": "1", "split": "", "serializer": "is", "prompts": "default"}
    lines = [trial_line(cell | {"test": TEST.id}, PromptForm.CHAT, trial, False) for trial in answered(skilled)]
    trials = [trial_of(json.loads(json.dumps(line))) for line in lines]
    again = [read_trial(TEST, trial, IS) for trial in trials]
    assert TEST.weigh(again, 0.01).sentence == weighed(skilled).sentence


def test_a_cell_says_what_it_is_beside_several_references() -> None:
    trials, name = answered(recalling), ResultKey("m", "fleet", "1", "is", TEST.id)
    others = Reference("old", answered(skilled), {"older": answered(careless), "silent": []})
    cell = build_result(name, TEST, trials, len(trials), "calibrated", 0.01, reference=others)
    assert cell.evidence.memory is not None
    among = cell.evidence.memory.several_references
    assert among is not None
    assert cell.evidence.memory.further == ("older", "silent")
    assert "; 1 of 3 references answered nothing" in cell.evidence.sentence
    assert ([one.llm for one in among.references], cell.evidence.memory.single_reference) == (["old", "older"], None)
    assert among.share == pytest.approx(among.accuracy - among.expected)
    assert among.interval[0] <= among.share <= among.interval[1]
    assert among.apart[0] <= among.share <= among.apart[1]
    assert "by the curve of 2 reference models an accuracy of " in cell.evidence.sentence


def test_references_that_recall_the_rows_hide_it_and_one_below_all_of_them_is_said_to_be() -> None:
    """The adversaries: references that have read the table, and an LLM that none of them is like."""
    known = answered(recalling)
    hidden = TEST.compare_with_references(known, {"one": known, "other": known})
    assert hidden is not None
    assert (round(hidden.share, 9), hidden.outside) == (0.0, False)
    assert hidden.p_value > 0.3
    assert TEST.compare_with_references(known, {"one": known, "silent": []}) is None
    beyond = TEST.compare_with_references(known, {"one": answered(skilled), "other": answered(skilled)})
    assert beyond is not None
    assert beyond.outside == (beyond.twin_accuracy != beyond.references[0].twin_accuracy)
