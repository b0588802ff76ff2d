"""Tables that are no files of this machine: addresses, OpenML, Hugging Face, scikit-learn; over loopback servers."""

import gzip
import io
import json
import stat
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any
from urllib.request import Request

import pytest

from tabcontam.errors import Exit, UsageError
from tabcontam.evidence.registry import by_id
from tabcontam.tables.dataset_splits import load_tables
from tabcontam.tables.editions import cache_folder
from tabcontam.tables.known_rows import load_known
from tabcontam.tables.readers import base
from tabcontam.tables.readers.base import TextFormat
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.sources import hugging_face, openml, web_files
from tabcontam.tables.table import load_table
from tests.commands import tabcontam
from tests.loopback_files import FileServer, Page

CSV = b"code,price\n007,1.50\n010,1e3\n011,2\n"
ROWS = (("007", "1.50"), ("010", "1e3"), ("011", "2"))
SCIKIT_LEARN = find_spec("sklearn")
assert SCIKIT_LEARN is not None
assert SCIKIT_LEARN.origin is not None
OPENML = Path(SCIKIT_LEARN.origin).parent / "datasets" / "tests" / "data" / "openml"  # answers of the real OpenML
COMMIT = "0123456789abcdef" * 2 + "01234567"


@pytest.fixture(autouse=True)
def nothing_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(tmp_path / "cache"))
    for variable in ("HF_TOKEN", "HF_HUB_OFFLINE", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def server() -> Iterator[FileServer]:
    with FileServer({"/my.csv": CSV}) as running:
        yield running


def failure(spec: str, **options: Any) -> str:
    with pytest.raises(UsageError) as caught:
        load_table(spec, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# Addresses


def test_an_address_is_fetched_once_and_its_rows_are_private(server: FileServer) -> None:
    table = load_table(f"{server.url}/my.csv", target="code")
    assert (table.name, table.title, table.rows, table.private) == ("my.csv", "my", ROWS, True)
    server.pages.clear()
    again = load_table(f"{server.url}/my.csv")
    assert (again.sha256, again.edition) == (table.sha256, table.edition)
    assert server.paths == ["/my.csv"]


def test_what_is_kept_names_no_address_and_is_the_users_alone(server: FileServer, tmp_path: Path) -> None:
    server.pages["/my.csv?key=secret"] = CSV
    assert load_table(f"{server.url}/my.csv?key=secret").name == "my.csv"
    kept = list((cache_folder().parent / "fetched").rglob("*"))
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o700, 0o600}
    assert not any(b"secret" in path.read_bytes() or "secret" in str(path) for path in kept if path.is_file())
    content = next(path for path in kept if path.name == web_files.CONTENT)
    content.write_bytes(b"changed,by\nsomebody,else\n1,2\n")
    assert load_table(f"{server.url}/my.csv?key=secret").rows == ROWS
    assert len(server.requests) == 2
    server.pages["/gone.csv?key=secret"] = Page(b"", 404)
    assert "secret" not in failure(f"{server.url}/gone.csv?key=secret")


def test_what_stands_there_may_be_of_any_kind(server: FileServer) -> None:
    offered = {"Content-Disposition": 'attachment; filename="../my.csv.gz"'}
    server.pages |= {
        "/packed/my.csv.gz": gzip.compress(CSV),
        "/download?id=5": Page(gzip.compress(CSV), headers=offered),
        "/all.json": b'{"a": [{"b": 1, "c": 2}, {"b": 3, "c": 4}], "d": [{"b": 5, "c": 6}, {"b": 7, "c": 8}]}',
        "/semi.csv": CSV.replace(b",", b";").replace(b"code", b"co,de"),
        "/my%20own.csv": CSV,
    }
    assert load_table(f"{server.url}/packed/my.csv.gz").rows == ROWS
    table = load_table(f"{server.url}/download?id=5")
    assert (table.name, table.title, table.rows) == ("download", "my", ROWS)
    part = load_table(f"{server.url}/all.json#d")
    assert (part.name, part.title, part.rows) == ("all.json#d", "d", (("5", "6"), ("7", "8")))
    split = load_table(f"{server.url}/semi.csv#train", form=TextFormat(delimiter=";"))
    assert (split.name, split.title, split.split, split.named) == ("semi.csv", "semi", "train", "semi.csv#train")
    both = load_table(f"{server.url}/all.json#d#test")
    assert (both.name, both.title, both.split, both.rows) == ("all.json#d", "d", "test", part.rows)
    assert load_table(f"{server.url}/semi.csv", form=TextFormat(delimiter=";"), name="Semi").columns == (
        "co,de",
        "price",
    )
    assert load_table(f"{server.url}/my own.csv").name == "my own.csv"
    (known,) = load_known([f"{server.url}/semi.csv"], TextFormat(delimiter=";"))
    assert known.columns == ("co,de", "price")


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        (Page(b"gone", 404), "(HTTP 404 Not Found); check the address"),
        (Page(b"who?", 403), "it asks for a login; fetch the file yourself, and give the file"),
        (Page(b"broken", 500), "(HTTP 500 Internal Server Error); try again later"),
        (Page(b" <!DOCTYPE html><html>Log in</html>"), "is a page, not a table; give the address of the file itself"),
        (Page(b"<html>", headers={"Content-Type": "text/html"}), "is a page, not a table"),
        (Page(b""), "is empty; give the address of a table"),
        (Page(CSV, cut=5), "it ended after 29 of 34 bytes"),
        (Page(CSV * 100), "is larger than 0 MiB"),
        (
            Page(b"", 302, {"Location": "file:///etc/passwd"}),
            "Redirection to url 'file:///etc/passwd' is not allowed); check the address",
        ),
        (Page(b"", 302, {"Location": "ftp://127.0.0.1/x"}), "it redirects to ftp://127.0.0.1, which is not safe"),
        (Page(b"", 302, {"Location": "/my.csv"}), "cannot be fetched"),
        (Page(b"\x00\x01\x02" * 50), "is a binary file"),
    ],
)
def test_what_gives_no_table_is_one_line(
    server: FileServer, page: Page, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "LARGEST", 1000)
    server.pages["/my.csv"] = page
    assert complaint in failure(f"{server.url}/my.csv")


def test_a_redirect_is_followed_from_http_to_http_and_never_from_https(server: FileServer) -> None:
    server.pages["/old"] = Page(b"", 302, {"Location": "/my.csv"})
    assert load_table(f"{server.url}/old").rows == ROWS
    with pytest.raises(OSError, match=r"it redirects to http://127\.0\.0\.1, which"):
        web_files._CarefulRedirects().redirect_request(
            Request("https://example.org/a"), io.BytesIO(), 302, "Found", {}, "http://127.0.0.1/b"
        )


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("https://", "is no address of the web"),
        ("s3://bucket/my.csv", "s3://bucket/my.csv is no address of the web; give one that begins with https://"),
        ("file:///etc/passwd", "is no address of the web"),
        ("HTTPS://me@example.org/my.csv", "would stand in the report"),
        ("http://[::1/my.csv", "is no address of the web"),
        ("https://me:pass@example.org/my.csv", "would stand in the report; fetch the file yourself"),
        ("http://127.0.0.1:1/my.csv", "cannot be fetched ([Errno 111] Connection refused); try again"),
        (
            "https://github.com/o/r/blob/main/data/my.csv",
            "is a page, not a table; give https://raw.githubusercontent.com/o/r/main/data/my.csv",
        ),
        ("https://huggingface.co/datasets/o/n/blob/main/data/a.csv", "give hf:datasets/o/n#data/a.csv"),
        ("https://huggingface.co/datasets/o/n/viewer", "give hf:datasets/o/n"),
        ("https://www.openml.org/search?type=data&status=active&id=61", "give openml:61"),
        ("https://www.openml.org/d/61", "give openml:61"),
    ],
)
def test_an_address_that_cannot_be_asked_is_one_line(spec: str, complaint: str) -> None:
    said = failure(spec)
    assert complaint in said
    assert "pass@" not in said


@pytest.mark.slow
def test_a_run_about_an_address_is_continued_and_judged_by_it(server: FileServer, tmp_path: Path) -> None:
    rows = "".join(f"{number},{number * 7 % 31},{number % 3}\n" for number in range(40))
    server.pages["/tides.csv?key=secret"] = f"day,height,moon\n{rows}".encode()
    address, out = f"{server.url}/tides.csv?key=secret", str(tmp_path / "out")
    asked = ["run", "--llm", "simulated:guesser", "--no-controls", "-k", "full_completion", "--dataset", address]
    home = str(tmp_path / "cache")
    for _ in range(2):
        ran = tabcontam(*asked, "--out", out, XDG_CACHE_HOME=home)
        assert ran.returncode == Exit.DONE, ran.stderr
        assert "secret" not in ran.stdout + ran.stderr
    assert server.paths == ["/tides.csv?key=secret"]
    assert not any(b"secret" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    judged = tabcontam("gate", out, "--dataset", address, XDG_CACHE_HOME=home)
    assert judged.returncode in (Exit.DONE, Exit.CANNOT_TELL), judged.stderr
    refused = tabcontam(
        "run", "--llm", "openai:x@http://192.0.2.1/v1", "--dataset", address, "--no-controls", XDG_CACHE_HOME=home
    )
    assert refused.returncode == Exit.USAGE
    assert (
        "rows and others made of its cells would be shown to openai:x@http://192.0.2.1/v1; add --send-rows"
        in refused.stderr
    )


# OpenML


def of_openml(number: int, file: int, **changes: Any) -> dict[str, bytes | Page]:
    """What OpenML answers about a dataset, and its file."""
    folder = OPENML / f"id_{number}"
    about = json.loads(gzip.decompress((folder / f"api-v1-jd-{number}.json.gz").read_bytes()))
    about["data_set_description"].update(changes)
    return {
        f"/api/v1/json/data/{number}": json.dumps(about).encode(),
        f"/data/v1/download/{file}": gzip.decompress((folder / f"data-v1-dl-{file}.arff.gz").read_bytes()),
    }


@pytest.fixture
def site(server: FileServer, monkeypatch: pytest.MonkeyPatch) -> FileServer:
    monkeypatch.setattr(openml, "SITE", server.url)
    monkeypatch.setattr(hugging_face, "SITE", server.url)
    return server


def test_a_dataset_of_openml_has_its_own_name_target_and_text(site: FileServer) -> None:
    site.pages |= of_openml(61, 61) | of_openml(40945, 16826755) | of_openml(62, 52352)
    table = load_table("openml:61")
    assert (table.name, table.title, table.target, table.private) == ("openml:61", "iris", "class", False)
    assert table.columns == ("sepallength", "sepalwidth", "petallength", "petalwidth", "class")
    assert (table.rows[0], len(table.rows)) == (("5.1", "3.5", "1.4", "0.2", "Iris-setosa"), 150)
    assert table.question is not None
    assert load_table("openml:61").rows == table.rows
    assert len(site.requests) == 2
    titanic = load_table("openml:40945", name="Titanic", target="sex")
    assert (titanic.title, titanic.target, len(titanic.rows)) == ("Titanic", "sex", 1309)
    assert titanic.rows[0][titanic.columns.index("name")] == "Allen, Miss. Elisabeth Walton"
    assert titanic.rows[0][titanic.columns.index("body")] is None
    assert "animal" not in load_table("openml:62").columns  # which OpenML says to ignore


@pytest.mark.parametrize(
    ("pages", "complaint"),
    [
        ({}, "cannot be fetched (HTTP 404"),
        ({"/api/v1/json/data/61": Page(b'{"error": {"code": "111"}}', 412)}, "OpenML has no dataset 61"),
        ({"/api/v1/json/data/61": b"[1]"}, "OpenML answers with no description"),
        (
            of_openml(61, 61, md5_checksum="0" * 32),
            "where OpenML states 00000000000000000000000000000000; it was changed",
        ),
        (of_openml(61, 61, file_id="../x"), "states neither its name nor its file"),
        (of_openml(61, 61) | {"/data/v1/download/61": b"<html>"}, "has MD5"),
        (of_openml(292, 49822, md5_checksum=None), "OpenML has no dataset|cannot be fetched"),
    ],
)
def test_what_openml_does_not_give_is_one_line(site: FileServer, pages: dict[str, bytes], complaint: str) -> None:
    site.pages |= pages
    assert any(part in failure("openml:61") for part in complaint.split("|"))


def test_a_name_is_no_number_of_openml_and_a_sparse_file_is_named(site: FileServer) -> None:
    assert "give its number, as in openml:61" in failure("openml:adult")
    site.pages |= of_openml(292, 49822, md5_checksum=None)
    assert "a sparse row" in failure("openml:292")
    site.pages |= of_openml(561, 52739, visibility="private")
    assert load_table("openml:561").private
    assert "--delimiter means nothing for openml:561" in failure("openml:561", form=TextFormat(delimiter=";"))


# Hugging Face


def of_hub(files: dict[str, bytes], name: str = "o/n", **about: Any) -> dict[str, bytes | Page]:
    """What Hugging Face answers about a dataset, and the files of its repository at one commit."""
    known = {"sha": COMMIT, "private": False, "gated": False, "siblings": [{"rfilename": path} for path in files]}
    pages: dict[str, bytes | Page] = {f"/api/datasets/{name}": json.dumps(known | about).encode()}
    return pages | {f"/datasets/{name}/resolve/{COMMIT}/{path}": content for path, content in files.items()}


def shards() -> dict[str, bytes]:
    import pyarrow
    from pyarrow import parquet

    made = {}
    for number, rows in enumerate((ROWS[:1], ROWS[1:])):
        file = io.BytesIO()
        cells = dict(zip(("code", "price"), map(list, zip(*rows, strict=True)), strict=True))
        parquet.write_table(pyarrow.table(cells), file)
        made[f"data/train-{number:05}-of-00002.parquet"] = file.getvalue()
    return made


def test_the_files_of_a_split_are_one_table(site: FileServer) -> None:
    site.pages |= of_hub({".gitattributes": b"", "README.md": b"# About", **shards()})
    table = load_table("hf:datasets/o/n", target="code")
    assert (table.name, table.title, table.rows, table.private) == ("hf:datasets/o/n", "n", ROWS, False)
    assert len(site.requests) == 3
    split = load_table("hf:datasets/o/n#train")
    assert (split.name, split.title, split.split, split.rows) == ("hf:datasets/o/n", "n", "train", ROWS)
    assert table.split == "", "no split was chosen"
    assert load_table("hf:datasets/o/n#data/train-00001-of-00002.parquet", name="x").rows == ROWS[1:]


@pytest.mark.parametrize(
    ("files", "card", "named"),
    [
        (["my.csv"], None, {"": "my.csv", "train": "my.csv"}),
        (["train.csv", "test.csv"], None, {"train": "train.csv", "test": "test.csv", "test.csv": "test.csv"}),
        (["a/dev-1.jsonl.gz", "a/training.csv"], None, {"validation": "a/dev-1.jsonl.gz", "train": "a/training.csv"}),
        (["adult.csv", "bank.csv", "x.py"], None, {"adult.csv": "adult.csv", "bank.csv": "bank.csv"}),
        (
            ["en/a.csv", "fr/a.csv"],
            [
                {"config_name": "en", "data_files": "en/*.csv"},
                {"config_name": "fr", "data_files": [{"split": "test", "path": ["fr/a.csv", "none"]}]},
            ],
            {"en": "en/a.csv", "en/train": "en/a.csv", "fr/test": "fr/a.csv", "fr": "fr/a.csv"},
        ),
        (
            ["x/a.csv", "b.csv"],
            [{"config_name": "default", "data_files": ["x/*"]}],
            {"": "x/a.csv", "train": "x/a.csv"},
        ),
    ],
)
def test_splits_are_those_of_the_card_else_of_the_names(
    files: list[str], card: list[dict[str, Any]] | None, named: dict[str, str]
) -> None:
    about = {"siblings": [{"rfilename": path} for path in files], "cardData": {"configs": card} if card else None}
    data = hugging_face._data_files(about)
    splits = hugging_face._splits(about, data)
    for part, path in named.items():
        assert list(hugging_face._files_of_part("hf:datasets/o/n", part, splits, data)) == [path]


def test_several_splits_are_named(site: FileServer) -> None:
    site.pages |= of_hub({"train.csv": CSV, "test.csv": CSV, "run.py": b"import os"})
    assert "hf:datasets/o/n has 2 splits: 'test', 'train'; name one after a #" in failure("hf:datasets/o/n")
    assert "has no split 'tset'; did you mean 'test'?" in failure("hf:datasets/o/n#tset")
    table = load_table("hf:datasets/o/n#test")
    assert (table.name, table.split, table.named, table.rows) == (
        "hf:datasets/o/n",
        "test",
        "hf:datasets/o/n#test",
        ROWS,
    )
    assert not any("run.py" in path for path in site.paths)
    file = load_table("hf:datasets/o/n#test.csv")
    assert (file.name, file.split) == ("hf:datasets/o/n#test.csv", "")


def test_a_config_is_named_before_its_split(site: FileServer) -> None:
    configs = [{"config_name": name, "data_files": [{"split": "test", "path": f"{name}.csv"}]} for name in ("en", "fr")]
    site.pages |= of_hub({"en.csv": CSV, "fr.csv": CSV}, cardData={"configs": configs})
    table = load_table("hf:datasets/o/n#fr/test")
    assert (table.name, table.split) == ("hf:datasets/o/n#fr", "test")
    alone = load_table("hf:datasets/o/n#fr")
    assert (alone.name, alone.split, alone.rows) == ("hf:datasets/o/n#fr", "", ROWS)


def test_the_splits_of_a_dataset_are_compared_with_each_other_and_with_no_other_dataset(site: FileServer) -> None:
    more, other = CSV + b"012,3\n", b"day,height,moon\n1,2,3\n4,5,6\n"
    site.pages |= of_hub({"train.csv": more, "test.csv": b"code,price\n7,8\n12,3.0\n"})
    site.pages |= of_hub({"train.csv": other, "test.csv": other[:-6] + b"7,8,9\n1,1,1\n"}, "o/moons")
    site.pages["/more.csv"] = CSV
    specs = ["hf:datasets/o/n#train", "hf:datasets/o/n#test", "hf:datasets/o/moons#train", f"{site.url}/more.csv#test"]
    (train, test, moons, own), lines = load_tables(specs)
    assert (train.elsewhere, test.elsewhere, moons.elsewhere, own.elsewhere) == (1, 1, 0, 0)
    assert lines[0] == "hf:datasets/o/n#train: 1 of 4 rows are in another split, too, and are never asked"
    (chosen,), _ = load_tables(specs[1:2])
    assert chosen.named == "hf:datasets/o/n#test"


@pytest.mark.slow
def test_prompts_name_the_split_that_was_chosen(site: FileServer) -> None:
    rows = "".join(f"{number},{number * 7 % 31},{number % 3}\n" for number in range(40))
    site.pages |= of_hub({"train.csv": CSV, "test.csv": f"day,height,moon\n{rows}".encode()}, "o/tides")
    site.pages["/tides.csv"] = site.pages[f"/datasets/o/tides/resolve/{COMMIT}/test.csv"]
    serializer = load_serializer("is")
    for spec in ("hf:datasets/o/tides#test", f"{site.url}/tides.csv#test"):
        (table,), _ = load_tables([spec])
        query = next(iter(by_id()["guided_completion"].queries(table, serializer, Random(0))))
        asked = query.prompt.chat[-1].content
        assert "tides" in asked
        assert "test split" in asked
        assert "hf:" not in asked


def test_a_token_goes_to_hugging_face_alone_and_makes_rows_private(
    site: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with FileServer({"/cdn/a.csv": CSV}) as elsewhere:
        site.pages |= of_hub({"a.csv": b""}, gated="auto")
        site.pages[f"/datasets/o/n/resolve/{COMMIT}/a.csv"] = Page(b"", 307, {"Location": "/moved.csv"})
        site.pages["/moved.csv"] = Page(b"", 302, {"Location": f"{elsewhere.url}/cdn/a.csv"})
        table = load_table("hf:datasets/o/n")
        assert (table.rows, table.private) == (ROWS, True)
        assert [headers.get("authorization") for _, headers in site.requests] == ["Bearer hf_secret"] * 3
        assert [headers.get("authorization") for _, headers in elsewhere.requests] == [None]
    kept = [path for path in (cache_folder().parent / "fetched").rglob("*") if path.is_file()]
    assert kept
    assert not any(b"hf_secret" in path.read_bytes() for path in kept)


def test_hugging_face_is_not_asked_where_its_libraries_may_not(
    site: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.pages |= of_hub({"a.csv": CSV}) | of_hub({"a.csv": CSV}, "o/other")
    assert load_table("hf:datasets/o/n").rows == ROWS
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert load_table("hf:datasets/o/n").rows == ROWS
    assert "was not fetched before, and HF_HUB_OFFLINE is set; unset it to fetch it" in failure("hf:datasets/o/other")
    assert len(site.requests) == 2


@pytest.mark.parametrize(
    ("spec", "pages", "complaint"),
    [
        ("hf:o/n", {}, "write hf:datasets/OWNER/NAME"),
        ("hf:datasets/../n/x", {}, "write hf:datasets/OWNER/NAME"),
        ("hf:datasets/o/n", {}, "is not on Hugging Face, or private; check the name, or set HF_TOKEN"),
        ("hf:datasets/o/n", {"/api/datasets/o/n": Page(b"", 401)}, "is not on Hugging Face, or private"),
        ("hf:datasets/o/n", {"/api/datasets/o/n": b"[]"}, "answers with no description"),
        ("hf:datasets/o/n", of_hub({"a.csv": CSV}, sha="main"), "does not state its commit"),
        ("hf:datasets/o/n", of_hub({"a.py": b"", "b.bin": b""}), "has no file that is a table"),
        ("hf:datasets/o/n", of_hub({"a.csv": b"x"}), "a.csv"),
        (
            "hf:datasets/o/n",
            of_hub({"data/train-0.csv": CSV, "data/train-1.csv": CSV.replace(b"code", b"c")}),
            "train-1.csv has other columns than train-0.csv",
        ),
    ],
)
def test_what_hugging_face_does_not_give_is_one_line(
    site: FileServer, spec: str, pages: dict[str, bytes | Page], complaint: str
) -> None:
    site.pages |= pages
    assert complaint in failure(spec)


# scikit-learn


def test_a_table_of_scikit_learn_is_its_frame_or_the_edition_of_a_card() -> None:
    table = load_table("sklearn:diabetes")
    assert (table.name, table.title, table.target, table.private) == ("sklearn:diabetes", "diabetes", "target", False)
    assert (len(table.rows), table.columns[0]) == (442, "age")
    assert load_table("sklearn:linnerud").target is None
    iris = load_table("sklearn:iris")
    assert (iris.name, iris.edition) == ("iris", "scikit-learn")
    assert "target applies to files alone" in failure("sklearn:iris", target="target")
    assert "did you mean diabetes" in failure("sklearn:diabete")
    for name in ("files", "openml", "20newsgroups", "", "os"):
        assert "unknown table of scikit-learn" in failure(f"sklearn:{name}")


def test_what_scikit_learn_cannot_fetch_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(as_frame: bool = False) -> None:
        raise OSError("<urlopen error no network>")

    monkeypatch.setattr("sklearn.datasets.fetch_covtype", nowhere)
    assert "sklearn:covtype cannot be fetched (<urlopen error no network>); try again" in failure("sklearn:covtype")
