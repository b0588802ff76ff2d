"""Recorded cells under the calibrated rules: made-up ones always, the ten LLMs' real ones where they are at hand."""

import json
import os
import time
from collections import Counter
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tabcontam.evidence.base import Verdict
from tabcontam.reading.word_decision import english
from tabcontam.replay.answer_records import Record, read_records
from tabcontam.replay.calibrated_replay import EXPLAINED, PARTLY, replay_calibrated
from tabcontam.replay.published_replay import replay_published
from tabcontam.replay.replay_outcome import ReplayOutcome
from tabcontam.runs.folder import replay_results
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import load_table
from tabcontam.verdicts.columns import values_of
from tabcontam.verdicts.document import as_document, as_json, parse_results
from tabcontam.verdicts.recorded_differences import RuleDifference
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.run_facts import RunFacts, known_tests

WINE = load_table("wine@scikit-learn")


def asked(row: int, output: str | None = None, llm: str = "m", **given: Any) -> Record:
    """A made-up answer to test 7 on Wine: right, unless another one is given."""
    values = dict(zip(WINE.columns, WINE.rows[row], strict=True))
    values["target"] = f"class_{values['target']}"
    last = WINE.columns[-3:]
    told = load_serializer("is").row(last, [values[name] for name in last]) if output is None else output
    made = Record(row, llm, "wine", None, "incomplete_completion", "f", output=told, values=values, asked=last)
    return replace(made, **given)


def judge(*records: Record) -> list[dict[str, Any]]:
    return [values_of(cell) for cell in replay_calibrated(records, english())[0]]


def verdict(*records: Record) -> Verdict:
    (found,) = judge(*records)
    return Verdict(found["verdict"])


class TestVerdicts:
    def test_rows_that_are_remembered(self) -> None:
        assert verdict(*(asked(row) for row in range(0, 100, 20))) is Verdict.CONTAMINATED

    def test_rows_that_are_not(self) -> None:
        wrong = "The od280/od315_of_diluted_wines is 9.99, The proline is 1.0, The target is class_1"
        assert verdict(*(asked(row, wrong) for row in range(0, 100, 20))) is Verdict.NOT_DETECTED

    def test_fewer_than_half_of_the_answers_readable(self) -> None:
        silent = [asked(row, "I'm sorry, I cannot know that.") for row in range(0, 60, 20)]
        assert verdict(asked(90, "The proline is 1.0, The target is class_1"), *silent) is Verdict.NO_ANSWER

    def test_rows_that_are_remembered_behind_refusals(self) -> None:
        silent = [asked(row, "I'm sorry, I cannot know that.") for row in range(0, 60, 20)]
        assert verdict(asked(90), asked(110), *silent) is Verdict.CONTAMINATED

    def test_what_everybody_guesses_is_uninformative(self) -> None:
        rows = [asked(row, f"class_{WINE.column('target')[row]}", asked=("target",)) for row in (0, 70)]
        assert verdict(*rows) is Verdict.UNINFORMATIVE

    def test_another_llm_changes_no_verdict(self) -> None:
        own = [asked(row) for row in range(0, 100, 20)]
        beside = judge(*own, *(asked(row, "x", llm=f"n{row}") for row in range(9)))
        assert beside[0] == judge(*own)[0]

    def test_the_serializer_study_is_another_family(self) -> None:
        own = [asked(row) for row in range(0, 100, 20)]
        studied = [replace(record, serializer="{feature_name} = {feature_value}, ") for record in own]
        assert judge(*own, *studied)[0] == judge(*own)[0]

    def test_a_cell_that_finds_nothing_says_what_share_would_have_been_seen(self) -> None:
        wrong = "The od280/od315_of_diluted_wines is 9.99, The proline is 1.0, The target is class_1"
        (cell,) = judge(*(asked(row, wrong) for row in range(0, 100, 20)))
        assert 0.5 < cell["detectable_share"] < 1
        assert (
            cell["reason"]
            == f"a model that remembers {cell['detectable_share']:.0%} of the rows would have been detected"
        )

    def test_a_cell_that_could_not_tell_is_no_part_of_the_family(self) -> None:
        guessed = [asked(row, f"class_{WINE.column('target')[row]}", asked=("target",), file="g") for row in (0, 70)]
        found, uninformative = judge(*(asked(row) for row in range(0, 100, 20)), *guessed)
        assert (uninformative["verdict"], uninformative["q_value"]) == ("uninformative", None)
        assert uninformative["p_value"] is not None
        assert found["q_value"] == found["p_value"]

    def test_no_card(self) -> None:
        record = Record(1, "m", "MathE", None, "feature_list_uninformed", "f", output="x", words=("x",))
        (found,) = judge(record)
        assert found["verdict"] == "uninformative"
        assert found["reason"].startswith("not recorded: ")


FOLDER, DATA = os.environ.get("TABCONTAM_REPLAY", ""), os.environ.get("TABCONTAM_DATA", "")
recorded = pytest.mark.skipif(not (FOLDER and DATA), reason="TABCONTAM_REPLAY or TABCONTAM_DATA is not set")
MAIN = {"serializer": None}


@cache
def timed() -> tuple[float, list[Result], list[RuleDifference]]:
    start = time.process_time()
    cells, different = replay_calibrated(read_records(Path(FOLDER, "records.jsonl")), english())
    return time.process_time() - start, cells, different


@cache
def judged() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    _, cells, different = timed()
    return [values_of(cell) for cell in cells], [asdict(one) for one in different]


def cells(**wanted: str | None) -> list[dict[str, Any]]:
    found = [cell for cell in judged()[0] if all(cell[key] == value for key, value in wanted.items())]
    assert found
    return found


@pytest.mark.slow  # all recorded answers are judged
@recorded
class TestTenLlms:
    def test_b2_no_bank_row_completed_with_the_most_frequent_values_is_memory(self) -> None:
        bank = cells(dataset="bank marketing", test="incomplete_completion")
        assert Counter(cell["paper_verdict"] for cell in bank)["contaminated"] == 3
        assert not any(cell["verdict"] == "contaminated" for cell in bank)

    def test_b3_no_number_inside_a_longer_one_is_memory(self) -> None:
        for cell in cells(dataset="titanic", test="feature_completion"):
            assert cell["verdict"] == "uninformative"
            assert cell["reason"] == "PassengerId follows from the row's number"

    def test_the_fifth_german_row_is_memory(self) -> None:
        (cell,) = cells(llm="gemini1.0", dataset="german credit", test="full_completion")
        assert (cell["verdict"], cell["paper_verdict"]) == ("contaminated", "not detected")
        assert cell["p_value"] < 1e-5
        assert "7 of 10 answered cells" in cell["sentence"]

    def test_b4_titanic_rows_with_a_wrong_survived_are_judged_by_the_cells_that_are_right(self) -> None:
        records = read_records(Path(FOLDER, "records.jsonl"))
        wrong = [
            record
            for record in records
            if (record.dataset, record.test, record.decision) == ("titanic", "full_completion", True)
            and "Survived is 1" in record.output
            and record.serializer is None
        ]
        assert wrong
        for record in wrong:
            (cell,) = cells(llm=record.llm, dataset="titanic", test="full_completion", **MAIN)
            assert (cell["verdict"], cell["hits"]) == ("contaminated", 0)
            assert (
                "9 of 10 answered cells" in cell["sentence"]
            )  # all but Survived, and PassengerId that counts the rows

    def test_b1_an_answer_after_a_preamble_is_read(self) -> None:
        (bank,) = cells(llm="gpt4", dataset="bank marketing", test="full_completion")
        assert bank["answered"] == 1
        assert "17 answered cells" in bank["sentence"]

    def test_b1_an_answer_of_which_the_preamble_alone_was_kept_is_none(self) -> None:
        for cell in cells(llm="gpt4", test="feature_completion"):
            assert cell["verdict"] in ("no answer", "uninformative")

    def test_no_row_test_finds_a_dataset_without_card(self) -> None:
        for dataset in ("MathE", "berkeley admissions"):
            unknown = [cell for cell in cells(dataset=dataset) if cell["kind"] != "membership"]
            assert {cell["verdict"] for cell in unknown} == {"uninformative"}
            assert all(cell["reason"].startswith("not recorded: ") for cell in unknown)

    def test_thyroid_which_none_can_have_seen_stays_clean(self) -> None:
        assert all(cell["verdict"] != "contaminated" for cell in cells(dataset="thyroid disease recurrence"))

    def test_every_other_verdict_is_told_with_its_reason(self) -> None:
        every, told = judged()
        other = [cell for cell in every if cell["verdict"] != cell["paper_verdict"]]
        assert len(told) == len(other)
        assert all(difference["group"] and difference["explanation"] for difference in told)
        groups = {difference["group"] for difference in told}
        assert PARTLY in groups
        assert any(group.startswith(EXPLAINED) for group in groups)

    def test_the_paper_s_verdicts_stand_beside(self) -> None:
        paper = replay_published(read_records(Path(FOLDER, "records.jsonl")), english())
        assert [cell.decision.paper_verdict for cell in paper] == [cell["paper_verdict"] for cell in judged()[0]]

    def test_every_cell_can_be_written_as_json(self) -> None:
        found = RunResults(
            run=RunFacts(rules="calibrated", tests=tuple(known_tests().values())), results=tuple(timed()[1])
        )
        assert parse_results(json.loads(as_json(found))) == found

    def test_takes_less_than_two_minutes(self) -> None:
        assert timed()[0] < 120


@pytest.mark.slow  # all recorded answers are judged
@recorded
class TestTheirRanking:
    """The main runs, ranked and compared; classification is not among the records."""

    def document(self) -> dict[str, Any]:
        return as_document(replay_results(ReplayOutcome(timed()[1]), False, "calibrated", "en_US", "replay"))

    def test_the_ten_llms_are_ranked_with_their_intervals(self) -> None:
        ranked = self.document()["ranking"]
        assert {line["llm"] for line in ranked} == {cell["llm"] for cell in judged()[0]}
        assert [line["llm"] for line in ranked[:3]] == ["gpt4", "gpt3", "gemini1.0"]
        for line in ranked:
            low, high = line["score_interval"]
            assert low <= line["score"] <= high
            assert line["zero_shot"] is line["zero_shot_interval"] is None

    def test_the_more_contaminated_tell_rows_better(self) -> None:
        (found,) = (line for line in self.document()["correlations"] if line["second"] == "membership")
        assert found["llms"] == 10
        assert 0 < found["interval"][0] < found["value"] < 1
        assert found["p_value"] < 0.05

    def test_one_to_five_answers_a_cell_show_no_serializer_to_be_better_than_another(self) -> None:
        """The paper's section 5.5 counts verdicts; what differs between them is a single answer."""
        compared = [line for line in self.document()["comparisons"] if line["kind"] == "serializers"]
        assert {line["queries"] for line in compared} == {0}
        assert Counter(line["change"] for line in compared)["appeared"] > 0
        assert not any(line["beyond_chance"] for line in compared)

    def test_more_was_found_of_llama_3_than_of_llama_2_and_nothing_less(self) -> None:
        """The paper's section 5.3; one answer a cell cannot tell that from chance."""
        compared = [line for line in self.document()["comparisons"] if line["first"] == "llama2"]
        assert {(line["kind"], line["second"]) for line in compared} == {("versions", "llama3")}
        changes = Counter(line["change"] for line in compared)
        assert changes["appeared"] >= 5
        assert changes["vanished"] == 0
        assert not any(line["beyond_chance"] for line in compared)

    def test_gpt_4_tells_rows_of_one_table_better_than_gpt_3_5_by_more_than_chance(self) -> None:
        beyond = [line for line in self.document()["comparisons"] if line["beyond_chance"]]
        assert [(line["first"], line["second"], line["test"]) for line in beyond] == [("gpt3", "gpt4", "membership")]
        assert beyond[0]["second_share"] > beyond[0]["first_share"]
