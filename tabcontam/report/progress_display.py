"""Progress on standard error: the current step, and a line for each LLM that is being asked.

On a terminal the lines stay in place and show a bar; elsewhere they are printed from time to time.
"""

import os
import sys
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING, TextIO

from tabcontam.asking.run_progress import Progress, Tell
from tabcontam.evidence.base import Answer
from tabcontam.report.bars import ProgressRow, draw_rows
from tabcontam.report.llm_progress import (
    LlmProgress,
    Shrunk,
    batches,
    counts,
    duration,
    pace,
    printable,
    remaining_line,
    short_names,
    state,
    with_llm_name,
)

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.text import Text

Clock = Callable[[], float]

QUIET = 1.5  # seconds without a plain line after which a line names the current step
BEATING = "tabcontam progress"  # the thread that checks
MOST = 8  # LLMs with a line of their own


@dataclass(eq=False)
class _Step:
    """A step that runs since a moment, with `done` of `of` parts done."""

    what: str
    since: float
    done: int = 0
    of: int = 0
    clock: Clock = time.monotonic
    evenly: bool = False
    reported: float = 0.0  # when it was reported last
    note: str = ""

    def report(self, done: int, of: int) -> None:
        """Record that `done` of `of` parts are done."""
        self.done, self.of, self.reported = done, of, self.clock()

    def line(self, now: float) -> str:
        """Return the step's name, how much of it is done, for how long it runs and how long it will, if long."""
        seconds = int(now - self.since)
        part = f" {self.done}/{self.of}" if self.of else ""
        left = self._left(now)
        facts = [self.note, f"{seconds} s" if seconds else "", f"about {left} left" if left else ""]
        return ", ".join([f"{self.what}{part}", *filter(None, facts)])

    def _left(self, now: float) -> str:
        """Return how long the rest takes at the same pace; empty if unknown."""
        if not self.evenly or not 0 < self.done < self.of:
            return ""
        left = (self.reported - self.since) * (self.of / self.done - 1) - (now - self.reported)
        return duration(left) if left > 1 else ""


class _ProgressCounter(Progress):
    """The common part of `ProgressBars` and `ProgressLines`: the current steps and the counts of every LLM."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.llms: dict[str, LlmProgress] = {}
        self._steps: list[_Step] = []
        self._asking = self._shown = False

    @abstractmethod
    def _start(self) -> None:
        """Begin to show something."""

    @abstractmethod
    def _stop(self) -> None:
        """Cease to show anything."""

    def _show_or_stop(self) -> None:
        """Begin or cease to show progress, if work has begun or ended."""
        busy = bool(self._steps) or self._asking
        if busy != self._shown:
            self._shown = busy
            (self._start if busy else self._stop)()

    @contextmanager
    def doing(self, what: str, *, evenly: bool = False) -> Iterator[Tell]:
        """Show a step until the context ends; of several steps the last that was begun is shown."""
        step = _Step(what, self.clock(), clock=self.clock, evenly=evenly)
        self._steps.append(step)
        self._show_or_stop()
        try:
            yield step.report
        finally:
            self._steps.remove(step)
            self._show_or_stop()

    def note(self, words: str) -> None:
        for step in self._steps[-1:]:
            step.note = words

    def begin(self, planned: Mapping[str, int]) -> None:
        self.llms = {llm: LlmProgress(llm, queries) for llm, queries in planned.items()}
        self._asking = True
        self._show_or_stop()

    def end(self) -> None:
        self._asking = False
        self._show_or_stop()

    def more(self, llm: str, queries: int) -> None:
        self._of(llm).planned += queries

    def known(self, llm: str, queries: int) -> None:
        self._of(llm).done += queries

    def asks_about(self, llm: str, dataset: str) -> None:
        """Record that an LLM is asked about a dataset now."""
        self._of(llm).at(dataset, self.clock())

    def answered(self, llm: str, reply: Answer) -> None:
        self._of(llm).answered(reply, self.clock())

    def decided(self, llm: str, dataset: str, asked: int, spared: int) -> None:
        self._of(llm).planned -= spared

    def waits(self, llm: str, kind: str, seconds: float) -> None:
        self._of(llm).waits(kind, seconds, self.clock())

    def limit(self, llm: str, before: int, now: int, kind: str) -> None:
        """Record that an LLM is sent `now` requests at a time from now on; `kind` is why they became fewer."""
        self._of(llm).limited(before, now, kind, self.clock())

    def batch(self, llm: str, batch: str, since: float, done: int, of: int) -> None:
        """Record that `done` of `of` queries of a batch of an LLM are done at its provider."""
        self._of(llm).batches[batch] = (since, done, of)

    def batch_ended(self, llm: str, batch: str) -> None:
        self._of(llm).batches.pop(batch, None)

    def ended(self, llm: str, line: str) -> None:
        self._of(llm).ended = True

    def _of(self, llm: str) -> LlmProgress:
        return self.llms.setdefault(llm, LlmProgress(llm, 0))

    def _under_way(self) -> list[LlmProgress]:
        return [asked for asked in list(self.llms.values()) if asked.under_way]


class ProgressBars(_ProgressCounter):
    """Lines with a bar for each LLM that is being asked, for a terminal, redrawn four times a second."""

    def __init__(self, console: "Console | None" = None, clock: Clock = time.monotonic) -> None:
        super().__init__(clock)
        self._console = console
        self._live: Live | None = None

    def _start(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._console = self._console or Console(stderr=True)
        # standard output belongs to the report, and goes where the user sent it
        self._live = Live(console=self._console, get_renderable=self._drawn, transient=True, redirect_stdout=False)
        self._live.start(refresh=True)

    def ended(self, llm: str, line: str) -> None:
        """Print the reason above the bars at once."""
        from rich.text import Text

        super().ended(llm, line)
        if self._live and self._console:
            self._console.print(Text(printable(with_llm_name(llm, line), self._console.encoding)), soft_wrap=True)

    def _stop(self) -> None:
        if self._live:
            self._live.stop()

    def frame(self, width: int, height: int = 25, encoding: str = "utf-8") -> "list[Text]":
        """Return the current lines, none wider than `width` and no more than fit."""
        from rich.text import Text

        now, under_way, names = self.clock(), self._under_way(), short_names(self.llms)
        most = max(1, min(MOST, height - 2))
        lines = draw_rows(
            [ProgressRow.of(asked, names[asked.llm], now, encoding) for asked in under_way[:most]], width, encoding
        )
        if under_way[most:]:
            lines.append(Text(remaining_line(under_way[most:]), "dim"))
        lines += [Text(printable(step.line(now), encoding), "dim") for step in self._steps[-1:]]
        for line in lines:
            line.truncate(width, overflow="crop")
        return lines

    def _drawn(self) -> "RenderableType":
        from rich.text import Text

        assert self._console is not None  # noqa: S101 - `_start` has set it before anything is drawn
        width, height = self._console.size
        return Text("\n", no_wrap=True).join(self.frame(width, height, self._console.encoding))


class ProgressLines(_ProgressCounter):
    """Plain lines: the current step and the state of every LLM every few seconds, new waits at once.

    With `beats` a thread checks whether a line is due; without, lines are printed only on events.
    """

    def __init__(self, file: TextIO | None = None, clock: Clock = time.monotonic, beats: bool = False) -> None:
        super().__init__(clock)
        self._file = file
        self._beats = beats
        self._ended = Event()
        self._lock = RLock()
        self._line_printed: float | None = None  # when any line was printed last
        self._all_printed = self._asked_since = 0.0
        self._batch_printed: dict[str, float] = {}
        self._news_printed: dict[str, tuple[float, str | None, Shrunk | None]] = {}

    def _start(self) -> None:
        soon = 0.5  # seconds until its first line; a bad input is found earlier and is a line of its own
        if self._line_printed is None:
            self._line_printed = self.clock() - QUIET + soon
        if self._beats:
            self._ended = Event()
            Thread(target=self._beat_until, args=(self._ended,), name=BEATING, daemon=True).start()

    def _stop(self) -> None:
        self._ended.set()

    def _beat_until(self, ended: Event) -> None:
        while not ended.wait(self._until_due()):
            self.beat()

    # tick: seconds between two checks whether a plain line is due
    # soonest: least seconds between two checks
    def _until_due(self, *, tick: float = 0.25, soonest: float = 0.05) -> float:
        """Return the seconds until the next check: fewer when a line is nearly due, since each step waits again."""
        with self._lock:
            left = tick if self._line_printed is None else self._line_printed + QUIET - self.clock()
        return max(soonest, left) if -tick < left < tick else tick

    # first: seconds in which lines count all answers, too; without them later, a long log stays readable
    def beat(self, *, first: float = 300.0) -> None:
        """Print the lines that are due now."""
        now = self.clock()
        with self._lock:
            self._print_due(now)
            if self._line_printed is None or now - self._line_printed < QUIET:
                return
            for step in self._steps[-1:]:
                self._print(step.line(now))
            if self._asking and not self._steps and now - self._asked_since < first:
                llms = self.llms.values()
                answered, planned = sum(asked.done for asked in llms), sum(asked.planned for asked in llms)
                self._print(f"{answered}/{planned} answered, {int(now - self._asked_since)} s")

    def begin(self, planned: Mapping[str, int]) -> None:
        """Print the number of planned queries."""
        self._all_printed = self._asked_since = self.clock()
        super().begin(planned)
        self._print(f"{sum(planned.values())} queries planned")

    def known(self, llm: str, queries: int) -> None:
        """Print the number of queries that had an answer before."""
        super().known(llm, queries)
        if queries:
            self._print(f"{llm}: {queries} of {self._of(llm).planned} answered already")

    def asks_about(self, llm: str, dataset: str) -> None:
        """Print the dataset that is asked about now."""
        super().asks_about(llm, dataset)
        self._print(f"{llm}: asked about {dataset}")

    def answered(self, llm: str, reply: Answer) -> None:
        """Count an answer, and print the count from time to time and after the last answer."""
        super().answered(llm, reply)
        asked = self._of(llm)
        if asked.done == asked.planned:
            self._print(f"{llm}: {', '.join(counts(asked))}")
        self._print_due_or_news(asked)

    def decided(self, llm: str, dataset: str, asked: int, spared: int) -> None:
        """Print after how many queries the row tests ended."""
        super().decided(llm, dataset, asked, spared)
        self._print(f"{llm}: {dataset}: its row tests ended after {asked} queries")

    def waits(self, llm: str, kind: str, seconds: float) -> None:
        """Print the reason for a wait, if it is news."""
        super().waits(llm, kind, seconds)
        self._print_due_or_news(self._of(llm))

    def batch(self, llm: str, batch: str, since: float, done: int, of: int) -> None:
        """Print the batch's progress if it is news, and from time to time."""
        batch_every = 600.0  # seconds between plain lines about a batch without news
        known = self._of(llm).batches.get(batch)
        super().batch(llm, batch, since, done, of)
        now = self.clock()
        if known != (since, done, of) or now - self._batch_printed.get(batch, 0.0) >= batch_every:
            self._batch_printed[batch] = now
            self._print(f"{llm}: {batches(self._of(llm))}")

    def ended(self, llm: str, line: str) -> None:
        """Print why an LLM is asked nothing more."""
        super().ended(llm, line)
        self._print(with_llm_name(llm, line))

    def _print_due_or_news(self, asked: LlmProgress) -> None:
        """Print the lines that are due now or, if none is, the LLM's news."""
        now = self.clock()
        with self._lock:
            if not self._print_due(now) and asked.under_way:
                self._print_news(asked, now)

    # every: seconds between plain lines about each LLM that is asked
    def _print_due(self, now: float, *, every: float = 10.0) -> bool:
        """Print the state of every LLM if that is due, and return whether it was."""
        if not self._asking or now - self._all_printed < every:
            return False
        self._all_printed = now
        under_way = [asked for asked in self._under_way() if not asked.batches]  # batches are reported when checked
        for asked in under_way[:MOST]:
            facts = [*counts(asked), *pace(asked, now), state(asked, now, " to ", settled=True)]
            self._print(f"{asked.llm} {asked.dataset}: {', '.join(filter(None, facts))}")
            self._news_printed[asked.llm] = (now, *_trouble(asked, now))
        if under_way[MOST:]:
            self._print(remaining_line(under_way[MOST:]))
        return True

    # waits_every: seconds between plain lines about what one LLM waits for
    def _print_news(self, asked: LlmProgress, now: float, *, waits_every: float = 5.0) -> None:
        """Print the reason for which an LLM waits if it is new; fewer seconds left are not news."""
        kind, shrunk = _trouble(asked, now)
        moment, known_kind, known_shrunk = self._news_printed.get(asked.llm, (-waits_every, None, None))
        if kind is None and known_kind is not None:  # the wait is over, so another one is news again
            self._news_printed[asked.llm] = (moment, None, known_shrunk)
        news = (kind is not None and kind != known_kind) or (shrunk is not None and shrunk != known_shrunk)
        if news and now - moment >= waits_every:
            self._news_printed[asked.llm] = (now, kind, shrunk)
            self._print(f"{asked.llm}: {state(asked, now, ' to ')}")

    def _print(self, line: str) -> None:
        file = self._file or sys.stderr
        with self._lock:
            self._line_printed = self.clock()
            print(printable(line, file.encoding or "ascii"), file=file, flush=True)


def progress(quiet: bool) -> Progress:
    """Return the progress display that suits standard error."""
    if quiet:
        return Progress()
    drawable = sys.stderr.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")
    return ProgressBars() if drawable else ProgressLines(beats=True)


def _trouble(asked: LlmProgress, now: float) -> tuple[str | None, Shrunk | None]:
    waiting = asked.waiting(now)
    return waiting[0] if waiting else None, asked.shrunk(now)
