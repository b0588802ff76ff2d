"""Dates as feeds and tables state them: the earliest and the latest time that a stated date can mean.

An incomplete date keeps all its possible times: without a time zone, it may be the local time at any place on earth.
"""

import re
from datetime import UTC, date, datetime, time, timedelta
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from tabcontam.errors import UsageError, option

STATED = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")  # a year, a month or a day
FARTHEST_EAST, FARTHEST_WEST = timedelta(hours=14), timedelta(hours=12)  # the largest differences from UTC


class DayRange(NamedTuple):
    """The first and the last day that a date can mean, in the writer's own time zone."""

    first: date
    last: date


class InstantRange(NamedTuple):
    """The first and the last moment that a date can mean, in UTC."""

    first: datetime
    last: datetime


def days_of(text: str) -> DayRange:
    """Return the range of a year, month, day or moment in the form of ISO 8601. Raises `ValueError` for other texts.

    >>> days_of("2026-02")
    DayRange(first=datetime.date(2026, 2, 1), last=datetime.date(2026, 2, 28))
    """
    if (found := STATED.fullmatch(text.strip())) and not found[3]:
        year, month = int(found[1]), int(found[2] or 1)
        last = date(year, month, 1) if found[2] else date(year, 12, 1)
        after = date(last.year + last.month // 12, last.month % 12 + 1, 1) if last < date(9999, 12, 1) else None
        return DayRange(date(year, month, 1), after - timedelta(days=1) if after else date.max)
    day = datetime.fromisoformat(text.strip()).date()
    return DayRange(day, day)


def instants_of(text: str) -> InstantRange | None:
    """Return the range of a date in a feed's entry, in ISO 8601 or a mail's form (RFC 822); None for other texts.

    A day without a time, and a time without a zone, may be of any place on earth. In RFC 822, the zone `-0000` means
    that the zone is unknown.
    """
    written = " ".join(text.split())
    try:
        return _instants(datetime.fromisoformat(written), whole_day=len(written) <= len("2026-01-01"))
    except ValueError:
        pass
    try:
        return _instants(parsedate_to_datetime(written), whole_day=":" not in written)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _instants(stated: datetime, whole_day: bool) -> InstantRange | None:
    try:
        if stated.tzinfo is not None:
            moment = stated.astimezone(UTC)
            return InstantRange(moment, moment)
        last = datetime.combine(stated.date(), time.max) if whole_day else stated
        return InstantRange(stated.replace(tzinfo=UTC) - FARTHEST_EAST, last.replace(tzinfo=UTC) + FARTHEST_WEST)
    except (OverflowError, ValueError):
        return None


def day_typed(text: str, name: str) -> date:
    """Return the day given in an option. Raises `UsageError` if the text is not a day."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option(name)} is {text!r}; write a day, such as 2026-03-01") from None


def start_of(day: date) -> datetime:
    """Return the first moment of a day, in UTC."""
    return datetime.combine(day, time.min, UTC)
