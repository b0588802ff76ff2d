"""The evidence of each cell: its most telling queries, packed so that a page of many cells stays small."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tabcontam.report.results import Results

SHOWN = 10  # queries of a cell


@dataclass(frozen=True)
class Packed:
    """What the page holds: a blob of text an LLM (by its block's number, from 1), and counts by `Results.placed`.

    `shown` queries of a cell are in the blob, the `left` ones in trials.jsonl alone.
    """

    blobs: Mapping[int, str]
    shown: Mapping[str, int]
    left: Mapping[str, int]


def packed(view: Results, trials: Iterable[Mapping[str, Any]]) -> Packed:
    """The evidence of all cells."""
    return Packed({}, {}, {})


def script() -> str:
    """The page's script that unpacks a blob and writes a cell's evidence when it is opened."""
    return ""


def style() -> str:
    """What the evidence looks like."""
    return ""
