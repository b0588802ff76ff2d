"""Tables of 200 to 2,000 rows whose cells follow from what rows of a kind share: rates, cells together, pieces."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from random import Random

from benchmarks.skills.made import Cells, Kind, Made, Rule, Rules, code, filled, made, measured, num, to
from benchmarks.skills.words import invented, invented_names, person

ROWS = (300, 1000, 2000, 500, 1500, 200)
EACH = 6  # rows of a kind, on average
LEAST = 3  # at least
BROKEN = 0.1  # of the cells, where some break a rule


def rows_of(number: int) -> int:
    """How many rows the table of this number has."""
    return ROWS[number % len(ROWS)]


def often(rows: Sequence[dict[str, str]], *keys: Callable[[Cells], object]) -> list[dict[str, str]]:
    """The rows whose keys at least so many other rows share that these tell what follows."""
    kept = list(rows)
    for key in keys:
        counts = Counter(map(key, kept))
        kept = [row for row in kept if counts[key(row)] >= LEAST]
    return kept


def rates(rng: Random, number: int) -> Made:
    """A tax, a fee and a levy at the rates of the row's state."""
    rows = rows_of(number)
    states = invented_names(rng, rows // EACH, 1) if rows // EACH < 150 else invented_names(rng, rows // EACH)
    known = {
        name: {one: Decimal(rng.randrange(10, 1999)) / 10_000 for one in ("tax", "fee", "levy")} for name in states
    }

    def rate(one: str, cells: Cells) -> str:
        return to(num(cells, "amount") * known[cells["state"]][one])

    rules: Rules = {one: partial(rate, one) for one in ("tax", "fee", "levy")}

    def row(index: int) -> dict[str, str]:
        cells = {"number": str(index), "age": str(rng.randrange(18, 90)), "state": rng.choice(states)}
        cells["amount"] = to(rng.lognormvariate(6, 1))
        return cells | {one: rate(one, cells) for one in rules}

    return made("invoices", often([row(index) for index in range(rows)], lambda c: c["state"]), rules)


def fees(rng: Random, number: int) -> Made:
    """A price of weight times a zone's rate, a duty, and a surcharge that is added by carrier; one in ten breaks it."""
    rows = rows_of(number)
    zones, carriers = invented_names(rng, rows // EACH, 2), invented_names(rng, max(3, rows // 20), 2)
    per_kg = {zone: Decimal(rng.randrange(150, 9999)) / 100 for zone in zones}
    duty = {zone: Decimal(rng.randrange(10, 400)) / 1000 for zone in zones}
    more = {one: Decimal(rng.randrange(100, 9999)) / 100 for one in carriers}
    rules: dict[str, Rule] = {
        "freight": lambda c: to(num(c, "kg") * per_kg[c["zone"]]),
        "duty": lambda c: to(num(c, "value") * duty[c["zone"]]),
        "paid": lambda c: to(num(c, "value") + more[c["carrier"]]),
    }

    def row(index: int) -> dict[str, str]:
        cells = {"parcel": code(rng, 6), "zone": rng.choice(zones), "carrier": rng.choice(carriers)}
        cells |= {"kg": to(rng.lognormvariate(2, 0.8), 1), "value": to(rng.lognormvariate(5, 1))}
        for name, rule in rules.items():
            cells[name] = to(rng.lognormvariate(5, 1)) if rng.random() < BROKEN else rule(cells) or ""
        return cells

    return made(
        "parcels", often([row(index) for index in range(rows)], lambda c: c["zone"], lambda c: c["carrier"]), rules
    )


def _facts(rng: Random, keys: Sequence[object], names: Sequence[str]) -> dict[str, dict[object, str]]:
    pools = {name: invented_names(rng, 12) for name in names}
    return {name: {key: rng.choice(pools[name]) for key in keys} for name in names}


def _rules_of(facts: dict[str, dict[object, str]], key: Callable[[Cells], object]) -> dict[str, Rule]:
    return {name: partial(lambda own, c: own.get(key(c)), own) for name, own in facts.items()}


def three(rng: Random, number: int) -> Made:
    """A supplier, a town and an agent by shop, season and size together."""
    rows = rows_of(number)
    sides = max(3, round((rows / EACH) ** (1 / 3)))
    keys: list[object] = [(a, b, c) for a in range(sides) for b in range(sides) for c in range(sides)]
    facts = _facts(rng, keys, ("supplier", "town", "agent"))
    rules = _rules_of(facts, lambda c: (int(c["shop"][1:]), int(c["season"][1:]), int(c["size"][1:])))

    def row(index: int) -> dict[str, str]:
        cells = {"id": str(index), "age": str(rng.randrange(18, 90)), "weight": code(rng, 3)}
        cells |= {name: f"{name[0]}{rng.randrange(sides)}" for name in ("shop", "season", "size")}
        return cells | {name: rule(cells) or "" for name, rule in rules.items()}

    return made(
        "stock", often([row(index) for index in range(rows)], lambda c: (c["shop"], c["season"], c["size"])), rules
    )


def prices(rng: Random, number: int) -> Made:
    """A price, a weight and a stock place by the first letter of a code and a size: numbers of one's own each."""
    rows, letters = rows_of(number), "ABCDEFGHJKLMNPQRSTUVWXYZ"
    sizes = ("XS", "S", "M", "L", "XL", "XXL")[: max(2, min(6, rows_of(number) // (EACH * 24)))]
    keys: list[object] = [(letter, size) for letter in letters for size in sizes]
    known = {key: {"price": to(rng.uniform(3, 400)), "grams": code(rng, 4), "shelf": code(rng, 3)} for key in keys}
    names = ("price", "grams", "shelf")
    rules: dict[str, Rule] = {
        name: partial(lambda name, c: known[c["code"][0], c["size"]][name], name) for name in names
    }

    def row(index: int) -> dict[str, str]:
        cells = {"order": str(index), "code": f"{rng.choice(letters)}{code(rng, 5)}", "size": rng.choice(sizes)}
        cells |= {"pieces": str(rng.randrange(1, 60)), "clerk": person(rng)[1]}
        return cells | {name: rule(cells) or "" for name, rule in rules.items()}

    return made("articles", often([row(index) for index in range(rows)], lambda c: (c["code"][0], c["size"])), rules)


def accounts(rng: Random, number: int) -> Made:
    """A branch, a manager and a region by four digits in the middle of an account's number."""
    rows = rows_of(number)
    branches = [code(rng, 4) for _ in range(rows // EACH)]
    facts = _facts(rng, list(branches), ("branch", "manager", "region"))
    rules = _rules_of(facts, lambda c: c["account"][3:7])

    def row(index: int) -> dict[str, str]:
        cells = {"id": str(index), "account": f"{code(rng, 3)}{rng.choice(branches)}{code(rng, 4)}"}
        cells |= {"age": str(rng.randrange(18, 90)), "balance": to(rng.lognormvariate(6, 1))}
        return cells | {name: rule(cells) or "" for name, rule in rules.items()}

    return made("accounts", often([row(index) for index in range(rows)], lambda c: c["account"][3:7]), rules)


def exchange(rng: Random, number: int) -> Made:
    """A rate and two converted amounts by the day of a time stamp and a currency."""
    rows = rows_of(number)
    currencies = invented_names(rng, 5, 1)
    days = [date(2021, 3, 1) + timedelta(place) for place in range(max(5, rows // (EACH * 5)))]
    start = {one: rng.lognormvariate(1, 1.5) for one in currencies}
    known = {}
    for one in currencies:
        for day in days:
            start[one] *= 1 + rng.gauss(0, 0.01)
            known[day.isoformat(), one] = to(start[one], 4)

    def rate(cells: Cells) -> str:
        return known[cells["time"][:10], cells["currency"]]

    amounts: Rules = {
        "converted": lambda c: to(num(c, "amount") * Decimal(rate(c))),
        "charge": lambda c: to(num(c, "deposit") * Decimal(rate(c))),
    }
    rules = amounts if number % 2 else {"rate": rate, **amounts}  # of some tables the rate itself is not told

    def row(index: int) -> dict[str, str]:
        clock = f"{rng.randrange(24):02d}:{rng.randrange(60):02d}:{rng.randrange(60):02d}"
        cells = {"id": str(index), "time": f"{rng.choice(days)} {clock}", "currency": rng.choice(currencies)}
        cells |= {"amount": to(rng.lognormvariate(6, 1)), "deposit": to(rng.lognormvariate(4, 1))}
        return filled(cells, rules, rules)

    return made(
        "transfers", often([row(index) for index in range(rows)], lambda c: (c["time"][:10], c["currency"])), rules
    )


def countries(rng: Random, number: int) -> Made:
    """Population, domestic product and head of state by the year of a date and a country."""
    rows = rows_of(number)
    places = invented_names(rng, max(4, rows // (EACH * 6)), 1)
    years = range(2010, 2016)
    known = {
        (year, place): (code(rng, 7), measured(rng, 4e5, 1e5, 1), invented(rng)) for year in years for place in places
    }

    def fact(which: int, cells: Cells) -> str:
        return known[int(cells["held"][-4:]), cells["country"]][which]

    names = ("population", "product", "president")
    rules: Rules = {name: partial(fact, which) for which, name in enumerate(names)}

    def row(index: int) -> dict[str, str]:
        day = date(rng.choice(years), rng.randrange(1, 13), rng.randrange(1, 28))
        cells = {"survey": code(rng, 5), "country": rng.choice(places), "held": day.strftime("%d/%m/%Y")}
        cells |= {"asked": code(rng, 4), "score": measured(rng, 50, 12)}
        return cells | {name: fact(which, cells) for which, name in enumerate(names)}

    return made(
        "surveys", often([row(index) for index in range(rows)], lambda c: (c["held"][-4:], c["country"])), rules
    )


def meters(rng: Random, number: int) -> Made:
    """Readings of meters: each lies between those before and after it at its station, by date."""
    rows = rows_of(number)
    stations = invented_names(rng, max(15, rows // 25), 1 if rows < 1500 else 2)
    began = {
        one: (rng.uniform(100, 9000), rng.uniform(0.5, 4), rng.uniform(1, 30), rng.uniform(0.2, 3)) for one in stations
    }
    drawn = [(rng.choice(stations), rng.randrange(1000), code(rng, 5)) for _ in range(rows)]

    def reading(one: str, day: int, which: int) -> int:
        first, slope, gas, more = began[one]
        return round(first + slope * day) if which == 0 else round(gas + more * day)

    def row(index: int, one: str, day: int, seal: str) -> dict[str, str]:
        cells = {"station": one, "read": (date(2018, 1, 1) + timedelta(day)).isoformat(), "seal": seal}
        return cells | {"power": str(reading(one, day, 0)), "gas": str(reading(one, day, 1)), "clerk": person(rng)[1]}

    def told(which: int, cells: Cells) -> str:
        return str(reading(cells["station"], (date.fromisoformat(cells["read"]) - date(2018, 1, 1)).days, which))

    rules: Rules = {"power": partial(told, 0), "gas": partial(told, 1)}
    return made("meters", [row(index, *one) for index, one in enumerate(drawn)], rules)


KINDS = (
    Kind("rates of states", "tax, fee and levy by state, six rows of each", rates),
    Kind("rates of zones", "freight, duty and surcharge, a tenth broken", fees),
    Kind("three together", "supplier, town, agent by three cells", three),
    Kind("letter and size", "price, weight, shelf by a first letter and a size", prices),
    Kind("middles of codes", "branch, manager, region by four digits of ten", accounts),
    Kind("exchange", "rate by the day of a time and a currency", exchange),
    Kind("year and country", "population, product, president", countries),
    Kind("meters", "readings that lie between others by date", meters),
)
