"""GitHub Actions: the job's summary, annotations, and a log that answers cannot command."""

import re
from pathlib import Path

import pytest

from tabcontam.report.github import CUT, SHOWN, annotate, annotations, capped, plain_log
from tabcontam.verdicts.gate import Conclusion, GateDecision, GateFinding
from tests.report.rendered import summarize
from tests.report.synthetic import HOSTILE, results

ACTIONS = {"GITHUB_ACTIONS": "true"}
OF = results(["gpt-4o"], ["iris"])


def judgement(*conclusions: Conclusion, words: str = "why") -> GateDecision:
    findings = [GateFinding(words, f"t{number}", each, words) for number, each in enumerate(conclusions)]
    return GateDecision(Conclusion.CONTAMINATED, "in all", tuple(findings))


@pytest.mark.parametrize("environ", [{}, {"GITHUB_STEP_SUMMARY": ""}])
def test_elsewhere_there_is_none(environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    summarize(OF, environ)
    assert list(tmp_path.iterdir()) == []


def test_what_is_kept_never_has_more_than_its_room() -> None:
    summary = "".join(f"line {number} é\n" for number in range(30)).encode()
    for room in (-1, 0, 1, 50, *range(80, 110), 150, 200, 1000):
        kept = capped(summary, room)
        assert len(kept) <= max(room, 0)
        assert kept in (b"", summary) or summary.startswith(kept.decode().removesuffix(CUT).encode() + b"\n"), room
    assert capped(summary, len(summary)) == summary


def test_an_error_for_each_contaminated_table_and_a_warning_for_an_untold_one() -> None:
    found = annotations(judgement(Conclusion.CANNOT_TELL, Conclusion.CONTAMINATED, Conclusion.CLEAN))
    assert found == ["::error title=why on t1%3A contaminated::why", "::warning title=why on t0%3A cannot tell::why"]


def test_what_is_annotated_commands_nothing() -> None:
    words = f"{HOSTILE}, 50%\r\n::stop-commands::x\n##[error]x: a,b"
    (line,) = annotations(judgement(Conclusion.CONTAMINATED, words=words))
    assert len(line.splitlines()) == 1
    match = re.fullmatch(r"::error title=([^:,]*)::(.*)", line)
    assert match is not None
    assert match[2].endswith("50%25%0A::stop-commands::x%0A##[error]x: a,b")
    assert "\x1b" not in line


def test_more_annotations_than_github_keeps_are_counted() -> None:
    found = annotations(judgement(*[Conclusion.CONTAMINATED] * (SHOWN + 3)))
    assert len(found) == SHOWN
    assert found[-1] == "::error title=4 more%3A contaminated::in all"
    assert len(annotations(judgement(*[Conclusion.CONTAMINATED] * SHOWN))) == SHOWN


def test_annotations_are_printed_in_actions_alone(capsys: pytest.CaptureFixture[str]) -> None:
    annotate(judgement(Conclusion.CONTAMINATED), {})
    assert capsys.readouterr() == ("", "")
    annotate(judgement(Conclusion.CONTAMINATED), ACTIONS)
    assert capsys.readouterr() == ("", "::error title=why on t0%3A contaminated::why\n")


def test_answers_are_printed_while_commands_are_stopped(capsys: pytest.CaptureFixture[str]) -> None:
    with plain_log({}):
        print("::error::x")
    assert capsys.readouterr().out == "::error::x\n"
    tokens = set()
    for _ in range(2):
        with plain_log(ACTIONS):
            print("::error::x")
        first, answer, last = capsys.readouterr().out.splitlines()
        assert (first, answer) == (f"::stop-commands::{last.strip(':')}", "::error::x")
        tokens.add(last)
    assert len(tokens) == 2


def test_commands_go_on_after_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BrokenPipeError), plain_log(ACTIONS):
        raise BrokenPipeError
    first, last = capsys.readouterr().out.splitlines()
    assert last == f"::{first.removeprefix('::stop-commands::')}::"
