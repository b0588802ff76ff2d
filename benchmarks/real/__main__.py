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

from benchmarks.method_page import METHOD, put
from benchmarks.real.asked import TABLES, at_hand, llms, weights
from benchmarks.real.chances import by_chances, fitted, of_record, store
from benchmarks.real.judging import as_markdown
from benchmarks.real.recording import record

PAGE = METHOD.with_name("real-llms.md")
BEGIN, END = "<!-- record: python -m benchmarks.real -->", "<!-- end of record -->"


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
    if options.judge:
        tables = [table for table in TABLES if table in options.only] or at_hand()
        if options.anew:
            for table in tables:
                store(options.record, fitted(options.record, table))
        lines = as_markdown(list(by_chances(options.record, tables, of_record(options.record))))
        print("\n".join(lines))
        if options.docs:
            put(lines, BEGIN, END, PAGE)
        return 0
    every = llms()
    named = [llm for name, llm in every.items() if name in options.only] or list(every.values())
    wanted = [word for word in options.only if word not in every]
    files = weights(options.weights, named)
    if not files:
        print(
            "no weights are here; put the GGUF files of benchmarks/real/llms.toml into a folder, and type "
            "--weights FOLDER",
            file=sys.stderr,
        )
        return 4
    until = monotonic() + 60 * options.minutes
    for llm in named:
        if llm.name not in files:
            print(f"{llm.name} is left out: no file has its SHA-256", file=sys.stderr)
        elif monotonic() < until:
            record(options.record, llm, files[llm.name], wanted, until)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
