"""The difference of two samples: its interval covers, its p-value is exact."""

import numpy as np
import pytest

from tabcontam.statistics.unpaired_gains import mean_difference
from tests.needed import needed

stats = needed("scipy.stats")


def test_the_p_value_of_rights_and_wrongs_is_that_of_fisher() -> None:
    own, others = [1.0] * 30 + [0.0] * 10, [1.0] * 18 + [0.0] * 22
    exact = stats.fisher_exact(np.array([[30, 10], [18, 22]]), alternative="greater").pvalue
    assert mean_difference(own, others).p_value == pytest.approx(exact, abs=0.003)


def test_equal_samples_have_an_interval_with_a_width() -> None:
    found = mean_difference([1.0] * 20, [1.0] * 20)
    assert found.mean == 0
    assert found.p_value == 1
    assert found.interval[0] < 0 < found.interval[1]


def test_a_sample_without_values_is_an_error() -> None:
    with pytest.raises(ValueError, match="a sample is empty"):
        mean_difference([], [1.0])


@pytest.mark.slow
def test_the_interval_covers_the_difference_in_about_95_of_100() -> None:
    rng, covered = np.random.default_rng(0), 0
    for _ in range(400):
        own, others = (rng.random(100) < 0.9).tolist(), (rng.random(60) < 0.75).tolist()
        low, high = mean_difference(own, others).interval
        covered += low <= 0.15 <= high
    assert 0.92 <= covered / 400 <= 0.98
