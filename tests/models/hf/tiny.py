"""Tiny models in the hub's format, made in seconds: one that has learned rows by heart, and untrained ones."""

import hashlib
import inspect
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table

VOCABULARY = 700
CONTEXT = 640
CHAT = (
    "{% for m in messages %}{{ '<|' + m['role'] + '|>\n' + m['content'] + '</s>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}"
)
NO_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" + CHAT
)


def tokenizer(
    lines: Sequence[str], template: str | None = None, begin: bool = True, vocabulary: int = VOCABULARY
) -> Any:
    """A byte-level BPE that was trained on these lines."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    special = ["<unk>", "<s>", "</s>", "<pad>"]
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator(lines, trainer)
    if begin:
        made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    names = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    # As older tokenizers on the hub have it; an answer must not lose a space by it.
    wrapped = PreTrainedTokenizerFast(tokenizer_object=made, clean_up_tokenization_spaces=True, **names)
    wrapped.chat_template = template
    return wrapped


def causal(seed: int = 0, kind: str = "llama", **sizes: Any) -> Any:
    """An untrained decoder, of other sizes than the tiny ones where they are given."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.manual_seed(seed)
    tokens = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 3, "vocab_size": VOCABULARY}
    usual: dict[str, Any] = {
        "hidden_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": CONTEXT,
    }
    if kind != "gpt2":
        usual |= {"intermediate_size": 192, "num_key_value_heads": 4}
    return AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **(tokens | usual | sizes)))


def encoder_decoder(seed: int = 0) -> Any:
    """An untrained T5."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, T5Config

    torch.manual_seed(seed)
    tokens = {"decoder_start_token_id": 3, "eos_token_id": 2, "pad_token_id": 3, "vocab_size": VOCABULARY}
    sizes = {"d_model": 64, "d_ff": 128, "d_kv": 16, "num_layers": 2, "num_heads": 4}
    return AutoModelForSeq2SeqLM.from_config(T5Config(**sizes, **tokens))


def learn(model: Any, sample: Callable[[Random], tuple[list[int], list[int]]], steps: int, rate: float = 3e-3) -> float:
    """Train on (ids, labels) samples, four a step; the last loss."""
    import torch

    rng = Random(0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=rate, total_steps=steps)
    loss = torch.zeros(())
    for _ in range(steps):
        samples = [sample(rng) for _ in range(4)]
        ids, labels = (
            torch.nn.utils.rnn.pad_sequence(
                [torch.tensor(pair[side]) for pair in samples], batch_first=True, padding_value=fill
            )
            for side, fill in ((0, 3), (1, -100))
        )
        loss = model(input_ids=ids, attention_mask=(ids != 3).long(), labels=labels).loss
        loss.backward()
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    return float(loss.detach())


def kept(config: pytest.Config, make: Callable[[], tuple[Any, Any]], *facts: str) -> Path:
    """The folder of a model and its tokenizer, from pytest's cache where the same code has made them before.

    They follow from the source of `make`, from the `facts` that it reads, from this module and from what computes. One
    worker makes them, for which the others wait.
    """
    from filelock import FileLock  # which torch brings along

    assert config.cache is not None
    code = inspect.getsource(make.func if isinstance(make, partial) else make)
    versions = [version(name) for name in ("torch", "transformers", "tokenizers")]
    told = repr([Path(__file__).read_text("utf-8"), code, facts, versions])
    folder = config.cache.mkdir("tiny") / hashlib.sha256(told.encode()).hexdigest()[:24]
    with FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            saved(*make(), folder.with_suffix(".new")).rename(folder)
    return folder


def saved(model: Any, reader: Any, folder: Path) -> Path:
    """In the hub's format: config, safetensors, tokenizer."""
    model.save_pretrained(folder)
    reader.save_pretrained(folder)
    return folder


def rows_of(table: Table, serializer: Serializer) -> list[str]:
    return [serializer.row(table.columns, row) for row in table.rows]
