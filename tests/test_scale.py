"""The simulator of `benchmarks.scale`, in cases whose answer is known without it."""

from dataclasses import replace
from functools import partial
from random import Random

import pytest

pytest.importorskip("simpy")

from benchmarks.scale import CHUNK, MEASURED, Asked, Assumed, Cost, Grid, Measured, Way, limit, of_service, simulated

NOTHING = Cost(0.0, 0.0)
EVEN = Measured((Asked(100, 4000, 400),), (), 0.0, NOTHING, NOTHING, NOTHING, 0.0, (1.0,), ())
STEADY = Assumed(slow=0.0)
FOUR = Grid(((30.0,) * 8,) * 4, (2.0,) * 4, ())  # LLMs, with eight pieces of work each


def seconds(way: Way, grid: Grid = FOUR, known: Measured = EVEN, assumed: Assumed = STEADY) -> float:
    return simulated(grid, way, known, assumed, 0).seconds


def test_one_gpu_takes_its_work_over_its_throughput() -> None:
    assert seconds(Way("", 1, 1)) == pytest.approx(4 * 8 * 30) == limit(FOUR, 1, EVEN, STEADY)


@pytest.mark.parametrize(("machines", "whole"), [(1, True), (2, True), (2, False)])
def test_twice_the_gpus_take_half_the_time(machines: int, whole: bool) -> None:
    assert seconds(Way("", machines, 2 // machines, whole=whole)) == pytest.approx(4 * 8 * 30 / 2)


def test_twice_the_replicas_take_half_the_time_of_an_llm() -> None:
    one = Grid(FOUR.work[:1], FOUR.weights[:1], ())
    assert seconds(Way("", 1, 2, replicas=1), one) == pytest.approx(8 * 30)
    assert seconds(Way("", 1, 2, replicas=2), one) == pytest.approx(8 * 30 / 2)


def test_weights_are_read_to_know_an_llm_and_again_to_ask_it_where_not_all_fit() -> None:
    slow = replace(EVEN, opened=5.0)
    assert seconds(Way("", 1, 1), known=slow) == pytest.approx(4 * 8 * 30 + 2 * 4 * 10)
    assert seconds(Way("", 1, 4), known=slow) == pytest.approx(8 * 30 + 10)


def test_a_straggler_is_waited_for() -> None:
    assert seconds(Way("", 1, 4), assumed=replace(STEADY, slow=1.0, slowness=3.0)) == pytest.approx(3 * 8 * 30)


def test_a_driver_that_is_slower_than_all_gpus_decides_the_time() -> None:
    busy = replace(EVEN, asked=Cost(20.0 / CHUNK, 0.0))  # 20 s for each piece of work
    came = simulated(FOUR, Way("", 1, 4), busy, STEADY, 0)
    assert came.seconds == pytest.approx(30 + 4 * 8 * 20)
    assert came.driver == pytest.approx(4 * 8 * 20 / came.seconds)


def test_what_is_planned_comes_before_the_first_query() -> None:
    known = replace(EVEN, table=4.0, planned=Cost(0.5, 0.0), asked=Cost(0.5, 0.0), foreign=Cost(0.25, 0.0))
    tables, pairs = 8 * CHUNK, 4 * 8 * CHUNK
    steady = replace(STEADY, processors=2)
    at_once = simulated(FOUR, Way("", 1, 4), known, steady, 0)
    assert at_once.before == pytest.approx(tables * 4 / 2 + pairs * 0.5)
    parts = simulated(FOUR, Way("", 2, 2), known, steady, 0)
    assert parts.before == pytest.approx(tables * 4 / 2 + pairs / 2 * 0.5 + pairs / 2 * 0.25)
    alone = simulated(FOUR, Way("", 2, 2, whole=False), known, steady, 0)
    assert alone.before == pytest.approx(tables * 4 / 2 + pairs / 2 * 0.5)


def test_a_rate_limit_that_binds_takes_the_requests_over_the_rate() -> None:
    assert of_service(600, 64, lambda: 0.3, rate=10) == pytest.approx(600 / 10 + 0.3)


def test_without_a_limit_answers_come_as_many_at_a_time_as_there_are_connections() -> None:
    assert of_service(640, 64, lambda: 0.3) == pytest.approx(10 * 0.3)


def test_no_run_ends_before_the_limit() -> None:
    rng = Random(1)
    for gpus in (1, 2, 3, 8):
        work = tuple(tuple(rng.uniform(1, 40) for _ in range(6)) for _ in range(5))
        services = ((float(CHUNK * 100 * 60 / STEADY.requests),) * 6,) * 2
        grid = Grid(work, (1.0,) * 5, services)
        for way in (Way("", 1, gpus), Way("", 1, gpus, 4), Way("", gpus, 1), Way("", gpus, 1, whole=False)):
            assert seconds(way, grid) >= limit(grid, gpus, EVEN, STEADY) - 1e-6


def test_what_was_measured_can_be_read_and_the_model_foretells_it() -> None:
    """Real runs against a loopback server take at least what the model says, and at most half as long again."""
    assert MEASURED.exists()
    for check in Measured.read().checks:
        foretold = of_service(check.queries, check.connections, partial(float, check.latency), check.rate)
        assert foretold * 0.98 <= check.seconds <= 1.5 * foretold
