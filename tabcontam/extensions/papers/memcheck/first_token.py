"""The first token test of Bordt et al.: ten rows are shown, and the model must write the beginning of the next row."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from random import Random
from typing import ClassVar

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.table_predictions import predict_rows
from tabcontam.errors import Skip
from tabcontam.evidence.base import READ, Prompt, PublishedRule, Query, Reading, Reply, ReplyState
from tabcontam.evidence.prompts import ask
from tabcontam.evidence.rows.answer_length import answer_tokens
from tabcontam.evidence.rows.answered_rows import CellBets
from tabcontam.evidence.rows.bits_by_column import entity_names
from tabcontam.evidence.rows.hidden_cells import rule_out
from tabcontam.extensions.papers.earlier_rows import likely_after
from tabcontam.extensions.papers.memcheck.csv_completion_tests import places_of
from tabcontam.extensions.papers.memcheck.csv_row_tests import (
    BORDT,
    NUMBERED,
    RawAnswers,
    RawTest,
    csv_serializer,
    lines_of,
    lists_rows,
    shown_text,
)
from tabcontam.extensions.papers.thresholds import (
    CSV_ROWS_BEFORE,
    LEAST_BEGINNINGS,
    MOST_COMMON_BEGINNING_SHARE,
    MOST_FIRST_CHARACTERS,
)
from tabcontam.reading.answer_text import answer_line, declines, plain
from tabcontam.reading.numbers import is_number
from tabcontam.tables.cached_facts import table_fact
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table


@dataclass(frozen=True)
class FirstCharactersAnswers(RawAnswers):
    """Answers with the beginning of a row."""

    def usual(self, query: Query, table: Table) -> Sequence[Cell]:
        length = length_of(table)
        return [Counter(text[:length] for text in texts_of(table)).most_common(1)[0][0] if length else ""]

    def text(self, query: Query, values: Sequence[Cell], prompt: Prompt | None = None) -> str:
        return values[0] or ""


@dataclass(frozen=True)
class FirstToken(CellBets, RawTest):
    """Given ten consecutive rows of the file as CSV, the model must write the beginning of the next row.

    Measures: whether the model knows the beginning of the next row. This row test can show that rows were seen.

    Queries: 25 places of the file, drawn at random. The test compares the first characters of a row, six at most. It
    compares as few characters as possible: rows must have at least three different beginnings, and no beginning may be
    shared by half of the rows. The prompt asks for the first field, or for as many fields as every row needs for these
    characters.

    Null: the model's answers are kept, and the beginning of the hidden row is drawn again from the baseline's
    prediction, given the rows before. The prediction uses the beginnings of the rows before, the last row, the
    frequency of each beginning, a fitted classifier, and values that repeat or continue those of the ten shown rows.
    Contaminated: the right beginnings are worth more bits than the null model explains.

    Published rule: no rule that gives a verdict. The package tabmemcheck prints how many beginnings are right, and the
    same for a baseline. But this baseline counts how often the model writes the most frequent beginning, not how often
    this beginning is right: 30 of 30 for a model that always writes this beginning. The package skips tables on which
    it predicts the beginnings from the rows before. This test asks about such tables, and its null accounts for the
    prediction.

    Needs: eleven rows or more that begin differently, with a last row unlike all rows before it; a model that generates
    text, in chat or completion form.

    Cannot show: memory of rows that were seen in another order. If rows are numbered, or sorted by their first feature,
    the beginning follows from the row before and shows nothing. All evidence of this test is about the first column.
    Facts about this column, such as a list of names in its usual order, would look the same. So this test alone calls
    no table contaminated.

    Source: the first token test of Bordt et al. 2024, section 3; tabmemcheck 0.1.6, `first_token_test`.

    Example: ten lines of iris are continued with a line that begins with `5.4`.
    """

    id: ClassVar[str] = "first_token"
    follows = "csv_feature_completion"
    published = PublishedRule("first characters of the next rows are the file's", share=None, source=BORDT)
    answering: ClassVar[RawAnswers] = FirstCharactersAnswers()
    max_tokens: ClassVar[int] = 16
    whole: ClassVar[str] = "next rows begin as in the file"

    def lies_in(self, table: Table, query: Query) -> dict[str, str]:
        """Return the first column, or its entity, for each asked beginning: a right answer reveals only this column."""
        first = table.columns[0]
        return dict.fromkeys(query.asked, entity_names(table, [first]).get(first, first))

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        places, length = places_of(table), length_of(table)
        if not length:
            alike = f"half of the rows begin with the same {MOST_FIRST_CHARACTERS} characters"
            raise Skip(f"{alike}, or all of them in one of two ways")
        count = _fields(table, length)
        room = answer_tokens(table, csv_serializer(), table.columns[:count], self.max_tokens)
        begun = f"first {length} characters" if length > 1 else "first character"
        predictions = _predictions(table, begun, length, tuple(places.rows))

        def query(number: int, place: int) -> Query:
            shown = tuple(range(place - CSV_ROWS_BEFORE, place))
            chance = {begun: after(table, place, length, rule_out(predictions[place], places.left))}
            name, write = f"{self.id}-{number}", partial(row_begins, table, shown, count)
            first = texts_of(table)[place][:length]
            return Query(name, write, (begun,), (first,), room, True, shown, chance=chance, row=place)

        return [query(number, place) for number, place in enumerate(places.drawn(table, rng))]

    def complete(self, query: Query, text: str, serializer: Serializer) -> bool:
        return len(self._line(query, text)) > len(query.expected[0] or "")

    def read(self, query: Query, reply: Reply, serializer: Serializer) -> Reading:
        line = self._line(query, reply.text) if reply.state in READ else ""
        begun = line[: len(query.expected[0] or "")]
        cut = reply.state is ReplyState.TRUNCATED and not self.complete(query, reply.text, serializer)
        if not begun or cut or declines(reply.text):
            return Reading(None, hit=False, paper_hit=False, readable=False)
        right = begun == query.expected[0]
        return Reading({query.asked[0]: begun}, right, query.paper and right, True, query.asked if right else ())

    def _line(self, query: Query, text: str) -> str:
        """Return the line with the answer; rows of the prompt may be repeated before it."""
        shown = frozenset(shown_text(query).splitlines())
        lines = plain(text).splitlines()
        own = [line for line in lines if line not in shown] or lines
        line = answer_line("\n".join(own[1:] if _names_columns(own, shown) else own)).strip()
        likely = query.chance[query.asked[0]].values if query.asked[0] in query.chance else ()
        return line if lists_rows(query, likely) else NUMBERED.sub("", line)


@table_fact
def _predictions(table: Table, begun: str, length: int, rows: tuple[int, ...]) -> dict[int, CellPrediction]:
    """Return the baseline's prediction of each row's beginning, as of an extra column, given the rows before."""
    columns = (begun, *table.columns)
    cells = tuple((text[:length], *row) for text, row in zip(texts_of(table), table.rows, strict=True))

    def begin(rows: Sequence[tuple[str | None, ...]]) -> tuple[tuple[str | None, ...], ...]:
        return tuple((_text(table, row)[:length], *row) for row in rows)

    whole = None if table.whole is None else table.whole.with_rows(begin)
    own = replace(table, columns=columns, rows=cells, known=tuple(map(begin, table.known)), whole=whole)
    found = predict_rows(own, [begun], (), list(rows), before=True)
    return {row: replace(one.cells[begun], coarser=(), silent=None) for row, one in found.items()}


def after(table: Table, row: int, length: int, prediction: CellPrediction) -> CellPrediction:
    """Return the prediction of a row's first characters, raised for values that repeat or continue the ten shown."""
    values, shorter = dict(prediction.values), prediction.rest
    for value, chance in likely_after(table, table.columns[0], row, range(1, CSV_ROWS_BEFORE + 1)).items():
        begun = csv_serializer().value(value) + ("," if len(table.columns) > 1 else "")
        if len(begun) < length:
            shorter = max(shorter, chance)
        else:
            values[begun[:length]] = max(chance, values.get(begun[:length], prediction.rest))
    values = {value: max(chance, shorter) for value, chance in values.items()}
    return replace(prediction, values=values, rest=shorter)


@table_fact
def length_of(table: Table) -> int:
    """Return how many first characters of rows are compared, or 0 if too many rows have the same beginning."""

    def fits(length: int) -> bool:
        counts = Counter(text[:length] for text in texts_of(table))
        return len(counts) >= LEAST_BEGINNINGS and max(counts.values()) < MOST_COMMON_BEGINNING_SHARE * len(table.rows)

    lengths: Iterator[int] = filter(fits, range(1, MOST_FIRST_CHARACTERS + 1))
    return next(lengths, 0)


@table_fact
def texts_of(table: Table) -> list[str]:
    """Return the beginning of every row as a line of a CSV file, with as many characters as are ever compared."""
    return [_text(table, row) for row in table.rows]


def _names_columns(lines: Sequence[str], shown: Iterable[str]) -> bool:
    """Return whether the first line names columns: it has words in columns with numbers in all shown rows."""
    if len(lines) < 2:
        return False
    names = next(csv_serializer().cuts(lines[0]), [])
    rows = [cells for line in shown for cells in csv_serializer().cuts(line)]
    width = max(map(len, rows), default=0)
    columns = list(zip(*(cells for cells in rows if len(cells) == width > 1), strict=True))
    return len(names) <= width and any(
        name and not is_number(name.strip()) and all(cell is None or is_number(cell) for cell in column)
        for name, column in zip(names, columns, strict=False)
    )


def _text(table: Table, row: Sequence[Cell]) -> str:
    most = MOST_FIRST_CHARACTERS
    return csv_serializer().row(table.columns[:most], row[:most])[:most]


def _fields(table: Table, length: int) -> int:
    """Return how many first fields together have at least `length` characters in every row; six at most."""
    columns = map(table.column, table.columns[:MOST_FIRST_CHARACTERS])
    shortest = [min(len(csv_serializer().value(cell)) for cell in cells) for cells in columns]
    ends = accumulate(field + 1 for field in shortest)
    return next((count for count, end in enumerate(ends, 1) if end > length), len(shortest))


def row_begins(table: Table, shown: Sequence[int], count: int) -> Prompt:
    """Return the prompt that shows these rows as CSV and asks for the first `count` fields of the next row."""
    rows = "\n".join(lines_of(table, shown))
    fields = "the first field" if count == 1 else f"the first {count} fields"
    what = f"Below are rows of a CSV file, one after the other. Write {fields} of the row that follows in the file"
    return ask(f"{what}, as they are written in such a row, and nothing else.", rows, f"{rows}\n")
