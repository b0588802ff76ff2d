"""Dataset inference: the likelihood of published rows, compared with unpublished rows of the same source."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb
from random import Random
from statistics import fmean
from typing import ClassVar

import numpy as np

from tabcontam.errors import Skip
from tabcontam.evidence.base import Evidence, Query, Reading, RequiredInput, Scores, Statistic, Trial
from tabcontam.evidence.likelihood.plain_features import all_features, typical
from tabcontam.evidence.likelihood.scored_rows import (
    LikelihoodTest,
    format_interval,
    number_read,
    query,
    reading,
    select_value_tokens,
)
from tabcontam.evidence.number_wording import describe_p_value, explain_out_of_reach, format_small_number
from tabcontam.evidence.questions import Passage
from tabcontam.evidence.thresholds import LEAST_ROWS_A_SIDE, MEMORYLESS_LEVEL, MOST_ROWS_A_SIDE
from tabcontam.statistics.auc import independent
from tabcontam.statistics.thresholds import PERMUTATION_DRAWS
from tabcontam.statistics.two_samples import larger, predictor_p_values, residuals
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table
from tabcontam.tables.unread_rows import comparable_rows

UNIT = "nats a token"


@dataclass(frozen=True)
class DatasetInference(LikelihoodTest):
    """The model is asked nothing: the likelihood of published rows is compared with that of unpublished rows.

    Measures: whether the values of the table's rows are likelier to the model than the values of withheld rows.
    Withheld rows (`--withheld`) are from the same source, and the table's owner did not publish them. This is a row
    test: if chance decided which rows were withheld, only a model that has read the published rows can distinguish the
    two kinds.

    Queries: at most 300 rows of the table and 300 withheld rows, each alone in the words of the serializer with nothing
    before it. Rows that occur twice among all these rows are left out, and so are rows that the model may know.

    Null: published and withheld rows are draws of one source. Each row's score is the mean log-probability of the
    tokens of its values, minus a least-squares prediction of this mean. The prediction uses how usual the row is among
    all rows (its length, its packed size, how often its cells occur, how far its numbers are from the middle). The
    prediction does not use which rows were withheld. So each division of all rows into published and withheld rows has
    the same chance, whatever the model finds likely. The p-value is the share of 10,000 random divisions in which the
    sum of the published rows' ranks is at least as large as in the true division. The test needs no baseline and no
    other model. A verdict needs no evidence from a second column, since facts from elsewhere are about published and
    withheld rows alike. If withheld rows are later, sorted, from another place or written by another program, they were
    not withheld by chance, and a model that has read nothing would look contaminated. So three predictors without
    memory first try to separate withheld rows from published ones by their cells: by a single feature, by a weighted
    sum of all features, and by the most similar rows. If one predictor does better than chance (p <= 0.05, corrected
    for three predictors), nothing is asked and the result states the reason. If chance did withhold the rows, the
    predictors stop one test in twenty.

    Published rule: not applied. The source's rule is p < 0.1 in a t-test after a classifier of some fifty scores.

    Needs: log-probabilities of given text; ten published and ten withheld rows or more. The test is run only with
    `--withheld`. The withheld rows are sent to a model on another machine only with permission (`--send-rows`), even if
    the table is public.

    Cannot show: which rows were read, or that they were read as rows. A model that has read a shuffled copy of the
    published file, or a list of all its values, is detected, too: such a model knows cells that no withheld row has.
    Only the owner can know that chance decided which rows were withheld. The model may see a difference that the three
    predictors cannot see in so few rows.

    Source: Maini, Jia, Papernot and Dziedzic 2024, "LLM Dataset Inference: Did you train on my dataset?", section 5,
    with one score in place of a classifier of many, and an exact permutation in place of a t-test. The tests of
    Ronval et al. 2024, section 3.1, read only answers, not log-probabilities.

    Example: `The age is 39, The workclass is State-gov, ...`, which was published, next to `The age is 52, ...`, which
    was not.
    """

    id: ClassVar[str] = "dataset_inference"
    only_with: ClassVar[RequiredInput] = RequiredInput.WITHHELD

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        if not table.withheld:
            raise Skip("no unpublished rows of the table's source were given")
        rows = comparable_rows(table)
        if min(len(rows.published), len(rows.withheld)) < LEAST_ROWS_A_SIDE:
            raise Skip(
                f"{len(rows.published)} published and {len(rows.withheld)} withheld rows occur once among all of them; "
                f"the test needs {LEAST_ROWS_A_SIDE} of each"
            )
        published = rng.sample(rows.published, min(MOST_ROWS_A_SIDE, len(rows.published)))
        withheld = rng.sample(rows.withheld, min(MOST_ROWS_A_SIDE, len(rows.withheld)))
        _check_alike(table, serializer, published, withheld, rng.getrandbits(32))
        found: list[Query] = []
        for number in range(max(len(published), len(withheld))):
            if number < len(published):
                place = published[number]
                found.append(query(f"{self.id}-{number}", table, serializer, table.rows[place], (place,)))
            if number < len(withheld):
                name, cells = f"{self.id}-withheld-{number}", table.withheld[withheld[number]]
                own = query(name, table, serializer, cells, (), decoy_of=f"{self.id}-{number % len(published)}")
                found.append(replace(own, withheld=True))
        return found

    def read(self, query: Query, reply: Scores, serializer: Serializer) -> Reading:
        """Return the loss of the row's values; unreadable if another text was scored."""
        found = select_value_tokens(reply, serializer, query.asked, query.expected)
        loss = -fmean(one.token.log_probability for one in found) if found else None
        return reading(loss, UNIT)

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        found = [(trial, loss) for trial in trials if (loss := number_read(trial, UNIT)) is not None]
        plain = [loss for trial, loss in found if not trial.query.decoy_of]
        withheld = [loss for trial, loss in found if trial.query.decoy_of]
        asked = sum(not trial.query.decoy_of for trial in trials)
        own, others = _scores(found) if plain and withheld else ([], [])
        ranked = independent(own, others) if own else None
        middle = float(np.median(others)) if others else 0.0
        hits = sum(one > middle for one in own)
        p_value = larger(own, others)
        value = ranked.value if ranked else 0.5
        interval = ranked.interval if ranked else None
        losses = "the model scored no published row, or no withheld one"
        if own:
            losses = f"{fmean(plain):.2f} {UNIT} in published rows, {fmean(withheld):.2f} in withheld ones"
        return Evidence(
            statistic=Statistic(name="AUC against withheld rows", value=value, expected=0.5),
            null="chance decided which rows were published, and which were withheld",
            sentence=f"{losses}; a published row is likelier than a withheld one in {value:.0%} of pairs"
            f"{format_interval(interval)}, corrected for how usual each row is ({describe_p_value(p_value)}, exact); "
            f"{hits} of {len(own)} published rows lie above the median of {len(others)} withheld ones, "
            f"{format_small_number(len(own) / 2)} expected by chance",
            hits=hits,
            asked=asked,
            answered=len(own),
            expected_hits=len(own) / 2,
            p_value=p_value,
            interval=interval,
            interval_of="AUC",
        )

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        withheld = sum(bool(query.decoy_of) for query in queries)
        least = max(1 / comb(len(queries), withheld), 1 / (PERMUTATION_DRAWS + 1))
        best = "each published row were likelier than all withheld ones"
        return explain_out_of_reach("rows", best, least, level)


def _check_alike(
    table: Table, serializer: Serializer, published: Sequence[int], withheld: Sequence[int], seed: int
) -> None:
    """Raise `Skip` if a predictor that has read no row can distinguish withheld rows from published ones."""
    rows = [*(table.rows[place] for place in published), *(table.withheld[place] for place in withheld)]
    texts = [serializer.row(table.columns, cells) for cells in rows]
    labels = np.arange(len(rows)) < len(published)
    p_values = predictor_p_values(all_features(rows, texts), labels, seed)
    if not p_values:
        return
    reader = min(p_values, key=p_values.__getitem__)
    p_value = min(1.0, len(p_values) * p_values[reader])
    if p_value <= MEMORYLESS_LEVEL:
        raise Skip(
            f"a predictor without memory distinguishes the withheld rows from those of {table.name}, by {reader} "
            f"({describe_p_value(p_value)}): chance did not decide which were withheld, or another program wrote them"
        )


def _scores(found: Sequence[tuple[Trial, float]]) -> tuple[list[float], list[float]]:
    """Return the log-probabilities of published and of withheld rows, minus the part predicted from usual features."""
    texts = [question.text if isinstance(question := trial.query.question, Passage) else "" for trial, _ in found]
    left = residuals([-loss for _, loss in found], typical([trial.query.expected for trial, _ in found], texts))
    sides: tuple[list[float], list[float]] = ([], [])
    for (trial, _), value in zip(found, left, strict=True):
        sides[bool(trial.query.decoy_of)].append(round(float(value), 9))
    return sides
