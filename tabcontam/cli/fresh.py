"""The command `fresh`: what it takes, and what it prints."""

import argparse
from typing import TYPE_CHECKING

from tabcontam.cli.run_arguments import add_reading
from tabcontam.cli.values import folder
from tabcontam.errors import Exit, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from tabcontam.feeds.rows import FreshRows

DESCRIPTION = """\
Collect what no LLM can have read that was trained before a day: the rows of a dated table that are of that day or
later, as a table with a card that run takes. What is not surely as young is left out and counted."""
EPILOG = """\
examples:
  python -m tabcontam fresh sales.csv --dated-by day --since 2026-03-01 --out fresh
  python -m tabcontam fresh f1-2026 --since 2026-06-01 --out fresh
"""


def add_fresh(command: argparse.ArgumentParser) -> None:
    command.description, command.epilog = DESCRIPTION, EPILOG
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_argument("source", metavar="SOURCE", help="a table with dates: a FILE, or a dataset with a card")
    command.add_argument(
        "--since", required=True, metavar="DATE", help="the first day that counts as fresh, as 2026-03-01"
    )
    command.add_argument("--until", metavar="DATE", help="the day from which on nothing counts (default: none)")
    command.add_argument("--out", type=folder, required=True, metavar="DIR", help="where everything is written")
    rows = command.add_argument_group("a table")
    rows.add_argument("--dated-by", metavar="COLUMN", help="the column of dates (default: what the table's card names)")
    rows.add_argument(
        "--dated-as",
        metavar="FORM",
        help="how dates are written there, in the words of Python's strptime, as %%d/%%m/%%Y (default: as ISO 8601 has "
        "them, or the table's card)",
    )
    add_reading(rows)
    command.add_argument("--json", action="store_true", help="print JSON")


def fresh(options: argparse.Namespace) -> int:
    from tabcontam.feeds.dates import day_typed

    options.since = day_typed(options.since, "since")
    options.until = day_typed(options.until, "until") if options.until else None
    if options.until is not None and options.until <= options.since:
        raise UsageError(f"--until {options.until} is not after --since {options.since}; nothing lies between")
    return _rows(options)


def _rows(options: argparse.Namespace) -> int:
    from tabcontam.asking.trials import open_folder
    from tabcontam.cli.printing import print_json
    from tabcontam.feeds.rows import fresh_rows, written
    from tabcontam.tables.readers.base import text_format
    from tabcontam.tables.table import load_table

    form = text_format(options.delimiter, options.encoding, options.header)
    table = load_table(options.source, target=options.target, name=options.name, form=form)
    found = fresh_rows(table, options.since, options.until, dated_by=options.dated_by, dated_as=options.dated_as)
    open_folder(options.out)
    try:
        card, file = written(found, options.out)
    except OSError as error:
        raise UsageError(f"cannot write to {options.out}: {error.strerror or error}; make room, and repeat") from error
    if options.json:
        print_json(_facts(found, card, file))
    else:
        print(_told(found, card))
    return Exit.DONE


def _facts(found: "FreshRows", card: "Path", file: "Path") -> dict[str, object]:
    return {
        "card": str(card),
        "file": str(file),
        "rows": len(found.table.rows),
        "first": str(found.first),
        "last": str(found.last),
        "left_out": dict(found.left_out),
    }


def _told(found: "FreshRows", card: "Path") -> str:
    import shlex

    from tabcontam.feeds.rows import LEFT_OUT

    left_out = [
        f"left out: {found.left_out[key]:,} {words}" for key, words in LEFT_OUT.items() if key in found.left_out
    ]
    count = f"{len(found.table.rows):,} fresh rows, of {found.first} to {found.last}"
    return "\n".join([count, *left_out, f"python -m tabcontam run --dataset {shlex.quote(str(card))}"])
