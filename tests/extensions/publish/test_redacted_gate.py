"""The gate of a published folder: nothing is compared."""

from pathlib import Path

import pytest

from tabcontam.errors import Exit
from tests.commands import tabcontam
from tests.runs import test_trials_agreement

made = test_trials_agreement.made  # a fixture


@pytest.mark.slow
def test_a_published_report_passes_and_says_that_nothing_is_compared(made: Path, tmp_path: Path) -> None:
    both = str(made / "one"), str(made / "other")
    done = tabcontam("report", *both, "--redact-all", "--out", str(tmp_path / "published"))
    assert done.returncode == Exit.DONE, done.stderr
    gated = tabcontam("gate", str(tmp_path / "published"))
    assert gated.returncode == Exit.CONTAMINATED
    assert "published without answers" in gated.stderr
