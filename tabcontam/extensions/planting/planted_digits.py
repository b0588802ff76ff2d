"""Planted digits: the likelihood of the digits that the owner drew, compared with others that could have been drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import exp, fsum, log2
from random import Random
from statistics import fmean
from typing import ClassVar

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.errors import Skip
from tabcontam.evidence.answering import AnswerKind, CellAnswers
from tabcontam.evidence.base import (
    Answer,
    Capability,
    Evidence,
    Likelihoods,
    Query,
    Reading,
    Reply,
    ReplyState,
    RequiredInput,
    Statistic,
    Test,
    Trial,
)
from tabcontam.evidence.likelihood.cell_replacement import TOKENS, read_cell, replace_cell, without_cell
from tabcontam.evidence.likelihood.scored_rows import LikelihoodTest
from tabcontam.evidence.mixins import InWordsTest
from tabcontam.evidence.number_wording import count_unread, describe_p_value, explain_out_of_reach, format_small_number
from tabcontam.evidence.thresholds import LEAST_CHANCE
from tabcontam.reading.answer_text import value_key
from tabcontam.statistics.exact_statistics import clopper_pearson, poisson_binomial_tail
from tabcontam.statistics.power import detectable_choice_share
from tabcontam.statistics.rank_sums import detectable_share, rank_sum_tail
from tabcontam.tables.known_rows import known_among
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import DrawnCell, Table


@dataclass(frozen=True)
class Planted(InWordsTest, LikelihoodTest):
    """The digits that the table's owner drew are compared with other digits that had the same chance to be drawn.

    Measures: whether planted digits are likelier to the model than the other digits that could have been drawn. The
    owner drew the planted digits from a secret key before the table was published (`plant`). This is a row test: only a
    model that has read the published file can know the drawn digits.

    Queries: one for each planted cell, which the owner's key (`--key`) reveals. If the model reports log-probabilities,
    it is asked nothing: the cell's row is scored in the words of the serializer, with nothing before it, once with each
    text that could have been drawn for the cell. All other cells of the row are as published, and only one cell of a
    row is planted. A model that reports no log-probabilities is asked for each planted cell in words, given all other
    cells of its row and no other row.

    Null: the owner drew each text of a cell with the same chance, and all cells independently. So each rank of the
    drawn text has the same chance for every model that has not read the text, whatever else the model knows, computes
    or prefers. No baseline is needed. Texts that are equally likely to the model have a random order, which does not
    depend on the drawn text. The p-value is the exact tail of the sum of all cells' ranks. An answer in words is right
    with the chance 1/n if it is one of the n texts that could have been drawn; any other answer is wrong. So the
    p-value of right answers is exact, too. The evidence reports whether the p-value is of ranks or of right answers. A
    verdict needs no evidence from a second column, since no fact from elsewhere explains the drawn digits.

    Published rule: none.

    Needs: log-probabilities of given text, or a model that answers; a table with planted digits, and its key. The test
    is run only with `--key`.

    Cannot show: which copy of the file was read. A model that has read the owner's unpublished original is not
    detected, and neither is a model that remembers the row without its last digits.

    Source: Carlini et al. 2019 ("The Secret Sharer", section 4) measure the exposure of a random canary by its rank
    among alternatives. Zhang et al. 2024 ("Membership Inference Attacks Cannot Prove that a Model Was Trained On Your
    Data", section 5) call this kind of evidence sound. The project's own idea is to draw a table's last digits. The
    tests of Ronval et al. 2024, section 3.1, read answers about rows as they are.

    Example: of `The length is 43.21, The port is Wexlow` the length could have been 43.16 to 43.26; 43.21 is the
    likeliest of these eleven numbers to a model that has read the file. To any other model, the drawn number is the
    likeliest in one of eleven cells.
    """

    id: ClassVar[str] = "planted"
    follows = "row_order"
    title: ClassVar[str] = "Planted digits"
    only_with: ClassVar[RequiredInput] = RequiredInput.KEY

    def in_words(self, samples: int | None) -> "Test | None":
        """Return the test that asks once for each planted cell in words."""
        return PlantedInWords()

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Return a query for each planted cell whose row the model may not know. Raises `Skip` if there is none."""
        if not table.drawn_cells:
            raise Skip("no key of this table was given")
        known = _may_be_known(table)
        asked = [cell for cell in table.drawn_cells if cell not in known]
        if not asked:
            raise Skip("the model may know all planted rows")
        order = rng.sample(asked, len(asked))  # `--queries` asks the first of them
        return [_query(f"{self.id}-{cell.row}", table, serializer, cell) for cell in order]

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        """Return why the test could detect nothing even with the best ranks in all cells, or None if it could."""
        best = 2.0 ** -fsum(log2(len(query.chance[query.asked[0]].values)) for query in queries)
        return explain_out_of_reach("planted cells", "the drawn digits of each cell were the likeliest", best, level)

    def read(self, query: Query, reply: Answer, serializer: Serializer) -> Reading:
        """Return the rank of the drawn digits (a hit if they are the likeliest), or the cell in an answer in words."""
        if isinstance(reply, Reply):
            return read_cell(query, reply, serializer)
        ranked = _ranked(query, reply)
        if ranked is None:
            return Reading(None, hit=None, paper_hit=False, readable=False)
        hit = ranked.rank == 1
        parsed = f"rank {ranked.rank} of {ranked.total}"
        return Reading(parsed, hit=hit, paper_hit=False, readable=True, right=query.asked if hit else ())

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """Return the sum of the ranks, and its p-value if all ranks are equally likely."""
        if any(isinstance(trial.reply, Reply) for trial in trials):
            return _weighed_answers(trials, level)
        found = [ranked for trial in trials if trial.readable and (ranked := _ranked(trial.query, trial.reply))]
        hits, by_chance = sum(one.rank == 1 for one in found), fsum(1 / one.total for one in found)
        among = f"the drawn digits are the likeliest in {hits} of {len(found)} planted cells"
        sizes = [one.total for one in found]
        unread = count_unread(len(found), len(trials), "cells could not be read")
        p_value = rank_sum_tail([one.rank for one in found], sizes)
        value = fmean((one.rank - 0.5) / one.total for one in found) if found else 0.5
        return Evidence(
            statistic=Statistic(name="mean place of the drawn digits", value=value, expected=0.5),
            null="the owner drew each of a cell's alternatives with the same chance",
            sentence=f"by log-probabilities {among}, {format_small_number(by_chance)} expected by chance; "
            f"their mean place is {value:.0%} of the way from the likeliest to the least likely "
            f"({describe_p_value(p_value)}, exact){unread}",
            hits=hits,
            asked=len(trials),
            answered=len(found),
            expected_hits=by_chance,
            p_value=p_value,
            interval=clopper_pearson(hits, len(found)) if found else None,
            interval_of="share of planted cells in which the drawn digits are the likeliest",
            recalled_bits=max(0.0, fsum(one.bits for one in found)),
            detectable_share=detectable_share(sizes, level),
        )


@dataclass(frozen=True)
class PlantedInWords(Planted):
    """Planted digits for a model without log-probabilities, which is asked for the cells in words."""

    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.GENERATE})
    answering: ClassVar[AnswerKind] = CellAnswers()

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Return the queries that ask for the cells in words.

        They show no other row: its drawn digits would make two answers dependent.
        """
        return [
            replace(
                query,
                id=f"{query.id}-in-words",
                write=partial(without_cell, table, serializer, query.rows[0], table.columns.index(query.asked[0])),
                max_tokens=TOKENS,
            )
            for query in super().queries(table, serializer, rng)
        ]


def _weighed_answers(trials: Sequence[Trial], level: float) -> Evidence:
    """Return how many answers are right, and how many would be if the same answers met a new draw of the digits."""
    trials = [trial for trial in trials if isinstance(trial.reply, Reply)]
    chances = [_chance(trial) for trial in trials]
    drawn_from = [len(trial.query.chance[trial.query.asked[0]].values) for trial in trials]
    right = [bool(trial.reading and trial.reading.hit) for trial in trials]
    hits, by_chance = sum(right), fsum(chances)
    p_value = poisson_binomial_tail([chance for chance in chances if chance], hits)
    return Evidence(
        statistic=Statistic(
            name="share of planted cells answered right", value=hits / len(trials), expected=by_chance / len(trials)
        ),
        null="the answers stay as they are, and the owner draws each of a cell's alternatives with the same chance",
        sentence=f"by its answers the model knows the drawn digits of {hits} of {len(trials)} planted cells, "
        f"{format_small_number(by_chance)} expected by chance ({describe_p_value(p_value)}, exact)",
        hits=hits,
        asked=len(trials),
        answered=sum(trial.readable for trial in trials),
        expected_hits=by_chance,
        p_value=p_value,
        interval=clopper_pearson(hits, len(trials)),
        interval_of="share of planted cells whose drawn digits were answered",
        recalled_bits=fsum(-log2(chance) for chance, known in zip(chances, right, strict=True) if known),
        detectable_share=detectable_choice_share([1 / count for count in drawn_from], level),
    )


def _chance(trial: Trial) -> float:
    """Return the chance that an answer is right if the owner draws the cell again: 0 if it can never be drawn."""
    (column,) = trial.query.asked
    parsed = trial.reading.parsed if trial.reading and trial.readable else None
    answer = parsed.get(column) if isinstance(parsed, Mapping) else None
    if answer is None:
        return 0.0
    keys = [value_key(text) for text in trial.query.chance[column].values]
    return keys.count(value_key(answer)) / len(keys)


@dataclass(frozen=True)
class _PlantedRank:
    """The rank of the drawn digits among `total` alternatives; 1 is the likeliest.

    `bits` are log2 of the model's probability of the drawn digits among the alternatives, relative to 1 / `total`.
    """

    rank: int
    total: int
    bits: float


def _may_be_known(table: Table) -> set[DrawnCell]:
    """Return the planted cells whose row is in a known file with one of the alternatives.

    Such a file would reveal the answer. All alternatives count, so that the choice does not depend on the drawn one.
    """
    every, rows = [], []
    for cell in table.drawn_cells:
        cells, place = table.rows[cell.row], table.columns.index(cell.column)
        every += [cell] * len(cell.alternatives)
        rows += [(*cells[:place], text, *cells[place + 1 :]) for text in cell.alternatives]
    return {cell for cell, known in zip(every, known_among(table, rows), strict=True) if known}


def _query(name: str, table: Table, serializer: Serializer, cell: DrawnCell) -> Query:
    place = table.columns.index(cell.column)
    own = table.rows[cell.row][place]
    chance = 1 / len(cell.alternatives)
    return Query(
        id=name,
        write=partial(replace_cell, serializer, table.columns, table.rows[cell.row], place, cell.alternatives),
        asked=(cell.column,),
        expected=(own,),
        max_tokens=1,
        rows=(cell.row,),
        not_expected=tuple(text for text in cell.alternatives if text != own),
        chance={cell.column: CellPrediction(dict.fromkeys(cell.alternatives, chance), LEAST_CHANCE)},
        row=cell.row,
    )


def _ranked(query: Query, reply: object) -> _PlantedRank | None:
    """Return the rank of the drawn digits, or None if the likelihood of an alternative is missing."""
    (column,), (own,) = query.asked, query.expected
    alternatives = list(query.chance[column].values)
    values = getattr(reply, "values", ())
    if not isinstance(reply, Likelihoods) or reply.state is not ReplyState.OK or own not in alternatives:
        return None
    if len(values) != len(alternatives) or any(value != value for value in values):
        return None
    # Equal values have an order that depends on the alternatives, and not on which of them was drawn.
    first = list(range(len(values)))
    Random(f"{query.id} {alternatives}").shuffle(first)
    place = alternatives.index(own)
    rank = 1 + sum((value, first[number]) > (values[place], first[place]) for number, value in enumerate(values))
    most = max(values)
    whole = fsum(exp(value - most) for value in values)
    bits = log2(len(values) * max(LEAST_CHANCE, exp(values[place] - most) / whole))
    return _PlantedRank(rank, len(values), bits)
