"""Every test against answerers of known behaviour, through the session that real LLMs go through."""

import asyncio
import re
from pathlib import Path

import pytest

from tabcontam.decide.words import english
from tabcontam.engine.progress import Unheard
from tabcontam.judge import Result, conclude
from tabcontam.models.simulated import open_simulated
from tabcontam.plan import Options, Subject, plan
from tabcontam.serializers import load_serializers
from tabcontam.session import Session
from tabcontam.store import Journal
from tabcontam.suite.registry import TESTS
from tests.tables import ships

UNINFORMATIVE = ("feature_list_informed", "feature_values_informed")  # the table has too few names and values
NUMBERED = [test.id for test in TESTS if test.number is not None and test.id not in UNINFORMATIVE]
SCORED = [test.id for test in TESTS if not test.decides]
ROW_TESTS = ["incomplete_completion", "full_completion", "feature_completion"]


def judged(kind: str, folder: Path, serializer: str = "is") -> dict[str, Result]:
    subject = Subject(open_simulated(kind))
    options = Options()
    cells = plan([subject], [ships()], [load_serializers()[serializer]], TESTS, options)
    session = Session(cells, options, english(), Journal(folder), Unheard())
    session.recall()
    asyncio.run(session.ask())
    return {result["test"]: result for result in conclude(session.results(), options.rules, options.alpha)}


@pytest.mark.parametrize("serializer", ["is", "equals", "colon", "is-equal-to"])
def test_one_that_knows_is_contaminated_everywhere(tmp_path: Path, serializer: str) -> None:
    results = judged("oracle", tmp_path, serializer)
    assert {results[test]["verdict"] for test in NUMBERED} == {"contaminated"}
    assert {results[test]["paper_verdict"] for test in NUMBERED} == {"contaminated"}
    assert {results[test]["score"] for test in SCORED} == {1.0}


def test_one_that_does_not_know_is_not_detected(tmp_path: Path) -> None:
    results = judged("mode", tmp_path)
    assert {results[test]["verdict"] for test in NUMBERED} == {"not detected"}
    assert {results[test]["paper_verdict"] for test in NUMBERED} == {"not detected"}


def test_always_yes_scores_the_share_of_yes(tmp_path: Path) -> None:
    assert judged("yes", tmp_path)["membership"]["score"] == 0.5


@pytest.mark.parametrize("kind", ["decliner", "truncates", "refuser", "fails", "empty"])
@pytest.mark.parametrize("test", [*NUMBERED, *SCORED, "matched_membership"])
def test_no_answer_is_never_clean(tmp_path: Path, kind: str, test: str) -> None:
    result = judged(kind, tmp_path)[test]
    assert result["verdict"] == "no answer"
    assert re.match(r"no readable answer to (\d+) of \1 queries: ", result["reason"])


def test_an_answer_behind_a_preamble_is_read_but_not_by_the_published_algorithm(tmp_path: Path) -> None:
    results = judged("formatter", tmp_path)
    assert {results[test]["verdict"] for test in NUMBERED} == {"contaminated"}
    # B1: the first line alone is kept, and a preamble is what it holds
    assert {results[test]["paper_verdict"] for test in ROW_TESTS} == {"not detected"}


def test_the_published_algorithm_never_calls_a_failed_call_clean(tmp_path: Path) -> None:
    results = judged("fails", tmp_path)
    assert {results[test]["paper_verdict"] for test in NUMBERED} == {"no answer"}
