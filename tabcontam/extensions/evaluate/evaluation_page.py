"""Few-shot classification as JSON and as a page: accuracy, AUC and memory's share by number of shots."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tabcontam.extensions.evaluate.evaluation_results import Evaluation, PublishedAuc, published_auc, trend
from tabcontam.extensions.evaluate.shot_results import (
    CHANCES,
    SHARE,
    TITLE,
    ClassifierScore,
    Interval,
    MemoryFading,
    ShotResult,
)
from tabcontam.report.environment import embedded, environment
from tabcontam.report.plot_area import PlotArea
from tabcontam.version import __version__

STYLES = ("style.css", "ranking.css", "evaluation.css")
AREA = PlotArea(420, 260, left=40, right=408, top=12, bottom=220)  # of a panel
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
MINUS, NONE = "\N{MINUS SIGN}", "-"
Mark = tuple[int, float | None, Interval | None]  # the place of a number of shots, a value there, and its interval


@dataclass(frozen=True)
class PanelDot:
    """A mark in a panel: its position, the ends of its interval if known, and its description."""

    x: float
    y: float
    low: float | None
    high: float | None
    words: str


@dataclass(frozen=True)
class PanelLine:
    """The marks of an LLM, learner or reference at each number of shots. `kind` is the line's style ("0": an LLM)."""

    name: str
    kind: str
    dots: tuple[PanelDot, ...]


@dataclass(frozen=True)
class EvaluationPanel:
    """One figure about a table: lines, ticks on both axes, and the position of the line at 0 if it is drawn."""

    title: str
    lines: tuple[PanelLine, ...]
    up: tuple[tuple[float, str], ...]
    across: tuple[tuple[float, str], ...]
    zero: float | None = None


def document(found: Sequence[Evaluation], command: str, seed: int, *, schema: int = 1) -> Mapping[str, Any]:
    """Return the content of evaluation.json: each `verdicts.evaluation.Evaluation` as a dict, and published AUCs."""
    return {
        "schema": schema,
        "made_by": f"tabcontam {__version__}",
        "command": command,
        "seed": seed,
        "evaluations": [asdict(one) for one in found],
        "published": [asdict(mark) for mark in published(found)],
    }


def published(found: Sequence[Evaluation]) -> list[PublishedAuc]:
    marks = (published_auc(name) for name in dict.fromkeys(one.dataset for one in found))
    return [mark for mark in marks if mark is not None]


def render_evaluation(found: Sequence[Evaluation], command: str) -> str:
    style, style_hash = embedded(*STYLES)
    context = {
        "version": __version__,
        "style": style,
        "style_hash": style_hash,
        "command": command,
        "title": TITLE,
        "share": SHARE,
        "parts": [(one, panels(one), published_auc(one.dataset)) for one in found],
        "marks": published(found),
        "box": AREA,
        "number": number, "interval": interval, "spread": spread, "titled": titled,
        "sentences": sentences, "by_name": by_name,
    }  # fmt: skip
    return environment().get_template("evaluation.html.jinja").render(context)


def titled(found: Evaluation) -> str:
    prompts = f", prompts {found.prompts}" if found.prompts not in (None, "default") else ""
    return f"{found.llm} on {found.dataset}{found.of_split} (template {found.serializer}{prompts})"


def answer_reading(found: Evaluation) -> str:
    """Return a sentence on whether answers were read from text or log-probabilities, and so whether an AUC is known."""
    if any(at.by == CHANCES for at in found.shots):
        return "The class with the highest log-probability is the answer, and the AUC comes from these probabilities."
    return "The answers are read in words: this LLM gave no log-probabilities, so there is no AUC."


def sentences(found: Evaluation) -> list[str]:
    """Return remarks on the limits of an evaluation's numbers, such as missing answers."""
    lines = [answer_reading(found)] if found.shots else []
    if not found.shots:
        lines.append(f"Nothing was asked: {found.reason or 'the run ended before'}.")
    elif found.unanswered:
        why = f": {found.reason}" if found.reason else ""
        lines.append(
            f"{found.unanswered:,} queries are not answered yet, so the numbers here cover only the others{why}."
        )
    for at in found.shots:
        lines += _lacking(at)
    if found.fading is not None:
        lines.append(_faded(found.fading, found.shots))
    return [*lines, *(f"{line[0].upper()}{line[1:]}." for line in found.notes)]


def _lacking(at: ShotResult) -> list[str]:
    """Return sentences on how many queries failed or have no answer at one number of shots."""
    lines = []
    if at.refused or at.unreadable:
        parts = [f"{at.refused} refused"] * bool(at.refused) + [f"{at.unreadable} named no class"] * bool(at.unreadable)
        lines.append(f"At {_shots(at.shots)}, of {at.asked} answers {' and '.join(parts)}; these count as errors.")
    if at.failed:
        why = "; ".join(at.reasons) or "no reason was given"
        lines.append(
            f"At {_shots(at.shots)}, {at.failed} of {at.asked + at.failed} rows got no answer and are left out, which "
            f"may favour short rows: {why}."
        )
    return lines


def _faded(found: MemoryFading, at: Sequence[ShotResult]) -> str:
    shares = {one.shots: one.memory.share for one in at if one.memory}
    low, high = found.interval
    return (
        f"{SHARE} {trend(found)}: {number(shares[found.fewest])} at {_shots(found.fewest)} and "
        f"{number(shares[found.most])} at {found.most}; on the {found.pairs} rows that were answered at both the "
        f"difference is {signed(found.difference)} ({signed(low)} to {signed(high)})."
    )


def _shots(count: int) -> str:
    """Return a number of shots in words: `1 shot`, `4 shots`."""
    return f"{count} shot" if count == 1 else f"{count} shots"


def number(value: float | None) -> str:
    """Format a number with two decimals. None is a dash."""
    return NONE if value is None else f"{value:.2f}".replace("-0.00", "0.00").replace("-", MINUS)


def signed(value: float) -> str:
    """Format a number with its sign and two decimals."""
    return f"{value:+.2f}".replace("-0.00", "0.00").replace("+0.00", "0.00").replace("-", MINUS)


def interval(of: Interval | None) -> str:
    """Format an interval. None is empty."""
    return "" if of is None else f"{number(of[0])} to {number(of[1])}"


def spread(value: float | None) -> str:
    """Format the standard deviation over draws. None is empty."""
    return "" if value is None else f"±{value:.2f}"


def by_name(at: ShotResult) -> dict[str, ClassifierScore]:
    return {one.name: one for one in at.learners}


def panels(found: Evaluation) -> tuple[EvaluationPanel, ...]:
    """Return the panels of an evaluation: accuracy, AUC if known, and memory's share if it was measured."""
    if not found.shots:
        return ()
    drawn = [_measures(found, "Accuracy", lambda one: one.accuracy, lambda one: one.interval)]
    if any(at.own.auc is not None for at in found.shots):
        drawn.append(_measures(found, "AUC", lambda one: one.auc, lambda one: one.auc_interval))
    if any(at.memory for at in found.shots):
        drawn.append(_memory(found))
    return tuple(drawn)


def _measures(
    found: Evaluation,
    title: str,
    value: Callable[[ClassifierScore], float | None],
    reach: Callable[[ClassifierScore], Interval | None],
) -> EvaluationPanel:
    width = 7  # pixels between two marks at the same number of shots
    by_name: dict[str, list[Mark]] = {}
    for place, at in enumerate(found.shots):
        for name, one in ((found.llm, at.own), *((one.name, one) for one in at.learners)):
            by_name.setdefault(name, []).append((place, value(one), reach(one)))
    middle = (len(by_name) - 1) / 2
    lines = [
        _line(found, title, name, str(kind), marks, (kind - middle) * width)
        for kind, (name, marks) in enumerate(by_name.items())
    ]
    if title == "Accuracy":
        majorities: list[Mark] = [(place, at.majority, None) for place, at in enumerate(found.shots)]
        lines.append(_line(found, title, "largest class", "majority", majorities))
    mark = published_auc(found.dataset)
    if title == "AUC" and mark and found.shots[0].shots == 0:
        words = f"{mark.name} ({mark.llm}), published"
        lines.append(_line(found, title, words, "published", [(0, mark.auc, None)], -width))
    ticks = tuple((AREA.up(tick), f"{tick:.2f}") for tick in SHARES)
    return EvaluationPanel(title, tuple(lines), ticks, _across(found))


def _memory(found: Evaluation) -> EvaluationPanel:
    held = [(place, at.memory.share, at.memory.interval) for place, at in enumerate(found.shots) if at.memory]
    most = max(0.1, *(abs(end) for _, share, interval in held for end in (*interval, share)))
    ticks = [round(part * most, 2) for part in (-1, -0.5, 0, 0.5, 1)]

    def up(value: float) -> float:
        return AREA.up((value / most + 1) / 2)

    line = _line(found, SHARE, found.llm, "0", held, up=up)
    return EvaluationPanel(SHARE, (line,), tuple((up(tick), number(tick)) for tick in ticks), _across(found), up(0.0))


def _line(
    found: Evaluation,
    title: str,
    name: str,
    kind: str,
    marks: Sequence[Mark],
    shift: float = 0.0,
    up: Callable[[float], float] = AREA.up,
) -> PanelLine:
    """Return a line with a dot for each mark that has a value, shifted horizontally by some pixels."""
    dots = [
        PanelDot(
            round(_place(found, place) + shift, 1),
            up(value),
            None if reach is None else up(reach[0]),
            None if reach is None else up(reach[1]),
            f"{name} at {_shots(found.shots[place].shots)}: {title} {number(value)}"
            + (f", {interval(reach)}" if reach else ""),
        )
        for place, value, reach in marks
        if value is not None
    ]
    return PanelLine(name, kind, tuple(dots))


def _across(found: Evaluation) -> tuple[tuple[float, str], ...]:
    return tuple((round(_place(found, place), 1), str(at.shots)) for place, at in enumerate(found.shots))


def _place(found: Evaluation, place: int) -> float:
    return AREA.left + (place + 0.5) * (AREA.right - AREA.left) / len(found.shots)
