"""Corpora as the documents of a run: what leaves this machine, and what of them was not searched."""

from pathlib import Path

import pytest

from tabcontam.errors import Exit
from tests.commands import tabcontam
from tests.runs import test_training_declarations as declarations
from tests.runs.test_training_declarations import MODE, ROWS, page_of

documents, folder = declarations.documents, declarations.folder  # fixtures


@pytest.mark.slow
def test_rows_of_a_private_table_are_looked_up_on_this_machine_alone_without_leave(folder: Path) -> None:
    remote = "infinigram:index@http://192.0.2.1/"
    named = ("--llm", MODE, "--trained-on", f"{MODE}={remote}", "--dataset", "mine.csv", *ROWS)
    done = tabcontam("run", *named, cwd=folder)
    assert (done.returncode, done.stdout) == (Exit.USAGE, "")
    assert f"mine.csv: 20 rows would be shown to {remote}; add --send-rows to allow that" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("test", ["row_overlap", "ngram_overlap"])
def test_rows_made_of_a_private_tables_cells_are_told_before_they_leave(folder: Path, test: str) -> None:
    """A twin's rows are none of the table's, and all of their cells are."""
    remote = "infinigram:index@http://192.0.2.1/"
    lines = [f"{n},{n * 7 % 100},{'abcdefg'[n % 7]},{n * n % 31}" for n in range(40)]
    (folder / "own.csv").write_text("\n".join(["one,two,three,four", *lines]))
    done = tabcontam("run", "--llm", remote, "--dataset", "own.csv", "-k", test, cwd=folder)
    assert done.returncode == Exit.USAGE
    assert f"rows and others made of its cells would be shown to {remote}; add --send-rows" in done.stderr


@pytest.mark.slow
def test_what_of_documents_was_not_searched_stands_on_the_page(folder: Path) -> None:
    """That nothing was found in a packed file must not be read as if it had been searched."""
    broken = folder / "broken"
    broken.mkdir()
    (broken / "prose.txt").write_text("Nothing of this kind.", "utf-8")
    (broken / "packed.zip").write_bytes(b"PK\x03\x04" + bytes(60))
    (broken / "link.txt").symlink_to(folder / "dump.txt")
    named = ("--llm", "corpus:broken", "--dataset", "iris", "-k", "header_overlap", "--out", "in_part")
    done = tabcontam("run", *named, cwd=folder)
    assert done.returncode == 0, done.stderr
    line = "corpus:broken: parts of it could not be read as they stand, and unread parts were not searched: not read: "
    assert line in page_of(folder / "in_part")
    assert line in done.stdout
    for what in ("link.txt (a link", "archives, not read (unpack them): 1 (broken/packed.zip)"):
        assert what in done.stdout
        assert what in page_of(folder / "in_part")
    (broken / "packed.zip").unlink()
    (broken / "link.txt").unlink()
    whole = tabcontam("run", *named[:-1], "whole", cwd=folder)
    assert "parts of it could not be read" not in whole.stdout
