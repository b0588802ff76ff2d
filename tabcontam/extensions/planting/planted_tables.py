"""Tables with planted digits and the owner's key, which shows the planted cells and the other texts possible there."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tabcontam.errors import UsageError, option, option_name
from tabcontam.extensions.planting.key_setting import KEY
from tabcontam.extensions.planting.planting_key import PlantingKey, read_key
from tabcontam.runs.run_part import RunPart
from tabcontam.tables.table import Table


def with_keys(tables: Sequence[Table], files: Sequence[Path]) -> tuple[Table, ...]:
    """Return the tables, each with the planted cells that its key names. The secret itself is not stored in a table.

    Raises `UsageError` for a file that is no key, for the key of no table, and for a key that contradicts its table.
    """
    found = list(tables)
    for file in dict.fromkeys(files):
        key = read_key(file)
        fitting = [place for place, table in enumerate(found) if table.sha256 == key.sha256]
        if not fitting:
            raise UsageError(
                f"{option_name('key')}: {file} is the key of {key.table} (sha256 {key.sha256[:8]}), which is no "
                f"dataset of this run; add {option('dataset', key.table)}, byte for byte as it was published"
            )
        for place in fitting:
            found[place].check_whole("key")
            found[place] = _with_key(found[place], key, file)
    return tuple(found)


def _with_key(table: Table, key: PlantingKey, file: Path) -> Table:
    for cell in key.cells:
        exists = cell.column in table.columns and cell.row < len(table.rows)
        drawn = key.drawn(cell)
        if not exists or drawn not in cell.alternatives or table.column(cell.column)[cell.row] != drawn:
            problem = f"{option_name('key')}: {file} does not fit {table.name}"
            raise UsageError(f"{problem}; give the key as it was written, and read the table as `tabcontam plant` did")
    return replace(table, drawn_cells=key.cells)


class PlantingPart(RunPart):
    """The owner's keys in a run."""

    def tables(self, tables: Sequence[Table]) -> Sequence[Table]:
        """Return the tables with the planted cells that the keys name."""
        return with_keys(tables, KEY.of(self.config))
