"""Accuracies by dates: the page, the section of a run's page, the sentences and the document."""

import json
import re
from collections.abc import Sequence
from functools import cache

from tabcontam.extensions.dates.chronological_analysis import Chronology, chronologies
from tabcontam.extensions.dates.chronology_page import render_chronology
from tabcontam.extensions.dates.chronology_sentences import document, sentences
from tabcontam.verdicts.document import as_json
from tests.report.rendered import pages_of
from tests.verdicts.dated import results

HOSTILE = "<script>alert('t')</script>"
HARD = {"iris": 0.3, "titanic": 0.2, "housing": 0.3, "penguins": 0.4, "spaceship": 0.2, "heart": 0.3, "thyroid": 0.2}


@cache
def found() -> tuple[Sequence[Chronology], Sequence[str]]:
    """What is found of the made results, and what is left out."""
    return chronologies(results(), HARD)


@cache
def page() -> str:
    """The page of the made results."""
    compared, left_out = found()
    return render_chronology(compared, (*left_out, HOSTILE), ["reports/a"])


def said(one: Chronology) -> str:
    return " ".join(sentences(one))


def test_the_page_escapes_names_and_loads_nothing() -> None:
    assert HOSTILE not in page()
    assert "&lt;script&gt;" in page()
    assert "default-src 'none'" in page()
    assert not re.search(r"(src|href)=", page())


def test_the_page_has_the_figures_of_the_paper_and_one_for_each_llm() -> None:
    assert page().count('class="shares"') == 1
    for title in ("Mean accuracy on tables that came out before 2021", "Difficulty of the tables, by release"):
        assert f">{title}</title>" in page()
    assert page().count(": lift by release</title>") == 4
    assert page().count('class="cutoff"') == 4
    assert "stated at" in page()


def test_the_sentences_say_how_many_and_what_may_explain_it() -> None:
    text = said(found()[0][0])
    assert "The tests of the paper give Mann-Whitney's p = " in text
    assert "The difficulty of gsm8k is not known." in text
    assert "Corrected for the baseline, the difference is +0." in text


def test_nothing_to_compare_is_said() -> None:
    (one,), _ = chronologies(results(lambda *_: 60, ("gpt-4o",), ("iris", "titanic")))
    assert "No table came out after the training data of an LLM end" in said(one)
    (one,), _ = chronologies(results(lambda *_: 60, ("gpt-3.5-turbo",), ("iris", "spaceship", "thyroid")))
    assert "There are too few tables: none of 3 ways can have a p-value below 0.33." in said(one)


def test_a_run_s_page_has_the_section_where_tables_stand_on_both_sides() -> None:
    both = pages_of(results(), [])["index.html"]
    assert '<h2 id="chronology">' in both
    alone = pages_of(results(lambda *_: 60, ("gpt-4o",), ("iris", "titanic")), [])["index.html"]
    assert '<h2 id="chronology">' not in alone


def test_the_document_holds_every_pair_with_both_tests() -> None:
    held = json.loads(as_json(document(*found(), ["reports/a"])))
    (test,) = held["tests"]
    assert len(test["pairs"]) == 4 * 8
    pair = test["pairs"][0]
    assert pair["side"] == "before"
    assert 0 < pair["t_p_value"] < pair["exact_p_value"] < 0.01
    assert pair["cutoff_source"].startswith("https://")
    assert test["groups"][0]["dates"]["exact"]
    assert held["left_out"]
