"""What a run tells while it prepares, asks and writes its report. `llm` is always the LLM's spec."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext

from tabcontam.evidence.base import Answer

Tell = Callable[[int, int], None]  # so much of so much is done


class Progress:
    """Whoever shows how far a run is. This one shows nothing; what inherits from it shows what it overrides."""

    def doing(self, what: str, *, evenly: bool = False) -> AbstractContextManager[Tell]:
        """This is being done until the context ends, which gives what tells how much of it is done.

        `evenly`: its parts take equally long, so that the time left can be told.
        """
        return nullcontext(lambda done, of: None)

    def note(self, words: str) -> None:
        """This is to be said, too, of what is being done."""

    def begin(self, planned: Mapping[str, int]) -> None:
        """So many queries are planned for each LLM."""

    def more(self, llm: str, queries: int) -> None:
        """So many more are planned for this LLM."""

    def known(self, llm: str, queries: int) -> None:
        """So many of them are answered already."""

    def at(self, llm: str, dataset: str) -> None:
        """This dataset is asked about now."""

    def answered(self, llm: str, reply: Answer) -> None:
        """One query has its reply."""

    def decided(self, llm: str, dataset: str, asked: int, spared: int) -> None:
        """A table was decided after so many queries of its row tests; so many are not asked any more."""

    def waits(self, llm: str, kind: str, seconds: float) -> None:
        """A request waits before another try."""

    def limit(self, llm: str, before: int, now: int, kind: str) -> None:
        """So many requests at a time, and what made them fewer."""

    def batch(self, llm: str, batch: str, since: float, done: int, of: int) -> None:
        """So much of a batch is done at the provider, where it went at this time, in seconds since 1970."""

    def batch_ended(self, llm: str, batch: str) -> None:
        """A batch has ended, and its answers are there."""

    def ended(self, llm: str, line: str) -> None:
        """This LLM is asked nothing more, and why."""

    def end(self) -> None:
        """Nothing more is asked."""
