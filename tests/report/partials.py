"""A part of the page on its own: a template with the page's styles, as the page includes it."""

from base64 import b64encode
from hashlib import sha256
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tabcontam.report.results import typed, visible

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{hash}'">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>part</title><style>{style}</style></head>
<body><main>{body}</main></body></html>
"""


def rendered(template: str, context: dict[str, Any]) -> str:
    """A template, escaped and disarmed as on the page."""
    environment = Environment(
        loader=PackageLoader("tabcontam.report"),
        autoescape=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(context)


def part(name: str, document: dict[str, Any], context: Any) -> str:
    """The part of a page, without the page; `context` is its module's function."""
    view = typed(document)
    return rendered(f"{name}.html.jinja", {"view": view, **context(view)})


def page_of(*parts: str, styles: tuple[str, ...]) -> str:
    """Parts as a page that loads nothing and allows no style but its own."""
    style = "\n".join(rendered(f"{name}.css.jinja", {}) for name in ("style", *styles))
    return PAGE.format(
        hash=b64encode(sha256(style.encode()).digest()).decode(), style=Markup(style), body="\n".join(parts)
    )
