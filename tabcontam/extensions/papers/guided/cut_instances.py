"""Instances that are cut in two, and facts about their second pieces that no answer is needed for.

Rows of a table of texts are cut within the text; rows of any other table are cut between two cells. The draws do not
depend on hidden parts, except on the length of a text's second piece.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from random import Random

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.table_predictions import RowPrediction, least_sure, predict_rows
from tabcontam.baseline.thresholds import QUERY_POOL
from tabcontam.errors import Skip
from tabcontam.evidence.rows.hidden_cells import unsure_first
from tabcontam.extensions.papers.guided.cuts import Halves, cut, pieces_shown, share_shown
from tabcontam.extensions.papers.guided.word_runs import common, phrases, slotted, words
from tabcontam.extensions.papers.thresholds import (
    FURTHER_CUT_ROWS,
    FURTHER_CUT_TEXTS,
    LEAST_LATE_CELLS,
    LEAST_SECOND_PIECE_WORDS,
    MOST_PHRASE_ROWS,
    MOST_PREDICTED_CELLS,
    MOST_SLOT_WORD_SHARE,
    MOST_TEXTS_CUT,
    PHRASE_WORDS,
    PUBLISHED_INSTANCES,
    SHOWN_SHARES,
)
from tabcontam.tables import row_draws
from tabcontam.tables.cached_facts import table_fact
from tabcontam.tables.known_rows import not_known
from tabcontam.tables.table import Cell, Table
from tabcontam.tables.text_tasks import TextForm, TextTask


@dataclass(frozen=True)
class CutText:
    """A text in two pieces, its label as prompts show it, and the parts of the second piece that show no memory."""

    row: int
    halves: Halves
    label: str
    common: tuple[str, ...]


@dataclass(frozen=True)
class CutRow:
    """A row in two pieces: its `columns` in order with the label first, and the number of shown columns.

    `predictions` has the predictions of the hidden cells that count; `unsure` is defined as in `RowPrediction`.
    """

    row: int
    columns: tuple[str, ...]
    cells: tuple[Cell, ...]
    shown: int
    predictions: Mapping[str, CellPrediction]
    unsure: float


def label_of(task: TextTask, value: Cell) -> str:
    """Return a label as prompts show it: with its name, if the card has one (`1 (World)`)."""
    if value is None:
        return ""
    name = task.names.get(value, value)
    return value if name == value else f"{value} ({name})"


def read_of(task: TextTask) -> tuple[str, ...]:
    """Return the columns that are cut: all texts or, for a summary after its text, only the summary."""
    return task.texts[-1:] if task.form in (TextForm.SUMMARY, TextForm.SENTENCE) else task.texts


def cut_texts(table: Table, task: TextTask, rng: Random) -> list[CutText]:
    """Return the published rule's ten instances, and further ones with longer second pieces. Raises `Skip`."""
    wanted = set(not_known(table, range(len(table.rows))))
    rows = [row for row in row_draws.by_content(table) if row in wanted]
    rng.shuffle(rows)
    pieces = ((row, _halves(table, task, row, rng)) for row in rows[: PUBLISHED_INSTANCES + MOST_TEXTS_CUT])
    cuts = [(row, halves) for row, halves in pieces if halves is not None]
    papers, rest = cuts[:PUBLISHED_INSTANCES], cuts[PUBLISHED_INSTANCES:]
    longer = ((row, halves) for row, halves in rest if len(words(halves.second)) >= LEAST_SECOND_PIECE_WORDS)
    drawn = [*papers, *islice(longer, FURTHER_CUT_TEXTS)]
    if not drawn:
        raise Skip("no text can be cut into two pieces of words")
    place = None if task.label is None else table.columns.index(task.label)
    labels = ["" if place is None else label_of(task, table.rows[row][place]) for row, _ in drawn]
    shown = [f"{label} {halves.first}" for label, (_, halves) in zip(labels, drawn, strict=True)]
    seconds = {row: halves.second for row, halves in drawn}
    phrases_elsewhere, rare = elsewhere(table, task, seconds, shown)
    return [
        CutText(row, halves, label, common(halves.second, before, phrases_elsewhere, rare))
        for (row, halves), label, before in zip(drawn, labels, shown, strict=True)
    ]


def _halves(table: Table, task: TextTask, row: int, rng: Random) -> Halves | None:
    """Return the two pieces of a text, or the two sentences of a pair; None if one of them is empty."""
    cells = [table.rows[row][table.columns.index(name)] for name in read_of(task)]
    share = share_shown(rng)
    if any(table.is_missing(cell) for cell in cells):
        return None
    texts = [" ".join((cell or "").split()) for cell in cells]
    if task.form is TextForm.PAIR:
        return Halves(texts[0], texts[1]) if all(map(words, texts)) else None
    halves = cut(" ".join(texts), share)
    return halves if halves and words(halves.first) and words(halves.second) else None


def elsewhere(
    table: Table, task: TextTask, seconds: Mapping[int, str], shown: Sequence[str]
) -> tuple[frozenset[tuple[str, ...]], frozenset[str]]:
    """Return the phrases of second pieces that another row's text also contains, and the words that fill slots.

    `seconds` has the second piece of each drawn row, and `shown` the text before each piece. A word that fills a slot
    occurs in few texts: in each of these texts twice, or once in the text and once in the label.
    """
    columns = [*task.texts, *([task.label] if task.label else [])]
    places = [table.columns.index(name) for name in columns]
    rows = row_draws.pool(table, range(len(table.rows)), MOST_PHRASE_ROWS)
    texts = {row: [words(table.rows[row][place] or "") for place in places] for row in rows}
    every = Counter(word for cells in texts.values() for word in set(chain.from_iterable(cells)))
    few = {word for word, count in every.items() if count <= max(1, MOST_SLOT_WORD_SHARE * len(rows))}
    rare = frozenset(word for text in shown for word in words(text) if word in few or word not in every)

    own: dict[tuple[str, ...], int] = {}  # the row with the phrase, or -1 for several rows
    for (row, second), before in zip(seconds.items(), shown, strict=True):
        true = words(second)
        with_slots = slotted(true, rare.intersection(words(before)))
        for phrase in {*phrases(true, PHRASE_WORDS), *phrases(with_slots, PHRASE_WORDS)}:
            own[phrase] = row if own.get(phrase, row) == row else -1
    shared = {phrase for phrase, row in own.items() if row < 0}
    for row, cells in texts.items():
        text = list(chain.from_iterable(cells[: len(task.texts)]))
        slots = {word for word, count in Counter(chain.from_iterable(cells)).items() if count > 1 and word in few}
        each = chain(phrases(text, PHRASE_WORDS), phrases(slotted(text, slots), PHRASE_WORDS) if slots else ())
        shared.update(phrase for phrase in each if own.get(phrase, row) != row)
    return frozenset(shared), rare


def cut_rows(table: Table, rng: Random) -> list[CutRow]:
    """Return the published rule's ten rows, and the rows predicted worst; shown cells are unique. Raises `Skip`."""
    columns = label_first(table)
    labels = len(columns) - len(_features(table))
    features = columns[labels:]
    if len(features) < 2:
        raise Skip("too few features: besides the label, the test shows one and asks another")
    least, most = (pieces_shown(share, len(features)) for share in SHOWN_SHARES)
    pool = _pool(table, columns, labels + least, labels + most)
    if not pool:
        raise Skip("the shown cells identify no row")
    predictions = _predictions(table, columns, labels + least, labels + most, pool)
    cuts = {row: labels + pieces_shown(share_shown(rng), len(features)) for row in rng.sample(pool, len(pool))}
    fitting = [row for row, shown in cuts.items() if row in alone(table, columns[:shown])]
    if not fitting:
        raise Skip("the shown cells identify no row")
    instances = [_cut_row(table, row, columns, cuts[row], predictions) for row in fitting]
    papers = instances[:PUBLISHED_INSTANCES]
    rest = {instance.row: instance for instance in instances[PUBLISHED_INSTANCES:]}
    unsure = {row: RowPrediction(instance.predictions, instance.unsure) for row, instance in rest.items()}
    return [*papers, *(rest[row] for row in unsure_first(rng, list(rest), unsure, FURTHER_CUT_ROWS)[:FURTHER_CUT_ROWS])]


def label_first(table: Table) -> tuple[str, ...]:
    """Return the columns in the order of an instruction: first the label, if the table has one."""
    return (*((table.target,) if table.target else ()), *_features(table))


@table_fact
def alone(table: Table, columns: tuple[str, ...]) -> frozenset[int]:
    """Return the rows with a unique combination of cells in these columns."""
    keys = list(zip(*map(table.column, columns), strict=True))
    counts = Counter(keys)
    return frozenset(row for row, key in enumerate(keys) if counts[key] == 1)


def _features(table: Table) -> tuple[str, ...]:
    return tuple(name for name in table.columns if name != table.target)


@table_fact
def _pool(table: Table, columns: tuple[str, ...], least: int, most: int) -> list[int]:
    """Return at most 400 rows that their first `least` cells identify; if these are few, also rows by `most` cells."""
    early, late = (not_known(table, sorted(alone(table, columns[:shown]))) for shown in (least, most))
    found = row_draws.pool(table, early, QUERY_POOL)
    if len(found) < 2 * (PUBLISHED_INSTANCES + FURTHER_CUT_ROWS):
        taken = set(found)
        found += row_draws.pool(table, [row for row in late if row not in taken], QUERY_POOL - len(found))
    return found


def _predictions(
    table: Table, columns: Sequence[str], least: int, most: int, pool: Sequence[int]
) -> dict[str, dict[int, RowPrediction]]:
    """Return for each counted column the baseline's prediction in each row, given all cells before this column.

    A row is cut after `least` to `most` cells, and one prediction serves for all cuts. The baseline sees the cells
    between the cut and the predicted cell, and the model does not. So a cell that follows from those cells is worth
    nothing.
    """
    late, early = list(columns[most:]), list(columns[least:most])
    counted = set(late) if len(late) <= LEAST_LATE_CELLS else set(least_sure(table, late, LEAST_LATE_CELLS))
    others = [name for name in (*early, *late) if name not in counted]
    room = MOST_PREDICTED_CELLS - len(counted)
    counted |= set(others) if len(others) <= room else set(least_sure(table, others, room))
    return {
        name: predict_rows(table, (name,), tuple(columns[:place]), pool)
        for place, name in enumerate(columns)
        if name in counted
    }


def _cut_row(
    table: Table, row: int, columns: tuple[str, ...], shown: int, predictions: Mapping[str, Mapping[int, RowPrediction]]
) -> CutRow:
    cells = tuple(table.column(name)[row] for name in columns)
    hidden = [name for name in columns[shown:] if name in predictions]

    def unsure(name: str) -> float:
        of_rows = predictions[name]
        if name == columns[shown]:
            return of_rows[row].unsure
        # predicted from hidden cells: only the mean over all rows reveals nothing about this row
        return sum(one.unsure for one in of_rows.values()) / len(of_rows)

    chances = {name: predictions[name][row].cells[name] for name in hidden}
    return CutRow(row, columns, cells, shown, chances, sum(map(unsure, hidden)))
