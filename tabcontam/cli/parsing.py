"""argparse as the command line uses it: our exit code, one line in place of the usage text, near misses named."""

import argparse
import os
import sys
from typing import Any, NoReturn

from tabcontam.errors import Exit, near


class Parser(argparse.ArgumentParser):
    """argparse with our exit code, and one line instead of the usage text."""

    def _get_formatter(self) -> argparse.HelpFormatter:
        """As argparse's, which asks `shutil` how wide the terminal is: that takes longer to import than all of ours."""
        try:
            columns = int(os.environ.get("COLUMNS") or 0) or os.get_terminal_size(1).columns
        except (ValueError, OSError):  # no number, or no terminal
            columns = 0
        formatter: Any = self.formatter_class
        made: argparse.HelpFormatter = formatter(prog=self.prog, width=(columns or 80) - 2)
        return made

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """As argparse's, but the command itself refuses what it does not know, and names its nearest option."""
        options, strange = super().parse_known_args(args, namespace)
        if strange:
            word = strange[0].partition("=")[0]
            meant = self._meant(word)
            self.error(f"{self.prog.split()[-1]} takes no {word!r}" + (f"; did you mean {meant}?" if meant else ""))
        return options, strange

    def _meant(self, word: str) -> str:
        """The option that a strange word comes near to, or whose value it is: a file after `run`."""
        if word.startswith("-"):
            return next(iter(near(word, self._option_string_actions, limit=1)), "")
        named = "--dataset" in self._option_string_actions and not self._get_positional_actions()
        return f"--dataset {word}" if named else ""

    def error(self, message: str) -> NoReturn:
        """One line, exit code 4."""
        print(f"tabcontam: {message}; see {self.prog} --help", file=sys.stderr)
        raise SystemExit(Exit.USAGE)
