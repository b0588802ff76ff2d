"""The events of a run while it prepares, asks and writes its report. `llm` is always the LLM's spec."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext

from tabcontam.evidence.base import Answer

Tell = Callable[[int, int], None]  # so much of so much is done


class Progress:
    """A listener to a run's progress. This one shows nothing; subclasses show the events that they override."""

    def doing(self, what: str, *, evenly: bool = False) -> AbstractContextManager[Tell]:
        """Show that a task runs until the context ends; the context gives a function that reports its progress.

        `evenly`: its parts take equally long, so that the time left can be estimated.
        """
        return nullcontext(lambda done, of: None)

    def note(self, words: str) -> None:
        """Add words about the task that runs."""

    def begin(self, planned: Mapping[str, int]) -> None:
        """Note how many queries are planned for each LLM."""

    def more(self, llm: str, queries: int) -> None:
        """Note that so many more queries are planned for this LLM."""

    def known(self, llm: str, queries: int) -> None:
        """Note that so many of its queries are answered already."""

    def asks_about(self, llm: str, dataset: str) -> None:
        """Note that this dataset is asked about now."""

    def answered(self, llm: str, reply: Answer) -> None:
        """Note that one query has its reply."""

    def decided(self, llm: str, dataset: str, asked: int, spared: int) -> None:
        """Note that a table was decided after `asked` queries of its row tests; `spared` are not asked any more."""

    def waits(self, llm: str, kind: str, seconds: float) -> None:
        """Note that a request waits before another try."""

    def limit(self, llm: str, before: int, now: int, kind: str) -> None:
        """Note the number of requests at a time, before and now, and what made it smaller."""

    def batch(self, llm: str, batch: str, since: float, done: int, of: int) -> None:
        """Note how much of a batch is done at the provider, to which it was sent at `since`, in seconds since 1970."""

    def batch_ended(self, llm: str, batch: str) -> None:
        """Note that a batch has ended, and its answers are there."""

    def ended(self, llm: str, line: str) -> None:
        """Note that this LLM is asked nothing more, and why."""

    def end(self) -> None:
        """Note that nothing more is asked."""
