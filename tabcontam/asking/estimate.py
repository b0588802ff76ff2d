"""An estimate of the queries left for an LLM and of their highest cost, before anything is sent."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from tabcontam.asking.trial_file import write_question
from tabcontam.evidence.base import Query
from tabcontam.evidence.questions import Endings, Lookup, Prompt, Question
from tabcontam.models.base import Model
from tabcontam.models.catalogue import find_entry
from tabcontam.models.missing_model import MissingModel
from tabcontam.models.prices import FREE, Price, price_of, prompt_bound
from tabcontam.models.thresholds import MOST_THINKING_TOKENS


@dataclass(frozen=True)
class Estimate:
    """Upper bounds for one LLM: no tokenizer makes more tokens of the prompts, and the server allows no longer answers.

    `thinking_tokens` are those that a model that reasons may write on top. Requests that are sent again after a fault
    are not included. `dollars` is None if no price is known. `missing` is why the LLM cannot be reached, if so; then
    its answers in the store are unknown. `batched` means that prompts go into batches, but for the first; `is_corpus`
    that it is a corpus, whose `requests` are lookups.
    """

    llm: str
    queries: int
    answered: int
    requests: int
    prompt_tokens: int
    answer_tokens: int
    thinking_tokens: int
    dollars: Decimal | None
    missing: str | None = None
    batched: bool = False
    is_corpus: bool = False


def tokens_read(model: Model, question: Question) -> int:
    """Return the most tokens that a question can be, in the form that this model is sent; a lookup has none."""
    if isinstance(question, Lookup):
        return 0
    written = write_question(question, model.sent_in)
    texts = [written] if isinstance(written, str) else [message["content"] for message in written]
    if isinstance(question, Endings):  # each may be sent as a text of its own
        texts = [question.beginning + ending for ending in question.endings]
    return prompt_bound(sum(len(text.encode("utf-8", "replace")) for text in texts), len(texts))


def price_for(model: Model, prices: Mapping[str, Price]) -> Price | None:
    """Return what an LLM costs by these prices; None if it is unknown. Searching documents is free."""
    if model.is_corpus:
        return FREE
    if model.identity is None:
        return None if isinstance(model, MissingModel) else FREE
    if model.written_at:  # a price may be named by the address as it is written
        typed = price_of({**model.identity, "address": model.written_at}, False, prices)
        if typed is not None:
            return typed
    return price_of(model.identity, model.local, prices)


def may_think(model: Model) -> bool:
    """Return whether a model may think before it answers; only the catalogue can rule that out."""
    if model.identity is None:
        return False
    entry = find_entry(model.identity["model"].removeprefix("models/"))
    return entry is None or entry.reasons


def estimate(
    model: Model,
    price: Price | None,
    planned: int,
    answered: int,
    left: Iterable[Query],
    missing: str | None,
    batch: bool = False,
) -> Estimate:
    """Return the bounds over the queries that are left. A model that thinks may get a prompt again, with more room.

    With `batch` prompts go into batches if the model has them, but for the first, which is asked at once.
    """
    thinks, batched = may_think(model), batch and model.batches is not None
    requests = prompts = answers = thinking = 0
    half = price.in_batch if price and batched else None
    spared = dearest = Decimal(0)
    for query in left:
        question = query.question
        times, allowance = (2, MOST_THINKING_TOKENS) if thinks and isinstance(question, Prompt) else (1, 0)
        read, written = times * tokens_read(model, question), times * max(query.max_tokens, model.least)
        requests += len(set(question.endings)) if isinstance(question, Endings) and not model.local else 1
        prompts += read
        answers += written
        thinking += allowance
        if price and half and isinstance(question, Prompt):
            saved = price.cost(read, written + allowance) - half.cost(read, written + allowance)
            spared, dearest = spared + saved, max(dearest, saved)
    # The dearest may be the one that is asked at once.
    dollars = price.cost(prompts, answers + thinking) - spared + dearest if price else None
    tokens = (prompts, answers, thinking)
    return Estimate(model.spec, planned, answered, requests, *tokens, dollars, missing, batched, model.is_corpus)
