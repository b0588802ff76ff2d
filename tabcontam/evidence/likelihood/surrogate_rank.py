"""Surrogate rank: the likelihood of a row's own cell, compared with the cells that the baseline draws for its place."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log, log2
from random import Random
from statistics import fmean
from typing import ClassVar

from tabcontam.baseline.cell_draws import CellDraws, draw_cells
from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.table_predictions import least_sure
from tabcontam.baseline.thresholds import MOST_EQUAL_DRAWS
from tabcontam.errors import Skip
from tabcontam.evidence.answering import AnswerKind, CellAnswers
from tabcontam.evidence.base import (
    Answer,
    Capability,
    Evidence,
    FeatureFacts,
    Likelihoods,
    Query,
    Reading,
    Reply,
    ReplyState,
    Statistic,
    Test,
    Trial,
)
from tabcontam.evidence.likelihood.cell_replacement import TOKENS, read_cell, replace_cell, without_cell
from tabcontam.evidence.likelihood.scored_rows import LikelihoodTest
from tabcontam.evidence.mixins import InWordsTest, LearningTest
from tabcontam.evidence.number_wording import count_unread, describe_p_value, format_small_number
from tabcontam.evidence.rows.bits_by_column import bits_by_group, entity_names, p_values_without
from tabcontam.evidence.rows.drawable_cells import can_be_drawn, rows_unlike_others
from tabcontam.evidence.samples import by_query, sampled_query, samples_of
from tabcontam.evidence.thresholds import (
    DOUBT_FACTOR,
    HIT_PERCENT,
    LEAST_CHANCE,
    LEAST_DRAWABLE_ROWS,
    LEAST_READ_SAMPLES,
    LONGEST_SAMPLED_CELL,
    MOST_HIDDEN_FEATURES,
    MOST_RANKED_ROWS,
    MOST_SAMPLED_ROWS,
    RANKED_SURROGATES,
    SAMPLE_TEMPERATURE,
    SCORED_CELLS_AFTER,
)
from tabcontam.reading.answer_text import value_key
from tabcontam.statistics.exact_statistics import clopper_pearson
from tabcontam.statistics.rank_sums import rank_sum_tail
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.entities import reduce_table
from tabcontam.tables.known_rows import known_rows
from tabcontam.tables.row_draws import pool
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table


@dataclass(frozen=True)
class SurrogateRank(InWordsTest, LearningTest, LikelihoodTest):
    """The model is asked nothing: one cell of each row is replaced by others, and all are ranked by likelihood.

    Measures: whether the row's own cell is likelier to the model than other values that could replace it. This row test
    can show that rows were seen, even if the model remembers the rows too faintly to write them down.

    Queries: one for each row, at most 900. A row is not asked if another row equals it in all other features. In each
    row one cell is replaced. The replaced cells come in turn from four features: those that the baseline predicts worst
    among features of numbers and features of texts that mostly recur. The baseline draws 99 surrogates of the cell,
    which could replace it. If more than nine in ten of these cells (the surrogates and the own cell) are equal, the
    next feature is used. The row is scored up to the third cell after the replaced cell, once with the own cell and
    once with each surrogate, in the words of the serializer and with nothing before it. The text before the cell is the
    same each time; the text after the cell helps a model that knows how the row continues. A column that repeats the
    replaced column in other values is replaced together with it. A model that reports no log-probabilities is asked in
    words with `--samples N`. It is asked N times at temperature 1 for the cell of each of at most 60 rows, given all
    other cells of the row and no other row. A value is likelier if more of the answers equal it. In words, a feature is
    asked only if no cell has more than 12 characters, since longer text is hardly ever repeated. A row is left out if
    more than half of its samples cannot be read.

    Null: the own cell and the surrogates come from the same distribution. So the own cell has each rank from 1 to 100
    with the same chance; ties are broken at random. To draw surrogates, all cells of a column are reassigned to its
    rows at random, each to a row whose other cells make the cell likely. The baseline learned from other rows which
    cells are likely; a number is also likelier near the baseline's prediction. So a model has no advantage if it knows
    every value of the column, for example from a shuffled copy or a page, but not the row of each value. A model with
    just the baseline's knowledge would even rank the own cells in the less likely half. The p-value is the exact tail
    of the sum of all ranks; the recalled bits measure how rare such good ranks are. The cells of the 19 most similar
    rows are scored, too. If the own cells are not likelier than half of these cells, the p-value is 1, whatever the
    ranks among the surrogates are.

    Published rule: none. Several published scores use the rank among alternatives, but state no p-value.

    Needs: log-probabilities of given text, or `--samples N` and a model that draws its answers; a table in which at
    least 20 rows have a cell that can be replaced. The test is run if it is chosen, or if a model that is loaded on
    this machine scores text.

    Cannot show: memory of values that a model can predict from the other cells. If its knowledge of the world predicts
    them better than the baseline does, the model is detected, too. So the p-value must also be small without the
    evidence of any one column. The p-value without a column is multiplied by ten. A key that a few rows share, such as
    the ticket of a family, counts as one column together with the cells that it determines. A model that has read other
    rows of the same file may also be detected: `--known` names such rows.

    Source: the project's own. The rank of a text among alternatives is also used in the exposure of a canary (Carlini
    et al. 2019, "The Secret Sharer", section 4); the p-value is computed as for a rank among exchangeable draws (Besag
    and Clifford 1989). The tests of Ronval et al. 2024, section 3.1, read only answers, not log-probabilities.

    Example: in `The age is 39, The workclass is State-gov, ...` the age is replaced; 39 is the 4th likeliest of 100.
    """

    id: ClassVar[str] = "surrogate_rank"
    on_request: ClassVar[bool] = True

    def in_words(self, samples: int | None) -> "Test | None":
        """Return the test that asks for short cells `samples` times, or None if `samples` is None."""
        return SampledRank(samples) if samples else None

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        asked = cached_fact(table, "surrogates", lambda: _surrogates(table))
        return self._about(asked, "a cell that others could hold as well", len(asked), table, serializer, rng)

    def _about(
        self,
        asked: Mapping[int, tuple[str, CellDraws]],
        what: str,
        most: int,
        table: Table,
        serializer: Serializer,
        rng: Random,
    ) -> list[Query]:
        """Return the queries about at most `most` rows, in random order. Raises `Skip` if too few rows have `what`."""
        if len(asked) < LEAST_DRAWABLE_ROWS:
            raise Skip(f"{len(asked)} rows have {what}; the test needs {LEAST_DRAWABLE_ROWS}")
        lies = entity_names(reduce_table(table).table, {feature for feature, _ in asked.values()}, keys=True)
        rows = enumerate(rng.sample(list(asked), min(most, len(asked))))  # a limit on queries leaves out random rows
        return [_query(f"{self.id}-{number}", table, serializer, row, *asked[row], lies) for number, row in rows]

    def read(self, query: Query, reply: Answer, serializer: Serializer) -> Reading:
        """Return the rank of the row's own cell or, for a sample, the cell; unreadable if a likelihood is missing."""
        if isinstance(reply, Reply):
            return read_cell(query, reply, serializer)
        ranked = _ranked(query, reply)
        if ranked is None:
            return Reading(None, hit=None, paper_hit=False, readable=False)
        parsed = f"rank {ranked.rank} of {ranked.total}"
        hit = ranked.rank * 100 <= HIT_PERCENT * ranked.total
        return Reading(parsed, hit=hit, paper_hit=False, readable=True, right=query.asked if hit else ())

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        found = [ranked for trial in trials if trial.readable and (ranked := _ranked(trial.query, trial.reply))]
        sampled = by_query(trial for trial in trials if isinstance(trial.reply, Reply))
        most = max(map(len, sampled.values()), default=0)
        found += [ranked for own in sampled.values() if (ranked := _sampled(own, most))]

        def tail(those: Sequence[int]) -> float:
            own = [found[one] for one in those]
            near = [one.near for one in own if one.near is not None]
            if not own or (near and fmean(near) >= 0.5):
                return 1.0
            return rank_sum_tail([one.rank for one in own], [one.total for one in own])

        p_value = tail(range(len(found)))
        hits = sum(one.rank * 100 <= HIT_PERCENT * one.total for one in found)
        near = [one.near for one in found if one.near is not None]
        nearby = f", and {fmean(near):.0%} among the cells of similar rows" if near else ""
        value = fmean(one.place for one in found) if found else 0.5
        among = f"{hits} of {len(found)} cells are among the likeliest {HIT_PERCENT}% of the values for their place"
        mean = f"the mean place is {value:.0%} of the way from the likeliest to the least likely{nearby}"
        asked = len({sampled_query(trial.query.id) for trial in trials})
        unread = count_unread(len(found), asked, "cells could not be read")
        counted = f"by {most} answer{'s' * (most > 1)} to each, " if sampled else ""
        return Evidence(
            statistic=Statistic(name="mean rank of the own cell", value=value, expected=0.5),
            null="the own cell and the surrogates are drawn alike, so that each rank is as likely as any other",
            sentence=f"{counted}{among}, {format_small_number(len(found) * HIT_PERCENT / 100)} expected by chance; "
            f"{mean} ({describe_p_value(p_value)}){unread}",
            hits=hits,
            asked=asked,
            answered=len(found),
            expected_hits=len(found) * HIT_PERCENT / 100,
            p_value=p_value,
            interval=clopper_pearson(hits, len(found)) if found else None,
            interval_of=f"share of cells among the likeliest {HIT_PERCENT}%",
            recalled_bits=max(0.0, sum(one.bits for one in found)),
            columns={
                name: max(0.0, bits) for name, bits in bits_by_group((one.lies_in, one.bits) for one in found).items()
            },
            without=p_values_without(
                [one.lies_in for one in found], lambda those: min(1.0, DOUBT_FACTOR * tail(those))
            ),
        )


@dataclass(frozen=True)
class SampledRank(SurrogateRank):
    """Surrogate rank for a model without log-probabilities, which answers each query `samples` times."""

    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.GENERATE, Capability.SAMPLE})
    answering: ClassVar[AnswerKind] = CellAnswers()
    samples: int = 1

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Return `samples` samples for each of at most 60 rows.

        Raises `Skip` if fewer than twenty rows have a short cell.
        """
        longest = {name: max(len(cell or "") for cell in table.column(name)) for name in table.columns}
        drawn_for = cached_fact(table, "surrogates", lambda: _surrogates(table))
        asked = {row: cell for row, cell in drawn_for.items() if longest[cell[0]] <= LONGEST_SAMPLED_CELL}
        what = f"a cell of {LONGEST_SAMPLED_CELL} characters or fewer that others could hold as well"
        return [
            sample
            for query in self._about(asked, what, MOST_SAMPLED_ROWS, table, serializer, rng)
            for sample in samples_of(_in_words(query, table, serializer), self.samples, SAMPLE_TEMPERATURE)
        ]


@dataclass(frozen=True)
class _OwnCellRank:
    """The rank of a row's own cell among `total` cells (1 is the likeliest), and its rank among similar rows' cells."""

    rank: int
    total: int
    near: float | None  # 0 if the own cell is likelier than all similar rows' cells, 1 if all of these are likelier
    lies_in: str

    @property
    def place(self) -> float:
        """The rank as a share of all ranks: near 0 for the likeliest cell, near 1 for the least likely."""
        return (self.rank - 0.5) / self.total

    @property
    def bits(self) -> float:
        """The rarity of the rank in bits, minus the average rarity of a random rank."""
        return -log2(self.place) - 1 / log(2)


def _open(table: Table, row: int, feature: str, drawn_for: CellDraws) -> bool:
    """Return whether the own cell and the draws differ often enough for an informative rank.

    The rule depends on all these cells together and not on which is the own one, so that all ranks stay equally likely.
    """
    times = Counter(drawn_for.times) + Counter([str(table.rows[row][table.columns.index(feature)])])
    return max(times.values()) <= MOST_EQUAL_DRAWS * times.total()


def _surrogates(table: Table) -> dict[int, tuple[str, CellDraws]]:
    """Return for each asked row its replaced feature and the draws; all features are replaced about equally often."""
    table, known = reduce_table(table).table, known_rows(table)
    fit = [name for name in table.columns if can_be_drawn(table, name)]
    if not fit or len(table.columns) < 2:
        return {}
    features = least_sure(table, fit, min(MOST_HIDDEN_FEATURES, len(fit)))
    rows = pool(table, [row for row in range(len(table.rows)) if row not in known], MOST_RANKED_ROWS)
    draws = {
        name: draw_cells(table, name, rows_unlike_others(table, name, rows), RANKED_SURROGATES) for name in features
    }
    asked: dict[int, tuple[str, CellDraws]] = {}
    for number, row in enumerate(rows):
        turned = [*features[number % len(features) :], *features[: number % len(features)]]
        for name in turned:
            if row in draws[name] and _open(table, row, name, draws[name][row]):
                asked[row] = name, draws[name][row]
                break
    return asked


def _query(
    name: str, table: Table, serializer: Serializer, row: int, feature: str, cell: CellDraws, lies: Mapping[str, str]
) -> Query:
    """Return the query about one row: its own cell, each surrogate as often as drawn, then similar rows' cells."""
    place = table.columns.index(feature)
    columns, cells = table.columns[: place + SCORED_CELLS_AFTER + 1], table.rows[row][: place + SCORED_CELLS_AFTER + 1]
    own, repeating = cells[place] or "", reduce_table(table).left_out.get(feature)
    alternatives = (*(value for value, times in cell.times.items() for _ in range(times)), *cell.near)
    return Query(
        id=name,
        write=partial(replace_cell, serializer, columns, cells, place, (own, *alternatives), repeating=repeating),
        asked=(feature,),
        expected=(own,),
        max_tokens=1,
        rows=(row,),
        not_expected=alternatives,
        row=row,
        features=FeatureFacts({feature: lies[feature]} if feature in lies else {}),
    )


def _in_words(query: Query, table: Table, serializer: Serializer) -> Query:
    """Return the query about a row in words. Its chances list all cells, which show the reader the kind of value."""
    (feature,), table = query.asked, reduce_table(table).table
    times = Counter((str(query.expected[0]), *query.not_expected[:RANKED_SURROGATES]))
    values = {value: count / (RANKED_SURROGATES + 1) for value, count in sorted(times.items())}
    return replace(
        query,
        write=partial(without_cell, table, serializer, query.rows[0], table.columns.index(feature)),
        max_tokens=TOKENS,
        chance={feature: CellPrediction(values, LEAST_CHANCE)},
    )


def _sampled(trials: Sequence[Trial], most: int) -> _OwnCellRank | None:
    """Return the rank of a row's own cell by its samples, or None if too few of `most` samples can be read."""
    query, read = trials[0].query, [trial for trial in trials if trial.readable]
    if len(read) < LEAST_READ_SAMPLES * most:
        return None
    counts: Counter[str] = Counter()
    for trial in read:
        parsed = trial.reading.parsed if trial.reading else None
        cell = parsed.get(query.asked[0]) if isinstance(parsed, Mapping) else None
        counts.update([] if cell is None else [value_key(cell)])
    texts = (str(query.expected[0]), *query.not_expected)
    return _rank(replace(query, id=sampled_query(query.id)), [float(counts[value_key(text)]) for text in texts])


def _ranked(query: Query, reply: object) -> _OwnCellRank | None:
    """Return the rank of the row's own cell, or None if the likelihood of a text is missing."""
    values = reply.values if isinstance(reply, Likelihoods) and reply.state is ReplyState.OK else ()
    if len(values) != 1 + len(query.not_expected):
        return None
    return _rank(query, values)


def _rank(query: Query, values: Sequence[float]) -> _OwnCellRank:
    """Return the rank of a row's own cell.

    `values` has the own cell first, then the surrogates, then similar rows' cells.
    """
    (feature,), (own,) = query.asked, query.expected
    first, among, near = values[0], values[1 : RANKED_SURROGATES + 1], values[RANKED_SURROGATES + 1 :]
    rank = 1 + sum(value > first for value in among)
    rank += Random(f"{query.id} {own}").randint(0, sum(value == first for value in among))
    place = fmean((value > first) + 0.5 * (value == first) for value in near) if near else None
    return _OwnCellRank(rank, RANKED_SURROGATES + 1, place, query.features.lies_in.get(feature, feature))
