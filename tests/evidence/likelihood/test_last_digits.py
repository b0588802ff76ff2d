"""Last digits: which numbers are exchanged, which columns are left out, who is found and who must not be."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from math import nan
from random import Random

import pytest

from tabcontam.errors import Skip
from tabcontam.evidence.base import Evidence, Likelihoods, Query, ReplyState, Trial
from tabcontam.evidence.likelihood.last_digits import Digits
from tabcontam.models.base import Model, ModelRequest
from tabcontam.models.known.control import open_control
from tabcontam.models.known.ngram_model import build
from tabcontam.statistics import permutation_tests
from tabcontam.tables.serializers import Serializer, load_serializers
from tabcontam.tables.table import Table
from tabcontam.tables.twin_tables import twin
from tests.evidence.comparing import made, question_of

pytestmark = pytest.mark.slow  # guessers are fitted, and many tables made

TEST = Digits()
SERIALIZERS = load_serializers()
IS, CSV = SERIALIZERS["is"], SERIALIZERS["csv"]
Scorer = Callable[[str], float]


@cache
def noise(rows: int = 150, seed: int = 0) -> Table:
    """Numbers that follow from nothing."""
    rng = Random(f"noise {seed}")

    def row() -> tuple[object, ...]:
        toll, kind = rng.randrange(100, 400), rng.choice("abc")
        return toll, kind, f"{rng.uniform(10, 40):.1f}", f"{rng.gauss(5000, 900):.0f}", rng.choice(("yes", "no"))

    return made([row() for _ in range(rows)], "toll", "kind", "length", "tons", "due")


def weighed(queries: Sequence[Query], answers: Sequence[Likelihoods], serializer: Serializer = CSV) -> Evidence:
    pairs = zip(queries, answers, strict=True)
    trials = [Trial(query, answer, TEST.read(query, answer, serializer)) for query, answer in pairs]
    return TEST.weigh(trials, 0.01)


def scored(table: Table, scorer: Scorer, seed: int = 0, serializer: Serializer = CSV) -> Evidence:
    """What one says who scores a text so. Raises `Skip`."""
    queries = TEST.queries(table, serializer, Random(seed))
    asked = map(question_of, queries)
    values = [tuple(scorer(question.beginning + ending) for ending in question.endings) for question in asked]
    return weighed(queries, [Likelihoods(own, ReplyState.OK) for own in values])


def told(table: Table, model: Model, serializer: Serializer = IS) -> Evidence:
    queries = TEST.queries(table, serializer, Random(0))

    async def answers() -> list[Likelihoods]:
        return [await model.compare(ModelRequest(query.question)) for query in queries]

    return weighed(queries, asyncio.run(answers()), serializer)


# --- what is asked


def test_numbers_are_exchanged_for_those_of_the_table_that_differ_in_their_last_digits() -> None:
    table = noise()
    queries = TEST.queries(table, CSV, Random(0))
    assert len({query.asked[0] for query in queries}) >= 2
    for query in queries:
        (name,), (own,), row = query.asked, query.expected, query.row or 0
        question, place = question_of(query), table.columns.index(query.asked[0])
        written = [f"{question.beginning}{ending}".splitlines()[-1].split(",") for ending in question.endings]
        assert written[0] == list(table.rows[row])
        assert own == table.rows[row][place]
        assert all(
            cells[:place] + cells[place + 1 :] == written[0][:place] + written[0][place + 1 :] for cells in written
        )
        assert all(cells[place] in table.column(name) for cells in written)
        assert all(cells[place][:-2] == (own or "")[:-2] for cells in written)
        assert 2 <= len(question.endings) <= 12


def test_no_row_is_asked_about_two_columns() -> None:
    rows = [query.row for query in TEST.queries(noise(), CSV, Random(0))]
    assert len(set(rows)) == len(rows)


def test_at_most_a_hundred_rows_of_four_columns_of_a_large_table() -> None:
    rng = Random(0)
    table = made([tuple(rng.randrange(100, 1000) for _ in range(7)) for _ in range(2000)], *"abcdefg")
    queries = TEST.queries(table, IS, Random(0))
    assert len(queries) <= 400
    assert len({query.asked[0] for query in queries}) == 4


def test_known_rows_are_not_asked() -> None:
    known = replace(noise(), known=(noise().rows[:75],))
    assert min(query.row or 0 for query in TEST.queries(known, CSV, Random(0))) >= 75


def test_rows_whose_other_cells_stand_twice_are_not_asked() -> None:
    rows = [(toll, "a", 1, 2, 3) for toll in range(100, 200)]
    with pytest.raises(Skip, match="no column of made has numbers of three digits"):
        TEST.queries(made(rows, "toll", "b", "c", "d", "e"), CSV, Random(0))


@pytest.mark.parametrize("rows", [[(1, 2, 3)] * 50, [(f"{place}", f"{place % 7}", "x") for place in range(99)]])
def test_short_numbers_and_constants_are_not_asked(rows: list[tuple[object, ...]]) -> None:
    with pytest.raises(Skip, match="no column of made has numbers of three digits"):
        TEST.queries(made(rows, "a", "b", "c"), CSV, Random(0))


def test_ten_rows_are_too_few() -> None:
    with pytest.raises(Skip, match="no column of made"):
        TEST.queries(noise(10), CSV, Random(0))


# --- columns that are left out


@cache
def columns_of_odd() -> set[str]:
    return columns_asked(odd())


def columns_asked(table: Table) -> set[str]:
    try:
        return {query.asked[0] for query in TEST.queries(table, CSV, Random(0))}
    except Skip:
        return set()


@cache
def odd(rows: int = 200) -> Table:
    """A total, a number with a check digit, and one that every second person rounds, beside a free one."""
    rng, found = Random("odd"), []
    for _ in range(rows):
        one, other, who = rng.randrange(100, 500), rng.randrange(100, 500), rng.choice(("Orlo", "Mirt"))
        heard = rng.randrange(10, 40)
        heaped = 10 * heard if who == "Orlo" else 10 * heard + rng.randrange(10)
        found.append((who, one, other, one + other, rng.randrange(100, 400), heaped))
    return made(found, "who", "one", "other", "total", "free", "weight")


def test_what_follows_from_other_columns_is_left_out() -> None:
    assert not {"total", "one", "other"} & columns_of_odd()


def test_what_one_of_those_who_measure_rounds_is_left_out() -> None:
    assert "weight" not in columns_of_odd()


def test_free_digits_are_asked() -> None:
    assert "free" in columns_of_odd()


def test_digits_that_all_round_alike_are_asked() -> None:
    """Numbers end in 0 and 5 in all rows alike: exchanging them keeps how often they do."""
    rng = Random(0)
    rows = [(rng.randrange(10**6), rng.choice("abc"), 5 * rng.randrange(20, 60)) for _ in range(300)]
    assert "length" in columns_asked(made(rows, "no", "kind", "length"))


def test_a_table_of_totals_alone_is_refused_with_the_reason() -> None:
    rng = Random(0)
    pairs = [(rng.randrange(100, 500), rng.randrange(100, 500)) for _ in range(300)]
    table = made([(one, other, one + other) for one, other in pairs], "one", "other", "total")
    with pytest.raises(
        Skip, match=r"the last digits of made can be predicted without memory: .* predicts them, p = 0.0003"
    ):
        TEST.queries(table, CSV, Random(0))


# --- who is found


@pytest.mark.parametrize("form", ["csv", "is"])
def test_one_who_read_the_table_is_found_and_no_other(form: str) -> None:
    table, serializer = noise(), SERIALIZERS[form]
    exposed, unexposed = (
        told(table, open_control(kind).prepare(table), serializer) for kind in ("exposed", "unexposed")
    )
    assert (exposed.p_value or 1) < 1e-6
    assert max(exposed.without.values()) < 1e-4
    assert exposed.hits > 0.9 * (exposed.asked or 0)
    assert (unexposed.p_value or 0) > 0.05


def test_one_who_prefers_round_numbers_is_not_found() -> None:
    evidence = scored(noise(), lambda text: sum(sign in "05" for sign in text) + 3 * text.count("00"))
    assert evidence.p_value == 1.0


def test_one_who_remembers_one_column_alone_does_not_stand_without_it() -> None:
    table = noise()
    known = {(row[0], row[2], row[3]) for row in table.rows}
    own = {row[2:4] for row in table.rows}

    def knows_length(text: str) -> float:
        cells = text.splitlines()[-1].split(",")
        return float((cells[2], cells[3]) in own) if (cells[0], cells[2], cells[3]) in known else -1.0

    evidence = scored(table, knows_length)
    assert (evidence.p_value or 1) < 0.01
    columns = {query.asked[0] for query in TEST.queries(table, CSV, Random(0))}
    assert set(evidence.without) == set(evidence.columns) == columns


@pytest.mark.slow
def test_who_knows_nothing_has_p_values_that_are_uniform_or_above(monkeypatch: pytest.MonkeyPatch) -> None:
    from scipy.stats import kstest

    monkeypatch.setattr(permutation_tests, "PERMUTATION_DRAWS", 499)  # a p-value holds for any number of draws
    found = []
    for place in range(2):  # tables, the fits of whose blind readers take most of the time
        queries = TEST.queries(noise(80, place), CSV, Random(place))
        asked = [question_of(query) for query in queries]
        for seed in range(125):
            answers = [
                Likelihoods(
                    tuple(Random(f"{seed} {one.beginning}{ending}").gauss(0, 3) for ending in one.endings),
                    ReplyState.OK,
                )
                for one in asked
            ]
            found.append(weighed(queries, answers).p_value or 0.0)
    assert len(found) == 250
    assert kstest(found, "uniform", alternative="greater").pvalue > 0.01  # more small ones than uniform


@pytest.mark.slow
def test_who_read_twins_has_p_values_that_are_uniform_or_above() -> None:
    from scipy.stats import kstest

    found = []
    for seed in range(4):
        table = noise(80, seed)
        other = twin(table)
        model = build(["\n".join([*CSV.header(table.columns), *(CSV.row(table.columns, row) for row in other.rows)])])
        try:
            queries = TEST.queries(table, CSV, Random(seed))
        except Skip:
            continue
        asked = [question_of(query) for query in queries]
        answers = [Likelihoods(tuple(model.compare(one.beginning, one.endings)), ReplyState.OK) for one in asked]
        found.append(weighed(queries, answers).p_value or 0.0)
    assert len(found) >= 3
    assert kstest(found, "uniform", alternative="greater").pvalue > 0.01


# --- what is concluded


def test_rows_that_were_not_scored_do_not_count() -> None:
    queries = TEST.queries(noise(), CSV, Random(0))
    gone = Likelihoods((), ReplyState.FAILED, "too long")
    nothing = weighed(queries, [gone] * len(queries))
    assert (nothing.answered, nothing.hits, nothing.p_value, nothing.without) == (0, 0, 1.0, {})
    sizes = [len(question_of(query).endings) for query in queries]
    half = [
        gone if place % 2 else Likelihoods((1.0, *(0.0,) * (size - 1)), ReplyState.OK)
        for place, size in enumerate(sizes)
    ]
    evidence = weighed(queries, half)
    assert evidence.answered == len(half[::2])
    assert (evidence.p_value or 1) < 0.001
    assert f"{len(half) // 2} of {len(half)} rows were not scored" in evidence.sentence
    assert not TEST.read(queries[0], Likelihoods((nan, 0.0), ReplyState.OK), CSV).readable


def test_one_column_alone_is_told_before_it_is_asked() -> None:
    queries = TEST.queries(noise(), CSV, Random(0))
    alone = [query for query in queries if query.asked == ("tons",)]
    assert TEST.uninformative(queries, 0.001) is None
    assert "tons alone has digits to ask about" in (TEST.uninformative(alone, 0.001) or "")
