"""The results of models with known exposure as a page: the share that each test detects, by copies of a row read."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tabcontam.calibration.dose import TABLE, Dose, Observation, Rung, amount
from tabcontam.report.environment import embedded, environment
from tabcontam.report.plot_area import PlotArea
from tabcontam.verdicts.wording import rounded
from tabcontam.version import __version__

STYLES = ("style.css", "ranking.css", "ladder.css")
AREA = PlotArea(340, 210, left=44, right=330, top=10, bottom=170)  # of a panel
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class LadderMark:
    """A rung (a number of copies) in a panel: its position, the ends of its interval, and its description."""

    x: float
    y: float
    low: float
    high: float
    label: str
    words: str


@dataclass(frozen=True)
class LadderPanel:
    """The two figures of a test, as polyline points: its rungs, and its p-values at 0 copies next to a diagonal."""

    title: str
    marks: tuple[LadderMark, ...]
    unread: tuple[tuple[float, float], ...]
    sentences: tuple[str, ...]


def document(
    found: Sequence[Dose], observations: Sequence[Observation], runs: Sequence[str], *, schema: int = 1
) -> Mapping[str, Any]:
    """Return the content of ladder.json: `doses`, each a `calibration.dose.Dose` as a dict, and their observations."""
    return {
        "schema": schema,
        "made_by": f"tabcontam {__version__}",
        "runs": list(runs),
        "doses": [asdict(dose) for dose in found],
        "observations": [asdict(one) for one in observations],
    }


def render_ladder(
    found: Sequence[Dose], observations: Sequence[Observation], titles: Mapping[str, str], runs: Sequence[str]
) -> str:
    """Return the page. It loads no other files. `titles` maps a test's id to its title."""
    style, style_hash = embedded(*STYLES)
    context = {
        "version": __version__,
        "style": style,
        "style_hash": style_hash,
        "panels": [_panel(dose, called(dose, titles)) for dose in found],
        "copies": copies_of(found),
        "doses": [(called(dose, titles), dose, {rung.copies: rung for rung in dose.rungs}) for dose in found],
        "pairs": len({(one.llm, one.dataset) for one in observations}),
        "llms": len({one.llm for one in observations}),
        "datasets": len({one.dataset for one in observations}),
        "observations": observations,
        "titles": {TABLE: "verdict on the table"} | dict(titles),
        "runs": runs,
        "box": AREA,
        "up": [(AREA.up(tick), f"{tick:.0%}") for tick in TICKS],
        "across": [(AREA.across(tick), f"{tick:g}") for tick in TICKS],
        "amount": amount,
        "share": share,
        "rounded": rounded,
    }
    return environment().get_template("ladder.html.jinja").render(context)


def called(dose: Dose, titles: Mapping[str, str]) -> str:
    """Return the title of the test that `dose` is about."""
    return "Verdict on the table" if dose.test == TABLE else titles.get(dose.test, dose.test)


def copies_of(found: Sequence[Dose]) -> list[float]:
    """Return all numbers of copies at which a test was tried, ascending."""
    return sorted({rung.copies for dose in found for rung in dose.rungs})


def share(rung: Rung) -> str:
    """Return in how many of its models the test detected rows at a rung: `3 of 6`."""
    return f"{rung.contaminated} of {rung.pairs}"


def sentences(dose: Dose) -> tuple[str, ...]:
    """Return sentences that summarise a test's results by copies."""
    lines = [_reached(dose)]
    unread = next((rung for rung in dose.rungs if rung.copies == 0), None)
    if unread:
        most = f"so in at most {unread.high:.1%} of such pairs with 97.5% confidence"
        lines.append(f"Rows that were never read are detected in {share(unread)} pairs, {most}.")
    if dose.uniform is not None and len(dose.unread) > 1:
        small = "no smaller than chance makes them" if dose.uniform > 0.01 else "smaller than chance makes them"
        lines.append(
            f"The {len(dose.unread)} p-values at 0 copies are {small} (Kolmogorov-Smirnov, one-sided: "
            f"p = {rounded('p_value', dose.uniform)})."
        )
    if dose.correlation is not None:
        lines.append(
            f"Within an LLM and a table, more copies go with smaller p-values: the rank correlation is "
            f"{dose.correlation:.2f} (Spearman; the median of {dose.arms})."
        )
    return tuple(lines)


def _reached(dose: Dose) -> str:
    if dose.half is None:
        return "At every number of copies that was tried, fewer than half of the pairs are detected."
    half = f"Half of the pairs are detected from {amount(dose.half)} copies on"
    if dose.nearly_all is None:
        return f"{half}, and 95% of them at no number of copies that was tried."
    return f"{half}, and 95% of them from {amount(dose.nearly_all)} copies on."


def _panel(dose: Dose, title: str) -> LadderPanel:
    count = len(dose.rungs)
    wide = (AREA.right - AREA.left) / count

    def mark(place: int, rung: Rung) -> LadderMark:
        words = f"{amount(rung.copies)} copies: {share(rung)} pairs are detected ({rung.low:.0%} to {rung.high:.0%})"
        x = round(AREA.left + (place + 0.5) * wide, 1)
        return LadderMark(x, AREA.up(rung.share), AREA.up(rung.low), AREA.up(rung.high), amount(rung.copies), words)

    marks = tuple(mark(place, rung) for place, rung in enumerate(dose.rungs))
    ranks = len(dose.unread)
    unread = tuple((AREA.across((place + 0.5) / ranks), AREA.up(value)) for place, value in enumerate(dose.unread))
    return LadderPanel(title, marks, unread, sentences(dose))
