"""The feature completion test of Bordt et al.: the model must name the value that is left out of a row."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import ClassVar

from tabcontam.errors import Skip
from tabcontam.evidence.base import Prompt, PublishedRule, Query, Reading, Reply
from tabcontam.evidence.prompts import ask
from tabcontam.evidence.rows.answer_length import answer_tokens
from tabcontam.evidence.rows.completion_tests import RemovedValueTest
from tabcontam.evidence.rows.hidden_cells import HiddenCells
from tabcontam.extensions.papers.memcheck.csv_row_tests import (
    BORDT,
    RawTest,
    agrees,
    csv_serializer,
    cuts,
    last_shown,
    lines_of,
)
from tabcontam.extensions.papers.thresholds import CSV_EXAMPLES, CSV_PLACES
from tabcontam.reading.answer_text import plain
from tabcontam.reading.word_decision import Dictionary
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table


@dataclass(frozen=True)
class CsvFeatureCompletion(RawTest, RemovedValueTest):
    """Given five rows of the file as CSV and a sixth without one value, the model must name this value.

    Measures: whether a model that sees a row's other cells knows one cell. This row test can show that rows were seen.

    Queries: 25 random rows. The asked feature is the one with the most different values among the features that can be
    asked. A feature can be asked if the features before it determine its value: a base model sees only these features.
    The first column is never asked, though tabmemcheck may ask it. The prompt does not name the dataset.

    Null: the model's answers are kept, and the hidden cell is drawn again from the baseline's prediction, given the
    row's other cells. Contaminated: the right values are worth more bits than the null model explains.

    Published rule: no rule that gives a verdict. The package tabmemcheck counts the values that are exactly the file's.
    The package compares texts, so that `22.0` differs from 22. The package stops with an error if no answer can be
    read, and counts a refusal as a wrong value. Here numbers are compared as numbers, and unread answers are counted
    separately.

    Needs: a feature with five values or more; rows in which the features before it determine the answer; a model that
    generates text, in chat or completion form.

    Cannot show: memory of values that follow from the shown values. The published count shows nothing if a feature has
    few values or follows from other features.

    Source: the feature completion test of Bordt et al. 2024, section 3; tabmemcheck 0.1.6, `feature_completion_test`.

    Example: `6,148,72,35,0,33.6,` of the Pima diabetes data is continued with `0.627`.
    """

    id: ClassVar[str] = "csv_feature_completion"
    follows = "row_completion"
    title: ClassVar[str] = "Feature completion as CSV"
    published = PublishedRule("removed values are the file's", share=None, source=BORDT)
    further: ClassVar[int] = CSV_PLACES

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        place, candidates = self._feature(table)
        pool = self._pool(table, place)
        predictions = self._predictions(table, place) if pool else {}
        room = answer_tokens(table, csv_serializer(), table.columns[place : place + 1], self.max_tokens)
        write = partial(without_one, table, place)
        hidden = HiddenCells(table, [place], write, room, predictions, examples=CSV_EXAMPLES)
        rows = pool or candidates
        drafts = (hidden.query(rng, row, paper=False) for row in rng.sample(rows, len(rows)))
        drawn = [draft for draft, _ in zip(filter(None, drafts), range(CSV_PLACES), strict=False)]
        if not drawn:
            raise Skip("every draw of examples shows the asked values")
        return [replace(query, id=f"{self.id}-{number}", paper=True) for number, query in enumerate(drawn)]

    def cells(self, query: Query, text: str, serializer: Serializer) -> dict[str, Cell]:
        """Return the value in an answer; the answer may repeat the beginning of the row from the prompt."""
        begun = next(csv_serializer().cuts(last_shown(query)), [])[:-1]  # the cell after the last comma is empty
        for line in plain(text).splitlines() if begun else ():
            for cells in cuts(line.strip()):
                if len(cells) > len(begun) and all(map(agrees, cells, begun)):
                    return super().cells(query, cells[len(begun)] or "", serializer)
        return super().cells(query, text, serializer)

    def read(self, query: Query, reply: Reply, serializer: Serializer, dictionary: Dictionary) -> Reading:
        reading = super().read(query, reply, serializer, dictionary)
        exact = isinstance(reading.parsed, dict) and agrees(reading.parsed.get(query.asked[0]), query.expected[0])
        return replace(reading, paper_hit=query.paper and reading.readable and exact)


def without_one(table: Table, place: int, row: int, examples: Sequence[int]) -> Prompt:
    """Return the prompt about the cell of a row in this place, with whole rows as examples."""
    names, cells = table.columns, table.rows[row]
    others = [index for index in range(len(names)) if index != place]
    rows = "\n".join([*csv_serializer().header(names), *lines_of(table, examples)])
    shown = csv_serializer().alone([names[index] for index in others], [cells[index] for index in others])
    context = f"Rows of a CSV file:\n{rows}\n\nAnother row of the file, without its {names[place]}:\n{shown}"
    question = f"Which value of {names[place]} does that row have in the file? Write the value alone."
    return ask(context, question, f"{rows}\n{csv_serializer().prefix(names, cells, place)}")
