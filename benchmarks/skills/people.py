"""Tables of people and of texts: strings made of others, what a name says, facts about an invented world."""

import re
from collections.abc import Sequence
from datetime import date, timedelta
from random import Random

from benchmarks.skills.commerce import rows_of
from benchmarks.skills.made import Cells, Kind, Made, Rules, code, filled, looked_up, made, measured
from benchmarks.skills.words import MEN, SURNAMES, WOMEN, WORDS, invented_names, person

DEPARTMENTS = ("IT", "HR", "FIN", "LAW", "OPS", "R&D")
TITLES = {"Mr.": "male", "Master.": "male", "Mrs.": "female", "Miss.": "female"}


def staff(rng: Random, number: int) -> Made:
    """Staff: e-mail address and user name are made of the name."""
    domain = rng.choice(("example.org", "zandbank.com", "northwind.net"))
    rules: Rules = {
        "email": lambda c: f"{c['first'].lower()}.{c['last'].lower()}@{domain}",
        "user": lambda c: f"{c['first'][0]}{c['last']}"[:8].lower(),
        "initials": lambda c: f"{c['first'][0]}{c['last'][0]}",
        "first": lambda c: c["email"].partition(".")[0].capitalize(),
        "last": lambda c: c["email"].partition("@")[0].partition(".")[2].capitalize(),
    }

    def row() -> dict[str, str]:
        first, last = person(rng)
        cells = {"badge": code(rng, 5), "first": first, "last": last, "salary": str(rng.randrange(28_000, 120_000))}
        cells |= {"extension": code(rng, 4)}
        return filled(cells, rules, ("email", "user", "initials"))

    return made("staff", [row() for _ in range(rows_of(number))], rules)


def codes(rng: Random, number: int) -> Made:
    """Projects: their code is made of department, year and number."""

    def row() -> dict[str, str]:
        department, year, own = rng.choice(DEPARTMENTS), str(rng.randrange(1998, 2024)), code(rng, 4)
        cells = {"department": department, "year": year, "number": own, "code": f"{department}-{year}-{own}"}
        return cells | {"budget": str(rng.randrange(900, 90_000)), "hours": str(rng.randrange(10, 2_000))}

    rules: Rules = {
        "code": lambda c: f"{c['department']}-{c['year']}-{c['number']}",
        "department": lambda c: c["code"].split("-")[0],
        "year": lambda c: c["code"].split("-")[1],
        "number": lambda c: c["code"].split("-")[2],
    }
    return made("projects", [row() for _ in range(rows_of(number))], rules)


def slugs(rng: Random, number: int) -> Made:
    """Articles: slug, initials and number of words of a title."""
    rules: Rules = {
        "slug": lambda c: c["title"].lower().replace(" ", "-"),
        "short": lambda c: "".join(word[0].upper() for word in c["title"].split()),
        "letters": lambda c: str(len(c["title"])),
        "title": lambda c: c["slug"].replace("-", " ").capitalize(),
    }

    def row() -> dict[str, str]:
        cells = {"page": code(rng, 4), "views": str(rng.randrange(3, 90_000)), "shares": str(rng.randrange(0, 900))}
        cells["title"] = " ".join(rng.sample(WORDS, rng.randrange(2, 5))).capitalize()
        return filled(cells, rules, ("slug", "short", "letters"))

    return made("articles", [row() for _ in range(rows_of(number))], rules)


def first_names(rng: Random, number: int) -> Made:
    """First names and sex."""
    sex = dict.fromkeys(WOMEN, "female") | dict.fromkeys(MEN, "male")

    def row() -> dict[str, str]:
        first = rng.choice(list(sex))
        cells = {"first": first, "age": str(rng.randrange(18, 90)), "pulse": str(rng.randrange(50, 110))}
        return cells | {"lung_volume": measured(rng, 4.5, 0.8, 2), "sex": sex[first]}

    rows = [row() for _ in range((150, 400)[number % 2])]
    return made("volunteers", rows, {"sex": looked_up(sex, "first")})


def titles(rng: Random, number: int) -> Made:
    """Names with titles, and sex."""

    def sex(cells: Cells) -> str:
        found = re.search(r", (\w+\.)", cells["name"])
        return TITLES[found[1] if found else ""]

    def row() -> dict[str, str]:
        title = rng.choices(list(TITLES), (55, 5, 22, 18))[0]
        first = rng.choice(WOMEN if TITLES[title] == "female" else MEN)
        cells = {"name": f"{rng.choice(SURNAMES)}, {title} {first}", "age": str(rng.randrange(1, 80))}
        cells |= {"cabin": f"{rng.choice('ABCDEF')}{rng.randrange(1, 130)}", "paid": measured(rng, 40, 12, 2)}
        return cells | {"sex": TITLES[title]}

    return made("passengers", [row() for _ in range(rows_of(number))], {"sex": sex})


def _born(rng: Random) -> str:
    return (date(1980, 1, 1) + timedelta(rng.randrange(9_000))).isoformat()


def birthdays(rng: Random, number: int) -> Made:
    """Players whose birthdays are known to the world; the rest is of one season."""
    names = invented_names(rng, rows_of(number))
    born = {name: _born(rng) for name in names}
    who = {day: name for name, day in born.items()}

    def row(name: str) -> dict[str, str]:
        cells = {"player": name, "born": born[name], "minutes": str(rng.randrange(40, 3_200))}
        return cells | {"passes": str(rng.randrange(10, 2_400)), "rating": measured(rng, 6.8, 0.5, 2)}

    rows = [row(name) for name in names]
    return made("season", rows, {"born": looked_up(born, "player"), "player": looked_up(who, "born")})


def _players(rng: Random, count: int, facts: Sequence[str]) -> tuple[list[dict[str, str]], Rules]:
    """Players with these facts about them, and the rules of who knows the players."""
    names = invented_names(rng, count)
    clubs, nations = invented_names(rng, 20, 1), invented_names(rng, 12, 1)

    def known() -> dict[str, str]:
        own = {"born": _born(rng), "club": rng.choice(clubs), "nation": rng.choice(nations)}
        return own | {"height": str(rng.randrange(165, 203))}

    rows = [{"player": name, **{fact: cell for fact, cell in known().items() if fact in facts}} for name in names]
    by_fact = {fact: {row["player"]: row[fact] for row in rows} for fact in facts}
    who = {row["born"]: row["player"] for row in rows}
    return rows, {"player": looked_up(who, "born"), **{fact: looked_up(by_fact[fact], "player") for fact in facts}}


def players(rng: Random, number: int) -> Made:
    """Players whose birthday, club, height and nation are known to the world: a table of facts about one entity."""
    rows, rules = _players(rng, rows_of(number), ("born", "club", "nation", "height"))
    return made("players", rows, rules)


def squads(rng: Random, number: int) -> Made:
    """Players whose birthday and club are known to the world, with what they did in one season."""
    rows, rules = _players(rng, rows_of(number), ("born", "club"))
    for row in rows:
        row |= {"minutes": str(rng.randrange(40, 3_200)), "passes": str(rng.randrange(10, 2_400))}
    return made("squads", rows, rules)


def teams(rng: Random, number: int) -> Made:
    """Matches: a team's home city and stadium are known."""
    names = invented_names(rng, 40, 1)
    city = {name: invented_names(rng, 1, 1)[0] for name in names}
    stadium = {name: f"{rng.choice(WORDS).capitalize()} {rng.choice(('Park', 'Arena', 'Field'))}" for name in names}

    def row(index: int) -> dict[str, str]:
        home, away = rng.sample(names, 2)
        cells = {"home": home, "away": away, "city": city[home], "stadium": stadium[home]}
        return cells | {"spectators": str(rng.randrange(900, 60_000)), "shots": str(rng.randrange(4, 40))}

    rows = [row(index) for index in range(rows_of(number))]
    return made("matches", rows, {"city": looked_up(city, "home"), "stadium": looked_up(stadium, "home")})


KINDS = (
    Kind("staff", "e-mail address, user name, initials", staff),
    Kind("codes", "IT-2004-1017", codes),
    Kind("slugs", "slug, initials and length of a title", slugs),
    Kind("first names", "sex by first name", first_names),
    Kind("titles", "sex by title", titles),
    Kind("birthdays", "birthdays of players, one column of facts", birthdays),
    Kind(
        "players", "birthday, club, nation, height of players", players, few="all columns follow from one", facts=True
    ),
    Kind("squads", "birthday and club of players, and their season", squads, facts=True),
    Kind("teams", "city and stadium of a team", teams),
)
