"""The provider `corpus:`, which looks up texts in a corpus on this machine.

It collects the waiting lookups of a run and answers all of them in one reading. Nothing is sent anywhere.
"""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from tabcontam.errors import UsageError, one_line
from tabcontam.evidence.questions import Capability, Lookup, Matches, ReplyState
from tabcontam.extensions.corpora.search.corpus_files import CorpusFiles, corpus_files
from tabcontam.extensions.corpora.search.corpus_index import CorpusIndex
from tabcontam.extensions.corpora.search.digest import digest
from tabcontam.extensions.corpora.search.documents import Portion
from tabcontam.extensions.corpora.search.lookup_matches import LookupMatches
from tabcontam.extensions.corpora.search.portions import portions
from tabcontam.extensions.corpora.search.tally import Tally
from tabcontam.models.base import Doing, FatalError, Model, ModelRequest, PromptForm
from tabcontam.models.provider_record import Provider

if TYPE_CHECKING:
    from tabcontam.extensions.corpora.search.corpus_pass import CorpusPass

AT_ONCE = 1 << 20  # the most lookups that wait for one reading
QUIET = 0.3  # seconds without a new lookup after which the reading begins


class CorpusModel(Model):
    """A model that answers lookups in these files. `connect` raises `UsageError` if a path does not exist."""

    local = True
    form = PromptForm.CHAT
    capabilities = frozenset({Capability.SEARCH})
    connections = AT_ONCE

    def __init__(self, typed: str, spec: str = "") -> None:
        self.spec = spec or f"corpus:{typed}"
        self._typed = typed
        self._files: CorpusFiles | None = None
        self._portions: Sequence[Portion] = ()
        self._doing: Doing = lambda what: nullcontext(lambda done, of: None)
        self._waiting: list[tuple[Lookup, asyncio.Future[Matches]]] = []
        self._reading: asyncio.Task[None] | None = None
        self._pass: CorpusPass | None = None
        self._stopped = False
        self._printed: set[str] = set()

    @property
    def identity(self) -> Mapping[str, str]:
        """The key of stored replies, equal for all corpora. The version, a digest of the content, differs."""
        meaning = 1  # raised when the same lookup and documents give other matches
        return {"provider": "corpus", "address": "", "model": f"documents {meaning}"}

    def check_at_hand(self) -> None:
        """Raise `UsageError` if a path does not exist."""
        corpus_files(self._typed)

    async def connect(self) -> None:
        """List the files, split them into portions, and compute the version. Raises `UsageError`."""
        most_named = 5  # the most unread paths that a message names
        if self._files is not None:
            return
        files = await asyncio.to_thread(corpus_files, self._typed)
        self._portions = await asyncio.to_thread(portions, files)
        self.version = (await asyncio.to_thread(digest, files))[:32]
        self._files = files
        if files.skipped:
            named = ", ".join(f"{name} ({reason})" for name, reason in files.skipped[:most_named])
            more = f" and {len(files.skipped) - most_named:,} more" if len(files.skipped) > most_named else ""
            self.unread = f"not read: {named}{more}"
            self._print_once(self.unread)

    def shown_by(self, doing: Doing) -> None:
        """Store `doing`, which shows the progress of the reading."""
        self._doing = doing

    async def search(self, request: ModelRequest) -> Matches:
        """Return the matches, after the reading of the corpus that answers this lookup and all others that wait."""
        if self._files is None:
            return Matches((), 0, ReplyState.FAILED, f"{self.spec} was asked before it was connected")
        answer: asyncio.Future[Matches] = asyncio.get_running_loop().create_future()
        self._waiting.append((request.lookup, answer))
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read())
        return await answer

    def stop(self) -> None:
        """End the reading. Its lookups get no answer, and the next run of the same command asks them again."""
        self._stopped = True
        if self._pass is not None:
            self._pass.stop()

    async def close(self) -> None:
        """End the reading and its processes."""
        self.stop()
        if self._reading is not None:
            await asyncio.wait([self._reading])

    async def _read(self) -> None:
        """Answer all waiting lookups by one reading of the corpus, once no more arrive. Repeat it for later ones."""
        while self._waiting:
            number = 0
            while number < len(self._waiting) and not self._stopped:
                number = len(self._waiting)
                await asyncio.sleep(QUIET)
            asked, self._waiting = self._waiting, []
            try:
                answers = await asyncio.to_thread(self._search_all, [lookup for lookup, _ in asked])
            except Exception as error:
                for _, answer in asked:
                    if not answer.done():
                        answer.set_exception(self._failure(error))
                continue
            for (_, answer), found in zip(asked, answers, strict=True):
                if not answer.done():
                    answer.set_result(found)

    def _search_all(self, lookups: Sequence[Lookup]) -> list[Matches]:
        """Return the answers to these lookups, from the index or from one reading."""
        from tabcontam.extensions.corpora.search.corpus_pass import CorpusPass, SearchStoppedError

        different = list(dict.fromkeys(lookups))
        found, tally = self._in_index(different)
        if left := [lookup for lookup in different if lookup not in found]:
            if self._stopped:
                raise SearchStoppedError
            with self._doing(f"reading {self.spec}, MB") as report:
                reading = CorpusPass(left, self._portions, lambda done, of: report(done >> 20, of >> 20))
                self._pass = reading
                reading.run()
            found |= dict(zip(left, reading.matches, strict=True))
            tally = reading.tally
        if detail := tally.sentence():
            self._print_once(detail)
        answers = {lookup: counted.matches(lookup, detail) for lookup, counted in found.items()}
        return [answers[lookup] for lookup in lookups]

    def _in_index(self, lookups: Sequence[Lookup]) -> tuple[dict[Lookup, LookupMatches], Tally]:
        """Return the answers that the index of the corpus gives, and its tally; nothing without an index."""
        from tabcontam.extensions.corpora.search.index_search import IndexSearch

        index = CorpusIndex.open(self._files, self._print_once) if self._files else None
        if index is None:
            return {}, Tally()
        with self._doing(f"searching the index of {self.spec}"):
            found = IndexSearch(index, lookups).find_matches()
        return {lookups[number]: counted for number, counted in found.items()}, index.tally

    def _failure(self, error: Exception) -> Exception:
        from tabcontam.extensions.corpora.search.corpus_pass import ProcessLostError, SearchStoppedError

        if isinstance(error, SearchStoppedError):
            return FatalError("the search of the corpus was stopped; the same command starts it again")
        if isinstance(error, ProcessLostError | UsageError):
            return FatalError(str(error))
        return FatalError(f"{type(error).__name__}: {one_line(error)}")

    def _print_once(self, line: str) -> None:
        """Print a line on standard error, only the first time."""
        if line not in self._printed:
            self._printed.add(line)
            print(f"{self.spec}: {line}", file=sys.stderr, flush=True)


def _state(typed: str) -> object:
    """Return the names, sizes and times of change of a corpus's files. Raises `UsageError` and `OSError`."""
    return [(str(file), (found := file.stat()).st_size, found.st_mtime_ns) for file in corpus_files(typed).files]


PROVIDER = Provider(
    "corpus",
    {"corpus:PATH": "a corpus on this machine that is searched for rows: files, folders or patterns"},
    lambda typed, settings: CorpusModel(typed, settings.spec),
    details=f"separate several paths by {os.pathsep}; #FIELD after them names the field of records that is read",
    words=("documents", "corpora"),
    log_probabilities="no",
    seed="no",
    state=_state,
)
