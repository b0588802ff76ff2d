"""Cells that differ in one thing, side by side: versions of a family, serializers, prompt sets, runs; what changed, and
is it more than chance?

A verdict says that one cell cannot be explained by guessing, a comparison that two cells differ. The one does not
follow from the other: a verdict appears where a p-value crosses its level, and may do so by a single answer more; and
of two contaminated cells one may be right far oftener. So `change` tells what became of the verdict, and
`beyond_chance` whether the shares of right answers differ by more than the luck of the answers. What does differ need
not be memory: the verdicts weigh what guessing explains, the comparison does not.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from math import isclose
from typing import Literal

from tabcontam.evidence.base import DECIDED, State, Verdict
from tabcontam.groups import grouped
from tabcontam.statistics.exact import benjamini_hochberg, fisher, mcnemar
from tabcontam.verdicts.cells import CellName, InCell, Result
from tabcontam.verdicts.checked import Count, Share, Truth
from tabcontam.verdicts.facts import RunFacts, asked_queries
from tabcontam.verdicts.notes import Note, NoteKind
from tabcontam.verdicts.rules import ALPHA

CompareBy = Literal["versions", "serializers", "prompts", "runs"]
Change = Literal["appeared", "vanished", "same", "unknown"]
VERSIONS: CompareBy = "versions"
SERIALIZERS: CompareBy = "serializers"
PROMPTS: CompareBy = "prompts"
RUNS: CompareBy = "runs"
WAYS: Mapping[CompareBy, str] = {SERIALIZERS: "serializer", PROMPTS: "prompts"}  # of asking one LLM the same
MOST_APART = 0.5  # of the queries: with fewer in common, two cells count as asked different ones
ROUNDED = 1e-4  # how exactly a score is recorded
Line = Mapping[str, object]
Differing = tuple[float | None, float | None, int, float | None]  # the sides' shares, the queries of both, the p-value
UNTESTED: Differing = (None, None, 0, None)


@dataclass(frozen=True, kw_only=True)
class Comparison(InCell):
    """One test of two cells that differ in one thing, and whether they differ by more than chance.

    The LLM, the serializer or the prompt set is empty where that is what differs.
    """

    kind: CompareBy
    """In what they differ: versions of a family of LLMs, serializers, prompt sets, or runs that were merged."""
    first: str
    """The one LLM, serializer, prompt set or run's folder."""
    second: str
    """The other one."""
    first_verdict: Verdict | None = None
    """The verdict on the first."""
    second_verdict: Verdict | None = None
    """The verdict on the second."""
    first_share: Share | None = None
    """The share of right answers of the first among the queries compared; null where it is not known."""
    second_share: Share | None = None
    """The same of the second."""
    queries: Count = 0
    """How many queries both were asked; 0 where they were asked different ones."""
    p_value: Share | None = None
    """That both are right equally often; null where that could not be tested."""
    q_value: Share | None = None
    """The p-value corrected for all comparisons of the kind (Benjamini and Hochberg)."""
    beyond_chance: Truth = False
    """Whether the shares of right answers differ by more than chance: q_value is at most alpha."""
    change: Change
    """What became of the verdict; unknown where one of the two was not decided, same for two scores."""


@dataclass(frozen=True)
class Side:
    """A cell with the newest trial of each of its queries; recorded answers have none."""

    cell: Result
    lines: Sequence[Line] = ()


@dataclass(frozen=True)
class Pair:
    """Two cells that differ in one thing, named `first` and `second`.

    `by_id`: their queries are the same where their ids, what was asked and what was expected are; else only where the
    prompts are, too.
    """

    kind: CompareBy
    first: str
    second: str
    sides: tuple[Side, Side]
    by_id: bool


def comparisons(
    run: RunFacts, cells: Iterable[Result], lines: Iterable[Line], runs: Sequence[Pair] = ()
) -> tuple[Comparison, ...]:
    """The comparisons of a run: versions, serializers, prompt sets, and the cells that two of the merged runs have.

    `lines` are its trials. Benjamini and Hochberg's q-value is over all comparisons of a kind that could be tested;
    `beyond_chance` where it is at most the run's alpha. Controls that joined are not compared.
    """
    # Where all cells, or merged runs, were planned alike, equal ids are the same queries.
    sides, by_id = _sides(cells, lines), len({(part.seed, part.version) for part in run.runs}) <= 1
    pairs = [*_versions(run, sides, by_id), *_ways(sides, by_id), *runs]
    alpha = ALPHA if run.alpha is None else run.alpha
    found: list[Comparison] = []
    for kind in (VERSIONS, SERIALIZERS, PROMPTS, RUNS):
        own = [_compared(pair) for pair in pairs if pair.kind == kind]
        q_values = iter(benjamini_hochberg([one.p_value for one in own if one.p_value is not None]))
        for one in own:
            q_value = None if one.p_value is None else next(q_values)
            found.append(replace(one, q_value=q_value, beyond_chance=q_value is not None and q_value <= alpha))
    return tuple(found)


def of_runs(runs: Iterable[tuple[str, Iterable[Result], Iterable[Line]]]) -> list[Pair]:
    """Each cell of a run beside that of the last run before it that has it; a run is a name, its cells and trials."""
    held: dict[CellName, tuple[str, Side]] = {}
    pairs = []
    for name, cells, lines in runs:
        for key, side in _sides(cells, lines).items():
            if key in held:
                before, earlier = held[key]
                pairs.append(Pair(RUNS, before, name, (earlier, side), by_id=False))
            held[key] = name, side
    return pairs


def _difference(pair: Pair) -> Differing:
    """Whether one side was right oftener: McNemar's exact test on the queries that both were asked.

    Where they share less than half of their queries, Fisher's exact test on all of them; and on the cells' own counts
    where there are no trials and each hit is a query. Decoys are left out, as are queries without a reply and answers
    that are no hit or miss by themselves. An answer that declines is not right. Both tests take queries as independent
    of each other.
    """
    first, second = (_hits(side.lines, pair.by_id) for side in pair.sides)
    if not (first and second):
        counts = [_counts(side.cell) for side in pair.sides]
        return UNTESTED if any(side.lines for side in pair.sides) else _unpaired(counts[0], counts[1])
    common = first.keys() & second.keys()
    if len(common) < MOST_APART * min(len(first), len(second)):
        return _unpaired((sum(first.values()), len(first)), (sum(second.values()), len(second)))
    first_only = sum(first[key] and not second[key] for key in common)
    second_only = sum(second[key] and not first[key] for key in common)
    shares = [round(sum(hits[key] for key in common) / len(common), 4) for hits in (first, second)]
    return shares[0], shares[1], len(common), mcnemar(first_only, second_only)


def _unpaired(first: tuple[int, int] | None, second: tuple[int, int] | None) -> Differing:
    if first is None or second is None:
        return UNTESTED
    shares = [round(hits / queries, 4) for hits, queries in (first, second)]
    return shares[0], shares[1], 0, fisher(*first, *second)


def _hits(lines: Iterable[Line], by_id: bool) -> dict[str, bool]:
    """Whether each query that had a reply was answered right, by what makes it the same query elsewhere."""
    same = ("query", "asked", "expected") if by_id else ("query", "asked", "expected", "prompt")
    own = [line for line in lines if not line.get("decoy_of") and line.get("state") != State.FAILED]
    own = [line for line in own if line.get("hit") is not None or line.get("readable") is not True]
    return {json.dumps([line.get(name) for name in same]): line.get("hit") is True for line in own}


def _counts(cell: Result) -> tuple[int, int] | None:
    """Hits and queries of a cell without trials; None where its hits are no queries but words, or there are none."""
    hits, queries, score = cell.hits, cell.queries, cell.score
    if not queries or score is None or hits is None or not isclose(hits / queries, score, abs_tol=ROUNDED):
        return None
    return hits, queries


def _sides(cells: Iterable[Result], lines: Iterable[Line]) -> dict[CellName, Side]:
    """The cells that count, with their trials. Of one that was recorded twice, that which found something."""
    own = grouped(lines, lambda line: CellName(*(str(line[name] or "") for name in CellName._fields)))
    sides: dict[CellName, Side] = {}
    for cell in cells:
        if not cell.control and (cell.key not in sides or cell.verdict is Verdict.CONTAMINATED):
            # a run that was continued with fewer queries keeps the lines of the others
            sides[cell.key] = Side(cell, own.get(cell.key, [])[: cell.queries])
    return sides


def _versions(run: RunFacts, sides: Mapping[CellName, Side], by_id: bool) -> list[Pair]:
    """Each cell of an LLM beside that of the next version of its family."""
    asked = {key.llm for key in sides}
    known = [llm for llm, entry in run.catalogue.items() if entry.family and llm in asked]
    versions = sorted(known, key=lambda llm: run.catalogue[llm].order)
    families = grouped(versions, lambda llm: run.catalogue[llm].family)
    neighbours = [pair for family in families.values() for pair in pairwise(family)]
    return [
        Pair(VERSIONS, older, newer, (sides[key], sides[key._replace(llm=newer)]), by_id)
        for older, newer in neighbours
        for key in sides
        if key.llm == older and key._replace(llm=newer) in sides
    ]


def _ways(sides: Mapping[CellName, Side], by_id: bool) -> list[Pair]:
    """Each two serializers, and each two prompt sets, that asked an LLM the same.

    A main run of recorded answers names none of either.
    """
    pairs = []
    for kind, way in WAYS.items():
        place = CellName._fields.index(way)
        for one, other in _alike_but(sides, place):
            pairs.append(Pair(kind, one[place], other[place], (sides[one], sides[other]), by_id))
    return pairs


def _alike_but(sides: Iterable[CellName], place: int) -> Iterator[tuple[CellName, CellName]]:
    """Each two cells that differ in one field of their names, and have something there."""
    named = (key for key in sides if key[place])
    for keys in grouped(named, lambda key: (*key[:place], *key[place + 1 :])).values():
        yield from combinations(keys, 2)


def _compared(pair: Pair) -> Comparison:
    """The two cells side by side, before the other comparisons of the kind are looked at."""
    first, second = (side.cell for side in pair.sides)
    first_share, second_share, queries, p_value = _difference(pair)
    return Comparison(
        kind=pair.kind,
        first=pair.first,
        second=pair.second,
        llm="" if pair.kind == VERSIONS else first.llm,
        dataset=first.dataset,
        edition=first.edition,
        split=first.split,
        serializer="" if pair.kind == SERIALIZERS else first.serializer,
        prompts="" if pair.kind == PROMPTS else first.prompts,
        test=first.test,
        first_verdict=first.verdict,
        second_verdict=second.verdict,
        first_share=first_share,
        second_share=second_share,
        queries=queries,
        p_value=p_value,
        change=change(first.verdict, second.verdict),
    )


def change(first: Verdict | None, second: Verdict | None) -> Change:
    """What became of a verdict: "appeared", "vanished", "same", or "unknown" where one of the two was not decided.

    Two scores, on which nothing is decided, are the "same".
    """
    if first is second and (first is None or first in DECIDED):
        return "same"
    if first not in DECIDED or second not in DECIDED:
        return "unknown"
    return "appeared" if second is Verdict.CONTAMINATED else "vanished"


def facts_apart(runs: Sequence[RunFacts], names: Sequence[str]) -> list[Note]:
    """What a reader of several runs must know of how they differ."""
    notes = []
    for kind, what, values in (
        (NoteKind.SEEDS, "seeds, so that their queries are different ones", [str(run.seed) for run in runs]),
        (NoteKind.VERSIONS, "versions of tabcontam", [run.version for run in runs]),
        (NoteKind.QUERIES, "queries", [asked_queries(run) for run in runs]),
        (NoteKind.KNOWN, "rows that may be known", [", ".join(map(str, run.known)) or "none" for run in runs]),
        (NoteKind.REFERENCE, "references", [", ".join(llm.spec for llm in run.references) or "none" for run in runs]),
    ):
        if len(set(values)) > 1:
            each = ", ".join(f"{name}: {value}" for name, value in zip(names, values, strict=True))
            notes.append(Note(kind, f"the runs have different {what} ({each})"))
    asked = dict.fromkeys((fact.name, fact.edition) for run in runs for fact in run.datasets)
    for dataset in dict.fromkeys(name for name, _ in asked):
        own = [edition for name, edition in asked if name == dataset]
        if len(own) > 1:
            text = f"the runs have different editions of {dataset} ({', '.join(own)}), which are not compared"
            notes.append(Note(NoteKind.EDITIONS, text))
    return notes
