"""Tables of dates and times."""

from datetime import date, datetime, timedelta
from random import Random

from benchmarks.skills.commerce import rows_of
from benchmarks.skills.made import Cells, Kind, Made, Rules, code, filled, made, measured
from benchmarks.skills.words import person

SMALL = (10, 14, 18, 25)
FORMS = ("%Y-%m-%d", "%d/%m/%Y", "%d.%m.%Y")


def day(text: str, form: str = "%Y-%m-%d") -> date:
    """A date as it is written."""
    return datetime.strptime(text, form).date()


def anytime(rng: Random, first: int = 2010, years: int = 12) -> date:
    """Any day of some years."""
    return date(first, 1, 1) + timedelta(rng.randrange(365 * years))


def stays(rng: Random, number: int) -> Made:
    """Stays: start + days = end."""
    form = FORMS[number % len(FORMS)]
    rules: Rules = {
        "end": lambda c: (day(c["start"], form) + timedelta(int(c["days"]))).strftime(form),
        "start": lambda c: (day(c["end"], form) - timedelta(int(c["days"]))).strftime(form),
        "days": lambda c: str((day(c["end"], form) - day(c["start"], form)).days),
    }

    def row() -> dict[str, str]:
        cells = {"guest": person(rng)[1], "room": str(rng.randrange(100, 480)), "paid": measured(rng, 400, 120, 2)}
        cells |= {"start": anytime(rng).strftime(form), "days": str(rng.randrange(1, 60))}
        return filled(cells, rules, ("end",))

    return made("stays", [row() for _ in range(rows_of(number))], rules)


def day_parts(rng: Random, number: int) -> Made:
    """A date with its weekday, month, quarter and year beside it."""
    rules: Rules = {
        "weekday": lambda c: day(c["date"]).strftime("%A"),
        "month": lambda c: day(c["date"]).strftime("%B"),
        "quarter": lambda c: f"Q{(day(c['date']).month + 2) // 3}",
        "year": lambda c: c["date"][:4],
    }

    def row() -> dict[str, str]:
        cells = {"date": anytime(rng).isoformat(), "visitors": str(rng.randrange(40, 4_000))}
        cells |= {"takings": measured(rng, 2_000, 600, 2)}
        return filled(cells, rules, rules)

    return made("museum", [row() for _ in range((200, 400, 150, 300, 1000, 250)[number % 6])], rules)


def ages(rng: Random, number: int) -> Made:
    """Age at a visit, from the birthday."""

    def age(cells: Cells) -> str:
        born, visit = day(cells["born"]), day(cells["visit"])
        return str(visit.year - born.year - ((visit.month, visit.day) < (born.month, born.day)))

    def row() -> dict[str, str]:
        cells = {"file": code(rng, 5), "born": anytime(rng, 1930, 70).isoformat(), "visit": anytime(rng).isoformat()}
        return cells | {"pulse": str(rng.randrange(48, 120)), "haemoglobin": measured(rng, 14, 1.5), "age": age(cells)}

    return made("visits", [row() for _ in range(rows_of(number))], {"age": age})


def calendar(rng: Random, number: int) -> Made:
    """One row a day, with weekends or without, and what was measured that day."""
    working = number % 2 == 1

    def following(today: date) -> date:
        today += timedelta(1)
        while working and today.weekday() > 4:
            today += timedelta(1)
        return today

    today, rows = anytime(rng), []
    for _ in range(rows_of(number)):
        today = following(today)
        cells = {"date": today.isoformat(), "weekday": today.strftime("%a")}
        rows.append(cells | {"volume": str(rng.randrange(1_000, 90_000)), "close": measured(rng, 50, 9, 2)})
    rules: Rules = {"weekday": lambda c: day(c["date"]).strftime("%a")}
    return made(
        "trading_days" if working else "days",
        rows,
        rules,
        lambda before: {"date": following(day(before[-1]["date"])).isoformat()},
    )


def trips(rng: Random, number: int) -> Made:
    """A timetable: departure + minutes = arrival."""

    def clock(minutes: int) -> str:
        return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"

    def minutes(text: str) -> int:
        return 60 * int(text[:2]) + int(text[3:])

    rules: Rules = {
        "arrives": lambda c: clock(minutes(c["departs"]) + int(c["minutes"])),
        "departs": lambda c: clock(minutes(c["arrives"]) - int(c["minutes"])),
        "minutes": lambda c: str((minutes(c["arrives"]) - minutes(c["departs"])) % 1440),
    }

    def row() -> dict[str, str]:
        cells = {"train": code(rng, 4), "seats": str(rng.randrange(80, 900)), "delay": measured(rng, 6, 2)}
        cells |= {"departs": clock(rng.randrange(300, 1400)), "minutes": str(rng.randrange(12, 400))}
        return filled(cells, rules, ("arrives",))

    return made("trains", [row() for _ in range(rows_of(number))], rules)


def years(rng: Random, number: int) -> Made:
    """A running index and a year, in tables of 10 to 25 rows."""
    first = rng.randrange(1950, 1995)
    rows = [
        {"index": str(place + 1), "year": str(first + place), "harvest": measured(rng, 300, 60, 0)}
        for place in range(SMALL[number % len(SMALL)])
    ]
    rules: Rules = {
        "year": lambda c: str(first - 1 + int(c["index"])),
        "index": lambda c: str(int(c["year"]) - first + 1),
    }
    return made("harvests", rows, rules, lambda before: {"index": str(int(before[-1]["index"]) + 1)})


def quarters(rng: Random, number: int) -> Made:
    """Quarter and year of a running index, in tables of 30 and 40 rows."""
    first = rng.randrange(1985, 2005)
    count = (30, 40, 60)[number % 3]
    rows = [
        {
            "period": str(place + 1),
            "sales": measured(rng, 800, 200, 1),
            "staff": str(rng.randrange(20, 400)),
            "year": str(first + place // 4),
            "quarter": str(place % 4 + 1),
        }
        for place in range(count)
    ]
    rules: Rules = {
        "year": lambda c: str(first + (int(c["period"]) - 1) // 4),
        "quarter": lambda c: str((int(c["period"]) - 1) % 4 + 1),
        "period": lambda c: str(4 * (int(c["year"]) - first) + int(c["quarter"])),
    }
    return made("quarters", rows, rules, lambda before: {"period": str(int(before[-1]["period"]) + 1)})


KINDS = (
    Kind("stays", "start + days = end, in three forms of dates", stays),
    Kind("parts of a date", "weekday, month, quarter, year", day_parts),
    Kind("ages", "age at a visit", ages),
    Kind("calendars", "the next day, with weekends and without", calendar),
    Kind("timetables", "departure + minutes = arrival", trips),
    Kind("index and year", "10 to 25 rows", years, few="fewer than 20 rows"),
    Kind("quarters", "quarter and year of an index, 30 to 60 rows", quarters),
)
