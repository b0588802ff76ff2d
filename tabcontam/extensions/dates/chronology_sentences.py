"""Accuracies before and after the end of training data, in words and in JSON, with the conclusions of the tests."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tabcontam.extensions.dates.chronological_analysis import (
    ALL,
    Chronology,
    OpennessGroup,
    SideCounts,
    TableDifficulty,
)
from tabcontam.extensions.dates.date_exchange import DateExchange, Trend
from tabcontam.extensions.dates.dated_pairs import CutoffComparison, DatedPair
from tabcontam.extensions.dates.task_contamination import PublishedAccuracies, published_for_tests
from tabcontam.extensions.dates.thresholds import DATE_LEVEL
from tabcontam.verdicts.dating import AFTER, BEFORE
from tabcontam.verdicts.wording import phrase, rounded
from tabcontam.version import __version__

SIDES = {BEFORE: "before", AFTER: "after", 0: "neither"}
ABOUT = (
    "These are accuracies of classification on tables that came out before an LLM's training data end, and after (Li "
    "and Flanigan 2024, Task Contamination). This is no verdict: a table may be easier because it is older, and it is "
    "not known whether the LLM read the older ones. A table that came out in the very month or year in which training "
    "data end is on neither side."
)
INDEPENDENT = "these tests assume independent pairs, but pairs of one table depend on each other"
MINUS = "\N{MINUS SIGN}"
NONE = "\N{EN DASH}"


def document(
    found: Sequence[Chronology], left_out: Sequence[str], runs: Sequence[str], *, schema: int = 1
) -> Mapping[str, Any]:
    """Return the content of chronology.json: each test's pairs, groups, LLMs and difficulty, and omitted results."""
    return {
        "schema": schema,
        "made_by": f"tabcontam {__version__}",
        "runs": list(runs),
        "tests": [_stated(one) for one in found],
        "left_out": list(left_out),
        "published": [_stated_published(one) for one in published_for_tests([one.test for one in found])],
    }


def _stated_published(found: PublishedAccuracies) -> dict[str, Any]:
    return {
        "shots": found.shots,
        "sentences": list(published_words(found)),
        "groups": [asdict(group) for group in found.groups],
        "printed": {"before": found.printed[0], "after": found.printed[1]},
        "pairs": [_pair(pair) for pair in found.pairs],
    }


def _stated(found: Chronology) -> dict[str, Any]:
    difficulty = found.difficulty
    return {
        "test": found.test,
        "title": found.title,
        "sentences": list(sentences(found)),
        "pairs": [_pair(pair) for pair in found.pairs],
        "groups": [asdict(group) for group in found.groups],
        "llms": [{key: value for key, value in asdict(one).items() if key != "pairs"} for one in found.llms],
        "tables": [asdict(one) for one in found.tables],
        "difficulty": asdict(difficulty) | {"explains": difficulty.explains} if difficulty else None,
    }


def _pair(pair: DatedPair) -> dict[str, Any]:
    half, p_value = pair.t_test
    return asdict(pair) | {
        "side": SIDES[pair.side],
        "accuracy": round(pair.accuracy, 4),
        "lift": round(pair.lift, 4),
        "interval": [round(limit, 4) for limit in pair.interval],
        "t_half_width": round(half, 4),
        "t_p_value": p_value,
        "exact_p_value": pair.exact_p,
    }


def sentences(found: Chronology) -> tuple[str, ...]:
    """Return sentences on one test's accuracies on tables from before and after the LLMs' cut-offs."""
    whole, within = found.whole, [both_words(one) for one in found.tables]
    if not found.pairs:
        return tuple(within)
    lines = [*within, _sides(whole)]
    if not whole.before.pairs or not whole.after.pairs:
        none = "after" if not whole.after.pairs else "before"
        return (*lines, f"No table came out {none} the training data of an LLM end, so there is nothing to compare.")
    lines += [_dates(whole), *_concluded(found), f"{_published(whole)}."]
    lines += [f"Of {called(group)} alone: {_dates(group)}" for group in found.groups[1:] if group.dates]
    return tuple(lines)


def both_words(found: CutoffComparison) -> str:
    """Return a sentence on an LLM's accuracy on rows of one table, before and after the LLM's cut-off."""
    sides = [
        f"{rows.hits} of {rows.answered} rows {words} (accuracy {rows.accuracy:.2f}, majority {rows.majority:.2f})"
        for rows, words in (
            (found.before, f"from before {found.before.split[7:]}"),
            (found.after, f"from after {found.after.split[6:]}"),
        )
    ]
    p_value = format_p_value(found.p_value)
    return f"On {found.dataset}, {found.title} is right on {' and '.join(sides)}; Fisher's exact test: p = {p_value}."


def _sides(group: OpennessGroup) -> str:
    before, after = group.before, group.after
    return (
        f"Of {pairs(before)} of an LLM and a table that came out before its training data end, {before.above} "
        f"{_are(before.above)} above the majority class, {before.significant} of them significantly; of {pairs(after)} "
        f"whose table came out after, {after.above} {_are(after.above)}, {after.significant} of them significantly "
        f"(t-test at 99%; by the exact binomial test {before.exactly} and {after.exactly})."
    )


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def pairs(side: SideCounts) -> str:
    """Return the number of pairs with its noun: `1 pair`, `3 pairs`."""
    return f"{side.pairs:,} pair{'' if side.pairs == 1 else 's'}"


def signed(value: float | None, digits: int = 3) -> str:
    """Return a difference with its sign, or a dash for None."""
    if value is None:
        return NONE
    text = f"{abs(value):.{digits}f}"
    return f"{MINUS if value < 0 else '+'}{text}"


def format_p_value(value: float | None) -> str:
    """Return a p-value in a form for people, or a dash for None."""
    return NONE if value is None else rounded("p_value", value)


def ways(found: DateExchange) -> str:
    """Return in words how many exchanges of release dates the permutation test used: all, or a random sample."""
    return f"all {found.ways:,} ways" if found.exact else f"{found.ways:,} random ways"


def _dates(group: OpennessGroup) -> str:
    found = group.dates
    if found is None:
        return "No LLM has accuracies on tables from both before and after the end of its training data."
    llms = "the one LLM that has" if found.llms == 1 else f"the {found.llms} LLMs that have"
    return (
        f"Over {llms} both, the lift over the majority class before minus that after is {signed(found.difference)}; "
        f"if release dates are exchanged between tables, it is as large with p = {format_p_value(found.p_value)} "
        f"({ways(found)})."
    )


def _concluded(found: Chronology) -> list[str]:
    dates, difficulty = found.whole.dates, found.difficulty
    if dates is None:
        return []
    if dates.exact and dates.ways * DATE_LEVEL < 1:
        lines = [f"There are too few tables: none of {dates.ways} ways can have a p-value below {1 / dates.ways:.2g}."]
    elif dates.p_value > DATE_LEVEL:
        lines = ["Chance may explain the difference, so dates show nothing here."]
    else:
        lines = ["So the LLMs are better on tables that they may have read, by more than chance explains."]
    if difficulty is None:
        return [*lines, "The difficulty of the tables was not measured: --difficulty trains a baseline on each."]
    return [*lines, *_hard(difficulty)]


def _hard(found: TableDifficulty) -> list[str]:
    lines = []
    if found.unknown:
        lines.append(f"The difficulty of {phrase(found.unknown)} is not known.")
    if found.drift is None:
        lines.append("Too few tables have a baseline to show whether later ones are harder.")
    else:
        lines.append(
            f"A supervised baseline's lift changes with the year of release by {signed(found.drift.slope, 4)} a year "
            f"(R² = {found.drift.r_squared:.3f}, Spearman {signed(found.drift.rho, 2)}, p = "
            f"{format_p_value(found.drift.p_value)})."
        )
    if found.left is not None:
        difference = f"{signed(found.left.difference)} (p = {format_p_value(found.left.p_value)})"
        left = f"Corrected for the baseline, the difference is {difference}"
        if found.explains:
            lines.append(f"{left}: difficulty explains it.")
        elif found.dates is not None and found.dates.p_value <= DATE_LEVEL:
            lines.append(f"{left}: difficulty does not explain it.")
        else:
            lines.append(f"{left}.")
    return lines


def _published(group: OpennessGroup) -> str:
    parts = [
        f"Mann-Whitney's p = {format_p_value(group.above_p)} (above the majority) and "
        f"{format_p_value(group.significant_p)} (significantly above)"
    ]
    if group.signs:
        more, less, value = group.signs
        counts = f"more often above before than after: {more}, less often: {less}"
        parts.append(f"the paired sign test over LLMs p = {format_p_value(value)} ({counts})")
    return f"The tests of the paper give {'; '.join(parts)}; {INDEPENDENT}"


def trend_words(found: Trend | None) -> str:
    """Return the yearly change of an LLM's lift with its p-value; a dash if there are too few tables."""
    return NONE if found is None else f"{signed(found.slope, 4)} a year (p = {format_p_value(found.p_value)})"


def called(group: OpennessGroup) -> str:
    """Return the name of a group of LLMs for a sentence."""
    return "all LLMs" if group.name == ALL else f"{group.name} LLMs"


def side_words(side: SideCounts) -> str:
    """Return `7 of 9 (5)`: 7 of 9 tables on this side are above the majority class, 5 of them significantly."""
    return f"{side.above} of {side.pairs} ({side.significant})" if side.pairs else NONE


def releases(found: Chronology) -> list[tuple[str, str, str]]:
    """Return each table with its first release, the date of its last rows if later, and the date's source or ""."""
    tables = {
        pair.dataset: (pair.dataset, " to ".join(filter(None, (pair.released, pair.completed))), pair.released_source)
        for pair in found.pairs
    }
    return sorted(tables.values(), key=lambda one: one[1])


def published_words(found: PublishedAccuracies) -> tuple[str, ...]:
    """Return sentences on published results of other models and datasets, with the statistics of this report."""
    whole = found.whole
    names = phrase([f"{llm} on {dataset}" for llm, dataset in found.significant]) or "none"
    dates = (
        f"With dates exchanged, {signed(whole.dates.difference)} has p = {format_p_value(whole.dates.p_value)}. "
        if whole.dates
        else ""
    )
    return (
        _sides(whole),
        f"{dates}{_published(whole)}.",
        f"{found.printed[0]} pairs before and {found.printed[1]} after lie more than the printed half-width above the "
        "majority; these half-widths come from the variance of one answer, and are about half of those at 99%.",
        f"Of {found.unextracted} later pairs without extracted task examples, the t-test is significant for: {names}. "
        f"A trained baseline's accuracy depends on the year of release with R² = {found.baseline:g}.",
    )
