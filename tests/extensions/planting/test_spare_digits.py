"""Which columns have a digit to spare, and which texts a cell could as well have."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.errors import Skip
from tabcontam.extensions.planting.spare_digits import SpareDigits, WrittenNumber, spare_digits
from tabcontam.tables.table import Table
from tests.made_tables import ships


def one_column(cells: Sequence[str | None], name: str = "weight") -> Table:
    rows = tuple((cell, f"note {number}") for number, cell in enumerate(cells))
    return replace(ships(), sha256="7" * 64, columns=(name, "note"), rows=rows, target=None, question=None)


def spare(cells: Sequence[str | None], share: float = 0.1, amount: str | None = None) -> SpareDigits:
    return spare_digits(one_column(cells), "weight", share, None if amount is None else Decimal(amount))


def reason(cells: Sequence[str | None], name: str = "weight", share: float = 0.1) -> str:
    with pytest.raises(Skip) as skipped:
        spare_digits(one_column(cells, name), name, share)
    return str(skipped.value)


def measured(seed: int = 0, decimals: int = 2, low: float = 10.0, high: float = 90.0, count: int = 300) -> list[str]:
    rng = Random(seed)
    return [f"{rng.uniform(low, high):.{decimals}f}" for _ in range(count)]


def test_a_cell_goes_five_steps_to_each_side_and_keeps_its_form() -> None:
    cells = ["12.50", "90.00", "10.00", *measured()]
    found = spare(cells)
    assert found.alternatives(0) == tuple(f"12.{digits}" for digits in range(45, 56))
    assert found.alternatives(1) == ("89.95", "89.96", "89.97", "89.98", "89.99", "90.00")  # no more than the largest
    assert found.alternatives(2)[0] == "10.00"
    assert found.tolerance == "0.05"


def test_an_amount_of_the_user_takes_the_place_of_the_five_steps() -> None:
    cells = ["50.00", *measured()]
    assert len(spare(cells, amount="0.20").alternatives(0)) == 41
    assert len(spare(cells, amount="3").alternatives(0)) == 101  # more tell no more
    with pytest.raises(Skip, match=r"its smallest step, 0\.01, is more than the tolerance of 0\.009"):
        spare(cells, amount="0.009")


def test_no_cell_changes_by_more_than_the_share_of_the_deviation() -> None:
    cells = ["5.0", *(f"{number / 10:.1f}" for number in range(20, 80))]  # a deviation of 1.7
    assert spare(cells).alternatives(0) == ("4.9", "5.0", "5.1")
    with pytest.raises(Skip, match=r"its smallest step, 0\.1, is more than 5% of its standard deviation"):
        spare(Random(1).sample(cells, len(cells)), share=0.05)


@pytest.mark.parametrize(
    ("cell", "never"), [("9.98", "10.0"), ("10.02", "9.9"), ("-0.02", "0.0"), ("0.03", "-0.0"), ("100.01", "99.9")]
)
def test_no_alternative_is_longer_or_has_another_sign(cell: str, never: str) -> None:
    cells = [cell, *measured(low=-120, high=120, count=4000)]
    texts = spare(cells).alternatives(0)
    assert len(texts) > 1
    assert all(len(text) == len(cell) and not text.startswith(never) for text in texts)


def test_where_the_file_writes_no_last_zero_none_is_drawn() -> None:
    """As pandas writes a column: 12.5 for 12.50. A cell 12.50 would stand out."""
    cells = ["12.49", *(text.rstrip("0") for text in measured() if not text.endswith("00"))]
    texts = spare(cells).alternatives(0)
    assert "12.50" not in texts
    assert len(texts) == 10


def test_a_column_in_steps_of_25_stays_so() -> None:
    rng = Random(0)
    cells = ["4000", *(str(25 * rng.randrange(110, 250)) for _ in range(400))]
    assert spare(cells).alternatives(0) == ("3900", "3925", "3950", "3975", "4000", "4025", "4050", "4075", "4100")


def test_a_number_that_stands_for_something_is_neither_drawn_nor_changed() -> None:
    cells = ["99.90"] * 40 + ["99.91", *measured(high=99.99, count=2000)]
    found = spare(cells)
    assert found.alternatives(0) == ()
    assert "99.90" not in found.alternatives(40)


def test_what_is_missing_or_written_otherwise_stays_as_it_is() -> None:
    found = spare([None, "1e3", *measured()])
    assert found.alternatives(0) == found.alternatives(1) == ()


@pytest.mark.parametrize(
    ("cells", "name", "why"),
    [
        (["red", "green", "blue"] * 100, "colour", "it holds texts"),
        ([str(number % 12) for number in range(300)], "month", "it has 12 distinct values, and 30 are needed"),
        ([str(number) for number in range(300)], "reading", "the rows are sorted by it"),
        ([f"{number / 7:.2f}" for number in range(300, 0, -1)], "price", "the rows are sorted by it"),
        ([str(number) for number in Random(0).sample(range(300), 300)], "reading", "it numbers the rows"),
        ([f"{number:05}" for number in Random(0).sample(range(99_999), 300)], "area", "it holds codes"),
        ([str(number) for number in Random(0).sample(range(9_999), 300)], "shipId", "it holds codes"),
        (Random(1).choices(Random(0).sample(range(10_000), 60), k=900), "part", "its values repeat"),
        ([f"{number}.12345678901234567" for number in range(300)], "ratio", "15 at most"),
    ],
)
def test_what_names_counts_or_orders_has_no_digit_to_spare(cells: list[object], name: str, why: str) -> None:
    assert why in reason([str(cell) for cell in cells], name)


@given(st.from_regex(r"[+-]?[0-9]{1,6}(\.[0-9]{1,5})?", fullmatch=True), st.integers(-999, 999))
def test_a_written_number_keeps_its_length_its_sign_and_its_point(cell: str, by: int) -> None:
    number = WrittenNumber.parse(cell)
    assert number is not None
    if number.units:
        assert number.text(number.units) == cell
    text = number.text(number.units + by)
    if text is not None:
        assert (len(text), text[:1] == "-", text.find(".")) == (len(cell), cell[:1] == "-", cell.find("."))
        assert Decimal(text) - Decimal(cell) == Decimal(by).scaleb(-number.decimals)
