"""Wide tables of 60 to 300 columns: spectra, months, running totals, shares, questionnaires, sensors, genes."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from math import cos, exp, pi
from random import Random

from benchmarks.skills.made import Cells, Kind, Made, Rule, Rules, code, made, measured, num, to, total
from benchmarks.skills.words import invented, invented_names

ROWS = (300, 600, 1200)
CUBIC = tuple(map(Decimal, ("-1", "4", "4", "-1")))  # of the two cells on each side, in sixths
WAVES = [f"nm_{1000 + 4 * place}" for place in range(150)]
MONTHS = [f"{year}-{month:02d}" for year in range(2020, 2024) for month in range(1, 13)]
DAYS = [f"day_{place:02d}" for place in range(1, 91)]


def rows_of(number: int) -> int:
    """How many rows the table of this number has."""
    return ROWS[number % len(ROWS)]


def between(names: Sequence[str], place: int, decimals: int) -> Sequence[Rule]:
    """What lies between the cells around one: by a cubic through four of them, by a line, or on from one side."""

    def cubic(cells: Cells) -> str:
        around = [names[place + step] for step in (-2, -1, 1, 2)]
        return to(sum((w * num(cells, name) for w, name in zip(CUBIC, around, strict=True)), Decimal(0)) / 6, decimals)

    def line(cells: Cells) -> str:
        return to((num(cells, names[place - 1]) + num(cells, names[place + 1])) / 2, decimals)

    def onward(step: int, cells: Cells) -> str:
        one, two, three = (num(cells, names[place + step * times]) for times in (1, 2, 3))
        return to(3 * one - 3 * two + three, decimals)

    rules: list[Rule] = []
    if 2 <= place < len(names) - 2:
        rules.append(cubic)
    if 1 <= place < len(names) - 1:
        rules.append(line)
    if place >= 3:
        rules.append(partial(onward, -1))
    if place < len(names) - 3:
        rules.append(partial(onward, 1))
    return rules


def spectra(rng: Random, number: int) -> Made:
    """150 wave lengths of smooth spectra, each between its neighbours."""
    peaks = [rng.uniform(1000, 1600) for _ in range(6)]

    def row(index: int) -> dict[str, str]:
        heights, base = [rng.uniform(0.02, 0.4) for _ in peaks], rng.uniform(0.2, 0.5)
        moved = [peak + rng.gauss(0, 8) for peak in peaks]

        def at(wave: int) -> float:
            return base + sum(h * exp(-(((wave - p) / 70) ** 2)) for h, p in zip(heights, moved, strict=True))

        cells = {"sample": str(700 + index), "moisture": measured(rng, 11, 2), "protein": measured(rng, 12, 1.5)}
        return cells | {name: to(at(1000 + 4 * place), 3) for place, name in enumerate(WAVES)}

    rules = {name: between(WAVES, place, 3) for place, name in enumerate(WAVES)}
    return made("spectra", [row(index) for index in range(rows_of(number))], rules)


def months(rng: Random, number: int) -> Made:
    """48 months and the totals of years and of all; what lies between two months."""
    years = {year: [name for name in MONTHS if name.startswith(year)] for year in ("2020", "2021", "2022", "2023")}
    decimals = number % 2

    def row(name: str) -> dict[str, str]:
        level, growth, season = rng.lognormvariate(5, 1), rng.gauss(0.004, 0.006), rng.uniform(0, 0.3)
        first = rng.uniform(0, 2 * pi)
        cells = {"region": name, "clerk": code(rng, 4)}
        for place, month in enumerate(MONTHS):
            wave = 1 + season * cos(2 * pi * place / 12 + first)
            cells[month] = to(level * exp(growth * place) * wave * exp(rng.gauss(0, 0.01)), decimals)
        cells |= {f"total {year}": to(total(cells, names), decimals) for year, names in years.items()}
        return cells | {"total": to(total(cells, MONTHS), decimals)}

    def of_year(year: str, month: str, cells: Cells) -> str:
        return to(num(cells, f"total {year}") - total(cells, [one for one in years[year] if one != month]), decimals)

    rules: dict[str, Sequence[Rule]] = {
        month: [partial(of_year, month[:4], month), *between(MONTHS, place, decimals)]
        for place, month in enumerate(MONTHS)
    }
    for year, names in years.items():
        rules[f"total {year}"] = [partial(lambda names, c: to(total(c, names), decimals), names)]
    rules["total"] = [lambda c: to(total(c, MONTHS), decimals)]
    return made("months", [row(name) for name in invented_names(rng, rows_of(number))], rules)


def only_months(rng: Random, number: int) -> Made:
    """The same without totals: a slow index, of which the months between tell each one."""
    whole = months(rng, number)

    def row(name: str) -> dict[str, str]:
        level, slope = rng.uniform(60, 140), rng.gauss(0.3, 0.2)
        cells = {"region": name, "clerk": code(rng, 4)}
        for month in MONTHS:
            slope += rng.gauss(0, 0.03)
            level += slope
            cells[month] = to(level, 1)
        return cells

    rules = {month: between(MONTHS, place, 1) for place, month in enumerate(MONTHS)}
    return made("index", [row(name) for name in invented_names(rng, len(whole.table.rows))], rules)


def cases(rng: Random, number: int) -> Made:
    """90 days of running totals, as of an epidemic."""

    def row(name: str) -> dict[str, str]:
        begin, most, width = rng.randrange(0, 70), rng.lognormvariate(3, 1.2), rng.uniform(4, 15)
        cells, count = {"province": name, "lat": measured(rng, 20, 25, 4), "long": measured(rng, 20, 60, 4)}, 0
        for place, day in enumerate(DAYS):
            rate = most * exp(-(((place - begin - 20) / width) ** 2))
            count += max(0, round(rate + rng.gauss(0, 0.5 + 0.2 * rate)))
            cells[day] = str(count)
        return cells

    rules = {day: between(DAYS, place, 0)[1:] for place, day in enumerate(DAYS)}
    return made("cases", [row(name) for name in invented_names(rng, rows_of(number))], rules)


def shares(rng: Random, number: int) -> Made:
    """60 counts with their total, and the share of each."""
    parties = [f"group_{place:02d}" for place in range(1, 61)]

    def row(name: str) -> dict[str, str]:
        size = rng.lognormvariate(6, 0.7)
        cells = {"district": name} | {one: str(int(size * rng.lognormvariate(0, 0.8))) for one in parties}
        cells["total"] = to(total(cells, parties), 0)
        return cells | {f"{one}_share": share(one, cells) for one in parties}

    def share(one: str, cells: Cells) -> str:
        return to(100 * num(cells, one) / num(cells, "total"), 2)

    def rest(one: str, cells: Cells) -> str:
        return to(num(cells, "total") - total(cells, [other for other in parties if other != one]), 0)

    def rest_of_shares(one: str, cells: Cells) -> str:
        return to(100 - total(cells, [f"{other}_share" for other in parties if other != one]), 2)

    rules: Rules = {f"{one}_share": [partial(share, one), partial(rest_of_shares, one)] for one in parties}
    rules = {**rules, **{one: partial(rest, one) for one in parties}, "total": lambda c: to(total(c, parties), 0)}
    return made("districts", [row(name) for name in invented_names(rng, rows_of(number))], rules)


def one_hot(rng: Random, number: int) -> Made:
    """Eight kinds, each also as ten columns of 0 and 1; which kind it is follows from these, and they from it."""
    kinds = {f"k{place}": [invented(rng).lower() for _ in range(10)] for place in range(8)}

    def row(index: int) -> dict[str, str]:
        cells = {"number": str(index), "amount": measured(rng, 50, 20, 2)}
        chosen = {kind: rng.choices(names, range(1, 11))[0] for kind, names in kinds.items()}
        cells |= {f"{kind}_{one}": str(int(chosen[kind] == one)) for kind, names in kinds.items() for one in names}
        return cells | chosen

    def flag(kind: str, one: str, cells: Cells) -> str:
        return str(int(cells[kind] == one))

    def left(kind: str, one: str, cells: Cells) -> str:
        return str(1 - sum(int(cells[f"{kind}_{other}"]) for other in kinds[kind] if other != one))

    def which(kind: str, cells: Cells) -> str:
        return next(one for one in kinds[kind] if cells.get(f"{kind}_{one}") == "1")

    rules: dict[str, Sequence[Rule]] = {kind: [partial(which, kind)] for kind in kinds}
    for kind, names in kinds.items():
        rules |= {f"{kind}_{one}": [partial(flag, kind, one), partial(left, kind, one)] for one in names}
    return made("flags", [row(index) for index in range(rows_of(number))], rules)


def survey(rng: Random, number: int) -> Made:
    """96 answers in eight scales, every third of them reversed, with the mean of each scale and its grade."""
    scales = {f"s{scale}": [f"s{scale}_{item:02d}" for item in range(1, 13)] for scale in range(1, 9)}

    def turned(cells: Cells, name: str) -> Decimal:
        return 6 - num(cells, name) if int(name[-2:]) % 3 == 0 else num(cells, name)

    def mean(scale: str, cells: Cells) -> str:
        return to(sum((turned(cells, name) for name in scales[scale]), Decimal(0)) / 12, 2)

    def item(scale: str, name: str, cells: Cells) -> str:
        others = sum((turned(cells, one) for one in scales[scale] if one != name), Decimal(0))
        value = round(12 * num(cells, f"{scale}_mean") - others)
        return str(6 - value if int(name[-2:]) % 3 == 0 else value)

    def row(index: int) -> dict[str, str]:
        cells = {"person": str(4000 + index), "age": str(rng.randrange(18, 80)), "seconds": code(rng, 3)}
        for names in scales.values():
            trait = rng.gauss(3, 1)
            for name in names:
                answer = min(5, max(1, round(rng.gauss(trait, 0.7))))
                cells[name] = str(6 - answer if int(name[-2:]) % 3 == 0 else answer)
        return cells | {f"{scale}_mean": mean(scale, cells) for scale in scales}

    rules: dict[str, Rule] = {f"{scale}_mean": partial(mean, scale) for scale in scales}
    for scale, names in scales.items():
        rules |= {name: partial(item, scale, name) for name in names}
    return made("survey", [row(index) for index in range(rows_of(number))], rules)


def mixed(columns: int, sources: int, noise: float, decimals: int) -> Callable[[Random, int], Made]:
    """Columns that are each a weighted sum of a few sources that no column shows, with noise."""

    def make(rng: Random, number: int) -> Made:
        weights = [[rng.gauss(0, 1) for _ in range(sources)] for _ in range(columns)]
        middles = [rng.uniform(20, 90) for _ in range(columns)]

        def row(index: int) -> dict[str, str]:
            levels = [rng.gauss(0, 1) for _ in range(sources)]
            cells = {"reading": str(index)}
            for place, (middle, own) in enumerate(zip(middles, weights, strict=True)):
                value = middle + sum(w * level for w, level in zip(own, levels, strict=True)) + rng.gauss(0, noise)
                cells[f"c{place:03d}"] = to(value, decimals)
            return cells

        return made("channels", [row(index) for index in range(rows_of(number))])

    return make


KINDS = (
    Kind("spectra", "150 wave lengths, each between its neighbours", spectra),
    Kind("months", "48 months, totals of years", months),
    Kind("months alone", "48 months of an index, between their neighbours", only_months),
    Kind("running totals", "90 days, between their neighbours", cases),
    Kind("shares of many", "60 counts, their total and shares", shares),
    Kind("flags", "80 columns of 0 and 1 of eight kinds", one_hot),
    Kind("scales", "96 answers, means of eight scales", survey),
    Kind("channels", "100 columns of five hidden sources", mixed(100, 5, 0.04, 1)),
    Kind("genes", "250 columns of thirty hidden sources", mixed(250, 30, 0.3, 1)),
)
