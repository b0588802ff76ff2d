"""Published scores of a row by its tokens alone, compared with a twin's rows."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log
from statistics import fmean
from typing import ClassVar

from tabcontam.evidence.base import Capability, Evidence, Statistic, Trial
from tabcontam.evidence.likelihood.paired_score import PairedScore
from tabcontam.evidence.likelihood.scored_rows import ValueToken, format_interval
from tabcontam.evidence.number_wording import count_unread
from tabcontam.evidence.thresholds import LEAST_LIKELY_SHARE, LEAST_TOKEN_DEVIATION
from tabcontam.statistics.exact_statistics import t_interval


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
    unit: ClassVar[str] = "bits a character"

    def score(self, tokens: Sequence[ValueToken], row: str) -> float:
        return -sum(one.log_probability for one in tokens) / log(2) / sum(one.characters for one in tokens)

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        _, pairs, asked = self.scored(trials)
        ranked = super().weigh(trials, level)
        own, twin = (fmean(side) for side in zip(*pairs, strict=True)) if pairs else (0.0, 0.0)
        interval = t_interval([other - one for one, other in pairs]) if len(pairs) > 1 else None
        unread = count_unread(len(pairs), asked, "pairs were not scored")
        apart = f"{twin - own:+.2f}{format_interval(interval)}"
        took = f"{own:.2f} bits a character in rows, {twin:.2f} in a shuffled twin's: {apart}"
        return replace(
            ranked,
            statistic=Statistic(name=self.unit, value=own, expected=twin if pairs else None),
            sentence=f"{took}; {ranked.hits} of {len(pairs)} rows take fewer bits than their twin's row{unread}",
            interval=interval,
            interval_of="the twin's bits a character minus the rows'",
            score=ranked.hits / len(pairs) if pairs else None,
        )


@dataclass(frozen=True)
class Loss(PairedScore):
    """The model is asked nothing: the likelihood of rows is compared with that of a shuffled twin's rows.

    Measures: the mean negative log-probability of the tokens of a row's values, in nats a token. The test gives a score
    and no verdict.

    Queries: the texts of `perplexity`: 100 random rows, each alone in the words of the serializer, and for each row the
    row in its place in a shuffled twin. Each text is scored once for all tests that use it.

    Null: none. Only tokens with characters of values count, not the names of features and the text between values; the
    first token of a text is left out, since many servers do not score it. The score is the AUC: how often a row of the
    table has a smaller loss than a twin's row. The AUC is 0.5 if nothing distinguishes the rows. The AUC's 95% interval
    is DeLong's for pairs. The interval of the mean difference in a pair is Student's.

    Published rule: none. The source sets a threshold only with labelled members and non-members.

    Needs: log-probabilities of given text; a table that has a twin. The test is run if it is chosen, or if a model that
    is loaded on this machine scores text.

    Cannot show: that rows were seen. Any model that knows how features are related finds real rows likelier than
    shuffled rows, and has an AUC above one half.

    Source: Yeom et al. 2018, "Privacy Risk in Machine Learning", section 3 (the loss of a record). The twin is the
    project's own. The tests of Ronval et al. 2024, section 3.1, read only answers, not log-probabilities.

    Example: `The age is 39, The workclass is State-gov, ...` has a loss of 1.9 nats a token, its twin's row of 3.1.
    """

    id: ClassVar[str] = "loss"
    unit: ClassVar[str] = "nats a token"

    def score(self, tokens: Sequence[ValueToken], row: str) -> float:
        return -fmean(one.token.log_probability for one in tokens)


@dataclass(frozen=True)
class Zlib(PairedScore):
    """The model is asked nothing: the loss of rows, divided by their packed size, is compared with a twin's rows.

    Measures: the mean negative log-probability of the tokens of a row's values, divided by the number of bytes into
    which zlib packs the row. The test gives a score and no verdict.

    Queries: the texts of `perplexity` and `loss`. Each text is scored once for all tests that use it.

    Null: none. The same tokens count as in `loss`; the packed text is the row as it was scored. The score is the AUC of
    the table's rows against a shuffled twin's rows, as in `loss`. A twin's rows have nearly the same packed sizes. So
    the length of a row matters little here. In the published score, the length dominates if lengths differ.

    Published rule: none.

    Needs: log-probabilities of given text; a table that has a twin. The test is run if it is chosen, or if a model that
    is loaded on this machine scores text.

    Cannot show: that rows were seen. Like the score of `loss`, the score only ranks rows.

    Source: Carlini et al. 2021, "Extracting Training Data from Large Language Models", section 5.2 (zlib entropy). The
    twin is the project's own. The tests of Ronval et al. 2024, section 3.1, read only answers, not log-probabilities.

    Example: `The age is 39, The workclass is State-gov, ...` with 1.9 nats a token in 190 packed bytes scores 10
    millinats.
    """

    id: ClassVar[str] = "zlib"
    title: ClassVar[str] = "Loss by zlib"
    unit: ClassVar[str] = "millinats a token and byte"

    def score(self, tokens: Sequence[ValueToken], row: str) -> float:
        packed = len(zlib.compress(row.encode("utf-8", "backslashreplace")))
        return -1000 * fmean(one.token.log_probability for one in tokens) / packed


@dataclass(frozen=True)
class MinK(PairedScore):
    """The model is asked nothing: the least likely tokens of rows are compared with those of a shuffled twin's rows.

    Measures: the mean negative log-probability of the least likely 20 % of the tokens of a row's values, in nats a
    token. The test gives a score and no verdict.

    Queries: the texts of `perplexity` and `loss`. Each text is scored once for all tests that use it.

    Null: none. The same tokens count as in `loss`. Of T tokens, the floor of 0.2 T tokens are averaged, but at least
    one token. The score is the AUC of the table's rows against a shuffled twin's rows, as in `loss`.

    Published rule: none; the source finds a threshold on labelled texts. The source's share of 20 % is used unchanged,
    and is not chosen on the data.

    Needs: log-probabilities of given text; a table that has a twin. The test is run if it is chosen, or if a model that
    is loaded on this machine scores text.

    Cannot show: that rows were seen. Like the score of `loss`, the score only ranks rows.

    Source: Shi et al. 2024, "Detecting Pretraining Data from Large Language Models", section 3 (Min-K% Prob). The twin
    is the project's own. The tests of Ronval et al. 2024, section 3.1, read only answers, not log-probabilities.

    Example: of ten tokens of values in `The age is 39, ...` the two least likely have 6.1 and 4.9 nats: the score is
    5.5.
    """

    id: ClassVar[str] = "min_k"
    title: ClassVar[str] = "Min-K%"
    unit: ClassVar[str] = "nats a token in the least likely fifth"

    def score(self, tokens: Sequence[ValueToken], row: str) -> float:
        return -fmean(_least([one.token.log_probability for one in tokens]))


@dataclass(frozen=True)
class MinKPlusPlus(PairedScore):
    """The model is asked nothing: tokens of rows that are unlikely relative to others are compared with a twin's.

    Measures: how far the tokens of a row's values lie below the tokens that the model expects. A token's distance is
    its log-probability below the mean of the whole distribution at its place, in standard deviations of this
    distribution. The score of a row is the mean distance of the 20 % of its tokens that lie the furthest below. The
    test gives a score and no verdict.

    Queries: the texts of `perplexity` and `loss`. Each text is scored once for all tests that use it.

    Null: none. The same tokens count as in `loss`, and as many tokens are averaged as in `min_k`. A standard deviation
    below 0.01 nats counts as 0.01 nats: if almost only one token can follow, the published quotient has no bound. The
    score is the AUC of the table's rows against a shuffled twin's rows, as in `loss`.

    Published rule: none.

    Needs: log-probabilities of given text, with the mean and the standard deviation of all tokens at each place; a
    table that has a twin. Only models that are loaded on this machine report these numbers, neither servers nor the
    controls. The test is run if it is chosen, or if a model that is loaded on this machine scores text.

    Cannot show: that rows were seen. Like the score of `loss`, the score only ranks rows.

    Source: Zhang et al. 2025, "Min-K%++: Improved Baseline for Detecting Pre-Training Data from Large Language Models",
    equation 3. The twin is the project's own. The tests of Ronval et al. 2024, section 3.1, read only answers, not
    log-probabilities.

    Example: in `The age is 39` the token `39` has -6.1 nats; the mean is -1.1 and the deviation 2.0, so the token lies
    2.5 deviations below the mean.
    """

    id: ClassVar[str] = "min_k_plus_plus"
    title: ClassVar[str] = "Min-K%++"
    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.SCORE, Capability.MOMENTS})
    unit: ClassVar[str] = "deviations below the mean in the lowest fifth"

    def score(self, tokens: Sequence[ValueToken], row: str) -> float | None:
        """Return the mean over the lowest fifth of the tokens, or None if a model does not report the distribution."""
        above = []  # how many deviations each log-probability is above the mean
        for token in (one.token for one in tokens):
            if token.mean is None or token.deviation is None:
                return None
            above.append((token.log_probability - token.mean) / max(token.deviation, LEAST_TOKEN_DEVIATION))
        return -fmean(_least(above))


def _least(values: Sequence[float]) -> list[float]:
    """Return the smallest fifth of the values; their number is rounded down, but at least one."""
    return sorted(values)[: max(1, int(len(values) * LEAST_LIKELY_SHARE))]
