"""The rows that an answer lists are read in any usual form, and nothing else is a row."""

import json

import pytest

from tabcontam.extensions.papers.task.rows_in_answers import listed_rows
from tabcontam.tables.serializers import load_serializers
from tests.made_tables import ships

SHIPS = ships()
COLUMNS = SHIPS.columns
ROWS = [dict(zip(COLUMNS, row, strict=True)) for row in SHIPS.rows if None not in row and "" not in row][:4]
CELLS = [list(row.values()) for row in ROWS]
CSV = load_serializers()["csv"]
LINES = [CSV.row(COLUMNS, cells) for cells in CELLS]
HEADER = ",".join(COLUMNS)
TURNED = ["\t".join(str(cell) for cell in reversed(cells)) for cells in CELLS]
FORMS = {
    "lines": "\n".join(LINES),
    "header": "\n".join([HEADER, *LINES]),
    "fence": f"Here are some:\n```csv\n{HEADER}\n" + "\n".join(LINES) + "\n```\nI hope this helps!",
    "list": "\n".join(f"{place}. {line}" for place, line in enumerate(LINES, 1)),
    "headed list": "\n".join(
        ["Sure, here they are:", HEADER, *(f"{place}) {line}" for place, line in enumerate(LINES, 1))]
    ),
    "bullets": "\n\n".join(f"- {line}" for line in LINES),
    "counted": "\n".join(f"{place},{line}" for place, line in enumerate(LINES)),
    "other order": "\n".join(["\t".join(reversed(COLUMNS)), *TURNED]),
    "json": json.dumps(ROWS, indent=1),
    "json lines": "\n".join(map(json.dumps, ROWS)),
    "json lists": json.dumps(CELLS),
    "json within": json.dumps({"examples": ROWS}),
    "pairs": "\n\n".join("\n".join(f"{name}: {cell}" for name, cell in row.items()) for row in ROWS),
    "marked pairs": "\n".join(
        f"Example {place}:\n" + "\n".join(f"- **{name}**: {cell}" for name, cell in row.items())
        for place, row in enumerate(ROWS, 1)
    ),
    **{f"serializer {form.name}": "\n".join(form.rows(COLUMNS, CELLS)) for form in load_serializers().values()},
}


@pytest.mark.parametrize("form", FORMS)
def test_rows_are_read_in_any_form(form: str) -> None:
    assert listed_rows(FORMS[form], COLUMNS) == ROWS


def test_rows_of_several_forms_are_read_in_their_order() -> None:
    form = load_serializers()["is"]
    text = "\n".join([LINES[0], form.row(COLUMNS, CELLS[1]), "And two more:", *LINES[2:]])
    assert listed_rows(text, COLUMNS) == ROWS


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot share examples of this dataset.",
        "Es tut mir leid, aber ich kann keine Zeilen aus diesem Datensatz wiedergeben, da ich sie nicht kenne.",
        f"The dataset has the columns {HEADER}, and about two hundred rows.",
        HEADER,
        "[" * 3000,
        "{" * 3000,
    ],
)
def test_what_is_no_row_is_none(text: str) -> None:
    assert listed_rows(text, COLUMNS) == []


def test_a_feature_that_is_left_out_has_no_cell() -> None:
    few = json.dumps([{name: cell for name, cell in ROWS[0].items() if name != "master"}])
    (row,) = listed_rows(few, COLUMNS)
    assert "master" not in row
    assert row == {name: cell for name, cell in ROWS[0].items() if name != "master"}


def test_the_last_line_of_a_cut_answer_may_go_on() -> None:
    assert listed_rows("\n".join(LINES), COLUMNS, cut=True) == ROWS[:-1]
