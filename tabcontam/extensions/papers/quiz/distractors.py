"""The questions of a quiz: rows, and other values for one of their cells, which are drawn from the baseline.

A model that does not know a row cannot distinguish its cell from the drawn values, as far as the baseline is right: all
come from the same distribution. Two solvers, which never see the row, check this. One solver names the value that the
baseline finds likeliest among four. The other is gradient boosting on features of the values: how well they fit the
row, the values of similar rows, and their distance from sums and products of the other numbers. It is trained on other
rows. The chance that a value is the row's own is that of the surer solver, and at least one fourth. This chance is
raised if predictions with such chances were right more often.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabcontam.baseline.altered_copies import AlteredCopies
from tabcontam.baseline.cell_draws import CellDraws, draw_cells
from tabcontam.baseline.predictor_weights import SortedHits
from tabcontam.baseline.stored_facts import ranks, stored_fact
from tabcontam.baseline.table_predictions import least_sure
from tabcontam.errors import Skip
from tabcontam.evidence.rows.altered_rows import classifier_inputs, least_squares_laws, ranked_cells
from tabcontam.evidence.rows.drawable_cells import can_be_drawn, rows_unlike_others
from tabcontam.evidence.rows.revealing_laws import column_that_reveals, law_that_reveals
from tabcontam.extensions.papers.thresholds import (
    BLIND_SOLVED_SHARE,
    LEAST_QUIZ_ROWS,
    MOST_QUIZ_FEATURES,
    MOST_QUIZ_FEATURES_TRIED,
    MOST_QUIZ_ROWS,
    QUIZ_DRAWS,
    QUIZ_FOLDS,
    QUIZ_OPTIONS,
)
from tabcontam.reading.answer_text import value_key
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.known_rows import not_known
from tabcontam.tables.row_draws import by_content, pool, seeded
from tabcontam.tables.table import Table
from tabcontam.tables.thresholds import MOST_CATEGORIES

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class QuizQuestion:
    """A question about a row and a column:

    `cells` has the row's own cell, and then as many others as there are options.

    The last cell replaces the own cell if no option is the original. `chances` has, for all cells except the last, the
    probability that the cell is the row's own.
    """

    row: int
    column: int
    cells: tuple[str, ...]
    chances: tuple[float, ...]


# version: of the method: cached results of other versions are not read
def questions(table: Table, *, version: int = 2) -> tuple[QuizQuestion, ...]:
    """Return all questions that can be asked about a table, cached. Raises `Skip` with the reason if there are none."""

    def write(found: Sequence[QuizQuestion] | str) -> object:
        if isinstance(found, str):
            return found
        rank = ranks(table)
        return [[rank[one.row], table.columns[one.column], one.cells, one.chances] for one in found]

    def read(stored: Any) -> tuple[QuizQuestion, ...] | str:
        return stored if isinstance(stored, str) else tuple(_read(table, *one) for one in stored)

    question = ["quiz", version, table.target, sorted(table.missing)]
    found = cached_fact(
        table, "quiz", lambda: stored_fact(table, question, lambda: _find_questions(table), write, read)
    )
    if isinstance(found, str):
        raise Skip(found)
    return found


def _read(table: Table, rank: int, feature: str, cells: Sequence[str], chances: Sequence[float]) -> QuizQuestion:
    row, column = by_content(table)[rank], table.columns.index(feature)
    one = QuizQuestion(row, column, tuple(cells), tuple(chances))
    fits = (len(one.cells), len(one.chances)) == (QUIZ_OPTIONS + 1, QUIZ_OPTIONS)
    fits = fits and all(0 < each <= 1 for each in one.chances)
    if not fits or value_key(one.cells[0]) != value_key(table.rows[row][column] or ""):
        raise ValueError("no question of this table")
    return one


def _find_questions(table: Table) -> tuple[QuizQuestion, ...] | str:
    most_named = 3  # largest number of reasons that are named
    if table.enumerates_domain:
        return "the table lists every combination of its values: a changed row is another row of it"
    names = [name for name in sorted(table.columns) if _can_be_altered(table, name)]
    if not names:
        return f"no feature has {QUIZ_OPTIONS + 1} values that recur and could stand in another row"
    rows = pool(table, not_known(table, range(len(table.rows))), MOST_QUIZ_ROWS)
    found: list[tuple[float, list[QuizQuestion]]] = []
    reasons: list[str] = []
    for name in least_sure(table, names, min(MOST_QUIZ_FEATURES_TRIED, len(names))):
        own = _of_feature(table, name, rows)
        if isinstance(own, str):
            reasons.append(own)
        else:
            found.append(own)
        if sum(recognized <= BLIND_SOLVED_SHARE for recognized, _ in found) == MOST_QUIZ_FEATURES:
            break
    if not found:
        return f"no feature can be altered unnoticed: {'; '.join(reasons[:most_named])}"
    best = sorted(found, key=lambda one: one[0])[:MOST_QUIZ_FEATURES]
    return tuple(one for _, own in best for one in own)


def _can_be_altered(table: Table, name: str) -> bool:
    """Return whether the column has enough recurring values, and no texts that general knowledge may predict."""
    few = table.is_numeric(name) or len(table.distinct(name)) <= MOST_CATEGORIES
    return few and len(table.distinct(name)) > QUIZ_OPTIONS and can_be_drawn(table, name)


def _of_feature(table: Table, name: str, rows: Sequence[int]) -> tuple[float, list[QuizQuestion]] | str:
    """Return the better solver's share of right answers for a feature, and the questions; or why there are none."""
    most_recognized = 0.6  # largest share of a feature's questions that a solver may answer right
    apart = rows_unlike_others(table, name, rows)
    if len(apart) < LEAST_QUIZ_ROWS:
        needed = f"a solver needs {LEAST_QUIZ_ROWS}"
        return f"only {len(apart)} rows have no equal in the features besides {name}, and {needed}"
    if (known := column_that_reveals(table, name, apart)) is not None:
        return known
    every = draw_cells(table, name, apart, QUIZ_DRAWS)
    options = {row: cells for row, one in every.items() if (cells := _options(table, name, row, one))}
    if len(options) < LEAST_QUIZ_ROWS:
        return f"only {len(options)} rows can be altered in {name}, and a solver needs {LEAST_QUIZ_ROWS}"
    copies = AlteredCopies(table, name, [*options], [cells[1] for cells in options.values()])
    if (law := law_that_reveals(copies)) is not None:
        return law
    likely = np.array([_likelihoods(every[row], cells) for row, cells in options.items()])
    boosted = _boosted(table, name, list(every), options, likely)
    # ties between options must not be resolved by which one is the own cell
    ties = (seeded(table, "ties", name, row) for row in range(len(options)))
    mixed = np.array([rng.sample(range(QUIZ_OPTIONS), QUIZ_OPTIONS) for rng in ties])
    likely, boosted = (np.take_along_axis(one, mixed, axis=1) for one in (likely, boosted))
    own = mixed.argmin(axis=1)
    recognized = max(float((one.argmax(axis=1) == own).mean()) for one in (likely, boosted))
    if recognized > most_recognized:
        return f"a solver that never saw the rows recognizes {recognized:.0%} of the cells of {name}"
    surer = np.maximum(_checked(likely, own), _checked(boosted, own)).clip(1 / QUIZ_OPTIONS, 1.0).round(9)
    chances = np.take_along_axis(surer, mixed.argsort(axis=1), axis=1).tolist()
    column = table.columns.index(name)
    asked = zip(options.items(), chances, strict=True)
    return recognized, [QuizQuestion(row, column, cells, tuple(each)) for (row, cells), each in asked]


def _options(table: Table, name: str, row: int, draws: CellDraws) -> tuple[str, ...] | None:
    """Return the row's own cell and as many drawn cells, all different, in the order of the draw; None if too few."""
    own = str(table.rows[row][table.columns.index(name)])
    rng = seeded(table, "quiz", name, *table.rows[row])
    values = [value for value, times in draws.times.items() for _ in range(times)]
    others = dict.fromkeys(value for value in rng.sample(values, len(values)) if value != own)
    return (own, *list(others)[:QUIZ_OPTIONS]) if len(others) >= QUIZ_OPTIONS else None


def _likelihoods(draws: CellDraws, cells: Sequence[str]) -> list[float]:
    """Return the chance of each option to be the own cell, given all draws and the own cell together.

    All come from one distribution, so that each is the own cell with the same chance. A value that is drawn more often
    is likelier to be the own one. The effect is even larger, since the other options are drawn without the own value.
    """
    times = [draws.times.get(cell, 0) + (place == 0) for place, cell in enumerate(cells[:QUIZ_OPTIONS])]
    whole = QUIZ_DRAWS + 1

    def drawn_after(own: int) -> float:
        total = 0.0
        for order in permutations(other for place, other in enumerate(times) if place != own):
            left, chance = whole - times[own], 1.0
            for other in order:
                chance *= other / left
                left -= other
            total += chance
        return total

    worth = [count * drawn_after(place) for place, count in enumerate(times)]
    return [each / sum(worth) for each in worth]


def _boosted(
    table: Table, name: str, rows: Sequence[int], options: Mapping[int, Sequence[str]], likely: Floats
) -> Floats:
    """Return the chance of each option to be the own cell, by gradient boosting that is trained on other rows."""
    from scipy.optimize import minimize_scalar
    from sklearn.ensemble import HistGradientBoostingClassifier

    codes, column = ranked_cells(table, rows), table.columns.index(name)
    others = [place for place in sorted(range(codes.shape[1]), key=table.columns.__getitem__) if place != column]
    keys = [value_key(table.rows[row][column] or "") for row in rows]
    _, which, times = np.unique(keys, return_inverse=True, return_counts=True)
    frequency = times[which].astype(np.float64)
    place_of = {key: place for place, key in enumerate(keys)}
    bases = np.array([place for place, row in enumerate(rows) if row in options])
    shown = [bases]
    for number in range(1, QUIZ_OPTIONS):
        shown.append(np.array([place_of[value_key(cells[number])] for cells in options.values()]))
    laws = least_squares_laws(table, rows, column)
    looks = classifier_inputs(codes[:, others], codes[:, column], frequency, laws, bases, shown)
    most = likely.max(axis=1)
    given = [np.column_stack([look, np.log(own), own - most]) for look, own in zip(looks, likely.T, strict=True)]
    folds = np.arange(len(bases)) % QUIZ_FOLDS
    odds = np.zeros((len(bases), QUIZ_OPTIONS))
    for fold in range(QUIZ_FOLDS):
        learned, solved = folds != fold, folds == fold
        model = HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=8, early_stopping=False, random_state=0)
        labels = np.repeat([1, 0, 0, 0], int(learned.sum()))
        model.fit(np.concatenate([one[learned] for one in given]), labels)
        for number, one in enumerate(given):
            odds[solved, number] = model.decision_function(one[solved])

    def loss(slope: float) -> float:
        scaled = slope * odds
        return float((np.logaddexp.reduce(scaled, axis=1) - scaled[:, 0]).sum())

    slope = float(minimize_scalar(loss, bounds=(0.0, 3.0), method="bounded").x)
    scaled = np.exp(slope * (odds - odds.max(axis=1, keepdims=True)))
    return np.asarray(scaled / scaled.sum(axis=1, keepdims=True))


def _checked(chances: Floats, own: Ints) -> Floats:
    """Return the chances of the options. The highest is raised if such options were right more often than predicted."""
    top = chances.argmax(axis=1)
    sure = chances.max(axis=1)
    hits = SortedHits.of(sure, top == own)
    raised = chances.copy()
    raised[np.arange(len(top)), top] = [hits.raised(chance, len(sure)) for chance in sure.tolist()]
    return raised
