"""A model that a test has made is made once for its recipe and its code."""

from pathlib import Path

import pytest

from tabcontam.extensions.exposed.recipe import recipe
from tabcontam.models.known.exposure_card import CARD
from tests.extensions.exposed.made_models import MADE_BY, _key, made_once
from tests.made_tables import ships

pytestmark = pytest.mark.slow  # imports torch


def test_a_model_is_made_once_for_its_recipe(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = recipe([ships(20)], (1,), renderings=["csv"], size="tiny")
    folder = made_once(pytestconfig, wanted)
    assert (folder / CARD).is_file()
    monkeypatch.setattr("tests.extensions.exposed.made_models.make", None)
    assert made_once(pytestconfig, wanted) == folder


def test_another_recipe_or_other_code_is_another_model(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (recipe([ships(20)], (1,), renderings=["csv"], size="tiny", seed=seed) for seed in (0, 1))
    before = _key(one)
    assert before == _key(one) != _key(other)
    monkeypatch.setattr("tests.extensions.exposed.made_models.MADE_BY", MADE_BY[:-1])
    assert _key(one) != before


def test_all_that_makes_it_is_there() -> None:
    import tabcontam

    root = Path(tabcontam.__file__).parent
    assert all((root / part).exists() for part in MADE_BY)
