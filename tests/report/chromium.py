"""A page in real Chromium."""

import shutil
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def opened(browser: Any, path: Path, source: str, at: str = "", **options: Any) -> tuple[Any, list[str]]:
    """A page's text opened from disk, at `at`, and whatever the browser complains of."""
    path.write_text(source, encoding="utf-8")
    page = browser.new_page(**options)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.extend([request.url] * (not request.url.startswith("file:"))))
    page.goto(path.as_uri() + at)
    return page, complaints
