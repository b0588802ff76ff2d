"""The p-value of rows that are found is exact, and no smaller than it may be by chance."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.evidence.base import Lookup, Match, Query
from tabcontam.extensions.corpora.overlap.row_finds import (
    RowFind,
    detectable_share,
    even_chance,
    harmless,
    in_documents,
    place_of,
    weight_tail,
)

QUERY = Query("q", lambda: Lookup(("a",)), asked=("size",), expected=("a",), max_tokens=1)


def found(own: bool, share: float) -> RowFind:
    return RowFind(QUERY, own, share, int(own), more=False, places=())


def test_a_single_row_has_the_chance_of_the_values_that_are_found() -> None:
    assert weight_tail([found(True, 0.003), found(False, 0.0), found(False, 0.0)]) == pytest.approx(0.003)


def test_two_rows_that_are_found_alone_have_the_product_of_their_chances() -> None:
    assert weight_tail([found(True, 0.1), found(True, 0.02)]) == pytest.approx(0.002)


def test_rows_of_which_every_variant_is_found_weigh_nothing() -> None:
    assert weight_tail([found(True, 1.0)] * 50) == 1.0
    assert weight_tail([found(True, 1.0)] * 50 + [found(True, 0.004)]) == pytest.approx(0.004)


def test_no_row_found_is_no_finding() -> None:
    assert weight_tail([found(False, 0.0)] * 5) == 1.0
    assert weight_tail([found(False, 0.4)] * 5) == 1.0
    assert weight_tail([]) == 1.0


@pytest.mark.slow
def test_p_values_at_0_are_no_smaller_than_uniform() -> None:
    """Documents that hold some of the values, whichever is the row's own."""
    rng, p_values = Random(5), []
    for _ in range(4000):
        shares = [rng.choice([0.0, 0.002, 0.01, 0.1, 0.3, 0.9, 1.0]) for _ in range(rng.randrange(1, 30))]
        p_values.append(weight_tail([found(rng.random() < share, share) for share in shares]))
    for level in (0.5, 0.2, 0.05, 0.01):
        expected = level * len(p_values)
        assert sum(p <= level for p in p_values) <= expected + 4 * expected**0.5


def test_the_tail_is_that_of_a_simulation() -> None:
    shares = [0.3, 0.2, 0.15, 0.5, 0.4]
    observed = [found(own, share) for own, share in zip((True, True, False, True, False), shares, strict=True)]
    least, rng, draws = sum(one.bits for one in observed), Random(1), 40_000
    as_much = 0
    for _ in range(draws):
        drawn = [found(rng.random() < share, share) for share in shares]
        as_much += sum(one.bits for one in drawn) >= least - 0.06 * len(shares)  # bits are counted in eighths
    exact = weight_tail(observed)
    assert exact <= as_much / draws + 0.01
    assert exact == pytest.approx(as_much / draws, abs=0.03)


def test_the_detectable_share_is_the_least_that_is_found_nearly_always() -> None:
    assert detectable_share([0.001] * 100, 0.01) == 0.03  # one row is enough, and is there in 95 of 100 cases
    assert detectable_share([0.5] * 3, 0.01) is None
    share = detectable_share([0.1] * 50, 0.01)
    assert share is not None
    assert 0.05 < share < 0.2


def test_the_chance_of_an_own_value_is_the_same_whichever_it_is() -> None:
    query = replace(QUERY, chance={"size": CellPrediction({"a": 0.5, "b": 0.5}, 1e-12)})
    assert even_chance(query) == even_chance(replace(query, expected=("b",))) == 0.5


@pytest.mark.parametrize(
    ("documents", "sources", "more", "said"),
    [
        ([1, 1], ["a", "a"], False, "1 document"),
        ([1, 1], ["a", "b"], False, "2 documents"),
        ([7, 1], ["a", "b"], False, "at least 7 documents"),
        ([1, 1], ["a", "b"], True, "at least 2 documents"),
    ],
)
def test_documents_are_counted_distinct(
    documents: Sequence[int], sources: Sequence[str], more: bool, said: str
) -> None:
    rows = [
        RowFind(QUERY, True, 0.1, count, more=more, places=(Match(source, 0, "x"),))
        for count, source in zip(documents, sources, strict=True)
    ]
    assert in_documents(rows) == said


def test_a_place_is_quoted_with_marks_and_without_what_drives_a_terminal() -> None:
    match = Match("page\x1b[2J", 12, "before \x1b[31m5.1,\n3.5\u202e after", 12, 20)
    text = place_of(match)
    assert text.startswith("page?[2J, byte 12: before ?[31m»5.1, 3.5«")
    assert text.isprintable()
    assert place_of(Match("page", -1, "x")) == "page: »x«"
    assert len(place_of(Match("page", 0, "y" * 9000, 0, 9000))) < 300


def test_a_text_is_made_harmless_and_keeps_its_words() -> None:
    assert harmless("a\r\nb\tc\x00") == "a b c?"
