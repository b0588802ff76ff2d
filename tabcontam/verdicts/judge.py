"""Trials to results: cells, tables, ranking. `run`, `rescore` and `report` share it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from tabcontam.evidence.base import DECIDED, Evidence, Kind, Measurement, Test, Trial, Verdict
from tabcontam.evidence.registry import BY_ID
from tabcontam.reading.words import Dictionary
from tabcontam.statistics.exact import clopper_pearson, mean_interval, spearman
from tabcontam.tables.serializers import Serializer
from tabcontam.verdicts.decisions import Decision, found, of_table, published, texts, without_evidence
from tabcontam.verdicts.rules import PAPER

SCHEMA = 1
LONGEST = 10_000  # characters of a reply that are read, many times what is asked for: reading takes its time
ENDED = "the run ended after"  # how the reason begins of a cell that was not asked to the end
Result = dict[str, Any]
BY_TESTS = {  # what the row tests that decide a table have in common, before their names
    Verdict.CONTAMINATED: "found by",
    Verdict.NOT_DETECTED: "not found by",
    Verdict.UNINFORMATIVE: "nothing could be told by",
    Verdict.NO_ANSWER: "no answer to",
    Verdict.SKIPPED: "not asked:",
}
SCORED = {"membership": "membership", "zero_shot": "classification_0shot", "one_shot": "classification_1shot"}
UNKNOWN: Result = {  # what is measured and concluded of a cell, before it is
    "verdict": None,
    "otherwise": None,  # of a contaminated cell: the verdict that it would have without the finding
    "paper_verdict": None,
    "score": None,
    "hits": 0,
    "expected_hits": None,
    "answered": 0,
    "queries": 0,
    "statistic": None,
    "null": None,
    "p_value": None,
    "q_value": None,
    "interval": None,
    "interval_of": None,
    "recalled_bits": None,
    "detectable_share": None,
    "reason": None,
    "sentence": None,
}


@dataclass(frozen=True)
class CellName:
    """What tells one cell from another; `control` says that it is a control that joined the run."""

    llm: str
    dataset: str
    edition: str
    serializer: str
    test: str
    control: bool = False

    @property
    def key(self) -> tuple[str, ...]:
        """The values of `fields`."""
        return tuple(self.fields().values())

    def fields(self) -> dict[str, str]:
        """The fields as they stand in trials.jsonl."""
        names = ("llm", "dataset", "edition", "serializer", "test")
        return {name: getattr(self, name) for name in names}


def read_trial(test: Test, trial: Trial, serializer: Serializer, dictionary: Dictionary) -> Trial:
    """The trial with its reading, of the beginning of a reply that goes on and on."""
    reply = replace(trial.reply, text=trial.reply.text[:LONGEST])
    return replace(trial, reading=test.read(trial.query, reply, serializer, dictionary))


def result(name: CellName, trials: Sequence[Trial], planned: int, rules: str, at: float, ended: str = "") -> Result:
    """The result of a cell from its read trials; a cell with fewer than were planned is never called clean.

    `at` is the p-value that a cell of this grid must reach; `ended` says why no more were asked, if something is known.
    Under the calibrated rules the verdict stands once `conclude` has seen all cells of the LLM.
    """
    test = BY_ID[name.test]
    evidence = test.weigh(trials, at)
    own = _whole(without_evidence(evidence, trials, test, at), trials, planned, ended)
    of_paper = [trial for trial in trials if trial.query.paper]
    measurement = test.published.measured(of_paper) if of_paper and test.published else None
    paper = _whole(published(measurement), trials, planned, ended) if measurement else Decision(None)
    if rules == PAPER and measurement is not None:
        decision, counted = paper, published_counts(measurement)
    else:
        decision, counted = own, _counts(evidence)
    return _fields(
        name,
        verdict=decision.verdict,
        paper_verdict=paper.verdict,
        queries=planned,
        reason=decision.reason,
        **_weighed(evidence),
        **counted,
    )


def _whole(decision: Decision, trials: Sequence[Trial], planned: int, ended: str) -> Decision:
    """The decision, unless it calls a cell clean that was not asked to the end."""
    if len(trials) == planned or decision.verdict is Verdict.CONTAMINATED:
        return decision
    return Decision(Verdict.NO_ANSWER, f"{ENDED} {len(trials)} of {planned} queries{ended and f': {ended}'}")


def _weighed(evidence: Evidence) -> Result:
    """What the calibrated rules decide by, recorded under either rules."""
    return {
        "statistic": {"name": evidence.statistic, "value": evidence.value, "expected": evidence.expected},
        "null": evidence.null,
        "p_value": evidence.p_value,
        "expected_hits": evidence.expected_hits,
        "interval": None if evidence.interval is None else [*evidence.interval],
        "interval_of": evidence.interval_of or None,
        "recalled_bits": evidence.recalled_bits,
        "detectable_share": evidence.share,
    }


def _counts(evidence: Evidence) -> Result:
    """What was counted under the calibrated rules; the score of a test without a verdict is its statistic."""
    share = round(evidence.hits / evidence.asked, 4) if evidence.asked else None
    return {
        "hits": evidence.hits,
        "answered": evidence.answered,
        "score": share if evidence.p_value is not None else round(evidence.value, 4),
        "sentence": evidence.sentence,
    }


def published_counts(measurement: Measurement) -> Result:
    """What was counted under the published rules, and the sentence that says so."""
    asked, hits, answered = len(measurement.trials), measurement.paper_hits, texts(measurement.trials)
    unread = f"; {asked - answered} of {asked} answers could not be read" if answered < asked else ""
    sentence = f"{hits} of {asked} {measurement.claim}{unread}"
    return {"hits": hits, "answered": answered, "score": round(hits / asked, 4), "sentence": sentence}


def conclude(cells: Sequence[Result], rules: str, alpha: float) -> list[Result]:
    """The cells with their q-values over all cells of the same LLM and, under the calibrated rules, their verdicts."""
    return _by_llm(cells, rules, alpha, _concluded)


def _by_llm(
    lines: Sequence[Result], rules: str, alpha: float, decided: Callable[[Result, float, bool, str], Result]
) -> list[Result]:
    """The lines with what is decided of those that have a p-value, within the family of their LLM."""
    families: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if line["p_value"] is not None:
            families.setdefault(line["llm"], []).append(number)
    concluded = list(lines)
    for numbers in families.values():
        decisions = found([lines[number]["p_value"] for number in numbers], alpha)
        for number, (q_value, finding) in zip(numbers, decisions, strict=True):
            concluded[number] = decided(lines[number], q_value, finding, rules)
    return concluded


def _concluded(cell: Result, q_value: float, finding: bool, rules: str) -> Result:
    cell = cell | {"q_value": q_value}
    if rules == PAPER and cell["test"] in BY_ID and BY_ID[cell["test"]].number is not None:
        return cell
    # a smaller run, whose family this one is larger than, may have found it
    own = cell.get("otherwise") or cell["verdict"]
    if own == Verdict.CONTAMINATED:
        own = str(Verdict.NOT_DETECTED)
    if finding:
        reason = None if own == Verdict.NOT_DETECTED else cell["reason"]
        return cell | {"verdict": str(Verdict.CONTAMINATED), "otherwise": own, "reason": reason}
    cell = cell | {"verdict": own, "otherwise": None}
    if cell["verdict"] == Verdict.NOT_DETECTED:
        return cell | {"reason": _seen(cell["detectable_share"])}
    return cell


def surely_found(cell: Result, rules: str, at: float) -> bool:
    """Whether a cell is contaminated whatever the cells that are still to be asked will show."""
    if rules == PAPER:
        return bool(cell["verdict"] == Verdict.CONTAMINATED)
    return cell["p_value"] is not None and cell["p_value"] <= at


def _seen(share: float | None) -> str | None:
    return None if share is None else f"{share:.0%} of the rows would have been seen"


def unjudged(name: CellName, verdict: Verdict, reason: str, queries: int = 0) -> Result:
    """The result of a cell that has no trials: skipped, or not answered."""
    return _fields(name, verdict=verdict, queries=queries, reason=reason, sentence=reason)


def _fields(name: CellName, **known: object) -> Result:
    fields = {**name.fields(), "kind": str(BY_ID[name.test].kind), "control": name.control, **UNKNOWN}
    fields |= {key: str(value) if isinstance(value, Verdict) else value for key, value in known.items()}
    return fields


def results(run: Mapping[str, object], cells: Sequence[Result], rules: str, alpha: float) -> Result:
    """results.json: the run, its cells, a line for each table, the ranking of the LLMs under test, and what it shows.

    Comparisons need the trials, too: `run_folder.record` adds them.
    """
    concluded = conclude(cells, rules, alpha)
    ranked = ranking(concluded, rules)
    return {
        "schema": SCHEMA,
        "run": dict(run),
        "cells": concluded,
        "tables": tables(concluded, rules, alpha),
        "ranking": ranked,
        "correlations": correlations(ranked),
    }


def tables(cells: Iterable[Result], rules: str, alpha: float) -> list[Result]:
    """One line for each (LLM, dataset, serializer): what its row tests say together, whatever their dependence."""
    grouped: dict[tuple[str, ...], list[Result]] = {}
    for cell in cells:
        key = tuple(str(cell[name]) for name in ("llm", "dataset", "edition", "serializer"))
        if BY_ID[cell["test"]].of_rows:
            grouped.setdefault(key, []).append(cell)
    return _by_llm([_table(key, rows) for key, rows in grouped.items()], rules, alpha, _concluded_table)


def _table(key: tuple[str, ...], cells: Sequence[Result]) -> Result:
    verdicts = [cell["verdict"] for cell in cells]
    order = (Verdict.CONTAMINATED, Verdict.NOT_DETECTED, Verdict.NO_ANSWER, Verdict.UNINFORMATIVE, Verdict.SKIPPED)
    verdict = next((word for word in order if word in verdicts), Verdict.SKIPPED)
    tests = ", ".join(cell["test"] for cell in cells if cell["verdict"] == verdict)
    shares = [cell["detectable_share"] for cell in cells if cell["detectable_share"] is not None]
    recalled = [cell["recalled_bits"] for cell in cells if cell["recalled_bits"] is not None]
    return {
        **dict(zip(("llm", "dataset", "edition", "serializer"), key, strict=True)),
        "verdict": str(verdict),
        "p_value": of_table([cell["p_value"] for cell in cells if cell["p_value"] is not None]),
        "q_value": None,
        "recalled_bits": sum(recalled) if recalled else None,
        "detectable_share": min(shares, default=None),
        "reason": f"{BY_TESTS[verdict]} {tests}",
    }


def _concluded_table(table: Result, q_value: float, finding: bool, rules: str) -> Result:
    table = table | {"q_value": q_value}
    if rules == PAPER:
        return table
    if finding:
        reason = f"the row tests together: p = {table['p_value']:.2g}"
        return table | {"verdict": str(Verdict.CONTAMINATED), "reason": reason}
    if table["verdict"] in DECIDED:
        seen = _seen(table["detectable_share"])
        return table | {"verdict": str(Verdict.NOT_DETECTED), "reason": seen or "the row tests together find nothing"}
    return table


def ranking(cells: Iterable[Result], rules: str) -> list[Result]:
    """Table 2 of the paper: the LLMs under test by contamination score, highest first; intervals have 95%.

    The score is contaminated over decided cells of tests 1 to 9, and under the paper's rules over all of them; its
    interval is Clopper and Pearson's, as if each cell were a draw of its own (those of one table depend on each other).
    The others are means over the tables: of the AUC, and of the accuracy, beside which stands what always saying the
    largest class gets on the same rows. Their intervals are made of those of the cells, so they hold for these tables
    and the rows drawn from them: a bootstrap over the tables would speak of tables to come, from two or three.
    """
    by_llm: dict[str, list[Result]] = {}
    for cell in cells:
        if not cell["control"]:
            by_llm.setdefault(cell["llm"], []).append(cell)
    lines = [_ranked(llm, group, rules) for llm, group in by_llm.items()]
    return sorted(lines, key=lambda line: -(line["score"] if line["score"] is not None else -1))


def _ranked(llm: str, cells: Sequence[Result], rules: str) -> Result:
    numbered = [cell for cell in cells if cell["test"] in BY_ID and BY_ID[cell["test"]].number is not None]
    counted = numbered if rules == PAPER else [cell for cell in numbered if cell["verdict"] in DECIDED]
    found = sum(cell["verdict"] == Verdict.CONTAMINATED for cell in counted)
    scored = {name: _scored(cells, test) for name, test in SCORED.items()}
    majorities = {name: _majority(scored[name]) for name in ("zero_shot", "one_shot")}
    return {
        "llm": llm,
        "score": round(found / len(counted), 4) if counted else None,
        **{name: round(fmean(cell["score"] for cell in own), 4) if own else None for name, own in scored.items()},
        "score_interval": _rounded(clopper_pearson(found, len(counted))) if counted else None,
        **{f"{name}_interval": _mean_interval(own) for name, own in scored.items()},
        **{f"{name}_majority": majority for name, majority in majorities.items()},
    }


def _scored(cells: Iterable[Result], test: str) -> list[Result]:
    """The cells of a test that have a score and no verdict."""
    kinds = (Kind.MEMBERSHIP, Kind.CLASSIFICATION)
    own = [cell for cell in cells if cell["test"] == test and cell["kind"] in kinds]
    return [cell for cell in own if cell["verdict"] is None and cell["score"] is not None]


def _majority(cells: Sequence[Result]) -> float | None:
    """What always saying the largest class gets on the rows that these cells asked, on average."""
    known = [(cell["statistic"] or {}).get("expected") for cell in cells]
    majorities = [majority for majority in known if majority is not None]
    return round(fmean(majorities), 4) if majorities and len(majorities) == len(cells) else None


def _mean_interval(cells: Sequence[Result]) -> list[float] | None:
    """The interval of the mean of the cells' scores; those of one table ask the same rows, so none makes it surer."""
    by_table: dict[tuple[str, ...], list[tuple[float, float, float]]] = {}
    for cell in cells:
        if (interval := _score_interval(cell)) is None:
            return None
        by_table.setdefault((cell["dataset"], cell["edition"]), []).append((cell["score"], *interval))
    if not by_table:
        return None
    means = [[fmean(numbers) for numbers in zip(*own, strict=True)] for own in by_table.values()]
    weights = [len(own) / len(cells) for own in by_table.values()]
    return _rounded(mean_interval([mean[0] for mean in means], [(low, high) for _, low, high in means], weights))


def _score_interval(cell: Result) -> tuple[float, float] | None:
    """The cell's own interval where it is of the score; else of the share that its counts are; None without counts."""
    measured, low_high = (cell["statistic"] or {}).get("value"), cell["interval"]
    if measured is not None and low_high is not None and round(measured, 4) == round(cell["score"], 4):
        return low_high[0], low_high[1]
    asked = round(cell["hits"] / cell["score"]) if cell["score"] and cell["hits"] else cell["queries"]
    return clopper_pearson(cell["hits"] or 0, asked) if asked else None


def _rounded(interval: tuple[float, float]) -> list[float]:
    return [round(limit, 4) for limit in interval]


def correlations(ranked: Sequence[Result]) -> list[Result]:
    """How the score goes together with the other measures over the ranked LLMs: Spearman's coefficient.

    The plot behind the paper's section 5.4: the more contaminated, the better it classifies. An LLM without either
    measure is left out; `llms` says how many are in. Coefficient, 95% interval and p-value are null where they cannot
    be had: with fewer than four LLMs, or where all have the same.
    """
    return [_correlation(ranked, "score", name) for name in ("zero_shot", "one_shot", "membership")]


def _correlation(ranked: Sequence[Result], first: str, second: str) -> Result:
    both = [line for line in ranked if line[first] is not None and line[second] is not None]
    found = spearman([line[first] for line in both], [line[second] for line in both])
    return {
        "first": first,
        "second": second,
        "llms": len(both),
        "value": round(found.value, 4) if found else None,
        "interval": _rounded(found.interval) if found else None,
        "p_value": found.p_value if found else None,
    }
