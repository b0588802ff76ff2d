"""Make what is found out about the tables that a run takes by default: `python -m tests.shipped`.

It comes with the package, so that a first run need not find it out. It has to be made anew, and committed, whenever
the guesser or the queries of a test change; `tests/baseline/test_shipped.py` fails until then.
"""

import os
import tempfile
import zipfile
from pathlib import Path
from unittest.mock import patch

from tabcontam.asking.preparing import fitted
from tabcontam.asking.query_plan import sheet_of
from tabcontam.baseline import stored_facts
from tabcontam.config import RunConfig
from tabcontam.runs.run import DATASETS
from tabcontam.tables.row_draws import identity
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table, load_table
from tests.usual import USUAL

STAMP = (1980, 1, 1, 0, 0, 0)  # of every file of an archive: the same content makes the same bytes


def plan(table: Table) -> None:
    """Write the queries of every test that a run asks by itself and that needs what is found out about a table."""
    serializer = next(iter(load_serializers().values()))
    for test in fitted(USUAL):
        sheet_of(test, table, serializer, RunConfig())


def found(table: Table, folder: Path) -> dict[str, bytes]:
    """What is found out about a table now, by the name of the file; `folder` is empty."""
    computed = patch.multiple(stored_facts, libraries=dict, SHIPPED=folder / "none")
    with patch.dict(os.environ, XDG_CACHE_HOME=str(folder), LOCALAPPDATA=str(folder)), computed:
        plan(table)
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("facts/*/*.json"))}


def main() -> None:
    """Write the archives of all default tables."""
    target = Path(str(stored_facts.SHIPPED))
    target.mkdir(exist_ok=True)
    for older in target.glob("*.zip"):
        older.unlink()
    for name in DATASETS:
        table = load_table(name)
        with tempfile.TemporaryDirectory() as made, zipfile.ZipFile(target / f"{identity(table)[:16]}.zip", "w") as one:
            for file, content in found(table, Path(made)).items():
                one.writestr(zipfile.ZipInfo(file, STAMP), content, zipfile.ZIP_DEFLATED, 9)
        print(name, (target / f"{identity(table)[:16]}.zip").stat().st_size, "bytes")


if __name__ == "__main__":
    main()
