"""Classification: how well does the LLM do the task itself?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import ClassVar

from tabcontam.datasets import Question, Table
from tabcontam.errors import Skip
from tabcontam.serializers import Serializer
from tabcontam.suite import prompts
from tabcontam.suite.base import Capability, Kind, Prompt, Query
from tabcontam.suite.checks import drawn
from tabcontam.suite.choices import ChoiceTest
from tabcontam.suite.facts import once

QUERIES = 100
YES_NO_TOKENS = 4
CLASS_TOKENS = 16  # the name of a class is longer than Yes


class ClassificationTest(ChoiceTest):
    """100 random rows with the card's question, after TabLLM (Hegselmann et al. 2023)."""

    id: ClassVar[str]
    kind: ClassVar[Kind] = Kind.CLASSIFICATION
    number: ClassVar[int | None] = None
    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.GENERATE, Capability.INSTRUCTIONS})
    shows_rows: ClassVar[bool] = True
    claim: ClassVar[str] = "rows were classified right"
    shots: ClassVar[int]

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """100 queries, fewer for a smaller table. Raises `Skip` where there is no question or a class has one row."""
        if table.question is None or table.target is None:
            raise Skip("no classification question: a FILE needs --target with a column of 2 to 10 values")
        target, question = table.target, table.question
        answers = _answers(question)
        labels = once(table, "labels", lambda: _labels(table, target, question))
        classes = once(table, "classes", lambda: _by_label(labels, answers))
        write = partial(_prompt, table, serializer, question, labels)
        rows = rng.sample(list(labels), min(QUERIES, len(labels)))
        short = all(answer.casefold() in ("yes", "no") for answer in answers)
        queries = []
        for number, asked in enumerate(rows):
            examples = [self._example(table, classes[answer], asked, rng) for answer in answers * self.shots]
            shown = (*examples, asked)
            queries.append(
                Query(
                    id=f"{self.id}-{number}",
                    write=partial(write, shown),
                    asked=answers,
                    expected=(labels[asked],),
                    max_tokens=YES_NO_TOKENS if short else CLASS_TOKENS,
                    rows=shown,
                )
            )
        return queries

    def _example(self, table: Table, candidates: list[int], asked: int, rng: Random) -> int:
        if not candidates:
            raise Skip("a class of the question has no row to show")

        def draw() -> int | None:
            row = rng.choice(candidates)
            return row if table.rows[row] != table.rows[asked] else None

        return drawn(draw, "no other row of the asked row's class could be shown")


def _answers(question: Question) -> tuple[str, ...]:
    return tuple(dict.fromkeys(question.answers.values()))


def _labels(table: Table, target: str, question: Question) -> dict[int, str]:
    """The answer of every row that has one, in the order of the rows."""
    cells = enumerate(table.column(target))
    return {row: question.answer(cell) for row, cell in cells if cell is not None and not table.is_missing(cell)}


def _by_label(labels: Mapping[int, str], answers: Sequence[str]) -> dict[str, list[int]]:
    return {answer: [row for row, label in labels.items() if label == answer] for answer in answers}


def _prompt(
    table: Table, serializer: Serializer, question: Question, labels: Mapping[int, str], rows: Sequence[int]
) -> Prompt:
    """The last row as a question, behind the others with their answers."""
    shown = [index for index, name in enumerate(table.columns) if name != table.target]
    columns = [table.columns[index] for index in shown]
    texts = [serializer.row(columns, [table.rows[row][index] for index in shown]) for row in rows]
    shots = [(text, labels[row]) for text, row in zip(texts[:-1], rows[:-1], strict=True)]
    return prompts.classification(shots, texts[-1], question.text, _answers(question))


@dataclass(frozen=True)
class Classification0Shot(ClassificationTest):
    """Shown a row without its target, the LLM must give the class.

    Ronval et al. 2024, section 4.3: 100 random rows, the share of right answers. An answer that is none of the classes
    is not right, and counted apart.

    Example: `The age is 39, ... Does this person earn more than 50K a year? / Answer:` goes on with `No`.
    """

    id: ClassVar[str] = "classification_0shot"
    shots: ClassVar[int] = 0


@dataclass(frozen=True)
class Classification1Shot(ClassificationTest):
    """Shown one row of each class with its answer, the LLM must give the class of another row.

    Ronval et al. 2024, section 4.3: 100 random rows, the share of right answers. The rows shown are random and never
    the asked one; the authors' code shows the first row of each class every time, which may be the asked one.

    Example: a row and `Answer: Yes`, a row and `Answer: No`, a row and `Answer:`, which goes on with `No`.
    """

    id: ClassVar[str] = "classification_1shot"
    shots: ClassVar[int] = 1
