"""Places of one value near places of other values, computed here because the server would drop some of these places.

The server joins the matches on both sides of a value into one stretch. It drops the stretch if one side is in another
document, so it misses many short documents. This module keeps every place that may be a row.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from tabcontam.extensions.corpora.infinigram.replies import TokenPlaces

if TYPE_CHECKING:
    import numpy as np

WIDTHS = (4, 2, 1)  # bytes that a token may have in an index


def merge_places(lists: Sequence[TokenPlaces]) -> TokenPlaces:
    """Return the places of all lists together."""
    shards = zip_longest(*(places.shards for places in lists), fillvalue=())
    merged = tuple(tuple(sorted(set[int]().union(*pointers))) for pointers in shards)
    return TokenPlaces(merged, any(places.approximate for places in lists))


def join_places(lists: Sequence[TokenPlaces], tokens: int) -> TokenPlaces:
    """Return the places of the first list that have a place of every other list at most `tokens` tokens away."""
    found = lists[0] if lists else TokenPlaces((), False)
    for others in lists[1:]:
        found = near(found, others, tokens)
    return found


def near(places: TokenPlaces, others: TokenPlaces, tokens: int) -> TokenPlaces:
    """Return the `places` with at least one of `others` at most `tokens` tokens away, before or after."""
    from numpy import asarray, int64

    within = tokens * width([*places.shards, *others.shards])
    kept = []
    for number, pointers in enumerate(places.shards):
        other_pointers = others.shards[number] if number < len(others.shards) else ()
        own = asarray(pointers, dtype=int64)
        kept.append(tuple(own[_has_near(own, asarray(other_pointers, dtype=int64), within)].tolist()))
    return TokenPlaces(tuple(kept), places.approximate)


def _has_near(
    own: "np.ndarray[tuple[int], np.dtype[np.int64]]",
    targets: "np.ndarray[tuple[int], np.dtype[np.int64]]",
    within: int,
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    from numpy import append, iinfo, int64, searchsorted

    near_enough = searchsorted(targets, own - within)  # the first place that is not too far before
    return append(targets, iinfo(int64).max)[near_enough] <= own + within


def width(shards: Sequence[Sequence[int]]) -> int:
    """Return the largest width of a token, in bytes, for which all these numbers are pointers to tokens."""
    return next(size for size in WIDTHS if all(pointer % size == 0 for pointers in shards for pointer in pointers))
