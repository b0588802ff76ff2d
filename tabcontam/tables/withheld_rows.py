"""Withheld rows: rows of a table's source that were never published. They are compared with the published rows.

Published and withheld rows are exchangeable if chance decided which rows were withheld. Rows with equal content are
left out of both kinds. If only withheld rows with a published copy were left out, frequent contents would remain only
among the published rows.
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
    """The places of the published and of the withheld rows that are compared; their contents occur only once."""

    published: tuple[int, ...]
    withheld: tuple[int, ...]


def with_withheld(
    tables: Sequence[Table], files: Iterable[str], form: TextFormat = FOUND_OUT
) -> tuple[tuple[Table, ...], tuple[str, ...]]:
    """Return the tables, each with the withheld rows of its files, and a line on each file with published rows.

    Raises `UsageError` for a file that fits no table or several, and for a file that has only rows of its table.
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
    """Return the published and withheld rows to compare, without repeated rows and rows of known files."""

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
    """Return a digest of rows that does not depend on their order; "" without rows."""
    import json
    from hashlib import sha256

    lines = sorted(json.dumps(row, ensure_ascii=False) for row in rows)
    return sha256("\n".join(lines).encode("utf-8", "backslashreplace")).hexdigest() if rows else ""
