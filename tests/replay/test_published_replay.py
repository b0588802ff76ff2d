"""Recorded answers under the published rules: made-up ones always, the ten LLMs' real ones where they are at hand."""

import csv
import os
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tabcontam.reading.word_decision import english
from tabcontam.replay.answer_records import read_records
from tabcontam.replay.calibrated_replay import replay_calibrated
from tabcontam.replay.published_replay import CAPITALS, DICTIONARY, LENGTH, UNEXPLAINED, differences, replay_published
from tabcontam.verdicts.columns import values_of
from tabcontam.verdicts.recorded_differences import RecordedDifference
from tabcontam.verdicts.result_types import Result
from tests.replay.made import record, row_record, written

CELL = """
llm dataset edition serializer prompts test kind control verdict otherwise paper_verdict score hits expected_hits
answered asked queries statistic null p_value q_value interval interval_of recalled_bits detectable_share reason
sentence source split cut_short lacks exposure not_averaged columns without q_without rests_on reference
sequential decided_after e_value bets memory
"""


@pytest.fixture
def judged(tmp_path: Path) -> Any:
    """The cells of made-up records."""

    def judge(*records: dict[str, Any], rules: str = "paper") -> list[Result]:
        found = read_records(written(tmp_path, *records))
        return replay_published(found, english()) if rules == "paper" else replay_calibrated(found, english())[0]

    return judge


class TestCells:
    def test_hold_every_key_of_a_results_file(self, judged: Any) -> None:
        (cell,) = judged(record())
        assert sorted(values_of(cell)) == sorted(CELL.split())
        assert cell.verdict == cell.decision.paper_verdict == "contaminated"
        assert (cell.evidence.hits, cell.evidence.answered, cell.queries, cell.evidence.score) == (1, 1, 1, 1.0)
        assert (cell.source, cell.serializer, cell.prompts, cell.kind) == ("a.txt", None, None, "memorization")

    def test_one_a_file_and_serializer(self, judged: Any) -> None:
        cells = judged(record(), record(file="b.txt"), record(serialization="{feature_name}: "), record())
        assert [(cell.source, cell.serializer, cell.queries) for cell in cells] == [
            ("a.txt", None, 2),
            ("b.txt", None, 1),
            ("a.txt", "{feature_name}: ", 1),
        ]

    def test_one_answer_is_enough(self, judged: Any) -> None:
        (cell,) = judged(record(output="none"), record(output="none"), record())
        assert (cell.verdict, cell.evidence.hits) == ("contaminated", 1)

    @pytest.mark.parametrize(("hits", "verdict"), [(3, "contaminated"), (2, "not detected")])
    def test_incomplete_completion_needs_half(self, judged: Any, hits: int, verdict: str) -> None:
        answers = [row_record() for _ in range(hits)] + [row_record(output="Fare is 1") for _ in range(5 - hits)]
        (cell,) = judged(*answers)
        assert (cell.decision.paper_verdict, cell.evidence.hits, cell.queries) == (verdict, hits, 5)

    def test_membership_has_only_a_score(self, judged: Any) -> None:
        raw = record(test_id="", test="membership", score=60, n=100, n_yes=80, n_no=15)
        (cell,) = judged({key: raw[key] for key in raw if key not in ("output", "expected", "matches", "decision")})
        assert (cell.verdict, cell.decision.paper_verdict, cell.evidence.score) == (None, None, 0.6)
        assert (cell.evidence.hits, cell.evidence.answered, cell.queries, cell.kind) == (60, 95, 100, "membership")

    def test_an_answer_that_declines_is_none_under_the_calibrated_rules(self, judged: Any) -> None:
        words = {"test": "feature_list_uninformed", "expected": str(["fnlwgt", "workclass", "capital.loss", "pdays"])}
        silent = record(dataset="adult income", output="I'm sorry, I cannot know that.", **words)
        others = [record(dataset=f"other {number}", output="age, name", **words) for number in range(30)]
        published, calibrated = judged(silent, *others)[0], judged(silent, *others, rules="calibrated")[0]
        assert published.verdict == "not detected"
        assert (calibrated.verdict, calibrated.decision.paper_verdict) == ("no answer", "not detected")
        assert calibrated.decision.reason

    def test_under_the_calibrated_rules_hold_the_same_keys(self, judged: Any) -> None:
        cells = judged(record(), row_record(), record(dataset="iris"), record(dataset="wine"), rules="calibrated")
        for cell in cells:
            assert sorted(values_of(cell)) == sorted(CELL.split())
            assert (cell.verdict, cell.decision.paper_verdict) == ("uninformative", "contaminated")

    def test_what_the_record_says_was_found_is_not_believed(self, judged: Any) -> None:
        (cell,) = judged(record(output="nothing", decision=True))
        assert cell.verdict == "not detected"

    def test_full_completion_skips_a_short_preamble(self, judged: Any) -> None:
        matches = "{'Deck Level': ('3', True), 'Fare': ('10.50', True)}"
        answer = "Sure, here:\nDeck Level is 3, Fare is 10.50"
        (cell,) = judged(row_record(test="full_completion", matches=matches, output=answer))
        assert cell.verdict == "contaminated"

    def test_recognition_takes_the_short_name(self, judged: Any) -> None:
        (cell,) = judged(record(test="recognition_features", expected="old ships / ships", output="Ships data"))
        assert (cell.verdict, cell.kind) == ("contaminated", "knowledge")


class TestDifferences:
    @pytest.mark.parametrize(
        ("made", "group"),
        [
            (row_record(matches="{'Deck Level': ('3', True)}", output="1234", test="feature_completion"), LENGTH),
            (record(output="aft", matches="{'aft': True}"), DICTIONARY),
            (record(output="FORE, AFT", decision=False), CAPITALS),
            (record(decision=False), UNEXPLAINED),
        ],
    )
    def test_are_told_by_answer_and_by_cell_with_their_cause(
        self, tmp_path: Path, made: dict[str, Any], group: str
    ) -> None:
        answer, cell = differences(read_records(written(tmp_path, made)), english())
        assert (answer.level, answer.group, answer.line) == ("answer", group, 1)
        assert (cell.level, cell.group, cell.recorded) == ("cell", group, made["decision"])
        assert answer.ours is cell.ours is not made["decision"]

    def test_none_where_both_agree(self, tmp_path: Path) -> None:
        agreed = written(tmp_path, record(), record(output="", decision=False), row_record())
        assert differences(read_records(agreed), english()) == []

    def test_an_answer_that_does_not_change_its_cell_is_told_once(self, tmp_path: Path) -> None:
        told = differences(read_records(written(tmp_path, record(), record(output="aft"))), english())
        assert [difference.level for difference in told] == ["answer"]


FOLDER = os.environ.get("TABCONTAM_REPLAY", "")
recorded = pytest.mark.skipif(not FOLDER, reason="TABCONTAM_REPLAY is not set")

DATASETS = {
    "Adult": "adult income",
    "Bank": "bank marketing",
    "German": "german credit",
    "Housing": "california housing",
    "Iris": "iris",
    "Wine": "wine",
    "Titanic": "titanic",
    "Sp. Titanic": "spaceship_titanic",
    "Thyroid_Diff": "thyroid disease recurrence",
}


@cache
def cells(portable: bool) -> list[Result]:
    return replay_published(read_records(Path(FOLDER, "records.jsonl")), english(portable))


@cache
def told() -> list[RecordedDifference]:
    return differences(read_records(Path(FOLDER, "records.jsonl")), english())


@cache
def published() -> list[dict[str, str]]:
    with Path(FOLDER, "published_cells.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def explained(level: str, group: str) -> list[RecordedDifference]:
    return [difference for difference in told() if (difference.level, difference.group) == (level, group)]


@recorded
class TestTenLlms:
    def place(self, line: dict[str, str]) -> tuple[str, ...]:
        return line["llm"], DATASETS[line["dataset"]], line["test"], line["log_file"]

    def decided(self) -> dict[tuple[str, ...], bool]:
        main = [cell for cell in cells(False) if cell.serializer is None]
        keys = ("llm", "dataset", "test", "source")
        return {
            tuple(getattr(cell, key) for key in keys): cell.decision.paper_verdict == "contaminated" for cell in main
        }

    @pytest.mark.slow
    def test_published_cells(self) -> None:
        ours = self.decided()
        right = sum(ours[self.place(line)] == (line["published"] == "1") for line in published())
        assert len(published()) == 667
        assert right >= 660

    @pytest.mark.slow
    def test_cells_as_their_own_logs_have_them(self) -> None:
        ours = self.decided()
        wrong = [line for line in published() if ours[self.place(line)] != (line["recomputed_from_log"] == "1")]
        assert {self.place(line) for line in wrong} == {
            tuple(getattr(difference, key) for key in ("llm", "dataset", "test", "source"))
            for difference in told()
            if difference.level == "cell"
        }
        assert len(wrong) == 4

    def test_published_cells_that_their_own_logs_do_not_bear_out(self) -> None:
        lines = [line for line in published() if line["published"] != line["recomputed_from_log"]]
        assert {(line["llm"], line["test"], line["dataset"]) for line in lines} == {
            ("llama3", "feature_list_informed", "Sp. Titanic"),
            ("llama3", "recognition_examples", "Adult"),
            ("llama3", "recognition_features", "Housing"),
        }

    def test_single_decisions(self) -> None:
        answers = [each for each in read_records(Path(FOLDER, "records.jsonl")) if each.decision is not None]
        different = Counter(difference.level for difference in told())
        assert len(answers) == 3506
        assert different["answer"] == 13  # 99.6 % are reproduced

    def test_a_dictionary_that_knows_fewer_words(self) -> None:
        answers = explained("answer", DICTIONARY)
        words_of = Counter(difference.explanation.split("know ")[1].split(";")[0] for difference in answers)
        assert words_of == {"Married-civ-spouse": 6, "proline": 1}
        assert [difference.llm for difference in explained("cell", DICTIONARY)] == ["gptj"]

    def test_values_inside_longer_numbers(self) -> None:
        answers = explained("answer", LENGTH)
        assert Counter(difference.llm for difference in answers) == {"llama2": 3, "phi2": 1, "mistral": 1}
        assert {(each.dataset, each.test) for each in answers} == {("titanic", "feature_completion")}
        assert [difference.llm for difference in explained("cell", LENGTH)] == ["llama2", "phi2"]

    def test_words_in_other_letters_case(self) -> None:
        (answer,) = explained("answer", CAPITALS)
        assert (answer.llm, answer.dataset) == ("mistral", "thyroid disease recurrence")
        assert answer.explanation.startswith("Focality ")
        assert len(explained("cell", CAPITALS)) == 1

    def test_nothing_else_differs(self) -> None:
        assert {difference.group for difference in told()} == {DICTIONARY, LENGTH, CAPITALS}

    def test_membership_scores(self) -> None:
        scored = [cell for cell in cells(False) if cell.test == "membership"]
        assert len(scored) == 119
        assert all(0 <= (cell.evidence.score or 0) <= 1 and cell.verdict is None for cell in scored)

    @pytest.mark.slow
    def test_the_portable_reader_decides_alike(self) -> None:
        assert cells(True) == cells(False)

    @pytest.mark.slow
    def test_published_rules_take_less_than_five_seconds_and_no_heavy_import(self) -> None:
        script = (
            "import sys; from pathlib import Path; from tabcontam.replay.published_replay import *; "
            "from tabcontam.reading.word_decision import english; from tabcontam.replay.answer_records import "
            "read_records;"
            "records = read_records(Path(sys.argv[1]));"
            "print(len(replay_published(records, english())), len(differences(records, english())));"
            "print({'pandas', 'sklearn', 'openai'} & set(sys.modules))"
        )
        command = [sys.executable, "-c", script, str(Path(FOLDER, "records.jsonl"))]
        before = os.times()
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        after = os.times()  # of processors: other processes may keep it waiting
        assert sum(after[2:4]) - sum(before[2:4]) < 5  # those of children
        assert done.stdout.splitlines()[1] == "set()"
