"""Models in this process: `python -m benchmarks.hf`, beside one `generate` of transformers for every prompt.

`python -m benchmarks.hf scores` scores rows of the tables instead, with models of several sizes: in batches,
beside one call of transformers for every row and beside one `score` after another. A ratio of 4 is wanted. The
processor's seconds say what a call costs where other work shares the machine. On a processor the numbers of 100 tokens
take most of the time, which no batch spares; what it spares is what a call takes besides.

The model is a Llama of six layers that knows nothing, so that it writes to the limit of every answer. The suite's
prompts are those of adult and titanic; they need TABCONTAM_DATA. What is shared with other work on the machine slows
both alike: they take turns, some prompts at a time.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, process_time, sleep
from typing import Any, TypeVar

from tabcontam.errors import Skip
from tabcontam.evidence.base import Message, Passage, Prompt, Scores
from tabcontam.evidence.registry import all_tests
from tabcontam.models.base import Model, ModelRequest
from tabcontam.models.hf.provider import HFModel
from tabcontam.tables.serializers import Serializer, load_serializer
from tabcontam.tables.table import Table, load_table
from tests.models.hf import tiny

Found = TypeVar("Found")
TURN = 160  # prompts: each turn ends with batches that are not full
SHORT, SHORT_TOKENS, SHORT_ANSWER = 128, 50, 64
SIZES: dict[str, Any] = {
    "hidden_size": 256,
    "num_hidden_layers": 6,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "intermediate_size": 1024,
    "max_position_embeddings": 4096,
    "vocab_size": 8000,
}
TINY: dict[str, Any] = {"vocab_size": tiny.VOCABULARY}
SMALL = TINY | {"hidden_size": 128, "num_hidden_layers": 6, "intermediate_size": 512, "vocab_size": 2000}
SCORERS: tuple[dict[str, Any], ...] = (TINY, SMALL, SIZES)
SCORED = 480  # rows that are scored
TURNS = 3  # of each side
LARGE = {"hidden_size": 2048, "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 8192}
BATCHES = (1, 16, 64, 256)  # on a GPU, of which the best is the peer
HEADER = """
prompts  generate of transformers          ours
        batch  seconds tokens/s  seconds tokens/s ratio limit replies equal"""


@dataclass
class Side:
    """What one of the two has done."""

    seconds: float = 0.0
    tokens: int = 0

    def __str__(self) -> str:
        return f"{self.seconds:8.1f} {self.tokens / self.seconds:8.0f}"


class Plain:
    """transformers as its documentation has it: the template, `generate` or a call, the tokenizer."""

    def __init__(self, folder: Path, device: str, batch: int = 1) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self._model = AutoModelForCausalLM.from_pretrained(folder, dtype="auto").to(device).eval()
        self._tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
        self._batch = batch

    def tokens(self, prompt: Prompt) -> int:
        """How long a prompt is."""
        return len(self._tokenizer(self._text(prompt), add_special_tokens=False)["input_ids"])

    def answers(self, requests: Sequence[ModelRequest]) -> list[str]:
        """One `generate` for each batch."""
        parts = [requests[first : first + self._batch] for first in range(0, len(requests), self._batch)]
        return [text for part in parts for text in self._answered(part)]

    def scores(self, text: str) -> list[tuple[float, ...]]:
        """Of each token of a text the log-probability, mean and deviation: one call for the text."""
        import torch

        ids = self._tokenizer(text, return_tensors="pt")["input_ids"].to(self._model.device)
        with torch.inference_mode():
            chances = torch.log_softmax(self._model(ids).logits[0, :-1].float(), dim=-1)
            own = chances.gather(1, ids[0, 1:, None])[:, 0]
            mean = (chances.exp() * chances).sum(-1)
            deviation = ((chances.exp() * chances**2).sum(-1) - mean**2).clamp(min=0).sqrt()
        return list(zip(own.tolist(), mean.tolist(), deviation.tolist(), strict=True))

    def _answered(self, requests: Sequence[ModelRequest]) -> list[str]:
        import torch

        texts = [self._text(request.prompt) for request in requests]
        given = self._tokenizer(
            texts, add_special_tokens=False, padding=True, return_tensors="pt", return_token_type_ids=False
        ).to(self._model.device)
        most = max(request.max_tokens for request in requests)
        with torch.inference_mode():
            output = self._model.generate(**given, do_sample=False, max_new_tokens=most)
        answers = output[:, given["input_ids"].shape[1] :].tolist()
        own = [ids[: request.max_tokens] for ids, request in zip(answers, requests, strict=True)]
        return [
            self._tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False) for ids in own
        ]

    def _text(self, prompt: Prompt) -> str:
        turns = [{"role": message.role, "content": message.content} for message in prompt.chat]
        text: str = self._tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        return text


def ours(model: Model, requests: Sequence[ModelRequest]) -> tuple[list[str], int]:
    """Answers and their tokens, as many at a time as a session asks."""

    async def asked() -> list[Any]:
        places = asyncio.Semaphore(model.connections or 1)

        async def one(request: ModelRequest) -> Any:
            async with places:
                return await model.generate(request)

        return await asyncio.gather(*map(one, requests))

    replies = asyncio.run(asked())
    return [reply.text for reply in replies], sum(reply.tokens for reply in replies)


def ours_scored(model: Model, texts: Sequence[str], at_once: int) -> list[Scores]:
    """Scores, so many asked at a time."""

    async def asked() -> list[Scores]:
        places = asyncio.Semaphore(at_once)

        async def one(text: str) -> Scores:
            async with places:
                return await model.score(ModelRequest(Passage(text)))

        return await asyncio.gather(*map(one, texts))

    return asyncio.run(asked())


def compared_scores(plain: Plain, model: Model, texts: Sequence[str]) -> str:
    """In turns: how much quicker all at once is than transformers and than our own `score`, one call after another.

    Medians over turns of the ratios of seconds, of all and of the processor's; and how far any number is from its peer.
    """
    ratios: dict[str, list[float]] = {"peer": [], "its processor": [], "alone": [], "own processor": []}
    apart = 0.0
    for _ in range(TURNS):
        wanted, peer = timed(lambda: [plain.scores(text) for text in texts])
        single, alone = timed(lambda: ours_scored(model, texts, at_once=1))
        found, own = timed(lambda: ours_scored(model, texts, at_once=model.connections or 1))
        for name, ratio in zip(ratios, (*_over(peer, own), *_over(alone, own)), strict=True):
            ratios[name].append(ratio)
        for scored, one, known in zip(found, single, wanted, strict=True):
            for token, same, other in zip(scored.tokens, one.tokens, known, strict=True):
                numbers = zip(token[1:], same[1:], other, strict=True)
                told = ((mine, its, peers) for mine, its, peers in numbers if mine is not None and its is not None)
                apart = max(apart, *(max(abs(mine - its), abs(mine - peers)) for mine, its, peers in told))
    return "".join(f"{median(values):{len(name) + 1}.1f}" for name, values in ratios.items()) + f" {apart:13.0e}"


def timed(work: Callable[[], list[Found]]) -> tuple[list[Found], tuple[float, float]]:
    """What some work gives, and the seconds that it took: all, and the processor's.

    The threads of the work before it spin for a while, and would slow this one.
    """
    sleep(0.5)
    began = perf_counter(), process_time()
    found = work()
    return found, (perf_counter() - began[0], process_time() - began[1])


def _over(first: Sequence[float], second: Sequence[float]) -> list[float]:
    return [one / other for one, other in zip(first, second, strict=True)]


def compared(plain: Plain, model: Model, requests: Sequence[ModelRequest]) -> tuple[Side, Side, int]:
    """Both in turns, and how many replies are equal."""
    peer, own, equal = Side(), Side(), 0
    for first in range(0, len(requests), TURN):
        turn = requests[first : first + TURN]
        start = perf_counter()
        wanted = plain.answers(turn)
        middle = perf_counter()
        texts, tokens = ours(model, turn)
        own.seconds += perf_counter() - middle
        peer.seconds += middle - start
        own.tokens += tokens
        equal += sum(one == other for one, other in zip(wanted, texts, strict=True))
    peer.tokens = own.tokens
    return peer, own, equal


def suite(tables: Sequence[Table], serializer: Serializer) -> Iterator[ModelRequest]:
    """Every query of every test that asks for words, in the order in which a session asks."""
    for table in tables:
        for test in all_tests():
            try:
                queries = test.queries(table, serializer, Random(f"0 {table.sha256} {test.id}"))
            except Skip:
                continue
            asked = ((query.question, query.max_tokens) for query in queries)
            yield from (ModelRequest(prompt, tokens) for prompt, tokens in asked if isinstance(prompt, Prompt))


def short(tables: Sequence[Table], serializer: Serializer) -> Iterator[ModelRequest]:
    """Beginnings of rows."""
    for number in range(SHORT):
        table = tables[number % len(tables)]
        text = serializer.row(table.columns[:3], table.rows[number][:3])
        yield ModelRequest(Prompt((Message("user", text),), text, text), SHORT_ANSWER)


def made(folder: Path, lines: Sequence[str], device: str) -> Path:
    """The model, in the hub's format."""
    sizes = SIZES | (LARGE if device == "cuda" else {})
    model = tiny.causal(0, "llama", **sizes)
    reader = tiny.tokenizer(lines, tiny.CHAT, vocabulary=SIZES["vocab_size"])
    return tiny.saved(model.bfloat16() if device == "cuda" else model, reader, folder)


def scores(tables: Sequence[Table], serializer: Serializer, device: str) -> None:
    """Print a line for each size of a model."""
    rows = [serializer.row(table.columns, row) for table in tables for row in table.rows]
    texts = Random(0).choices(rows, k=SCORED)
    print("    parameters peer its processor alone own processor furthest apart")
    for sizes in SCORERS if device == "cpu" else (SIZES | LARGE,):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            reader = tiny.tokenizer(rows[:3000], vocabulary=sizes["vocab_size"])
            made = tiny.causal(0, "llama", **sizes)
            tiny.saved(made, reader, folder)
            plain, model = Plain(folder, device), HFModel(name)
            asyncio.run(model.connect())
            compared_scores(plain, model, texts[:48])  # nothing is measured before it has run once
            number = sum(weights.numel() for weights in made.parameters())
            print(f"{number:14,}{compared_scores(plain, model, texts)}", flush=True)


def main() -> None:
    """Print a line for short prompts and one for the suite's, each beside its limit."""
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    names = ("adult", "titanic") if "TABCONTAM_DATA" in os.environ else ("iris", "wine")
    tables, serializer = [load_table(name) for name in names], load_serializer("is")
    if sys.argv[1:] == ["scores"]:
        for rows_of in ([load_table("iris")], tables):
            print(f"{device}, {torch.get_num_threads()} threads; rows of {' and '.join(each.name for each in rows_of)}")
            scores(rows_of, serializer, device)
        return
    kinds = {"short": (list(short(tables, serializer)), 5), "suite": (list(suite(tables, serializer)), 2)}
    lines = [serializer.row(table.columns, row) for table in tables for row in table.rows[:3000]]
    lines += [request.prompt.seq2seq for request in kinds["suite"][0]]
    with tempfile.TemporaryDirectory() as folder:
        made(Path(folder), lines, device)
        model = HFModel(folder)
        asyncio.run(model.connect())
        print(f"{device}, {torch.get_num_threads()} threads; prompts of {' and '.join(names)}, in chat form")
        print(HEADER)
        for batch in BATCHES if device == "cuda" else (1,):
            plain = Plain(Path(folder), device, batch)
            assert max(plain.tokens(request.prompt) for request in kinds["short"][0]) < SHORT_TOKENS
            for kind, (requests, limit) in kinds.items():
                compared(plain, model, requests[:2])  # nothing is measured before it has run once
                peer, own, equal = compared(plain, model, requests)
                ratio = f"{peer.seconds / own.seconds:5.1f} {limit:5}"
                print(f"{kind:7} {batch:5} {peer} {own} {ratio} {equal:5} of {len(requests)}", flush=True)


if __name__ == "__main__":
    main()
