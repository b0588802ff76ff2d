"""Classification: the accuracy of the model on the table's own task."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.failures import attempt
from tabcontam.baseline.stored_facts import ranks, stored_fact
from tabcontam.errors import Skip
from tabcontam.evidence.base import (
    RONVAL,
    Endings,
    Evidence,
    EvidenceKind,
    Family,
    Likelihoods,
    Prompt,
    PublishedRule,
    Query,
    Reading,
    ReplyState,
    Statistic,
    Test,
    Trial,
)
from tabcontam.evidence.checks import draw_until_valid
from tabcontam.evidence.mixins import SizedTest, WordedTest
from tabcontam.evidence.rows.choice_test import ChoiceTest, valid_answers
from tabcontam.evidence.thresholds import (
    BASELINE_DRAWS,
    BASELINE_ROWS_A_CLASS,
    CLASSIFIED_ROWS,
    MOST_BASELINE_VALUES,
    MOST_CLASSIFIED_ROWS,
)
from tabcontam.groups import grouped
from tabcontam.statistics.exact_statistics import clopper_pearson
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.dataset_cards import ClassificationQuestion
from tabcontam.tables.known_rows import not_known
from tabcontam.tables.row_draws import by_content, copied, in_random_order, pool, seeded
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table
from tabcontam.twins.twin_sample import labelled

FEW_SHOT = "few-shot"  # the name of the baseline among the chances of a query
RIGHT = PublishedRule("rows were classified right", share=None, source=RONVAL)


class AccuracyTest(Test):
    """A test whose score is an accuracy, which the means of the ranking include if the card's question is `fair`."""

    def not_averaged(self, table: Table) -> str | None:
        """Return why the means leave out the score on this table, or None if they include it."""
        return unfair(table.question) if table.question else None


@dataclass(frozen=True)
class ClassificationTest(WordedTest, SizedTest, ChoiceTest):
    """A classification of `rows` random rows, 100 by default, with the card's question (TabLLM, Hegselmann 2023)."""

    family: ClassVar[Family] = Family.SCORE
    kind: ClassVar[EvidenceKind] = EvidenceKind.CLASSIFICATION
    shots: ClassVar[int]
    baseline: ClassVar[str] = FEW_SHOT
    rows: int = CLASSIFIED_ROWS

    def about(self, rows: int) -> Self:
        """Return this test with `rows` rows of a table, at most 1,000 and at most all rows."""
        return replace(self, rows=rows)

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Return a query for each row; a small table has fewer.

        Raises `Skip` if there is no question, or if a class has only one row.
        """
        target, question = task_of(table)
        answers = answers_of(question)
        labels = cached_fact(table, "labels", lambda: labelled(table, target, question))
        classes = cached_fact(table, "classes", lambda: grouped(labels, labels.__getitem__))
        candidates = self._candidates(table, labels)
        if not candidates:
            raise Skip("the model may know every row that has a class")
        baseline = self._baseline(table, target, labels, candidates)
        majority = CellPrediction({max(answers, key=lambda answer: len(classes.get(answer, ()))): 1.0}, 0.0)
        rows = in_random_order(rng, candidates, CLASSIFIED_ROWS)[: max(self.rows, CLASSIFIED_ROWS)]
        queries = []
        for number, asked in enumerate(rows):
            rng = copied(rng) if number == CLASSIFIED_ROWS else rng  # `rows` does not change later draws
            examples = [self._example(table, classes.get(answer, []), asked, rng) for answer in answers * self.shots]
            queries.append(
                Query(
                    id=f"{self.id}-{number}",
                    write=partial(self._prompt, table, serializer, examples, table.columns, table.rows[asked]),
                    asked=answers,
                    expected=(labels[asked],),
                    max_tokens=tokens_of(answers),
                    paper=number < CLASSIFIED_ROWS,
                    rows=(*examples, asked),
                    row=asked,
                    chance={"majority": majority} | ({self.baseline: baseline[asked]} if asked in baseline else {}),
                )
            )
        return queries[: self.rows]

    def _candidates(self, table: Table, labels: Mapping[int, str]) -> list[int]:
        """Return the rows that may be asked about."""
        return cached_fact(table, "classified", lambda: pool(table, not_known(table, labels), MOST_CLASSIFIED_ROWS))

    def _baseline(
        self, table: Table, target: str, labels: Mapping[int, str], candidates: Sequence[int]
    ) -> Mapping[int, CellPrediction]:
        """Return the baseline's predictions for these rows."""
        return cached_fact(table, "few-shot", lambda: _cached_few_shot(table, target, labels, candidates))

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """Return the share of valid answers that are right, and both baselines' share on the same rows; no p-value."""
        answers = valid_answers(trials)
        hits = sum(answer == trial.query.expected[0] for trial, answer in answers)
        low, high = clopper_pearson(hits, len(answers))
        score = hits / len(answers) if answers else 0.0
        asked = [trial.query for trial, _ in answers]
        majority, few = _largest(asked), _baseline(asked, FEW_SHOT)
        gets = f"; the majority class gets {majority:.2f}" if majority is not None else ""
        if few is not None:
            gets += f", logistic regression on {BASELINE_ROWS_A_CLASS} rows of each class {few:.2f}"
        invalid = len(trials) - len(answers)
        none = f"; {invalid} {'answer names' if invalid == 1 else 'answers name'} no class" if invalid else ""
        return Evidence(
            statistic=Statistic(name="share of valid answers that are right", value=score, expected=majority),
            null="the answer is always the majority class",
            sentence=f"{hits} of {len(answers)} valid answers are right: "
            f"{score:.2f} [{low:.2f}, {high:.2f}]{gets}{none}",
            hits=hits,
            asked=len(trials),
            answered=len(answers),
            expected_hits=None if majority is None else majority * len(answers),
            interval=(low, high),
            interval_of="share of valid answers that are right",
        )

    def _example(self, table: Table, candidates: list[int], asked: int, rng: Random) -> int:
        if not candidates:
            raise Skip("a class of the question has no row to show")

        def draw() -> int | None:
            row = rng.choice(candidates)
            return row if table.rows[row] != table.rows[asked] else None

        return draw_until_valid(draw, "no other row of the asked row's class could be shown")

    def _prompt(
        self,
        table: Table,
        serializer: Serializer,
        examples: Sequence[int],
        names: Sequence[str],
        cells: Sequence[str | None],
    ) -> Prompt:
        """Return the prompt that asks about these cells, after example rows with their answers."""
        target, question = task_of(table)
        columns, by_name = [name for name in table.columns if name != target], dict(zip(names, cells, strict=True))
        shots = [
            (
                serializer.alone(columns, [table.column(name)[row] for name in columns]),
                question.answer(table.column(target)[row] or ""),
            )
            for row in examples
        ]
        asked = serializer.alone(columns, [by_name[name] for name in columns])
        return self.prompts.class_of(shots, asked, question.text, answers_of(question))


def task_of(table: Table) -> tuple[str, ClassificationQuestion]:
    """Return the target and the question about it. Raises `Skip` if there is none."""
    if table.target is None:
        raise Skip("the table has no classification question: a FILE needs --target with a column of 2 to 10 values")
    if table.question is None:
        size = f"{table.target} has {len(table.distinct(table.target)):,}"
        raise Skip(f"the table has no classification question: --target needs 2 to 10 values, but {size}")
    return table.target, table.question


def unfair(question: ClassificationQuestion) -> str | None:
    """Return why no model can know which class a code means; None if one can: see `ClassificationQuestion`."""
    if question.fair:
        return None
    return f"no model can know from a row alone which class is {' and which '.join(answers_of(question)[:2])}"


def answers_of(question: ClassificationQuestion) -> tuple[str, ...]:
    """Return the answers that a question offers, each once."""
    return tuple(dict.fromkeys(question.answers.values()))


def as_endings(prompt: Prompt, answers: Sequence[str]) -> Endings:
    """Return the classes as endings of a prompt; each gets a line end if one class is the beginning of another."""
    end = "\n" if any(one != other and other.startswith(one) for one in answers for other in answers) else ""
    return Endings(prompt.completion, tuple(f" {answer}{end}" for answer in answers))


def likeliest(query: Query, reply: Likelihoods) -> Reading:
    """Return a reading with the class of the highest likelihood; without a class if two are equal."""
    values = reply.values if reply.state is ReplyState.OK else ()
    best = [name for name, value in zip(query.asked, values, strict=bool(values)) if value == max(values)]
    answer = best[0] if len(best) == 1 else None
    hit = answer == query.expected[0]
    return Reading(answer, hit, paper_hit=hit, readable=answer is not None)


# class_tokens: class names are longer than Yes
def tokens_of(answers: Sequence[str], *, yes_no_tokens: int = 4, class_tokens: int = 16) -> int:
    """Return a limit for the number of tokens of an answer."""
    return yes_no_tokens if all(answer.casefold() in ("yes", "no") for answer in answers) else class_tokens


def _largest(queries: Sequence[Query]) -> float | None:
    """Return the share of the most frequent class among the asked rows: the accuracy of the best constant answer.

    The most frequent class of the whole table would be a wrong baseline. If two classes are equally large, 37 of a
    hundred asked rows may be of one class. A constant answer with the other class is then right in 63 rows.
    """
    counts = Counter(str(query.expected[0]) for query in queries)
    return max(counts.values()) / counts.total() if counts else None


def _baseline(queries: Sequence[Query], name: str) -> float | None:
    """Return the accuracy of a baseline on the queries that have its prediction."""
    chances = [query.chance[name].chance_of(str(query.expected[0])) for query in queries if name in query.chance]
    return sum(chances) / len(chances) if chances else None


# version: cached few-shot baselines of other versions are not read
def _cached_few_shot(
    table: Table, target: str, labels: Mapping[int, str], rows: Sequence[int], *, version: int = 1
) -> dict[int, CellPrediction]:
    rank = ranks(table)

    def write(predictions: Mapping[int, CellPrediction]) -> object:
        return [[rank[row], dict(prediction.values)] for row, prediction in predictions.items()]

    def read(stored: Any) -> dict[int, CellPrediction]:
        row = by_content(table)
        predictions = {
            row[place]: CellPrediction({str(label): float(share) for label, share in shares.items()}, 0.0)
            for place, shares in stored
        }
        if not predictions.keys() <= set(rows):
            raise ValueError("answers about other rows")
        return predictions

    which = [target, [[rank[row], labels[row]] for row in rows], sorted(table.missing)]

    def find() -> dict[int, CellPrediction]:
        return attempt("few-shot logistic regression", lambda: _few_shot(table, target, labels, rows), {})

    return stored_fact(table, ["few-shot", version, which], find, write, read)


def _few_shot(table: Table, target: str, labels: Mapping[int, str], rows: Sequence[int]) -> dict[int, CellPrediction]:
    """Return for each row how often five logistic regressions name each class.

    Each learns from a seeded draw of 16 rows of each class, or half of the class; no drawn row equals the asked row. A
    row that is in every draw gets no prediction.
    """
    from sklearn.linear_model import LogisticRegression

    features, rng = described(table, target, rows), seeded(table, "few-shot")
    by_label = grouped(range(len(rows)), lambda place: labels[rows[place]])
    predictions: list[list[str]] = [[] for _ in rows]
    for _ in range(BASELINE_DRAWS):
        shots = [
            place
            for label in sorted(by_label)
            for place in rng.sample(by_label[label], min(BASELINE_ROWS_A_CLASS, (len(by_label[label]) + 1) // 2))
        ]
        answers = [labels[rows[place]] for place in shots]
        predicted = answers[:1] * len(rows)
        if len(by_label) > 1:
            predicted = LogisticRegression(max_iter=1000).fit(features[shots], answers).predict(features).tolist()
        shown = {table.rows[rows[place]] for place in shots}
        for place, row in enumerate(rows):
            if table.rows[row] not in shown:
                predictions[place].append(predicted[place])
    return {
        row: CellPrediction({label: count / len(answers) for label, count in sorted(Counter(answers).items())}, 0.0)
        for row, answers in zip(rows, predictions, strict=True)
        if answers
    }


def described(table: Table, target: str, rows: Sequence[int]) -> NDArray[np.float64]:
    """Return the rows' features except the target: standardised numbers; a 0/1 column for each usual value."""
    columns = []
    for name in sorted(set(table.columns) - {target}):
        cells = [table.column(name)[row] for row in rows]
        known = [None if cell is None or table.is_missing(cell) else cell for cell in cells]
        if table.is_numeric(name):
            numbers = np.array([np.nan if cell is None else float(cell) for cell in known])
            if not np.isnan(numbers).all() and (spread := np.nanstd(numbers)) > 0:
                columns.append(np.nan_to_num((numbers - np.nanmean(numbers)) / spread))
        else:
            counts = Counter(cell for cell in known if cell is not None)
            usual = sorted((value for value in counts if counts[value] > 1), key=lambda value: (-counts[value], value))
            columns += [np.array([float(cell == value) for cell in known]) for value in usual[:MOST_BASELINE_VALUES]]
    return np.column_stack(columns) if columns else np.zeros((len(rows), 1))


@dataclass(frozen=True)
class Classification0Shot(AccuracyTest, ClassificationTest):
    """Shown a row without its target, the model must give the class.

    Measures: the share of right answers among valid answers. An answer that is no class is counted separately.

    Queries: the card's question about 100 random rows, or about N rows with `--rows N`, at most 1,000.

    Null: a constant answer: the most frequent class of the asked rows. The accuracy of this constant answer is reported
    with the score. The accuracy of logistic regression on 16 rows of each class is reported, too. The test gives a
    score with an exact 95 % interval, and no verdict.

    Published rule: none; the paper reports the share of right answers.

    Needs: a target with a question (a FILE: `--target` with a column of 2 to 10 values), and a model that understands a
    question. The controls do not take this test.

    Cannot show: contamination. A high share of right answers may be skill: compare the other tests in the ranking.

    Source: Ronval et al. 2024, section 4.3, after TabLLM (Hegselmann et al. 2023).

    Example: `The age is 39, ... Does this person earn more than 50K a year? / Answer:` goes on with `No`.
    """

    id: ClassVar[str] = "classification_0shot"
    title: ClassVar[str] = "Classification, 0-shot"
    measure: ClassVar[str] = "zero_shot"
    published = RIGHT
    shots: ClassVar[int] = 0


@dataclass(frozen=True)
class Classification1Shot(AccuracyTest, ClassificationTest):
    """Shown one row of each class with its answer, the model must give the class of another row.

    Measures: the share of right answers among valid answers. An answer that is no class is counted separately.

    Queries: the card's question about 100 random rows, or about N rows with `--rows N`, at most 1,000. The example rows
    are random and never the asked row. The authors' code always shows the first row of each class, which may be the
    asked row.

    Null: a constant answer: the most frequent class of the asked rows. The accuracy of this constant answer is reported
    with the score. The accuracy of logistic regression on 16 rows of each class is reported, too. The test gives a
    score with an exact 95 % interval, and no verdict.

    Published rule: none; the paper reports the share of right answers.

    Needs: a target with a question (a FILE: `--target` with a column of 2 to 10 values), two rows of each class or
    more, and a model that understands a question. The controls do not take this test.

    Cannot show: contamination. A high share of right answers may be skill: compare the other tests in the ranking.

    Source: Ronval et al. 2024, section 4.3, after TabLLM (Hegselmann et al. 2023).

    Example: a row and `Answer: Yes`, a row and `Answer: No`, a row and `Answer:`, which goes on with `No`.
    """

    id: ClassVar[str] = "classification_1shot"
    title: ClassVar[str] = "Classification, 1-shot"
    measure: ClassVar[str] = "one_shot"
    published = RIGHT
    shots: ClassVar[int] = 1
