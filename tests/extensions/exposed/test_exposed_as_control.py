"""A model that `expose` made as a control of a run and in the observations of `power`."""

import csv
from pathlib import Path

import pytest

import tabcontam
from tabcontam.asking.run_progress import Progress
from tabcontam.calibration.power_study import Study
from tabcontam.evidence.base import Verdict
from tabcontam.extensions.exposed.finished_models import tables_read
from tabcontam.extensions.exposed.recipe import recipe
from tabcontam.runs.dose_observations import observe_models
from tabcontam.tables.table import load_table
from tests.extensions.exposed.made_models import made_once
from tests.made_tables import ships
from tests.models.known.test_exposure_card import card
from tests.runs.test_known_controls import MODE


@pytest.mark.slow  # makes a model in a quarter of a minute
def test_a_model_that_expose_made_is_known_by_the_cells_of_a_file(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    table = ships(60)
    folder = made_once(pytestconfig, recipe([table], (128,), renderings=["csv"], size="tiny"))
    file = tmp_path / "ships.csv"
    with file.open("w", newline="") as out:
        csv.writer(out).writerows([table.columns, *table.rows])
    asked = Study((str(file),), serializer="csv", expression="surrogate_rank", target=table.target, runs=1)
    said = [(one.copies, one.verdict) for _, one in observe_models(asked, (f"hf:{folder}",), "", Progress())]
    assert said == [(128.0, Verdict.CONTAMINATED)] * 2  # by the test, and of the table


@pytest.mark.slow  # makes a model in a quarter of a minute
def test_a_model_that_expose_made_joins_as_one_and_is_found(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    table = ships(60)
    folder = made_once(pytestconfig, recipe([table], (128,), renderings=["csv"], size="tiny"))
    found = tabcontam.run(
        MODE,
        table,
        control={"made": f"hf:{folder}"},
        controls=False,
        serializer="csv",
        tests="surrogate_rank or feature_completion",
        out=tmp_path / "run",
    )
    own = {cell.test: cell for cell in found.results if cell.llm == "made"}
    assert {cell.exposure for cell in own.values()} == {128.0}
    assert all(cell.control for cell in own.values())
    assert own["surrogate_rank"].verdict == "contaminated"
    assert not [cell for cell in found.results if cell.llm == MODE and cell.verdict == "contaminated"]
    notes = [str(note) for note in found.run_results.controls]
    assert notes[0] == "made is known to have read 128 copies, on average, of each row of ships"
    powerless = [
        note for note in notes if note.startswith("no power: against a model like it: made, which has read 128")
    ]
    assert bool(powerless) == (own["feature_completion"].verdict == "not detected")


def test_a_split_that_was_read_is_found_by_its_name(tmp_path: Path) -> None:
    content = b"".join(b"%d,%d\n" % (number, number * number % 37) for number in range(30))
    (tmp_path / "sales.csv").write_bytes(b"a,b\n" + content)
    named = f"{tmp_path / 'sales.csv'}#train"
    table = load_table(named)
    own = card(ships(30))
    read = own.tables[0].model_copy(
        update={"name": str(tmp_path / "sales.csv"), "split": "train", "sha256": table.sha256}
    )
    assert tables_read(own.model_copy(update={"tables": (read,)})) == [named]
