"""Dates and times as numbers: columns for all predictors; dates, ages and periods that follow from other dates."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from tabcontam.baseline.coded_columns import Column, Floats, Ints, of_whole_numbers
from tabcontam.baseline.fit import Fit
from tabcontam.baseline.laws.base import LawPredictions
from tabcontam.baseline.laws.calendar import DAY, DateColumn, business, calendar, dates_of, ordinals, weeks
from tabcontam.baseline.laws.formula_fit import FormulaFit, fit_formula, formula_target
from tabcontam.baseline.laws.formula_terms import most_met
from tabcontam.baseline.laws.quantities import Quantity, quantity
from tabcontam.baseline.thresholds import (
    DATE_COLUMNS_IN_FULL,
    DATE_COLUMNS_IN_PART,
    LEAST_DATE_GAIN,
    MOST_DATE_COLUMNS,
    MOST_DATE_CONSTANTS,
    MOST_DATE_LAWS,
)

UNITS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": DAY, "weeks": 7 * DAY}


def with_dates(columns: Iterable[Column]) -> list[Column]:
    """Return the columns, and number columns of their dates: day number, year, month, weekday, minute of the day."""
    given = list(columns)
    found = [(one, read) for one in given if (read := dates_of(one)) is not None]
    for one, read in found:
        for name, numbers in _numbers(read, len(found)):
            more = of_whole_numbers(f"{one.name} {name}", numbers)
            if more.distinct > 1:
                given.append(more)
    return given


def _numbers(read: DateColumn, count: int) -> Iterator[tuple[str, Floats]]:
    """Yield the numbers of a column's dates, with names. The more date columns there are (`count`), the fewer."""
    if read.size == "time" and _has_seconds(read):
        yield "seconds", read.seconds
    if read.size in ("time", "moment"):
        yield "minute of day", np.floor(np.mod(read.seconds, DAY) / 60)
        if count <= DATE_COLUMNS_IN_FULL:
            yield "hour", np.floor(np.mod(read.seconds, DAY) / 3600)
    if read.size == "time":
        return
    year, month, day = calendar(read.days)
    yield "day number", read.days
    if read.size == "moment" and count <= DATE_COLUMNS_IN_PART:
        yield "minute number", np.floor(read.seconds / 60)
    if count <= DATE_COLUMNS_IN_PART:
        yield "year", year
        yield "month", month
        yield "weekday", np.mod(read.days - 1, 7) + 1
    if count <= DATE_COLUMNS_IN_FULL:
        yield "day", day
        yield "week", weeks(read.days)
        yield "quarter", np.floor((month + 2) / 3)
        yield "day of year", read.days - ordinals(year, np.ones(len(year)), np.ones(len(year))) + 1


@dataclass(frozen=True, eq=False)
class TimeColumn(Quantity):
    """A column of times as numbers: durations in seconds, or in minutes if no seconds are written."""

    dates: DateColumn | None = None
    unit: int = 1  # seconds

    def keys(self, numbers: Floats) -> list[str | None]:
        """Return the keys of these durations, written as times; None outside 0 to 24 hours."""
        moments = (self.unit * numbers).tolist()
        return [self.dates.key(one) if self.dates and 0 <= one < DAY else None for one in moments]


def length(one: Column) -> TimeColumn | None:
    """Return a column of times as durations; None for any other column."""
    read = dates_of(one)
    if read is None or read.size != "time":
        return None
    unit = 1 if _has_seconds(read) else 60  # 3:25 may be minutes and seconds, but the number is equal
    return TimeColumn(one.name, read.seconds / unit, 0, dates=read, unit=unit)


def _has_seconds(read: DateColumn) -> bool:
    return bool(np.any(np.mod(read.seconds[np.isfinite(read.seconds)], 60)))


def dates(fit: Fit) -> list[LawPredictions]:
    """Return the values that follow from shown dates: dates, or, for a number, whole years and months between dates."""
    shown = [read for one in fit.shown if (read := dates_of(one)) is not None][:MOST_DATE_COLUMNS]
    target = dates_of(fit.target)
    if target is not None:
        return _dates_from(fit, target, shown)
    return _between(fit, shown) if shown else []


def _between(fit: Fit, shown: Sequence[DateColumn]) -> list[LawPredictions]:
    """Return whole years and whole months between two dates, or from a date to one that all rows share."""
    found = quantity(fit.target)
    if found is None or found.decimals:
        return []
    target = formula_target(found, fit.train)
    dated = [read for read in shown if read.size in ("day", "moment")]
    tried: list[FormulaFit] = []
    for early, late in permutations(dated, 2):
        for name, numbers in (("years", _years(early.days, late.days)), ("months", _months(early.days, late.days))):
            for more in (0, 1):
                tried += [one for one in [fit_formula(f"{name} {more}", numbers + more, target, 0)] if one is not None]
    known = fit.train[np.isfinite(found.values[fit.train])]
    for born in dated:
        reference = _shared(born.days[known], found.values[known])
        if reference is not None:
            ages = _years(born.days, np.full(len(born.days), reference))
            tried += [one for one in [fit_formula(f"age at {reference}", ages, target, 1)] if one is not None]
    good = [one for one in tried if one.gain > LEAST_DATE_GAIN and one.hits]
    good.sort(key=lambda one: (-one.gain, one.name))
    return [one.follows(target, fit.predicted) for one in good[:2]]


def _years(early: Floats, late: Floats) -> Floats:
    """Return the whole years from one day to another."""
    (year, month, day), (later, other, place) = calendar(early), calendar(late)
    return np.asarray(later - year - ((other < month) | ((other == month) & (place < day))), dtype=np.float64)


def _months(early: Floats, late: Floats) -> Floats:
    """Return the whole months from one day to another."""
    (year, month, day), (later, other, place) = calendar(early), calendar(late)
    return np.asarray(12 * (later - year) + other - month - (place < day), dtype=np.float64)


def _shared(born: Floats, ages: Floats) -> float | None:
    """Return the day on which most of the people born on `born` have these `ages`; None for too few rows."""
    known = np.isfinite(born) & np.isfinite(ages) & (np.abs(ages) < 1000)
    year, month, day = calendar(born[known])
    low, high = (ordinals(year + ages[known] + more, month, day) for more in (0, 1))
    if known.sum() < 4:
        return None
    _, start, _ = most_met(low[None], high[None] - 0.5, np.ones(len(low)))
    return float(start[0]) if np.isfinite(start[0]) else None


def _dates_from(fit: Fit, target: DateColumn, shown: Sequence[DateColumn]) -> list[LawPredictions]:
    """Return the dates that follow from shown dates: dates computed from these, plus the most frequent constants."""
    known = np.isfinite(target.seconds[fit.train])
    if known.sum() < 4:
        return []
    _, places, counts = np.unique(target.seconds[fit.train], return_inverse=True, return_counts=True)
    prior = np.maximum(counts[places] - 1, 0.5) / len(fit.train)
    found: list[tuple[float, int, Floats, list[tuple[float, float]]]] = []
    for number, (seconds, added) in enumerate(_moments(fit, target, shown)):
        off = (target.seconds - target.trimmed(seconds))[fit.train]
        if target.size == "time":
            off = np.mod(off, DAY)
        away = np.isfinite(seconds[fit.train])
        constants = _constants(off[away], added)
        chances = sum((np.where(off == one, share, 0.0) for one, share in constants), np.zeros(len(off)))
        left = 1 - sum(share for _, share in constants)
        gain = float(np.where(away, np.log2(chances / prior + left), 0.0).sum())
        if constants and gain > LEAST_DATE_GAIN:
            found.append((-gain, number, seconds, constants))
    found.sort(key=lambda item: item[:2])
    return [_followed(fit, target, seconds, constants) for _, _, seconds, constants in _apart(found, fit.train)]


def _apart(
    found: Sequence[tuple[float, int, Floats, list[tuple[float, float]]]], train: Ints
) -> list[tuple[float, int, Floats, list[tuple[float, float]]]]:
    """Return the best laws, without laws that mostly agree with a better law."""
    kept: list[tuple[float, int, Floats, list[tuple[float, float]]]] = []
    for one in found:
        same = (np.mean(np.diff(one[2][train] - other[2][train]) == 0) for other in kept)
        if len(kept) < MOST_DATE_LAWS and all(share < 0.9 for share in same):
            kept.append(one)
    return kept


def _constants(off: Floats, added: bool) -> list[tuple[float, float]]:
    """Return the most frequent differences in `off`, with their shares; only zero if `added` is false."""
    if not added:
        count = int((off == 0).sum())
        return [(0.0, (count - 0.5) / (len(off) + 1))] if count > 1 else []
    values, counts = np.unique(off[np.isfinite(off)], return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_DATE_CONSTANTS]
    least = max(2, 0.02 * len(off))
    return [(float(values[one]), (int(counts[one]) - 1.5) / (len(off) + 1)) for one in order if counts[one] > least]


def _followed(
    fit: Fit, target: DateColumn, seconds: Floats, constants: Sequence[tuple[float, float]]
) -> LawPredictions:
    values: list[dict[str, float]] = []
    for moment in target.trimmed(seconds)[fit.predicted].tolist():
        mine: dict[str, float] = {}
        for more, share in constants:
            after = (moment + more) % DAY if target.size == "time" else moment + more
            if (key := target.key(after)) is not None:
                mine[key] = mine.get(key, 0.0) + share
        values.append(mine)
    return LawPredictions.of(values)


def _moments(fit: Fit, target: DateColumn, shown: Sequence[DateColumn]) -> Iterator[tuple[Floats, bool]]:
    """Yield dates and times that the target may equal, and whether a constant may be added to them."""
    numbers = [one for one in fit.shown if one.numbers is not None and one.distinct > 1]
    for read in shown:
        yield read.seconds, True
        if target.size == "time":
            continue
        yield from _moved(read, target, fit.train)
    related = sorted(numbers, key=unlike_date)[: 3 * MOST_DATE_COLUMNS]
    if target.size == "time":  # a length of 3:25 is 205 seconds
        for one in related:
            for unit in (1, 60, 3600):
                yield unit * np.asarray(one.numbers), True
    for read in shown:
        for one in related:
            if one.numbers is not None and not one.name.startswith(f"{read.name} "):
                for unit in UNITS.values():
                    if unit >= DAY or target.size in ("moment", "time"):
                        yield read.seconds + unit * one.numbers, True
                        yield read.seconds - unit * one.numbers, True
                if target.size != "time":
                    year, month, day = calendar(read.days)
                    for sign in (1, -1):
                        yield ordinals(year, month + sign * one.numbers, day) * DAY, False
                        yield ordinals(year + sign * one.numbers, month, day) * DAY, False
    if target.size in ("day", "month", "quarter"):
        yield from _assembled(numbers)
    if target.size == "moment":
        for first, second in permutations(shown, 2):
            if second.size == "time":
                yield first.days * DAY + second.seconds, True


def unlike_date(one: Column) -> tuple[bool, str]:
    """Return a sort key that puts columns derived from dates last: they are seldom added to a date."""
    made = one.name.endswith(
        (" day number", " minute number", " year", " month", " weekday", " week", " quarter", " day")
    )
    return made, one.name


def _moved(read: DateColumn, target: DateColumn, train: Ints) -> Iterator[tuple[Floats, bool]]:
    """Yield days of the same week, month or year, days some months later, and days some working days later."""
    year, month, day = calendar(read.days)
    ones = np.ones(len(year))
    later, other, place = calendar(target.days)
    months = (12 * (later - year) + other - month)[train]
    values, counts = np.unique(months[np.isfinite(months)], return_counts=True)
    for count in values[np.argsort(-counts, kind="stable")[:4]].tolist():
        yield ordinals(year, month + count, day) * DAY, False
        yield ordinals(year, month + count, ones) * DAY, False
        yield ordinals(year, month + count, 31 * ones) * DAY, False
        usual = place[train][np.isfinite(place[train])]
        if len(usual):
            yield ordinals(year, month + count, np.median(usual) * ones) * DAY, False
    yield (read.days - np.mod(read.days - 1, 7)) * DAY, True  # the week's Monday
    yield ordinals(year, ones, ones) * DAY, True
    for steps in (1, 2, 3, 5, 10, -1, -2, -3, -5):
        yield business(read.days, steps) * DAY, False


def _assembled(numbers: Sequence[Column]) -> Iterator[tuple[Floats, bool]]:
    """Yield dates composed of a year, a month and a day in separate columns."""
    years, months, days = (_within(numbers, low, high) for low, high in ((1000, 2200), (1, 12), (1, 31)))
    for year in years[:3]:
        ones = np.ones(len(year))
        for month in months[:4]:
            yield ordinals(year, month, ones) * DAY, True
            for day in days[:6]:
                if day is not month:
                    yield ordinals(year, month, day) * DAY, False
        for day in _within(numbers, 1, 366)[:6]:
            yield ordinals(year, ones, ones) * DAY + (day - 1) * DAY, True


def _within(numbers: Sequence[Column], low: int, high: int) -> list[Floats]:
    found = []
    for one in numbers:
        if one.numbers is not None and one.decimals == 0 and one.distinct > 1:
            present = one.numbers[np.isfinite(one.numbers)]
            if len(present) and present.min() >= low and present.max() <= high:
                found.append(one.numbers)
    return found
