"""Comparison of endings of a text. The common beginning is computed once, the endings in few passes."""

import asyncio
import re
from collections.abc import Sequence
from math import isfinite, log
from typing import Any

from tabcontam.evidence.questions import Endings, Likelihoods, ReplyState
from tabcontam.models.base import common_prefix_length
from tabcontam.models.hf.decoding import Decoder
from tabcontam.models.hf.model_tokenizer import ModelTokenizer as Reader
from tabcontam.models.hf.passage_scorer import NOT_NUMBERS, TokenizedText, beyond
from tabcontam.models.hf.row_batches import BatchSplitter
from tabcontam.models.thresholds import LEAST_LOG_PROBABILITY

MERGED = "the tokenizer merges cells and the text between them into one token"
SEVERAL = re.compile(r"\w[^\w.+-]")  # the end of a word or number, and a separator

Text = tuple[int, ...]


class Comparer:
    """A comparison of texts with a common beginning, by the model of a decoder.

    The whole text is tokenised, because a token may have letters of both the beginning and the ending. Only the tokens
    after the common beginning are scored. Without a special token before it, the first token of a text counts as
    uniform over the vocabulary, as in passages.
    """

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._vocabulary: int = getattr(decoder.model.config.get_text_config(), "vocab_size", 1)

    async def compare(self, asked: Endings) -> Likelihoods:
        """Return how likely each ending is; `FAILED` if a text is too long for the context or the memory."""
        text, context = self._decoder.text, self._decoder.context
        endings = list(dict.fromkeys(asked.endings))
        read = text.plain([asked.beginning + ending for ending in endings])
        ids = {ending: (*text.begin, *own) for ending, own in zip(endings, read, strict=True)}
        longest = max(map(len, ids.values()), default=0)
        if context and longest > context:
            return Likelihoods((), ReplyState.FAILED, beyond(longest, context))
        found = await asyncio.get_running_loop().run_in_executor(self._decoder.thread, self._values, [*ids.values()])
        if any(value is None for value in found):
            return Likelihoods((), ReplyState.FAILED, f"out of memory with a single text of {longest:,} tokens")
        values = dict(zip(ids, found, strict=True))
        if joins(text, asked.beginning, [*ids.values()]):
            return Likelihoods((), ReplyState.FAILED, MERGED)
        if not all(value is not None and isfinite(value) for value in found):
            return Likelihoods((), ReplyState.FAILED, NOT_NUMBERS)
        return Likelihoods(tuple(float(values[ending] or 0.0) for ending in asked.endings), ReplyState.OK)

    def _values(self, texts: Sequence[Text]) -> list[float | None]:
        """Return each text's log-probability after the common beginning, in nats; None if memory is not enough."""
        logits = 2**26  # the most numbers of a pass: a quarter of a gigabyte
        import torch

        head = common_prefix_length(texts)
        width = max(map(len, texts)) - max(0, head - 1)
        ranked = sorted(set(texts), key=len)  # texts of similar length are computed together

        def part(rows: Sequence[TokenizedText]) -> list[float | None]:
            return [*self._part([row.ids for row in rows], head)]

        with torch.inference_mode():
            few = max(1, logits // max(1, width * self._vocabulary))
            answer = BatchSplitter[TokenizedText, float | None](part, lambda row: None, most=few)
            values = dict(zip(ranked, answer([TokenizedText(ids, ()) for ids in ranked]), strict=True))
        return [values[ids] for ids in texts]

    def _part(self, texts: Sequence[Text], head: int) -> list[float]:
        """Return the log-probabilities of texts after their common beginning, computed in one pass.

        The last token of the common beginning is computed with each text, because it predicts the next token.
        """
        least_begun = 4  # tokens; a shorter common beginning is not worth a pass
        begun = head - 1
        past = self._decoder.begun(texts[0][:begun], len(texts)) if begun >= least_begun else None
        if past is None:
            begun = 0
        rows = [text[begun:] for text in texts]
        width = max(map(len, rows))
        ids = self._decoder.tensor([[*row, *[0] * (width - len(row))] for row in rows])
        mask = self._decoder.tensor([[1] * (begun + len(row)) + [0] * (width - len(row)) for row in rows])
        kept: dict[str, Any] = {"use_cache": False} if past is None else {self._decoder.cached_as: past}
        logits = self._decoder.model(input_ids=ids, attention_mask=mask, **kept).logits
        tokens = _log_probabilities(logits, ids)
        # Add the tokens of each row after the common beginning. Each is predicted by the token before it.
        first = -log(self._vocabulary) if not head else 0.0
        skipped = max(0, head - 1) - begun
        return [first + sum(tokens[number][skipped : len(row) - 1]) for number, row in enumerate(rows)]


def joins(reader: Reader, beginning: str, texts: Sequence[Text]) -> bool:
    """Return whether a token contains a word and a separator of `beginning`, and the beginning of an ending.

    If a token contains several cells, rows with other cells have more tokens. Then even a model that has read no table
    prefers the cells that share a token.
    """
    begun = reader.decode(texts[0][len(reader.begin) : common_prefix_length(texts)])
    left = beginning[len(begun) :] if beginning.startswith(begun) else ""
    return SEVERAL.search(left) is not None


def _log_probabilities(logits: Any, ids: Any) -> list[list[float]]:
    """Return the log-probabilities of the tokens of each row after the first, in nats; NaN if the model returns NaN."""
    following = ids[:, 1:, None]
    found = []
    for row, own in zip(logits[:, :-1], following, strict=True):
        scores = row.float()
        scores = (scores - scores.amax(dim=-1, keepdim=True)).clamp(min=LEAST_LOG_PROBABILITY)
        values = scores.gather(1, own)[:, 0] - scores.exp().sum(dim=-1).log()
        found.append(values.tolist())
    return found
