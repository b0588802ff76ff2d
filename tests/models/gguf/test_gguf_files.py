"""Which file a `gguf:` name means, and what its head says."""

from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path

import pytest

from tabcontam.errors import UsageError
from tabcontam.models.gguf import provider as gguf_files
from tabcontam.models.gguf.provider import carried, facts, find

CHATS = (23).to_bytes(8, "little") + b"tokenizer.chat_template" + bytes(4) + b"{% for message in messages %}"
TAKES_8192 = (20).to_bytes(8, "little") + b"llama.context_length" + (4).to_bytes(4, "little") + b"\x00\x20\x00\x00"


def written(path: Path, *parts: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join((b"GGUF", bytes(20), *parts, bytes(100))))
    return path


class Package(Distribution):
    """An installed package whose files lie in a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name

    def read_text(self, filename: str) -> str | None:
        record = "".join(f"{path.relative_to(self._folder)},,\n" for path in self._folder.rglob("*") if path.is_file())
        return {"METADATA": f"Name: {self._name}\nVersion: 1\n", "RECORD": record}.get(filename)

    def locate_file(self, path: object) -> Path:
        return self._folder / str(path)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which `one`, `two` and `none` are installed, which carry as many models."""
    written(tmp_path / "one" / "inner" / "weights.gguf")
    for name in ("a.gguf", "b.gguf"):
        written(tmp_path / "two" / name)
    (tmp_path / "none").mkdir()
    packages = {name: Package(tmp_path / name, name) for name in ("one", "two", "none")}

    def distribution(name: str) -> Distribution:
        if name not in packages:
            raise PackageNotFoundError(name)
        return packages[name]

    monkeypatch.setattr(gguf_files, "distribution", distribution)
    monkeypatch.setattr(gguf_files, "distributions", lambda: iter(packages.values()))
    return tmp_path


def test_a_package_stands_for_the_file_that_it_carries(installed: Path) -> None:
    assert find("one") == installed / "one" / "inner" / "weights.gguf"
    assert carried() == {"one": installed / "one" / "inner" / "weights.gguf"}


def test_a_file_is_found_before_a_package_of_its_name(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(installed / "none")
    own = written(installed / "none" / "one")
    assert find("one").samefile(own)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("two", r"carries several GGUF files; type gguf:FILE with one of .*a\.gguf, .*b\.gguf"),
        ("none", "carries no GGUF file"),
        ("three", "no such package is installed; type gguf:FILE, or install the package"),
        ("", "no file ''"),
        ("three.gguf", r"type gguf:FILE, gguf:PACKAGE, or gguf:OWNER/NAME/FILE\.gguf"),
        ("/nowhere/at/all.gguf", "no file '/nowhere/at/all.gguf'"),
        ("../up/x.gguf", "no file '../up/x.gguf'"),
        ("http://127.0.0.1:9/x.gguf", "no file"),
        ("one\nmore", "no file"),
    ],
)
def test_a_name_that_means_no_one_file_is_a_line_that_says_what_to_type(installed: Path, name: str, line: str) -> None:
    with pytest.raises(UsageError, match=line):
        find(name)


def test_any_other_file_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "weights.gguf"
    for content in (b"", b"PK\x03\x04", b"gguf"):
        other.write_bytes(content)
        with pytest.raises(UsageError, match="is not a GGUF file"):
            find(str(other))


def test_the_head_says_whether_it_chats_and_what_it_takes(tmp_path: Path) -> None:
    assert facts(written(tmp_path / "a.gguf", TAKES_8192, CHATS)) == (True, 8192)
    assert facts(written(tmp_path / "b.gguf", TAKES_8192)) == (False, 8192)
    assert facts(written(tmp_path / "c.gguf", b"a word: tokenizer.chat_template")) == (False, None)
