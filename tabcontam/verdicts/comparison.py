"""Pairs of results that differ in one thing: the version of a model, the serializer, the prompt set or the run.

A verdict states that chance does not explain one result. A comparison states that two results differ. Neither implies
the other: a single answer may move a p-value across its level, and of two contaminated results one may have far more
right answers. So `change` states how the verdict changed, and `beyond_chance` whether the shares of right answers
differ by more than chance. A difference need not be memory: a comparison ignores what the baseline explains.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import combinations, pairwise
from math import isclose
from typing import Literal, NamedTuple

from tabcontam.evidence.base import DECIDED, ReplyState, Verdict
from tabcontam.groups import grouped
from tabcontam.statistics.exact_statistics import benjamini_hochberg, fisher, mcnemar
from tabcontam.statistics.number_types import Count, Share, Truth
from tabcontam.verdicts.notes import Note, NoteKind
from tabcontam.verdicts.result_types import Result, ResultFields, ResultKey
from tabcontam.verdicts.run_facts import RunFacts, asked_queries
from tabcontam.verdicts.thresholds import ALPHA, LEAST_COMMON_QUERIES, SCORE_PRECISION

CompareBy = Literal["versions", "serializers", "prompts", "runs"]
Change = Literal["appeared", "vanished", "same", "unknown"]
VERSIONS: CompareBy = "versions"
SERIALIZERS: CompareBy = "serializers"
PROMPTS: CompareBy = "prompts"
RUNS: CompareBy = "runs"
WAYS: Mapping[CompareBy, str] = {SERIALIZERS: "serializer", PROMPTS: "prompts"}  # ways to ask one LLM the same queries
Line = Mapping[str, object]
Differing = tuple[float | None, float | None, int, float | None]  # shares right, common queries, p-value
UNTESTED: Differing = (None, None, 0, None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison(ResultFields):
    """One test in two results that differ in one thing, with a test whether they differ by more than chance.

    The field of the difference (model, serializer or prompt set) is empty.
    """

    kind: CompareBy
    """The kind of difference: versions of a family of models, serializers, prompt sets, or merged runs."""
    first: str
    """The first model, serializer, prompt set or run's folder."""
    second: str
    """The second one."""
    first_verdict: Verdict | None = None
    """The verdict of the first."""
    second_verdict: Verdict | None = None
    """The verdict of the second."""
    first_share: Share | None = None
    """The first one's share of right answers among the compared queries; null if it is not known."""
    second_share: Share | None = None
    """The second one's share of right answers among the compared queries."""
    queries: Count = 0
    """The number of queries that both were asked; 0 if they were asked different ones."""
    p_value: Share | None = None
    """The p-value of the hypothesis that both are right equally often; null if it could not be tested."""
    q_value: Share | None = None
    """The p-value corrected for all comparisons of the kind (Benjamini and Hochberg)."""
    beyond_chance: Truth = False
    """True if the shares of right answers differ by more than chance: q_value is at most alpha."""
    change: Change
    """The change of the verdict; unknown if one of the two was not decided, same for two scores."""


class QueryOutcomes(NamedTuple):
    """The right and the other answers to one test, for a comparison.

    `right` contains a digest of each query with a right answer, `others` of each other query with a reply. The same
    query has the same digest in all results.
    """

    has_trials: bool = False
    right: frozenset[bytes] = frozenset()
    others: frozenset[bytes] = frozenset()


NO_ANSWERS = QueryOutcomes()


@dataclass(frozen=True)
class ResultPair:
    """Two results that differ in one thing, named `first` and `second`, with their answers."""

    kind: CompareBy
    first: str
    second: str
    results: tuple[Result, Result]
    answers: tuple[QueryOutcomes, QueryOutcomes]


class ResultKeyPair(NamedTuple):
    """The keys of two results that differ in one thing, named `first` and `second`."""

    kind: CompareBy
    first: str
    second: str
    keys: tuple[ResultKey, ResultKey]


def comparisons(
    run: RunFacts,
    results: Iterable[Result],
    answers: Mapping[ResultKey, QueryOutcomes],
    runs: Sequence[ResultPair] = (),
) -> tuple[Comparison, ...]:
    """Return the comparisons of a run: versions, serializers, prompt sets, and results that are in two merged runs.

    `answers` has the answers to each result in `compared_results`; recorded answers have none. The q-value (Benjamini
    and Hochberg) corrects over all comparisons of a kind that have a p-value. `beyond_chance` is true if the q-value is
    at most the run's alpha. Controls that joined the run are not compared.
    """
    counted = _counted(results)
    own = []
    for kind, first, second, (one, two) in _pairs(run, counted):
        both = answers.get(one, NO_ANSWERS), answers.get(two, NO_ANSWERS)
        own.append(ResultPair(kind, first, second, (counted[one], counted[two]), both))
    by_kind = grouped([*own, *runs], lambda pair: pair.kind)
    alpha = ALPHA if run.alpha is None else run.alpha
    found: list[Comparison] = []
    for kind in (VERSIONS, SERIALIZERS, PROMPTS, RUNS):
        differing = [(pair, _difference(pair)) for pair in by_kind.get(kind, ())]
        q_values = iter(benjamini_hochberg([p for _, (_, _, _, p) in differing if p is not None]))
        for pair, difference in differing:
            q_value = None if difference[-1] is None else next(q_values)
            found.append(_compared(pair, difference, q_value, alpha))
    return tuple(found)


def compared_results(run: RunFacts, results: Iterable[Result]) -> frozenset[ResultKey]:
    """Return the keys of all results of one run that are compared."""
    return frozenset(key for pair in _pairs(run, _counted(results)) for key in pair.keys)


def planned_alike(run: RunFacts) -> bool:
    """Return whether all results come from one plan of queries, so that equal ids mean the same query."""
    return len({(part.seed, part.version) for part in run.runs}) <= 1


def answers_of(lines: Sequence[Line], by_id: bool) -> QueryOutcomes:
    """Return the answers to one test, from the newest trial of each query.

    With `by_id`, queries with the same id, asked cells and expected cells are the same; otherwise their prompts have to
    be equal, too. Left out are decoys, queries without a reply, and answers that are neither right nor wrong on their
    own. A declined answer is not right.
    """
    same = ("query", "asked", "expected") if by_id else ("query", "asked", "expected", "prompt")
    own = [line for line in lines if not line.get("decoy_of") and line.get("state") != ReplyState.FAILED]
    own = [line for line in own if line.get("hit") is not None or line.get("readable") is not True]
    facts = (json.dumps([line.get(name) for name in same]).encode() for line in own)
    hits = {blake2b(of, digest_size=12).digest(): line.get("hit") is True for of, line in zip(facts, own, strict=True)}
    right = frozenset(query for query, hit in hits.items() if hit)
    return QueryOutcomes(bool(lines), right, frozenset(hits.keys() - right))


Reading = Callable[[ResultKey], Sequence[Line]]  # maps the key of a result to its trials


def pair_runs(runs: Iterable[tuple[str, Iterable[Result], Reading]]) -> list[ResultPair]:
    """Return each result of a run, paired with the same result of the last earlier run that contains it.

    `runs` has the name, the results and the trials of each run.
    """
    last: dict[ResultKey, tuple[str, Result, Reading]] = {}
    pairs: list[ResultPair] = []

    def answers(result: Result, read: Reading) -> QueryOutcomes:
        return answers_of(read(result.key)[: result.queries], by_id=False)

    for name, results, read in runs:
        for key, result in _counted(results).items():
            if key in last:
                before, earlier, of_earlier = last[key]
                both = answers(earlier, of_earlier), answers(result, read)
                pairs.append(ResultPair(RUNS, before, name, (earlier, result), both))
            last[key] = name, result, read
    return pairs


def _difference(pair: ResultPair) -> Differing:
    """Return the shares of right answers, with McNemar's exact test on the queries that both sides were asked.

    If the sides share less than half of their queries, the test is Fisher's exact test on all their queries. Without
    trials, Fisher's test uses the counts in the results, if they count queries. Both tests assume independent queries.
    """
    first, second = pair.answers
    asked, other = first.right | first.others, second.right | second.others
    if not (asked and other):
        counts = [_counts(result) for result in pair.results]
        return UNTESTED if first.has_trials or second.has_trials else _unpaired(*counts)
    common = asked & other
    if len(common) < LEAST_COMMON_QUERIES * min(len(asked), len(other)):
        return _unpaired((len(first.right), len(asked)), (len(second.right), len(other)))
    first_only, second_only = len(first.right & second.others), len(second.right & first.others)
    shares = [round(len(one.right & common) / len(common), 4) for one in (first, second)]
    return shares[0], shares[1], len(common), mcnemar(first_only, second_only)


def _unpaired(first: tuple[int, int] | None, second: tuple[int, int] | None) -> Differing:
    if first is None or second is None:
        return UNTESTED
    shares = [round(hits / queries, 4) for hits, queries in (first, second)]
    return shares[0], shares[1], 0, fisher(*first, *second)


def _counts(result: Result) -> tuple[int, int] | None:
    """Return (hits, queries) of a result without trials; None if it has no such counts, or if its hits are words."""
    hits, queries, score = result.evidence.hits, result.queries, result.evidence.score
    if not queries or score is None or hits is None or not isclose(hits / queries, score, abs_tol=SCORE_PRECISION):
        return None
    return hits, queries


def _counted(results: Iterable[Result]) -> dict[ResultKey, Result]:
    """Return the results by key, without controls. If two recorded results share a key, the contaminated one counts."""
    counted: dict[ResultKey, Result] = {}
    for result in results:
        if not result.control and ((key := result.key) not in counted or result.verdict is Verdict.CONTAMINATED):
            counted[key] = result
    return counted


def _pairs(run: RunFacts, results: Collection[ResultKey]) -> list[ResultKeyPair]:
    """Return each result of a model with that of the next version in its family, and pairs that differ in one way.

    In recorded answers, the results of the main run have no serializer and no prompt set.
    """
    own = grouped(results, lambda key: key.llm)
    known = [llm for llm, entry in run.catalogue.items() if entry.family and llm in own]
    versions = sorted(known, key=lambda llm: run.catalogue[llm].order)
    found = []
    for family in grouped(versions, lambda llm: run.catalogue[llm].family).values():
        for older, newer in pairwise(family):
            both = ((key, key._replace(llm=newer)) for key in own[older])
            found += [ResultKeyPair(VERSIONS, older, newer, pair) for pair in both if pair[1] in results]
    return found + [pair for kind, way in WAYS.items() for pair in _ways(results, kind, way)]


def _ways(results: Iterable[ResultKey], kind: CompareBy, way: str) -> Iterator[ResultKeyPair]:
    """Yield all pairs of results that differ only in the field `way`."""
    named = (key for key in results if getattr(key, way))
    for alike in grouped(named, lambda key: key._replace(**{way: ""})).values():
        for one, two in combinations(alike, 2):
            yield ResultKeyPair(kind, getattr(one, way), getattr(two, way), (one, two))


def _compared(pair: ResultPair, difference: Differing, q_value: float | None, alpha: float) -> Comparison:
    first, second = pair.results
    first_share, second_share, queries, p_value = difference
    differing = {VERSIONS: "llm", **WAYS}.get(pair.kind)  # the field in which both results differ stays empty
    place = first.table_fields | ({differing: ""} if differing else {})
    return Comparison(
        kind=pair.kind,
        first=pair.first,
        second=pair.second,
        **place,
        test=first.test,
        first_verdict=first.verdict,
        second_verdict=second.verdict,
        first_share=first_share,
        second_share=second_share,
        queries=queries,
        p_value=p_value,
        q_value=q_value,
        beyond_chance=q_value is not None and q_value <= alpha,
        change=change(first.verdict, second.verdict),
    )


def change(first: Verdict | None, second: Verdict | None) -> Change:
    """Return the change of a verdict: "appeared", "vanished", "same", or "unknown" if one of the two was not decided.

    Two scores have no verdict, and count as "same".
    """
    if first is second and (first is None or first in DECIDED):
        return "same"
    if first not in DECIDED or second not in DECIDED:
        return "unknown"
    return "appeared" if second is Verdict.CONTAMINATED else "vanished"


def note_differences(runs: Sequence[RunFacts], names: Sequence[str]) -> list[Note]:
    """Return notes on the facts that differ between several runs."""
    notes = []
    for kind, what, values in (
        (NoteKind.SEEDS, "seeds, so that their queries differ", [str(run.seed) for run in runs]),
        (NoteKind.VERSIONS, "versions of tabcontam", [run.version for run in runs]),
        (NoteKind.QUERIES, "queries", [asked_queries(run) for run in runs]),
        (NoteKind.KNOWN, "known rows", [", ".join(map(str, run.known)) or "none" for run in runs]),
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
