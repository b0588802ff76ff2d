"""The tables that scikit-learn carries are read as its own functions give them, and without importing it."""

import subprocess
import sys

import pytest

from tabcontam.tables import editions as carrying
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.tables.editions import FILES, shipped_table

LOADED = """
import sys
from tabcontam.tables.table import load_table
print(len(load_table("iris").rows), len(load_table("wine").rows), "sklearn" in sys.modules)
"""


@pytest.mark.parametrize("loader", FILES)
def test_they_are_what_the_functions_give(loader: str) -> None:
    from sklearn import datasets  # imported here: tests are to be collected quickly

    frame = getattr(datasets, loader)(as_frame=True).frame
    written = frame.to_csv(index=False, lineterminator="\n").splitlines()
    assert [",".join(line) for line in shipped_table(loader) or ()] == written


def test_every_card_that_needs_no_download_is_read() -> None:
    loaders = [str(edition.loader) for card in load_cards().values() for edition in card.editions]
    assert {loader for loader in loaders if loader.startswith("load_")} == set(FILES)


def test_other_functions_have_no_such_file() -> None:
    assert shipped_table("load_digits") is None


@pytest.mark.parametrize("file", ["none.csv", "wine_data.csv", "linnerud_exercise.csv"])
def test_where_the_file_is_another_one_scikit_learn_is_asked(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, features = FILES["load_iris"]
    monkeypatch.setattr(carrying, "FILES", {"load_iris": (file, features)})
    assert shipped_table.__wrapped__("load_iris") is None


@pytest.mark.slow
def test_scikit_learn_is_not_imported_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TABCONTAM_DATA", raising=False)
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()) == (0, ["150", "178", "False"]), done.stderr
