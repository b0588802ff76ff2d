"""The terminal shows the most telling trial of a cell."""

from typing import Any

from tabcontam.report.trials_by_result import trials_to_show
from tabcontam.verdicts.document import parse_results
from tests.report.synthetic import cell, document, trial


def _told(of: dict[str, Any], lines: list[dict[str, Any]]) -> list[str]:
    (found,) = trials_to_show(parse_results(document([of])).results, lines).values()
    return [str(line["query"]) for line in found]


def test_evidence_has_hits_before_the_others_and_the_papers_own_before_further_ones() -> None:
    of = cell("m", "iris", "full_completion", "contaminated")
    lines = [trial(of, "1", hit=False), trial(of, "2", paper=False), trial(of, "3")]
    assert _told(of, lines) == ["3", "2", "1"]
    assert _told(of, lines[:1]) == ["1"]
    assert _told(of, [trial(of | {"llm": "other"}, "1")]) == []


def test_a_decoy_that_was_hit_is_no_evidence() -> None:
    of = cell("m", "iris", "feature_list_informed", "contaminated")
    lines = [trial(of, "0-decoy-1", decoy_of="0", expected=["twin"]), trial(of, "0", hit=False, decoy_of="")]
    assert _told(of, lines) == ["0"]
    assert _told(of, lines[:1]) == []


def test_a_query_asked_again_counts_once_with_its_last_reply() -> None:
    of = cell("m", "iris", "full_completion", "contaminated")
    assert _told(of, [trial(of, "1"), trial(of, "2"), trial(of, "1", hit=False)]) == ["2", "1"]
