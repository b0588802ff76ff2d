"""The templates of the page and the picture: everything that they write is escaped and made harmless.

Beside them lie the page's style sheets and scripts, which go into it as they are.
"""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from tabcontam.verdicts.wording import visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

PARTS = re.compile(r"(?<=[_:/@])(?=[^_:/@\s])|(?<=\.)(?=[A-Za-z])")  # of a name; at hyphens browsers fold by themselves
OPTION = re.compile(r"(?<!\S)(--[a-z][a-z-]*)")  # of the command line
TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> "Environment":
    """The templates; an undefined name is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=_disarmed,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["breakable"] = breakable
    return made


@cache
def asset(name: str) -> str:
    """A style sheet or a script of the page."""
    return (TEMPLATES / name).read_text("utf-8")


def embedded(*names: str) -> tuple["Markup", str]:
    """Our own style sheets or scripts as one part of a page, and the hash by which its policy allows them.

    They are without what only their readers need; none of it stands in a text of several lines.
    """
    source = "\n".join(filter(None, map(str.strip, "".join(map(asset, names)).splitlines())))
    return ours(source), b64encode(sha256(source.encode()).digest()).decode()


def ours(markup: str) -> "Markup":
    """What is not escaped: our own style and scripts, and base64."""
    from markupsafe import Markup

    return Markup(markup)  # noqa: S704 - nothing in it was written by a model, a table or a user


def breakable(name: str) -> "Markup":
    """A name that may be folded where its parts meet, and so need not be in the middle of a word; an option never is.

    >>> breakable("openai:gpt_4<b>")
    Markup('openai:<wbr>gpt_<wbr>4&lt;b&gt;')
    >>> breakable("add --known FILE")
    Markup('add <span class="whole">--known</span> FILE')
    """
    from markupsafe import Markup, escape

    def folded(text: str) -> "Markup":
        return Markup("<wbr>").join(map(escape, filter(None, PARTS.split(text))))

    pieces = OPTION.split(visible(name))  # every second one is an option
    whole = Markup('<span class="whole">{}</span>')
    return Markup("").join(whole.format(piece) if place % 2 else folded(piece) for place, piece in enumerate(pieces))


def _disarmed(value: object) -> object:
    """Every value that a template writes, without control characters; our own markup stays as it is."""
    return visible(value) if type(value) is str else value
