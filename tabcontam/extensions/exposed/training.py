"""The training of a causal model of transformers on a stream: every token is read once, in order.

It uses AdamW without dropout. The learning rate rises over the first steps and then falls along a cosine. The last
token of a block is the first token of the next block, so every token except the very first is predicted once. Attention
stays within a document, because a query is later read alone, too. It crosses documents only in a model that accepts no
positions.

An interruption leaves a checkpoint: one safetensors file with the weights that learn and the optimizer's moments. A
resumed training ends, on the same machine, with the same weights as an uninterrupted one.
"""

import inspect
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabcontam.errors import UsageError, one_line
from tabcontam.extensions.exposed.model_sizes import StepSettings
from tabcontam.extensions.exposed.thresholds import LAST_RATE_SHARE, WARM_UP_SHARE
from tabcontam.extensions.exposed.training_stream import Stream
from tabcontam.models.hf.loading import out_of_memory
from tabcontam.paths import replace_file

CHECKPOINT = "unfinished.safetensors"
OTHERWISE = "with other versions, on another device or with another number of threads"
EVERY = 30.0  # the least seconds between two checkpoints
SPARED = 20  # times as long as writing a checkpoint, so that little time is spent on it
DECAY, BETAS, LONGEST = 0.01, (0.9, 0.95), 1.0  # of AdamW, and the largest norm of a gradient


@dataclass(frozen=True)
class TrainingProgress:
    """The progress of a training: tokens read, all tokens, smoothed loss in nats per token, tokens per second."""

    tokens: int
    total: int
    loss: float
    pace: float


ProgressCallback = Callable[[TrainingProgress], None]


def rate_at(step: int, steps: int, highest: float) -> float:
    """Return the learning rate of a step. It rises linearly, then falls along a cosine."""
    warm = max(1, round(WARM_UP_SHARE * steps))
    if step < warm:
        return highest * (step + 1) / warm
    part = (step - warm) / max(1, steps - warm)
    return highest * (LAST_RATE_SHARE + (1 - LAST_RATE_SHARE) * (1 + math.cos(math.pi * part)) / 2)


# rarest: the most seconds between two checkpoints
# smooth: the weight of the earlier reported loss in the next one
def train(
    model: Any,
    read: Stream,
    by: StepSettings,
    folder: Path,
    mark: str,
    report: ProgressCallback,
    every: float = EVERY,
    mixed: bool = False,
    *,
    rarest: float = 600.0,
    smooth: float = 0.98,
) -> float:
    """Train a model on a stream. Return its smoothed loss over the last steps, in nats per token.

    It resumes from a checkpoint in `folder` with the same `mark`, a text of all that determines the weights. It writes
    a checkpoint at an interruption and every `every` seconds, less often if writing is slow. Parameters that need no
    gradient do not change. With `mixed` a GPU computes in bfloat16. Raises `UsageError` if the folder cannot be written
    or contains another checkpoint, if memory is not enough, or if the loss is not a number.
    """
    import torch

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model.eval()  # no dropout: the checkpoint would need its random state
    named = {name: weights for name, weights in model.named_parameters() if weights.requires_grad}
    tokens = torch.from_numpy(read.tokens).long()
    begins = torch.zeros(len(tokens), dtype=torch.bool)
    begins[torch.from_numpy(read.starts)] = True
    in_step = by.batch * by.block
    steps = (len(tokens) - 1) // in_step
    precision = _precision(device, mixed)
    with _enough_memory():
        model.to(device)
        optimizer = torch.optim.AdamW(named.values(), lr=by.rate, betas=BETAS, weight_decay=DECAY, fused=True)
        run = _TrainingState(named, optimizer, folder / CHECKPOINT, mark)
        begun, loss = run.restored()
    since = saved = time.monotonic()
    step, rest = begun, every
    try:
        while step < steps:
            place = slice(step * in_step, (step + 1) * in_step + 1)
            for group in optimizer.param_groups:
                group["lr"] = rate_at(step, steps, by.rate)
            with _enough_memory(), precision():
                loss_of = _loss(model, tokens[place].to(device), begins[place][:-1].to(device), by)
            with _enough_memory():
                now = _learn(loss_of, named.values(), optimizer)
            if not math.isfinite(now):
                raise UsageError(
                    f"the training failed in step {step + 1}: the loss is not a number; try another seed or lower rate"
                )
            step, loss = step + 1, now if step == 0 else smooth * loss + (1 - smooth) * now
            pace = (step - begun) * in_step / max(1e-9, time.monotonic() - since)
            report(TrainingProgress(step * in_step, steps * in_step, loss, pace))
            if step < steps and time.monotonic() - saved >= rest:
                saving = time.monotonic()
                run.save(step, loss)
                saved = time.monotonic()
                rest = max(every, min(SPARED * (saved - saving), rarest))
    except KeyboardInterrupt:
        run.save(step, loss)
        raise
    model.to("cpu").eval()
    return loss


def _precision(device: Any, mixed: bool) -> Callable[[], AbstractContextManager[object]]:
    import torch

    if mixed and device.type == "cuda" and torch.cuda.is_bf16_supported():
        return lambda: torch.autocast("cuda", torch.bfloat16)
    return nullcontext


@contextmanager
def _enough_memory() -> Iterator[None]:
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error):
            raise
        raise UsageError(
            f"the training does not fit into memory: {one_line(error)}; choose a smaller model, or add --lora"
        ) from error


def _loss(model: Any, part: Any, begins: Any, by: StepSettings) -> Any:
    """Return the mean loss, over the tokens of these blocks, of predicting each from the tokens before it."""
    import torch

    inputs, targets = part[:-1].view(by.batch, by.block), part[1:]
    takes_positions = "position_ids" in inspect.signature(model.forward).parameters
    own = {"position_ids": positions_of(begins.view(by.batch, by.block))} if takes_positions else {}
    logits = model(input_ids=inputs, use_cache=False, **own).logits
    return torch.nn.functional.cross_entropy(logits.view(-1, logits.shape[-1]), targets)


def _learn(loss: Any, weights: Iterable[Any], optimizer: Any) -> float:
    """Update the weights by the gradient of a loss. Return the loss as a number."""
    import torch

    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(weights, LONGEST)
    optimizer.step()
    return float(loss.detach())


def positions_of(begins: Any) -> Any:
    """Return the place of each token in its document. `begins` marks the first token of each document.

    Where the places restart, transformers also restarts attention.
    """
    import torch

    places = torch.arange(begins.shape[1], device=begins.device).expand_as(begins)
    return places - torch.where(begins, places, 0).cummax(dim=1).values


@dataclass(frozen=True)
class _TrainingState:
    """The state of a training that can be resumed: its parameters by name, its optimizer, its checkpoint file."""

    named: dict[str, Any]
    optimizer: Any
    path: Path
    mark: str

    def save(self, step: int, loss: float) -> None:
        """Replace the checkpoint. Raises `UsageError` if it cannot be written; the old checkpoint then remains."""
        from safetensors.torch import save

        tensors = {f"weights.{name}": value.detach().cpu().contiguous() for name, value in self.named.items()}
        for name, value in self.named.items():
            for moment in ("exp_avg", "exp_avg_sq"):
                tensors[f"{moment}.{name}"] = self.optimizer.state[value][moment].cpu() if step else value.detach() * 0
        state = {"mark": self.mark, "step": step, "loss": loss}
        write(self.path, save(tensors, metadata={"state": json.dumps(state)}))

    def restored(self) -> tuple[int, float]:
        """Restore the checkpoint. Return its step and loss; without one, those of the start. Raises `UsageError`."""
        import torch
        from safetensors import SafetensorError, safe_open

        if not self.path.exists():
            return 0, 0.0
        advice = "delete that file, and run the same command to start again"
        try:
            with safe_open(self.path, framework="pt") as file:
                state = json.loads(file.metadata()["state"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no dictionary
            if state["mark"] != self.mark:
                raise UsageError(f"{self.path} was written {OTHERWISE}; {advice}")
            step, loss = int(state["step"]), float(state["loss"])
            with torch.no_grad():
                for name, value in self.named.items():
                    value.copy_(tensors[f"weights.{name}"])
                    moments = {key: tensors[f"{key}.{name}"].to(value.device) for key in ("exp_avg", "exp_avg_sq")}
                    if step:
                        count = torch.tensor(float(step), device=value.device)
                        self.optimizer.state[value] = {"step": count, **moments}
        except (SafetensorError, OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
            raise UsageError(f"{self.path} is damaged: {one_line(error)}; {advice}") from error
        return step, loss


def write(path: Path, content: str | bytes) -> None:
    """Replace a file in one step. Raises `UsageError` if that fails."""
    try:
        replace_file(path, content)
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror or error}; make room or name another folder, and repeat the command"
        ) from error
