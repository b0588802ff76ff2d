"""Guided match: are second pieces exact or near-exact matches of the true ones, as a judge has it? Algorithm 2."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import ClassVar

from tabcontam.evidence.base import Evidence, PublishedRule, Query, Reading, Reply, Trial, as_read
from tabcontam.evidence.compared import Compared, Likeness, contaminated
from tabcontam.evidence.judging import ARM
from tabcontam.evidence.rows.guided.completion import GuidedCompletion
from tabcontam.evidence.rows.guided.guided import SECOND, Guided, first_piece, of_text
from tabcontam.reading.reading import declines, same_value
from tabcontam.reading.words import Dictionary
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table

PERSONS = ("guided_match_by_a_person", "guided_match_by_another")  # whose words recorded answers have
ENOUGH = 0.5  # the share of the completions that must be readable before a table can be called clean


@dataclass(frozen=True)
class AlgorithmTwo(PublishedRule):
    """Contaminated by at least one exact or two near-exact matches; without a judge the exact ones alone are known."""

    def finds(self, trials: Sequence[Trial]) -> bool | None:
        """What the rule decides by the words that there are."""
        return contaminated(word for trial in trials if (word := word_of(trial)) is not None)

    def lacks(self, trials: Sequence[Trial]) -> str | None:
        """A completion without a word may be a match, and too few completions say nothing: neither is clean."""
        readable = [trial for trial in trials if trial.readable]
        if len(readable) < ENOUGH * len(trials):
            return f"only {len(readable)} of {len(trials)} completions could be read"
        silent = sum(word_of(trial) is None for trial in readable)
        return (
            f"{silent} of {len(trials)} completions were not judged: no judge said whether they match"
            if silent
            else None
        )

    def hits(self, trials: Sequence[Trial]) -> int:
        """How many completions are exact or near-exact matches."""
        return sum(word_of(trial) in (Likeness.EXACT, Likeness.NEAR) for trial in trials)

    def said(self, trials: Sequence[Trial]) -> str:
        """How many match exactly or nearly, and who says so."""
        words = [word_of(trial) for trial in trials]
        exact, near = words.count(Likeness.EXACT), words.count(Likeness.NEAR)
        silent = sum(trial.readable and word_of(trial) is None for trial in trials)
        judges = list(dict.fromkeys(trial.judged.by for trial in trials if trial.judged))
        if not judges:
            return f"{exact} of {len(trials)} {self.claim}; no judge said whether others are near-exact (--judge LLM)"
        not_judged = f"; {silent} not judged" if silent else ""
        return f"{exact} of {len(trials)} {self.claim}, {near} near-exact ones by {' and '.join(judges)}{not_judged}"


RULE = AlgorithmTwo("second pieces are exact matches", source="golchin2023")


@dataclass(frozen=True)
class GuidedMatch(Guided):
    """The second pieces that guided completion asks for, as exact or near-exact matches: for a judge to say.

    Measures: how many of ten instances the LLM reproduces, word for word or nearly so. A score without a calibrated
    verdict: what the calibrated rule says of the same answers is that of guided completion, so that nothing is counted
    twice.

    Queries: the ten guided ones of guided completion, in the same words, so that they are asked once where both are.

    Null: none. What is exact is decided by the text alone: all words in order, where white space, capitals, quotes and
    marks at the end may differ; of a row, all hidden cells have the same values. Of any other completion the judge
    (`--judge LLM`), or a person (`tabcontam judge`), says whether it is a near-exact match. An LLM that judges is asked
    about made pairs, too: true pieces beside themselves, beside themselves with one change, and beside those of other
    rows; the report has how many it names rightly. The score is the share of matches.

    Published rule: Algorithm 2. Contaminated by at least one exact match, or by two near-exact ones. Without a judge
    the exact ones alone are counted, and a table is contaminated or there is no answer, never clean; so it is where a
    completion that a judge was asked about has no word.

    Needs: as guided completion; for near-exact matches an LLM or a person who judges.

    Cannot show: that rows were seen. A judge has no null: it may call a fluent completion a match, or a short one that
    many would write, as pairs of sentences have them. Of rows with few or usual hidden cells whoever guesses has some
    exactly right: the published rule calls a guesser contaminated on most draws of iris and titanic. A judge's
    error rate on made pairs is a lower bound.

    Source: Golchin and Surdeanu 2024, "Time Travel in LLMs", section 3.2.2 and appendix C; Algorithm 2. The authors'
    judge sees one exact and three near-exact pairs before it is asked, and none that does not match; ours sees both
    kinds.

    Example: `weight is 77, score is 5` where the row has `weight is 77, score is 4`: no exact match, and for a judge.
    """

    id: ClassVar[str] = "guided_match"
    published = RULE
    decides: ClassVar[bool] = False
    bet_on: ClassVar[bool] = False
    referred: ClassVar[bool] = False
    judgeable: ClassVar[bool] = True
    draws_as: ClassVar[str] = GuidedCompletion.id
    recorded_forms: ClassVar[Mapping[str, str]] = {
        PERSONS[0]: "Guided match by a person",
        PERSONS[1]: "Guided match by another person",
    }

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """The published rule's ten instances, guided. Raises `Skip` where nothing can be cut in two."""
        return [query for query in super().queries(table, serializer, rng) if query.paper and not query.decoy_of]

    def read(self, query: Query, reply: Reply, serializer: Serializer, dictionary: Dictionary) -> Reading:
        """The cells that the answer gives, or the piece as it was written; an exact match is a hit."""
        reading = super().read(query, reply, serializer, dictionary)
        exact = reading.readable and _compared(Trial(query, reply, reading)).exact
        readable = reading.readable and (exact or not declines(reply.text))  # of a judge none would be clean
        return replace(reading, hit=exact, paper_hit=exact, readable=readable)

    def compared(self, trials: Sequence[Trial]) -> list[Compared]:
        """Every completion that could be read, and those that are still to come."""
        return [_compared(trial) for trial in trials if trial.readable or trial.reading is None]

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """How many match; no p-value."""
        hits = RULE.hits(trials)
        return Evidence(
            statistic="matches",
            value=hits,
            null="none: what is near-exact is for a judge to say",
            sentence=RULE.said(trials),
            hits=hits,
            asked=len(trials),
            answered=sum(trial.readable for trial in trials),
            score=hits / len(trials) if trials else None,
        )

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        """Nothing is decided, so that nothing is asked in vain."""
        return None


def word_of(trial: Trial) -> Likeness | None:
    """The word for a completion; None for one that could not be read, and for one that nobody judged."""
    if not trial.readable:
        return None
    if trial.reading is not None and trial.reading.hit:
        return Likeness.EXACT
    return trial.judged.word if trial.judged else None


def _compared(trial: Trial) -> Compared:
    """A completion beside the true piece: of a text as it was read, of a row the whole answer beside its cells."""
    query, reading = trial.query, trial.reading
    said = as_read(trial.reply).text
    parsed = reading.parsed if reading is not None and isinstance(reading.parsed, Mapping) else {}
    if of_text(query):
        return Compared(query.id, first_piece(query), query.expected[0] or "", parsed.get(SECOND) or said, ARM)
    hidden = {name: cell for name, cell in zip(query.asked, query.expected, strict=True) if cell is not None}
    return Compared(
        query.id,
        first_piece(query),
        ", ".join(f"{name} is {cell}" for name, cell in hidden.items()),
        said,
        ARM,
        tuple(hidden.values()),
        bool(hidden) and all(same_value(parsed.get(name), cell) for name, cell in hidden.items()),
    )
