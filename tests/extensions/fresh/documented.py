"""What the pages of the docs need for `fresh`: feeds on loopback in place of arXiv, newspapers and GitHub."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tabcontam.extensions.fresh.feeds.feed_cards import FEED, shipped_feeds
from tests.extensions.fresh.loopback_feeds import FeedServer
from tests.made_passages import made_texts


@contextmanager
def documented(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Serve every feed on loopback."""
    feeds = shipped_feeds()  # one dictionary for all that import it, whenever they do
    with FeedServer(made_texts(36, datetime(2026, 11, 1, tzinfo=UTC))) as server:
        for name, feed in list(feeds.items()):
            here = feed.at(server.url + "/rss.xml" * (feed.kind == FEED))
            monkeypatch.setitem(feeds, name, replace(here, seconds=0.0, hosts=None))
        yield
