"""The heatmap of LLMs and tables in a large run. Each square is a letter; a script makes the squares interactive.

Without the script, the heatmap is a table of letters. The name of each LLM is a link to the LLM's page.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tabcontam.report.environment import trusted_markup
from tabcontam.report.heatmap_squares import SIGNS, css_class
from tabcontam.report.standings import TableStanding
from tabcontam.verdicts.result_types import OUTCOMES, SCORE

CROWDED = 1500  # a heatmap with more squares is drawn in letters
UNSURE = "unsure"  # an addition to the outcome: the gate reaches no conclusion


def grid(standings: Sequence[Mapping[str, TableStanding]], labels: Sequence[str]) -> dict[str, Any]:
    """Return the number of tables with each outcome, and the squares of each LLM as markup.

    `standings` has a mapping for each LLM, from a table's label to its standing. `labels` are the columns.
    """
    found = dict.fromkeys(OUTCOMES, 0)
    rows = []
    for own in standings:
        squares = []
        for label in labels:
            standing = own.get(label)
            if standing is None:
                squares.append("<td>")
                continue
            outcome = standing.verdict.value if standing.verdict else SCORE
            found[outcome] += 1
            unsure = f" {UNSURE}" if standing.unsure else ""
            quote = '"' if unsure else ""
            squares.append(f"<td class={quote}{css_class(outcome)}{unsure}{quote}>{SIGNS[outcome]}")
        rows.append(trusted_markup("".join(squares)))
    return {"outcomes": {outcome: number for outcome, number in found.items() if number}, "rows": rows}
