"""RSS and Atom feeds of texts, such as a newspaper's: the text is in the entries, or on the pages that they link to."""

from collections.abc import Iterator
from urllib.parse import urljoin

from tabcontam.errors import UsageError
from tabcontam.extensions.fresh.feeds.base import NEWS, Dated, Document, UnusableText
from tabcontam.extensions.fresh.feeds.date_ranges import instants_of
from tabcontam.extensions.fresh.feeds.entries import FeedEntry, entries_of
from tabcontam.extensions.fresh.feeds.feed_cards import PAGE, Feed
from tabcontam.extensions.fresh.feeds.polite_fetching import Fetcher
from tabcontam.extensions.fresh.feeds.web_text import page_of


def articles(feed: Feed, fetcher: Fetcher, dated: Dated) -> Iterator[Document | UnusableText]:
    """Yield the articles in the feed's order, and an `UnusableText` for each one left out. `dated` checks dates."""
    try:
        found = fetcher.get(feed.address)
    except UnusableText as reason:
        raise UsageError(f"{feed.address} cannot be read: {reason}") from None
    for entry in entries_of(found.content, found.charset, feed.address):
        try:
            yield _article(feed, fetcher, entry, dated)
        except UnusableText as reason:
            yield reason


def _article(feed: Feed, fetcher: Fetcher, entry: FeedEntry, dated: Dated) -> Document:
    published = dated(entry.published())
    address, summary = urljoin(feed.address, entry.link), " ".join(page_of(entry.summary).text)
    if feed.text != PAGE:
        paragraphs = page_of(entry.content or entry.summary).text
        summary = summary if entry.content else ""
    else:
        held = fetcher.get(address, accept="text/html")
        try:
            text = held.content.decode(held.charset or "utf-8")
        except (UnicodeDecodeError, LookupError):
            raise UnusableText("a page that is not in the encoding that it declares") from None
        page = page_of(text)
        stated = [instants_of(date) for date in page.dates]
        if not all(stated):
            raise UnusableText("with an unreadable date on its page")
        # A feed may list old pages again.
        published = dated(min([published, *(one for one in stated if one is not None)]))
        paragraphs = page.article
    title = " ".join(page_of(entry.title).text)
    return Document(entry.id or address, NEWS, address, title, published, paragraphs, summary)
