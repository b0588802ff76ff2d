"""While LLMs are asked each has a line of its own: how far, how fast, how long still, and what it waits for."""

import io
import re
import sys
import threading
import time
from itertools import pairwise

import pytest
from rich.cells import cell_len
from rich.console import Console

from tabcontam.asking.run_progress import Progress
from tabcontam.evidence.base import Reply, ReplyState
from tabcontam.report.progress_display import BEATING, ProgressBars, ProgressLines, progress
from tests.report.synthetic import HOSTILE

OK = Reply("yes", ReplyState.OK)
FAILED = Reply("", ReplyState.FAILED)
A, B = "openai:a", "gemini:b"
LONG = "openai:meta-llama/Llama-3.1-8B-Instruct@http://127.0.0.1:8000/v1"


class Clock:
    """A clock that the test turns."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def console(width: int = 100, encoding: str = "utf-8") -> Console:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")
    return Console(file=file, force_terminal=True, width=width, height=25, color_system=None, legacy_windows=False)


def written(on: Console) -> str:
    on.file.flush()
    assert isinstance(on.file, io.TextIOWrapper)
    raw = on.file.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode(on.encoding)


@pytest.fixture
def bar(clock: Clock) -> ProgressBars:
    bar = ProgressBars(console(), clock)
    bar.begin({A: 100, B: 50})
    bar.end()  # the tests draw its frames themselves
    return bar


@pytest.fixture
def lines(clock: Clock) -> ProgressLines:
    lines = ProgressLines(io.StringIO(), clock)
    lines.begin({A: 100, B: 50})
    return lines


def said(lines: ProgressLines) -> list[str]:
    """What was printed since the last look."""
    file = lines._file
    assert isinstance(file, io.StringIO)
    text = file.getvalue()
    file.seek(0)
    file.truncate()
    return text.splitlines()


def frame(bar: ProgressBars, width: int = 120, height: int = 25) -> list[str]:
    return [line.plain for line in bar.frame(width, height)]


def answer(to: Progress, clock: Clock, llm: str, number: int, each: float) -> None:
    for _ in range(number):
        clock.now += each
        to.answered(llm, OK)


# --- on a terminal ---


def test_only_llms_that_are_being_asked_have_a_line(bar: ProgressBars, clock: Clock) -> None:
    assert frame(bar) == []
    bar.asks_about(A, "iris")
    assert [line.split()[:2] for line in frame(bar)] == [[A, "iris"]]
    bar.asks_about(B, "wine")
    assert [line.split()[:2] for line in frame(bar)] == [[A, "iris"], [B, "wine"]]
    answer(bar, clock, A, 100, 0.1)
    assert [line.split()[0] for line in frame(bar)] == [B]
    bar.ended(B, "the key is wrong")
    assert frame(bar) == []


def test_rate_and_time_left_are_those_of_an_llms_own_answers(bar: ProgressBars, clock: Clock) -> None:
    bar.known(A, 40)
    bar.asks_about(A, "iris")
    bar.asks_about(B, "iris")
    for _ in range(20):
        clock.now += 0.5
        bar.answered(A, OK)
        if clock.now % 2 == 0:
            bar.answered(B, OK)
    a, b = frame(bar)
    assert a.endswith("60/100     2.0/s  ETA 0:20")
    assert b.endswith(" 5/50  30.0/min  ETA 1:30")


def test_what_was_known_says_nothing_about_the_speed(bar: ProgressBars) -> None:
    bar.asks_about(A, "iris")
    bar.known(A, 90)
    assert re.search(r" 90/100$", frame(bar)[0])


def test_the_rate_is_that_of_the_last_half_minute(bar: ProgressBars, clock: Clock) -> None:
    bar.asks_about(A, "iris")
    answer(bar, clock, A, 50, 0.1)
    answer(bar, clock, A, 35, 1)
    assert "1.0/s  ETA 0:15" in frame(bar)[0]


def test_a_slow_llm_has_a_rate_too(bar: ProgressBars, clock: Clock) -> None:
    bar.asks_about(A, "iris")
    answer(bar, clock, A, 10, 60)
    assert "1.0/min  ETA 1:30:00" in frame(bar)[0]


def test_a_wait_counts_down_and_ends(bar: ProgressBars, clock: Clock) -> None:
    bar.asks_about(A, "iris")
    bar.limit(A, 40, 32, "429")
    bar.waits(A, "429", 12)
    assert frame(bar)[0].endswith("1 retry  429: 12 s, 40 → 32 connections")
    clock.now += 4.5
    bar.waits(A, "429", 2)  # another request, which is sent again earlier
    assert frame(bar)[0].endswith("2 retries  429: 8 s, 40 → 32 connections")
    clock.now += 7.5
    assert frame(bar)[0].endswith("2 retries  32 connections")
    assert bar.frame(120)[0].plain.count("429") == 0


def test_the_latest_kind_of_wait_is_told_if_it_takes_longest(bar: ProgressBars) -> None:
    bar.asks_about(A, "iris")
    bar.waits(A, "timeout", 5)
    bar.waits(A, "500", 1)
    assert frame(bar)[0].endswith("timeout: 5 s")
    bar.waits(A, "429", 9)
    assert frame(bar)[0].endswith("429: 9 s")


def test_more_connections_are_not_told_but_their_number_is(bar: ProgressBars) -> None:
    bar.asks_about(A, "iris")
    bar.limit(A, 40, 32, "429")
    assert frame(bar)[0].endswith("429: 40 → 32 connections")
    bar.limit(A, 32, 33, "")
    assert frame(bar)[0].endswith("  33 connections")


def busy(clock: Clock, llms: list[str]) -> ProgressBars:
    """LLMs with all that can be told of them."""
    bar = ProgressBars(console(), clock)
    bar.begin(dict.fromkeys(llms, 1334))
    bar.end()
    for llm in llms:
        bar.asks_about(llm, "breast-cancer")
    for _ in range(20):
        for llm in llms:
            answer(bar, clock, llm, 1, 1)
    for llm in llms:
        bar.limit(llm, 40, 32, "429")
        bar.waits(llm, "429", 12)
    return bar


@pytest.mark.parametrize("llms", [[A], [A, LONG], ["x:" + "y" * 500, "z:汉字" * 40]])
def test_no_line_is_wider_than_the_terminal(clock: Clock, llms: list[str]) -> None:
    for width in (*range(20, 140, 7), 80):
        shown = frame(busy(clock, llms), width)
        assert len(shown) == len(llms), width
        assert max(map(cell_len, shown)) <= width


def test_parts_give_way_in_order(clock: Clock) -> None:
    bar = busy(clock, [LONG])
    parts = {
        "whole name": "openai:meta-llama/Llama-3.1-8B-Instruct  breast-cancer",
        "connections": "40 → 32 connections",
        "retries": "1 retry",
        "bar": "─",
        "change": "40 → 32",
        "dataset": "breas",
        "rate": "/s",
        "time left": "ETA",
        "wait": "429: 12 s",
        "count": "20/1334",
    }
    left = list(parts)
    for width in range(160, 36, -1):
        (line,) = frame(bar, width)
        shown = [name for name in left if parts[name] in line]
        assert shown == left[-len(shown) :], f"at {width}: {line}"
        left = shown
    assert left == ["wait", "count"]


def test_at_80_columns_one_llm_shows_what_it_waits_for(clock: Clock) -> None:
    (line,) = frame(busy(clock, ["openai:gpt-4o"]), 80)
    assert line == "openai:gpt-4o  breas…ncer  20/1334  1.0/s  ETA 21:54  429: 12 s, 40 → 32 conn."


def test_many_llms_are_lines_and_a_count(clock: Clock) -> None:
    bar = busy(clock, [f"x:{number}" for number in range(12)])
    assert len(frame(bar)) == 9
    assert frame(bar)[-1] == "and 4 more LLMs: 80/5336"
    assert len(frame(bar, height=6)) == 5


def test_an_address_is_left_out_unless_it_tells_two_llms_apart(clock: Clock) -> None:
    assert frame(busy(clock, [LONG]), 200)[0].startswith("openai:meta-llama/Llama-3.1-8B-Instruct  ")
    twins = busy(clock, ["openai:a@http://h:1/v1", "openai:a@http://h:2/v1"])
    assert [line.split()[0] for line in frame(twins, 200)] == ["openai:a@http://h:1/v1", "openai:a@http://h:2/v1"]


def test_why_an_llm_ended_stands_above_the_bars_at_once(clock: Clock) -> None:
    on = console()
    bar = ProgressBars(on, clock)
    bar.begin({A: 10, B: 10})
    try:
        bar.asks_about(A, "iris")
        bar.ended(B, "the key is [bold]wrong[/bold]")
        assert "gemini:b: the key is [bold]wrong[/bold]\n" in written(on)
    finally:
        bar.end()


def test_standard_output_stays_the_reports_own(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    bar = ProgressBars(console(), clock)
    bar.begin({A: 10})
    print("the report")
    bar.end()
    assert capsys.readouterr().out == "the report\n"


def test_hostile_names_move_nothing_and_have_no_style(clock: Clock) -> None:
    on = console(300)
    bar = ProgressBars(on, clock)
    bar.begin({HOSTILE: 10})
    bar.asks_about(HOSTILE, f"a\nb{HOSTILE}")
    bar.waits(HOSTILE, HOSTILE, 3)
    (line,) = bar.frame(600)
    assert "\n" not in line.plain
    assert "[red]red[/red]" in line.plain
    assert {str(span.style) for span in line.spans} <= {"green", "dim"}
    bar.ended(HOSTILE, HOSTILE)
    bar.end()
    assert "\x1b[31m" not in written(on)
    assert "\x00" not in written(on)


def test_an_output_without_our_signs_gets_plainer_ones(clock: Clock) -> None:
    bar = busy(clock, [A, "x:汉字"])
    assert all(line.plain.isascii() and "\\u2" not in line.plain for line in bar.frame(160, 25, "ascii"))
    assert "40 > 32 connections" in bar.frame(160, 25, "ascii")[0].plain


# --- plain lines ---


def test_lines_say_what_is_planned_known_and_asked(lines: ProgressLines) -> None:
    lines.known(A, 40)
    lines.known(B, 0)
    lines.asks_about(A, "iris")
    assert said(lines) == [
        "150 queries planned", "openai:a: 40 of 100 answered already", "openai:a: asked about iris",
    ]  # fmt: skip


def test_every_ten_seconds_a_line_for_each_llm_under_way(lines: ProgressLines, clock: Clock) -> None:
    lines.asks_about(A, "iris")
    lines.asks_about(B, "wine")
    said(lines)
    answer(lines, clock, A, 19, 0.5)
    assert said(lines) == []
    lines.answered(B, FAILED)
    answer(lines, clock, A, 1, 0.5)
    assert said(lines) == [
        "openai:a iris: 20/100 answered, 2.0/s, ETA 0:40",
        "gemini:b wine: 1/50 answered, 1 failed, 6.0/min, ETA 8:10",
    ]
    answer(lines, clock, A, 19, 0.5)
    assert said(lines) == []


def test_between_them_a_line_of_all_answers_breaks_the_silence_of_the_first_minutes(
    lines: ProgressLines, clock: Clock
) -> None:
    lines.asks_about(A, "iris")
    lines.asks_about(B, "wine")
    said(lines)
    printed = []
    for _ in range(8):
        answer(lines, clock, A, 1, 0.5)
        lines.beat()
        printed.append(said(lines))
    assert printed == [[], [], ["3/150 answered, 1 s"], [], [], ["6/150 answered, 3 s"], [], []]
    clock.now += 300
    lines.beat()
    assert [line.split()[0] for line in said(lines)] == [A, B]
    clock.now += 5
    lines.beat()
    assert said(lines) == []


def test_a_finished_llm_says_so_and_has_no_further_line(lines: ProgressLines, clock: Clock) -> None:
    lines.asks_about(A, "iris")
    lines.asks_about(B, "wine")
    said(lines)
    answer(lines, clock, B, 50, 0.1)
    assert said(lines) == ["gemini:b: 50/50 answered"]
    answer(lines, clock, A, 1, 60)
    assert [line.split()[0] for line in said(lines)] == [A]


def test_a_wait_is_one_line_until_it_changes(lines: ProgressLines, clock: Clock) -> None:
    lines.asks_about(A, "iris")
    said(lines)
    lines.limit(A, 40, 32, "429")
    for _ in range(5):
        lines.waits(A, "429", 30)
    assert said(lines) == ["openai:a: 429: 30 s, 40 to 32 connections"]
    clock.now += 1
    lines.waits(A, "timeout", 60)
    assert said(lines) == []  # too soon after the last
    clock.now += 5
    lines.waits(A, "timeout", 60)
    assert said(lines) == ["openai:a: timeout: 60 s, 40 to 32 connections"]
    clock.now += 4
    lines.waits(A, "timeout", 60)
    (line,) = said(lines)
    assert line == "openai:a iris: 0/100 answered, 8 retries, timeout: 60 s, 40 to 32 connections"


def test_a_wait_after_a_wait_is_news_again(lines: ProgressLines, clock: Clock) -> None:
    lines.asks_about(A, "iris")
    said(lines)
    lines.waits(A, "429", 1)
    answer(lines, clock, A, 1, 6)
    said(lines)
    lines.waits(A, "429", 2)
    assert said(lines) == ["openai:a: 429: 2 s"]


def test_the_number_of_connections_is_in_the_line(lines: ProgressLines, clock: Clock) -> None:
    lines.asks_about(A, "iris")
    lines.limit(A, 8, 9, "")
    said(lines)
    answer(lines, clock, A, 10, 1)
    assert said(lines) == ["openai:a iris: 10/100 answered, 1.0/s, ETA 1:30, 9 connections"]


def test_why_an_llm_ended_is_a_line_that_names_it(lines: ProgressLines) -> None:
    said(lines)
    lines.ended(A, "the quota is exhausted")
    lines.ended(B, "gemini:b: the key is wrong")
    assert said(lines) == ["openai:a: the quota is exhausted", "gemini:b: the key is wrong"]


def test_a_batch_is_a_line_where_there_is_news_of_it_and_seldom_else(lines: ProgressLines, clock: Clock) -> None:
    lines.asks_about(A, "iris")
    said(lines)
    noon = time.mktime(time.strptime("2026-11-21 12:00", "%Y-%m-%d %H:%M"))
    lines.batch(A, "batch_1", noon, 0, 140)
    assert said(lines) == ["openai:a: batch batch_1: 0/140 done since 21 November, 12:00"]
    for _ in range(20):
        clock.now += 20
        lines.batch(A, "batch_1", noon, 0, 140)
        lines.waits(B, "429", 1)
    assert not [line for line in said(lines) if "openai:a" in line]
    clock.now += 600
    lines.batch(A, "batch_1", noon, 0, 140)
    lines.batch(A, "batch_2", noon, 7, 60)
    assert said(lines) == [
        "openai:a: batch batch_1: 0/140 done since 21 November, 12:00",
        "openai:a: 2 batches: 7/200 done since 21 November, 12:00",
    ]
    lines.batch_ended(A, "batch_1")
    lines.batch_ended(A, "batch_2")
    clock.now += 60
    answer(lines, clock, A, 1, 1)
    assert said(lines)[-1].startswith("openai:a iris: 1/100 answered")


def test_a_batch_stands_in_the_row_of_its_llm(bar: ProgressBars, clock: Clock) -> None:
    bar.asks_about(A, "iris")
    answer(bar, clock, A, 10, 1)
    bar.batch(A, "batch_1", time.time(), 3, 140)
    assert "ETA" not in bar.frame(100)[0].plain  # the provider does not say when it will be through
    assert re.search(r"10/100  batch batch_1: 3/140 done since \d\d:\d\d$", bar.frame(100)[0].plain)


def test_many_llms_are_lines_and_a_count_without_a_terminal_too(clock: Clock) -> None:
    lines = ProgressLines(io.StringIO(), clock)
    lines.begin({f"x:{number}": 10 for number in range(10)})
    for llm in lines.llms:
        lines.asks_about(llm, "iris")
    said(lines)
    answer(lines, clock, "x:0", 1, 10)
    printed = said(lines)
    assert len(printed) == 9
    assert printed[-1] == "and 2 more LLMs: 0/20"


def test_a_hostile_name_is_one_line(clock: Clock) -> None:
    lines = ProgressLines(io.StringIO(), clock)
    lines.begin({HOSTILE: 1})
    lines.asks_about(HOSTILE, "a\nb")
    lines.ended(HOSTILE, f"x\ny{HOSTILE}")
    printed = said(lines)
    assert len(printed) == 3
    assert not any("\x1b" in line or "\x00" in line for line in printed)


# --- before and after the LLMs are asked ---


def test_what_is_being_done_is_a_line_within_a_second_and_again_while_it_lasts(clock: Clock) -> None:
    lines = ProgressLines(io.StringIO(), clock)
    with lines.doing("preparing the baseline") as tell:
        clock.now += 0.7
        lines.beat()
        assert said(lines) == ["preparing the baseline"]
        clock.now += 1
        lines.beat()
        assert said(lines) == []
        tell(3, 13)
        for seconds in (3, 5):
            clock.now = 1000 + seconds
            lines.beat()
            assert said(lines) == [f"preparing the baseline 3/13, {seconds} s"]
    clock.now += 60
    lines.beat()
    assert said(lines) == []


def test_what_lasts_a_moment_has_no_line_of_its_own(clock: Clock) -> None:
    lines = ProgressLines(io.StringIO(), clock)
    for name in ("iris", "wine", "titanic"):
        with lines.doing(f"reading {name}"):
            clock.now += 0.4
            lines.beat()
    assert said(lines) == ["reading wine"]


def test_what_ends_at_once_says_nothing(clock: Clock) -> None:
    """A bad input is one line on standard error."""
    lines = ProgressLines(io.StringIO(), clock)
    with pytest.raises(KeyError), lines.doing("reading irsi"):
        raise KeyError
    assert said(lines) == []


@pytest.mark.slow
def test_lines_come_by_themselves_while_something_lasts() -> None:
    """Nothing is silent for more than two seconds."""
    lines = ProgressLines(io.StringIO(), beats=True)
    moments = []
    with lines.doing("reading big.csv"):
        end = time.monotonic() + 5
        while time.monotonic() < end:
            time.sleep(0.05)
            moments += [time.monotonic() for _ in said(lines)]
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    assert len(gaps) >= 1
    assert max(gaps) < 2.5  # on a machine with other work


def beating(until: int) -> int:
    """How many threads look whether a line is due, once there are so many: one that has ended needs a moment for it."""
    end = time.monotonic() + 30
    while True:
        count = sum(thread.name == BEATING for thread in threading.enumerate())
        if count == until or time.monotonic() > end:
            return count
        time.sleep(0.05)


def test_one_thread_beats_and_ends_with_what_it_tells_about() -> None:
    assert beating(until=0) == 0
    lines = ProgressLines(io.StringIO(), beats=True)
    with lines.doing("reading iris"), lines.doing("more of it"):
        assert beating(until=1) == 1
    assert beating(until=0) == 0


def test_what_ends_in_an_error_is_being_done_no_more(clock: Clock) -> None:
    lines = ProgressLines(io.StringIO(), clock)
    with pytest.raises(KeyError), lines.doing("reading iris"):
        raise KeyError
    said(lines)
    clock.now += 60
    lines.beat()
    assert said(lines) == []


def test_llms_that_are_asked_while_a_control_is_built_keep_their_lines(lines: ProgressLines, clock: Clock) -> None:
    lines.asks_about(A, "iris")
    said(lines)
    with lines.doing("building control:exposed for iris"):
        clock.now += 10
        lines.beat()
    assert [line.split()[0] for line in said(lines)] == [A]


def test_a_terminal_shows_what_is_being_done_below_the_llms(bar: ProgressBars, clock: Clock) -> None:
    bar.asks_about(A, "iris")
    with bar.doing(f"building {HOSTILE}\nfor wine") as tell:
        clock.now += 3
        first, second = bar.frame(300)
        assert first.plain.startswith(A)
        assert second.plain.startswith("building ")
        assert second.plain.endswith("for wine, 3 s")
        assert {str(span.style) for span in second.spans} <= {"dim"}
        tell(2, 5)
        assert frame(bar, 300)[1].endswith("for wine 2/5, 3 s")
    assert len(frame(bar)) == 1


def test_a_terminal_has_a_line_from_the_first_thing_that_is_done(clock: Clock) -> None:
    on = console()
    bar = ProgressBars(on, clock)
    with bar.doing("reading iris"):
        assert "reading iris" in written(on)
    with bar.doing("connecting"):
        bar.begin({A: 10})
    assert frame(bar) == []
    bar.end()


# --- which of them ---


def test_silence_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    quiet = progress(quiet=True)
    with quiet.doing("reading iris") as tell:
        tell(1, 2)
    quiet.begin({A: 1})
    quiet.asks_about(A, "iris")
    quiet.waits(A, "429", 5)
    quiet.answered(A, OK)
    quiet.ended(A, "why")
    quiet.end()
    assert capsys.readouterr() == ("", "")
    assert type(quiet) is Progress


@pytest.mark.parametrize(
    ("terminal", "term", "kind"),
    [(True, "xterm", ProgressBars), (True, "dumb", ProgressLines), (False, "", ProgressLines)],
)
def test_a_bar_is_for_a_terminal_that_can_draw_it(
    terminal: bool, term: str, kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.setenv("TERM", term)
    assert type(progress(quiet=False)) is kind


def test_of_parts_that_take_equally_long_the_time_left_is_told(clock: Clock) -> None:
    bar = ProgressBars(console(), clock)
    with bar.doing("simulated runs", evenly=True) as tell:
        assert frame(bar) == ["simulated runs"]
        clock.now += 10
        tell(20, 100)
        assert frame(bar) == ["simulated runs 20/100, 10 s, about 0:40 left"]
        clock.now += 5
        assert frame(bar) == ["simulated runs 20/100, 15 s, about 0:35 left"]
        clock.now += 60
        assert frame(bar) == ["simulated runs 20/100, 75 s"]
        tell(100, 100)
        assert frame(bar) == ["simulated runs 100/100, 75 s"]
    with bar.doing("preparing the baseline") as tell:
        tell(20, 100)
        clock.now += 10
        assert frame(bar) == ["preparing the baseline 20/100, 10 s"]
