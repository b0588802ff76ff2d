"""What was not read is shown: how much of it for which reason, the first reply of each, and what to do next."""

from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from tabcontam.report.query import UNREAD_KINDS, kind_of
from tabcontam.report.terminal import print_report
from tabcontam.report.unread import LONGEST, UnreadSummary, advice, unread
from tabcontam.verdicts.document import parse_results
from tests.report.rendered import pages_of
from tests.report.synthetic import HOSTILE, cell, document, trial

CELL = cell("gpt-4o", "iris", "full_completion", "no answer")
CONTROL = cell("control:exposed", "iris", "full_completion", "no answer", control=True)
DECLINED: dict[str, Any] = {"hit": False, "readable": False, "unread": "declined"}
ODD: dict[str, Any] = {"hit": False, "readable": False, "unread": "not understood"}


def asked(number: int, of: dict[str, Any] = CELL, **changes: Any) -> dict[str, Any]:
    return trial(of, f"q-{number}", **changes)


LINES = [
    asked(1, hit=False, readable=True),
    asked(2, reply=HOSTILE, **ODD),
    asked(3, reply="Keine Angabe", **DECLINED),
    asked(4, reply="Nein", **DECLINED),
    asked(5, reply="The", hit=False, readable=False, state="truncated", detail="token limit"),
    asked(6, reply="", hit=False, readable=False, state="refused", detail="content filter"),
]


def found(lines: Sequence[Mapping[str, Any]], advised: bool = True) -> UnreadSummary | None:
    return unread(((kind_of(line), line) for line in lines), advised=advised)


def test_each_reason_is_counted_and_has_its_first_reply() -> None:
    silent = found(LINES)
    assert silent is not None
    assert silent.counted == ("5 of 6 answers were not read: 2 declined, 1 not understood, 1 cut off, 1 refused")
    said = dict(silent.first)
    assert (said["declined"], said["cut off"], said["refused"]) == ("Keine Angabe", "The", "content filter")
    assert silent.advice == advice("declined")


def test_nothing_is_said_where_all_was_read_or_only_a_decoy_was_not() -> None:
    assert found(LINES[:1]) is None
    assert found([LINES[0], asked(7, decoy_of="q-1", **ODD)]) is None


def test_a_long_reply_is_shortened_on_one_line() -> None:
    silent = found([asked(1, reply="a\nb\x1b[31m" * 200, **ODD)])
    assert silent is not None
    ((_, said),) = silent.first
    assert len(said) < LONGEST + 40
    assert "\n" not in said
    assert "\x1b" not in said


@pytest.mark.parametrize("kind", UNREAD_KINDS)
def test_every_reason_has_its_own_advice(kind: str) -> None:
    wanted = {
        "declined": "--form completion",
        "not understood": "--serializer",
        "cut off": "--retry-unanswered",
        "refused": "--retry-unanswered",
        "empty": "--retry-unanswered",
        "failed": "the same command again",
    }
    assert wanted[kind] in advice(kind)


def test_the_page_shows_what_was_not_read_as_text_and_says_what_to_do() -> None:
    page = pages_of(parse_results(document([CELL])), LINES)["index.html"]
    assert "5 of 6 answers were not read: 2 declined, 1 not understood, 1 cut off, 1 refused" in page
    assert '<q dir="auto">Keine Angabe</q>' in page
    assert "<p>What to do: ask in other words with <code>--prompts</code>" in page
    assert "<script>alert" not in page
    assert "<img" not in page


def test_the_terminal_shows_it_with_v_and_points_to_it_without() -> None:
    def printed(verbosity: int) -> str:
        out = StringIO()
        print_report(Console(file=out, width=200), parse_results(document([CELL])), LINES, verbosity)
        return out.getvalue()

    verbose, usual = printed(1), printed(0)
    assert "5 of 6 answers were not read: 2 declined" in verbose
    assert "declined: Keine Angabe" in verbose
    assert f"what to do: {advice('declined')}" in verbose
    assert "\x1b" not in verbose
    assert "Keine Angabe" not in usual
    assert "(-v and index.html show the unread replies, and what to do next)" in usual


def test_a_control_is_not_to_be_asked_otherwise() -> None:
    lines = [asked(1, CONTROL, reply="Keine Angabe", **DECLINED)]
    page = pages_of(parse_results(document([CONTROL])), lines)["index.html"]
    assert "1 of 1 answers was not read: 1 declined" in page
    assert "What to do" not in page
