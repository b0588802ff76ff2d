"""The report as one HTML page, and its heatmap as one SVG picture.

The page loads nothing, runs no script and says so in its content security policy: the one style sheet is allowed by
its hash, so that text from a model or a table cannot bring its own. Templates escape everything.
"""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabcontam.report.results import (
    LETTERS,
    ROW_TESTS,
    SCORE,
    SCORE_LETTER,
    TESTS,
    WARNINGS,
    Block,
    Cell,
    Results,
    asked,
    count,
    evidence,
    expected,
    listed,
    rounded,
    shorten,
    text,
    typed,
    visible,
    yes,
)
from tabcontam.suite.base import Verdict

if TYPE_CHECKING:
    from jinja2 import Environment

QUERIES_SHOWN = 3  # a contaminated cell
NAMES_SHOWN = 8  # in a sentence
LONGEST = {"prompt": 600, "features": 120, "answer": 350, "read": 200, "expected": 200}

MEANINGS = {
    Verdict.CONTAMINATED.value: "the answers match the dataset, by the rules of this run",
    Verdict.NOT_DETECTED.value: "readable answers, and nothing found",
    Verdict.UNINFORMATIVE.value: "asking could not have told memory from guessing",
    Verdict.NO_ANSWER.value: "too few readable answers",
    Verdict.SKIPPED.value: "not asked, for the reason below",
    SCORE: "a score, on which nothing is decided",
}
CALIBRATED = MEANINGS | {
    Verdict.CONTAMINATED.value: "what was recalled cannot be explained by guessing",
    Verdict.NOT_DETECTED.value: "readable answers, and no more right than guessing explains",
}
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
    """The self-contained page of a run: heatmap, ranking, controls, each cell in words, evidence."""
    from markupsafe import Markup

    view, environment = typed(results), _environment()
    style = environment.get_template("style.css.jinja").render()
    page: str = environment.get_template("index.html.jinja").render(
        view=view,
        style=Markup(style),  # noqa: S704 - our own template, rendered without a value
        style_hash=b64encode(sha256(style.encode()).digest()).decode(),
        facts=_facts(view),
        summaries=[(block, summary(view, block)) for block in view.blocks],
        evidence=_evidence(view, trials),
        numbers=numbers,
        rounded=rounded,
        rules=text(view.run.get("rules")),
        warns=lambda note: note.startswith(WARNINGS),
        meanings=CALIBRATED if view.calibrated else MEANINGS,
        **_words(),
    )
    return page


def render_svg(results: Mapping[str, Any]) -> str:
    """The heatmap as a static picture on a ground of its own, so that it reads on light and dark pages."""
    view = typed(results)
    picture: str = (
        _environment()
        .get_template("heatmap.svg.jinja")
        .render(view=view, layout=_layout(view), legend=_legend(), cut=_cut, **_words())
    )
    return picture


def summary(view: Results, block: Block) -> str:
    """What was found about one LLM, in plain sentences that tell seen rows from mere knowledge."""
    decided = [cell for cell in block.cells if cell.verdict in (Verdict.CONTAMINATED, Verdict.NOT_DETECTED)]
    if not decided:
        return "No cell could be decided."
    flagged = [cell for cell in decided if cell.verdict is Verdict.CONTAMINATED]
    rows = dict.fromkeys(view.label(cell) for cell in flagged if cell.test in ROW_TESTS)
    known = dict.fromkeys(view.label(cell) for cell in flagged)
    clean = dict.fromkeys(view.label(cell) for cell in decided)
    every = dict.fromkeys(view.label(cell) for cell in block.cells)
    sentences = [f"Contaminated in {len(flagged)} of {len(decided)} decided cells."]
    sentences += _sentence("Flagged by a row test", rows)
    sentences += _sentence(
        "Flagged only by tests that a page about the dataset is enough to pass", _without(known, rows)
    )
    sentences += _sentence("Nothing detected", _without(clean, known))
    sentences += _sentence("Nothing could be decided", _without(every, clean))
    return " ".join(sentences)


def _without(names: Iterable[str], others: Iterable[str]) -> list[str]:
    left_out = set(others)
    return [name for name in names if name not in left_out]


def _sentence(claim: str, names: Iterable[str]) -> list[str]:
    named = list(names)
    if not named:
        return []
    more = f" and {len(named) - NAMES_SHOWN} more" if len(named) > NAMES_SHOWN else ""
    return [f"{claim}: {', '.join(named[:NAMES_SHOWN])}{more}."]


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


def _words() -> dict[str, Any]:
    """What both templates need to name a cell."""
    letters = {verdict.value: letter for verdict, letter in LETTERS.items()} | {SCORE: SCORE_LETTER}
    return {
        "titles": TESTS,
        "letters": letters | {Verdict.NOT_DETECTED.value: "·"},
        "css_class": {outcome: outcome.replace(" ", "-") for outcome in letters},
        "counts": count,
    }


def _evidence(view: Results, trials: Iterable[Mapping[str, Any]]) -> dict[tuple[str, ...], Any]:
    flagged = [cell for cell in view.cells if cell.verdict is Verdict.CONTAMINATED]
    found = evidence(flagged, trials)
    return {
        place: {"shown": [_shown(trial) for trial in kept[:QUERIES_SHOWN]], "left_out": len(kept[QUERIES_SHOWN:])}
        for place, kept in found.items()
    }


def _shown(trial: Mapping[str, Any]) -> dict[str, str]:
    texts = {
        "prompt": asked(trial),
        "features": listed(trial.get("asked")).replace("\n", ", "),
        "hit": yes(trial.get("hit")),
        "answer": text(trial.get("reply")),
        "read": "" if trial.get("parsed") is None else listed(trial.get("parsed")),
        "expected": expected(trial),
    }
    # A prompt's question stands at its end.
    return {name: shorten(value, LONGEST.get(name, len(value)), tail=name == "prompt") for name, value in texts.items()}


@dataclass(frozen=True)
class _Layout:
    """Where the picture's parts stand, in pixels; text is taken as 7 pixels a character."""

    left: int
    top: int
    width: int
    height: int
    columns: tuple[tuple[int, ...], ...]
    blocks: tuple[tuple[int, int], ...]
    rows: Mapping[str, int]
    lines: tuple[int, ...]

    @property
    def bottom(self) -> int:
        """Where the last row ends."""
        return self.lines[-1]


SQUARE, LETTER, MARGIN, LEGEND = 26, 7, 16, 54
LONGEST_NAME = 30


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _layout(view: Results) -> _Layout:
    left = MARGIN + LETTER * max((len(TESTS.get(test, test)[:LONGEST_NAME]) for test in view.tests), default=0) + 10
    labels = [len(column.label[:LONGEST_NAME]) for block in view.blocks for column in block.columns]
    top = MARGIN + 22 + LETTER * max(labels, default=0) + 8
    blocks, columns, edge = [], [], left
    for block in view.blocks:
        squares = SQUARE * len(block.columns)
        width = max(squares, LETTER * len(block.llm[:LONGEST_NAME]) + 12) + 8
        start = edge + (width - squares) // 2
        columns.append(tuple(start + SQUARE * number for number in range(len(block.columns))))
        blocks.append((edge, edge + width))
        edge += width
    rows: dict[str, int] = {}
    lines, height = [top], top
    for tests in view.kinds.values():
        for test in tests:
            rows[test] = height + 3
            height += SQUARE
        height += 6
        lines.append(height)
    last, place = _legend()[-1]
    width = max(edge, place + SQUARE + LETTER * len(last)) + MARGIN
    return _Layout(left, top, width, height + LEGEND, tuple(columns), tuple(blocks), rows, tuple(lines))


def _legend() -> list[tuple[str, int]]:
    places, edge = [], MARGIN
    for outcome in MEANINGS:
        places.append((outcome, edge))
        edge += SQUARE + LETTER * len(outcome) + 14
    return places


@lru_cache(maxsize=1)
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        finalize=_disarmed,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _disarmed(value: object) -> object:
    """Every value that a template writes, without control characters; our own markup stays as it is."""
    return visible(value) if type(value) is str else value
