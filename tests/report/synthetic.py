"""Results and trials made up for the report's tests: every verdict, any size, hostile text."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tabcontam.evidence.base import EvidenceKind, Facts, Family, Verdict
from tabcontam.verdicts.document import parse_results
from tabcontam.verdicts.result_building import BY_TESTS, tables
from tabcontam.verdicts.result_types import PROMPTS
from tabcontam.verdicts.run_facts import in_order, known_tests

HOSTILE = (
    "<script>alert(1)</script> [red]red[/red] \x1b[31m ]]> \x00 \x9b \u202e 汉字 \"quotes\" 'n' {{ 7 * 7 }} & \ud800"
)

KINDS = {
    "feature_list_informed": "knowledge",
    "feature_list_uninformed": "knowledge",
    "recognition_features": "knowledge",
    "recognition_examples": "memorization",
    "feature_values_informed": "memorization",
    "feature_values_uninformed": "memorization",
    "incomplete_completion": "memorization",
    "full_completion": "memorization",
    "feature_completion": "memorization",
    "membership": "membership",
    "matched_membership": "membership",
    "classification_0shot": "classification",
    "classification_1shot": "classification",
}
CHOICES = ("membership", "matched_membership", "classification_0shot", "classification_1shot")  # no cells of a row
ROW_TESTS = ("incomplete_completion", "full_completion", "feature_completion", "matched_membership")
EXPOSURES = {"control:exposed": 1, "control:unexposed": 0}  # copies that the controls have read, at the least
SCORED = ("membership", "classification_0shot", "classification_1shot")
VERDICTS = ("contaminated", "not detected", "uninformative", "no answer", "skipped")
REASONS = {
    "uninformative": "a guesser would be right as often",
    "no answer": "2 of 25 answers readable",
    "skipped": "controls cannot take part in classification",
}


def cell(llm: str, dataset: str, test: str, verdict: str | None, **changes: Any) -> dict[str, Any]:
    """One cell of results.json."""
    scored, judged = verdict is None, verdict in ("contaminated", "not detected", "no answer")
    sentence = {
        "contaminated": f"3 of 25 queries on {dataset} were answered as only the table could.",
        "not detected": f"0 of 25 queries on {dataset} were answered as only the table could.",
    }.get(verdict or "", "right in 13 of 25 answers" if scored else "")
    return {
        "llm": llm,
        "dataset": dataset,
        "edition": "uci",
        "serializer": "list",
        "test": test,
        "kind": KINDS.get(test, "memorization"),
        "control": False,
        "exposure": EXPOSURES.get(llm),
        "verdict": verdict,
        "otherwise": "not detected" if verdict == "contaminated" else None,
        "paper_verdict": verdict if judged and test != "matched_membership" else None,
        "score": 0.52 if scored else None,
        "hits": 0 if verdict == "skipped" else 3,
        "expected_hits": None,
        "answered": 0 if verdict == "skipped" else 25,
        "queries": 0 if verdict == "skipped" else 25,
        "statistic": None,
        "null": None,
        "p_value": None,
        "q_value": None,
        "interval": None,
        "interval_of": None,
        "recalled_bits": None,
        "detectable_share": None,
        "reason": REASONS.get(verdict or "", ""),
        "sentence": sentence,
    } | changes


def weighed(llm: str, dataset: str, test: str, verdict: str, **changes: Any) -> dict[str, Any]:
    """One cell with all that the calibrated rules record of a row test that was asked."""
    found = verdict == "contaminated"
    value, expected, p_value = (212.3125, 9.07, 3.1e-41) if found else (8.25, 9.07, 0.57)
    sentence = (
        "18 of 45 cut rows are right, and 0.7 are expected of the baseline; recalled bits 212, "
        "9 expected by chance (p = 3e-41)"
        if found
        else "1 of 45 cut rows is right, and 0.7 are expected of the baseline"
    )
    return cell(
        llm,
        dataset,
        test,
        verdict,
        **{
            "score": 0.4 if found else 0.0222,
            "hits": 18 if found else 1,
            "expected_hits": 0.7,
            "answered": 45,
            "queries": 45,
            "statistic": {"name": "recalled bits", "value": value, "expected": expected},
            "null": "the hidden cells drawn anew from what the rest of the row tells, the answers as they are",
            "p_value": p_value,
            "q_value": 9 * p_value if found else 0.81,
            "interval": [0.25, 0.55] if found else [0.0, 0.11],
            "interval_of": "rows remembered",
            "recalled_bits": value,
            "detectable_share": 0.12,
            "reason": None if found else "a model that remembers 12% of the rows would have been detected",
            "sentence": sentence,
        }
        | changes,
    )


def shared(
    llm: str, dataset: str, share: float, interval: Sequence[float], *, memory: dict[str, Any] | None = None, **of: Any
) -> dict[str, Any]:
    """One cell of memory's share: of an accuracy of 0.84, unless `memory` has another."""
    low, high = interval
    own: dict[str, Any] = {
        "pairs": 100,
        "left_out": 0,
        "accuracy": 0.84,
        "twin_accuracy": 0.71,
        "share": share,
        "p_value": 0.003,
    }
    own |= {"interval": [low, high], "deviation": 0.4, "if_wrong": None}
    said = f"accuracy 0.84, on unseen twins of the same rows 0.71; memory's share {share:.2f} ({low:.2f} to {high:.2f})"
    about = {"kind": "classification", "score": max(0.0, share), "hits": 84, "answered": 100, "queries": 200}
    about |= {"statistic": {"name": "memory's share", "value": share, "expected": 0.0}, "interval": [low, high]}
    about |= {"interval_of": "memory's share", "sentence": said, "memory": own | (memory or {})}
    return cell(llm, dataset, "memory_share", None, **about | of)


def table(llm: str, dataset: str, verdict: str, **changes: Any) -> dict[str, Any]:
    """One line of the tables of results.json."""
    found, decided = verdict == "contaminated", verdict in ("contaminated", "not detected")
    reasons = {
        "contaminated": "the row tests together: p = 1.2e-40",
        "not detected": "a model that remembers 12% of the rows would have been detected",
    }
    return {
        "llm": llm,
        "dataset": dataset,
        "edition": "uci",
        "serializer": "list",
        "verdict": verdict,
        "p_value": (1.2e-40 if found else 0.9) if decided else None,
        "q_value": (2.4e-40 if found else 0.95) if decided else None,
        "recalled_bits": (424.625 if found else 8.25) if decided else None,
        "detectable_share": 0.12 if decided else None,
        "reason": reasons.get(verdict, f"{BY_TESTS[Verdict(verdict)]} {', '.join(ROW_TESTS)}"),
    } | changes


def tables_of(cells: Sequence[dict[str, Any]], rules: str = "calibrated", alpha: float = 0.01) -> list[dict[str, Any]]:
    """The verdicts on the tables of these cells, as the project comes to them."""
    view = parse_results(document([*cells]))
    return [asdict(verdict) for verdict in tables(view.results, rules, alpha, view.facts)]


def trial(of: dict[str, Any], query: str, **changes: Any) -> dict[str, Any]:
    """One line of trials.jsonl that belongs to the cell `of`."""
    return {
        **{key: of[key] for key in ("llm", "dataset", "edition", "serializer", "test")},
        "split": of.get("split", ""),
        "prompts": of.get("prompts", PROMPTS),
        "query": query,
        "paper": True,
        "prompt": [
            {"role": "system", "content": "Complete the row of the dataset."},
            {"role": "user", "content": "sepal length = 5.1, sepal width = 3.5, petal length ="},
        ],
        "asked": ["petal length", "petal width"],
        "expected": {"petal length": "1.4", "petal width": None},
        "reply": "petal length = 1.4, petal width = 0.2",
        "state": "ok",
        "detail": "",
        "parsed": {"petal length": "1.4", "petal width": "0.2"},
        "hit": True,
        "readable": changes.get("parsed", True) is not None and of["test"] not in CHOICES,
        "unread": None,
        "decoy_of": "",
        "chance": {},
        "tokens": 12,
        "cached": False,
    } | changes


def results(llms: Sequence[str], datasets: Sequence[str], **changes: Any) -> dict[str, Any]:
    """A run over all tests in which every verdict occurs; an LLM named `control:…` joins as a control."""
    cells, lines = [], []
    for first, llm in enumerate(llms):
        for second, dataset in enumerate(datasets):
            control = llm.startswith("control:")
            lines.append(table(llm, dataset, VERDICTS[(first + second) % 5]))
            for third, test in enumerate(KINDS):
                verdict: str | None = VERDICTS[(first + second + third * third) % 5]
                if test in SCORED:
                    verdict = "skipped" if control else None
                if verdict in ("contaminated", "not detected") and test in ROW_TESTS:
                    cells.append(weighed(llm, dataset, test, verdict, control=control))
                else:
                    cells.append(cell(llm, dataset, test, verdict, control=control))
    return document(cells, lines, **changes)


def document(cells: list[dict[str, Any]], tables: Sequence[dict[str, Any]] = (), **changes: Any) -> dict[str, Any]:
    """A results.json around `cells` and `tables`; `changes` are of the run."""
    llms = list(dict.fromkeys(one["llm"] for one in cells))
    datasets = list(dict.fromkeys(one["dataset"] for one in cells))
    run = {
        "version": "0.1.0",
        "versions": {"python": "3.11.7", "pandas": "2.3.3", "scikit-learn": "1.7.2"},
        "command": "python -m tabcontam run --llm gpt-4o",
        "started": "2026-01-02T03:04:05+00:00",
        "seconds": 12.34,
        "seed": 0,
        "rules": "calibrated",
        "alpha": 0.01,
        "level": 0.0005,
        "dictionary": "portable en_US 2020.12.07",
        "llms": [
            {"spec": llm, "resolved": llm, "version": "v1", "control": own, "checks": llm in EXPOSURES}
            for llm in llms
            for own in [llm.startswith("control:")]
        ],
        "datasets": [
            {
                "name": dataset,
                "title": f"The {dataset} data",
                "edition": "uci",
                "sha256": "3f2a91bc" * 8,
                "rows": 150,
                "columns": 5,
                "order": None,
            }
            for dataset in datasets
        ],
        "serializers": [{"name": "list", "specifier": "", "value_separator": " = ", "feature_separator": ", "}],
        "finished": True,
        "interrupted": False,
        "limit": None,
    }
    ranking = [
        {"llm": llm, "score": max(0.5 - 0.01 * place, 0.0), "membership": 0.52, "zero_shot": 0.61, "one_shot": None}
        for place, llm in enumerate(llms)
    ]
    run = {"tests": [asdict(one) for one in facts_of({one["test"]: one["kind"] for one in cells})], **run, **changes}
    return {"schema": 1, "run": run, "results": cells, "tables": [*tables], "ranking": ranking}


def with_facts(of: dict[str, Any]) -> dict[str, Any]:
    """Return the document with the facts of each test that a result or a comparison of it names."""
    named = [one["test"] for one in (*of["results"], *of.get("comparisons", ()))]
    facts = facts_of({test: KINDS.get(test, "memorization") for test in named})
    return {**of, "run": {**of["run"], "tests": [asdict(one) for one in facts]}}


def facts_of(kinds: Mapping[str, str]) -> list[Facts]:
    """Return what is known of these tests, each with its kind; of a test that is not ours, the least that can be."""
    return [*in_order(known_tests().get(test) or _foreign(test, EvidenceKind(kind)) for test, kind in kinds.items())]


def _foreign(test: str, kind: EvidenceKind) -> Facts:
    family = Family.KNOWLEDGE if kind in (EvidenceKind.KNOWLEDGE, EvidenceKind.MEMORIZATION) else Family.SCORE
    return Facts(
        id=test,
        title=test,
        number=None,
        kind=kind,
        family=family,
        row_test=False,
        decides=True,
        shows_rows=False,
        measure="",
    )


def trials(of: dict[str, Any], each: int = 5, **changes: Any) -> list[dict[str, Any]]:
    """`each` trials a cell that was asked."""
    asked = [one for one in of["results"] if one["verdict"] != "skipped"]
    return [trial(one, f"{number}", **changes) for one in asked for number in range(each)]
