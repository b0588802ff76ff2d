"""A slice of the benchmarks `verdicts` and `decided`: the flowers, a few seeds, every answerer."""

from collections.abc import Iterable

import pytest

from benchmarks import decided, verdicts
from tabcontam.calibration.power_study import EXPERT, IGNORANT, TOGETHER
from tabcontam.evidence.base import Verdict
from tests.golden.rates import check

pytestmark = pytest.mark.slow  # every answerer is asked every usual test, for each seed

TABLE = "iris"  # its guesses come with the package
FOUND = str(Verdict.CONTAMINATED)


def test_verdicts_err_as_often_as_they_did() -> None:
    runs, word_runs = 6, 3
    counts = verdicts.simulated(TABLE, runs, word_runs, [test.id for test in verdicts.ROWS])

    def found(answerers: Iterable[str], what: str) -> int:
        return sum(counts.calibrated[who, what, FOUND] for who in answerers)

    knowing_nothing = (*IGNORANT, verdicts.CONSTANT)
    check(
        "verdicts", "table of who knows nothing accused", found(knowing_nothing, TOGETHER), runs * len(knowing_nothing)
    )
    check("verdicts", "rows of who knows all about the table accused", found([EXPERT], TOGETHER), runs)
    check(
        "verdicts", "knowledge of who knows nothing found", found(IGNORANT, verdicts.KNOWN), word_runs * len(IGNORANT)
    )
    check("verdicts", "knowledge of who knows all found", found([EXPERT], verdicts.KNOWN), word_runs)
    check("verdicts", "memoriser of a tenth found", found(["memoriser:0.1"], TOGETHER), runs)
    check("verdicts", "memoriser of half found", found(["memoriser:0.5"], TOGETHER), runs)
    check("verdicts", "formatter judged unlike the oracle", counts.unequal, word_runs)


def test_bets_decide_as_often_as_they_did() -> None:
    one = decided.measured(TABLE, 0, 4, 3)

    def found(*answerers: str) -> tuple[int, int]:
        return sum(one.accused[who] for who in answerers), sum(len(one.decided[who]) for who in answerers)

    check("decided", "table of who knows no row accused", *found(*decided.KNOWING_NOTHING))
    check("decided", "memoriser of a twentieth found", *found("memoriser:0.05"))
    check("decided", "memoriser of a tenth found", *found("memoriser:0.1"))
    check("decided", "memoriser of half found", *found("memoriser:0.5"))
    ended = [decision for who in decided.GUESSING for decision in one.decided[who]]
    undecided = sum(not (decision.detected or decision.not_detected) for decision in ended)
    check("decided", "guesser's table left undecided", undecided, len(ended))
