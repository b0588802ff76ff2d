"""The evidence of each cell: its most telling queries, packed so that a page of many cells stays small.

Hits come first, the least likely ones before others, then misses, then what could not be read; each kind that occurs is
shown at least once. The rest is counted, with the lines of trials.jsonl where it stands. The page's script unpacks an
LLM's blob when one of its cells is opened, and writes what it finds there as text, never as markup.
"""

import gzip
import json
from base64 import b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from tabcontam.report.query import DECOY, KINDS, bits_of, kind_of, one_line, shown, words_read
from tabcontam.verdicts.cells import place_of
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.rules import PAPER
from tabcontam.verdicts.wording import text, visible

SHOWN = 10  # queries of a cell
RUNS = 12  # of lines that are named
PAPER_NOTE = " What is a hit was decided by the paper's rules, on the text as it came; what is right, by feature."
NAMES = {**{kind: (kind, many) for kind, many in KINDS.items()}, DECOY: (DECOY, "decoys")}


@dataclass(frozen=True)
class Packed:
    """What the page holds: a blob of text an LLM (by its block's number, from 1), and counts by `RunResults.placed`.

    `shown` queries of a cell are in the blob, the `left` ones in trials.jsonl alone. A blob holds no character that
    means something to HTML. The page's script evidence.js unpacks it: a cell is `<details class="evidence"
    data-cell="B-C-T">` with an empty `<div>`, the blob of block B the text of
    `<script type="text/plain" id="evidence-B">`.
    """

    blobs: Mapping[int, str]
    shown: Mapping[str, int]
    left: Mapping[str, int]


@dataclass(frozen=True)
class _Ranked:
    """What decides whether a query is shown. A decoy is of the query that it is compared with; `words` were read."""

    query: str
    kind: str
    bits: float
    paper: bool
    number: int
    of: str
    words: frozenset[str]

    @property
    def rank(self) -> tuple[int, float, bool, int]:
        """The lower, the more telling."""
        return list(NAMES).index(self.kind), -self.bits, not self.paper, self.number


@dataclass
class _Gathered:
    """A cell while its trials go by: each query's kind and line, and what is shown of those that may be shown."""

    seen: dict[str, tuple[str, int]] = field(default_factory=dict)
    queries: dict[_Ranked, str] = field(default_factory=dict)
    decoys: dict[_Ranked, str] = field(default_factory=dict)
    beside: dict[str, dict[str, _Ranked]] = field(default_factory=dict)
    unguessed: set[str] = field(default_factory=set)

    def add(self, trial: Mapping[str, Any]) -> None:
        """Count a trial, and keep it if it is among the most telling so far; one asked again takes its place."""
        query = text(trial.get("query")) or str(len(self.seen))
        if query in self.seen:
            self.queries = {one: prepared for one, prepared in self.queries.items() if one.query != query}
            self.decoys = {one: prepared for one, prepared in self.decoys.items() if one.query != query}
        ranked = _ranked(trial, query, len(self.seen))
        self.seen[query] = ranked.kind, line if isinstance(line := trial.get("line"), int) else 0
        if isinstance(trial.get("expected"), Mapping) and not trial.get("chance"):
            self.unguessed.add(query)
        if ranked.kind != DECOY:
            self.queries = _kept(self.queries, ranked, trial)
            return
        self.beside.setdefault(ranked.of, {})[query] = ranked
        if ranked.words:
            self.decoys = _kept(self.decoys, ranked, trial)

    @property
    def uncounted(self) -> str:
        """That rows without a guess count for nothing, where only some have none."""
        number = len(self.unguessed)
        few = 0 < number < len(self.seen)
        return f" {number} without a guess {'counts' if number == 1 else 'count'} for nothing." if few else ""

    @property
    def first(self) -> int:
        """The first of its lines; 0 where none is known."""
        return min(filter(None, (line for _, line in self.seen.values())), default=0)

    def contents(self, note: str) -> tuple[dict[str, Any], int]:
        """What the page's script writes, and how many queries that shows; `note` is said of all of them."""
        queries, names = [], set()
        room = SHOWN - len(self.queries)
        for one in _telling(self.queries):
            same = [decoy for decoy in _telling(self.decoys) if decoy.of == one.query and decoy.words & one.words]
            queries.append(self._with_decoys(one, same[:room]))
            names |= {one.query, *(decoy.query for decoy in same[:room])}
            room -= len(same[:room])
        more = [f"{_counted(kind, len(lines))}{_where(lines)}" for kind, lines in self._lines(names).items()]
        return {"about": self._about(names) + note, "queries": queries, "more": more}, len(names)

    def _with_decoys(self, one: _Ranked, same: Iterable[_Ranked]) -> dict[str, Any]:
        """A query beside the decoys that were answered with the same; their prompts without what its own says too."""
        query: dict[str, Any] = json.loads(self.queries[one])
        decoys = self.beside.get(one.query, {}).values()
        for word in query.get("words", ()) if decoys else ():
            if word[1] == "right":
                word.append(f"{sum(word[0] in decoy.words for decoy in decoys)} of {len(decoys)} decoys")
        beside = [json.loads(self.decoys[decoy]) for decoy in same]
        for decoy in beside:
            decoy["prompt"] = [message for message in decoy.get("prompt", ()) if message not in query.get("prompt", ())]
        return query | {"decoys": beside} if beside else query

    def _about(self, names: Collection[str]) -> str:
        found = self._lines(())
        kinds = ", ".join(_counted(kind, len(lines)) for kind, lines in found.items())
        about = f"{'1 query' if len(self.seen) == 1 else f'{len(self.seen)} queries'}: {kinds}."
        if len(names) == len(self.seen):
            return about
        each = ", and at least one of each kind of answer" if len(found.keys() - {DECOY}) > 1 else ""
        return f"{about} {len(names)} are shown, the most telling first{each}."

    def _lines(self, without: Iterable[str]) -> dict[str, list[int]]:
        """The lines of the queries but those named, by kind."""
        left = [self.seen[query] for query in self.seen.keys() - set(without)]
        found = {kind: sorted(line for one, line in left if one == kind) for kind in NAMES}
        return {kind: lines for kind, lines in found.items() if lines}


def packed(view: RunResults, trials: Iterable[Mapping[str, Any]]) -> Packed:
    """The evidence of all cells that were asked.

    `trials` are the objects of trials.jsonl in any order, each with the number of its line under "line", if that is
    known; they are read once, and of each cell only what is shown is kept. Of a query asked again the last counts.
    """
    gathered = {cell.place: _Gathered() for cell in view.cells}
    for trial in trials:
        if cell := gathered.get(place_of(trial)):
            cell.add(trial)
    asked = {place: found for place, cell in view.placed.items() if (found := gathered[cell.place]).seen}
    note = PAPER_NOTE if view.run.rules == PAPER else ""
    blobs: dict[int, str] = {}
    shown_here: dict[str, int] = {}
    for block, places in groupby(asked, lambda place: int(place.split("-")[0])):
        contents = {}
        for place in places:
            contents[place], shown_here[place] = asked[place].contents(note or asked[place].uncounted)
            if null := view.placed[place].null:
                contents[place]["null"] = visible(null)
        firsts = " ".join(f"{place}:{asked[place].first}" for place in contents)
        blobs[block] = f"{firsts}\n{_compressed(contents)}"
    left = {place: len(asked[place].seen) - count for place, count in shown_here.items()}
    return Packed(blobs, shown_here, left)


def _ranked(trial: Mapping[str, Any], query: str, number: int) -> _Ranked:
    of = text(trial.get("decoy_of"))
    return _Ranked(
        query=query,
        kind=kind_of(trial),
        bits=0.0 if of else bits_of(trial),
        paper=trial.get("paper") is True,
        number=number,
        of=of,
        words=frozenset(map(one_line, words_read(trial))),
    )


def _kept(known: dict[_Ranked, str], ranked: _Ranked, trial: Mapping[str, Any]) -> dict[_Ranked, str]:
    """The most telling queries with one more, if it is among them; only then is it made ready."""
    chosen = _telling([*known, ranked])
    if ranked not in chosen:
        return known
    prepared = json.dumps(shown(trial), ensure_ascii=False)
    return {one: known.get(one, prepared) for one in chosen}


def _telling(queries: Iterable[_Ranked]) -> list[_Ranked]:
    """At most `SHOWN` queries, the most telling first; one at least of each kind."""
    ordered = sorted(queries, key=lambda one: one.rank)
    first_of_kind = {one.kind: one for one in reversed(ordered)}.values()
    others = [one for one in ordered if one not in first_of_kind]
    return sorted([*first_of_kind, *others][:SHOWN], key=lambda one: one.rank)


def _counted(kind: str, count: int) -> str:
    one, many = NAMES[kind]
    return f"{count} {one if count == 1 else many}"


def _where(lines: Sequence[int]) -> str:
    """Where the lines stand, if that is known.

    >>> _where([4, 5, 6, 9])
    ': lines 4-6, 9'
    """
    known = [line for line in lines if line]
    if not known:
        return ""
    runs = list(_runs(known))
    named = ", ".join(f"{start}-{end}" if end > start else f"{start}" for start, end in runs[:RUNS])
    after = sum(end - start + 1 for start, end in runs[RUNS:])
    more = f" and {after} more up to line {known[-1]}" if after else ""
    return f": line{'s' if len(known) > 1 else ''} {named}{more}"


def _runs(lines: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first and the last of each run of lines that follow one another."""
    for _, run in groupby(enumerate(lines), lambda pair: pair[1] - pair[0]):
        numbers = [number for _, number in run]
        yield numbers[0], numbers[-1]


def _compressed(contents: Mapping[str, Any]) -> str:
    """Base64 of gzip of JSON, without a time: the same results give the same page."""
    document = json.dumps(contents, ensure_ascii=False, separators=(",", ":")).encode()
    return b64encode(gzip.compress(document, mtime=0)).decode()
