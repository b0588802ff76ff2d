"""A large table read as a stream: the sample and the facts are those of the whole file, in whatever format it is."""

import bz2
import csv
import gzip
import json
import lzma
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tabcontam.asking.preparation_jobs import job_of, table_from
from tabcontam.baseline.table_predictions import predict_rows
from tabcontam.cli.commands import main
from tabcontam.errors import UsageError
from tabcontam.evidence.checks import alone_rows, determined_rows
from tabcontam.evidence.order.strata import ordered_columns
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.rows.membership import perturbed
from tabcontam.tables import frames
from tabcontam.tables.large import large_files, large_table_reading, shared_key_rows, table_excerpt, text_streams
from tabcontam.tables.large.chunks import chunk_of
from tabcontam.tables.large.reading_progress import report_progress_to
from tabcontam.tables.large.resembling_rows import salted_cells
from tabcontam.tables.large.table_excerpt import BlockSample
from tabcontam.tables.readers import base
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import Table, load_table
from tabcontam.tables.thresholds import LEAST_SAMPLED_PER_CLASS, SAMPLED_BLOCK
from tabcontam.tables.twin_tables import twin_rows
from tabcontam.twins.twin_sample import sample
from tests.needed import needed

pyarrow = needed("pyarrow")

ROWS, KEPT = 900, 200
WORDS = ["é", 'a "b" c', "x,y", "line\nbreak", "NA", "?", "-", "", " ", "1e5", "0012", "-3.50", "long " * 9, "quoted"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of some hundred rows are large ones here, and are read in parts of a few hundred bytes."""
    monkeypatch.setattr(large_table_reading, "MOST_ROWS_READ_WHOLE", 300)
    monkeypatch.setattr("tabcontam.tables.table.MOST_ROWS_READ_WHOLE", 300)
    monkeypatch.setattr(table_excerpt, "SAMPLED_ROWS", KEPT)
    monkeypatch.setattr(large_files, "SMALL", 0)
    monkeypatch.setattr(large_files, "PACKED_SMALL", 0)
    monkeypatch.setattr(text_streams, "READ", 700)
    monkeypatch.setattr(text_streams, "ROWS", 50)
    monkeypatch.setattr(large_table_reading, "AT_ONCE", 70)


def table_of(seed: int, rows: int = ROWS) -> tuple[list[str], list[list[str]]]:
    """Columns of every kind: an identifier, few and many values, numbers, words that are hard to read, what follows."""
    rng = Random(seed)
    names = ["id", "few", "some", "number", "word", "follows", "target"]
    words = rng.sample(WORDS, 6)
    found = []
    for place in range(rows):
        few, some = rng.choice("abc"), str(rng.randrange(40))
        found.append(
            [
                str(place // rng.choice([1, 1, 1, 2])),
                few,
                some,
                f"{rng.gauss(0, 50):.1f}",
                rng.choice(words),
                few + some,
                rng.choice(["yes", "no"]),
            ]
        )
    return names, found


def written(path: Path, names: Sequence[str], rows: Sequence[Sequence[str]], end: str = "\n") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator=end)
        writer.writerow(names)
        writer.writerows(rows)
    return path


def whole(path: Path) -> Table:
    return load_table(str(path), target="target", whole=True)


def test_a_small_table_is_kept_whole(tmp_path: Path) -> None:
    table = load_table(str(written(tmp_path / "a.csv", *table_of(1, 300))), target="target")
    assert table.whole is None
    assert table == whole(tmp_path / "a.csv")
    assert (table.sampled, table.rows_in_file, table.all_stored) == ("", 300, table.rows)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_what_is_known_of_all_rows_is_what_reading_all_of_them_shows(tmp_path: Path, seed: int) -> None:
    path = written(tmp_path / "a.csv", *table_of(seed), end="\r\n" if seed % 2 else "\n")
    table, every = load_table(str(path), target="target"), whole(path)
    assert table.whole is not None
    places = table.whole.places
    assert table.rows == tuple(every.rows[place] for place in places)
    assert places[:SAMPLED_BLOCK] == tuple(range(SAMPLED_BLOCK))
    assert KEPT <= len(places) <= KEPT + SAMPLED_BLOCK
    assert (table.rows_in_file, table.columns, table.sha256) == (ROWS, every.columns, every.sha256)
    assert (table.missing, table.question, table.text) == (every.missing, every.question, every.text)
    assert table.enumerates_domain == every.enumerates_domain
    for name in table.columns:
        assert table.is_numeric(name) == every.is_numeric(name)
        assert table.is_categorical(name) == every.is_categorical(name)
        assert table.distinct(name) == every.distinct(name)
    kept = {row: number for number, row in enumerate(places)}
    last = len(table.columns)
    for size in range(1, last):
        shown, asked = range(size), range(size, last)
        found = determined_rows(every, shown, asked)
        assert determined_rows(table, shown, asked) == [kept[row] for row in found if row in kept]
        assert alone_rows(table, size) == [kept[row] for row in alone_rows(every, size) if row in kept]
    for one in range(last):
        others = [place for place in range(last) if place != one]
        found = determined_rows(every, others, [one])
        assert determined_rows(table, others, [one]) == [kept[row] for row in found if row in kept]


def test_rows_that_stand_behind_each_other_are_known_as_such(tmp_path: Path) -> None:
    table = load_table(str(written(tmp_path / "a.csv", *table_of(2))), target="target")
    assert table.whole is not None
    for number, place in enumerate(table.whole.places):
        run = table.rows_before[number]
        assert table.whole.places[number - run : number + 1] == tuple(range(place - run, place + 1))
        assert number == run or table.whole.places[number - run - 1] != place - run - 1


PACKED: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.slow
@pytest.mark.parametrize("packed", PACKED)
def test_a_packed_file_gives_the_same_sample(tmp_path: Path, packed: str) -> None:
    path = written(tmp_path / "a.csv", *table_of(3))
    other = tmp_path / f"a.csv.{packed}"
    other.write_bytes(PACKED[packed](path.read_bytes()))
    one, same = load_table(str(path), target="target"), load_table(str(other), target="target")
    assert (same.rows, same.whole, same.missing) == (one.rows, one.whole, one.missing)
    assert same.title == whole(other).title
    cut = tmp_path / f"cut.csv.{packed}"
    for kept in (0.3, 0.9, 0.98, 0.995):
        cut.write_bytes(other.read_bytes()[: int(kept * other.stat().st_size)])
        with pytest.raises(UsageError, match=r"cut\.csv.* is not a whole"):
            load_table(str(cut), target="target")


@pytest.mark.slow
def test_other_formats_give_the_same_sample(tmp_path: Path) -> None:
    names, rows = table_of(4)
    rows = [[cell if cell.strip() else "blank" for cell in row] for row in rows]
    path = written(tmp_path / "a.csv", names, rows)
    one = load_table(str(path), target="target")
    lines = (json.dumps(dict(zip(names, row, strict=True))) for row in rows)
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet", row_group_size=111)
    import pyarrow.feather

    pyarrow.feather.write_feather(pyarrow.table(columns), tmp_path / "a.feather")
    for other in ("a.jsonl", "a.parquet", "a.feather"):
        found = load_table(str(tmp_path / other), target="target")
        assert found.rows == one.rows
        assert found.whole == one.whole
        assert found.missing == one.missing


@pytest.mark.slow
def test_typed_columns_are_written_as_a_whole_reader_writes_them(tmp_path: Path) -> None:
    import datetime

    import pyarrow.feather
    import pyarrow.ipc
    import pyarrow.orc
    import pyarrow.parquet

    rng = Random(5)
    odd_floats = [rng.choice([1, -1]) * 10 ** rng.uniform(-9, 20) for _ in range(200)]
    odd_floats += [float(f"1e{size}") for size in range(-9, 20)] + [0.0, -0.0, 3.0, float("inf"), float("-inf")]
    odd_floats += [float(2**size) for size in (33, 34, 49, 50, 53, 60, 300, 1000)]
    columns = {
        "whole": [rng.choice([None, rng.randrange(10**6)]) for _ in range(ROWS)],
        "decimal": [rng.choice([None, float("nan"), rng.gauss(0, 1)]) for _ in range(ROWS)],
        "any float": [rng.choice(odd_floats) for _ in range(ROWS)],
        "rounded": [float(round(rng.gauss(0, 3), rng.choice([0, 1]))) for _ in range(ROWS)],
        "single": pyarrow.array([np.float32(rng.choice(odd_floats[:-8])) for _ in range(ROWS)], pyarrow.float32()),
        "half": pyarrow.array([np.float16(rng.gauss(0, 1)) for _ in range(ROWS)], pyarrow.float16()),
        "moment": [datetime.datetime(2020, 1, 1) + datetime.timedelta(seconds=rng.random() * 9) for _ in range(ROWS)],
        "price": [rng.choice([None, Decimal(rng.randrange(10**4)).scaleb(-2)]) for _ in range(ROWS)],
        "bytes": [rng.choice([b"a", b"\xff", b"", None]) for _ in range(ROWS)],
        "list": [rng.choice([[1, 2], [], None]) for _ in range(ROWS)],
        "coded float": pyarrow.array([rng.choice([0.5, 2.0, None]) for _ in range(ROWS)]).dictionary_encode(),
        "nothing": pyarrow.nulls(ROWS),
        "day": [datetime.date(2020, 1, 1) + datetime.timedelta(rng.randrange(900)) for _ in range(ROWS)],
        "flag": [rng.choice([True, False, None]) for _ in range(ROWS)],
        "coded": pyarrow.array([rng.choice(["ä", "b", None, ""]) for _ in range(ROWS)]).dictionary_encode(),
        "target": [rng.choice(["yes", "no"]) for _ in range(ROWS)],
    }
    table = pyarrow.table(columns)
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=97)
    pyarrow.feather.write_feather(table, tmp_path / "a.feather", chunksize=97)
    with pyarrow.ipc.new_stream(tmp_path / "a.arrow", table.schema) as stream:
        stream.write_table(table, max_chunksize=97)
    pyarrow.orc.write_table(table.drop_columns(["half", "coded float", "nothing", "coded"]), tmp_path / "a.orc")
    for path in (tmp_path / f"a.{kind}" for kind in ("parquet", "feather", "arrow", "orc")):
        kept, every = load_table(str(path), target="target"), whole(path)
        assert kept.whole is not None
        assert kept.rows == tuple(every.rows[place] for place in kept.whole.places)
        for name in kept.columns:
            assert (kept.is_numeric(name), kept.distinct(name)) == (every.is_numeric(name), every.distinct(name))
        assert kept.missing == every.missing
        cut = tmp_path / f"cut{path.suffix}"
        cut.write_bytes(path.read_bytes()[:-99])
        with pytest.raises(UsageError, match=r"not a readable (Parquet|Feather or Arrow|ORC) file"):
            load_table(str(cut))


@pytest.mark.parametrize("ending", ["parquet", "feather", "arrow", "orc"])
def test_a_large_file_of_arrow_is_never_held_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    import pyarrow.feather
    import pyarrow.orc
    import pyarrow.parquet

    writers = {"parquet": pyarrow.parquet.write_table, "orc": pyarrow.orc.write_table}
    path = tmp_path / f"a.{ending}"
    writers.get(ending, pyarrow.feather.write_feather)(pyarrow.table({"a": range(ROWS), "b": range(ROWS)}), path)
    monkeypatch.setattr("tabcontam.tables.table.check_file", lambda _: pytest.fail("read whole"))
    assert load_table(str(path)).rows_in_file == ROWS


ODD: dict[str, Callable[[str], str]] = {
    "semicolons": lambda text: text.replace(",", ";"),
    "tabs": lambda text: text.replace(",", "\t"),
    "blank lines": lambda text: text.replace("\n", "\n\n"),
    "carriage returns": lambda text: text.replace("\n", "\r"),
    "a quote within a cell": lambda text: text.replace("\n7,", '\n7"7,', 1),
    "blanks behind delimiters": lambda text: text.replace(",", ", "),
    "no last line feed": lambda text: text.rstrip("\n"),
    "a mark of byte order": lambda text: "\ufeff" + text,
    "backslashes before quotes": lambda text: text.replace("\n7,", '\n"7\\"7",'),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("odd", "encoding"),
    [*((odd, "utf-8") for odd in ODD), *((odd, "utf-16") for odd in ODD if " of byte order" not in odd),
     ("semicolons", "latin-1"), ("a quote within a cell", "latin-1")],
)  # fmt: skip
def test_odd_texts_are_read_as_a_whole_reader_reads_them(tmp_path: Path, odd: str, encoding: str) -> None:
    rng = Random(6)
    rows = [[str(place), rng.choice("aéb"), f"{rng.random():.3f}", rng.choice(["x y", "z"])] for place in range(ROWS)]
    text = "\n".join(",".join(row) for row in [["id", "letter", "number", "target"], *rows]) + "\n"
    path = tmp_path / "a.csv"
    path.write_bytes(ODD[odd](text).encode(encoding))
    table, every = load_table(str(path), target="target"), whole(path)
    assert table.whole is not None
    assert table.columns == every.columns
    assert table.rows == tuple(every.rows[place] for place in table.whole.places)
    assert table.rows_in_file == len(every.rows)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("\n800,", "\n800,more,", 1), r"a\.csv, line 802: 5 fields where other lines have 4"),
        (lambda text: text.replace("\n800,", "\n800\0,", 1), r"a\.csv, line 802: a zero byte"),
        (lambda text: text.replace(",", ""), "one column"),
    ],
)
def test_what_is_wrong_far_down_is_told_in_a_line(tmp_path: Path, change: Callable[[str], str], said: str) -> None:
    text = "id,letter,number,target\n" + "".join(f"{place},a,{place / 7:.3f},z\n" for place in range(ROWS))
    (tmp_path / "a.csv").write_text(change(text))
    with pytest.raises(UsageError, match=said) as found:
        load_table(str(tmp_path / "a.csv"))
    assert "\n" not in str(found.value)


def test_what_is_wrong_far_down_is_told_after_one_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no quote, no other reading of quotes is tried on a large file."""
    monkeypatch.setattr(text_streams, "BEGINNING", 2000)
    read: list[Path] = []
    whole_rows = text_streams.whole_rows

    def counted(path: Path, codec: str, quotes: bool, begin: int) -> Iterator[bytes]:
        read.append(path)
        return whole_rows(path, codec, quotes, begin)

    monkeypatch.setattr(text_streams, "whole_rows", counted)
    text = "id,letter,target\n" + "".join(f"{place},a,z\n" for place in range(ROWS))
    (tmp_path / "a.csv").write_text(text.replace("\n800,", "\n800,more,"))
    with pytest.raises(UsageError, match=r"a\.csv, line 802: 4 fields where other lines have 3"):
        load_table(str(tmp_path / "a.csv"))
    assert len(read) == 1


@pytest.mark.parametrize("row", [80, 800])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_quote_that_is_left_open_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str, row: int) -> None:
    monkeypatch.setattr(text_streams, "BEGINNING", 2000)
    text = "id,letter,target\n" + "".join(f"{place},a,z\n" for place in range(ROWS))
    (tmp_path / "a.csv").write_bytes(text.replace(f"\n{row},", f'\n{row},"').replace("\n", end).encode())
    with pytest.raises(UsageError, match=rf"a\.csv, line {row + 2}: a quote opens there that is not closed"):
        load_table(str(tmp_path / "a.csv"))


def test_letters_that_come_late_tell_the_encoding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_streams, "BEGINNING", 2000)
    rows = [f"{place},{'München' if place > 700 else 'Berlin'},z\n" for place in range(ROWS)]
    path = tmp_path / "a.csv"
    path.write_bytes(("id,city,target\n" + "".join(rows)).encode("latin-1"))
    table, every = load_table(str(path)), load_table(str(path), whole=True)
    assert table.whole is not None
    assert table.rows == tuple(every.rows[place] for place in table.whole.places)
    assert table.distinct("city") == ("Berlin", "München")
    path.write_bytes(("id,city,target\n" + "é,é,é\n" + "".join(rows)).encode().replace("München".encode(), b"M\xfcn"))
    with pytest.raises(UsageError, match=r"a\.csv, line 704: the bytes of this line are not UTF-8; give"):
        load_table(str(path))


@pytest.mark.parametrize("odd", ["blank lines", "carriage returns", "blanks behind delimiters"])
@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_common_texts_are_not_read_slowly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: str, encoding: str
) -> None:
    monkeypatch.setattr(
        text_streams.StreamLayout, "_slowly", lambda *_: pytest.fail("read by Python's csv from there on")
    )
    text = "id,letter,target\n" + "".join(f"{place},aé,z\n" for place in range(ROWS))
    (tmp_path / "a.csv").write_bytes(ODD[odd](text).encode(encoding))
    assert load_table(str(tmp_path / "a.csv")).rows_in_file == ROWS


def test_an_unknown_target_is_told_before_the_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "a.csv", *table_of(7))
    monkeypatch.setattr(text_streams.StreamLayout, "chunks", lambda _: pytest.fail("read"))
    with pytest.raises(UsageError, match=r"unknown target column of a\.csv") as found:
        load_table(str(tmp_path / "a.csv"), target="targett")
    assert "target" in str(found.value)


def test_a_file_that_changes_meanwhile_is_not_half_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "a.csv", *table_of(8))
    drawn = BlockSample.drawn

    def and_change(blocks: BlockSample) -> object:
        with path.open("a") as file:
            file.write("1,a,2,3.0,x,a2,yes\n")
        return drawn(blocks)

    monkeypatch.setattr(BlockSample, "drawn", and_change)
    with pytest.raises(UsageError, match="changed while it was read"):
        load_table(str(path), target="target")


def test_what_needs_all_rows_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "a.csv", *table_of(9))
    command = ["run", "--llm", "simulated:guesser", "--dataset", str(path), "--target", "target", "--dry-run"]
    assert main([*command, "--split-column", "few"]) == 4
    said = capsys.readouterr().err
    assert "has 900 rows, of which a sample is read, and this option needs all of them" in said.splitlines()[-1]


def test_a_process_that_prepares_gets_what_is_known_of_all_rows(tmp_path: Path) -> None:
    table = load_table(str(written(tmp_path / "a.csv", *table_of(10))), target="target")
    job = job_of(table, load_serializer("is"), [by_id()["feature_completion"]], 0)
    assert table_from(json.loads(job)["table"]) == table


@pytest.mark.slow
def test_a_run_says_that_a_sample_was_asked_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "a.csv", *table_of(11))
    out = tmp_path / "out"
    chosen = ["-k", "feature_completion or row_order", "--no-controls", "--out", str(out)]
    assert main(["run", "--llm", "simulated:memoriser:1", "--dataset", str(path), *chosen]) in (0, 1)
    said = capsys.readouterr()
    kept = len(load_table(str(path)).rows)
    assert f"a.csv has 900 rows. Queries and the baseline use {kept} of them, drawn from" in said.out + said.err
    results = json.loads((out / "results.json").read_text())
    (facts,) = results["datasets"] if "datasets" in results else results["run"]["datasets"]
    assert (facts["rows"], facts["sampled"]) == (900, kept)


@pytest.mark.slow
def test_who_knows_what_codes_stand_for_is_not_taken_for_who_remembers_rows(tmp_path: Path) -> None:
    """More codes than the sample has rows: each stands for a city, which the file shows and the world knows."""
    rng = Random(12)
    towns = [f"{name}{end}" for name in ("North", "East", "Old", "New", "Port") for end in ("ham", "ford", "by", "ton")]
    city = [rng.choice(towns) for _ in range(400)]
    rows = []
    for place in range(4000):
        code = rng.randrange(400)
        rows.append([str(place), str(code + 1000), str(rng.randint(18, 90)), city[code], rng.choice(["yes", "no"])])
    path = written(tmp_path / "a.csv", ["id", "code", "age", "city", "target"], rows)
    table = load_table(str(path), target="target")
    assert table.whole is not None
    codes = {row[1] for row in table.rows}
    mates_of = {row[1] for row in table.whole.key_rows}
    assert mates_of <= codes
    assert len(mates_of) > 100
    assert not {row[0] for row in table.whole.key_rows} & {row[0] for row in table.rows}
    asked = list(range(40, 80))
    chances: dict[str, float] = {}
    for name, one in (("mates", table), ("none", replace(table, whole=replace(table.whole, key_rows=())))):
        found = predict_rows(one, ["city"], ["id", "code", "age", "target"], asked)
        chances[name] = sum(found[row].cells["city"].chance_of(one.rows[row][3] or "") for row in asked) / len(asked)
    assert chances["mates"] > 0.9
    assert chances["none"] < 0.5


def test_nothing_more_is_learned_where_no_column_tells_of_another(tmp_path: Path) -> None:
    rng = Random(13)
    rows = [[str(place), f"{rng.gauss(0, 1):.2f}", rng.choice("abc"), rng.choice("yn")] for place in range(4000)]
    table = load_table(str(written(tmp_path / "a.csv", ["id", "x", "y", "target"], rows)), target="target")
    assert table.whole is not None
    assert table.whole.key_rows == ()


@pytest.mark.slow
def test_mates_are_no_more_than_the_guesser_can_learn_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And where they are fewer than wanted, they are from all over the file: its codes are those of its quarters."""
    monkeypatch.setattr(shared_key_rows, "MOST_SHARED_KEY_ROWS", 50)
    rng = Random(14)
    rows = [[str(place), str(rng.randrange(250) + place // 2000 * 1000), "", rng.choice("yn")] for place in range(8000)]
    rows = [[one, code, f"c{int(code) % 7}", answer] for one, code, _, answer in rows]
    table = load_table(str(written(tmp_path / "a.csv", ["id", "code", "kind", "target"], rows)), target="target")
    assert table.whole is not None
    assert 40 <= len(table.whole.key_rows) <= 50
    quarters = Counter(int(row[0] or 0) // 2000 for row in table.whole.key_rows)
    kept = {int(row[0] or 0) // 2000 for row in table.rows}
    assert len(kept) > 2
    assert min(quarters[quarter] for quarter in kept) >= 5


@pytest.mark.slow
def test_what_one_column_tells_is_not_looked_for_again_by_others(tmp_path: Path) -> None:
    """A product has a brand and a price, so that both together tell the product, too."""
    rng = Random(26)
    brand, price = [str(rng.randrange(60)) for _ in range(400)], [str(rng.randrange(60)) for _ in range(400)]
    rows = []
    for place in range(6000):
        product = rng.randrange(400)
        rows.append([str(place), f"p{product}x", brand[product], price[product], rng.choice("yn")])
    table = load_table(str(written(tmp_path / "a.csv", ["id", "p", "brand", "price", "target"], rows)), target="target")
    found = shared_key_rows.informative_keys(table.rows, salted_cells(chunk_of(table.rows, 5)))
    assert [key.columns for key in found] == [(1,)]


def told_by(rows: Sequence[Sequence[str]]) -> list[shared_key_rows.SharedKey]:
    """The keys by which more rows are taken of a file that has these ones alone in its sample."""
    kept = tuple(map(tuple, rows))
    return list(shared_key_rows.informative_keys(kept, salted_cells(chunk_of(kept, len(kept[0])))))


def test_what_follows_from_three_cells_is_looked_for() -> None:
    rng = Random(31)
    firm = [str(rng.randrange(500)) for _ in range(12**3)]
    rows = []
    for _ in range(4000):
        parts = [rng.randrange(12) for _ in range(3)]
        rows.append(
            [*(f"c{part}" for part in parts), firm[parts[0] * 144 + parts[1] * 12 + parts[2]], rng.choice("yn")]
        )
    assert [key.columns for key in told_by(rows)] == [(0, 1, 2)]


def test_a_row_that_stands_twice_is_looked_for_by_nearly_all_of_its_cells() -> None:
    rng = Random(34)
    rows = [[f"v{rng.randrange(12)}" for _ in range(6)] for _ in range(3800)]
    rows = [[str(number), *row, rng.choice("yn")] for number, row in enumerate([*rows, *rows[:200]])]
    assert (1, 2, 3, 4, 5) in [key.columns for key in told_by(rows)]


def test_a_row_that_was_entered_twice_is_looked_for_by_two_of_its_cells() -> None:
    """One of the cells has another value in the second row, so that no cell by itself tells all of the others."""
    rng, sizes = Random(35), (9000, 9000, 300, 300)
    rows = [[str(rng.randrange(size)) for size in sizes] for _ in range(3800)]
    for row in rows[:200]:
        changed = rng.randrange(4)
        new = [str(rng.randrange(size)) for size in sizes]
        rows.append([new[place] if place == changed else cell for place, cell in enumerate(row)])
    assert {(0, 2), (0, 3), (1, 2), (1, 3)} & {key.columns for key in told_by(rows)}


def test_a_flight_is_known_by_its_airline_and_number_though_it_always_starts_at_the_same_time() -> None:
    rng = Random(32)
    flights = [[str(rng.randrange(700)), str(rng.randrange(18) + 5), str(rng.randrange(90))] for _ in range(3000)]
    rows = []
    for _ in range(6000):
        number = rng.randrange(3000)
        rows.append([f"a{number % 10}", str(number // 10 + 100), *flights[number], rng.choice("yn")])
    assert (0, 1) in [key.columns for key in told_by(rows)]


@pytest.mark.slow
def test_a_day_and_a_currency_are_looked_for_and_the_first_letters_of_a_code_with_a_size() -> None:
    rng = Random(36)
    rate = [[str(rng.randrange(700)) for _ in range(2)] for _ in range(3000)]
    rows, articles = [], []
    for _ in range(6000):
        number, clock = rng.randrange(3000), f"{rng.randrange(24):02d}:{rng.randrange(60):02d}:{rng.randrange(60):02d}"
        day = date(2019, 1, 1) + timedelta(number % 600)
        rows.append([f"{day} {clock}", f"c{number // 600}", *rate[number], rng.choice("yn")])
        letters = f"{chr(65 + number % 25)}{chr(65 + number // 25 % 24)}"
        articles.append([f"{letters}{rng.randrange(99_999)}", f"s{number // 600}", *rate[number], rng.choice("yn")])
    first, *_ = told_by(rows)
    assert (first.columns, first.cut) == ((0, 1), shared_key_rows.CellPiece("first", separator=" "))
    assert ((0, 1), shared_key_rows.CellPiece("first", size=2)) in [(key.columns, key.cut) for key in told_by(articles)]


def test_the_middle_of_a_code_is_looked_for_and_nothing_beside_it() -> None:
    rng = Random(33)
    firm = [str(rng.randrange(400)) for _ in range(1500)]
    rows, parted = [], []
    for _ in range(5000):
        code, begin, end = rng.randrange(1500), rng.randrange(100, 1000), rng.randrange(1000)
        rows.append([f"{begin}{1000 + 6 * code}{end:03d}", firm[code], rng.choice("yn")])
        parted.append([f"{'FS'[begin % 2]}{begin % 5}-{7 * code}-{'SMLX'[end % 4]}", firm[code], rng.choice("yn")])
    (key,) = told_by(rows)
    assert key.cut == shared_key_rows.CellPiece("middle", size=4, start=3)
    assert told_by(parted)[0].cut == shared_key_rows.CellPiece("middle", separator="-")


def test_rows_that_stand_together_are_no_reason_to_take_more() -> None:
    """On each day rows are alike, and few of them lie in a block: who shares more than the day is no more alike."""
    rng = Random(34)
    rows = []
    for block in range(250):
        level = rng.randrange(1000)
        for _ in range(20):
            rows.append([f"d{block}", str(level), *(str(rng.randrange(15)) for _ in range(2)), rng.choice("yn")])
    assert told_by(rows) == []


@pytest.mark.slow
def test_a_column_that_numbers_the_rows_is_known_as_such(tmp_path: Path) -> None:
    """It goes on from block to block by as many as the file has rows between them."""
    rng = Random(15)
    rows = [
        [str(1000 + 2 * place), rng.choice("abcdefgh"), str(rng.random()), rng.choice("yn")] for place in range(ROWS)
    ]
    table = load_table(str(written(tmp_path / "a.csv", ["id", "x", "y", "target"], rows)), target="target")
    assert table.places != range(len(table.rows))
    assert ordered_columns(table)[0] == (0,)


def test_a_value_that_the_sample_lacks_is_no_fault(tmp_path: Path) -> None:
    rng = Random(16)
    rows = [[str(place), rng.choice(["a", "b", "c", "d", "e"]), rng.choice("yn")] for place in range(4000)]
    for number in range(9):
        rows[400 * number + 333][1] = f"Rare{number}"
    table = load_table(str(written(tmp_path / "a.csv", ["id", "kind", "target"], rows)), target="target")
    assert set(table.distinct("kind")) - set(table.column("kind")), "the sample lacks one"
    for seed in range(5):
        queries = by_id()["feature_values_informed"].queries(table, load_serializer("is"), Random(seed))
        assert {"Rare1", "Rare7"} & set(queries[0].expected)


def test_a_wide_table_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_table_reading, "MOST_STREAMED_COLUMNS", 6)
    path = written(tmp_path / "a.csv", *table_of(17))
    assert load_table(str(path), target="target") == whole(path)


@pytest.mark.slow
def test_who_knows_what_pieces_and_pairs_of_cells_stand_for_is_not_taken_for_who_remembers_rows(tmp_path: Path) -> None:
    """A company has all addresses that end alike; a route and a class have a fare together, and neither has alone."""
    rng = Random(18)
    fares, firms = [str(50 + 7 * number) for number in range(40)], [f"Firm {number}" for number in range(30)]
    fare, firm = [rng.choice(fares) for _ in range(400)], [rng.choice(firms) for _ in range(400)]
    names = ["id", "mail", "firm", "route", "class", "fare", "target"]
    rows = []
    for place in range(6000):
        one, other = rng.randrange(400), rng.randrange(400)
        mail = f"{rng.choice('abcdefgh')}{rng.randrange(10_000)}@w{one:03d}.com"
        rows.append([str(place), mail, firm[one], f"r{other // 8}", f"k{other % 8}", fare[other], rng.choice("yn")])
    table = load_table(str(written(tmp_path / "a.csv", names, rows)), target="target")
    assert table.whole is not None
    shared = {row[1].partition("@")[2] for row in table.whole.key_rows if row[1]}
    assert len(shared & {row[1].partition("@")[2] for row in table.rows if row[1]}) > 100
    asked = list(range(40, 80))
    for name, least in (("firm", 0.85), ("fare", 0.75)):
        place, shown = names.index(name), [one for one in names if one != name]
        chances = {}
        for mates_too in (True, False):
            learned = table if mates_too else replace(table, whole=replace(table.whole, key_rows=()))
            found = predict_rows(learned, [name], shown, asked)
            truth = [found[row].cells[name].chance_of(table.rows[row][place] or "") for row in asked]
            chances[mates_too] = sum(truth) / len(truth)
        assert chances[True] > least
        assert chances[False] < 0.6


def test_missing_cells_tell_nothing_of_each_other(tmp_path: Path) -> None:
    rng = Random(19)
    rows = [[str(place), rng.choice(["", "NA", str(place)]), rng.choice("abc"), "y"] for place in range(4000)]
    rows = [[one, code, kind if code.isdigit() else "a", rng.choice("yn")] for one, code, kind, _ in rows]
    table = load_table(str(written(tmp_path / "a.csv", ["id", "code", "kind", "target"], rows)), target="target")
    assert table.whole is not None
    assert table.whole.key_rows == ()


@pytest.mark.slow
def test_made_rows_are_told_from_all_rows_of_the_file(tmp_path: Path) -> None:
    table, every = (
        load_table(str(written(tmp_path / "a.csv", *table_of(20))), target="target", whole=one) for one in (False, True)
    )
    assert table.whole is not None
    assert all(map(table.is_row, every.rows))
    assert not all(row in table.row_set for row in every.rows)
    other = [tuple(f"{cell}." for cell in row) for row in every.rows]
    assert sum(map(table.is_row, other)) < 0.05 * len(other)
    assert table.columns[-1] == table.target
    assert all(table.may_hold((*row[:-1], "another"), answered=False) for row in every.rows)
    assert sum(table.may_hold(row, answered=False) for row in other) < 0.05 * len(other)


def test_no_decoy_altered_row_or_twin_is_a_row_of_the_file(tmp_path: Path) -> None:
    """Four features of six values: a sample has few of their combinations, and the file two of three."""
    rng = Random(21)
    names = ["a", "b", "c", "d", "target"]
    rows = [[*(str(rng.randrange(6)) for _ in names[:-1]), ""] for _ in range(1400)]
    rows = [[*row[:-1], "yn"[int(row[0]) + int(row[1]) > 5]] for row in rows]
    path = written(tmp_path / "a.csv", names, rows)
    table, every = load_table(str(path), target="target"), whole(path)
    assert table.whole is not None
    real = set(every.rows)
    assert {perturbed(table, row, rng).cells(table) in real for row in range(100)} == {False}
    made = [row for _, row in twin_rows(table)]
    assert len(made) > 50
    assert not real & set(made)
    features = {row[:-1] for row in every.rows}
    found = sample(table)
    for row in features:
        assert found.is_real(tuple(row[names.index(name)] for name in found.features))


@pytest.mark.slow
def test_a_quote_that_is_text_does_not_make_reading_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row of a pipe of 5": what follows is looked through once, not from there on again with every part."""
    names, rows = table_of(22, 3000)
    rows = [[cell if cell.isalnum() else "word" for cell in row] for row in rows]
    path = written(tmp_path / "a.csv", names, rows)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[40] = lines[40].replace("word", '5" pipe', 1)
    path.write_text("".join(lines), encoding="utf-8")
    seen: list[int] = []
    last_end = text_streams._last_end

    def counted(content: bytes, quotes: bool) -> int:
        seen.append(len(content))
        return last_end(content, quotes)

    monkeypatch.setattr(text_streams, "_last_end", counted)
    table, every = load_table(str(path), target="target"), whole(path)
    assert sum(seen) < 2 * path.stat().st_size
    assert table.whole is not None
    assert table.rows == tuple(every.rows[place] for place in table.whole.places)


def test_a_rare_class_is_kept_and_asked_about(tmp_path: Path) -> None:
    rng = Random(23)
    rows = [[str(place), str(rng.randrange(50)), f"{rng.gauss(0, 1):.1f}", rng.choice("yn")] for place in range(6000)]
    for place in rng.sample(range(100, 6000), 4):
        rows[place][3] = "rare"
    for place in rng.sample(range(100, 6000), 90):
        rows[place][3] = "some"
    table = load_table(str(written(tmp_path / "a.csv", ["id", "a", "x", "target"], rows)), target="target")
    assert table.whole is not None
    assert table.column("target").count("rare") == 4
    assert table.column("target").count("some") >= LEAST_SAMPLED_PER_CLASS
    assert len(table.rows) <= KEPT + SAMPLED_BLOCK + 4 + LEAST_SAMPLED_PER_CLASS
    assert list(table.whole.places) == sorted(set(table.whole.places))
    assert table.rows == tuple(tuple(rows[place]) for place in table.whole.places)
    queries = by_id()["classification_1shot"].queries(table, load_serializer("is"), Random(1))
    assert queries


def test_what_would_fill_the_memory_is_refused_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pandas as pd

    names, rows = table_of(26)
    path = written(tmp_path / "a.csv", names, rows)
    monkeypatch.setattr(large_table_reading, "MOST_STREAMED_COLUMNS", 6)
    monkeypatch.setattr(large_table_reading, "MOST_CELLS", 6000)
    with pytest.raises(UsageError, match=r"a\.csv has 7 columns and more than 6,000 cells, too many for memory; leave"):
        load_table(str(path))
    monkeypatch.setattr(frames, "MOST_CELLS", 6000)
    with pytest.raises(UsageError, match="mine has more than 6,000 cells; write it to a Parquet file"):
        Table.from_frame(pd.DataFrame(rows, columns=names), name="mine")
    monkeypatch.setattr(base, "LARGEST", 1024**2)
    (tmp_path / "a.jsonl").write_text('{"a": "' + "x" * 1024**2 + '"}\n')
    with pytest.raises(UsageError, match=r"a\.jsonl has 1 MiB, and its kind is read into memory; save it as Parquet"):
        load_table(str(tmp_path / "a.jsonl"))


def another_file(path: Path) -> None:
    path.unlink()
    path.write_text("a,b\n1,2\n" * 700)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change", [lambda path: path.write_bytes(path.read_bytes().replace(b"yes", b"not")), another_file, Path.unlink]
)
def test_a_file_that_changes_while_it_is_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object]
) -> None:
    """Rows of its own are written anew, as many as there were; another file takes its place; it is deleted."""
    path = written(tmp_path / "a.csv", *table_of(25))
    drawn = BlockSample.drawn

    def and_change(blocks: BlockSample) -> object:
        if path.exists():
            change(path)
        return drawn(blocks)

    monkeypatch.setattr(BlockSample, "drawn", and_change)
    with pytest.raises(UsageError, match=r"a\.csv changed while it was read"):
        load_table(str(path), target="target")


@pytest.mark.slow
def test_a_member_of_a_zip_archive_is_never_held_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names, rows = table_of(29)
    path = written(tmp_path / "a.csv", names, [[*row[:4], "word", *row[5:]] for row in rows])
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(path, "data/a.csv")
        archive.write(path, "b.csv")
    monkeypatch.setattr("tabcontam.tables.table.check_file", lambda _: pytest.fail("read whole"))
    monkeypatch.setattr(large_files, "START", 50)
    one = load_table(str(path), target="target")
    for part in ("b.csv", "data/a.csv", "data/a.csv#train"):
        same = load_table(f"{tmp_path / 'a.zip'}#{part}", target="target")
        assert (same.rows, same.whole, same.missing) == (one.rows, one.whole, one.missing)
        assert (same.title, same.split) == (part[-5:-4] if part.endswith(".csv") else "a", part.partition("#")[2])
    with pytest.raises(UsageError, match=r"a\.zip holds 2 files: 'data/a\.csv', 'b\.csv'; name one after a #"):
        load_table(str(tmp_path / "a.zip"))
    content = (tmp_path / "a.zip").read_bytes()
    (tmp_path / "a.zip").write_bytes(content.replace(b"\n300,", b"\n30,,"))  # stored as it is, with its checksum
    with pytest.raises(UsageError, match=r"a\.zip is not a whole ZIP archive: Bad CRC-32"):
        load_table(f"{tmp_path / 'a.zip'}#b.csv")


@pytest.mark.slow
def test_how_far_the_reading_is_is_told_in_rows_and_then_in_percent(tmp_path: Path) -> None:
    names, rows = table_of(0)
    path = tmp_path / "rows.csv"
    path.write_text(
        "\n".join(map(",".join, [names, *([str(place), *row[1:4], "w", *row[5:]] for place, row in enumerate(rows))]))
    )
    told: list[str] = []
    with report_progress_to(told.append):
        load_table(str(path))
    counts = [int(words.split()[0]) for words in told if words.endswith(" rows read so far")]
    assert counts == sorted(counts)
    assert counts[-1] == ROWS
    assert told[-1] == f"100% of {ROWS} rows read a second time"
    assert len(set(told)) > 10
    before = list(told)
    load_table(str(path))
    assert told == before
