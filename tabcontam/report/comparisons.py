"""Comparisons of model versions, serializers, prompt sets and runs, and the changes that exceed chance."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tabcontam.evidence.base import Verdict
from tabcontam.groups import grouped
from tabcontam.report.heatmap_squares import SIGNS, css_class
from tabcontam.verdicts.comparison import WAYS, CompareBy, Comparison
from tabcontam.verdicts.result_types import SCORE, outcome_of
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.run_facts import in_order
from tabcontam.verdicts.wording import phrase, rounded

KINDS: Mapping[CompareBy, tuple[str, str]] = {
    "versions": ("Versions side by side", "Each version of a family of LLMs is compared with the next."),
    "serializers": ("Serializers side by side", "The same LLM is asked about the same rows, written in two ways."),
    "prompts": ("Prompt sets side by side", "The same LLM is asked the same queries, worded in two ways."),
    "runs": ("Runs side by side", "The results that two runs share are compared, each with its own verdict."),
}
CHANGED = ("appeared", "vanished")
MEANINGS = {
    "appeared": "appeared",
    "vanished": "vanished",
    "same": "stayed as they were",
    "unknown": "are not decided on both sides",
}
OPEN = 3  # if more groups changed, their squares are closed at first


@dataclass(frozen=True)
class ComparisonLine:
    """One line about a change: the kind of change in a word, the test, the table and the compared shares."""

    word: str
    where: str
    figures: str


@dataclass(frozen=True)
class ComparisonGroup:
    """The comparisons between two versions, or between two serializers, prompt sets or runs of one LLM."""

    llm: str
    first: str
    second: str
    counted: str
    changes: tuple[ComparisonLine, ...]
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[Comparison | None, ...]]  # by the test's title; values in the order of `columns`


@dataclass(frozen=True)
class Section:
    """The comparisons of one kind, such as serializers. Groups with a change that exceeds chance come first."""

    title: str
    about: str
    counted: str
    changed: tuple[ComparisonGroup, ...]
    others: tuple[ComparisonGroup, ...]


# listed: greatest number of a group's changes that are visible at once
def context(view: RunResults, *, listed: int = 12) -> dict[str, Any]:
    """Return the variables of `comparisons.html.jinja` other than `view`. A kind without comparisons has no section."""
    by_kind = grouped(view.comparisons, lambda comparison: comparison.kind)
    return {
        "compared": [_section(view, kind, by_kind[kind]) for kind in KINDS if kind in by_kind],
        "listed": listed,
        "opened_squares": OPEN,
        "half": _half,
        "compared_figures": lambda one: figures(one, view.run.recorded),
    }


def _section(view: RunResults, kind: CompareBy, found: Sequence[Comparison]) -> Section:
    pairs = grouped(found, lambda comparison: (comparison.llm, comparison.first, comparison.second))
    groups = sorted((_group(view, own) for own in pairs.values()), key=lambda group: -len(group.changes))
    changed = tuple(group for group in groups if group.changes)
    others = tuple(group for group in groups if not group.changes)
    return Section(*KINDS[kind], count_changes(found), changed, others)


def count_changes(found: Sequence[Comparison]) -> str:
    """Return sentences that count the changes of verdicts and of scores, and those that exceed chance."""
    scores = [one for one in found if one.first_verdict is one.second_verdict is None]
    results = [one for one in found if not (one.first_verdict is one.second_verdict is None)]
    parts = []
    for word, means in MEANINGS.items():
        own = [one for one in results if one.change == word]
        beyond = _beyond(own) if own and (word in CHANGED or any(one.beyond_chance for one in own)) else ""
        if own or word in CHANGED:
            parts.append(f"{len(own):,} {means}{beyond and f' ({beyond})'}")
    trials_of = [f"Of {len(results):,} verdicts {phrase(parts)}."] if results else []
    return " ".join([*trials_of, *([f"Of {len(scores):,} scores {_beyond(scores)}."] if scores else [])])


def _beyond(found: Sequence[Comparison]) -> str:
    beyond = sum(one.beyond_chance for one in found)
    return f"{f'{beyond:,}' if beyond else 'none'} {'differ' if beyond > 1 else 'differs'} by more than chance"


def _group(view: RunResults, found: Sequence[Comparison]) -> ComparisonGroup:
    first, labels = found[0], _labels(found)
    columns = dict.fromkeys(labels)
    tests = [test.id for test in in_order(view.facts[one.test] for one in found)]
    squares = {(one.test, label): one for one, label in zip(found, labels, strict=True)}
    telling = [each for each in zip(found, labels, strict=True) if each[0].change in CHANGED or each[0].beyond_chance]
    telling.sort(key=lambda each: (not each[0].beyond_chance, each[0].change not in CHANGED))
    return ComparisonGroup(
        first.llm,
        _name(view, first.kind, first.first),
        _name(view, first.kind, first.second),
        count_changes(found),
        tuple(_change(view, one, label) for one, label in telling),
        tuple(columns),
        {view.test_titles[test]: tuple(squares.get((test, column)) for column in columns) for test in tests},
    )


def _name(view: RunResults, kind: str, name: str) -> str:
    """Return a version's title in the catalogue, or a name without the blank at the end of recorded serializers."""
    return (view.title(name) if kind == "versions" else "") or name.strip()


def _labels(found: Sequence[Comparison]) -> list[str]:
    """Return each comparison's label: its dataset and what differs, such as edition, split, serializer, prompts."""
    editions = Counter(dataset for dataset, _ in {(one.dataset, one.edition) for one in found})
    splits = Counter(
        (dataset, edition) for dataset, edition, _ in {(one.dataset, one.edition, one.split) for one in found}
    )
    several = [way for way in WAYS.values() if len({getattr(one, way) for one in found}) > 1]
    labels = []
    for one in found:
        table = one.dataset + (f"@{one.edition}" if editions[one.dataset] > 1 and one.edition else "")
        table += one.of_split if splits[one.dataset, one.edition] > 1 else ""
        labels.append(" ".join([table, *filter(None, (getattr(one, way) for way in several))]))
    return labels


def _half(verdict: Verdict | None, share: float | None) -> tuple[str, str]:
    if verdict is None:
        return "-" if share is None else f"{share:.2f}", css_class(SCORE)
    return SIGNS[verdict], css_class(verdict)


def _change(view: RunResults, one: Comparison, label: str) -> ComparisonLine:
    outcome, other = outcome_of(one.first_verdict), outcome_of(one.second_verdict)
    verdicts = f"both {outcome}" if outcome == other else f"{outcome} → {other}"
    word = one.change if one.change in CHANGED else "differs"
    stated = figures(one, view.run.recorded)
    shares = stated if one.change in CHANGED else f"{verdicts}, {stated}"
    return ComparisonLine(word, f"{view.test_titles[one.test]} on {label}", shares)


def figures(one: Comparison, recorded: bool = False) -> str:
    """Return the two shares, the number of queries (`recorded` ones cannot be paired), and the conclusion on chance."""
    if one.first_share is None or one.second_share is None or one.p_value is None:
        return "cannot be tested"
    unpaired = "by the counts only" if recorded else "of different queries"
    of = f"of the same {one.queries} queries" if one.queries else unpaired
    q_value = "" if one.q_value is None else f" (q = {rounded('q_value', one.q_value)})"
    chance = "more than chance explains" if one.beyond_chance else "no more than chance explains"
    return f"{one.first_share:.0%} → {one.second_share:.0%} right {of}: {chance}{q_value}"
