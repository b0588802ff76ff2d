"""Rows of token ids in, replies out: greedy decoding of several rows at once."""

from collections.abc import Sequence
from typing import Any

from tabcontam.models.hf_device import out_of_memory, release
from tabcontam.models.hf_ends import RowEnds
from tabcontam.models.hf_loading import Loaded
from tabcontam.models.hf_text import Row, Text
from tabcontam.models.openai_replies import THOUGHT_END, without_thought
from tabcontam.suite.base import Reply, State

REASONING_ALLOWANCE = 4096  # tokens for thinking, which the limit on answer tokens does not count
LEAST_SHARED = 32  # tokens of a shared beginning below which a forward pass of its own does not pay
KEPT_TOKENS = ("bos_token_id", "decoder_start_token_id", "forced_bos_token_id")


class Decoder:
    """A loaded model that answers rows. `stopping` ends the batch under way at its next token."""

    def __init__(self, loaded: Loaded, text: Text) -> None:
        self.stopping = False
        self.context = context_of(loaded.model.config)
        self._model = loaded.model
        self._text = text
        self.seq2seq = loaded.seq2seq
        self._most = 0  # rows at a time that memory was found to hold; 0 while it has held all
        self._eos = _end_tokens(loaded)
        pad = loaded.tokenizer.pad_token_id
        self._pad = pad if isinstance(pad, int) else min(self._eos, default=0)  # masked: any token will do
        # The checkpoint's own settings (sampling, beams, penalties, lengths) would not be greedy decoding.
        self._model.generation_config = self._greedy(loaded.model.generation_config)

    def answer(self, rows: Sequence[Row]) -> list[Reply]:
        """A reply to each row, in fewer at a time where memory does not hold them all."""
        if self._most and len(rows) > self._most:
            parts = [rows[first : first + self._most] for first in range(0, len(rows), self._most)]
            return [reply for part in parts for reply in self.answer(part)]
        try:
            return self._generated(rows)
        except (RuntimeError, MemoryError) as error:
            if not out_of_memory(error):
                raise
        release()  # only here: the exception, and with it the tensors of its frames, is gone
        if len(rows) == 1:
            return [Reply("", State.FAILED, f"out of memory with a single prompt of {len(rows[0].ids):,} tokens")]
        self._most = len(rows) // 2
        return self.answer(rows)

    def _greedy(self, own: Any) -> Any:
        from transformers import GenerationConfig

        kept = {name: getattr(own, name, None) for name in KEPT_TOKENS}
        eos = sorted(self._eos) or None
        return GenerationConfig(do_sample=False, num_beams=1, eos_token_id=eos, pad_token_id=self._pad, **kept)

    def _generated(self, rows: Sequence[Row]) -> list[Reply]:
        import torch
        from transformers import StoppingCriteriaList

        ends = RowEnds(
            rows,
            start=1 if self.seq2seq else max(len(row.ids) for row in rows),
            allowances=[self._allowance(row) for row in rows],
            eos=self._eos,
            decode=self._text.decode,
            stopping=lambda: self.stopping,
        )
        criteria = StoppingCriteriaList([ends])
        with torch.inference_mode():
            inputs = self._inputs(rows)
            output = self._model.generate(**inputs, stopping_criteria=criteria, max_new_tokens=ends.most).tolist()
        answers = [ids[ends.start : ends.start + length] for ids, length in zip(output, ends.lengths, strict=True)]
        return [self._reply(row, ids) for row, ids in zip(rows, answers, strict=True)]

    def _allowance(self, row: Row) -> int:
        """Tokens for thinking, as far as the context reaches."""
        if not row.thinks:
            return 0
        room = self.context - len(row.ids) - row.max_tokens if self.context else REASONING_ALLOWANCE
        return min(REASONING_ALLOWANCE, room)

    def _inputs(self, rows: Sequence[Row]) -> dict[str, Any]:
        """Padded rows. A decoder goes on where a row ends, so that padding goes before it; an encoder's goes behind.

        A beginning that all rows share is computed once, for one row; the padding then comes after it.
        """
        import torch

        longest = max(len(row.ids) for row in rows)
        head, past = self._beginning(rows)
        ids, mask = [], []
        for row in rows:
            place = len(row.ids) if self.seq2seq else head
            gap = longest - len(row.ids)
            ids.append([*row.ids[:place], *[self._pad] * gap, *row.ids[place:]])
            mask.append([1] * place + [0] * gap + [1] * (len(row.ids) - place))
        device = self._model.device
        inputs = {"input_ids": torch.tensor(ids, device=device), "attention_mask": torch.tensor(mask, device=device)}
        return inputs if past is None else {**inputs, "past_key_values": past}

    def _beginning(self, rows: Sequence[Row]) -> tuple[int, Any]:
        """The length of the beginning that all rows share, and the cache after it; 0 and None where it does not pay."""
        shared = 0 if self.seq2seq or len(rows) == 1 else _shared(rows)
        past = self._past(rows[0].ids[:shared]) if shared >= LEAST_SHARED else None
        if past is None:
            return 0, None
        past.batch_repeat_interleave(len(rows))
        return shared, past

    def _past(self, ids: Sequence[int]) -> Any:
        """The cache after these tokens, where the model keeps one that can be copied for every row; else None."""
        import torch
        from transformers import DynamicCache
        from transformers.cache_utils import DynamicLayer

        past = DynamicCache(config=self._model.config)
        # A sliding window counts places in the cache, padding among them; a recurrent state cannot leave padding out.
        if any(type(layer) is not DynamicLayer for layer in past.layers):
            return None
        given = torch.tensor([ids], device=self._model.device)
        after = getattr(self._model.base_model(input_ids=given, use_cache=True), "past_key_values", None)
        if not isinstance(after, DynamicCache) or any(type(layer) is not DynamicLayer for layer in after.layers):
            return None
        return after if after.get_seq_length() == len(ids) else None

    def _reply(self, row: Row, ids: Sequence[int]) -> Reply:
        ended = bool(ids) and ids[-1] in self._eos
        ids = ids[:-1] if ended else ids
        whole = text = self._text.decode(ids)
        for mark in row.stop:
            text = text.partition(mark)[0]
        ended = ended or text != whole
        if row.thinks:
            open_still = row.opened and not THOUGHT_END.search(text)
            text = "" if open_still else without_thought(text)[0]
        if self.stopping and not ended:
            return Reply(text, State.FAILED, "stopped before the answer ended", len(ids))
        if not ended:
            nothing = row.thinks and not text.strip()
            detail = "all tokens went into reasoning" if nothing else "token limit"
            return Reply(text, State.TRUNCATED, detail, len(ids))
        return Reply(text, State.OK, "", len(ids)) if text.strip() else Reply("", State.EMPTY, "no text", len(ids))


def _shared(rows: Sequence[Row]) -> int:
    """How many tokens all rows begin with, short of the whole of any."""
    first, last = min(row.ids for row in rows), max(row.ids for row in rows)  # all others lie between them
    most = min(len(row.ids) for row in rows) - 1
    return next((place for place in range(most) if first[place] != last[place]), most)


def _end_tokens(loaded: Loaded) -> frozenset[int]:
    stated = getattr(loaded.model.generation_config, "eos_token_id", None)
    listed = stated if isinstance(stated, list) else [stated]
    return frozenset(token for token in (*listed, loaded.tokenizer.eos_token_id) if isinstance(token, int))


def context_of(config: Any) -> int:
    """How many tokens fit; 0 where positions are relative and nothing sets a limit."""
    positions = getattr(config.get_text_config(), "max_position_embeddings", None)
    return positions if isinstance(positions, int) and positions > 0 else 0
