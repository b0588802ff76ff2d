"""The conclusions of a study of the tests on a table: one sentence for each family of tests."""

from collections.abc import Callable, Mapping, Sequence

from tabcontam.calibration.thresholds import SURE_DETECTION_RATE, TYPICAL_SHARE
from tabcontam.evidence.base import Family, Test
from tabcontam.groups import grouped

Rate = Mapping[str, float | int | None]
RateOf = Callable[[Sequence[str], Sequence[str], bool], Rate]
"""A function that returns how often tests detect answerers.

Its arguments are the names of answerers, the ids of tests, and a flag: True if the tests share one verdict.
"""


def conclusions(
    tests: Sequence[Test], ignorant: Sequence[str], expert: str, memorisers: Mapping[str, float], rate_of: RateOf
) -> list[dict[str, object]]:
    """Return for each family, as JSON, how often its tests detect each kind of answerer.

    `ignorant` answerers know nothing of the table, `expert` knows its card and no row, `memorisers` know a share of the
    rows. Families without queries are left out.
    """
    found: list[dict[str, object]] = []
    for family, own in grouped(tests, lambda test: test.family).items():
        of_rows = any(test.row_test for test in own)
        ids = [test.id for test in own]
        false_rate = rate_of([*ignorant, expert] if of_rows else ignorant, ids, of_rows)
        if not false_rate["runs"]:
            continue
        if of_rows:
            rates = {share: rate_of([name], ids, of_rows) for name, share in memorisers.items()}
            sentence = _of_rows(family, rates, false_rate)
            power: dict[str, Rate] = {f"{share:g}": each for share, each in rates.items()}
        else:
            power = {"card": rate_of([expert], ids, of_rows)}
            sentence = (
                f"{family}: a model that knows the dataset's name, features and values would be detected in "
                f"{_in_runs(power['card'])}; {_false_positives('one that knows nothing of it', false_rate)}"
            )
        found.append(
            {"family": family.value, "sentence": sentence, "power": power, "false_positives": dict(false_rate)}
        )
    return found


def _of_rows(family: Family, rates: Mapping[float, Rate], false_rate: Rate) -> str:
    """Return a sentence with the rates at one or two shares of remembered rows.

    The first is the share nearest `TYPICAL_SHARE`. The second is the least share that is nearly always detected.
    """
    shares = [min(rates, key=lambda share: abs(share - TYPICAL_SHARE))]
    sure = [share for share, rate in rates.items() if (rate["rate"] or 0.0) >= SURE_DETECTION_RATE]
    if sure and min(sure) not in shares:
        shares.append(min(sure))
    clauses = [f"one that remembers {share:.0%} in {_in_runs(rates[share])}" for share in shares]
    clauses[0] = f"a model that remembers {shares[0]:.0%} of the rows would be detected in {_in_runs(rates[shares[0]])}"
    never = [] if sure else [f"no model asked is detected in {SURE_DETECTION_RATE:.0%} of runs"]
    falsely = _false_positives("one that remembers none", false_rate)
    return "; ".join([f"{family}: {clauses[0]}", *clauses[1:], *never, falsely])


def _in_runs(rate: Rate) -> str:
    return f"{rate['found']:,} of {rate['runs']:,} {'run' if rate['runs'] == 1 else 'runs'}"


def _false_positives(subject: str, rate: Rate) -> str:
    return f"{subject} was detected in {rate['found']:,} of {rate['runs']:,} (95% upper limit {rate['upper']:.1%})"
