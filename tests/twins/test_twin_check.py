"""The check of a twin: it is refused where it is harder, easier, or can be told from the table."""

from dataclasses import replace

import pytest

from tabcontam.baseline.stored_facts import one_thread
from tabcontam.errors import Skip
from tabcontam.twins.base import UnseenTwin
from tabcontam.twins.twin_making import TWINS, checked
from tabcontam.twins.twin_sample import TwinSample, sample
from tests.twins.made import fleet


def copied(found: TwinSample) -> UnseenTwin:
    """A twin that is the table itself: nothing tells it."""
    return UnseenTwin("perturbed", found.places, found.features, found.rows, found.labels)


def refused(made: UnseenTwin) -> str:
    with one_thread(), pytest.raises(Skip) as caught:
        checked(sample(fleet()), TWINS["perturbed"], made)
    return str(caught.value)


def test_a_twin_like_the_table_is_handed_out_with_what_models_say_of_it() -> None:
    found = sample(fleet())
    with one_thread():
        twin = checked(found, TWINS["perturbed"], copied(found))
    assert twin.own == twin.twins
    assert {len(said) for said in twin.own} == {2}


def test_a_twin_with_labels_by_chance_is_refused_as_harder() -> None:
    found = sample(fleet())
    labels = found.labels[1:] + found.labels[:1]
    why = refused(replace(copied(found), labels=labels))
    assert why.startswith("the perturbed twin is harder than the table: gradient boosting is right on 0.")


def test_a_twin_whose_cells_show_that_it_was_made_is_refused() -> None:
    found = sample(fleet())
    place = found.features.index("kind")
    rows = tuple(
        (*row[:place], "canoe" if number % 2 else row[place], *row[place + 1 :])
        for number, row in enumerate(found.rows)
    )
    assert refused(replace(copied(found), rows=rows)).startswith(
        "the perturbed twin can be distinguished from the table: a classifier's AUC is 0.7"
    )
