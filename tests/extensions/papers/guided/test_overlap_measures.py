"""Learned overlaps: models are made here, tiny and untrained, so that what they compute can be compared."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tabcontam.errors import UsageError
from tabcontam.extensions.papers.guided.algorithm_one import AlgorithmOne, measured_by, overlaps
from tabcontam.extensions.papers.guided.guided_test import arm_of, first_piece
from tabcontam.extensions.papers.guided.overlap_measures import BertScore, Bleurt, OverlapMeasure, Rouge, measure_of
from tabcontam.tables.text_tasks import TextForm
from tests.extensions.papers.guided.encoders import encoder
from tests.extensions.papers.guided.test_guided_completion import recites, trials, true
from tests.extensions.papers.guided.texts import news

TEXTS = ("seven grey sloops", "a sloop of seven", "the ninth bell")


@dataclass(frozen=True)
class Counting(OverlapMeasure):
    """A measure that writes down what it is given."""

    called = "Counted"
    joined = True
    given: list[tuple[str, str]] = field(default_factory=list, compare=False)

    def score(self, expected: str, said: str) -> float:
        self.given.append((expected, said))
        return float(expected == said)


@pytest.mark.parametrize("form", [TextForm.CLASSIFICATION, TextForm.PAIR])
def test_single_texts_are_joined_with_their_first_pieces_and_pairs_are_not(form: TextForm) -> None:
    measure, own = Counting(), trials(recites(10, ("",)), news(90, form))
    with measured_by(measure):
        pairs = overlaps(own)
        assert AlgorithmOne("claim").describe(own).startswith("10 of 10 claim: Counted 1.00 guided, 0.00 general")
    assert pairs == [(1.0, 0.0)] * 10
    first = next(trial.query for trial in own if not arm_of(trial.query))
    whole = true(first) if form is TextForm.PAIR else f"{first_piece(first)} {true(first)}"
    assert measure.given[0] == (whole, whole)
    assert all(pair.guided == 1.0 > pair.general for pair in overlaps(own))  # by ROUGE-L again


@pytest.mark.parametrize("spec", ["", "rogue", "bleurt", "bleurt:", "bertscore", "rouge:x", "comet:x"])
def test_a_measure_that_there_is_not_is_one_line(spec: str) -> None:
    with pytest.raises(UsageError, match="is no measure of overlap; type one of rouge, bleurt:FOLDER"):
        measure_of(spec)


def test_rouge_is_the_measure_by_default() -> None:
    assert measure_of("rouge") == Rouge()
    assert Rouge().score("seven grey sloops", "seven sloops") == pytest.approx(0.8)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A tiny encoder with a head of one score, one with a head of two, and one whose weights are a pickle."""
    pytest.importorskip("transformers")
    import torch

    labels = {"one": 1, "two": 2, "pickled": 1}
    folders = {name: encoder(tmp_path_factory.mktemp(name), count, TEXTS) for name, count in labels.items()}
    torch.save({}, folders["pickled"] / "pytorch_model.bin")
    (folders["pickled"] / "model.safetensors").unlink()
    return folders


@pytest.mark.slow
def test_bleurt_is_the_head_of_the_pair_with_the_true_text_first(made: dict[str, Path]) -> None:
    import torch
    from transformers import AutoTokenizer, BertForSequenceClassification

    measure = measure_of(f"bleurt:{made['one']}")
    assert measure == Bleurt(str(made["one"]))
    model: Any = BertForSequenceClassification.from_pretrained(made["one"]).eval()
    tokenizer = AutoTokenizer.from_pretrained(made["one"])
    inputs = tokenizer(TEXTS[0], TEXTS[1], return_tensors="pt")
    assert inputs["input_ids"].shape[1] == 3 + 4 + 3
    with torch.inference_mode():
        assert measure.score(TEXTS[0], TEXTS[1]) == pytest.approx(float(model(**inputs).logits), abs=1e-5)
    assert measure.score(TEXTS[0], TEXTS[1]) != pytest.approx(measure.score(TEXTS[1], TEXTS[0]), abs=1e-5)
    assert isinstance(measure.score("seven " * 100, "grey " * 100), float)  # cut to what the model takes


@pytest.mark.slow
def test_bertscore_is_the_best_partner_of_each_token(made: dict[str, Path]) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    measure = measure_of(f"bertscore:{made['one']}")
    assert measure == BertScore(str(made["one"]))
    model: Any = AutoModel.from_pretrained(made["one"]).eval()
    tokenizer = AutoTokenizer.from_pretrained(made["one"])
    tokens = []
    for text in TEXTS[:2]:
        with torch.inference_mode():
            states = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True).hidden_states[3][0]
        tokens.append([one / one.norm() for one in states[1:-1]])
    recall = sum(max(float(a @ b) for b in tokens[1]) for a in tokens[0]) / len(tokens[0])
    precision = sum(max(float(a @ b) for b in tokens[0]) for a in tokens[1]) / len(tokens[1])
    assert measure.score(*TEXTS[:2]) == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-5)
    assert measure.score(TEXTS[2], TEXTS[2]) == pytest.approx(1.0, abs=1e-5)
    assert measure.score(TEXTS[0], "") == 0.0


@pytest.mark.slow
def test_what_cannot_be_read_safely_is_one_line(made: dict[str, Path]) -> None:
    with pytest.raises(UsageError, match="gives 2 scores, and a BLEURT model gives one"):
        measure_of(f"bleurt:{made['two']}")
    with pytest.raises(UsageError, match=r"cannot be loaded: .*safetensors"):
        measure_of(f"bertscore:{made['pickled']}")
    with pytest.raises(UsageError, match="does not exist: there is no such folder"):
        measure_of("bleurt:/no/such/folder")


@pytest.mark.slow
def test_algorithm_one_says_by_which_model_it_decided(made: dict[str, Path]) -> None:
    own = trials(recites(10, ("",)))
    with measured_by(measure_of(f"bertscore:{made['one']}")):
        said = AlgorithmOne("claim").describe(own)
    assert f" of 10 claim: BERTScore ({made['one'].name}) 1.00 guided, " in said
