"""Order of rows: is the order in which the file has its rows likelier to the LLM than other orders of the same rows?"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite, prod
from random import Random
from statistics import fmean
from typing import ClassVar

from tabcontam.errors import Skip
from tabcontam.evidence.base import Capability, Evidence, Family, Kind, Likelihoods, Query, Reading, State, Test, Trial
from tabcontam.evidence.order.blind import LEVEL as BLIND_LEVEL
from tabcontam.evidence.order.blind import strongest
from tabcontam.evidence.order.sharded_t import ShardedT, found_in, published_p_value
from tabcontam.evidence.order.strata import Shards, Strata, content, ordered_columns, strata_of
from tabcontam.evidence.questions import Endings
from tabcontam.evidence.sentences import few, out_of_reach, stated
from tabcontam.reading.words import Dictionary
from tabcontam.statistics.ranks import rank_sum_tail
from tabcontam.tables.known import not_known
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table

OTHERS = 15  # orders that the file's is compared with
SHARDS = 50  # that are asked at most
AIMED = 20  # that a table is cut into at least, if its shards have rows enough
FEWEST, MOST = 5, 15  # rows of a shard, where they are short enough
SHORTEST = 3 * FEWEST  # rows of a table: fewer shards would not tell the file's order from any other
TOKENS = 1000  # of a shard, where digits and spaces are tokens of their own; usual tokenizers make some 600 of them
TOKEN = re.compile(r"[^\W\d_]{1,5}|[\W\d_]")
LOOKED_AT = 2000  # rows in which an order that shows is looked for
TRIES = 20  # draws for each other order that is wanted: a shard may have fewer
STATISTIC = "mean rank of the file's order, by how much likelier it is than its reverse, from 0 to 1"


@dataclass(frozen=True)
class RowOrder(Test):
    """The LLM is asked nothing: the log-probability of rows in the file's order is compared with that of other orders.

    Measures: by how much rows are likelier to the LLM in the file's order than backwards, compared with other orders of
    the same rows. Nobody can know an arbitrary order but who has read the file. That two rows are alike, such as two
    players with names from one country, makes them as likely behind each other as before each other: memory alone has a
    direction.

    Queries: the file is cut into shards of 5 to 15 consecutive rows, fewer where they are long (some 600 tokens a
    shard); at most 50 shards are asked. Each is written a row a line in the words of the serializer, in the file's
    order and in 15 others, and each of these backwards, too. Rows stay where they are sorted, grouped or otherwise
    ordered in a way that shows: only those change places that share the values of the columns whose order stands out.
    A column stands out where the file's order has more than others that shows without memory, at a p-value of 0.01
    among 400 orders, in up to 2,000 rows: values that rise or fall, neighbours up to four rows apart that are alike or
    unlike, values that follow each other again and again, cells that stand in the row before. Of many values first
    ranges of size are held, ever narrower ones. It is looked at until nothing stands out; the columns together must
    not, either, at 0.05. Then three readers without memory rank the orders: one prefers rows like those before, one
    values that rise, one texts that can be packed; where one of them finds the file's order (p <= 0.05 for all three)
    nothing is asked.
    Cells that merely number the rows stay where they are, whatever row comes there.

    Null: the rows that may change places are in an arbitrary order, so that the file's order is any of the shard's
    orders with the same chance, whatever the LLM finds likely. Then its rank among them, by how much likelier each is
    than its reverse, is uniform, ties broken by a draw, and the p-value is that of the sum of the shards' ranks,
    exactly: shards are permuted each for itself. Ranks stand in for log-probabilities, since shards differ in what
    they have to lose.

    Published rule: Student's t over the shards' differences to the mean of the other orders, one-sided, on the orders
    asked here; the source states p-values, and p <= 0.05 counts as a finding. Its p-value stands in the sentence as
    well. The deviation is that of a sample and the tail is computed as such: as published it is divided by the number
    of shards, which calls 5.6 % of clean tables of 15 shards contaminated at 5 %, and as one minus the distribution,
    which is 0 for the smallest. It stays an approximation, and decides nothing under the calibrated rules.

    Needs: log-probabilities of given text; a table whose order is not determined by its values, so not one that is
    sorted by a key that no two rows share, nor a series whose neighbours are alike. It is asked where it is chosen, or
    where an LLM that is loaded here scores text.

    Cannot show: that rows were seen in any other order than this file's, as of training data that was shuffled row by
    row. Which rows were seen is not told. An order that follows from something which the table does not hold, such as
    the dates of visits, can show in ways that are not looked for.

    Source: Oren, Meister, Chatterji, Ladhak and Hashimoto 2024, "Proving Test Set Contamination in Black Box Language
    Models", section 3 (orders as equally likely, the sharded comparison). The reverse, the ranks, their exact
    distribution and what is held still are ours. The tests of Ronval et al. 2024, section 3.1, read answers alone.

    Example: `The age is 39, ...` and the fourteen rows that follow it in the file have a log-probability of -301 in
    this order and of -366 backwards. Of 15 other orders none is likelier than its reverse by 65: rank 1 of 16.
    """

    id: ClassVar[str] = "row_order"
    title: ClassVar[str] = "Order of rows"
    family: ClassVar[Family] = Family.ORDER
    kind: ClassVar[Kind] = Kind.LIKELIHOOD
    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.SCORE})
    on_request: ClassVar[bool] = True
    published = ShardedT("shards are likelier in the file's order than in others on average", source="oren2024")

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """A query a shard: its rows in the file's order first. Raises `Skip` where the order says nothing."""
        looked_at = shards_of(table, serializer, rng)
        strata = strata_of(table, looked_at[:SHARDS], looked_at, rng.getrandbits(64), OTHERS + 1)
        orders = [[shard, *_others(table, shard, strata, rng)] for shard in looked_at]
        _check_blind(table, serializer, strata, orders, rng)
        above = "".join(f"{line}\n" for line in serializer.header(table.columns))
        found = []
        for number, of_shard in enumerate(sorted(orders[:SHARDS])):
            if len(of_shard) > 1:
                write = partial(_question, table, serializer, above, of_shard, strata.numbering)
                found.append(Query(f"{self.id}-{number}", write, (), (), max_tokens=1, rows=of_shard[0]))
        return found

    def read(self, query: Query, reply: Likelihoods, serializer: Serializer, dictionary: Dictionary) -> Reading:
        """The rank of the file's order, and how much likelier it is than the others are on average."""
        orders = len(reply.values) // 2
        if reply.state is not State.OK or orders < 2 or not all(map(isfinite, reply.values)):
            return Reading(None, hit=None, paper_hit=False, readable=False)
        forwards, backwards = reply.values[:orders], reply.values[orders:]
        own, *others = (one - other for one, other in zip(forwards, backwards, strict=True))
        draw = Random(f"{query.id} {reply.text}")
        rank = 1 + sum(value > own for value in others) + draw.randint(0, sum(value == own for value in others))
        parsed = f"rank {rank} of {orders}, {forwards[0] - fmean(forwards[1:]):+.6f} nats"
        return Reading(parsed, hit=rank == 1, paper_hit=False, readable=True)

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """The exact p-value of the sum of ranks, and the published statistic beside it."""
        found = [shard for trial in trials if (shard := found_in(trial)) is not None]
        ranks, of = [rank for rank, _, _ in found], [most for _, most, _ in found]
        first, expected = sum(rank == 1 for rank in ranks), sum(1 / most for most in of)
        mean = fmean((rank - 0.5) / most for rank, most, _ in found) if found else 0.5
        p_value = rank_sum_tail(ranks, of)
        published = published_p_value([gain for _, _, gain in found])
        unread = (
            f"; {len(trials) - len(found)} of {len(trials)} shards were not scored" if len(found) < len(trials) else ""
        )
        by_t = "" if published is None else f"; by the published t-test over shards {stated(published)}"
        return Evidence(
            statistic=STATISTIC,
            value=mean,
            expected=0.5,
            null="rows that may change places stand in an arbitrary order",
            sentence=f"the file's order is the likeliest compared with its reverse in {first} of {len(found)} shards "
            f"({few(expected)} expected), its mean rank is {mean:.2f} from 0 to 1 (0.50 expected; {stated(p_value)})"
            f"{by_t}{unread}",
            hits=first,
            asked=len(trials),
            answered=len(found),
            expected_hits=expected,
            p_value=p_value,
        )

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        """Whether the likeliest order in all shards would not be enough."""
        least = prod(2 / len(_endings(query)) for query in queries)
        if least <= level:
            return None
        return out_of_reach("rows that may change places", "the file's order were the likeliest", least, level)


def shards_of(table: Table, serializer: Serializer, rng: Random) -> Shards:
    """Consecutive rows in the order of the file, all of one number, the shards as they are drawn; of many shards some.

    Rows that may be known are left out. Raises `Skip` for a table with too few rows.
    """
    rows = not_known(table, range(len(table.rows)))
    if len(rows) < SHORTEST:
        raise Skip(f"{table.name} has {len(rows)} rows to ask about: their order needs {SHORTEST}")
    sample = [serializer.row(table.columns, table.rows[row]) for row in rows[:: max(1, len(rows) // 100)]]
    fitting = int(TOKENS / (fmean(len(TOKEN.findall(text)) for text in sample) + 1))
    length = max(2, min(fitting, MOST, max(FEWEST, len(rows) // AIMED)))
    shards = [
        tuple(run[start : start + length])
        for run in _runs(table, rows)
        for start in range(0, len(run) - length + 1, length)
    ]
    return tuple(rng.sample(shards, min(len(shards), max(SHARDS, LOOKED_AT // length))))


def _runs(table: Table, rows: Sequence[int]) -> list[list[int]]:
    """These rows cut where the file has rows between that are not in the table, as of a large file all but a sample."""
    found: list[list[int]] = []
    for row in rows:
        if table.before[row] and found:
            found[-1].append(row)
        else:
            found.append([row])
    return found


def _check_blind(
    table: Table, serializer: Serializer, strata: Strata, orders: Sequence[Sequence[tuple[int, ...]]], rng: Random
) -> None:
    """Raises `Skip` where a reader without memory finds the file's order likelier than the others."""
    preferred = strongest(
        ordered_columns(table)[1], orders, lambda row: serializer.row(table.columns, table.rows[row]), rng
    )
    if preferred.p_value <= BLIND_LEVEL:
        raise Skip(
            f"who prefers {preferred.reader} finds the order of {table.name} without having seen it "
            f"({stated(preferred.p_value)}): the order shows"
        )


def _others(table: Table, shard: Sequence[int], strata: Strata, rng: Random) -> list[tuple[int, ...]]:
    """Other orders of a shard, none twice: rows change places within their classes, and equal rows are one."""
    classes: dict[int, list[int]] = {}
    for place, row in enumerate(shard):
        classes.setdefault(int(strata.classes[row]), []).append(place)
    contents = {row: content(table.rows[row], strata.numbering) for row in shard}
    seen, found = {tuple(contents[row] for row in shard)}, list[tuple[int, ...]]()
    for _ in range(OTHERS * TRIES):
        order = list(shard)
        for places in classes.values():
            for place, other in zip(places, rng.sample(places, len(places)), strict=True):
                order[place] = shard[other]
        key = tuple(contents[row] for row in order)
        if key not in seen:
            seen.add(key)
            found.append(tuple(order))
        if len(found) == OTHERS:
            break
    return found


def _question(
    table: Table,
    serializer: Serializer,
    above: str,
    orders: Sequence[Sequence[int]],
    numbering: Sequence[int],
) -> Endings:
    def text(order: Sequence[int]) -> str:
        return "".join(f"{serializer.row(table.columns, row)}\n" for row in _rows(table, orders[0], order, numbering))

    return Endings(above, tuple(map(text, [*orders, *(order[::-1] for order in orders)])))


def _rows(
    table: Table, here: Sequence[int], order: Sequence[int], numbering: Sequence[int]
) -> Iterator[tuple[Cell, ...]]:
    """The rows of an order; what numbers a row is that of the row that the file has here."""
    for place, row in zip(here, order, strict=True):
        cells = enumerate(table.rows[row])
        yield tuple(table.rows[place][column] if column in numbering else cell for column, cell in cells)


def _endings(query: Query) -> tuple[str, ...]:
    question = query.question
    return question.endings if isinstance(question, Endings) else ()
