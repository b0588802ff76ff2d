"""Algorithm 1 of Golchin and Surdeanu 2024, which compares overlaps with and without the dataset's name.

The bootstrap has two ways to draw: the published p-values resample pairs, the authors' public code resamples the two
sides independently. Neither gives the p-value of a null model: resampling does not remove the difference. With ten
instances, its false positives are more frequent than its level allows. `statistics.permutation_tests.sign_flipped` is
exact.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from tabcontam.evidence.base import READ, PublishedRule, Reply, Test, Trial
from tabcontam.evidence.number_wording import describe_p_value
from tabcontam.extensions.papers.guided.guided_test import GENERAL, arm_of, first_piece, of_pair, of_text
from tabcontam.extensions.papers.guided.overlap_measures import OverlapMeasure, Rouge
from tabcontam.extensions.papers.thresholds import ALGORITHM_ONE_LEVEL, OVERLAP_RESAMPLES, SAME_SCORE_SUM


class OverlapPair(NamedTuple):
    """The overlaps of an instance's two completions (guided and general) with the true second piece."""

    guided: float
    general: float


BY_WORDS = Rouge()  # frozen: safe as a default
_measure: ContextVar[OverlapMeasure] = ContextVar("overlap", default=BY_WORDS)


@contextmanager
def measured_by(measure: OverlapMeasure) -> Iterator[None]:
    """Make Algorithm 1 compare completions by this measure in a `with` block. Elsewhere, the measure is ROUGE-L."""
    before = _measure.set(measure)
    try:
        yield
    finally:
        _measure.reset(before)


def overlaps(trials: Iterable[Trial]) -> list[OverlapPair]:
    """Return the overlaps of the paper's instances with both answers; a reply without text counts as an empty text."""
    own = {trial.query.id: trial for trial in trials if trial.query.paper}
    general_arm = {trial.query.decoy_of: trial for trial in own.values() if arm_of(trial.query) == GENERAL}
    pairs = ((own[guided], general) for guided, general in general_arm.items() if guided in own)
    return [OverlapPair(_overlap(guided), _overlap(general)) for guided, general in pairs]


def _overlap(trial: Trial) -> float:
    """Return the overlap of a reply with the true piece: of the text, or of the values that were read for a row."""
    query, measure = trial.query, _measure.get()
    if of_text(query):
        come = isinstance(trial.reply, Reply) and trial.reply.state in READ
        first = first_piece(query) if measure.joined and not of_pair(query) else ""
        texts = (query.expected[0] or "", trial.reply.text if come else "")
        return _scored(measure, *(f"{first} {text}".strip() for text in texts))
    parsed = trial.reading.parsed if trial.reading else None
    cells = parsed if isinstance(parsed, Mapping) else {}
    return _scored(measure, _joined(query.expected), _joined(cells.get(name) for name in query.asked))


@lru_cache(maxsize=1000)
def _scored(measure: OverlapMeasure, expected: str, answer: str) -> float:
    return measure.score(expected, answer)


def _joined(cells: Iterable[str | None]) -> str:
    return " ".join(cell for cell in cells if cell is not None)


def bootstrap(guided: Sequence[float], general: Sequence[float], *, paired: bool = True, seed: int = 0) -> float:
    """Return the share of 10,000 resamples in which the mean of `guided` is not above the mean of `general`.

    Ties count as not above. `guided` and `general` are the overlaps of each instance's two completions, in the same
    order. If `paired`, a resample draws instances with both completions, as published. Otherwise it draws instances for
    each side independently, as the authors' public code does. Equal seeds give equal results. Raises `ValueError` if
    the two lengths differ or are 0.
    """
    if len(guided) != len(general) or not guided:
        raise ValueError(f"{len(guided)} guided and {len(general)} general scores do not form pairs")
    import numpy as np

    rng = np.random.default_rng(seed)
    size = (OVERLAP_RESAMPLES, len(guided))
    first = rng.integers(0, len(guided), size)
    second = first if paired else rng.integers(0, len(general), size)
    gained = np.asarray(guided, float)[first].sum(axis=1) - np.asarray(general, float)[second].sum(axis=1)
    return 1 - int((gained > SAME_SCORE_SUM * len(guided)).sum()) / OVERLAP_RESAMPLES


def format_bootstrap(paired: float, apart: float) -> str:
    """Return the two p-values of the bootstrap in words; a p-value is a share of resamples."""
    one, other = (describe_p_value(p) if p else f"p under {1 / OVERLAP_RESAMPLES:g}" for p in (paired, apart))
    return f"({one} by the paired bootstrap, as published; {other} unpaired, as in the code)"


def compares(test: Test) -> bool:
    """Return whether a test decides by Algorithm 1, and so depends on the measure of the overlap."""
    return isinstance(test.published, AlgorithmOne)


@dataclass(frozen=True)
class AlgorithmOne(PublishedRule):
    """The rule that the mean overlap is larger with the guided instruction, by a paired bootstrap at p <= 0.05."""

    def finds(self, trials: Sequence[Trial]) -> bool | None:
        pairs = overlaps(trials)
        return bool(pairs) and self.p_value(pairs) <= ALGORITHM_ONE_LEVEL

    def p_value(self, pairs: Sequence[OverlapPair], *, paired: bool = True) -> float:
        """Return the p-value from 10,000 resamples, seed 0: paired as published, or unpaired as in the public code."""
        guided, general = zip(*pairs, strict=True)
        return bootstrap(guided, general, paired=paired)

    def lacks(self, trials: Sequence[Trial]) -> str | None:
        return None if overlaps(trials) else "no instance has an answer to the guided and to the general instruction"

    def hits(self, trials: Sequence[Trial]) -> int:
        """Return how many instances have more overlap with the guided than with the general instruction."""
        return sum(pair.guided > pair.general for pair in overlaps(trials))

    def counted(self, trials: Sequence[Trial]) -> Sequence[Trial]:
        return [trial for trial in trials if not trial.query.decoy_of]

    def describe(self, trials: Sequence[Trial]) -> str:
        pairs = overlaps(trials)
        if not pairs:
            return "no instance has both completions"
        guided, general = (sum(side) / len(pairs) for side in zip(*pairs, strict=True))
        p_value, apart = self.p_value(pairs), self.p_value(pairs, paired=False)
        return (
            f"{self.hits(trials)} of {len(pairs)} {self.claim}: "
            f"{_measure.get().title} {guided:.2f} guided, {general:.2f} general {format_bootstrap(p_value, apart)}"
        )
