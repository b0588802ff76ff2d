"""Places of one value that are near places of others, found here: the server drops some that it should not.

What it finds on both sides of a value it takes for one stretch, and drops that where one side lies in another document;
of short documents that resemble each other it so finds few. Here all that may be a row is kept, and is read.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from tabcontam.subjects.infinigram.answers import Places

if TYPE_CHECKING:
    import numpy as np

WIDTHS = (4, 2, 1)  # bytes that a token may have in an index


def either(lists: Sequence[Places]) -> Places:
    """The places of all lists."""
    shards = zip_longest(*(places.shards for places in lists), fillvalue=())
    merged = tuple(tuple(sorted(set[int]().union(*pointers))) for pointers in shards)
    return Places(merged, any(places.approximate for places in lists))


def joined(lists: Sequence[Places], tokens: int) -> Places:
    """The places of the first list that have one of each other list at most so many tokens away."""
    found = lists[0] if lists else Places((), False)
    for others in lists[1:]:
        found = near(found, others, tokens)
    return found


def near(places: Places, others: Places, tokens: int) -> Places:
    """Those places that have one of the others at most so many tokens away, on either side."""
    from numpy import asarray, int64

    within = tokens * width([*places.shards, *others.shards])
    kept = []
    for number, pointers in enumerate(places.shards):
        beside = others.shards[number] if number < len(others.shards) else ()
        own = asarray(pointers, dtype=int64)
        kept.append(tuple(own[_has_near(own, asarray(beside, dtype=int64), within)].tolist()))
    return Places(tuple(kept), places.approximate)


def _has_near(
    own: "np.ndarray[tuple[int], np.dtype[np.int64]]", beside: "np.ndarray[tuple[int], np.dtype[np.int64]]", within: int
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    from numpy import append, iinfo, int64, searchsorted

    first = append(beside, iinfo(int64).max)[searchsorted(beside, own - within)]  # the first that is not too far before
    return first <= own + within


def width(shards: Sequence[Sequence[int]]) -> int:
    """The most bytes that a token can have where these are pointers."""
    return next(size for size in WIDTHS if all(pointer % size == 0 for pointers in shards for pointer in pointers))
