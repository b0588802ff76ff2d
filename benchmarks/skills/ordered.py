"""Tables whose order says much of the next row."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import product
from random import Random

from benchmarks.skills.commerce import rows_of
from benchmarks.skills.made import Cells, Kind, Made, code, made, measured, num, to
from benchmarks.skills.words import invented_names


def panel(rng: Random, number: int) -> Made:
    """Regions by year, of which each grows by a constant rate of its own."""
    rows, decimals = [], (0, 1)[number % 2]
    for region in invented_names(rng, (8, 12, 20)[number % 3], 1):
        level, rate = Decimal(rng.randrange(900, 90_000)), Decimal(rng.randrange(-30, 60)) / 1000
        for year in range(2005, 2020):
            cells = {"region": region, "year": str(year), "population": to(level, decimals)}
            rows.append(cells | {"births": str(rng.randrange(10, 900)), "rain_mm": str(rng.randrange(300, 1200))})
            level *= 1 + rate

    def after(before: Sequence[Cells]) -> Cells:
        last = before[-1]
        own = [row for row in before if row["region"] == last["region"]]
        if last["year"] == "2019":
            return {"year": "2005"}
        found = {"region": last["region"], "year": str(int(last["year"]) + 1)}
        if len(own) > 1:
            growth = (num(own[-1], "population") / num(own[0], "population")) ** (Decimal(1) / (len(own) - 1))
            found["population"] = to(num(last, "population") * growth, decimals)
        return found

    return made("regions", rows, next_row=after)


def grid(rng: Random, number: int) -> Made:
    """Every combination of three settings in order, with what was measured at each."""
    settings = {
        "temperature": [str(place) for place in range(20, 20 + 10 * (4, 5, 6)[number % 3], 10)],
        "pressure": ["1.0", "1.5", "2.0", "2.5"],
        "catalyst": ["none", "nickel", "platinum", "zinc", "iron"][: 3 + number % 3],
    }
    combinations = list(product(*settings.values()))
    rows = [
        dict(zip(settings, each, strict=True)) | {"yield": measured(rng, 60, 9), "grams": measured(rng, 5, 1, 2)}
        for each in combinations
    ]
    place = {each: number for number, each in enumerate(combinations)}

    def after(before: Sequence[Cells]) -> Cells:
        now = place[tuple(before[-1][name] for name in settings)]
        return dict(zip(settings, combinations[now + 1], strict=True))

    return made("reactor", rows, next_row=after)


def subjects(rng: Random, number: int) -> Made:
    """Three rows a subject: age, sex and group stay, the visit goes on."""
    rows: list[dict[str, str]] = []
    for place in range(rows_of(number) // 3):
        own = {"subject": f"S{place + 1:03d}", "age": str(rng.randrange(18, 80)), "sex": rng.choice("FM")}
        own["group"] = rng.choice(("placebo", "low", "high"))
        for visit in ("1", "2", "3"):
            weight = {"reaction_ms": measured(rng, 400, 60, 0), "score": str(rng.randrange(0, 60))}
            rows.append(own | {"visit": visit} | weight)

    def after(before: Sequence[Cells]) -> Cells:
        last = before[-1]
        if last["visit"] == "3":
            return {"subject": f"S{int(last['subject'][1:]) + 1:03d}", "visit": "1"}
        return {name: last[name] for name in ("subject", "age", "sex", "group")} | {
            "visit": str(int(last["visit"]) + 1)
        }

    return made("trial", rows, next_row=after)


def in_order(rng: Random, number: int) -> Made:
    """A table sorted by an amount; its number runs on, its rank is its place."""
    count = rows_of(number)
    amounts = sorted((rng.randrange(1_000, 90_000) for _ in range(count)), reverse=True)
    towns = invented_names(rng, count, 1)
    rows = [
        {
            "rank": str(place + 1),
            "town": town,
            "people": str(amount),
            "area": measured(rng, 60, 15, 1),
            "height": str(rng.randrange(2, 900)),
        }
        for place, (town, amount) in enumerate(zip(towns, amounts, strict=True))
    ]

    def after(before: Sequence[Cells]) -> Cells:
        last = before[-1]
        step = (int(before[0]["people"]) - int(last["people"])) // 3
        return {"rank": str(int(last["rank"]) + 1), "people": str(int(last["people"]) - step)}

    return made("towns", rows, next_row=after)


def series(rng: Random, number: int) -> Made:
    """A series of small steps; every second table is smoother still, so that its slope goes on."""
    smooth, level, slope, rows = number % 2 == 1, rng.uniform(40, 60), 0.0, []
    for place in range(rows_of(number)):
        slope = 0.9 * slope + rng.gauss(0, 0.12) if smooth else rng.gauss(0, 0.3)
        level += slope
        cells = {"step": str(place + 1), "pressure": to(level, 1), "noise": measured(rng, 30, 8, 2)}
        rows.append(cells | {"load": str(rng.randrange(100, 999))})

    def after(before: Sequence[Cells]) -> Cells:
        last, previous = before[-1], before[-2]
        slope = num(last, "pressure") - num(previous, "pressure") if smooth else Decimal(0)
        return {"step": str(int(last["step"]) + 1), "pressure": to(num(last, "pressure") + slope, 1)}

    return made("drill", rows, next_row=after)


def sensors(rng: Random, number: int) -> Made:
    """Three sensors read every ten minutes."""
    now, rows = datetime(2021, 3, rng.randrange(1, 28), rng.randrange(24)), []
    names = ("north", "south", "roof")
    levels = {name: rng.uniform(5, 25) for name in names}
    for place in range(rows_of(number)):
        sensor = names[place % 3]
        levels[sensor] += rng.gauss(0, 0.2)
        cells = {"time": now.strftime("%Y-%m-%d %H:%M"), "sensor": sensor, "celsius": to(levels[sensor], 1)}
        rows.append(cells | {"volts": measured(rng, 3.3, 0.15, 3), "packet": code(rng, 5)})
        if place % 3 == 2:
            now += timedelta(minutes=10)

    def after(before: Sequence[Cells]) -> Cells:
        last = before[-1]
        sensor = names[(names.index(last["sensor"]) + 1) % 3]
        time = datetime.strptime(last["time"], "%Y-%m-%d %H:%M") + timedelta(minutes=10 * (sensor == names[0]))
        before_of = next(row for row in reversed(before) if row["sensor"] == sensor)
        return {"time": time.strftime("%Y-%m-%d %H:%M"), "sensor": sensor, "celsius": before_of["celsius"]}

    return made("sensors", rows, next_row=after)


def counters(rng: Random, number: int) -> Made:
    """A counter in a text, and a meter that only grows by the day's use."""
    meter, rows = rng.randrange(10_000, 90_000), []
    for place in range(rows_of(number)):
        used = rng.randrange(3, 60)
        cells = {"entry": f"R-{place + 1:04d}", "used": str(used), "meter": str(meter + used)}
        rows.append(cells | {"reader": rng.choice(("AK", "TB", "ML")), "celsius": measured(rng, 12, 6)})
        meter += used
    return made("meter", rows, next_row=lambda before: {"entry": f"R-{int(before[-1]['entry'][2:]) + 1:04d}"})


KINDS = (
    Kind("growth", "panels with constant growth", panel),
    Kind("grids", "all combinations in order", grid),
    Kind("three rows a subject", "what stays from row to row", subjects),
    Kind("sorted", "sorted by an amount, with a rank", in_order),
    Kind("series", "small steps, and steps that go on", series),
    Kind("sensors", "three sensors every ten minutes", sensors),
    Kind("counters", "a counter in a text, a meter", counters),
)
