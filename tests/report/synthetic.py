"""Results and trials made up for the report's tests: every verdict, any size, hostile text."""

from collections.abc import Sequence
from typing import Any

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
    "classification_0shot": "classification",
    "classification_1shot": "classification",
}
VERDICTS = ("contaminated", "not detected", "uninformative", "no answer", "skipped")
REASONS = {
    "uninformative": "a guesser would be right as often",
    "no answer": "2 of 25 answers readable",
    "skipped": "controls cannot take part in classification",
}


def cell(llm: str, dataset: str, test: str, verdict: str | None, **changes: Any) -> dict[str, Any]:
    """One cell of results.json."""
    scored = verdict is None
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
        "verdict": verdict,
        "paper_verdict": verdict,
        "score": 0.52 if scored else None,
        "hits": None if verdict == "skipped" else 3,
        "expected_hits": None,
        "answered": None if verdict == "skipped" else 25,
        "queries": None if verdict == "skipped" else 25,
        "null": None,
        "p_value": None,
        "q_value": None,
        "interval": None,
        "recalled_bits": None,
        "detectable_share": None,
        "reason": REASONS.get(verdict or "", ""),
        "sentence": sentence,
    } | changes


def trial(of: dict[str, Any], query: str, **changes: Any) -> dict[str, Any]:
    """One line of trials.jsonl that belongs to the cell `of`."""
    return {
        **{key: of[key] for key in ("llm", "dataset", "edition", "serializer", "test")},
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
        "chance": None,
        "tokens": 12,
        "cached": False,
    } | changes


def results(llms: Sequence[str], datasets: Sequence[str], **changes: Any) -> dict[str, Any]:
    """A run over all tests in which every verdict occurs; an LLM named `control:…` joins as a control."""
    cells = []
    for first, llm in enumerate(llms):
        for second, dataset in enumerate(datasets):
            for third, test in enumerate(KINDS):
                verdict: str | None = VERDICTS[(first + second + third * third) % 5]
                if KINDS[test] in ("membership", "classification"):
                    verdict = "skipped" if llm.startswith("control:") else None
                cells.append(cell(llm, dataset, test, verdict, control=llm.startswith("control:")))
    return document(cells, **changes)


def document(cells: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """A results.json around `cells`."""
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
        "alpha": None,
        "dictionary": "portable en_US 2020.12.07",
        "llms": [{"spec": llm, "version": "v1", "control": llm.startswith("control:")} for llm in llms],
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
        "serializers": ["list"],
        "finished": True,
        "interrupted": False,
    }
    ranking = [
        {"llm": llm, "score": 0.5 - 0.01 * place, "membership": 0.52, "zero_shot": 0.61, "one_shot": None}
        for place, llm in enumerate(llms)
    ]
    return {"schema": 1, "run": run | changes, "cells": cells, "tables": [], "ranking": ranking}


def trials(of: dict[str, Any], each: int = 5, **changes: Any) -> list[dict[str, Any]]:
    """`each` trials a cell that was asked."""
    asked = [one for one in of["cells"] if one["verdict"] != "skipped"]
    return [trial(one, f"{number}", **changes) for one in asked for number in range(each)]
