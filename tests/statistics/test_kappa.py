"""Agreement of two who judge the same, and Cohen's kappa beside scikit-learn's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.statistics.kappa import measure_agreement

WORDS = st.sampled_from(["exact", "near-exact", "no match"])


@given(st.lists(st.tuples(WORDS, WORDS), min_size=2, max_size=40))
def test_kappa_is_scikit_learns(pairs: list[tuple[str, str]]) -> None:
    from sklearn.metrics import cohen_kappa_score  # imported here: tests are to be collected quickly

    found = measure_agreement(pairs)
    one, other = zip(*pairs, strict=True)
    assert found.agree == sum(first == second for first, second in pairs)
    if len({*one, *other}) == 1:
        assert found.kappa is None
    else:
        assert found.kappa == pytest.approx(cohen_kappa_score(one, other), abs=1e-12)


def test_nothing_that_both_judged_is_no_agreement() -> None:
    assert measure_agreement([]).share is None
    assert measure_agreement([]).kappa is None


def test_who_always_agrees_by_chance_alone_has_no_kappa() -> None:
    found = measure_agreement([("no match", "no match")] * 10)
    assert (found.share, found.kappa) == (1.0, None)
