"""Contamination by openness of the ranked models, and by size within families.

Ronval, Dupont and Nijssen (2024), section 4.1, divide models into closed models, models with public weights (semi-open)
and models that have public training data, too (open). Section 5 compares the three kinds. Each model is one observation
here, however many results it has. Therefore a group of fewer than five models gets no conclusion.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import fmean

from tabcontam.evidence.base import DECIDED, Verdict
from tabcontam.extensions.dates.chronological_analysis import OPENNESS
from tabcontam.extensions.dates.date_exchange import mann_whitney, sign_test
from tabcontam.extensions.dates.thresholds import LEAST_GROUP_LLMS
from tabcontam.groups import grouped
from tabcontam.statistics.exact_statistics import clopper_pearson
from tabcontam.verdicts.dating import entry_of
from tabcontam.verdicts.results import RunResults


@dataclass(frozen=True)
class CataloguedLlm:
    """A ranked model with its entry in the catalogue: `size` is in billions of parameters, None if it is not stated.

    `score` and its interval are from the ranking. `contaminated` is true if the row tests detected one of the model's
    tables, None if they decided no table.
    """

    llm: str
    title: str
    openness: str
    family: str
    size: float | None
    score: float
    interval: tuple[float, float] | None
    contaminated: bool | None


@dataclass(frozen=True)
class OpennessKind:
    """The models of one openness: mean score, number of models with decided tables, number with a detected table."""

    name: str
    llms: tuple[CataloguedLlm, ...]
    mean: float
    contaminated: int
    decided: int
    interval: tuple[float, float] | None

    @property
    def conclusive(self) -> bool:
        return len(self.llms) >= LEAST_GROUP_LLMS


@dataclass(frozen=True)
class OpennessDifference:
    """The difference of mean scores between two kinds, with Mann and Whitney's two-sided p-value."""

    first: str
    second: str
    difference: float
    p_value: float


@dataclass(frozen=True)
class OpennessAnalysis:
    """The kinds (closed, semi-open, open), the differences between them, families by size, and models without an entry.

    `families` has the models of each family whose sizes are stated and differ, the smallest first.
    `steps` are from a model to the next larger one of its family: (steps to a higher score, steps to a lower one,
    p-value of the sign test).
    """

    kinds: tuple[OpennessKind, ...]
    differences: tuple[OpennessDifference, ...]
    families: tuple[tuple[CataloguedLlm, ...], ...]
    steps: tuple[int, int, float]
    unknown: tuple[str, ...]


def openness(view: RunResults) -> OpennessAnalysis | None:
    """Return the analysis of a run's ranked models; None if fewer than two of them are in the catalogue."""
    placed, unknown = [], []
    found = _contaminated(view)
    for rank in view.ranks_in_order:
        if rank.score is None:
            continue
        entry = entry_of(view, rank.llm)
        if entry is None:
            unknown.append(rank.llm)
            continue
        about = rank.llm, entry.title, entry.openness, entry.family, entry.size
        placed.append(CataloguedLlm(*about, rank.score, rank.score_interval, found.get(rank.llm)))
    if len(placed) < 2:
        return None
    by_name = grouped(placed, lambda one: one.openness)
    kinds = tuple(_kind(name, by_name[name]) for name in OPENNESS if name in by_name)
    lines = _families(placed)
    steps = [(one.score, other.score) for line in lines for other, one in pairwise(line) if one.size != other.size]
    return OpennessAnalysis(kinds, _differences(kinds), lines, sign_test(steps), tuple(unknown))


def _contaminated(view: RunResults) -> dict[str, bool]:
    """Return for each model whether the row tests detected a table or, in recorded answers, had a finding."""
    tables = [(one.llm, one.verdict) for one in view.tables if one.verdict in DECIDED and not one.by_corpora]
    results = [(one.llm, one.verdict) for one in view.results if one.test in view.row_tests and one.verdict in DECIDED]
    by_llm = grouped(tables or results, lambda one: one[0])
    return {llm: any(verdict is Verdict.CONTAMINATED for _, verdict in own) for llm, own in by_llm.items()}


def _kind(name: str, llms: Sequence[CataloguedLlm]) -> OpennessKind:
    decided = [one.contaminated for one in llms if one.contaminated is not None]
    interval = clopper_pearson(sum(decided), len(decided)) if len(decided) >= LEAST_GROUP_LLMS else None
    return OpennessKind(name, tuple(llms), fmean(one.score for one in llms), sum(decided), len(decided), interval)


def _differences(kinds: Sequence[OpennessKind]) -> tuple[OpennessDifference, ...]:
    conclusive = [kind for kind in kinds if kind.conclusive]
    found = []
    for first, second in combinations(conclusive, 2):
        p_value = mann_whitney(*([one.score for one in kind.llms] for kind in (first, second)))
        apart = first.mean - second.mean
        found.append(OpennessDifference(first.name, second.name, apart, 1.0 if p_value is None else p_value))
    return tuple(found)


def _families(placed: Sequence[CataloguedLlm]) -> tuple[tuple[CataloguedLlm, ...], ...]:
    by_family = grouped((one for one in placed if one.size is not None), lambda one: one.family)
    lines = (sorted(own, key=lambda one: (one.size or 0.0, one.title)) for own in by_family.values())
    return tuple(tuple(line) for line in lines if line[0].size != line[-1].size)
