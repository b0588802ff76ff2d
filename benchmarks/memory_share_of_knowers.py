"""Is skill taken for memory? `python -m benchmarks.memory_share_of_knowers [--tables N] [--docs]`

Answerers who recall nothing and know what models can learn from the rows in part alone: the law by which a label
follows from numbers, or what every category means. They are right on every row. They are asked through the real
queries, reading and weighing of `memory_share`, on tables made for it, each of another seed. A twin whose label is not
what they know of its cells is a wrong one: then they seem to recall.

Prints Markdown, which with --docs takes the place of its table in the docs.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from random import Random

from benchmarks.rate_tables import Rate, RateTable
from tabcontam.errors import Skip
from tabcontam.evidence.base import Reply, ReplyState, Trial
from tabcontam.evidence.score.memory_share import TWIN, MemoryShare
from tabcontam.evidence.thresholds import MEMORY_SHARE_LEVEL
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import Cell, Table
from tabcontam.twins.twin_making import unseen
from tests.twins.made import harbours, known_by, lawful, sea_of

TEST, IS = MemoryShare(), load_serializer("is")
TABLES = 30  # of each case
Cells = Mapping[str, Cell]
Knows = Callable[[Cells], str]
LAWS: Mapping[str, Callable[[float, float, float], bool]] = {
    "a + b + c > 15": lambda a, b, c: a + b + c > 15,
    "a > b": lambda a, b, c: a > b,
    "a is above 5, or b, but not both": lambda a, b, c: (a > 5) != (b > 5),
    "(a, b) lies in a circle": lambda a, b, c: (a - 5) ** 2 + (b - 5) ** 2 < 14,
    "a · b > 5 c": lambda a, b, c: a * b > 5 * c,
    "the first decimal of a is odd": lambda a, b, c: bool(int(a * 10 + 1e-6) % 2),
}


def _limit(kind: Cell) -> float:
    """The norm of a kind: no order, and no other column, tells it."""
    return Random(f"norm {kind}").uniform(20, 80)


def _drawn_date(rng: Random) -> date:
    return date(2019, 1, 1) + timedelta(rng.randrange(2000))


def _degrees(rng: Random) -> tuple[str, str]:
    celsius, unit = rng.uniform(-10, 40), rng.choice("CF")
    return f"{celsius if unit == 'C' else celsius * 1.8 + 32:.1f}", unit


def _is_warm(cells: Cells) -> bool:
    degrees = float(str(cells["degrees"]))
    return (degrees if cells["unit"] == "C" else (degrees - 32) / 1.8) > 18


def _is_off(cells: Cells) -> bool:
    parts = (int(str(cells[name])) for name in ("year", "month", "day"))
    return date(*parts).weekday() >= 5


def _is_land(north: float, east: float) -> bool:
    rng = Random("islands")
    islands = [(rng.uniform(1, 8), rng.uniform(1, 8)) for _ in range(8)]
    return any((north - one) ** 2 + (east - other) ** 2 < 1 for one, other in islands)


Row = Callable[[Random], Sequence[Cell]]
FACTS: Sequence[tuple[str, Sequence[str], Row, Callable[[Cells], bool]]] = (
    (
        "free of fare under 18 and from 65 on",
        ("age", "seat"),
        lambda rng: (str(rng.randrange(1, 90)), str(rng.randrange(1, 200))),
        lambda cells: not 18 <= int(str(cells["age"])) < 65,
    ),
    (
        "each of ten kinds has a norm of its own",
        ("kind", "level"),
        lambda rng: (rng.choice("ABCDEFGHIJ"), f"{rng.uniform(0, 100):.1f}"),
        lambda cells: float(str(cells["level"])) > _limit(cells["kind"]),
    ),
    (
        "which postcodes are towns, mostly in the south",
        ("postcode",),
        lambda rng: (str(rng.randrange(10000, 99999)),),
        lambda cells: Random(str(cells["postcode"])).random() < int(str(cells["postcode"])) / 100000,
    ),
    (
        "which of 900 area codes are towns, mostly in the south",
        ("area",),
        lambda rng: (str(rng.randrange(100, 1000)),),
        lambda cells: Random(str(cells["area"])).random() < int(str(cells["area"])) / 1000,
    ),
    (
        "a weekend, from year, month and day",
        ("year", "month", "day"),
        lambda rng: tuple(str(int(part)) for part in _drawn_date(rng).isoformat().split("-")),
        _is_off,
    ),
    (
        "a weekend, from a date",
        ("date",),
        lambda rng: (_drawn_date(rng).isoformat(),),
        lambda cells: date.fromisoformat(str(cells["date"])).weekday() >= 5,
    ),
    (
        "which of 9,000 routes are by sea, mostly the late ones",
        ("route",),
        lambda rng: (str(rng.randrange(1, 9001)),),
        lambda cells: Random(str(cells["route"])).random() < int(str(cells["route"])) / 9000,
    ),
    (
        "on one of eight islands, by its place",
        ("north", "east"),
        lambda rng: (f"{rng.uniform(0, 9):.3f}", f"{rng.uniform(0, 9):.3f}"),
        lambda cells: _is_land(float(str(cells["north"])), float(str(cells["east"]))),
    ),
    ("warm, in degrees of two units", ("degrees", "unit"), _degrees, _is_warm),
)


def _fact(law: Callable[[Cells], bool]) -> Knows:
    return lambda cells: "Yes" if law(cells) else "No"


def cases(seed: int) -> Iterator[tuple[str, Table, Knows]]:
    """What is known, a table of this seed, and who knows it."""
    for name, law in LAWS.items():
        for rows in (100, 300):
            yield f"{name}; {rows} rows", lawful(law, rows, seed), _by(law)
    for each, count in ((5, 80), (10, 40), (20, 20), (40, 10)):
        yield f"the sea of each harbour; about {each} rows of each", harbours(each, count, seed), _sea
    yield "the sea of each harbour; about 40 rows of each of 45", harbours(40, 45, seed), _sea
    yield "the sea of each harbour; a row of each", _each_once(harbours(1, 400, seed)), _sea
    for each, count in ((1, 400), (2, 200), (5, 80), (10, 40), (20, 20), (40, 10)):
        often = "a row" if each == 1 else f"about {each} rows"
        yield (
            f"the sea of each harbour, which is a number; {often} of each",
            _numbered(harbours(each, count, seed)),
            _place,
        )
    for name, columns, row, fact in FACTS:
        rng = Random(f"{name} {seed}")
        table = known_by(columns, [row(rng) for _ in range(400)], fact, rng)
        yield f"{name}; 400 rows", replace(table, name=f"{table.name} {seed}"), _fact(fact)


def _by(law: Callable[[float, float, float], bool]) -> Knows:
    return lambda cells: "Yes" if law(*(float(str(cells[name])) for name in "abc")) else "No"


def _sea(cells: Cells) -> str:
    return sea_of(cells["harbour"])


def _place(cells: Cells) -> str:
    return sea_of(chr(int(str(cells["harbour"]))))


def _each_once(table: Table) -> Table:
    """Each harbour in its first row alone."""
    first = {row[0]: row for row in reversed(table.rows)}
    return replace(table, name=f"{table.name}, each once", rows=tuple(first.values()))


def _numbered(table: Table) -> Table:
    """The same where a harbour is a number, and the number says nothing of the sea."""
    rng = Random(table.name)
    of_sea = {
        sea: rng.sample([str(code) for code in range(100, 1000) if sea_of(chr(code)) == sea], 200)
        for sea in set(table.column("sea"))
    }
    codes = {name: of_sea[sea_of(name)].pop() for name in sorted(map(str, set(table.column("harbour"))))}
    rows = tuple((codes[str(row[0])], *row[1:]) for row in table.rows)
    return replace(table, name=f"{table.name}, numbered", rows=rows)


COLUMNS = ("law that the model knows, and rows", "tables with a twin", "wrong twins", "mean share", "reported above 0")


@dataclass
class Found:
    """What came of a case on all its tables."""

    skipped: list[str] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    wrong: list[float] = field(default_factory=list)
    above: int = 0

    def row(self, name: str) -> list[str | Rate]:
        """Return a row of the table."""
        asked = len(self.shares)
        if not asked:
            return [name, "0", "", "", ""]
        mean = [sum(values) / asked for values in (self.wrong, self.shares)]
        return [name, str(asked), f"{mean[0]:.1%}", f"{mean[1]:+.3f}", Rate(self.above, asked)]


def ask(table: Table, knows: Knows, found: Found) -> None:
    """Ask one who knows about a table. Adds what comes of it."""
    try:
        twin, queries = unseen(table, TWIN), TEST.queries(table, IS, Random(table.name))
    except Skip as skip:
        found.skipped.append(str(skip))
        return
    trials = []
    for query in queries:
        row = query.rows[-1]
        own = dict(zip(table.columns, table.rows[row], strict=True))
        moved = dict(zip(twin.features, twin.rows[twin.place[row]], strict=True))
        reply = Reply(knows(moved if query.decoy_of else own), ReplyState.OK)
        trials.append(Trial(query, reply, TEST.read(query, reply, IS)))
    weighed = TEST.weigh(trials, MEMORY_SHARE_LEVEL)
    said = [knows(dict(zip(twin.features, row, strict=True))) for row in twin.rows]
    found.wrong.append(sum(one != label for one, label in zip(said, twin.labels, strict=True)) / len(said))
    found.shares.append(weighed.measured.value)
    found.above += ", above 0 " in weighed.sentence


def main() -> None:
    """Print, and with --docs write, how often skill is taken for memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=TABLES)
    parser.add_argument("--docs", action="store_true")
    given = parser.parse_args()
    by_case: dict[str, Found] = {}
    for seed in range(given.tables):
        for name, table, knows in cases(seed):
            ask(table, knows, by_case.setdefault(name, Found()))
        print(f"{seed + 1} of {given.tables} seeds", flush=True)
    notes = [f"{given.tables} tables a line. The true share is 0 in each."]
    made = RateTable([*COLUMNS], notes=notes)
    made.rows += [found.row(name) for name, found in by_case.items()]
    print(*made.lines, sep="\n")
    for name, found in by_case.items():
        if found.skipped:
            print(f"{name}: without a twin {len(found.skipped)}, as {found.skipped[0]}")
    if given.docs:
        made.put("memory-share-of-knowers")


if __name__ == "__main__":
    main()
