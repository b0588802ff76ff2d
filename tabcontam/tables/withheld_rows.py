"""Rows of a table's source that were never published, and the rows of both kinds that can be compared.

Published and withheld rows are exchangeable if chance decided which were withheld. Contents that occur twice among all
of them are left out on both sides: to leave out only the withheld rows that were also published would leave the common
contents to one side.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tabcontam.errors import UsageError, option_name
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.known_rows import Row, in_columns, keys_of, known_among, place_of
from tabcontam.tables.readers.base import FOUND_OUT, TextFormat
from tabcontam.tables.table import Table, load_table


@dataclass(frozen=True)
class ComparableRows:
    """The places of the published and of the withheld rows whose contents occur once among all of them."""

    published: tuple[int, ...]
    withheld: tuple[int, ...]


def with_withheld(
    tables: Sequence[Table], files: Iterable[str], form: TextFormat = FOUND_OUT
) -> tuple[tuple[Table, ...], tuple[str, ...]]:
    """Return the tables, each with the rows of the files with its columns, and a line on each file that repeats rows.

    Raises `UsageError` for a file that fits no table, or several, and for one that has no row besides a table's.
    """
    found, lines = list(tables), []
    for spec in dict.fromkeys(files):
        file = load_table(spec, form=form, whole=True)
        place = place_of(file, found, "withheld")
        found[place].check_whole("withheld")
        table = found[place] = _with(found[place], file)
        published = set(keys_of(table, table.rows))
        also = sum(key in published for key in keys_of(table, table.withheld))
        if also == len(table.withheld):
            problem = f"{option_name('withheld')}: every row of {file.name} stands in {table.name}, too"
            raise UsageError(f"{problem}; give rows of its source that were never published")
        if also:
            rows = f"{also} of {len(table.withheld)} rows"
            lines.append(f"{file.name}: {rows} are in {table.name}, too, and not compared")
    return tuple(found), tuple(lines)


def comparable_rows(table: Table) -> ComparableRows:
    """Return the rows that are compared: none that a model may rightly know."""

    def find() -> ComparableRows:
        every = (*table.rows, *table.withheld)
        keys = keys_of(table, every)
        times, known = Counter(keys), known_among(table, every)
        once = [place for place, key in enumerate(keys) if times[key] == 1 and not known[place]]
        rows = len(table.rows)
        published = tuple(place for place in once if place < rows)
        return ComparableRows(published, tuple(place - rows for place in once if place >= rows))

    return cached_fact(table, "compared rows", find)


def _with(table: Table, file: Table) -> Table:
    if not file.rows:
        raise UsageError(f"{option_name('withheld')}: {file.name} has no row; give rows that were never published")
    return replace(table, withheld=(*table.withheld, *in_columns(file, table)))


def digest_of(rows: Sequence[Row]) -> str:
    """Return a digest of rows in any order; empty where there are none."""
    import json
    from hashlib import sha256

    lines = sorted(json.dumps(row, ensure_ascii=False) for row in rows)
    return sha256("\n".join(lines).encode("utf-8", "backslashreplace")).hexdigest() if rows else ""
