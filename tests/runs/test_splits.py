"""A run on several splits of one dataset: cells, trials, reports and what is done again keep them apart."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tabcontam.api import load_results
from tabcontam.asking.run_progress import Progress
from tabcontam.asking.trial_file import Journal
from tabcontam.config import RunConfig
from tabcontam.errors import UsageError
from tabcontam.evidence.base import Verdict
from tabcontam.runs.folder import load, merge
from tabcontam.runs.rescoring import rescore
from tabcontam.runs.run import execute, prepare

TEST = "feature_completion"
KNOWS = "simulated:memoriser:1#train"


def row(number: int) -> str:
    rng = Random(number)
    return f"{number},{rng.randint(1000, 9999)},{rng.uniform(10, 99):.2f},{rng.choice('xyz')}"


def written(path: Path, first: int) -> str:
    """A table whose numbers nobody guesses; the last five rows are those of any other."""
    own = [row(n) for n in [*range(first, first + 30), *range(900, 905)]]
    path.write_text("\n".join(["number,size,weight,sort", *own, ""]))
    return str(path)


@pytest.fixture(scope="module")
def order(tmp_path_factory: pytest.TempPathFactory) -> RunConfig:
    folder = tmp_path_factory.mktemp("splits")
    files = [f"{written(folder / f'{name}.csv', first)}#{name}" for name, first in (("train", 0), ("test", 100))]
    return RunConfig(
        llm=(KNOWS,), dataset=tuple(files), tests=TEST, controls=False, name="Numbers", out=folder / "run", queries=40
    )


@pytest.fixture(scope="module")
def made(order: RunConfig) -> Path:
    return execute(prepare(order), Progress()).folder


def verdicts(folder: Path) -> dict[str | None, Verdict]:
    return {table.split: table.verdict for table in load(folder).tables}


def test_who_knows_a_split_that_no_table_is_is_refused_before_anything_is_sent(order: RunConfig) -> None:
    with pytest.raises(
        UsageError, match=r"memoriser:1#dev knows only the split 'dev', and the run asks about train, test$"
    ):
        prepare(order.replace(llm=("simulated:memoriser:1#dev", "simulated:guesser")))
    with pytest.raises(UsageError, match=r"^A knows only the split 'train', and no table names a split"):
        prepare(order.replace(llm=(f"A={KNOWS}",), dataset=("iris",), name=None))


@pytest.mark.slow
def test_verdicts_are_per_split(made: Path) -> None:
    view = load(made)
    assert verdicts(made) == {"train": Verdict.CONTAMINATED, "test": Verdict.NOT_DETECTED}
    assert [(cell.dataset, cell.split) for cell in view.results] == [("train.csv", "train"), ("test.csv", "test")]
    assert [view.label(cell) for cell in view.results] == ["train.csv#train", "test.csv#test"]
    document = json.loads((made / "results.json").read_text())
    assert [table["split"] for table in document["tables"]] == ["train", "test"]
    assert [(one["split"], one["elsewhere"]) for one in document["run"]["datasets"]] == [("train", 5), ("test", 5)]


@pytest.mark.slow
def test_no_row_of_both_is_asked_or_comes_from_the_other(made: Path) -> None:
    lines = list(Journal(made).lines())
    assert {line["split"] for line in lines} == {"train", "test"}
    assert all(line["row"] < 30 for line in lines)
    for split, strange in (("train", range(100, 130)), ("test", range(30))):
        told = " ".join(str(line["prompt"]) for line in lines if line["split"] == split)
        assert "The number is" in told
        assert not [number for number in strange if f"The number is {number}," in told]


def test_reports_name_the_split(made: Path) -> None:
    junit = (made / "junit.xml").read_text()
    assert "train.csv#train" in junit
    assert '<property name="split" value="test"' in junit
    assert "train.csv#train" in (made / "index.html").read_text()


def test_a_split_is_named_as_a_table_is(made: Path, order: RunConfig) -> None:
    results = load_results(made)
    for name in ("train.csv#train", "train.csv", str(order.dataset[0])):
        assert results.verdict(KNOWS, name) is Verdict.CONTAMINATED
        assert results.gate(dataset=name).conclusion == "contaminated"
    assert results.gate(dataset="test.csv#test").conclusion != "contaminated"
    with pytest.raises(UsageError, match="unknown dataset of these results"):
        results.verdict(KNOWS, "train.csv#test")


def test_a_run_of_splits_is_judged_again_and_merged(made: Path, tmp_path: Path) -> None:
    before = load(made)
    assert [replace(cell, control=False) for cell in rescore(made, None).results] == list(before.results)
    merged = merge([made, made], tmp_path / "both")
    assert [(cell.split, cell.verdict) for cell in merged.results] == [
        (one.split, one.verdict) for one in before.results
    ]
    assert len(merged.run.datasets) == 2
    assert {(one.kind, one.split, one.change) for one in merged.comparisons} == {
        ("runs", "train", "same"),
        ("runs", "test", "same"),
    }


@pytest.mark.slow
def test_a_run_of_splits_goes_on_with_the_same_rows_alone(made: Path, order: RunConfig) -> None:
    again = execute(prepare(order), Progress())
    assert verdicts(again.folder)["train"] is Verdict.CONTAMINATED
    assert all(line["cached"] is False for line in Journal(made).lines())
    alone = order.replace(dataset=order.dataset[:1])
    with pytest.raises(UsageError, match=r"5 rows of train\.csv@.*#train that also stand in another split"):
        execute(prepare(alone), Progress())


@pytest.mark.slow
def test_two_splits_of_one_file_have_one_edition(order: RunConfig, tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    rows = [f"{row(n)},{'early' if n < 30 else 'late'}" for n in range(60)]
    path.write_text("\n".join(["number,size,weight,sort,part", *rows, ""]))
    one = order.replace(
        dataset=(str(path),), split_column="part", out=tmp_path / "run", llm=("simulated:memoriser:1#early",)
    )
    plan = prepare(one.replace(queries=5))
    names = [cell.name for cell in plan.plan]
    assert len(set(names)) == 2
    assert {name.split for name in names} == {"early", "late"}
    assert len({name.edition for name in names}) == 1
