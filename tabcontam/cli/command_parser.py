"""A parser for the command line: argparse with our exit code, a one-line error and suggestions."""

import argparse
import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NoReturn

from tabcontam.errors import Exit, near


class HelpAll(argparse.Action):
    """The option that prints the help with all options."""

    def __call__(self, parser: argparse.ArgumentParser, *given: object) -> None:
        """Print the help and end the process."""
        print(parser.full_help(), end="")  # type: ignore[attr-defined]
        parser.exit()


class CommandParser(argparse.ArgumentParser):
    """argparse with our exit code and a one-line error. An option cannot be abbreviated: `--verb` is an error.
    Otherwise, a new option could change the meaning of an abbreviation in an existing script.

    `add` adds the arguments when they are first needed. `short`: only the short help is wanted. `further` are the
    options that only --help-all shows. `command_groups` are the names of the commands by the titles under which the
    help lists them, and `about` returns the help of each in one line.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **{"allow_abbrev": False, **options})
        self.add: Callable[[CommandParser], None] | None = None
        self.short = False
        self.further: list[argparse.Action] = []
        self.command_groups: Mapping[str, Sequence[str]] = {}
        self.about: Callable[[str], str] = str

    def fill(self) -> None:
        """Add the arguments, once."""
        add, self.add = self.add, None
        if add is not None:
            add(self)

    def full_help(self) -> str:
        """Return the help with all options."""
        self.fill()
        return super().format_help()

    def format_help(self) -> str:
        """Return the help without the further options."""
        self.fill()
        about = [action.help for action in self.further]
        for action in self.further:
            action.help = argparse.SUPPRESS
        try:
            return super().format_help() if not self.command_groups else self._help_in_groups()
        finally:
            for action, text in zip(self.further, about, strict=True):
                action.help = text

    def _help_in_groups(self) -> str:
        """Return the help with the commands in groups."""
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        subparsers = [each for each in self._actions if isinstance(each, argparse._SubParsersAction)]
        listed = {action.dest: action for each in subparsers for action in each._get_subactions()}
        for name, action in listed.items():
            action.help = self.about(name)
        sections = {title: [listed[name] for name in names] for title, names in self.command_groups.items()}
        sections["options"] = [action for action in self._actions if action.option_strings]
        for title, actions in sections.items():
            formatter.start_section(title)
            formatter.add_arguments(actions)
            formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()

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
        self.short = bool({"-h", "--help"} & set(args or ()))
        self.fill()
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
