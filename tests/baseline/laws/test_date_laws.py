"""Dates and times on made tables: what follows from them is known, in each of the usual forms."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from random import Random

import numpy as np
import pytest

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.coded_columns import column
from tabcontam.baseline.laws.calendar import dates_of
from tabcontam.baseline.laws.date_laws import with_dates
from tabcontam.tables.table import Cell
from tests.baseline.made import guess_chain

Row = dict[str, str]
FORMS = ("%Y-%m-%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y%m%d", "%b %d, %Y", "%d %B %Y", "%d-%b-%y", "%m/%d/%y")
GERMAN = ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"]


def some_day(rng: Random) -> date:
    return date(1990, 1, 1) + timedelta(rng.randint(0, 9000))


def some_moment(rng: Random) -> datetime:
    return datetime(2020, 1, 1) + timedelta(minutes=rng.randint(0, 500_000))


def age(born: date, at: date) -> int:
    return at.year - born.year - ((at.month, at.day) < (born.month, born.day))


def table(row: Callable[[Random], Row], size: int) -> dict[str, list[Cell]]:
    rng = Random(size)
    rows = [{**row(rng), "noise": str(rng.randrange(1000))} for _ in range(size)]
    return {name: [one[name] for one in rows] for name in rows[0]}


def guesses(columns: Mapping[str, Sequence[Cell]], count: int) -> list[CellPrediction]:
    shown = [name for name in columns if name != "asked"]
    return [chain[0] for chain in guess_chain(columns, shown, ["asked"], range(count))]


def chances(columns: Mapping[str, Sequence[Cell]], count: int = 40) -> list[float]:
    return [guess.chance_of(cell or "") for guess, cell in zip(guesses(columns, count), columns["asked"], strict=False)]


def duration(rng: Random) -> Row:
    day, days = some_day(rng), rng.randint(1, 90)
    return {"start": f"{day}", "end": f"{day + timedelta(days):%d.%m.%Y}", "asked": str(days)}


def thirty_days_later(rng: Random) -> Row:
    day = some_day(rng)
    return {"start": f"{day:%d.%m.%Y}", "asked": f"{day + timedelta(30)}"}


def weekday(rng: Random) -> Row:
    day = some_day(rng)
    return {"day": f"{day}", "asked": f"{day:%A}"}


def weekday_in_german(rng: Random) -> Row:
    day = some_day(rng)
    return {"day": f"{day:%d.%m.%Y}", "asked": GERMAN[day.weekday()]}


def quarter(rng: Random) -> Row:
    day = some_day(rng)
    return {"day": f"{day}", "asked": f"{day.year}Q{(day.month + 2) // 3}"}


def month(rng: Random) -> Row:
    day = some_day(rng)
    return {"day": f"{day}", "asked": f"{day:%Y-%m}"}


def week(rng: Random) -> Row:
    day = some_day(rng)
    return {"day": f"{day}", "asked": str(day.isocalendar()[1])}


def age_at_a_date(rng: Random) -> Row:
    born, day = some_day(rng) - timedelta(20_000), some_day(rng)
    return {"born": f"{born}", "day": f"{day:%m/%d/%Y}", "asked": str(age(born, day))}


def age_at_one_date(rng: Random) -> Row:
    born = some_day(rng)
    return {"born": f"{born}", "asked": str(age(born, date(2024, 5, 17)))}


def end_of_the_month(rng: Random) -> Row:
    day = some_day(rng)
    return {"day": f"{day}", "asked": f"{(day.replace(day=28) + timedelta(4)).replace(day=1) - timedelta(1)}"}


def put_together(rng: Random) -> Row:
    day = some_day(rng)
    return {"year": str(day.year), "month": str(day.month), "day": str(day.day), "asked": f"{day:%d/%m/%Y}"}


def working_day_after(rng: Random) -> Row:
    day = some_day(rng)
    after = day + timedelta({4: 3, 5: 2}.get(day.weekday(), 1))
    return {"previous asked": f"{day}", "asked": f"{after}"}


def minutes(rng: Random) -> Row:
    moment, length = some_moment(rng), rng.randint(1, 300)
    later = moment + timedelta(minutes=length)
    return {"start": f"{moment:%Y-%m-%d %H:%M}", "end": f"{later:%Y-%m-%d %H:%M}", "asked": str(length)}


def arrival(rng: Random) -> Row:
    moment, length = some_moment(rng), rng.randint(1, 300)
    return {"start": f"{moment:%H:%M}", "min": str(length), "asked": f"{moment + timedelta(minutes=length):%H:%M}"}


def stamp(rng: Random) -> Row:
    moment, hours = some_moment(rng), rng.randint(1, 30)
    return {
        "at": f"{moment:%Y-%m-%dT%H:%M:%SZ}",
        "h": str(hours),
        "asked": f"{moment + timedelta(hours=hours):%m/%d/%Y %I:%M %p}",
    }


KNOWN = (
    *(duration, thirty_days_later, weekday, weekday_in_german, quarter, month, week, age_at_a_date, age_at_one_date),
    *(end_of_the_month, put_together, working_day_after, minutes, arrival, stamp),
)


@pytest.mark.slow  # a table and a fit for each of many kinds
@pytest.mark.parametrize("row", KNOWN, ids=lambda row: row.__name__)
def test_what_follows_from_a_date_is_known(row: Callable[[Random], Row]) -> None:
    found = chances(table(row, 120))
    assert np.median(found) > 0.9
    assert np.mean(np.array(found) > 0.7) >= 0.9


@pytest.mark.parametrize("form", FORMS[::4])  # each of them is read below
@pytest.mark.slow
def test_the_end_of_a_duration_is_known_in_each_form(form: str) -> None:
    def row(rng: Random) -> Row:
        day, days = some_day(rng), rng.randint(1, 90)
        return {"start": day.strftime(form), "days": str(days), "asked": (day + timedelta(days)).strftime(form)}

    assert np.median(chances(table(row, 100))) > 0.9


def test_independent_dates_say_nothing_of_each_other() -> None:
    columns = table(lambda rng: {"day": f"{some_day(rng)}", "asked": f"{some_day(rng)}"}, 150)
    assert all(guess.surest < 0.05 for guess in guesses(columns, 60))


@pytest.mark.parametrize("form", FORMS)
def test_a_column_of_dates_is_written_as_it_is_read(form: str) -> None:
    rng = Random(1)
    cells = [some_day(rng).strftime(form) for _ in range(50)]
    one = column("day", cells)
    read = dates_of(one)
    assert read is not None
    assert [read.key(seconds) for seconds in read.seconds] == list(one.keys)


def test_dates_become_numbers_and_other_columns_do_not() -> None:
    day = column("day", [f"2020-01-{number:02d}" for number in range(1, 31)])
    other = column("name", [f"name {number}" for number in range(30)])
    found = {one.name: one for one in with_dates([day, other])}
    assert found["day day number"].numbers is not None
    assert found["day day number"].numbers[1] - found["day day number"].numbers[0] == 1
    assert found["day weekday"].cells[:3] == ("3", "4", "5")
    assert not any(name.startswith("name ") for name in found)


def test_many_columns_of_dates_add_one_number_each() -> None:
    days = [
        column(f"day {place}", [f"{2000 + number}-02-{place + 1:02d}" for number in range(30)]) for place in range(9)
    ]
    assert len(with_dates(days)) == 18


@pytest.mark.parametrize(
    "cells",
    [
        [None] * 40,
        ["2020-02-30", "2019-02-29", "2020-13-01", "2020-00-00"] * 10,
        ["0000-00-00", "9999-12-31", "0001-01-01", "9999-12-30"] * 10,
        ["9999-12-31", "0001-01-01"] * 20,
        ["31/12/2020", "12/31/2020", "2020-12-31", "Dec 31, 2020"] * 10,
        ["24:00", "23:59", "00:00", "12:60"] * 10,
        ["12:59 AM", "12:00 PM", "13:00 PM", "00:00 am"] * 10,
        ["2020W53", "2021W53", "2020W00", "2015W53"] * 10,
        ["١٢/١٢/٢٠٢٠", "²⁰/12/2020"] * 20,
        ["20201231", "20200230", "99999999", "15000101"] * 10,
        ["12 Foo 2020", "31 Février 2020", "1 MÄRZ 2020", "1 März 2020"] * 10,
        [f"{year}-12-31T23:59:59+14:00" for year in range(9960, 10000)],
    ],
)
@pytest.mark.slow
def test_impossible_dates_raise_nothing(cells: list[Cell]) -> None:
    numbers: list[Cell] = [str(number * 7 % 31 + 1) for number in range(40)]
    days: list[Cell] = [f"{2000 + number}-01-31" for number in range(40)]
    for columns in (
        {"asked": cells, "a": numbers, "b": days},
        {"asked": days, "a": cells},
        {"asked": numbers, "a": cells},
    ):
        assert all(0 < guess.rest <= 1 for guess in guesses(columns, 40))
