"""The command `chronology`."""

import json
from pathlib import Path

import pytest

from tests.commands import tabcontam
from tests.verdicts.dated import dated, folder


@pytest.mark.slow
def test_a_run_is_told_by_dates(tmp_path: Path) -> None:
    run = folder(dated(), tmp_path / "run")
    done = tabcontam("chronology", str(run))
    assert done.returncode == 0, done.stderr
    assert "Classification, 0-shot" in done.stdout
    assert "tidal: the catalogue states no training cut-off" in done.stdout
    assert (run / "chronology" / "chronology.html").is_file()
    held = json.loads((run / "chronology" / "chronology.json").read_text("utf-8"))
    again = tabcontam("chronology", str(run), "--json", "--out", str(tmp_path / "other"))
    assert json.loads(again.stdout) == held


def test_the_baseline_is_trained_where_it_is_asked_for(tmp_path: Path) -> None:
    run = folder(dated(tables=("iris",), llms=("llama-2",)), tmp_path / "run")
    done = tabcontam("chronology", str(run), "--difficulty", "--json")
    ((name, released, lift),) = json.loads(done.stdout)["tests"][0]["difficulty"]["tables"]
    assert (name, released) == ("iris", "1988")
    assert 0.5 < lift < 0.67


def test_nothing_that_is_dated_is_one_line(tmp_path: Path) -> None:
    run = folder(dated(llms=("tidal",)), tmp_path / "run")
    done = tabcontam("chronology", str(run))
    assert done.returncode == 4
    assert done.stderr.count("\n") == 1
    assert "no accuracy of a model and a table with known dates" in done.stderr
    assert "tidal: the catalogue states no training cut-off" in done.stderr
    assert not (run / "chronology").exists()
