"""Dataset cards, where their files come from, and the facts a table knows about itself."""

import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tabcontam.errors import UsageError
from tabcontam.tables import table as datasets
from tabcontam.tables.dataset_cards import (
    Card,
    ClassificationQuestion,
    DataDates,
    Edition,
    find_card,
    load_card,
    load_cards,
)
from tabcontam.tables.dataset_splits import load_tables
from tabcontam.tables.editions import cache_folder, edition_bytes
from tabcontam.tables.file_layouts import FileLayout
from tabcontam.tables.table import Table, load_table
from tabcontam.tables.text_tasks import TextForm

CARDS = load_cards()
EDITIONS = [(card.name, edition.name) for card in CARDS.values() for edition in card.editions]
OFFLINE = [
    (card.name, edition.name)
    for card in CARDS.values()
    for edition in card.editions
    if (edition.loader or "").startswith("load_")
]

needs_data = pytest.mark.skipif(
    not Path(os.environ.get("TABCONTAM_DATA") or "/nonexistent").is_dir(),
    reason="TABCONTAM_DATA names no folder of dataset files",
)

# Columns of each default edition as published (German without the saved index).
COLUMNS = {
    "adult": 15,
    "bank": 17,
    "blood": 5,
    "breast-cancer": 31,
    "car": 7,
    "diabetes": 9,
    "german": 10,
    "heart": 12,
    "housing": 10,
    "iris": 5,
    "penguins": 8,
    "spaceship": 14,
    "thyroid": 17,
    "titanic": 12,
    "wine": 14,
}
# The same of records of public facts.
RECORDS = {
    "f1-2024": 7,
    "f1-2025": 7,
    "f1-2026": 7,
    "internationals": 9,
    "premier-league-2024-25": 9,
    "premier-league-2025-26": 9,
    "world-cup-2026": 12,
    "world-cup-2026-squads": 7,
}
# The same of datasets of texts, with the form of their task.
TEXTS = {
    "ag_news": (3, TextForm.CLASSIFICATION),
    "gsm8k": (2, TextForm.PAIR),
    "imdb": (2, TextForm.CLASSIFICATION),
    "rte": (3, TextForm.PAIR),
    "wnli": (3, TextForm.PAIR),
    "xsum": (3, TextForm.SENTENCE),
}
NO_CLASSES = ("gsm8k", "xsum")


@pytest.fixture
def empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with an empty data folder and an empty cache; returns the data folder."""
    data = tmp_path / "data"
    data.mkdir()
    monkeypatch.setenv("TABCONTAM_DATA", str(data))
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return data


class Site:
    """A web server on loopback that serves `files` by path and counts what was asked."""

    def __init__(self) -> None:
        site = self
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                content = site.files.get(self.path)
                self.send_response(200 if content is not None else 404)
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def site() -> Iterator[Site]:
    served = Site()
    thread = Thread(target=served.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield served
    served.server.shutdown()
    thread.join()
    served.server.server_close()


CONTENT = b"a,b\n1,x\n2,y\n"
HASHED = f'sha256 = "{"0" * 64}"\n'
CARD = f"""\
name = "toy"
title = "Toy"
released = "2020"
licence = "CC0"
[[editions]]
name = "e"
file = "f"
{HASHED}bytes = 1
rows = 2
"""


def edition_of(content: bytes = CONTENT, *addresses: str) -> Edition:
    return Edition(
        name="web",
        file="toy.csv",
        sha256=hashlib.sha256(content).hexdigest(),
        bytes=len(content),
        rows=2,
        addresses=addresses,
        target="b",
    )


def card_of(edition: Edition) -> Card:
    return Card(name="toy", title="Toy", dates=DataDates("2020"), licence="CC0", editions=(edition,))


# Cards


def test_the_cards_are_fifteen_tables_and_six_datasets_of_texts() -> None:
    assert set(CARDS) == COLUMNS.keys() | RECORDS.keys() | TEXTS.keys()
    assert {name for name, card in CARDS.items() if card.dates.completed} == RECORDS.keys()
    assert len(COLUMNS) == 15
    assert {name for name, card in CARDS.items() if any(file.text for file in card.files)} == TEXTS.keys()


def test_names_and_aliases_belong_to_one_card() -> None:
    owners: dict[str, str] = {}
    for card in CARDS.values():
        assert len({name.casefold() for name in card.names}) == len(card.names)
        for name in {card.name.casefold(), *(name.casefold() for name in card.names)}:
            assert owners.setdefault(name, card.name) == card.name


def test_every_card_keeps_the_schema() -> None:
    for card in CARDS.values():
        assert re.fullmatch(r"[a-z0-9_-]+", card.name)
        assert re.match(r"(19|20)\d\d(-\d\d)*$", card.dates.released), card.name
        assert card.licence, card.name
        assert card.doi is None or re.match(r"10\.\d+/\S+$", card.doi), card.name
        assert len({edition.name for edition in card.editions}) == len(card.editions), card.name
        assert list(card.names) == sorted(card.names, key=len, reverse=True)


def test_a_name_that_must_not_count_is_no_part_of_one_that_does() -> None:
    pairs = [(name, wrong) for card in CARDS.values() for wrong in card.not_aliases for name in card.names]
    assert [(name, wrong) for name, wrong in pairs if wrong.casefold() in name.casefold()] == []


def test_a_name_of_a_card_is_not_a_file_name() -> None:
    names = [name for card in CARDS.values() for name in card.names]
    assert [name for name in names if re.search(r"\.(csv|tsv|data|parquet)$", name)] == []


def test_every_edition_keeps_the_schema() -> None:
    for card_name, edition_name in EDITIONS:
        keeps_the_schema(card_name, edition_name)


def keeps_the_schema(card_name: str, edition_name: str) -> None:
    """Fails with the edition as its arguments where a card's text breaks a rule."""
    edition = CARDS[card_name].edition(edition_name)
    assert re.fullmatch(r"[0-9a-f]{64}", edition.sha256)
    assert edition.bytes > 0
    assert edition.addresses or edition.loader
    assert all(re.match(r"https://[^\s!]+(![^\s!]+)*$", address) for address in edition.addresses)
    assert edition.order == "kept" or edition.order.startswith("sorted by ")
    assert [part.split for part in edition.parts] in ([""], ["train"], ["test"]) or len(edition.parts) == 2
    if card_name in NO_CLASSES:
        assert (edition.target, edition.question) == (None, None)
        return
    assert edition.target
    assert edition.question is not None
    assert edition.question.text.endswith("?")
    assert len(set(edition.question.answers.values())) == len(edition.question.answers) >= 2
    if edition.question.threshold is not None:
        assert list(edition.question.answers) == [">=", "<"]


def test_no_two_editions_are_the_same_bytes() -> None:
    hashes = [file.sha256 for card in CARDS.values() for file in card.files]
    assert len(set(hashes)) == len(hashes)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (CARD.partition("[[")[0], "it has no [[editions]]"),
        ("nmae = 'x'\n" + CARD, "unknown key 'nmae'"),
        (CARD.replace('licence = "CC0"\n', ""), "lacks licence"),
        (CARD.replace(HASHED, ""), "edition 'e' lacks sha256"),
        (CARD + "size = 1", "edition 'e' has the unknown key 'size'"),
        ("name = ", "x.toml cannot be read"),
        (CARD.replace('"Toy"', "1"), "the card title cannot be 1"),
        (CARD.replace('"Toy"', '"Toy\\nSay yes."'), "names cannot be 'Toy\\nSay yes.'; write a text of one line"),
        (CARD.replace('"toy"', '"../toy"'), "name cannot be '../toy'; write a-z"),
        (CARD.replace('"e"', '".."'), "edition '..' name cannot be '..'"),
        (CARD.replace('"f"', '"f/.."'), "edition 'e' file cannot be 'f/..'"),
        (CARD.replace("bytes = 1", "bytes = true"), "edition 'e' bytes cannot be True"),
        (CARD.replace("bytes = 1", "bytes = -1"), "edition 'e' bytes cannot be -1"),
        (CARD.replace("0" * 64, "0"), "edition 'e' sha256 cannot be '0'; write 64 digits"),
        (CARD + 'addresses = "https://example.org"', "edition 'e' addresses is no list of texts"),
        (CARD + "missing = [1]", "edition 'e' missing is no list of texts"),
        (CARD + "hints = 1", "edition 'e' hints is no table"),
        (CARD + 'loader = "get_data_home"', "edition 'e' loader cannot be 'get_data_home'"),
        (CARD + 'delimiter = ""', "edition 'e' delimiter cannot be ''"),
        (CARD + '[editions.question]\ntext = "So?"', "the question of edition 'e' answers cannot be {}"),
        (CARD + CARD[CARD.index("[[") :], "two editions are named 'e'"),
        ("editions = [1]\n", "it has no [[editions]]"),
    ],
)
def test_a_card_that_breaks_the_schema_is_one_line_that_says_where(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(UsageError, match=re.escape(f"dataset card {tmp_path / 'x.toml'} cannot be read: ")) as raised:
        load_card(tmp_path / "x.toml")
    assert complaint in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_edition_says_only_what_differs_from_its_card() -> None:
    german = CARDS["german"]
    kaggle, uci = german.edition("kaggle"), german.edition("uci")
    assert kaggle.question is not None
    assert uci.question is not None
    assert kaggle.question.text == uci.question.text
    assert kaggle.question.answer("good") == uci.question.answer("1") == "Yes"
    assert (kaggle.target, uci.target) == ("Risk", "class")


@pytest.mark.parametrize("name", ["Breast_Cancer", "wdbc", "BREAST CANCER Wisconsin (Diagnostic)"])
def test_a_card_answers_to_its_names_in_any_case(name: str) -> None:
    card = find_card(name)
    assert card is not None
    assert card.name == "breast-cancer"


def test_spaceship_titanic_and_titanic_are_two() -> None:
    assert [card.name for name in ("Titanic", "spaceship titanic") if (card := find_card(name))] == [
        "titanic",
        "spaceship",
    ]


def test_reading_the_cards_needs_no_heavy_library() -> None:
    code = "import sys; from tabcontam.tables.dataset_cards import load_cards; load_cards(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pandas", "sklearn", "numpy", "pyarrow", "rapidfuzz"} & set(done.stdout.split())


# Files of cards


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize(("card_name", "edition_name"), EDITIONS)
def test_an_edition_loads_as_published(card_name: str, edition_name: str) -> None:
    edition = CARDS[card_name].edition(edition_name)
    table = load_table(f"{card_name}@{edition_name}")
    assert (table.name, table.edition, table.sha256) == (card_name, edition_name, edition.sha256)
    assert len(table.rows) == edition.rows
    assert {len(row) for row in table.rows} == {len(table.columns)}
    assert len(set(table.columns)) == len(table.columns)
    assert not table.private
    assert table.text == edition.text
    if table.text is not None:
        assert {*table.text.texts, table.text.label or table.columns[0]} <= set(table.columns)
        assert not table.text.names or table.text.names.keys() == set(table.distinct(table.text.label or ""))
    if card_name in NO_CLASSES:
        return

    assert table.target is not None
    assert table.question is not None
    answers = {table.question.answer(value) for value in table.distinct(table.target)}
    assert answers == set(table.question.answers.values())

    cells = {cell for row in table.rows for cell in row}
    assert table.missing <= cells
    hinted = {feature for features in (table.hints or {}).values() for feature in features}
    assert hinted <= set(table.columns)


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize(("card_name", "width"), {**COLUMNS, **RECORDS}.items())
def test_a_default_edition_has_its_columns(card_name: str, width: int) -> None:
    assert len(load_table(card_name).columns) == width


@needs_data
@pytest.mark.parametrize(("card_name", "known"), TEXTS.items())
def test_a_dataset_of_texts_has_its_columns_and_splits(card_name: str, known: tuple[int, TextForm]) -> None:
    table = load_table(card_name)
    assert table.text is not None
    assert (len(table.columns), table.text.form) == known
    assert table.split == CARDS[card_name].editions[0].split != ""


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("name", ["adult", "imdb", "rte", "wnli"])
def test_every_split_of_a_card_loads_with_the_same_columns(name: str) -> None:
    tables, _ = load_tables([f"{name}#all"])
    assert len({table.columns for table in tables}) == 1
    for table, part in zip(tables, CARDS[name].editions[0].parts, strict=True):
        assert (table.split, len(table.rows), table.sha256) == (part.split, part.rows, part.sha256)
        assert table.question is not None
        assert set(table.distinct(table.target or "")) <= table.question.answers.keys()


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize(("card_name", "edition_name"), EDITIONS)
def test_an_edition_that_is_said_to_be_sorted_is(card_name: str, edition_name: str) -> None:
    table = load_table(f"{card_name}@{edition_name}")
    by = re.match(r"sorted by (\S+?)(, descending)?$", table.order)
    if by is None:
        assert table.order == "kept" or card_name == "car"
        return
    values = [value for value in table.column(by[1]) if value is not None]
    runs = [value for index, value in enumerate(values) if index == 0 or value != values[index - 1]]
    assert len(runs) == len(set(runs))


@needs_data
def test_cells_stay_the_strings_of_the_file() -> None:
    assert load_table("wine@uci").rows[0][8] == ".28"
    assert load_table("housing@statlib").rows[0][-1] == "452600.000000"
    assert load_table("titanic").rows[0][3] == "Braund, Mr. Owen Harris"
    assert load_table("titanic").rows[0][10] is None
    assert load_table("german").rows[0][4] == "NA"
    assert load_table("blood").rows[0] == ("2", "50", "12500", "98", "1")
    assert load_table("adult").rows[0][1] == "State-gov"


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("name", ["adult", "bank"])
def test_a_large_dataset_loads_within_a_second(name: str) -> None:
    started = time.process_time()  # of this process alone: others may keep it waiting
    load_table(name)
    assert time.process_time() - started < 1


@pytest.mark.parametrize(("card_name", "edition_name"), OFFLINE)
def test_scikit_learn_editions_need_neither_folder_nor_network(
    card_name: str, edition_name: str, empty_machine: Path
) -> None:
    table = load_table(card_name)
    assert table.edition == edition_name == "scikit-learn"
    assert len(table.rows) == CARDS[card_name].edition(edition_name).rows


def test_a_file_is_known_by_its_hash_not_its_name(empty_machine: Path) -> None:
    (empty_machine / "deep" / "down").mkdir(parents=True)
    (empty_machine / "decoy.csv").write_bytes(CONTENT.replace(b"x", b"z"))
    (empty_machine / "deep" / "down" / "odd name.bin").write_bytes(CONTENT)
    edition = edition_of()
    assert edition_bytes(card_of(edition), edition) == CONTENT


def test_a_fetched_file_is_kept_in_the_cache(empty_machine: Path, site: Site) -> None:
    site.files["/toy.csv"] = CONTENT
    edition = edition_of(CONTENT, f"{site.url}/gone.csv", f"{site.url}/toy.csv")
    for _ in range(2):
        assert edition_bytes(card_of(edition), edition) == CONTENT
    assert site.asked == ["/gone.csv", "/toy.csv"]
    assert [path.name for path in cache_folder().rglob("*") if path.is_file()] == ["toy.csv"]


def test_a_fetched_table_is_read_as_the_card_says(
    empty_machine: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.files["/toy.csv"] = b"# note\n0;1 ; x\n\n1;2 ; y\n"
    edition = edition_of(site.files["/toy.csv"], f"{site.url}/toy.csv")
    layout = FileLayout(columns=("", "a", "b"), delimiter=";", strip=True, skip_rows=1, drop=("",))
    edition = replace(edition, layout=layout, missing=frozenset("x"))
    monkeypatch.setattr(datasets, "find_card", lambda name: card_of(edition) if name == "toy" else None)
    table = load_table("toy@web")
    assert table.columns == ("a", "b")
    assert table.rows == (("1", "x"), ("2", "y"))
    assert table.distinct("b") == ("y",)


def test_a_file_is_fetched_out_of_nested_archives(empty_machine: Path, site: Site) -> None:
    inner, outer, tar = io.BytesIO(), io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("data/toy.csv", CONTENT)
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("inner.zip", inner.getvalue())
    with tarfile.open(fileobj=tar, mode="w:gz") as tarred:
        member = tarfile.TarInfo("data/toy.csv")
        member.size = len(CONTENT)
        tarred.addfile(member, io.BytesIO(CONTENT))
    site.files = {"/outer.zip": outer.getvalue(), "/toy.tgz": tar.getvalue()}
    for address in ("/outer.zip!inner.zip!data/toy.csv", "/toy.tgz!data/toy.csv"):
        edition = edition_of(CONTENT, site.url + address)
        assert edition_bytes(card_of(edition), edition) == CONTENT
        for path in cache_folder().rglob("*.csv"):
            path.unlink()


@pytest.mark.parametrize("served", [CONTENT.replace(b"x", b"z"), CONTENT * 1000, b""])
def test_other_bytes_at_the_address_are_an_error_and_not_kept(served: bytes, empty_machine: Path, site: Site) -> None:
    site.files["/toy.csv"] = served
    edition = edition_of(CONTENT, f"{site.url}/toy.csv")
    with pytest.raises(UsageError, match="hash mismatch") as raised:
        edition_bytes(card_of(edition), edition)
    assert edition.sha256 in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not cache_folder().exists()


@pytest.mark.parametrize("content", [b"no archive", b"PK\x03\x04 cut off", b"\x1f\x8b\x08\x00 cut off"])
def test_a_broken_archive_is_one_line(content: bytes, empty_machine: Path, site: Site) -> None:
    site.files["/toy.zip"] = content
    edition = edition_of(CONTENT, f"{site.url}/toy.zip!toy.csv")
    with pytest.raises(UsageError, match="cannot be fetched") as raised:
        edition_bytes(card_of(edition), edition)
    assert "\n" not in str(raised.value)


def test_without_network_the_error_begins_with_where_to_put_the_file_and_ends_with_the_address(
    empty_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edition = edition_of(CONTENT, "http://127.0.0.1:9/toy.csv")
    with pytest.raises(UsageError) as raised:
        edition_bytes(card_of(edition), edition)
    message = str(raised.value)
    assert "http://127.0.0.1:9/toy.csv cannot be fetched" in message
    where = f"{empty_machine}, which TABCONTAM_DATA names, or into {cache_folder()}"
    assert message.startswith(f"put toy.csv ({len(CONTENT)} bytes) into {where}; no file is needed for ")
    assert "iris" in message.partition(":")[0]
    monkeypatch.delenv("TABCONTAM_DATA")
    with pytest.raises(UsageError, match=r"^put toy.csv .* into a folder and set TABCONTAM_DATA to it, or"):
        edition_bytes(card_of(edition), edition)
    assert "\n" not in message


def test_a_data_folder_that_is_not_there_is_named(empty_machine: Path) -> None:
    empty_machine.rmdir()
    edition = edition_of(CONTENT, "file:///etc/hostname")
    with pytest.raises(UsageError, match="TABCONTAM_DATA names no folder") as raised:
        edition_bytes(card_of(edition), edition)
    assert "not an http address" in str(raised.value)


def test_a_changed_copy_in_the_data_folder_is_a_hash_mismatch(empty_machine: Path) -> None:
    changed = CONTENT + b"3,z\n"
    (empty_machine / "toy.csv").write_bytes(changed)
    edition = edition_of(CONTENT, "http://127.0.0.1:9/toy.csv")
    with pytest.raises(UsageError, match="hash mismatch") as raised:
        edition_bytes(card_of(edition), edition)
    assert edition.sha256 in str(raised.value)
    assert hashlib.sha256(changed).hexdigest() in str(raised.value)


def test_a_cache_that_cannot_be_written_does_not_stop_the_run(empty_machine: Path, site: Site, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    site.files["/toy.csv"] = CONTENT
    edition = edition_of(CONTENT, f"{site.url}/toy.csv")
    assert edition_bytes(card_of(edition), edition) == CONTENT


def test_a_scikit_learn_that_writes_other_bytes_is_an_error(empty_machine: Path) -> None:
    edition = replace(CARDS["iris"].edition(), sha256="0" * 64)
    with pytest.raises(UsageError, match=r"hash mismatch: scikit-learn \d"):
        edition_bytes(CARDS["iris"], edition)


# Names of datasets


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("adlut", "unknown dataset 'adlut'; did you mean adult"),
        ("", "unknown dataset ''"),
        ("iris@ucl", "unknown edition of iris 'ucl'; did you mean uci"),
        ("iris@", "unknown edition of iris ''"),
        ("missing/file.csv", "no such file"),
        ("file.csv", "no such file: file.csv"),
    ],
)
def test_a_name_that_does_not_exist_is_one_line(spec: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=re.escape(complaint)) as raised:
        load_table(spec)
    assert "\n" not in str(raised.value)


def test_target_and_name_are_for_files_alone() -> None:
    with pytest.raises(UsageError, match="--target applies to files alone"):
        load_table("iris", target="target")
    with pytest.raises(UsageError, match="--name applies to files alone"):
        load_table("iris", name="Iris")


# Facts about columns


def toy() -> Table:
    return Table(
        name="toy",
        title="Toy",
        edition="1",
        sha256="0" * 64,
        columns=("size", "colour", "class", "blank"),
        rows=(
            ("1", "red", "0", None),
            ("2.50", "blue", "1", "?"),
            ("?", "blue", "1", None),
            (None, None, "0", None),
            ("-3e2", "green", "0", None),
        ),
        target="class",
        missing=frozenset({"?"}),
    )


def test_distinct_values_come_by_frequency_then_first_appearance() -> None:
    assert toy().distinct("colour") == ("blue", "red", "green")
    assert toy().distinct("class") == ("0", "1")
    assert toy().distinct("blank") == ()


def test_a_column_is_numeric_if_all_that_is_there_is_a_finite_number() -> None:
    table = toy()
    assert [table.is_numeric(column) for column in table.columns] == [True, False, True, False]
    odd = replace(table, columns=("a", "b"), rows=(("1", "inf"), ("1_000", "2")), target=None)
    assert not odd.is_numeric("a")
    assert not odd.is_numeric("b")


def test_a_column_is_categorical_if_it_has_few_names_or_is_the_target() -> None:
    table = toy()
    assert [table.is_categorical(column) for column in table.columns] == [False, True, True, False]
    many = replace(table, columns=("a", "b"), rows=tuple((f"x{i}", "y") for i in range(31)), target=None)
    assert not many.is_categorical("a")
    assert not many.is_categorical("b")


def test_facts_of_one_table_are_not_those_of_its_copy() -> None:
    table = toy()
    assert table.distinct("colour") == ("blue", "red", "green")
    assert replace(table, missing=frozenset({"?", "blue"})).distinct("colour") == ("red", "green")
    assert replace(table) == table


def test_a_question_with_a_threshold_reads_numbers() -> None:
    question = ClassificationQuestion("Is it large?", {">=": "Yes", "<": "No"}, threshold=10)
    assert [question.answer(value) for value in ("10.0", "9.99", "1e3")] == ["Yes", "No", "Yes"]
