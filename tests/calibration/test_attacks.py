"""No trick with answers and no odd table makes memory of it where there is none: a slice of `benchmarks.attacks`."""

from collections.abc import Sequence
from functools import cache
from itertools import cycle
from unittest.mock import patch

import pytest

from benchmarks import attacks
from benchmarks.attacks import MANIPULATED, ROWS, USUAL, Counts, answered, manipulate, manipulated, predict
from benchmarks.skills.answerers import asked
from benchmarks.skills.made import to
from benchmarks.skills.predictors import KINDS as PREDICTORS
from benchmarks.skills.unstated import shares_unstated
from tabcontam.calibration.power_study import AnswererPlan, ask, judge, planned
from tabcontam.evidence.base import Query, Verdict
from tabcontam.evidence.mixins import FeatureTest
from tabcontam.reading.numbers import is_finite
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import Cell, load_table
from tabcontam.verdicts.thresholds import ALPHA
from tests.golden.rates import check
from tests.made_tables import ships
from tests.manipulations import MANIPULATIONS
from tests.odd_tables import KINDS, SIZES, odd_table

SMALL, LARGE = 25, 100  # rows
CELLS = [test for test in USUAL if isinstance(test, FeatureTest)]
SOME = list(MANIPULATIONS)[::3]  # that are tried with all tests; all are tried with the usual ones
WIDEST = "forty columns"  # which takes a minute, and stands in the benchmark alone
ONE_OF = 16  # odd tables, on which the tests that are asked on request are asked as well; the benchmark asks all on all


@cache
def run(form: str) -> AnswererPlan:
    """One run on a table of words and numbers, whose rows are written in a form; all tests are asked about flowers."""
    return planned(ships(120), USUAL, load_serializer(form), 0, ALPHA)


@pytest.mark.slow
@pytest.mark.parametrize("name", MANIPULATIONS)
def test_a_manipulated_answer_is_not_taken_for_memory(name: str) -> None:
    with shares_unstated():
        judged = judge(run("is"), manipulated(run("is"), name), ALPHA)
    assert judged.table is not None
    assert judged.table.verdict in (Verdict.NOT_DETECTED, Verdict.NO_ANSWER)
    accused = [test for test, cell in judged.results.items() if cell.verdict is Verdict.CONTAMINATED]
    check("attacks", "manipulated answers about a made table accused", len(accused), len(judged.results))


@pytest.mark.slow
def test_in_the_same_run_who_remembers_the_rows_is_found() -> None:
    with shares_unstated():
        judged = judge(run("is"), ask(run("is"), "memoriser:0.5", 0), ALPHA)
    assert judged.table is not None
    check("attacks", "memoriser of half found", judged.table.verdict is Verdict.CONTAMINATED, 1)


@pytest.mark.parametrize(
    ("kind", "rows"),
    list(zip([kind for kind in KINDS if kind != WIDEST], cycle((SMALL, LARGE, *[SMALL] * 6)))),  # all in the benchmark
)
@pytest.mark.slow
def test_who_knows_no_row_of_an_odd_table_is_not_accused(kind: str, rows: int) -> None:
    counts, every = Counts(), list(KINDS).index(kind) % ONE_OF == 0
    answered(counts, kind, rows, ROWS if every else USUAL)
    check("attacks", "odd tables accused", len(counts.accused), counts.tables.total())


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0])  # the form of the paper; the benchmark asks in all of them
def test_manipulated_answers_about_flowers_are_not_taken_for_memory(seed: int) -> None:
    counts = Counts()
    manipulate(counts, MANIPULATED["iris"](), seed, SOME)
    assert counts.tables.total() == len(SOME)
    check("attacks", "manipulated answers about flowers accused", len(counts.accused), counts.tables.total())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_who_remembers_all_rows_and_rounds_the_numbers_is_found(seed: int) -> None:
    with shares_unstated():
        numbers = planned(load_table("wine"), CELLS, load_serializer("is"), seed, ALPHA)
        judged = judge(numbers, asked(numbers, lambda cell, query: query.expected, to_one_decimal), ALPHA)
    assert judged.table is not None
    check("attacks", "rounding memoriser of all found", judged.table.verdict is Verdict.CONTAMINATED, 1)
    assert judged.table.p_value is not None
    assert judged.table.p_value < 1e-50


def to_one_decimal(query: Query, values: Sequence[Cell]) -> str:
    """The row with its numbers rounded."""
    said = [to(value, 1) if value and is_finite(value) else value for value in values]
    return query.answering.text(query, said, query.prompt)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iris", "wine"])  # the benchmark asks about every table with a card
def test_the_strongest_predictors_are_not_accused(name: str) -> None:
    counts = Counts()
    with patch.object(attacks, "ROWS", ROWS if name == "iris" else USUAL):
        predict(counts, load_table(name), 1)
    assert counts.tables.total() == len(PREDICTORS)
    check("attacks", "strongest predictors accused", len(counts.accused), counts.tables.total())


def test_there_are_nineteen_manipulations_and_161_odd_tables() -> None:
    assert len(MANIPULATIONS) > 18
    assert len(KINDS) * len(SIZES) == 161


@pytest.mark.parametrize("kind", KINDS)
def test_an_odd_table_is_the_same_each_time_and_another_for_another_number(kind: str) -> None:
    assert odd_table(kind, SIZES[0]) == odd_table(kind, SIZES[0])
    assert odd_table(kind, SIZES[0]).rows != odd_table(kind, SIZES[0], 1).rows
    assert len(odd_table(kind, SIZES[0]).rows) == SIZES[0]
