"""Memory's share of accuracy, log-loss and AUC, for models that report log-probabilities."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log
from random import Random
from statistics import fmean
from typing import ClassVar

import numpy as np

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.evidence.base import Capability, Evidence, Likelihoods, Prompt, Query, Question, Reading, Reply, Trial
from tabcontam.evidence.number_wording import format_signed
from tabcontam.evidence.score.classification import as_endings, likeliest
from tabcontam.evidence.score.memory_share import TWIN, MemoryShare, TwinShareTest
from tabcontam.evidence.score.shares import chances_of, unseen_twin
from tabcontam.evidence.thresholds import LEAST_CLASS_CHANCE, MEMORY_SHARE_LEVEL
from tabcontam.statistics.auc_difference import AucDifference, auc_apart
from tabcontam.statistics.paired_gains import gained
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table

LIKELY = "supervised chances"  # the key of the learners' probabilities in the chances of a query
WORST = -log(LEAST_CLASS_CHANCE)
Chances = Mapping[str, float]


@dataclass(frozen=True)
class _PairChances:
    """The chances of each class for a row and its twin, by the model and by learners of other rows."""

    label: str
    own: Chances
    twin: Chances
    learned: Chances
    learned_twin: Chances

    @property
    def plain(self) -> float:
        """The model's log-loss on the twin minus its log-loss on the row, divided by the largest possible log-loss."""
        return (_loss(self.twin, self.label) - _loss(self.own, self.label)) / WORST

    @property
    def gain(self) -> float:
        """The model's loss minus the learners' loss."""
        return self.plain - (_loss(self.learned_twin, self.label) - _loss(self.learned, self.label)) / WORST


@dataclass(frozen=True)
class MemoryShareScored(TwinShareTest):
    """After one row of each class, the classes of another row, and of an unseen twin of that row, are scored.

    Measures: memory's share of the accuracy, as in `memory_share`, on the same rows and twins; the answer is the
    likeliest class. The test also measures memory's share of the log-loss of the right class, and memory's share of the
    AUC: how much better the log-loss or the AUC is on rows than on their twins. From this difference, that of gradient
    boosting and logistic regression is subtracted.

    Queries: those of `memory_share`, in the form for base models. After each prompt, every class is scored as an
    ending. The chance of a class is its likelihood among the classes.

    Null: a model without recall is as sure of labels on twins as on rows. The log-loss has two p-values: of
    the model's losses, and of the model's losses minus the learners' losses. Each p-value comes from exchanging the two
    sides of each pair, and the larger p-value counts. A share is reported as above 0 if this p-value is 0.01 or less.
    The interval of the log-loss is Student's; the interval of the AUC is from 2,000 resamples of the rows within each
    class. Both intervals have a confidence of 95 %. A chance below 0.01 counts as 0.01, so that one sure and wrong
    answer does not decide. The test gives a score, which is the share of the accuracy, and no verdict.

    Published rule: none.

    Needs: the same as `memory_share`, with twins, and log-probabilities of given text. Fresh rows are not used.

    Cannot show: more than `memory_share` can show. A model may be surer of rows than of twins for another reason than
    memory, for example if a changed value makes a twin look odd. Such a model has a share of the log-loss without a
    share of the accuracy.

    Source: the project's own; AUC by log-probabilities as in TabLLM (Hegselmann et al. 2023).

    Example: two rows with their answers and a row, after which ` Yes` and ` No` are scored; and the same for the row's
    twin.
    """

    id: ClassVar[str] = "log_loss_share"
    title: ClassVar[str] = "Memory's share of log-loss and AUC"
    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.SCORE, Capability.INSTRUCTIONS})
    draws_as: ClassVar[str] = MemoryShare.id

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        table = replace(table, fresh=())
        asked, twin = super().queries(table, serializer, rng), unseen_twin(table, TWIN)

        def learned_chances(query: Query) -> dict[str, float]:
            chances = twin.twin_chances if query.decoy_of else twin.own_chances
            return dict(zip(twin.classes, chances[twin.place[query.rows[-1]]], strict=True))

        return [
            replace(
                query,
                write=partial(_scored, query.write, query.asked),
                chance={**query.chance, LIKELY: CellPrediction(learned_chances(query), 0.0)},
            )
            for query in asked
        ]

    def read(self, query: Query, reply: Reply | Likelihoods, serializer: Serializer) -> Reading:
        if isinstance(reply, Likelihoods):
            return likeliest(query, reply)
        return super().read(query, reply, serializer)

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        found = super().weigh(trials, level)
        return replace(found, sentence="; ".join([found.sentence, *_describe(shared(trials))]), memory=None)


def _scored(write: Callable[[], Question], answers: Sequence[str]) -> Question:
    prompt = write()
    assert isinstance(prompt, Prompt)  # noqa: S101 - `memory_share` asks in words
    return as_endings(prompt, answers)


def _both(trials: Sequence[Trial]) -> list[_PairChances]:
    """Return the pairs in which the model reports the chance of each class for the row and for its twin."""
    by_query = {trial.query.id: chances for trial in trials if (chances := chances_of(trial)) is not None}
    twins = {trial.query.decoy_of: trial.query for trial in trials if trial.query.decoy_of}
    return [
        _PairChances(
            str(trial.query.expected[0]),
            by_query[trial.query.id],
            by_query[twin.id],
            trial.query.chance[LIKELY].values,
            twin.chance[LIKELY].values,
        )
        for trial in trials
        if (twin := twins.get(trial.query.id)) and trial.query.id in by_query and twin.id in by_query
    ]


def _loss(chances: Chances, label: str) -> float:
    return -log(max(LEAST_CLASS_CHANCE, chances.get(label, 0.0)))


@dataclass(frozen=True)
class ChanceShares:
    """The results by chances: log-losses on rows and twins in nats, and memory's shares of the log-loss and the AUC.

    A larger share of the log-loss means more recall. `p_value` tests the assumption that this share is 0 or less.
    """

    own: float
    twins: float
    log_loss: float
    interval: tuple[float, float]
    p_value: float
    auc: AucDifference | None

    @property
    def above(self) -> bool:
        """True if the share of the log-loss is reported as above 0."""
        return self.p_value <= MEMORY_SHARE_LEVEL


def shared(trials: Sequence[Trial]) -> ChanceShares | None:
    """Return memory's shares of the log-loss and the AUC; None if no pair has log-probabilities."""
    rows = _both(trials)
    if not rows:
        return None
    found, plain = gained([row.gain for row in rows]), gained([row.plain for row in rows])
    named = [row.label for row in rows]
    sides = ([row.own for row in rows], [row.twin for row in rows])
    models = ([row.learned for row in rows], [row.learned_twin for row in rows])
    own, twins = (fmean(map(_loss, side, named)) for side in sides)
    classes = sorted({name for row in rows for name in (*row.own, *row.learned)})
    labels = np.array([classes.index(label) for label in named], dtype=np.int64)
    probabilities = [
        np.array([[chances.get(name, 0.0) for name in classes] for chances in of]) for of in (*sides, *models)
    ]
    low, high = (limit * WORST for limit in found.interval)
    p_value = max(found.p_value, plain.p_value)
    return ChanceShares(
        own, twins, found.mean * WORST, (low, high), p_value, auc_apart(probabilities, (1, -1, -1, 1), labels)
    )


def _describe(found: ChanceShares | None) -> list[str]:
    """Return sentences on the log-loss and the AUC on rows and twins."""
    if found is None:
        return ["the model reports log-probabilities for no row and its twin"]
    low, high = map(format_signed, found.interval)
    sentences = [
        f"log-loss {found.own:.2f}, on twins {found.twins:.2f}; memory's share of the log-loss "
        f"{format_signed(found.log_loss)} nats ({low} to {high}), {'' if found.above else 'not shown to be '}above 0 "
        f"(p = {found.p_value:.2g})"
    ]
    if found.auc is not None:
        own, twins, *_ = found.auc.values
        low, high = map(format_signed, found.auc.interval)
        difference = format_signed(found.auc.difference)
        sentences.append(
            f"AUC {own:.2f}, on twins {twins:.2f}; memory's share of the AUC {difference} ({low} to {high})"
        )
    return sentences
