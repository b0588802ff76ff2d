"""Few-shot classification of table rows by an LLM, after TabLLM (Hegselmann et al. 2023)."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

from tabcontam.evidence.answering import ChoiceAnswers
from tabcontam.evidence.base import Query
from tabcontam.evidence.prompts import default_prompts
from tabcontam.guesser.chance import Guess
from tabcontam.reading.reading import chosen
from tabcontam.statistics.exact import clopper_pearson
from tabcontam.subjects.base import Request
from tabcontam.subjects.registry import Settings, resolve
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import Table, load_table

ASKED = 50  # rows


@dataclass(frozen=True)
class Accuracy:
    """How many of the asked rows were classified right, and the share of them that the largest class has."""

    right: int
    asked: int
    majority: float

    @property
    def interval(self) -> tuple[float, float]:
        """The share of right answers, with a confidence of 95 %."""
        return clopper_pearson(self.right, self.asked)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.right / self.asked:.2f} right [{low:.2f}, {high:.2f}], largest class {self.majority:.2f}"


def classify(llm: str, dataset: str, shots: int, serializer: str) -> Accuracy:
    """Ask an LLM for the class of some rows, each shown as text behind `shots` others with their classes."""
    table = load_table(dataset)
    queries = questions(table, shots, serializer)
    answers = asyncio.run(ask(llm, table, queries))
    right = sum(chosen(text, query.asked) == query.expected[0] for text, query in zip(answers, queries, strict=True))
    ((_, largest),) = Counter(query.expected[0] for query in queries).most_common(1)
    return Accuracy(right, len(queries), largest / len(queries))


def questions(table: Table, shots: int, serializer: str) -> list[Query]:
    """One for each asked row; the rows that are shown with their answers are others."""
    assert table.question is not None
    question, form, columns = table.question, load_serializer(serializer), table.columns
    answers = tuple(question.answers.values())
    target = columns.index(str(table.target))

    def example(row: Sequence[str | None]) -> tuple[str, str]:
        text = form.row(columns[:target] + columns[target + 1 :], [*row[:target], *row[target + 1 :]])
        return text, question.answer(str(row[target]))

    drawn = [example(row) for row in Random(0).sample(table.rows, shots + ASKED)]
    shown, asked = drawn[:shots], drawn[shots:]
    ((largest, _),) = Counter(label for _, label in asked).most_common(1)
    guess = {"majority": Guess({largest: 1.0}, 0.0)}  # what a simulated LLM says that guesses
    written = [partial(default_prompts().class_of, shown, text, question.text, answers) for text, _ in asked]
    return [
        Query(f"experiment-{number}", write, answers, (label,), max_tokens=8, chance=guess, answering=ChoiceAnswers())
        for number, (write, (_, label)) in enumerate(zip(written, asked, strict=True))
    ]


async def ask(llm: str, table: Table, queries: Sequence[Query]) -> list[str]:
    """The answers, in order. The table is for controls and simulated LLMs alone, which are made from it."""
    model = resolve(llm).open(Settings())
    await model.connect()
    try:
        answerer = model.prepare(table, queries)
        return [(await answerer.generate(Request(query.prompt, query.max_tokens))).text for query in queries]
    finally:
        await model.close()
