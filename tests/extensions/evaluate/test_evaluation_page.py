"""The page of few-shot classification."""

import json
import re
from dataclasses import replace
from functools import cache

import pytest

from tabcontam.extensions.evaluate.evaluation_page import document, number, render_evaluation, sentences, signed
from tabcontam.extensions.evaluate.evaluation_results import Evaluation, published_auc
from tabcontam.extensions.evaluate.shot_results import ClassifierScore, MemoryFading, ShotMemory, ShotResult
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.verdicts.document import as_json

HOSTILE = "<script>alert('t')</script>"
LEARNERS = ("logistic regression", "gradient boosting")


def measured(name: str, value: float, auc: float | None = None) -> ClassifierScore:
    reach = None if auc is None else (auc - 0.1, auc + 0.1)
    return ClassifierScore(name, round(100 * value), 100, value, (value - 0.1, value + 0.1), 0.04, auc, reach, 0.05)


def at(shots: int, value: float, **changes: object) -> ShotResult:
    learners = tuple(measured(name, 0.7, 0.75) for name in LEARNERS) if shots else ()
    memory = ShotMemory(0.1 - shots / 100, (0.02 - shots / 100, 0.18 - shots / 100), 90, f"a sentence of {HOSTILE}")
    own = measured("", value, 0.8)
    made = ShotResult(shots, 100, 0, 0, 0, (), "log-probabilities", 0.6, own, own, learners, memory, {}, 5)
    return replace(made, **changes)  # type: ignore[arg-type]


FOUND = Evaluation(
    llm=HOSTILE,
    dataset="adult",
    edition="uci",
    serializer="text",
    reason="",
    unanswered=0,
    shots=(at(0, 0.7), at(4, 0.75, refused=3, unreadable=2), at(16, 0.8, failed=7, reasons=(f"too long {HOSTILE}",))),
    fading=MemoryFading(0, 16, -0.16, (-0.3, -0.02), 88),
    notes=("TabPFN is not installed",),
)


@cache
def page() -> str:
    """The page of what was found."""
    return render_evaluation([FOUND], f"evaluate --llm {HOSTILE}")


def test_the_page_escapes_what_others_wrote_and_loads_nothing() -> None:
    assert HOSTILE not in page()
    assert "&lt;script&gt;" in page()
    assert "default-src 'none'" in page()
    assert not re.search(r"(src|href)=", page())


def test_it_has_a_figure_of_accuracy_of_auc_and_of_memory() -> None:
    assert re.findall(r"<title id=\"plot-1-\d\">(.*?)</title>", page()) == [
        "Accuracy by shots", "AUC by shots", "Memory&#39;s share by shots",
    ]  # fmt: skip
    assert "gradient boosting at 4 shots: Accuracy 0.70, 0.60 to 0.80" in page()
    assert page().count('class="error"') == (3 + 2 + 2) * 2 + 3


def test_what_tabllm_published_is_a_mark_at_0_shots() -> None:
    assert "TabLLM (T0 11B), published at 0 shots: AUC 0.79" in page()
    assert "AISTATS 2023, tables 12 to 14" in page()
    assert "AISTATS" not in render_evaluation([replace(FOUND, dataset="mine.csv")], "")
    marked = {name for name in load_cards() if published_auc(name)}
    assert marked == {"adult", "bank", "blood", "car", "diabetes", "german", "heart", "housing"}


def test_errors_lost_answers_and_the_trend_are_said() -> None:
    said = sentences(FOUND)
    assert "At 4 shots, of 100 answers 3 refused and 2 named no class; these count as errors." in said
    assert any(line.startswith("At 16 shots, 7 of 107 rows got no answer and are left out") for line in said)
    trend = next(line for line in said if line.startswith("Memory's share fades with shots: 0.10 at 0 shots and"))
    assert "on the 88 rows that were answered at both" in trend
    assert trend.endswith("the difference is -0.16 (-0.30 to -0.02).".replace("-", "\N{MINUS SIGN}"))
    assert said[-1] == "TabPFN is not installed."


def test_nothing_asked_and_not_all_asked_are_said() -> None:
    empty = replace(FOUND, shots=(), fading=None, reason="it has no target", unanswered=30)
    assert sentences(empty)[0] == "Nothing was asked: it has no target."
    assert "<svg" not in render_evaluation([empty], "")
    cut = " ".join(sentences(replace(FOUND, unanswered=30, reason="--max-cost 1 is reached")))
    assert "30 queries are not answered yet, so the numbers here cover only the others: --max-cost 1 is reached." in cut


def test_the_document_holds_all_numbers_and_the_published_ones() -> None:
    held = json.loads(as_json(document([FOUND], "evaluate", 3)))
    assert held["seed"] == 3
    assert held["evaluations"][0]["shots"][1]["own"]["auc_interval"] == pytest.approx([0.7, 0.9])
    assert [mark["auc"] for mark in held["published"]] == [0.79]


def test_numbers_have_no_negative_zero() -> None:
    assert [number(-0.001), number(None), number(-0.5), signed(-0.001), signed(0.25)] == [
        "0.00", "-", "\N{MINUS SIGN}0.50", "0.00", "+0.25",
    ]  # fmt: skip
