"""Rows that stand next to a kept one among those of its kind: found while the file goes by, and learned from."""

import csv
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from tabcontam.asking.preparation_jobs import job_of, table_from
from tabcontam.baseline.table_predictions import predict_rows
from tabcontam.evidence.registry import by_id
from tabcontam.tables.large import large_table_reading, table_excerpt, text_streams
from tabcontam.tables.large.adjoining_rows import Row
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import Table, load_table

COLUMNS = ["time", "account", "amount", "balance", "memo", "target"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of some thousand rows are large ones here, and are read in parts of a few hundred rows."""
    for module in ("tables.large.large_table_reading", "tables.table"):
        monkeypatch.setattr(f"tabcontam.{module}.MOST_ROWS_READ_WHOLE", 300)
    monkeypatch.setattr(table_excerpt, "SAMPLED_ROWS", 1500)
    monkeypatch.setattr(text_streams, "READ", 20_000)
    monkeypatch.setattr(large_table_reading, "AT_ONCE", 700)


def bookings(accounts: int = 120, count: int = 6000) -> list[Row]:
    """What was booked to some accounts, in the order of time, each with the account's balance behind it."""
    rng, rows = Random(5), list[Row]()
    balances = [rng.randrange(10**6) for _ in range(accounts)]
    for place in range(count):
        account, amount = rng.randrange(accounts), rng.randrange(-20_000, 20_000)
        balances[account] += amount
        time = str(datetime(2021, 1, 1) + timedelta(minutes=place))
        numbers = (f"{amount / 100:.2f}", f"{balances[account] / 100:.2f}")
        rows.append((time, f"a{1000 + account}", *numbers, rng.choice("mnop"), rng.choice(["yes", "no"])))
    return rows


def table_of(path: Path, rows: Sequence[Row]) -> Table:
    """The table of a file of such rows."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    return load_table(str(path), target="target")


@pytest.mark.slow
@pytest.mark.parametrize("shuffled", [False, True])
def test_the_rows_next_to_a_kept_one_among_those_of_its_kind_are_found(tmp_path: Path, shuffled: bool) -> None:
    rows = bookings()
    table = table_of(tmp_path / "a.csv", Random(6).sample(rows, len(rows)) if shuffled else rows)
    assert table.whole is not None
    (line,) = (one for one in table.whole.adjoining if one.by == "account")
    assert (line.order, line.informative) == ("time", ("balance",))
    before: dict[Row, Row | None] = {}
    behind: dict[Row, Row | None] = {}
    for account in {row[1] for row in rows}:
        own = [None, *(row for row in rows if row[1] == account), None]
        before |= {row: one for one, row in pairwise(own) if row}
        behind |= {row: one for row, one in pairwise(own) if row}
    assert line.before == tuple(before[row] for row in table.rows)
    assert line.after == tuple(behind[row] for row in table.rows)
    job = job_of(table, load_serializer("is"), [by_id()["feature_completion"]], 0)
    assert b'"adjoining"' in job
    again = table_from(json.loads(job)["table"])
    assert again.whole == table.whole


@pytest.mark.slow
def test_who_has_read_the_booking_before_knows_the_balance(tmp_path: Path) -> None:
    table = table_of(tmp_path / "a.csv", bookings())
    assert table.whole is not None
    shown, asked = [name for name in COLUMNS if name != "balance"], list(range(200, 220))
    found = predict_rows(table, ["balance"], shown, asked)
    assert sum(found[row].cells["balance"].chance_of(table.rows[row][3] or "") for row in asked) / len(asked) > 0.9


def test_nothing_adjoins_where_no_column_tells_where_a_row_stands(tmp_path: Path) -> None:
    rows = [("2021", *row[1:]) for row in bookings()]
    Random(6).shuffle(rows)
    table = table_of(tmp_path / "a.csv", rows)
    assert table.whole is not None
    assert table.whole.adjoining == ()
