"""The templates of the page and the picture, which escape every text and make control characters visible.

Their folder also contains the page's style sheets and scripts, which are embedded unescaped.
"""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from tabcontam.paths import PACKAGE
from tabcontam.verdicts.wording import visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

PARTS = re.compile(r"(?<=[_:/@])(?=[^_:/@\s])|(?<=\.)(?=[A-Za-z])")  # of a name; at hyphens browsers break anyway
OPTION = re.compile(r"(?<!\S)(--[a-z][a-z-]*)")  # an option of the command line
# the folders with templates, of the core and of extensions
TEMPLATES = (Path(__file__).parent / "templates", *sorted((PACKAGE / "extensions").glob("*/templates")))


@cache
def environment() -> "Environment":
    """Return the Jinja environment with the templates. In a template, an undefined name raises an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        # removes control characters; our own markup stays unchanged
        finalize=lambda value: visible(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["breakable"] = breakable
    return made


@cache
def asset(name: str) -> str:
    """Return the text of a style sheet or a script."""
    return next(path for folder in TEMPLATES if (path := folder / name).is_file()).read_text("utf-8")


def embedded(*names: str) -> tuple["Markup", str]:
    """Return our style sheets or scripts as one element of a page, and the hash that its content security policy lists.

    Indentation and empty lines are removed. No string in these files spans several lines.
    """
    source = "\n".join(filter(None, map(str.strip, "".join(map(asset, names)).splitlines())))
    return trusted_markup(source), b64encode(sha256(source.encode()).digest()).decode()


def trusted_markup(markup: str) -> "Markup":
    """Return `markup` marked as safe, so that templates do not escape it. Use: our styles, our scripts, base64."""
    from markupsafe import Markup

    return Markup(markup)  # noqa: S704 - nothing in it was written by a model, a table or a user


def breakable(name: str) -> "Markup":
    """Return a name with line breaks allowed between its parts, not within a word. A command-line option never breaks.

    >>> breakable("openai:gpt_4<b>")
    Markup('openai:<wbr>gpt_<wbr>4&lt;b&gt;')
    >>> breakable("add --known FILE")
    Markup('add <span class="whole">--known</span> FILE')
    """
    from markupsafe import Markup, escape

    def folded(text: str) -> "Markup":
        return Markup("<wbr>").join(map(escape, filter(None, PARTS.split(text))))

    pieces = OPTION.split(visible(name))  # every second piece is an option
    whole = Markup('<span class="whole">{}</span>')
    return Markup("").join(whole.format(piece) if place % 2 else folded(piece) for place, piece in enumerate(pieces))
