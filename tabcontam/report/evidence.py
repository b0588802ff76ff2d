"""The evidence of each result: its most informative queries, compressed to keep a page with many results small.

Right answers (hits) come first, the least likely before the others; then wrong answers, then unread replies, at least
one query of each kind. Of the other queries, a page states the count and the line numbers in trials.jsonl. When a
reader opens a result, the page's script decompresses the text block (blob) of the LLM, and writes it as text.
"""

import gzip
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from statistics import fmean
from typing import Any

from tabcontam.config import PAPER
from tabcontam.groups import grouped
from tabcontam.report.query import DECOY, KINDS, bits_of, kind_of, one_line, query_for_page, scored, words_read
from tabcontam.report.trials_by_result import Trial, is_mapping
from tabcontam.report.unread import UnreadSummary, unread
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.wording import visible

SHOWN = 10  # greatest number of queries shown of a result
LARGE, SHOWN_OF_LARGE = 20_000, 3  # larger runs show so few, because a page of many megabytes opens slowly
RUNS = 12  # most ranges of line numbers that are named
PAPER_NOTE = " Hits follow the paper's rules, on the unchanged text; right values are marked by feature."
RANKS = {kind: place for place, kind in enumerate((*KINDS, DECOY))}
NAMES = {**{kind: (kind, many) for kind, many in KINDS.items()}, DECOY: (DECOY, "decoys")}


@dataclass(frozen=True)
class PackedEvidence:
    """The evidence on a page. The keys of `blobs` are the numbers, from 1, of the LLMs' parts (blocks) of the page;
    those of the other mappings are results' places, as in `RunResults.placed`.

    `shown` counts a result's queries in the blob, `left` those that only trials.jsonl contains. A blob contains no
    character with a meaning in HTML. The script evidence.js decompresses it: a result is `<details class="evidence"
    data-cell="B-C-T">` with an empty `<div>`, and the blob of block B is the text of `<script type="text/plain"
    id="evidence-B">`.
    """

    blobs: Mapping[int, str]
    shown: Mapping[str, int]
    left: Mapping[str, int]
    unread: Mapping[str, UnreadSummary] = field(default_factory=dict)

    def merged(self, other: "PackedEvidence") -> "PackedEvidence":
        """Return the evidence of both objects as one."""
        blobs = dict(sorted({**self.blobs, **other.blobs}.items()))
        unread = {**self.unread, **other.unread}
        return PackedEvidence(blobs, {**self.shown, **other.shown}, {**self.left, **other.left}, unread)


@dataclass(frozen=True, eq=False)
class _Query:
    """A query of a result with its trial. `number` is its index in the result; `rank` decides whether it is shown."""

    name: str
    number: int
    trial: Trial

    @cached_property
    def kind(self) -> str:
        """The kind of the query's reply, such as a hit or a miss, from `kind_of`."""
        return kind_of(self.trial)

    @cached_property
    def words(self) -> frozenset[str]:
        """The expected words that the answer contains."""
        return frozenset(map(one_line, words_read(self.trial)))

    @cached_property
    def rank(self) -> tuple[int, float, bool, int]:
        """The query's rank: a lower rank is more informative."""
        weight = 0.0 if self.kind == DECOY else bits_of(self.trial)
        return RANKS[self.kind], -weight, self.trial.get("paper") is not True, self.number

    @property
    def line(self) -> int:
        """The query's line number in trials.jsonl; 0 if unknown."""
        return line if isinstance(line := self.trial.get("line"), int) else 0


class EvidencePacker:
    """A collector of evidence, result by result, compressed at once, because an LLM's trials may be large.

    `placed` has the results by their places on the page, in the page's order.
    """

    def __init__(self, limits: "EvidenceLimits", placed: Mapping[str, Result]) -> None:
        self._limits = limits
        self._places = grouped(placed, lambda place: placed[place].place)
        self._order = list(placed)
        self._unread: dict[str, UnreadSummary] = {}
        self._entries: dict[str, tuple[str, int, int, int]] = {}  # contents, number shown, number left, first line

    def take(self, result: Result, asked: Mapping[str, Trial]) -> None:
        """Add the trials of a result. `asked` maps each query to its trial."""
        from pydantic_core import to_json

        if not asked or result.place not in self._places:
            return
        queries = [_Query(name, number, trial) for number, (name, trial) in enumerate(asked.items())]
        contents, shown_here = _contents(queries, self._limits.note or _uncounted(queries), self._limits.most)
        if result.evidence.null:
            contents["null"] = visible(result.evidence.null)
        first = min((one.line for one in queries if one.line), default=0)
        advised = not self._limits.recorded and not result.control
        unread_replies = unread(((one.kind, one.trial) for one in queries), advised=advised)
        for place in self._places[result.place]:
            if unread_replies:
                self._unread[place] = unread_replies
            text = to_json(contents, inf_nan_mode="constants").decode()
            self._entries[place] = text, shown_here, len(asked) - shown_here, first

    # level: of gzip; the highest level takes three times as long and makes a page only 1/40 smaller
    def packed(self, *, level: int = 4) -> PackedEvidence:
        """Return the evidence of all results added so far."""
        entries = {place: self._entries[place] for place in self._order if place in self._entries}
        blobs = {}
        for block, own in groupby(entries, lambda place: int(place.split("-")[0])):
            here = list(own)
            firsts = " ".join(f"{place}:{entries[place][3]}" for place in here)
            contents = ",".join(f'"{place}":{entries[place][0]}' for place in here)
            zipped = gzip.compress(f"{{{contents}}}".encode(), level, mtime=0)  # no time: equal results, equal pages
            blobs[block] = f"{firsts}\n{b64encode(zipped).decode()}"
        return PackedEvidence(
            blobs,
            {place: one[1] for place, one in entries.items()},
            {place: one[2] for place, one in entries.items()},
            self._unread,
        )


@dataclass(frozen=True)
class EvidenceLimits:
    """The number of queries to show for each result of a run, and a note on each result."""

    most: int
    note: str
    recorded: bool = False  # recorded answers: no model can be asked again

    @classmethod
    def of(cls, view: RunResults) -> "EvidenceLimits":
        """Return the limits for the run `view`."""
        most = SHOWN_OF_LARGE if len(view.results) > LARGE else SHOWN
        return cls(most, PAPER_NOTE if view.run.rules == PAPER else "", bool(view.run.recorded))


def _uncounted(asked: Sequence[_Query]) -> str:
    """Return a note on rows that do not count for lack of a prediction by the baseline; "" if that is none or all."""
    trials = [one.trial for one in asked]
    number = sum(is_mapping(trial.get("expected")) and not trial.get("chance") for trial in trials)
    few = 0 < number < len(trials)
    return f" {number} without a prediction {'does' if number == 1 else 'do'} not count." if few else ""


def _contents(asked: Sequence[_Query], note: str, most: int) -> tuple[dict[str, Any], int]:
    """Return the evidence of one result for the page's script, and its number of queries.

    If passages were scored, those least surprising to the LLM are shown, next to their decoys.
    """
    if pairs := _pairs(asked)[: -(-most // 2)]:
        queries = [
            query_for_page(one.trial) | {"decoys": [query_for_page(decoy.trial) for decoy in decoys]}
            for one, *decoys in pairs
        ]
        names = {one.name for pair in pairs for one in pair}
    else:
        chosen = _telling([one for one in asked if one.kind != DECOY], most)
        decoys = _telling([one for one in asked if one.kind == DECOY and one.words], most)
        queries, names = [], {one.name for one in chosen}
        for one in chosen:
            same = [decoy for decoy in decoys if decoy.trial["decoy_of"] == one.name and decoy.words & one.words]
            same = same[: max(0, most - len(names))]
            queries.append(_with_decoys(one, same, asked))
            names |= {decoy.name for decoy in same}
    left = _lines(one for one in asked if one.name not in names)
    more = [f"{_counted(kind, len(lines))}{_where(lines)}" for kind, lines in left.items()]
    return {"about": _about(asked, len(names)) + note, "queries": queries, "more": more}, len(names)


def _pairs(asked: Sequence[_Query]) -> list[list[_Query]]:
    """Return each scored passage with its scored decoys; first the passage that is furthest below its decoys' mean."""

    def apart(pair: Sequence[_Query]) -> float:
        own, *others = (scored(one.trial) or 0.0 for one in pair)
        return own - fmean(others) if others else 0.0

    decoys_of = grouped((one for one in asked if scored(one.trial) is not None), lambda one: one.trial.get("decoy_of"))
    own = [one for one in asked if one.kind != DECOY and scored(one.trial) is not None]
    return sorted(([one, *decoys_of.get(one.name, ())] for one in own), key=apart)


def _with_decoys(one: _Query, same: Iterable[_Query], asked: Iterable[_Query]) -> dict[str, Any]:
    """Return a query with the decoys in `same`. Messages that a decoy's prompt shares with the query are left out."""
    query = query_for_page(one.trial)
    decoys = [decoy for decoy in asked if decoy.trial.get("decoy_of") == one.name]
    for word in query.get("words", ()) if decoys else ():
        if word[1] == "right":
            word.append(f"{sum(word[0] in decoy.words for decoy in decoys)} of {len(decoys)} decoys")
    shown_decoys = [query_for_page(decoy.trial) for decoy in same]
    for decoy in shown_decoys:
        decoy["prompt"] = [message for message in decoy.get("prompt", ()) if message not in query.get("prompt", ())]
    return query | {"decoys": shown_decoys} if shown_decoys else query


def _about(asked: Sequence[_Query], number: int) -> str:
    found = _lines(asked)
    kinds = ", ".join(_counted(kind, len(lines)) for kind, lines in found.items())
    about = f"{'1 query' if len(asked) == 1 else f'{len(asked)} queries'}: {kinds}."
    if number == len(asked):
        return about
    kinds_shown = len(found.keys() - {DECOY})
    each = ", and at least one of each kind of answer" if 1 < kinds_shown <= number else ""
    return f"{about} {number} are shown, the most informative first{each}."


def _telling(queries: Sequence[_Query], most: int) -> list[_Query]:
    """Return at most `most` queries, the most informative first. Each kind of reply is included if `most` allows."""
    if not queries:
        return []
    ordered = sorted(queries, key=lambda one: one.rank)
    first_of_kind = sorted({one.kind: one for one in reversed(ordered)}.values(), key=lambda one: one.rank)
    others = [one for one in ordered if one not in first_of_kind]
    return sorted([*first_of_kind, *others][:most], key=lambda one: one.rank)


def _lines(queries: Iterable[_Query]) -> dict[str, list[int]]:
    """Return the line numbers of the queries of each kind. The most informative kind comes first."""
    found = grouped(queries, lambda one: one.kind)
    return {kind: sorted(one.line for one in found[kind]) for kind in NAMES if kind in found}


def _counted(kind: str, count: int) -> str:
    one, many = NAMES[kind]
    return f"{count} {one if count == 1 else many}"


def _where(lines: Sequence[int]) -> str:
    """Return the known line numbers in words; empty if none is known.

    >>> _where([4, 5, 6, 9])
    ': lines 4-6, 9'
    """
    known = [line for line in lines if line]
    if not known:
        return ""
    runs = [[number for _, number in run] for _, run in groupby(enumerate(known), lambda pair: pair[1] - pair[0])]
    named = ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs[:RUNS])
    after = sum(map(len, runs[RUNS:]))
    more = f" and {after} more up to line {known[-1]}" if after else ""
    return f": line{'s' if len(known) > 1 else ''} {named}{more}"
