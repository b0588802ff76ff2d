"""The guided match test: a judge decides whether second pieces are near-exact matches of the true ones. Algorithm 2."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import ClassVar

from tabcontam.evidence.base import Evidence, PublishedRule, Query, Reading, Reply, Statistic, Trial, as_read
from tabcontam.evidence.completion_pairs import CompletionPair, Likeness, contaminated
from tabcontam.evidence.mixins import FeatureTest, JudgedTest
from tabcontam.extensions.papers.completion_judge import ARM
from tabcontam.extensions.papers.guided.guided_completion import GuidedCompletion
from tabcontam.extensions.papers.guided.guided_test import SECOND, GuidedTest, first_piece, of_text
from tabcontam.extensions.papers.thresholds import LEAST_JUDGED_SHARE
from tabcontam.reading.answer_text import declines, same_value
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table

PERSONS = ("guided_match_by_a_person", "guided_match_by_another")  # ids of recorded answers that persons have judged


@dataclass(frozen=True)
class AlgorithmTwo(PublishedRule):
    """The rule that requires one exact or two near-exact matches. Without a judge, only exact matches are known."""

    def finds(self, trials: Sequence[Trial]) -> bool | None:
        return contaminated(word for trial in trials if (word := word_of(trial)) is not None)

    def lacks(self, trials: Sequence[Trial]) -> str | None:
        """Return why the rule cannot call a table clean, if too few completions were read or judged; else None."""
        readable = [trial for trial in trials if trial.readable]
        if len(readable) < LEAST_JUDGED_SHARE * len(trials):
            return f"only {len(readable)} of {len(trials)} completions could be read"
        silent = sum(word_of(trial) is None for trial in readable)
        unjudged = f"{silent} of {len(trials)} completions were not judged: no judge decided whether they match"
        return unjudged if silent else None

    def hits(self, trials: Sequence[Trial]) -> int:
        return sum(word_of(trial) in (Likeness.EXACT, Likeness.NEAR) for trial in trials)

    def describe(self, trials: Sequence[Trial]) -> str:
        words = [word_of(trial) for trial in trials]
        exact, near = words.count(Likeness.EXACT), words.count(Likeness.NEAR)
        silent = sum(trial.readable and word_of(trial) is None for trial in trials)
        judges = list(dict.fromkeys(trial.judged.by for trial in trials if trial.judged))
        if not judges:
            return f"{exact} of {len(trials)} {self.claim}; no judge compared the others (add --judge LLM)"
        not_judged = f"; {silent} not judged" if silent else ""
        return f"{exact} of {len(trials)} {self.claim}, {near} near-exact ones by {' and '.join(judges)}{not_judged}"


RULE = AlgorithmTwo("second pieces are exact matches", source="golchin2023")


@dataclass(frozen=True)
class GuidedMatch(JudgedTest, FeatureTest, GuidedTest):
    """A judge compares the second pieces of guided completion with the true pieces.

    Measures: how many of ten instances the model reproduces, word for word or nearly so. The test gives a score without
    a calibrated verdict: the answers have the calibrated verdict of guided completion, and count only once.

    Queries: the paper's ten guided queries of guided completion, in the same words. Both tests share the replies.

    Null: none. No judge is asked about exact matches. In an exact match of a text, all words are the same and in order;
    white space, capitals, quotes and final punctuation may differ. In an exact match of a row, all hidden cells have
    the same values. For any other completion the judge (`--judge LLM`), or a person (`tabcontam judge`), decides
    whether it is a near-exact match. A model that judges is also asked about made-up pairs: a true piece and its copy,
    its copy with one change, or another row's piece. The report states the share of made-up pairs that the model judges
    correctly. The score is the share of matches.

    Published rule: Algorithm 2. The table is contaminated if there is at least one exact match, or if there are two
    near-exact matches. Without a judge only exact matches count, and the result is contaminated or no answer, never
    clean. If a judge gave no judgement on a completion, the result is never clean, either.

    Needs: what guided completion needs; for near-exact matches, also a model or a person that judges.

    Cannot show: that rows were seen. A judge has no null: it may call a fluent completion a match, or a short
    completion that any model may write, as in pairs of sentences. Prediction alone completes rows with few or usual
    hidden cells exactly: the published rule calls a baseline contaminated on most draws of iris and titanic. A judge's
    error rate on made-up pairs is a lower bound of its error rate.

    Source: Golchin and Surdeanu 2024, "Time Travel in LLMs", section 3.2.2 and appendix C; Algorithm 2. The authors'
    judge first sees one exact and three near-exact pairs; this test's judge also sees pairs that do not match.

    Example: `weight is 77, score is 5` where the row has `weight is 77, score is 4`: this is no exact match, so a judge
    decides.
    """

    id: ClassVar[str] = "guided_match"
    follows = "guided_completion"
    published = RULE
    decides: ClassVar[bool] = False
    draws_as: ClassVar[str] = GuidedCompletion.id
    recorded_forms: ClassVar[Mapping[str, str]] = {
        PERSONS[0]: "Guided match by a person",
        PERSONS[1]: "Guided match by another person",
    }

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        return [query for query in super().queries(table, serializer, rng) if query.paper and not query.decoy_of]

    def read(self, query: Query, reply: Reply, serializer: Serializer) -> Reading:
        """Return the cells in the answer, or the piece as it was written; an exact match is a hit."""
        reading = super().read(query, reply, serializer)
        exact = reading.readable and _compared(Trial(query, reply, reading)).exact
        readable = reading.readable and (exact or not declines(reply.text))  # a refusal must not count as not detected
        return replace(reading, hit=exact, paper_hit=exact, readable=readable)

    def compared(self, trials: Sequence[Trial]) -> list[CompletionPair]:
        """Return all completions that could be read, and those of queries that are not answered yet."""
        return [_compared(trial) for trial in trials if trial.readable or trial.reading is None]

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        hits = RULE.hits(trials)
        return Evidence(
            statistic=Statistic(name="matches", value=hits),
            null="none: a judge decides whether a completion is near-exact",
            sentence=RULE.describe(trials),
            hits=hits,
            asked=len(trials),
            answered=sum(trial.readable for trial in trials),
            score=hits / len(trials) if trials else None,
        )

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        """Return None: the test has no calibrated verdict that could be out of reach."""
        return None


def word_of(trial: Trial) -> Likeness | None:
    """Return the judgement of a completion, or None if it could not be read or was not judged."""
    if not trial.readable:
        return None
    if trial.reading is not None and trial.reading.hit:
        return Likeness.EXACT
    return trial.judged.word if trial.judged else None


def _compared(trial: Trial) -> CompletionPair:
    """Return a completion and the true piece; for a row, also its hidden cells and whether all were read."""
    query, reading = trial.query, trial.reading
    answer = as_read(trial.reply).text
    parsed = reading.parsed if reading is not None and isinstance(reading.parsed, Mapping) else {}
    if of_text(query):
        return CompletionPair(query.id, first_piece(query), query.expected[0] or "", parsed.get(SECOND) or answer, ARM)
    hidden = {name: cell for name, cell in zip(query.asked, query.expected, strict=True) if cell is not None}
    true = ", ".join(f"{name} is {cell}" for name, cell in hidden.items())
    exact = bool(hidden) and all(same_value(parsed.get(name), cell) for name, cell in hidden.items())
    return CompletionPair(query.id, first_piece(query), true, answer, ARM, tuple(hidden.values()), exact)
