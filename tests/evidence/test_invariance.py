"""What must change nothing: the order of a table, the way a row, an answer or a number is written.

Of the questions only test 8 depends on the order of the rows and only test 7 on that of the columns; test 9 as far as a
base model, which reads the row up to the asked feature, needs the features before it to know which row is meant. So in
the tests below the first column, which tells the ships apart, stays first. Which rows each test asks is tested beside
it (test_completion.py, test_words.py, test_guessing.py); here it is what all of them conclude.
"""

import asyncio
import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from io import StringIO
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tabcontam.asking.query_plan import PlannedResult, RunSource, plan
from tabcontam.asking.run_progress import Progress
from tabcontam.asking.session import Session
from tabcontam.asking.trial_file import Journal
from tabcontam.calibration.power_study import AnswererPlan, ask, judge, planned
from tabcontam.config import CALIBRATED, RunConfig
from tabcontam.evidence.base import Capability, Evidence, Query, Reply, ReplyState, Test, Trial
from tabcontam.evidence.registry import all_tests, by_id
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.reading.numbers import is_number
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Cell, Table, load_table
from tabcontam.verdicts.document import as_document
from tabcontam.verdicts.result_building import build_results
from tabcontam.verdicts.run_facts import RunFacts
from tabcontam.verdicts.thresholds import ALPHA
from tests.made_tables import as_needed, ships
from tests.usual import USUAL

SERIALIZERS = load_serializers()
IS = SERIALIZERS["is"]
FORMS = sorted(set(SERIALIZERS) - {"is"})
# tests that are put to whoever answers; text is scored in tests/evidence/likelihood, documents are searched in corpus
ASKED = [test for test in all_tests() if Capability.GENERATE in test.needs]
DECIDED = [test for test in ASKED if test in USUAL]  # of the others questions and answers are compared
ROW_TESTS = ("incomplete_completion", "full_completion", "feature_completion")
LEVEL = 0.001
# tests which ask about the order itself
IN_ORDER = {"full_completion", "row_order", "row_completion", "first_token", "header"}
QUERIES = 8  # of a row test that are read in every shape
SHIPS = ships()


@cache
def run(serializer: str = "is") -> AnswererPlan:
    return planned(SHIPS, DECIDED, SERIALIZERS[serializer], 0, ALPHA)


def p_values(of: AnswererPlan, kind: str) -> Mapping[str, object]:
    return {test: pytest.approx(each["p_value"]) for test, each in judge(of, ask(of, kind, 0), ALPHA).parts.items()}


def found(of: AnswererPlan, kind: str) -> Mapping[str, float | None]:
    return {test: each["p_value"] for test, each in judge(of, ask(of, kind, 0), ALPHA).parts.items()}


def cell_of(test: str) -> PlannedResult:
    return next(cell for cell in run().cells if cell.test.id == test)


# --- the order of the table


def in_other_rows(table: Table) -> Table:
    return replace(table, rows=tuple(Random("rows").sample(table.rows, len(table.rows))))


def in_other_columns(table: Table) -> Table:
    order = [0, *Random("columns").sample(range(1, len(table.columns)), len(table.columns) - 1)]
    columns = tuple(table.columns[place] for place in order)
    return replace(table, columns=columns, rows=tuple(tuple(row[place] for place in order) for row in table.rows))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("turned", "but"),
    [(in_other_rows, IN_ORDER), (in_other_columns, {"incomplete_completion", "first_token", "header"})],
    ids=["rows", "columns"],
)
def test_the_order_of_a_table_changes_no_decision(turned: Callable[[Table], Table], but: set[str]) -> None:
    again = planned(turned(SHIPS), [test for test in DECIDED if test.id not in but], IS, 0, ALPHA)
    for kind, tests in (
        ("oracle", {test.id for test in DECIDED}),
        ("memoriser:0.5", {*ROW_TESTS, "matched_membership"}),
    ):
        first, second = p_values(run(), kind), found(again, kind)
        assert {test: second[test] for test in tests - but} == {test: first[test] for test in tests - but}


ANY_ORDER = [test.id for test in ASKED if test.id not in IN_ORDER and not test.only_with]


@pytest.mark.parametrize("test", ANY_ORDER)
@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
def test_the_order_of_rows_changes_no_question(test: str) -> None:
    table = as_needed(by_id()[test], replace(SHIPS))
    asked, again = (plan_of(each, test) for each in (table, in_other_rows(table)))
    assert [query.question for query in asked] == [query.question for query in again]
    assert asked


def plan_of(table: Table, test: str) -> Sequence[Query]:
    (cell,) = plan(
        [RunSource(SimulatedModel("oracle"))],
        [table],
        [IS],
        [each for each in all_tests() if each.id == test],
        RunConfig(),
    )
    return cell.written


# --- the way an answer is written


@pytest.mark.parametrize(
    ("kind", "serializer"),
    [
        *(("oracle", name) for name in FORMS),  # who knows is found in each of them
        *zip(cycle(["mode", "memoriser:0.5"]), FORMS),  # each with one of these
    ],
)
@pytest.mark.slow
def test_the_serializer_changes_no_decision(kind: str, serializer: str) -> None:
    assert found(run(serializer), kind) == p_values(run(), kind)


Say = Callable[[Sequence[str], Sequence[str]], str]


def as_json(asked: Sequence[str], values: Sequence[str]) -> str:
    return json.dumps(dict(zip(asked, values, strict=True)))


def as_table(asked: Sequence[str], values: Sequence[str]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in (asked, ["---"] * len(asked), values))


def as_lines(asked: Sequence[str], values: Sequence[str]) -> str:
    return "\n".join(f"- **{name}**: {value}" for name, value in zip(asked, values, strict=True))


def as_csv(asked: Sequence[str], values: Sequence[str], header: bool = False) -> str:
    file = StringIO()
    csv.writer(file).writerows([asked, values] if header else [values])
    return file.getvalue().strip()


def as_row(serializer: str, asked: Sequence[str], values: Sequence[str]) -> str:
    return SERIALIZERS[serializer].row(asked, values)


def announced(before: str, asked: Sequence[str], values: Sequence[str], after: str = "") -> str:
    return before + IS.row(asked, values) + after


def respelled(number: Callable[[str], str], asked: Sequence[str], values: Sequence[str]) -> str:
    return IS.row(asked, [number(value) if is_number(value) else value for value in values])


SHAPES: Mapping[str, Say] = {
    **{name: partial(as_row, name) for name in SERIALIZERS if name != "is"},
    "JSON": as_json,
    "CSV": as_csv,
    "CSV below its header": partial(as_csv, header=True),
    "table": as_table,
    "lines": as_lines,
    "preamble": partial(announced, "Sure! Here is what I recall of this row:\n\n"),
    "fence": partial(announced, "```\n", after="\n```\nLet me know if you need more rows."),
    "full stop": partial(announced, "", after="."),
    "quotes": partial(announced, '"', after='"'),
    "one decimal more": partial(respelled, lambda value: f"{value}0" if "." in value else f"{value}.0"),
    "exponent": partial(respelled, lambda value: f"{float(value):.8e}"),
    "thousands": partial(respelled, lambda value: value if "." in value else f"{int(value):,}"),
}


def cells_said(query: Query, rng: Random) -> list[str]:
    """Cells of the row and of others, as a model that remembers a part would say them."""
    known = dict(zip(query.asked, query.expected, strict=True))
    others = dict(zip(SHIPS.columns, rng.choice(SHIPS.rows), strict=True))
    said = [known[name] if rng.random() < 0.5 else others[name] for name in query.asked]
    return ["missing" if cell is None else cell for cell in said]


def evidence(test: str, queries: Sequence[Query], texts: Sequence[str]) -> Evidence:
    found = by_id()[test]
    replies = [Reply(text, ReplyState.OK) for text in texts]
    readings = [found.read(query, reply, IS) for query, reply in zip(queries, replies, strict=True)]
    return found.weigh(list(map(Trial, queries, replies, readings)), LEVEL)


@pytest.mark.parametrize("shape", sorted(SHAPES))
@pytest.mark.parametrize("test", ROW_TESTS)
@given(seed=st.integers(0, 10**6))
@example(seed=3200)  # the row that is said is one of those that are shown
@settings(deadline=None, max_examples=4)
@pytest.mark.slow
def test_the_shape_of_an_answer_changes_no_decision(test: str, shape: str, seed: int) -> None:
    rng = Random(seed)
    queries = rng.sample(cell_of(test).written, QUERIES)
    said = [(query.asked, cells_said(query, rng)) for query in queries]
    plain = evidence(test, queries, [IS.row(*each) for each in said])
    assert evidence(test, queries, [SHAPES[shape](*each) for each in said]) == plain
    assert plain.answered == len(queries)


@pytest.mark.slow
@pytest.mark.parametrize("mark", ["", "?", "nan", "NA", "N/A", "null", "None", "-", "missing"])
def test_a_missing_number_in_a_list_leaves_the_others_readable(mark: str) -> None:
    query = replace(cell_of(ROW_TESTS[0]).written[0], expected=("Wexlow", "12", "yes"))
    reading = cell_of(ROW_TESTS[0]).test.read(query, Reply(f"Wexlow, {mark}, yes", ReplyState.OK), IS)
    assert (reading.readable, reading.right) == (True, ("homePort", "tolldue"))


@pytest.mark.parametrize("said", ["{}", "{}.", "**{}**", "The master is {}."])
def test_a_name_that_ends_in_quotes_is_read_whatever_stands_around_it(said: str) -> None:
    name = 'Thoom 7, Orlo "Bexa"'
    query = replace(cell_of(ROW_TESTS[2]).written[0], asked=("master",), expected=(name,), chance={})
    reading = cell_of(ROW_TESTS[2]).test.read(query, Reply(said.format(name), ReplyState.OK), IS)
    assert reading.right == ("master",)


ALL_OTHERS = [cell.id for cell in ASKED if cell.id not in ROW_TESTS]


@pytest.mark.slow
@pytest.mark.parametrize("test", ALL_OTHERS)
def test_a_preamble_changes_no_decision(test: str, request: pytest.FixtureRequest) -> None:
    if test != "first_token":  # the beginning of a row is not told from every preamble, so it is asked as in a run
        request.getfixturevalue("cheaply")
    own = planned(replace(SHIPS), [by_id()[test]], IS, 0, ALPHA)
    (cell,) = own.cells
    for kind in ("oracle", "mode"):
        plain = [trial.reply.text for trial in ask(own, kind, 0)[test] or ()]
        found = evidence(test, cell.written, plain) if plain else None
        for before in ("Sure! Here is the answer:\n\n", "Certainly. Here you go:\n```\n", "**Answer:** "):
            if plain:
                assert evidence(test, cell.written, [before + text for text in plain]) == found, (kind, before)


# --- the way an expected value is written


def otherwise(cell: Cell, rng: Random) -> Cell:
    """An equal value, written in another way."""
    if cell is None:
        return None
    if is_number(cell):
        return rng.choice([f"{float(cell):.6f}", f"{float(cell):.8e}", f"0{cell}", f" {cell} ", f"+{cell}"])
    return rng.choice([cell.upper(), cell.lower(), f" {cell}", f'"{cell}"', cell.replace(" ", "  ")])


@pytest.mark.slow
@pytest.mark.parametrize("test", ROW_TESTS)
@given(seed=st.integers(0, 10**6))
@settings(deadline=None, max_examples=15)
def test_an_equal_expected_value_written_differently_changes_no_decision(test: str, seed: int) -> None:
    rng = Random(seed)
    queries = rng.sample(cell_of(test).written, QUERIES)
    equal = [replace(query, expected=tuple(otherwise(cell, rng) for cell in query.expected)) for query in queries]
    texts = [IS.row(query.asked, cells_said(query, rng)) for query in queries]
    assert evidence(test, equal, texts) == evidence(test, queries, texts)


# --- tables of any shape, from the plan to the results


def judged(table: Table, folder: Path, tests: Sequence[Test]) -> dict[str, list[dict[str, Any]]]:
    """The cells of the oracle and of the guesser, and the lines of the table, as results.json has them."""
    subjects = [RunSource(SimulatedModel(kind)) for kind in ("oracle", "guesser")]
    options = RunConfig()
    session = Session(plan(subjects, [table], [IS], tests, options), options, Journal(folder), Progress())
    session.recall()
    asyncio.run(session.ask())
    run = RunFacts(rules=CALIBRATED, alpha=ALPHA)
    written = as_document(build_results(run, session.results()))
    json.dumps(written, allow_nan=False)
    return written


def of_llm(kind: str, lines: Sequence[dict[str, Any]]) -> dict[str, str | None]:
    return {str(line.get("test", "table")): line["verdict"] for line in lines if line["llm"] == f"simulated:{kind}"}


def made(columns: Sequence[Sequence[Cell]], target: int | None = None) -> Table:
    names = tuple(f"feat{place}" for place in range(len(columns)))
    return replace(
        SHIPS,
        columns=names,
        rows=tuple(zip(*columns, strict=True)),
        target=None if target is None else names[target],
        question=None,
    )


def words(rows: int, seed: str) -> list[Cell]:
    """Words that no two rows share."""
    rng = Random(seed)
    return ["".join(rng.choice("bdfglmnprstvz") + rng.choice("aeiou") for _ in range(4)) for _ in range(rows)]


ROWS = 60
RNG = Random("results")
NUMBERS: list[Cell] = [str(row) for row in range(ROWS)]
CONSTANT: list[Cell] = ["k"] * ROWS
ODD: Mapping[str, Table] = {
    "one informative row": made([NUMBERS, *[["k"] * (ROWS - 1) + ["x"]] * 4]),
    "constant": made([CONSTANT] * 5),
    "all unique": made([words(ROWS, f"column {place}") for place in range(6)]),
    "8 columns": made([[f"v{RNG.randrange(place + 2)}" for _ in range(30)] for place in range(8)]),
    "missing": made([[None] * ROWS] * 5),
    "NaN targets": made([NUMBERS, words(ROWS, "a"), words(ROWS, "b"), ["NaN", None] * (ROWS // 2)], target=3),
}
NOTHING = {"one informative row", "constant", "missing"}  # tables of which there is nothing to remember
ONE_ENTITY = {  # tables whose columns all name the same things: who knows one may know the others
    "all unique": "feat0, feat1, feat2, feat3, feat4 and feat5",
    "NaN targets": "feat1 and feat2",
}


@pytest.mark.parametrize("shape", ODD)
@pytest.mark.slow
def test_tables_of_any_shape_are_judged(shape: str, tmp_path: Path) -> None:
    of = judged(ODD[shape], tmp_path, all_tests() if shape in ("constant", "missing") else USUAL)
    guesser, oracle = (of_llm(kind, [*of["results"], *of["tables"]]) for kind in ("guesser", "oracle"))
    assert "contaminated" not in guesser.values()
    assert all(cell["reason"] for cell in of["results"] if cell["verdict"] in ("skipped", "uninformative", "no answer"))
    if shape in NOTHING:
        assert {oracle[test] for test in (*ROW_TESTS, "table")} <= {"skipped", "uninformative"}
    elif shape in ONE_ENTITY:
        (table,) = [table for table in of["tables"] if table["llm"] == "simulated:oracle"]
        assert (table["verdict"], table["rests_on"]) == ("uninformative", ONE_ENTITY[shape])
    else:
        assert oracle["table"] == "contaminated"


@pytest.mark.slow
def test_a_file_with_line_ends_in_its_cells_is_judged_as_any_other(tmp_path: Path) -> None:
    """A row of such a table is not a line of its file."""
    folder, path = tmp_path / "run", tmp_path / "notes.csv"
    folder.mkdir()
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["keeper", "note", "weight", "port"])
        for row, (keeper, note) in enumerate(zip(words(ROWS, "keeper"), words(ROWS, "note"), strict=True)):
            writer.writerow([keeper, f"{note},\nseen by {keeper}", 7 * row % 61, f"{note}\r\nand {row}"])
    table = load_table(str(path))
    assert len(table.rows) == ROWS
    of = judged(table, folder, USUAL)
    guesser, oracle = (of_llm(kind, [*of["results"], *of["tables"]]) for kind in ("guesser", "oracle"))
    assert "contaminated" not in guesser.values()
    assert oracle["table"] == "contaminated"
    cells = {cell["test"]: cell for cell in of["results"] if cell["llm"] == "simulated:oracle"}
    for test in ROW_TESTS:
        assert cells[test]["hits"] == cells[test]["answered"] > 0
