"""What tests 1 to 6 share: an answer is a list of words or a name, decided by Algorithm 1.

The published algorithm looks for a word anywhere in the text, `ATA` in `dataset` too; a hit of ours is a whole word.
"""

import re
from collections.abc import Sequence
from statistics import median
from typing import ClassVar

from tabcontam.decide.answers import FILLER, NOTHING
from tabcontam.decide.reading import answer_line, declines, plain
from tabcontam.decide.words import Dictionary, Found, WordDecision, appears, decide_words, stands_in
from tabcontam.serializers import Serializer
from tabcontam.suite.base import Capability, Measurement, Query, Reading, Reply, State, Trial

READ = (State.OK, State.TRUNCATED)
ITEMS = re.compile(r"[,;\n|]")
LIST_LINE = re.compile(r"[-+*•]\s|\d+[.)]\s")
LONGEST_ITEM = 6  # words
MORE = "x"  # added to an answer that was cut, to see which of its words could have gone on


class WordTest:
    """Reads a list of words and detects if one answer passes Algorithm 1 (Ronval et al. 2024, section 3.2)."""

    claim: ClassVar[str]
    by_feature: ClassVar[bool] = False
    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.GENERATE})

    def complete(self, query: Query, text: str, serializer: Serializer) -> bool:
        """A cut answer is complete once the line that holds it has ended; of a list of lines more may have come."""
        line = answer_line(text)
        ended = answer_line(text + MORE) == line
        return ended and self.is_answer(line) and not LIST_LINE.match(line)

    def read(self, query: Query, reply: Reply, serializer: Serializer, dictionary: Dictionary) -> Reading:
        """Which of the expected words the answer holds, as whole words and as Algorithm 1 looks for them."""
        if reply.state not in READ:
            return Reading(None, hit=False, paper_hit=False, readable=False)
        ours = self.decision(query, reply.text, dictionary, stands_in)
        if reply.state is State.TRUNCATED:
            hit = ours.detected and self.decision(query, reply.text + MORE, dictionary, stands_in).detected
        else:
            hit = ours.detected
        named = [word for word, found in ours.looked_for.items() if found]
        answer = reply.state is State.OK and not declines(reply.text) and self.is_answer(reply.text)
        published = self.decision(query, reply.text, dictionary, appears).detected
        return Reading(", ".join(named) or None, hit, published, readable=hit or answer)

    def decision(self, query: Query, text: str, dictionary: Dictionary, found: Found) -> WordDecision:
        """Algorithm 1 on the expected words."""
        return decide_words(text, query.expected, dictionary, found)

    def is_answer(self, text: str) -> bool:
        """Whether a text could be a list: what stands between its commas is short, and it is no talk."""
        line = answer_line(text)
        if not line or FILLER.match(line) or NOTHING.match(line):
            return False
        lengths = [len(item.split()) for item in ITEMS.split(plain(text)) if item.strip()]
        return median(lengths) <= LONGEST_ITEM

    def judge(self, trials: Sequence[Trial], planned: int) -> Measurement:
        """Detected if at least one answer passes."""
        return measured(trials, needed=1, claim=self.claim)


def measured(trials: Sequence[Trial], needed: float | None, claim: str) -> Measurement:
    """The measurement of read trials: detected from `needed` hits on; never, where the paper has only a score."""
    readings = [trial.reading for trial in trials if trial.reading is not None]
    hits = sum(reading.hit for reading in readings)
    paper_hits = sum(reading.paper_hit for reading in readings)
    return Measurement(
        trials=tuple(trials),
        hits=hits,
        paper_hits=paper_hits,
        answered=sum(reading.readable for reading in readings),
        detected=None if needed is None else hits >= needed,
        paper_detected=None if needed is None else paper_hits >= needed,
        claim=claim,
    )
