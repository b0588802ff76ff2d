"""Row overlap: documents are searched for the table's rows, and for altered rows that are as likely by chance."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import fsum, prod
from random import Random
from typing import ClassVar

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.errors import Skip
from tabcontam.evidence.base import (
    Answer,
    Capability,
    Evidence,
    EvidenceKind,
    Family,
    FeatureFacts,
    Lookup,
    LookupMode,
    Query,
    Reading,
    Statistic,
    Trial,
)
from tabcontam.evidence.mixins import FeatureTest, LearningTest
from tabcontam.evidence.number_wording import explain_out_of_reach
from tabcontam.evidence.rows.bits_by_column import bits_by_group
from tabcontam.evidence.thresholds import LEAST_DRAWABLE_ROWS
from tabcontam.extensions.corpora.overlap.row_find_weights import detectable_share, even_chance, weight_tail, word_finds
from tabcontam.extensions.corpora.overlap.row_finds import RowFind, read_find, read_finds
from tabcontam.extensions.corpora.overlap.searched_rows import (
    SearchedRow,
    can_be_found,
    choose_searched_rows,
    others,
    with_own,
)
from tabcontam.extensions.corpora.thresholds import LEAST_SEARCHED_VALUES, ONE_ABSENT_VALUES, TWO_ABSENT_VALUES
from tabcontam.tables.entities import reduce_table
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table
from tabcontam.tables.twin_tables import twin_rows

AGAIN, DECOY = "again", "twin"  # suffixes of the ids of further queries about a row


@dataclass(frozen=True)
class RowOverlap(LearningTest, FeatureTest):
    """Documents are searched for rows of the table, in any rendering, and for the same rows with another value.

    Measures: whether a corpus contains rows of the table. This row test quotes a place, which can be looked up.

    Queries: one for each row that can be searched for, up to 900. In each row one cell is hidden. The hidden cells come
    in turn from four columns: those that the baseline predicts worst among columns of numbers and columns of texts that
    mostly recur. The query searches for places with the row's other values close together, next to the hidden value or
    to a value that could replace it. For this, 999 replacing values are drawn, and equal values are searched for once.
    The values may have any order and any rendering: a line of CSV, JSON, a row of Markdown, a sentence. One of 6 values
    or more may be absent, and two of 12 values or more: copies of tables drop a column or write a class in other words.
    The search leaves out missing values and columns that repeat the hidden column in other values. A second query hides
    another column of the row, so that no finding depends on a single column. For each row, a row of a shuffled twin is
    searched for in the same way.

    Null: a row's own value and the replacing values come from the same distribution. To draw replacing values, all
    cells of a column are reassigned to its rows at random, each to a row whose other cells make the cell likely. The
    baseline learned from other rows which cells are likely. So documents that were written without the table contain
    the own value no more often than a replacing value. Each found value counts as often as it was drawn. The number of
    found values, divided by 1,000, is the chance that the own value is among them. If the own value is found, the row
    counts -log2 of this chance in bits. A row counts nothing if documents contain it with every drawn value; this
    happens with short common rows, and in long lists of numbers. The p-value is the exact tail of the sum of these
    bits. The p-value is 1 if the twin's rows sum to as many bits as the table's rows.

    Published rule: none.

    Needs: documents that can be searched; a table in which at least 20 rows have three values and a cell that could
    have other values.

    Cannot show: rows in documents that are not searched, and rows with three or more values changed, rounded or left
    out. A single row is detected if its hidden value is rare; a table with few different values needs several rows.
    Documents that contain each row without one of its values count as documents that contain the table. A finding shows
    that documents contain rows, not that a model remembers them.

    Source: the project's own. Li and Flanigan 2024 ("Task Contamination", section 5) search training data for examples
    of a task and read the places that are found. The p-value is computed as for one value among exchangeable draws
    (Besag and Clifford 1989).

    Example: in `5.1,3.5,1.4,0.2,setosa` the 1.4 is hidden. A page with `5.1 3.5 1.4 0.2 setosa`, and with no other
    length in its place, contains the row.
    """

    id: ClassVar[str] = "row_overlap"
    follows = "dataset_inference"
    family: ClassVar[Family] = Family.CORPUS
    kind: ClassVar[EvidenceKind] = EvidenceKind.CORPUS
    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.SEARCH})
    shows_rows: ClassVar[bool] = False  # rows are searched for in any rendering
    on_request: ClassVar[bool] = True

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Return at most three queries for each row: two that hide different columns, and one about the twin's row."""
        rows = choose_searched_rows(table)
        if len(rows) < LEAST_DRAWABLE_ROWS:
            few_values = all(len(others(table, row, "")) < LEAST_SEARCHED_VALUES for row in table.rows)
            why = (
                f"no row has {LEAST_SEARCHED_VALUES} values to search for"
                if few_values
                else f"{len(rows)} rows have {CELL}"
            )
            raise Skip(f"{why}; the test needs {LEAST_DRAWABLE_ROWS} such rows")
        twins = _twins(table, list(rows))
        queries = []
        for number, row in enumerate(rng.sample(list(rows), len(rows))):
            name, (first, *second) = f"{self.id}-{number}", rows[row]
            queries.append(_query(name, first, row))
            queries += [_query(f"{name}-{AGAIN}", other, row) for other in second]
            if row in twins and (decoy := _of_twin(table, first, twins[row])):
                queries.append(_query(f"{name}-{DECOY}", decoy, None, decoy_of=name))
        return queries

    def read(self, query: Query, reply: Answer, serializer: Serializer) -> Reading:
        """Return whether documents contain the row; unreadable if some were not searched, or not for each value."""
        found = read_find(query, reply)
        if found is None:
            return Reading(None, hit=None, paper_hit=False, readable=False)
        parsed = f"own value in {found.documents} documents; {found.share:.1%} of the values drawn are found"
        return Reading(parsed, hit=found.own, paper_hit=False, readable=True, right=query.asked if found.own else ())

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """Return the bits of the rows found, and the bits to expect if any found value could be the own one."""
        from tabcontam.statistics.exact_statistics import clopper_pearson

        every = read_finds(trials)
        twin = [one for one in every if one.query.decoy_of]
        again = {one.query.row: one for one in every if _is_again(one.query)}
        rows = {one.query.row: one for one in every if not one.query.decoy_of and not _is_again(one.query)}
        own, asked = list(rows.values()), [trial for trial in trials if _is_own(trial.query)]
        present, bits = [one for one in own if one.own], fsum(one.bits for one in own)
        clear = bits > fsum(one.bits for one in twin)

        def tail(those: Sequence[RowFind]) -> float:
            return weight_tail(those) if clear else 1.0

        without = {}
        for group in dict.fromkeys(one.lies_in for one in own):
            replaced = [again.get(row) if one.lies_in == group else one for row, one in rows.items()]
            without[group] = tail([one for one in replaced if one is not None and one.lies_in != group])
        p_value = tail(own)
        return Evidence(
            statistic=Statistic(
                name="weight of the rows found, in bits",
                value=bits,
                expected=fsum(one.share * one.weight for one in own),
            ),
            null="each value that could stand in a row is as likely as any other to be the row's own",
            sentence=word_finds(own, twin, len(asked), p_value),
            hits=len(present),
            asked=len(asked),
            answered=len(own),
            expected_hits=fsum(one.share for one in own),
            p_value=p_value,
            interval=clopper_pearson(len(present), len(own)) if own else None,
            interval_of="share of rows that stand in documents",
            recalled_bits=bits,
            detectable_share=detectable_share([even_chance(one.query) for one in own], level),
            columns=bits_by_group((one.lies_in, one.bits) for one in own),
            without=without,
        )

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        """Return why the test would detect nothing even if documents held all rows, or None if it would."""
        lies = {
            query.features.lies_in.get(name, name) for query in queries if not query.decoy_of for name in query.asked
        }
        if len(lies) == 1:
            return f"only cells of {lies.pop()} can be hidden, so that a finding would rest on this one column"
        best = prod(even_chance(query) for query in queries if _is_own(query))
        return explain_out_of_reach("rows that differ enough", "each stood in a document", best, level)


CELL = f"{LEAST_SEARCHED_VALUES} values and a cell that other rows could hold as well"


def _twins(table: Table, rows: Sequence[int]) -> dict[int, tuple[Cell, ...]]:
    """Return for each row its twin in the shuffled table, or else an unused twin. Return {} if there is no twin."""
    try:
        shuffled = dict(twin_rows(reduce_table(table).table))
    except Skip:
        return {}
    asked = set(rows)
    left = iter([row for place, row in shuffled.items() if place not in asked])
    found = {row: shuffled.get(row) or next(left, None) for row in rows}
    return {row: cells for row, cells in found.items() if cells is not None}


def _of_twin(table: Table, hidden: SearchedRow, row: Sequence[Cell]) -> SearchedRow | None:
    """Return the twin's row as a row to search for, with its own value among the same draws."""
    table = reduce_table(table).table
    own, context = row[table.columns.index(hidden.feature)], others(table, row, hidden.feature)
    if own is None or not can_be_found(own) or table.is_missing(own) or len(context) + 1 < LEAST_SEARCHED_VALUES:
        return None
    slots = {value: count - (value == hidden.own) for value, count in hidden.slots.items()}
    draws = {value: count for value, count in slots.items() if count}
    return SearchedRow(hidden.feature, own, with_own(draws, own), context, hidden.lies_in)


def _query(name: str, hidden: SearchedRow, row: int | None, decoy_of: str = "") -> Query:
    prediction, apart = hidden.prediction, hidden.lies_in != hidden.feature
    return Query(
        id=name,
        write=partial(_lookup, prediction, hidden.context),
        asked=(hidden.feature,),
        expected=(hidden.own,),
        max_tokens=1,
        rows=() if row is None else (row,),
        chance={hidden.feature: prediction},
        decoy_of=decoy_of,
        row=row,
        features=FeatureFacts({hidden.feature: hidden.lies_in} if apart else {}),
    )


def _lookup(prediction: CellPrediction, context: tuple[str, ...]) -> Lookup:
    values = len(context) + 1
    return Lookup(
        tuple(prediction.values),
        by=LookupMode.CELLS,
        context=context,
        lacking=(values >= ONE_ABSENT_VALUES) + (values >= TWO_ABSENT_VALUES),
    )


def _is_again(query: Query) -> bool:
    """Return whether the query is the second one about a row, which hides another column."""
    return query.id.endswith(f"-{AGAIN}")


def _is_own(query: Query) -> bool:
    """Return whether the query is the first one about a row of the table."""
    return not query.decoy_of and not _is_again(query)
