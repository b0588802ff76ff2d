"""Progress on standard error: a line for each LLM that is being asked.

On a terminal the lines stay in place and show a bar; elsewhere they are printed from time to time.
"""

import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TextIO

from tabcontam.evidence.base import Reply
from tabcontam.report.asked import Asked, Shrunk, counts, named, pace, printable, rest, short_names, state
from tabcontam.report.bars import Row, drawn

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.text import Text

Clock = Callable[[], float]

EVERY = 10.0  # seconds between plain lines
WAITS_EVERY = 5.0  # seconds between plain lines about what one LLM waits for
MOST = 8  # LLMs with a line of their own


class Silent:
    """Nothing at all, for `-q` and for library use."""

    def begin(self, planned: Mapping[str, int]) -> None:
        """So many queries are planned for each LLM, in this order."""

    def known(self, llm: str, queries: int) -> None:
        """So many queries of this LLM were answered before."""

    def at(self, llm: str, dataset: str) -> None:
        """This LLM is asked about this dataset now."""

    def answered(self, llm: str, reply: Reply) -> None:
        """One query of this LLM has its reply."""

    def waits(self, llm: str, kind: str, seconds: float) -> None:
        """A request of this LLM is sent again after so many seconds."""

    def limit(self, llm: str, before: int, now: int, kind: str) -> None:
        """This LLM is sent so many requests at a time from now on; `kind` says why they became fewer."""

    def ended(self, llm: str, line: str) -> None:
        """This LLM is asked nothing more, and why."""

    def end(self) -> None:
        """Nothing more is asked."""


class _Counting(Silent):
    """What `Bar` and `Lines` share: they keep count of every LLM."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.llms: dict[str, Asked] = {}

    def begin(self, planned: Mapping[str, int]) -> None:
        """So many queries are planned for each LLM, in this order."""
        self.llms = {llm: Asked(llm, queries) for llm, queries in planned.items()}

    def known(self, llm: str, queries: int) -> None:
        """So many queries of this LLM were answered before."""
        self._of(llm).done += queries

    def at(self, llm: str, dataset: str) -> None:
        """This LLM is asked about this dataset now."""
        self._of(llm).at(dataset, self.clock())

    def answered(self, llm: str, reply: Reply) -> None:
        """One query of this LLM has its reply."""
        self._of(llm).answered(reply, self.clock())

    def waits(self, llm: str, kind: str, seconds: float) -> None:
        """A request of this LLM is sent again after so many seconds."""
        self._of(llm).waits(kind, seconds, self.clock())

    def limit(self, llm: str, before: int, now: int, kind: str) -> None:
        """This LLM is sent so many requests at a time from now on; `kind` says why they became fewer."""
        self._of(llm).limited(before, now, kind, self.clock())

    def ended(self, llm: str, line: str) -> None:
        """This LLM is asked nothing more, and why."""
        self._of(llm).ended = True

    def _of(self, llm: str) -> Asked:
        if llm not in self.llms:
            self.llms[llm] = Asked(llm, 0)
        return self.llms[llm]

    def _under_way(self) -> list[Asked]:
        return [asked for asked in list(self.llms.values()) if asked.under_way]


class Bar(_Counting):
    """A line with a bar for each LLM that is being asked, for a terminal. They are drawn anew four times a second."""

    def __init__(self, console: "Console | None" = None, clock: Clock = time.monotonic) -> None:
        super().__init__(clock)
        self._console = console
        self._live: Live | None = None

    def begin(self, planned: Mapping[str, int]) -> None:
        """Show the lines."""
        from rich.console import Console
        from rich.live import Live

        super().begin(planned)
        self._console = self._console or Console(stderr=True)
        # standard output is the report's own, and goes where the user sent it
        self._live = Live(console=self._console, get_renderable=self._drawn, transient=True, redirect_stdout=False)
        self._live.start()

    def ended(self, llm: str, line: str) -> None:
        """Say so above the bars, at once."""
        from rich.text import Text

        super().ended(llm, line)
        if self._live and self._console:
            self._console.print(Text(printable(named(llm, line), self._console.encoding)), soft_wrap=True)

    def end(self) -> None:
        """Take the lines away."""
        if self._live:
            self._live.stop()

    def frame(self, width: int, height: int = 25, encoding: str = "utf-8") -> "list[Text]":
        """The lines as they are now, none wider than `width` and no more than fit."""
        from rich.text import Text

        now, under_way, names = self.clock(), self._under_way(), short_names(self.llms)
        most = max(1, min(MOST, height - 2))
        lines = drawn([Row.of(asked, names[asked.llm], now, encoding) for asked in under_way[:most]], width, encoding)
        if under_way[most:]:
            lines.append(Text(rest(under_way[most:]), "dim"))
        for line in lines:
            line.truncate(width, overflow="crop")
        return lines

    def _drawn(self) -> "RenderableType":
        from rich.text import Text

        assert self._console is not None  # noqa: S101 (begin has set it)
        width, height = self._console.size
        return Text("\n", no_wrap=True).join(self.frame(width, height, self._console.encoding))


class Lines(_Counting):
    """Plain lines: what every LLM is at, every few seconds, and at once what it begins to wait for."""

    def __init__(self, file: TextIO | None = None, clock: Clock = time.monotonic) -> None:
        super().__init__(clock)
        self._file = file
        self._last = 0.0
        self._told: dict[str, tuple[float, str | None, Shrunk | None]] = {}

    def begin(self, planned: Mapping[str, int]) -> None:
        """Say how many queries are planned."""
        super().begin(planned)
        self._last = self.clock()
        self._say(f"{sum(planned.values())} queries planned")

    def known(self, llm: str, queries: int) -> None:
        """Say how many had an answer before."""
        super().known(llm, queries)
        if queries:
            self._say(f"{llm}: {queries} of {self._of(llm).planned} answered already")

    def at(self, llm: str, dataset: str) -> None:
        """Say what is asked now."""
        super().at(llm, dataset)
        self._say(f"{llm}: asked about {dataset}")

    def answered(self, llm: str, reply: Reply) -> None:
        """Count, and say so from time to time and after the last."""
        super().answered(llm, reply)
        asked = self._of(llm)
        if asked.done == asked.planned:
            self._say(f"{llm}: {', '.join(counts(asked))}")
        self._tell(asked)

    def waits(self, llm: str, kind: str, seconds: float) -> None:
        """Say what is waited for, where it is news."""
        super().waits(llm, kind, seconds)
        self._tell(self._of(llm))

    def ended(self, llm: str, line: str) -> None:
        """Say why."""
        super().ended(llm, line)
        self._say(named(llm, line))

    def _tell(self, asked: Asked) -> None:
        """Say what is due now."""
        now = self.clock()
        if now - self._last >= EVERY:
            self._last = now
            self._tell_all(now)
        elif asked.under_way:
            self._tell_news(asked, now)

    def _tell_all(self, now: float) -> None:
        under_way = self._under_way()
        for asked in under_way[:MOST]:
            now_at = state(asked, now, " to ", settled=True)
            facts = [*counts(asked), *pace(asked, now), *([now_at] if now_at else [])]
            self._say(f"{asked.llm} {asked.dataset}: {', '.join(facts)}")
            self._told[asked.llm] = (now, *_trouble(asked, now))
        if under_way[MOST:]:
            self._say(rest(under_way[MOST:]))

    def _tell_news(self, asked: Asked, now: float) -> None:
        """Say what an LLM waits for, if that is new; that the seconds run is not."""
        kind, shrunk = _trouble(asked, now)
        moment, known_kind, known_shrunk = self._told.get(asked.llm, (-WAITS_EVERY, None, None))
        if kind is None and known_kind is not None:  # the wait is over: another one is news again
            self._told[asked.llm] = (moment, None, known_shrunk)
        news = (kind is not None and kind != known_kind) or (shrunk is not None and shrunk != known_shrunk)
        if news and now - moment >= WAITS_EVERY:
            self._told[asked.llm] = (now, kind, shrunk)
            self._say(f"{asked.llm}: {state(asked, now, ' to ')}")

    def _say(self, line: str) -> None:
        file = self._file or sys.stderr
        print(printable(line, file.encoding or "ascii"), file=file, flush=True)


def progress(quiet: bool) -> Silent:
    """What suits standard error."""
    if quiet:
        return Silent()
    drawable = sys.stderr.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")
    return Bar() if drawable else Lines()


def _trouble(asked: Asked, now: float) -> tuple[str | None, Shrunk | None]:
    waiting = asked.waiting(now)
    return waiting[0] if waiting else None, asked.shrunk(now)
