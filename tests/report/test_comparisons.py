"""Comparisons on the page: what changed comes first, nothing is left out, and chance is never passed over."""

import re
from dataclasses import asdict
from typing import Any

import pytest

from tabcontam.report.comparisons import Section, context, count_changes
from tabcontam.verdicts.document import parse_results
from tests.report.partials import part
from tests.report.synthetic import HOSTILE, ROW_TESTS, document, facts_of


def comparison(**changes: Any) -> dict[str, Any]:
    """One line of the comparisons of results.json."""
    return {
        "kind": "versions",
        "first": "old",
        "second": "new",
        "llm": "",
        "dataset": "iris",
        "edition": "uci",
        "serializer": "is",
        "test": "full_completion",
        "first_verdict": "not detected",
        "second_verdict": "not detected",
        "first_share": 0.0,
        "second_share": 0.4,
        "queries": 30,
        "p_value": 0.02,
        "q_value": 0.04,
        "beyond_chance": False,
        "change": "same",
    } | changes


APPEARED = {"second_verdict": "contaminated", "change": "appeared"}
VANISHED = {"first_verdict": "contaminated", "change": "vanished"}
UNKNOWN = {"first_verdict": "skipped", "change": "unknown", "p_value": None, "q_value": None}
SCORES = {"first_verdict": None, "second_verdict": None, "test": "membership"}


def of(*lines: dict[str, Any], **run: Any) -> dict[str, Any]:
    of_tests = [asdict(one) for one in facts_of(dict.fromkeys((line["test"] for line in lines), "memorization"))]
    return document([], tests=of_tests, **run) | {"comparisons": [*lines]}


def sections(*lines: dict[str, Any], **run: Any) -> list[Section]:
    found: list[Section] = context(parse_results(of(*lines, **run)))["compared"]
    return found


def text(*lines: dict[str, Any], **run: Any) -> str:
    """The words of the part, without its markup."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", part("comparisons", of(*lines, **run), context)))


def test_a_kind_without_comparisons_has_no_section() -> None:
    assert part("comparisons", of(), context).strip() == ""
    assert [section.title for section in sections(comparison(kind="runs"))] == ["Runs side by side"]


def test_each_kind_has_a_section() -> None:
    kinds = ("runs", "prompts", "serializers", "versions")
    found = sections(*(comparison(kind=kind) for kind in kinds))
    assert [section.title.split()[0] for section in found] == ["Versions", "Serializers", "Prompt", "Runs"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (APPEARED, "+ appeared 8 Full completion on iris: 0% → 40% right of the same 30 queries: no more than chance"),
        (APPEARED | {"beyond_chance": True}, "of the same 30 queries: more than chance explains (q = 0.04)"),
        (VANISHED | {"queries": 0}, "vanished 8 Full completion on iris: 0% → 40% right of different queries: no"),
        (VANISHED | {"p_value": None, "q_value": None}, "vanished 8 Full completion on iris: cannot be tested"),
        ({"beyond_chance": True}, "≠ differs 8 Full completion on iris: both not detected, 0% → 40% right"),
        (UNKNOWN | {"p_value": 0.001, "beyond_chance": True}, "≠ differs 8 Full completion on iris: skipped → not det"),
        (SCORES | {"beyond_chance": True}, "≠ differs Membership on iris: both scored, 0% → 40% right"),
    ],
)
def test_what_changed_is_said_with_its_figures(changes: dict[str, Any], words: str) -> None:
    assert words in text(comparison(**changes))


def test_of_recorded_answers_it_is_not_said_that_the_queries_differ() -> None:
    recorded = of(comparison(**APPEARED, queries=0), recorded=True)
    assert "0% → 40% right by the counts only" in re.sub(r"\s+", " ", part("comparisons", recorded, context))


def test_every_comparison_is_counted() -> None:
    lines = [comparison(**APPEARED), comparison(**APPEARED, beyond_chance=True), comparison(**VANISHED), comparison()]
    lines += [comparison(**UNKNOWN), comparison(**SCORES), comparison(**SCORES, beyond_chance=True)]
    assert count_changes(parse_results(of(*lines)).comparisons) == (
        "Of 5 verdicts 2 appeared (1 differs by more than chance), 1 vanished (none differs by more than chance), "
        "1 stayed as they were and 1 are not decided on both sides. Of 2 scores 1 differs by more than chance."
    )


def test_every_comparison_has_its_square() -> None:
    lines = [comparison(test=test, dataset=name, **UNKNOWN) for test in ROW_TESTS for name in ("iris", "wine", "adult")]
    (section,) = sections(*lines)
    (group,) = section.others
    assert group.columns == ("iris", "wine", "adult")
    assert sum(square is not None for row in group.rows.values() for square in row) == 12
    assert part("comparisons", of(*lines), context).count('class="pair"') == 12


def test_two_editions_and_serializers_have_columns_of_their_own() -> None:
    lines = [comparison(), comparison(edition="openml"), comparison(serializer="colon")]
    (section,) = sections(*lines)
    assert section.others[0].columns == ("iris@uci is", "iris@openml is", "iris@uci colon")


def test_two_prompt_sets_have_columns_of_their_own() -> None:
    lines = [comparison(), comparison(prompts="paper")]
    (section,) = sections(*lines)
    assert section.others[0].columns == ("iris default", "iris paper")


def test_groups_that_changed_come_first_and_the_rest_waits() -> None:
    lines = [comparison(kind="runs", llm=f"m{number}") for number in range(30)]
    lines[20] |= APPEARED
    (section,) = sections(*lines)
    assert [group.llm for group in section.changed] == ["m20"]
    assert len(section.others) == 29
    words = text(*lines)
    assert words.index("m20: old → new") < words.index("29 pairs in which no verdict appeared or vanished")
    assert "m7: old → new" in words


def test_a_long_list_of_changes_goes_on_where_it_is_opened() -> None:
    words = text(*(comparison(dataset=f"d{number}", **APPEARED) for number in range(20)))
    assert "8 more" in words
    assert words.count("+ appeared") == 20


def test_versions_are_called_as_the_catalogue_calls_them() -> None:
    entries = {"old": {"name": "old", "title": "Model 2", "family": "m", "order": 1}}
    assert "Model 2 → new" in text(comparison(**APPEARED), catalogue=entries)


def test_what_a_run_says_cannot_mark_up_the_page() -> None:
    hostile = dict.fromkeys(("first", "second", "llm", "dataset", "edition", "serializer", "test"), HOSTILE)
    source = part("comparisons", of(comparison(**hostile, **APPEARED)), context)
    assert "<script" not in source
    assert "\x1b" not in source
    assert "style=" not in source
