"""Log-probabilities of given texts: of each token, and of whole endings of a text whose beginning is computed once."""

from collections.abc import Sequence
from math import inf, log
from typing import TYPE_CHECKING, Any

from tabcontam.models.hf.model_tokenizer import TokenIds
from tabcontam.models.hf.row_batches import Batcher, BatchSplitter
from tabcontam.models.thresholds import LEAST_LOG_PROBABILITY

if TYPE_CHECKING:
    from tabcontam.models.hf.decoding import Decoder

POSITIONS = 256  # positions whose log-probabilities over the vocabulary are in memory together
Moments = tuple[float, float, float]  # a token's log-probability; mean and deviation over all tokens at its place


class Scorer:
    """A scorer of texts, by the model of a decoder, in batches of its own."""

    def __init__(self, decoder: "Decoder", batch_size: int) -> None:
        splitter = BatchSplitter[TokenIds, list[Moments] | None](self._scored, lambda row: None)
        self.batcher = Batcher(splitter, decoder.thread, batch_size, self._cost)
        self._decoder, self._tensor = decoder, decoder.tensor
        self._vocabulary: int = getattr(decoder.model.config.get_text_config(), "vocab_size", 1)

    def sums(self, texts: Sequence[tuple[int, ...]], head: int) -> list[float | None]:
        """Return each text's log-probability (nats) after the `head` tokens that all share; None: too large."""
        logits = 2**26  # the most numbers of a pass: a quarter of a gigabyte
        import torch

        width = max(map(len, texts)) - max(0, head - 1)
        ranked = sorted(set(texts), key=len)  # texts of similar length are computed together

        def part(rows: Sequence[TokenIds]) -> list[float | None]:
            return [*self._sums([row.ids for row in rows], head)]

        with torch.inference_mode():
            few = max(1, logits // max(1, width * self._vocabulary))
            answer = BatchSplitter[TokenIds, float | None](part, lambda row: None, most=few)
            values = dict(zip(ranked, answer([TokenIds(ids) for ids in ranked]), strict=True))
        return [values[ids] for ids in texts]

    def _sums(self, texts: Sequence[tuple[int, ...]], head: int) -> list[float]:
        """Return the log-probabilities of texts after their common beginning, whose last token predicts the next."""
        least_begun = 4  # tokens; a shorter common beginning is not worth a pass
        begun = head - 1
        past = self._decoder.begun(texts[0][:begun], len(texts)) if begun >= least_begun else None
        if past is None:
            begun = 0
        found, _ = self._read([text[begun:] for text in texts], begun, past)
        # Add the tokens of each row after the common beginning. Each is predicted by the token before it.
        first = -log(self._vocabulary) if not head else 0.0
        skipped = max(0, head - 1) - begun
        return [first + sum(own for own, *_ in row[skipped:]) for row in found]

    def _scored(self, rows: Sequence[TokenIds]) -> list[list[Moments] | None]:
        """Return the moments of each row's tokens. The first token of a row counts as uniform over the vocabulary."""
        import torch

        with torch.inference_mode():
            found, vocabulary = self._read([row.ids for row in rows])
        uniform = -log(vocabulary)
        return [[(uniform, uniform, 0.0), *moments] for moments in found]

    def _read(self, rows: Sequence[Sequence[int]], begun: int = 0, past: Any = None) -> tuple[list[list[Moments]], int]:
        """Return the moments of all tokens but the first of each row, after `begun` tokens in a cache `past`.

        The second value is the size of the vocabulary.
        """
        width = max(map(len, rows))
        # A token depends only on the tokens before it, so the padding is at the end.
        ids = self._tensor([[*row, *[0] * (width - len(row))] for row in rows])
        mask = self._tensor([[1] * (begun + len(row)) + [0] * (width - len(row)) for row in rows])
        kept: dict[str, Any] = {"use_cache": False} if past is None else {self._decoder.cached_as: past}
        logits = self._decoder.model(input_ids=ids, attention_mask=mask, **kept).logits
        found = iter(token_moments(logits, rows))
        return [[next(found) for _ in row[1:]] for row in rows], logits.shape[-1]

    def _cost(self, rows: Sequence[TokenIds]) -> float:
        """Return the work of a batch per token of its texts; infinite for several texts that do not fit in memory."""
        tokens_of_a_pass = 400  # tokens that take as long as the fixed part of a pass
        logits = 2**29  # the most numbers of a pass: with more than two gigabytes a system may end the process
        longest = max(len(row.ids) for row in rows)
        if len(rows) > 1 and len(rows) * longest * self._vocabulary > logits:
            return inf
        return (tokens_of_a_pass + len(rows) * longest) / sum(len(row.ids) for row in rows)


# cached: the most numbers at a time on a processor: more exceed its cache and take several times as long
# fewest: the fewest positions at a time, for any size of the vocabulary
def token_moments(logits: Any, rows: Sequence[Sequence[int]], *, cached: int = 2**19, fewest: int = 8) -> list[Moments]:
    """Return the moments (`Moments`) of all tokens but the first of each row, in the order of the rows."""
    import torch

    def tensor(numbers: Sequence[int]) -> Any:
        return torch.tensor(numbers, device=logits.device)

    size = logits.shape[1]
    places = [number * size + place for number, ids in enumerate(rows) for place in range(len(ids) - 1)]
    targets = [target for ids in rows for target in ids[1:]]
    flat = logits.reshape(-1, logits.shape[-1])
    step = min(POSITIONS, max(fewest, cached // flat.shape[1])) if flat.device.type == "cpu" else POSITIONS
    found: list[Moments] = []
    for first in range(0, len(places), step):
        part = slice(first, first + step)
        # Scores relative to the greatest logit: their mean is near 0, so its square loses no digits.
        scores = flat[tensor(places[part])].float()
        scores = scores.sub_(scores.amax(dim=-1, keepdim=True)).clamp_(min=LEAST_LOG_PROBABILITY)
        own = scores.gather(1, tensor(targets[part])[:, None])[:, 0]
        weights = scores.exp()
        total = weights.sum(dim=-1)
        means = torch.linalg.vecdot(weights, scores) / total
        squares = torch.linalg.vecdot(weights.mul_(scores), scores) / total
        deviations = (squares - means.square()).clamp_(min=0).sqrt()
        own, means = own - total.log(), means - total.log()
        found.extend(zip(own.tolist(), means.tolist(), deviations.tolist(), strict=True))
    return found
