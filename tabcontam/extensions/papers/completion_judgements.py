"""Judgements of completions (rows that a model completed) by people and models, judges' errors and agreement.

A judgement is about a completion and the true rest of the row, not about a query. A new completion needs a new one.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Literal

from tabcontam.asking.part_records import PartRecords
from tabcontam.asking.trial_file import Line, line_key, trial_of
from tabcontam.evidence.base import DECIDED, Reading, Test, Trial, Verdict
from tabcontam.evidence.completion_pairs import CompletionJudgement, CompletionPair, Likeness, contaminated
from tabcontam.evidence.mixins import JudgedTest
from tabcontam.evidence.registry import by_id
from tabcontam.extensions.papers.completion_judge import ARM
from tabcontam.groups import grouped
from tabcontam.statistics.kappa import measure_agreement
from tabcontam.verdicts.judge_facts import Agreement, JudgeFacts, MadePairRecord
from tabcontam.verdicts.result_types import Result, ResultKey

TEXT = "the text alone"  # the judge that only checks whether a completion is an exact match
COMPLETIONS: Literal["completions"] = "completions"
SETTINGS: Literal["settings"] = "settings"
Compared = Mapping[ResultKey, Sequence[CompletionPair]]


@dataclass(frozen=True)
class Judgement:
    """One judge's judgement of one pair; a line of judgements.jsonl.

    `by` is the model's spec or a `person`'s name, `pair` a digest of the compared texts. `word` is None if the judge
    was asked but gave no word. This does not count as "no match"; `detail` states the reason. A pair that was `made` to
    check the judge has the likeness (true word) `made`. `begging` is true if its completion asks the judge for another
    word. A made pair belongs to no model: `place.llm` is empty.
    """

    place: ResultKey
    query: str
    by: str
    pair: str
    word: Likeness | None
    person: bool = False
    made: Likeness | None = None
    begging: bool = False
    reply: str = ""
    detail: str = ""
    version: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """The key of the judgement. A later judgement with the same key replaces it."""
        return (*self.place, self.query, self.by, self.pair, self.made or "")

    def line(self) -> dict[str, Any]:
        """Return the judgement as a line of judgements.jsonl."""
        held = {name: value for name, value in vars(self).items() if name != "place"}
        return {**self.place._asdict(), **held}


def judgement_of(line: Mapping[str, Any]) -> Judgement:
    """Return the judgement on a line. Raises `KeyError`, `TypeError` or `ValueError` for any other line."""
    place = ResultKey(*(line[name] for name in ResultKey._fields))
    held = {each.name: line[each.name] for each in fields(Judgement) if each.name != "place"}
    found = Judgement(place, **held | {name: held[name] and Likeness(held[name]) for name in ("word", "made")})
    if not all(isinstance(text, str) for text in found.key):
        raise TypeError("a name is not a text")
    return found


def pair_of(compared: CompletionPair) -> str:
    """Return a digest of the true piece and the completion."""
    texts = json.dumps([compared.expected, compared.completion])
    return hashlib.sha256(texts.encode("utf-8", "backslashreplace")).hexdigest()[:16]


class Judgements(PartRecords):
    """The judgements in a run's folder: each judge's last judgement of each pair of texts."""

    def __init__(self, lines: Iterable[Judgement] = ()) -> None:
        newest: dict[tuple[str, ...], Judgement] = {}
        for one in lines:
            newest.pop(one.key, None)
            newest[one.key] = one
        self._all = list(newest.values())

    def __iter__(self) -> Iterator[Judgement]:
        return iter(self._all)

    def with_these(self, more: Iterable[Judgement]) -> "Judgements":
        return Judgements([*self._all, *more])

    @cached_property
    def judges(self) -> tuple[str, ...]:
        """The judges by rank: the model that judged last, earlier models, then people in the order of their start."""
        last = {one.by: place for place, one in enumerate(self._all) if not one.person}
        people = dict.fromkeys(one.by for one in self._all if one.person)
        return (*sorted(last, key=lambda by: -last[by]), *(name for name in people if name not in last))

    @cached_property
    def _of_pairs(self) -> dict[tuple[ResultKey, str, str], dict[str, Judgement]]:
        found: dict[tuple[ResultKey, str, str], dict[str, Judgement]] = {}
        for one in self._all:
            if one.made is None:
                found.setdefault((one.place, one.query, one.pair), {})[one.by] = one
        return found

    def of(self, place: ResultKey, compared: CompletionPair) -> dict[str, Judgement]:
        """Return each judge's judgement of a completion, in the order of `judges`."""
        found = self._of_pairs.get((place, compared.query_id, pair_of(compared)), {})
        return {by: found[by] for by in self.judges if by in found}

    def attached(self, place: ResultKey, test: Test, trials: Sequence[Trial]) -> Sequence[Trial]:
        if not isinstance(test, JudgedTest) or not self._all:
            return trials
        words = {one.query_id: self.word(place, one) for one in test.compared(trials)}
        return [replace(trial, judged=words.get(trial.query.id)) for trial in trials]

    def shown(self, place: ResultKey, lines: list[Line]) -> list[Line]:
        """Return the trials. If a trial's completion is compared, "judged" lists each judge with its word."""
        test, words_of = by_id().get(place.test), dict[str, list[list[str]]]()
        for one in compared_of(test, list(map(_read, lines))) if test else ():
            words = [[TEXT, Likeness.EXACT.value]] if one.exact else []
            words += [[by, judged.word or f"not judged: {judged.detail}"] for by, judged in self.of(place, one).items()]
            words_of[one.query_id] = words
        return [line | {"judged": own} if (own := words_of.get(line["query"])) else line for line in lines]

    def fields(self, lines: Iterable[Line], results: Iterable[Result]) -> dict[str, Any]:
        return judged_by(self, compared_in(lines) if self._all else {}, results)

    def lines(self) -> list[Line]:
        return [one.line() for one in self._all]

    def word(self, place: ResultKey, compared: CompletionPair) -> CompletionJudgement | None:
        """Return the word for a completion from the first judge that gave one; None if no judge did."""
        judgements = self.of(place, compared).items()
        return next((CompletionJudgement(one.word, by) for by, one in judgements if one.word is not None), None)


def judge_facts(judgements: Judgements, compared: Compared) -> tuple[JudgeFacts, ...]:
    """Return the record of each judge of a run's completions, in the order of `Judgements.judges`."""
    judged = _judgements_of_pairs(judgements, compared).values()
    facts = []
    for by in judgements.judges:
        own = [words[by] for words in judged if by in words]
        words = Counter(one.word for one in own if one.word is not None)
        made = grouped((one for one in judgements if one.made and one.by == by), lambda one: one.made)
        facts.append(
            JudgeFacts(
                by=by,
                person=any(one.person for one in judgements if one.by == by),
                judged=words.total(),
                unjudged=len(own) - words.total(),
                words={word.value: words[word] for word in Likeness if words[word]},
                made=tuple(_made(word, made[word]) for word in Likeness if word in made),
            )
        )
    return tuple(facts)


def judged_by(judgements: Judgements, compared: Compared, results: Iterable[Result]) -> dict[str, Any]:
    """Return the fields of a run's results that contain its judges and their agreement."""
    facts = judge_facts(judgements, compared)
    return {"judges": facts, "agreements": agreements(judgements, compared, results) if facts else ()}


def _made(word: Likeness, own: Sequence[Judgement]) -> MadePairRecord:
    begging = [one for one in own if one.begging]
    return MadePairRecord(
        word=word,
        pairs=len(own),
        right=sum(one.word is word for one in own),
        unjudged=sum(one.word is None for one in own),
        begging=len(begging),
        led=sum(one.word is not None and one.word is not word for one in begging),
    )


def _judgements_of_pairs(
    judgements: Judgements, compared: Compared
) -> dict[tuple[ResultKey, str], dict[str, Judgement]]:
    """Return the judgements of each completion that may be judged, even if it equals the true text."""
    return {
        (place, one.query_id): found
        for place, own in compared.items()
        for one in own
        if (found := judgements.of(place, one))
    }


def agreements(judgements: Judgements, compared: Compared, results: Iterable[Result]) -> tuple[Agreement, ...]:
    """Return the agreement of people, judges, the text alone and published methods: tables 3 to 5 of Time Travel."""
    pairs = {(place, one.query_id): one for place, own in compared.items() for one in own}
    words = {TEXT: {item: Likeness.EXACT if one.exact else Likeness.NONE for item, one in pairs.items()}}
    for item, found in _judgements_of_pairs(judgements, compared).items():
        for by, judgement in found.items():
            if judgement.word is not None:
                words.setdefault(by, {})[item] = judgement.word
    words = {by: words[by] for by in (TEXT, *judgements.judges) if words.get(by)}
    if len(words) < 2:
        return ()
    people = {one.by for one in judgements if one.person}
    for by, own_words in words.items():  # an LLM is not asked about exact completions: its word for them is exact
        if by != TEXT and by not in people:
            judged = {place for place, _ in own_words}
            exact = {item: word for item, word in words[TEXT].items() if word is Likeness.EXACT and item[0] in judged}
            words[by] = {**exact, **own_words}
    decided = {by: _decided(found, compared) for by, found in words.items()} | _by_method(results, compared)
    return (*_pairwise(COMPLETIONS, words), *_pairwise(SETTINGS, decided))


def _decided(words: Mapping[tuple[ResultKey, str], Likeness], compared: Compared) -> dict[tuple[str, ...], bool]:
    """Return Algorithm 2's decision on each setting (a model on a table) with a word for enough completions."""
    found = {}
    for place, own in compared.items():
        labels = [words[place, one.query_id] for one in own if (place, one.query_id) in words]
        if contaminated(labels):
            found[_setting(place)] = True
        elif own and len(labels) == len(own):
            found[_setting(place)] = False
    return found


def _by_method(results: Iterable[Result], compared: Compared) -> dict[str, dict[tuple[str, ...], bool]]:
    """Return each published rule's decision on each setting, from tests that need no judge."""
    judged, settings = {place.test for place in compared}, {_setting(place) for place in compared}
    found: dict[str, dict[tuple[str, ...], bool]] = {}
    for result in results:
        setting = _setting(result.key)
        if setting in settings and result.test not in judged and result.decision.paper_verdict in DECIDED:
            found.setdefault(result.test, {})[setting] = result.decision.paper_verdict is Verdict.CONTAMINATED
    return found


def _setting(place: ResultKey) -> tuple[str, ...]:
    return tuple(place._replace(test=""))


def _pairwise(kind: Literal["completions", "settings"], labels: Mapping[str, Mapping[Any, Any]]) -> Iterator[Agreement]:
    for one, other in combinations(labels, 2):
        both = [(word, labels[other][item]) for item, word in labels[one].items() if item in labels[other]]
        if both:
            found = measure_agreement(both)
            kappa = None if found.kappa is None else round(found.kappa, 6)
            yield Agreement(kind=kind, first=one, second=other, items=found.items, agree=found.agree, kappa=kappa)


def compared_of(test: Test, trials: Sequence[Trial]) -> list[CompletionPair]:
    """Return the completions of a test that judges and people can judge: all completions with a text."""
    compared = test.compared(trials) if isinstance(test, JudgedTest) else ()
    return [one for one in compared if one.arm == ARM and one.continued.strip()]


def compared_in(lines: Iterable[Line]) -> dict[ResultKey, list[CompletionPair]]:
    """Return, by result, the completions in a run's trials that judges and people may be shown, not read anew."""
    known = by_id()
    judgeable = [line for line in lines if isinstance(known.get(line["test"]), JudgedTest)]
    found = {}
    for key, result_key in grouped(judgeable, lambda line: line_key(line)[:-1]).items():
        place = ResultKey(*key)
        found[place] = compared_of(known[place.test], list(map(_read, result_key)))
    return found


def _read(line: Line) -> Trial:
    reading = Reading(line.get("parsed"), line.get("hit"), line.get("hit") is True, line.get("readable") is True)
    return replace(trial_of(line), reading=reading)
