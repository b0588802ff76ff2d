"""Published results on a run's LLMs, datasets and tests: marks for the heatmap, and the agreement with the run.

`published.toml` contains the results, their sources, and a text on how each source compares with a run.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from tabcontam.evidence.base import DECIDED, Verdict
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.results import RunResults

FILE = Path(__file__).with_name("published.toml")
FOUND = {"+": True, "-": False}
SPLITS = {"validation": "valid", "dev": "valid"}  # a run's names of splits, and the file's names


@dataclass(frozen=True)
class PublishedSource:
    """A publication: a short `name`, the `citation`, its `address`. The text `compares` explains its marks."""

    name: str
    citation: str
    address: str
    compares: str


@dataclass(frozen=True)
class PublishedMark:
    """A published result: the finding (True: contamination), the source, the LLM's checkpoint ("" if unknown)."""

    source: PublishedSource
    found: bool
    checkpoint: str


@dataclass(frozen=True)
class SourceAgreement:
    """The number of an LLM's results on which a source and the run `agree`, and the number that both `decided`."""

    llm: str
    agree: int
    decided: int


@cache
def marks(entry: str, dataset: str, test: str, split: str | None = None) -> tuple[PublishedMark, ...]:
    """Return the published marks of an LLM (its name in the catalogue) on a dataset (its card's or record's name).

    If a source distinguishes splits, its mark is for `split`. Each source has at most one mark, in their order.
    """
    found = []
    for source, study in zip(sources(), _studies(), strict=True):
        rows = study["llms"].get(entry, {})
        for named, sign in zip(study.get("datasets", _file()["datasets"]), rows.get(test, ""), strict=False):
            if sign in FOUND and _names(named, dataset, split):
                found.append(PublishedMark(source, FOUND[sign], rows.get("checkpoint", "")))
    return tuple(found)


def _names(named: str, dataset: str, split: str | None) -> bool:
    """Return whether `named`, which is NAME or NAME#SPLIT in the file, means this dataset and split."""
    name, _, of_split = named.partition("#")
    if of_split and SPLITS.get(split or "", split) != of_split:
        return False
    return dataset.casefold() in {name, _file()["recorded"].get(name, name)}


@cache
def sources() -> tuple[PublishedSource, ...]:
    """Return the publications with results to compare with a run's, in the order of the file."""
    return tuple(PublishedSource(*(study[field.name] for field in fields(PublishedSource))) for study in _studies())


def published(view: RunResults, result: Result) -> tuple[PublishedMark, ...]:
    """Return the published marks for a result's LLM, dataset and test; empty if the LLM is not in the catalogue."""
    entry = view.run.catalogue.get(result.llm)
    return marks(entry.name, result.dataset, result.test, result.split) if entry else ()


def agreements(view: RunResults) -> dict[PublishedSource, list[SourceAgreement]]:
    """Return each source's agreement with the run, for each LLM in the page's order, on results that both decided.

    A result that a run has twice (for two editions, serializers or prompt sets) counts twice.
    """
    found: dict[PublishedSource, list[SourceAgreement]] = {source: [] for source in sources()}
    for block in view.blocks:
        agree: dict[PublishedSource, list[bool]] = {}
        for result in block.results:
            for mark in published(view, result) if result.verdict in DECIDED else ():
                agree.setdefault(mark.source, []).append(mark.found == (result.verdict is Verdict.CONTAMINATED))
        for source, same in agree.items():
            found[source].append(SourceAgreement(block.llm, sum(same), len(same)))
    return {source: own for source, own in found.items() if own}


@cache
def _file() -> Mapping[str, Any]:
    return tomllib.loads(FILE.read_text("utf-8"))


def _studies() -> list[Mapping[str, Any]]:
    return [stated for stated in _file().values() if isinstance(stated, Mapping) and "llms" in stated]
