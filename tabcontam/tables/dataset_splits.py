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
from tabcontam.tables.splits_by_date import is_dated, month_of, sides_of
from tabcontam.tables.table import Table, load_table

ALL = "all"  # every split of a dataset


@dataclass(frozen=True)
class SplitChoice:
    """The names of the splits that are asked about, or `all`; the values of `column` are the splits of FILEs."""

    names: tuple[str, ...] = ()
    column: str | None = None

    def chooses(self, split: str) -> bool:
        """Return whether a split is asked about."""
        return not self.names or ALL in self.names or split.casefold() in map(str.casefold, self.names)


EVERY_SPLIT = SplitChoice()
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
    splits: SplitChoice = EVERY_SPLIT,
    *,
    target: str | None = None,
    name: str | None = None,
    form: TextFormat = FOUND_OUT,
    doing: Doing = nullcontext,
) -> tuple[tuple[Table, ...], tuple[str, ...]]:
    """Return the tables of these datasets, each once, and a report line on each split that shares rows with another.

    By default only the first split of a card's edition is asked about. If the user names a split, by `DATASET#SPLIT` or
    in `splits`, all splits are read, to detect rows that are in several splits. Raises `UsageError` as `load_table`
    does, for a split that does not exist, and for splits whose columns differ.
    """
    parts: list[_SplitPart] = []
    for spec in specs:
        with doing(spec if isinstance(spec, str) else spec.named):
            parts += _parts(spec, splits, target, name, form)
    joined: dict[tuple[object, ...], _SplitPart] = {}
    for part in parts:
        of_card = part.table.split and not _is_own(part.table)
        key = part.table.key if of_card else (id(part.table),)  # naming two splits of a card reads all of them twice
        before = joined.get(key)
        joined[key] = part if before is None else replace(before, asked=before.asked or part.asked)
    return _asked_tables(list(joined.values()), splits)


def _parts(
    spec: str | Table, splits: SplitChoice, target: str | None, name: str | None, form: TextFormat
) -> Sequence[_SplitPart]:
    if any(map(is_dated, splits.names)):
        return _by_dates(spec, splits, target, name, form)
    if isinstance(spec, str) and (split := split_named(spec)[1]) is not None and is_dated(split):
        return _by_dates(split_named(spec)[0], SplitChoice((split,)), target, name, form)
    if isinstance(spec, Table):
        if splits.column and _is_own(spec):
            return _of_column(spec, splits.column)
        return [_SplitPart(spec, _asked(spec, splits))]
    check_part_named(spec)
    load = partial(load_table, target=target, name=name, form=form)
    named, split = split_named(spec)
    base, edition_name = split_edition(named)
    own = is_source(spec) or (edition_name is not None and named_file(spec) is not None)
    card = None if own else find_card(base)
    if card is None or (split is None and not splits.names):
        table = load(spec)
        if splits.column and _is_own(table):
            return [replace(part, asked=splits.chooses(part.table.split)) for part in _of_column(table, splits.column)]
        return [_SplitPart(table, _asked(table, splits))]
    edition = card.edition(edition_name)
    if not edition.split:
        if (split is None and ALL in splits.names) or (split is not None and card.dated_by):
            return [_SplitPart(load(spec))]  # for an unknown split, the error shows the format of dates
        wrong = split or splits.names[0]
        if card.dated_by:
            forms = "before-cutoff, after-cutoff, before-YYYY-MM or after-YYYY-MM"
            raise UsageError(f"unknown split {wrong!r} of {card.name}; its rows have dates: write {forms}")
        raise UsageError(f"{card.name}@{edition.name} has no splits; leave {wrong!r} out, or name another dataset")
    wanted = None if split is None else edition.part(split).split
    found: list[_SplitPart] = []
    lacking: list[str] = []
    for part in edition.parts:
        asked = wanted in (None, part.split) and splits.chooses(part.split)
        try:
            table = load(f"{base}@{edition.name}#{part.split}")
        except UsageError:
            if asked:
                raise
            lacking.append(part.split)
        else:
            found.append(_SplitPart(table, asked))
    return [replace(part, lacking=tuple(lacking)) for part in found]


def _by_dates(
    spec: str | Table, splits: SplitChoice, target: str | None, name: str | None, form: TextFormat
) -> list[_SplitPart]:
    """Return two splits for each month that the user names: the rows before the month and the rows after it."""
    if other := next((each for each in splits.names if not is_dated(each)), None):
        dated = next(filter(is_dated, splits.names))
        raise UsageError(f"{option_name('split')}: {dated} splits by date and {other} does not; name one kind")
    table = spec if isinstance(spec, Table) else load_table(spec, target=target, name=name, form=form)
    if table.split:
        problem = f"{table.name} has the split {table.split}, and its rows have no dates"
        raise UsageError(f"{problem}; leave it out, or name its splits")
    found: list[_SplitPart] = []
    for month in dict.fromkeys(named_month[1] for each in splits.names if (named_month := month_of(each))):
        sides, neither = sides_of(table, month)
        line = f"{table.name}: {neither:,} of {len(table.rows):,} rows are of {month} itself and are never asked"
        lines = [line] * bool(neither)
        chosen = [side for side in sides.values() if splits.chooses(side.split)]
        empty = [side for side in chosen if not side.rows] if any(side.rows for side in chosen) else []
        lines += [f"{side.named} has no row, so that nothing is asked" for side in empty]
        asked = {side.split for side in chosen} - {side.split for side in empty}
        found += [_SplitPart(side, side.split in asked, lines=tuple(lines)) for side in sides.values()]
    return found


def _asked(table: Table, splits: SplitChoice) -> bool:
    return not table.split or splits.chooses(table.split)


def _is_own(table: Table) -> bool:
    """Return whether a table is a FILE, a source or a frame, and has no card."""
    return bool(table.edition) and table.sha256.startswith(table.edition)


# most: number of splits that a column may define
def _of_column(table: Table, column: str, *, most: int = 30) -> list[_SplitPart]:
    """Return a table for each value of a column, with the rows of that value and without the column."""
    message = f"{option_name('split_column')}: {column!r} of {table.name}"
    if table.split:
        raise UsageError(f"{option_name('split_column')}: {table.named} names its split already; leave one of them out")
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
    rows = {each: [] for each in names}  # type: dict[str, list[tuple[str | None, ...]]]
    for cells_of_row in table.rows:
        rows[str(cells_of_row[place]).strip()].append((*cells_of_row[:place], *cells_of_row[place + 1 :]))
    columns = (*table.columns[:place], *table.columns[place + 1 :])
    return [
        _SplitPart(replace(table, columns=columns, rows=tuple(own), split=each), of_column=True)
        for each, own in rows.items()
    ]


def _asked_tables(parts: Sequence[_SplitPart], splits: SplitChoice) -> tuple[tuple[Table, ...], tuple[str, ...]]:
    """Return the tables to ask about, with rows of several splits marked as never asked, and lines for the report."""
    _check_names(parts, splits)
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
            lines += filter(None, (line, *part.lines))
    return tuple(tables), tuple(dict.fromkeys(lines))


def _check_names(parts: Sequence[_SplitPart], splits: SplitChoice) -> None:
    """Check that every named split exists and that each dataset has a chosen split. Raises `UsageError` if not."""
    known = list(dict.fromkeys(name for part in parts for name in (part.table.split, *part.lacking) if name))
    for name in splits.names:
        if name != ALL and name.casefold() not in map(str.casefold, known):
            if not known:
                names = ", ".join(dict.fromkeys(part.table.name for part in parts))
                raise UsageError(f"{option_name('split')} {name}: {names} has no splits; name them as in FILE#{name}")
            raise UsageError(f"unknown split {name!r}; known: {', '.join(known)}")
    for own in _datasets([part for part in parts if part.table.split]):
        if not any(part.asked for part in own):
            existing = ", ".join(part.table.split for part in own)
            problem = f"{own[0].table.name} has the splits {existing}, and none of them is chosen"
            raise UsageError(f"{problem}; name one of them")
    for table in (part.table for part in parts if part.asked and part.table.split):
        if len(table.rows) < 2:
            count = "one row" if table.rows else "no row"
            raise UsageError(f"{table.named} has {count}; give a split of two or more, or leave it out")


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


# named: number of columns that an error names
def _check_columns(tables: Sequence[Table], *, named: int = 3) -> None:
    first, *others = tables
    for other in others:
        for one, two in ((first, other), (other, first)):
            if lacking := [name for name in one.columns if name not in two.columns]:
                more = f" and {len(lacking) - named} more" if len(lacking) > named else ""
                raise UsageError(
                    f"splits of one dataset need the same columns, and {two.named} lacks "
                    f"{', '.join(map(repr, lacking[:named]))}{more} of {one.named}; give files with the same columns, "
                    "or test each in a separate run"
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
