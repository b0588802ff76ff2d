"""What a user asks for is checked before anything is made."""

from pathlib import Path
from typing import Any

import pytest

from tabcontam.errors import UsageError
from tabcontam.extensions.exposed.recipe import first_difference, recipe
from tabcontam.tables.serializers import load_serializer
from tests.made_tables import ships


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"copies": ()}, "whole numbers"),
        ({"copies": (4, 4)}, "given twice"),
        ({"copies": (-1,)}, "whole numbers"),
        ({"tables": ()}, "no table to read"),
        ({"tables": (ships(5), ships(5))}, "ships is given twice"),
        ({"renderings": ("jsn",)}, "json"),
        ({"size": "smal"}, "small"),
        ({"order": "keep"}, "kept"),
    ],
)
def test_what_cannot_be_made_is_one_line(choices: dict[str, Any], said: str) -> None:
    tables, copies = choices.pop("tables", (ships(5),)), choices.pop("copies", (0, 4))
    with pytest.raises(UsageError, match=said):
        recipe(tables, copies, **choices)


def test_rows_are_written_as_a_run_asks_them_by_default() -> None:
    assert [form.name for form in recipe([ships(5)], (1,)).renderings] == ["is"]


def test_the_shipped_prose_is_read_where_no_other_is_named() -> None:
    assert len(recipe([ships(5)], (1,)).filler.text) > 5000


def test_prose_that_holds_a_row_is_refused(tmp_path: Path) -> None:
    table, file = ships(5), tmp_path / "prose.txt"
    file.write_text(f"A story.\n{load_serializer('csv').row(table.columns, table.rows[2])}\n")
    with pytest.raises(UsageError, match="holds row 3 of ships"):
        recipe([table], (1,), filler=file)


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe\xff"])
def test_a_filler_that_is_no_prose_is_one_line(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "prose.txt"
    file.write_bytes(content)
    with pytest.raises(UsageError, match="English prose"):
        recipe([ships(5)], (1,), filler=file)
    with pytest.raises(UsageError, match="cannot read the filler"):
        recipe([ships(5)], (1,), filler=tmp_path / "none.txt")


def test_a_recipe_differs_by_what_the_user_chose() -> None:
    one, other = recipe([ships(5)], (0, 4)), recipe([ships(5)], (0, 4), seed=1)
    assert first_difference(one.facts, one.facts) is None
    assert first_difference(one.facts, other.facts) == "seed"
