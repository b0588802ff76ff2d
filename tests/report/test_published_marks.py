"""Published marks: the facts against the released figures, what is left out, and how often a run agrees."""

import csv
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tabcontam.config import PAPER
from tabcontam.models.catalogue import load_catalogue
from tabcontam.reading.word_decision import english
from tabcontam.replay.answer_records import CATALOGUE, read_records
from tabcontam.replay.published_replay import replay_published
from tabcontam.replay.recorded_squares import one_result_a_square
from tabcontam.replay.replay_outcome import ReplayOutcome
from tabcontam.report.published_marks import SourceAgreement, agreements, marks, sources
from tabcontam.runs.folder import replay_results
from tabcontam.tables.dataset_cards import find_card, load_cards
from tabcontam.verdicts.document import parse_results
from tabcontam.verdicts.run_facts import known_tests
from tests.report.synthetic import cell, document

FOLDER = os.environ.get("TABCONTAM_REPLAY", "")
recorded = pytest.mark.skipif(not FOLDER, reason="TABCONTAM_REPLAY is not set")

RONVAL, BORDT, GOLCHIN = sources()
TESTS = known_tests()
NUMBERED = [test for test, facts in TESTS.items() if facts.number]
OWN = {"feature_names": 1, "row_completion": 7, "header": 8, "csv_feature_completion": 9}
TABMEMCHECK = {test: number for test, number in OWN.items() if test in TESTS}  # of Bordt et al., as their tests are
DATASETS = ("adult", "bank", "german", "housing", "iris", "wine", "titanic", "spaceship", "thyroid")
FIGURES = {
    "Adult": "adult", "Bank": "bank", "German": "german", "Housing": "housing", "Iris": "iris", "Wine": "wine",
    "Titanic": "titanic", "Sp. Titanic": "spaceship", "Thyroid_Diff": "thyroid",
}  # fmt: skip
# Detections by test, 1 to 9, as the figures show them.
DETECTIONS = {
    "gemini-1.0": (8, 6, 7, 8, 6, 7, 3, 1, 3),
    "gpt-4": (8, 8, 8, 8, 7, 7, 0, 0, 0),
    "gpt-3.5-turbo": (7, 6, 7, 6, 6, 6, 3, 1, 1),
    "llama-3": (8, 6, 6, 7, 6, 6, 0, 1, 1),
    "gemma-2": (6, 6, 3, 5, 7, 6, 1, 0, 1),
    "mistral-7b-v0.1": (7, 7, 5, 3, 5, 5, 1, 1, 1),
    "phi-2": (5, 3, 2, 3, 6, 1, 1, 0, 1),
    "llama-2": (5, 4, 3, 1, 3, 1, 0, 0, 1),
    "gpt-j": (4, 3, 2, 2, 2, 0, 1, 0, 0),
    "t0": (0, 0, 1, 0, 0, 0, 0, 0, 0),
}
# What all fifteen LLMs of the figures have by dataset; ten of them can have no more.
MOST = {"titanic": 97, "iris": 81, "bank": 69, "adult": 67, "housing": 63, "german": 58, "wine": 49, "spaceship": 27}


def by_source(entry: str, dataset: str, test: str) -> dict[str, bool]:
    return {mark.source.name: mark.found for mark in marks(entry, dataset, test)}


def found(entry: str, dataset: str, test: str) -> bool:
    return by_source(entry, dataset, test).get(RONVAL.name, False)


def run(cells: list[dict[str, Any]], **catalogue: str) -> dict[str, Any]:
    known = {llm: {"name": name, "title": name, "family": "f", "order": 1} for llm, name in catalogue.items()}
    return document(cells, catalogue=known)


@pytest.mark.parametrize("entry", DETECTIONS)
def test_detections_by_test_are_those_of_the_figures(entry: str) -> None:
    by_test = tuple(sum(found(entry, dataset, test) for dataset in DATASETS) for test in NUMBERED)
    assert by_test == DETECTIONS[entry]


def test_no_dataset_has_more_detections_than_the_figures_of_all_fifteen() -> None:
    by_dataset = Counter(
        dataset for entry in DETECTIONS for dataset in DATASETS for test in NUMBERED if found(entry, dataset, test)
    )
    assert by_dataset.total() == sum(map(sum, DETECTIONS.values())) == 304
    assert all(count <= MOST[dataset] for dataset, count in by_dataset.items())
    assert "thyroid" not in by_dataset


@recorded
def test_every_cell_of_the_released_figures_is_ours_and_none_besides() -> None:
    with (Path(FOLDER) / "published_figures.csv").open(encoding="utf-8", newline="") as lines:
        released = list(csv.DictReader(lines))
    plain = {"Phi 2": "phi-2", "Gemini 1.0": "gemini-1.0", "Llama 2": "llama-2", "Llama 3": "llama-3"}
    entries = plain | {"GPT-3.5": "gpt-3.5-turbo", "Gemma 2": "gemma-2", "Mistral": "mistral-7b-v0.1"}
    told: dict[tuple[str, str, str], bool] = {}
    for line in released:
        entry = entries.get(line["llm"], line["llm"].lower())
        told[entry, FIGURES[line["dataset"]], line["test"]] = line["detected"] == "1"
    assert len(told) == len(released) == 810
    never_run = {key for key in told if key[1] == "wine" and key[2].startswith("feature_values")}
    assert len(never_run) == 20
    assert not any(told[key] for key in never_run)
    ours = {
        (entry, dataset, test): by_source(entry, dataset, test)[RONVAL.name]
        for entry in load_catalogue()
        for dataset in DATASETS
        for test in TESTS
        if RONVAL.name in by_source(entry, dataset, test)
    }
    assert ours == {key: detected for key, detected in told.items() if key not in never_run}


def test_what_was_never_run_has_no_mark() -> None:
    assert marks("gpt-4", "wine", "feature_values_informed") == (marks("gpt-4", "wine", "feature_list_informed")[1],)
    assert marks("gpt-4", "wine", "feature_values_uninformed") == ()


@pytest.mark.parametrize("entry", ["gpt-4o", "gemini-1.5", "llama-3.1", "gemma", "phi-3", "qwen3-8b", "", "nobody"])
def test_llms_without_published_cells_have_no_mark(entry: str) -> None:
    assert not any(marks(entry, dataset, test) for dataset in DATASETS for test in TESTS)


def test_only_the_tests_of_the_figures_have_marks() -> None:
    with_marks = {test for test in TESTS for dataset in DATASETS if marks("gpt-4", dataset, test)}
    assert with_marks == {*NUMBERED, *TABMEMCHECK}


def test_marks_name_entries_of_the_catalogue_with_the_checkpoint_that_was_asked() -> None:
    catalogue = load_catalogue()
    for entry in DETECTIONS:
        (mark,) = (mark for mark in marks(entry, "iris", NUMBERED[0]) if mark.source == RONVAL)
        assert mark.checkpoint in catalogue[entry].names
        assert catalogue[entry].paper


def test_datasets_are_cards_and_answer_to_the_names_of_recorded_answers() -> None:
    assert set(DATASETS) < set(load_cards())
    names = ("adult income", "bank marketing", "german credit", "california housing", "iris", "wine", "titanic")
    for name in (*names, "spaceship_titanic", "thyroid disease recurrence"):
        card = find_card(name)
        assert card is not None
        assert marks("llama-3", name, "full_completion") == marks("llama-3", card.name, "full_completion") != ()
    assert marks("llama-3", "titanic.csv", "full_completion") == ()


def test_bordt_et_al_stand_where_figure_2_shows_them() -> None:
    told = {
        (entry, dataset, test): by_source(entry, dataset, test)[BORDT.name]
        for entry in load_catalogue()
        for dataset in DATASETS
        for test in TESTS
        if BORDT.name in by_source(entry, dataset, test)
    }
    assert {entry for entry, _, _ in told} == {"gpt-3.5-turbo", "gpt-4"}
    assert {dataset for _, dataset, _ in told} == {*DATASETS} - {"bank", "german", "thyroid"}
    shown = {NUMBERED[number - 1] for number in (1, 5, 7, 8, 9)}
    assert {test for _, _, test in told} == {*shown, *TABMEMCHECK}
    assert len(told) == 2 * (5 + len(TABMEMCHECK)) * 6
    for own, number in TABMEMCHECK.items():
        places = [(entry, dataset) for entry, dataset, test in told if test == own]
        assert all(told[(*place, own)] == told[(*place, NUMBERED[number - 1])] for place in places)
    assert not any(detected for (_, dataset, _), detected in told.items() if dataset == "spaceship")
    changed = {key[1:] for key in told if key[0] == "gpt-4" and told[key] != told["gpt-3.5-turbo", *key[1:]]}
    assert {place for place in changed if place[1] in NUMBERED} == {
        ("iris", "incomplete_completion"),
        ("wine", "incomplete_completion"),
    }
    assert told["gpt-4", "titanic", "incomplete_completion"]


def test_names_of_records_are_known_to_the_catalogue() -> None:
    assert all(name in load_catalogue() for name in CATALOGUE.values())


def test_sources_say_what_their_marks_compare_to() -> None:
    for source in sources():
        assert source.address.startswith("https://")
        assert "\n" not in source.name + source.citation + source.compares.strip()


def test_agreement_counts_the_cells_that_both_decided() -> None:
    told = [
        cell("asked", "iris", "feature_list_informed", "contaminated"),  # + +
        cell("asked", "iris", "incomplete_completion", "contaminated"),  # - +
        cell("asked", "wine", "feature_values_uninformed", "contaminated"),  # nothing published
        cell("asked", "adult", "full_completion", "not detected"),  # - +
        cell("asked", "titanic", "full_completion", "uninformative"),
        cell("asked", "titanic", "feature_completion", "no answer"),
        cell("asked", "iris", "classification_0shot", None),
        cell("unknown", "iris", "feature_list_informed", "contaminated"),
    ]
    assert agreements(parse_results(run(told, asked="gpt-4"))) == {
        RONVAL: [SourceAgreement("asked", agree=2, decided=3)],
        BORDT: [SourceAgreement("asked", agree=2, decided=3)],
    }


def test_an_llm_with_nothing_to_compare_has_no_agreement() -> None:
    told = [cell("asked", "penguins", "full_completion", "contaminated")]
    assert agreements(parse_results(run(told, asked="gpt-4"))) == {}


def test_agreement_names_what_was_decided() -> None:
    found = agreements(parse_results(run([cell("a", "iris", "recognition_examples", "not detected")], a="t0")))
    assert found == {RONVAL: [SourceAgreement("a", agree=1, decided=1)]}


@pytest.mark.slow
@recorded
def test_the_published_rules_agree_with_the_published_figures_on_recorded_answers() -> None:
    dictionary = english()
    cells = replay_published(read_records(Path(FOLDER) / "records.jsonl"), dictionary)
    judged = replay_results(ReplayOutcome(cells), False, PAPER, dictionary.name, "replay")
    told = agreements(replace(judged, results=one_result_a_square(cells)))
    assert {line.llm for line in told[BORDT]} == {"gpt3", "gpt4"}
    assert len(told[RONVAL]) == len(DETECTIONS)
    assert sum(line.decided for line in told[RONVAL]) == 621
    assert sum(line.agree for line in told[RONVAL]) >= 615  # two by hand, the others by versions of the rules


TEXTS = ("imdb", "ag_news", "yelp", "rte", "wnli", "samsum", "xsum")
PEOPLE = "guided_match_by_a_person"


def said_of_texts(entry: str, test: str) -> dict[tuple[str, str], bool]:
    """What Golchin and Surdeanu's table 4 says of each dataset and split."""
    return {
        (dataset, split): mark.found
        for dataset in TEXTS
        for split in ("train", "test", "validation")
        for mark in marks(entry, dataset, test, split)
        if mark.source == GOLCHIN
    }


@pytest.mark.parametrize(
    ("entry", "test", "agree"),
    [
        ("gpt-4", "guided_completion_bleurt", 11),
        ("gpt-4", "guided_completion", 13),
        ("gpt-4", "guided_match", 14),
        ("gpt-3.5-turbo", "guided_completion_bleurt", 9),
        ("gpt-3.5-turbo", "guided_completion", 7),
        ("gpt-3.5-turbo", "guided_match", 13),
        ("gpt-3.5-turbo", "list_instances", 11),
    ],
)
def test_methods_agree_with_people_as_often_as_table_3_of_time_travel_says(entry: str, test: str, agree: int) -> None:
    said, people = said_of_texts(entry, test), said_of_texts(entry, PEOPLE)
    assert len(people) == 14
    assert sum(found == people[place] for place, found in said.items()) == agree


def test_a_mark_of_one_split_is_not_laid_over_another() -> None:
    assert [mark.found for mark in marks("gpt-4", "imdb", "guided_match", "train")] == [True]
    assert [mark.found for mark in marks("gpt-4", "imdb", "guided_match", "test")] == [False]
    assert marks("gpt-4", "imdb", "guided_match") == marks("gpt-4", "iris", "guided_match", "train") == ()
    assert marks("gpt-4", "iris", "full_completion", "train") == marks("gpt-4", "iris", "full_completion")
