"""A limit of memory's share of an accuracy: the gate's conclusion, and the share in words.

The share is above the limit if the lower end of its 95 % interval is above it. It is within the limit if the upper end
is at most the limit. Otherwise the gate cannot tell: the interval spans the limit, nothing was measured, or too few
answers were read. Declining can hide memory: a model that declines whenever it recalls nothing is as accurate on the
twins that it answers as on the rows. So a share is within a limit only if it stays there when unread and declined
answers count as wrong.
"""

from collections.abc import Sequence
from math import ceil

from tabcontam.errors import option
from tabcontam.evidence.base import RECALLED
from tabcontam.evidence.number_wording import format_signed
from tabcontam.evidence.registry import all_tests
from tabcontam.evidence.twin_comparison import TwinComparison
from tabcontam.statistics.paired_gains import pairs_needed
from tabcontam.statistics.thresholds import MOST_PAIRS_NEEDED
from tabcontam.twins.thresholds import TWINNED_ROWS
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.rules import Conclusion
from tabcontam.verdicts.wording import phrase


def is_share(view: RunResults, result: Result) -> bool:
    """Return whether a result is of a test that measures memory's share."""
    return view.facts[result.test].measure == RECALLED


def rule_on_share(results: Sequence[Result], limit: float, rows: int | None = None) -> tuple[Conclusion, str]:
    """Return the gate's worst conclusion on memory's share in these results of a model and a table, and its reason.

    `rows` is the number of rows that the user wanted to ask about (`--rows`). Fewer were asked about if the table has
    fewer.
    """
    found = [_ruled(result, limit, rows) for result in results]
    if not found:
        tests = phrase([test.id for test in all_tests() if test.measure == RECALLED], "or")
        return Conclusion.CANNOT_TELL, f"memory's share was not measured; run it again with {option('tests', tests)}"
    return min(found, key=lambda one: list(Conclusion).index(one[0]))


def share_in_words(memory: TwinComparison, digits: int = 2) -> str:
    """Return the share with its interval: `0.13 (0.05 to 0.21)`."""
    return f"{format_signed(memory.share, digits)} ({limits_in_words(memory.interval, digits)})"


def unseen_rows(memory: TwinComparison) -> str:
    """Return the name of the rows that the model's rows are compared with: "unseen twins" or "fresh rows"."""
    return "fresh rows" if memory.fresh else "unseen twins"


def limits_in_words(interval: tuple[float, float], digits: int = 2) -> str:
    """Return an interval of shares in words: `-0.02 to 0.04`, with a minus sign."""
    return f"{format_signed(interval[0], digits)} to {format_signed(interval[1], digits)}"


# digits: one more than usual, since the limit next to the share may have two
def _ruled(result: Result, limit: float, rows: int | None, *, digits: int = 3) -> tuple[Conclusion, str]:
    memory = result.evidence.memory
    if memory is None:
        return Conclusion.CANNOT_TELL, f"memory's share was not measured: {result.outcome}, {result.decision.reason}"
    share, (low, high) = f"memory's share {share_in_words(memory, digits)}", memory.interval
    accuracies = f"accuracy {memory.accuracy:.2f}, {memory.twin_accuracy:.2f} on {unseen_rows(memory)}"
    if low > limit:
        return Conclusion.CONTAMINATED, f"{share} is above {limit:g}: {accuracies}"
    if high > limit:
        return Conclusion.CANNOT_TELL, f"{share} may or may not be above {limit:g}: {_to_settle(memory, limit, rows)}"
    if memory.if_wrong is not None and memory.if_wrong[1] > limit:
        what = "answer" if memory.fresh else "pair"
        left = f"{memory.left_out} {what}{' was' if memory.left_out == 1 else 's were'} not answered"
        reach = f"counted as wrong they make the interval {limits_in_words(memory.if_wrong, digits)}"
        return Conclusion.CANNOT_TELL, f"{share} is within {limit:g}, but {left}, and {reach}"
    return Conclusion.CLEAN, f"{share} is within {limit:g}: {accuracies}"


def _to_settle(memory: TwinComparison, limit: float, wanted: int | None) -> str:
    """Return in words how many rows it takes to decide if the share is above the limit, from the spread over pairs."""
    needed = pairs_needed(memory.share, memory.deviation, limit)
    rows = "rows and as many fresh ones" if memory.fresh else "rows with twins"
    answered = f"{memory.pairs:,} were answered"
    if needed is None:
        return f"at this share {MOST_PAIRS_NEEDED:,} {rows} would not settle it, {answered}"
    asked = memory.pairs if memory.fresh else memory.pairs + memory.left_out
    needed = ceil(needed * asked / memory.pairs)
    if wanted is not None and asked < wanted and asked < needed:
        return f"at this share some {needed:,} {rows} would settle it, and the table has {asked:,}; {answered}"
    if needed > TWINNED_ROWS:
        of_more = f"at most {TWINNED_ROWS:,} rows of a table can be asked about"
        return f"at this share some {needed:,} {rows} would settle it, and {of_more}; {answered}"
    return f"at this share some {needed:,} {rows} would settle it ({option('rows', needed)}), {answered}"
