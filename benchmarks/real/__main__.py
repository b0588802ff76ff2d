"""A record of what real LLMs answered about tables: `python -m benchmarks.real RECORD --minutes N --weights FOLDER`.

Asks the LLMs of `benchmarks/real/llms.toml` what the record in the folder RECORD lacks, for so many minutes; the same
command goes on. Their weights are found by SHA-256, among the files of FOLDER and in installed packages. `--only`
leaves what has all of these words: an LLM's name, a table, `completion` or `chat`, `csv`, `is` or `equals`,
`once`, a test.

`python -m benchmarks.real RECORD --judge` judges the answers and prints the verdicts. It reads the baseline's chances
from RECORD; `--anew` fits them first, which takes one to three minutes a table.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from benchmarks.rate_tables import put
from benchmarks.real.asked import EVERYWHERE, ONCE, TABLES, at_hand, llms, places, weights
from benchmarks.real.chances import by_chances, fitted, of_record, store
from benchmarks.real.judging import as_markdown, recorded
from benchmarks.real.recording import record
from tabcontam.errors import Exit, UsageError, unknown
from tests.golden.chances import Missing


def main(arguments: Sequence[str] | None = None) -> int:
    """Record or judge, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real", description=__doc__)
    parser.add_argument("record", type=Path, metavar="RECORD")
    parser.add_argument("--minutes", type=float, default=60.0, help="how long to ask (60)")
    parser.add_argument("--weights", type=Path, metavar="FOLDER", help="where GGUF files lie")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD")
    parser.add_argument("--judge", action="store_true", help="judge the record; nothing is asked")
    parser.add_argument("--docs", action="store_true", help="with --judge: put the tables on docs/real-llms.md")
    parser.add_argument("--anew", action="store_true", help="with --judge: fit the chances anew first")
    options = parser.parse_args(arguments)
    try:
        _check(options.only)
        if options.judge:
            _judge(options)
        else:
            _ask(options)
    except (UsageError, Missing) as error:
        print(error, file=sys.stderr)
        return Exit.USAGE
    except KeyboardInterrupt:
        print("stopped; the answers that came are kept, and the same command goes on", file=sys.stderr)
        return Exit.INTERRUPTED
    return Exit.DONE


def _check(words: Sequence[str]) -> None:
    """Raise `UsageError` for a word that names nothing."""
    every = llms()
    named = {word for llm in every.values() for place in places(llm) for word in place.words}
    known = [*every, *sorted(named), *EVERYWHERE, *ONCE]
    for word in words:
        if word not in known:
            raise unknown("word", word, known)


def _judge(options: argparse.Namespace) -> None:
    """Print what the record comes to. Raises `UsageError` where there is none."""
    every = recorded(options.record)
    answers = {llm.name: held.count for llm, held in every}
    if not any(answers.values()):
        raise UsageError(f"{options.record} holds no record; leave out --judge to make one")
    tables = [table for table in TABLES if table in options.only] or at_hand()
    if options.anew:
        for table in tables:
            store(options.record, fitted(every, table))
    lines = as_markdown(list(by_chances(every, tables, of_record(options.record))), answers)
    print("\n".join(lines))
    if options.docs:
        put(lines, "record")


def _ask(options: argparse.Namespace) -> None:
    """Ask the LLMs whose weights are here. Raises `UsageError` where there are none."""
    every = llms()
    named = [llm for name, llm in every.items() if name in options.only] or list(every.values())
    wanted = [word for word in options.only if word not in every]
    files = weights(options.weights, named)
    if not files:
        raise UsageError(
            "no weights are here; put the GGUF files of benchmarks/real/llms.toml into a folder, and type "
            "--weights FOLDER"
        )
    until = monotonic() + 60 * options.minutes
    for llm in named:
        if llm.name not in files:
            print(f"{llm.name} is left out: no file has its SHA-256", file=sys.stderr)
        elif monotonic() < until:
            record(options.record, llm, files[llm.name], wanted, until)


if __name__ == "__main__":
    raise SystemExit(main())
