"""A parser for the command line: argparse with our exit code, a one-line error and suggestions."""

import argparse
import os
import sys
from collections.abc import Collection
from typing import Any, NoReturn

from tabcontam.errors import Exit, near


class CommandParser(argparse.ArgumentParser):
    """argparse with our exit code and a one-line error. An option cannot be abbreviated: `--verb` is an error.
    Otherwise, a new option could change the meaning of an abbreviation in an existing script.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **{"allow_abbrev": False, **options})

    def _get_formatter(self) -> argparse.HelpFormatter:
        """Return argparse's help formatter without importing `shutil`, which would take longer than all our imports."""
        try:
            columns = int(os.environ.get("COLUMNS") or 0) or os.get_terminal_size(1).columns
        except (ValueError, OSError):  # not a number, or not a terminal
            columns = 0
        formatter: Any = self.formatter_class
        made: argparse.HelpFormatter = formatter(prog=self.prog, width=(columns or 80) - 2)
        return made

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse as argparse does, but an unknown word is an error of the command, which names the nearest option."""
        options, strange = super().parse_known_args(args, namespace)
        last = next(iter(self._get_positional_actions()[-1:]), None)
        if strange and last and last.nargs in ("*", "+") and not any(word.startswith("-") for word in strange):
            more = [self._get_value(last, word) for word in strange]  # for example `gpt` in `list llms -v gpt`
            setattr(options, last.dest, [*getattr(options, last.dest, []), *more])
            return options, []
        if strange:
            word = strange[0].partition("=")[0]
            meant = self._meant(word)
            self.error(f"{self.prog.split()[-1]} takes no {word!r}" + (f"; did you mean {meant}?" if meant else ""))
        return options, strange

    def _meant(self, word: str) -> str:
        """Return the option that an unknown word probably means: a similar one, `--dataset WORD`, or ""."""
        if word.startswith("-"):
            known = list(self._option_string_actions)
            longer = [option for option in known if word.startswith("--") and option.startswith(word)]
            return next(iter(longer or near(word, known, limit=1)), "")
        named = "--dataset" in self._option_string_actions and not self._get_positional_actions()
        return f"--dataset {word}" if named else ""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Check the value as argparse does, but name the nearest choice in the error."""
        if action.choices is None or value in action.choices:
            return
        if isinstance(action, argparse._SubParsersAction):
            self.error(_unknown_command(str(value), action.choices))
        choices = list(map(str, action.choices))
        if isinstance(action, argparse._AppendAction) and set(str(value).split(",")) <= set(choices):
            each = " ".join(f"{action.option_strings[0]} {part}" for part in str(value).split(","))
            raise argparse.ArgumentError(action, f"{value!r} is a list; write {each}")
        found = near(str(value), choices, limit=1)
        meant = f"; did you mean {found[0]}?" if found else ""
        raise argparse.ArgumentError(action, f"{value!r} is not one of {', '.join(choices)}{meant}")

    def error(self, message: str) -> NoReturn:
        """Print the error in one line and exit with code 4."""
        print(f"tabcontam: {message}; see {self.prog} --help", file=sys.stderr)
        raise SystemExit(Exit.USAGE)


def _unknown_command(word: str, commands: Collection[str]) -> str:
    """Return the error line for an unknown command. It suggests the nearest command or, if `word` is a file, `run`."""
    if found := near(word, commands, limit=1):
        advice = f"did you mean {found[0]}?"
    elif os.path.isfile(word):
        advice = f"did you mean run --dataset {word}?"
    else:
        advice = f"known: {', '.join(commands)}"
    return f"unknown command {word!r}; {advice}"
