"""Rows that a model was made to read, and rows of the same table that it never read: what tells them apart."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tabcontam.evidence.base import Evidence, Test, Trial
from tabcontam.evidence.likelihood.dataset_inference import DatasetInference
from tabcontam.evidence.likelihood.published_scores import Loss, MinKPlusPlus
from tabcontam.evidence.trial_reading import read_trial
from tabcontam.extensions.exposed.recipe import recipe
from tabcontam.models.base import ModelRequest
from tabcontam.models.hf.provider import HFModel
from tabcontam.models.known.exposure_card import read_card
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import Cell, Table
from tests.extensions.exposed.made_models import made_once
from tests.made_tables import ships

pytestmark = pytest.mark.slow  # imports torch, and makes a model in a quarter of a minute
READ = 128  # copies
TABLE = ships(40)
CSV = load_serializer("csv")
Arms = Mapping[int, tuple[tuple[Cell, ...], ...]]


@pytest.fixture(scope="module")
def model(pytestconfig: pytest.Config) -> Path:
    """A model that has read every other row 128 times, and the rest never."""
    return made_once(pytestconfig, recipe([TABLE], (0, READ), renderings=["csv"], size="tiny"))


@pytest.fixture(scope="module")
def arms(model: Path) -> Arms:
    card = read_card(model)
    assert card is not None
    copies = card.tables[0].copies_of_rows
    return {arm: tuple(row for row, own in zip(TABLE.rows, copies, strict=True) if own == arm) for arm in set(copies)}


def weighed(test: Test, table: Table, folder: Path) -> Evidence:
    async def scored() -> list[Trial]:
        model = HFModel(str(folder))
        await model.connect()
        try:
            queries = test.queries(table, CSV, Random(0))
            return [
                Trial(query, await model.score(ModelRequest(query.question, query.max_tokens))) for query in queries
            ]
        finally:
            await model.close()

    trials = [read_trial(test, trial, CSV) for trial in asyncio.run(scored())]
    return test.weigh(trials, 0.01)


def test_published_rows_that_were_read_are_found_and_others_are_not(model: Path, arms: Arms) -> None:
    read = weighed(DatasetInference(), replace(TABLE, rows=arms[READ], withheld=arms[0]), model)
    assert (read.p_value or 1) <= 0.01
    assert read.measured.value > 0.7
    other = weighed(DatasetInference(), replace(TABLE, rows=arms[0], withheld=arms[READ]), model)
    assert (other.p_value or 0) > 0.5


@pytest.mark.parametrize("test", [Loss(), MinKPlusPlus()], ids=lambda test: test.id)
def test_rows_that_were_read_rank_higher_before_their_twins(model: Path, arms: Arms, test: Test) -> None:
    read, other = (weighed(test, replace(TABLE, rows=arms[arm]), model) for arm in (READ, 0))
    assert read.answered == other.answered > 10
    assert read.measured.value > other.measured.value
