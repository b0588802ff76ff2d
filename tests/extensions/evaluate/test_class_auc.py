"""The AUC of class probabilities, within groups of rows."""

from random import Random

import pytest

from tabcontam.extensions.evaluate.class_auc import RatedRow, ranked


def drawn(seed: int, count: int, classes: str, group: int = 0, shift: float = 0.0) -> list[RatedRow]:
    """Rows with probabilities that are somewhat right, and larger by a shift for the first class of a group."""
    rng, found = Random(f"{seed} {group}"), []
    for place in range(count):
        label = classes[place % len(classes)]
        chances = {name: rng.random() + 0.4 * (name == label) + shift * (name == classes[0]) for name in classes}
        found.append(RatedRow(label, {name: value / sum(chances.values()) for name, value in chances.items()}, group))
    return found


@pytest.mark.parametrize("seed", range(5))
def test_of_two_classes_it_is_that_of_scikit_learn(seed: int) -> None:
    from sklearn.metrics import roc_auc_score  # imported here: tests are to be collected quickly

    rows = drawn(seed, 60, "ab")
    found = ranked(rows, ("a", "b"))
    assert found is not None
    assert found.value == pytest.approx(
        roc_auc_score([row.label == "a" for row in rows], [(r.chances or {})["a"] for r in rows])
    )
    assert found.interval is not None
    assert found.interval[0] < found.value < found.interval[1]
    assert found.value == pytest.approx(getattr(ranked(rows, ("b", "a")), "value", None))


def test_of_several_classes_it_is_the_mean_against_the_rest() -> None:
    from sklearn.metrics import roc_auc_score  # imported here: tests are to be collected quickly

    rows = drawn(1, 90, "abc")
    found = ranked(rows, ("a", "b", "c"))
    assert found is not None
    chances = [[(row.chances or {})[name] for name in "abc"] for row in rows]
    assert found.value == pytest.approx(roc_auc_score([row.label for row in rows], chances, multi_class="ovr"))


def test_rows_are_compared_within_their_group_alone() -> None:
    """Two prompts of which one makes an LLM say a class oftener: that is no worse ranking."""
    apart = [*drawn(0, 40, "ab", 0), *drawn(0, 40, "ab", 1, shift=9.0)]
    found, pooled = ranked(apart, ("a", "b")), ranked([RatedRow(r.label, r.chances) for r in apart], ("a", "b"))
    each = [ranked(drawn(0, 40, "ab", 0), ("a", "b")), ranked(drawn(0, 40, "ab", 1, shift=9.0), ("a", "b"))]
    assert found is not None
    assert pooled is not None
    assert found.value == pytest.approx(sum(one.value for one in each if one) / 2)
    assert pooled.value < found.value


def test_a_class_that_stands_alone_in_every_group_is_left_out() -> None:
    assert ranked([RatedRow("a", {"a": 0.3}, 0), RatedRow("b", {"a": 0.9}, 1)], ("a", "b")) is None
    assert ranked([], ("a", "b")) is None


def test_equal_probabilities_rank_nothing() -> None:
    found = ranked([RatedRow(name, {"a": 0.5, "b": 0.5}) for name in "aabbab"], ("a", "b"))
    assert found is not None
    assert found.value == 0.5


def test_a_perfect_ranking_has_an_interval_all_the_same() -> None:
    found = ranked([RatedRow(name, {"a": float(name == "a")}) for name in "ab" * 10], ("a", "b"))
    assert found is not None
    assert found.value == 1.0
    assert found.interval == pytest.approx((0.6915, 1.0), abs=1e-3)
