"""Rows with one cell replaced, ours and a loop of one call a text: `python -m benchmarks.endings MODEL [TABLE]`.

MODEL is the folder of a causal model, as `expose` makes one. The questions are those of `surrogate_rank` as CSV. All
sides take turns on the same questions in one thread; the loop calls `model(ids)` for every text and sums its
log-probabilities, and a second one does so for every different text alone, which a loop does not know to do. Wanted are
a ratio of 5 to the first, the same values to a thousandth of a nat, and half of the tokens computed.
"""

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path
from random import Random
from statistics import median
from time import process_time
from typing import Any

from tabcontam.evidence.base import Endings, Likelihoods
from tabcontam.evidence.likelihood.surrogate_rank import SurrogateRank
from tabcontam.models.base import ModelRequest, common_prefix_length
from tabcontam.models.provider_registry import ModelSettings, resolve
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import load_table

QUESTIONS, TURN = 30, 10


def looped(model: Any, reader: Any, asked: Endings, endings: Iterable[str]) -> dict[str, float]:
    """The log-probability of each text by one call of the model for it, in nats."""
    import torch

    known: dict[str, float] = {}
    for ending in endings:
        ids = torch.tensor(
            [[reader.bos_token_id, *reader(asked.beginning + ending, add_special_tokens=False).input_ids]]
        )
        with torch.inference_mode():
            told = torch.log_softmax(model(input_ids=ids).logits[0, :-1].float(), dim=-1)
        known[ending] = float(told.gather(1, ids[0, 1:, None]).sum())
    return known


def tokens(reader: Any, asked: Endings) -> tuple[int, int]:
    """How many tokens the texts have, and how many are left where what all begin with is computed once."""
    texts = [tuple(reader(asked.beginning + ending).input_ids) for ending in asked.endings]
    different, shared = set(texts), common_prefix_length(texts)
    return sum(map(len, texts)), sum(map(len, different)) - shared * (len(different) - 1)


async def main(folder: str, name: str) -> None:
    """Print both sides' seconds of the processor, and how far their values are apart."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    table, form = load_table(name), load_serializer("csv")
    queries = SurrogateRank().queries(table, form, Random(0))[:QUESTIONS]
    asked = [query.question for query in queries if isinstance(query.question, Endings)]
    model, reader = AutoModelForCausalLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    ours = resolve(f"hf:{folder}").open(ModelSettings(needs=SurrogateRank.needs))
    await ours.connect()
    ratios, apart = [], 0.0
    for start in range(0, len(asked), TURN):
        part, began = asked[start : start + TURN], process_time()
        answers = [await ours.compare(ModelRequest(one)) for one in part]
        between = process_time()
        values = [looped(model, reader, one, one.endings) for one in part]
        ended = process_time()
        for one in part:
            looped(model, reader, one, dict.fromkeys(one.endings))
        once, own, every = process_time() - ended, between - began, ended - between
        ratios.append((every / own, once / own))
        print(f"ours {own:.2f} s, one call a text {every:.2f} s, a different text {once:.2f} s", flush=True)
        for one, answer, known in zip(part, answers, values, strict=True):
            assert isinstance(answer, Likelihoods)
            told = [known[ending] for ending in one.endings]
            shift = told[0] - answer.values[0]
            apart = max(apart, *(abs(theirs - own - shift) for theirs, own in zip(told, answer.values, strict=True)))
    whole, left = (sum(each) for each in zip(*(tokens(reader, one) for one in asked), strict=True))
    every, once = (median(each) for each in zip(*ratios, strict=True))
    computed = f"{left / whole:.0%} of {whole:,} tokens"
    print(f"ratios {every:.1f} and {once:.1f}; values at most {apart:.1e} nats apart; {computed}")
    await ours.close()


if __name__ == "__main__":
    asyncio.run(main(str(Path(sys.argv[1])), sys.argv[2] if len(sys.argv) > 2 else "penguins"))
