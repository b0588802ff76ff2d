"""The guesser on columns made for it: it knows what follows, is as sure as it may be, and never sees the row."""

from collections.abc import Mapping, Sequence
from random import Random

import pytest

from tabcontam.baseline import laws
from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.coded_columns import column
from tabcontam.baseline.fit import Fit
from tabcontam.baseline.hardest_columns import least_sure_of
from tabcontam.baseline.laws import LawPredictions
from tabcontam.baseline.laws.one_column_laws import surprise
from tabcontam.reading.answer_text import value_key
from tabcontam.tables.table import Cell
from tests.baseline.made import guess_chain

Columns = Mapping[str, Sequence[Cell]]


def goods(rows: int, seed: int = 0) -> dict[str, list[Cell]]:
    """Goods: price follows from weight and kind, tax from price, `twin` repeats the kind, `lot` is noise."""
    rng = Random(seed)
    found: dict[str, list[Cell]] = {name: [] for name in ("kind", "twin", "weight", "price", "tax", "lot")}
    for _ in range(rows):
        kind = rng.choices(("Wexlow", "Brintle", "Quolt"), (6, 3, 1))[0]
        weight = rng.randrange(1, 200)
        price = 3 * weight + {"Wexlow": 0, "Brintle": 40, "Quolt": 90}[kind] + round(rng.gauss(0, 2))
        row = (kind, f"{kind}-type", str(weight), str(price), str(price * 4), str(rng.randrange(10**6)))
        for cells, cell in zip(found.values(), row, strict=True):
            cells.append(cell)
    return found


def chances(guesses: Sequence[CellPrediction], cells: Sequence[Cell]) -> list[float]:
    return [guess.chance_of(cell or "") for guess, cell in zip(guesses, cells, strict=True)]


def one(columns: Columns, asked: str, rows: Sequence[int], missing: Sequence[str] = ()) -> list[CellPrediction]:
    """The guesses of one feature given all others."""
    shown = [name for name in columns if name != asked]
    return [chain[0] for chain in guess_chain(columns, shown, [asked], rows, missing)]


@pytest.mark.slow
@pytest.mark.parametrize("size", [300, 2600])
def test_a_number_that_is_a_multiple_of_a_shown_one_is_known(size: int) -> None:
    columns = goods(size)
    rows = range(50)
    assert min(chances(one(columns, "tax", rows), [columns["tax"][row] for row in rows])) > 0.85


def test_a_text_that_goes_with_a_shown_one_is_known() -> None:
    columns = goods(400)
    rows = range(50)
    assert min(chances(one(columns, "kind", rows), [columns["kind"][row] for row in rows])) > 0.9


def test_an_identifier_that_counts_up_from_the_shown_row_is_known() -> None:
    numbers = [f"A-{number:04d}" for number in range(300)]
    columns: dict[str, Sequence[Cell]] = {"id": numbers, "before": [None, *numbers[:-1]]}
    guesses = [chain[0] for chain in guess_chain(columns, ["before"], ["id"], range(1, 60))]
    assert min(chances(guesses, numbers[1:60])) > 0.9
    assert all(guess.chance_of("A-0299") < 0.1 for guess in guesses[:50])


def test_noise_has_the_chance_of_a_value_that_was_never_seen() -> None:
    guesses = one(goods(500), "lot", range(50))
    assert all(1 / 501 <= guess.rest < 0.02 for guess in guesses)


@pytest.mark.slow
def test_a_regression_is_as_sure_as_its_errors_allow() -> None:
    columns = goods(2600, seed=1)
    rows = range(200)
    columns.pop("tax")
    guesses = one(columns, "price", rows)
    surest = sum(guess.surest for guess in guesses) / len(guesses)
    assert 0.08 < surest < 0.35  # errors of two whole numbers: 0.2 for a predictor that knew the law


@pytest.mark.parametrize(("asked", "size"), [("kind", 150), ("price", 900), ("weight", 2600)])
@pytest.mark.slow
def test_hits_of_the_likeliest_value_are_no_more_than_expected(size: int, asked: str) -> None:
    columns = goods(size, seed=2)
    rows = range(min(size, 300))
    guesses = one(columns, asked, rows)
    expected = sum(guess.surest for guess in guesses)
    hits = sum(guess.likeliest == columns[asked][row] for guess, row in zip(guesses, rows, strict=True))
    spread = sum(guess.surest * (1 - guess.surest) for guess in guesses) ** 0.5
    assert hits <= expected + 3 * spread + 0.5


@pytest.mark.slow
def test_the_hidden_cell_is_not_seen() -> None:
    columns = goods(300)
    other = {name: list(cells) for name, cells in columns.items()}
    other["kind"][7] = "Quolt" if columns["kind"][7] != "Quolt" else "Brintle"
    for asked in ("kind", "lot"):
        other[asked][7] = "Quolt"
        known, changed = one(columns, asked, [7])[0], one(other, asked, [7])[0]
        if asked == "lot":
            assert changed.chance_of("Quolt") == changed.rest
        else:
            assert changed.chance_of(columns["kind"][7] or "") == pytest.approx(
                known.chance_of(columns["kind"][7] or ""), abs=0.05
            )


def test_later_features_are_guessed_given_the_earlier_ones() -> None:
    columns = goods(400)
    rows = range(40)
    chain = guess_chain(columns, ["weight"], ["kind", "twin"], rows)
    assert min(chances([guesses[1] for guesses in chain], [columns["twin"][row] for row in rows])) > 0.9
    assert max(guesses[0].surest for guesses in chain) < 0.9


def test_missing_cells_are_never_a_value_and_keep_their_mass() -> None:
    rng = Random(3)
    cells = [rng.choice(("a", "b", "?", None)) for _ in range(400)]
    guesses = [chain[0] for chain in guess_chain({"mark": cells}, [], ["mark"], range(40), ["?"])]
    assert all(set(guess.values) <= {"a", "b"} for guess in guesses)
    assert all(0.4 < sum(guess.values.values()) < 0.6 for guess in guesses)


@pytest.mark.slow
@pytest.mark.parametrize(
    "cells",
    [
        [None] * 60,
        ["7"] * 60,
        [str(number) for number in range(60)],
        ["nan"] * 30 + ["inf"] * 30,
        ["1e999"] * 30 + ["1e300"] * 30,
        [f"{number}e-320" for number in range(60)],
        ["\x00", "Infinity", "-", "²"] * 15,
        ["9" * 400] * 60,
    ],
    ids=["missing", "constant", "all differ", "no numbers", "huge", "tiny", "odd", "long"],
)
def test_strange_columns_are_guessed(cells: list[Cell]) -> None:
    for size in (60, 5, 2):
        columns: dict[str, Sequence[Cell]] = {"odd": cells[:size], "more": [str(place % 3) for place in range(size)]}
        for asked in ("odd", "more"):
            guesses = one(columns, asked, range(size))
            assert all(0 < guess.rest <= 1 and all(0 < p <= 1 for p in guess.values.values()) for guess in guesses)


@pytest.mark.slow
def test_the_order_of_columns_does_not_matter() -> None:
    columns = goods(200)
    turned = dict(reversed(columns.items()))
    assert one(columns, "price", range(30)) == one(turned, "price", range(30))


@pytest.mark.slow
def test_the_order_of_rows_does_not_matter_where_they_are_drawn_by_content() -> None:
    columns = goods(200)
    places = list(range(200))
    Random(5).shuffle(places)
    turned = {name: [cells[place] for place in places] for name, cells in columns.items()}
    shown, back = ["kind", "weight"], {place: number for number, place in enumerate(places)}
    known = guess_chain(columns, shown, ["price"], [3, 4], order=range(200))
    same = guess_chain(turned, shown, ["price"], [back[3], back[4]], order=[back[row] for row in range(200)])
    assert known == same


def test_what_is_hardest_to_guess_comes_first_and_what_follows_from_it_last() -> None:
    columns = goods(500)
    found = least_sure_of(columns, [], list(columns), 6)
    assert found[0] == "lot"
    assert set(found[1:3]) in ({"tax", "weight"}, {"price", "weight"}, {"tax", "kind"}, {"price", "kind"})
    assert len(least_sure_of(columns, [], list(columns), 2)) == 2


def test_a_column_without_a_value_is_never_hard_to_guess() -> None:
    columns: dict[str, Sequence[Cell]] = {"none": [None] * 50, "kind": ["a", "b"] * 25}
    assert least_sure_of(columns, [], ["none", "kind"], 2) == ["kind", "none"]


def sums(fit: Fit) -> list[LawPredictions]:
    """A law that the table below obeys: the total is the sum of two parts, which nobody sees who looks at one alone."""
    parts = {one.name: one.numbers for one in fit.shown if one.name in {"first", "second"}}
    if fit.target.name != "total" or len(parts) < 2:
        return []
    both = parts["first"] + parts["second"]  # type: ignore[operator]  # these columns are of numbers
    return [LawPredictions.of([{value_key(str(int(both[row]))): 0.98} for row in fit.predicted])]


def parts(rows: int = 400) -> dict[str, list[Cell]]:
    """Two parts, their sum, which varies most, and a lot of which nothing is known."""
    rng = Random(2)
    first, second, lot = ([str(rng.randrange(size)) for _ in range(rows)] for size in (400, 900, 80))
    total: list[Cell] = [str(int(one) + int(other)) for one, other in zip(first, second, strict=True)]
    return {"first": [*first], "second": [*second], "total": total, "lot": [*lot]}


def test_what_follows_from_several_columns_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of derived columns had no power for one who remembers rows: they vary most, and were asked first."""
    columns = parts()
    names = list(columns)
    monkeypatch.setattr(laws, "LAWS", {"one column": laws.LAWS["one column"]})
    assert least_sure_of(columns, names, names, 4, apart=True).index("total") < 2
    monkeypatch.setattr(laws, "LAWS", {**laws.LAWS, "sums": sums})
    assert "total" not in least_sure_of(columns, names, names, 3, apart=True)


def test_what_follows_from_the_row_before_and_those_chosen_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = parts()
    monkeypatch.setattr(laws, "LAWS", {"sums": sums})
    assert least_sure_of(columns, ["first"], ["second", "total", "lot"], 2) in (
        ["second", "lot"],
        ["total", "second"],  # as long as the second part is hidden, the total is
    )
    assert least_sure_of(columns, ["first", "second"], ["total", "lot"], 1) == ["lot"]


def test_a_law_takes_as_many_bits_as_it_holds_in_rows_that_did_not_teach_it(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {name: column(name, cells) for name, cells in parts().items()}
    given = [columns["first"], columns["second"]]
    monkeypatch.setattr(laws, "LAWS", {})
    alone = laws.law_bits(columns["total"], given)
    assert alone == pytest.approx(surprise(columns["total"], []))
    monkeypatch.setattr(laws, "LAWS", {"sums": sums})
    assert laws.law_bits(columns["total"], given) < 0.02 * alone
    half = [str(int(cell or 0) + place // 2 % 2) for place, cell in enumerate(parts()["total"])]
    assert 0.4 * alone < laws.law_bits(column("total", half), given) < 0.9 * alone
    assert laws.law_bits(columns["lot"], given) == pytest.approx(surprise(columns["lot"], []))


def test_laws_are_sought_in_strange_columns_without_harm() -> None:
    for cells in (["a"], [None] * 40, ["1"] * 40, ["a", None] * 20):
        odd = column("odd", cells)
        assert laws.law_bits(odd, [column("more", cells)]) <= surprise(odd, []) + 1e-9
