"""Splits: the parts of a dataset, such as train and test, each as its own table.

A split of a card is a file, or the rows before or after a month (`splits_by_date.py`). A user names the split of a FILE
after a `#`, or names a column whose values are the splits. A split of a Hugging Face dataset has its name on Hugging
Face. Each split gets its own verdicts. A row in two splits would be evidence for neither, so such rows are never asked
about, like rows of known files (`known_rows.py`).
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial

from tabcontam.errors import UsageError, option_name, unknown
from tabcontam.groups import grouped
from tabcontam.tables.dataset_cards import find_card, split_edition, split_named
from tabcontam.tables.file_specs import check_part_named, named_file
from tabcontam.tables.known_rows import in_columns, keys_of
from tabcontam.tables.readers.base import FOUND_OUT, TextFormat
from tabcontam.tables.sources import is_source
from tabcontam.tables.splits_by_date import is_dated, sides_of
from tabcontam.tables.table import Table, load_table
from tabcontam.tables.table_contents import few

ALL = "all"  # every split of a dataset


Doing = Callable[[str], AbstractContextManager[object]]


@dataclass(frozen=True)
class _SplitPart:
    """A split: its table, whether it is asked about, and whether a column of a FILE defined it.

    `lacking` names other splits that cannot be read. `lines` are sentences for the report on splits by date: on rows of
    the cutoff month and on splits without rows.
    """

    table: Table
    asked: bool = True
    of_column: bool = False
    lacking: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


def load_tables(
    specs: Iterable[str | Table],
    column: str | None = None,
    *,
    target: str | None = None,
    name: str | None = None,
    form: TextFormat = FOUND_OUT,
    doing: Doing = nullcontext,
) -> tuple[tuple[Table, ...], tuple[str, ...]]:
    """Return the tables of these datasets, each once, and a report line on each split that shares rows with another.

    By default only the first split of a card's edition is asked about. If the user names a split, by `DATASET#SPLIT`,
    all splits are read, to detect rows that are in several splits. The values of `column` are the splits of FILEs.
    Raises `UsageError` as `load_table` does, for a split that does not exist, and for splits whose columns differ.
    """
    parts: list[_SplitPart] = []
    for spec in specs:
        with doing(spec if isinstance(spec, str) else spec.named):
            parts += _parts(spec, column, target, name, form)
    joined: dict[tuple[object, ...], _SplitPart] = {}
    for part in parts:
        repeated = part.table.split and (part.of_column or not _is_own(part.table))
        key = part.table.key if repeated else (id(part.table),)  # naming two splits of a card reads all of them twice
        before = joined.get(key)
        joined[key] = part if before is None else replace(before, asked=before.asked or part.asked)
    return _asked_tables([_without_rows(part, joined.values()) for part in joined.values()])


def _parts(
    spec: str | Table, column: str | None, target: str | None, name: str | None, form: TextFormat
) -> Sequence[_SplitPart]:
    if isinstance(spec, Table):
        return _of_column(spec, column) if column and _is_own(spec) else [_SplitPart(spec)]
    if (split := split_named(spec)[1]) is not None and is_dated(split):
        return _by_dates(split_named(spec)[0], split, target, name, form)
    check_part_named(spec)
    load = partial(load_table, target=target, name=name, form=form)
    named, split = split_named(spec)
    base, edition_name = split_edition(named)
    own = is_source(spec) or (edition_name is not None and named_file(spec) is not None)
    card = None if own else find_card(base)
    if card is None or split is None:
        table = load(spec)
        return _of_column(table, column) if column and _is_own(table) else [_SplitPart(table)]
    edition, every = card.edition(edition_name), split.casefold() == ALL
    if not edition.split:
        return [_SplitPart(load(named if every else spec))]  # for an unknown split, the error shows what there is
    wanted = None if every else edition.part(split).split
    found: list[_SplitPart] = []
    lacking: list[str] = []
    for part in edition.parts:
        asked = wanted in (None, part.split)
        try:
            table = load(f"{base}@{edition.name}#{part.split}")
        except UsageError:
            if asked:
                raise
            lacking.append(part.split)
        else:
            found.append(_SplitPart(table, asked))
    return [replace(part, lacking=tuple(lacking)) for part in found]


def _by_dates(spec: str, split: str, target: str | None, name: str | None, form: TextFormat) -> list[_SplitPart]:
    """Return the rows before and after the month of a split by dates, of which one part is asked about."""
    table = load_table(spec, target=target, name=name, form=form)
    if table.split:
        problem = f"{table.name} has the split {table.split}, and its rows have no dates"
        raise UsageError(f"{problem}; leave it out, or name its splits")
    month = split.casefold().partition("-")[2]
    sides, neither = sides_of(table, month)
    line = f"{table.name}: {neither:,} of {len(table.rows):,} rows are of {month} itself and are never asked"
    return [_SplitPart(side, side.split == split.casefold(), lines=(line,) * bool(neither)) for side in sides.values()]


def _without_rows(part: _SplitPart, parts: Iterable[_SplitPart]) -> _SplitPart:
    """Return the part. One without rows is not asked about if the other side of its month is."""
    if not (part.asked and is_dated(part.table.split) and not part.table.rows):
        return part
    if not any(other.asked and other.table.rows and other.table.key[:2] == part.table.key[:2] for other in parts):
        return part
    return replace(part, asked=False, lines=(*part.lines, f"{part.table.named} has no row, so that nothing is asked"))


def _is_own(table: Table) -> bool:
    """Return whether a table is a FILE, a source or a frame, and has no card."""
    return bool(table.edition) and table.sha256.startswith(table.edition)


# most: number of splits that a column may define
def _of_column(table: Table, column: str, *, most: int = 30) -> list[_SplitPart]:
    """Return a table for each value of a column, with the rows of that value and without the column.

    If the table names a split, only this value is asked about.
    """
    message = f"{option_name('split_column')}: {column!r} of {table.name}"
    table.check_whole("split_column")
    if column not in table.columns:
        raise unknown(f"column of {table.name}", column, table.columns)
    if column == table.target:
        raise UsageError(f"{message} is the target, too; name another column")
    if len(table.columns) < 3:
        raise UsageError(f"{message} leaves one other column; give a table with two or more")
    place, cells = table.columns.index(column), table.column(column)
    if lacking := next((row for row, cell in enumerate(cells, 1) if cell is None or table.is_missing(cell)), None):
        raise UsageError(f"{message} has no value in row {lacking}; give each row its split")
    names = list(dict.fromkeys(str(cell).strip() for cell in cells))
    if len(names) > most:
        raise UsageError(f"{message} has {len(names):,} values, more than {most}; name a column with fewer")
    if len(names) < 2:
        raise UsageError(f"{message} has one value; leave it out, or name a column with several")
    if invalid := [each for each in names if not each.isprintable() or "#" in each]:
        raise UsageError(f"{message} has the value {invalid[0]!r}, which cannot be the name of a split; rename it")
    if table.split and table.split not in names:
        raise unknown(f"split of {table.name}", table.split, names)
    rows = {each: [] for each in names}  # type: dict[str, list[tuple[str | None, ...]]]
    for cells_of_row in table.rows:
        rows[str(cells_of_row[place]).strip()].append((*cells_of_row[:place], *cells_of_row[place + 1 :]))
    columns = (*table.columns[:place], *table.columns[place + 1 :])
    return [
        _SplitPart(
            replace(table, columns=columns, rows=tuple(own), split=each), table.split in ("", each), of_column=True
        )
        for each, own in rows.items()
    ]


def _asked_tables(parts: Sequence[_SplitPart]) -> tuple[tuple[Table, ...], tuple[str, ...]]:
    """Return the tables to ask about, with rows of several splits marked as never asked, and lines for the report."""
    for table in (part.table for part in parts if part.asked and part.table.split):
        if len(table.rows) < 2:
            count = "one row" if table.rows else "no row"
            raise UsageError(f"{table.named} has {count}; give a split of two or more, or leave it out")
    tables: list[Table] = []
    lines: list[str] = []
    groups = _datasets([part for part in parts if part.table.split])
    siblings = {id(part): group for group in groups for part in group}
    for part in parts:
        if part.asked:
            others = [other.table for other in siblings.get(id(part), ()) if other is not part]
            table, line = _without_shared(part.table, others)
            if part.lacking:
                table, missing = replace(table, elsewhere=None), " and ".join(part.lacking)
                problem = f"{table.named}: split {missing} cannot be read"
                lines.append(f"{problem}, so that rows that stand in it, too, may be asked")
            tables.append(table)
            lines += filter(None, (line,))
        lines += part.lines
    return tuple(tables), tuple(dict.fromkeys(lines))


def _datasets(parts: Sequence[_SplitPart]) -> list[list[_SplitPart]]:
    """Return the splits of each dataset. Raises `UsageError` if the splits of one dataset differ in their columns.

    All FILEs and addresses with a split name form one dataset. If two of them have one split name, those with equal
    columns form a dataset. A source of datasets, such as Hugging Face, states which files form a dataset.
    """
    named = [part for part in parts if is_source(part.table.name)]
    files = [part for part in parts if _is_own(part.table) and not part.of_column and part not in named]
    rest = [part for part in parts if part not in (*files, *named)]
    groups = list(grouped(rest, lambda part: part.table.key[:2]).values())
    groups += grouped(named, lambda part: part.table.name).values()
    names = [part.table.split.casefold() for part in files]
    if files and len(set(names)) == len(names):
        groups.append(files)
    else:
        groups += grouped(files, lambda part: frozenset(part.table.columns)).values()
    for group in groups:
        _check_columns([part.table for part in group])
    return groups


def _check_columns(tables: Sequence[Table]) -> None:
    first, *others = tables
    for other in others:
        for one, two in ((first, other), (other, first)):
            if lacking := [name for name in one.columns if name not in two.columns]:
                raise UsageError(
                    f"splits of one dataset need the same columns, and {two.named} lacks {few(lacking)} of "
                    f"{one.named}; give files with the same columns, or test each in a separate run"
                )


def _without_shared(table: Table, others: Sequence[Table]) -> tuple[Table, str]:
    """Return the table, which marks its rows in other splits as never asked about, and a line with their number."""
    for other in others:
        other.check_whole("split")
    keys = keys_of(table, table.rows)
    elsewhere = {key for other in others for key in keys_of(table, in_columns(other, table))}
    shared = [row for row, key in zip(table.rows, keys, strict=True) if key in elsewhere] if elsewhere else []
    if not shared:
        return table, ""
    if len(shared) == len(table.rows):
        problem = f"every row of {table.named} stands in another split, too, so that none is left to ask about"
        raise UsageError(f"{problem}; give splits that differ")
    line = f"{table.named}: {len(shared):,} of {len(table.rows):,} rows are in another split, too, and are never asked"
    return replace(table, known=(*table.known, tuple(dict.fromkeys(shared))), elsewhere=len(shared)), line
