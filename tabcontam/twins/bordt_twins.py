"""A table's versions after Bordt et al. 2024, "Elephants Never Forget"; each version is made from the one before.

For some datasets the authors published hand-written recipes (in the package `tabmemcheck`). Here the recipe is derived
from the table's cells. `benchmarks.versions` compares both kinds of recipes.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal

import numpy as np

from tabcontam.errors import Skip
from tabcontam.statistics.exact_statistics import clopper_pearson
from tabcontam.tables.table import Cell
from tabcontam.twins.base import Twin, UnseenTwin
from tabcontam.twins.label_baseline import LabelBaseline
from tabcontam.twins.moves import Moves, written
from tabcontam.twins.thresholds import (
    ADDED_DIGIT_DEVIATION,
    BORDT_BLUR,
    BORDT_DIGITS,
    BORDT_FACTOR,
    LAST_DIGITS_NOISE,
    LAST_DIGITS_VALUES,
)
from tabcontam.twins.twin_sample import TwinSample

JOINTS = re.compile(r"[_\s]+|(?<=[^\W\d_])[-.](?=[^\W\d_])|(?<=[a-z])(?=[A-Z])")
Columns = list[list[Cell]]


class OriginalTwin(Twin):
    """The rows as they are, for comparison with the other three versions.

    Keeps: everything. Changes: only the place of the target, which is the last feature, as in every prompt here.

    Cannot show anything alone: a model that recalls a row recalls this one.
    """

    kind = "bordt_original"
    like = False

    def make(self, sample: TwinSample, baseline: LabelBaseline, rng: np.random.Generator) -> UnseenTwin:
        """Return the rows that may have twins, unchanged."""
        return self._of_each(sample, sample.features, _columns(sample))


class LastDigitsTwin(Twin):
    """The perturbed version: numbers have other last digits, and names are replaced.

    Keeps: the label, the names of features and categories, missing cells, and zeros of features without negative
    values: a zero often marks a missing measurement.

    Changes: each number of a feature with more than ten values. It changes by at most a hundredth of the feature's
    standard deviation, but by at least one unit of its last digit. It stays between the feature's smallest and largest
    value. One constant is added to all row numbers. Names, codes and ticket numbers become new ones that no row has. A
    feature of numbers that follows from another feature stays unchanged.

    Cannot pass for further rows of the table: a number that many rows share is moved differently in each, and a blind
    classifier may detect that. Only the small size of the noise keeps a row's label right. A table is refused if
    learners trained on its rows are right more or less often on this version than on the rows. The twin `perturbed` has
    to pass further checks.
    """

    kind = "bordt_perturbed"
    like = False
    relearned = True  # row numbers become larger than any that a learner has seen

    def make(self, sample: TwinSample, baseline: LabelBaseline, rng: np.random.Generator) -> UnseenTwin:
        """Return a twin of each row. Raises `Skip` if no feature can be moved in this way."""
        moves = Moves(sample)
        moves.check_no_texts("which have no last digits to change")
        columns = _perturbed(moves, baseline, rng)
        if columns == _columns(sample):
            problem = f"it has no feature of numbers with more than {LAST_DIGITS_VALUES} values"
            raise Skip(f"{problem}, and no names, so nothing can be changed")
        return self._of_each(sample, sample.features, columns)


class TaskTwin(Twin):
    """The task version: the perturbed one, with other words of the same meaning for features and categories.

    Keeps: the label, the question, and the meaning of each feature and category.

    Changes: what `bordt_perturbed` changes. Names of features and categories are written as words (`HoursPerWeek` as
    `Hours Per Week`, `Self-emp-not-inc` as `Self emp not inc`). Numbers with a point get one more digit. The authors
    reworded names by hand, and so more freely.

    Cannot reword a name that is one word: only its first letter becomes a capital.
    """

    kind = "bordt_task"
    like = False
    relearned = True

    def make(self, sample: TwinSample, baseline: LabelBaseline, rng: np.random.Generator) -> UnseenTwin:
        """Return a twin of each row. Raises `Skip` if a feature has running text."""
        moves, columns = _with_more_digits(sample, baseline, rng)
        worded = [
            cells if moves.numeric(place) or moves.named(place) else _called(sample, cells, _words)
            for place, cells in enumerate(columns)
        ]
        return self._of_each(sample, _words(sample.features), worded)


class StandardisedTwin(Twin):
    """The statistical version: the task version as numbers without names.

    Keeps: the class of each row under another name, which cells are missing, and the relative positions of numbers.

    Changes: features are called X1, X2, … in the table's order. Numbers are standardised, multiplied by -3.33, blurred
    by noise with a standard deviation of 0.05, and rounded to two digits. Categories are whole numbers in a shuffled
    order.

    Cannot tell memory from knowledge: neither an LLM's knowledge of the world nor its memory helps on it. Only what it
    learns from the examples in the prompt helps.
    """

    kind = "bordt_statistical"
    like = False
    relearned = True

    def make(self, sample: TwinSample, baseline: LabelBaseline, rng: np.random.Generator) -> UnseenTwin:
        """Return a twin of each row. Raises `Skip` if a feature has running text."""
        moves, columns = _with_more_digits(sample, baseline, rng)
        recoded = [
            _standardised(sample, cells, rng)
            if moves.numeric(place)
            else _called(sample, cells, lambda known: map(str, rng.permutation(len(known)).tolist()))
            for place, cells in enumerate(columns)
        ]
        order = [name for name in sample.table.columns if name != sample.table.target]
        return self._of_each(sample, [f"X{order.index(name) + 1}" for name in sample.features], recoded)


def _columns(sample: TwinSample) -> Columns:
    """Return the cells of each feature, for the rows that may have twins."""
    return [list(cells) for cells in zip(*sample.rows[: sample.twins], strict=True)]


def _perturbed(moves: Moves, baseline: LabelBaseline, rng: np.random.Generator) -> Columns:
    """Return the cells of each feature, with other last digits or names.

    Raises `Skip` if last digits determine the label. Row numbers change only after the baseline has predicted the
    labels, since it has not learned from numbers as large as the new ones.
    """
    own = _columns(moves.sample)
    numbering = {place for place in range(len(own)) if moves.numeric(place) and _numbers_rows(moves, place)}
    columns = [cells if place in numbering else _moved(moves, place, cells, rng) for place, cells in enumerate(own)]
    _check_label(moves.sample, baseline, columns)
    for place in sorted(numbering):  # no row of the table has any of the new numbers
        added = int(rng.integers(2 * len(moves.sample.table.rows), 10 * len(moves.sample.table.rows)))
        columns[place] = [
            cell if moves.sample.table.is_missing(cell) else str(int(str(cell)) + added) for cell in own[place]
        ]
    return columns


def _moved(moves: Moves, place: int, cells: list[Cell], rng: np.random.Generator) -> list[Cell]:
    if not moves.numeric(place):
        return moves.renamed(place, range(len(cells)), rng) if moves.named(place) else cells
    known = {cell for cell in moves.columns[place] if not moves.sample.table.is_missing(cell)}
    if any("e" in str(cell).lower() for cell in known) or len(known) <= LAST_DIGITS_VALUES:
        return cells
    others = (other for other in range(len(moves.columns)) if other != place and not moves.named(other))
    if any(moves.follows(place, other) for other in others):
        return cells
    return _shifted(moves, place, cells, rng)


def _check_label(sample: TwinSample, baseline: LabelBaseline, columns: Columns) -> None:
    """Raise `Skip` if the baseline's accuracy on `columns` is outside the 95 % interval of that on the rows."""
    rows, codes = sample.rows[: sample.twins], sample.codes[: sample.twins]
    both = rows, tuple(zip(*columns, strict=True))
    own, other = (baseline.chances(cells, range(len(rows))).argmax(axis=1) == codes for cells in both)
    low, high = clopper_pearson(int(own.sum()), len(rows))
    if not low <= other.mean() <= high:
        raise Skip(
            f"its last digits predict the label: models that learned from it are right on {own.mean():.2f} of the rows "
            f"({low:.2f} to {high:.2f}), and on {other.mean():.2f} of them after the last digits are changed"
        )


def _numbers_rows(moves: Moves, place: int) -> bool:
    """Return whether a feature is a row number: a different whole number for each row, with few gaps."""
    cells = [str(cell) for cell in moves.columns[place] if not moves.sample.table.is_missing(cell)]
    if not all(cell.isdigit() and cell.isascii() for cell in cells) or len(set(cells)) < len(moves.columns[place]):
        return False
    numbers = list(map(int, cells))
    return max(numbers) - min(numbers) <= 2 * max(len(numbers), len(moves.sample.table.rows))


def _shifted(moves: Moves, place: int, cells: list[Cell], rng: np.random.Generator) -> list[Cell]:
    """Return the numbers with other last digits, all within the feature's range."""
    digits, same = moves.digits[place]
    numbers = moves.plain[:, place]
    low, high = (Decimal(written(bound(numbers), digits, same=True)) for bound in (np.nanmin, np.nanmax))
    unit = Decimal(1).scaleb(-digits)
    size = max(1, round(float(np.nanstd(numbers)) * LAST_DIGITS_NOISE / float(unit)))
    steps = rng.integers(1, size + 1, len(cells)) * rng.choice((-1, 1), len(cells))
    found: list[Cell] = []
    for cell, step in zip(cells, steps.tolist(), strict=True):
        if moves.sample.table.is_missing(cell) or (number := Decimal(str(cell))) == low == 0:
            found.append(cell)
        else:
            found.append(written(min(high, max(low, number + step * unit)), digits, same))
    return found


def _with_more_digits(sample: TwinSample, baseline: LabelBaseline, rng: np.random.Generator) -> tuple[Moves, Columns]:
    """Return the perturbed cells, with one more digit for numbers with a point. Raises `Skip` for running text."""
    moves = Moves(sample)
    moves.check_no_texts("which cannot be reworded here")
    columns = _perturbed(moves, baseline, rng)
    for place, cells in enumerate(columns):
        digits, _ = moves.digits[place] if moves.numeric(place) else (0, True)
        if digits and not any("e" in str(cell).lower() for cell in cells):
            noise = rng.normal(0, ADDED_DIGIT_DEVIATION, len(cells)) * 10.0**-digits
            columns[place] = [
                cell
                if sample.table.is_missing(cell) or not float(str(cell))
                else f"{float(str(cell)) + more:.{digits + 1}f}"
                for cell, more in zip(cells, noise.tolist(), strict=True)
            ]
    return moves, columns


def _words(names: Sequence[str]) -> list[str]:
    """Return names written as words; all names stay unchanged if any two would become equal.

    >>> _words(["HoursPerWeek", "Self-emp-not-inc", "petal_width (cm)", "1st-4th", "BMI"])
    ['Hours Per Week', 'Self emp not inc', 'Petal width (cm)', '1st-4th', 'BMI']
    """
    found = []
    for name in names:
        first, *others = (word for word in JOINTS.split(name) if word) if JOINTS.sub("", name) else (name,)
        found.append(" ".join([first[:1].upper() + first[1:], *others]))
    return found if len(set(found)) == len(set(names)) else list(names)


def _called(sample: TwinSample, cells: Sequence[Cell], names: Callable[[list[str]], Iterable[str]]) -> list[Cell]:
    """Return the cells with new names for their values; missing cells stay missing.

    `names` gets the sorted values and returns their new names.
    """
    known = sorted({str(cell) for cell in cells if not sample.table.is_missing(cell)})
    named = dict(zip(known, names(known), strict=True))
    return [None if sample.table.is_missing(cell) else named[str(cell)] for cell in cells]


def _standardised(sample: TwinSample, cells: Sequence[Cell], rng: np.random.Generator) -> list[Cell]:
    """Return the numbers standardised; a feature with only one value becomes noise."""
    numbers = np.array([np.nan if sample.table.is_missing(cell) else float(str(cell)) for cell in cells])
    if np.isnan(numbers).all():
        return [None] * len(cells)
    spread = float(np.nanstd(numbers)) or 1.0
    scaled = BORDT_FACTOR * (numbers - np.nanmean(numbers)) / spread + rng.normal(0, BORDT_BLUR, len(cells))
    return [None if np.isnan(number) else f"{number:.{BORDT_DIGITS}f}" for number in scaled.tolist()]
