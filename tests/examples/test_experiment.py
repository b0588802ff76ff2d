"""Runs on tables that the LLM has not seen, and on no others: the mark takes the test's own `llm` and `dataset`."""

import os

import pytest
from experiment import classify

LLMS = os.environ.get("EXPERIMENT_LLMS", "control:exposed simulated:guesser simulated:decliner").split()


@pytest.mark.uncontaminated
@pytest.mark.parametrize("shots", [0, 4])
@pytest.mark.parametrize("dataset", ["adult", "heart"])
@pytest.mark.parametrize("llm", LLMS)
def test_accuracy(llm: str, dataset: str, shots: int) -> None:
    """No worse than to say the largest class always."""
    accuracy = classify(llm, dataset, shots, serializer="is")
    print(accuracy)
    assert accuracy.interval[1] >= accuracy.majority, str(accuracy)
