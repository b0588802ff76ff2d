"""Completion in a shell through argcomplete: the shell runs tabcontam to learn the possible next words."""

import argparse
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tabcontam.entry_points import load_object
from tabcontam.errors import UsageError

COMMAND = "tabcontam"


def completion(options: argparse.Namespace) -> None:
    """Print the lines that a shell must run to switch completion on."""
    from argcomplete.shell_integration import shellcode

    print(shellcode([COMMAND], shell=options.shell))


def complete(command_line: argparse.ArgumentParser) -> None:
    """Print the possible next words, for which a shell asks, and end the process."""
    import argcomplete

    from tabcontam.cli.arguments import commands_of

    for command in commands_of(command_line).values():
        for action in command._actions:
            if action.dest in NAMES and action.nargs != 0:
                action.completer = names_and_files(NAMES[action.dest])  # type: ignore[attr-defined] # argcomplete's own
    argcomplete.autocomplete(command_line, always_complete_options=False)


def names_and_files(names: Callable[[], Iterable[str]]) -> Callable[..., list[str]]:
    """Return a completer of names and files. It offers no names if a card or a prompt set of the user is invalid."""

    def completer(prefix: str, **context: Any) -> list[str]:
        from argcomplete.completers import FilesCompleter

        try:
            known = [name for name in names() if name.startswith(prefix)]
        except UsageError:
            known = []
        return [*known, *FilesCompleter()(prefix, **context)]

    return completer


def _llms() -> list[str]:
    from tabcontam.models.catalogue import load_catalogue
    from tabcontam.models.provider_registry import BUILT_IN, CONTROLS

    return [*load_catalogue(), *CONTROLS, *(f"{name}:" for name in BUILT_IN)]


NAMES: Mapping[str, Callable[[], Iterable[str]]] = {
    "llm": _llms,
    "control": _llms,
    "reference": _llms,
    "dataset": lambda: load_object("tabcontam.tables.dataset_cards:all_cards")(),
    "serializer": lambda: load_object("tabcontam.tables.serializers:all_serializers")(),
    "prompts": lambda: load_object("tabcontam.evidence.prompts:all_prompts")(),
}
