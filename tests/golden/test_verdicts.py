"""No verdict moves unless somebody means it: every result is compared with the golden files."""

import os

import pytest

from tests.golden.stored import SAME, differences, differences_anew, found, golden, of_parts, table
from tests.golden.verdicts import RECORDED, at_hand, exposed_at_hand, real_at_hand

pytestmark = pytest.mark.slow  # every test asks every table

ANEW = ("car", "ships")  # cards whose chances are computed in seconds; `python -m tests.golden` computes all
HOW = "If this is meant, type `python -m tests.golden` and put the table that it prints into the commit.\n"


def test_no_verdict_moved() -> None:
    recorded = RECORDED if os.environ.get("TABCONTAM_REPLAY") else ()
    names = [*recorded, *at_hand(), *real_at_hand(), *exposed_at_hand()]
    now, _ = found(names)
    before = golden()
    lines = differences(of_parts(before, names), now, SAME)
    assert not lines, f"{len(lines)} values of results moved. {HOW}{table(lines[:40])}"
    if len(now) < len(before):
        left = f"{len(before) - len(now):,} results"
        pytest.skip(f"{left} need files that TABCONTAM_DATA or TABCONTAM_REPLAY lacks, or extensions that are not here")


@pytest.mark.parametrize("name", ANEW)
def test_no_verdict_moves_where_chances_are_computed_anew(name: str) -> None:
    now, _ = found([name], anew=True)
    lines = differences_anew(of_parts(golden(), [name]), now)
    assert not lines, f"{len(lines)} values of results moved. {HOW}{table(lines[:40])}"
