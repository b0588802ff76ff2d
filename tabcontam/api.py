"""tabcontam from Python, in the words of the command line: `tabcontam.run(...)`, `tabcontam.load_results(...)`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabcontam.datasets import Table
from tabcontam.gate import Judgement

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Results:
    """The results of a run: `document` is its results.json, `folder` where it lies."""

    folder: Path
    document: Mapping[str, Any]

    def gate(
        self,
        *,
        llm: str | Sequence[str] = (),
        dataset: str | Sequence[str] = (),
        fail_on: str | Sequence[str] = (),
        min_power: float | None = None,
    ) -> Judgement:
        """May an experiment go on? As `python -m tabcontam gate` says."""
        raise NotImplementedError

    def to_frame(self) -> "pd.DataFrame":
        """One row a cell."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """The heatmap, for notebooks."""
        raise NotImplementedError


def run(
    llm: str | Sequence[str] = (),
    dataset: "str | Path | Table | Sequence[str | Path | Table]" = (),
    *,
    out: str | Path | None = None,
    **options: Any,
) -> Results:
    """Ask, judge and record, as `python -m tabcontam run` does."""
    raise NotImplementedError


def load_results(folder: str | Path) -> Results:
    """The results of a past run."""
    raise NotImplementedError
