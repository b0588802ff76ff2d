"""A number means what the column's own numbers let it mean; what is no number is none."""

import pytest

from tabcontam.reading.numbers import NumberStyle, is_finite, number_in, writing_of

WHOLE, LARGE = NumberStyle(decimals=False, thousands=False), NumberStyle(decimals=False, thousands=True)
SMALL, PRICES = NumberStyle(decimals=True, thousands=False), NumberStyle(decimals=True, thousands=True)


@pytest.mark.parametrize(
    ("text", "writing", "number"),
    [
        ("39,14", SMALL, "39.14"),
        ("39,14", PRICES, "39.14"),
        ("39,14", WHOLE, None),
        ("39,0", WHOLE, "39.0"),
        ("1.234,50", PRICES, "1234.50"),
        ("1.234,50", WHOLE, "1234.50"),
        ("1,234.50", PRICES, "1234.50"),
        ("1,234", WHOLE, "1234"),
        ("1,234", LARGE, "1234"),
        ("1,234", PRICES, "1234"),
        ("1,234", SMALL, "1.234"),
        ("0,123", SMALL, "0.123"),
        ("1.234", LARGE, "1234"),
        ("1.234", PRICES, "1.234"),
        ("1.234.567", PRICES, "1234567"),
        ("1,234,567", SMALL, "1234567"),
        ("12,34,567", LARGE, "1234567"),
        ("1,23,456.50", PRICES, "123456.50"),
        ("1\u202f234,5", PRICES, "1234.5"),
        ("1'234.5", PRICES, "1234.5"),
        ("\u22123,5", SMALL, "-3.5"),
        ("1e999999999", SMALL, None),
        ("nan", SMALL, None),
        ("inf", SMALL, None),
        ("1_000", LARGE, None),
        ("A", SMALL, None),
        ("", SMALL, None),
    ],
)
def test_commas_and_points_are_read_by_what_the_column_holds(
    text: str, writing: NumberStyle, number: str | None
) -> None:
    assert writing.plain(text) == number


def test_how_numbers_look_is_told_by_all_of_them() -> None:
    assert writing_of(("1", "2.50", "A")) == SMALL
    assert writing_of(("1,234", "7")) == LARGE
    assert writing_of(("nan", "1e999999999")) == writing_of(()) == WHOLE
    assert writing_of(("12.0", "2000.5")) == PRICES


def test_one_number_is_read_with_the_words_around_it() -> None:
    texts = [
        "39", "39 units", "39 Jahre", "39 ans", "39 años", "39 points", "39%", "39 €", "~39", "\u2248 39", "about 39",
        "ungefähr 39 Jahre", "environ 39", "alrededor de 39", "39.", "39!", '"39"', "«39»", "39 (geschätzt)",
        "39, weil die anderen so alt sind", "39. This is from memory.", "39 Jahre, da er jung ist",
    ]  # fmt: skip
    assert [text for text in texts if number_in(text, WHOLE) != "39"] == []


def test_two_numbers_are_none() -> None:
    texts = [
        "39 or 40", "39 oder 40", "39 ou 40", "39 o 40", "39 bis 45", "39 to 45", "39 thousand", "39 tausend", "39 mil",
        "39 mille", "39 k", "39 Mio.", "39 plus", "39 40", "39/40", "39, 40", "39; 40", "39 - 40", "39 (or 40)",
        "39 (oder 40)", "39. No, 40", "39 nice units", "not 39", "nicht 39", "x39", "39x40", "39 is wrong",
        "39 falsch", "39 maybe", "between 39 and 40", "39,5",
    ]  # fmt: skip
    assert [text for text in texts if is_finite(number_in(text, WHOLE))] == []


def test_no_text_of_digits_takes_long_to_read() -> None:
    for text in ("1," * 5000, "1.1," * 5000, "1 " * 5000, "9" * 10_000, "39 " + "a" * 10_000):
        assert number_in(text, PRICES)
