"""Drawing last digits from a secret: the draws, the file that is written, and the key."""

import csv
import errno
import io
import json
import os
import stat
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from statistics import fmean, pstdev
from typing import Any

import pytest

from tabcontam.baseline.altered_copies import revealing_column_of
from tabcontam.errors import UsageError
from tabcontam.extensions.planting import table_planting as module
from tabcontam.extensions.planting.planting_key import drawn_place, keyed_number, read_key
from tabcontam.extensions.planting.table_planting import Planting, PlantingChoices, plant, write_planted
from tabcontam.tables.table import load_table
from tests.commands import process, tabcontam
from tests.tables.large import test_large

pytestmark = pytest.mark.slow  # guessers are fitted, and many tables made

SECRET = bytes(range(32))
Write = Callable[[str], Path]


def crates(rows: int = 120, seed: int = 0) -> list[list[str]]:
    """Crates of an invented store: a number of each, a weight, a price for each unit, and what that comes to."""
    rng = Random(seed)
    made = []
    for number in range(rows):
        weight, price = rng.randrange(100, 9900), rng.randrange(200, 9000)
        kind = rng.choice(["Brintle, dry", 'the "old" sort', "Quolth"])
        made.append([f"C{number:04}", kind, f"{weight / 10:.1f}", f"{price / 100:.2f}", f"{rng.uniform(1, 9):.3f}"])
    return [["crate", "kind", "weight", "price", "depth"], *made]


def as_text(rows: Sequence[Sequence[str]], **form: str) -> str:
    out = io.StringIO()
    csv.writer(out, **{"lineterminator": "\n", **form}).writerows(rows)  # type: ignore[arg-type]
    return out.getvalue()


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(text: str, name: str = "crates.csv") -> Path:
        (tmp_path / name).write_bytes(text.encode())
        return tmp_path / name

    return written


def planted(path: Path, secret: bytes = SECRET, **wanted: Any) -> Planting:
    return plant(str(path), PlantingChoices(**wanted), "published.csv", revealing_column_of, secret=secret)


# The draws


def test_a_draw_is_uniform_over_any_number_of_alternatives() -> None:
    for among in (2, 3, 7, 11):
        counts = Counter(drawn_place(SECRET, "t.csv", "price", row, among) for row in range(11_000))
        expected = 11_000 / among
        assert sorted(counts) == list(range(among))
        chi_square = sum((times - expected) ** 2 / expected for times in counts.values())
        assert chi_square < 3.5 * among + 15


def test_a_word_beyond_the_last_whole_multiple_is_drawn_again() -> None:
    """Of 64 bits, 2**63 + 1 values leave nearly half of all words over: without rejection, small ones come twice."""
    below = 2**63 + 1
    found = [keyed_number(SECRET, ("row", "t.csv", row), below) for row in range(4000)]
    assert max(found) < below
    assert abs(sum(number < 2**62 for number in found) / 4000 - 0.5) < 0.04


def test_another_table_column_row_or_secret_draws_otherwise() -> None:
    def draws(secret: bytes, table: str, column: str, first: int) -> list[int]:
        return [drawn_place(secret, table, column, row, 11) for row in range(first, first + 50)]

    every = [
        draws(SECRET, "t.csv", "price", 0),
        draws(SECRET, "u.csv", "price", 0),
        draws(SECRET, "t.csv", "weight", 0),
        draws(SECRET, "t.csv", "price", 50),
        draws(SECRET[::-1], "t.csv", "price", 0),
    ]
    assert every[0] == draws(SECRET, "t.csv", "price", 0)
    assert len({tuple(each) for each in every}) == len(every)


# The file


@pytest.mark.parametrize(("delimiter", "ending"), [(",", "\r\n"), (";", "\r"), ("\t", "\n"), ("|", "\r\n")])
def test_every_byte_but_the_drawn_digits_stays(tmp_path: Path, delimiter: str, ending: str) -> None:
    text = as_text(crates(), delimiter=delimiter, lineterminator=ending)
    source = tmp_path / "crates.csv"
    source.write_bytes(text.encode())
    found = planted(source)
    differing = [
        place for place, (one, other) in enumerate(zip(text.encode(), found.content, strict=True)) if one != other
    ]
    assert differing
    assert all(chr(found.content[place]).isdecimal() and text[place].isdecimal() for place in differing)
    rows = list(csv.reader(io.StringIO(found.content.decode(), newline=""), delimiter=delimiter))
    places = {(cell.row, cell.column): found.key.drawn(cell) for cell in found.key.cells}
    for row, (before, after) in enumerate(zip(crates()[1:], rows[1:], strict=True)):
        for name, old, new in zip(crates()[0], before, after, strict=True):
            assert new == places.get((row, name), old)
    assert len({cell.row for cell in found.key.cells}) == len(found.key.cells)  # one a row at most


@pytest.mark.parametrize("codec", ["utf-8-sig", "cp1252", "utf-16", "utf-16-be", "utf-32"])
def test_its_encoding_and_byte_order_mark_stay(tmp_path: Path, codec: str) -> None:
    text = as_text([[cell.replace("Quolth", "Quölth é ü") for cell in row] for row in crates()])
    (tmp_path / "crates.csv").write_bytes(text.encode(codec))
    found = planted(tmp_path / "crates.csv")
    assert len(found.content) == len(text.encode(codec))
    assert found.content[:4] == text.encode(codec)[:4]
    assert found.content.decode(codec).count("Quölth é ü") == text.count("Quölth é ü")


def test_quotes_blank_lines_blanks_and_a_missing_last_line_end_stay(write: Write) -> None:
    rows = [
        [f'"{cell}"' if cell[0].isdigit() else cell.replace('"', "").replace(",", "") for cell in row]
        for row in crates()
    ]
    text = "\n\n".join(", ".join(row) for row in rows)
    found = planted(write(text)).content.decode()
    assert [sign for sign in found if not sign.isdigit()] == [sign for sign in text if not sign.isdigit()]
    assert found != text


def test_a_quoted_cell_of_several_lines_stays(write: Write) -> None:
    rows = crates()
    for row in rows[1:]:
        row[1] = f"{row[1]}\nsecond line, 12.50"
    found = planted(write(as_text(rows)))
    assert found.content.count(b"second line, 12.50") == len(rows) - 1


def test_a_file_without_a_header_is_planted(write: Write) -> None:
    found = planted(write(as_text(crates()[1:])))
    assert found.key.cells[0].row == 0 or found.key.cells
    assert {cell.column for cell in found.key.cells} == {"column 3", "column 4", "column 5"}


@pytest.mark.usefixtures("cheaply")
def test_the_columns_keep_their_mean_and_their_deviation(write: Write) -> None:
    for change in planted(write(as_text(crates(900))), cells=900).changes:
        assert abs(fmean(change.after) - fmean(change.before)) < 0.01 * pstdev(change.before)
        assert abs(pstdev(change.after) / pstdev(change.before) - 1) < 0.01
        assert 0 < change.largest <= float(change_tolerance(change.column)) + 1e-9


def change_tolerance(column: str) -> str:
    return {"weight": "0.5", "price": "0.05", "depth": "0.005"}[column]


def test_what_another_column_follows_from_is_left_out(write: Write) -> None:
    """The sum of two columns gives a changed digit of either away, and it would be wrong."""
    rows = crates(300)
    total = [f"{float(row[2]) + float(row[4]):.3f}" for row in rows[1:]]
    found = planted(
        write(as_text([[*rows[0], "total"], *([*row, cell] for row, cell in zip(rows[1:], total, strict=True))]))
    )
    assert {change.column for change in found.changes} == {"price"}
    assert {"weight", "depth", "total"} <= set(found.left_out)
    assert all("determine" in found.left_out[name] for name in ("weight", "depth", "total"))


def test_a_row_that_stands_there_twice_is_not_planted(write: Write) -> None:
    rows = crates(80)
    found = planted(write(as_text([*rows, *rows[1:31]])))
    assert {cell.row for cell in found.key.cells} == set(range(30, 80))


@pytest.mark.usefixtures("cheaply")
def test_the_secret_decides_which_cells_and_which_digits(write: Write) -> None:
    path = write(as_text(crates()))
    assert planted(path).content == planted(path).content
    other = planted(path, SECRET[::-1], cells=40)
    assert {cell.row for cell in other.key.cells} != {cell.row for cell in planted(path, cells=40).key.cells}
    assert (
        plant(str(path), PlantingChoices(), "p.csv", revealing_column_of).key.secret
        != plant(str(path), PlantingChoices(), "p.csv", revealing_column_of).key.secret
    )


# What cannot be planted


def refused(path: Path, **wanted: Any) -> str:
    with pytest.raises(UsageError) as caught:
        planted(path, **wanted)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_cannot_be_planted_is_one_line(write: Write, tmp_path: Path) -> None:
    path = write(as_text(crates()))
    assert "kind cannot be planted: it holds texts" in refused(path, columns=("kind",))
    assert "unknown column of crates.csv 'prize'; did you mean price?" in refused(path, columns=("prize",))
    assert "120 rows of crates.csv have a cell to plant, fewer than 121" in refused(path, cells=121)
    assert "2 cells of crates.csv prove too little" in refused(path, cells=2)
    texts = as_text([row[:2] for row in crates()])
    assert "no column of texts.csv has digits to replace (crate: it holds texts" in refused(
        _named(tmp_path, "texts.csv", texts.encode())
    )
    assert "save it as CSV" in refused(_named(tmp_path, "crates.json", b'[{"a": 1.5, "b": 2}, {"a": 2.5, "b": 3}]'))
    assert "is packed; unpack it" in refused(_gzipped(tmp_path, as_text(crates())))
    assert "no such file" in refused(tmp_path / "none.csv")


def _named(folder: Path, name: str, content: bytes) -> Path:
    (folder / name).write_bytes(content)
    return folder / name


def _gzipped(folder: Path, text: str) -> Path:
    import gzip

    return _named(folder, "crates.csv.gz", gzip.compress(text.encode()))


# The key


def test_the_key_file_holds_what_a_test_needs_and_is_private(write: Write, tmp_path: Path) -> None:
    found = planted(write(as_text(crates())))
    out, key_file = tmp_path / "published.csv", tmp_path / "published.key"
    write_planted(found, out, key_file)
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    assert read_key(key_file) == found.key
    table = load_table(str(out))
    assert table.sha256 == found.key.sha256
    for cell in found.key.cells:
        assert table.column(cell.column)[cell.row] == found.key.drawn(cell)
        assert found.key.drawn(cell) in cell.alternatives
    held = json.loads(key_file.read_text("utf-8"))
    assert held["cells"][0]["row"] == found.key.cells[0].row + 1
    assert set(held["tolerance"]) == {"weight", "price", "depth"}
    for shown in (repr(found), repr(found.key)):
        assert SECRET.hex() not in shown
        assert repr(SECRET) not in shown


@pytest.mark.parametrize(
    "broken", ["", "[]", "{}", '{"tabcontam": "key of something"}', '{"tabcontam": 3, "cells": 1}']
)
def test_what_is_no_key_is_one_line(tmp_path: Path, broken: str) -> None:
    with pytest.raises(UsageError, match="is no key of a planted table"):
        read_key(_named(tmp_path, "k", broken.encode()))


@pytest.mark.parametrize("change", [{"secret": "00"}, {"secret": 7}, {"cells": []}, {"cells": [{"row": 0}]}])
def test_a_key_that_was_changed_is_one_line_that_shows_nothing_of_it(
    write: Write, tmp_path: Path, change: dict[str, object]
) -> None:
    write_planted(planted(write(as_text(crates()))), tmp_path / "p.csv", tmp_path / "k")
    held = json.loads((tmp_path / "k").read_text("utf-8"))
    with pytest.raises(UsageError, match="is no key") as caught:
        read_key(_named(tmp_path, "l", json.dumps(held | change).encode()))
    assert SECRET.hex()[:8] not in str(caught.value)


@pytest.mark.parametrize("fault", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_full_disk_or_an_interruption_leaves_nothing(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    found = planted(write(as_text(crates())))
    before = set(tmp_path.iterdir())

    def full(handle: int) -> None:
        raise fault

    expected = UsageError if isinstance(fault, OSError) else KeyboardInterrupt
    for at in (1, 2):  # of the key, and of the file
        calls: list[int] = []

        def fails(handle: int, at: int = at, calls: list[int] = calls) -> None:
            calls.append(handle)
            if len(calls) == at:
                full(handle)

        monkeypatch.setattr(os, "fsync", fails)
        with pytest.raises(expected):
            write_planted(found, tmp_path / "p.csv", tmp_path / "k")
        assert set(tmp_path.iterdir()) == before


# The command


def test_the_command_plants_and_tells_nothing_of_the_key(write: Write, tmp_path: Path) -> None:
    path = write(as_text(crates()))
    out, key_file = tmp_path / "published.csv", tmp_path / "published.key"
    options = ["plant", str(path), "--out", str(out), "--key", str(key_file), "--columns", "price,weight"]
    done = process(*options, "--tolerance", "price=0.20", XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert (done.returncode, done.stderr) == (0, "") or done.stderr.startswith("looking at columns")
    key = read_key(key_file)
    assert len(key.cells) == 120
    assert key.tolerances == {"weight": "0.5", "price": "0.20"}
    assert max(len(cell.alternatives) for cell in key.cells) == 41
    assert "120 cells of" in done.stdout
    assert key.secret.hex() not in done.stdout + done.stderr
    kept = [file.read_bytes() for file in (tmp_path / "cache").rglob("*") if file.is_file()]
    assert not any(
        key.secret in content or key.secret.hex().encode() in content for content in [*kept, out.read_bytes()]
    )


def test_the_command_prints_json(write: Write, tmp_path: Path) -> None:
    path = write(as_text(crates()))
    done = tabcontam("plant", str(path), "--out", str(tmp_path / "o.csv"), "--key", str(tmp_path / "k"), "--json")
    facts = json.loads(done.stdout)
    assert facts["cells"] == 120
    assert [change["column"] for change in facts["columns"]] == ["weight", "price", "depth"]
    assert facts["left_out"] == {"crate": "it holds texts", "kind": "it holds texts"}


def test_the_command_overwrites_nothing(write: Write, tmp_path: Path) -> None:
    path = write(as_text(crates()))
    (tmp_path / "old").write_text("mine")
    for out, key in (("old", "k"), ("o.csv", "old"), ("crates.csv", "k")):
        done = tabcontam("plant", str(path), "--out", str(tmp_path / out), "--key", str(tmp_path / key))
        assert done.returncode == 4
        assert "exists already" in done.stderr
    done = tabcontam("plant", str(path), "--out", str(tmp_path / "o"), "--key", str(tmp_path / "o"))
    assert "--out and --key name one file" in done.stderr
    done = tabcontam("plant", str(path), "--out", str(tmp_path / "no" / "o"), "--key", str(tmp_path / "k"))
    assert "there is no folder" in done.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == ["crates.csv", "old"]
    assert (tmp_path / "old").read_text() == "mine"


def test_a_bad_tolerance_is_one_line(write: Write, tmp_path: Path) -> None:
    for typed in ("price", "0.5", "-1%", "price=x", "price=5%", "nan%"):
        done = tabcontam("plant", "crates.csv", "--out", "o", "--key", "k", f"--tolerance={typed}")
        assert done.returncode == 4
        assert "is no tolerance; write 5% or COLUMN=0.20" in done.stderr


def test_an_interruption_of_the_command_writes_nothing(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*given: object) -> None:
        raise KeyboardInterrupt

    path = write(as_text(crates()))
    monkeypatch.setattr(module, "layout_of", interrupted)
    done = tabcontam("plant", str(path), "--out", str(tmp_path / "o"), "--key", str(tmp_path / "k"))
    assert done.returncode == 2
    assert "nothing was written" in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["crates.csv"]


def test_a_table_is_not_planted_that_no_run_with_the_key_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS_READ_WHOLE", 300)
    path = test_large.written(tmp_path / "a.csv", *test_large.table_of(27))
    with pytest.raises(UsageError, match=r"a\.csv has 900 rows, and a run with the key takes tables of at most 300"):
        plant(str(path), PlantingChoices(), "out.csv", lambda *_: None, secret=bytes(32))
