"""A formula's values held against a column: rounded as the column is, and how far off they are how often."""

from dataclasses import dataclass

import numpy as np

from tabcontam.guesser.columns import Floats, Ints, scaled
from tabcontam.guesser.laws.base import Follows
from tabcontam.guesser.laws.quantities import Quantity

NOISE = 1e-7  # of a unit, that the last bits of a computer's numbers make
OFF = 7  # values around the formula's that may follow
THIRDS = 60  # rows from which a spread is learned by the formula's size
MODES = ("half even", "half up", "down", "up")


@dataclass(frozen=True, eq=False)
class Sought:
    """The column that is looked for: its numbers in units of its last digit, in the rows that may be learned from.

    `prior` is the probability of each row's value by its frequency in the other rows.
    """

    quantity: Quantity
    train: Ints
    step: int  # of the last digit, that nearly all values are multiples of

    @property
    def unit(self) -> float:
        """The difference between neighbouring values."""
        return float(self.step * 10.0**-self.quantity.decimals)

    def half(self, y: Floats) -> Floats:
        """How far a formula may be from each value and still be rounded to it."""
        if self.quantity.long:
            return np.asarray(np.abs(y) * 1e-11 + 1e-300)
        return np.full(y.shape, self.unit * (0.5 + NOISE))


def sought(quantity: Quantity, train: Ints) -> Sought:
    """The target's numbers; the step is at least one of the last digit."""
    whole = np.unique(np.abs(scaled(quantity.values[train][np.isfinite(quantity.values[train])], quantity.decimals)))
    whole = whole[whole > 0]
    sizes = [base * 10**power for power in range(7) for base in (1, 2, 5)]
    fitting = [size for size in sizes if len(whole) >= 10 and np.mean(whole % size == 0) >= 0.97]
    return Sought(quantity, train, max(fitting, default=1))


@dataclass(frozen=True, eq=False)
class Fitted:
    """A formula that was held against the trained rows: `wholes` is its value in every row, in units."""

    name: str
    wholes: Floats
    shares: tuple[tuple[tuple[int, float], ...], ...]  # for each third of the sizes: how far off, how often
    edges: Floats
    gain: float  # bits that it tells about all trained rows
    hits: int
    constants: int

    def follows(self, target: Sought, predicted: Ints) -> Follows:
        """What follows in the predicted rows."""
        wholes = self.wholes[predicted]
        thirds = _thirds(wholes, self.edges)
        values: list[dict[str, float]] = [{} for _ in predicted]
        for off in sorted({off for shares in self.shares for off, _ in shares}):
            chances = np.array([dict(shares).get(off, 0.0) for shares in self.shares])[thirds]
            for place, key in enumerate(target.quantity.keys(numbers(wholes + off, target))):
                if key is not None and chances[place] > 0:
                    values[place][key] = values[place].get(key, 0.0) + float(chances[place])
        return Follows.of(values)


def numbers(wholes: Floats, target: Sought) -> Floats:
    """Values in units as numbers of the column."""
    return wholes if target.quantity.long else wholes * target.step / 10.0**target.quantity.decimals


def fitted(name: str, formula: Floats, target: Sought, constants: int) -> Fitted | None:
    """A formula's values in all rows, rounded in the way that fits best; None where they tell nothing."""
    train = target.train
    y = target.quantity.values[train]
    known = np.isfinite(formula[train])
    if (known & np.isfinite(y)).sum() < constants + 3:
        return None
    if target.quantity.long:
        with np.errstate(invalid="ignore"):
            same = np.abs(formula[train] - y) <= target.half(y)
        off = np.where(same, 0.0, np.nan)
        wholes = formula
    else:
        whole = np.rint(y / target.unit)
        found = [(mode, _rounded(formula, target.unit, mode)) for mode in MODES]
        wholes = max(found, key=lambda item: (int((item[1][train] == whole).sum()), -MODES.index(item[0])))[1]
        off = np.where(np.isfinite(y), whole - wholes[train], np.nan)
    return _told(name, wholes, off, known, target, constants)


def _told(name: str, wholes: Floats, off: Floats, known: Floats, target: Sought, constants: int) -> Fitted | None:
    train = target.train
    inner, offs = wholes[train][known], off[known]
    edges = np.array([])
    exact = float(np.mean(offs == 0))
    if not target.quantity.long and exact < 0.8 and len(inner) >= THIRDS:
        edges = np.unique(np.quantile(np.abs(inner), (1 / 3, 2 / 3)))
    thirds = _thirds(inner, edges)
    prior = priors(target)[known]
    gain, shares = 0.0, []
    for third in range(len(edges) + 1):
        mine, before = offs[thirds == third], prior[thirds == third]
        counts = _common(mine)
        lost = constants * len(mine) / max(1, len(inner))
        chances = {one: max(0.0, count - (lost if one == 0 else 0.0) - 0.5) / (len(mine) + 1) for one, count in counts}
        left = 1 - sum(chances.values())
        told = sum(np.log2(chance / before[mine == one] + left).sum() for one, chance in chances.items())
        other = ~np.isin(mine, list(chances))
        gain += float(told + other.sum() * np.log2(left))
        shares.append(tuple(sorted((int(one), chance) for one, chance in chances.items() if chance > 0)))
    hits = int((offs == 0).sum())
    return Fitted(name, wholes, tuple(shares), edges, gain, hits, constants)


def priors(target: Sought) -> Floats:
    """The probability of each trained row's value by the other rows' frequencies; at least that of a new value."""
    y = target.quantity.values[target.train]
    _, places, counts = np.unique(y, return_inverse=True, return_counts=True)  # NaN is one value
    return np.asarray(np.maximum(counts[places] - 1, 0.5) / max(1, len(y)))


def _common(offs: Floats) -> list[tuple[float, int]]:
    """How far off the values are most often, and how often."""
    near = offs[np.abs(offs) <= 12]
    values, counts = np.unique(near, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:OFF]
    least = max(2, 0.02 * len(offs))
    return [(float(values[one]), int(counts[one])) for one in order if counts[one] >= least]


def _thirds(wholes: Floats, edges: Floats) -> Ints:
    return np.asarray(np.searchsorted(edges, np.nan_to_num(np.abs(wholes)), "right"), dtype=np.int64)


def _rounded(formula: Floats, unit: float, mode: str) -> Floats:
    """A formula's values in units. The last bits of a computer's numbers must not decide."""
    with np.errstate(over="ignore", invalid="ignore"):
        exact = formula / unit
        noise = NOISE + np.abs(exact) * 1e-13
        if mode == "half up":
            return np.asarray(np.sign(exact) * np.floor(np.abs(exact) + 0.5 + noise))
        if mode == "down":
            return np.asarray(np.sign(exact) * np.floor(np.abs(exact) + noise))
        if mode == "up":
            return np.asarray(np.sign(exact) * np.ceil(np.abs(exact) - noise))
        close = np.rint(exact * 2) / 2
        return np.rint(np.where(np.abs(exact - close) <= noise, close, exact))
