"""The commands: each reads its arguments, calls the package and prints.

A command imports heavy modules itself, so `--help` and `list` start at once.
"""

import argparse
import io
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

from tabcontam.cli.arguments import commands_of, find_command, parser, typed_options
from tabcontam.cli.printing import console_of, discard_output, print_json
from tabcontam.errors import Exit, UsageError
from tabcontam.version import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Return its exit code."""
    began = time.monotonic()
    typed = sys.argv[1:] if arguments is None else arguments
    a_shell_asks = "_ARGCOMPLETE" in os.environ  # for the possible next words
    command_line = parser(() if a_shell_asks else typed)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names and replies may contain unprintable characters
    try:
        with _ended_as_by_ctrl_c():
            if a_shell_asks:
                from tabcontam.cli.shell_completion import complete

                complete(command_line)
            options = command_line.parse_args(typed, argparse.Namespace(began=began))
            if options.command is None:  # a person wants the list of commands; a script has omitted its command
                command_line.print_help()
                return Exit.USAGE
            if hasattr(options, "no_defaults"):
                from tabcontam.cli.project_defaults import set_defaults

                options.defaults = set_defaults(options, commands_of(command_line), lambda: typed_options(typed))
                if options.defaults:
                    print(options.defaults, file=sys.stderr)
            return find_command(options.command).run(options) or Exit.DONE
    except UsageError as error:
        from tabcontam.verdicts.wording import visible

        print(f"tabcontam: {visible(' '.join(str(error).split()), line=True)}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print("tabcontam: interrupted; the same command with the same --out continues", file=sys.stderr)
        return Exit.INTERRUPTED
    except BrokenPipeError:
        discard_output()
        return Exit.DONE
    except Exception:
        import traceback

        traceback.print_exc()
        print(f"tabcontam {__version__}: internal error; please report the lines above", file=sys.stderr)
        return Exit.INTERNAL_ERROR


@contextmanager
def _ended_as_by_ctrl_c() -> Iterator[None]:
    """Make a scheduler's stop or a closed terminal end the process as Ctrl-C does. Ignored signals stay ignored."""
    shown = [stream for stream in (1, 2) if os.isatty(stream)]

    def interrupt(number: int, frame: FrameType | None) -> None:
        if number != signal.SIGTERM:  # SIGHUP: no terminal is left for output
            with open(os.devnull, "wb") as nowhere:
                for stream in shown:
                    os.dup2(nowhere.fileno(), stream)
        stop = signal.getsignal(signal.SIGINT)
        if not callable(stop):  # Ctrl-C is ignored in a process that a script starts in the background
            raise KeyboardInterrupt
        stop(signal.SIGINT, frame)

    before = {}
    for number in (getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")):
        with suppress(ValueError):  # not the main thread: its caller handles signals
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def power(options: argparse.Namespace) -> int:
    from tabcontam.calibration.power_study import Study, measure
    from tabcontam.cli.printing import command_line
    from tabcontam.evidence.prompts import DEFAULT as DEFAULT_PROMPTS
    from tabcontam.report.power_text import print_power
    from tabcontam.report.progress_display import progress
    from tabcontam.runs.dose_observations import observe_models, with_models
    from tabcontam.runs.run import DATASETS
    from tabcontam.tables.readers.base import text_format
    from tabcontam.tables.serializers import DEFAULT
    from tabcontam.verdicts.document import as_json

    study = Study(
        datasets=tuple(options.dataset) or DATASETS,
        serializer=options.serializer or DEFAULT,
        prompts=options.prompts or DEFAULT_PROMPTS,
        expression=options.expression,
        marks=options.marks,
        alpha=options.alpha,
        runs=options.runs,
        seed=options.seed,
        target=options.target,
        name=options.name,
        text=text_format(options.delimiter, options.encoding, options.header, options.header_line),
        known=tuple(options.known),
    )
    shown = progress(quiet=False)
    try:
        found = observe_models(study, options.llm, command_line(), shown) if options.llm else ()
        with shown.doing("simulated runs", evenly=True) as tell:
            document = measure(study, tell)
    except KeyboardInterrupt:
        kept = "the models' answers were" if options.llm else "nothing was"
        print(f"tabcontam: interrupted; {kept} stored", file=sys.stderr)
        return Exit.INTERRUPTED
    if options.llm:
        document = with_models(document, options.llm, found)
    if options.json:
        print(as_json(document), end="")
    else:
        print_power(console_of(), document)
    return Exit.DONE


def list_names(options: argparse.Namespace) -> None:
    from tabcontam.cli.list_command import LISTED, as_text, matching

    if options.what is None:
        print("\n".join(f"tabcontam list {name}" for name in LISTED))
        return
    items = matching(options.what, LISTED[options.what](), options.patterns)
    if options.json:
        print_json(items, default=sorted)
    else:
        print(as_text(items, verbose=options.verbose))


def cache(options: argparse.Namespace) -> None:
    from contextlib import closing

    from tabcontam.asking.reply_store import Store
    from tabcontam.report.cache_text import cache_text

    with closing(Store.open()) as store:
        dropped = store.clear() if options.clear else 0
        facts = store.facts()
    if options.json:
        print_json(facts, default=str)
    else:
        print((f"{dropped} stored replies deleted\n" if options.clear else "") + cache_text(facts))


def doctor(options: argparse.Namespace) -> int:
    """Print each check of the installation when it is made. The exit code is 4 if a plain `run` cannot work."""
    from dataclasses import asdict

    from tabcontam.runs.checkup import CheckState, checkup
    from tabcontam.verdicts.wording import visible

    found = []
    for check in checkup(options.llm):
        found.append(check)
        if not options.json:
            line = f"{check.state:<7} {check.name:<17} {check.detail}" + (f"; {check.advice}" if check.advice else "")
            print(visible(line, line=True), flush=True)
    broken = any(check.state is CheckState.BROKEN for check in found)
    if options.json:
        print_json({"ok": not broken, "checks": [asdict(check) for check in found]})
    return Exit.USAGE if broken else Exit.DONE
