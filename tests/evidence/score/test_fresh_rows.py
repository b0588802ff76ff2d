"""Memory's share by fresh rows: what is recalled stands out, what is harder for anyone is taken off."""

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from subprocess import CompletedProcess

import pytest

from tabcontam.evidence.base import Evidence, Query, Reply, ReplyState, Trial
from tabcontam.evidence.score.memory_share import MemoryShare
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table
from tabcontam.verdicts.document import read_results
from tests.commands import tabcontam
from tests.twins.made import fleet

IS = load_serializers()["is"]
TEST = MemoryShare()
TABLE = replace(fleet(), fresh=fleet(200, 7).rows)


def queries(table: Table = TABLE) -> Sequence[Query]:
    return TEST.queries(table, IS, Random("0"))


def weighed(say: Callable[[Query], str], asked: Sequence[Query] | None = None) -> Evidence:
    trials = []
    for query in queries() if asked is None else asked:
        reply = Reply(say(query), ReplyState.OK)
        trials.append(Trial(query, reply, TEST.read(query, reply, IS)))
    return TEST.weigh(trials, 0.01)


def skilled(query: Query) -> str:
    length = query.prompt.completion.rpartition("The length is ")[2].partition(",")[0]
    return "Yes" if float(length) > 36 else "No"


def recalling(query: Query) -> str:
    return skilled(query) if query.withheld else str(query.expected[0])


def test_rows_and_fresh_rows_are_asked_behind_the_same_examples() -> None:
    asked = queries()
    assert len(asked) == 200
    for own, fresh in zip(asked[::2], asked[1::2], strict=True):
        assert (fresh.decoy_of, fresh.withheld, own.withheld) == (own.id, True, False)
        assert fresh.rows == own.rows[:-1]
        shown, also = (query.prompt.completion.rpartition("\n\n")[0] for query in (own, fresh))
        assert shown == also


def test_each_fresh_row_is_asked_once_with_its_own_class() -> None:
    ends = [query.prompt.completion.rpartition("The name is ")[2].partition(",")[0] for query in queries()[1::2]]
    tolls = {row[0]: {"1": "Yes", "0": "No"}[str(row[-1])] for row in TABLE.fresh}
    assert len(set(ends)) == 100
    assert [tolls[name] for name in ends] == [query.expected[0] for query in queries()[1::2]]


def test_fewer_fresh_rows_are_all_asked() -> None:
    asked = queries(replace(TABLE, fresh=TABLE.fresh[:30]))
    assert sum(query.withheld for query in asked) == 30
    assert len(asked) == 130


def test_skill_is_no_memory() -> None:
    found = weighed(skilled)
    low, high = found.interval or (0.0, 0.0)
    assert low <= 0 <= high
    assert "not shown to be above 0" in found.sentence


def test_recalled_labels_are_told_with_their_share() -> None:
    found = weighed(recalling)
    low, high = found.interval or (0.0, 0.0)
    assert 0 < low <= found.measured.value <= high
    assert found.sentence.startswith("accuracy 1.00, on 100 fresh rows 0.")
    assert ", above 0 (p = " in found.sentence
    assert (found.hits, found.asked, found.answered) == (100, 100, 100)
    assert found.score == found.measured.value
    assert found.p_value is None


def test_fresh_rows_that_are_harder_for_anyone_accuse_nobody() -> None:
    """Where the world has changed, who learned as models do is wrong as they are."""
    changed = replace(TABLE, fresh=tuple((*row[:-1], str(1 - int(str(row[-1])))) for row in TABLE.fresh))
    found = weighed(skilled, queries(changed))
    assert found.sentence.startswith("accuracy 0.")
    assert abs(found.measured.value) < 0.2
    assert "not shown to be above 0" in found.sentence
    assert "this difference is subtracted" in found.sentence


def test_fresh_rows_that_are_easier_for_models_alone_accuse_nobody() -> None:
    """The difference of the answers themselves has to be above 0, too."""

    def easy(query: Query) -> Query:
        sure = replace(query.chance["supervised"], values={str(query.expected[0]): float(query.withheld)})
        return replace(query, chance={**query.chance, "supervised": sure})

    found = weighed(lambda query: str(query.expected[0]), [easy(query) for query in queries()])
    assert "not shown to be above 0 (p = 1)" in found.sentence
    assert (found.interval or (1.0, 1.0))[0] < 0 < found.measured.value  # so that no gate fails for it


def test_answers_without_a_class_are_left_out_and_said() -> None:
    silent = {query.id for query in queries()[:7]}
    found = weighed(lambda query: "I would rather not say" if query.id in silent else recalling(query))
    assert (found.asked, found.answered) == (100, 96)
    assert "; 7 answers name no class and count for nothing (if they count as wrong, the share is 0." in found.sentence


def test_nothing_answered_is_no_share_at_all() -> None:
    found = weighed(lambda query: "")
    assert (found.answered, found.interval) == (0, (-1.0, 1.0))
    assert found.sentence == "the model answered no row; 200 answers name no class and count for nothing"


def test_no_fresh_row_answered_is_no_share_either() -> None:
    found = weighed(lambda query: "" if query.withheld else recalling(query))
    assert found.interval == (-1.0, 1.0)
    assert found.sentence.startswith("the model answered no fresh row; 100 answers name no class")


@pytest.mark.slow
def test_a_run_says_what_it_compares_and_its_records_are_weighed_as_it_was(tmp_path: Path) -> None:
    for name, table in {"my.csv": fleet(), "later.csv": fleet(200, 7), "other.csv": fleet(60, 9)}.items():
        with (tmp_path / name).open("w", newline="") as out:
            csv.writer(out).writerows([table.columns, *table.rows])

    def run(fresh: str, *more: str) -> CompletedProcess[str]:
        asked = ("--dataset", "my.csv", "--target", "toll", "--fresh", fresh, "--llm", "simulated:memoriser:0.5")
        return tabcontam("run", *asked, "--no-controls", "--out", "run", *more, cwd=tmp_path)

    def share() -> object:
        (cell,) = json.loads((tmp_path / "run" / "results.json").read_text())["results"]
        return cell["sentence"], cell["score"], cell["interval"]

    done = run("later.csv", "-k", "memory_share")
    assert (done.returncode, ", on 100 fresh rows 0." in done.stdout) == (0, True)
    assert "later.csv: 200 fresh rows are compared with rows of my.csv" in done.stderr
    (dataset,) = read_results(tmp_path / "run").run.datasets
    assert (dataset.fresh, len(dataset.fresh_sha256)) == (200, 64)
    before = share()
    assert tabcontam("rescore", "run", cwd=tmp_path).returncode == 0
    assert share() == before

    other = run("other.csv", "-k", "memory_share")
    assert "run holds a run with 200 fresh rows of my.csv; choose another folder" in other.stderr
    unused = run("later.csv", "-k", "completion")
    assert "no chosen test compares with fresh rows; choose -k memory_share" in unused.stderr
    assert (other.returncode, unused.returncode) == (4, 4)
