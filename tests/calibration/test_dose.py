"""What a test's response to copies is made of."""

import pytest

from tabcontam.calibration.dose import TABLE, Dose, Observation, doses
from tabcontam.evidence.base import Family, Verdict

FAMILIES = {"blind": Family.ROWS, "sharp": Family.LIKELIHOOD}


def seen(copies: float, found: int, of: int, test: str = "sharp", untold: int = 0) -> list[Observation]:
    """So many pairs at one number of copies, of which some are found, and some cannot be told."""
    rest = of - found - untold
    verdicts = [Verdict.CONTAMINATED] * found + [Verdict.UNINFORMATIVE] * untold + [Verdict.NOT_DETECTED] * rest
    chances = [0.001 if verdict is Verdict.CONTAMINATED else 0.5 for verdict in verdicts]
    return [
        Observation(f"llm-{number}", "t", copies, test, verdict, chance)
        for number, (verdict, chance) in enumerate(zip(verdicts, chances, strict=True))
    ]


def of(found: list[Observation]) -> Dose:
    (dose,) = doses(found, FAMILIES)
    return dose


def test_a_rung_counts_what_was_found_and_what_could_not_be_told() -> None:
    (rung,) = of(seen(4, found=3, of=10, untold=2)).rungs
    assert (rung.copies, rung.pairs, rung.contaminated, rung.undecided, rung.share) == (4, 10, 3, 2, 0.3)
    assert rung.low == pytest.approx(0.0667, abs=1e-3)
    assert rung.high == pytest.approx(0.6525, abs=1e-3)


def test_the_smallest_exposure_is_that_from_which_on_all_find_enough() -> None:
    found = seen(0, 0, 10) + seen(1, 6, 10) + seen(4, 4, 10) + seen(16, 5, 10) + seen(64, 10, 10)
    dose = of(found)
    assert (dose.half, dose.nearly_all) == (16, 64)


@pytest.mark.parametrize("found", [seen(0, 10, 10), seen(0, 0, 10) + seen(64, 4, 10)])
def test_where_half_are_never_found_no_exposure_is_named(found: list[Observation]) -> None:
    assert of(found).half is None


def test_p_values_at_no_copies_are_held_against_uniform_ones() -> None:
    even = [Observation(f"llm-{n}", "t", 0, "sharp", Verdict.NOT_DETECTED, (n + 0.5) / 40) for n in range(40)]
    small = [Observation(f"llm-{n}", "t", 0, "sharp", Verdict.NOT_DETECTED, (n + 0.5) / 400) for n in range(40)]
    large = [Observation(f"llm-{n}", "t", 0, "sharp", Verdict.NOT_DETECTED, 1.0) for n in range(40)]
    uniform = [of(found).uniform or 0.0 for found in (even, small, large)]
    assert uniform[0] > 0.9
    assert uniform[1] < 1e-9
    assert uniform[2] > 0.9


def test_copies_are_compared_with_p_values_within_one_llm_and_table() -> None:
    arms = [(0, 0.9), (1, 0.5), (4, 0.2), (16, 0.03), (64, 1e-9)]
    up = [Observation("one", "t", copies, "sharp", Verdict.NOT_DETECTED, p) for copies, p in arms]
    few = [Observation("two", "t", copies, "sharp", Verdict.NOT_DETECTED, p) for copies, p in arms[:3]]
    dose = of(up + few)
    assert (dose.correlation, dose.arms) == (1.0, 1)


def test_the_verdict_on_the_table_comes_first_and_scores_and_what_was_skipped_are_left_out() -> None:
    skipped = Observation("one", "t", 0, "asked of nobody", Verdict.SKIPPED, None)
    scored = Observation("one", "t", 0, "a score", None, None)
    found = [skipped, scored, *seen(0, 0, 2, "blind"), *seen(0, 1, 2, TABLE)]
    assert [(dose.test, dose.family) for dose in doses(found, FAMILIES)] == [(TABLE, None), ("blind", Family.ROWS)]
