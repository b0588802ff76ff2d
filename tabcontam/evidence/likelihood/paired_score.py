"""The base of the scores that compare rows with a twin's rows: the drawing, asking and weighing that they share."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from random import Random
from statistics import fmean
from typing import ClassVar

from tabcontam.evidence.base import RANKS, Evidence, Query, Reading, Scores, Statistic, Trial
from tabcontam.evidence.likelihood.scored_rows import (
    LikelihoodTest,
    ValueToken,
    format_interval,
    number_read,
    query,
    reading,
    select_value_tokens,
)
from tabcontam.evidence.number_wording import count_unread
from tabcontam.evidence.thresholds import SCORED_ROWS
from tabcontam.statistics.auc import paired
from tabcontam.statistics.exact_statistics import t_interval
from tabcontam.tables.known_rows import known_rows
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table
from tabcontam.tables.twin_tables import twin_rows

SALT = "perplexity"  # seed of this twin, which is neither the decoys' twin nor the one that a control has read


class PairedScore(LikelihoodTest):
    """A score of rows without a verdict, compared with the same score of a shuffled twin's rows.

    All these tests use the same rows, twins and texts as `perplexity`. So a model scores each text once for all of
    them.
    """

    decides: ClassVar[bool] = False
    on_request: ClassVar[bool] = True
    own_marks: ClassVar[frozenset[str]] = frozenset({RANKS})
    draws_as: ClassVar[str] = "perplexity"
    unit: ClassVar[str]  # the unit of the number that is read for a text
    score_unit: ClassVar[str] = ""  # the unit of the score, if it differs
    toward: ClassVar[int] = -1  # -1 if the smaller score is evidence for a row that was read, 1 if the larger is

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Return the queries of 100 rows, each followed by its twin's. Raises `Skip` if the table has no twin."""
        pairs = rows_and_twins(table, rng)
        return [each for number, pair in enumerate(pairs) for each in self._pair(number, *pair, table, serializer)]

    def _pair(self, number: int, place: int, twin: Sequence[Cell], table: Table, serializer: Serializer) -> list[Query]:
        name = f"{self.id}-{number}"
        return [
            query(name, table, serializer, table.rows[place], (place,)),
            query(f"{name}-twin", table, serializer, twin, (), decoy_of=name),
        ]

    def read(self, query: Query, reply: Scores, serializer: Serializer) -> Reading:
        """Return the score of one text; unreadable if another text was scored."""
        found = select_value_tokens(reply, serializer, query.asked, query.expected)
        score = self.score(found, serializer.row(query.asked, query.expected)) if found else None
        return reading(score, self.unit)

    @abstractmethod
    def score(self, tokens: Sequence[ValueToken], row: str) -> float | None:
        """Return the score of a row from its tokens with characters of values; there is at least one such token."""

    def score_of(self, name: str, found: Mapping[str, float]) -> float | None:
        """Return the score of a row or its twin from the readings of all texts, or None if a reading is missing."""
        return found.get(name)

    def scored(self, trials: Sequence[Trial]) -> tuple[dict[str, float], list[tuple[float, float]], int]:
        """Return the readings of all texts, the scores of complete pairs, and the number of pairs asked."""
        found = {trial.query.id: number for trial in trials if (number := number_read(trial, self.unit)) is not None}
        asked = [trial.query.id for trial in trials if not trial.query.decoy_of]
        both = [(self.score_of(name, found), self.score_of(f"{name}-twin", found)) for name in asked]
        return found, [(one, twin) for one, twin in both if one is not None and twin is not None], len(asked)

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """Return the AUC of rows against their twins, its interval, and the mean difference in a pair; no p-value."""
        found, pairs, asked = self.scored(trials)
        signed = [(self.toward * one, self.toward * twin) for one, twin in pairs]
        ranked = paired([one for one, _ in signed], [twin for _, twin in signed]) if pairs else None
        hits = sum(one > twin for one, twin in signed)
        own, twin = (fmean(side) for side in zip(*pairs, strict=True)) if pairs else (0.0, 0.0)
        apart = t_interval([one - other for one, other in pairs]) if len(pairs) > 1 else None
        unread = count_unread(len(pairs), asked, "pairs were not scored")
        value = ranked.value if ranked else 0.5
        interval, unit = ranked.interval if ranked else None, self.score_unit or self.unit
        return Evidence(
            statistic=Statistic(name="AUC against a twin's rows", value=value, expected=0.5),
            null="a shuffled twin's row in the place of each row",
            sentence=f"rows rank before a shuffled twin's with an AUC of {value:.2f}{format_interval(interval)}; "
            f"{own:.2f} {unit} in rows, {twin:.2f} in the twin's: {own - twin:+.2f}{format_interval(apart)}; "
            f"{hits} of {len(pairs)} rows rank before their own twin's row{self.more(pairs, found)}{unread}",
            hits=hits,
            asked=asked,
            answered=len(pairs),
            expected_hits=len(pairs) / 2,
            interval=interval,
            interval_of="AUC",
            score=value if pairs else None,
        )

    def more(self, pairs: Sequence[tuple[float, float]], found: Mapping[str, float]) -> str:
        """Return a further part of the sentence, which follows a semicolon."""
        return ""


def rows_and_twins(table: Table, rng: Random) -> list[tuple[int, tuple[Cell, ...]]]:
    """Return at most 100 rows by their places, each with the cells of its twin. Raises `Skip` if there is no twin."""
    known, twins = known_rows(table), twin_rows(table, SALT)
    pairs = [pair for pair in twins if pair[0] not in known and any(table.rows[pair[0]]) and any(pair[1])]
    return rng.sample(pairs, min(SCORED_ROWS, len(pairs)))
