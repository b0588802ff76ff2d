"""Endings of a text are as likely as where each text is scored whole, and cost far fewer tokens."""

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest

from tabcontam.evidence.base import Endings, Likelihoods, ReplyState
from tabcontam.models.base import Model, ModelRequest
from tabcontam.models.hf import decoding as hf_decoding
from tabcontam.models.hf.provider import HFModel
from tabcontam.models.hf.scorer import token_moments
from tabcontam.tables.serializers import load_serializers
from tests.made_tables import ships
from tests.models.hf import tiny
from tests.needed import needed

torch: Any = needed("torch")
needed("transformers")

pytestmark = pytest.mark.slow
ROWS = tiny.rows_of(ships(12), load_serializers()["is"])
BEGUN = "The Ship is Anna, the master of which owed the harbour of Zand so many guilders: "
ASKED = [
    Endings(BEGUN, ("12", "12 guilders", "nothing at all", "12", "")),
    Endings("", ("Anna", "The Ship is Anna", "Zand")),
    Endings("A", ("nna", "bel owed", "")),
    Endings(ROWS[0][:40], tuple(row[40:] for row in ROWS)),
]


def opened(folder: Path) -> HFModel:
    model = HFModel(str(folder))
    asyncio.run(model.connect())
    return model


def network(model: HFModel) -> Any:
    assert isinstance(model._engine, hf_decoding.Decoder)
    return model._engine.model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    reader = tiny.tokenizer([BEGUN, *ROWS])
    return tiny.saved(tiny.causal(), reader, tmp_path_factory.mktemp("ending"))


@pytest.fixture(scope="module")
def without_begin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose tokenizer has no token that a text begins with."""
    reader = tiny.tokenizer([BEGUN, *ROWS])
    reader.bos_token = reader.eos_token = None
    return tiny.saved(tiny.causal(), reader, tmp_path_factory.mktemp("without"))


def differences(values: tuple[float, ...]) -> list[float]:
    return [value - values[0] for value in values]


@pytest.mark.parametrize("asked", ASKED)
def test_they_are_as_likely_as_the_whole_texts_unlike_in_benbench(folder: Path, asked: Endings) -> None:
    model = opened(folder)
    got, whole = (
        asyncio.run(way(ModelRequest(asked))) for way in (model.compare, lambda one: Model.compare(model, one))
    )
    assert got.state is whole.state is ReplyState.OK
    assert differences(got.values) == pytest.approx(differences(whole.values), abs=1e-3)


@pytest.mark.parametrize("asked", ASKED[:3])
def test_without_a_first_special_token_too(without_begin: Path, asked: Endings) -> None:
    model = opened(without_begin)
    asked = Endings(asked.beginning, tuple(filter(None, asked.endings)))
    got, whole = (
        asyncio.run(way(ModelRequest(asked))) for way in (model.compare, lambda one: Model.compare(model, one))
    )
    assert differences(got.values) == pytest.approx(differences(whole.values), abs=1e-3)


def test_what_they_begin_with_is_computed_once_unlike_in_oren(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, computed = opened(folder), []
    for part in (network(model), network(model).base_model):
        own = part.forward

        def forward(*given: Any, own: Any = own, whole: bool = part is network(model), **named: Any) -> Any:
            if not whole:
                computed.append(named["input_ids"].numel())
            return own(*given, **named)

        monkeypatch.setattr(part, "forward", forward)
    asyncio.run(model.compare(ModelRequest(Endings(BEGUN * 3, tuple(f"{number} guilders" for number in range(40))))))
    with_cache = sum(computed)
    computed.clear()
    asyncio.run(
        Model.compare(model, ModelRequest(Endings(BEGUN * 3, tuple(f"{number} guilders" for number in range(40)))))
    )
    assert with_cache < sum(computed) / 5


def test_log_probabilities_of_a_model_in_16_bits_have_the_precision_of_32() -> None:
    """A sum of 16-bit numbers over a large vocabulary would lose the third digit of a likely token's."""
    torch.manual_seed(0)
    logits, ids = torch.randn(2, 9, 50_000).mul(4).bfloat16(), torch.randint(50_000, (2, 9))
    exact = logits.double().log_softmax(-1)[:, :-1].gather(2, ids[:, 1:, None])[..., 0]
    found = torch.tensor([own for own, *_ in token_moments(logits, ids.tolist())]).reshape(2, 8)
    assert torch.allclose(found.double(), exact, atol=1e-4)
    assert not torch.allclose(
        logits.log_softmax(-1)[:, :-1].gather(2, ids[:, 1:, None])[..., 0].double(), exact, atol=1e-4
    )


def test_one_beyond_the_context_is_told(folder: Path) -> None:
    got = asyncio.run(opened(folder).compare(ModelRequest(Endings("ship " * tiny.CONTEXT, ("a", "b")))))
    assert (got.state, got.values) == (ReplyState.FAILED, ())
    assert f"the model takes {tiny.CONTEXT}" in got.detail


def test_a_model_that_overflows_is_told(folder: Path) -> None:
    model = opened(folder)
    with torch.no_grad():
        network(model).get_output_embeddings().weight.fill_(math.nan)
    got = asyncio.run(model.compare(ModelRequest(ASKED[0])))
    assert got == Likelihoods((), ReplyState.FAILED, "the model's log-probabilities are not numbers")


def test_memory_that_does_not_hold_all_at_a_time_holds_fewer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = opened(folder)
    expected = asyncio.run(model.compare(ModelRequest(ASKED[3])))
    own, most = network(model).forward, 3

    def forward(**given: Any) -> Any:
        if len(given["input_ids"]) > most:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return own(**given)

    monkeypatch.setattr(network(model), "forward", forward)
    assert asyncio.run(model.compare(ModelRequest(ASKED[3]))).values == pytest.approx(expected.values, abs=1e-3)
    most = 0
    assert "out of memory with a single text" in asyncio.run(model.compare(ModelRequest(ASKED[3]))).detail
