"""The published rule on the order of rows: what it decides of shards, and what it says."""

from collections.abc import Sequence

import pytest

from tabcontam.evidence.base import Likelihoods, Query, Reading, ReplyState, Trial
from tabcontam.evidence.order.row_order import RowOrder, published_p_value
from tabcontam.evidence.questions import Endings

RULE = RowOrder.published
assert RULE is not None
QUERY = Query("row_order-0", lambda: Endings("", ()), (), (), max_tokens=1)


def shards(gains: Sequence[float | None]) -> list[Trial]:
    """Shards whose file's order is by so many nats likelier than backwards; None was not scored."""
    return [
        Trial(QUERY, Likelihoods((), ReplyState.FAILED, "too long"), Reading(None, None, False, False))
        if gain is None
        else Trial(QUERY, Likelihoods((), ReplyState.OK), Reading(f"{gain:+.6f} nats", None, False, True))
        for gain in gains
    ]


@pytest.mark.parametrize(
    ("gains", "finds"),
    [([3.0, 4.0, 5.0, 4.0], True), ([-3.0, -4.0, -5.0], False), ([1.0, -1.0, 0.5, -0.5], False), ([5.0, None], False)],
)
def test_it_finds_what_the_t_test_over_shards_finds_at_one_in_twenty(gains: list[float | None], finds: bool) -> None:
    assert RULE.finds(shards(gains)) is finds
    p_value = published_p_value([gain for gain in gains if gain is not None])
    assert (p_value is not None and p_value <= 0.05) is finds


def test_it_says_its_own_p_value_beside_what_it_counts() -> None:
    said = RULE.describe(shards([3.0, 4.0, 5.0, -1.0, None]))
    assert said.startswith("3 of 5 shards are likelier in the file's order than in others: ")
    assert said.endswith("by +2.75 nats on average (p = 0.064 by the t-test over shards)")


@pytest.mark.parametrize("gains", [[], [None, None], [4.0], [1.0, 1.0]])
def test_where_the_t_test_is_not_defined_nothing_is_called_clean(gains: list[float | None]) -> None:
    assert RULE.finds(shards(gains)) is False
    assert RULE.lacks(shards(gains)) == "fewer than two shards were scored, or all differ by the same amount"


def test_it_is_a_papers_method_beside_the_calibrated_one() -> None:
    assert {"paper", "oren2024"} <= set(RowOrder().marks)
    assert (RowOrder().source, RowOrder().number) == ("oren2024", None)
