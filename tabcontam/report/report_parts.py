"""The parts of a report that extensions add."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tabcontam.entry_points import offered
from tabcontam.report.environment import environment, trusted_markup
from tabcontam.verdicts.results import RunResults

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True)
class ReportPart:
    """A part that an extension makes of a run's results, as an entry point of the group `tabcontam.report_parts`.

    On the page it stands after the section whose template is named `after`. `template` is its template, which shows
    nothing if it has nothing to show, `context` returns the template's variables, and `styles` are its style sheets.
    `sentences` stand below the ranking on the terminal and in Markdown, and `replay_lines` in the text that `replay`
    prints. `figures` returns figures of matplotlib that are as wide as the given number of inches.
    """

    after: str
    template: str
    context: Callable[[RunResults], dict[str, Any]]
    styles: tuple[str, ...] = ()
    sentences: Callable[[RunResults], Sequence[str]] = lambda view: ()
    replay_lines: Callable[[RunResults], Sequence[str]] = lambda view: ()
    figures: Callable[[RunResults, float], Sequence[Any]] = lambda view, width: ()

    def markup(self, view: RunResults) -> str:
        """Return the part's section of the page."""
        return environment().get_template(self.template).render(self.context(view))


def report_parts() -> tuple[ReportPart, ...]:
    """Return the parts that extensions add, sorted by their names."""
    return tuple(offered("tabcontam.report_parts", "report part", ReportPart).values())


def part_styles() -> tuple[str, ...]:
    """Return the style sheets of all parts."""
    return tuple(dict.fromkeys(name for part in report_parts() for name in part.styles))


def part_sentences(view: RunResults) -> list[str]:
    """Return the sentences of all parts on the results."""
    return [sentence for part in report_parts() for sentence in part.sentences(view)]


def parts_after(view: RunResults) -> "Callable[[str], Markup]":
    """Return a function that returns the parts which follow a section of the page, by the section's name."""
    return lambda section: trusted_markup(
        "".join(part.markup(view) for part in report_parts() if part.after == section)
    )
