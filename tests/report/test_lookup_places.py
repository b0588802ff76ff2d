"""What was looked up in documents as the page and the terminal show it: the place, the quote, and nothing that acts."""

import json
from typing import Any

import pytest

from tabcontam.report.lookup_places import documents, documents_by_text, places
from tabcontam.report.query import kind_of, query_for_page
from tests.report.synthetic import cell, trial

CELL = cell("corpus:dump", "iris", "full_completion", "contaminated")
HOSTILE = '</script><img src=x onerror="alert(1)">\x1b[2J\u202eevil\u2066'


def lookup(*found: list[Any], **changes: Any) -> dict[str, Any]:
    """The trial of a lookup that found these places."""
    about = {
        "question": "lookup",
        "prompt": "5.1 beside one of 0, 1",
        "expected": {"class": "0"},
        "texts": ["0", "1"],
        "found": list(found),
    }
    return trial(CELL, "1", **{**about, "documents": len(found), "counts": [len(found), 0], "more": False, **changes})


def test_a_place_is_the_document_the_byte_and_the_quote_with_what_was_found_marked() -> None:
    (place,) = places(lookup(["dump/a.jsonl@120", 1234, "see 5.1,3.5,0 and more", 4, 13, 0, 0]))
    assert (place.where, place.before, place.found, place.after) == (
        "dump/a.jsonl@120, byte 1,234", "see ", "5.1,3.5,0", " and more",
    )  # fmt: skip


def test_what_stands_in_a_document_is_harmless_wherever_it_stands() -> None:
    (place,) = places(lookup([f"dump/{HOSTILE}", 1, f"{HOSTILE} 5.1 {HOSTILE}", len(HOSTILE) + 1, len(HOSTILE) + 4]))
    assert place.found == "5.1"
    for part in (place.source, place.before, place.after):
        assert "\x1b" not in part
        assert "\u202e" not in part
        assert "\\u202eevil" in part
    sent = json.dumps(query_for_page(lookup([HOSTILE, 1, HOSTILE, 0, 3])), ensure_ascii=False)
    assert "\x1b" not in sent
    assert "\u202e" not in sent


@pytest.mark.parametrize(
    ("held", "found"),
    [
        ([["page", -1, "quote", 0, 5, 0, 0]], ["page: quote"]),
        ([["page", 3, "quote"]], ["page, byte 3: quote"]),  # of older runs: all that is quoted was found
        ([["page", 3, "quote", 4, 99]], ["page, byte 3: quote"]),
        ([["page", 3, "quote", 2, 1]], ["page, byte 3: quote"]),
        ([["page", 3, "quote", "a", None, True]], ["page, byte 3: quote"]),
        ([["page"], "page", None, ["page", 3, 5]], []),
        ("no list", []),
        (None, []),
    ],
)
def test_what_is_no_place_is_none(held: Any, found: list[str]) -> None:
    assert [f"{place.where}: {place.found}" for place in places(lookup() | {"found": held})] == found


def test_a_long_quote_is_cut_around_what_was_found() -> None:
    (place,) = places(lookup(["page", 0, "a" * 5000 + "FOUND" + "b" * 5000, 5000, 5005, 0, 0]))
    assert (place.before, place.found, place.after) == ("…" + "a" * 120, "FOUND", "b" * 120 + "…")


def test_documents_are_counted_and_said_to_be_more_where_counting_ended_early() -> None:
    assert documents(lookup(documents=1)) == "1 document"
    assert documents(lookup(documents=1200)) == "1,200 documents"
    assert documents(lookup(documents=100, more=True)) == "at least 100 documents"
    assert documents(lookup(documents="many")) == "0 documents"


def test_each_text_is_counted_by_itself() -> None:
    assert documents_by_text(lookup(counts=[3, 0])) == [("0", 3)]
    assert documents_by_text(lookup(counts=[3, 2], expected={"class": "1"})) == [
        ("1", 2),
        ("0", 3),
    ]  # the row's own first
    assert documents_by_text(lookup(counts=None)) == []


def test_the_page_shows_what_was_looked_up_and_no_answer() -> None:
    told = query_for_page(lookup(["page", 5, "a 0 b", 2, 3, 0, 0]))
    assert told["prompt"] == [["", "5.1 beside one of 0, 1"]]
    assert told["lookup"] == {
        "own": "class = 0", "documents": "1 document (0: 1)", "found": [["page, byte 5", "a ", "right", "0", " b"]],
    }  # fmt: skip
    assert "answer" not in told
    assert kind_of(lookup(hit=True)) == "hit"


def test_the_rows_own_value_comes_before_those_that_it_is_compared_with() -> None:
    found = places(lookup(["a", 0, "5.1 1", 0, 5, 1, 0], ["b", 0, "5.1 0", 0, 5, 0, 0]))
    assert [(place.source, place.own) for place in found] == [("b", True), ("a", False)]
    alike = places(lookup(["a", 0, "x", 0, 1, 1], ["b", 0, "x", 0, 1, 0], expected=[]))
    assert [place.own for place in alike] == [True, True]
