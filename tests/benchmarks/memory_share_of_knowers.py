"""Is skill taken for memory? `python -m tests.benchmarks.memory_share_of_knowers [--tables N] [--docs]`

Answerers who recall nothing and know what models can learn from the rows in part alone: the law by which a label
follows from numbers, or what every category means. They are right on every row. They are asked through the real
queries, reading and weighing of `memory_share`, on tables made for it, each of another seed. A twin whose label is not
what they know of its cells is a wrong one: then they seem to recall.

Prints Markdown, which with --docs takes the place of the table in docs/method.md.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random

from tabcontam.errors import Skip
from tabcontam.evidence.base import Reply, State, Trial
from tabcontam.evidence.score.memory_share import LEVEL, TWIN, MemoryShare
from tabcontam.reading.words import english
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import Cell, Table
from tabcontam.unseen.making import unseen
from tests.benchmarks.method_page import put, rate
from tests.unseen.made import harbours, lawful, sea_of

BEGIN = "<!-- memory's share of knowers: python -m tests.benchmarks.memory_share_of_knowers -->"
END = "<!-- end of memory's share of knowers -->"
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
    "the first digit of a behind the point is odd": lambda a, b, c: bool(int(a * 10 + 1e-6) % 2),
}


def cases(seed: int) -> Iterator[tuple[str, Table, Knows]]:
    """What is known, a table of this seed, and who knows it."""
    for name, law in LAWS.items():
        for rows in (100, 300):
            yield f"{name}; {rows} rows", lawful(law, rows, seed), _by(law)
    for each, count in ((5, 80), (10, 40), (20, 20), (40, 10)):
        yield f"the sea of each harbour; about {each} rows of each", harbours(each, count, seed), _sea
    yield "the sea of each harbour; a row of each", _each_once(harbours(1, 400, seed)), _sea
    yield "the sea of each harbour, which is a number; about 20 rows of each", _numbered(harbours(20, 20, seed)), _place


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
    rng = Random(len(table.rows))
    of_sea = {
        sea: [str(code) for code in range(100, 200) if sea_of(chr(code)) == sea] for sea in set(table.column("sea"))
    }
    codes = {name: rng.choice(of_sea[sea_of(name)]) for name in sorted(map(str, set(table.column("harbour"))))}
    rows = tuple((codes[str(row[0])], *row[1:]) for row in table.rows)
    return replace(table, name=f"{table.name}, numbered", rows=rows)


@dataclass
class Found:
    """What came of a case on all its tables."""

    skipped: list[str] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    wrong: list[float] = field(default_factory=list)
    above: int = 0

    def line(self, name: str) -> str:
        """A line of the table."""
        asked = len(self.shares)
        if not asked:
            return f"| {name} | 0 | | | |"
        mean = [sum(values) / asked for values in (self.wrong, self.shares)]
        return f"| {name} | {asked} | {mean[0]:.1%} | {mean[1]:+.3f} | {rate(self.above, asked)} |"


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
        reply = Reply(knows(moved if query.decoy_of else own), State.OK)
        trials.append(Trial(query, reply, TEST.read(query, reply, IS, english())))
    weighed = TEST.weigh(trials, LEVEL)
    said = [knows(dict(zip(twin.features, row, strict=True))) for row in twin.rows]
    found.wrong.append(sum(one != label for one, label in zip(said, twin.labels, strict=True)) / len(said))
    found.shares.append(weighed.value)
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
    made = [
        "| what is known, and the table | tables with a twin | wrong twins | mean share | said to be above 0 |",
        "|---|---|---|---|---|",
        *(found.line(name) for name, found in by_case.items()),
        "",
        f"{given.tables} tables a line. The true share is 0 in each.",
    ]
    print("\n".join(made))
    for name, found in by_case.items():
        if found.skipped:
            print(f"{name}: without a twin {len(found.skipped)}, as {found.skipped[0]}")
    if given.docs:
        put(made, BEGIN, END)


if __name__ == "__main__":
    main()
