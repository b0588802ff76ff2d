"""Planting of a table: some cells get last digits that are drawn from a secret; all other bytes stay unchanged."""

import hashlib
import math
import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from random import Random
from statistics import fmean, pstdev

from tabcontam.errors import Skip, UsageError, unknown
from tabcontam.extensions.planting.planting_key import SECRET, PlantingKey, keyed_number, write_key
from tabcontam.extensions.planting.rewriting import CellLayout, layout_of
from tabcontam.extensions.planting.spare_digits import SpareDigits, spare_digits
from tabcontam.extensions.planting.thresholds import (
    MOST_CHANGE_OF_CELL,
    MOST_P_VALUE_OF_PLANTING,
    MOST_ROWS_FOR_LAWS,
    PLANTED_CELLS,
)
from tabcontam.paths import replace_file
from tabcontam.tables.file_specs import check_file, named_file
from tabcontam.tables.readers.archives import unpack
from tabcontam.tables.readers.base import FOUND_OUT, File, TextFormat
from tabcontam.tables.readers.file_kinds import TEXT, kind_of
from tabcontam.tables.row_draws import pool
from tabcontam.tables.table import DrawnCell, Table, load_table
from tabcontam.tables.thresholds import MOST_ROWS_READ_WHOLE

OnProgress = Callable[[int, int], None]

# Returns the column that reveals changed cells of one column by a law of the table, or None. The baseline finds it, in
# a layer above this one.
Tied = Callable[[Table, str, Mapping[int, str]], str | None]


@dataclass(frozen=True)
class PlantingChoices:
    """The user's choices for planting. `share` and, for single columns, `amounts` limit the change of a cell."""

    columns: tuple[str, ...] = ()
    cells: int | None = None
    share: float = MOST_CHANGE_OF_CELL
    amounts: Mapping[str, Decimal] = field(default_factory=dict)
    text: TextFormat = FOUND_OUT


@dataclass(frozen=True)
class ColumnChange:
    """The effect of planting on one column: all its numbers before and after."""

    column: str
    cells: int
    alternatives: tuple[int, int]  # the smallest and the largest number of a cell's alternatives
    before: tuple[float, ...]
    after: tuple[float, ...]

    @property
    def largest(self) -> float:
        """The largest change of a cell."""
        return max(abs(new - old) for old, new in zip(self.before, self.after, strict=True))

    @property
    def means(self) -> tuple[float, float]:
        """The mean of the column before and after."""
        return fmean(self.before), fmean(self.after)

    @property
    def deviations(self) -> tuple[float, float]:
        """The standard deviation of the column before and after."""
        return pstdev(self.before), pstdev(self.after)


@dataclass(frozen=True)
class Planting:
    """A planted file, its key and a report on both; `left_out` maps each unplanted column to the reason."""

    content: bytes = field(repr=False)
    key: PlantingKey = field(repr=False)
    changes: tuple[ColumnChange, ...]
    left_out: Mapping[str, str]

    @property
    def surest(self) -> float:
        """The largest evidence that the key can give: -log2 of the p-value if a model has every planted cell right."""
        return sum(math.log2(len(cell.alternatives)) for cell in self.key.cells)


def plant(
    file: str,
    wanted: PlantingChoices,
    published: str,
    tied: Tied,
    on_progress: OnProgress = lambda done, total: None,
    secret: bytes | None = None,
) -> Planting:
    """Return a copy of a delimited text file in which last digits of some cells are drawn, its key, and a report.

    At most one cell in a row is changed. The `secret` determines the cells and their digits; it is random if None.
    `published` is the name of the new file. `tied` searches for a column that reveals changed cells. `on_progress` is
    called with the number of finished columns. Raises `UsageError`, in one line, for a file or a column that cannot be
    planted.
    """
    secret = secrets.token_bytes(SECRET) if secret is None else secret
    layout, table = _opened(file, wanted.text)
    spare, left_out = _columns(table, wanted, tied, on_progress)
    eligible = _eligible(table, layout, spare)
    chosen = _chosen(eligible, secret, published, wanted.cells, table.name)
    names = sorted({cell.column for cell in chosen}, key=table.columns.index)
    key = PlantingKey(secret, published, "", {name: spare[name].tolerance for name in names}, tuple(chosen))
    changed = {(cell.row, table.columns.index(cell.column)): key.drawn(cell) for cell in chosen}
    content = layout.with_cells(changed)
    key = replace(key, sha256=hashlib.sha256(content).hexdigest())
    changes = tuple(_change(table, name, key) for name in names)
    return Planting(content, key, changes, left_out)


def write_planted(planting: Planting, out: Path, key_file: Path) -> None:
    """Write the key, then the planted file, each completely or not at all. If writing the file fails, the key is
    removed.

    Raises `UsageError` if one of the files exists already, or cannot be written.
    """
    if out.exists():
        raise UsageError(f"{out} exists already; name another file, so that no table is lost")
    write_key(key_file, planting.key)
    try:
        replace_file(out, planting.content)
    except OSError as error:
        key_file.unlink()
        raise UsageError(f"the planted table cannot be written to {out}: {error.strerror or error}") from error
    except BaseException:
        key_file.unlink()
        raise


def _opened(file: str, form: TextFormat) -> tuple[CellLayout, Table]:
    named = named_file(file)
    path = named.path if named is not None else Path(file)
    read = File(check_file(path), path.name, named.part if named is not None else None, form, path)
    if unpack(read) is not None:
        raise UsageError(f"{path.name} is packed; unpack it, plant the file in it, and pack the result")
    if (kind := kind_of(read)) is not TEXT:
        raise UsageError(f"{path.name} is {kind.title}; save it as CSV, plant the CSV, and publish it")
    table = load_table(f"{path.parent}/{path.name}", form=form, whole=True)
    if len(table.rows) > MOST_ROWS_READ_WHOLE:
        raise UsageError(
            f"{path.name} has {len(table.rows):,} rows, "
            f"and a run with the key takes tables of at most {MOST_ROWS_READ_WHOLE:,}; "
            "plant a part as a file of its own, and publish it next to the rest"
        )
    return layout_of(read), table


def _columns(
    table: Table, wanted: PlantingChoices, tied: Tied, on_progress: OnProgress
) -> tuple[dict[str, SpareDigits], dict[str, str]]:
    """Return the columns that can be planted, and each other column with the reason why it cannot be."""
    for name in (*wanted.columns, *wanted.amounts):
        if name not in table.columns:
            raise unknown(f"column of {table.name}", name, table.columns)
    found: dict[str, SpareDigits] = {}
    left_out: dict[str, str] = {}
    names = wanted.columns or table.columns
    for number, name in enumerate(names):
        on_progress(number, len(names))
        try:
            found[name] = spare_digits(table, name, wanted.share, wanted.amounts.get(name))
            if (other := _tied_to(table, found[name], tied)) is not None:
                raise Skip("other columns determine it" if other == name else f"it determines {other}")
        except Skip as reason:
            found.pop(name, None)
            left_out[name] = str(reason)
            if name in wanted.columns:
                raise UsageError(f"{name} cannot be planted: {reason}; leave it out of --columns") from None
    if not found:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in list(left_out.items())[:3])
        raise UsageError(f"no column of {table.name} has digits to replace ({reasons}); see tabcontam plant --help")
    return found, left_out


def _tied_to(table: Table, spare: SpareDigits, tied: Tied) -> str | None:
    """Return the column that reveals changed cells, or None. `tied` gets cells changed as planting changes them."""
    rng = Random(0)
    altered = {}
    for row in pool(table, [row for row in spare.numbers if spare.alternatives(row)], MOST_ROWS_FOR_LAWS):
        altered[row] = rng.choice([text for text in spare.alternatives(row) if text != spare.cells[row]])
    return tied(table, spare.column, altered) if altered else None


def _eligible(table: Table, layout: CellLayout, spare: Mapping[str, SpareDigits]) -> dict[int, list[DrawnCell]]:
    """Return the cells that may be planted, by row. Repeated rows have none: a copy would reveal the change."""
    times = Counter(table.rows)
    found: dict[int, list[DrawnCell]] = {}
    for row in (row for row, cells in enumerate(table.rows) if times[cells] == 1):
        for column, digits in spare.items():
            texts = digits.alternatives(row)
            if texts and layout.cell((row, table.columns.index(column))) == digits.cells[row]:
                found.setdefault(row, []).append(DrawnCell(row, column, texts))
    return found


def _chosen(
    eligible: Mapping[int, Sequence[DrawnCell]], secret: bytes, published: str, cells: int | None, name: str
) -> list[DrawnCell]:
    """Return one cell for each chosen row, in row order. The secret determines the rows and the cells."""
    order_bits = 60  # bits by which rows are put in order
    if cells is not None and cells > len(eligible):
        raise UsageError(f"{len(eligible)} rows of {name} have a cell to plant, fewer than {cells}; lower --cells")
    order = sorted(eligible, key=lambda row: (keyed_number(secret, ("row", published, row), 2**order_bits), row))
    rows = sorted(order[: PLANTED_CELLS if cells is None else cells])
    chosen = [eligible[row][keyed_number(secret, ("column", published, row), len(eligible[row]))] for row in rows]
    best = math.prod(1 / len(cell.alternatives) for cell in chosen)
    if best > MOST_P_VALUE_OF_PLANTING:
        advice = "give a larger --cells or --tolerance" if len(rows) < len(eligible) else "give a larger --tolerance"
        raise UsageError(f"{len(rows)} cells of {name} prove too little (p-value {best:.2g} at best); {advice}")
    return chosen


def _change(table: Table, name: str, key: PlantingKey) -> ColumnChange:
    planted = {cell.row: cell for cell in key.cells if cell.column == name}
    sizes = [len(cell.alternatives) for cell in planted.values()]
    before, after = [], []
    for row, cell in enumerate(table.column(name)):
        if cell is not None and not table.is_missing(cell):
            before.append(float(cell))
            after.append(float(key.drawn(planted[row])) if row in planted else float(cell))
    return ColumnChange(name, len(planted), (min(sizes), max(sizes)), tuple(before), tuple(after))
