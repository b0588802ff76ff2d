"""The collection of a feed's texts that were surely published in a range of days. No text is collected twice."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path

from tabcontam.errors import UsageError
from tabcontam.extensions.fresh.feeds.arxiv_papers import papers
from tabcontam.extensions.fresh.feeds.base import Dated, Document, UnusableText
from tabcontam.extensions.fresh.feeds.date_ranges import InstantRange, start_of
from tabcontam.extensions.fresh.feeds.entries import articles
from tabcontam.extensions.fresh.feeds.feed_cards import ARXIV, GITHUB, Feed
from tabcontam.extensions.fresh.feeds.polite_fetching import Fetcher, origin
from tabcontam.extensions.fresh.feeds.readmes import readmes
from tabcontam.extensions.fresh.thresholds import DEFAULT_TEXTS
from tabcontam.tables.sources.web_files import key_in


@dataclass(frozen=True)
class TextCollection:
    """The collected texts in the feed's order, and the number left out for each reason. `asked` counts requests."""

    documents: tuple[Document, ...]
    left_out: Mapping[str, int]
    asked: int


def fetcher_of(feed: Feed, folder: Path) -> Fetcher:
    """Return a fetcher for a feed. It lists its requests in `folder`, the folder of the evaluation set."""
    hosts = frozenset({feed.host, *(host.lower() for host in feed.hosts or ())})
    return Fetcher(folder, hosts, feed.pause, key_in(feed.token), origin(feed.address))


def collect(
    feed: Feed,
    fetcher: Fetcher,
    since: date,
    until: date | None = None,
    most: int = DEFAULT_TEXTS,
    report: Callable[[int, int], None] = lambda done, of: None,
    now: datetime | None = None,
) -> TextCollection:
    """Return at most `most` texts that were published on `since` or later, and before `until`.

    A date counts only if its earliest reading (`instants_of`) is in this range and its latest is not in the future.
    Raises `UsageError` for a feed that cannot be read.
    """
    now = now or datetime.now(UTC)
    found: dict[tuple[str, ...], Document] = {}
    left_out: Counter[str] = Counter()
    addresses: set[str] = set()
    for one in _documents(feed, fetcher, since, until, partial(_dated, since, until, now)):
        reason = str(one) if isinstance(one, UnusableText) else _unfit(feed, one)
        if isinstance(one, Document) and not reason and (one.paragraphs in found or one.address in addresses):
            reason = "the same text again"
        if reason or isinstance(one, UnusableText):
            left_out[reason] += 1
            continue
        found[one.paragraphs] = one
        addresses.add(one.address)
        report(len(found), most)
        if len(found) >= most:
            break
    return TextCollection(tuple(found.values()), dict(left_out), fetcher.asked)


def _documents(
    feed: Feed, fetcher: Fetcher, since: date, until: date | None, dated: Dated
) -> Iterator[Document | UnusableText]:
    try:
        if feed.kind == ARXIV:
            yield from papers(feed, fetcher, since, until, dated)
        elif feed.kind == GITHUB:
            yield from readmes(feed, fetcher, since, until, dated)
        else:
            yield from articles(feed, fetcher, dated)
    except UnusableText as reason:  # the whole list is unusable
        raise UsageError(f"{feed.address} cannot be read: {reason}") from None


def _dated(since: date, until: date | None, now: datetime, published: InstantRange | None) -> InstantRange:
    """Return the date if it counts. Raises `UnusableText` if it does not."""
    if published is None:
        raise UnusableText("without a readable date")
    if published.first < start_of(since):
        raise UnusableText("older than the first day, or perhaps older")
    if published.first > now:
        raise UnusableText("dated in the future")
    if until is not None and published.last >= start_of(until):
        raise UnusableText("later than the last day, or perhaps later")
    return published


def _unfit(feed: Feed, one: Document) -> str:
    """Return the reason why a text is too short or too long; empty if its length is right."""
    if one.words < feed.min_words:
        return f"shorter than {feed.min_words} words"
    return f"longer than {feed.max_words:,} words" if one.words > feed.max_words else ""
