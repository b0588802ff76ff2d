"""Trials to results: what one LLM's cells together decide of each."""

from tabcontam.judge import UNKNOWN, Result, conclude


def cell(dataset: str, verdict: str, p_value: float, reason: str | None = None) -> Result:
    name = {"llm": "m", "dataset": dataset, "edition": "e", "serializer": "is", "test": "full_completion"}
    known = {"verdict": verdict, "p_value": p_value, "reason": reason, "queries": 30}
    return {**name, "kind": "memorization", "control": False, **UNKNOWN, **known}


def test_a_finding_lost_among_more_cells_is_again_what_it_was_without() -> None:
    """Two answers of thirty were a finding of their run; beside another run's cells they were called clean."""
    silent = "no readable answer to 28 of 30 queries"
    (found,) = conclude([cell("iris", "no answer", 0.004, silent)], "calibrated", 0.01)
    assert (found["verdict"], found["reason"]) == ("contaminated", silent)
    others = [cell(f"table {number}", "not detected", 0.9) for number in range(10)]
    lost, *_ = conclude([found, *others], "calibrated", 0.01)
    assert (lost["verdict"], lost["reason"], lost["otherwise"]) == ("no answer", silent, None)


def test_to_conclude_twice_is_to_conclude_once() -> None:
    cells = [cell("iris", "not detected", 0.0001), cell("wine", "no answer", 0.001, "so"), cell("car", "no answer", 1)]
    once = conclude(cells, "calibrated", 0.01)
    assert [each["verdict"] for each in once] == ["contaminated", "contaminated", "no answer"]
    assert conclude(once, "calibrated", 0.01) == once
