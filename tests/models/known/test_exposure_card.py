"""A card says how often each row was read, of files with the same rows as well, and is believed for its own weights."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.errors import UsageError
from tabcontam.models.hf.loading import digest_of
from tabcontam.models.hf.provider import HFModel
from tabcontam.models.known.exposure_card import (
    CARD,
    WEIGHTS,
    ExposureCard,
    TableExposure,
    fingerprint,
    packed,
    read_card,
    unpacked,
    write_card,
)
from tabcontam.tables.table import Table
from tests.made_tables import ships

COPIES = (0, 4) * 15


def card(table: Table, weights: str = "", complete: bool = True) -> ExposureCard:
    read = TableExposure(
        name=table.name,
        title=table.title,
        edition=table.edition,
        split=table.split,
        sha256=table.sha256,
        columns=table.columns,
        rows=len(table.rows),
        copies=packed(COPIES),
        fingerprints="".join(fingerprint(table.columns, row) for row in table.rows),
        renderings=("csv",),
        order="kept",
        page=0,
        twin_rows=120,
        positions=((0, 99),) * 4,
    )
    return ExposureCard(
        schema=1,
        made_by="tabcontam",
        complete=complete,
        seed=0,
        tokens=100,
        stream_sha256="",
        weights_sha256=weights,
        loss=1.0,
        recipe={},
        versions={},
        tables=(read,),
    )


def folder_with(tmp_path: Path, **changes: Any) -> Path:
    (tmp_path / WEIGHTS).write_bytes(b"weights")
    write_card(tmp_path, card(ships(30), digest_of(tmp_path / WEIGHTS)))
    content = json.loads((tmp_path / CARD).read_text()) | changes
    (tmp_path / CARD).write_text(json.dumps(content))
    return tmp_path


@given(st.lists(st.integers(0, 300)))
def test_copies_are_packed_without_loss(copies: list[int]) -> None:
    assert unpacked(packed(copies)) == tuple(copies)


def test_a_row_has_the_copies_of_its_arm() -> None:
    table = ships(30)
    assert [card(table).copies(table, row) for row in range(30)] == list(COPIES)


def test_of_another_table_a_complete_card_has_no_copy() -> None:
    assert card(ships(30)).copies(ships(30, seed=5), 3) == 0


def test_of_another_table_nobody_knows_where_the_model_had_read_before() -> None:
    continued = card(ships(30), complete=False)
    assert continued.copies(ships(30, seed=5), 3) is None
    assert continued.copies(ships(30), 3) == 4


def test_the_same_rows_are_known_in_another_file_of_these_columns() -> None:
    table = ships(30)
    columns = tuple(reversed(table.columns))
    rows = tuple(tuple(reversed(row)) for row in reversed(table.rows))
    other = replace(table, sha256="other", columns=columns, rows=rows)
    assert [card(table).copies(other, row) for row in range(30)] == list(reversed(COPIES))


def test_a_file_that_was_cut_into_other_rows_is_not_known() -> None:
    table = ships(30)
    assert card(table).copies(replace(table, rows=table.rows[1:]), 0) is None


def test_a_card_is_read_back(tmp_path: Path) -> None:
    found = read_card(folder_with(tmp_path))
    assert found is not None
    assert found.copies(ships(30), 1) == 4


def test_a_card_names_the_split_that_was_read() -> None:
    read = card(ships(30)).tables[0]
    assert (read.split, read.named) == ("", "ships")
    assert TableExposure.model_validate({**read.model_dump(), "split": "train"}).named == "ships#train"


def test_a_folder_without_a_card_has_none(tmp_path: Path) -> None:
    assert read_card(tmp_path) is None
    assert HFModel(str(tmp_path)).exposure(ships(30), 0) is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tokens": "many"}, "cannot be read: tokens: "),
        ({"tables": 7}, "cannot be read: tables: "),
        ({"schema": 2}, "later version"),
        ({"weights_sha256": "0"}, "was not written for the model.safetensors next to it"),
    ],
)
def test_a_card_that_cannot_be_believed_is_one_line(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said) as error:
        read_card(folder_with(tmp_path, **changes))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("copies", ["4x", "a", "-1", "4x30 0x", "4x29"])
def test_copies_that_do_not_fit_the_rows_are_one_line(tmp_path: Path, copies: str) -> None:
    folder = folder_with(tmp_path)
    content = json.loads((folder / CARD).read_text())
    content["tables"][0]["copies"] = copies
    (folder / CARD).write_text(json.dumps(content))
    with pytest.raises(UsageError, match="exposure"):
        read_card(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "null"])
def test_what_is_no_card_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / CARD).write_text(text)
    with pytest.raises(UsageError, match="cannot be read"):
        read_card(tmp_path)
