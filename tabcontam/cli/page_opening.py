"""The option `--open`: the report in the user's browser, if there is one."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def open_page(index: "Path") -> None:
    """Show a report's first page in the browser that the system names; without one, print a line with its path."""
    import webbrowser

    try:
        shown = webbrowser.open(index.resolve().as_uri())
    except (webbrowser.Error, OSError):
        shown = False
    if not shown:
        print(f"tabcontam: no browser can be opened here; the report is {index}", file=sys.stderr)
