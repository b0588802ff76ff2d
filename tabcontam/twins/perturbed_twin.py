"""The perturbed twin: rows whose values are moved so little that the label cannot change."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import stdtrit

from tabcontam.errors import Skip
from tabcontam.twins.base import Twin, UnseenTwin
from tabcontam.twins.label_baseline import LabelBaseline
from tabcontam.twins.movable_features import MovableFeatures
from tabcontam.twins.moves import Moves
from tabcontam.twins.thresholds import (
    DRAWS_OF_A_ROW,
    LEAST_MOVED_FEATURES,
    LEAST_MOVED_GROUPS,
    LEAST_TWINNED_SHARE,
    MOST_CHANCE_CHANGE,
    PERTURBING_ROUNDS,
)
from tabcontam.twins.twin_sample import Flags, Floats, Row, TwinSample


@dataclass(frozen=True)
class PerturbedTwin(Twin):
    """Each row's values are moved so little that its label cannot change, as the baseline predicts.

    Keeps: the names of features and categories, and the label. According to each of the baseline's learners, the
    likeliest class stays, and the chance of each class changes by at most 0.1. Related features are moved together. A
    category that fewer than 30 rows have stays: learners cannot know its meaning for the label, but an LLM may. A whole
    feature stays if learners have not learned the meaning of its values, or if the rows cannot show that they have (see
    `MovableFeatures`): names, codes, identifiers, dates. So knowledge of the task, of features and categories, and of
    named persons or things helps as much on the twin as on the row.

    Changes: at least a sixth of the row's values, at least two, and as many as possible. Numbers move by up to 5 % of
    their ranks or towards a similar row. Frequent categories become categories of similar rows. No twin is a row of the
    table, however its values are written.

    Refused if learners learn nothing about the label, and if a column has running text: then it is unknown which noise
    leaves the label unchanged.

    Cannot show memory of a row that the model recalls from cells that stayed, such as a name or number, or from similar
    rows. Such recall also works on the twin; memory's share is then estimated too small. The label may follow a law
    that the baseline cannot learn from the rows, such as one of single digits or of three features together. Then a
    twin may have a wrong label, and skill is taken for memory.
    """

    kind: ClassVar[str] = "perturbed"
    keeps: ClassVar[str] = "names, the label, and how likely the cells make it"
    changes: ClassVar[str] = "a sixth of a row's values or more, within noise that cannot change the label"

    def make(self, sample: TwinSample, baseline: LabelBaseline, rng: np.random.Generator) -> UnseenTwin:
        """Return twins of the rows that can be moved in this way. Raises `Skip` if fewer than half of the rows can."""
        moves = Moves(sample, MovableFeatures(Moves(sample), baseline).staying)
        own = baseline.each(sample.rows[: sample.twins], range(sample.twins))
        moves.check_no_texts("whose meaning for the label the baseline cannot learn")
        _check_learned(sample, baseline)
        draws: dict[int, list[Row]] = {}
        for number in range(PERTURBING_ROUNDS):
            rows = [row for row in range(sample.twins) if len(draws.get(row, ())) < DRAWS_OF_A_ROW]
            far = 1.0 - number / PERTURBING_ROUNDS
            share = LEAST_MOVED_GROUPS + (1 - LEAST_MOVED_GROUPS) * far
            if rows:
                proposed = moves.drawn(rows, rng, far, share)
                for row, twin in _accepted(sample, baseline, own, rows, proposed).items():
                    draws.setdefault(row, []).append(twin)
        if len(draws) < max(2, LEAST_TWINNED_SHARE * sample.twins):
            raise Skip(
                f"only {len(draws)} of {sample.twins} rows have values that can be changed so that the label stays as "
                "likely and the row is not in the table"
            )
        made = self._of_draws(sample, draws, lambda _, of: [sample.labels[row] for row in of], rng)
        return replace(made, unchanged=moves.unchanged)


def _accepted(
    sample: TwinSample, baseline: LabelBaseline, own: Sequence[Floats], rows: Sequence[int], proposed: Sequence[Row]
) -> dict[int, Row]:
    """Return the proposed rows that keep the chances of their label, have enough moved values and are no real rows."""
    others = baseline.each(proposed, rows)
    stays = np.all([_stays(chances[list(rows)], other) for chances, other in zip(own, others, strict=True)], axis=0)
    return {
        row: twin
        for row, twin, same in zip(rows, proposed, stays.tolist(), strict=True)
        if same and _moved(sample, sample.rows[row], twin) and not sample.is_real(twin)
    }


def _stays(own: Floats, other: Floats) -> Flags:
    """Return for each row whether a learner's chances change little enough by the move."""
    same = other.argmax(axis=1) == own.argmax(axis=1)
    return np.asarray(same & (np.abs(other - own).max(axis=1) <= MOST_CHANCE_CHANGE))


def _check_learned(sample: TwinSample, baseline: LabelBaseline) -> None:
    """Raise `Skip` if the baseline cannot know which moves change a label.

    The baseline must predict the labels of held-out rows better than the frequency of each class does. So the one-sided
    95 % limit of the mean gain in log-likelihood, by Student's t, must be above 0.
    """
    codes = sample.codes[: sample.twins]
    chances = baseline.chances(sample.rows[: sample.twins], range(sample.twins))
    shares = np.bincount(sample.codes, minlength=len(sample.classes)) / len(sample.codes)
    gains = np.log(chances[np.arange(len(codes)), codes]) - np.log(shares[codes])
    if gains.mean() <= float(stdtrit(len(gains) - 1, 0.95)) * gains.std(ddof=1) / len(gains) ** 0.5:
        problem = "the baseline learns nothing about the label from its cells"
        raise Skip(f"{problem}, so it is unknown which noise leaves it unchanged")


def _moved(sample: TwinSample, row: Row, twin: Row) -> bool:
    moved = sum(sample.key(one) != sample.key(other) for one, other in zip(row, twin, strict=True))
    return moved >= min(len(row), max(2, LEAST_MOVED_FEATURES * len(row)))
