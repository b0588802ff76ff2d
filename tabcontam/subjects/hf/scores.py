"""The log-probability of every token of given texts, from one forward pass a batch."""

from collections.abc import Sequence
from math import log
from typing import Any

from tabcontam.subjects.hf.loading import out_of_memory, release
from tabcontam.subjects.hf.text import Text

POSITIONS = 256  # so many positions' log-probabilities over the vocabulary are held at a time


def score_many(
    model: Any, text: Text, context: int, texts: Sequence[str], batch_size: int
) -> list[list[tuple[str, float]]]:
    """The (token, log-probability in nats) pairs of each text; joined, the tokens are the text.

    Every text begins after the tokenizer's first special token; where there is none, the first token is taken as
    uniform over the vocabulary. Raises ValueError for a text beyond the context.
    """
    pieces = [text.pieces(given) for given in texts]
    longest = max(map(len, pieces), default=0) + len(text.begin)
    if context and longest > context:
        raise ValueError(f"a text of {longest:,} tokens; the model takes {context:,}")
    order = sorted(range(len(texts)), key=lambda index: len(pieces[index]))
    found: dict[int, list[tuple[str, float]]] = {}
    for first in range(0, len(order), batch_size):
        part = order[first : first + batch_size]
        rows = [[token for token, _ in pieces[index]] for index in part]
        for index, scored in zip(part, _scored(model, text.begin, rows), strict=True):
            found[index] = [(piece, score) for (_, piece), score in zip(pieces[index], scored, strict=True)]
    return [found[index] for index in range(len(texts))]


def _scored(model: Any, begin: Sequence[int], rows: Sequence[Sequence[int]]) -> list[list[float]]:
    """All rows in one forward pass, or in smaller ones where memory does not hold it."""
    try:
        return _forward(model, begin, rows)
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error) or len(rows) == 1:
            raise
    release()
    half = len(rows) // 2
    return [*_scored(model, begin, rows[:half]), *_scored(model, begin, rows[half:])]


def _forward(model: Any, begin: Sequence[int], rows: Sequence[Sequence[int]]) -> list[list[float]]:
    import torch

    given = [[*begin, *row] for row in rows]
    longest = max(map(len, given))
    if longest == 0:
        return [[] for _ in rows]
    padded = [row + [0] * (longest - len(row)) for row in given]
    mask = [[1] * len(row) + [0] * (longest - len(row)) for row in given]
    with torch.inference_mode():
        ids = torch.tensor(padded, device=model.device)
        output = model(input_ids=ids, attention_mask=torch.tensor(mask, device=model.device), use_cache=False)
        scores = [_picked(output.logits[number], row) for number, row in enumerate(given)]
    uniform = -log(output.logits.shape[-1])
    return scores if begin else [[uniform, *row] if given[number] else [] for number, row in enumerate(scores)]


def _picked(logits: Any, ids: Sequence[int]) -> list[float]:
    """The log-probability of each token but the first, after those before it."""
    import torch

    picked: list[float] = []
    for first in range(0, len(ids) - 1, POSITIONS):
        targets = torch.tensor(ids[first + 1 : first + 1 + POSITIONS], device=logits.device)
        chances = torch.log_softmax(logits[first : first + len(targets)].float(), dim=-1)
        picked.extend(chances.gather(1, targets[:, None])[:, 0].tolist())
    return picked
