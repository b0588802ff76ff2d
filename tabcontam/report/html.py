"""The report as one HTML page, or as a summary with a page an LLM where there is too much for one.

A page loads nothing and says so in its content security policy: its style sheet and its own scripts are allowed by
their hashes, so that text from a model or a table cannot bring others. Templates escape everything, and the scripts
write text, never markup. Without scripts everything is still there but the evidence, which is packed.
"""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tabcontam.evidence.base import Verdict
from tabcontam.report import comparisons, evidence, ranking
from tabcontam.report.docstrings import pages_of
from tabcontam.report.environment import asset, environment
from tabcontam.report.filters import choices, places
from tabcontam.report.published import Agreement, Source, agreement
from tabcontam.report.sentences import Sentence, scope, sentences
from tabcontam.report.squares import (
    MARK_SIGNS,
    SIGNS,
    css_class,
    levels_shown,
    published,
    sign,
    sources_shown,
    spoken,
    strength,
)
from tabcontam.report.standings import Standing, Titles, standings
from tabcontam.verdicts.cells import Cell, TableVerdict, count
from tabcontam.verdicts.gate import Conclusion, Ruling, Tested, rulings
from tabcontam.verdicts.names import TableName
from tabcontam.verdicts.notes import NoteKind
from tabcontam.verdicts.results import Block, RunResults
from tabcontam.verdicts.wording import rounded, text

if TYPE_CHECKING:
    from markupsafe import Markup

INDEX = "index.html"
STYLES = ("style.css", "ranking.css", "comparisons.css", "evidence.css")
SCRIPTS = ("page.js", "evidence.js")
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


def render_html(view: RunResults, trials: Iterable[Mapping[str, Any]]) -> str:
    """The self-contained page of a run, however large: sentences, heatmap, ranking, controls, cells and evidence.

    `trials` are the objects of trials.jsonl.
    """
    judged = _judged(view)
    return _page("index.html.jinja", view, _shared(view, trials, judged), _leaves(view, judged, ""))


def render_pages(view: RunResults, trials: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The pages of a run by their file names: `index.html`, and where that were too large one an LLM, `llm-1.html`….

    `trials` are the objects of trials.jsonl.
    """
    judged = _judged(view)
    shared, leaves = _shared(view, trials, judged), _leaves(view, judged, "llm-{}.html" if parted(view) else "")
    if not parted(view):
        return {INDEX: _page("index.html.jinja", view, shared, leaves)}
    pages = {INDEX: _page("summary.html.jinja", view, shared, leaves)}
    controls = [leaf for leaf in leaves if leaf.block.control]
    return pages | {
        leaf.page: _page(
            "llm.html.jinja", view, {**shared, "beside": _beside(leaves, leaf), "controls": controls}, [leaf]
        )
        for leaf in leaves
    }


def _beside(leaves: "Sequence[Leaf]", leaf: "Leaf") -> list[tuple[str, "Leaf"]]:
    """The LLMs whose pages come before and after one."""
    found = [("before", leaves[leaf.number - 2])] if leaf.number > 1 else []
    return found + ([("next", leaves[leaf.number])] if leaf.number < len(leaves) else [])


def parted(view: RunResults) -> bool:
    """Whether a run is too large for one page, and has one an LLM."""
    return len(view.blocks) > MOST_LLMS or len(view.cells) > MOST_CELLS


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
class _Judged:
    """What the gate says of each LLM and table, and the sentences that rest on it; it takes a while in a large run."""

    ruled: Mapping[Tested, Ruling]
    sentences: Sequence[Sentence]


def _judged(view: RunResults) -> _Judged:
    ruled = rulings(view)
    return _Judged(ruled, sentences(view, ruled))


def _leaves(view: RunResults, judged: _Judged, page: str) -> list[Leaf]:
    titles, said = Titles(view), {one.llm: one.joint + one.rest for one in judged.sentences}
    return [
        Leaf(
            number,
            block,
            titles.llm(block.llm),
            page.format(number),
            said[block.llm],
            standings(view, block, titles, judged.ruled),
        )
        for number, block in enumerate(view.blocks, start=1)
    ]


def _page(template: str, view: RunResults, shared: Mapping[str, Any], leaves: Sequence[Leaf]) -> str:
    blocks = [leaf.block for leaf in leaves]
    chosen = choices(view, blocks)
    rendered: str = (
        environment()
        .get_template(template)
        .render(
            **shared,
            leaves=leaves,
            choices=chosen,
            places=places(chosen),
            labels=list(dict.fromkeys(label for leaf in leaves for label in leaf.standings)),
            opened=sum(len(block.cells) for block in blocks) <= OPEN_CELLS,
        )
    )
    return rendered


def _shared(view: RunResults, trials: Iterable[Mapping[str, Any]], judged: _Judged) -> dict[str, Any]:
    """What every page of a run is made of."""
    titles, packed = Titles(view), evidence.packed(view, trials)
    style = _unindented("".join(map(asset, STYLES)))
    scripts = [_unindented(asset(name)) for name in SCRIPTS]
    return {
        "view": view,
        "style": _ours(style),
        "scripts": [_ours(script) for script in scripts],
        "style_hash": _hash(style),
        "script_hashes": [_hash(script) for script in scripts],
        "scope": scope(view),
        **_gate(judged.ruled),
        "sentences": judged.sentences,
        "notes": [note for note in view.notes if note.kind is not NoteKind.RULES],
        "facts": _facts(view),
        "packed": packed,
        "blobs": {number: _ours(blob) for number, blob in packed.blobs.items()},
        "pages": pages_of({test: view.test_titles[test] for test in view.tests}),
        "agreements": _agreements(view),
        "sources": sources_shown(view),
        "llm_title": titles.llm,
        "dataset_title": titles.dataset,
        "strength": lambda cell: strength(view, cell),
        "spoken": lambda cell: spoken(view, titles, cell),
        "published": lambda cell: published(view, cell),
        "strengths": levels_shown(view),
        **ranking.context(view),
        **comparisons.context(view),
        **_words(),
    }


def _words() -> dict[str, Any]:
    """What the templates need to name and draw a cell."""
    return {
        "numbers": numbers,
        "rounded": rounded,
        "sign": sign,
        "signs": SIGNS,
        "css_class": css_class,
        "mark_signs": MARK_SIGNS,
        "counts": count,
        "wide": WIDE,
    }


def _unindented(source: str) -> str:
    """Our own style or script without what only its readers need; none of it stands in a text of several lines."""
    return "\n".join(filter(None, map(str.strip, source.splitlines())))


def _ours(markup: str) -> "Markup":
    """What is not escaped: our own style and scripts, and base64."""
    from markupsafe import Markup

    return Markup(markup)  # noqa: S704 - nothing in it was written by a model, a table or a user


def _hash(source: str) -> str:
    return b64encode(sha256(source.encode()).digest()).decode()


SAME_WORD: Mapping[Verdict | None, Conclusion] = {
    Verdict.CONTAMINATED: Conclusion.CONTAMINATED,
    Verdict.NOT_DETECTED: Conclusion.CLEAN,
}


def _gate(ruled: Mapping[Tested, Ruling]) -> dict[str, Any]:
    """What the gate says of each table; nothing of those of controls that joined, and of recorded answers."""

    def of(table: TableVerdict) -> Ruling | None:
        return ruled.get((table.llm, TableName.of(table)))

    def doubt(table: TableVerdict) -> str:
        """Why the gate says another word, or what a control voids."""
        found = of(table)
        same = SAME_WORD.get(table.verdict, Conclusion.CANNOT_TELL)
        return found.reason if found and (found.void or found.conclusion is not same) else ""

    return {"gated": bool(ruled), "ruled": of, "doubt": doubt}


def _agreements(view: RunResults) -> list[tuple[Source, int, int, list[Agreement]]]:
    """For each published source: how many cells agree of those that both decided, and the same for each LLM."""
    grouped: dict[Source, list[Agreement]] = {}
    for line in agreement(view):
        grouped.setdefault(line.source, []).append(line)
    return [
        (source, sum(line.agree for line in lines), sum(line.decided for line in lines), lines)
        for source, lines in grouped.items()
    ]


def numbers(cell: Cell) -> list[str]:
    """The measured numbers of a cell, each with its name; none where nothing was asked."""
    if cell.queries == 0:
        return []
    named = {name: rounded(key, cell.numbers[key]) for key, name in NUMBERS.items() if key in cell.numbers}
    interval = [f"95% interval {cell.limits}"] if cell.interval else []
    return [*(f"{name} {value}" for name, value in (named | _statistic(cell)).items()), *interval]


def _statistic(cell: Cell) -> dict[str, str]:
    """The statistic with what the null expects; recalled bits are named once."""
    if cell.statistic is None:
        return {}
    name, value, expected = cell.statistic.name, cell.statistic.value, cell.statistic.expected
    key = name.replace(" ", "_")
    by_chance = "" if expected is None else f" ({rounded(key, expected)} expected of a guesser)"
    return {name: rounded(key, value) + by_chance}


def _facts(view: RunResults) -> list[tuple[str, str]]:
    run = view.run
    facts = {
        "Command": run.command,
        "Started": text(run.started),
        "Seed": text(run.seed),
        "Rules": run.rules,
        "Alpha": text(run.alpha),
        "Dictionary": run.dictionary,
        "Versions": ", ".join(f"{name} {version}" for name, version in run.versions.items()),
    }
    return [(name, value) for name, value in facts.items() if value]
