"""One reading of a corpus that answers many lookups at once, with as many processes as there are processors.

The matches in a portion depend only on the portion, and they are joined in the order of the portions. So the answers do
not depend on the number or the speed of the processes.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import BinaryIO, cast

from tabcontam.errors import UsageError
from tabcontam.evidence.questions import Lookup
from tabcontam.extensions.corpora.search.corpus_search import CorpusSearch
from tabcontam.extensions.corpora.search.documents import Portion
from tabcontam.extensions.corpora.search.file_forms import FileForm
from tabcontam.extensions.corpora.search.lookup_matches import LookupMatches
from tabcontam.extensions.corpora.search.portions import read
from tabcontam.extensions.corpora.search.tally import Tally
from tabcontam.processes import code_to_run, processors, read_value, start_process, write_value

START = code_to_run("tabcontam.extensions.corpora.search.corpus_pass")

ReportBytes = Callable[[int, int], None]  # bytes that were read, bytes of all files


class SearchStoppedError(Exception):
    """The user ended the search."""


class ProcessLostError(Exception):
    """The error for a search process that ended before its work was done. The message is one line."""


@dataclass(frozen=True)
class SearchJob:
    """A portion to search, and the numbers of the lookups that are `over`: no more documents are counted for them."""

    portion: Portion
    over: Sequence[int]


@dataclass(frozen=True)
class SearchNews:
    """A message of a search process: the bytes that it has `read`, what it `found` in a portion, or its last error."""

    read: int = 0
    found: dict[int, LookupMatches] | None = None
    tally: Tally = field(default_factory=Tally)
    error: str = ""
    mistake: bool = False  # whether the error is one that the user can mend


@dataclass(eq=False)
class CorpusPass:
    """A reading of `portions` that answers `lookups` and calls `report` with its progress. Any thread may stop it."""

    lookups: Sequence[Lookup]
    portions: Sequence[Portion]
    report: ReportBytes = lambda done, of: None
    workers: int = 0  # 0: as many as there are processors
    matches: list[LookupMatches] = field(init=False)
    tally: Tally = field(default_factory=Tally)
    _stop: Event = field(default_factory=Event)
    _processes: list["subprocess.Popen[bytes]"] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)
    _waiting: dict[int, tuple[dict[int, LookupMatches], Tally]] = field(default_factory=dict)
    _joined: int = 0
    _read: dict[int, int] = field(default_factory=dict)
    _left: Iterator[int] = field(default_factory=lambda: iter(()))

    def __post_init__(self) -> None:
        self.matches = [LookupMatches(lookup.most) for lookup in self.lookups]

    # small: bytes; a smaller corpus is searched in less time than a process needs to start
    def run(self, *, small: int = 16 << 20) -> None:
        """Read the portions and search them.

        Raises `SearchStoppedError` if `stop` was called, `ProcessLostError`, and `UsageError` as `read` does.
        """
        self.report(0, self._size)
        self._left = iter(range(len(self.portions)))
        workers = min(self.workers or processors(), len(self.portions))
        if not self.workers and (self._size < small or not sys.executable):
            search = CorpusSearch(self.lookups)
            for place in self._places():
                tally, portion = Tally(), self.portions[place]
                self._join(place, _searched(search, portion, self._over(), tally, self._reporter(place)), tally)
        else:
            self._with_processes(workers)
        if self._stop.is_set():
            raise SearchStoppedError

    def stop(self) -> None:
        """End the reading: `run` raises `SearchStoppedError`."""
        self._stop.set()
        for process in list(self._processes):
            process.kill()

    @property
    def _size(self) -> int:
        return sum(portion.weight for portion in self.portions)

    def _with_processes(self, workers: int) -> None:
        with ThreadPoolExecutor(workers) as pool:
            working = [pool.submit(self._work) for _ in range(workers)]
            try:
                for worker in working:
                    worker.result()
            except BaseException:
                self._left = iter(())
                for process in list(self._processes):
                    process.kill()
                raise

    def _places(self) -> Iterator[int]:
        """Yield the index of each portion that no worker has begun yet."""
        while not self._stop.is_set():
            with self._lock:
                place = next(self._left, None)
            if place is None:
                return
            yield place

    def _work(self) -> None:
        """Start a process and have it search one portion after the other."""
        with start_process(START, {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}) as process:
            self._processes.append(process)
            given, output = cast(BinaryIO, process.stdin), cast(BinaryIO, process.stdout)
            with suppress(BrokenPipeError, EOFError):
                write_value(given, self.lookups, Sequence[Lookup])
                for place in self._places():
                    write_value(given, SearchJob(self.portions[place], self._over()), SearchJob)
                    self._receive(place, output)
            with suppress(BrokenPipeError):
                given.close()
            if process.wait() and not self._stop.is_set():
                raise ProcessLostError("a process that searched the corpus ended early; there may be too little memory")

    def _receive(self, place: int, output: BinaryIO) -> None:
        """Receive the progress and the result of a process for the portion with index `place`."""
        report = self._reporter(place)
        while (news := read_value(output, SearchNews)).found is None:
            if news.error:
                raise UsageError(news.error) if news.mistake else ProcessLostError(news.error)
            report(news.read)
        self._join(place, news.found, news.tally)

    def _reporter(self, place: int) -> Callable[[int], None]:
        """Return a function that adds a number of bytes, just searched in this portion, to the progress."""
        weight = self.portions[place].weight

        def report(size: int) -> None:
            if self._stop.is_set():
                raise SearchStoppedError
            with self._lock:  # compressed text may be longer than its file
                self._read[place] = min(self._read.get(place, 0) + size, weight)
                self.report(sum(self._read.values()), self._size)

        return report

    def _join(self, place: int, found: dict[int, LookupMatches], tally: Tally) -> None:
        """Add the matches of a portion to the result, as soon as all portions before it have been added."""
        with self._lock:
            self._read[place] = self.portions[place].weight
            self._waiting[place] = found, tally
            while (ready := self._waiting.pop(self._joined, None)) is not None:
                for number, counted in ready[0].items():
                    self.matches[number].join(counted)
                self.tally.add(ready[1])
                self._joined += 1
            self.report(sum(self._read.values()), self._size)

    def _over(self) -> list[int]:
        with self._lock:
            return [number for number, counted in enumerate(self.matches) if counted.full]


def _searched(
    search: CorpusSearch, portion: Portion, over: Sequence[int], tally: Tally, report: Callable[[int], None]
) -> dict[int, LookupMatches]:
    goes_on = portion.form is FileForm.TEXT and portion.plain and portion.end < portion.size
    return search.find_matches(read(portion, tally=tally), goes_on, over, report)


def main() -> None:
    """Search portions for lookups: standard input has the lookups, then a `SearchJob` for each portion.

    Standard output has `SearchNews`: the bytes of each block searched, and for each portion what was found, or an
    error.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run handles Ctrl-C, and ends this process
    given, output = sys.stdin.buffer, cast(BinaryIO, sys.stdout.buffer)

    def report(size: int) -> None:
        write_value(output, SearchNews(read=size), SearchNews)

    search = CorpusSearch(read_value(given, Sequence[Lookup]))
    with suppress(EOFError):
        while True:
            job, tally = read_value(given, SearchJob), Tally()
            try:
                news = SearchNews(found=_searched(search, job.portion, job.over, tally, report), tally=tally)
            except UsageError as error:
                news = SearchNews(error=str(error), mistake=True)
            except Exception as error:  # the process of the run reports any error
                news = SearchNews(error=f"{job.portion.name}: {type(error).__name__}: {error}"[:500])
            write_value(output, news, SearchNews)
            if news.error:
                return
