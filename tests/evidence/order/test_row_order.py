"""The order of rows: which orders are compared, who is found, and who must not be."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import pairwise, product
from math import inf, nan, prod
from random import Random
from statistics import fmean, stdev

import pytest

from tabcontam.errors import Skip
from tabcontam.evidence.base import Evidence, Likelihoods, Query, ReplyState, Trial
from tabcontam.evidence.order.row_order import RowOrder, published_p_value
from tabcontam.evidence.questions import Endings
from tabcontam.models.base import Model, ModelRequest
from tabcontam.models.known.control import open_control
from tabcontam.tables.serializers import Serializer, load_serializers
from tabcontam.tables.table import Table, load_table
from tests.evidence.comparing import made, question_of
from tests.made_tables import ships

pytestmark = pytest.mark.slow  # guessers are fitted, and many tables made

TEST = RowOrder()
SERIALIZERS = load_serializers()
IS, CSV = SERIALIZERS["is"], SERIALIZERS["csv"]
Scorer = Callable[[str], float]


@cache
def unordered(rows: int = 200, seed: int = 0) -> Table:
    """Rows in an arbitrary order."""
    rng = Random(f"unordered {seed}")

    def row() -> tuple[object, ...]:
        return rng.randrange(100, 999), rng.choice("abc"), f"{rng.gauss(50, 9):.1f}", rng.choice(("yes", "no"))

    return made([row() for _ in range(rows)], "toll", "kind", "length", "due")


def beside(cells: Sequence[object], name: str) -> Table:
    """The unordered table with a column before the others."""
    table = unordered(len(cells))
    return made([(cell, *row) for cell, row in zip(cells, table.rows, strict=True)], name, *table.columns)


def questions(table: Table, seed: int = 0, serializer: Serializer = IS) -> list[Endings]:
    return [question_of(query) for query in TEST.queries(table, serializer, Random(seed))]


def weighed(queries: Sequence[Query], answers: Sequence[Likelihoods]) -> Evidence:
    pairs = zip(queries, answers, strict=True)
    return TEST.weigh([Trial(query, answer, TEST.read(query, answer, IS)) for query, answer in pairs], 0.01)


def scored(table: Table, scorer: Scorer, seed: int = 0, serializer: Serializer = CSV) -> Evidence:
    """What one says who scores a text so. Raises `Skip`."""
    queries = TEST.queries(table, serializer, Random(seed))
    asked = map(question_of, queries)
    values = [tuple(scorer(question.beginning + ending) for ending in question.endings) for question in asked]
    return weighed(queries, [Likelihoods(own, ReplyState.OK) for own in values])


def told(table: Table, model: Model, seed: int = 0, serializer: Serializer = IS) -> Evidence:
    """What a model says that is prepared for a table."""
    queries = TEST.queries(table, serializer, Random(seed))

    async def answers() -> list[Likelihoods]:
        return [await model.compare(ModelRequest(query.question)) for query in queries]

    return weighed(queries, asyncio.run(answers()))


# --- what is asked


@pytest.mark.parametrize(("rows", "shards"), [(300, 20), (500, 33), (900, 50), (2000, 50)])
def test_a_table_makes_twenty_to_fifty_shards(rows: int, shards: int) -> None:
    assert len(questions(unordered(rows))) == shards


def test_a_shard_is_rows_of_the_file_in_its_order_and_backwards() -> None:
    table = unordered()
    texts = [CSV.row(table.columns, row) for row in table.rows]
    for question in questions(table, serializer=CSV):
        assert question.beginning == "toll,kind,length,due\n"
        own, backwards = (text.splitlines() for text in question.endings)
        start = texts.index(own[0])
        assert own == texts[start : start + len(own)]
        assert backwards == own[::-1]


def test_shards_are_not_rows_drawn_from_all_over_as_in_llmsanitize() -> None:
    """Its sharded test took a random subset of the rows first, so that no shard had the order of the file."""
    for query in TEST.queries(unordered(2000), IS, Random(0)):
        assert all(after == before + 1 for before, after in pairwise(query.rows))


def test_a_beginning_stands_once_and_not_before_every_row_as_in_oren() -> None:
    """Theirs was tokenised row by row, with the first special token before each: no model reads files so."""
    for question in questions(unordered(), serializer=CSV):
        assert all(text.endswith("\n") and "toll" not in text for text in question.endings)


def test_shards_of_long_rows_are_shorter() -> None:
    rng = Random(0)
    long = made([tuple(rng.random() for _ in "abcdefghi") for _ in range(200)], *"abcdefghi")
    assert {text.count("\n") for question in questions(long) for text in question.endings} == {4}


def test_the_same_seed_asks_the_same() -> None:
    assert questions(unordered()) == questions(unordered())
    assert questions(unordered(2000)) != questions(unordered(2000), 1)


def test_known_rows_are_not_asked() -> None:
    known = replace(unordered(), known=(unordered().rows[:100],))
    assert min(row for query in TEST.queries(known, IS, Random(0)) for row in query.rows) == 100


# --- what stays where it is


def stays(table: Table, place: int = 0) -> bool:
    """Whether a column has the same cells in both orders of each shard."""

    def cells(text: str) -> list[str]:
        return [line.split(",")[place] for line in text.splitlines()]

    return all(len(set(map(tuple, map(cells, one.endings)))) == 1 for one in questions(table, serializer=CSV))


@pytest.mark.parametrize(
    "berths",
    [
        [place // 40 for place in range(200)],
        [9 - place // 40 for place in range(200)],
        [(3, 1, 4, 0, 2)[place // 40] for place in range(200)],
        [place % 3 for place in range(200)],
    ],
    ids=["rising", "falling", "grouped", "in turn"],
)
def test_what_rows_are_ordered_by_stays(berths: list[int]) -> None:
    assert stays(beside(berths, "berth"))


def test_a_number_that_only_counts_the_rows_stays_whatever_row_comes_there() -> None:
    table = beside([f"S-{place:04d}" for place in range(200)], "no")
    assert stays(table)
    assert not stays(table, 1)
    assert len(questions(table)) == 20


@pytest.mark.parametrize("step", [7, -7])
def test_a_table_sorted_by_a_unique_key_is_refused_unlike_in_oren(step: int) -> None:
    rng = Random(0)
    table = beside([100_000 + step * place + rng.randrange(7) for place in range(200)], "id")
    with pytest.raises(Skip, match="made is sorted by id, which no two rows share: its order is determined"):
        questions(table)


def test_a_table_sorted_by_a_nearly_unique_key_is_refused() -> None:
    table = beside([place - place % 50 // 49 for place in range(200)], "id")
    with pytest.raises(Skip, match=r"the order of made follows from id \(it is sorted\)"):
        questions(table)


def test_a_table_of_all_combinations_is_refused() -> None:
    with pytest.raises(Skip, match="lists every combination"):
        questions(made([*product("abcd", "klmno", "xyz")], "one", "two", "three"))


def walk(rows: int, seed: int, noise: float = 0.0) -> Table:
    """A series: each level is near the one before, as far as the noise lets it be seen."""
    rng, value, found = Random(seed), 100.0, []
    for _ in range(rows):
        value += rng.gauss(0, 1)
        found.append((f"{value + rng.gauss(0, noise):.2f}", rng.choice("abc"), rng.randrange(1000)))
    return made(found, "level", "kind", "other")


def test_who_knows_the_order_of_results_is_not_found() -> None:
    """A file lists results, the better first: an LLM that knows the drivers knows which way they stand."""
    rng, found = Random(0), []
    skill = {f"driver {number}": 2 * number for number in range(20)}
    for race in range(8):
        finish = sorted(skill, key=lambda name: skill[name] + rng.gauss(0, 8))
        grid = {name: place for place, name in enumerate(sorted(skill, key=lambda name: skill[name] + rng.gauss(0, 8)))}
        found += [(f"race {race}", name, grid[name] + 1, rng.randrange(100, 999)) for name in finish]

    def knows(text: str) -> float:
        names = [line.split(",")[1] for line in text.splitlines()[1:]]
        return sum(float(skill[before] < skill[after]) for before, after in pairwise(names))

    with pytest.raises(Skip, match="the order of made follows from race"):
        scored(made(found, "race", "driver", "grid", "time"), knows)


def test_rows_that_hand_a_cell_on_are_refused() -> None:
    rng = Random(0)
    ports = [rng.randrange(10_000) for _ in range(301)]
    with pytest.raises(Skip, match=r"stands in (to|from) of the row before"):
        questions(made([(one, other, rng.choice("xyz")) for one, other in pairwise(ports)], "from", "to", "kind"))


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(Skip, match="has 23 rows"):
        questions(unordered(23))
    assert len(questions(unordered(24))) == 12


def test_constant_columns_and_duplicates_change_nothing() -> None:
    rows = [(1, None, row[0], row[3]) for row in unordered().rows for _ in range(2)]
    Random(1).shuffle(rows)
    found = questions(made(rows, "one", "none", "toll", "due"))
    assert found
    assert all(len(set(question.endings)) == 2 for question in found)


def test_where_no_two_rows_differ_nothing_is_asked() -> None:
    with pytest.raises(Skip, match="too few rows that differ"):
        questions(made([("a", "b")] * 50, "one", "other"))


# --- who is found


def in_another_order(table: Table, seed: str) -> Table:
    return replace(table, rows=tuple(Random(seed).sample(table.rows, len(table.rows))), sha256="f" * 64)


@pytest.mark.parametrize(
    ("name", "form"), [("ships", "csv"), ("wine", "csv"), pytest.param("iris", "is", marks=pytest.mark.slow)]
)
def test_one_who_read_the_file_is_found_and_no_other(name: str, form: str) -> None:
    table = in_another_order(ships(), "ships") if name == "ships" else load_table(name)
    models = [open_control(kind).prepare(table) for kind in ("exposed", "unexposed")]
    exposed, unexposed = (told(table, model, serializer=SERIALIZERS[form]) for model in models)
    assert (exposed.p_value or 1) < 1e-5  # of Wine only 17 shards have rows that may change places
    assert (unexposed.p_value or 0) > 0.05
    assert exposed.hits == exposed.asked


def test_one_who_read_the_rows_in_another_order_is_not_found() -> None:
    table = in_another_order(ships(), "ships")
    model = open_control("exposed").prepare(in_another_order(table, "other"))
    assert (told(table, model, serializer=CSV).p_value or 0) > 0.05


def prefers_alike(text: str) -> float:
    """Rows that are like those before, cell by cell."""
    found = 0.0
    for before, after in pairwise(line.split(",") for line in text.splitlines()[1:]):
        for one, other in zip(before, after, strict=True):
            try:
                found -= min(1.0, abs(float(one) - float(other)) / 50)
            except ValueError:
                found += one == other
    return found


def prefers_rising(text: str) -> float:
    rows = [line.split(",") for line in text.splitlines()[1:]]
    return float(sum(after > before for pair in pairwise(rows) for before, after in zip(*pair, strict=True)))


@pytest.mark.slow
@pytest.mark.parametrize("scorer", [prefers_alike, prefers_rising])
def test_one_who_prefers_what_shows_is_found_nowhere(scorer: Scorer) -> None:
    """Series with more and more noise: they are alike backwards, or held still, or refused."""
    found = []
    for seed, noise in product(range(3), (0, 2, 5, 10, 20, 40)):
        with suppress(Skip):
            found.append(scored(walk(300, seed, noise), scorer, seed).p_value or 0.0)
    assert len(found) >= 6
    assert min(found) > 0.01 / len(found)
    assert sum(p <= 0.05 for p in found) <= max(3, 0.1 * len(found))


def test_one_who_knows_which_rows_belong_together_is_not_found() -> None:
    """A file lists players team after team, without the team: an LLM that knows names sees who belongs together."""
    names = [f"player {Random(place).randrange(10**9)}" for place in range(200)]
    team = {name: place // 4 for place, name in enumerate(names)}

    def knows(seed: int) -> Scorer:
        def score(text: str) -> float:
            rows = [team[line.split(",")[0]] for line in text.splitlines()[1:]]
            together = sum(before == after for before, after in pairwise(rows))
            return together * (10 + Random(f"{seed} {text}").gauss(0, 3))  # more surely in one direction, by chance

        return score

    table = beside(names, "player")
    found = [scored(table, knows(seed)).p_value or 0.0 for seed in range(100)]
    assert sum(p <= 0.05 for p in found) <= 12  # of 100, at most 11 with a chance of 99 in 100
    assert min(found) > 1e-4


@pytest.mark.slow
def test_who_knows_nothing_has_p_values_that_are_uniform_or_above() -> None:
    from scipy.stats import kstest

    def blank(seed: int) -> Scorer:
        return lambda text: Random(f"{seed} {text}").random()

    found = []
    for seed, rows in product(range(20), (60, 150)):
        for again in range(20):
            try:
                found.append(scored(unordered(rows, seed % 10), blank(seed), seed + 1000 * again).p_value or 0.0)
            except Skip:  # by chance an order shows
                continue
            break
    assert len(found) >= 40 - 4
    assert kstest(found, "uniform", alternative="greater").pvalue > 0.01  # more small ones than uniform


# --- what is concluded


def answers_of(*gains: float) -> tuple[list[Query], list[Likelihoods]]:
    """Of shards that are by so much likelier in the file's order."""
    queries = TEST.queries(unordered(), IS, Random(0))[: len(gains)]
    return queries, [Likelihoods((gain, 0.0), ReplyState.OK) for gain in gains]


def test_the_p_value_is_that_of_signed_ranks() -> None:
    evidence = weighed(*answers_of(3, 2, -1, 4))
    signs = list(product((0, 1), repeat=4))
    assert evidence.p_value == sum(sum(map(prod, zip(own, (3, 2, 1, 4), strict=True))) >= 9 for own in signs) / 16
    assert (evidence.hits, evidence.asked, evidence.answered) == (3, 4, 4)
    said = "3 of 4 shards are likelier in the file's order than backwards (2 expected), by +2.00 nats on average"
    assert evidence.sentence.startswith(said)


def test_shards_that_tell_nothing_find_nothing() -> None:
    assert weighed(*answers_of(*[0.0] * 20)).p_value == 1.0


def test_shards_that_were_not_scored_do_not_count() -> None:
    queries, (first, _, last) = answers_of(1, 1, 1)
    too_long, no_number = Likelihoods((), ReplyState.FAILED, "too long"), replace(last, values=(nan, 0.0))
    evidence = weighed(queries, [first, too_long, no_number])
    assert (evidence.asked, evidence.answered) == (3, 1)
    assert evidence.p_value == 0.5
    assert evidence.sentence.endswith("; 2 of 3 shards were not scored")
    assert weighed(queries, [too_long] * 3).p_value == 1.0
    for values in ((inf, 0.0), (0.0,) * 26):
        assert not TEST.read(queries[0], replace(first, values=values), IS).readable


def test_a_table_that_leaves_too_little_to_change_is_told_before_it_is_asked() -> None:
    queries = TEST.queries(unordered(50), IS, Random(0))
    assert TEST.uninformative(queries, 0.01) is None
    assert "too few rows that may change places" in (TEST.uninformative(queries, 0.0001) or "")


def test_the_published_statistic_has_the_deviation_of_a_sample_unlike_oren() -> None:
    """Theirs divides by the number of shards, which makes it the larger; and `1 - cdf` is 0 for the smallest tails."""
    from scipy.stats import ttest_1samp

    gains = [Random(seed).gauss(0.3, 1) for seed in range(15)]
    theirs = fmean(gains) / (stdev(gains) * (14 / 15) ** 0.5) * 15**0.5
    expected = ttest_1samp(gains, 0, alternative="greater")
    assert theirs > expected.statistic
    assert published_p_value(gains) == pytest.approx(expected.pvalue)
    assert 0 < (published_p_value([5 + gain / 1000 for gain in gains]) or 0) < 1e-40
    assert published_p_value([1.0, 1.0]) is None
    assert published_p_value([1.0]) is None
