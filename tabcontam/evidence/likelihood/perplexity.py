"""Perplexity: the bits that the model needs for the values of the table's rows, and for the values of a twin's rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log
from statistics import fmean
from typing import ClassVar

from tabcontam.evidence.base import Evidence, Statistic, Trial
from tabcontam.evidence.likelihood.paired_score import PairedScore
from tabcontam.evidence.likelihood.scored_rows import ValueToken, format_interval
from tabcontam.statistics.exact_statistics import t_interval

STATISTIC = "bits a character"


@dataclass(frozen=True)
class Perplexity(PairedScore):
    """The model is asked nothing: the log-probabilities of rows are compared with those of made-up rows.

    Measures: how likely the values of the table's rows are to the model, in bits a character. For comparison, the
    values of the same features are measured in rows that are not in the table. The test gives a score and no verdict.

    Queries: 100 random rows, each alone in the words of the serializer with nothing before it. For each row, the row in
    its place in a shuffled twin is scored, too. In the twin, the values of every feature are reassigned at random
    within the classes of the target. This twin has another seed than the twin that `control:unexposed` has read.

    Null: none. Only characters of values count, not the features' names and the text between values. If only part of a
    token belongs to a value, the same share of the token's bits and characters counts. The first token of a text is
    left out, since many servers do not score it. The evidence states the mean bits a character of the rows and of the
    twin's rows. It also states the mean difference of a row and its twin with a 95% interval (Student's t). The score
    is the share of rows that need fewer bits than their twin. The score is 0.5 if rows and twins do not differ.

    Published rule: none. The source compares mean perplexities without a threshold.

    Needs: log-probabilities of given text, which models on this machine, the controls and some servers report; a table
    that has a twin. A table that lists all combinations of its features' values has no twin.

    Cannot show: that rows were seen. Real rows are likelier than shuffled rows to any model that knows how the features
    are related in the world. A text that is likely to one model may be unlikely to another model. So compare a table
    with its twin, and not the bits of two models.

    Source: after the contamination test of LatestEval (Li, Guerin and Lin 2024, section Experiments), which compares
    the perplexity of a benchmark with the perplexity of texts that were certainly seen, and of texts that were
    certainly not seen. The twin, which replaces these texts, is the project's own. The tests of
    Ronval et al. 2024, section 3.1, read only answers, not log-probabilities.

    Example: `The age is 39, The workclass is State-gov, ...` takes 1.1 bits a character, its twin's row 2.3.
    """

    id: ClassVar[str] = "perplexity"
    on_request: ClassVar[bool] = False
    unit: ClassVar[str] = STATISTIC

    def score(self, tokens: Sequence[ValueToken], row: str) -> float:
        """Return the bits for a character of the row's values."""
        return -sum(one.log_probability for one in tokens) / log(2) / sum(one.characters for one in tokens)

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """Return the mean difference of the pairs in which both rows were scored; no p-value."""
        _, pairs, asked = self.scored(trials)
        ranked = super().weigh(trials, level)
        own, twin = (fmean(side) for side in zip(*pairs, strict=True)) if pairs else (0.0, 0.0)
        interval = t_interval([other - one for one, other in pairs]) if len(pairs) > 1 else None
        unread = f"; {asked - len(pairs)} of {asked} pairs were not scored" if len(pairs) < asked else ""
        apart = f"{twin - own:+.2f}{format_interval(interval)}"
        took = f"{own:.2f} bits a character in rows, {twin:.2f} in a shuffled twin's: {apart}"
        return replace(
            ranked,
            statistic=Statistic(name=STATISTIC, value=own, expected=twin if pairs else None),
            sentence=f"{took}; {ranked.hits} of {len(pairs)} rows take fewer bits than their twin's row{unread}",
            interval=interval,
            interval_of="the twin's bits a character minus the rows'",
            score=ranked.hits / len(pairs) if pairs else None,
        )
