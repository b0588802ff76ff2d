"""Recorded answers as the squares of a heatmap."""

from collections.abc import Sequence
from dataclasses import replace

from tabcontam.evidence.base import RONVAL, Verdict
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.run_facts import known_tests


def one_result_a_square(results: Sequence[Result]) -> tuple[Result, ...]:
    """Return recorded results as a heatmap shows them: the files of main runs together, each serializer as an LLM.

    If several files have the same test of Table 1 and one result is contaminated, that result is shown, as in the
    paper's figures. Results of other papers have a square for each file.
    """
    known = known_tests()
    shown: dict[tuple[str | None, ...], Result] = {}
    for result in results:
        llm = f"{result.llm} [{result.serializer.strip()}]" if result.serializer else result.llm
        source = None if known[result.test].source in ("", RONVAL) else result.source
        key = (llm, result.dataset, result.split, result.test, source)
        if key not in shown or result.verdict is Verdict.CONTAMINATED:
            shown[key] = replace(result, llm=llm, serializer=None, source=source)
    return tuple(shown.values())
