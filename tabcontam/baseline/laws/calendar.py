"""Columns of dates and times in the usual forms, read as seconds and written in the column's own form.

All cells of a column together decide its form, for example 31/01/2020 or 01/31/2020. Months, quarters and weeks are
read as their first day. A time without a date is read as seconds since midnight.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np

from tabcontam.baseline.coded_columns import MISSING, Column, Floats, cached_by_column
from tabcontam.baseline.thresholds import DATE_SAMPLE_VALUES, LAST_YEAR_OF_2000S, LEAST_DATE_SHARE, LONGEST_DATE
from tabcontam.reading.answer_text import value_key

DAY = 86400  # seconds
MONTHS = (
    "january february march april may june july august september october november december",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "jan feb mär apr mai jun jul aug sept okt nov dez",
)
NAMES = {name: number + 1 for names in MONTHS for number, name in enumerate(names.split())}

_Y, _M, _D = r"(?P<y>\d{4})", r"(?P<m>\d{1,2})", r"(?P<d>\d{1,2})"
_SHORT, _NAME = r"(?P<yy>\d{2})", r"(?P<name>[^\W\d_]{3,12})"
_TIME = r"(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?:[.,]\d{1,9})?)?(?: ?(?P<ap>[AaPp][Mm]))?"
_LENGTH = r"(?P<M>\d{1,3}):(?P<S>[0-5]\d)"
_DATES = (
    rf"{_Y}(?P<s>[-/.]){_M}(?P=s){_D}",
    r"(?P<y>(?:1[5-9]|20|21)\d{2})(?P<m>\d{2})(?P<d>\d{2})",
    rf"{_M}(?P<s>/){_D}(?P=s){_Y}",
    rf"{_D}(?P<s>[-/.]){_M}(?P=s){_Y}",
    rf"{_M}(?P<s>[-.]){_D}(?P=s){_Y}",
    rf"{_M}(?P<s>/){_D}(?P=s){_SHORT}",
    rf"{_D}(?P<s>[-/.]){_M}(?P=s){_SHORT}",
    rf"{_NAME}\.? {_D}(?:st|nd|rd|th)?,? {_Y}",
    rf"{_D}(?:st|nd|rd|th|\.)?[ -](?:of |de )?{_NAME}\.?,?[ -](?:de )?{_Y}",
    rf"{_D}[ -]{_NAME}[ -]{_SHORT}",
)
_PERIODS = (
    r"(?P<y>\d{4})[-/](?P<m>\d{2})",
    r"(?P<m>\d{2})[-/](?P<y>\d{4})",
    rf"{_NAME}\.?[ -]{_Y}",
    r"(?P<y>\d{4})[ -]?[Qq](?P<q>[1-4])",
    r"[Qq](?P<q>[1-4])[ -/]?(?P<y>\d{4})",
    r"(?P<y>\d{4})-?[Ww](?P<w>\d{1,2})",
)
_ZONE = r"(?:Z|[+-]\d{2}:?\d{2}| UTC| GMT)?"
PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (*_DATES, *(rf"{one}(?:T|,? ){_TIME}{_ZONE}" for one in _DATES), *_PERIODS, _TIME, _LENGTH)
)
FIELDS = ("y", "yy", "m", "d", "name", "H", "M", "S", "ap", "q", "w")


@dataclass(frozen=True, eq=False)
class DateColumn:
    """A column's dates or times in seconds, NaN where a cell has none. `size` is the smallest unit that is written."""

    name: str
    seconds: Floats  # since the day before 1 January of the year 1
    size: str  # "time", "moment", "day", "week", "month" or "quarter"
    parts: tuple[tuple[str, str, int], ...]  # (field, text if the field is "" or "ap", least number of digits)
    months: dict[int, str]

    @property
    def days(self) -> Floats:
        """The day number of each date or time."""
        return np.floor(self.seconds / DAY)

    def trimmed(self, seconds: Floats) -> Floats:
        """Return the seconds, cut off to the unit that this column writes."""
        if self.size == "time":
            return np.asarray(np.mod(seconds, DAY))
        days = np.floor(seconds / DAY)
        if self.size == "moment":
            return np.asarray(np.where(_valid(days), seconds, np.nan))
        if self.size == "week":
            return np.asarray((days - np.mod(days - 1, 7)) * DAY)
        if self.size in ("month", "quarter"):
            year, month, _ = calendar(days)
            month = month - np.mod(month - 1, 3) if self.size == "quarter" else month
            return ordinals(year, month, np.ones(len(days))) * DAY
        return days * DAY

    def key(self, seconds: float) -> str | None:
        """Return the key of a date or time as this column writes it, for comparing answers; None if invalid."""
        if not np.isfinite(seconds) or not (self.size == "time" or 1 <= seconds // DAY <= date.max.toordinal()):
            return None
        return value_key(self._text(int(seconds)))

    def _text(self, seconds: int) -> str:
        rest = seconds % DAY
        hour, minute, second = rest // 3600, rest // 60 % 60, rest % 60
        day = date.fromordinal(max(1, seconds // DAY))
        half = any(field == "ap" for field, _, _ in self.parts)
        upper = next((between.isupper() for field, between, _ in self.parts if field == "ap"), True)
        week = day.isocalendar()
        values: dict[str, object] = {
            "y": week[0] if self.size == "week" else day.year,
            "yy": f"{day.year % 100:02d}",
            "m": day.month,
            "d": day.day,
            "name": self.months.get(day.month) or MONTHS[0].split()[day.month - 1],
            "H": (hour + 11) % 12 + 1 if half else hour,
            "M": minute if any(field == "H" for field, _, _ in self.parts) else rest // 60,
            "S": second,
            "ap": ("AM", "PM")[hour // 12] if upper else ("am", "pm")[hour // 12],
            "q": (day.month + 2) // 3,
            "w": week[1],
        }
        return "".join(str(values[field]).zfill(width) if field else between for field, between, width in self.parts)


@cached_by_column
def dates_of(one: Column) -> DateColumn | None:
    """Return a column's dates or times; None if it has none."""
    places = range(0, len(one.cells), len(one.cells) // (4 * DATE_SAMPLE_VALUES) + 1)
    present = dict.fromkeys(one.cells[place] for place in places if one.keys[place] != MISSING)
    some = [cell.strip() for cell in present if cell is not None][:DATE_SAMPLE_VALUES]
    likely = [each for each in PATTERNS if sum(_read(each, text) is not None for text in some) > 0.7 * len(some)]
    if not likely:
        return None
    cells = {key: text.strip() for key, text in one.texts.items()}
    each = {pattern: _known(pattern, cells) for pattern in likely}
    best = max(likely, key=lambda pattern: len(each[pattern]))  # the first pattern if several are equally good
    if len(cells) < 2 or len(each[best]) < LEAST_DATE_SHARE * len(cells):
        return None
    return _dates(one, cells, best, each[best])


def _known(pattern: re.Pattern[str], cells: Mapping[str, str]) -> dict[str, float]:
    """Return the seconds of the cells that match the pattern, by key."""
    return {key: seconds for key, text in cells.items() if (seconds := _read(pattern, text)) is not None}


def _dates(one: Column, cells: Mapping[str, str], pattern: re.Pattern[str], known: Mapping[str, float]) -> DateColumn:
    found = {key: match for key in known if (match := pattern.fullmatch(cells[key])) is not None}
    templates = Counter(tuple((field, between) for field, between, _ in _parts(match)) for match in found.values())
    template = templates.most_common(1)[0][0]
    digits: dict[str, set[str]] = {}
    months: dict[int, str] = {}
    for match in found.values():
        for field, text in match.groupdict().items():
            if field in FIELDS and text:
                digits.setdefault(field, set()).add(text)
                if field == "name":
                    months[NAMES[text.casefold()]] = text
    padded = {
        field: 2 if len(field) == 1 and field in "mdHMSw" and min(map(len, texts)) == 2 else 1
        for field, texts in digits.items()
    }
    moments = np.array([known.get(key, np.nan) if key != MISSING else np.nan for key in one.keys], dtype=np.float64)
    fields = {field for field, _ in template}
    size = "moment" if fields & {"H"} and fields & {"y", "yy"} else "time" if fields & {"H", "S"} else "day"
    if size == "day" and not fields & {"d"}:
        size = "quarter" if "q" in fields else "week" if "w" in fields else "month"
    parts = tuple((field, between, padded.get(field, 1)) for field, between in template)
    return DateColumn(one.name, moments, size, parts, months)


def _parts(match: re.Match[str]) -> Iterator[tuple[str, str, int]]:
    """Yield a cell's fields in order and the texts between them, each as in `DateColumn.parts`."""
    spans = sorted(
        (match.span(field), field) for field in FIELDS if field in match.re.groupindex and match[field] is not None
    )
    last = 0
    for (start, end), field in spans:
        if start > last:
            yield "", match.string[last:start], 0
        yield field, match[field] if field == "ap" and match[field].isupper() else "", 0
        last = end
    if last < len(match.string):
        yield "", match.string[last:], 0


def _read(pattern: re.Pattern[str], text: str) -> float | None:
    """Return a cell's seconds; None if it does not match the pattern or the date does not exist."""
    match = pattern.fullmatch(text) if len(text) <= LONGEST_DATE else None
    if match is None:
        return None
    groups = match.groupdict()
    try:
        month = NAMES[groups["name"].casefold()] if groups.get("name") else int(groups.get("m") or 1)
        if groups.get("q"):
            month = 3 * int(groups["q"]) - 2
        year = int(groups["y"]) if groups.get("y") else 1
        if groups.get("yy"):
            year = int(groups["yy"]) + (2000 if int(groups["yy"]) <= LAST_YEAR_OF_2000S else 1900)
        if groups.get("w"):
            day = date.fromisocalendar(year, int(groups["w"]), 1)
        else:
            day = date(year, month, int(groups.get("d") or 1))
        hour, minute, second = (int(groups.get(field) or 0) for field in ("H", "M", "S"))
    except (KeyError, ValueError):
        return None
    if groups.get("ap"):
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if groups["ap"].lower() == "pm" else 0)
    if hour > 23 or (minute > 59 and "H" in groups) or second > 59:
        return None
    whole = day.toordinal() if "y" in groups or "yy" in groups else 0
    return float(whole * DAY + hour * 3600 + minute * 60 + second)


def _valid(days: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return np.asarray(np.isfinite(days) & (days >= 1) & (days <= date.max.toordinal()))


def _stamps(days: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.datetime64]]:
    """Return day numbers as days since 1970. An invalid day becomes day 0."""
    whole = np.where(_valid(days), days, 719163).astype(np.int64) - 719163
    return whole.astype("datetime64[D]")


def calendar(days: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the year, month and day of day numbers; NaN for an invalid day."""
    stamps = _stamps(days)
    months = stamps.astype("datetime64[M]")
    years = months.astype("datetime64[Y]").astype(np.int64) + 1970
    month = months.astype(np.int64) % 12 + 1
    day = (stamps - months.astype("datetime64[D]")).astype(np.int64) + 1
    known = _valid(days)
    year, number, place = (np.where(known, part.astype(np.float64), np.nan) for part in (years, month, day))
    return year, number, place


def ordinals(years: Floats, months: Floats, days: Floats) -> Floats:
    """Return the day numbers of years, months and days.

    Months may exceed 12; days are limited to the month's last day.
    """
    with np.errstate(invalid="ignore"):
        count = years * 12 + months - 1
        known = (
            np.isfinite(count) & np.isfinite(days) & (count >= 12) & (count < 12 * 9998) & (days >= 1) & (days <= 31)
        )
    month = np.where(known, count, 1970 * 12).astype(np.int64) - 1970 * 12
    first = month.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    length = (month + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) - first
    place = np.minimum(np.where(known, days, 1), length)
    return np.asarray(np.where(known, first + 719163 + place - 1, np.nan))


def weeks(days: Floats) -> Floats:
    """Return the ISO 8601 number of each day's week in its year, which is the year of the week's Thursday."""
    thursday = days - np.mod(days - 1, 7) + 3
    year, _, _ = calendar(thursday)
    return np.floor((thursday - ordinals(year, np.ones(len(year)), np.ones(len(year)))) / 7) + 1


def business(days: Floats, steps: int) -> Floats:
    """Return the day that is `steps` working days (Monday to Friday) later; earlier if `steps` is negative."""
    moved = np.busday_offset(_stamps(days), steps, roll="backward" if steps > 0 else "forward")
    return np.asarray(np.where(_valid(days), moved.astype(np.int64) + 719163, np.nan))
