"""The events of a run while it prepares, asks and writes its report. `llm` is always the spec of an LLM."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext

from tabcontam.evidence.base import Answer
from tabcontam.verdicts.sequential_test import SequentialOutcome

Tell = Callable[[int, int], None]  # gets how much is done, and of how much


class Progress:
    """A listener to a run's progress. This one shows nothing; a subclass shows the events that it overrides."""

    def doing(self, what: str, *, evenly: bool = False) -> AbstractContextManager[Tell]:
        """Show that the task `what` runs until the context ends. Yields a function to report progress.

        `evenly`: all parts of the task take equally long; the time left can then be estimated.
        """
        return nullcontext(lambda done, of: None)

    def note(self, words: str) -> None:
        """Add words about the task that runs."""

    def begin(self, planned: Mapping[str, int]) -> None:
        """Note how many queries are planned for each LLM."""

    def more(self, llm: str, queries: int) -> None:
        """Note that `queries` more queries are planned for this LLM."""

    def known(self, llm: str, queries: int) -> None:
        """Note that `queries` of this LLM's queries have answers already."""

    def asks_about(self, llm: str, dataset: str) -> None:
        """Note that this LLM is now asked about this dataset."""

    def answered(self, llm: str, reply: Answer) -> None:
        """Note that one query has its answer."""

    def decided(self, llm: str, dataset: str, outcome: SequentialOutcome, spared: int) -> None:
        """Note the outcome of the row tests of a table; `spared` of its queries are not asked any more."""

    def waits(self, llm: str, kind: str, seconds: float) -> None:
        """Note that a request waits `seconds` before another try, because of an error of this `kind`."""

    def limit(self, llm: str, before: int, now: int, kind: str) -> None:
        """Note that the number of requests at a time changed. `kind`: the error that reduced it; "" if it grew."""

    def batch(self, llm: str, batch: str, since: float, done: int, of: int) -> None:
        """Note that `done` of a batch's `of` requests are done. `since`: when it was sent, in seconds since 1970."""

    def batch_ended(self, llm: str, batch: str) -> None:
        """Note that a batch has ended and its answers are stored."""

    def ended(self, llm: str, line: str) -> None:
        """Note that this LLM is asked nothing more, for the reason `line`."""

    def end(self) -> None:
        """Note that no LLM is asked anything more."""
