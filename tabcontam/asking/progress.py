"""What a session tells while it asks. `llm` is always the LLM's spec."""

from collections.abc import Mapping
from typing import Protocol

from tabcontam.evidence.base import Reply


class Progress(Protocol):
    """Whoever shows how far a session is."""

    def begin(self, planned: Mapping[str, int]) -> None:
        """So many queries are planned for each LLM."""
        return

    def known(self, llm: str, queries: int) -> None:
        """So many of them are answered already."""
        return

    def at(self, llm: str, dataset: str) -> None:
        """This dataset is asked about now."""
        return

    def answered(self, llm: str, reply: Reply) -> None:
        """One query has its reply."""
        return

    def waits(self, llm: str, kind: str, seconds: float) -> None:
        """A request waits before another try."""
        return

    def limit(self, llm: str, before: int, now: int, kind: str) -> None:
        """So many requests at a time, and what made them fewer."""
        return

    def ended(self, llm: str, line: str) -> None:
        """This LLM is asked nothing more, and why."""
        return

    def end(self) -> None:
        """Nothing more is asked."""
        return


class Unheard(Progress):
    """Nobody is told."""
