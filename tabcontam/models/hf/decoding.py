"""Greedy decoding of several rows at once: from rows of token ids to replies."""

import asyncio
import sys
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tabcontam.errors import one_line
from tabcontam.evidence.base import Prompt, Reply, ReplyState
from tabcontam.models.base import WENT_ON, as_reply, common_prefix_length, failed
from tabcontam.models.hf.loading import ModelWithTokenizer, release, settle_threads
from tabcontam.models.hf.model_tokenizer import ModelTokenizer, PromptTokens, TokenIds
from tabcontam.models.hf.row_batches import Batcher, BatchSplitter, RowEnds
from tabcontam.models.hf.saved_model import SavedEngine
from tabcontam.models.hf.scorer import Scorer
from tabcontam.models.thresholds import MOST_THINKING_TOKENS
from tabcontam.reading.wrapping import THOUGHT_END, without_thought

LEAST_SHARED = 32  # tokens; a shorter shared beginning is not worth a forward pass
UNPADDED = ("rwkv",)  # recurrent models that read padding despite the mask
KEPT_TOKENS = ("bos_token_id", "decoder_start_token_id", "forced_bos_token_id")


class Decoder(SavedEngine):
    """A loaded model that answers rows in batches. `stopping` ends the current batch at its next token."""

    def __init__(self, loaded: ModelWithTokenizer, batch_size: int) -> None:
        from transformers import GenerationConfig

        from tabcontam.models.hf.cache import CACHE

        self.stopping = False
        self.cached_as = CACHE
        # One thread for all batches: memory may not be enough for two, and torch has helper threads for each
        # thread.
        self.thread = ThreadPoolExecutor(1, initializer=settle_threads, initargs=(loaded.model,))
        self.context = context_of(loaded.model.config)
        self.model = loaded.model
        self.text = ModelTokenizer(loaded.tokenizer)
        self.seq2seq = loaded.seq2seq
        alone = loaded.model.config.model_type in UNPADDED
        answer = BatchSplitter(
            self._generated,
            lambda row: failed(f"out of memory with a single prompt of {len(row.ids):,} tokens"),
            most=1 if alone else 0,
        )
        self.batcher = Batcher(answer, self.thread, batch_size, cost, band)
        self._scorer = Scorer(self, batch_size)
        self._keeps: bool | None = None  # whether the model uses our cache; None before the first call
        self._eos = end_tokens(loaded.model.generation_config, loaded.tokenizer)
        pad = loaded.tokenizer.pad_token_id
        self._pad = pad if isinstance(pad, int) else min(self._eos, default=0)  # any token: it is masked
        # The checkpoint's own settings (sampling, beams, penalties, lengths) would prevent greedy decoding.
        kept = {name: getattr(self.model.generation_config, name, None) for name in KEPT_TOKENS}
        self.model.generation_config = GenerationConfig(
            do_sample=False, num_beams=1, eos_token_id=sorted(self._eos) or None, pad_token_id=self._pad, **kept
        )

    def room(self, row: PromptTokens) -> int:
        if self.seq2seq:
            context = self.context or sys.maxsize
            return context - 1 if len(row.ids) <= context else 0  # the answer has a context of its own
        return room_of(row, self.context)

    @property
    def most_scored(self) -> int:
        return self.context

    async def answer(self, row: PromptTokens, prompt: Prompt) -> Reply:
        return await self.batcher.ask(row)

    async def scores(self, ids: tuple[int, ...]) -> Sequence[tuple[float, ...]] | None:
        return await self._scorer.batcher.ask(TokenIds(ids))

    async def sums(self, texts: Sequence[tuple[int, ...]], head: int) -> Sequence[float | None]:
        return await asyncio.get_running_loop().run_in_executor(self.thread, self._scorer.sums, texts, head)

    def described(self, error: Exception) -> str:
        return f"{type(error).__name__}: {one_line(error)}"

    async def close(self) -> None:
        self.stopping = True
        await self.batcher.close()
        await self._scorer.batcher.close()
        self.thread.shutdown()
        del self.model, self._scorer, self.batcher
        release()

    def _generated(self, rows: Sequence[PromptTokens]) -> list[Reply]:
        """Return the replies to rows. Whenever half of the rows have ended, a new call continues with the others."""
        import torch
        from transformers import StoppingCriteriaList

        with torch.inference_mode():
            inputs = self._inputs(rows)
            ends = RowEnds(
                rows,
                start=1 if self.seq2seq else inputs["input_ids"].shape[1],
                allowances=[allowance_of(row, self.context) for row in rows],
                eos=self._eos,
                decode=self.text.decode,
                stopping=lambda: self.stopping,
                leaving=self.cached_as in inputs,
            )
            answers: dict[int, list[int]] = {}
            while ends.live:
                criteria = StoppingCriteriaList([ends])
                output = self.model.generate(**inputs, stopping_criteria=criteria, max_new_tokens=ends.remaining)
                for number, ids in zip(ends.live, output.tolist(), strict=True):
                    answers[number] = ids[ends.start : ends.start + ends.lengths[number]]
                places = ends.leave()
                if places:
                    inputs, dropped = _thinned(inputs, self.cached_as, output, self.tensor(places))
                    ends.start -= dropped
        return [reply_of(row, answers[number], self.text, self._eos, self.stopping) for number, row in enumerate(rows)]

    def _inputs(self, rows: Sequence[PromptTokens]) -> dict[str, Any]:
        """Return the rows padded to one length: after a beginning that all share, which a decoder computes once."""
        longest = max(len(row.ids) for row in rows)
        head, past = self._beginning(rows)
        ids, mask = [], []
        for row in rows:
            place = len(row.ids) if self.seq2seq else head
            gap = longest - len(row.ids)
            ids.append([*row.ids[:place], *[self._pad] * gap, *row.ids[place:]])
            mask.append([1] * place + [0] * gap + [1] * (len(row.ids) - place))
        inputs = {"input_ids": self.tensor(ids), "attention_mask": self.tensor(mask)}
        return inputs if past is None else {**inputs, self.cached_as: past}

    def _beginning(self, rows: Sequence[PromptTokens]) -> tuple[int, Any]:
        """Return the number of tokens that are computed once for all rows, and the cache with them, or None."""
        head = shared(rows) if len(rows) > 1 else 0
        if head < LEAST_SHARED:
            return 0, self._cache(rows[0].ids[:1])
        cache = self.begun(rows[0].ids[:head], len(rows))
        return (0, None) if cache is None else (head, cache)

    def begun(self, ids: Sequence[int], rows: int) -> Any:
        """Return a cache for `rows` rows that begin with `ids`, computed once; None if the model uses its own cache."""
        cache = self._cache(ids[:1])
        if cache is not None:
            self._read(ids, cache)
            cache.batch_repeat_interleave(rows)
        return cache

    def _read(self, ids: Sequence[int], cache: Any) -> None:
        self.model.base_model(input_ids=self.tensor([ids]), use_cache=True, **{self.cached_as: cache})

    def _cache(self, ids: Sequence[int]) -> Any:
        """Return an empty cache if the model stores tokens in a given cache; None if it uses only its own."""
        from tabcontam.models.hf.cache import growing_cache, holds

        if self._keeps is None:
            cache = None if self.seq2seq else growing_cache(self.model.config)
            try:
                if cache is not None:
                    self._read(ids, cache)
            except (TypeError, ValueError, AttributeError):  # the model needs another cache, or none
                cache = None
            self._keeps = cache is not None and holds(cache, len(ids))
        return growing_cache(self.model.config) if self._keeps else None

    def tensor(self, values: Sequence[Any]) -> Any:
        import torch

        return torch.tensor(values, device=self.model.device)


def reply_of(
    row: PromptTokens, ids: Sequence[int], reader: ModelTokenizer, eos: Collection[int], stopping: bool = False
) -> Reply:
    """Return the reply for these answer tokens. `stopping` means that the answer may have been ended early."""
    ended = bool(ids) and ids[-1] in eos
    ids = ids[:-1] if ended else ids
    whole = text = reader.decode(ids)
    for mark in row.stop:
        text = text.partition(mark)[0]
    ended = ended or text != whole
    if row.thinks:
        open_still = row.opened and not THOUGHT_END.search(text)
        text = "" if open_still else without_thought(text)[0]
    if stopping and not ended:
        return Reply(text, ReplyState.FAILED, "stopped before the answer ended", len(ids))
    endless = not ended and row.goes_on is not None and row.goes_on(text)
    cut = not (ended or endless)
    return as_reply(text, len(ids), cut=cut, reasoned=row.thinks, stopped=WENT_ON if endless else "")


def room_of(row: PromptTokens, context: int) -> int:
    """Return how many answer tokens fit in a context after a row. A context of 0 has no limit."""
    return (context or sys.maxsize) - len(row.ids)


def allowance_of(row: PromptTokens, context: int) -> int:
    if not row.thinks:
        return 0
    room = context - len(row.ids) - row.max_tokens if context else MOST_THINKING_TOKENS
    return min(MOST_THINKING_TOKENS, room)


# step: how many prompt tokens are computed in the time that one more token of each answer takes
def cost(rows: Sequence[PromptTokens], *, step: int = 40) -> float:
    """Return the work of a batch per prompt token: padding and answers add to it, a shared beginning reduces it."""
    longest = max(len(row.ids) for row in rows)
    head = shared(rows) if len(rows) > 1 else 0
    steps = max(row.max_tokens for row in rows)
    computed = head + len(rows) * (longest - head) + step * steps
    return computed / sum(len(row.ids) for row in rows)


def shared(rows: Sequence[PromptTokens]) -> int:
    """Return the number of tokens with which all rows begin. It is less than the length of every row."""
    return min(common_prefix_length([row.ids for row in rows]), min(len(row.ids) for row in rows) - 1)


def band(row: PromptTokens) -> int:
    """Return the class of a prompt's answer limit, one in a batch: its longest answer delays all others."""
    return row.max_tokens.bit_length() // 3


def _thinned(inputs: dict[str, Any], cached_as: str, output: Any, rows: Any) -> tuple[dict[str, Any], int]:
    given, cache = inputs["attention_mask"], inputs[cached_as]
    mask = given.new_ones(len(rows), output.shape[1])
    mask[:, : given.shape[1]] = given[rows]
    places = mask.any(dim=0)
    held = places[: cache.get_seq_length()]
    for layer in cache.layers:
        layer.keep(rows, held)
    kept = {"input_ids": output[rows][:, places], "attention_mask": mask[:, places]}
    return {**kept, cached_as: cache}, int((~places).sum())


def end_tokens(generation_config: Any, tokenizer: Any) -> frozenset[int]:
    stated = getattr(generation_config, "eos_token_id", None)
    listed = stated if isinstance(stated, list) else [stated]
    return frozenset(token for token in (*listed, tokenizer.eos_token_id) if isinstance(token, int))


def context_of(config: Any) -> int:
    positions = getattr(config.get_text_config(), "max_position_embeddings", None)
    return positions if isinstance(positions, int) and positions > 0 else 0
