"""What `replay` prints: a line for each LLM, and every disagreement on demand."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from tabcontam.verdicts.cells import Cell, count
from tabcontam.verdicts.recorded import RecordedDifference, RuleDifference
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.wording import visible

Difference = TypeVar("Difference", bound=RecordedDifference | RuleDifference)


def render_replay(view: RunResults) -> str:
    """Counts of verdicts by LLM, the disagreements by their explanation where they were asked for, and the sum."""
    lines = [f"rules {view.run.rules}, dictionary {view.run.dictionary}", ""]
    llms = dict.fromkeys(cell.llm for cell in view.cells)
    width = max(map(len, llms), default=0)
    for llm in llms:
        own = [cell for cell in view.cells if cell.llm == llm]
        lines.append(f"{visible(llm, line=True):<{width}}  {_counts(own)}")
    if view.differences is not None and view.rule_differences is not None:
        lines += ["", "Where this reading of the published rules differs from the recorded decisions:"]
        lines += _groups(view.differences, _group, _recorded)
        lines += ["", "Where the calibrated rules differ from the published ones:"]
        lines += _groups(view.rule_differences, _change, _by_rules)
    lines += ["", f"cells: {len(view.cells)} ({_counts(view.cells)})"]
    return "\n".join(lines)


def _groups(
    differences: Sequence[Difference], name: Callable[[Difference], str], line: Callable[[Difference], str]
) -> list[str]:
    groups: dict[str, list[Difference]] = {}
    for difference in differences:
        groups.setdefault(name(difference), []).append(difference)
    lines: list[str] = []
    for group, own in groups.items():
        lines += ["", f"{group}: {len(own)}", *(line(one) for one in own)]
    return lines or ["", "nowhere"]


def _counts(cells: Sequence[Cell]) -> str:
    """How many cells came to each outcome, in the order and the words of a run's report."""
    return ", ".join(f"{number} {outcome}" for outcome, number in count(cells).items())


def _group(found: RecordedDifference) -> str:
    return f"{found.group}, {found.level}s"


def _recorded(found: RecordedDifference) -> str:
    said = f"recorded {_said(found.recorded)}, here {_said(found.ours)}"
    return _line(found, said, f"{found.source}, line {found.line}")


def _change(found: RuleDifference) -> str:
    return f"{found.paper} → {found.calibrated}, {found.group}"


def _by_rules(found: RuleDifference) -> str:
    return _line(found, f"paper {found.paper}, calibrated {found.calibrated}", found.source)


def _line(found: RecordedDifference | RuleDifference, said: str, where: str) -> str:
    serializer = f" [{found.serializer.strip()}]" if found.serializer else ""
    place = f"{found.llm} {found.dataset} {found.test}{serializer}"
    return "  " + visible(f"{place}: {said}; {found.explanation} ({where})", line=True)


def _said(detected: bool | None) -> str:
    return "detected" if detected else "not detected"
