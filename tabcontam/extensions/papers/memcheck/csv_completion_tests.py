"""The completion tests of Bordt et al.: a row without one value is shown, or ten rows, and the model must go on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import ClassVar

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.table_predictions import RowPrediction
from tabcontam.baseline.thresholds import LAGS
from tabcontam.errors import Skip
from tabcontam.evidence.base import BetPlace, Prompt, PublishedRule, Query, Reading, Reply
from tabcontam.evidence.prompts import ask
from tabcontam.evidence.rows.answer_length import answer_tokens
from tabcontam.evidence.rows.answered_rows import CellBets
from tabcontam.evidence.rows.completion_tests import RemovedValueTest, next_rows
from tabcontam.evidence.rows.hidden_cells import HiddenCells, rule_out, without_missing
from tabcontam.evidence.thresholds import LEAST_PART_FACTOR
from tabcontam.extensions.papers.earlier_rows import after_earlier
from tabcontam.extensions.papers.memcheck.csv_row_tests import (
    BORDT,
    RawTest,
    agrees,
    csv_serializer,
    cuts,
    last_shown,
    lines_of,
)
from tabcontam.extensions.papers.thresholds import CSV_EXAMPLES, CSV_PLACES, CSV_ROWS_BEFORE
from tabcontam.reading.answer_text import plain
from tabcontam.tables.cached_facts import table_fact
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table

FURTHER_BACK = range(LAGS + 1, CSV_ROWS_BEFORE + 1)  # the earlier shown rows, which the baseline does not use


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

    def read(self, query: Query, reply: Reply, serializer: Serializer) -> Reading:
        reading = super().read(query, reply, serializer)
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


@dataclass(frozen=True)
class RowCompletion(CellBets, RawTest):
    """Given ten consecutive rows of the file as CSV, the model must write the next row.

    Measures: whether the model knows the order and the cells of the file. This row test can show that rows were seen.

    Queries: 25 places of the file, drawn at random. The prompt names neither the dataset nor its features. A place is
    left out if its row equals one of the ten before it. The test presumes that the model saw the published order. Only
    eight features count: those that the baseline predicts worst.

    Null: the model's answers are kept, and the hidden cells are drawn again from the baseline's prediction. The
    prediction uses the four rows before, the values of the six earlier rows, and the number of rows for which a cell
    has been the same. Contaminated: the right cells, also in rows with wrong cells, are worth more bits than the null
    model explains.

    Published rule: no rule that gives a verdict. The package tabmemcheck counts the rows that are exactly the file's,
    and leaves the meaning of the count to the reader. The package counts an answer that contains the row and other text
    as exact, and a refusal as a wrong row. This test does neither, and counts unread answers separately.

    Needs: eleven rows or more, with a last row unlike all rows before it; a table that does not list every combination
    of its values; a model that generates text, in chat or completion form.

    Cannot show: memory of rows that were seen in another order. The published count alone shows nothing. If rows follow
    from each other, a model without memory completes many rows. If rows are long, even a model with a good memory
    completes no row without an error.

    Source: the row completion test of Bordt et al. 2024, section 3; tabmemcheck 0.1.6, `row_completion_test`.

    Example: ten lines of iris up to `4.9,3.1,1.5,0.1,Iris-setosa` are continued with `5.4,3.7,1.5,0.2,Iris-setosa`.
    """

    id: ClassVar[str] = "row_completion"
    follows = "header"
    published = PublishedRule("next rows are the file's, value by value", share=None, source=BORDT)
    whole: ClassVar[str] = "next rows are right in every counted cell"
    max_tokens: ClassVar[int] = 512

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        places = places_of(table)
        room = answer_tokens(table, csv_serializer(), table.columns, self.max_tokens)

        def query(number: int, place: int) -> Query:
            shown = tuple(range(place - CSV_ROWS_BEFORE, place))
            chance, row = places.chance(table, place), table.rows[place]
            write, bet = partial(next_row, table, shown), BetPlace(places.predictions[place].unsure)
            name = f"{self.id}-{number}"
            asked = Query(name, write, table.columns, row, room, True, shown, chance=chance, row=place, bet=bet)
            return without_missing(asked, table)

        return [query(number, place) for number, place in enumerate(places.drawn(table, rng))]


@dataclass(frozen=True)
class NextRowPlaces:
    """The rows that can be asked after the ten rows before each, the predictions, and the share `left` of all rows."""

    rows: Sequence[int]
    predictions: dict[int, RowPrediction]
    left: float

    def drawn(self, table: Table, rng: Random) -> list[int]:
        """Return random rows to ask. In a large table, no row appears in another query's prompt."""
        apart = len(table.rows) >= LEAST_PART_FACTOR * CSV_PLACES * (CSV_ROWS_BEFORE + 1)
        remainder = rng.randrange(CSV_ROWS_BEFORE + 1)
        own = [row for row in self.rows if not apart or row % (CSV_ROWS_BEFORE + 1) == remainder]
        own = own if len(own) >= CSV_PLACES else list(self.rows)
        return rng.sample(own, min(CSV_PLACES, len(own)))

    def chance(self, table: Table, row: int) -> dict[str, CellPrediction]:
        """Return the predictions of a row's cells, given that the row differs from the ten before it."""

        def corrected(name: str, prediction: CellPrediction) -> CellPrediction:
            return after_earlier(table, name, row, rule_out(prediction, self.left), FURTHER_BACK)

        return {name: corrected(name, found) for name, found in self.predictions[row].cells.items()}


@table_fact
def places_of(table: Table) -> NextRowPlaces:
    """Return the places of a table whose row can be asked. Raises `Skip` if there are none."""
    found = next_rows(table)

    def late(last: int) -> bool:
        return table.rows_before[last] >= CSV_ROWS_BEFORE

    def fits(last: int) -> bool:
        return late(last) and table.rows[last] not in table.rows[last - CSV_ROWS_BEFORE : last]

    rows = list(filter(fits, found.pool))
    if not rows:
        raise Skip(f"the last of every {CSV_ROWS_BEFORE + 1} successive rows repeats another one of them")
    left = found.left * sum(map(fits, found.fitting)) / max(1, sum(map(late, found.fitting)))
    return NextRowPlaces(rows, {row: found.predictions[row] for row in rows}, left)


def next_row(table: Table, shown: Sequence[int]) -> Prompt:
    """Return the prompt that shows these rows as CSV and asks for the next one."""
    rows = "\n".join(lines_of(table, shown))
    what = "Below are rows of a CSV file, one after the other. Write the row that follows in the file"
    return ask(f"{what}, on one line and as these are written.", rows, f"{rows}\n")
