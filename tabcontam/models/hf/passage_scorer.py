"""Scores of passages: the log-probability of each token and its moments, from one forward pass per batch."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, log
from typing import Any

from tabcontam.evidence.questions import ReplyState, Scores, Token
from tabcontam.models.hf.decoding import Decoder
from tabcontam.models.hf.model_tokenizer import ModelTokenizer
from tabcontam.models.hf.row_batches import Batcher, BatchSplitter
from tabcontam.models.thresholds import LEAST_LOG_PROBABILITY

POSITIONS = 256  # positions whose log-probabilities over the vocabulary are in memory together
NOT_NUMBERS = "the model's log-probabilities are not numbers"
Moments = tuple[float, float, float]  # a token's log-probability; mean and deviation over all tokens at its place


@dataclass(frozen=True)
class TokenizedText:
    """A text to score: its token ids, after a special token if the tokenizer has one, and each token's text."""

    ids: tuple[int, ...]
    pieces: tuple[str, ...]


class Scorer:
    """A scorer of texts, by the model of a decoder, in batches of its own.

    Every text follows the tokenizer's first special token. Without such a token, the first token of the text counts as
    uniform over the vocabulary.
    """

    def __init__(self, decoder: Decoder, batch_size: int) -> None:
        self.batcher = Batcher(BatchSplitter(self._scored, _too_large), decoder.thread, batch_size, self._cost)
        self._model, self._tensor = decoder.model, decoder.tensor
        self._text: ModelTokenizer = decoder.text
        self._context = decoder.context
        self._vocabulary: int = getattr(decoder.model.config.get_text_config(), "vocab_size", 0)

    async def score(self, text: str) -> Scores:
        """Return the scores of a text, computed in a batch; `FAILED` if it is longer than the context."""
        pieces = self._text.pieces(text)
        ids = (*self._text.begin, *(token for token, _ in pieces))
        if self._context and len(ids) > self._context:
            return Scores((), ReplyState.FAILED, beyond(len(ids), self._context))
        return await self.batcher.ask(TokenizedText(ids, tuple(piece for _, piece in pieces)))

    def _scored(self, rows: Sequence[TokenizedText]) -> list[Scores]:
        import torch

        longest = max(len(row.ids) for row in rows)
        # A token depends only on the tokens before it, so the padding is at the end.
        padded = [(*row.ids, *[0] * (longest - len(row.ids))) for row in rows]
        mask = [[1] * len(row.ids) + [0] * (longest - len(row.ids)) for row in rows]
        with torch.inference_mode():
            output = self._model(input_ids=self._tensor(padded), attention_mask=self._tensor(mask), use_cache=False)
            found = iter(self._moments(output.logits, [row.ids for row in rows]))
        size = output.logits.shape[-1]
        first = [] if self._text.begin else [(-log(size), -log(size), 0.0)]
        return [_tokens(row, [*first, *(next(found) for _ in row.ids[1:])]) for row in rows]

    # cached: the most numbers at a time on a processor: more exceed its cache and take several times as long
    # fewest: the fewest positions at a time, for any size of the vocabulary
    def _moments(
        self, logits: Any, rows: Sequence[Sequence[int]], *, cached: int = 2**19, fewest: int = 8
    ) -> list[Moments]:
        """Return the moments (`Moments`) of all tokens but the first of each row, in the order of the rows."""
        import torch

        size = logits.shape[1]
        places = [number * size + place for number, ids in enumerate(rows) for place in range(len(ids) - 1)]
        targets = [target for ids in rows for target in ids[1:]]
        flat = logits.reshape(-1, logits.shape[-1])
        step = min(POSITIONS, max(fewest, cached // flat.shape[1])) if flat.device.type == "cpu" else POSITIONS
        found: list[Moments] = []
        for first in range(0, len(places), step):
            part = slice(first, first + step)
            # Scores relative to the greatest logit: their mean is near 0, so its square loses no digits.
            scores = flat[self._tensor(places[part])].float()
            scores = scores.sub_(scores.amax(dim=-1, keepdim=True)).clamp_(min=LEAST_LOG_PROBABILITY)
            own = scores.gather(1, self._tensor(targets[part])[:, None])[:, 0]
            weights = scores.exp()
            total = weights.sum(dim=-1)
            means = torch.linalg.vecdot(weights, scores) / total
            squares = torch.linalg.vecdot(weights.mul_(scores), scores) / total
            deviations = (squares - means.square()).clamp_(min=0).sqrt()
            own, means = own - total.log(), means - total.log()
            found.extend(zip(own.tolist(), means.tolist(), deviations.tolist(), strict=True))
        return found

    def _cost(self, rows: Sequence[TokenizedText]) -> float:
        """Return the work of a batch per token of its texts. Padding and the pass itself add to it.

        The cost is infinite for several texts with too many numbers in one pass. A single text is always allowed.
        """
        tokens_of_a_pass = 400  # tokens that take as long as the fixed part of a pass
        logits = 2**29  # the most numbers of a pass: with more than two gigabytes a system may end the process
        longest = max(len(row.ids) for row in rows)
        if len(rows) > 1 and len(rows) * longest * self._vocabulary > logits:
            return inf
        return (tokens_of_a_pass + len(rows) * longest) / sum(len(row.ids) for row in rows)


def beyond(tokens: int, context: int) -> str:
    """Return the message that a text has more tokens than the model's context."""
    return f"the text is too long: {tokens:,} tokens; the model takes {context:,}"


def _tokens(row: TokenizedText, moments: Sequence[Moments]) -> Scores:
    if not all(isfinite(number) for token in moments for number in token):
        return Scores((), ReplyState.FAILED, NOT_NUMBERS)
    return Scores(tuple(Token(piece, *own) for piece, own in zip(row.pieces, moments, strict=True)), ReplyState.OK)


def _too_large(row: TokenizedText) -> Scores:
    return Scores((), ReplyState.FAILED, f"out of memory with a single text of {len(row.ids):,} tokens")
