"""The choice of places to read after a search: they are spread over all places, and no text is read twice."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import Any

from tabcontam.extensions.corpora.infinigram.replies import Excerpt, TokenPlace, excerpt_in
from tabcontam.extensions.corpora.thresholds import EXCERPT_STRIDE
from tabcontam.models.openai.connection import NoAnswer

LEAST, MOST = 1000, 10_000  # tokens of a stretch; the server allows no more

Send = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]


@dataclass
class ExcerptReader:
    """A reader of at most `left` more stretches. `count` have been read; `unseen` of them came without text."""

    index: str
    send: Send
    left: int
    count: int = 0
    unseen: int = 0
    # Each place that was read, with the numbers of tokens before and after it that were read.
    _seen: list[tuple[TokenPlace, int, int]] = field(default_factory=list)

    async def read(self, places: Sequence[TokenPlace], reach: int) -> AsyncIterator[Excerpt]:
        """Yield stretches of text around places. A match may extend `reach` tokens to either side of a place.

        If there are more places than `left`, the stretches are as long as possible, to contain several places.
        """
        window = MOST if len(places) > self.left else min(MOST, max(LEAST, 4 * reach))
        for place in spread(places):
            if not self.left:
                return
            if self.knows(place):
                continue
            self.left -= 1
            self.count += 1
            try:
                excerpt = excerpt_in(await self.send(self._asked(place, window)), window)
            except NoAnswer:  # only this document fails
                excerpt = None
            if excerpt is None or not excerpt.text:
                self.unseen += 1
                self._seen.append((place, 0, 0))
                continue
            # A match at an edge does not count (`found_in`), except where the document begins or ends.
            before = excerpt.before - (0 if excerpt.begins else 2 * reach)
            after = excerpt.after - (1 if excerpt.ends else 2 * reach)
            self._seen.append((place, max(0, before), max(0, after)))
            yield excerpt

    def knows_all(self, places: Iterable[TokenPlace]) -> bool:
        """Return whether each of these places was read, or could not be read."""
        return all(map(self.knows, places))

    def knows(self, place: TokenPlace) -> bool:
        """Return whether a stretch that was read contains all text around this place. A token has at least one byte."""
        return any(
            seen.shard == place.shard and -before <= place.pointer - seen.pointer <= after
            for seen, before, after in self._seen
        )

    def _asked(self, place: TokenPlace, window: int) -> dict[str, Any]:
        """Return the request for a stretch. Its query is empty, because a query splits the text and removes blanks."""
        at = {"s": place.shard, "ptr": place.pointer, "max_disp_len": window}
        return {"index": self.index, "query_type": "get_doc_by_ptr", "query": "", **at}


def spread(places: Sequence[TokenPlace]) -> Iterator[TokenPlace]:
    """Return an iterator over all places, in an order that keeps neighbours apart."""
    count = len(places)
    step = next((step for step in range(max(1, int(count * EXCERPT_STRIDE)), count + 1) if gcd(step, count) == 1), 1)
    return (places[turn * step % count] for turn in range(count))
