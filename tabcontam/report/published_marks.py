"""Published results on the same LLMs, datasets and tests: marks to lay over a heatmap, and agreement with them.

`published.toml` holds the facts, their sources and what each can be compared to.
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
SPLITS = {"validation": "valid", "dev": "valid"}  # names of splits elsewhere


@dataclass(frozen=True)
class PublishedSource:
    """A publication: a short `name`, the `citation`, its `address`, and what its marks `compare` to."""

    name: str
    citation: str
    address: str
    compares: str


@dataclass(frozen=True)
class PublishedMark:
    """One published result: whether contamination was found, by which source, of which checkpoint ("": not stated)."""

    source: PublishedSource
    found: bool
    checkpoint: str


@dataclass(frozen=True)
class SourceAgreement:
    """The number of an LLM's results on which a source and the run `agree`, of those that both `decided`."""

    llm: str
    agree: int
    decided: int


@cache
def marks(entry: str, dataset: str, test: str, split: str | None = None) -> tuple[PublishedMark, ...]:
    """Return the published marks of an LLM (its name in the catalogue) on a dataset (its card's or a record's name).

    If the source has splits, the mark is that of the `split`; if not, that of the dataset for any split. There is at
    most one mark a source, in the order of `sources`; empty if nothing is published.
    """
    found = []
    for source, study in zip(sources(), _studies(), strict=True):
        rows = study["llms"].get(entry, {})
        for named, sign in zip(study.get("datasets", _file()["datasets"]), rows.get(test, ""), strict=False):
            if sign in FOUND and _names(named, dataset, split):
                found.append(PublishedMark(source, FOUND[sign], rows.get("checkpoint", "")))
    return tuple(found)


def _names(named: str, dataset: str, split: str | None) -> bool:
    """Return whether a dataset of the file, NAME or NAME#SPLIT, is the given one."""
    name, _, of_split = named.partition("#")
    if of_split and SPLITS.get(split or "", split) != of_split:
        return False
    return dataset.casefold() in {name, _file()["recorded"].get(name, name)}


@cache
def sources() -> tuple[PublishedSource, ...]:
    """Return the publications whose results are laid over a run's, in the order of the file."""
    return tuple(PublishedSource(*(study[field.name] for field in fields(PublishedSource))) for study in _studies())


def published(view: RunResults, result: Result) -> tuple[PublishedMark, ...]:
    """Return the published marks of a result's LLM, dataset and test; empty for an LLM outside the catalogue."""
    entry = view.run.catalogue.get(result.llm)
    return marks(entry.name, result.dataset, result.test, result.split) if entry else ()


def agreements(view: RunResults) -> dict[PublishedSource, list[SourceAgreement]]:
    """Return how often each source and the run agree on each LLM, where both decided; LLMs in the page's order.

    A result that a run has twice, for two editions, serializers or prompt sets, counts twice.
    """
    found: dict[PublishedSource, list[SourceAgreement]] = {}
    decided = {block.llm: [result for result in block.results if result.verdict in DECIDED] for block in view.blocks}
    laid = {llm: [(result, mark) for result in own for mark in published(view, result)] for llm, own in decided.items()}
    for source in sources():
        for block in view.blocks:
            same = [
                mark.found == (result.verdict is Verdict.CONTAMINATED)
                for result, mark in laid[block.llm]
                if mark.source == source
            ]
            if same:
                found.setdefault(source, []).append(SourceAgreement(block.llm, sum(same), len(same)))
    return found


@cache
def _file() -> Mapping[str, Any]:
    return tomllib.loads(FILE.read_text("utf-8"))


def _studies() -> list[Mapping[str, Any]]:
    """Return the file's entry of each source, with its LLMs."""
    return [stated for stated in _file().values() if isinstance(stated, Mapping) and "llms" in stated]
