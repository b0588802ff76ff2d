"""Last digits: the model's likelihood of a row's own number, compared with rows that differ in the last digits."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from math import isfinite, log2
from random import Random
from typing import ClassVar

import numpy as np

from tabcontam.errors import Skip
from tabcontam.evidence.base import Evidence, Likelihoods, Query, Reading, ReplyState, Statistic, Trial
from tabcontam.evidence.likelihood.cell_replacement import replace_cell
from tabcontam.evidence.likelihood.exchange_groups import (
    ExchangeGroup,
    distinguishable_rows,
    groups_of,
    strongest_reader,
)
from tabcontam.evidence.likelihood.scored_rows import LikelihoodTest
from tabcontam.evidence.number_wording import count_unread, describe_p_value, explain_out_of_reach, format_small_number
from tabcontam.evidence.questions import Endings
from tabcontam.evidence.thresholds import (
    ASSIGNMENT_SEED,
    MEMORYLESS_LEVEL,
    MOST_DIGIT_COLUMNS,
    MOST_DIGIT_ROWS,
    MOST_TRIED_COLUMNS,
)
from tabcontam.groups import grouped
from tabcontam.statistics.permutation_tests import Floats, Ints, MatchedResult, fisher, permute_within_groups
from tabcontam.statistics.thresholds import PERMUTATION_DRAWS
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table


@dataclass(frozen=True)
class Digits(LikelihoodTest):
    """The model is asked nothing: a row's own number is compared with numbers that differ in the last digits.

    Measures: whether the last digits of long numbers are likelier to the model in their own rows than in other rows. If
    a row's other cells do not determine the digits, only a model that has read the row can know the digits.

    Queries: at most 100 rows for each of at most four columns of numbers with three digits or more; no row is asked
    about two columns. The rows form groups of at most twelve. The numbers of a group have the same form, and differ in
    the last digit or the last two digits. If there are too few such rows, groups have six rows with numbers that are
    adjacent in size. Each row is written in the words of the serializer, with its own number and with every other
    number of its group. All these numbers occur in the table, so knowing which numbers occur does not help. A row is
    not asked if another row equals it in all other cells. A column is left out if a predictor without memory matches
    the rows to their numbers from the same texts (p <= 0.05, corrected for three predictors). The predictors are the
    baseline, a weighted sum of the other cells, and the association of last digits with other cells. Such an
    association arises, for example, if one person rounded the measurements.

    Null: within a group, all assignments of the numbers to the rows have the same chance, whatever the model finds
    likely; a preference for round numbers is the same in all rows. From a number's log-probability in a row, its mean
    over all rows of the group is subtracted. The differences become chances that sum to one in each row. A column's
    p-value is the share of 10,000 random assignments in which the sum of the rows' chances is at least as large as with
    the rows' own numbers. A p-value covers all rows of a column together, since the rows of a group are not
    independent. Columns are independent, since no row is asked about two columns. The statistic is the product of the
    columns' p-values (Fisher). A single column is no detection, since facts from elsewhere would have the same effect.

    Published rule: none.

    Needs: log-probabilities of given text; numbers of three digits or more in two columns that do not follow from the
    other cells. The test is run if it is chosen, or if a model that is loaded here scores text.

    Cannot show: that rows were seen if the model does not remember their last digits. The test also detects a model
    that knows facts about two columns from elsewhere, or a rule that the predictors without memory do not know.

    Source: the project's own, after the exchange of equally likely candidates in Carlini, Liu, Erlingsson, Kos and Song
    2019, "The Secret Sharer", section 4 (a secret's rank among others of its form). The tests of
    Ronval et al. 2024, section 3.1, read only answers, not log-probabilities.

    Example: `The age is 39, The fnlwgt is 77516, The education is Bachelors` next to the same row with `77511` and
    `77520`, which are the numbers of two other rows.
    """

    id: ClassVar[str] = "digits"
    title: ClassVar[str] = "Last digits"
    on_request: ClassVar[bool] = True

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        left_out: dict[str, str] = {}
        chosen: list[int] = []
        numeric = [place for place, name in enumerate(table.columns) if table.is_numeric(name)]
        numeric.sort(key=lambda place: -len(table.distinct(table.columns[place])))
        for place in numeric[:MOST_TRIED_COLUMNS]:
            groups = groups_of(table, place, distinguishable_rows(table, place), MOST_DIGIT_ROWS, rng)
            if not groups or len(chosen) == MOST_DIGIT_COLUMNS:
                continue
            reader, p_value = strongest_reader(table, place, groups, rng.getrandbits(32))
            if p_value <= MEMORYLESS_LEVEL:
                left_out[table.columns[place]] = f"{reader} predicts them, {describe_p_value(p_value)}"
            else:
                chosen.append(place)
        if not chosen:
            raise Skip(_none_left(table, left_out))
        found: list[Query] = []
        asked: set[int] = set()
        for place in chosen:
            rows = [row for row in distinguishable_rows(table, place) if row not in asked]
            groups = groups_of(table, place, rows, min(MOST_DIGIT_ROWS, len(table.rows) // len(chosen)), rng)
            asked |= {row for group in groups for row in group.rows}
            for group in groups:
                found += self._about(table, serializer, place, group)
        return found

    def _about(self, table: Table, serializer: Serializer, place: int, group: ExchangeGroup) -> Iterator[Query]:
        name = table.columns[place]
        above = "".join(f"{line}\n" for line in serializer.header(table.columns))
        for row in group.rows:
            own = table.rows[row][place] or ""
            values = (own, *(value for value in group.values if value != own))
            write = partial(replace_cell, serializer, table.columns, table.rows[row], place, values, above, "\n")
            yield Query(f"{self.id}-{place}-{row}", write, (name,), (own,), max_tokens=1, rows=(row,), row=row)

    def read(self, query: Query, reply: Likelihoods, serializer: Serializer) -> Reading:
        scored = isinstance(reply, Likelihoods) and reply.state is ReplyState.OK and len(reply.values) > 1
        if not scored or not all(map(isfinite, reply.values)):
            return Reading(None, hit=None, paper_hit=False, readable=False)
        own, *others = reply.values
        likelier = sum(value > own for value in others)
        parsed = f"{likelier} of {len(others)} other numbers are likelier"
        return Reading(parsed, hit=all(value < own for value in others), paper_hit=False, readable=True)

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        own = {column: _matched(part) for column, part in grouped(trials, lambda trial: trial.query.asked[0]).items()}
        every = [one for one in own.values() if one.rows]
        rows, likeliest = sum(one.rows for one in every), sum(one.likeliest for one in every)
        chance = sum(one.rows * one.observed for one in every) / max(1, rows)
        expected = sum(one.rows * one.expected for one in every) / max(1, rows)
        expected_hits = sum(one.expected_likeliest for one in every)
        p_values = {column: one.p_value for column, one in own.items() if one.rows}
        p_value = fisher(list(p_values.values()))
        read = sum(trial.readable for trial in trials)
        not_scored = count_unread(read, len(trials), "rows were not scored")
        by_column = ", ".join(f"{column} {describe_p_value(one)}" for column, one in p_values.items())
        return Evidence(
            statistic=Statistic(name="chance of the row's own number", value=chance, expected=expected),
            null="numbers that differ in their last digits are exchanged within groups of rows",
            sentence=f"rows' own numbers have a mean chance of {chance:.2f} among those of similar rows "
            f"({expected:.2f} expected; {describe_p_value(p_value)}), and are the likeliest in {likeliest} of {rows} "
            f"({format_small_number(expected_hits)} "
            f"expected); {by_column or 'no column'}{not_scored}",
            hits=likeliest,
            asked=len(trials),
            answered=read,
            expected_hits=expected_hits,
            p_value=p_value,
            columns={
                column: one.rows * max(0.0, log2(one.observed / one.expected))
                for column, one in own.items()
                if one.rows
            },
            without={column: fisher([p for other, p in p_values.items() if other != column]) for column in p_values},
        )

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        columns = {query.asked[0] for query in queries}
        least = fisher([1 / (PERMUTATION_DRAWS + 1)] * (len(columns) - 1))
        if len(columns) < 2:
            return f"{', '.join(columns) or 'no column'} alone has digits to ask about, and a finding needs two columns"
        return explain_out_of_reach("columns", "the model knew all rows", least, level)


def _none_left(table: Table, tried: dict[str, str]) -> str:
    most_named = 3  # columns that a reason names
    if not tried:
        return f"no column of {table.name} has numbers of three digits or more that could be exchanged between rows"
    named = "; ".join(f"{column} ({why})" for column, why in list(tried.items())[:most_named])
    more = f"; and {len(tried) - most_named} more" if len(tried) > most_named else ""
    return f"the last digits of {table.name} can be predicted without memory: {named}{more}"


def _matched(trials: Sequence[Trial]) -> MatchedResult:
    """Return the p-value of the answers about one column. Rows with the same alternative numbers are a group."""
    answered = [(numbers, trial.reply) for trial in trials if trial.readable and (numbers := _numbers(trial.query))]
    groups = []
    for choice, part in grouped(answered, lambda pair: frozenset(pair[0])).items():
        places = {number: place for place, number in enumerate(sorted(choice))}
        own: Ints = np.array([places[ordered[0]] for ordered, _ in part], dtype=np.int64)
        values: Floats = np.zeros((len(part), len(places)))
        for line, (ordered, reply) in enumerate(part):
            if isinstance(reply, Likelihoods):
                values[line, [places[number] for number in ordered]] = reply.values
        groups.append((values, own))
    return permute_within_groups(groups, ASSIGNMENT_SEED)


def _numbers(query: Query) -> tuple[str, ...]:
    """Return the numbers with which a row is written, its own first."""
    question = query.question
    endings = question.endings if isinstance(question, Endings) else ()
    signs = zip(*(reversed(ending) for ending in endings), strict=False)
    common = len(list(takewhile(lambda here: len(set(here)) == 1, signs)))
    return tuple(ending[: len(ending) - common] for ending in endings)
