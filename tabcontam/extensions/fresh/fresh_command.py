"""The command `fresh`: its arguments and its output."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tabcontam.cli.option_values import path, positive
from tabcontam.cli.run_arguments import OF_FILES, OF_LIMITS, add_settings
from tabcontam.config import LIMITS, RunConfig
from tabcontam.errors import Exit, UsageError

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

    from tabcontam.extensions.fresh.feeds.dated_rows import FreshRows
    from tabcontam.extensions.fresh.feeds.feed_cards import Feed
    from tabcontam.extensions.fresh.fresh_set import FreshOrder

DESCRIPTION = """\
Collect rows or texts that no model trained before a day can have read. From a table with dates: its rows of that day
or later, as a table with a card that run takes. From a feed of texts (arXiv, BBC News, readmes on GitHub, any RSS or
Atom feed): the latest texts and, with --llm, questions on them with masked answers (LatestEval, Li, Guerin and Lin
2024). Anything that may be older is left out and counted. Requests keep to the hosts' limits, and the same command
continues after an interruption."""
EPILOG = """\
examples:
  python -m tabcontam fresh sales.csv --dated-by day --since 2026-03-01 --out fresh
  python -m tabcontam fresh f1-2026 --since 2026-06-01 --out fresh
  python -m tabcontam fresh arxiv --since 2026-11-01 --llm gpt-4o --out papers
  python -m tabcontam fresh feed.toml --since 2026-11-01 --llm gpt-4o --ask llama3 --ask mistral --out news
  python -m tabcontam fresh arxiv --since 2026-11-01 --ask llama3 --old papers-of-2016 --out papers
"""
OF_TEXTS = ("address", "most", "llm", "judge", "ask", "human", "old", "dry_run")
OF_ROWS = ("dated_by", "dated_as", "target", "name", "delimiter", "encoding", "header", "header_line")


def add_fresh(command: argparse.ArgumentParser) -> None:
    command.description, command.epilog = DESCRIPTION, EPILOG
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_argument(
        "source",
        metavar="SOURCE",
        help="a table with dates (a FILE, or a dataset with a card), or a feed of texts: arxiv, bbc, github, the "
        "address of an RSS or Atom feed, or a card of your own (FILE.toml)",
    )
    command.add_argument(
        "--since", required=True, metavar="DATE", help="the first day that counts as fresh, such as 2026-03-01"
    )
    command.add_argument("--until", metavar="DATE", help="the first day that no longer counts (default: none)")
    command.add_argument("--out", type=path, required=True, metavar="DIR", help="the folder for the output")
    add_settings(command, "seed", default=0, help="the seed of all random draws (default: 0)")
    rows = command.add_argument_group("a table")
    rows.add_argument(
        "--dated-by", metavar="COLUMN", help="the column of dates (default: the one that the table's card names)"
    )
    rows.add_argument(
        "--dated-as",
        metavar="FORM",
        help="the format of these dates for Python's strptime, such as %%d/%%m/%%Y (default: ISO 8601, or that of the "
        "table's card)",
    )
    add_settings(rows, *OF_FILES)
    texts = command.add_argument_group("texts")
    texts.add_argument(
        "--address",
        metavar="URL[#VARIABLE]",
        help="another address of the feed, such as a mirror; after a # the environment variable that holds its token, "
        "as in https://HOST/feed#MY_TOKEN",
    )
    texts.add_argument("--most", type=positive, metavar="N", help="take at most N texts (default: 50)")
    texts.add_argument("--llm", metavar="LLM", help="the model that writes the questions")
    texts.add_argument(
        "--judge",
        metavar="LLM",
        help="the model that checks whether questions are faithful and answerable, and rates answers (default: that of "
        "--llm)",
    )
    texts.add_argument(
        "--ask",
        action="append",
        default=[],
        metavar="LLM",
        help="a model that answers the questions, or reads the texts of --old (repeatable)",
    )
    texts.add_argument(
        "--human", type=path, metavar="FILE", help="judgements by people, as JSON lines, to compare with the judge's"
    )
    texts.add_argument(
        "--old",
        type=path,
        metavar="DIR|FILE",
        help="earlier texts, from the DIR of another set or as JSON lines; shows whether the models of --ask know them "
        "better than the fresh texts, by perplexity and by copied text",
    )
    add_settings(command.add_argument_group(LIMITS), *OF_LIMITS)
    command.add_argument("--json", action="store_true", help="print JSON")


def fresh(options: argparse.Namespace) -> int:
    feed = named_feed(vars(options))
    return _rows(options) if feed is None else _texts(options, feed)


def named_feed(words: Mapping[str, Any]) -> "Feed | None":
    """Return the feed of new texts that `words`, arguments of `tabcontam.fresh`, ask for; None if they name a table.

    Raises `UsageError` if no day lies between the two dates, or if the source does not support an argument.
    """
    from tabcontam.errors import option, option_name

    since, until = _days(words)
    if until is not None and until <= since:
        raise UsageError(f"{option('until', str(until))} is not after {option('since', str(since))}; give a later day")
    feed = _feed(words)
    what, others = ("a table", OF_TEXTS) if feed is None else ("texts", OF_ROWS)
    if given := [name for name in others if _is_given(name, words.get(name))]:
        raise UsageError(f"{option_name(given[0])} has no meaning for {what}; leave it out")
    return feed


def _is_given(name: str, value: object) -> bool:
    """Return whether a user set a value. False counts for `header`: it states that a file has no header."""
    return value not in (None, [], (), False) or (name == "header" and value is False)


def _days(words: Mapping[str, Any]) -> "tuple[date, date | None]":
    from tabcontam.extensions.fresh.feeds.date_ranges import day_typed

    since, until = words["since"], words["until"]
    return day_typed(str(since), "since"), day_typed(str(until), "until") if until else None


def _feed(words: Mapping[str, Any]) -> "Feed | None":
    from urllib.parse import urlsplit

    from tabcontam.extensions.fresh.feeds.feed_cards import FEED, Feed, find_feed
    from tabcontam.models.keys import NO_KEY, split_variable
    from tabcontam.tables.sources import is_address

    source = str(words["source"])
    feed = find_feed(source)
    address, variable = split_variable(str(words["address"] or ""))
    if feed is None and is_address(source) and not words["dated_by"]:
        own, named = split_variable(source)
        feed = Feed("feed", urlsplit(own).hostname or "feed", FEED, own).at(own, "" if named == NO_KEY else named)
    return feed.at(address, "" if variable == NO_KEY else variable) if feed is not None and address else feed


def fresh_order(words: Mapping[str, Any], feed: "Feed") -> "FreshOrder":
    """Return the order for a set of fresh texts. `words` are the arguments of `tabcontam.fresh`."""
    from tabcontam.extensions.fresh.fresh_set import FreshOrder
    from tabcontam.extensions.fresh.thresholds import DEFAULT_TEXTS

    since, until = _days(words)
    return FreshOrder(
        feed=feed,
        since=since,
        until=until,
        out=words["out"],
        most=words["most"] or DEFAULT_TEXTS,
        llm=words["llm"],
        judge=words["judge"],
        ask=tuple(words["ask"]),
        old=words["old"],
        human=words["human"],
        config=RunConfig(**{name: words[name] for name in ("seed", *OF_LIMITS[1:])}),
        dry_run=words.get("dry_run", False),
    )


def _texts(options: argparse.Namespace, feed: "Feed") -> int:
    import sys

    from tabcontam.cli.printing import print_json
    from tabcontam.extensions.fresh.fresh_set import make
    from tabcontam.extensions.fresh.fresh_text import fresh_text, plan_of
    from tabcontam.report.progress_display import progress

    made = make(fresh_order(vars(options), feed), progress(quiet=False))
    if options.json:
        print_json(dict(made.document))
    else:
        print(fresh_text(made.document, made.folder))
    if options.dry_run:
        print(plan_of(made.estimates), file=sys.stderr if options.json else sys.stdout)
    if made.interrupted:
        print(f"interrupted; continue with the same command and --out {made.folder}", file=sys.stderr)
        return Exit.INTERRUPTED
    if made.ended and not made.spent:
        raise UsageError(f"{made.ended}; the same command continues from here")
    if made.ended:
        print(f"{made.ended}; the same command with a higher limit continues", file=sys.stderr)
    return Exit.DONE


def write_fresh_rows(words: Mapping[str, Any]) -> "tuple[FreshRows, Path, Path]":
    """Write a table's fresh rows; return them, their card, their file. `words`: arguments of `tabcontam.fresh`."""
    from tabcontam.asking.trial_file import open_folder
    from tabcontam.extensions.fresh.feeds.dated_rows import fresh_rows, save_fresh_rows
    from tabcontam.tables.readers.base import text_format
    from tabcontam.tables.table import load_table

    since, until = _days(words)
    form = text_format(words["delimiter"], words["encoding"], words["header"], words["header_line"])
    table = load_table(str(words["source"]), target=words["target"], name=words["name"], form=form, whole=True)
    found = fresh_rows(table, since, until, dated_by=words["dated_by"], dated_as=words["dated_as"])
    open_folder(words["out"])
    try:
        card, file = save_fresh_rows(found, words["out"])
    except OSError as error:
        raise UsageError(f"cannot write to {words['out']}: {error.strerror or error}; make room, and repeat") from error
    return found, card, file


def _rows(options: argparse.Namespace) -> int:
    from tabcontam.cli.printing import print_json

    found, card, file = write_fresh_rows(vars(options))
    if options.json:
        print_json(found.facts(card, file))
    else:
        print(_describe(found, card))
    return Exit.DONE


def _describe(fresh_rows: "FreshRows", card: "Path") -> str:
    import shlex

    from tabcontam.extensions.fresh.feeds.dated_rows import LEFT_OUT

    left_out = [
        f"left out: {fresh_rows.left_out[key]:,} {words}"
        for key, words in LEFT_OUT.items()
        if key in fresh_rows.left_out
    ]
    count = f"{len(fresh_rows.table.rows):,} fresh rows, of {fresh_rows.first} to {fresh_rows.last}"
    return "\n".join([count, *left_out, f"python -m tabcontam run --dataset {shlex.quote(str(card))}"])
