"""The choice of a table's rows: those to learn from, those that find predictor weights, and the folds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabcontam.baseline.coded_columns import Column, Ints, with_words
from tabcontam.baseline.silent_predictor import silent_answers
from tabcontam.baseline.thresholds import FOLDS, LEAST_FITTED_ROWS, MOST_FITTED_ROWS, WEIGHING_ROWS
from tabcontam.baseline.view import View


@dataclass(frozen=True, eq=False)
class RowSample:
    """The rows of a baseline. Rows with one number in `groups` (a fold) are predicted together; known rows have -1."""

    rows: tuple[int, ...]
    fits: tuple[tuple[Ints, Ints], ...]  # (training, predicted) indices of each fit
    groups: Ints


@dataclass(frozen=True, eq=False)
class SampledTable:
    """The columns over all rows of a table, for predictors that count other rows.

    If the sample contains all rows, `columns` are those of the sample.
    """

    whole: Mapping[str, Column]
    taken: Mapping[str, Column]
    sample: RowSample

    @cached_property
    def large(self) -> bool:
        """True if some rows are in no training set."""
        return len(self.sample.fits) == 1

    @cached_property
    def partial(self) -> bool:
        """True if there are rows outside the sample: of a large table, or of known files."""
        return len(self.sample.rows) < len(next(iter(self.whole.values())).keys)

    @cached_property
    def every(self) -> Ints:
        """The indices of all rows in `columns`."""
        return np.arange(len(next(iter(self.columns.values())).keys))

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        """The columns that predictors learn from."""
        return self.whole if self.partial else self.taken

    @cached_property
    def fits(self) -> list[tuple[Ints, Ints]]:
        """For each fit, the indices of rows to learn from (all that are not queried) and of rows to predict."""
        if not self.partial:
            return list(self.sample.fits)
        rows = np.array(self.sample.rows, dtype=np.int64)
        if not self.large:
            return [(np.setdiff1d(self.every, rows[places]), rows[places]) for _, places in self.sample.fits]
        ((_, predicted),) = self.sample.fits
        return [(np.setdiff1d(self.every, rows[self.sample.groups == 1]), rows[predicted])]

    def view(self, target: str, shown: Sequence[str]) -> View:
        """Return the view for counting predictors.

        In a small table, predictors learn from all rows except the predicted one. Folds would separate rows that belong
        together, although a model that has read all other rows knows them. The predicted rows are those of all fits,
        one fit after another.
        """
        given = tuple(with_words(self.columns[name] for name in shown))
        learned = self.fits[0][0] if self.large else self.every
        return View(self.columns[target], given, learned, np.concatenate([predicted for _, predicted in self.fits]))

    def silent(self, asked: Sequence[str], shown: Sequence[str]) -> list[dict[int, str]]:
        """Return the silent predictor's answers by queried row, one dict for each hidden feature."""
        fits = self.fits
        if self.large:  # rows that serve only to find weights are never queried
            ((learned, predicted),) = fits
            fits = [(learned, predicted[~np.isin(predicted, learned)])]
        given = [self.columns[name] for name in shown]
        found = silent_answers([self.columns[name] for name in asked], given, fits)
        if self.partial:
            return found
        return [{self.sample.rows[place]: value for place, value in answers.items()} for answers in found]


def sample_of(drawn: Sequence[int], rows: Sequence[int], known: frozenset[int]) -> RowSample | None:
    """Return a sample of the `drawn` rows with all queried `rows` and the `known` rows; None if they are too few."""
    asked = set(rows)
    if len(drawn) - len(known) < LEAST_FITTED_ROWS:
        known = frozenset()  # otherwise too few rows remain to find weights
    always = [row for row in drawn if row in known][:MOST_FITTED_ROWS]
    others = [row for row in drawn if row not in asked and row not in known]
    if len(others) >= MOST_FITTED_ROWS - WEIGHING_ROWS // 2:
        others = others[:MOST_FITTED_ROWS]
        taken = (*always, *others, *(row for row in drawn if row in asked))
        first = len(always) + len(others)
        weighing, final = np.arange(first - WEIGHING_ROWS, first), np.arange(first, len(taken))
        groups = np.repeat([-1, 0, 1], [len(always), len(others), len(asked)])
        return RowSample(taken, ((np.arange(first - WEIGHING_ROWS), np.concatenate([weighing, final])),), groups)
    room = max(0, MOST_FITTED_ROWS - len(asked))
    chosen = asked | set(others[:room])
    taken = (*always, *(row for row in drawn if row in chosen))
    if len(taken) < LEAST_FITTED_ROWS:
        return None
    groups = np.concatenate([np.full(len(always), -1), np.arange(len(chosen)) % FOLDS])
    fits = tuple((np.flatnonzero(groups != fold), np.flatnonzero(groups == fold)) for fold in range(FOLDS))
    return RowSample(taken, fits, groups)
