"""Progress on standard error: the current step, and a line for each LLM that is being asked.

A terminal shows a bar in each line and redraws it in place. Elsewhere, new lines are printed from time to time.
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
from tabcontam.report.bars import draw_rows
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
from tabcontam.verdicts.sequential_test import SequentialOutcome

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.text import Text

Clock = Callable[[], float]

QUIET = 1.5  # seconds without output after which a line names the current step
BEATING = "tabcontam progress"  # the name of the thread that prints lines when they are due
MOST = 8  # most LLMs with a line each


@dataclass(eq=False)
class _Step:
    """A step of work that started at `since`. `done` of its `of` parts are done."""

    what: str
    since: float
    done: int = 0
    of: int = 0
    clock: Clock = time.monotonic
    evenly: bool = False
    reported: float = 0.0  # time of the last report
    note: str = ""

    def report(self, done: int, of: int) -> None:
        """Record that `done` of `of` parts are done."""
        self.done, self.of, self.reported = done, of, self.clock()

    def line(self, now: float) -> str:
        """Return the step's name, the parts done and, if it takes long, the time so far and the time left."""
        seconds = int(now - self.since)
        part = f" {self.done}/{self.of}" if self.of else ""
        left = self._left(now)
        facts = [self.note, f"{seconds} s" if seconds else "", f"about {left} left" if left else ""]
        return ", ".join([f"{self.what}{part}", *filter(None, facts)])

    def _left(self, now: float) -> str:
        if not self.evenly or not 0 < self.done < self.of:
            return ""
        left = (self.reported - self.since) * (self.of / self.done - 1) - (now - self.reported)
        return duration(left) if left > 1 else ""


class _ProgressCounter(Progress):
    """The common part of `ProgressBars` and `ProgressLines`: the current steps, and the counts of each LLM."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.llms: dict[str, LlmProgress] = {}
        self._steps: list[_Step] = []
        self._asking = self._shown = False

    @abstractmethod
    def _start(self) -> None: ...

    @abstractmethod
    def _stop(self) -> None: ...

    @abstractmethod
    def _say(self, line: str) -> None: ...

    def _show_or_stop(self) -> None:
        """Start the display once work has begun, and stop it once all work has ended."""
        busy = bool(self._steps) or self._asking
        if busy != self._shown:
            self._shown = busy
            (self._start if busy else self._stop)()

    @contextmanager
    def doing(self, what: str, *, evenly: bool = False) -> Iterator[Tell]:
        """Show the step of work `what` until the context ends. Of several running steps, the newest is shown."""
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
        self._of(llm).at(dataset, self.clock())

    def answered(self, llm: str, reply: Answer) -> None:
        self._of(llm).answered(reply, self.clock())

    def decided(self, llm: str, dataset: str, outcome: SequentialOutcome, spared: int) -> None:
        self._of(llm).planned -= spared
        self._say(f"{llm}: {dataset}: {outcome}")

    def waits(self, llm: str, kind: str, seconds: float) -> None:
        self._of(llm).waits(kind, seconds, self.clock())

    def limit(self, llm: str, before: int, now: int, kind: str) -> None:
        """Record that an LLM is now sent at most `now` requests at a time. `kind` is the reason for a decrease."""
        self._of(llm).limited(before, now, kind, self.clock())

    def batch(self, llm: str, batch: str, since: float, done: int, of: int) -> None:
        self._of(llm).batches[batch] = (since, done, of)

    def batch_ended(self, llm: str, batch: str) -> None:
        self._of(llm).batches.pop(batch, None)

    def ended(self, llm: str, line: str) -> None:
        """Say at once why the LLM is not asked any more."""
        self._of(llm).ended = True
        self._say(with_llm_name(llm, line))

    def _of(self, llm: str) -> LlmProgress:
        return self.llms.setdefault(llm, LlmProgress(llm, 0))

    def _under_way(self) -> list[LlmProgress]:
        return [asked for asked in list(self.llms.values()) if asked.under_way]


class ProgressBars(_ProgressCounter):
    """A line with a bar for each LLM that is being asked. A terminal shows the lines, redrawn four times a second."""

    def __init__(self, console: "Console | None" = None, clock: Clock = time.monotonic) -> None:
        super().__init__(clock)
        self._console = console
        self._live: Live | None = None

    def _start(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._console = self._console or Console(stderr=True)
        # standard output is for the report, and may be redirected
        self._live = Live(console=self._console, get_renderable=self._drawn, transient=True, redirect_stdout=False)
        self._live.start(refresh=True)

    def _say(self, line: str) -> None:
        """Print a line above the bars."""
        from rich.text import Text

        if self._live and self._console:
            self._console.print(Text(printable(line, self._console.encoding)), soft_wrap=True)

    def _stop(self) -> None:
        if self._live:
            self._live.stop()

    def frame(self, width: int, height: int = 25, encoding: str = "utf-8") -> "list[Text]":
        """Return the current lines, each at most `width` wide and as many as fit into `height`."""
        from rich.text import Text

        now, under_way, names = self.clock(), self._under_way(), short_names(self.llms)
        most = max(1, min(MOST, height - 2))
        lines = draw_rows({names[asked.llm]: asked for asked in under_way[:most]}, now, width, encoding)
        if under_way[most:]:
            lines.append(Text(remaining_line(under_way[most:]), "dim"))
        lines += [Text(printable(step.line(now), encoding), "dim") for step in self._steps[-1:]]
        for line in lines:
            line.truncate(width, overflow="crop")
        return lines

    def _drawn(self) -> "RenderableType":
        from rich.text import Text

        assert self._console is not None  # noqa: S101 - `_start` sets it before anything is drawn
        width, height = self._console.size
        return Text("\n", no_wrap=True).join(self.frame(width, height, self._console.encoding))


class ProgressLines(_ProgressCounter):
    """Plain lines: every few seconds the current step and the state of each LLM; at once, that an LLM has to wait.

    With `beats`, a thread prints lines when they are due. Otherwise lines are printed only on events.
    """

    def __init__(self, file: TextIO | None = None, clock: Clock = time.monotonic, beats: bool = False) -> None:
        super().__init__(clock)
        self._file = file
        self._beats = beats
        self._ended = Event()
        self._lock = RLock()
        self._line_printed: float | None = None  # time of the last line of any kind
        self._all_printed = self._asked_since = 0.0
        self._batch_printed: dict[str, float] = {}
        self._news_printed: dict[str, tuple[float, str | None, Shrunk | None]] = {}

    def _start(self) -> None:
        soon = 0.5  # seconds until the first line; an input error, found earlier, then stands alone
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

    # tick: seconds between two checks for a due line
    # soonest: least seconds between two checks
    def _until_due(self, *, tick: float = 0.25, soonest: float = 0.05) -> float:
        """Return the seconds to sleep until the next check whether a line is due."""
        with self._lock:
            left = tick if self._line_printed is None else self._line_printed + QUIET - self.clock()
        return max(soonest, left) if -tick < left < tick else tick

    # first: seconds in which lines also count all answers; later lines omit the count to keep a long log readable
    def beat(self, *, first: float = 300.0) -> None:
        """Print the lines that are now due."""
        now = self.clock()
        with self._lock:
            self._print_due(now)
            if self._line_printed is None or now - self._line_printed < QUIET:
                return
            for step in self._steps[-1:]:
                self._say(step.line(now))
            if self._asking and not self._steps and now - self._asked_since < first:
                llms = self.llms.values()
                answered, planned = sum(asked.done for asked in llms), sum(asked.planned for asked in llms)
                self._say(f"{answered}/{planned} answered, {int(now - self._asked_since)} s")

    def begin(self, planned: Mapping[str, int]) -> None:
        self._all_printed = self._asked_since = self.clock()
        super().begin(planned)
        self._say(f"{sum(planned.values())} queries planned")

    def known(self, llm: str, queries: int) -> None:
        super().known(llm, queries)
        if queries:
            self._say(f"{llm}: {queries} of {self._of(llm).planned} answered already")

    def asks_about(self, llm: str, dataset: str) -> None:
        super().asks_about(llm, dataset)
        self._say(f"{llm}: asked about {dataset}")

    def answered(self, llm: str, reply: Answer) -> None:
        """Count an answer. Print the count from time to time, and after the last answer."""
        super().answered(llm, reply)
        asked = self._of(llm)
        if asked.done == asked.planned:
            self._say(f"{llm}: {', '.join(counts(asked))}")
        self._print_due_or_news(asked)

    def waits(self, llm: str, kind: str, seconds: float) -> None:
        super().waits(llm, kind, seconds)
        self._print_due_or_news(self._of(llm))

    def batch(self, llm: str, batch: str, since: float, done: int, of: int) -> None:
        """Print a batch's progress if it has changed, and otherwise from time to time."""
        batch_every = 600.0  # seconds between lines about an unchanged batch
        known = self._of(llm).batches.get(batch)
        super().batch(llm, batch, since, done, of)
        now = self.clock()
        if known != (since, done, of) or now - self._batch_printed.get(batch, 0.0) >= batch_every:
            self._batch_printed[batch] = now
            self._say(f"{llm}: {batches(self._of(llm))}")

    def _print_due_or_news(self, asked: LlmProgress) -> None:
        """Print the lines that are now due or, if none is due, a new reason for a wait of this LLM."""
        now = self.clock()
        with self._lock:
            if not self._print_due(now) and asked.under_way:
                self._print_news(asked, now)

    # every: seconds between two lines about the same LLM
    def _print_due(self, now: float, *, every: float = 10.0) -> bool:
        """Print the state of each LLM if `every` seconds have passed since the last time. Return whether they have."""
        if not self._asking or now - self._all_printed < every:
            return False
        self._all_printed = now
        under_way = [asked for asked in self._under_way() if not asked.batches]  # batches are reported when checked
        for asked in under_way[:MOST]:
            facts = [*counts(asked), *pace(asked, now), state(asked, now, " to ", settled=True)]
            self._say(f"{asked.llm} {asked.dataset}: {', '.join(filter(None, facts))}")
            self._news_printed[asked.llm] = (now, *_trouble(asked, now))
        if under_way[MOST:]:
            self._say(remaining_line(under_way[MOST:]))
        return True

    # waits_every: seconds between two lines about the waits of one LLM
    def _print_news(self, asked: LlmProgress, now: float, *, waits_every: float = 5.0) -> None:
        """Print the reason for an LLM's wait if the reason is new. A shorter remaining time is not news."""
        kind, shrunk = _trouble(asked, now)
        moment, known_kind, known_shrunk = self._news_printed.get(asked.llm, (-waits_every, None, None))
        if kind is None and known_kind is not None:  # the wait is over, so the next wait is news
            self._news_printed[asked.llm] = (moment, None, known_shrunk)
        news = (kind is not None and kind != known_kind) or (shrunk is not None and shrunk != known_shrunk)
        if news and now - moment >= waits_every:
            self._news_printed[asked.llm] = (now, kind, shrunk)
            self._say(f"{asked.llm}: {state(asked, now, ' to ')}")

    def _say(self, line: str) -> None:
        file = self._file or sys.stderr
        with self._lock:
            self._line_printed = self.clock()
            print(printable(line, file.encoding or "ascii"), file=file, flush=True)


def progress(quiet: bool) -> Progress:
    """Return the progress display for standard error: bars on a terminal, lines elsewhere, nothing if `quiet`."""
    if quiet:
        return Progress()
    drawable = sys.stderr.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")
    return ProgressBars() if drawable else ProgressLines(beats=True)


def _trouble(asked: LlmProgress, now: float) -> tuple[str | None, Shrunk | None]:
    waiting = asked.waiting(now)
    return waiting[0] if waiting else None, asked.shrunk(now)
