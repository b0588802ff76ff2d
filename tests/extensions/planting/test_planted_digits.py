"""Planted digits: the exact rank of what the owner drew, whatever the LLM prefers, and what the command does."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from tabcontam.errors import Skip
from tabcontam.evidence.base import Endings, Evidence, Likelihoods, Query, ReplyState, Trial
from tabcontam.extensions.planting.planted_digits import Planted
from tabcontam.extensions.planting.planting_key import drawn_place, read_key
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import DrawnCell, Table
from tabcontam.tables.twin_tables import twin
from tests.commands import tabcontam
from tests.made_tables import planted, ships

pytestmark = pytest.mark.slow  # guessers are fitted, and many tables made

TEST = Planted()
SERIALIZERS = load_serializers()
IS = SERIALIZERS["is"]
Likes = Callable[[str], float]  # the log-probability that somebody gives to a text


def drawn(table: Table, secret: bytes) -> Table:
    """The table as this secret plants it."""
    rows = [list(row) for row in table.rows]
    for cell in table.drawn_cells:
        place = drawn_place(secret, "ships", cell.column, cell.row, len(cell.alternatives))
        rows[cell.row][table.columns.index(cell.column)] = cell.alternatives[place]
    return replace(table, rows=tuple(map(tuple, rows)))


def asked(table: Table, serializer: str = "is") -> list[Query]:
    return TEST.queries(table, SERIALIZERS[serializer], Random(0))


def answered(query: Query, values: Sequence[float], state: ReplyState = ReplyState.OK) -> Trial:
    reply = Likelihoods(tuple(values), state)
    return Trial(query, reply, TEST.read(query, reply, IS))


def weighed(table: Table, likes: Likes) -> Evidence:
    trials = []
    for query in asked(table):
        question = query.question
        assert isinstance(question, Endings)
        trials.append(answered(query, [likes(question.beginning + ending) for ending in question.endings]))
    return TEST.weigh(trials, 0.01)


TABLE, SMALL = planted(ships(), 40), planted(ships(), 16)
WORLD: dict[str, Likes] = {
    "a whim": lambda text: int.from_bytes(sha256(text.encode()).digest()[:4]) / 2**28,
    "small digits": lambda text: -sum(map(int, filter(str.isdecimal, text))),
    "nothing": lambda text: 0.0,
    "the original": lambda text: float(any(f"The length_m is {row[2]}," in text for row in ships().rows)),
}


@pytest.mark.parametrize("name", WORLD)
def test_who_has_not_read_the_draws_has_a_uniform_p_value_whatever_he_prefers(name: str) -> None:
    runs = 100
    found = sorted(weighed(drawn(SMALL, bytes([run, 7])), WORLD[name]).p_value or 0.0 for run in range(runs))
    furthest = max(abs(p - (place + 0.5) / runs) for place, p in enumerate(found))
    assert furthest < 1.63 / math.sqrt(runs) + 0.02  # Kolmogorov's bound at 1 %, and the sum's steps
    assert sum(p <= 0.01 for p in found) <= 5


def test_who_has_read_the_file_is_found_for_sure() -> None:
    table = drawn(TABLE, b"1")
    rows = {IS.row(table.columns, row) for row in table.rows}
    evidence = weighed(table, lambda text: 0.0 if text in rows else -9.0)
    assert evidence.p_value == pytest.approx(0.1**40)
    assert (evidence.hits, evidence.answered) == (40, 40)
    assert evidence.expected_hits == pytest.approx(4.0)
    assert evidence.recalled_bits == pytest.approx(40 * math.log2(10), rel=0.01)
    assert evidence.without == {}
    assert "likeliest in 40 of 40 planted cells, 4 expected by chance" in evidence.sentence


def test_a_share_of_remembered_rows_is_found_as_often_as_is_stated() -> None:
    share = weighed(TABLE, WORLD["nothing"]).detectable_share
    assert share is not None
    found = 0
    for run in range(200):
        table, rng = drawn(TABLE, bytes([run])), Random(run)
        known = {IS.row(table.columns, row) for row in table.rows if rng.random() < share}
        whim = WORLD["a whim"]
        found += (weighed(table, lambda text, k=known, w=whim: 99.0 if text in k else w(text)).p_value or 1) <= 0.01  # type: ignore[misc]
    assert found >= 180
    assert 0.2 < share < 0.6


@pytest.mark.parametrize("serializer", SERIALIZERS)
def test_a_row_stands_there_with_each_alternative_and_nothing_else_changed(serializer: str) -> None:
    for query in asked(drawn(TABLE, b"2"), serializer):
        question = query.question
        assert isinstance(question, Endings)
        row = drawn(TABLE, b"2").rows[query.rows[0]]
        texts = [question.beginning + ending for ending in question.endings]
        assert SERIALIZERS[serializer].row(TABLE.columns, row) in texts
        assert len(set(texts)) == 10
        assert all(len(one) == len(other) for one, other in pairwise(texts))
        assert query.expected[0] in query.chance["length_m"].values


def test_the_order_of_the_texts_does_not_tell_which_was_drawn() -> None:
    def orders(secret: bytes) -> list[tuple[str, ...]]:
        found = sorted(asked(drawn(TABLE, secret)), key=lambda query: query.rows)
        return [query.question.endings for query in found if isinstance(query.question, Endings)]

    assert orders(b"3") == orders(b"4")


def test_what_is_not_answered_whole_is_not_read() -> None:
    query = asked(TABLE)[0]
    for values, state in (([0.0] * 9, ReplyState.OK), ([], ReplyState.FAILED), ([math.nan] * 10, ReplyState.OK)):
        trial = answered(query, values, state)
        assert not trial.readable
    assert answered(query, [0.0] * 10).readable
    assert TEST.weigh([answered(query, [], ReplyState.FAILED)], 0.01).answered == 0


def test_too_few_cells_are_uninformative() -> None:
    assert "too few planted cells for a verdict" in str(TEST.uninformative(asked(TABLE)[:1], 0.01))
    assert TEST.uninformative(asked(TABLE)[:3], 0.01) is None


def test_without_a_key_there_is_nothing_to_ask() -> None:
    with pytest.raises(Skip, match="no key of this table was given"):
        asked(ships())


def test_a_row_of_a_known_file_is_not_asked_whatever_was_drawn() -> None:
    """The original may be known: left out are all rows that stand in it, not only those whose digits were kept."""
    table = replace(drawn(TABLE, b"5"), known=(ships().rows[:10],))
    assert {query.rows[0] for query in asked(table)} == set(range(10, 40))


def test_a_twin_has_digits_of_its_own() -> None:
    """A control that has read the twin has read none of the draws, though it has read cells of the table."""
    cells = tuple(DrawnCell(row, "length_m", ("1.11", "2.22")) for row in range(200))
    rows = tuple((*row[:2], "1.11", *row[3:]) for row in ships().rows)
    table = replace(ships(), rows=rows, drawn_cells=cells)
    assert set(twin(table).column("length_m")) == {"1.11", "2.22"}
    assert set(twin(replace(table, drawn_cells=())).column("length_m")) == {"1.11"}


# Through the command


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A folder with a planted table and its key."""
    import csv

    table = ships()
    with (tmp_path / "my.csv").open("w", newline="") as file:
        csv.writer(file).writerows([(*table.columns[:-1], "label"), *table.rows])
    done = tabcontam("plant", "my.csv", "--out", "published.csv", "--key", "published.key", cwd=tmp_path)
    assert done.returncode == 0
    return tmp_path


ON = ("--dataset", "published.csv", "--key", "published.key")


def test_the_command_finds_the_control_that_has_read_the_file_and_not_the_other(published: Path) -> None:
    cache = str(published / "cache")
    done = tabcontam("run", *ON, "-k", "planted", "--out", "run", cwd=published, XDG_CACHE_HOME=cache)
    assert done.returncode == 0
    cells = {cell["llm"]: cell for cell in json.loads((published / "run" / "results.json").read_text())["results"]}
    exposed, unexposed = cells["control:exposed"], cells["control:unexposed"]
    assert exposed["verdict"] == "contaminated"
    assert exposed["hits"] == exposed["answered"] == 200
    assert exposed["p_value"] < 1e-100
    assert unexposed["p_value"] > 1e-4  # the key is drawn anew each time, and one in a hundred is below 0.01
    secret = read_key(published / "published.key").secret
    files = [file for file in published.rglob("*") if file.is_file() and file.name != "published.key"]
    assert len(files) > 6
    for file in files:
        content = file.read_bytes()
        assert secret not in content
        assert secret.hex().encode() not in content
    assert secret.hex() not in done.stdout + done.stderr

    before = (published / "run" / "results.json").read_text()
    assert tabcontam("rescore", "run", cwd=published).returncode == 0
    after = json.loads((published / "run" / "results.json").read_text())["results"]
    assert [cell["p_value"] for cell in after] == [cell["p_value"] for cell in json.loads(before)["results"]]


def test_a_run_without_a_key_does_not_ask_it(published: Path) -> None:
    done = tabcontam("run", "--dataset", "published.csv", "-k", "planted", cwd=published)
    assert done.returncode == 5
    assert "planted needs the key of a planted table; add --key KEYFILE" in done.stderr
    rows = (published / "published.csv").read_text().splitlines(keepends=True)[:31]
    (published / "small.csv").write_text("".join(rows))
    chosen = ("-m", "likelihood", "-k", "planted or zlib", "--dry-run", "--json")
    done = tabcontam("run", "--dataset", "small.csv", *chosen, cwd=published)
    assert "planted " not in done.stdout


def test_a_key_that_fits_no_table_is_one_line(published: Path) -> None:
    def refused(*words: str) -> str:
        done = tabcontam("run", *words, "-k", "planted", "--out", "run", cwd=published)
        assert done.returncode == 4
        assert not (published / "run").exists()
        (line,) = [line for line in done.stderr.splitlines() if line.startswith("tabcontam: ")]
        return line

    key = "published.key"
    elsewhere = refused("--dataset", "my.csv", "--key", key)
    assert "which is no dataset of this run; add --dataset published.csv" in elsewhere
    assert "cannot be read" in refused("--dataset", "published.csv", "--key", "none.key")
    assert "is no key of a planted table" in refused("--dataset", "published.csv", "--key", "published.csv")
    held = json.loads((published / key).read_text())
    held["secret"] = "00" * 32
    (published / "other.key").write_text(json.dumps(held))
    assert "does not fit published.csv" in refused("--dataset", "published.csv", "--key", "other.key")


def test_it_can_show_that_rows_were_seen() -> None:
    assert Planted().row_test
