"""Time Travel's recorded answers, judged by the algorithms that judge a run, published and calibrated.

A setting (an LLM, a dataset, a split) has a result for each method: Algorithm 1 by ROUGE-L, which is computed here;
Algorithm 1 by the recorded BLEURT; Algorithm 2 by the judge's words; Algorithm 2 by each person's words. Only the first
method has a calibrated verdict. The others judge the same answers, and an overlap or a word alone has no null model.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from tabcontam.config import CALIBRATED, PAPER
from tabcontam.evidence.base import DECIDED, Query, Reply, ReplyState, Trial, Verdict
from tabcontam.evidence.completion_pairs import Likeness, contaminated
from tabcontam.evidence.trial_reading import read_trial
from tabcontam.extensions.papers.guided.algorithm_one import bootstrap, format_bootstrap
from tabcontam.extensions.papers.guided.guided_completion import BLEURT, GuidedCompletion
from tabcontam.extensions.papers.guided.guided_match import PERSONS, GuidedMatch
from tabcontam.extensions.papers.guided.guided_test import GENERAL, SECOND
from tabcontam.extensions.papers.guided.overlap_measures import rouge_l
from tabcontam.extensions.papers.guided.word_runs import common, phrases, words
from tabcontam.extensions.papers.thresholds import ALGORITHM_ONE_LEVEL, PHRASE_WORDS, ROUNDING_TOLERANCE
from tabcontam.extensions.papers.time_travel_records import JUDGE, KEYS, Instance, RecordedCompletions, parse_instance
from tabcontam.groups import grouped
from tabcontam.reading.word_decision import Dictionary
from tabcontam.replay.answer_records import unrecorded
from tabcontam.replay.calibrated_replay import conclude_informative
from tabcontam.replay.record_kind import RecordKind
from tabcontam.replay.record_lines import Lines, parse_lines
from tabcontam.replay.replay_outcome import ReplayOutcome, place_of
from tabcontam.tables.serializers import DEFAULT, load_serializer
from tabcontam.verdicts.decisions import level
from tabcontam.verdicts.recorded_differences import RecordedDifference, RuleDifference
from tabcontam.verdicts.result_building import build_result
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.thresholds import ALPHA

ROUGE, LEARNED = "rouge", "bleurt"
NO_NAME = "no completion with a wrong name is recorded, so only runs of words decide"
ROUNDING = "the recorded overlaps come to another decision"
STYLE = "the overlap is larger, but no two texts are recited beyond what fluent writing explains"
LOOSE = "matches, but no two texts are recited beyond what fluent writing explains"
RECITED = "texts are recited beyond what fluent writing explains"
SHORT = "the second pieces are too few or too short to tell reciting from fluent writing"
SILENT = "too few completions that could be read"
Phrases = frozenset[tuple[str, ...]]


def judged(path: Path, lines: Lines, rules: str, dictionary: Dictionary, with_differences: bool) -> ReplayOutcome:
    """Return the outcome of a file under the `rules`; with disagreements if `with_differences`. Raises `UsageError`."""
    instances = parse_lines(path, lines, parse_instance, KEYS)
    repeated = _repeated(instances)
    settings = [
        RecordedSetting(tuple(own), path.name, repeated[own[0].dataset])
        for own in grouped(instances, lambda one: one.setting).values()
    ]
    calibrated = _calibrated(settings)
    results: list[Result] = []
    by_rules: list[RuleDifference] = []
    for setting, main in zip(settings, calibrated, strict=True):
        own = [main, *setting.other_methods]
        by_rules += [
            _contrast(one, main)
            for one in own
            if one.decision.paper_verdict in DECIDED and one.decision.paper_verdict is not main.verdict
        ]
        if rules == PAPER:
            own = [
                one.changed(verdict=one.decision.paper_verdict, reason=None, q_value=None, q_without=None)
                for one in own
            ]
        results += own
    recorded = [found for setting in settings if (found := _by_recorded_overlaps(setting))] if with_differences else []
    judged_instances = {
        replace(setting.result(GuidedMatch.id), edition=setting.source).key: setting.instances
        for setting in settings
        if any(one.judge or one.people for one in setting.instances)
    }
    return ReplayOutcome(results, recorded, by_rules, [RecordedCompletions(judged_instances)])


def _repeated(instances: Iterable[Instance]) -> dict[str, Phrases]:
    """Return, for each dataset, the four-word phrases that occur in the second pieces of several instances."""
    found: dict[str, Phrases] = {}
    for dataset, own in grouped(instances, lambda one: one.dataset).items():
        seen: set[tuple[str, ...]] = set()
        twice: set[tuple[str, ...]] = set()
        for text in dict.fromkeys(one.expected for one in own):
            now = set(phrases(words(text), PHRASE_WORDS))
            twice |= seen & now
            seen |= now
        found[dataset] = frozenset(twice)
    return found


@dataclass(frozen=True)
class RecordedSetting:
    """The instances of an LLM, a dataset and a split, from the file `source`.

    `repeated`: the phrases that several instances of the dataset share.
    """

    instances: tuple[Instance, ...]
    source: str
    repeated: Phrases

    @property
    def paired(self) -> bool:
        """True if completions without the dataset's name are recorded, which Algorithm 1 needs."""
        return any(one.general is not None for one in self.instances)

    def result(self, test: str) -> Result:
        """Return a result of this setting without a verdict."""
        first = self.instances[0]
        return self.placed(Result(llm=first.llm, dataset=first.dataset, test=test, kind=GuidedCompletion.kind))

    def placed(self, single_result: Result) -> Result:
        """Return a result with this setting's split and file, and without fields that recorded answers lack."""
        return replace(
            single_result,
            edition=None,
            split=self.instances[0].split,
            serializer=None,
            prompts=None,
            source=self.source,
            queries=len(self.instances),
        )

    @cached_property
    def queries(self) -> list[tuple[Query, Reply]]:
        """The queries with their replies, in the form of a run."""
        found = []
        for one in self.instances:
            left_out = common(one.expected, one.shown, self.repeated)
            name, paper = f"line {one.line}", self.paired
            query = Query(name, unrecorded, (SECOND,), (one.expected,), 0, paper, not_expected=left_out)
            found.append((query, _reply(one.guided)))
            if self.paired:
                general = replace(query, id=f"{name}-{GENERAL}", decoy_of=name)
                found.append((general, _reply(one.general)))
        return found

    @cached_property
    def other_methods(self) -> list[Result]:
        """The results of all methods except Algorithm 1 by ROUGE-L; they have no calibrated verdict."""
        found = [self._by_bleurt()] if self._scores(LEARNED) else []
        judge = [one.judge for one in self.instances]
        if any(judge):
            found.append(self._by_words(GuidedMatch.id, JUDGE, judge))
        for number, test in enumerate(PERSONS, 1):
            words = [one.people.get(str(number)) for one in self.instances]
            both = [one is other for one, other in zip(words, judge, strict=True) if one and other]
            agreement = f"; the judge agrees on {sum(both)} of {len(both)}" if both else ""
            if any(words):
                found.append(self._by_words(test, f"person {number}", words, agreement))
        return found

    def _scores(self, name: str) -> list[tuple[float, float]]:
        """Return the recorded scores of both completions, for the instances that have both."""
        return [one.overlaps[name] for one in self.instances if name in one.overlaps]

    def p_values(self, name: str) -> tuple[float, float] | None:
        """Return Algorithm 1's p-values by recorded scores: paired, as published, and unpaired; None without scores."""
        scores = self._scores(name)
        if not scores:
            return None
        guided, general = zip(*scores, strict=True)
        return bootstrap(guided, general), bootstrap(guided, general, paired=False)

    def _by_bleurt(self) -> Result:
        scores = self._scores(LEARNED)
        paired, apart = self.p_values(LEARNED) or (1.0, 1.0)
        hits = sum(guided > general for guided, general in scores)
        own, other = (sum(side) / len(scores) for side in zip(*scores, strict=True))
        return self.result(BLEURT).changed(
            paper_verdict=_verdict(paired <= ALGORITHM_ONE_LEVEL),
            hits=hits,
            answered=len(scores),
            score=round(hits / len(scores), 4),
            sentence=f"{hits} of {len(scores)} second pieces have a higher recorded score with the dataset's name: "
            f"{own:.2f} guided, {other:.2f} general {format_bootstrap(paired, apart)}",
        )

    def _by_words(self, test: str, by: str, judgements: Sequence[Likeness | None], more: str = "") -> Result:
        """Return the result of Algorithm 2 by these judgements of the completions."""
        known = [word for word in judgements if word is not None]
        exact, near = known.count(Likeness.EXACT), known.count(Likeness.NEAR)
        lacking = len(judgements) - len(known)
        found = contaminated(known)
        verdict = _verdict(found) if found or not lacking else Verdict.NO_ANSWER
        unjudged = f"; {lacking} have no judgement" if lacking else ""
        return self.result(test).changed(
            paper_verdict=verdict,
            hits=exact + near,
            answered=len(known),
            score=round((exact + near) / len(known), 4),
            sentence=f"{exact} of {len(judgements)} second pieces are exact matches, {near} near-exact, by {by}"
            f"{unjudged}{more}",
        )

    @cached_property
    def apart(self) -> str:
        """A note on recorded ROUGE-L values that differ from the texts' by more than rounding; "" if none does."""
        off = [
            abs(rouge_l(one.expected, completion or "") - recorded)
            for one in self.instances
            if ROUGE in one.overlaps
            for completion, recorded in zip((one.guided, one.general), one.overlaps[ROUGE], strict=True)
        ]
        more = [each for each in off if each > ROUNDING_TOLERANCE]
        return f"{len(more)} of {len(off)} recorded ROUGE-L values are off by up to {max(more):.3f}" if more else ""


def _reply(text: str | None) -> Reply:
    return Reply("", ReplyState.EMPTY) if text is None or not text.strip() else Reply(text, ReplyState.OK)


def _verdict(found: bool) -> Verdict:
    return Verdict.CONTAMINATED if found else Verdict.NOT_DETECTED


def _calibrated(settings: Sequence[RecordedSetting]) -> list[Result]:
    """Return the result of each setting under the calibrated rules. Results of one LLM share an error budget."""
    numbers = grouped(range(len(settings)), lambda number: settings[number].instances[0].llm)
    results: dict[int, Result] = {}
    for own in numbers.values():
        at = level(ALPHA, len(own))
        found = [_weighed(settings[number], at) for number in own]
        results |= zip(own, conclude_informative(found), strict=True)
    return [results[number] for number in range(len(settings))]


def _weighed(setting: RecordedSetting, level_of_one: float) -> Result:
    name, test, serializer = setting.result(GuidedCompletion.id).key, GuidedCompletion(), load_serializer(DEFAULT)
    trials = [read_trial(test, Trial(query, reply), serializer) for query, reply in setting.queries]
    found = build_result(name, test, trials, len(trials), CALIBRATED, level_of_one)
    sentence = "; ".join(filter(None, (found.evidence.sentence, NO_NAME, setting.apart)))
    return setting.placed(found.changed(sentence=sentence))


def _contrast(single_result: Result, main: Result) -> RuleDifference:
    found = single_result.decision.paper_verdict is Verdict.CONTAMINATED
    causes: Mapping[Verdict | None, str] = {
        Verdict.CONTAMINATED: RECITED,
        Verdict.NO_ANSWER: SILENT,
        Verdict.NOT_DETECTED: STYLE if single_result.test in (main.test, BLEURT) else LOOSE,
    }
    explained = single_result.evidence.sentence, main.decision.reason or main.evidence.sentence
    return RuleDifference(
        **place_of(single_result),
        paper=single_result.decision.paper_verdict,
        calibrated=main.verdict,
        group=causes.get(main.verdict, SHORT) if found or main.verdict is not Verdict.NOT_DETECTED else STYLE,
        explanation="; ".join(dict.fromkeys(filter(None, explained))),
    )


def _by_recorded_overlaps(setting: RecordedSetting) -> RecordedDifference | None:
    """Return the difference if ROUGE-L of the texts decides otherwise than the recorded, rounded values; else None."""
    p_values = setting.p_values(ROUGE)
    if p_values is None:
        return None
    pairs = [one for one in setting.instances if ROUGE in one.overlaps]
    guided = [rouge_l(one.expected, one.guided or "") for one in pairs]
    general = [rouge_l(one.expected, one.general or "") for one in pairs]
    ours, recorded = bootstrap(guided, general) <= ALGORITHM_ONE_LEVEL, p_values[0] <= ALGORITHM_ONE_LEVEL
    if ours == recorded:
        return None
    return RecordedDifference(
        level="cell",
        **place_of(setting.result(GuidedCompletion.id)),
        line=pairs[0].line,
        ours=ours,
        recorded=recorded,
        group=ROUNDING,
        explanation=setting.apart or "rounding to two decimals",
    )


READER = RecordKind(KEYS, judged)
