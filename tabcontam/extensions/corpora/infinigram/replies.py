"""Parsed replies of a server of the infini-gram protocol. Every field is checked; a wrong type raises ValueError."""

import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

Ids = tuple[int, ...]  # tokens
LINE_BREAKS = ("<0x0A>", "Ċ", "\n")  # tokenizers' names of the line break
BLANKS = ("▁", "Ġ", " ")


class TokenPlace(NamedTuple):
    """A place in the index: the number of the shard, and the pointer to a token in this shard."""

    shard: int
    pointer: int


@dataclass(frozen=True)
class TokenPlaces:
    """The places that a query found: sorted pointers by shard. `approximate`: the server searched only a sample."""

    shards: tuple[tuple[int, ...], ...]
    approximate: bool

    def __iter__(self) -> Iterator[TokenPlace]:
        return (TokenPlace(shard, pointer) for shard, pointers in enumerate(self.shards) for pointer in pointers)

    @property
    def count(self) -> int:
        """The number of places."""
        return sum(map(len, self.shards))

    def complete(self, frequency: int) -> bool:
        """Return whether these are all places of a single clause. The request asked to search `frequency` places.

        The server searches `frequency` divided by the number of shards in each shard. It calls a reply exact even if it
        searched only somewhat more than half of the places.
        """
        most = frequency // max(1, len(self.shards))
        return not self.approximate and all(len(pointers) < most for pointers in self.shards)


def merge_places(lists: Sequence[TokenPlaces]) -> TokenPlaces:
    """Return the places of all lists together."""
    shards = zip_longest(*(places.shards for places in lists), fillvalue=())
    merged = tuple(tuple(sorted(set[int]().union(*pointers))) for pointers in shards)
    return TokenPlaces(merged, any(places.approximate for places in lists))


def join_places(lists: Sequence[TokenPlaces], tokens: int) -> TokenPlaces:
    """Return the places of the first list that have a place of every other list at most `tokens` tokens away.

    They are joined here, because the server joins the matches on both sides of a value into one stretch and drops the
    stretch if one side is in another document. So it misses many short documents.
    """
    found = lists[0] if lists else TokenPlaces((), False)
    for others in lists[1:]:
        found = _near(found, others, tokens)
    return found


def _near(places: TokenPlaces, others: TokenPlaces, tokens: int) -> TokenPlaces:
    """Return the `places` with at least one of `others` at most `tokens` tokens away, before or after."""
    within = tokens * _token_bytes([*places.shards, *others.shards])

    def has_near(pointer: int, targets: Sequence[int]) -> bool:
        first = bisect_left(targets, pointer - within)  # the first place that is not too far before
        return first < len(targets) and targets[first] <= pointer + within

    shards = zip_longest(places.shards, others.shards[: len(places.shards)], fillvalue=())
    kept = (tuple(pointer for pointer in own if has_near(pointer, targets)) for own, targets in shards)
    return TokenPlaces(tuple(kept), places.approximate)


def _token_bytes(shards: Sequence[Sequence[int]]) -> int:
    """Return the most bytes that a token may have, so that all these numbers are pointers to tokens."""
    return next(size for size in (4, 2, 1) if all(pointer % size == 0 for pointers in shards for pointer in pointers))


@dataclass(frozen=True)
class Excerpt:
    """A stretch of a document around a place, with `before` tokens before the place and `after` tokens after it.

    `begins` and `ends` mean that the document begins or ends with the stretch, as far as is known.
    """

    document: int
    text: str
    name: str
    before: int = 0
    after: int = 0
    begins: bool = True
    ends: bool = True


def count_in(body: Mapping[str, Any]) -> int:
    """Return the count in the reply to `count`."""
    count = body.get("count")
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise ValueError("the reply holds no count")
    return count


# largest: the largest pointer, plus one
def places_in(body: Mapping[str, Any], *, largest: int = 1 << 60) -> TokenPlaces:
    """Return the places in the reply to `find_cnf`."""
    shards, count, approximate = body.get("ptrs_by_shard"), body.get("cnt"), body.get("approx")
    if not isinstance(shards, list) or type(count) is not int or not isinstance(approximate, bool):
        raise ValueError("the reply holds no places")
    for pointers in shards:
        if not isinstance(pointers, list) or not all(type(one) is int and 0 <= one < largest for one in pointers):
            raise ValueError("the reply holds invalid places")
    found = tuple(tuple(sorted(set(pointers))) for pointers in shards)
    # If places were counted but not returned, they are unknown.
    return TokenPlaces(found, approximate or (count > 0 and not any(found)))


def tokens_in(body: Mapping[str, Any], texts: Sequence[str]) -> dict[str, tuple[Ids, ...]]:
    """Return the tokens of each text, from the reply to a query with each text alone and after a line break.

    The tokens after a blank are first. Other tokens after any other sign follow.
    """
    ids, names = list(_terms(body.get("token_ids"), int)), list(_terms(body.get("tokens"), str))
    if len(ids) != 2 * len(texts) or [len(term) for term in ids] != [len(term) for term in names]:
        raise ValueError("the reply holds no tokens")
    found = {}
    for place, text in enumerate(texts):
        spaced, bare = tuple(ids[2 * place]), _after_break(ids[2 * place + 1], names[2 * place + 1])
        found[text] = tuple(dict.fromkeys(one for one in (spaced, bare) if one))
    return found


def _terms(clauses: object, kind: type) -> Iterator[list[Any]]:
    """Yield the terms of all clauses in order."""
    for clause in clauses if isinstance(clauses, list) else []:
        for term in clause if isinstance(clause, list) else []:
            if not isinstance(term, list) or not all(type(token) is kind for token in term):
                raise ValueError("the reply holds no tokens")
            yield term


def _after_break(ids: Sequence[int], names: Sequence[str]) -> Ids:
    """Return the tokens after the leading line break; empty if the break is not a separate token."""
    for place, name in enumerate(names):
        if name in LINE_BREAKS:
            return tuple(ids[place + 1 :])
        if name not in BLANKS:
            break
    return ()


# longest_text: characters that 10,000 tokens have at most
def excerpt_in(body: Mapping[str, Any], window: int, *, longest_text: int = 1_000_000) -> Excerpt:
    """Return the stretch in the reply to `get_doc_by_ptr`, for a request of `window` tokens.

    A document that was removed from the index has no text.
    """
    document, shown, spans = body.get("doc_ix"), body.get("disp_len"), body.get("spans")
    if not isinstance(document, int) or not isinstance(shown, int) or not isinstance(spans, list):
        raise ValueError("the reply holds no document")
    texts = [span[0] for span in spans if isinstance(span, list) and span and isinstance(span[0], str)]
    if len(texts) != len(spans) or sum(map(len, texts)) > longest_text:
        raise ValueError("the reply holds no stretch of a document")
    text, name = "".join(texts), _named(document, body.get("metadata"))
    before = body.get("needle_offset")  # older servers do not send it
    if type(before) is not int or not 0 <= before <= shown:
        return Excerpt(document, text, name)
    after = shown - before
    return Excerpt(document, text, name, before, after, before < window // 2, after < (window + 1) // 2)


def _named(document: int, metadata: object, *, longest_name: int = 200) -> str:
    """Return the name of a document: its number, and the source that its metadata state, if any."""
    facts = _read(metadata)
    inner = _read(facts.get("metadata"))
    stated = next((each[key] for each in (inner, facts) for key in ("url", "path", "source") if _text(each, key)), "")
    line = facts.get("linenum")
    label = f"{stated}, line {line}" if stated and type(line) is int else stated
    clean = " ".join("".join(sign if sign.isprintable() else " " for sign in label).split())[:longest_name]
    return f"document {document}" + (f" ({clean})" if clean else "")


def _read(metadata: object) -> Mapping[str, Any]:
    if isinstance(metadata, str):
        try:
            metadata = json.loads(metadata)
        except (ValueError, RecursionError):
            return {}
    return metadata if isinstance(metadata, dict) else {}


def _text(facts: Mapping[str, Any], key: str) -> bool:
    return isinstance(facts.get(key), str) and bool(facts[key].strip())
