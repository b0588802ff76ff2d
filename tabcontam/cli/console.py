"""The console to which the report is printed."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def console_of(color: str = "auto") -> "Console":
    """Return the console for a choice of --color: "auto", "always" or "never"."""
    from rich.console import Console

    class ReportConsole(Console):
        """A console whose reader may leave before the end, as `head` does."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    system: Any = {"auto": "auto", "always": "standard", "never": None}[color]
    return ReportConsole(color_system=system, highlight=False, emoji=False, markup=False, soft_wrap=False)
