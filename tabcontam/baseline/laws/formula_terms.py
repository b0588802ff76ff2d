"""Terms of one, two and three columns, and the constant with which a term equals most of a column's values."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import e, log, pi, sqrt

import numpy as np

from tabcontam.baseline.coded_columns import Bools, Floats, Ints
from tabcontam.baseline.thresholds import FORMULA_DIVISORS, FRACTION_DENOMINATORS

Operation = Callable[..., Floats]
_TURNS = (pi, 2 * pi, 4 * pi, pi / 2, pi / 4, pi / 3, 4 * pi / 3, pi / 6, pi / 12, 180 / pi, pi / 180, 1 / pi, 4 / pi)
_UNITS = (0.45359237, 1 / 0.45359237, 1.609344, 1 / 1.609344, 1 / 2.54, 0.3048, 1 / 0.3048, 3.785411784, 9.80665)
KNOWN = (*_TURNS, *_UNITS, e, log(2), 1 / log(2), log(10), 1 / log(10), sqrt(2), sqrt(3), sqrt(3) / 2, sqrt(3) / 4)


def _rooted(a: Floats) -> Floats:
    return np.asarray(np.sqrt(np.abs(a)))


def _annuity(loan: Floats, rate: Floats, terms: Floats) -> Floats:
    """Return the payment per term (a year or a month) at an interest rate per term."""
    return loan * rate / (1 - (1 + rate) ** -terms)


ONE: dict[str, Operation] = {
    "a": lambda a: a,
    "a²": lambda a: a * a,
    "a³": lambda a: a * a * a,
    "√a": _rooted,
    "1/a": lambda a: 1 / a,
    "1/a²": lambda a: 1 / (a * a),
    "log a": lambda a: np.log(np.abs(a)),
    "exp a": lambda a: np.exp(np.clip(a, -700, 700)),
}
DIVIDED: dict[str, Operation] = {
    f"a//{by}{'-1' if less else ''}": (lambda a, by=by, less=less: np.floor((a - less) / by))
    for by in FORMULA_DIVISORS
    for less in (0, 1)
}
TWO: dict[str, Operation] = {  # the order of the columns does not matter
    "a+b": lambda a, b: a + b,
    "a-b": lambda a, b: a - b,
    "|a-b|": lambda a, b: np.abs(a - b),
    "ab": lambda a, b: a * b,
    "min": np.minimum,
    "max": np.maximum,
    "a²+b²": lambda a, b: a * a + b * b,
    "√(a²+b²)": np.hypot,
    "√(ab)": lambda a, b: _rooted(a * b),
    "ab/(a+b)": lambda a, b: a * b / (a + b),
}
ORDERED: dict[str, Operation] = {
    "a/b": lambda a, b: a / b,
    "a/(a+b)": lambda a, b: a / (a + b),
    "(a-b)/(a+b)": lambda a, b: (a - b) / (a + b),
    "(a-b)/b": lambda a, b: (a - b) / b,
    "a//b": lambda a, b: np.floor(a / b),
    "a%b": lambda a, b: np.fmod(a, b),
    "a/b²": lambda a, b: a / (b * b),
    "ab²": lambda a, b: a * b * b,
    "a³b": lambda a, b: a * a * a * b,
    "√(a/b)": lambda a, b: _rooted(a / b),
    "a√b": lambda a, b: a * _rooted(b),
    "√(a²-b²)": lambda a, b: _rooted(a * a - b * b),
    "a(1+b%)": lambda a, b: a * (1 + b / 100),
    "a(1-b%)": lambda a, b: a * (1 - b / 100),
    "a/(1+b%)": lambda a, b: a / (1 + b / 100),
    "a/(1-b%)": lambda a, b: a / (1 - b / 100),
    "a(1+b)": lambda a, b: a * (1 + b),
    "a(1-b)": lambda a, b: a * (1 - b),
    "a/(1+b)": lambda a, b: a / (1 + b),
    "a^b": lambda a, b: np.abs(a) ** np.clip(b, -20, 20),
}
THREE: dict[str, Operation] = {  # the order of the last two columns does not matter
    "a(b+c)": lambda a, b, c: a * (b + c),
    "a(b-c)": lambda a, b, c: a * (b - c),
    "a/(b+c)": lambda a, b, c: a / (b + c),
    "(b-c)/a": lambda a, b, c: (b - c) / a,
    "(b+c)/a": lambda a, b, c: (b + c) / a,
    "bc/a": lambda a, b, c: b * c / a,
    "a/(bc)": lambda a, b, c: a / (b * c),
    "bc+a": lambda a, b, c: b * c + a,
    "bc-a": lambda a, b, c: b * c - a,
    "b+c-a": lambda a, b, c: b + c - a,
    "bc(1-a%)": lambda a, b, c: b * c * (1 - a / 100),
    "bc(1+a%)": lambda a, b, c: b * c * (1 + a / 100),
    "bc(1-a)": lambda a, b, c: b * c * (1 - a),
    "bc(1+a)": lambda a, b, c: b * c * (1 + a),
}
ALIKE: dict[str, Operation] = {
    "abc": lambda a, b, c: a * b * c,
    "a+b+c": lambda a, b, c: a + b + c,
    "√(a²+b²+c²)": lambda a, b, c: np.sqrt(a * a + b * b + c * c),
    "triangle": lambda a, b, c: np.sqrt((a + b + c) * (b + c - a) * (a + c - b) * (a + b - c)) / 4,  # Heron's area
}
INTEREST: dict[str, Operation] = {}
for _rate, _per in (("12 %", 1200.0), ("%", 100.0), ("12", 12.0), ("", 1.0)):
    for _terms, _many in (("", 1.0), ("12", 12.0)):
        INTEREST[f"annuity a, b/{_rate}, c {_terms}"] = lambda a, b, c, per=_per, many=_many: _annuity(
            a, b / per, c * many
        )
        INTEREST[f"loan a, b/{_rate}, c {_terms}"] = lambda a, b, c, per=_per, many=_many: (
            a * a / _annuity(a, b / per, c * many)
        )
        INTEREST[f"growth a, b/{_rate}, c {_terms}"] = lambda a, b, c, per=_per, many=_many: (
            a * (1 + b / per) ** np.clip(c * many, -600, 600)
        )
INTEREST["decline"] = lambda a, b, c: a * np.abs(1 - b / 100) ** np.clip(c, -600, 600)


@dataclass(frozen=True, eq=False)
class TermLibrary:
    """Many terms, grouped by operation: (name, operation, indices of columns). Indices have a line for each term."""

    parts: tuple[tuple[str, Operation, Ints], ...]

    def values(self, columns: Floats) -> Floats:
        """Return each term's values from an array of columns by rows; NaN where a term has no value."""
        with np.errstate(all="ignore"):
            found = np.concatenate([_applied(operation, columns, places) for _, operation, places in self.parts])
        found[~np.isfinite(found)] = np.nan
        return found

    def one(self, columns: Floats, number: int) -> tuple[str, Floats]:
        """Return the name and the values of the term at index `number`. Raises `IndexError` if there is none."""
        for name, operation, places in self.parts:
            if number < len(places):
                with np.errstate(all="ignore"):
                    found = _applied(operation, columns, places[number : number + 1])[0]
                return f"{name} {places[number].tolist()}", np.where(np.isfinite(found), found, np.nan)
            number -= len(places)
        raise IndexError(number)


def _applied(operation: Operation, columns: Floats, places: Ints) -> Floats:
    return np.asarray(operation(*(columns[place] for place in places.T)), dtype=np.float64)


def terms(count: int, paired: Sequence[int], tripled: Sequence[int], divided: Sequence[int]) -> TermLibrary:
    """Return all terms of `count` columns; pairs, triples and integer divisions only of the given indices."""
    one = np.arange(count)[:, None]
    found = [(name, operation, one) for name, operation in ONE.items()]
    if divided:
        found += [(name, operation, np.array(divided)[:, None]) for name, operation in DIVIDED.items()]
    if len(paired) > 1:
        two = np.array(list(combinations(paired, 2)))
        found += [(name, operation, two) for name, operation in TWO.items()]
        both = np.concatenate([two, two[:, ::-1]])
        found += [(name, operation, both) for name, operation in ORDERED.items()]
    if len(tripled) > 2:
        three = np.array(list(combinations(tripled, 3)))
        found += [(name, operation, three) for name, operation in ALIKE.items()]
        turned = np.concatenate([three, three[:, [1, 0, 2]], three[:, [2, 0, 1]]])
        found += [(name, operation, turned) for name, operation in THREE.items()]
    return TermLibrary(tuple(found))


def interest(columns: Floats, places: Sequence[int]) -> TermLibrary | None:
    """Return annuities and compound interest of columns that may be an amount, a rate and a number of terms."""
    known = np.isfinite(columns)
    low, high = np.where(known, columns, np.inf).min(axis=1), np.where(known, columns, -np.inf).max(axis=1)
    places = [place for place in places if known[place].any()]
    rates = [place for place in places if low[place] >= 0 and high[place] <= 100]
    halves = (np.mod(np.nan_to_num(columns), 0.5) == 0).all(axis=1)
    lasting = [place for place in places if low[place] >= 0 and high[place] <= 600 and halves[place]]
    every = product(places, rates, lasting)
    chosen = [one for one in every if len({*one}) == 3 and high[one[0]] > high[one[1]]][:40]
    return TermLibrary(tuple((name, way, np.array(chosen)) for name, way in INTEREST.items())) if chosen else None


def met_at_most(low: Floats, high: Floats, worth: Floats) -> Floats:
    """Return a quick upper bound of the worth in `most_met`, for each column of intervals (rows by terms)."""
    best = np.zeros(low.shape[1])
    for one, other in zip(low, high, strict=True):
        np.maximum(best, worth @ ((low <= other) & (high >= one)), out=best)
    return best


# chunk: how many numbers are sorted at a time
def most_met(low: Floats, high: Floats, worth: Floats, *, chunk: int = 400_000) -> tuple[Floats, Floats, Floats]:
    """Return for each line of intervals the range that intervals of the largest total `worth` share.

    The result is this worth, and the range's start and end.
    """
    found: list[tuple[Floats, Floats, Floats]] = []
    size = max(1, chunk // max(1, low.shape[1]))
    for start in range(0, len(low), size):
        found.append(_most_met(low[start : start + size], high[start : start + size], worth))
    worths, starts, ends = zip(*found, strict=True)
    return np.concatenate(worths), np.concatenate(starts), np.concatenate(ends)


def _most_met(low: Floats, high: Floats, worth: Floats) -> tuple[Floats, Floats, Floats]:
    known = np.isfinite(low) & np.isfinite(high)
    ends = np.concatenate([np.where(known, low, np.inf), np.where(known, high, np.inf)], axis=1)
    each = np.where(known, worth, 0.0)
    order = np.argsort(ends, axis=1)
    lines = np.arange(len(low))[:, None]
    depth = np.cumsum(np.concatenate([each, -each], axis=1)[lines, order], axis=1)
    best = np.argmax(depth, axis=1)
    ordered = ends[lines, order]
    line = lines[:, 0]
    return depth[line, best], ordered[line, best], ordered[line, np.minimum(best + 1, ends.shape[1] - 1)]


def factors(term: Floats, y: Floats, half: Floats) -> tuple[Floats, Floats]:
    """Return the range of factors that, multiplied by each term, give each value."""
    with np.errstate(all="ignore"):
        one, other = (y - half) / term, (y + half) / term
    good: Bools = np.isfinite(one) & np.isfinite(other)
    return np.where(good, np.minimum(one, other), np.nan), np.where(good, np.maximum(one, other), np.nan)


def nicest(low: float, high: float) -> float:
    """Return the plainest number from `low` to `high`: one of few digits, or a fraction; otherwise the middle."""
    middle = (low + high) / 2
    if not np.isfinite(middle):
        return middle
    return next((one for one in _plain(middle) if low <= one <= high), middle)


def _plain(number: float) -> Iterator[float]:
    """Yield plain numbers near `number`, the plainest first."""
    yield from (0.0, 1.0, -1.0)
    yield from (float(f"{number:.{digits}e}") for digits in range(4))
    yield from KNOWN if number > 0 else (-one for one in KNOWN)
    if np.isfinite(number * max(FRACTION_DENOMINATORS)):
        yield from (round(number * parts) / parts for parts in FRACTION_DENOMINATORS)
    yield from (float(f"{number:.{digits}e}") for digits in range(4, 9))
