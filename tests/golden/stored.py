"""The golden files: what they hold, how it is compared, and the differences as a table."""

import json
import lzma
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from math import isclose
from multiprocessing import get_context
from pathlib import Path

from tabcontam.calibration.power_study import TOGETHER
from tabcontam.errors import UsageError
from tests.golden.chances import Archive, Trimmer, computed, read
from tests.golden.verdicts import (
    EXPOSED,
    REAL,
    RECORDED,
    Row,
    Rows,
    extension_of,
    of_card,
    of_exposed,
    of_real,
    of_recorded,
)
from tests.installed import EXTENSIONS, LACKING

FOLDER = Path(__file__).parent
CORE, CHANCES = FOLDER / "core.json.xz", FOLDER / "chances.json.xz"
SAME = 1e-5  # by which numbers that are judged from the stored chances may differ, as a share of themselves
NEAR, FAR = 0.05, 0.005  # by which p and q may differ where chances are computed anew: as a share, or that much
PROCESSES = 2
MOVED = re.compile(r"\| (result|verdict|paper) \|")  # a line about a verdict


def files() -> dict[str, Path]:
    """Return the files of results: the core's, with the name "", and those of the extensions that are here."""
    here = (name for name in EXTENSIONS if name not in LACKING)
    return {"": CORE, **{name: FOLDER.parent / "extensions" / name / "golden.json.xz" for name in here}}


def golden() -> Rows:
    """Return all results of all files."""
    rows: Rows = {}
    for path in filter(Path.exists, files().values()):
        rows |= {name: Row(*held) for name, held in json.loads(lzma.decompress(path.read_bytes())).items()}
    return rows


def of_parts(rows: Rows, names: Iterable[str]) -> Rows:
    """Return the results of these cards, files of answers, `real:` tables and `exposed:` halves."""
    own = {Path(name).name for name in names}
    return {name: row for name, row in rows.items() if name.split()[0] in own}


def keep(rows: Rows) -> None:
    """Write the files; equal results make equal bytes. An extension without results has no file."""
    if LACKING:
        raise UsageError(f"the golden files rest on all extensions, and this copy lacks {', '.join(LACKING)}")
    for extension, path in files().items():
        own = {name: row for name, row in rows.items() if extension_of(name.split()[-1]) == extension}
        if own:
            path.write_bytes(lzma.compress(json.dumps(own, sort_keys=True, separators=(",", ":")).encode(), preset=9))


def found(names: Sequence[str], anew: bool = False) -> tuple[Rows, Archive]:
    """Return every result about these cards and recorded answers, and the chances that they rest on.

    Two processes share the work. The chances are the stored ones, or computed `anew`.
    """
    rows, archive = Rows(), Archive()
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        for own, made in pool.map(_found, names, [anew] * len(names)):
            rows |= own
            archive |= made
    return rows, archive


def _found(name: str, anew: bool) -> tuple[Rows, Archive]:
    if name in RECORDED:
        return of_recorded(name), {}
    if name.startswith(REAL):
        return of_real(name, anew)
    if name.startswith(EXPOSED):
        return of_exposed(name, anew)
    if not anew:
        return of_card(name, chances()), {}
    archive: Archive = {}
    rows, trimmer = of_card(name, archive, computed), Trimmer()
    of_card(name, archive, trimmer.watched)
    trimmer.trim(archive)
    return rows, archive


@cache
def chances() -> Archive:
    """Return the stored chances."""
    return read(CHANCES) if CHANCES.exists() else {}


def differences(before: Mapping[str, Row], now: Mapping[str, Row], near: float, far: float = 0.0) -> list[str]:
    """Return a line of a table for each result that is not as it was, or is there no more, or new.

    Numbers may differ by `near` as a share of themselves, and by `far`. Without an extension, fewer tests share a
    family's level: q, what is decided by it and the verdicts on tables are left out.
    """

    def same(old: object, new: object) -> bool:
        if isinstance(old, float) and isinstance(new, float):
            return isclose(old, new, rel_tol=near, abs_tol=far)
        return old == new

    if LACKING:
        before, now = (
            {name: row._replace(verdict=None, q=None, reason="") for name, row in rows.items() if not of_table(name)}
            for rows in (before, now)
        )
    lines = []
    for name in sorted(before.keys() | now.keys()):
        old, new = before.get(name), now.get(name)
        if old is None or new is None:
            lines.append(f"| {name} | result | {_shown(old)} | {_shown(new)} |")
            continue
        pairs = zip(Row._fields, old, new, strict=True)
        lines += [f"| {name} | {field} | {one} | {other} |" for field, one, other in pairs if not same(one, other)]
    return sorted(lines, key=lambda line: not MOVED.search(line))  # verdicts first


def of_table(name: str) -> bool:
    """Whether a result is the verdict on a table, by all tests together."""
    return name.split()[-1] == TOGETHER


def differences_anew(before: Rows, now: Rows) -> list[str]:
    """Return the differences where chances were computed anew; bits are left out, since one tied guess moves many."""
    old, new = ({name: row._replace(bits=None) for name, row in rows.items()} for rows in (before, now))
    return differences(old, new, NEAR, FAR)


def table(lines: Iterable[str]) -> str:
    """Return lines of differences as a Markdown table."""
    return "\n".join(["| result | field | before | now |", "|---|---|---|---|", *lines])


def _shown(row: Row | None) -> str:
    return "none" if row is None else f"{row.verdict}, p = {row.p}"
