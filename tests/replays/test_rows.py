"""Recorded rows: read by feature, weighed by what it was worth to guess them."""

import pytest

from tabcontam.decide.words import english
from tabcontam.records import Record
from tabcontam.replays.null import Known
from tabcontam.replays.rows import OTHER_FEATURE, PREAMBLE, weigh_rows
from tabcontam.replays.weighing import Weighed
from tabcontam.serializers import load_serializers
from tests.tables import ships

SHIPS = Known(ships(300))
ROW = 4
CELLS = SHIPS.row(ROW)
TEMPLATES = {
    "is": "The {feature_name} is {feature_value}, ",
    "equals": "{feature_name} = {feature_value}, ",
    "colon": "{feature_name}: {feature_value}, ",
    "is-equal-to": "The {feature_name} is equal to {feature_value}; ",
}


def recorded(output: str, test: str = "full_completion", row: int = ROW, **given: object) -> Record:
    made = {"serializer": None, "asked": tuple(SHIPS.table.columns)} | given
    return Record(1, "m", "ships", test=test, file="f", output=output, values=SHIPS.row(row), **made)  # type: ignore[arg-type]


def said(row: int = ROW, serializer: str = "is", **changed: str) -> str:
    cells = {**SHIPS.row(row), **changed}
    return load_serializers()[serializer].row(tuple(cells), tuple(cells.values()))


def weighed(*records: Record) -> Weighed:
    found = weigh_rows(records, SHIPS, english())
    assert isinstance(found, Weighed)
    return found


def p_value(*records: Record) -> float:
    found = weighed(*records).evidence.p_value
    assert found is not None
    return found


def test_a_row_that_is_told_whole_cannot_be_guessed() -> None:
    found = weighed(recorded(said()))
    assert found.evidence.hits == found.evidence.answered == 1
    assert found.evidence.p_value is not None
    assert found.evidence.p_value < 1e-6
    assert found.blunt(0.001) is None
    assert found.evidence.recalled_bits is not None
    assert found.evidence.expected is not None
    assert found.evidence.recalled_bits > 20 > found.evidence.expected


def test_b4_the_cells_that_are_right_count_and_the_wrong_one_does_not() -> None:
    wrong = "no" if CELLS["tolldue"] == "yes" else "yes"
    found = weighed(recorded(said(tolldue=wrong)))
    assert found.evidence.hits == 0
    assert p_value(recorded(said())) <= p_value(recorded(said(tolldue=wrong))) < 1e-6


def test_b4_the_value_of_another_feature_is_none_of_this_one() -> None:
    value = str(CELLS["crewCnt"])
    asked = ("length_m", "crewCnt")
    found = weighed(recorded(f"The length_m is {value}, The crewCnt is {CELLS['length_m']}", asked=asked))
    assert found.evidence.recalled_bits == 0
    assert OTHER_FEATURE in found.notes


@pytest.mark.parametrize("longer", ["{}0", "3{}", "{}01282", " {} 5"])
def test_b3_a_number_inside_a_longer_one_is_not_memory(longer: str) -> None:
    answer = longer.format(CELLS["crewCnt"])
    found = weighed(recorded(answer, "feature_completion", asked=("crewCnt",)))
    assert found.evidence.hits == 0
    assert found.evidence.p_value in (None, 1.0)


@pytest.mark.parametrize(
    "before", ["Sure, here is the row:\n\n", "I recall that the next row reads as follows.\n```\n"]
)
def test_b1_an_answer_after_a_preamble_is_read_like_any_other(before: str) -> None:
    plain, announced = weighed(recorded(said())), weighed(recorded(before + said()))
    assert announced.evidence == plain.evidence
    assert PREAMBLE in announced.notes
    assert PREAMBLE not in plain.notes


def test_b1_an_answer_recorded_as_a_list_of_lines_is_read() -> None:
    assert weighed(recorded(str(["Sure:", "", said()]))).evidence == weighed(recorded(said())).evidence


def test_b11_an_answer_whose_beginning_was_cut_off_is_read() -> None:
    asked = ("length_m", "master")
    answer = f"The length_m is {CELLS['length_m']}, The master is {CELLS['master']}"
    whole = weighed(recorded(answer, "incomplete_completion", asked=asked))
    assert weighed(recorded(answer[2:], "incomplete_completion", asked=asked)).evidence == whole.evidence


@pytest.mark.parametrize("serializer", TEMPLATES)
def test_the_serializer_changes_nothing(serializer: str) -> None:
    told = weighed(recorded(said(serializer=serializer), serializer=TEMPLATES[serializer]))
    assert told.evidence == weighed(recorded(said())).evidence


def test_the_way_a_number_is_written_changes_nothing() -> None:
    other = f"{float(str(CELLS['crewCnt'])):e}"
    assert p_value(recorded(said(crewCnt=other))) == p_value(recorded(said()))


def test_a_row_that_was_asked_again_adds_nothing() -> None:
    once, twice = weighed(recorded(said())), weighed(recorded(said()), recorded(said()))
    assert twice == once


def test_rows_whose_answers_are_wrong_count_too() -> None:
    right, wrong = recorded(said()), recorded(said(), row=9)
    assert p_value(right) < p_value(right, wrong)


def test_a_missing_mark_is_never_a_hit() -> None:
    row = next(row for row in range(300) if None in SHIPS.row(row).values())
    missing = [name for name, cell in SHIPS.row(row).items() if cell is None]
    answer = ", ".join(f"The {name} is nan" for name in missing)
    found = weighed(recorded(answer, "incomplete_completion", row=row, asked=tuple(missing)))
    assert (found.evidence.hits, found.evidence.p_value) == (0, None)


def test_a_text_that_declines_is_no_answer() -> None:
    found = weighed(recorded("I cannot know the next row."), recorded("", row=5))
    assert (found.evidence.answered, found.evidence.asked, found.evidence.p_value) == (0, 2, None)


def test_always_the_likeliest_value_is_no_memory() -> None:
    asked = ("homePort", "tolldue")
    mode = {name: SHIPS.table.distinct(name)[0] for name in asked}
    answer = ", ".join(f"The {name} is {value}" for name, value in mode.items())
    rows = [recorded(answer, "incomplete_completion", row, asked=asked) for row in range(100)]
    assert p_value(*rows) > 0.01


def test_rows_of_another_table_are_not_recorded() -> None:
    foreign = Record(1, "m", "ships", None, "full_completion", "f", "x", values={"hullNo": "0"}, asked=("hullNo",))
    assert str(weigh_rows([foreign], SHIPS, english())).startswith("not recorded: ")
