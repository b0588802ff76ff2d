"""A server on loopback that speaks the infini-gram protocol over a small index of real tokens.

    with InfinigramServer({"tiny": ["Iris setosa: 5.1,3.5,1.4", "another document"]}) as server:
        ...  # server.url, server.requests

It finds what the public server finds, by the same rules (its documentation, api/api_server.py and cpp_engine.h): the
tokens of Llama 2's kind, in which letters in capitals, and words with a blank before them, are other tokens; clauses of
which it looks at a sample; what it finds beyond the border of a document. `answer` may send something else in place of
an answer, or None. Everything that a server can do besides is in `tests.loopback`.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.loopback import LoopbackServer, Received, Response

PIECE = re.compile(r"▁?[^\W\d_]{1,4}|\n|▁|.")  # letters four at a time, each digit by itself
BYTES = 2  # of a token: pointers count bytes
LONGEST_QUERY, MOST_CLAUSES, MOST_TERMS, MOST_TOKENS = 1000, 4, 4, 500
LARGEST = {"max_clause_freq": 500_000, "max_diff_tokens": 1000, "max_disp_len": 10_000}
USUAL = {"max_clause_freq": 50_000, "max_diff_tokens": 100, "max_disp_len": 1000}
FIELDS = {
    "count": ("max_clause_freq", "max_diff_tokens"),
    "find_cnf": ("max_clause_freq", "max_diff_tokens"),
    "get_doc_by_ptr": ("s", "ptr", "max_disp_len"),
}
SEPARATOR = 0
Ids = list[int]
Cnf = list[list[Ids]]
Instead = Callable[[dict[str, Any]], Response | None]


class Tokenizer:
    """Pieces as numbers. A text begins as if a blank stood before it; digits and line breaks take none with them."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {"</s>": SEPARATOR}
        self._pieces = ["</s>"]

    def encode(self, text: str, query: bool = False) -> Ids:
        """The tokens of a document; of a `query` without the blank by itself with which it may begin."""
        pieces = PIECE.findall("▁" + text.replace(" ", "▁"))
        return [self._id(piece) for piece in (pieces[1:] if query and pieces[:1] == ["▁"] else pieces)]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of tokens, without the blank before it."""
        return "".join(self._pieces[one] for one in ids).replace("▁", " ").removeprefix(" ")

    def names(self, ids: Sequence[int]) -> list[str]:
        """The tokens as the server names them."""
        return ["<0x0A>" if self._pieces[one] == "\n" else self._pieces[one] for one in ids]

    def _id(self, piece: str) -> int:
        if piece not in self._ids:
            self._ids[piece] = len(self._pieces)
            self._pieces.append(piece)
        return self._ids[piece]


class TokenIndex:
    """Documents in shards, each one sequence of tokens with a separator before each document."""

    def __init__(self, documents: Sequence[str], shards: int = 2) -> None:
        self.tokenizer = Tokenizer()
        self._count = len(documents)
        self._shards: list[Ids] = [[] for _ in range(shards)]
        self._begins: list[list[tuple[int, int]]] = [[] for _ in range(shards)]
        for number, text in enumerate(documents):
            shard = number * shards // max(1, len(documents))
            self._begins[shard].append((len(self._shards[shard]), number))
            self._shards[shard] += [SEPARATOR, *self.tokenizer.encode(text)]
        self._at: list[dict[int, list[int]]] = [{} for _ in range(shards)]
        for at, tokens in zip(self._at, self._shards, strict=True):
            for place, token in enumerate(tokens):
                at.setdefault(token, []).append(place)

    @property
    def size(self) -> int:
        """All tokens."""
        return sum(map(len, self._shards))

    def find(self, cnf: Cnf, frequency: int, apart: int) -> dict[str, Any]:
        """Where the clauses are met: the first pointer of each place."""
        shards = range(len(self._shards))
        found = [self._in_shard(shard, cnf, frequency // len(shards), apart) for shard in shards]
        if any(not any(self._stands(shard, clause) for shard in shards) for clause in cnf):
            return {"cnt": 0, "approx": False, "ptrs_by_shard": []}
        count = int(sum(len(ranges) * factor for ranges, factor in found))
        pointers = [[begin * BYTES for begin, _ in ranges] for ranges, _ in found]
        return {"cnt": count, "approx": any(factor != 1 for _, factor in found), "ptrs_by_shard": pointers}

    def document(self, shard: int, pointer: int, length: int) -> dict[str, Any]:
        """What is around a pointer, in one document."""
        place, tokens, begins = pointer // BYTES, self._shards[shard], self._begins[shard]
        own = max(number for number, (begin, _) in enumerate(begins) if begin <= place)
        begin = begins[own][0] + 1
        end = begins[own + 1][0] if own + 1 < len(begins) else len(tokens)
        first, last = max(begin, place - length // 2), min(end, place + (length + 1) // 2)
        metadata = json.dumps({"path": f"part-{shard}.jsonl", "linenum": own})
        return {
            "doc_ix": begins[own][1],
            "doc_len": end - begin,
            "disp_len": last - first,
            "needle_offset": place - first,
            "metadata": metadata,
            "token_ids": tokens[first:last],
        }

    def _stands(self, shard: int, clause: list[Ids]) -> list[int]:
        """Where one of the terms begins, in order of the terms."""
        tokens, at = self._shards[shard], self._at[shard]
        begins = [(place, term) for term in clause for place in at.get(term[0], ())]
        return [place for place, term in begins if tokens[place : place + len(term)] == term]

    def _in_shard(self, shard: int, cnf: Cnf, most: int, apart: int) -> tuple[list[tuple[int, int]], int]:
        """Ranges that meet all clauses, and by how much a sample is to be multiplied."""
        tokens = self._shards[shard]
        clauses = sorted((self._stands(shard, clause) for clause in cnf), key=len)
        factor = 1
        for number, places in enumerate(clauses):
            if len(places) > most:
                kept = places[: max(1, most)]
                factor *= len(places) // len(kept)  # whole numbers, as the server reckons
                clauses[number] = kept
        ranges = [(place, place) for place in clauses[0]]
        for places in clauses[1:]:
            ranges = [joined for each in ranges for joined in _joined(each, sorted(places), apart)]
        return [(low, high) for low, high in ranges if SEPARATOR not in tokens[low:high]], factor


def _joined(own: tuple[int, int], places: list[int], apart: int) -> list[tuple[int, int]]:
    """A range with the nearest place of one more clause on either side, as the server joins them."""
    low, high = own
    before, behind = bisect_left(places, high) - 1, bisect_left(places, low)
    left = min(low, places[before]) if before >= 0 else None
    right = max(high, places[behind]) if behind < len(places) else None
    left = left if left is not None and left + apart >= low else None
    right = right if right is not None and right <= high + apart else None
    if left is not None and right is not None:
        return [(left, right)]
    return [*([] if left is None else [(left, low)]), *([] if right is None else [(high, right)])]


def refused(text: str, status: int = 400, headers: Mapping[str, str] | None = None) -> Response:
    """An error in the server's shape."""
    return Response({"error": text}, status, headers or {})


class InfinigramServer(LoopbackServer):
    """`indexes` has the documents of each index by its name."""

    def __init__(
        self, indexes: Mapping[str, Sequence[str]], answer: Instead = lambda body: None, shards: int = 2
    ) -> None:
        super().__init__(models=None)
        self._instead = answer
        self._indexes = {name: TokenIndex(documents, shards) for name, documents in indexes.items()}

    @property
    def url(self) -> str:
        """The address to give to a client."""
        return super().url.removesuffix("v1")

    def kinds(self) -> list[str]:
        """The kinds of the queries that came, in order."""
        return [request.body["query_type"] for request in self.requests]

    def _response(self, received: Received) -> Response:
        body = dict(received.body)
        if (instead := self._instead(body)) is not None:
            return instead
        if received.method != "POST" or received.path != "/":
            return Response(raw=b"<!doctype html><title>404 Not Found</title>", status=404)
        index = self._indexes.get(body.pop("index", None))
        if index is None:
            return refused(f"[Flask] Invalid index: {received.body.get('index')}")
        kind = body.pop("query_type", None)
        if kind not in FIELDS:
            return refused(f"[Flask] Invalid query_type: {kind}")
        if ("query" in body) == ("query_ids" in body):
            return refused("[Flask] Exactly one of query and query_ids must be present!")
        return _answered(index, kind, body)


def _answered(index: TokenIndex, kind: str, body: dict[str, Any]) -> Response:
    query, ids = body.pop("query", None), body.pop("query_ids", None)
    if unknown := set(body) - set(FIELDS[kind]):
        return refused(f"[Flask] Internal server error: unexpected keyword argument '{min(unknown)}'", 500)
    for name, most in LARGEST.items():
        if name in body and not 1 <= body[name] <= most:
            return Response({"error": f"{name} must be an integer in [1, {most}]!"})
    if query is not None:
        if len(query) > LONGEST_QUERY:
            return Response({"error": f"Please limit your input to <= {LONGEST_QUERY} characters!"})
        ids = _parsed(index.tokenizer, query)
    cnf: Cnf = ids if ids and isinstance(ids[0], list) else []
    if sum(len(term) for clause in cnf for term in clause) > MOST_TOKENS:
        return Response({"error": f"Please limit your input to <= {MOST_TOKENS} tokens!"})
    if len(cnf) > MOST_CLAUSES or any(len(clause) > MOST_TERMS for clause in cnf):
        return Response({"error": f"Please enter at most {MOST_CLAUSES} disjunctive clauses!"})
    names = index.tokenizer.names
    told = [[names(term) for term in clause] for clause in cnf] if cnf else names(ids)
    return Response({**_result(index, kind, ids, cnf, body), "latency": 0.5, "token_ids": ids, "tokens": told})


def _parsed(tokenizer: Tokenizer, query: str) -> Any:
    if " AND " not in query and " OR " not in query:
        return tokenizer.encode(query, query=True) if query else []
    return [[tokenizer.encode(term, query=True) for term in part.split(" OR ")] for part in query.split(" AND ")]


def _result(index: TokenIndex, kind: str, ids: Any, cnf: Cnf, body: Mapping[str, Any]) -> dict[str, Any]:
    given = {**USUAL, **body}
    if kind == "get_doc_by_ptr":
        found = index.document(given["s"], given["ptr"], given["max_disp_len"])
        return {**found, "spans": [[index.tokenizer.decode(found["token_ids"]), None]]}
    if kind == "count" and not ids:
        return {"count": index.size, "approx": False}
    found = index.find(cnf or [[ids]], given["max_clause_freq"], given["max_diff_tokens"])
    return {"count": found["cnt"], "approx": found["approx"]} if kind == "count" else found
