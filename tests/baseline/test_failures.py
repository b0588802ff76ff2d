"""A predictor that fails is left out, and a run says which; no run ends for it."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabcontam.baseline import chains, laws, mixture
from tabcontam.baseline.failures import attempt, failures_of, recording
from tabcontam.baseline.stored_facts import stored_fact
from tabcontam.baseline.table_predictions import predict_rows
from tabcontam.errors import Skip, UsageError
from tabcontam.tables.table import Table
from tests.commands import tabcontam
from tests.made_tables import ships, wide

FITTED = ("frequencies", "neighbours", "boosted", "by_characters", "regressed", "squared")
LIBRARIES = (  # whatever solves or fits
    *("numpy.linalg.svd", "numpy.linalg.lstsq", "numpy.linalg.solve", "scipy.linalg.svd"),
    *("sklearn.ensemble.HistGradientBoostingClassifier.fit", "sklearn.ensemble.HistGradientBoostingRegressor.fit"),
    *("sklearn.ensemble.ExtraTreesRegressor.fit", "sklearn.linear_model.LogisticRegression.fit"),
    *("sklearn.tree.DecisionTreeClassifier.fit", "sklearn.tree.DecisionTreeRegressor.fit"),
)


def failing(name: str) -> Callable[..., Any]:
    """What LAPACK does on some matrices with some kernels, under the name of a predictor."""

    def fails(*arguments: object, **options: object) -> None:
        raise np.linalg.LinAlgError("SVD did not converge")

    fails.__name__ = name
    return fails


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found out here lacks a predictor, and is for no other test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def fresh(table: Table) -> Table:
    """A table about which nothing is known yet."""
    return replace(table)


NUMBER, CLASS = "length_m", "tolldue"


def predicted(table: Table, *features: str) -> set[str]:
    """The predictors that were left out of the baselines of these features, by name."""
    for asked in features:
        shown = [name for name in table.columns if name != asked]
        found = predict_rows(table, [asked], shown, range(20))
        assert all(0 < one.cells[asked].chance_of("yes") <= 1 for one in found.values())
    return {line.split(" of ")[0] for line in failures_of(table)}


@pytest.mark.slow
def test_no_predictor_fails_on_a_usual_table() -> None:
    assert not predicted(fresh(wide(120, 10)), NUMBER, CLASS)


@pytest.mark.slow
def test_each_predictor_that_fails_is_left_out_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    counting, law = mixture.COUNTING[0][1].__name__, next(iter(laws.LAWS))  # the others are tried in the same place
    places = [*FITTED, counting, law, "densities", "trees"]
    for number, name in enumerate(places):
        with monkeypatch.context() as patched:
            patched.setenv("XDG_CACHE_HOME", str(tmp_path / str(number)))
            if name in FITTED:
                patched.setattr(mixture, name, failing(name))
            elif name in laws.LAWS:
                patched.setitem(laws.LAWS, name, failing(name))
            elif name == "trees":
                patched.setattr("tabcontam.baseline.row_sample.silent_answers", failing(name))
            elif name == "densities":
                patched.setattr(chains, name, failing(name))
            else:
                others = [(kind, failing(name) if one.__name__ == name else one) for kind, one in mixture.COUNTING]
                patched.setattr(mixture, "COUNTING", others)
            table = fresh(wide(80, 10 if name == "squared" else 1))  # of few columns all are looked at anyway
            left_out = predicted(table, NUMBER) or predicted(table, CLASS)
            if name == "densities":
                from tabcontam.baseline.cell_draws import draw_cells

                assert draw_cells(table, "length_m", range(80), 5)
                left_out = {line.split(" of ")[0] for line in failures_of(table)}
            assert left_out == {name}


@pytest.mark.slow
def test_a_run_ends_with_its_report_whatever_cannot_be_solved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    table = ships(200)
    file = tmp_path / "ships.csv"
    with file.open("w", newline="") as written:
        csv.writer(written).writerows([table.columns, *table.rows])
    for place in LIBRARIES:
        monkeypatch.setattr(place, failing("fit"))
    monkeypatch.setattr("tabcontam.asking.preparing.processors", lambda: 1)  # another process would not fail
    command = ["run", "--llm", "simulated:guesser", "--dataset", str(file), "--target", "tolldue", "--no-controls"]
    chosen = ["-m", "rows or likelihood or score", "--queries", "10", "-v", "--out", str(tmp_path / "run")]
    done = tabcontam(*command, *chosen, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert not done.returncode, done.stderr
    assert "the baseline leaves out: regressed of length_m: LinAlgError: SVD did not converge" in done.stdout
    assert "predictors failed and were left out: the baseline may explain less than it should" in done.stdout
    results = json.loads((tmp_path / "run" / "results.json").read_text())
    (dataset,) = results["run"]["datasets"]
    assert any(line.startswith("boosted of tolldue: LinAlgError") for line in dataset["failed"])
    skipped = {cell["test"]: cell["reason"] for cell in results["results"] if cell["verdict"] == "skipped"}
    assert "could not be prepared on ships.csv: LinAlgError" in skipped["matched_membership"]


def test_what_failed_is_still_known_when_the_finding_comes_from_the_cache() -> None:
    def find() -> list[int]:
        return attempt("one", failing("one"), [7])

    for _ in range(2):  # computed, then read
        table = fresh(ships())
        assert stored_fact(table, ["tested"], find, tuple, list) == [7]
        assert failures_of(table) == ("one: LinAlgError: SVD did not converge",)


def test_what_failed_within_another_finding_is_known_of_both() -> None:
    def inner() -> list[int]:
        return stored_fact(table, ["inner"], lambda: attempt("one", failing("one"), [7]), tuple, list)

    table = fresh(ships())
    inner()
    outer = fresh(ships())
    stored_fact(outer, ["outer"], inner, tuple, list)
    assert failures_of(outer) == ("one: LinAlgError: SVD did not converge",)


def test_where_nothing_records_a_failure_is_an_error() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        attempt("one", failing("one"), None)


@pytest.mark.parametrize("error", [UsageError("no key"), Skip("too few rows")])
def test_what_is_no_failure_of_a_predictor_is_raised(error: Exception) -> None:
    def raises() -> None:
        raise error

    table = fresh(ships())
    with pytest.raises(type(error)), recording(table):
        attempt("one", raises, None)
    assert not failures_of(table)
