"""The model to train: a small model with random weights, or an existing model. Either all weights learn, or an adapter.

An existing model is loaded as by `hf:`. On a processor it learns in 32-bit floats. On a GPU it computes in bfloat16:
trained weights also have a 32-bit copy, and weights under an adapter keep their format. The saved weights have the
original format, and an adapter is added to them.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tabcontam.errors import UsageError, one_line
from tabcontam.extensions.exposed.base_models import BaseLlm
from tabcontam.extensions.exposed.model_sizes import ModelSize
from tabcontam.extensions.exposed.recipe import Recipe
from tabcontam.models.hf.loading import load

INSTALL_LORA = 'pip install "tabcontam[lora]"'
RANK, ALPHA, TARGETS = 16, 32, "all-linear"  # of an adapter: for all linear layers except the last


@dataclass(frozen=True)
class TrainableModel:
    """A model to train. Only the parameters that need a gradient learn. `finished()` returns the model to save.

    `mixed` means that it computes in bfloat16 on a GPU.
    """

    model: Any
    finished: Callable[[], Any]
    mixed: bool = False


def learner(recipe: Recipe, reader: Any) -> TrainableModel:
    """Return the model of a recipe before training. The recipe determines its weights. Raises `UsageError`."""
    if recipe.base is not None:
        return _continued(recipe.base, recipe.seed)
    made = network(recipe.size, reader, recipe.seed)
    return TrainableModel(made, lambda: made)


def network(size: ModelSize, reader: Any, seed: int) -> Any:
    """Return an untrained Llama of this size for a tokenizer. The seed determines the weights."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=len(reader),
        hidden_size=size.width,
        intermediate_size=size.inner,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        num_key_value_heads=size.heads,
        max_position_embeddings=size.context,
        tie_word_embeddings=True,
        bos_token_id=reader.bos_token_id,
        eos_token_id=reader.eos_token_id,
        pad_token_id=reader.pad_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return LlamaForCausalLM(config)


def check_lora() -> None:
    """Raise `UsageError` if peft is missing or does not fit the installed transformers."""
    try:
        import peft  # noqa: F401  to check that it loads
    except ImportError as error:
        raise UsageError(f"an adapter needs peft ({one_line(error)}); type: {INSTALL_LORA}") from error


def _continued(base: BaseLlm, seed: int) -> TrainableModel:
    import torch

    model = load(str(base.folder), device="cpu").model
    check_numbers(model, f"the weights of {base.name} hold values that are not numbers; name another model")
    _make_savable(model)
    formats = {name: weights.dtype for name, weights in model.named_parameters()}
    if not (base.lora and torch.cuda.is_available()):
        model.float()
    adapted = _adapted(model, base.name, seed) if base.lora else None

    def finished() -> Any:
        whole = adapted.merge_and_unload() if adapted is not None else model
        for name, weights in whole.named_parameters():
            weights.data = weights.data.to(formats[name])
        return whole

    return TrainableModel(model, finished, mixed=True)


def _make_savable(model: Any) -> None:
    """Remove sampling options from settings without sampling, because transformers would not save them."""
    stated = model.generation_config
    try:
        stated.validate(strict=True)
    except ValueError:
        stated.do_sample = True


def _adapted(model: Any, name: str, seed: int) -> Any:
    """Return a model with frozen weights and an adapter of low rank. The seed determines the adapter."""
    import torch
    from peft import LoraConfig, get_peft_model

    wanted = LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=TARGETS, lora_dropout=0.0, task_type="CAUSAL_LM")
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about layers that it supports
        torch.manual_seed(seed)
        try:
            return get_peft_model(model, wanted)
        except (ValueError, AttributeError, NotImplementedError) as error:
            raise UsageError(f"no adapter can be put into {name}: {one_line(error)}; train it whole") from error


def check_numbers(model: Any, message: str) -> None:
    """Raise `UsageError` with this message if a weight is not a number."""
    if not all(bool(weights.isfinite().all()) for weights in model.parameters()):
        raise UsageError(message)
