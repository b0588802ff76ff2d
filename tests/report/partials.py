"""A part of the page on its own: a template with the page's styles, as the page includes it."""

from base64 import b64encode
from hashlib import sha256
from typing import Any

from markupsafe import Markup

from tabcontam.report.environment import asset, environment
from tabcontam.verdicts.document import parse_results

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{hash}'">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>part</title><style>{style}</style></head>
<body><main>{body}</main></body></html>
"""


def rendered(template: str, context: dict[str, Any]) -> str:
    """A template, escaped and disarmed as on the page."""
    return environment().get_template(template).render(context)


def part(name: str, document: dict[str, Any], context: Any) -> str:
    """The part of a page, without the page; `context` is its module's function."""
    view = parse_results(document)
    return rendered(f"{name}.html.jinja", {"view": view, **context(view)})


def page_of(*parts: str, styles: tuple[str, ...]) -> str:
    """Parts as a page that loads nothing and allows no style but its own."""
    style = "".join(asset(f"{name}.css") for name in ("style", *styles))
    return PAGE.format(
        hash=b64encode(sha256(style.encode()).digest()).decode(), style=Markup(style), body="\n".join(parts)
    )
