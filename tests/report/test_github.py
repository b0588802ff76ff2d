"""GitHub Actions: the job's summary, annotations, and a log that answers cannot command."""

import re
from pathlib import Path

import pytest

from tabcontam.report.github import CUT, LIMIT, SHOWN, annotate, annotations, capped, plain_log
from tabcontam.verdicts.gate import Conclusion, GateDecision, GateFinding
from tests.report.rendered import render_markdown, summarize
from tests.report.synthetic import HOSTILE, results

ACTIONS = {"GITHUB_ACTIONS": "true"}
OF = results(["gpt-4o"], ["iris"])


def judgement(*conclusions: Conclusion, words: str = "why") -> GateDecision:
    findings = [GateFinding(words, f"t{number}", each, words) for number, each in enumerate(conclusions)]
    return GateDecision(Conclusion.CONTAMINATED, "in all", tuple(findings))


def test_the_summary_is_the_report_as_markdown(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    summarize(OF, {"GITHUB_STEP_SUMMARY": str(path)})
    assert path.read_text("utf-8") == render_markdown(OF)


def test_a_summary_is_added_to_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    summarize(OF, {"GITHUB_STEP_SUMMARY": str(path)})
    assert path.read_text("utf-8") == "before\n" + render_markdown(OF)


@pytest.mark.parametrize("environ", [{}, {"GITHUB_STEP_SUMMARY": ""}])
def test_elsewhere_there_is_none(environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    summarize(OF, environ)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_a_line_on_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (tmp_path, tmp_path / "none" / "summary.md"):
        summarize(OF, {"GITHUB_STEP_SUMMARY": str(path)})
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"tabcontam: cannot write the summary for GitHub to {path}: ")


def test_a_long_summary_is_cut_at_a_line_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert LIMIT == 2**20
    limit = 20_000
    monkeypatch.setattr("tabcontam.report.github.LIMIT", limit)
    many = results([f"m{n}" for n in range(10)], [f"d{n}" for n in range(15)])
    whole = render_markdown(many).encode()
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    summarize(many, {"GITHUB_STEP_SUMMARY": str(path)})
    written = path.read_bytes()
    assert len(whole) > limit >= len(written) > limit - 1000
    kept, told = written.removeprefix(b"before\n").split(b"\n\nThe report is cut here: ")
    assert whole.startswith(kept + b"\n")
    assert b"1 MiB" in told
    summarize(many, {"GITHUB_STEP_SUMMARY": str(path)})
    assert len(path.read_bytes()) <= limit


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
