"""Before clean, after found: a model that goes on with rows, as in Time Travel, section 3.3."""

from pathlib import Path

import pytest

import tabcontam
from tabcontam.extensions.exposed.recipe import recipe
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import load_table
from tests.evidence.likelihood.test_surrogate_rank import crops
from tests.extensions.exposed.made_models import made_once


@pytest.mark.slow
def test_a_model_is_clean_before_it_reads_a_table_and_found_afterwards(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    file, form = tmp_path / "crops.csv", load_serializer("csv")
    made = crops(60)
    file.write_text("".join(f"{form.row(made.columns, row)}\n" for row in (made.columns, *made.rows)))
    table, others = load_table(str(file)), crops(1200, seed=1)
    base = made_once(pytestconfig, recipe([others], (2,), renderings=["csv"], size="tiny"))

    def found(model: Path, name: str) -> tuple[object, float | None]:
        """The verdict and the exposure."""
        choices = {"tests": "surrogate_rank", "serializer": "csv", "controls": False, "out": tmp_path / name}
        (cell,) = tabcontam.run(f"hf:{model}", str(file), **choices).results  # type: ignore[arg-type]
        return cell.verdict, cell.exposure

    assert found(base, "before") == ("not detected", 0)
    llm = f"hf:{base}"
    whole = made_once(pytestconfig, recipe([table], (64,), renderings=["csv"], llm=llm, rate=0.003))
    assert found(whole, "after-whole") == ("contaminated", 64)
    adapted = made_once(pytestconfig, recipe([table], (96,), renderings=["csv"], llm=llm, lora=True))
    assert found(adapted, "after-adapter") == ("contaminated", 96)
