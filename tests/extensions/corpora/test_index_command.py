"""The command `index`, as a user meets it."""

import json
from pathlib import Path

import pytest

from tabcontam.cli.commands import main
from tabcontam.errors import Exit
from tabcontam.extensions.corpora.search import index_shards


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dump").mkdir()
    (tmp_path / "dump" / "a.jsonl").write_text('{"text": "one", "id": 1}\n{"text": "two"\n', "utf-8")
    (tmp_path / "dump" / "gone").symlink_to("nowhere")
    (tmp_path / "b.txt").write_text("three", "utf-8")
    return tmp_path


def test_it_tells_what_it_read_and_where_the_index_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "dump", "b.txt"]) == Exit.DONE
    told = capsys.readouterr()
    first, second, third = told.out.splitlines()
    assert first == "3 documents, 0.0 MB of text: indexed"
    assert second == "pieces that are not JSON, read as plain text: 1 (dump/a.jsonl)"
    assert third.partition(": ")[2].startswith(str(folder / "cache" / "tabcontam" / "corpora"))
    assert "tabcontam: 2 files, 0.0 MB\n" in told.err
    assert "tabcontam: not read: dump/gone, a link that leads nowhere\n" in told.err
    assert main(["index", "dump", "b.txt", "--json"]) == Exit.DONE
    facts = json.loads(capsys.readouterr().out)
    assert (facts["built"], facts["documents"], facts["shards"], facts["files"]) == (False, 3, 1, 2)
    assert facts["counts"] == {"no_json": 1}
    assert Path(facts["folder"]).is_dir()


def test_an_interruption_says_how_to_go_on(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(index_shards.ShardBuilder, "write", interrupted)
        assert main(["index", "b.txt"]) == Exit.INTERRUPTED
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.endswith("tabcontam: interrupted; the same command indexes the rest\n")
    assert main(["index", "b.txt"]) == Exit.DONE


def test_a_path_that_is_not_there_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "nowhere"]) == Exit.USAGE
    told = capsys.readouterr()
    assert (told.out, told.err) == (
        "", "tabcontam: there is no file or folder nowhere; check the path of the corpus\n"
    )  # fmt: skip
    assert not (folder / "cache").exists()
