"""What tests 1 to 6 share: an answer is a list of words or a name, decided by Algorithm 1."""

from collections.abc import Sequence
from typing import ClassVar

from tabcontam.decide.reading import declines, plain
from tabcontam.decide.words import Dictionary, decide_words
from tabcontam.serializers import Serializer
from tabcontam.suite.base import Capability, Measurement, Query, Reading, Reply, State, Trial

READ = (State.OK, State.TRUNCATED)


class WordTest:
    """Reads a list of words and detects if one answer passes Algorithm 1 (Ronval et al. 2024, section 3.2)."""

    claim: ClassVar[str]
    by_feature: ClassVar[bool] = False
    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.GENERATE})

    def complete(self, query: Query, text: str, serializer: Serializer) -> bool:
        """A cut answer is complete once its first line has ended."""
        return "\n" in plain(text) or "\n" in text.strip()

    def read(self, query: Query, reply: Reply, serializer: Serializer, dictionary: Dictionary) -> Reading:
        """Which of the expected words the answer holds, and what Algorithm 1 makes of it."""
        if reply.state not in READ:
            return Reading(None, hit=False, paper_hit=False, readable=False)
        decision = decide_words(reply.text, query.expected, dictionary)
        named = [word for word, found in decision.looked_for.items() if found]
        readable = decision.detected or (reply.state is State.OK and not declines(reply.text))
        return Reading(", ".join(named) or None, decision.detected, decision.detected, readable)

    def judge(self, trials: Sequence[Trial]) -> Measurement:
        """Detected if at least one answer passes."""
        return measured(trials, needed=1, claim=self.claim)


def measured(trials: Sequence[Trial], needed: float | None, claim: str) -> Measurement:
    """The measurement of read trials: detected from `needed` hits on; never, where the paper has only a score."""
    readings = [trial.reading for trial in trials if trial.reading is not None]
    hits = sum(reading.hit for reading in readings)
    paper_hits = sum(reading.paper_hit for reading in readings)
    answered = sum(reading.readable for reading in readings)
    return Measurement(
        trials=tuple(trials),
        hits=hits,
        answered=answered,
        detected=None if needed is None else hits >= needed,
        paper_detected=None if needed is None else paper_hits >= needed,
        score=hits / len(trials),
        paper_score=paper_hits / len(trials),
        sentence=sentence(hits, answered, len(trials), claim),
    )


def sentence(hits: int, answered: int, asked: int, claim: str) -> str:
    """What was counted, in words that a person can check against the trials."""
    unread = f"; {asked - answered} of {asked} answers could not be read" if answered < asked else ""
    return f"{hits} of {asked} {claim}{unread}"
