"""How fast is a model exposed? `python -m benchmarks.expose [DATASET] [SIZE]`

Tokens a second of `expose`'s training beside transformers' Trainer with the same untrained model, the same blocks of
tokens with their documents apart, batch, optimizer (fused AdamW), learning rates and clipping, in turns, each over the
same stream. Counted are seconds of the processor in one thread, as `expose` trains models of these sizes, so that what
else the machine does tells nothing. Trainer needs accelerate. The aim is at least 0.9 of it.
"""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any
from unittest.mock import patch

from tabcontam.extensions.exposed.model_sizes import SIZES, StepSettings
from tabcontam.extensions.exposed.recipe import Recipe, designs, recipe
from tabcontam.extensions.exposed.thresholds import WARM_UP_SHARE
from tabcontam.extensions.exposed.trainable_models import network
from tabcontam.extensions.exposed.training import BETAS, DECAY, LONGEST, positions_of, train
from tabcontam.extensions.exposed.training_stream import Stream, learned_tokenizer, stream
from tabcontam.tables.table import load_table

TURNS = 3
STEPS = 60  # of a turn


def part(read: Stream, by: StepSettings) -> Stream:
    """The beginning of a stream."""
    length = min(len(read.tokens), STEPS * by.batch * by.block + 1)
    return replace(read, tokens=read.tokens[:length], starts=read.starts[read.starts < length])


def ours(wanted: Recipe, read: Stream, reader: Any) -> float:
    """Tokens a second."""
    model = network(wanted.size, reader, wanted.seed)
    with tempfile.TemporaryDirectory() as folder:
        began = process_time()
        train(model, read, wanted.steps, Path(folder), "benchmark", lambda step: None)
        return (len(read.tokens) - 1) / (process_time() - began)


def trainers(wanted: Recipe, read: Stream, reader: Any) -> float:
    """The same of transformers' Trainer."""
    import torch
    from transformers import PrinterCallback, Trainer, TrainingArguments

    by = wanted.steps
    blocks = torch.from_numpy(read.tokens[:-1]).long().view(-1, by.block)
    places = positions_of(blocks == reader.bos_token_id)
    data = [
        {"input_ids": block, "labels": block, "position_ids": own} for block, own in zip(blocks, places, strict=True)
    ]

    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=by.batch,
            num_train_epochs=1,
            learning_rate=by.rate,
            lr_scheduler_type="cosine",
            warmup_steps=round(WARM_UP_SHARE * len(blocks) / by.batch),
            weight_decay=DECAY,
            adam_beta1=BETAS[0],
            adam_beta2=BETAS[1],
            max_grad_norm=LONGEST,
            optim="adamw_torch_fused",
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            disable_tqdm=True,
            dataloader_pin_memory=False,
        )
        trainer = Trainer(model=network(wanted.size, reader, wanted.seed), args=arguments, train_dataset=data)
        trainer.remove_callback(PrinterCallback)
        # it takes the project's folder datasets/ for the package of that name
        with patch("transformers.trainer.is_datasets_available", return_value=False):
            began = process_time()
            trainer.train()
        return (len(read.tokens) - 1) / (process_time() - began)


def main() -> None:
    """Print a line for each turn, and the ratio."""
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    torch.set_num_threads(1)
    given = sys.argv[1:]
    dataset, size = [*given, *("iris", "small")[len(given) :]]
    wanted = recipe([load_table(dataset)], (0, 16, 64), size=size)
    reader = learned_tokenizer(wanted)
    whole = stream(wanted, designs(wanted.tables, wanted.copies, wanted.arms, wanted.seed)[0], reader)
    read = part(whole, wanted.steps)
    print(f"{size}: {SIZES[size]}")
    print(f"one thread, {len(read.tokens):,} of {len(whole.tokens):,} tokens of {dataset} a turn")
    ratios = []
    for turn in range(TURNS):
        own = ours(wanted, read, reader)
        peer = trainers(wanted, read, reader)
        ratios.append(own / peer)
        print(f"turn {turn + 1}: expose {own:,.0f} tokens a second, Trainer {peer:,.0f}", flush=True)
    print(f"ratio {median(ratios):.2f} (aim: at least 0.9)")


if __name__ == "__main__":
    main()
