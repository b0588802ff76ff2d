"""The base of tests 7 to 9: answers are cells of a row, read by feature, and decided by Algorithm 2 for the paper."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from math import sqrt
from random import Random
from typing import ClassVar

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.evidence.answering import AnswerKind, CellAnswers
from tabcontam.evidence.base import (
    READ,
    Evidence,
    EvidenceKind,
    Family,
    FeatureFacts,
    Query,
    Reading,
    Reply,
    ReplyState,
    Statistic,
    Trial,
    UnreadReason,
)
from tabcontam.evidence.checks import rendered
from tabcontam.evidence.mixins import FeatureTest, LearningTest, ResampledTest
from tabcontam.evidence.number_wording import describe_p_value, explain_low_power, format_small_number
from tabcontam.evidence.questions import Prompt
from tabcontam.evidence.rows.answer_cells import (
    cells_by_order,
    could_be,
    few_values,
    fresh,
    named_cells,
    plain_row,
    sorts_of,
    values_bare,
    whole_row,
)
from tabcontam.evidence.rows.answered_rows import CellBets, CellReference, answered_rows
from tabcontam.evidence.rows.bits_by_column import bits_by_group, entity_names, p_values_without
from tabcontam.evidence.samples import asked_often, sampled_query
from tabcontam.evidence.structured_answers import read_structured_answer
from tabcontam.evidence.thresholds import (
    LEAST_DIFFERENT_ROWS,
    LEAST_READ_FEATURES,
    REMEMBERED_SHARE,
    SILENT_LUCK_DEVIATIONS,
)
from tabcontam.reading.answer_readers import (
    answers,
    first_value,
    is_table,
    possible_cells,
    read_decimal,
    read_list,
    read_table,
    spelling,
)
from tabcontam.reading.answer_text import declines, is_mark, plain, same_value, tidy
from tabcontam.reading.languages import AFRESH, UNSURE
from tabcontam.reading.named_values import denied, without_choices
from tabcontam.reading.single_value import peeled, read_one, unmarked
from tabcontam.reading.value_decision import decide_values, first_line
from tabcontam.reading.value_forms import FeatureValues
from tabcontam.statistics.eprocess import join_bets, place_bets
from tabcontam.tables.serializers import Serializer, TemplateRows
from tabcontam.tables.table import Cell, Table

MORE = "0"  # appended to a cut answer, to see which of its values may be incomplete
NULL = "the answers stay, and the hidden cells are drawn again from the baseline's prediction"


class CellTest(LearningTest):
    """A test that reads the asked cells of a row. A row is a hit if all asked cells that have a value are right."""

    whole: ClassVar[str] = "rows are right"  # the description of a hit, after "3 of 5"
    family: ClassVar[Family] = Family.ROWS
    kind: ClassVar[EvidenceKind] = EvidenceKind.MEMORIZATION
    holds: ClassVar[bool] = False  # whether a server can enforce an answer with a value for each feature
    answering: ClassVar[AnswerKind] = CellAnswers()

    def too_small(self, rows: int) -> str | None:
        """Return why a table is too small: the baseline cannot learn from fewer than twenty different rows."""
        if rows >= LEAST_DIFFERENT_ROWS:
            return None
        counted = "1 different row" if rows == 1 else f"{rows} different rows"
        return f"in a table of {counted} memory looks like prediction; {LEAST_DIFFERENT_ROWS} are needed"

    def planned(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Return the queries of a result, with the entities of the asked features.

        If the table is too small, queries have no null model and are not weighed.
        """
        queries = super().planned(table, serializer, rng)
        if self.holds:
            ends = partial(_ends, table.columns, serializer)
            queries = [replace(query, write=partial(_of_values, query, ends(query.asked))) for query in queries]
        if self.too_small(len(table.row_set)):
            return [replace(query, chance={}) for query in queries]
        return [replace(query, features=self._features(table, query)) for query in queries]

    def lies_in(self, table: Table, query: Query) -> dict[str, str]:
        """Return the column or entity of each asked cell that does not have its column's name: see `FeatureFacts`."""
        return entity_names(table, query.asked)

    def _features(self, table: Table, query: Query) -> FeatureFacts:
        columns = ((name, self.answering.column(name)) for name in query.asked)
        found = {name: few_values(table, column) for name, column in columns if column in table.columns}
        return FeatureFacts(self.lies_in(table, query), {name: values for name, values in found.items() if values})

    def complete(self, query: Query, text: str, serializer: Serializer) -> bool:
        return len(self._uncut(query, text, serializer)) == len(query.asked)

    def read(self, query: Query, reply: Reply, serializer: Serializer) -> Reading:
        """Return the cells in the answer and whether they are right; for the paper's queries also by Algorithm 2."""
        if reply.state not in READ:
            return Reading(None, hit=False, paper_hit=False, readable=False)
        if (values := read_structured_answer(reply.text, query.asked)) is not None:
            reply = replace(reply, text=json.dumps(values, ensure_ascii=False))
        cut = reply.state is ReplyState.TRUNCATED
        cells = (self._uncut if cut else self.cells)(query, reply.text, serializer)
        truth = dict(zip(query.asked, query.expected, strict=True))
        marked = [feature for feature, cell in cells.items() if truth[feature] is None and is_mark(cell)]
        line = serializer.spaced(self.published_line(reply.text))
        paper = query.paper and decide_values(line, truth, missing_shown=marked)
        known = [feature for feature, value in truth.items() if value is not None]
        right = tuple(feature for feature in known if same_value(cells.get(feature), truth[feature]))
        hit = bool(known) and len(right) == len(known)  # a missing value is never evidence
        # `readable` must not depend on `right`, since an unread answer is not weighed
        whole = len(cells) == len(query.asked)
        enough = not cut and len(cells) >= LEAST_READ_FEATURES * len(query.asked) and not declines(reply.text)
        readable = any(cell not in (None, "?") for cell in cells.values()) and (whole or enough)
        unread = None if readable else UnreadReason.DECLINED if values == {} else UnreadReason.of(reply.text)
        return Reading(cells or None, hit and readable, paper, readable, right, unread)

    def cells(self, query: Query, text: str, serializer: Serializer) -> dict[str, Cell]:
        """Return the asked features in the answer, in any form; lines that repeat the prompt are ignored."""
        if not text.strip():
            return {}
        query = replace(query, write=cache(query.write))  # the prompt is read several times
        sorts = sorts_of(query, serializer)
        answer = plain(text)
        if len(query.asked) > 1 and (row := plain_row(answer, sorts, serializer)):
            return row
        answer = tidy(fresh(answer, query, sorts))
        answer = answer if any(sort.form.bracketed for sort in sorts.values()) else peeled(unmarked(answer))
        answer = without_choices(answer)
        afresh = max((match.end() for match in AFRESH.finditer(answer)), default=0)
        values = self._read_cells(query, answer[afresh:], sorts, serializer)
        if afresh and len(values) < len(query.asked):
            values = self._read_cells(query, answer, sorts, serializer)
        if afresh and UNSURE.search(answer[afresh:]):  # it is unclear which of two answers is meant
            values = {}
        denials = denied(answer[afresh:], query.asked)
        values = {name: cell for name, cell in values.items() if name not in denials}

        def is_none(cell: str) -> bool:
            if _is_name(query, serializer, cell):
                return True
            return declines(cell) and not any(declines(value) for sort in sorts.values() for value in sort.likely)

        return possible_cells(values, sorts, is_none)

    def _read_cells(
        self, query: Query, text: str, sorts: Mapping[str, FeatureValues], serializer: Serializer
    ) -> dict[str, Cell]:
        """Return the answer's texts for the asked features; they need not be possible values of these features."""
        return read_several_cells(query, text, sorts, serializer)

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """Weigh the recalled bits: replies stay, and the hidden cells are drawn again from the baseline's prediction.

        The silent predictor (decision trees) learned from all rows that are not asked. Its lead is its bits in the same
        cells, minus the bits that the baseline expects of its answers, and minus a margin for luck. A model without
        memory may have this lead, so it is subtracted from the recalled bits.
        """
        # only weighing imports numpy: reading and replaying work without it
        from tabcontam.statistics.exact_statistics import outcome_tail, share_interval, weight_of
        from tabcontam.statistics.power import detectable_share
        from tabcontam.statistics.thresholds import BIT_UNITS

        rows = answered_rows([trial for trial in trials if trial.query.chance])
        cells = [cell for row in rows for cell in row.given]
        possible = [[(weight_of(worth), chance) for worth, chance in cell.outcomes] for cell in cells]

        def ahead(those: Sequence[int]) -> int:
            lead = sum(cells[one].silent - cells[one].due for one in those)
            luck = SILENT_LUCK_DEVIATIONS * sqrt(sum(cells[one].luck for one in those))
            return max(0, round(BIT_UNITS * (lead - luck)))

        def tail(indices: Sequence[int]) -> float:
            if sum(cells[one].silent for one in indices) >= sum(cells[one].bits for one in indices):
                return 1.0  # a predictor that learned from the other rows is at least as good
            reached = sum(weight_of(cells[one].bits) for one in indices)
            return outcome_tail([possible[one] for one in indices], reached - ahead(indices))

        silent_lead = ahead(range(len(cells)))
        p_value = tail(range(len(cells)))
        recalled = sum(cell.bits for cell in cells)
        expected = sum(worth * chance for cell in cells for worth, chance in cell.outcomes)
        chances = [row.chance for row in rows]
        readable = [row.odds for row in rows if row.readable]  # unread answers cannot show memory
        hits = sum(row.hit for row in rows)
        of_baseline = f"{format_small_number(sum(chances))} are expected of the baseline"
        counted = f"{hits} of {len(rows)} {self.whole}, and {of_baseline}"
        by_chance = f"{format_small_number(expected)} expected by chance"
        if silent_lead >= BIT_UNITS:
            by_chance += f", {format_small_number(silent_lead / BIT_UNITS)} more by a predictor with all other rows"
        gained = f"{asked_often(trials)}{counted}; recalled bits {recalled:.0f}, {by_chance}"
        return Evidence(
            statistic=Statistic(name="recalled bits", value=recalled, expected=expected),
            null=NULL,
            sentence=f"{gained} ({describe_p_value(p_value)})",
            hits=hits,
            asked=len(rows),
            answered=sum(row.readable for row in rows),
            p_value=p_value,
            expected_hits=sum(chances),
            interval=share_interval(chances, hits) if rows else None,
            interval_of="share of the rows remembered",
            recalled_bits=recalled,
            detectable_share=detectable_share(readable, level, ahead=silent_lead) if readable else None,
            columns=bits_by_group((cell.lies_in, cell.bits) for cell in cells),
            without=p_values_without([cell.lies_in for cell in cells], tail),
            bets=join_bets(place_bets(row.stakes) for row in rows if row.bet_on),
        )

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        each = {sampled_query(query.id): query for query in queries if query.chance}
        return low_power([list(query.chance.values()) for query in each.values()], level)

    def published_line(self, text: str) -> str:
        """Return the part of the answer that the authors' code reads: the first line."""
        return first_line(text)

    def _uncut(self, query: Query, text: str, serializer: Serializer) -> dict[str, Cell]:
        """Return the cells that would not change if the answer continued."""
        ended = "\n" if text.rstrip(" ").endswith("|") else ""  # the bar at the end of a table's row
        longer = self.cells(query, text + ended + MORE, serializer)
        cells = self.cells(query, text, serializer).items()
        return {feature: cell for feature, cell in cells if feature in longer and longer[feature] == cell}


class RowTest(ResampledTest, CellBets, CellReference, FeatureTest, CellTest):
    """A test of the cells of a row, which are bet on; it weighs samples, and considers a reference's answers."""


class OneCellTest(RowTest):
    """A row test that asks for one cell. The answer may be just the value."""

    def _read_cells(
        self, query: Query, text: str, sorts: Mapping[str, FeatureValues], serializer: Serializer
    ) -> dict[str, Cell]:
        """Return the asked cell, with or without its name."""
        return read_one_cell(query, text, sorts, serializer)


def read_several_cells(
    query: Query, text: str, sorts: Mapping[str, FeatureValues], serializer: Serializer
) -> dict[str, Cell]:
    """Return an answer's texts for the asked features; they need not be possible values of these features."""
    if (placed := _placed_cells(query, text, sorts, serializer)) is not None:
        return placed
    row = values_bare(answers(whole_row(text, query.asked, serializer), sorts), sorts)
    if row and could_be(row.get(query.asked[0]), sorts[query.asked[0]]):
        return row
    named = named_cells(text, sorts, serializer)
    if len(named) == len(query.asked):
        return values_bare(named, sorts)
    # A base model continues after `The age is`: the first value has no name.
    goes_on = {} if query.asked[0] in named else serializer.read_on(text, query.asked)
    if named and goes_on and len(goes_on) <= len(named):  # the other values have another form
        goes_on = {query.asked[0]: first_value(text), **named}
    if not could_be(goes_on.get(query.asked[0]), sorts[query.asked[0]]):
        goes_on = {}  # the text is a sentence
    listed = cells_by_order(text, query, sorts, serializer) or read_list(text, query.asked, sorts)
    return values_bare(max(named, goes_on if len(goes_on) > 1 else {}, listed, key=len), sorts)


def read_one_cell(
    query: Query, text: str, sorts: Mapping[str, FeatureValues], serializer: Serializer
) -> dict[str, Cell]:
    """Return the only asked cell in an answer, with or without its name."""
    (feature,) = query.asked
    if (placed := _placed_cells(query, text, sorts, serializer)) is not None:
        return placed
    whole = named_cells(text, sorts, serializer)
    if whole and serializer.names_features and len(text.splitlines()) == 1:
        return values_bare(whole, sorts)
    sort = sorts[feature]

    def begin(line: str) -> str:  # 4,75 is one number if numbers have decimals
        return line if read_decimal(line, sort) else serializer.read_on(line, query.asked)[feature] or ""

    value = read_one(text, feature, sort, begin)
    return values_bare(whole, sorts) if value is None else {feature: value}


def _placed_cells(
    query: Query, text: str, sorts: Mapping[str, FeatureValues], serializer: Serializer
) -> dict[str, Cell] | None:
    """Return the asked cells of a line as the serializer writes it, or of a table; None for any other text."""
    if row := cells_by_order(text, query, sorts, serializer, exact=True):
        return row
    if not is_table(text):
        return None
    return values_bare(read_table(text, query.asked) or cells_by_order(text, query, sorts, serializer), sorts)


def low_power(rows: Sequence[Sequence[CellPrediction]], level: float) -> str | None:
    """Return why a model that remembers half of the rows would usually not be detected, or None if it would."""
    from tabcontam.statistics.power import row_power

    if not rows:
        return "in no cell of the asked rows can memory be distinguished from prediction"
    return explain_low_power(row_power(rows, share=REMEMBERED_SHARE, level=level), level)


def _of_values(query: Query, ends: tuple[str, ...]) -> Prompt:
    """Return a prompt that asks for these values; its completion also stops at the texts `ends`."""
    prompt = query.prompt
    return replace(prompt, values=query.asked, stop=(*prompt.stop, *ends))


def _ends(columns: Sequence[str], serializer: Serializer, asked: Sequence[str]) -> tuple[str, ...]:
    """Return the texts that follow a row's asked cells: the next feature's beginning, or the first asked feature's."""
    if not isinstance(serializer, TemplateRows):
        return ()
    following = columns[columns.index(asked[-1]) + 1 :][:1]
    return tuple(f"{serializer.feature_separator}{serializer.lead(name)}" for name in (asked[0], *following))


def _is_name(query: Query, serializer: Serializer, cell: str) -> bool:
    """Return whether a text consists only of names of features that are asked or that the prompt's rows show."""
    names = [name.strip() for name in re.split(r"[,;\n]\s*", cell) if name.strip()]
    asked = set(map(spelling, query.asked))
    if not names or all(spelling(name) in asked for name in names):
        return True
    shown = rendered(query.prompt)
    if not serializer.names_features:  # the names are in the line that also names the asked features
        shown = next((line for line in shown.splitlines() if serializer.shown_in(line, query.asked)), "")
    return all(name in shown and serializer.shown_in(shown, (name,)) for name in names)
