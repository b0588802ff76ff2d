"""A result as a square of the heatmap: its letter, its shade, its published marks, and its name for screen readers."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from tabcontam.evidence.base import Verdict
from tabcontam.report.environment import trusted_markup
from tabcontam.report.published_marks import PublishedSource, published, sources
from tabcontam.report.standings import TableStanding, Titles
from tabcontam.verdicts.result_types import LETTERS, OUTCOMES, SCORE, SCORE_LETTER, Result
from tabcontam.verdicts.results import RunResults

SIGNS = {verdict.value: letter for verdict, letter in LETTERS.items()} | {
    Verdict.NOT_DETECTED.value: "·",
    SCORE: SCORE_LETTER,
}
# Recalled bits grow with the numbers of queries, columns and remembered rows, so only their magnitude is shown.
LEVELS = (16, 64, 256, 1024)
LEVEL_NAMES = ("under 16", "16", "64", "256", "1,024 and more")
CROWDED = 1500  # a heatmap with more squares is drawn in letters, which a script makes interactive
UNSURE = "unsure"  # an addition to the outcome: the gate reaches no conclusion
MARK_SIGNS = {True: "●", False: "\N{MULTIPLICATION SIGN}"}


def context(view: RunResults, titles: Titles) -> dict[str, Any]:
    """Return the template's variables for the heatmap, on a page or as a picture."""
    unread = {result.llm for result in view.results if (result.llm, result.table) not in view.exposed}
    known = {llm for llm, _ in view.exposed} - unread  # controls that have read every table: findings are expected
    return {
        "view": view,
        "llm_title": titles.llm,
        "known": known,
        "known_found": any(result.llm in known and result.verdict is Verdict.CONTAMINATED for result in view.possible),
        "sign": sign,
        "signs": SIGNS,
        "css_class": css_class,
        "strength": partial(strength, view),
        "strengths": levels_shown(view),
        "published": partial(published, view),
        "mark_signs": MARK_SIGNS,
        "sources": sources_shown(view),
        "spoken": partial(spoken_name, view, titles),
    }


def css_class(outcome: str) -> str:
    """Return the name of the outcome's class in the style sheet."""
    return outcome.replace(" ", "-")


def sign(result: Result) -> str:
    """Return the text in the square: a letter or, without a verdict, the score."""
    score = result.evidence.score
    return f"{score:.2f}" if result.verdict is None and score is not None else SIGNS[result.outcome]


def strength(view: RunResults, result: Result) -> int:
    """Return 1 to 5 by a contaminated row test's recalled bits (each level needs four times as many bits), else 0."""
    bits = result.evidence.recalled_bits
    if result.verdict is not Verdict.CONTAMINATED or result.test not in view.row_tests or bits is None:
        return 0
    return 1 + sum(bits >= level for level in LEVELS)


def levels_shown(view: RunResults) -> list[tuple[int, str]]:
    """Return the levels of recalled bits in this run, with their names for the legend; empty if none was recalled."""
    return list(enumerate(LEVEL_NAMES, start=1)) if any(strength(view, result) for result in view.results) else []


def sources_shown(view: RunResults) -> list[PublishedSource]:
    """Return the sources of the marks on this run's squares, in the order of `sources`."""
    laid = {mark.source for result in view.results for mark in published(view, result)}
    return [source for source in sources() if source in laid]


def spoken_name(view: RunResults, titles: Titles, result: Result) -> str:
    """Return the square's name for screen readers: LLM, table, test and everything that the square shows."""
    shown = [result.outcome]
    if strength(view, result):
        shown.append(f"{result.evidence.recalled_bits:,.0f} bits recalled")
    if result.verdict is None and result.evidence.score is not None:
        shown.append(sign(result))
    for mark in published(view, result):
        shown.append(f"{mark.source.name}: {'contaminated' if mark.found else 'not detected'}")
    return f"{titles.llm(result.llm)}, {view.label(result)}, {view.test_titles[result.test]}: {', '.join(shown)}"


def grid(standings: Sequence[Mapping[str, TableStanding]], labels: Sequence[str]) -> dict[str, Any]:
    """Return the squares of each LLM in a large run as letters, and the number of tables with each outcome.

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
