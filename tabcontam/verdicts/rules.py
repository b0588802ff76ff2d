"""The words of a decision that commands and files name: the rules, the level, what a gate can be told to fail on."""

from enum import StrEnum
from typing import Final, Literal

CALIBRATED: Final = "calibrated"
PAPER: Final = "paper"
RULES = (CALIBRATED, PAPER)
LLM: Final = "llm"
ALL: Final = "all"
Over = Literal["llm", "all"]
FAMILY_OVER: tuple[Over, ...] = (LLM, ALL)  # whose cells share an error budget: an LLM's, or those of all under test
ALPHA = 0.01  # the share of false discoveries among the contaminated cells of an LLM, and among its tables
MIN_POWER = 0.25  # the share of remembered rows that has to be findable before a table is let go as not detected
Queries = int | Literal["paper"] | None  # at most so many in each cell, the paper's own alone, or all
FAILURES = ("contaminated", "undecided", "knowledge")


class Conclusion(StrEnum):
    """What a gate says of an LLM and a table, worst first."""

    CONTAMINATED = "contaminated"
    CANNOT_TELL = "cannot tell"
    KNOWN = "known"  # contaminated, and so it was in the baseline
    CLEAN = "clean"


SEVERITY = tuple(Conclusion)
