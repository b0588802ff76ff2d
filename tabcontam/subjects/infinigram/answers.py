"""What a server of the infini-gram protocol sent, each field checked for its type. Raises ValueError for all else."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Ids = tuple[int, ...]  # tokens
LINE_BREAKS = ("<0x0A>", "Ċ", "\n")  # as tokenizers name it
BLANKS = ("▁", "Ġ", " ")
LONGEST_NAME = 200
LONGEST_TEXT = 1_000_000  # characters of 10,000 tokens
LARGEST = 1 << 60  # of a pointer


class Place(NamedTuple):
    """A place in the index: the shard, and the pointer to a token in it."""

    shard: int
    pointer: int


@dataclass(frozen=True)
class Places:
    """Where a query is met: pointers by shard, in order. `approximate`: the server says that it looked at a sample."""

    shards: tuple[tuple[int, ...], ...]
    approximate: bool

    def __iter__(self) -> Iterator[Place]:
        return (Place(shard, pointer) for shard, pointers in enumerate(self.shards) for pointer in pointers)

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(map(len, self.shards))

    def complete(self, frequency: int) -> bool:
        """Whether these are all places of a single clause, of which the server was to look at so many.

        It looks at as many in each shard as that is divided by shards, and where it looked at fewer than twice as many
        as there are it still calls the answer exact.
        """
        most = frequency // max(1, len(self.shards))
        return not self.approximate and all(len(pointers) < most for pointers in self.shards)


@dataclass(frozen=True)
class Excerpt:
    """A stretch of a document around a place; so many tokens of it stand `before` the place and `behind` it.

    `begins` and `ends` say whether it does where the document does, as far as is known.
    """

    document: int
    text: str
    name: str
    before: int = 0
    behind: int = 0
    begins: bool = True
    ends: bool = True


def count_in(body: Mapping[str, Any]) -> int:
    """The number in the answer to `count`."""
    count = body.get("count")
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise ValueError("the reply holds no count")
    return count


def places_in(body: Mapping[str, Any]) -> Places:
    """The places in the answer to `find_cnf`."""
    shards, count, approximate = body.get("ptrs_by_shard"), body.get("cnt"), body.get("approx")
    if not isinstance(shards, list) or type(count) is not int or not isinstance(approximate, bool):
        raise ValueError("the reply holds no places")
    for pointers in shards:
        if not isinstance(pointers, list) or not all(type(one) is int and 0 <= one < LARGEST for one in pointers):
            raise ValueError("the reply holds places that are none")
    found = tuple(tuple(sorted(set(pointers))) for pointers in shards)
    # What was counted and is not told is not known either.
    return Places(found, approximate or (count > 0 and not any(found)))


def tokens_in(body: Mapping[str, Any], texts: Sequence[str]) -> dict[str, tuple[Ids, ...]]:
    """How each text is tokenised, in the answer to a query of the texts, each also behind a line break, in a clause.

    First stands the text as it stands behind a blank, then, where that differs, as it stands behind any other sign.
    """
    ids, names = list(_terms(body.get("token_ids"), int)), list(_terms(body.get("tokens"), str))
    if len(ids) != 2 * len(texts) or [len(term) for term in ids] != [len(term) for term in names]:
        raise ValueError("the reply holds no tokens")
    found = {}
    for place, text in enumerate(texts):
        spaced, bare = tuple(ids[2 * place]), _behind_break(ids[2 * place + 1], names[2 * place + 1])
        found[text] = tuple(dict.fromkeys(one for one in (spaced, bare) if one))
    return found


def _terms(clauses: object, kind: type) -> Iterator[list[Any]]:
    """The terms of all clauses, one after the other."""
    for clause in clauses if isinstance(clauses, list) else []:
        for term in clause if isinstance(clause, list) else []:
            if not isinstance(term, list) or not all(type(token) is kind for token in term):
                raise ValueError("the reply holds no tokens")
            yield term


def _behind_break(ids: Sequence[int], names: Sequence[str]) -> Ids:
    """The tokens behind the line break with which they begin; none where it is no token by itself."""
    for place, name in enumerate(names):
        if name in LINE_BREAKS:
            return tuple(ids[place + 1 :])
        if name not in BLANKS:
            break
    return ()


def excerpt_in(body: Mapping[str, Any], window: int) -> Excerpt:
    """The stretch in the answer to `get_doc_by_ptr`, which asked for so many tokens.

    What was taken down from the index has no text.
    """
    document, shown, spans = body.get("doc_ix"), body.get("disp_len"), body.get("spans")
    if not isinstance(document, int) or not isinstance(shown, int) or not isinstance(spans, list):
        raise ValueError("the reply holds no document")
    texts = [span[0] for span in spans if isinstance(span, list) and span and isinstance(span[0], str)]
    if len(texts) != len(spans) or sum(map(len, texts)) > LONGEST_TEXT:
        raise ValueError("the reply holds no stretch of a document")
    text, name = "".join(texts), _named(document, body.get("metadata"))
    before = body.get("needle_offset")  # earlier servers do not say it
    if type(before) is not int or not 0 <= before <= shown:
        return Excerpt(document, text, name)
    behind = shown - before
    return Excerpt(document, text, name, before, behind, before < window // 2, behind < (window + 1) // 2)


def _named(document: int, metadata: object) -> str:
    """A document by its number, and by what its body calls it, where it says so."""
    facts = _read(metadata)
    inner = _read(facts.get("metadata"))
    stated = next((each[key] for each in (inner, facts) for key in ("url", "path", "source") if _text(each, key)), "")
    line = facts.get("linenum")
    told = f"{stated}, line {line}" if stated and type(line) is int else stated
    clean = " ".join("".join(sign if sign.isprintable() else " " for sign in told).split())[:LONGEST_NAME]
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
