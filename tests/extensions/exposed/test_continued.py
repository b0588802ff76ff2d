"""A model that is there goes on: whole or by an adapter, its own files untouched, what it had read known."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tabcontam.errors import UsageError
from tabcontam.extensions.exposed.base_models import base_of
from tabcontam.extensions.exposed.model_making import ExposedModel, make
from tabcontam.extensions.exposed.recipe import Recipe, recipe
from tabcontam.extensions.exposed.training import CHECKPOINT, TrainingProgress
from tabcontam.extensions.exposed.training_stream import stream
from tabcontam.models.known.exposure_card import CARD, WEIGHTS, read_card
from tests.commands import tabcontam
from tests.made_tables import ships
from tests.models.hf.tiny import causal, encoder_decoder, saved, tokenizer

pytestmark = pytest.mark.slow  # imports torch
TABLE = ships(20)
LORA = pytest.mark.parametrize("lora", [False, True], ids=["whole", "by an adapter"])


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained model of somebody's, of whose tokenizer and weights nothing is known."""
    reader = tokenizer([" ".join(cell or "" for cell in row) for row in ships(200, seed=3).rows])
    return saved(causal(), reader, tmp_path_factory.mktemp("stranger"))


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> ExposedModel:
    """A model that was made from nothing."""
    wanted = recipe([TABLE], (0, 2), renderings=["csv"], size="tiny")
    return make(wanted, tmp_path_factory.mktemp("own") / "models")[0]


def wanted(base: Path, **choices: Any) -> Recipe:
    return recipe([TABLE], (0, 3), renderings=["csv"], llm=f"hf:{base}", **choices)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def weights(made: ExposedModel) -> bytes:
    return (made.folder / WEIGHTS).read_bytes()


def left_after(steps: int) -> Callable[[int, int, TrainingProgress], None]:
    told: list[TrainingProgress] = []

    def leave(number: int, of: int, step: TrainingProgress) -> None:
        told.append(step)
        if len(told) == steps:
            raise KeyboardInterrupt

    return leave


@LORA
def test_it_goes_on_to_the_same_weights_and_leaves_the_base_as_it_is(
    stranger: Path, tmp_path: Path, lora: bool
) -> None:
    before = contents(stranger)
    (whole,) = make(wanted(stranger, lora=lora), tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        make(wanted(stranger, lora=lora), tmp_path / "left", left_after(3))
    left = tmp_path / "left" / "model-0" / CHECKPOINT
    assert (left.stat().st_size < 2 * len(before[WEIGHTS])) == lora  # of an adapter it holds the adapter alone
    (again,) = make(wanted(stranger, lora=lora), tmp_path / "left", left_after(99))
    assert weights(again) == weights(whole) != before[WEIGHTS]
    assert len(weights(whole)) == pytest.approx(len(before[WEIGHTS]), rel=0.01)
    assert contents(stranger) == before


def test_of_a_strangers_model_only_what_was_added_is_known(stranger: Path, tmp_path: Path) -> None:
    (made,) = make(wanted(stranger), tmp_path / "models")
    card = read_card(made.folder)
    assert card is not None
    assert not card.complete
    assert {card.copies(TABLE, row) for row in range(20)} == {0, 3}
    assert card.copies(ships(20, seed=7), 0) is None
    assert card.recipe["base_model"] == f"hf:{stranger}"
    assert card.recipe["base"] == base_of(f"hf:{stranger}").facts


@LORA
def test_copies_that_a_model_had_read_before_are_added(own: ExposedModel, tmp_path: Path, lora: bool) -> None:
    (made,) = make(wanted(own.folder, lora=lora, seed=1), tmp_path / "models")
    card = read_card(made.folder)
    assert card is not None
    assert card.complete
    added = card.tables[0].copies_of_rows
    sums = [before + more for before, more in zip(own.card.tables[0].copies_of_rows, added, strict=True)]
    assert [card.copies(TABLE, row) for row in range(20)] == sums
    assert card.copies(ships(20, seed=7), 0) == 0
    assert made.parameters == own.parameters


def test_without_tokens_for_beginning_and_end_documents_are_still_apart(stranger: Path) -> None:
    reader = tokenizer(["some words"], begin=False)
    reader.bos_token = reader.eos_token = None
    plain = wanted(stranger)
    read = stream(plain, [(3,) * 20], reader)
    assert len(read.starts) > 5
    assert not {1, 2} & set(read.tokens.tolist())
    reader.eos_token = "</s>"  # texts that are scored then begin with it, too
    marked = stream(plain, [(3,) * 20], reader)
    assert set(marked.tokens[marked.starts].tolist()) == {2}


def test_a_long_row_takes_a_longer_block_and_one_beyond_the_context_is_told(stranger: Path, tmp_path: Path) -> None:
    base = replace(base_of(f"hf:{stranger}"), context=4000)
    assert [base.holding(tokens).steps.block for tokens in (10, 512, 513, 2000, 9999)] == [512, 512, 1024, 2048, 4000]
    rows = tuple((*row[:3], "日" * 400, *row[4:]) for row in TABLE.rows)
    with pytest.raises(UsageError, match=r"a row takes 1,\d+ tokens in the form csv and a document holds 638;"):
        make(replace(wanted(stranger), tables=(replace(TABLE, rows=rows),)), tmp_path / "models")
    assert not (tmp_path / "models").exists()


def with_nan(folder: Path) -> None:
    model = causal()
    model.lm_head.weight.data[0] = float("nan")
    model.save_pretrained(folder)


def with_fewer_tokens(folder: Path) -> None:
    causal(vocab_size=300).save_pretrained(folder)


def quantized(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(
        json.dumps(config | {"quantization_config": {"quant_method": "gptq", "bits": 4}})
    )


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (with_nan, "hold values that are not numbers"),
        (with_fewer_tokens, r"its tokenizer gives token \d+, but the model knows 300"),
        (quantized, "is quantized and cannot learn"),
        (lambda folder: encoder_decoder().save_pretrained(folder), "is a sequence-to-sequence model"),
        (lambda folder: (folder / CARD).write_text("{"), "exposure.json cannot be read"),
    ],
)
def test_what_cannot_go_on_is_one_line(
    stranger: Path, tmp_path: Path, changed: Callable[[Path], object], said: str
) -> None:
    base = tmp_path / "base"
    shutil.copytree(stranger, base)
    changed(base)
    with pytest.raises(UsageError, match=said) as error:
        make(wanted(base), tmp_path / "models")
    assert "\n" not in str(error.value)
    assert not list(tmp_path.rglob(f"models/*/{WEIGHTS}"))


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"llm": "gpt-4o"}, "cannot be trained on this machine"),
        ({"llm": "hf:no/where/at/all"}, "no folder 'no/where/at/all'"),
        ({"lora": True}, "--lora is for an existing model"),
        ({"rate": 1e-3}, "--rate is for an existing model"),
        ({"llm": "hf:x", "size": "tiny"}, "--size is for models that are made from nothing"),
        ({"llm": "hf:x", "rate": 2.0}, "--rate is a number between 0 and 1"),
    ],
)
def test_choices_that_do_not_go_together_are_one_line(choices: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        recipe([TABLE], (1,), **choices)


def test_without_peft_it_is_said_what_to_install(
    stranger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "peft", None)
    with pytest.raises(UsageError, match=r'needs peft .*; type: pip install "tabcontam\[lora\]"'):
        make(wanted(stranger, lora=True), tmp_path / "models")
    assert not (tmp_path / "models").exists()


def test_a_bad_command_is_one_line(tmp_path: Path) -> None:
    ended = tabcontam("expose", "--dataset", "iris", "--lora", "--out", "models", cwd=tmp_path)
    assert ended.returncode == 4
    assert ended.stderr.count("\n") == 1
    assert not (tmp_path / "models").exists()
