"""A column remembers what was found out about it, for as long as it is there."""

import gc
from weakref import ref

from tabcontam.guesser.columns import column, remembered
from tabcontam.guesser.laws import derived


def test_a_fact_is_found_once_for_each_column() -> None:
    asked: list[str] = []
    find = remembered(lambda one: asked.append(one.name))
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
