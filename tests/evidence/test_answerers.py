"""Every test against answerers of known behaviour, through the session that real LLMs go through."""

import asyncio
import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from random import Random

import pytest

from tabcontam.asking.query_plan import RunSource, plan
from tabcontam.asking.run_progress import Progress
from tabcontam.asking.session import Session
from tabcontam.asking.trial_file import Journal
from tabcontam.config import RunConfig
from tabcontam.evidence.base import Capability
from tabcontam.evidence.registry import all_tests
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table
from tabcontam.verdicts.result_types import Result
from tests.made_tables import ships
from tests.usual import USUAL

# other papers' tests have answerers of their own
TESTS = [test for test in all_tests() if test in USUAL or Capability.SCORE in test.needs]
NUMBERED = [test.id for test in TESTS if test.number is not None]
SCORED = [test.id for test in TESTS if test.number is None and Capability.GENERATE in test.needs]
EVERY = NUMBERED + SCORED
UNASKED = [test.id for test in TESTS if test.id not in EVERY]  # nobody simulates log-probabilities
DECIDES = [test.id for test in USUAL if test.decides and Capability.GENERATE in test.needs]
ROW_TESTS = ["incomplete_completion", "full_completion", "feature_completion"]


# values of three more features: with those of `ships` there are words enough for every test to be informative
MORE = {
    "keelWood": ("Dravoak", "Stelmwood", "Ombrelm", "Quernash", "Yelpine", "Brathfir", "Culdteak", "Vornlarch"),
    "sailCut": ("Wimbret", "Gaffle", "Lugsquare", "Trimbote", "Jennick", "Sprittle", "Marcune", "Tolveen"),
    "pennantHue": ("Cerulith", "Ambrose-red", "Vermilk", "Ochrain", "Saffrole", "Umberine", "Indigast", "Malvert"),
}


@lru_cache(maxsize=1)
def register() -> Table:
    """The ships with three features more, before the last."""
    rng, table = Random(0), ships()
    rows = tuple((*row[:-1], *(rng.choice(values) for values in MORE.values()), row[-1]) for row in table.rows)
    return replace(table, columns=(*table.columns[:-1], *MORE, table.columns[-1]), rows=rows)


def judged(kind: str, folder: Path, serializer: str = "is") -> dict[str, Result]:
    subject = RunSource(SimulatedModel(kind))
    options = RunConfig()
    cells = plan([subject], [register()], [load_serializers()[serializer]], TESTS, options)
    session = Session(cells, options, Journal(folder), Progress())
    session.recall()
    asyncio.run(session.ask())
    return {result.test: result for result in session.results()}


@pytest.mark.parametrize("serializer", ["is", "csv", "json"])  # the others in test_invariance.py
@pytest.mark.slow
def test_one_that_knows_is_contaminated_everywhere(tmp_path: Path, serializer: str) -> None:
    results = judged("oracle", tmp_path, serializer)
    assert {results[test].verdict for test in DECIDES} == {"contaminated"}
    assert {results[test].decision.paper_verdict for test in NUMBERED} == {"contaminated"}
    assert {results[test].evidence.score for test in SCORED} == {1.0}


@pytest.mark.slow
def test_one_that_does_not_know_is_not_detected(tmp_path: Path) -> None:
    results = judged("mode", tmp_path)
    verdicts = {test: results[test].verdict for test in DECIDES}
    assert verdicts.pop("feature_completion") == "no answer"  # one name for every row, which the guesser does not list
    assert set(verdicts.values()) == {"not detected"}
    assert {results[test].decision.paper_verdict for test in NUMBERED} == {"not detected"}


@pytest.mark.slow
def test_always_yes_scores_the_share_of_yes(tmp_path: Path) -> None:
    assert judged("yes", tmp_path)["membership"].evidence.score == 0.5


@pytest.mark.parametrize("kind", ["decliner", "truncates", "refuser", "fails", "empty"])
@pytest.mark.slow
def test_no_answer_is_never_clean(tmp_path: Path, kind: str) -> None:
    results = judged(kind, tmp_path)
    assert {test: result.verdict for test, result in results.items()} == dict.fromkeys(
        EVERY, "no answer"
    ) | dict.fromkeys(UNASKED, "skipped")
    for test in EVERY:  # decoys are beside the count
        result = results[test]
        assert re.match(r"no readable answer to (\d+) of \1 queries", result.decision.reason or "")


@pytest.mark.slow
def test_an_answer_behind_a_preamble_is_read_but_not_by_the_published_algorithm(tmp_path: Path) -> None:
    results = judged("formatter", tmp_path)
    assert {results[test].verdict for test in DECIDES} == {"contaminated"}
    # B1: the first line alone is kept, and a preamble is what it holds
    assert {results[test].decision.paper_verdict for test in ROW_TESTS} == {"not detected"}


@pytest.mark.slow
def test_the_published_algorithm_never_calls_a_failed_call_clean(tmp_path: Path) -> None:
    results = judged("fails", tmp_path)
    assert {results[test].decision.paper_verdict for test in NUMBERED} == {"no answer"}
