"""Perplexity: the bits that the model needs for the values of the table's rows, and for those of a twin's rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from random import Random
from statistics import fmean
from typing import ClassVar

from tabcontam.evidence.base import (
    RANKS,
    Capability,
    Evidence,
    EvidenceKind,
    Family,
    Query,
    Reading,
    Scores,
    Test,
    Trial,
)
from tabcontam.evidence.likelihood.scored_rows import format_interval, number_read, query, reading
from tabcontam.evidence.likelihood.value_tokens import select_value_tokens
from tabcontam.evidence.thresholds import SCORED_ROWS
from tabcontam.reading.word_decision import Dictionary
from tabcontam.statistics.exact_statistics import t_interval
from tabcontam.tables.known_rows import known_rows
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table
from tabcontam.tables.twin_tables import twin_rows

SALT = "perplexity"  # of the twin: neither the decoys' nor the one that a control has read
STATISTIC = "bits a character"
INTERVAL_OF = "bits a character that the twin's rows take more"


@dataclass(frozen=True)
class Perplexity(Test):
    """The model is asked nothing: the log-probabilities that it gives to rows are compared with those of made-up rows.

    Measures: how likely the values of the table's rows are to the model, in bits a character, next to values of the
    same features that make no row of the table. A score without a verdict.

    Queries: 100 random rows, each alone in the words of the serializer with nothing before it, and for each one the row
    of a shuffled twin that stands in its place: the values of every feature are reassigned at random within the classes
    of the target. The twin has a seed of its own, so it is not the one that `control:unexposed` has read.

    Null: none. Only the bits of the characters of values count, not those of the features' names and of the text
    between; a token that lies partly in a value counts with that share of its bits and of its characters. The first
    token is left out, since many servers do not score it. The evidence states the mean over the rows, that over the
    twin's rows, and the mean difference of a pair with a 95% interval (Student's t). The score is the share of rows
    that take fewer bits than their twin: a half if nothing distinguishes them.

    Published rule: none. The source compares mean perplexities without a threshold.

    Needs: log-probabilities of given text, which models on this machine, the controls and some servers give; a table
    that has a twin, so not one that lists all combinations of its features' values.

    Cannot show: that rows were seen. Real rows are likelier than shuffled ones to any model that knows how the features
    are related in the world; and a text that is likely to one model is not to another, so compare a table with its twin
    and not one model's bits with another's.

    Source: after the contamination test of LatestEval (Li, Guerin and Lin 2024, section Experiments), which compares
    the perplexity of a benchmark with those of texts that were surely seen and surely not. The twin in their place is
    ours; the tests of Ronval et al. 2024, section 3.1, read answers alone.

    Example: `The age is 39, The workclass is State-gov, ...` takes 1.1 bits a character, its twin's row 2.3.
    """

    id: ClassVar[str] = "perplexity"
    family: ClassVar[Family] = Family.LIKELIHOOD
    kind: ClassVar[EvidenceKind] = EvidenceKind.LIKELIHOOD
    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.SCORE})
    by_feature: ClassVar[bool] = True
    decides: ClassVar[bool] = False
    own_marks: ClassVar[frozenset[str]] = frozenset({RANKS})

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Return the queries of 100 rows, each followed by its twin's. Raises `Skip` if the table has no twin."""
        found = []
        for number, (place, cells) in enumerate(rows_and_twins(table, rng)):
            name = f"{self.id}-{number}"
            found.append(query(name, table, serializer, table.rows[place], (place,)))
            found.append(query(f"{name}-twin", table, serializer, cells, (), decoy_of=name))
        return found

    def read(self, query: Query, reply: Scores, serializer: Serializer, dictionary: Dictionary) -> Reading:
        """Return the bits a character of the row's values; unreadable if another text was scored."""
        return reading(_bits(query, reply, serializer), STATISTIC)

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """Return the mean difference of the pairs in which both rows were scored; no p-value."""
        bits = {trial.query.id: found for trial in trials if (found := number_read(trial, STATISTIC)) is not None}
        of_twin = {trial.query.decoy_of: bits.get(trial.query.id) for trial in trials if trial.query.decoy_of}
        asked = [trial.query.id for trial in trials if not trial.query.decoy_of]
        pairs = [(bits[name], twin) for name in asked if name in bits and (twin := of_twin.get(name)) is not None]
        hits = sum(own < twin for own, twin in pairs)
        own, twin = (fmean(side) for side in zip(*pairs, strict=True)) if pairs else (0.0, 0.0)
        interval = t_interval([other - one for one, other in pairs]) if len(pairs) > 1 else None
        unread = f"; {len(asked) - len(pairs)} of {len(asked)} pairs were not scored" if len(pairs) < len(asked) else ""
        apart = f"{twin - own:+.2f}{format_interval(interval)}"
        took = f"{own:.2f} bits a character in rows, {twin:.2f} in a shuffled twin's: {apart}"
        return Evidence(
            statistic=STATISTIC,
            value=own,
            expected=twin if pairs else None,
            null="a shuffled twin's row in the place of each row",
            sentence=f"{took}; {hits} of {len(pairs)} rows take fewer bits than their twin's row{unread}",
            hits=hits,
            asked=len(asked),
            answered=len(pairs),
            expected_hits=len(pairs) / 2,
            interval=interval,
            interval_of=INTERVAL_OF,
            score=hits / len(pairs) if pairs else None,
        )


def rows_and_twins(table: Table, rng: Random) -> list[tuple[int, tuple[Cell, ...]]]:
    """Return at most 100 rows by their places, each with its twin's cells. Raises `Skip` without a twin."""
    known, twins = known_rows(table), twin_rows(table, SALT)
    pairs = [pair for pair in twins if pair[0] not in known and any(table.rows[pair[0]]) and any(pair[1])]
    return rng.sample(pairs, min(SCORED_ROWS, len(pairs)))


def _bits(query: Query, scores: Scores, serializer: Serializer) -> float | None:
    """Return the bits a character of the values, or None if they were not scored."""
    found = select_value_tokens(scores, serializer, query.asked, query.expected)
    characters = sum(one.characters for one in found or ())
    return -sum(one.log_probability for one in found or ()) / log(2) / characters if characters else None
