"""What others have published of the same LLMs, datasets and tests: marks to lay over a heatmap, and their agreement."""

from dataclasses import dataclass

from tabcontam.report.results import Results


@dataclass(frozen=True)
class Source:
    """Who published it: a short `name`, the `citation`, its `address`, and what its marks `compare` to."""

    name: str
    citation: str
    address: str
    compares: str


@dataclass(frozen=True)
class Mark:
    """One published cell: whether contamination was found, by which source, of which checkpoint ("": not stated)."""

    source: Source
    found: bool
    checkpoint: str


@dataclass(frozen=True)
class Agreement:
    """How often a source and the run come to the same, of the cells that both decided."""

    llm: str
    source: Source
    agree: int
    disagree: int

    @property
    def decided(self) -> int:
        """The cells that both decided."""
        return self.agree + self.disagree


def marks(entry: str, dataset: str, test: str) -> tuple[Mark, ...]:
    """What is published of an LLM (its name in the catalogue) on a dataset; at most one mark a source."""
    return ()


def sources() -> tuple[Source, ...]:
    """Everyone whose results are laid over ours."""
    return ()


def agreement(view: Results) -> tuple[Agreement, ...]:
    """One line for each LLM and source, in the order of the page, where both have decided a cell."""
    return ()
