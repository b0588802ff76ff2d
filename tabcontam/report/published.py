"""What others have published of the same LLMs, datasets and tests: marks to lay over a heatmap, and their agreement.

The facts, their sources and what each can be compared to stand in `published.toml`.
"""

import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tabcontam.evidence.base import DECIDED, Verdict
from tabcontam.verdicts.results import RunResults

FILE = Path(__file__).with_name("published.toml")
FOUND = {"+": True, "-": False}


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


@cache
def marks(entry: str, dataset: str, test: str) -> tuple[Mark, ...]:
    """What is published of an LLM (its name in the catalogue) on a dataset (its card's name, or that of a record).

    At most one mark a source, in the order of `sources`; empty where nothing is published.
    """
    return _published().get((entry, _plain(dataset), test), ())


@cache
def sources() -> tuple[Source, ...]:
    """Everyone whose results are laid over ours."""
    return tuple(_source(stated) for stated in _studies())


def agreement(view: RunResults) -> tuple[Agreement, ...]:
    """One line for each LLM and source, in the order of the page, where both have decided a cell.

    A cell that a run has twice, of two editions or serializers, counts twice.
    """
    return tuple(
        Agreement(block.llm, source, counts[True], counts[False])
        for block in view.blocks
        if block.llm in view.run.catalogue
        for source, counts in _compared(view, block.llm).items()
    )


def _compared(view: RunResults, llm: str) -> dict[Source, Counter[bool]]:
    """By source, how many of the cells agree (True) and how many do not."""
    entry, counted = view.run.catalogue[llm].name, {source: Counter[bool]() for source in sources()}
    for cell in view.cells:
        if cell.llm == llm and cell.verdict in DECIDED:
            for mark in marks(entry, cell.dataset, cell.test):
                counted[mark.source][mark.found == (cell.verdict is Verdict.CONTAMINATED)] += 1
    return {source: counts for source, counts in counted.items() if counts}


@cache
def _file() -> Mapping[str, Any]:
    return tomllib.loads(FILE.read_text("utf-8"))


def _studies() -> list[Mapping[str, Any]]:
    return [stated for stated in _file().values() if isinstance(stated, Mapping) and "llms" in stated]


def _source(stated: Mapping[str, Any]) -> Source:
    return Source(*(stated[key] for key in ("name", "citation", "address", "compares")))


@cache
def _published() -> dict[tuple[str, str, str], tuple[Mark, ...]]:
    """Every mark by catalogue entry, name of the dataset, and test."""
    found: dict[tuple[str, str, str], tuple[Mark, ...]] = {}
    for stated in _studies():
        source = _source(stated)
        for entry, rows in stated["llms"].items():
            checkpoint = rows.get("checkpoint", "")
            for test in rows.keys() - {"checkpoint"}:
                for names, sign in zip(_datasets(), rows[test], strict=True):
                    if sign != ".":
                        mark = Mark(source, FOUND[sign], checkpoint)
                        found |= {(entry, name, test): (*found.get((entry, name, test), ()), mark) for name in names}
    return found


def _datasets() -> list[set[str]]:
    """The names of each dataset: its card's, and that of recorded answers."""
    recorded = _file()["recorded"]
    return [{_plain(name), _plain(recorded.get(name, name))} for name in _file()["datasets"]]


def _plain(name: str) -> str:
    return name.casefold()
