"""Tables of facts that the world knows: cities, countries, elements."""

from random import Random

from benchmarks.skills.commerce import rows_of
from benchmarks.skills.made import Kind, Made, Rules, code, looked_up, made, measured
from benchmarks.skills.words import FACTS, person


def states() -> dict[str, str]:
    """The state of each city."""
    return {city: state for state, cities in FACTS["cities"].items() for city in cities.split()}


def countries() -> list[list[str]]:
    """Country, capital, currency, telephone prefix and code of each country."""
    return [line.strip().split(",") for line in FACTS["countries"]["all"].split(";")]


def elements() -> list[tuple[str, str]]:
    """Symbol and weight of each element, in the order of the atomic number."""
    words = FACTS["elements"]["all"].split()
    return list(zip(words[::2], words[1::2], strict=True))


def city_once(rng: Random, number: int) -> Made:
    """Each city once, with its state."""
    state = states()

    def row(city: str) -> dict[str, str]:
        cells = {"store": code(rng, 4), "city": city, "state": state[city]}
        return cells | {"sales": str(rng.randrange(900, 90_000)), "rating": measured(rng, 3.6, 0.5, 2)}

    rows = [row(city) for city in rng.sample(list(state), 130)]
    return made("stores", rows, {"state": looked_up(state, "city")})


def city_often(rng: Random, number: int) -> Made:
    """Customers with city and state: cities stand in several rows."""
    state = states()

    def row() -> dict[str, str]:
        city = rng.choice(list(state))
        cells = {"customer": code(rng, 5), "last": person(rng)[1], "city": city, "state": state[city]}
        return cells | {"income": str(rng.randrange(18_000, 140_000)), "visits": str(rng.randrange(0, 40))}

    rows = [row() for _ in range((400, 150, 1_000, 2_000)[number % 4])]
    return made("customers", rows, {"state": looked_up(state, "city")})


def capitals(rng: Random, number: int) -> Made:
    """Countries with their capitals."""
    capital = {country: city for country, city, *_ in countries()}
    country_of = {city: country for country, city in capital.items()}

    def row(country: str) -> dict[str, str]:
        cells = {"office": code(rng, 4), "country": country, "capital": capital[country]}
        return cells | {"staff": str(rng.randrange(3, 900)), "rent": measured(rng, 40, 11, 2)}

    rows = [row(country) for country in rng.sample(list(capital), len(capital))]
    rules: Rules = {"capital": looked_up(capital, "country"), "country": looked_up(country_of, "capital")}
    return made("offices", rows, rules)


def country_codes(rng: Random, number: int) -> Made:
    """Countries with currency, telephone prefix and code: columns of one entity, besides what was measured."""
    by = {country: dict(zip(("currency", "prefix", "iso"), rest, strict=True)) for country, _, *rest in countries()}
    country_of = {own["iso"]: country for country, own in by.items()}

    def row(country: str) -> dict[str, str]:
        cells = {"country": country, **by[country]}
        return cells | {"parcels": str(rng.randrange(40, 9_000)), "days": measured(rng, 9, 2.5), "weight": code(rng, 4)}

    facts = {name: {country: own[name] for country, own in by.items()} for name in ("currency", "prefix", "iso")}
    rules: Rules = {name: looked_up(found, "country") for name, found in facts.items()}
    rows = [row(country) for country in rng.sample(list(by), len(by))]
    return made("shipments", rows, {"country": looked_up(country_of, "iso"), **rules})


def phones(rng: Random, number: int) -> Made:
    """Customers of many countries: the telephone number begins with the country's prefix."""
    prefix = {country: number for country, _, _, number, _ in countries()[:40]}
    country_of = {number: country for country, number in prefix.items()}

    def row() -> dict[str, str]:
        country = rng.choice(list(prefix))
        cells = {"client": person(rng)[1], "orders": str(rng.randrange(1, 90)), "spent": measured(rng, 300, 90, 2)}
        begins = f"+{prefix[country]}"
        return cells | {"country": country, "prefix": begins, "phone": f"{begins} {code(rng, 7)}"}

    rules: Rules = {
        "prefix": (lambda c: c["phone"].split()[0], lambda c: f"+{prefix[c['country']]}"),
        "country": lambda c: country_of.get(c["prefix"][1:]),
    }
    return made("clients", [row() for _ in range(rows_of(number))], rules)


def periodic(rng: Random, number: int) -> Made:
    """Elements in order: symbol and weight follow from the atomic number."""
    every = elements()
    symbol = {str(place + 1): one for place, (one, _) in enumerate(every)}
    weight = dict(every)
    number_of = {one: place for place, one in symbol.items()}
    rows = [
        {"number": str(place + 1), "symbol": one, "weight": mass, "stock": measured(rng, 50, 15), "shelf": code(rng, 3)}
        for place, (one, mass) in enumerate(every)
    ]
    rules: Rules = {
        "symbol": looked_up(symbol, "number"),
        "weight": looked_up(weight, "symbol"),
        "number": looked_up(number_of, "symbol"),
    }
    return made("chemicals", rows, rules, lambda before: {"number": str(int(before[-1]["number"]) + 1)})


KINDS = (
    Kind("cities, each once", "state by city, 130 rows", city_once),
    Kind("cities of customers", "state by city, 150 to 2,000 rows", city_often),
    Kind("capitals", "capital by country", capitals),
    Kind("country codes", "currency, prefix and code of a country", country_codes, facts=True),
    Kind("telephone numbers", "their prefix by country", phones),
    Kind("elements", "symbol and weight by atomic number", periodic, few="all columns follow from one", facts=True),
)
