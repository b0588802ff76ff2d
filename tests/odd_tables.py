"""Odd tables: ties, constants, duplicates, sorted columns, and whatever else a guesser may take for something else.

Each kind makes rows from a seeded generator. Nothing in them can be known to who did not see them.
"""

from collections.abc import Callable, Mapping
from random import Random

from benchmarks.skills.made import table_of
from tabcontam.tables.table import Cell, Table

SIZES = (10, 20, 25, 40, 64, 100, 160)  # rows
COLUMNS = ("alda", "brin", "corv", "dost", "elun")
WORDS = ("zor", "kelm", "ipat", "unthe", "vask", "morl", "quey", "obri")
Rows = list[list[Cell]]
Kind = Callable[[Random, int], Rows]


def odd_table(kind: str, rows: int, number: int = 0) -> Table:
    """The table of a kind with so many rows. Raises KeyError for an unknown kind."""
    cells = KINDS[kind](Random(f"{kind} {rows} {number}"), rows)
    names = COLUMNS if len(cells[0]) <= len(COLUMNS) else tuple(f"q{place}" for place in range(len(cells[0])))
    return table_of(f"odd_{kind.replace(' ', '_')}", [dict(zip(names, row, strict=False)) for row in cells])


def _each(cell: Callable[[Random, int, int], Cell], columns: int = 5) -> Kind:
    """A kind whose cells come from generator, row and column."""
    return lambda rng, rows: [[cell(rng, row, place) for place in range(columns)] for row in range(rows)]


def _number(rng: Random) -> str:
    return f"{rng.gauss(50, 20):.2f}"


def _by_column(columns: int, values: Callable[[], list[str]]) -> Rows:
    return [list(row) for row in zip(*(values() for _ in range(columns)), strict=True)]


def _sorted(rng: Random, rows: int) -> Rows:
    return _by_column(5, lambda: sorted((_number(rng) for _ in range(rows)), key=float))


def _descending(rng: Random, rows: int) -> Rows:
    return _sorted(rng, rows)[::-1]


def _sorted_words(rng: Random, rows: int) -> Rows:
    def column() -> list[str]:
        return sorted("".join(rng.choices("abcdefgh", k=5)) for _ in range(rows))

    return _by_column(4, column)


def _sorted_ties(rng: Random, rows: int) -> Rows:
    return _by_column(5, lambda: sorted(str(rng.randrange(6)) for _ in range(rows)))


def _constants(rng: Random, rows: int) -> Rows:
    return [["7", "zor", _number(rng), "0.0", "kelm"] for _ in range(rows)]


def _duplicates(rng: Random, rows: int) -> Rows:
    once = [[_number(rng) for _ in range(5)] for _ in range((rows + 1) // 2)]
    return [list(once[row // 2]) for row in range(rows)]


def _mixed_duplicates(rng: Random, rows: int) -> Rows:
    twice = _duplicates(rng, rows)
    rng.shuffle(twice)
    return twice


def _few_rows(rng: Random, rows: int) -> Rows:
    once = [[_number(rng) for _ in range(5)] for _ in range(3)]
    return [list(rng.choice(once)) for _ in range(rows)]


def _nearly_duplicates(rng: Random, rows: int) -> Rows:
    twice = _duplicates(rng, rows)
    for row in twice[1::2]:
        row[rng.randrange(5)] = _number(rng)
    return twice


def _blocks(rng: Random, rows: int) -> Rows:
    return [
        [WORDS[row * 4 // rows], str(row * 3 // rows), *(rng.choice(WORDS) for _ in range(3))] for row in range(rows)
    ]


def _copies(rng: Random, rows: int) -> Rows:
    return [[value, value, value.upper(), rng.choice(WORDS), value[::-1]] for value in rng.choices(WORDS, k=rows)]


def _permuted(rng: Random, rows: int) -> Rows:
    values = [str(value) for value in range(rows)]
    return _by_column(5, lambda: rng.sample(values, rows))


def _spellings(rng: Random, row: int, place: int) -> str:
    number = rng.randrange(9)
    return rng.choice((f"{number}", f"{number}.0", f"{number}.00", f"{number}e0", f"0{number}"))


def _hostile(rng: Random, row: int, place: int) -> str:
    pieces = (
        ", ",
        '"',
        "\n",
        "|",
        "{",
        "}",
        ": ",
        " is ",
        "<b>",
        "</think>",
        "\u202e",
        "\u200b",
        "alda",
        "\U0001f40c",
        "NaN",
    )
    return "".join(rng.choices(pieces, k=4)) + str(rng.randrange(99))


KINDS: Mapping[str, Kind] = {
    "constants": _constants,
    "ties": _each(lambda rng, row, place: str(rng.randrange(4))),
    "two values": _each(lambda rng, row, place: rng.choice(("yes", "no"))),
    "one rare value": _each(lambda rng, row, place: "rare" if rng.random() < 0.04 else "usual"),
    "rare in one column": _each(
        lambda rng, row, place: _number(rng) if place else "rare" if rng.random() < 0.04 else "usual"
    ),
    "duplicates": _duplicates,
    "duplicates mixed": _mixed_duplicates,
    "three different rows": _few_rows,
    "nearly duplicates": _nearly_duplicates,
    "sorted": _sorted,
    "sorted downwards": _descending,
    "sorted words": _sorted_words,
    "sorted with ties": _sorted_ties,
    "permutations": _permuted,
    "blocks": _blocks,
    "copied columns": _copies,
    "mostly missing": _each(lambda rng, row, place: _number(rng) if rng.random() < 0.2 else None),
    "two columns": _each(lambda rng, row, place: _number(rng), 2),
    "forty columns": _each(lambda rng, row, place: str(rng.randrange(100)), 40),
    "codes": _each(lambda rng, row, place: f"{rng.randrange(16**8):08x}"),
    "huge and tiny": _each(lambda rng, row, place: f"{rng.gauss(0, 1):.3g}e{rng.randrange(-300, 300)}"),
    "one number in many spellings": _each(_spellings),
    "hostile texts": _each(_hostile),
}
