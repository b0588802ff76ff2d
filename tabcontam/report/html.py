"""The report as one HTML page, or as a summary with a page an LLM where there is too much for one.

A page loads nothing and says so in its content security policy: its style sheet and its own scripts are allowed by
their hashes, so that text from a model or a table cannot bring others. Templates escape everything, and the scripts
write text, never markup. Without scripts everything is still there but the evidence, which is packed.
"""

import inspect
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tabcontam.report import evidence
from tabcontam.report.environment import TEMPLATES, environment
from tabcontam.report.published import Agreement, Source, agreement
from tabcontam.report.results import (
    ROW_TESTS,
    TESTS,
    WARNINGS,
    Block,
    Cell,
    Results,
    count,
    rounded,
    text,
    typed,
)
from tabcontam.report.sentences import Standing, Titles, scope, sentences, standings
from tabcontam.report.squares import (
    MARK_SIGNS,
    OUTCOMES,
    SIGNS,
    css_class,
    levels_shown,
    published,
    sign,
    sources_shown,
    spoken,
    strength,
)
from tabcontam.report.svg import render_svg as render_svg
from tabcontam.suite.base import Verdict

if TYPE_CHECKING:
    from markupsafe import Markup

INDEX = "index.html"
MOST_LLMS, MOST_CELLS = 30, 30 * 15 * 15  # on one page
OPEN_CELLS = 120  # up to so many, all are in view; above, each LLM and dataset is opened by itself
WIDE = 20  # columns of an LLM that are printed with narrower squares
NUMBERS = {
    "hits": "hits",
    "expected_hits": "hits expected of a guesser",
    "answered": "answered",
    "queries": "queries",
    "score": "score",
    "p_value": "p",
    "q_value": "q",
    "recalled_bits": "recalled bits",
    "detectable_share": "detectable share",
}


def render_html(results: Mapping[str, Any], trials: Iterable[Mapping[str, Any]]) -> str:
    """The self-contained page of a run, however large: sentences, heatmap, ranking, controls, cells and evidence.

    `trials` are the objects of trials.jsonl. Raises `UsageError` for what is no result.
    """
    view = typed(results)
    return _page("index.html.jinja", view, _shared(view, trials), _leaves(view, ""))


def render_pages(results: Mapping[str, Any], trials: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The pages of a run by their file names: `index.html`, and where that were too large one an LLM, `llm-1.html`….

    `trials` are the objects of trials.jsonl. Raises `UsageError` for what is no result.
    """
    view = typed(results)
    shared = _shared(view, trials)
    if len(view.blocks) <= MOST_LLMS and len(view.cells) <= MOST_CELLS:
        return {INDEX: _page("index.html.jinja", view, shared, _leaves(view, ""))}
    leaves = _leaves(view, "llm-{}.html")
    pages = {INDEX: _page("summary.html.jinja", view, shared, leaves)}
    return pages | {leaf.page: _page("llm.html.jinja", view, shared, [leaf]) for leaf in leaves}


def summary(view: Results, block: Block) -> str:
    """What was found about one LLM, in one plain sentence that does not name it."""
    return next(one.rest.lstrip(": ") for one in sentences(view) if one.llm == block.llm)


@dataclass(frozen=True)
class Leaf:
    """One LLM on a page: its block, the block's number from 1, and the page that has its cells ("": this one)."""

    number: int
    block: Block
    title: str
    page: str
    sentence: str
    standings: Mapping[str, Standing]


@dataclass(frozen=True)
class Option:
    """One box of a filter; `found` is how much was found there, for sorting."""

    value: str
    label: str
    found: int


@dataclass(frozen=True)
class TestPage:
    """What a contamination test says of itself: paragraphs of pieces, each text and whether it is code."""

    id: str
    title: str
    paragraphs: tuple[tuple[tuple[str, bool], ...], ...]


def _leaves(view: Results, page: str) -> list[Leaf]:
    titles, said = Titles(view), {one.llm: one.rest for one in sentences(view)}
    return [
        Leaf(
            number,
            block,
            titles.llm(block.llm),
            page.format(number),
            said[block.llm],
            standings(view, block, titles),
        )
        for number, block in enumerate(view.blocks, start=1)
    ]


def _page(template: str, view: Results, shared: Mapping[str, Any], leaves: Sequence[Leaf]) -> str:
    blocks = [leaf.block for leaf in leaves]
    rendered: str = (
        environment()
        .get_template(template)
        .render(
            **shared,
            leaves=leaves,
            choices=_choices(view, blocks),
            places=_places(view, blocks),
            opened=sum(len(block.cells) for block in blocks) <= OPEN_CELLS,
        )
    )
    return rendered


def _shared(view: Results, trials: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What every page of a run is made of."""
    titles, packed = Titles(view), evidence.packed(view, trials)
    style = environment().get_template("style.css.jinja").render() + evidence.style()
    scripts = [script for script in (_own_script(), evidence.script()) if script]
    return {
        "view": view,
        "style": _ours(style),
        "scripts": [_ours(script) for script in scripts],
        "style_hash": _hash(style),
        "script_hashes": [_hash(script) for script in scripts],
        "scope": scope(view),
        "sentences": sentences(view),
        "notes": [note for note in view.notes if not note.startswith("rules ")],
        "facts": _facts(view),
        "packed": packed,
        "blobs": {number: _ours(blob) for number, blob in packed.blobs.items()},
        "pages": _test_pages(view.tests),
        "agreements": _agreements(view),
        "sources": sources_shown(view),
        "llm_title": titles.llm,
        "dataset_title": titles.dataset,
        "rules": text(view.run.get("rules")),
        "alpha": text(view.run.get("alpha")),
        "warns": lambda note: note.startswith(WARNINGS),
        "spoken": lambda cell: spoken(view, titles, cell),
        "published": lambda cell: published(view, cell),
        "strengths": levels_shown(view),
        **_words(),
    }


def _words() -> dict[str, Any]:
    """What the templates need to name and draw a cell."""
    return {
        "numbers": numbers,
        "rounded": rounded,
        "titles": TESTS,
        "sign": sign,
        "signs": SIGNS,
        "strength": strength,
        "css_class": css_class,
        "mark_signs": MARK_SIGNS,
        "counts": count,
        "wide": WIDE,
    }


def _own_script() -> str:
    return (TEMPLATES / "page.js").read_text("utf-8")


def _ours(markup: str) -> "Markup":
    """What is not escaped: our own style and scripts, and base64."""
    from markupsafe import Markup

    return Markup(markup)  # noqa: S704 - nothing in it was written by a model, a table or a user


def _hash(source: str) -> str:
    return b64encode(sha256(source.encode()).digest()).decode()


def _agreements(view: Results) -> list[tuple[Source, int, int, list[Agreement]]]:
    """For each published source: how many cells agree of those that both decided, and the same for each LLM."""
    grouped: dict[Source, list[Agreement]] = {}
    for line in agreement(view):
        grouped.setdefault(line.source, []).append(line)
    return [
        (source, sum(line.agree for line in lines), sum(line.decided for line in lines), lines)
        for source, lines in grouped.items()
    ]


def _choices(view: Results, blocks: Sequence[Block]) -> dict[str, tuple[str, list[Option]]]:
    """What can be chosen on a page, by the name in the address: a legend and its boxes."""
    titles = Titles(view)
    cells = [cell for block in blocks for cell in block.cells]
    tests = [test for test in view.tests if any(cell.test == test for cell in cells)]
    by_label: dict[str, list[Cell]] = {column.label: [] for block in blocks for column in block.columns}
    for block in blocks:
        for column in block.columns if not block.control else ():
            by_label[column.label] += column.cells.values()
    outcomes = [outcome for outcome in OUTCOMES if any(cell.outcome == outcome for cell in cells)]
    return {
        "llm": ("LLMs", [Option(block.llm, titles.llm(block.llm), _found(block.cells)) for block in blocks]),
        "dataset": ("Datasets", [Option(label, label, _found(own)) for label, own in by_label.items()]),
        "test": ("Tests", [Option(test, TESTS.get(test, test), 0) for test in tests]),
        "kind": ("Kinds", [Option(kind, kind, 0) for kind, of in view.kinds.items() if set(of) & set(tests)]),
        "verdict": ("Verdicts", [Option(css_class(outcome), outcome, 0) for outcome in outcomes]),
    }


def _places(view: Results, blocks: Sequence[Block]) -> dict[str, dict[str, int]]:
    """The number of each choice, from 0, by which the page's elements name it."""
    return {
        name: {option.value: number for number, option in enumerate(options)}
        for name, (_, options) in _choices(view, blocks).items()
    }


def _found(cells: Sequence[Cell]) -> int:
    """How much was found: first what row tests found, then what the others did."""
    found = [cell for cell in cells if cell.verdict is Verdict.CONTAMINATED]
    rows = sum(cell.test in ROW_TESTS for cell in found)
    return 1000 * rows + len(found)


@cache
def _test_pages(tests: tuple[str, ...]) -> dict[str, TestPage]:
    """The page of each test that the suite has, from its docstring."""
    from tabcontam.suite.registry import BY_ID

    return {
        test: TestPage(test, TESTS.get(test, test), _paragraphs(inspect.getdoc(BY_ID[test]) or ""))
        for test in tests
        if test in BY_ID
    }


def _paragraphs(docstring: str) -> tuple[tuple[tuple[str, bool], ...], ...]:
    """The paragraphs of a docstring, each as its pieces: text, and code where that stood between backticks."""
    return tuple(
        tuple((piece, number % 2 == 1) for number, piece in enumerate(re.split("`", " ".join(part.split()))) if piece)
        for part in docstring.split("\n\n")
    )


def numbers(cell: Cell) -> list[str]:
    """The measured numbers of a cell, each with its name."""
    named = {name: rounded(key, cell.numbers[key]) for key, name in NUMBERS.items() if key in cell.numbers}
    return [*(f"{name} {value}" for name, value in (named | _statistic(cell)).items()), *_interval(cell)]


def _statistic(cell: Cell) -> dict[str, str]:
    """The statistic with what the null expects; recalled bits are named once."""
    if cell.statistic is None:
        return {}
    name, value, expected = cell.statistic.name, cell.statistic.value, cell.statistic.expected
    key = name.replace(" ", "_")
    by_chance = "" if expected is None else f" ({rounded(key, expected)} expected of a guesser)"
    return {name: rounded(key, value) + by_chance}


def _interval(cell: Cell) -> list[str]:
    if cell.interval is None:
        return []
    low, high = cell.interval
    of = f" ({cell.interval_of})" if cell.interval_of else ""
    return [f"95% interval {low:.3g} to {high:.3g}{of}"]


def _facts(view: Results) -> list[tuple[str, str]]:
    versions = view.run.get("versions")
    named = versions.items() if isinstance(versions, Mapping) else ()
    facts = {
        "Command": text(view.run.get("command")),
        "Started": text(view.run.get("started")),
        "Seed": text(view.run.get("seed")),
        "Rules": text(view.run.get("rules")),
        "Alpha": text(view.run.get("alpha")),
        "Dictionary": text(view.run.get("dictionary")),
        "Versions": ", ".join(f"{name} {version}" for name, version in named),
    }
    return [(name, value) for name, value in facts.items() if value]
