"""The enumerations that classify contamination tests and their results: kinds, families, verdicts, marks."""

from enum import StrEnum
from typing import Literal

from tabcontam.evidence.questions import Capability

Measure = Literal["score", "membership", "zero_shot", "one_shot"]  # the columns of the ranking
GENERATED = "generated"  # a measure of outputs, in a figure next to accuracies
RECALLED = "recalled"  # memory's share of an accuracy: the score of a classification test that is no accuracy itself


class EvidenceKind(StrEnum):
    """The kind of thing that a test measures."""

    KNOWLEDGE = "knowledge"
    MEMORIZATION = "memorization"
    MEMBERSHIP = "membership"
    CLASSIFICATION = "classification"
    LIKELIHOOD = "likelihood"
    CORPUS = "documents"


class Family(StrEnum):
    """The tests that share a kind of evidence and an error budget: p-values of one family do not affect another."""

    KNOWLEDGE = "knowledge"  # the dataset is known
    ROWS = "rows"  # its rows were seen: by the model's answers
    LIKELIHOOD = "likelihood"  # its rows were seen: by log-probabilities
    ORDER = "order"  # its rows were seen: by the order in which they stand
    CORPUS = "corpus"  # documents hold its rows
    SCORE = "score"  # how well the model predicts on it: no verdict on contamination


class RequiredInput(StrEnum):
    """The input that a user has to supply before a test can be asked."""

    NOTHING = ""
    KEY = "key"  # the key from which the digits of a planted table were drawn
    WITHHELD = "withheld"  # rows of a table's source that were never published


SHOWING_ROWS = frozenset({Family.ROWS, Family.LIKELIHOOD, Family.ORDER, Family.CORPUS})
NEEDED = {Capability.GENERATE: "text", Capability.SCORE: "logprobs", Capability.SEARCH: "corpus"}  # marks of `needs`
RONVAL = "ronval2024"  # Ronval, Dupont and Nijssen 2024
OF_ROWS, OF_A_PAPER = "rows", "paper"  # marks of tests that can show rows, and of tests with a published rule
RANKS = "scores"  # the mark of scores that rank rows against a twin's rows: 0.5 if nothing distinguishes them


class Verdict(StrEnum):
    """The five verdicts on a result. Each says something else: none may replace another."""

    CONTAMINATED = "contaminated"
    NOT_DETECTED = "not detected"
    UNINFORMATIVE = "uninformative"
    NO_ANSWER = "no answer"
    SKIPPED = "skipped"


DECIDED = (Verdict.CONTAMINATED, Verdict.NOT_DETECTED)
UNDECIDED = (Verdict.UNINFORMATIVE, Verdict.NO_ANSWER, Verdict.SKIPPED)
