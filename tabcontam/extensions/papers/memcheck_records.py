"""The answers that the authors of tabmemcheck printed: the number of exact answers, and the calibrated verdicts.

A line has the LLM, the file, the asked feature, the answer, and the answer's edit distance to the file's text. The
feature is null if a whole row was asked. Some lines have the expected row. The prompts are not recorded, so the asked
row is mostly unknown. An answer of distance 0 equals the file's text, and its values show its row. In other answers
only values of the expected row count as right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tabcontam.baseline.cell_prediction import CellPrediction, marginal
from tabcontam.config import PAPER
from tabcontam.errors import UsageError
from tabcontam.evidence.base import Query, Reading, Reply, ReplyState, Trial
from tabcontam.extensions.papers.earlier_rows import earlier
from tabcontam.extensions.papers.memcheck.csv_completion_tests import CsvFeatureCompletion, RowCompletion
from tabcontam.extensions.papers.memcheck.csv_row_tests import RawTest, cell_key, first_row, widths
from tabcontam.extensions.papers.thresholds import MOST_CELLS_OF_RECORDED_ROW
from tabcontam.groups import grouped
from tabcontam.reading.answer_text import declines, is_mark, same_value
from tabcontam.reading.word_decision import Dictionary
from tabcontam.replay.answer_records import unrecorded
from tabcontam.replay.calibrated_replay import judge_together
from tabcontam.replay.published_replay import by_published_rule
from tabcontam.replay.record_kind import RecordKind
from tabcontam.replay.record_lines import Lines, count_of, optional_text, parse_lines, text_of
from tabcontam.replay.recorded_null_model import KnownEdition
from tabcontam.replay.recorded_trials import RecordedEvidence
from tabcontam.replay.replay_outcome import ReplayOutcome
from tabcontam.tables.cached_facts import table_fact
from tabcontam.tables.dataset_cards import find_card
from tabcontam.tables.editions import edition_bytes
from tabcontam.tables.table import Cell, Table, load_table
from tabcontam.verdicts.result_types import Result

KEYS = ("llm", "file", "test", "feature", "answer", "distance", "expected", "row")
# the cards of files that the package ships, or whose answers its authors printed
CARDS = {
    "adult-train.csv": "adult",
    "california-housing.csv": "housing",
    "iris.csv": "iris",
    "openml-diabetes.csv": "diabetes",
    "spaceship-titanic-train.csv": "spaceship",
    "titanic-train.csv": "titanic",
    "uci-wine.csv": "wine",
}


@dataclass(frozen=True)
class PrintedAnswer:
    """One printed answer. `line` is its number in the file. `feature` is None if a whole row was asked."""

    line: int
    llm: str
    file: str
    feature: str | None
    answer: str
    distance: int
    expected: str | None

    @property
    def test(self) -> RawTest:
        return RowCompletion() if self.feature is None else CsvFeatureCompletion()

    @property
    def exact(self) -> bool:
        return self.distance == 0


def judged(path: Path, lines: Lines, rules: str, dictionary: Dictionary, with_differences: bool) -> ReplayOutcome:
    """Return the outcome of the answers. Raises `UsageError`. The published counts decide nothing."""
    records = parse_lines(path, lines, _parsed, KEYS)
    groups = list(grouped(records, lambda record: (record.llm, record.file, record.feature)).values())
    results = [_counted(group) for group in groups]
    if rules != PAPER:
        asked = {number: _asked(group) for number, group in enumerate(groups)}
        for numbers in grouped(asked, lambda number: groups[number][0].llm).values():
            judge_together(numbers, results, asked)
    return ReplayOutcome(results)


def _parsed(raw: Mapping[str, Any], number: int) -> PrintedAnswer:
    llm, file, answer = (text_of(raw, key) for key in ("llm", "file", "answer"))
    feature, expected = optional_text(raw, "feature"), optional_text(raw, "expected")
    return PrintedAnswer(number, llm, file, feature, answer, count_of(raw, "distance"), expected)


def _counted(group: Sequence[PrintedAnswer]) -> Result:
    """Return a result with tabmemcheck's count: the number of answers that equal the file's text."""
    first, test = group[0], group[0].test
    result = Result(
        llm=first.llm,
        dataset=CARDS.get(first.file, first.file),
        serializer=None,
        prompts=None,
        test=test.id,
        source=first.file,
        kind=test.kind,
    )
    trials = []
    for record in group:
        reading = Reading(record.answer, record.exact, record.exact, bool(record.exact or not declines(record.answer)))
        query = Query(f"line {record.line}", unrecorded, (), (), 0)
        trials.append(Trial(query, Reply(record.answer, ReplyState.OK), reading))
    assert test.published is not None  # noqa: S101 - both have one
    exact = sum(record.exact for record in group)
    result = by_published_rule(result, test.published, trials)
    sentence = f"{exact} of {len(group)} answers are the file's"
    return result.changed(hits=exact, score=exact / len(group), sentence=sentence)


def _asked(group: Sequence[PrintedAnswer]) -> RecordedEvidence | str:
    """Return the answers of a result with the chances of their values, or why these are not known."""
    first = group[0]
    width = 1 if first.feature else _width(group)
    cells = [[record.answer] if record.feature else first_row(record.answer, width) for record in group]
    table = _edition(group, cells, width)
    if isinstance(table, str):
        return table
    known, names = KnownEdition(table), (first.feature,) if first.feature else table.columns
    trials = tuple(_trial(record, own, names, known) for record, own in zip(group, cells, strict=True))
    exact = sum(record.exact for record in group)
    return RecordedEvidence(
        first.test,
        trials,
        f"the answers stay; the asked cells are drawn from the frequencies of {table.name}@{table.edition} and, "
        "in whole rows, from how often a cell repeats or continues the row before",
        f"{exact} of {len(group)} answers are the file's; ",
    )


def _width(group: Sequence[PrintedAnswer]) -> int:
    """Return the number of cells in a row of the file: the most common one in exact or expected rows, or in answers."""
    texts = [record.expected or record.answer for record in group if record.exact or record.expected]
    found = []
    for text in texts or [record.answer for record in group]:
        possible = [width for width in widths(text) if 1 < width <= MOST_CELLS_OF_RECORDED_ROW]
        found += [max(possible)] if possible else []
    return max(set(found), key=found.count, default=0)


def _edition(group: Sequence[PrintedAnswer], cells: Sequence[Sequence[Cell] | None], width: int) -> Table | str:
    """Return the edition of the file that contains most of the exact answers, or why there is none."""
    first = group[0]
    card = find_card(CARDS.get(first.file, ""))
    if card is None:
        return f"not recorded: no card has {first.file}"
    exact = [own for record, own in zip(group, cells, strict=True) if record.exact and own is not None]
    best: tuple[int, Table] | None = None
    why = f"no edition of {card.name} has such rows"
    for edition in card.editions:
        try:
            edition_bytes(card, replace(edition, addresses=()))  # nothing is fetched
        except UsageError:
            why = f"no edition of {card.name} with such rows is on this machine"
            continue
        table = load_table(f"{card.name}@{edition.name}")
        if first.feature is None and len(table.columns) != width:
            continue
        if first.feature is not None and first.feature not in table.columns:
            continue
        held = _rows_by_key(table, first.feature)
        count = sum((_key(own, table) if first.feature is None else (cell_key(own[0]),)) in held for own in exact)
        if best is None or count > best[0]:
            best = (count, table)
    return f"not recorded: {why}" if best is None else best[1]


@table_fact
def _rows_by_key(table: Table, feature: str | None) -> dict[tuple[Cell, ...], list[int]]:
    """Return the indices of a table's rows by the cell of a feature, or by all cells if that is None."""

    def key(row: int) -> tuple[Cell, ...]:
        return _key(table.rows[row], table) if feature is None else (cell_key(table.column(feature)[row]),)

    return grouped(range(len(table.rows)), key)


def _key(row: Sequence[Cell], table: Table) -> tuple[Cell, ...]:
    return tuple(None if cell is None or table.is_missing(cell) else cell_key(cell) for cell in row)


def _trial(record: PrintedAnswer, cells: Sequence[Cell] | None, names: Sequence[str], known: KnownEdition) -> Trial:
    """Return an answer with the chance of each cell: in its own row, or in any row if its row is unknown."""
    table = known.table
    if cells is None:
        query = Query(f"line {record.line}", unrecorded, tuple(names), (None,) * len(names), 0)
        query = replace(query, chance={name: _frequencies(table, name) for name in names})
        return Trial(query, Reply(record.answer, ReplyState.OK), Reading(None, False, False, readable=False))
    given = {name: cell for name, cell in zip(names, cells, strict=True) if cell is not None and not is_mark(cell)}
    expected = first_row(record.expected, len(names)) if record.expected and not record.feature else None
    truth = cells if record.exact else expected
    found = {name: _frequencies(table, name) for name in given}
    if truth is not None:
        key = (cell_key(truth[0]),) if record.feature else _key(truth, table)
        for place in _rows_by_key(table, record.feature).get(key, []):
            for name, prediction in known.predictions(place, tuple(names), False).items():
                if name in found and prediction.chance_of(given[name]) > found[name].chance_of(given[name]):
                    found[name] = prediction
    if not record.feature:
        found = {name: _after_one(table, name, prediction) for name, prediction in found.items()}
    expects = dict(zip(names, truth or [None] * len(names), strict=True))
    right = tuple(name for name in given if expects[name] is not None and same_value(given[name], expects[name]))
    query = Query(f"line {record.line}", unrecorded, tuple(names), tuple(expects.values()), 0, chance=found)
    hit = bool(given) and len(right) == len(given)
    return Trial(query, Reply(record.answer, ReplyState.OK), Reading(given, hit, record.exact, bool(given), right))


@table_fact
def _frequencies(table: Table, name: str) -> CellPrediction:
    return marginal(table.column(name), table.missing)


def _after_one(table: Table, name: str, prediction: CellPrediction) -> CellPrediction:
    """Return the prediction with at least the chance that a cell repeats the one before, or goes on by the step."""
    one = earlier(table, name, 1)
    least = max(one.same, one.stepping if one.step else 0.0)
    return replace(
        prediction,
        values={value: max(chance, least) for value, chance in prediction.values.items()},
        rest=min(1.0, max(prediction.rest, least)),
    )


READER = RecordKind(KEYS, judged)
