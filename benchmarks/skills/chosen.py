"""Tables whose cells are chosen from others, written otherwise, or follow another rule beyond a limit."""

from decimal import Decimal
from math import sqrt
from random import Random
from statistics import fmean, geometric_mean, stdev

from benchmarks.skills.commerce import rows_of
from benchmarks.skills.made import Cells, Kind, Made, Rules, code, filled, made, measured, num, to, total
from benchmarks.skills.words import SURNAMES, invented, invented_names

LETTERS = {1000: "M", 900: "CM", 500: "D", 400: "CD", 100: "C", 90: "XC", 50: "L", 40: "XL", 10: "X", 9: "IX"}
LETTERS |= {5: "V", 4: "IV", 1: "I"}
REGIONS = ("north", "south", "west")
SIDES = ("a", "b", "c")
CUPS = ("first", "second", "third", "fourth", "fifth")


def beside(rng: Random, cells: dict[str, str]) -> dict[str, str]:
    """The cells behind some that follow from nothing."""
    return {"clerk": rng.choice(SURNAMES), "file": code(rng, 5), "minutes": measured(rng, 30, 9)} | cells


def ordered(cells: Cells, names: tuple[str, ...]) -> list[str]:
    """The names by their numbers, the smallest first. Raises KeyError where one is not shown."""
    return sorted(names, key=lambda name: num(cells, name))


def heats(rng: Random, number: int) -> Made:
    """Five heats: the median, the second best, which one was best."""
    rules: Rules = {
        "median": lambda c: c[ordered(c, CUPS)[2]],
        "runner_up": lambda c: c[ordered(c, CUPS)[3]],
        "best": lambda c: ordered(c, CUPS)[4],
    }

    def row() -> dict[str, str]:
        numbers = rng.sample(range(300), len(CUPS))
        return filled(beside(rng, dict(zip(CUPS, map(str, numbers), strict=True))), rules, rules)

    return made("heats", [row() for _ in range(rows_of(number))], rules)


def matches(rng: Random, number: int) -> Made:
    """Matches: the result, the winner, points and difference of goals."""

    def margin(cells: Cells) -> int:
        return int(cells["home_goals"]) - int(cells["away_goals"])

    rules: Rules = {
        "result": lambda c: f"{c['home_goals']}:{c['away_goals']}",
        "winner": lambda c: c["home"] if margin(c) > 0 else c["away"] if margin(c) < 0 else "draw",
        "points": lambda c: "3" if margin(c) > 0 else "0" if margin(c) < 0 else "1",
        "difference": lambda c: str(margin(c)),
        "home_goals": lambda c: c["result"].split(":")[0],
        "away_goals": lambda c: c["result"].split(":")[1],
    }

    def row() -> dict[str, str]:
        goals = [str(min(9, int(rng.expovariate(rate)))) for rate in (0.5, 0.6)]
        home, away = invented_names(rng, 2, 1)
        cells = {"home": home, "away": away, "home_goals": goals[0], "away_goals": goals[1]}
        return filled(beside(rng, cells), rules, ("result", "winner", "points", "difference"))

    return made("matches", [row() for _ in range(rows_of(number))], rules)


def regions(rng: Random, number: int) -> Made:
    """Sales by region: total, shares in per cent, the largest region and its lead."""
    rules: Rules = {
        "total": lambda c: str(total(c, REGIONS)),
        "north_pct": lambda c: to(num(c, "north") / num(c, "total") * 100, 1),
        "south_pct": lambda c: to(num(c, "south") / num(c, "total") * 100, 1),
        "largest": lambda c: ordered(c, REGIONS)[2],
        "second": lambda c: c[ordered(c, REGIONS)[1]],
    }

    def row() -> dict[str, str]:
        numbers = dict(zip(REGIONS, map(str, rng.sample(range(5, 900), 3)), strict=True))
        return filled(beside(rng, numbers), rules, rules)

    return made("regions", [row() for _ in range(rows_of(number))], rules)


def paints(rng: Random, number: int) -> Made:
    """Colours as hexadecimal numbers."""
    rules: Rules = {
        "hex": lambda c: "#" + "".join(f"{int(c[name]):02x}" for name in ("red", "green", "blue")),
        "red": lambda c: str(int(c["hex"][1:3], 16)),
        "green": lambda c: str(int(c["hex"][3:5], 16)),
        "blue": lambda c: str(int(c["hex"][5:7], 16)),
    }

    def row() -> dict[str, str]:
        numbers = {name: str(rng.randrange(256)) for name in ("red", "green", "blue")}
        return filled(beside(rng, {"paint": invented(rng), **numbers}), rules, ("hex",))

    return made("paints", [row() for _ in range(rows_of(number))], rules)


def roman(number: int) -> str:
    """A number in Roman letters."""
    found = ""
    for value, letters in LETTERS.items():
        found += letters * (number // value)
        number %= value
    return found


def imprints(rng: Random, number: int) -> Made:
    """A year in Roman letters, a number in binary and hexadecimal."""
    years = {roman(year): str(year) for year in range(1500, 2021)}
    rules: Rules = {
        "imprint": lambda c: roman(int(c["year"])),
        "year": lambda c: years.get(c["imprint"]),
        "binary": lambda c: f"{int(c['shelf']):b}",
        "hexadecimal": lambda c: f"{int(c['shelf']):x}",
        "shelf": lambda c: str(int(c["binary"], 2)),
    }

    def row() -> dict[str, str]:
        cells = {"year": str(rng.randrange(1500, 2020)), "shelf": str(rng.randrange(20, 1000))}
        return filled(beside(rng, cells), rules, ("imprint", "binary", "hexadecimal"))

    return made("imprints", [row() for _ in range(rows_of(number))], rules)


def batters(rng: Random, number: int) -> Made:
    """Batting averages: sums divided by a column, and by the sum of two."""

    def rate(value: Decimal) -> str:
        return to(value, 3).lstrip("0")

    rules: Rules = {
        "obp": lambda c: rate((num(c, "h") + num(c, "bb")) / (num(c, "ab") + num(c, "bb"))),
        "slg": lambda c: rate((num(c, "h") + num(c, "doubles") + 3 * num(c, "hr")) / num(c, "ab")),
        "ops": lambda c: rate(num(c, "obp") + num(c, "slg")),
    }

    def row() -> dict[str, str]:
        bats = rng.randrange(120, 600)
        cells = {"ab": bats, "h": int(bats * rng.uniform(0.2, 0.35)), "bb": rng.randrange(5, 90)}
        cells |= {"doubles": rng.randrange(30), "hr": rng.randrange(25)}
        return filled(beside(rng, {name: str(cell) for name, cell in cells.items()}), rules, rules)

    return made("batters", [row() for _ in range(rows_of(number))], rules)


def taxes(rng: Random, number: int) -> Made:
    """An income tax in three brackets, a discount in three steps."""

    def tax(cells: Cells) -> str:
        income = num(cells, "income")
        middle, upper = max(income - 10_000, Decimal(0)), max(income - 40_000, Decimal(0))
        return to(middle * Decimal("0.2") + upper * Decimal("0.2"))

    def price(cells: Cells) -> str:
        count = num(cells, "copies")
        rate = Decimal("0.10") if count >= 50 else Decimal("0.05") if count >= 10 else Decimal(0)
        return to(count * num(cells, "each") * (1 - rate))

    rules: Rules = {"tax": tax, "net": lambda c: to(num(c, "income") - num(c, "tax")), "forms": price}

    def row() -> dict[str, str]:
        copies = rng.choice([rng.randrange(1, 10), rng.randrange(10, 50), rng.randrange(50, 200)])
        cells = {"income": str(rng.randrange(4000, 99_000)), "copies": str(copies), "each": to(rng.uniform(2, 90))}
        return filled(beside(rng, cells), rules, rules)

    return made("taxes", [row() for _ in range(rows_of(number))], rules)


def triangles(rng: Random, number: int) -> Made:
    """Triangles by their sides: perimeter, area, the longest side."""

    def area(cells: Cells) -> str:
        half = total(cells, SIDES) / 2
        square = half * (half - num(cells, "a")) * (half - num(cells, "b")) * (half - num(cells, "c"))
        return to(sqrt(max(Decimal(0), square)), 1)

    rules: Rules = {
        "perimeter": lambda c: str(total(c, SIDES)),
        "area": area,
        "longest": lambda c: c[ordered(c, SIDES)[2]],
    }

    def row() -> dict[str, str]:
        one, other = rng.randrange(5, 60), rng.randrange(5, 60)
        sides = (one, other, rng.randrange(abs(one - other) + 1, one + other))
        return filled(beside(rng, dict(zip(SIDES, map(str, sides), strict=True))), rules, rules)

    return made("triangles", [row() for _ in range(rows_of(number))], rules)


def songs(rng: Random, number: int) -> Made:
    """Songs: the length in seconds and in minutes, beats."""
    rules: Rules = {
        "length": lambda c: f"{int(c['seconds']) // 60}:{int(c['seconds']) % 60:02d}",
        "beat_ms": lambda c: to(Decimal(60_000) / num(c, "bpm"), 1),
        "beats": lambda c: to(num(c, "bpm") * num(c, "seconds") / 60, 0),
        "seconds": lambda c: str(int(c["length"].split(":")[0]) * 60 + int(c["length"].split(":")[1])),
    }

    def row() -> dict[str, str]:
        cells = {"seconds": str(rng.randrange(95, 420)), "bpm": str(rng.randrange(60, 190))}
        return filled(beside(rng, cells), rules, ("length", "beat_ms", "beats"))

    return made("songs", [row() for _ in range(rows_of(number))], rules)


def stocks(rng: Random, number: int) -> Made:
    """Stocks: change, change in per cent, turnover, direction."""

    def change(cells: Cells) -> Decimal:
        return num(cells, "close") - num(cells, "open")

    rules: Rules = {
        "change": lambda c: to(change(c)),
        "change_pct": lambda c: f"{to(change(c) / num(c, 'open') * 100)}%",
        "turnover": lambda c: to(num(c, "close") * num(c, "volume"), 0),
        "direction": lambda c: "up" if change(c) > 0 else "down" if change(c) < 0 else "flat",
        "close": lambda c: to(num(c, "open") + num(c, "change")),
    }

    def row() -> dict[str, str]:
        opened = rng.uniform(5, 300)
        cells = {"open": to(opened), "close": to(opened * rng.uniform(0.95, 1.05)), "volume": code(rng, 5)}
        return filled(beside(rng, cells), rules, ("change", "change_pct", "turnover", "direction"))

    return made("stocks", [row() for _ in range(rows_of(number))], rules)


def patients(rng: Random, number: int) -> Made:
    """Patients: mean pressure, pulse pressure, anion gap, stage by two limits."""

    def stage(cells: Cells) -> str:
        high = num(cells, "systolic") >= 140 or num(cells, "diastolic") >= 90
        return "high" if high else "elevated" if num(cells, "systolic") >= 120 else "normal"

    rules: Rules = {
        "mean_pressure": lambda c: to((num(c, "systolic") + 2 * num(c, "diastolic")) / 3, 0),
        "pulse_pressure": lambda c: str(num(c, "systolic") - num(c, "diastolic")),
        "anion_gap": lambda c: str(num(c, "sodium") - num(c, "chloride") - num(c, "bicarbonate")),
        "stage": stage,
    }

    def row() -> dict[str, str]:
        cells = {"systolic": int(rng.gauss(128, 15)), "diastolic": int(rng.gauss(80, 9))}
        cells |= {"sodium": rng.randrange(130, 150), "chloride": rng.randrange(95, 110)}
        cells["bicarbonate"] = rng.randrange(18, 30)
        return filled(beside(rng, {name: str(cell) for name, cell in cells.items()}), rules, rules)

    return made("patients", [row() for _ in range(rows_of(number))], rules)


def shelves(rng: Random, number: int) -> Made:
    """A store: a place of three parts, the value, what is to be ordered."""
    rules: Rules = {
        "place": lambda c: f"{c['aisle']}-{int(c['shelf']):02d}-{int(c['bin']):02d}",
        "value": lambda c: to(num(c, "stock") * num(c, "unit")),
        "reorder": lambda c: "yes" if int(c["stock"]) < int(c["minimum"]) else "no",
        "lacking": lambda c: str(max(0, int(c["minimum"]) - int(c["stock"]))),
    }

    def row() -> dict[str, str]:
        cells = {"aisle": rng.choice("ABCDEFG"), "shelf": str(rng.randrange(1, 30)), "bin": str(rng.randrange(1, 60))}
        cells |= {"stock": str(rng.randrange(200)), "minimum": str(rng.randrange(80)), "unit": to(rng.uniform(0.5, 60))}
        return filled(beside(rng, cells), rules, rules)

    return made("store", [row() for _ in range(rows_of(number))], rules)


def repeats(rng: Random, number: int) -> Made:
    """Three repeats of a measurement: how far they lie apart."""
    names = ("a", "b", "c")

    def values(cells: Cells) -> list[float]:
        return [float(num(cells, name)) for name in names]

    rules: Rules = {
        "sd": lambda c: to(stdev(values(c)), 2),
        "cv": lambda c: to(100 * stdev(values(c)) / fmean(values(c)), 1),
        "geometric": lambda c: to(geometric_mean(values(c)), 2),
    }

    def row() -> dict[str, str]:
        return filled(beside(rng, {name: measured(rng, 20, 4) for name in names}), rules, rules)

    return made("repeats", [row() for _ in range(rows_of(number))], rules)


def races(rng: Random, number: int) -> Made:
    """Runs: the time in minutes and seconds, the speed, the pace."""

    def seconds(cells: Cells) -> int:
        minutes, rest = cells["time"].split(":")
        return 60 * int(minutes) + int(rest)

    def pace(cells: Cells) -> str:
        minutes, rest = divmod(int(seconds(cells) / num(cells, "km")), 60)
        return f"{minutes}:{rest:02d}"

    rules: Rules = {"kmh": lambda c: to(3600 * num(c, "km") / seconds(c), 1), "pace": pace}

    def row() -> dict[str, str]:
        km = rng.choice(("5", "7.5", "10"))
        lasted = int(float(km) * rng.uniform(220, 330))
        return filled(beside(rng, {"km": km, "time": f"{lasted // 60}:{lasted % 60:02d}"}), rules, rules)

    return made("races", [row() for _ in range(rows_of(number))], rules)


def clinic(rng: Random, number: int) -> Made:
    """One column by a law that the guesser does not know: a product of odd powers, with a factor by sex."""

    def rate(cells: Cells) -> str:
        odd = float(num(cells, "cr")) ** -1.154 * float(num(cells, "age")) ** -0.203
        return to(175 * odd * (0.742 if cells["sex"] == "F" else 1), 1)

    rules: Rules = {"egfr": rate}

    def row() -> dict[str, str]:
        cells = {"sex": rng.choice("MF"), "age": str(rng.randrange(20, 85)), "cr": to(rng.uniform(0.5, 2.5))}
        return filled(beside(rng, cells), rules, rules)

    return made("clinic", [row() for _ in range(rows_of(number))], rules)


KINDS = (
    Kind("heats", "median, second best and best of five", heats),
    Kind("matches", "result, winner, points, difference", matches),
    Kind("regions", "total, shares, the largest and the second", regions),
    Kind("paints", "colours as hexadecimal numbers", paints),
    Kind("imprints", "Roman, binary and hexadecimal numbers", imprints),
    Kind("batters", "sums divided by a column or two", batters),
    Kind("taxes", "brackets and discounts by limits", taxes),
    Kind("triangles", "perimeter, area, longest side", triangles),
    Kind("songs", "seconds as minutes, beats", songs),
    Kind("stocks", "change, per cent, direction", stocks),
    Kind("patients", "means, gaps, a stage by two limits", patients),
    Kind("store", "a place of three parts, orders by a minimum", shelves),
    Kind("repeats", "deviation, variation, geometric mean of three", repeats),
    Kind("races", "minutes and seconds, speed, pace", races),
    Kind("clinic", "one column by a law beyond the baseline's", clinic),
)
