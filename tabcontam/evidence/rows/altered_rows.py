"""Altered copies of a table's rows that a classifier without memory of the rows cannot distinguish from true rows."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabcontam.baseline.altered_copies import AlteredCopies
from tabcontam.baseline.predictor_weights import SortedHits
from tabcontam.baseline.solving import thin_svd
from tabcontam.baseline.stored_facts import ranks, stored_fact
from tabcontam.errors import Skip
from tabcontam.evidence.rows.membership import Swap
from tabcontam.evidence.rows.revealing_laws import column_that_reveals, hints_of, law_that_reveals
from tabcontam.evidence.thresholds import (
    ALTERATION_CANDIDATES,
    ALTERATION_FOLDS,
    ALTERATION_ROWS,
    ALTERED_COPIES,
    CLASSIFIER_NEIGHBOURS,
    DONOR_RANK_STEPS,
    LEAST_ALIKE_ROWS,
    LEAST_ALTERABLE_ROWS,
    MOST_ALTERATIONS_TRIED,
    MOST_BLIND_AUC,
    MOST_CLASSIFIER_LOG_ODDS,
    MOST_DONOR_DRAWS,
)
from tabcontam.groups import grouped
from tabcontam.reading.answer_text import value_key
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.known_rows import extra_rows, not_known
from tabcontam.tables.row_draws import by_content, pool, seeded
from tabcontam.tables.table import Table
from tabcontam.tables.thresholds import MOST_CATEGORIES

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Law = tuple[Floats, Floats]  # a feature's numbers, and their prediction from other features


@dataclass(frozen=True)
class BlindAlteration:
    """Rows and their altered copies, with the classifier's out-of-fold probability that each is a row of the table."""

    column: int  # the altered feature
    auc: float  # of the classifier that separates rows from copies
    swaps: tuple[Swap, ...]
    true: tuple[float, ...]
    false: tuple[float, ...]


# version: of the method: cached results of other versions are not read
def blind_alteration(table: Table, *, version: int = 3) -> BlindAlteration:
    """Return the altered rows of a table, cached.

    Raises `Skip` with the reason if a classifier sees every alteration.
    """

    def write(found: BlindAlteration | str) -> object:
        if isinstance(found, str):
            return found
        rank = ranks(table)
        swaps = [[rank[swap.row], rank[swap.donor]] for swap in found.swaps]
        name = table.columns[found.column]
        return {"feature": name, "auc": found.auc, "swaps": swaps, "true": found.true, "false": found.false}

    def read(stored: Any) -> BlindAlteration | str:
        if isinstance(stored, str):
            return stored
        row, column = by_content(table), table.columns.index(stored["feature"])
        swaps = tuple(Swap(row[shown], column, row[donor]) for shown, donor in stored["swaps"])
        true, false = tuple(stored["true"]), tuple(stored["false"])
        enough = len(true) == len(false) == len(swaps) >= LEAST_ALTERABLE_ROWS
        if not enough or not all(0 <= chance <= 1 for chance in true + false):
            raise ValueError("not two chances of each row")
        return BlindAlteration(column, float(stored["auc"]), swaps, true, false)

    question = ["blind", version, table.target, sorted(table.missing)]
    found = cached_fact(
        table, "blind", lambda: stored_fact(table, question, lambda: _find_alteration(table), write, read)
    )
    if isinstance(found, str):
        raise Skip(found)
    return found


def _find_alteration(table: Table) -> BlindAlteration | str:
    if table.enumerates_domain:
        return "the table lists every combination of its values: a changed row is another row of it"
    # rows that a model may know, or outside a large table's sample, only train and are never shown
    shown, rest = frozenset(not_known(table, range(len(table.rows)))), [row.cells for row in extra_rows(table)]
    if table.whole is not None:
        rest += dict.fromkeys((*table.whole.resembling, *table.whole.key_rows))
    if rest:
        table = replace(table, rows=(*table.rows, *rest), known=(), whole=None)
    counts = Counter(table.rows)
    alone = [index for index, row in enumerate(table.rows) if counts[row] == 1]
    rows = pool(table, [index for index in alone if index in shown], ALTERATION_ROWS)
    if len(rows) < LEAST_ALTERABLE_ROWS:
        return f"a classifier needs {LEAST_ALTERABLE_ROWS} different rows to learn from; there are {len(rows)}"
    rows += pool(table, [index for index in alone if index not in shown], ALTERATION_ROWS - len(rows))
    codes = ranked_cells(table, rows)
    further = iter(_diffuse(table)[:MOST_ALTERATIONS_TRIED])
    candidates: list[_AlteredFeature] = []  # candidates that are not yet checked for laws
    lawless: list[BlindAlteration] = []
    followed: list[str] = []
    while True:
        while len(candidates) + len(lawless) < ALTERATION_CANDIDATES and (column := next(further, None)) is not None:
            found = _altered(table, rows, shown, codes, column)
            if isinstance(found, str):
                followed.append(found)
            elif found is not None:
                candidates.append(found)
        first = min(candidates, key=lambda candidate: _distance_from_chance(candidate.blind), default=None)
        least = min(map(_distance_from_chance, lawless), default=np.inf)
        if first is None or least <= _distance_from_chance(first.blind):
            break
        candidates.remove(first)
        checked = _with_laws(first)
        if isinstance(checked, str):
            followed.append(checked)
        else:
            lawless.append(checked)
    if not lawless and followed:
        return f"arithmetic or general knowledge reveals every alteration: {', '.join(followed)}"
    if not lawless:
        return "no feature has values that recur and could stand in another row"
    best = min(lawless, key=_distance_from_chance)
    if _distance_from_chance(best) >= MOST_BLIND_AUC - 0.5:
        name = table.columns[best.column]
        return f"a classifier that never saw the rows recognizes altered ones: its AUC is {best.auc:.2f} even by {name}"
    return best


def _distance_from_chance(blind: BlindAlteration) -> float:
    """Return how far the classifier's AUC is from 0.5, the value of chance."""
    return abs(blind.auc - 0.5)


@dataclass(frozen=True, eq=False)
class _AlteredFeature:
    """Rows that are altered in one feature, and a classifier's inputs about them; hints from laws are added later."""

    blind: BlindAlteration
    copies: AlteredCopies
    reference: Sequence[int]  # rows in which pairs of values are counted
    true: Floats
    false: Floats


def _with_laws(candidate: _AlteredFeature) -> BlindAlteration | str:
    """Return the rows with the chances of a classifier that knows laws, or the law that reveals the copies."""
    if (law := law_that_reveals(candidate.copies)) is not None:
        return law
    hints = hints_of(candidate.copies, candidate.reference)
    if not hints:
        return candidate.blind
    true = np.column_stack([candidate.true, *(hint.true for hint in hints)])
    false = np.column_stack([candidate.false, *(hint.false for hint in hints)])
    return _blind(candidate.blind.column, candidate.blind.swaps, true, false)


def _blind(column: int, swaps: tuple[Swap, ...], true: Floats, false: Floats) -> BlindAlteration:
    auc, chances = _cross_validated(true, false)
    half = len(true)
    return BlindAlteration(column, auc, swaps, tuple(chances[:half].tolist()), tuple(chances[half:].tolist()))


def _diffuse(table: Table) -> list[int]:
    """Return the columns with recurring values, first those in which two rows differ most often.

    Texts are left out. A reader who knows towns sees that a town is not in its row's country, but no classifier does.
    """
    same = {}
    for column, name in enumerate(table.columns):
        if not (table.is_numeric(name) or len(table.distinct(name)) <= MOST_CATEGORIES):
            continue
        counts = Counter(table.column(name))
        recurring = [count for cell, count in counts.items() if count > 1 and not table.is_missing(cell)]
        if sum(recurring) >= LEAST_ALTERABLE_ROWS and len(recurring) > 1:
            same[column] = sum(count**2 for count in recurring) / sum(recurring) ** 2
    return sorted(same, key=lambda column: (same[column], table.columns[column]))


def ranked_cells(table: Table, rows: Sequence[int]) -> Floats:
    """Return for each cell its rank among the column's values, from 0 to 1, or NaN if it is missing."""
    codes = np.full((len(rows), len(table.columns)), np.nan)
    for place, name in enumerate(table.columns):
        cells = [table.column(name)[row] for row in rows]
        known = [number for number, cell in enumerate(cells) if not table.is_missing(cell)]
        texts = [str(cells[number]) for number in known]
        values = np.array([float(text) for text in texts] if table.is_numeric(name) else texts, dtype=object)
        ranked = np.unique(values, return_inverse=True)[1]
        codes[known, place] = ranked / max(1, ranked.max(initial=0))
    return codes


def _altered(
    table: Table, rows: Sequence[int], shown: Collection[int], codes: Floats, column: int
) -> _AlteredFeature | str | None:
    """Return copies of rows that are altered in `column`, with a classifier's chances; None if there are too few.

    Only rows in `shown` are copied, and only these supply a copy's value. If another column reveals the feature, return
    the reason as text.
    """
    name = table.columns[column]
    if (known := column_that_reveals(table, name, rows)) is not None:
        return known
    cells = table.column(name)
    counts = Counter(cells)
    recurring = [counts[cells[row]] > 1 for row in rows]  # copies never have a value that only one row has
    valued = np.flatnonzero(~np.isnan(codes[:, column]) & recurring)
    if len(valued) < LEAST_ALTERABLE_ROWS:
        return None
    others = [place for place in sorted(range(codes.shape[1]), key=table.columns.__getitem__) if place != column]
    context, values = codes[valued][:, others], codes[valued, column]
    row_at = [rows[place] for place in valued.tolist()]
    leaves = _alike(context, values, table.is_numeric(name))
    given = _donors(table, row_at, column, values, leaves).items()
    fitting = [pair for pair in given if all(row_at[place] in shown for place in pair)]
    donors = dict(fitting[:ALTERED_COPIES])
    if len(donors) < LEAST_ALTERABLE_ROWS:
        return None
    bases, given_to = np.array([*donors]), np.array([*donors.values()])
    copied = [cells[row_at[donor]] for donor in donors.values()]
    copies = AlteredCopies(table, name, [row_at[place] for place in donors], copied)
    frequency = np.array([counts[cells[row]] for row in row_at], dtype=np.float64)
    laws = least_squares_laws(table, row_at, column)
    true, false = classifier_inputs(context, values, frequency, laws, bases, [bases, given_to])
    swaps = tuple(Swap(row_at[base], column, row_at[donor]) for base, donor in donors.items())
    return _AlteredFeature(_blind(column, swaps, true, false), copies, row_at, true, false)


def _alike(context: Floats, values: Floats, numeric: bool) -> Ints:
    """Return for each row its leaf in a tree that predicts the feature from all other features."""
    from sklearn.tree import DecisionTreeRegressor

    target = values if numeric else (values[:, None] == np.unique(values)).astype(np.float64)
    filled = np.nan_to_num(context, nan=-1.0)
    tree = DecisionTreeRegressor(min_samples_leaf=LEAST_ALIKE_ROWS, random_state=0).fit(filled, target)
    return np.asarray(tree.apply(filled), dtype=np.int64)


def _donors(table: Table, rows: Sequence[int], column: int, values: Floats, leaves: Ints) -> dict[int, int]:
    """Return for each row, by place, another row whose value is plausible there but makes no row of the table."""
    rng = seeded(table, "donors", table.columns[column])
    alike = grouped(range(len(rows)), lambda place: int(leaves[place]))
    keys = [value_key(str(table.rows[row][column])) for row in rows]
    by_value = np.argsort(values, kind="stable").tolist()
    rank = {place: number for number, place in enumerate(by_value)}
    step = max(1, int(len(rows) * DONOR_RANK_STEPS)) if table.is_numeric(table.columns[column]) else 0
    donors = {}
    for place, row in enumerate(rows):
        for _ in range(MOST_DONOR_DRAWS):
            near = rank[rng.choice(alike[int(leaves[place])])] + rng.randint(-step, step)
            donor = by_value[min(max(near, 0), len(rows) - 1)]
            if keys[donor] != keys[place] and not table.is_row(Swap(row, column, rows[donor]).cells(table)):
                donors[place] = donor
                break
    return donors


def least_squares_laws(table: Table, rows: Sequence[int], column: int) -> list[Law]:
    """Return the column's numbers and their fits by sums and products (`z = depth * x`) of other numbers."""
    name = table.columns[column]
    if not table.is_numeric(name):
        return []
    numbers = {other: _numbers(table, other, rows) for other in sorted(table.columns) if table.is_numeric(other)}
    laws = []
    for shaped in (np.positive, _logarithm):
        target = shaped(numbers[name])
        others = [shaped(own) for other, own in numbers.items() if other != name]
        laws.append((target, _least_squares(np.column_stack([np.ones(len(rows)), *others]), target)))
    return laws


def _least_squares(given: Floats, target: Floats) -> Floats:
    """Return for each row the least-squares prediction that is fitted to all other rows."""
    turned, sizes, _ = thin_svd(given / np.maximum(np.abs(given).max(axis=0), 1e-300))
    axes = turned[:, sizes > 1e-10 * sizes[0]]
    made = np.einsum("ij,j->i", axes, np.einsum("ij,i->j", axes, target))
    left = np.maximum(1 - (axes**2).sum(axis=1), 0.01)
    return np.asarray(target - (target - made) / left)


def _numbers(table: Table, name: str, rows: Sequence[int]) -> Floats:
    """Return a column's numbers, with missing ones as the median and the outermost 1 % clipped: outliers hide a law."""
    cells = [table.column(name)[row] for row in rows]
    found = np.array([np.nan if cell is None or table.is_missing(cell) else float(cell) for cell in cells])
    if np.isnan(found).all():
        return np.zeros(len(rows))
    low, middle, high = np.nanquantile(found, [0.005, 0.5, 0.995])
    return np.asarray(np.clip(np.nan_to_num(found, nan=middle), low, high))


def _logarithm(numbers: Floats) -> Floats:
    magnitudes = np.abs(numbers)
    return np.asarray(np.log(np.maximum(magnitudes, 1e-3 * max(float(magnitudes.mean()), 1e-300))))


def classifier_inputs(
    context: Floats, values: Floats, frequency: Floats, laws: Sequence[Law], bases: Ints, shown: Sequence[Ints]
) -> list[Floats]:
    """Return a classifier's inputs about the rows `bases`, once for each of `shown`: rows that supply the value.

    The inputs are the row's other cells, the value and its frequency, its distance from the values of similar rows, and
    its distance from the predictions of `laws`.
    """
    filled = np.nan_to_num(context, nan=-1.0)
    squares = (filled**2).sum(axis=1)
    apart = squares[bases, None] + squares - 2 * np.einsum("ik,jk->ij", filled[bases], filled)
    apart[np.arange(len(bases)), bases] = np.inf
    near = np.argpartition(apart, CLASSIFIER_NEIGHBOURS, axis=1)[:, :CLASSIFIER_NEIGHBOURS]
    nearest = values[apart.argmin(axis=1)]
    looks = []
    for places in shown:
        value = values[places][:, None]
        offset, off = value[:, 0] - values[near].mean(axis=1), np.abs(values[near] - value)
        hints = [offset, np.abs(offset), np.abs(nearest - value[:, 0]), off.mean(axis=1), off.min(axis=1)]
        hints += [(off == 0).mean(axis=1), (apart + (values - value) ** 2).min(axis=1)]
        # rounded, since the last digits differ between machines
        off_law = [np.abs(target[places] - made[bases]).round(6) for target, made in laws]
        looks.append(np.column_stack([context[bases], value, np.log1p(frequency[places]), *hints, *off_law]))
    return looks


def _cross_validated(true: Floats, false: Floats) -> tuple[float, Floats]:
    """Return the out-of-fold AUC of gradient boosting and its probability that each row is true; true rows first."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import PredefinedSplit, cross_val_predict

    looks, labels = np.concatenate([true, false]), np.repeat([1, 0], [len(true), len(false)])
    model = HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=8, early_stopping=False, random_state=0)
    folds = PredefinedSplit(np.tile(np.arange(len(true)) % ALTERATION_FOLDS, 2))  # a row and its copy share a fold
    odds = cross_val_predict(model, looks, labels, cv=folds, method="decision_function")
    odds = np.clip(odds, -MOST_CLASSIFIER_LOG_ODDS, MOST_CLASSIFIER_LOG_ODDS)
    # a logistic regression scales the odds, which calibrates the probabilities
    slope = float(LogisticRegression(fit_intercept=False, C=1e6).fit(odds[:, None], labels).coef_[0, 0])
    chances = 1 / (1 + np.exp(-max(slope, 0.0) * odds))
    return float(roc_auc_score(labels, odds)), checked(chances, labels) if slope > 0 else chances


def checked(chances: Floats, labels: Ints) -> Floats:
    """Return the chances; a chance is raised if answers with similar chances were right more often than it says."""
    surer, sure = chances > 0.5, np.maximum(chances, 1 - chances)
    hits = SortedHits.of(sure, surer == (labels == 1))
    raised = np.array([hits.raised(chance, len(sure)) for chance in sure.tolist()])
    return np.asarray(np.where(surer, raised, 1 - raised))
