"""The filters with which a reader hides results of a page: by LLM, dataset, test, kind and verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tabcontam.evidence.base import Verdict
from tabcontam.report.heatmap_squares import css_class
from tabcontam.report.standings import titles_of
from tabcontam.verdicts.result_types import OUTCOMES, Result
from tabcontam.verdicts.results import LlmBlock, RunResults


@dataclass(frozen=True)
class Option:
    """One checkbox of a filter. `contaminated` orders the checkboxes by the number of findings in their results."""

    value: str
    label: str
    contaminated: int


Choices = Mapping[str, tuple[str, list[Option]]]


def choices(view: RunResults, blocks: Sequence[LlmBlock]) -> Choices:
    """Return the filters of a page by their names in the page's address. Each filter is a legend and its checkboxes."""
    titles = titles_of(view)
    results = [result for block in blocks for result in block.results]
    tests = [test for test in view.tests if any(result.test == test for result in results)]
    by_label: dict[str, list[Result]] = {column.label: [] for block in blocks for column in block.columns}
    for block in blocks:
        for column in block.columns if not block.control else ():
            by_label[column.label] += column.results.values()
    outcomes = [outcome for outcome in OUTCOMES if any(result.outcome == outcome for result in results)]
    return {
        "llm": ("LLMs", [Option(block.llm, titles.llm(block.llm), _found(view, block.results)) for block in blocks]),
        "dataset": ("Datasets", [Option(label, label, _found(view, own)) for label, own in by_label.items()]),
        "test": ("Tests", [Option(test, view.test_titles[test], 0) for test in tests]),
        "kind": ("Kinds", [Option(kind, kind, 0) for kind, of in view.kinds.items() if set(of) & set(tests)]),
        "verdict": ("Verdicts", [Option(css_class(outcome), outcome, 0) for outcome in outcomes]),
    }


def places(chosen: Choices) -> dict[str, dict[str, int]]:
    """Return the number of each choice in its filter, from 0. The page's elements refer to a choice by this number."""
    return {
        name: {option.value: number for number, option in enumerate(options)} for name, (_, options) in chosen.items()
    }


def _found(view: RunResults, results: Sequence[Result]) -> int:
    """Return the numbers of contaminated results, by which choices are ordered: of row tests, then of all tests."""
    found = [result for result in results if result.verdict is Verdict.CONTAMINATED]
    rows = sum(result.test in view.row_tests for result in found)
    return 1000 * rows + len(found)
