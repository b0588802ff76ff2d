"""Where a row stands in a text: in every rendering, and nowhere it is not."""

import html
import json
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.evidence.questions import Lookup, LookupMode
from tabcontam.extensions.corpora.search.corpus_words import blank_punctuation, words
from tabcontam.extensions.corpora.search.row_places import TextSpan, places, winners
from tabcontam.extensions.corpora.thresholds import LONGEST_ROW_SPAN
from tabcontam.tables.serializers import load_serializers
from tests.made_tables import ships

ROW = ("22", "male", "7.25", "Braund, Mr. Owen Harris", "0", "-3", "A/5 21171")
COLUMNS = ("Age", "Sex", "Fare", "Name", "Survived", "Balance", "Ticket")


def of_row(row: Sequence[str | None], hidden: int = 0, others: Sequence[str] = (), lacking: int = 0) -> Lookup:
    """A lookup of a row: one cell is hidden, among other values for it; cells that are missing are left out."""
    beside = tuple(cell for place, cell in enumerate(row) if place != hidden and cell is not None)
    return Lookup((row[hidden] or "", *others), by=LookupMode.CELLS, context=beside, lacking=lacking)


def found(text: str, lookup: Lookup) -> list[tuple[str, int]]:
    """What stands in the places of a lookup, and which text won there."""
    encoded = text.encode()
    return [(encoded[place.begin : place.end].decode(), place.text) for place in places(encoded, lookup)]


def tab_separated(columns: Sequence[str], row: Sequence[str | None]) -> str:
    return "\t".join(cell or "" for cell in row)


def in_html(columns: Sequence[str], row: Sequence[str | None]) -> str:
    cells = "".join(f"  <td>{html.escape(cell or '')}</td>\n" for cell in row)
    return f"<tr>\n{cells}</tr>\n"


def in_lines(columns: Sequence[str], row: Sequence[str | None]) -> str:
    return "".join(f"{name}\n{cell or ''}\n" for name, cell in zip(columns, row, strict=True))


def in_json_in_json(columns: Sequence[str], row: Sequence[str | None]) -> str:
    return json.dumps({"prompt": f"{','.join(cell or '' for cell in row)}\nnext line"})


def aligned(columns: Sequence[str], row: Sequence[str | None]) -> str:
    return "  ".join(f"{cell or 'NaN':>24}" for cell in row)


RENDERINGS: dict[str, Callable[[Sequence[str], Sequence[str | None]], str]] = {
    "tsv": tab_separated,
    "html": in_html,
    "lines": in_lines,
    "aligned": aligned,
    "json in json": in_json_in_json,
    **{name: serializer.row for name, serializer in load_serializers().items()},
}


@pytest.mark.parametrize("rendering", RENDERINGS)
@pytest.mark.parametrize("hidden", range(len(ROW)))
def test_a_row_is_found_in_every_rendering_and_order(rendering: str, hidden: int) -> None:
    order = list(range(len(ROW)))
    lookup = of_row(ROW, hidden, ["41", "female", "8.05", "Allen, Mr. William Henry"])
    for seed in range(5):
        written = RENDERINGS[rendering]([COLUMNS[place] for place in order], [ROW[place] for place in order])
        before, behind = "Some words, 12 and 7, that come before.\n", "\nand 3, 4 words behind"
        assert [text for _, text in found(before + written + behind, lookup)] == [0], written
        Random(seed).shuffle(order)


@pytest.mark.slow
@pytest.mark.parametrize("rendering", RENDERINGS)
def test_every_row_of_a_table_is_found_in_the_tables_own_file_where_it_stands(rendering: str) -> None:
    table = ships(12)
    lines = [RENDERINGS[rendering](table.columns, row) for row in table.rows]
    text = "\n".join(lines)
    for number, row in enumerate(table.rows):
        for hidden in (0, 2, 3):
            surrogates = [str(other[hidden]) for other in table.rows if other[hidden] != row[hidden]][:30]
            begin = sum(len(line.encode()) + 1 for line in lines[:number])
            stands = places(text.encode(), of_row(row, hidden, surrogates))
            assert {place.text for place in stands} == {0}
            assert any(begin <= place.begin < place.end <= begin + len(lines[number].encode()) for place in stands)


CELLS = st.one_of(
    st.integers(-99, 999).map(str),
    st.decimals(-99, 99, places=2).map(str),
    st.sampled_from(["Private", "New York", "some-college", "O'Brien & Söhne", 'said "no"', "C:\\new", "?", "+"]),
    st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=8),
)  # fmt: skip


@given(st.lists(CELLS, min_size=2, max_size=9), st.sampled_from(sorted(RENDERINGS)), st.data())
def test_any_row_is_found_where_it_is_written(cells: list[str], rendering: str, data: st.DataObject) -> None:
    hidden = data.draw(st.integers(0, len(cells) - 1))
    if not words(blank_punctuation(cells[hidden].encode())):
        return
    wordless = [not words(blank_punctuation(cell.encode())) for cell in cells]
    if any(one and other for one, other in pairwise(wordless)):
        return  # of cells one after the other that hold no word the names alone are more than may stand between values
    columns = [f"column{chr(97 + place)}" for place in range(len(cells))]
    written = RENDERINGS[rendering](columns, cells)
    if "\\u" in written:
        return  # a letter that is written as its number is not looked for
    assert 0 in [text for _, text in found(written, of_row(cells, hidden))], written


@given(st.lists(CELLS, min_size=1, max_size=5), st.text(alphabet="ab 12.-,\n\\&;", max_size=40), st.data())
def test_a_place_holds_the_values_it_says_it_holds(cells: list[str], text: str, data: st.DataObject) -> None:
    alphabet = st.sampled_from(["1", "2", "12", "a", "b", "a b"])
    row = data.draw(st.lists(alphabet, min_size=1, max_size=4))
    lookup = of_row(row, 0, ["2", "b"], data.draw(st.integers(0, 2)))
    for place in places(text.encode(), lookup):
        inside = [word.key.decode() for word in words(blank_punctuation(text.encode()), place.begin, place.end)]
        asked = [*lookup.context, lookup.texts[place.text]]
        absent = sum(
            max(0, asked.count(cell) - sum(inside[at : at + len(cell.split())] == cell.split() for at in range(99)))
            for cell in set(asked)
        )
        assert absent <= place.lacking <= lookup.lacking
        assert place.end - place.begin <= LONGEST_ROW_SPAN


def test_a_value_that_the_row_has_twice_has_to_stand_there_twice() -> None:
    lookup = of_row(["5", "1", "1", "x"])
    assert found("5,1,1,x", lookup)
    assert not found("5,1,x", lookup)


def test_one_word_is_no_place_for_two_values() -> None:
    lookup = of_row(["30-39", "30", "39"])
    assert found("30,39,30-39", lookup)
    assert not found("30-39", lookup)
    assert [place.lacking for place in places(b"30 39", of_row(["30", "39", "30-39"], lacking=1))] == [1]


def test_numbers_are_compared_by_value_and_sign() -> None:
    lookup = of_row(["5.10", "-12", "0.50", "007"])
    assert found("7, .5, -12.00, 5.1", lookup)
    assert found("7.0 | 0.5 | \u221212 | 05.1", lookup)
    assert not found("7, .5, 12, 5.1", lookup)
    assert not found("7, .5, -12, -5.1", lookup)
    assert found("(7; .5; -12; age=5.1)", lookup)
    assert not found("7, 5, -12, 5.1", lookup)
    assert found("x-4", of_row(["4", "x"]))  # a hyphen that joins words is no sign


def test_the_case_of_words_does_not_count_and_parts_of_words_do_not_match() -> None:
    lookup = of_row(["male", "First"])
    assert found("MALE first", lookup)
    assert not found("female first", lookup)
    assert not found("male firsthand", lookup)


def test_the_rows_own_cell_wins_over_the_one_in_the_row_below() -> None:
    text = "5,a,9,Jones\n6,b,8,Smith\n"
    lookup = Lookup(("Smith", "Jones"), by=LookupMode.CELLS, context=("5", "a", "9"))
    assert found(text, lookup) == [("5,a,9,Jones", 1)]
    assert found("Jones,5,a,9\nSmith,6,b,8", lookup) == [("Jones,5,a,9", 1)]
    assert found("5,a,9,\n6,b,8,Smith\n", lookup) == [("5,a,9,\n6,b,8,Smith", 0)]


def test_texts_that_do_as_well_at_a_place_both_count() -> None:
    lookup = Lookup(("x", "y"), by=LookupMode.CELLS, context=("5", "7", "9"))
    assert [text for _, text in found("5, 7, x, 9 and 5, 7, y, 9", lookup)] == [0, 1]
    assert [text for _, text in found("x 5 7 9 y", lookup)] == [0, 1]


def test_values_may_lack_and_the_best_span_is_told() -> None:
    row = ["22", "male", "7.25", "Braund", "0"]
    assert not found("22, male, 7.2, Braund, 0", of_row(row))
    (place,) = places(b"22, male, 7.2, Braund, 0", of_row(row, lacking=1))
    assert place == TextSpan(0, 24, 0, 1, 2, 0, 8)
    (place,) = places(b"1 22, male, 7.25, Braund, 0 3", of_row(row, lacking=2))
    assert place == TextSpan(2, 27, 0, 0, 0, 0, 8)


def test_values_that_stand_too_far_apart_are_no_row() -> None:
    lookup = of_row(["alpha", "beta", "gamma"])
    assert found("alpha " + "word " * 12 + "beta gamma", lookup)
    assert not found("alpha " + "word " * 13 + "beta gamma", lookup)
    assert found("alpha 1 2 beta gamma", lookup)
    assert not found("alpha 1 2 3 beta gamma", lookup)
    assert found("alpha 1 2 beta gamma", lookup)
    assert not found("alpha 1 2 beta 3 gamma", lookup)


def test_a_span_has_few_values_that_are_not_counted() -> None:
    lookup = of_row(["male", "first", "yes"])
    assert found("male, first, first, first, yes", lookup)
    assert not found("male, first, first, first, first, yes", lookup)


def test_a_cell_without_a_word_is_left_out_and_a_text_without_one_is_nowhere() -> None:
    assert found("5,?,7", of_row(["5", "?", "7"]))
    assert not found("5,?,7", of_row(["?", "5", "7"]))
    assert not found("", of_row(["5", "7"]))


def test_a_span_that_is_longer_than_the_longest_is_no_place() -> None:
    assert found("5," + " " * (LONGEST_ROW_SPAN - 3) + "7", of_row(["5", "7"]))
    assert not found("5," + " " * LONGEST_ROW_SPAN + "7", of_row(["5", "7"]))


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9), st.integers(0, 4)), max_size=12))
def test_a_span_wins_where_none_that_overlaps_is_better(spans: list[tuple[int, int, int]]) -> None:
    given_ = [TextSpan(begin, begin + size, 0, 0, foreign) for begin, size, foreign in spans]
    beaten = {
        worse
        for one, other in combinations(given_, 2)
        for better, worse in ((one, other), (other, one))
        if better.rank < worse.rank and better.begin < worse.end and worse.begin < better.end
    }
    assert winners(given_) == sorted(set(given_) - beaten)
