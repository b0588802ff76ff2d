"""The four versions of a table by Bordt et al. 2024, and the accuracy that is lost from version to version."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from statistics import fmean
from typing import TYPE_CHECKING, ClassVar

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.errors import Skip
from tabcontam.evidence.base import Evidence, Prompt, Query, Statistic, Trial
from tabcontam.evidence.number_wording import format_signed
from tabcontam.evidence.score.classification import ClassificationTest, answers_of, task_of
from tabcontam.evidence.score.shares import SUPERVISED, learned, prediction_of, right_answers, unseen_twin
from tabcontam.statistics.exact_statistics import clopper_pearson
from tabcontam.statistics.paired_gains import gained
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.row_draws import seeded
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table

if TYPE_CHECKING:
    from tabcontam.twins.base import UnseenTwin

VERSIONS = {"bordt_perturbed": "perturbed", "bordt_task": "task", "bordt_statistical": "statistical"}
CODED = "bordt_statistical"  # the version that names classes by numbers
CODED_QUESTION = "Which number is Y?"


@dataclass(frozen=True)
class Versions(ClassificationTest):
    """Shown one row of each class, the model must give the class of a row, in four versions of the same rows.

    Measures: the accuracy on four versions of rows: the rows as they are, with other last digits and names
    (`perturbed`), also in other words (`task`), and as numbers without names (`statistical`). Accuracy lost from the
    first version to the second may be due to memory of the file. Accuracy lost to the third version may be due to
    memory of the file's wording, and accuracy lost to the fourth to knowledge of the world. The accuracy on the fourth
    version is what a model learns from the examples. Each loss is reported with the loss of gradient boosting and
    logistic regression on the same version; both learned from other rows.

    Queries: the card's question about 100 random rows, or about N rows with `--rows N`, each after one example of each
    class. Decoys are the same row after the same examples in each of the other versions. The features of the table
    decide how the versions are made: see the unseen twins `bordt_perturbed`, `bordt_task` and `bordt_statistical`. A
    version that learners find harder or easier than the rows is not asked, and the result reports that.

    Null: the model is equally often right on all versions of the rows. The intervals have a confidence of 95 %. The
    test gives a score, which is the accuracy on the rows as they are, and no verdict.

    Published rule: none; the authors compare accuracies.

    Needs: the same as `memory_share`, except that learners need not know the meaning of any feature. So the test needs
    a target with a question (a FILE: `--target` with a column of 2 to 10 values), 40 rows or more, 10 different rows of
    each class, at most 300 features without texts to read, and a model that understands a question. The controls do not
    take this test.

    Cannot show: memory's share, since a perturbed row may have another true label. A model that recalls a row by its
    name or by the cells that stayed loses nothing. A model that knows what names mean loses on the last version, just
    as a model that recalls the names does. For a share that can be trusted see `memory_share`.

    Source: Bordt et al. 2024, "Elephants Never Forget", and the package `tabmemcheck`, which has a recipe of each
    version for some datasets. Here the versions are derived from the table.

    Example: `The sepal length (cm) is 6.9, …` is asked, and `The sepal length (cm) is 6.8, …`, `The Sepal length (cm)
    is 6.80, …` and `The X1 is -4.67, …`, each after examples in its own words.
    """

    id: ClassVar[str] = "bordt_versions"
    title: ClassVar[str] = "Versions of Bordt et al."
    shots: ClassVar[int] = 1
    on_request: ClassVar[bool] = True
    baseline: ClassVar[str] = SUPERVISED

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        kinds = _passing(table)
        own = super().queries(table, serializer, rng)
        return [
            each for query in own for each in (query, *(self._in(table, serializer, query, kind) for kind in kinds))
        ]

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        right = right_answers(trials)
        rows = [trial.query for trial in trials if not trial.query.decoy_of]
        answered = [right[query.id] for query in rows if query.id in right]
        hits = sum(answered)
        low, high = clopper_pearson(hits, len(answered))
        score = hits / len(answered) if answered else 0.0
        parts = [f"accuracy {score:.2f} [{low:.2f}, {high:.2f}] on {len(answered)} rows as they are"]
        queries = {trial.query.id: trial.query for trial in trials}
        for name in VERSIONS.values():
            pairs = [(query, queries[other]) for query in rows if (other := f"{query.id}-{name}") in queries]
            parts.append(_lost(name, pairs, right))
        silent = len(trials) - len(right)
        parts += [f"{silent} {'answer named' if silent == 1 else 'answers named'} no class"] * (silent > 0)
        return Evidence(
            statistic=Statistic(name="accuracy on rows as they are", value=score),
            null="the model is right as often on each version of a row",
            sentence="; ".join(parts),
            hits=hits,
            asked=len(rows),
            answered=len(answered),
            interval=(low, high),
            interval_of="the accuracy on rows as they are",
        )

    def _candidates(self, table: Table, labels: Mapping[int, str]) -> list[int]:
        return list(_first(table).originals)

    def _baseline(
        self, table: Table, target: str, labels: Mapping[int, str], candidates: Sequence[int]
    ) -> Mapping[int, CellPrediction]:
        twin = _first(table)
        return {row: prediction_of(answers) for row, answers in zip(twin.originals, twin.own, strict=True)}

    def _example(self, table: Table, candidates: list[int], asked: int, rng: Random) -> int:
        """Return an example row that exists in every version."""
        of, named = _first(table).place, ("versions", *candidates[:1])  # a class has the name of its first row
        shared = cached_fact(table, named, lambda: [row for row in candidates if row in of])
        return super()._example(table, shared, asked, rng)

    def _in(self, table: Table, serializer: Serializer, query: Query, kind: str) -> Query:
        """Return the query about these rows in the version `kind`."""
        twin = unseen_twin(table, kind)
        answer = _answers(table, kind)
        place = twin.place[query.rows[-1]]
        answers = [answer[label] for label in twin.twins[place]]
        shares = query.chance["majority"]
        majority = CellPrediction({answer[label]: share for label, share in shares.values.items()}, shares.rest)
        return replace(
            query,
            id=f"{query.id}-{VERSIONS[kind]}",
            write=partial(self._version_prompt, table, serializer, query.rows, kind),
            asked=tuple(answer[label] for label in query.asked),
            expected=(answer[twin.labels[place]],),
            decoy_of=query.id,
            row=None,
            chance={"majority": majority, SUPERVISED: prediction_of(answers)},
        )

    def _version_prompt(self, table: Table, serializer: Serializer, rows: Sequence[int], kind: str) -> Prompt:
        twin, answer = unseen_twin(table, kind), _answers(table, kind)
        _, question = task_of(table)
        features = sorted(set(table.columns) - {table.target})  # the order of a twin's features
        order = [features.index(name) for name in table.columns if name != table.target]
        columns = [twin.features[place] for place in order]
        cells = [twin.rows[twin.place[row]] for row in rows]
        texts = [serializer.alone(columns, [row[place] for place in order]) for row in cells]
        shots = [(text, answer[twin.labels[twin.place[row]]]) for text, row in zip(texts[:-1], rows[:-1], strict=True)]
        asked = CODED_QUESTION if kind == CODED else question.text
        return self.prompts.class_of(shots, texts[-1], asked, tuple(answer[label] for label in answers_of(question)))


def _passing(table: Table) -> tuple[str, ...]:
    """Return the versions that pass their check. Raises `Skip` with the first version's reason if none passes."""

    def find() -> tuple[str, ...] | str:
        found, why = [], ""
        for kind in VERSIONS:
            try:
                unseen_twin(table, kind)
            except Skip as skip:
                why = why or str(skip)
            else:
                found.append(kind)
        return tuple(found) or why

    passing = cached_fact(table, "versions that pass", find)
    if isinstance(passing, str):
        raise Skip(passing)
    return passing


def _first(table: Table) -> "UnseenTwin":
    """Return the first version that passes its check; all versions have the same rows."""
    return unseen_twin(table, _passing(table)[0])


def _answers(table: Table, kind: str) -> dict[str, str]:
    """Return the name of each class in a version; in the statistical version it is a number, in shuffled order."""
    _, question = task_of(table)
    answers = answers_of(question)
    if kind != CODED:
        return {answer: answer for answer in answers}
    numbers = seeded(table, "classes", CODED).sample(range(len(answers)), len(answers))
    return {answer: str(number) for answer, number in zip(sorted(answers), numbers, strict=True)}


def _lost(name: str, pairs: Sequence[tuple[Query, Query]], right: Mapping[str, bool]) -> str:
    """Return a sentence on the accuracy on a version, its loss from the rows, and the learners' loss."""
    if not pairs:
        return f"{name} not asked, since learners find it harder or easier, or it cannot be made"
    both = [(own, other) for own, other in pairs if own.id in right and other.id in right]
    if not both:
        return f"{name}: no row was answered in both versions"
    found = gained([float(right[own.id] - right[other.id]) for own, other in both])
    low, high = found.interval
    accuracy = fmean(right[other.id] for _, other in both)
    models = fmean(learned(own) - learned(other) for own, other in both)
    return (
        f"{name} {accuracy:.2f}, lost {format_signed(found.mean)} ({format_signed(low)} to {format_signed(high)}; "
        f"learners lose {format_signed(models)})"
    )
