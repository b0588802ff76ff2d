"""The command `judge`: a person judges if completions match the true rows. It shows the judges' agreement, too."""

import argparse
import sys
from typing import TYPE_CHECKING

from tabcontam.cli.option_values import path
from tabcontam.errors import Exit, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from tabcontam.extensions.papers.human_judges import JudgingItem, JudgingSheet

WORDS = {
    "1": "exact", "e": "exact", "exact": "exact", "exact match": "exact",
    "2": "near-exact", "n": "near-exact", "near": "near-exact", "near-exact": "near-exact",
    "near exact": "near-exact", "near-exact match": "near-exact",
    "3": "no match", "x": "no match", "no": "no match", "no match": "no match",
}  # fmt: skip
SKIP, QUIT = ("s", "skip", ""), ("q", "quit", "exit")
ASKED = "1 exact, 2 near-exact, 3 no match, s skip, q quit: "
GUIDE = (
    "Each true ending stands next to the text of a language model, whose name is hidden. Exact: the same words and "
    "values in the same order; white space, capitals, quotes and final marks may differ. Near-exact: the true ending "
    "can be recognised as the source, with a few words or values left out, added or exchanged. No match: anything "
    "else, however fluent or plausible. Each judgement is stored at once; the same command continues where you stopped."
)


def add_judge(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Judge which completions of a run match the true text: with --by in the terminal, one pair at a time, or with "
        "--page on a page. The pairs are blind: no model, no instruction and no other judge is named. Without --by, "
        "print the judges of the run, how often each errs, and how far they agree."
    )
    command.add_argument("folder", type=path, metavar="RUN_DIR", help="the folder of the run: its --out")
    command.add_argument("--by", metavar="NAME", help="your name, as reports show it")
    command.add_argument(
        "--page", type=path, metavar="FILE", help="write a page on which to judge; it saves a file for --from"
    )
    command.add_argument("--from", dest="saved", type=path, metavar="FILE", help="read the file that the page saved")
    command.add_argument(
        "--seed", type=int, default=0, metavar="N", help="the same seed and name give the same order (default: 0)"
    )
    command.add_argument("--json", action="store_true", help="print the judges and their agreement as JSON")


def judge(options: argparse.Namespace) -> int | None:
    if options.by is None:
        if options.page or options.saved:
            raise UsageError(f"{'--page' if options.page else '--from'} needs your name; add --by NAME")
        _summary(options)
        return None
    if options.page and options.saved:
        raise UsageError("--page writes a page, --from reads the file that it saved; leave one of them out")
    from tabcontam.extensions.papers.human_judges import judged_again, sheet_of, take_file

    sheet = sheet_of(options.folder, options.by, options.seed)
    if options.page:
        _write_page(sheet, options.page)
        return None
    if options.saved:
        new = take_file(sheet, options.saved)
        print(f"{new} new judgements by {sheet.by}", file=sys.stderr)
        ended = None
    else:
        new, ended = _in_terminal(sheet)
    if new:
        judged_again(options.folder)
    if ended is None:
        _summary(options)
    return ended


def _summary(options: argparse.Namespace) -> None:
    from dataclasses import asdict

    from tabcontam.cli.printing import print_json
    from tabcontam.extensions.papers.judges import judges_text
    from tabcontam.runs.folder import load_all

    results = load_all([options.folder])
    if options.json:
        judges, agreements = map(asdict, results.judges), map(asdict, results.agreements)
        print_json({"judges": list(judges), "agreements": list(agreements)})
    else:
        print(judges_text(results))


def _write_page(sheet: "JudgingSheet", file: "Path") -> None:
    from tabcontam.extensions.papers.human_judges import render_judging
    from tabcontam.paths import replace_file

    if file.is_dir():
        raise UsageError(f"--page: {file} is a folder; name the file to write, such as judge.html")
    try:
        replace_file(file, render_judging(sheet))
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror or error}") from error
    print(f"{file}: {len(sheet.items)} pairs to judge; then type the same command with --from and the file it saves")


def _in_terminal(sheet: "JudgingSheet") -> tuple[int, Exit | None]:
    """Ask a person about each unjudged pair. Return the number of new judgements, and the exit code if interrupted."""
    from tabcontam.evidence.completion_pairs import Likeness

    left, new = sheet.left, 0
    if not left:
        print(f"{sheet.by} has judged all {len(sheet.items)} pairs", file=sys.stderr)
        return 0, None
    print(_wrapped(GUIDE))
    try:
        for item in left:
            done = len(sheet.items) - len(left) + new
            print(f"\n{_shown(item)}\n\n{done + 1} of {len(sheet.items)}")
            word = _asked()
            if word == QUIT[0]:
                break
            if word is not None:
                sheet.note(item, Likeness(word))
                new += 1
    except KeyboardInterrupt:
        print(f"\ninterrupted; {new} judgements are stored, and the same command continues", file=sys.stderr)
        return new, Exit.INTERRUPTED
    return new, None


def _asked() -> str | None:
    """Return the typed judgement, `q` to stop (also at the end of input), or None to skip. Ask again after others."""
    while True:
        try:
            typed = input(ASKED).strip().lower()
        except EOFError:
            return QUIT[0]
        if typed in QUIT:
            return QUIT[0]
        if typed in SKIP:
            return None
        if typed in WORDS:
            return WORDS[typed]


def _shown(item: "JudgingItem") -> str:
    from tabcontam.verdicts.wording import visible

    parts = {"beginning": item.shown, "true ending": item.expected, "completion": item.completion}
    return "\n\n".join(f"{name}:\n{_wrapped(visible(text), '  ')}" for name, text in parts.items() if text)


def _wrapped(text: str, indent: str = "") -> str:
    import shutil
    import textwrap

    width = max(40, min(100, shutil.get_terminal_size().columns))
    lines = (
        textwrap.fill(line, width, initial_indent=indent, subsequent_indent=indent) or indent
        for line in text.splitlines() or [""]
    )
    return "\n".join(lines)
