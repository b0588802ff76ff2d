"""What membership and classification share: an answer is one of a closed list, and there is only a score."""

import re
from collections.abc import Sequence
from typing import ClassVar

from tabcontam.decide.reading import chosen
from tabcontam.decide.words import Dictionary
from tabcontam.serializers import Serializer
from tabcontam.suite.base import Measurement, Query, Reading, Reply, Trial
from tabcontam.suite.words import MORE, READ, measured

YES_NO = {"yes": re.compile("yes|1", re.IGNORECASE), "no": re.compile("no|0", re.IGNORECASE)}
KEPT = 3  # characters of a Yes/No answer that the authors' code looks at


class ChoiceTest:
    """Reads which of the possible answers was given; invalid answers are counted apart from wrong ones."""

    claim: ClassVar[str]
    by_feature: ClassVar[bool] = False

    def complete(self, query: Query, text: str, serializer: Serializer) -> bool:
        """A cut answer is complete once it names a choice, whatever comes after it."""
        return chosen(text, query.asked) is not None and chosen(f"{text} {MORE}", query.asked) is not None

    def read(self, query: Query, reply: Reply, serializer: Serializer, dictionary: Dictionary) -> Reading:
        """The answer given, if it is one."""
        if reply.state not in READ:
            return Reading(None, hit=False, paper_hit=False, readable=False)
        answer, truth = chosen(reply.text, query.asked), str(query.expected[0])
        return Reading(answer, answer == truth, published_choice(reply.text, truth), readable=answer is not None)

    def judge(self, trials: Sequence[Trial], planned: int) -> Measurement:
        """A score, no detection."""
        return measured(trials, needed=None, claim=self.claim)


def published_choice(text: str, truth: str) -> bool:
    """Whether the authors' code counts an answer as right: Yes or No in its first characters, a class name anywhere."""
    pattern = YES_NO.get(truth.casefold())
    if pattern is None:
        return truth.casefold() in text.casefold()
    return pattern.search(text.strip()[:KEPT]) is not None
