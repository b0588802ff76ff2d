"""Outputs generated exactly against accuracy over LLMs, as in the paper's figure 6."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tabcontam.evidence.base import GENERATED
from tabcontam.verdicts.document import as_document, parse_results
from tabcontam.verdicts.generation_accuracy import generations
from tabcontam.verdicts.results import RunResults
from tests.report.synthetic import cell, document

FOUR = {"one": (0, 52), "two": (10, 61), "three": (20, 66), "four": (40, 90)}


def results(counts: Mapping[str, tuple[int, int]], **accuracy: object) -> RunResults:
    """LLMs with so many of 40 outputs exactly, and so many of 100 rows classified right, on one table."""
    cells = []
    for llm, (exact, right) in counts.items():
        cells.append(
            cell(llm, "rte", "exact_generation", "not detected", split="train", hits=exact, answered=40, queries=80)
        )
        told = {"hits": right, "answered": 100, "queries": 100, "score": right / 100, "interval": [0.4, 0.95]}
        cells.append(cell(llm, "rte", "classification_0shot", None, **(told | {"split": "train"} | accuracy)))
    view = parse_results(document(cells))
    return replace(view, generations=generations(view.results, view.facts))


def test_the_test_says_that_it_is_one_axis() -> None:
    assert results(FOUR).facts["exact_generation"].measure == GENERATED


def test_four_llms_have_a_correlation_with_its_interval() -> None:
    (one,) = results(FOUR).generations
    assert (one.dataset, one.accuracy, len(one.llms)) == ("rte", "zero_shot", 4)
    assert one.value == pytest.approx(0.9888, abs=1e-4)
    assert one.interval is not None
    assert one.value is not None
    assert 0.5 < one.interval[0] < 0.6 < one.value < one.interval[1] < 1
    assert one.p_value == pytest.approx(2 / 24)
    first = one.llms[0]
    assert (first.exact, first.outputs, first.share, first.accuracy) == (0, 40, 0.0, 0.52)
    assert first.share_interval == pytest.approx((0.0, 0.0881), abs=1e-4)
    assert first.accuracy_interval == (0.4, 0.95)


def test_three_points_have_no_correlation() -> None:
    view = results({llm: FOUR[llm] for llm in ("one", "two", "three")})
    (one,) = view.generations
    assert (one.value, one.interval, one.p_value) == (None, None, None)


def test_two_llms_have_no_figure_and_controls_none_at_all() -> None:
    assert results({llm: FOUR[llm] for llm in ("one", "two")}).generations == ()
    view = results(FOUR)
    assert generations([replace(each, control=True) for each in view.results], view.facts) == ()


def test_another_split_and_an_unfair_question_are_not_compared() -> None:
    assert results(FOUR).generations[0].split == "train"
    assert results(FOUR, split="test").generations == ()
    assert results(FOUR, not_averaged="no model can know which class is which").generations == ()


def test_results_are_read_back() -> None:
    view = results({**FOUR, "five": (5, 55)})
    (held,) = as_document(view)["generations"]
    assert held["llms"][4]["llm"] == "five"
    assert parse_results(as_document(view)).generations == view.generations
