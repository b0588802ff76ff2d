"""Fresh rows: rows that no model can have read, such as rows younger than its training data. A model's accuracy on them
is skill.

They have the table's columns and classes. Rows of the table or of a known file, and rows without a class, are left out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tabcontam.errors import UsageError, option_name
from tabcontam.reading.answer_text import value_key
from tabcontam.tables.known_rows import Row, in_columns, keys_of, place_of
from tabcontam.tables.readers.base import FOUND_OUT, TextFormat
from tabcontam.tables.table import Table, load_table
from tabcontam.tables.thresholds import LEAST_FRESH_ROWS


def with_fresh(
    tables: Sequence[Table], files: Iterable[str], form: TextFormat = FOUND_OUT
) -> tuple[tuple[Table, ...], tuple[str, ...]]:
    """Return the tables, each with the fresh rows of the files that have its columns, and a line about each file.

    A file must fit exactly one table with a classification question, have no class that is not in the question, and
    have 20 or more usable rows. Raises `UsageError` if not.
    """
    found, lines = list(tables), []
    for spec in dict.fromkeys(files):
        file = load_table(spec, form=form, whole=True)
        place = place_of(file, found, "fresh")
        found[place], line = _with(found[place], file)
        lines.append(line)
    return tuple(found), tuple(lines)


def _with(table: Table, file: Table) -> tuple[Table, str]:
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
    classes = _written(table, file, [row[target] for row in unseen])
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
def _written(table: Table, file: Table, cells: Sequence[str | None], *, named: int = 3) -> dict[str | None, str | None]:
    """Return how the table writes each class in `cells`, None if missing. Raises `UsageError` for an unknown class."""
    question = table.question
    assert question is not None  # noqa: S101 - there are no fresh rows without one
    own = {value_key(value): value for value in question.answers} if question.threshold is None else {}
    found: dict[str | None, str | None] = {}
    unknown = []
    for cell in dict.fromkeys(cells):
        found[cell] = None if cell is None or table.is_missing(cell) else own.get(value_key(cell), cell)
        try:
            question.answer(found[cell] or "") if found[cell] is not None else None
        except (KeyError, ValueError):
            unknown.append(str(cell))
    if unknown:
        known = ", ".join(question.answers) if question.threshold is None else "numbers"
        more = f" and {len(unknown) - named} more" if len(unknown) > named else ""
        raise UsageError(
            f"{option_name('fresh')}: {file.name} has {', '.join(map(repr, unknown[:named]))}{more} in "
            f"{table.target!r}, and the classes of {table.name} are {known}"
        )
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
    """Return the answer of each fresh row."""
    if table.target is None or table.question is None:
        return ()
    place, question = table.columns.index(table.target), table.question
    return tuple(question.answer(row[place] or "") for row in table.fresh)


def fresh_features(table: Table, features: Sequence[str]) -> tuple[Row, ...]:
    """Return the cells of these features for each fresh row."""
    places = [table.columns.index(name) for name in features]
    return tuple(tuple(row[place] for place in places) for row in table.fresh)
