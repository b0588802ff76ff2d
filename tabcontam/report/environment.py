"""The templates of the page and the picture: everything that they write is escaped and made harmless.

Beside them lie the page's style sheets and scripts, which go into it as they are.
"""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tabcontam.verdicts.wording import visible

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> "Environment":
    """The templates; an undefined name is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=_disarmed,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def asset(name: str) -> str:
    """A style sheet or a script of the page."""
    return (TEMPLATES / name).read_text("utf-8")


def _disarmed(value: object) -> object:
    """Every value that a template writes, without control characters; our own markup stays as it is."""
    return visible(value) if type(value) is str else value
