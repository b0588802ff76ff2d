"""The gate: may an experiment go on, given the results of a run? One decision for `gate`, the plugin and Python.

It rests on the row tests, as they stand in the report: a table is contaminated where its verdict is, or that of one of
its row tests.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tabcontam.errors import Exit


class Conclusion(StrEnum):
    """What a gate says of an LLM and a table."""

    CLEAN = "clean"
    CONTAMINATED = "contaminated"
    CANNOT_TELL = "cannot tell"


EXIT = {
    Conclusion.CLEAN: Exit.DONE,
    Conclusion.CONTAMINATED: Exit.CONTAMINATED,
    Conclusion.CANNOT_TELL: Exit.CANNOT_TELL,
}


@dataclass(frozen=True)
class Finding:
    """What the gate says of one (LLM, table): `dataset` is its label in the report, `reason` one sentence."""

    llm: str
    dataset: str
    conclusion: Conclusion
    reason: str


@dataclass(frozen=True)
class Judgement:
    """What the gate says of all of them together, in one line, and of each."""

    conclusion: Conclusion
    reason: str
    findings: tuple[Finding, ...]


def judge(
    document: Mapping[str, Any],
    *,
    llms: Sequence[str] = (),
    datasets: Sequence[str] = (),
    fail_on: Sequence[str] = (),
    min_power: float | None = None,
) -> Judgement:
    """The gate's decision on a results.json; `llms` and `datasets` choose from it (default: all but joined controls).

    Raises `UsageError` for a name that the results do not have.
    """
    raise NotImplementedError
