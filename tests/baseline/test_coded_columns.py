"""A column remembers what was found out about it, for as long as it is there."""

import gc
from collections import Counter
from random import Random
from weakref import ref

import numpy as np
import pytest

from tabcontam.baseline.coded_columns import cached_by_column, column, count_codes
from tabcontam.baseline.laws import derived


def test_a_fact_is_found_once_for_each_column() -> None:
    asked: list[str] = []
    find = cached_by_column(lambda one: asked.append(one.name))
    one, other = column("a", ["1", "2"]), column("b", ["1", "2"])
    for each in (one, one, other):
        find(each)
    assert asked == ["a", "b"]


def test_the_same_rows_give_the_same_column() -> None:
    one = column("a", [str(number) for number in range(9)])
    assert one.sampled((1, 2)) is one.sampled((1, 2))
    assert one.sampled((3, 4)).cells == ("3", "4")


def test_a_column_that_nobody_needs_is_forgotten_with_what_was_found_out() -> None:
    one = column("day", ["2004-10-17", "2004-10-18", "2005-01-02"])
    assert derived(one)[0] is one
    gone = ref(one)
    del one
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("codes", [[3, 1, 3, 0], [5_000_000, 1, 5_000_000, 0], []])
def test_codes_are_tallied_alike_whether_they_are_counted_or_sorted(codes: list[int]) -> None:
    kinds, counts, own = count_codes(np.array(codes, dtype=np.int64))
    assert dict(zip(kinds.tolist(), counts.tolist(), strict=True)) == Counter(codes)
    assert kinds.tolist() == sorted(set(codes))
    assert own.tolist() == [codes.count(code) for code in codes]


def test_codes_of_one_length_have_beginnings_that_several_rows_share() -> None:
    """A plot's first digits say its town: nobody who knows that remembers the plot."""
    rng = Random(4)
    towns = [rng.randrange(10_000, 100_000) for _ in range(300)]
    cells = [f"{rng.choice(towns)}{rng.randrange(1000):03d}" for _ in range(2000)]
    found = {one.name: one for one in column("plot", cells).words}
    assert "plot first 5" in found
    assert found["plot first 5"].cells[:3] == tuple(cell[:5] for cell in cells[:3])
    assert not {"plot first 7", "plot first 8"} & set(found)
    assert column("price", [f"{rng.gauss(100, 30):.2f}" for _ in range(2000)]).words == ()
    assert column("count", [str(rng.randrange(10**6)) for _ in range(2000)]).words == ()
    assert column("few", [cell[:2] for cell in cells]).words == ()
