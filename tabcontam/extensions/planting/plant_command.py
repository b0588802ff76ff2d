"""The command `plant`: its arguments and its output, which reveals nothing about the secret key."""

import argparse
import csv
import sys
from typing import TYPE_CHECKING

from tabcontam.cli.option_values import path, positive
from tabcontam.cli.run_arguments import OF_TEXT, add_settings
from tabcontam.errors import Exit, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from tabcontam.extensions.planting.table_planting import ColumnChange, Planting

DESCRIPTION = """\
Before you publish a table: draw the last digits of some of its cells from a secret key. Later the key shows which other
digits could have been drawn, so that the p-value of a model that knows the published digits is exact, whatever else it
knows or computes. All other bytes of the file stay as they are. Nothing leaves the machine."""
EPILOG = """\
A cell changes by at most 5 steps of its last digit (12.50 becomes one of 12.45 to 12.55), and by at most a tenth of its
column's standard deviation. --tolerance sets this limit: 5% is a twentieth of it, in all columns; price=0.20 for one
column, in its own unit, however many steps that is (at most 50).

Columns that name or number things, sort the rows, have few different values, or determine another column (a sum, a
ratio) are left out; it is an error to name them in --columns.

examples:
  python -m tabcontam plant my.csv --out published.csv --key published.key
  python -m tabcontam plant my.csv --out published.csv --key published.key --columns price,weight --tolerance price=0.20
"""


def add_plant(command: argparse.ArgumentParser) -> None:
    command.description, command.epilog = DESCRIPTION, EPILOG
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_argument("file", metavar="FILE", help="the table to plant: CSV, TSV or other delimited text")
    command.add_argument("--out", type=path, required=True, metavar="FILE", help="the table to publish; a new file")
    command.add_argument(
        "--key",
        type=path,
        required=True,
        metavar="KEYFILE",
        help="a new file for the key, which only you can read: keep it, and never publish it",
    )
    command.add_argument(
        "--columns", type=_names, metavar="A,B", help="plant only these columns (default: all that can be planted)"
    )
    command.add_argument(
        "--cells",
        type=positive,
        metavar="N",
        help="the number of planted cells, at most one in a row (default: 200, or as many as there are)",
    )
    command.add_argument(
        "--tolerance",
        type=_tolerance,
        action="append",
        default=[],
        metavar="SHARE%|COLUMN=AMOUNT",
        help="the largest change of a cell (default: 10%%)",
    )
    add_settings(command, *OF_TEXT)
    command.add_argument("--json", action="store_true", help="print JSON")


def plant(options: argparse.Namespace) -> int:
    from tabcontam.baseline.altered_copies import revealing_column_of
    from tabcontam.cli.printing import print_json
    from tabcontam.extensions.planting.table_planting import PlantingChoices, write_planted
    from tabcontam.extensions.planting.table_planting import plant as planted
    from tabcontam.extensions.planting.thresholds import MOST_CHANGE_OF_CELL
    from tabcontam.report.progress_display import progress
    from tabcontam.tables.readers.base import text_format

    for file in (options.out, options.key):
        if file.exists():
            raise UsageError(f"{file} exists already; name a new file, nothing is overwritten")
        if not file.parent.is_dir():
            raise UsageError(f"there is no folder {file.parent}; make it, or name another")
    if options.out.resolve() == options.key.resolve():
        raise UsageError("--out and --key name one file; the key must not be published, so name two")
    shares = [amount for column, amount in options.tolerance if column is None]
    wanted = PlantingChoices(
        columns=tuple(options.columns or ()),
        cells=options.cells,
        share=float(shares[-1]) / 100 if shares else MOST_CHANGE_OF_CELL,
        amounts={column: amount for column, amount in options.tolerance if column is not None},
        text=text_format(options.delimiter, options.encoding, options.header, options.header_line),
    )
    try:
        with progress(quiet=False).doing("looking at columns", evenly=True) as tell:
            planting = planted(options.file, wanted, options.out.name, revealing_column_of, tell)
        write_planted(planting, options.out, options.key)
    except KeyboardInterrupt:
        print("tabcontam: interrupted; nothing was written", file=sys.stderr)
        return Exit.INTERRUPTED
    if options.json:
        print_json(_facts(planting, options))
    else:
        print(_describe(planting, options))
    return Exit.DONE


def _names(text: str) -> list[str]:
    """Return the names that commas separate in `text`. A name that contains a comma must be in double quotes."""
    names = [name.strip() for name in next(csv.reader([text]), [])]
    if not names or not all(names):
        raise argparse.ArgumentTypeError(f"{text!r} names no columns; write A,B")
    return names


def _tolerance(text: str) -> "tuple[str | None, Decimal]":
    """Return a column with the change that it tolerates: (None, 5) for `5%`, (`price`, 0.20) for `price=0.20`."""
    from decimal import Decimal, InvalidOperation

    column, equals, amount = text.rpartition("=")
    try:
        number = Decimal(amount if equals else text.removesuffix("%"))
    except InvalidOperation:
        number = Decimal(0)
    if not number.is_finite() or number <= 0 or bool(equals) == text.endswith("%"):
        raise argparse.ArgumentTypeError(f"{text!r} is no tolerance; write 5% or COLUMN=0.20")
    return column if equals else None, number


def _facts(planting: "Planting", options: argparse.Namespace) -> dict[str, object]:
    return {
        "out": str(options.out),
        "sha256": planting.key.sha256,
        "cells": len(planting.key.cells),
        "bits": round(planting.surest, 1),
        "columns": [
            {
                "column": change.column,
                "cells": change.cells,
                "alternatives": list(change.alternatives),
                "tolerance": planting.key.tolerances[change.column],
                "largest_change": change.largest,
                "mean": list(change.means),
                "standard_deviation": list(change.deviations),
            }
            for change in planting.changes
        ],
        "left_out": dict(planting.left_out),
    }


def _describe(planting: "Planting", options: argparse.Namespace) -> str:
    head = ("column", "cells", "alternatives", "largest change", "mean before", "after", "deviation before", "after")
    lines = [head, *(_line(change) for change in planting.changes)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        [
            f"{len(planting.key.cells)} cells of {options.out} are drawn from the key: publish no other copy",
            "",
            *(_aligned(line, widths) for line in lines),
            "",
            *(f"not planted: {name}, {reason}" for name, reason in planting.left_out.items()),
            f"{options.key} is the key: keep it and a copy of it, and publish neither",
            f"an LLM that has every planted cell right has a p-value of 2^-{planting.surest:.0f}",
        ]
    )


def _aligned(line: "Sequence[str]", widths: "Sequence[int]") -> str:
    """Return a line with the name flush left and the numbers flush right."""
    name, *numbers = line
    cells = [number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True)]
    return "  ".join([name.ljust(widths[0]), *cells])


def _line(change: "ColumnChange") -> tuple[str, ...]:
    fewest, most = change.alternatives
    numbers = (change.largest, *change.means, *change.deviations)
    count = str(most) if fewest == most else f"{fewest}-{most}"
    return (change.column, str(change.cells), count, *(f"{number:.6g}" for number in numbers))
