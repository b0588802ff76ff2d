"""Time Travel's recorded answers: the published decisions come out again, and what the calibrated rules say of them."""

import csv
import json
import os
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tabcontam.cli import commands as cli
from tabcontam.errors import UsageError
from tabcontam.extensions.papers.completion_judgements import TEXT as TEXT_ALONE
from tabcontam.extensions.papers.guided.guided_completion import BLEURT, GuidedCompletion
from tabcontam.extensions.papers.guided.guided_match import PERSONS, GuidedMatch
from tabcontam.extensions.papers.guided.overlap_measures import rouge_l
from tabcontam.extensions.papers.time_travel import NO_NAME, RECITED, SHORT
from tabcontam.extensions.papers.time_travel_records import JUDGE, judges
from tabcontam.reading.word_decision import english
from tabcontam.replay.record_kinds import judge_files
from tabcontam.replay.replay_outcome import ReplayOutcome
from tabcontam.verdicts.result_types import Result
from tests.replay.made import written

ROUGE, MATCH = GuidedCompletion.id, GuidedMatch.id
LONG = (
    "the harbour master of the small northern town counted eleven wooden boats that evening and wrote their names "
    "into a grey ledger which nobody but his daughter had ever been allowed to open"
)
OTHER = "people were surprised, and several of them said that it would take a long time until things were as before"


def instance(number: int, **given: Any) -> dict[str, Any]:
    """A made-up instance, completed with words of the LLM's own; `given` changes it."""
    return {
        "llm": "m",
        "dataset": "news",
        "split": "test",
        "instance": number,
        "form": "single",
        "shown": f"On day {number} the ferry came late.",
        "expected": f"{number} people saw it, and " + " ".join(word + str(number) for word in LONG.split()),
        "guided": OTHER,
        "general": OTHER,
        "judge": "No",
        "annotator1": "No",
        "annotator2": "no",
    } | given


def recited(number: int, **given: Any) -> dict[str, Any]:
    return instance(number, guided=instance(number)["expected"], judge="Yes (exact match)", **given)


def replayed(path: Path, rules: str = "calibrated") -> ReplayOutcome:
    return judge_files([path], rules, english(), with_differences=True)


def by_test(found: ReplayOutcome) -> dict[str, Result]:
    return {cell.test: cell for cell in found.results}


class TestMadeUp:
    def test_who_recites_is_found_by_both_algorithms_and_by_the_calibrated_rule(self, tmp_path: Path) -> None:
        cells = by_test(replayed(written(tmp_path, *(recited(number) for number in range(10)))))
        assert [cells[test].decision.paper_verdict for test in (ROUGE, MATCH)] == ["contaminated", "contaminated"]
        assert cells[PERSONS[0]].decision.paper_verdict == "not detected"
        assert (cells[ROUGE].verdict, cells[MATCH].verdict) == ("contaminated", None)
        assert NO_NAME in cells[ROUGE].evidence.sentence

    def test_who_writes_what_overlaps_more_with_the_name_is_found_by_the_published_rule_alone(
        self, tmp_path: Path
    ) -> None:
        styled = [instance(number, guided=f"{OTHER}, {number} people saw it") for number in range(10)]
        found = replayed(written(tmp_path, *styled))
        cell = by_test(found)[ROUGE]
        assert (cell.decision.paper_verdict, cell.verdict) == ("contaminated", "not detected")
        (difference,) = found.rule_differences
        assert (difference.paper, difference.calibrated) == ("contaminated", "not detected")
        assert "no two texts are recited" in difference.group

    def test_short_pieces_are_uninformative(self, tmp_path: Path) -> None:
        short = [instance(number, expected="They were late.", guided="They were late.") for number in range(10)]
        found = replayed(written(tmp_path, *short))
        assert by_test(found)[ROUGE].verdict == "uninformative"
        assert SHORT in {difference.group for difference in found.rule_differences}

    def test_a_learned_score_is_taken_as_recorded_and_has_no_calibrated_verdict(self, tmp_path: Path) -> None:
        scores = {"bleurt_guided": 0.7, "bleurt_general": 0.5}
        cell = by_test(replayed(written(tmp_path, *(instance(number, **scores) for number in range(10)))))[BLEURT]
        assert (cell.decision.paper_verdict, cell.verdict, cell.evidence.hits) == ("contaminated", None, 10)

    @pytest.mark.parametrize(
        ("words", "verdict"),
        [
            (["Yes (exact match)", "No"], "contaminated"),
            (["Yes (near-exact match)", "No"], "not detected"),
            (["Yes (near-exact match)", "yes (near-exact match)"], "contaminated"),
            (["No", "no."], "not detected"),
            (["No", None], "no answer"),
            (["Yes (exact match)", None], "contaminated"),
        ],
    )
    def test_algorithm_2_counts_the_judges_words(self, tmp_path: Path, words: list[str | None], verdict: str) -> None:
        records = [instance(number, judge=word) for number, word in enumerate(words)]
        assert by_test(replayed(written(tmp_path, *records)))[MATCH].decision.paper_verdict == verdict

    def test_without_general_completions_algorithm_1_has_nothing_to_compare(self, tmp_path: Path) -> None:
        records = [recited(number) for number in range(10)]
        for record in records:
            del record["general"], record["annotator1"], record["annotator2"], record["form"]
        cells = by_test(replayed(written(tmp_path, *records)))
        assert set(cells) == {ROUGE, MATCH}
        assert (cells[ROUGE].decision.paper_verdict, cells[ROUGE].verdict) == (None, "contaminated")

    def test_under_the_papers_rules_each_method_has_its_own_verdict(self, tmp_path: Path) -> None:
        found = replayed(written(tmp_path, *(recited(number) for number in range(10))), "paper")
        assert all(cell.verdict == cell.decision.paper_verdict for cell in found.results)

    def test_completions_that_were_not_given_are_no_answers(self, tmp_path: Path) -> None:
        silent = [instance(number, guided=None, general=None, judge=None) for number in range(10)]
        cell = by_test(replayed(written(tmp_path, *silent)))[ROUGE]
        assert (cell.verdict, cell.decision.paper_verdict) == ("no answer", None)

    def test_who_judged_completions_and_how_far_they_agree_stands_in_the_results(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        near = "Yes (near-exact match)"
        records = [
            recited(0, annotator1="Yes (exact match)"),
            *(instance(number, judge=near, annotator1=near, annotator2=near) for number in (1, 2)),
            instance(3, judge=near),
            instance(4, guided=None),
        ]
        path = written(tmp_path, *records)
        assert cli.main(["replay", str(path), "--out", str(tmp_path / "out")]) == 0
        assert "  the recorded judge and person 1: 3 of 4 (75.0%), kappa 0.56\n" in capsys.readouterr().out
        found = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))
        assert [(one["by"], one["person"], one["judged"], one["words"]) for one in found["judges"]] == [
            ("the recorded judge", False, 4, {"exact": 1, "near-exact": 3}),
            ("person 1", True, 4, {"exact": 1, "near-exact": 2, "no match": 1}),
            ("person 2", True, 4, {"near-exact": 2, "no match": 2}),
        ]
        agreed = {
            (one["kind"], one["first"], one["second"]): (one["agree"], one["items"]) for one in found["agreements"]
        }
        assert agreed["completions", "the text alone", "the recorded judge"] == (1, 4)
        assert agreed["settings", "the recorded judge", "person 2"] == (1, 1)
        assert ("settings", "person 1", ROUGE) in agreed
        assert not {one for _, *both in agreed for one in both} & set(PERSONS)
        assert "error rate on made pairs is not recorded" in (tmp_path / "out/index.html").read_text()

    def test_the_same_setting_of_two_files_is_two(self, tmp_path: Path) -> None:
        paths = [tmp_path / name for name in ("one.jsonl", "two.jsonl")]
        for path in paths:
            path.write_bytes(written(tmp_path, recited(0), recited(1)).read_bytes())
        found = judges(judge_files(paths, "paper", english(), with_differences=False))
        own = [one for one in found["agreements"] if (one.first, one.second) == (TEXT_ALONE, JUDGE)]
        assert [(one.kind, one.items) for one in own] == [("completions", 4), ("settings", 2)]

    def test_where_nobody_judged_there_is_no_judge(self, tmp_path: Path) -> None:
        silent = [instance(number, judge=None, annotator1=None, annotator2=None) for number in range(3)]
        assert judges(replayed(written(tmp_path, *silent))) == {"judges": (), "agreements": ()}

    def test_settings_are_told_apart_by_their_split(self, tmp_path: Path) -> None:
        records = [recited(number, split=split) for split in ("train", "test", None) for number in range(3)]
        cells = [cell for cell in replayed(written(tmp_path, *records)).results if cell.test == ROUGE]
        assert [(cell.dataset, cell.split) for cell in cells] == [("news", "train"), ("news", "test"), ("news", None)]

    def test_what_texts_share_is_not_recited(self, tmp_path: Path) -> None:
        same = [recited(number) for number in range(10)]
        for number, record in enumerate(same):
            record["expected"] = record["guided"] = f"{LONG} {number}"
        assert by_test(replayed(written(tmp_path, *same)))[ROUGE].verdict != "contaminated"

    @pytest.mark.parametrize(
        ("changed", "fault"),
        [
            ({"expected": None}, "'expected' is not a text"),
            ({"guided": 3}, "'guided' is not a text"),
            ({"rouge_guided": "high"}, "'rouge_guided' is not a number"),
            ({"judge": ["No"]}, "'judge' is not a text"),
        ],
    )
    def test_a_line_that_is_no_record_is_named(self, tmp_path: Path, changed: dict[str, Any], fault: str) -> None:
        path = written(tmp_path, instance(0), instance(1, **changed))
        with pytest.raises(UsageError) as error:
            replayed(path)
        assert f"{path}, line 2: {fault}" in str(error.value)

    def test_a_line_that_lacks_a_key_is_named(self, tmp_path: Path) -> None:
        lacking = {key: value for key, value in instance(1).items() if key != "guided"}
        with pytest.raises(UsageError, match="line 2: no 'guided'"):
            replayed(written(tmp_path, instance(0), lacking))


FOLDER = os.environ.get("TABCONTAM_REPLAY", "")
TEXT = Path(FOLDER, "text")
recorded = pytest.mark.skipif(not (FOLDER and TEXT.is_dir()), reason="TABCONTAM_REPLAY is not set, or has no texts")
CONTAMINATED = {True: "contaminated", False: "not detected"}


@cache
def cells(name: str) -> dict[tuple[str, str, str | None, str], Result]:
    return {(cell.llm, cell.dataset, cell.split, cell.test): cell for cell in replayed(TEXT / f"{name}.jsonl").results}


@cache
def published(study: str) -> dict[tuple[str, str, str], dict[str, float]]:
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    with (TEXT / "published_text.csv").open(encoding="utf-8", newline="") as lines:
        for line in csv.DictReader(lines):
            if line["study"] == study:
                setting = (line["llm"], line["dataset"], line["split"])
                found.setdefault(setting, {})[line["measure"]] = float(line["value"])
    return found


@recorded
class TestTwoLlms:
    def test_rouge_is_as_recorded_within_rounding(self) -> None:
        lines = [json.loads(line) for line in (TEXT / "time_travel.jsonl").read_text("utf-8").splitlines()]
        off = [
            abs(rouge_l(line["expected"], line[side]) - line[f"rouge_{side}"])
            for line in lines
            for side in ("guided", "general")
        ]
        assert len(off) == 420
        assert (
            sum(each > 0.005 + 1e-9 for each in off) == 2
        )  # of GPT-4 on Yelp test, in rows that rouge-score has alike
        assert max(off) < 0.011

    @pytest.mark.slow
    def test_algorithm_1_decides_as_published_in_all_but_one(self) -> None:
        told = cells("time_travel")
        wrong = [
            (*setting, test)
            for setting, stated in published("time_travel").items()
            for test, measure in ((ROUGE, "rouge p"), (BLEURT, "bleurt p"))
            if told[*setting, test].decision.paper_verdict != CONTAMINATED[stated[measure] <= 0.05]
        ]
        assert wrong == [("gpt4", "rte", "valid", BLEURT)]

    @pytest.mark.slow
    @pytest.mark.parametrize("study", ["time_travel", "time_travel_100"])
    def test_algorithm_2_decides_as_published(self, study: str) -> None:
        told = cells(study)
        for setting, stated in published(study).items():
            exact, near = stated["judge exact"], stated["judge near-exact"]
            assert told[*setting, MATCH].decision.paper_verdict == CONTAMINATED[exact >= 1 or near >= 2]
            assert f"{exact:.0f} of {told[*setting, MATCH].queries} second" in (
                told[*setting, MATCH].evidence.sentence or ""
            )
            assert f"{near:.0f} near-exact" in told[*setting, MATCH].evidence.sentence

    def test_methods_agree_with_people_as_the_papers_table_3_has_it_of_these_settings(self) -> None:
        told = cells("time_travel")

        def agree(llm: str, test: str) -> int:
            own = [key for key in told if key[0] == llm and key[3] == test]
            return sum(
                told[key].decision.paper_verdict == told[*key[:3], PERSONS[0]].decision.paper_verdict for key in own
            )

        assert [agree("gpt4", test) for test in (ROUGE, BLEURT, MATCH, PERSONS[1])] == [10, 9, 11, 11]
        assert [agree("gpt3.5", test) for test in (ROUGE, BLEURT, MATCH, PERSONS[1])] == [6, 7, 10, 10]

    @pytest.mark.slow
    def test_judge_and_people_agree_on_completions_as_the_docs_say(self) -> None:
        found = judges(replayed(TEXT / "time_travel.jsonl"))["agreements"]
        told = {(one.kind, one.first, one.second): (one.agree, one.items, round(one.kappa, 2)) for one in found}
        for person in ("person 1", "person 2"):
            assert told["completions", JUDGE, person] == (204, 210, 0.72)
            assert told["completions", TEXT_ALONE, person] == (202, 210, 0.49)
            assert told["settings", JUDGE, person] == (21, 21, 1.0)
            assert told["settings", TEXT_ALONE, person] == (20, 21, 0.83)

    @pytest.mark.slow
    def test_no_published_finding_stands_under_the_calibrated_rule(self) -> None:
        for study in ("time_travel", "time_travel_100"):
            verdicts = {cell.verdict for cell in cells(study).values() if cell.test == ROUGE}
            assert verdicts == {"not detected", "uninformative"}
        groups = {difference.group for difference in replayed(TEXT / "time_travel.jsonl").rule_differences}
        assert RECITED not in groups

    @pytest.mark.slow
    def test_all_files_take_a_few_seconds(self) -> None:
        before = time.process_time()
        judge_files(
            [TEXT / f"{name}.jsonl" for name in ("time_travel", "time_travel_100", "quiz")], "paper", english(), True
        )
        assert time.process_time() - before < 8
