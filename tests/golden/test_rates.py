"""Every golden rate is compared with what a test measures, and no benchmark is forgotten."""

from pathlib import Path

from tests.golden.rates import rates

CALIBRATION = Path(__file__).parents[1] / "calibration"


def test_every_rate_is_read_by_a_test() -> None:
    assert set(rates()) == {"skill", "attacks", "verdicts", "decided"}
    tests = "".join(path.read_text("utf-8") for path in sorted(CALIBRATION.glob("test_*.py")))
    for benchmark, own in rates().items():
        assert own, benchmark
        for what in own:
            assert tests.count(f'"{benchmark}", "{what}"') == 1, f"no test reads the rate {what!r}"
