"""The base of membership and classification tests, in which an answer is one of a closed list."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from tabcontam.evidence.answering import AnswerKind, ChoiceAnswers
from tabcontam.evidence.base import (
    READ,
    Capability,
    Evidence,
    EvidenceKind,
    Family,
    Query,
    Reading,
    Reply,
    Statistic,
    Test,
    Trial,
)
from tabcontam.evidence.knowledge.word_test import MORE
from tabcontam.evidence.thresholds import READ_CHOICE_CHARACTERS
from tabcontam.reading.answer_text import choice_in
from tabcontam.statistics.exact_statistics import Discrimination
from tabcontam.tables.serializers import Serializer

YES_NO = {"yes": re.compile("yes|1", re.IGNORECASE), "no": re.compile("no|0", re.IGNORECASE)}


class ChoiceTest(Test):
    """A test whose answers are one of a closed list. Any other answer is unread, and not wrong."""

    family: ClassVar[Family] = Family.ROWS
    kind: ClassVar[EvidenceKind] = EvidenceKind.MEMBERSHIP
    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.GENERATE, Capability.INSTRUCTIONS})
    decides: ClassVar[bool] = False
    answering: ClassVar[AnswerKind] = ChoiceAnswers()

    def complete(self, query: Query, text: str, serializer: Serializer) -> bool:
        """Return whether a cut answer names a choice; later text cannot change it."""
        return choice_in(text, query.asked) is not None and choice_in(f"{text} {MORE}", query.asked) is not None

    def read(self, query: Query, reply: Reply, serializer: Serializer) -> Reading:
        """Return the choice in the answer, if there is one, and whether it is right."""
        if reply.state not in READ:
            return Reading(None, hit=False, paper_hit=False, readable=False)
        answer, truth = choice_in(reply.text, query.asked), str(query.expected[0])
        # the authors' code counts Yes or No at the start of an answer, or a class name anywhere
        if pattern := YES_NO.get(truth.casefold()):
            published = pattern.search(reply.text.strip()[:READ_CHOICE_CHARACTERS]) is not None
        else:
            published = truth.casefold() in reply.text.casefold()
        return Reading(answer, answer == truth, published, readable=answer is not None)


def valid_answers(trials: Sequence[Trial]) -> list[tuple[Trial, str]]:
    """Return the trials with a valid answer, each with its answer."""
    read = ((trial, trial.reading.parsed) for trial in trials if trial.reading is not None)
    return [(trial, answer) for trial, answer in read if isinstance(answer, str)]


def discrimination(trials: Sequence[Trial], null: str, expected_hits: float, gets: str) -> Evidence:
    """Return the AUC of Yes/No answers with its interval, d', and the share of Yes, which shows bias; no p-value.

    `null` describes the null model, and `expected_hits` is its number of right answers. `gets` is the clause of the
    sentence about it.
    """
    answers = [(trial.query.expected[0], answer) for trial, answer in valid_answers(trials)]
    hits = sum(answer == truth for truth, answer in answers)
    counts = Counter(answers)
    rates = Discrimination(counts["Yes", "Yes"], counts["Yes", "No"], counts["No", "Yes"], counts["No", "No"])
    low, high = rates.auc_interval()
    yes = f", {sum(answer == 'Yes' for _, answer in answers) / len(answers):.0%} answered Yes" if answers else ""
    invalid = f", {len(trials) - len(answers)} not answered" if len(answers) < len(trials) else ""
    right = f"{hits} of {len(answers)} answers are right, AUC {rates.auc:.2f} [{low:.2f}, {high:.2f}]"
    return Evidence(
        statistic=Statistic(name="AUC", value=rates.auc, expected=expected_hits / len(answers) if answers else 0.5),
        null=null,
        sentence=f"{right}, d' {rates.d_prime:.1f}{yes}{invalid}; {gets}",
        hits=hits,
        asked=len(trials),
        answered=len(answers),
        expected_hits=expected_hits,
        interval=(low, high),
        interval_of="AUC",
    )
