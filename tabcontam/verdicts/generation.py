"""Outputs that LLMs generate word for word beside how well they classify the same table: Li and Flanigan's figure 6.

Li and Flanigan (2024), *Task Contamination*, section 8: over twelve LLMs, the more outputs of Spider an LLM generates
exactly, the better it solves the task. A correlation over LLMs has no verdict: a larger LLM may do both.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from tabcontam.evidence.base import GENERATED, Facts, Measure
from tabcontam.groups import grouped
from tabcontam.statistics.correlations import pearson
from tabcontam.statistics.exact import clopper_pearson
from tabcontam.verdicts.cells import Result
from tabcontam.verdicts.checked import Coefficient, Count, Interval, Share
from tabcontam.verdicts.ranks import ACCURACIES

SHOWN = 3  # LLMs from which on there is a figure; a correlation takes one more
Accuracy = tuple[float, Interval | None]  # of an LLM on a table, with its interval where one cell was asked


@dataclass(frozen=True, kw_only=True)
class Generated:
    """An LLM on a table: how many outputs it generated exactly, and how well it classifies the same table."""

    llm: str
    """The LLM as it was named."""
    exact: Count
    """How many outputs were generated word for word."""
    outputs: Count
    """How many were asked for and answered."""
    share: Share
    """Which share that is."""
    share_interval: Interval
    """Its exact 95% interval."""
    accuracy: Share
    """The accuracy of classification on the same table: the mean where several cells were asked."""
    accuracy_interval: Interval | None = None
    """Its 95% interval; null where several cells were asked."""


@dataclass(frozen=True, kw_only=True)
class Generation:
    """A table: outputs generated exactly against accuracy, over LLMs, with Pearson's coefficient as in the paper."""

    dataset: str
    """The table."""
    edition: str | None = None
    """Its edition."""
    split: str | None = None
    """Its split, if it has any."""
    accuracy: Measure
    """Which accuracy, by the ranking's name of it."""
    llms: tuple[Generated, ...]
    """The LLMs that have both: three or more."""
    value: Coefficient | None = None
    """Pearson's r; null with three LLMs, or where all have the same share or the same accuracy."""
    interval: Interval | None = None
    """Its 95% interval; null where r is, and where all points lie on one line."""
    p_value: Share | None = None
    """That the two do not go together, from all orders; null where r is."""


def generations(cells: Iterable[Result], facts: Mapping[str, Facts]) -> tuple[Generation, ...]:
    """Each table and accuracy of which three LLMs or more under test have both; see `Generation`."""
    tables = grouped(
        (cell for cell in cells if not cell.control), lambda cell: (cell.dataset, cell.edition, cell.split)
    )
    found = (_generation(own, facts, accuracy) for own in tables.values() for accuracy in ACCURACIES)
    return tuple(one for one in found if one is not None)


def _generation(cells: Sequence[Result], facts: Mapping[str, Facts], accuracy: Measure) -> Generation | None:
    exact = {cell.llm: cell for cell in cells if facts[cell.test].measure == GENERATED and cell.answered}
    own = [cell for cell in cells if facts[cell.test].measure == accuracy and cell.llm in exact]
    right = {llm: told for llm, of_llm in grouped(own, lambda cell: cell.llm).items() if (told := _accuracy(of_llm))}
    if len(right) < SHOWN:
        return None
    llms = tuple(_generated(exact[llm], told) for llm, told in right.items())
    together = pearson([one.share for one in llms], [one.accuracy for one in llms])
    first = cells[0]
    return Generation(
        dataset=first.dataset,
        edition=first.edition,
        split=first.split,
        accuracy=accuracy,
        llms=llms,
        value=round(together.value, 4) if together else None,
        interval=_rounded(together.interval) if together and together.interval else None,
        p_value=together.p_value if together else None,
    )


def _accuracy(cells: Sequence[Result]) -> Accuracy | None:
    """The mean accuracy of an LLM on a table; None where no cell has one that may be averaged."""
    scored = [cell for cell in cells if cell.score is not None and cell.answered and not cell.not_averaged]
    if not scored:
        return None
    return fmean(cell.score or 0.0 for cell in scored), scored[0].interval if len(scored) == 1 else None


def _generated(cell: Result, accuracy: Accuracy) -> Generated:
    exact, outputs = cell.hits or 0, cell.answered or 0
    return Generated(
        llm=cell.llm,
        exact=exact,
        outputs=outputs,
        share=round(exact / outputs, 4),
        share_interval=_rounded(clopper_pearson(exact, outputs)),
        accuracy=round(accuracy[0], 4),
        accuracy_interval=_rounded(accuracy[1]) if accuracy[1] else None,
    )


def _rounded(interval: Interval) -> Interval:
    return round(interval[0], 4), round(interval[1], 4)
