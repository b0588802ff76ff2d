"""The evidence in real Chromium: it opens under a strict policy, says what it shows, and shows hostile text as text."""

import shutil
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

import pytest

from tabcontam.report.evidence import Packed, packed, script, style
from tabcontam.report.results import typed
from tests.report.synthetic import HOSTILE, cell, document, trial

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
COLOURS = """
:root { color-scheme: light dark; --ground: #ffffff; --card: #f6f7f9; --ink: #1b1f24; --quiet: #57606a;
  --rule: #d0d7de; --bold: #3d444d; --link: #0b57b0; --hit: #b42318; --hit-ink: #ffffff; --clean: #ffffff;
  --clean-edge: #b9c1ca; --unknown: #f2c94c; --warn: #8a5a00; }
@media (prefers-color-scheme: dark) { :root { --ground: #0f1318; --card: #181d24; --ink: #e6eaef; --quiet: #9aa5b1;
  --rule: #303841; --bold: #aab4bf; --link: #79b8ff; --hit: #ff7b6b; --hit-ink: #14080a; --clean: #0f1318;
  --clean-edge: #4a545f; --unknown: #d9a92c; --warn: #e3b341; } }
body { background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; margin: 1rem; }
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


def page_of(of: Mapping[str, Any], lines: Iterable[Mapping[str, Any]], blobs: Mapping[int, str] | None = None) -> str:
    """A page with nothing but the evidence, under the policy of the report's page."""
    view = typed(of)
    found: Packed = packed(view, lines)
    cells = "".join(
        f'<details class="evidence" id="cell-{place}" data-cell="{place}"><summary>{escape(one.test)}</summary>'
        "<div></div></details>"
        for place, one in view.placed.items()
    )
    held = found.blobs if blobs is None else blobs
    texts = "".join(f'<script type="text/plain" id="evidence-{block}">{blob}</script>' for block, blob in held.items())
    sheet = COLOURS + style()
    policy = f"default-src 'none'; script-src '{_hash(script())}'; style-src '{_hash(sheet)}'; base-uri 'none'"
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Evidence</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{sheet}</style></head>'
        f"<body><main>{cells}</main>{texts}<script>{script()}</script></body></html>"
    )


def _hash(source: str) -> str:
    return f"sha256-{b64encode(sha256(source.encode()).digest()).decode()}"


def opened(browser: Any, path: Path, source: str, fragment: str = "", **options: Any) -> tuple[Any, list[str]]:
    """The page opened from disk, and whatever the browser complains of."""
    path.write_text(source, encoding="utf-8")
    page = browser.new_page(**options)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.extend([request.url] * (not request.url.startswith("file:"))))
    page.goto(path.as_uri() + fragment)
    return page, complaints


