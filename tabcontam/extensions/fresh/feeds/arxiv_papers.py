"""arXiv's API: papers by the day of their first submission, each with its LaTeX source."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from urllib.parse import urlencode

from tabcontam.extensions.fresh.feeds.base import PAPER, Dated, Document, UnusableText
from tabcontam.extensions.fresh.feeds.entries import FeedEntry, entries_of
from tabcontam.extensions.fresh.feeds.feed_cards import Feed
from tabcontam.extensions.fresh.feeds.paper_source import paper_of
from tabcontam.extensions.fresh.feeds.polite_fetching import Fetcher
from tabcontam.extensions.fresh.feeds.web_text import page_of

A_PAGE = 50
ID = re.compile(r"https?://[^/]+/abs/((?:\d{4}\.\d{4,5}|[a-z-]{1,20}(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?)")
ATOM = "application/atom+xml"


def papers(
    feed: Feed, fetcher: Fetcher, since: date, until: date | None, dated: Dated, *, most_pages: int = 40
) -> Iterator[Document | UnusableText]:
    """Yield the papers first submitted from `since` to before `until`, newest first. For a paper that is left out, an
    `UnusableText` with the reason is yielded.

    arXiv's published date is the date of the first version. Raises `UsageError` if the answer is no Atom feed.
    """
    last = until - timedelta(days=1) if until else date(2999, 12, 31)
    span = f"submittedDate:[{since:%Y%m%d}0000 TO {last:%Y%m%d}2359]"
    query = f"({feed.query}) AND {span}" if feed.query else span
    for number in range(most_pages):
        asked = {"search_query": query, "sortBy": "submittedDate", "sortOrder": "descending",
                 "start": number * A_PAGE, "max_results": A_PAGE}  # fmt: skip
        page = fetcher.get(f"{feed.address}/api/query?{urlencode(asked)}", robots=False, accept=ATOM)
        entries = entries_of(page.content, page.charset, feed.address)
        for entry in entries:
            try:
                yield _paper(feed, fetcher, entry, dated)
            except UnusableText as reason:
                yield reason
        if len(entries) < A_PAGE:
            return


def _paper(feed: Feed, fetcher: Fetcher, entry: FeedEntry, dated: Dated) -> Document:
    found = ID.fullmatch(entry.id.strip())
    if not found:
        raise UnusableText("an entry that is no paper")
    published = dated(entry.published())
    source = fetcher.get(f"{feed.address}/e-print/{found[1]}", robots=False)
    paper = paper_of(source.content)
    title = " ".join(" ".join(page_of(entry.title).text).split())
    summary = paper.abstract or " ".join(" ".join(page_of(entry.summary).text).split())
    return Document(found[1], PAPER, entry.id.strip(), title, published, paper.introduction, summary)
