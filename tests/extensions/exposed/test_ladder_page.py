"""The page of dose and response."""

import json
import re

from tabcontam.calibration.dose import TABLE, Observation, doses
from tabcontam.evidence.base import Verdict
from tabcontam.extensions.exposed.ladder_page import document, render_ladder, sentences
from tabcontam.verdicts.document import as_json

HOSTILE = "<script>alert('t')</script>"
FOUND, NOT = Verdict.CONTAMINATED, Verdict.NOT_DETECTED
OBSERVED = [
    Observation("hf:a", HOSTILE, copies, test, verdict, p_value, 30)
    for test in (TABLE, "surrogate_rank")
    for copies, verdict, p_value in ((0, NOT, 0.61), (4, NOT, 0.2), (64, FOUND, 1e-8))
]
DOSES = doses(OBSERVED, {})
PAGE = render_ladder(DOSES, OBSERVED, {"surrogate_rank": "Surrogate rank"}, ["models/ladder/runs/a"])


def test_the_page_escapes_names_and_loads_nothing() -> None:
    assert HOSTILE not in PAGE
    assert "&lt;script&gt;" in PAGE
    assert "default-src 'none'" in PAGE
    assert not re.search(r"(src|href)=", PAGE)


def test_each_test_has_its_share_its_figure_and_its_p_values() -> None:
    assert PAGE.count("<h3") == 2
    assert PAGE.count('class="steps"') == 2
    assert PAGE.count('class="diagonal"') == 2
    assert '<span class="value">1 of 1</span>' in PAGE
    assert "64 copies: 1 of 1 pairs are detected (3% to 100%)" in PAGE


def test_the_sentences_say_from_where_on_it_finds() -> None:
    said = " ".join(sentences(DOSES[0]))
    assert "Half of the pairs are detected from 64 copies on, and 95% of them from 64 copies on" in said
    assert "Rows that were never read are detected in 0 of 1" in said


def test_the_document_holds_every_observation() -> None:
    held = json.loads(as_json(document(DOSES, OBSERVED, ["a"])))
    assert len(held["observations"]) == 6
    assert held["doses"][0]["test"] == TABLE
    assert held["doses"][0]["unread"] == [0.61]
