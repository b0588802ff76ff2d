"""Rows that no model can have read: withheld rows, which were never published, and rows younger than training data.

Withheld rows of a table's source are compared with the published rows. Both are exchangeable if chance decided which
rows were withheld. Rows with equal content are left out of both kinds. If only withheld rows with a published copy were
left out, frequent contents would remain only among the published rows.

A model's accuracy on fresh rows is skill. They have the table's columns and classes. Rows of the table or of a known
file, and rows without a class, are left out.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from tabcontam.errors import UsageError, option_name
from tabcontam.reading.answer_text import value_key
from tabcontam.tables.cached_facts import table_fact
from tabcontam.tables.known_rows import Row, in_columns, keys_of, known_among, place_of
from tabcontam.tables.readers.base import FOUND_OUT, TextFormat
from tabcontam.tables.table import Cell, Table, load_table
from tabcontam.tables.table_contents import few
from tabcontam.tables.thresholds import LEAST_FRESH_ROWS

TablesAndLines = tuple[tuple[Table, ...], tuple[str, ...]]


@dataclass(frozen=True)
class ComparableRows:
    """The places of the published and of the withheld rows that are compared; their contents occur only once."""

    published: tuple[int, ...]
    withheld: tuple[int, ...]


def with_withheld(tables: Sequence[Table], files: Iterable[str], form: TextFormat = FOUND_OUT) -> TablesAndLines:
    """Return the tables, each with the withheld rows of its files, and a line on each file with published rows.

    Raises `UsageError` for a file that fits no table or several, and for a file that has only rows of its table.
    """
    return _with_files(tables, files, form, "withheld", _with_withheld)


def with_fresh(tables: Sequence[Table], files: Iterable[str], form: TextFormat = FOUND_OUT) -> TablesAndLines:
    """Return the tables, each with the fresh rows of the files that have its columns, and a line about each file.

    A file must fit exactly one table with a classification question, have no class that is not in the question, and
    have 20 or more usable rows. Raises `UsageError` if not.
    """
    return _with_files(tables, files, form, "fresh", _with_fresh)


def _with_files(
    tables: Sequence[Table],
    files: Iterable[str],
    form: TextFormat,
    option: str,
    add: Callable[[Table, Table], tuple[Table, str]],
) -> TablesAndLines:
    found, lines = list(tables), []
    for spec in dict.fromkeys(files):
        file = load_table(spec, form=form, whole=True)
        place = place_of(file, found, option)
        found[place], line = add(found[place], file)
        lines += [line] * bool(line)
    return tuple(found), tuple(lines)


def _with_withheld(table: Table, file: Table) -> tuple[Table, str]:
    table.check_whole("withheld")
    if not file.rows:
        raise UsageError(f"{option_name('withheld')}: {file.name} has no row; give rows that were never published")
    table = replace(table, withheld=(*table.withheld, *in_columns(file, table)))
    published = set(keys_of(table, table.rows))
    also = sum(key in published for key in keys_of(table, table.withheld))
    if also == len(table.withheld):
        problem = f"{option_name('withheld')}: every row of {file.name} stands in {table.name}, too"
        raise UsageError(f"{problem}; give rows of its source that were never published")
    rows = f"{also} of {len(table.withheld)} rows"
    return table, f"{file.name}: {rows} are in {table.name}, too, and not compared" if also else ""


@table_fact
def comparable_rows(table: Table) -> ComparableRows:
    """Return the published and withheld rows to compare, without repeated rows and rows of known files."""
    every, rows = (*table.rows, *table.withheld), len(table.rows)
    keys = keys_of(table, every)
    times, known = Counter(keys), known_among(table, every)
    once = [place for place, key in enumerate(keys) if times[key] == 1 and not known[place]]
    published = tuple(place for place in once if place < rows)
    return ComparableRows(published, tuple(place - rows for place in once if place >= rows))


def _with_fresh(table: Table, file: Table) -> tuple[Table, str]:
    if table.target is None or table.question is None:
        raise UsageError(
            f"{option_name('fresh')}: {table.name} has no classification question, so that there is no accuracy to "
            f"compare; a FILE needs {option_name('target')} with a column of 2 to 10 values"
        )
    table.check_whole("fresh")
    target = table.columns.index(table.target)
    rows = in_columns(file, table)
    seen = {key for own in (table.rows, *table.known) for key in keys_of(table, own)}
    unseen = [row for row, key in zip(rows, keys_of(table, rows), strict=True) if key not in seen] if rows else []
    classes = _as_written(table, file, [row[target] for row in unseen])
    answered = ((row, classes[row[target]]) for row in unseen)
    fresh = tuple((*row[:target], own, *row[target + 1 :]) for row, own in answered if own is not None)
    left = _left_out(len(rows) - len(unseen), len(unseen) - len(fresh), table)
    if len(fresh) < LEAST_FRESH_ROWS:
        why = f" ({left})" if left else ""
        problem = f"{option_name('fresh')}: {file.name} has {len(fresh)} fresh rows with a class{why}"
        raise UsageError(f"{problem}; {LEAST_FRESH_ROWS} or more are needed")
    line = f"{file.name}: {len(fresh):,} fresh rows are compared with rows of {table.named}"
    return replace(table, fresh=(*table.fresh, *fresh)), f"{line}; not asked about: {left}" if left else line


# named: number of classes that an error names
def _as_written(
    table: Table, file: Table, cells: Sequence[str | None], *, named: int = 3
) -> dict[str | None, str | None]:
    """Return how the table writes each class in `cells`, None if missing. Raises `UsageError` for an unknown class."""
    question = table.question
    assert question is not None  # noqa: S101 - there are no fresh rows without one
    own = {value_key(value): value for value in question.answers} if question.threshold is None else {}
    found: dict[Cell, Cell] = {}
    unknown = []
    for cell in dict.fromkeys(cells):
        found[cell] = None if cell is None or table.is_missing(cell) else own.get(value_key(cell), cell)
        try:
            question.answer(found[cell] or "") if found[cell] is not None else None
        except (KeyError, ValueError):
            unknown.append(str(cell))
    if unknown:
        known = ", ".join(question.answers) if question.threshold is None else "numbers"
        problem = f"{option_name('fresh')}: {file.name} has {few(unknown)} in {table.target!r}"
        raise UsageError(f"{problem}, and the classes of {table.name} are {known}")
    return found


def _left_out(seen: int, without_class: int, table: Table) -> str:
    parts = []
    if seen:
        where = f"{table.name} or in a known file" if table.known else table.name
        parts.append(f"{seen:,} {'row stands' if seen == 1 else 'rows stand'} in {where}, too")
    if without_class:
        parts.append(f"{without_class:,} {'row has' if without_class == 1 else 'rows have'} no class")
    return ", and ".join(parts)


def fresh_labels(table: Table) -> tuple[str, ...]:
    if table.target is None or table.question is None:
        return ()
    place, question = table.columns.index(table.target), table.question
    return tuple(question.answer(row[place] or "") for row in table.fresh)


def fresh_features(table: Table, features: Sequence[str]) -> tuple[Row, ...]:
    """Return the cells of these features for each fresh row."""
    places = [table.columns.index(name) for name in features]
    return tuple(tuple(row[place] for place in places) for row in table.fresh)


def digest_of(rows: Sequence[Row]) -> str:
    """Return a digest of rows that does not depend on their order; "" without rows."""
    lines = sorted(json.dumps(row, ensure_ascii=False) for row in rows)
    return sha256("\n".join(lines).encode("utf-8", "backslashreplace")).hexdigest() if rows else ""
