"""Words for decisions that commands and files share: the rules, the level, and the conditions of a gate."""

from enum import StrEnum
from typing import Literal

Over = Literal["llm", "all"]


class Conclusion(StrEnum):
    """A gate's conclusion on a model and a table, worst first."""

    CONTAMINATED = "contaminated"
    CANNOT_TELL = "cannot tell"
    KNOWN = "known"  # contaminated, as it was in the baseline
    CLEAN = "clean"
