"""GitHub's REST API: the readmes of recently created repositories."""

import base64
import binascii
import json
import re
from collections.abc import Iterator
from datetime import date
from typing import Any
from urllib.parse import urlencode

from tabcontam.errors import UsageError
from tabcontam.extensions.fresh.feeds.base import README, Dated, Document, UnusableText
from tabcontam.extensions.fresh.feeds.date_ranges import instants_of
from tabcontam.extensions.fresh.feeds.feed_cards import Feed
from tabcontam.extensions.fresh.feeds.polite_fetching import Fetcher

JSON = "application/vnd.github+json"
A_PAGE = 100
NAME = re.compile(r"[\w.-]{1,100}/[\w.-]{1,100}")
NEXT = re.compile(r'<([^<>]+)>\s*;\s*rel="next"')


# most_pages: GitHub returns at most 1,000 repositories for a query
def readmes(
    feed: Feed, fetcher: Fetcher, since: date, until: date | None, dated: Dated, *, most_pages: int = 10
) -> Iterator[Document | UnusableText]:
    """Yield the readmes of the repositories that match the query and were created from `since` to before `until`. For a
    readme that is left out, an `UnusableText` with the reason is yielded.

    Raises `UsageError` if the address does not answer like GitHub's API.
    """
    created = f"created:{since}..{until}" if until else f"created:>={since}"
    asked = {"q": f"{feed.query} {created}".strip(), "sort": "stars", "order": "desc", "per_page": A_PAGE}
    address = f"{feed.address}/search/repositories?{urlencode(asked)}"
    for _ in range(most_pages):
        page = fetcher.get(address, robots=False, accept=JSON)
        listed = _json(page.content)
        items = listed.get("items") if isinstance(listed, dict) else None
        if not isinstance(items, list):
            raise UsageError(f"{feed.address} does not answer as GitHub's API does; check the address in the card")
        for item in items:
            try:
                yield _readme(feed, fetcher, item, dated)
            except UnusableText as reason:
                yield reason
        following = NEXT.search(page.links)
        if not following or not items:
            return
        address = following[1]


def _readme(feed: Feed, fetcher: Fetcher, item: Any, dated: Dated) -> Document:
    name = str(item.get("full_name") or "") if isinstance(item, dict) else ""
    if not NAME.fullmatch(name) or ".." in name:
        raise UnusableText("a result that is no repository")
    published = dated(instants_of(str(item.get("created_at") or "")))
    held = _json(fetcher.get(f"{feed.address}/repos/{name}/readme", robots=False, accept=JSON).content)
    file = str(held.get("name") or "") if isinstance(held, dict) else ""
    if not file.lower().endswith((".md", ".markdown")):
        raise UnusableText("a readme that is no Markdown")
    try:
        text = base64.b64decode(str(held.get("content") or "")).decode("utf-8")
    except (binascii.Error, ValueError):
        raise UnusableText("a readme that is no text") from None
    about = " ".join(str(item.get("description") or "").split())
    address = str(item.get("html_url") or f"{feed.address}/{name}")
    return Document(name, README, address, name, published, markdown_paragraphs(text), about)


def markdown_paragraphs(text: str) -> tuple[str, ...]:
    """Return Markdown's paragraphs, headings and list items as plain text, without code, HTML, images and addresses."""
    from markdown_it import MarkdownIt

    found = []
    for token in MarkdownIt("commonmark").parse(text[:400_000]):
        if token.type == "inline":
            parts = [
                " " if child.type in ("softbreak", "hardbreak") else child.content
                for child in token.children or []
                if child.type in ("text", "code_inline", "softbreak", "hardbreak")
            ]
            if paragraph := " ".join("".join(parts).split()):
                found.append(paragraph)
    return tuple(found)


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
