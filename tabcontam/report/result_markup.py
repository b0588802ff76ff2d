"""The markup of each result on a page: its square, a paper's sign with its square, and its entry in words.

A page may have hundreds of thousands of results, for which a template needs minutes. So this module escapes texts
itself, as the templates do.
"""

import re
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from tabcontam.report.environment import trusted_markup
from tabcontam.report.evidence import PackedEvidence
from tabcontam.report.heatmap_squares import MARK_SIGNS, css_class, sign, sources_shown, spoken_name, strength
from tabcontam.report.published_marks import published
from tabcontam.report.standings import Titles
from tabcontam.report.unread import UnreadSummary
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.results import ResultColumn
from tabcontam.verdicts.wording import visible

if TYPE_CHECKING:
    from markupsafe import Markup

    from tabcontam.report.paper_methods import PaperMark

OPTION = re.compile(r"(--[\w-]+(?: completion)?)")


@lru_cache(maxsize=10_000)
def escaped(text: str) -> str:
    """Return a text as a template writes it: escaped."""
    from markupsafe import escape

    return str(escape(visible(text)))


def _unread(summary: UnreadSummary) -> str:
    """Return as HTML the number of unread answers, the first reply for each reason, and advice."""
    first = "".join(f'<li>{escaped(kind)}: <q dir="auto">{escaped(reply)}</q></li>' for kind, reply in summary.first)
    advice = OPTION.sub(r"<code>\1</code>", escaped(summary.advice))
    advice = f"<p>What to do: {advice}.</p>" if advice else ""
    return f'<div class="unread"><p>{escaped(summary.counted)}.</p>{first and f"<ul>{first}</ul>"}{advice}</div>\n'


class ResultMarkup:
    """A writer of the HTML of a run's results. `pages` names tests with a docstring; `numbers` returns measures."""

    def __init__(self, titles: Titles, pages: Collection[str], numbers: Callable[[Result], list[str]]) -> None:
        self._titles, self._view, self._numbers = titles, titles.view, numbers
        self._row = {test: number for number, test in enumerate(self._view.tests, start=1)}
        self._llms: dict[str, str] = {}
        self._tests = {test: escaped(title) for test, title in self._view.test_titles.items()}
        self._named = {
            test: f'<a href="#test-{escaped(test)}">{title}</a>' if test in pages else title
            for test, title in self._tests.items()
        }
        self._sources = {source: number for number, source in enumerate(sources_shown(self._view), start=1)}

    def place(self, leaf: int, column: int, test: str) -> str:
        """Return a result's place on the page: the numbers of its LLM (`leaf`), its column and its test."""
        return f"{leaf}-{column}-{self._row[test]}"

    def squares(self, leaf: int, columns: Iterable[ResultColumn], test: str) -> "Markup":
        """Return a row of the heatmap: squares that link to the results' entries, and published marks."""
        return trusted_markup(
            "".join(self._square(leaf, number, column, test) for number, column in enumerate(columns, 1))
        )

    def paper_squares(
        self, leaf: int, columns: Iterable[ResultColumn], test: str, mark_of: "Callable[[Result], PaperMark]"
    ) -> "Markup":
        """Return a row of the papers' heatmap: for each result the published verdict and the result's square."""
        squares = (self._paper_square(leaf, number, column, test, mark_of) for number, column in enumerate(columns, 1))
        return trusted_markup("".join(squares))

    def entries(self, leaf: int, number: int, column: ResultColumn, packed: PackedEvidence) -> "Markup":
        """Return the results of a column in words. A script fills the empty element in each with the evidence."""
        return trusted_markup("".join(self._entry(leaf, number, result, packed) for result in column.results.values()))

    def _square(self, leaf: int, number: int, column: ResultColumn, test: str) -> str:
        result = column.results.get(test)
        if result is None:
            return "<td></td>"
        place = self.place(leaf, number, test)
        spoken = escaped(spoken_name(self._view, self._titles, result))
        marks = "".join(
            f'<span class="mark {"was-found" if mark.found else "was-not-found"} from-{self._sources[mark.source]}"'
            f' aria-hidden="true">{MARK_SIGNS[mark.found]}</span>'
            for mark in (published(self._view, result) if self._sources else ())
        )
        return (
            f'<td><a class="cell {self._look(result)}" id="at-{place}" href="#cell-{place}"'
            f' aria-label="{spoken}">{sign(result)}</a>{marks}</td>'
        )

    def _paper_square(
        self, leaf: int, number: int, column: ResultColumn, test: str, mark_of: "Callable[[Result], PaperMark]"
    ) -> str:
        result = column.results.get(test)
        if result is None:
            return "<td></td>"
        place, mark = self.place(leaf, number, test), mark_of(result)
        words = escaped(mark.words)
        named = f"{self._llm(result.llm)}, {escaped(column.label)}, {self._tests[test]}: {words}"
        look = f"says{' said' if mark.found else ''}"
        if result.verdict is None:
            return (
                f'<td><a class="{look}" href="#cell-{place}" aria-label="{named}" title="{words}">{mark.sign}</a></td>'
            )
        return (
            f'<td><span class="{look}" title="{words}" aria-hidden="true">{mark.sign}</span>'
            f'<a class="cell {css_class(result.outcome)}" href="#cell-{place}"'
            f' aria-label="{named}, calibrated: {result.outcome}">{sign(result)}</a></td>'
        )

    def _entry(self, leaf: int, number: int, result: Result, packed: PackedEvidence) -> str:
        place, why = self.place(leaf, number, result.test), result.why
        parts = [
            f'<div class="entry" id="cell-{place}">\n'
            f'<span class="cell {self._look(result)}" aria-hidden="true">{sign(result)}</span>\n'
            f"<div>\n<p><strong>{self._named[result.test]}</strong>, {result.outcome}"
        ]
        if why != result.outcome:
            parts.append(f": {escaped(why)}")
        if (of_paper := result.decision.paper_verdict) is not None:
            look, unlike = ("differs", "≠ ") if result.differs else ("quiet", "")
            parts.append(f' <span class="{look}">({unlike}the paper\'s rules: {of_paper.value})</span>\n')
        parts.append("</p>\n")
        if numbers := self._numbers(result):
            parts.append(f'<p class="numbers">{escaped("; ".join(numbers))}</p>\n')
        if where := result.where:
            parts.append(f'<p class="numbers">Recalled bits by column: {escaped(where)}</p>\n')
        if unread := packed.unread.get(place):
            parts.append(_unread(unread))
        shown = packed.shown.get(place)
        if result.evidence.null and place not in packed.shown:
            parts.append(f'<p class="numbers">Null: {escaped(result.evidence.null)}</p>\n')
        for mark in published(self._view, result) if self._sources else ():
            of = f", of {escaped(mark.checkpoint)}" if mark.checkpoint else ""
            found = "contaminated" if mark.found else "not detected"
            parts.append(f'<p class="numbers">Published by {escaped(mark.source.name)}: {found}{of}</p>\n')
        if shown:
            parts.append(
                f'<details class="evidence" data-cell="{place}"><summary>Evidence: {shown} of '
                f"{shown + packed.left.get(place, 0)} queries</summary><div></div></details>\n"
            )
        elif packed.shown and result.queries:
            parts.append('<p class="numbers">No query of this result is stored.</p>\n')
        parts.append(f'<p class="back"><a href="#at-{place}">Back to the heatmap</a></p>\n</div>\n</div>\n')
        return "".join(parts)

    def _look(self, result: Result) -> str:
        level = strength(self._view, result)
        return f"{css_class(result.outcome)} s{level}" if level else css_class(result.outcome)

    def _llm(self, llm: str) -> str:
        if llm not in self._llms:
            self._llms[llm] = escaped(self._titles.llm(llm))
        return self._llms[llm]
