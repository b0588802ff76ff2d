"""The header test of Bordt et al.: the beginning of the file is shown, and the model must continue it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, pairwise
from random import Random
from typing import ClassVar

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.table_predictions import least_sure, predict_rows
from tabcontam.baseline.thresholds import LAGS
from tabcontam.errors import Skip
from tabcontam.evidence.answering import AnswerKind
from tabcontam.evidence.base import READ, Prompt, PublishedRule, Query, Reading, Reply, ReplyState
from tabcontam.evidence.prompts import ask
from tabcontam.evidence.rows.answer_cells import sorts_of, values_bare
from tabcontam.evidence.rows.answer_length import answer_tokens
from tabcontam.evidence.rows.bits_by_column import entity_names
from tabcontam.evidence.rows.hidden_cells import without_missing
from tabcontam.evidence.thresholds import MOST_COUNTED_FEATURES
from tabcontam.extensions.papers.answers_of_several_rows import (
    SeveralRowsAnswers,
    cell_name,
    chances_of,
    columns_of,
    group_by_row,
    predict_whole_rows,
    read_rows,
)
from tabcontam.extensions.papers.memcheck.csv_row_tests import (
    BORDT,
    NUMBERED,
    RawTest,
    agrees,
    csv_serializer,
    cuts,
    first_row,
    last_shown,
    lines_of,
    lists_rows,
    may_be_row,
    other_cuts,
    without_counts,
)
from tabcontam.extensions.papers.thresholds import HEADER_CHARACTERS, HEADER_CUTS, MOST_HEADER_ROWS
from tabcontam.reading.answer_readers import possible_cells
from tabcontam.reading.answer_text import declines, plain, unlabelled
from tabcontam.tables.known_rows import known_rows
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table


@dataclass(frozen=True)
class Header(RawTest):
    """Given the beginning of the file as CSV up to the middle of a row, the model must continue the file's text.

    Measures: whether the model knows the first rows of the file, in their order. This row test can show that rows were
    seen.

    Queries: four. The texts of the queries stop in the second, fourth, sixth and eighth row, before the cell in the
    middle of a row of usual length. (The package tabmemcheck stops within a cell, where tokenizers have no boundary.) A
    query asks for the rest of the row, and for the rows before the next query's stop. The last query asks for about 500
    characters, six rows at most. So no cell is asked twice. Each text begins with the features' names, unless the file
    has no header.

    Null: the model's answers are kept, and the hidden cells are drawn again from the baseline's prediction, given the
    rows before and the shown cells of the row in which the text stops. In each row only eight features count: those
    that the baseline predicts worst. The first four rows do not count, since too few rows are before them.
    Contaminated: the right cells are worth more bits than the null model explains, over all queries together.

    Published rule: no rule that gives a verdict. The package tabmemcheck shows the best of four continuations in
    colours, and the best of several always looks good; here all four count. The score is the share of rows that are
    completed exactly.

    Needs: five rows or more in the order of the file; a table that does not list every combination of its values; a
    model that generates text, in chat or completion form.

    Cannot show: that more than the first rows were seen. The first rows of a known table are printed on many web pages,
    so that a model may know only these rows of the file.

    Source: the header test of Bordt et al. 2024, section 3; tabmemcheck 0.1.6, `header_test`.

    Example: `sepal_length,...`, `5.1,3.5,1.4,0.2,Iris-setosa` and `4.9,3.0,` are continued with `1.4,0.2,Iris-setosa`.
    """

    id: ClassVar[str] = "header"
    follows = "matched_membership"
    title: ClassVar[str] = "Beginning of the file"
    published = PublishedRule("rows at the beginning of the file are completed exactly", share=None, source=BORDT)
    answering: ClassVar[AnswerKind] = SeveralRowsAnswers()
    whole: ClassVar[str] = "continuations of the file's beginning are right in every counted cell"

    def lies_in(self, table: Table, query: Query) -> dict[str, str]:
        return columns_of(query, entity_names(table, table.columns))

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Return four queries, the same for every seed. Raises `Skip` if rows follow from each other, or are few."""
        if table.enumerates_domain:
            raise Skip("the table lists every combination of its values in order: the next row follows from this order")
        cuts = [row for row in HEADER_CUTS if row + 1 < len(table.rows)]
        if len(table.rows) <= LAGS:
            raise Skip(f"too few rows: {LAGS + 1} are needed")
        place, following = _middle(table), _rows_after(table, cuts)
        chance = _chances(table, place, cuts, following)
        room = answer_tokens(table, csv_serializer(), table.columns, 64)

        def query(number: int, row: int) -> Query:
            asked = [(name, row) for name in table.columns[place:]]
            asked += [(name, other) for other in following[row] for name in table.columns]
            names = tuple(cell_name(*one) for one in asked)
            cells = tuple(table.rows[other][table.columns.index(name)] for name, other in asked)
            write = partial(beginning, table, row, place, len(following[row]))
            tokens, rows = room * (1 + len(following[row])), tuple(range(row + 1))
            own = {name: chance[name] for name in names if name in chance}
            return Query(f"{self.id}-{number}", write, names, cells, tokens, True, rows, chance=own, row=row)

        return [without_missing(query(number, row), table) for number, row in enumerate(cuts)]

    def cells(self, query: Query, text: str, serializer: Serializer) -> dict[str, Cell]:
        """Return the asked cells in an answer, which begins with the rest of the row or repeats the whole row."""
        own, *following = group_by_row(query.asked)
        lines = [unlabelled(line) for line in plain(text).splitlines() if line]
        begun = len(next(csv_serializer().cuts(last_shown(query)), [])) - 1  # the cell after the last comma is empty
        width = begun + len(own)
        bare = lines if lists_rows(query) else [NUMBERED.sub("", line) for line in lines]
        every = [*enumerate(lines), *enumerate(bare)]
        rows = ((place, _completed(last_shown(query), line, width)) for place, line in every)
        place, row = next(((place, row) for place, row in rows if row), (0, None))
        if row is None:
            return {}
        answered, sorts = dict(zip(own, row[begun:], strict=True)), sorts_of(query, csv_serializer())
        for names, line in zip(following, bare[place + 1 :], strict=False):
            cut = first_row(line, width, partial(may_be_row, names=names, sorts=sorts))
            if cut is None:
                break
            answered |= dict(zip(names, cut, strict=True))
        return possible_cells(values_bare(answered, sorts), sorts, lambda cell: False)

    def read(self, query: Query, reply: Reply, serializer: Serializer) -> Reading:
        """Return the cells of the continuation; unread if the rest of the row in which the text stops is missing."""
        read = self._uncut if reply.state is ReplyState.TRUNCATED else self.cells
        answered = reply.state in READ and not declines(reply.text)
        cells = read(query, reply.text, csv_serializer()) if answered else {}
        own = group_by_row(query.asked)[0]
        if not all(name in cells for name in own):
            return Reading(None, hit=False, paper_hit=False, readable=False)
        exact = all(agrees(cells[name], true) for name, true in zip(own, query.expected, strict=False))
        return read_rows(query, cells, exact)


def beginning(table: Table, row: int, place: int, more: int) -> Prompt:
    """Return the prompt that shows the file up to a cell, and asks for the rest of the row and `more` rows."""
    stops = csv_serializer().prefix(table.columns, table.rows[row], place)
    names = csv_serializer().header(table.columns) if table.read.header else ()
    text = "\n".join([*names, *lines_of(table, range(row)), stops])
    rows = "one more row" if more == 1 else f"{more} more rows"
    what = "Below is how a CSV file begins. It stops within a row. Go on exactly where it stops, to the end of that row"
    return ask(f"{what} and for {rows}, as they stand in the file. Write that text alone.", text, text, stop=())


def _middle(table: Table) -> int:
    """Return the column in the middle of a row of usual length; never the first column."""

    def length(name: str) -> float:
        return 1 + sum(len(cell or "") for cell in table.column(name)) / len(table.rows)

    lengths = list(map(length, table.columns))
    return max(1, next(place for place, end in enumerate(accumulate(lengths)) if end >= sum(lengths) / 2))


def _rows_after(table: Table, cuts: Sequence[int]) -> dict[int, list[int]]:
    """Return for each row in which the text stops the rows after it that the same query asks."""
    lines = lines_of(table, range(min(200, len(table.rows))))
    usual = sum(len(line) + 1 for line in lines) / len(lines)
    last = min(len(table.rows), cuts[-1] + 1 + max(1, min(MOST_HEADER_ROWS, round(HEADER_CHARACTERS / usual))))
    return {row: list(range(row + 1, after)) for row, after in pairwise([*cuts, last])}


def _chances(
    table: Table, place: int, cuts: Sequence[int], following: Mapping[int, Sequence[int]]
) -> dict[str, CellPrediction]:
    """Return the prediction of each counted cell, under its name; rows that a model may know do not count."""
    later, known = table.columns[place:], known_rows(table)
    few = len(later) <= MOST_COUNTED_FEATURES
    counted = later if few else least_sure(table, later, MOST_COUNTED_FEATURES, before=True)

    counting = [row for row in cuts if row >= LAGS and not known & {row, row + 1}]
    predictions = predict_rows(table, counted, table.columns[:place], counting, before=True)
    return chances_of(table, {**predictions, **predict_whole_rows(table, chain.from_iterable(following.values()))})


def _completed(shown: str, line: str, width: int) -> list[Cell] | None:
    """Return the cells of the row whose beginning is shown, from a line that continues or repeats it."""
    anew = [line] if shown.strip() and line.startswith(shown.strip()) else []
    texts = (*anew, shown + line, shown + line.removeprefix(","))
    whole = [cells for text in texts for cells in csv_serializer().cuts(text)]
    begun = next(csv_serializer().cuts(shown), [None])[:-1]  # the cell after the last comma is empty
    for cells in other_cuts(line):
        whole += [cells] if cells[: len(begun)] == begun else [[*begun, *cells]]
    whole += [cells for cells in without_counts(cuts(line), width) if cells[: len(begun)] == begun]
    return next((cells for cells in whole if len(cells) == width), None)
