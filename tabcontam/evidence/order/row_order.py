"""The test of whether rows are likelier to the model in the order of the file than backwards."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite, sqrt
from random import Random
from statistics import fmean, stdev
from typing import ClassVar

from tabcontam.errors import Skip
from tabcontam.evidence.base import (
    Capability,
    Evidence,
    EvidenceKind,
    Family,
    Likelihoods,
    PublishedRule,
    Query,
    Reading,
    ReplyState,
    Statistic,
    Test,
    Trial,
)
from tabcontam.evidence.number_wording import count_unread, describe_p_value, explain_out_of_reach, format_small_number
from tabcontam.evidence.order.order_signs import strongest
from tabcontam.evidence.order.strata import Shards, ordered_columns, strata_of
from tabcontam.evidence.questions import Endings
from tabcontam.evidence.thresholds import (
    AIMED_SHARDS,
    AIMED_SHARDS_OF_FEW_ROWS,
    LEAST_SHARD_ROWS,
    MEMORYLESS_LEVEL,
    MOST_EXAMINED_ROWS,
    MOST_SHARD_ROWS,
    MOST_SHARD_TOKENS,
    MOST_SHARDS,
    SHARDED_T_LEVEL,
)
from tabcontam.statistics.rank_sums import signed_rank_tail
from tabcontam.tables.known_rows import not_known
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table

SHORTEST = 2 * AIMED_SHARDS_OF_FEW_ROWS  # rows that a table needs
TOKEN = re.compile(r"[^\W\d_]{1,5}|[\W\d_]")
GAIN = re.compile(r"(\S+) nats")  # as `read` writes it


@dataclass(frozen=True)
class ShardedTRule(PublishedRule):
    """The rule that calls a table contaminated if its shards are likelier in the file's order, by Student's t."""

    def finds(self, trials: Sequence[Trial]) -> bool | None:
        """Return the rule's decision: False if the t-test is not defined."""
        p_value = published_p_value(gains_of(trials))
        return p_value is not None and p_value <= SHARDED_T_LEVEL

    def lacks(self, trials: Sequence[Trial]) -> str | None:
        """Return why the t-test is not defined, or None if it is.

        It needs the deviation of at least two different gains.
        """
        if published_p_value(gains_of(trials)) is not None:
            return None
        return "fewer than two shards were scored, or all differ by the same amount"

    def hits(self, trials: Sequence[Trial]) -> int:
        """Return how many shards are likelier in the file's order than in the other order."""
        return sum(gain > 0 for gain in gains_of(trials))

    def describe(self, trials: Sequence[Trial]) -> str:
        """Return the mean gain and the p-value, in words."""
        gains = gains_of(trials)
        if not gains:
            return "no shard was scored"
        p_value = published_p_value(gains)
        decided = "no t-test" if p_value is None else f"{describe_p_value(p_value)} by the t-test over shards"
        return f"{super().describe(trials)}: by {fmean(gains):+.2f} nats on average ({decided})"


def gains_of(trials: Sequence[Trial]) -> list[float]:
    """Return by how many nats each shard is likelier in the file's order; shards that were not scored are left out."""
    read = [trial.reading.parsed for trial in trials if trial.reading and isinstance(trial.reading.parsed, str)]
    return [float(match[1]) for match in map(GAIN.fullmatch, read) if match]


def published_p_value(gains: Sequence[float]) -> float | None:
    """Return the p-value of Oren et al. 2024, section 3.2: Student's t over the shards' gains, one-sided.

    The deviation is that of a sample, and the tail is computed directly. Return None if the test is not defined: there
    are fewer than two shards, or all gains are equal.
    """
    if len(gains) < 2 or not (deviation := stdev(gains)):
        return None
    from scipy.special import stdtr

    return float(stdtr(len(gains) - 1, -fmean(gains) / deviation * sqrt(len(gains))))


@dataclass(frozen=True)
class RowOrder(Test):
    """The model is asked nothing: the log-probability of rows in the file's order is compared with the reverse order.

    Measures: whether rows are likelier to the model in the order of the file than in the reverse order. Only a model
    that has read the file can know which of the two orders is the file's. A model may know which rows belong together,
    such as players of one team. This knowledge does not show which row comes first.

    Queries: the file is cut into shards of 4 to 15 consecutive rows, and at most 50 shards are asked. A shard has fewer
    rows if rows are long (some 600 tokens a shard) or the file has fewer than 48 rows. Each shard is written one row a
    line in the words of the serializer, in the file's order and in reverse. If a column is sorted or shows a direction,
    only rows with the same value of this column change places. A column shows a direction if it distinguishes the
    file's order from its reverse better than 400 other orders. For this, 15 rows at a time are compared, in up to 2,000
    rows, at a p-value of 0.05 divided by the number of columns. The signs of a direction are values that rise or fall,
    similar or dissimilar rows up to four places apart, values that follow each other, and cells that also occur in the
    row before. The search is repeated until no column shows a direction, and all columns together show no direction at
    0.05. Then three predictors without memory score the same texts. One predictor prefers rows like the rows before,
    one prefers rising values, and one prefers texts that zlib packs well. If a predictor recognizes the file's order (p
    <= 0.05, corrected for three predictors), nothing is asked. Cells that only number the rows stay in their place,
    whichever row moves there.

    Null: both orders of the rows that may change places are equally likely to be the file's order. So in each shard,
    the difference of log-probabilities is positive with a chance of one half. Then the p-value of Wilcoxon's signed
    ranks is exact, whatever the model finds likely. Ranks replace log-probabilities, since the size of the differences
    varies between shards.

    Published rule: one-sided Student's t over the shards' differences between the file's order and other orders. Here
    the reverse is the only other order. The source reports p-values. Here p <= 0.05 counts as contaminated, and the
    result's sentence reports the p-value, too. Two details differ from the source. Here the standard deviation is that
    of a sample, which divides by one less than the number of shards. The source divides by the number of shards: at a
    level of 5 %, its rule calls 5.6 % of unread tables of 15 shards contaminated. Here the tail is computed directly.
    The source subtracts the distribution function from one, which gives 0 for the smallest p-values. The rule is
    approximate and decides nothing under calibrated rules.

    Needs: log-probabilities of given text; a table in an order that its values do not determine. A table that is sorted
    by a key without repetition cannot be tested. The test is run if it is chosen, or if a model that is loaded here
    scores text.

    Cannot show: that rows were seen in another order than this file's, for example in training data that were shuffled
    row by row. The test does not show which rows were seen. The file may be in the order of facts that the table does
    not contain, such as the dates of visits or the numbers on shirts. Such an order may show in signs that the test
    does not search for.

    Source: Oren, Meister, Chatterji, Ladhak and Hashimoto 2024, "Proving Test Set Contamination in Black Box Language
    Models", section 3 (equally likely orders, the sharded comparison); Wilcoxon 1945, "Individual Comparisons by
    Ranking Methods". The reverse order, and the columns that stay in place, are the project's own. The tests of
    Ronval et al. 2024, section 3.1, read only answers, not log-probabilities.

    Example: `The age is 39, ...` and the fourteen rows that follow it in the file have a log-probability of -301 in
    this order and of -366 backwards: they are likelier in the file's order, by 65 nats.
    """

    id: ClassVar[str] = "row_order"
    title: ClassVar[str] = "Order of rows"
    family: ClassVar[Family] = Family.ORDER
    kind: ClassVar[EvidenceKind] = EvidenceKind.LIKELIHOOD
    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.SCORE})
    on_request: ClassVar[bool] = True
    published = ShardedTRule("shards are likelier in the file's order than in others", source="oren2024")

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        examined = shards_of(table, serializer, rng)
        rows = not_known(table, range(len(table.rows)))
        windows = _cut(table, rows, MOST_SHARD_ROWS, rng)  # a few rows may not show an order
        strata = strata_of(table, examined[:MOST_SHARDS], windows or examined, rng.getrandbits(64))
        turned = {shard: strata.turned(shard, table.rows) for shard in examined}
        _check_blind(table, serializer, {shard: other for shard, other in turned.items() if other})
        above = "".join(f"{line}\n" for line in serializer.header(table.columns))
        found = []
        for number, shard in enumerate(sorted(examined[:MOST_SHARDS])):
            if other := turned[shard]:
                write = partial(_question, table, serializer, above, (shard, other), strata.numbering)
                found.append(Query(f"{self.id}-{number}", write, (), (), max_tokens=1, rows=shard))
        return found

    def read(self, query: Query, reply: Likelihoods, serializer: Serializer) -> Reading:
        if reply.state is not ReplyState.OK or len(reply.values) != 2 or not all(map(isfinite, reply.values)):
            return Reading(None, hit=None, paper_hit=False, readable=False)
        own, backwards = reply.values
        return Reading(f"{own - backwards:+.6f} nats", hit=own > backwards, paper_hit=False, readable=True)

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        gains = gains_of(trials)
        first, p_value, published = sum(gain > 0 for gain in gains), signed_rank_tail(gains), published_p_value(gains)
        likelier = "likelier in the file's order than backwards"
        mean = f", by {fmean(gains):+.2f} nats on average" if gains else ""
        by_t = "" if published is None else f"; by the published t-test over shards {describe_p_value(published)}"
        unread = count_unread(len(gains), len(trials), "shards were not scored")
        return Evidence(
            statistic=Statistic(name=f"shards of rows that are {likelier}", value=first, expected=len(gains) / 2),
            null="rows that may change places could as well stand the other way round",
            sentence=f"{first} of {len(gains)} shards are {likelier} "
            f"({format_small_number(len(gains) / 2)} expected){mean} "
            f"({describe_p_value(p_value)}){by_t}{unread}",
            hits=first,
            asked=len(trials),
            answered=len(gains),
            expected_hits=len(gains) / 2,
            p_value=p_value,
        )

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        best = "the file's order were the likelier one in each shard"
        return explain_out_of_reach("rows that may change places", best, 0.5 ** len(queries), level)


def shards_of(table: Table, serializer: Serializer, rng: Random) -> Shards:
    """Return random shards of consecutive rows in the file's order, all of the same length.

    Rows of known files are left out. Raises `Skip` if the table has too few rows.
    """
    rows = not_known(table, range(len(table.rows)))
    if len(rows) < SHORTEST:
        raise Skip(f"{table.name} has {len(rows)} rows to ask about; the test needs {SHORTEST}")
    sample = [serializer.row(table.columns, table.rows[row]) for row in rows[:: max(1, len(rows) // 100)]]
    fitting = int(MOST_SHARD_TOKENS / (fmean(len(TOKEN.findall(text)) for text in sample) + 1))
    aimed = max(min(LEAST_SHARD_ROWS, len(rows) // AIMED_SHARDS_OF_FEW_ROWS), len(rows) // AIMED_SHARDS)
    return _cut(table, rows, max(2, min(fitting, MOST_SHARD_ROWS, aimed)), rng)


def _cut(table: Table, rows: Sequence[int], length: int, rng: Random) -> Shards:
    runs: list[list[int]] = []  # rows that are consecutive in the file: a sample of a large file has gaps
    for row in rows:
        if not table.rows_before[row] or not runs:
            runs.append([])
        runs[-1].append(row)
    found = [tuple(run[at : at + length]) for run in runs for at in range(0, len(run) - length + 1, length)]
    return tuple(rng.sample(found, min(len(found), max(MOST_SHARDS, MOST_EXAMINED_ROWS // length))))


def _check_blind(table: Table, serializer: Serializer, turned: Mapping[tuple[int, ...], tuple[int, ...]]) -> None:
    """Raise `Skip` if a predictor without memory recognizes the file's order of the shards."""
    _, columns = ordered_columns(table)
    reader, p_value = strongest(
        columns, list(turned.items()), lambda row: serializer.row(table.columns, table.rows[row])
    )
    if p_value <= MEMORYLESS_LEVEL:
        raise Skip(
            f"a reader that prefers {reader} finds the order of {table.name} without having read the table "
            f"({describe_p_value(p_value)})"
        )


def _question(
    table: Table, serializer: Serializer, above: str, orders: Sequence[Sequence[int]], numbering: Sequence[int]
) -> Endings:
    """Return the rows in each order. Cells of the columns `numbering` stay in their place when rows move."""

    def text(place: int, row: int) -> str:
        cells = enumerate(table.rows[row])
        own = [table.rows[place][column] if column in numbering else cell for column, cell in cells]
        return f"{serializer.row(table.columns, own)}\n"

    return Endings(above, tuple("".join(map(text, orders[0], order)) for order in orders))
