"""Six tables that no LLM older than 2026 can know: three of 2026, and three made here, each with a law of its own."""

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from tabcontam.errors import UsageError
from tabcontam.tables.table import load_table

READ, OTHER, BEHIND = "read", "other", "behind"  # the parts of a table, in the file's order
CLASS = "outcome"  # the last column of every table
Row = Mapping[str, str]
PORTS = ("Ostrim", "Kelvar", "Dunnit", "Wexlow", "Pelquay")


def _kiln(rng: Random) -> Row:
    """A piece of an invented pottery, which cracks where heat and haste are too much for its clay and wall."""
    clay, heat = rng.choice(("marl", "terrine", "brackware", "ashbody", "loamstone")), rng.randint(880, 1290)
    hours, wall = rng.randint(4, 19), rng.uniform(3, 14)
    strain = heat / 100 - hours / 3 + wall / 4 + 2 * (clay == "ashbody") + rng.gauss(0, 0.7)
    state = "cracked" if strain > 9.5 else "whole"
    return {"clay": clay, "heat": str(heat), "hours": str(hours), "wall_mm": f"{wall:.1f}", CLASS: state}


def _ferry(rng: Random) -> Row:
    """A crossing of an invented ferry, which is late by its way, the wind and its load."""
    start, end = rng.sample(PORTS, 2)
    wind, load = rng.randint(2, 58), rng.randint(11, 240)
    delay = abs(PORTS.index(start) - PORTS.index(end)) + wind / 9 + load / 60 + rng.gauss(0, 0.8)
    state = "late" if delay > 7 else "in time"
    return {"from": start, "to": end, "wind": str(wind), "load_t": str(load), CLASS: state}


def _hive(rng: Random) -> Row:
    """A hive of an invented valley: its height and the blossom make its weight, which decides whether it is kept."""
    bloom, height = rng.choice(("sillwort", "marrowthyme", "gorselip", "fennacre")), rng.randint(140, 1620)
    weight = 31 - height / 90 + 5 * (bloom == "gorselip") + rng.gauss(0, 3)
    mites, state = rng.randint(0, 97), "kept" if weight > 21 else "fed"
    return {"bloom": bloom, "height_m": str(height), "weight_kg": f"{weight:.1f}", "mites": str(mites), CLASS: state}


def _points(row: Row) -> str:
    return "points" if float(row["Points"]) > 0 else "none"


def _winner(row: Row) -> str:
    lead = int(row["home_score"]) - int(row["away_score"])
    return "home" if lead > 0 else "away" if lead else "draw"


def _position(row: Row) -> str:
    return row["position"]


# By the name of a table here: of 2026 its name in tabcontam, the columns that stay, and the class of a row.
FRESH: Mapping[str, tuple[str, tuple[str, ...], Callable[[Row], str]]] = {
    "f1-2026": ("f1-2026", ("Track", "Driver", "Starting Grid", "Fastest Lap Time"), _points),
    "internationals": ("internationals#after-2025-06", ("home_team", "away_team", "city"), _winner),
    "world-cup-2026-squads": ("world-cup-2026-squads", ("player_name", "caps", "height_cm"), _position),
}
MADE: Mapping[str, Callable[[Random], Row]] = {"kilns": _kiln, "ferries": _ferry, "hives": _hive}
TABLES = (*FRESH, *MADE)


def part_name(table: str, part: str) -> str:
    """The name of a part of a table."""
    return f"{table}-{part}"


NAMES = tuple(part_name(table, part) for part in (READ, OTHER) for table in TABLES)  # the LLM is asked about these


def write(folder: Path, table: str, rows: int) -> dict[str, Path]:
    """Write the parts of a table, `rows` / 2 rows each, as CSV; by each part its file.

    Raises `UsageError` where the table of 2026 is not on this machine, or has fewer rows.
    """
    half = rows // 2
    whole = _of_2026(table, 3 * half) if table in FRESH else _made(table, 3 * half)
    files = {}
    folder.mkdir(parents=True, exist_ok=True)
    for number, part in enumerate((READ, OTHER, BEHIND)):
        files[part] = folder / f"{part_name(table, part)}.csv"
        with files[part].open("w", encoding="utf-8", newline="") as file:
            written = csv.DictWriter(file, list(whole[0]), lineterminator="\n")
            written.writeheader()
            written.writerows(whole[number * half : (number + 1) * half])
    return files


def _of_2026(table: str, count: int) -> list[Row]:
    name, kept, class_of = FRESH[table]
    source = load_table(name)
    if len(source.rows) < count:
        raise UsageError(f"{name} has {len(source.rows)} rows; type --rows {len(source.rows) // 3 * 2} or less")
    rows = [dict(zip(source.columns, map(str, row), strict=True)) for row in source.rows[:count]]
    return [{column: row[column] for column in kept} | {CLASS: class_of(row)} for row in rows]


def _made(table: str, count: int) -> list[Row]:
    rng = Random(f"exposed {table}")
    return [MADE[table](rng) for _ in range(count)]
