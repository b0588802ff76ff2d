"""Check digits, digit sums and remainders of numbers and codes."""

from collections.abc import Callable
from random import Random

import pytest

from tabcontam.tables.table import Cell
from tests.baseline.made import guess_chain

CODES = [f"NR-{Random(7).randrange(10**6) + 7919 * number:08d}" for number in range(160)]


def luhn(code: str) -> int:
    doubled = [2 * int(digit) if place % 2 == 0 else int(digit) for place, digit in enumerate(reversed(code))]
    return -sum(number - 9 if number > 9 else number for number in doubled) % 10


LAWS: dict[str, Callable[[str], int]] = {
    "sum": lambda code: sum(map(int, code)),
    "remainder": lambda code: int(code) % 97,
    "complement": lambda code: 98 - int(code) % 97,
    "bar code": lambda code: -sum((3 if place % 2 else 1) * int(digit) for place, digit in enumerate(code)) % 10,
    "Luhn": luhn,
    "weights": lambda code: sum(place * int(digit) for place, digit in enumerate(code, start=1)) % 11,
}


def chances(made: list[Cell]) -> list[float]:
    rng = Random(3)
    columns: dict[str, list[Cell]] = {
        "code": list(CODES),
        "lot": [str(rng.randrange(10**6)) for _ in CODES],
        "made": made,
    }
    guesses = guess_chain(columns, ["code", "lot"], ["made"], range(60))
    return [guess.chance_of(made[row] or "") for row, (guess,) in enumerate(guesses)]


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_what_follows_from_the_digits_of_a_code_is_known(law: str) -> None:
    assert min(chances([str(LAWS[law](code[3:])) for code in CODES])) > 0.9


def test_noise_follows_from_no_digits() -> None:
    rng = Random(5)
    assert max(chances([str(rng.randrange(97)) for _ in CODES])) < 0.3


def test_cells_without_digits_and_missing_ones_are_passed_over() -> None:
    made: list[Cell] = [str(sum(map(int, code[3:]))) for code in CODES]
    columns: dict[str, list[Cell]] = {"code": [None, "", "x", "٣٤", *CODES[4:]], "made": made}
    guesses = guess_chain(columns, ["code"], ["made"], range(40))
    assert all(guess.chance_of(made[row] or "") > 0.8 for row, (guess,) in enumerate(guesses) if row > 3)
