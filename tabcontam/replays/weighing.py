"""What a recorded cell weighs, and whether its queries could have told memory from guessing."""

from dataclasses import dataclass

from tabcontam.replays.power import power
from tabcontam.suite.base import Evidence

ENOUGH = 0.5  # power below which a cell is uninformative


@dataclass(frozen=True)
class Weighed:
    """The evidence of a cell from so many `queries`, each distinct one counted once.

    `groups` are the chances of what was asked, by row or word, before any answer; `share` of them is remembered by the
    model that should be found. `notes` say what the published rules
    make otherwise of the answers, the weightiest first.
    """

    evidence: Evidence
    queries: int
    groups: tuple[tuple[float, ...], ...]
    share: float
    notes: tuple[str, ...] = ()

    def blunt(self, level: float) -> str | None:
        """Why the queries could not tell memory from guessing at this level; None where they could."""
        found = power(self.groups, self.share, level)
        if found >= ENOUGH:
            return None
        if self.share == 1:
            return f"even a model that gave all that was asked would not be told from a guesser at p <= {level:.2g}"
        return (
            f"a model that remembers {self.share:.0%} of what was asked would be told from a guesser "
            f"in only {found:.0%} of cases at p <= {level:.2g}"
        )


def shown(p_value: float) -> str:
    """A p-value as it stands in a sentence."""
    return f"p = {p_value:.2g}"
