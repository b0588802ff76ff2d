"""What `replay` prints: a line for each LLM, and every disagreement on demand."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tabcontam.verdicts.results import OUTCOMES, SCORE, visible

Cell = Mapping[str, Any]


def render_replay(document: Mapping[str, Any]) -> str:
    """Counts of verdicts by LLM, the disagreements by their explanation where the document has them, and the sum."""
    run, cells = document["run"], document["cells"]
    lines = [f"rules {run['rules']}, dictionary {run['dictionary']}", ""]
    llms = list(dict.fromkeys(str(cell["llm"]) for cell in cells))
    width = max(map(len, llms), default=0)
    for llm in llms:
        own = [cell for cell in cells if cell["llm"] == llm]
        lines.append(f"{visible(llm, line=True):<{width}}  {_counts(own)}")
    if "differences" in document:
        lines += ["", "Where this reading of the published rules differs from the recorded decisions:"]
        lines += _groups(document["differences"], lambda found: f"{found['group']}, {found['level']}s", _recorded)
        lines += ["", "Where the calibrated rules differ from the published ones:"]
        lines += _groups(document["rule_differences"], _change, _by_rules)
    lines += ["", f"cells: {len(cells)} ({_counts(cells)})"]
    return "\n".join(lines)


def _groups(differences: Sequence[Cell], name: Callable[[Cell], str], line: Callable[[Cell], str]) -> list[str]:
    groups: dict[str, list[Cell]] = {}
    for difference in differences:
        groups.setdefault(name(difference), []).append(difference)
    lines = []
    for group, found in groups.items():
        lines += ["", f"{group}: {len(found)}", *map(line, found)]
    return lines or ["", "nowhere"]


def _counts(cells: Sequence[Cell]) -> str:
    """How many cells came to each outcome, in the order and the words of a run's report."""
    counts = Counter(str(cell["verdict"] or SCORE) for cell in cells)
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])


def _recorded(found: Cell) -> str:
    said = f"recorded {_said(found['recorded'])}, here {_said(found['ours'])}"
    return _line(found, said, f"{found['source']}, line {found['line']}" if found.get("line") else found["source"])


def _change(found: Cell) -> str:
    return f"{found['paper']} → {found['calibrated']}, {found['group']}"


def _by_rules(found: Cell) -> str:
    return _line(found, f"paper {found['paper']}, calibrated {found['calibrated']}", found["source"])


def _line(found: Cell, said: str, where: str) -> str:
    place = " ".join(str(found[key]) for key in ("llm", "dataset", "test"))
    serializer = f" [{found['serializer'].strip()}]" if found["serializer"] else ""
    return "  " + visible(f"{place}{serializer}: {said}; {found['explanation']} ({where})", line=True)


def _said(detected: object) -> str:
    return "detected" if detected else "not detected"
