"""The model that is trained: a small one with random weights, or an existing one, trained whole or by an adapter.

An existing model is loaded as `hf:` loads it and learns in 32-bit floats on a processor. On a GPU it computes in
bfloat16: trained weights are stored in 32 bits next to it, weights under an adapter stay in their own format. The saved
weights have the format of the original ones, and an adapter is added into them.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tabcontam.errors import UsageError, one_line
from tabcontam.models.hf.loading import load
from tabcontam.models.known.exposed.base_models import BaseLlm
from tabcontam.models.known.exposed.model_sizes import ModelSize
from tabcontam.models.known.exposed.recipe import Recipe

INSTALL_LORA = 'pip install "tabcontam[lora]"'
RANK, ALPHA, TARGETS = 16, 32, "all-linear"  # of an adapter: every linear layer but the last


@dataclass(frozen=True)
class TrainableModel:
    """A model under training, which learns by those parameters that need a gradient; `finished()` returns the one to
    save.

    With `mixed` it computes in bfloat16 on a GPU.
    """

    model: Any
    finished: Callable[[], Any]
    mixed: bool = False


def learner(recipe: Recipe, reader: Any) -> TrainableModel:
    """Return the model of a recipe before any training; the recipe determines it. Raises `UsageError`."""
    if recipe.base is not None:
        return _continued(recipe.base, recipe.seed)
    made = network(recipe.size, reader, recipe.seed)
    return TrainableModel(made, lambda: made)


def network(size: ModelSize, reader: Any, seed: int) -> Any:
    """Return an untrained Llama of this size for a tokenizer; the same seed gives the same weights."""
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
    """Raise `UsageError` if peft is missing or does not go with the installed transformers."""
    try:
        import peft  # noqa: F401  to see that it loads
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
    """Mend settings with sampling options but no sampling, which transformers does not save."""
    stated = model.generation_config
    try:
        stated.validate(strict=True)
    except ValueError:
        stated.do_sample = True


def _adapted(model: Any, name: str, seed: int) -> Any:
    """Return a model with frozen weights of its own and an adapter of low rank; the same seed draws the same one."""
    import torch
    from peft import LoraConfig, get_peft_model

    wanted = LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=TARGETS, lora_dropout=0.0, task_type="CAUSAL_LM")
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about layers that it can handle
        torch.manual_seed(seed)
        try:
            return get_peft_model(model, wanted)
        except (ValueError, AttributeError, NotImplementedError) as error:
            raise UsageError(f"no adapter can be put into {name}: {one_line(error)}; train it whole") from error


def check_numbers(model: Any, message: str) -> None:
    """Raise `UsageError` with this text if a weight is no number."""
    if not all(bool(weights.isfinite().all()) for weights in model.parameters()):
        raise UsageError(message)
