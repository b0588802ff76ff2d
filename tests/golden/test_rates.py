"""Every golden rate is compared with what a test measures, and no benchmark is forgotten."""

from pathlib import Path

from tests.golden.rates import rates

CALIBRATION = Path(__file__).parents[1] / "calibration"
UNTESTED = {"verdicts", "decided"}  # benchmarks of hours: docs/method.md has what they measured, and no test runs them


def test_every_rate_is_read_by_a_test() -> None:
    tests = "".join(path.read_text("utf-8") for path in sorted(CALIBRATION.glob("test_*.py")))
    for benchmark, own in rates().items():
        assert bool(own) == (benchmark not in UNTESTED)
        for what in own:
            assert tests.count(f'check("{benchmark}", "{what}"') == 1, f"no test reads the rate {what!r}"
