"""Memory's share: the part of a classification's accuracy that comes from recalled labels."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from statistics import fmean, pstdev
from typing import ClassVar

import numpy as np

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.evidence.base import RECALLED, Evidence, FeatureFacts, Query, Trial
from tabcontam.evidence.mixins import ShareTest
from tabcontam.evidence.score.classification import ClassificationTest
from tabcontam.evidence.score.shares import (
    FRESH,
    SUPERVISED,
    against_fresh,
    is_fresh,
    learned,
    prediction_of,
    right_answers,
    share_evidence,
    share_in_words,
    unseen_twin,
    wrong_in_words,
)
from tabcontam.evidence.thresholds import CLASSIFIED_ROWS
from tabcontam.evidence.twin_comparison import ReferenceCurveExcess, ReferenceTwinAccuracy, TwinLossDifference
from tabcontam.statistics.paired_gains import MeanGain, gained
from tabcontam.statistics.reference_curve import above_curve
from tabcontam.tables.row_draws import in_random_order
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table
from tabcontam.tables.unread_rows import fresh_labels

TWIN = "perturbed"  # the kind of the default twin: see the test's "Cannot show"


@dataclass(frozen=True)
class TwinAnswers:
    """The answers to a row and its twin: whether each is right, and the share of learners that are right on each."""

    own: bool
    twin: bool
    learned: float
    learned_twin: float

    @property
    def lost(self) -> float:
        """1 or 0 for a right or wrong answer on the row, minus that on its twin."""
        return float(self.own - self.twin)

    @property
    def gain(self) -> float:
        """The model's loss minus the learners' loss."""
        return self.lost - (self.learned - self.learned_twin)


@dataclass(frozen=True)
class TwinShareTest(ClassificationTest):
    """A test of how much more often the model is right on rows than on their unseen twins, or on fresh rows."""

    shots: ClassVar[int] = 1
    on_request: ClassVar[bool] = True
    baseline: ClassVar[str] = SUPERVISED

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Return a query about each row, and as many about twins, or about fresh rows if given.

        Raises `Skip` if there is no question, if no twin passes its check, or if learners cannot learn the label.
        """
        own = super().queries(table, serializer, rng)
        if table.fresh:
            return self._with_fresh_rows(table, serializer, own, rng)
        return [each for query in own for each in (query, self._of_twin(table, serializer, query))]

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """Return the difference of both accuracies minus the learners', with a 95 % interval and a p-value in words."""
        if any(is_fresh(trial.query) for trial in trials):
            return against_fresh(trials)
        silent = Counter[str]()
        pairs = list(by_row(trials, silent=silent).values())
        found, if_wrong = _share(pairs), _as_wrong(trials, len(pairs))
        return share_evidence(
            "the model is right as often on unseen twins of the same rows",
            (_describe(pairs, found), _left_out(silent, if_wrong), _shared_features(trials)),
            trials,
            ([pair.own for pair in pairs], [pair.twin for pair in pairs]),
            found,
            if_wrong,
            silent["pair"],
            deviation=pstdev(pair.gain for pair in pairs) if pairs else 0.0,
        )

    def _candidates(self, table: Table, labels: Mapping[int, str]) -> list[int]:
        return list(_learned_answers(table))

    def _baseline(
        self, table: Table, target: str, labels: Mapping[int, str], candidates: Sequence[int]
    ) -> Mapping[int, CellPrediction]:
        return {row: prediction_of(answers) for row, answers in _learned_answers(table).items()}

    def _with_fresh_rows(self, table: Table, serializer: Serializer, own: Sequence[Query], rng: Random) -> list[Query]:
        """Return the queries, then as many about fresh rows; each has the examples of one of the queries."""
        from tabcontam.twins.label_baseline import predict_fresh_rows

        found, labels = predict_fresh_rows(table), fresh_labels(table)
        places = in_random_order(rng, range(len(table.fresh)), min(CLASSIFIED_ROWS, len(found.own)))
        fresh = {
            query.id: replace(
                query,
                id=f"{query.id}-{FRESH}",
                write=partial(self._prompt, table, serializer, query.rows[:-1], table.columns, table.fresh[place]),
                expected=(labels[place],),
                rows=query.rows[:-1],
                row=None,
                decoy_of=query.id,
                withheld=True,
                chance={**query.chance, SUPERVISED: prediction_of(found.fresh[place])},
            )
            for query, place in zip(own, places, strict=False)
        }
        return [each for query in own for each in (query, fresh.get(query.id)) if each is not None]

    def _of_twin(self, table: Table, serializer: Serializer, query: Query) -> Query:
        """Return the query about the twin of the row that `query` asks about."""
        twin = unseen_twin(table, TWIN)
        place = twin.place[query.rows[-1]]
        return replace(
            query,
            id=f"{query.id}-twin",
            write=partial(self._prompt, table, serializer, query.rows[:-1], twin.features, twin.rows[place]),
            expected=(twin.labels[place],),
            decoy_of=query.id,
            row=None,
            features=FeatureFacts(shared=twin.unchanged),
            chance={**query.chance, SUPERVISED: prediction_of(twin.twins[place])},
        )


@dataclass(frozen=True)
class MemoryShare(ShareTest, TwinShareTest):
    """Shown one row of each class, the model must give the class of another row, and of an unseen twin of that row.

    Measures: memory's share of an accuracy: how much more often the model is right on rows of the table than on their
    unseen twins. Gradient boosting and logistic regression, which learn from other rows, predict rows and twins, too.
    The accuracy that these learners lose on twins, on average, is subtracted, since it shows how much harder the twins
    are. A row and its twin are asked after the same examples in the same order. If fresh rows are given (`--fresh
    FILE`), which no model can have read, they replace the twins. The learners' mean loss of accuracy on fresh rows is
    subtracted in the same way.

    Queries: the card's question about 100 random rows, or about N rows with `--rows N`, each after one example of each
    class. Decoys are the twins of these rows, or as many fresh rows. At most 1,000 rows of a table have a twin. A twin
    is `perturbed`: at least a sixth of its values, and at least two, are changed by noise so small that, by the
    baseline, the label cannot change. Names, codes, identifiers and dates stay, as do all other values of which the
    learners have not learned the meaning. The twins are checked before any query. Both learners must be right on twins
    as often as on rows, within the 95 % interval. A blind classifier must not be able to distinguish twins from rows of
    the table: the interval of its AUC must reach down to 0.55 (with fewer rows this check has less power).

    Null: a model that recalls no label is right on twins, or on fresh rows, as often as on rows. The interval has a
    confidence of 95 %. A share is reported as above 0 if the one-sided p-value is 0.01 or less, whatever `--alpha` is.
    One p-value is of the answers, and another is of the answers minus the learners' answers; the larger p-value counts.
    With twins both p-values come from exchanging the two sides of each pair (for the answers this is McNemar's exact
    test). With fresh rows, which form no pairs, both p-values come from exchanging rows and fresh rows. The test gives
    a score and no verdict. Refused and unreadable answers are left out; with twins, the whole pair is left out. The
    result reports the number of such answers, and the share if such answers count as wrong.

    Published rule: none.

    Needs: a target with a question (a FILE: `--target` with a column of 2 to 10 values), 40 rows or more, 10 different
    rows of each class, at most 300 features, and a model that understands a question. The controls do not take this
    test. Twins also need labels that learners can predict better than chance, features without texts to read, and a
    passed check. Without twins, 20 fresh rows or more are needed instead.

    Cannot show: memory that works on the twin, too. A model may recall a row by the cells that stayed (a name or a
    number), or by similar rows. So the share is a lower bound for a model that recalls rows roughly, and right for a
    model that needs the exact row. Knowledge of the task, of features and categories and of named persons or things
    helps on the twin as well, and counts for nothing. A twin in other words (`recoded`) would take such knowledge for
    memory, so such twins are not used. Knowledge of a law that is finer than the rows show, such as a law of single
    digits of measured numbers, would be taken for memory: twins may break the law and have a wrong label. Only rows
    with a twin are asked. These rows are on average easier than other rows. So the accuracy differs from that of
    `classification_1shot`, and less of the accuracy can be memory's. Fresh rows have none of these limits. But the
    world may have changed since the table was made. Then a model that knows the old world, and no row of the table, may
    lose more on fresh rows than the learners. One test in a hundred reports a share above 0 by chance, and nothing
    corrects for the number of models and tables. Reference models that have read the rows themselves hide the memory of
    other models: if all reference models have read the rows, nothing is left of the reported difference.

    Source: the project's own; after the perturbed tables of Bordt et al. 2024 and Oren et al.'s demand for an exact
    null. Accuracy on rows is compared with accuracy on similar rows in ConStat (Dekoninck et al. 2024) and GSM1k.

    Example: a row and `Answer: Yes`, a row and `Answer: No`, and then `The age is 39, …` in one query, and in its twin
    `The age is 41, …`, each with `Answer:`, which goes on with `No`.
    """

    id: ClassVar[str] = "memory_share"
    title: ClassVar[str] = "Memory's share"
    measure: ClassVar[str] = RECALLED

    def compare_with_reference(self, trials: Sequence[Trial], others: Sequence[Trial]) -> TwinLossDifference | None:
        """Return the model's loss on twins minus a reference model's on the same twins (Dekoninck et al. 2024)."""
        own, reference = by_row(trials), by_row(others)
        both = [(own[name], reference[name]) for name in own if name in reference]
        if not both:
            return None
        found = gained([one.lost - other.lost for one, other in both])
        accuracy, twins = (fmean(right) for right in zip(*((other.own, other.twin) for _, other in both), strict=True))
        return TwinLossDifference(
            pairs=len(both),
            accuracy=accuracy,
            twin_accuracy=twins,
            share=found.mean,
            interval=found.interval,
            p_value=found.p_value,
        )

    def compare_with_references(
        self, trials: Sequence[Trial], others: Mapping[str, Sequence[Trial]]
    ) -> ReferenceCurveExcess | None:
        """Return how far the accuracy on rows is above reference models' curve (Dekoninck et al. 2024, section 3)."""
        own = by_row(trials)
        known = {llm: pairs for llm, read in others.items() if (pairs := by_row(read))}
        names = [name for name in own if all(name in pairs for pairs in known.values())]
        if len(known) < 2 or not names:
            return None
        ours, *references = (
            np.array([(pairs[name].own, pairs[name].twin) for name in names], dtype=np.float64)
            for pairs in (own, *known.values())
        )
        theirs = np.stack(references)
        found = above_curve(ours[:, 0], ours[:, 1], theirs[:, :, 0], theirs[:, :, 1])
        means = zip(known, theirs.mean(axis=1).tolist(), strict=True)
        return ReferenceCurveExcess(
            pairs=len(names),
            references=tuple(
                ReferenceTwinAccuracy(llm=llm, accuracy=one, twin_accuracy=twin) for llm, (one, twin) in means
            ),
            accuracy=float(ours[:, 0].mean()),
            twin_accuracy=float(ours[:, 1].mean()),
            expected=found.expected,
            share=found.above,
            interval=found.interval,
            p_value=found.p_value,
            apart=found.apart,
            outside=found.outside,
        )


def _learned_answers(table: Table) -> Mapping[int, Sequence[str]]:
    """Return the learners' answers to each row that may be asked about."""
    if table.fresh:
        from tabcontam.twins.label_baseline import predict_fresh_rows

        return predict_fresh_rows(table).own
    twin = unseen_twin(table, TWIN)
    return dict(zip(twin.originals, twin.own, strict=True))


def by_row(
    trials: Sequence[Trial], *, wrong: bool = False, silent: Counter[str] | None = None
) -> dict[tuple[str, str | None], TwinAnswers]:
    """Return the pairs of a row and its twin that have two valid answers, by the id of the row's query and its class.

    `silent` counts the other pairs, by the reason why they are left out, and the rows and twins without a partner. With
    `wrong`, a reply that names no class is a wrong answer; a missing reply is not.
    """
    silent = Counter() if silent is None else silent
    right = right_answers(trials, wrong=wrong)
    queries = {trial.query.id: trial.query for trial in trials}
    twins = {query.decoy_of: query for query in queries.values() if query.decoy_of}
    pairs = {}
    for name, query in queries.items():
        twin = twins.get(name)
        if query.decoy_of:
            continue
        if twin is None:
            silent["without a twin"] += 1
        elif name in right and twin.id in right:
            key = name, query.expected[0]
            pairs[key] = TwinAnswers(right[name], right[twin.id], learned(query), learned(twin))
        else:
            silent["row"] += name not in right
            silent["twin"] += twin.id not in right
            silent["pair"] += 1
    return pairs


def _share(pairs: Sequence[TwinAnswers]) -> MeanGain:
    """Return the mean gain of the pairs, with its interval.

    The p-value is the larger of two: for the model's loss, and for this loss minus the learners'. So there is no share
    if a model does equally well on rows and twins, or if it loses no more on twins than the learners do.
    """
    if not pairs:
        return MeanGain(0.0, (-1.0, 1.0), 1.0)
    found, plain = gained([pair.gain for pair in pairs]), gained([pair.lost for pair in pairs])
    return replace(found, p_value=max(found.p_value, plain.p_value))


def _as_wrong(trials: Sequence[Trial], answered: int) -> MeanGain | None:
    """Return the share if answers without a class count as wrong; None if it stays equal or no answer is right."""
    every = list(by_row(trials, wrong=True).values())
    right = len(every) > answered and any(pair.own or pair.twin for pair in every)
    return _share(every) if right else None


def _describe(pairs: Sequence[TwinAnswers], found: MeanGain) -> str:
    """Return the result as a sentence."""
    if not pairs:
        return "the model answered no row together with its unseen twin"
    own, twins = fmean(pair.own for pair in pairs), fmean(pair.twin for pair in pairs)
    models = fmean(pair.learned for pair in pairs), fmean(pair.learned_twin for pair in pairs)
    return f"accuracy {own:.2f}, on unseen twins of the same rows {twins:.2f}; {share_in_words(found, *models)}"


# named: number of features that the sentence names
def _shared_features(trials: Sequence[Trial], *, named: int = 3) -> str:
    """Return a sentence on the features that are equal in rows and twins: memory by these works on the twin, too."""
    names = sorted({name for trial in trials for name in trial.query.features.shared})
    if not names:
        return ""
    more = f" and {len(names) - named} more" if len(names) > named else ""
    return (
        f"the twins keep {', '.join(map(repr, names[:named]))}{more}, so that the test "
        "misses labels that are recalled by these alone"
    )


def _left_out(silent: Counter[str], if_wrong: MeanGain | None) -> str:
    """Return, in words, the number of pairs left out and the reasons, and the share if they count as wrong."""
    parts = []
    if silent["pair"]:
        lacking = [(silent[what], what) for what in ("row", "twin") if silent[what]]
        unnamed = " and ".join(f"{count} {what}{'s' * (count != 1)}" for count, what in lacking)
        count = silent["pair"]
        are = "pair is" if count == 1 else "pairs are"
        parts.append(f"{count} {are} left out: no class was named for {unnamed}{wrong_in_words(if_wrong)}")
    if alone := silent["without a twin"]:
        parts.append(f"{alone} {'row' if alone == 1 else 'rows'} without an asked twin counted for nothing")
    return "; ".join(parts)
