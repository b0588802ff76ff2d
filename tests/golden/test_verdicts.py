"""No verdict moves unless somebody means it: every result is compared with the golden files."""

import os

import pytest

from tests.golden.stored import SAME, differences, found, golden, of_parts, table
from tests.golden.verdicts import RECORDED, at_hand

pytestmark = pytest.mark.slow  # every test asks every table

ANEW = ("ships", "iris")  # cards whose chances are computed in seconds; `python -m tests.golden` computes all
NEAR, FAR = 0.05, 0.005  # by which p, q and bits may differ where chances are computed by other versions of libraries
HOW = "If this is meant, type `python -m tests.golden` and put the table that it prints into the commit.\n"


def test_no_verdict_moved() -> None:
    recorded = RECORDED if os.environ.get("TABCONTAM_REPLAY") else ()
    names = [*recorded, *at_hand()]
    now, _ = found(names)
    before = golden()
    lines = differences(of_parts(before, names), now, SAME)
    assert not lines, f"{len(lines)} results moved. {HOW}{table(lines[:40])}"
    if len(now) < len(before):
        pytest.skip(f"TABCONTAM_DATA or TABCONTAM_REPLAY lacks the files of {len(before) - len(now):,} results")


@pytest.mark.parametrize("name", ANEW)
def test_no_verdict_moves_where_chances_are_computed_anew(name: str) -> None:
    now, _ = found([name], anew=True)
    lines = differences(of_parts(golden(), [name]), now, NEAR, FAR)
    assert not lines, f"{len(lines)} results moved. {HOW}{table(lines[:40])}"
