"""What `replay` prints: a line for each LLM, and every disagreement on demand."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tabcontam.report.results import visible

Cell = Mapping[str, Any]


def render_replay(cells: Sequence[Cell], differences: Sequence[Cell], rules: str, dictionary: str) -> str:
    """Counts of verdicts by LLM, the disagreements by their explanation, and the sum."""
    lines = [f"rules {rules}, dictionary {dictionary}", ""]
    llms = list(dict.fromkeys(str(cell["llm"]) for cell in cells))
    width = max(map(len, llms), default=0)
    for llm in llms:
        own = [cell for cell in cells if cell["llm"] == llm]
        lines.append(f"{visible(llm, line=True):<{width}}  {_counts(own)}")
    groups: dict[str, list[Cell]] = {}
    for difference in differences:
        groups.setdefault(f"{difference['group']}, {difference['level']}s", []).append(difference)
    for group, found in groups.items():
        lines += ["", f"{group}: {len(found)}", *map(_difference, found)]
    lines += ["", f"cells: {len(cells)} ({_counts(cells)})"]
    return "\n".join(lines)


def _counts(cells: Sequence[Cell]) -> str:
    counts = Counter(str(cell["verdict"] or "score only") for cell in cells)
    return ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))


def _difference(found: Cell) -> str:
    place = " ".join(str(found[key]) for key in ("llm", "dataset", "test"))
    serializer = f" [{found['serializer'].strip()}]" if found["serializer"] else ""
    said = f"recorded {_said(found['recorded'])}, here {_said(found['ours'])}"
    where = f"{found['source']}, line {found['line']}" if found.get("line") else found["source"]
    return "  " + visible(f"{place}{serializer}: {said}; {found['explanation']} ({where})", line=True)


def _said(detected: object) -> str:
    return "detected" if detected else "not detected"
