"""The report as one HTML page or, if that is too large, as a summary and a page for each LLM.

A page loads no other files, and its content security policy forbids that. The policy allows the style sheet and the
scripts by their hashes, so text from a model or a table cannot add others. Templates escape every text, and the scripts
write text, never markup. Without scripts, everything is visible except the compressed evidence.
"""

import inspect
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tabcontam.evidence.base import Verdict
from tabcontam.groups import grouped
from tabcontam.report import (
    comparisons,
    evidence,
    heatmap_squares,
    memory_shares,
    paper_methods,
    ranking,
    recalled_rows,
    row_scores,
)
from tabcontam.report.environment import embedded, environment, trusted_markup
from tabcontam.report.filters import choices, places
from tabcontam.report.finding_sentences import Sentence, scope, sentences
from tabcontam.report.published_marks import agreements
from tabcontam.report.report_parts import part_styles, parts_after
from tabcontam.report.result_markup import ResultMarkup
from tabcontam.report.split_lines import split_groups
from tabcontam.report.standings import TableStanding, Titles, standings, titles_of
from tabcontam.report.trial_digest import TrialDigest
from tabcontam.verdicts.gate import Conclusion
from tabcontam.verdicts.notes import NoteKind, is_of
from tabcontam.verdicts.result_types import Result, TableVerdict, count
from tabcontam.verdicts.results import E_VALUE, LlmBlock, ResultColumn, RunResults
from tabcontam.verdicts.wording import phrase, rounded

Paragraph = list[tuple[str, bool]]  # pieces of text, each with whether it is code
INDEX = "index.html"
STYLES = ("style.css", "ranking.css", "comparisons.css", "evidence.css", "papers.css")
SCRIPTS = ("page.js", "evidence.js")
GRID_STYLE, GRID_SCRIPT = "grid.css", "grid.js"  # for a summary with thousands of squares
MOST_SENTENCES = 20  # most sentences on LLMs and controls that are visible at once
MOST_LISTED = 200  # most tables, or results, in a list of a large run's summary
MOST_LLMS, MOST_RESULTS = 30, 30 * 15 * 15  # most that fit on one page
NUMBERS = {
    "hits": "hits",
    "answered": "answered",
    "queries": "queries",
    "score": "score",
    "p_value": "p",
    "q_value": "q",
    "e_value": "E",
    "recalled_bits": "recalled bits",
    "detectable_share": "detectable share",
}


class Pages:
    """The pages of a run. The page of an LLM is written when the summary (digest) of its trials is complete."""

    def __init__(self, view: RunResults) -> None:
        self._view, self._titles = view, titles_of(view)
        stated = sentences(view, self._titles)
        self._leaves = _leaves(self._titles, stated)
        self._shared = _shared(self._titles) | {"sentences": stated}
        self._parted = has_page_per_llm(view)
        self._labels = list(dict.fromkeys(label for leaf in self._leaves for label in leaf.standings))
        self._crowded = self._parted and len(self._leaves) * len(self._labels) > heatmap_squares.CROWDED
        self._tables = grouped(view.tables_in_order if self._crowded else (), lambda table: table.llm)
        self._compared: dict[str, Sequence[recalled_rows.RecallComparison]] = {}
        self._packed = evidence.PackedEvidence({}, {}, {})

    def of_llm(self, llm: str, digest: TrialDigest) -> dict[str, str]:
        """Return the name and text of an LLM's page, from the digest of its trials; empty if LLMs share one page."""
        self._compared[llm] = digest.compared
        if not self._parted:
            self._packed = self._packed.merged(digest.packed)
            return {}
        leaves = [leaf for leaf in self._leaves if leaf.block.llm == llm]
        shared = self._shared | _packed(digest.packed) | {"every_leaf": self._leaves}
        shared["tables_here"] = self._tables.get(llm, [])
        shared["exposures"] = [note for note in self._shared["exposures"] if is_of(note, llm)]
        return {leaf.page: _page("llm.html.jinja", self._view, shared, [leaf]) for leaf in leaves}

    def _limited(self, view: RunResults) -> dict[str, Any]:
        """Return the lists of the first page. Each list of a large run has at most `MOST_LISTED` entries."""
        found = {name: list(self._shared[name]) for name in ("memory_shares", "scored_tables")}
        found |= {"tables_shown": list(view.tables_in_order), "recalled_rows": self.recalled_rows}
        if not self._crowded:
            return {**found, "grid": None, "crowded": False, "left": dict.fromkeys(found, 0)}
        found["tables_shown"].sort(key=lambda table: table.verdict is not Verdict.CONTAMINATED)  # else in their order
        left = {name: max(0, len(parts) - MOST_LISTED) for name, parts in found.items()}
        squares_of = heatmap_squares.grid([leaf.standings for leaf in self._leaves], self._labels)
        shown = {name: parts[:MOST_LISTED] for name, parts in found.items()}
        return {**shown, "grid": squares_of, "crowded": True, "left": left, **_looks(True)}

    @property
    def recalled_rows(self) -> list[recalled_rows.RecallComparison]:
        """The LLMs' accuracies on rows that they recalled and on other rows, in the page's order."""
        return [one for leaf in self._leaves for one in self._compared.get(leaf.block.llm, ())]

    def index(self, view: RunResults) -> str:
        """Return the first page, after all LLMs' digests were added. `view` has the run's results with comparisons."""
        shared = self._shared | _packed(self._packed) | comparisons.context(view)
        shared |= {"view": view, **self._limited(view)}
        return _page("summary.html.jinja" if self._parted else "index.html.jinja", view, shared, self._leaves)


def _packed(packed: evidence.PackedEvidence) -> dict[str, Any]:
    return {"packed": packed, "blobs": {number: trusted_markup(blob) for number, blob in packed.blobs.items()}}


def has_page_per_llm(view: RunResults) -> bool:
    """Return whether a run is too large for one page. If so, each LLM has a page."""
    return len(view.blocks) > MOST_LLMS or len(view.results) > MOST_RESULTS


@dataclass(frozen=True)
class Leaf:
    """One LLM on a page: its columns (block), its number from 1, and the page with its results ("": this page)."""

    number: int
    block: LlmBlock
    title: str
    page: str
    sentence: str
    standings: Mapping[str, TableStanding]


def _leaves(titles: Titles, stated: Iterable[Sentence]) -> list[Leaf]:
    page = "llm-{}.html" if has_page_per_llm(titles.view) else ""
    sentence_of = {one.llm: one.joint + one.rest for one in stated}
    return [
        Leaf(
            number, block, titles.llm(block.llm), page.format(number), sentence_of[block.llm], standings(titles, block)
        )
        for number, block in enumerate(titles.view.blocks, start=1)
    ]


def _page(template: str, view: RunResults, shared: Mapping[str, Any], leaves: Sequence[Leaf]) -> str:
    most_open = 120  # most results that are visible at once; above, a reader opens each LLM and dataset
    blocks = [leaf.block for leaf in leaves]
    chosen = choices(view, blocks)
    labels = list(dict.fromkeys(label for leaf in leaves for label in leaf.standings))
    opened = sum(len(block.results) for block in blocks) <= most_open
    own = {"leaves": leaves, "choices": chosen, "places": places(chosen), "labels": labels, "opened": opened}
    return environment().get_template(template).render(**shared, **own)


# few: most LLMs, including controls, that are shown next to each other
# wide: columns from which an LLM is printed with narrower squares
def _shared(titles: Titles, *, few: int = 4, wide: int = 20) -> dict[str, Any]:
    view = titles.view
    pages, notes, papers = pages_of(view.tests), view.notes, paper_methods.papers(view)
    scored = row_scores.scored_tables(view)
    return {
        **heatmap_squares.context(view, titles),
        **_looks(),
        "tables_shown": view.tables_in_order,
        "left": {"tables_shown": 0},
        "scope": scope(view),
        "decided": any(view.facts[result.test].decides for result in view.possible),
        "notes": [note for note in notes if note.kind not in (NoteKind.RULES, NoteKind.EXPOSURE)],
        "exposures": [note for note in notes if note.kind is NoteKind.EXPOSURE],
        "pages": pages,
        "agreements": agreements(view),
        "gated": bool(titles.ruled),
        "split_groups": split_groups(view, titles),
        "e_value": f"{E_VALUE}.",
        "ruled": titles.ruling,
        "doubt": partial(_doubt, titles),
        **ranking.context(view),
        "memory": memory_shares,
        "memory_shares": memory_shares.measured_shares(view),
        "row_scores": row_scores,
        "scored_tables": scored,
        "score_titles": {
            test: view.test_titles[test] for test in view.tests if any(test in table.scores for table in scored)
        },
        "recall": recalled_rows,
        "paper_methods": paper_methods,
        "papers": papers,
        "paper_matrices": paper_methods.matrices(view, titles) if papers else [],
        **_of_corpora(view),
        "parts_after": parts_after(view),
        "written": ResultMarkup(titles, pages, numbers),
        "rounded": rounded,
        "counts": count,
        "wide": wide,
        "few": few,
        "most_sentences": MOST_SENTENCES,
    }


def _looks(crowded: bool = False) -> dict[str, Any]:
    """Return the style sheets and scripts of a page, and the hashes with which its policy allows them."""
    style, style_hash = embedded(*STYLES, *part_styles(), *([GRID_STYLE] if crowded else []))
    scripts = [embedded(name) for name in (*SCRIPTS, *([GRID_SCRIPT] if crowded else []))]
    return {
        "style": style,
        "scripts": [script for script, _ in scripts],
        "style_hash": style_hash,
        "script_hashes": [script_hash for _, script_hash in scripts],
    }


def _of_corpora(view: RunResults) -> dict[str, Any]:
    """Return functions for the templates: the tests with a row in a heatmap, and an LLM's training documents."""
    of_tables = {(table.llm, view.label(table)): table for table in view.tables}

    rows = {
        searched: {result.test for result in view.possible if (result.llm in view.corpora) is searched}
        for searched in (True, False)
    }

    def rows_of(block: LlmBlock) -> Collection[str]:
        return rows[block.llm in view.corpora]

    def held_by(column: ResultColumn) -> dict[str, Any] | None:
        table = of_tables.get((column.llm, column.label))
        searched = phrase([name for one in table.families for name in one.corpora]) if table else ""
        if table is None or not searched:
            return None
        names = phrase(table.corpora)
        title = f"rows were found in {names}" if names else f"no rows were found in {searched}"
        return {"found": bool(names), "title": title}

    def trained_on(llm: str) -> list[str]:
        return [one.corpus for one in view.run.trained_on if one.llm == llm]

    return {"rows_of": rows_of, "held_by": held_by, "trained_on": trained_on}


def pages_of(tests: Iterable[str]) -> dict[str, list[Paragraph]]:
    """Return the docstring, in paragraphs, of each of `tests` that is installed."""
    from tabcontam.evidence.registry import by_id

    known = by_id()
    docstrings = {test: inspect.getdoc(known[test]) or "" for test in tests if test in known}
    return {test: [_pieces(part) for part in text.split("\n\n")] for test, text in docstrings.items()}


def _pieces(paragraph: str) -> Paragraph:
    pieces = re.split("`", " ".join(paragraph.split()))
    return [(piece, number % 2 == 1) for number, piece in enumerate(pieces) if piece]


SAME_CONCLUSION: Mapping[Verdict, Conclusion] = {
    Verdict.CONTAMINATED: Conclusion.CONTAMINATED,
    Verdict.NOT_DETECTED: Conclusion.CLEAN,
}


def _doubt(titles: Titles, table: TableVerdict) -> str:
    """Return why the gate's conclusion differs from a table's verdict, or why tests do not count for it; else ""."""
    found, same = titles.ruling(table), SAME_CONCLUSION.get(table.verdict, Conclusion.CANNOT_TELL)
    return found.reason if found and (found.void or found.conclusion is not same) else ""


def numbers(result: Result) -> list[str]:
    """Return the measured numbers of a result, each with its name; empty if nothing was asked."""
    if result.queries == 0:
        return []
    # The expected score comes from the result's null, which is not always the baseline.
    by_chance = " by chance" if result.evidence.p_value is not None or result.sequential else ""
    known = result.numbers
    named = {name: rounded(key, known[key]) for key, name in NUMBERS.items() if key in known}
    named["hits"] += f" of {named.pop('answered')}"
    if "expected_hits" in known:
        named["hits"] += f" ({rounded('expected_hits', known['expected_hits'])} expected{by_chance})"
    statistic = result.evidence.statistic  # recalled bits can also be the statistic; they are named once
    if statistic and (statistic.value, statistic.expected) != (result.evidence.hits, result.evidence.expected_hits):
        key, expected = statistic.name.replace(" ", "_"), statistic.expected
        more = "" if expected is None else f" ({rounded(key, expected)} expected{by_chance})"
        named[statistic.name] = rounded(key, statistic.value) + more
    shown = [f"{name} {value}" for name, value in named.items()]
    if interval := result.evidence.interval:
        of = f"{result.evidence.interval_of}: " if result.evidence.interval_of else ""
        shown.append(f"{of}{interval[0]:.3g} to {interval[1]:.3g} (95% interval)")
    return shown
