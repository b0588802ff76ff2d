"""What runs say by dates: which pairs count, on which side, and what is left out."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from tabcontam.evidence.base import Verdict
from tabcontam.extensions.dates.chronological_analysis import Chronology, chronologies
from tabcontam.extensions.dates.dated_pairs import dated
from tabcontam.verdicts.dating import side, year_of
from tests.verdicts.dated import results


@cache
def compared() -> tuple[Chronology, Sequence[str]]:
    """What the made results come to by dates, and what is left out."""
    (one,), left_out = chronologies(results())
    return one, left_out


@pytest.mark.parametrize(
    ("released", "cutoff", "which"),
    [
        ("2021-08", "2021-09", 1),
        ("2021-10", "2021-09", -1),
        ("2021-09", "2021-09", 0),
        ("2021-09-30", "2021-09", 0),
        ("2021", "2021-09", 0),
        ("2020", "2021-09", 1),
        ("2022", "2021-09", -1),
        ("", "2021-09", 0),
        ("2021", "", 0),
    ],
)
def test_dates_are_compared_as_far_as_both_are_stated(released: str, cutoff: str, which: int) -> None:
    assert side(released, cutoff) == which


def test_a_date_is_the_middle_of_what_is_stated() -> None:
    assert [year_of(stated) for stated in ("2020", "2020-01-01")] == [2020.5, 2020.0]
    assert 2020.9 < year_of("2020-12") < year_of("2020-12-31") < 2021


@pytest.mark.slow
def test_pairs_have_the_sides_of_their_dates() -> None:
    sides = {(pair.llm, pair.dataset): pair.side for pair in compared()[0].pairs}
    assert sides["gpt-3.5-turbo", "heart"] == 0  # both in September 2021
    assert sides["gpt-3.5-turbo", "gsm8k"] == sides["gpt-3.5-turbo", "spaceship"] == -1
    assert sides["llama-2", "spaceship"] == 1
    assert sides["llama-2", "thyroid"] == -1
    assert sides["gpt-4o", "thyroid"] == 0
    assert compared()[0].whole.before.pairs + compared()[0].whole.after.pairs == len(compared()[0].pairs) - 2


def test_what_has_no_date_is_named_and_left_out() -> None:
    said = " ".join(compared()[1])
    assert "gemma-2: the catalogue states no training cut-off" in said
    assert "tidal: the catalogue states no training cut-off" in said
    assert "own.csv: no card states its release date" in said
    assert {pair.llm for pair in compared()[0].pairs} == {"gpt-3.5-turbo", "llama-2", "llama-3", "gpt-4o"}
    assert "own.csv" not in {pair.dataset for pair in compared()[0].pairs}


def test_what_was_read_is_found_where_there_are_ways_enough() -> None:
    whole = compared()[0].whole
    assert whole.before.above == whole.before.significant == whole.before.exactly == whole.before.pairs
    assert whole.after.above == 0
    assert whole.dates is not None
    assert whole.dates.difference == pytest.approx(0.3)
    assert whole.dates.llms == 3
    assert whole.dates.p_value < 0.01
    assert whole.signs == (3, 0, 0.25)


def test_groups_are_by_openness_and_llms_by_their_cut_offs() -> None:
    assert [(group.name, group.llms) for group in compared()[0].groups] == [("all", 4), ("closed", 2), ("semi-open", 2)]
    assert [one.cutoff for one in compared()[0].llms] == sorted(one.cutoff for one in compared()[0].llms)
    assert all(one.cutoff_source.startswith("https://") for one in compared()[0].llms)


@pytest.mark.slow
def test_difficulty_explains_a_difference_that_goes_with_it() -> None:
    hard = {
        "iris": 0.3,
        "titanic": 0.3,
        "housing": 0.3,
        "penguins": 0.3,
        "gsm8k": 0.0,
        "spaceship": 0.0,
        "thyroid": 0.0,
    }

    def solved(llm: str, table: str, before: bool) -> int:
        return 50 + round(100 * hard.get(table, 0.3))

    (harder,), _ = chronologies(results(solved), hard)
    assert harder.difficulty is not None
    assert harder.difficulty.unknown == ("heart",)
    assert harder.difficulty.left is not None
    assert harder.difficulty.left.difference == pytest.approx(0.0, abs=1e-9)
    (read,), _ = chronologies(results(), dict.fromkeys(hard, 0.2))
    assert read.difficulty is not None
    assert not read.difficulty.explains


def test_what_has_no_answer_and_what_was_not_asked_is_named() -> None:
    view = results(lambda *_: 60, ("gpt-4o",), ("iris", "titanic", "housing"))
    none = view.results[0].changed(verdict=Verdict.NO_ANSWER, hits=0, answered=0, score=None)
    skipped = view.results[1].changed(verdict=Verdict.SKIPPED, reason="no classification question", answered=0)
    pairs, left_out = dated(replace(view, results=(none, skipped, view.results[2])))
    assert [pair.dataset for own in pairs.values() for pair in own] == ["housing"]
    assert left_out == ("gpt-4o on iris: no answer named a class", "gpt-4o on titanic: no classification question")


def beside_0_shot(**changes: Any) -> tuple[Chronology, ...]:
    """What is compared by dates where two tables were also asked by another test of classification."""
    view = results(lambda *_: 60, ("gpt-4o",), ("iris", "titanic"))
    known = next(test for test in view.run.tests if test.id == "classification_0shot")
    other = replace(known, **changes)
    cells = tuple(replace(cell, test=other.id) for cell in view.results)
    found, _ = chronologies(replace(view, results=(*view.results, *cells), run=replace(view.run, tests=(known, other))))
    return found


def test_every_test_of_classification_takes_part_whatever_its_number_of_shots() -> None:
    """As one of eight shots that another package adds."""
    found = beside_0_shot(id="classification_8shot", title="Classification, 8-shot", measure="")
    assert [one.title for one in found] == ["Classification, 0-shot", "Classification, 8-shot"]
    assert len(found[1].pairs) == 2


def test_memorys_share_is_no_accuracy_that_is_compared_by_dates() -> None:
    found = beside_0_shot(id="memory_share", title="Memory's share", measure="recalled")
    assert [one.title for one in found] == ["Classification, 0-shot"]


def test_a_table_counts_once_for_an_llm_and_an_unfair_question_not_at_all() -> None:
    pairs, left_out = dated(results(lambda *_: 60, ("gpt-4o",), ("iris", "iris", "titanic")))
    assert [pair.dataset for pair in pairs["classification_0shot"]] == ["iris", "titanic"]
    assert "iris: only the first of several results of gpt-4o counts" in left_out[0]
