"""The choice of the places that are read after a search: some from everywhere, none twice."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import Any

from tabcontam.models.infinigram.replies import Excerpt, TokenPlace, excerpt_in
from tabcontam.models.openai.connection import NoAnswer
from tabcontam.models.thresholds import EXCERPT_STRIDE

LEAST, MOST = 1000, 10_000  # tokens of a stretch; no more can be asked for

Send = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]


@dataclass
class ExcerptReader:
    """A reader of at most `left` more stretches. `count` were read; the server does not show `unseen` of them."""

    index: str
    send: Send
    left: int
    count: int = 0
    unseen: int = 0
    # With the tokens that were read on either side.
    _seen: list[tuple[TokenPlace, int, int]] = field(default_factory=list)

    async def read(self, places: Sequence[TokenPlace], reach: int) -> AsyncIterator[Excerpt]:
        """Yield stretches around places, around each of which up to `reach` tokens on either side may matter.

        If there are more places than may be read, the stretches are as long as possible, to hold several places.
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
            except NoAnswer:  # of this document alone
                excerpt = None
            if excerpt is None or not excerpt.text:
                self.unseen += 1
                self._seen.append((place, 0, 0))
                continue
            # A match at an edge does not count (`found_in`), unless the document begins or ends there.
            before = excerpt.before - (0 if excerpt.begins else 2 * reach)
            after = excerpt.after - (1 if excerpt.ends else 2 * reach)
            self._seen.append((place, max(0, before), max(0, after)))
            yield excerpt

    def knows_all(self, places: Iterable[TokenPlace]) -> bool:
        """Return whether the text around each of these places was read, or could not be."""
        return all(map(self.knows, places))

    def knows(self, place: TokenPlace) -> bool:
        """Return whether a stretch that was read holds everything around this place. A token takes one byte or more."""
        return any(
            seen.shard == place.shard and -before <= place.pointer - seen.pointer <= after
            for seen, before, after in self._seen
        )

    def _asked(self, place: TokenPlace, window: int) -> dict[str, Any]:
        """Return the request. Its query is empty: with one the text would come in pieces without blanks."""
        at = {"s": place.shard, "ptr": place.pointer, "max_disp_len": window}
        return {"index": self.index, "query_type": "get_doc_by_ptr", "query": "", **at}


def spread(places: Sequence[TokenPlace]) -> Iterator[TokenPlace]:
    """Return an iterator over all places that keeps neighbours apart, so that the first ones come from everywhere."""
    count = len(places)
    step = next((step for step in range(max(1, int(count * EXCERPT_STRIDE)), count + 1) if gcd(step, count) == 1), 1)
    return (places[turn * step % count] for turn in range(count))
