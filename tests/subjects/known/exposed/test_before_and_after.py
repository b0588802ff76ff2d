"""Before clean, after found: a model that goes on with 100 rows, as in Time Travel, section 3.3."""

from pathlib import Path

import pytest

import tabcontam
from tabcontam.subjects.known.exposed.make import make
from tabcontam.subjects.known.exposed.recipe import recipe
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import load_table
from tests.evidence.likelihood.test_surrogate_rank import crops


@pytest.mark.slow
def test_a_model_is_clean_before_it_reads_a_table_and_found_afterwards(tmp_path: Path) -> None:
    file, form = tmp_path / "crops.csv", load_serializer("csv")
    made = crops(100)
    file.write_text("".join(f"{form.row(made.columns, row)}\n" for row in (made.columns, *made.rows)))
    table, others = load_table(str(file)), crops(1200, seed=1)
    (base,) = make(recipe([others], (2,), renderings=["csv"], size="tiny"), tmp_path / "base")

    def found(model: Path, name: str) -> tuple[object, float | None]:
        """The verdict and the exposure."""
        choices = {"tests": "surrogate_rank", "serializer": "csv", "controls": False, "out": tmp_path / name}
        (cell,) = tabcontam.run(f"hf:{model}", str(file), **choices).cells  # type: ignore[arg-type]
        return cell.verdict, cell.exposure

    assert found(base.folder, "before") == ("not detected", 0)
    llm = f"hf:{base.folder}"
    (whole,) = make(recipe([table], (64,), renderings=["csv"], llm=llm, rate=0.003), tmp_path / "whole")
    assert found(whole.folder, "after-whole") == ("contaminated", 64)
    (adapted,) = make(recipe([table], (96,), renderings=["csv"], llm=llm, lora=True), tmp_path / "adapted")
    assert found(adapted.folder, "after-adapter") == ("contaminated", 96)
