"""Runs on tables that the LLM has not seen, and on no others: the mark takes the test's own `llm` and `dataset`."""

import os

import pytest
from experiment import SHOTS, classify

LLMS = os.environ.get("EXPERIMENT_LLMS", "control:exposed simulated:guesser simulated:decliner").split()


@pytest.mark.uncontaminated
@pytest.mark.parametrize("shots", SHOTS)
@pytest.mark.parametrize("dataset", ["adult", "heart"])
@pytest.mark.parametrize("llm", LLMS)
def test_accuracy(llm: str, dataset: str, shots: int) -> None:
    """No worse than what nobody needs an LLM for."""
    accuracy = classify(llm, dataset, shots)
    print(accuracy)
    assert accuracy.interval[1] >= accuracy.free, str(accuracy)
