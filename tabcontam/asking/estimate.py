"""An estimate of an LLM's unanswered queries and of their highest cost, before anything is sent."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from tabcontam.asking.trial_file import write_question
from tabcontam.evidence.base import Query
from tabcontam.evidence.questions import Endings, Lookup, Prompt, Question
from tabcontam.models.base import Model
from tabcontam.models.catalogue import find_entry
from tabcontam.models.prices import FREE, Price, price_of, prompt_bound
from tabcontam.models.provider_record import MissingModel
from tabcontam.models.thresholds import MOST_THINKING_TOKENS


@dataclass(frozen=True)
class Estimate:
    """Upper bounds on the requests, tokens and dollars of one LLM's unanswered queries.

    They hold for every tokenizer, and for the longest answers that the server allows. `thinking_tokens`: tokens that a
    model that reasons may write in addition. Repeats of failed requests are not included. `unsure`: some queries need
    an ability that the LLM may turn out to lack. `dollars` is None if no price is known. `missing`: the reason if the
    LLM cannot be reached, and its stored answers are therefore unknown; else None. `batched`: all prompts except the
    first go into batches. `is_corpus`: the source is a corpus, and `requests` counts lookups.
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
    unsure: bool = False


def tokens_read(model: Model, question: Question) -> int:
    """Return the most tokens that a question can have in the form that this model is sent; a lookup has 0."""
    if isinstance(question, Lookup):
        return 0
    written = write_question(question, model.sent_in)
    texts = [written] if isinstance(written, str) else [message["content"] for message in written]
    if isinstance(question, Endings):  # each ending may be sent in a text of its own
        texts = [question.beginning + ending for ending in question.endings]
    return prompt_bound(sum(len(text.encode("utf-8", "replace")) for text in texts), len(texts))


def most_dollars(model: Model, price: Price | None, question: Question, max_tokens: int, thinking: int = 0) -> Decimal:
    """Return the most dollars that a request can cost if the model may write `thinking` tokens in addition."""
    written = max(max_tokens, model.least) + thinking
    return price.cost(tokens_read(model, question), written) if price else Decimal(0)


def price_for(model: Model, prices: Mapping[str, Price]) -> Price | None:
    """Return the price of a model by these `prices`; None if it is unknown. A corpus is free."""
    if model.is_corpus:
        return FREE
    if model.identity is None:
        return None if isinstance(model, MissingModel) else FREE
    if model.written_at:  # `prices` may name the address as the user wrote it
        typed = price_of({**model.identity, "address": model.written_at}, False, prices)
        if typed is not None:
            return typed
    return price_of(model.identity, model.local, prices)


def may_think(model: Model) -> bool:
    """Return whether a model may think before it answers. It may, unless the catalogue says that it does not reason."""
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
    """Return the bounds for the queries `left`. A model that thinks may get each prompt twice.

    With `batch`, prompts go into batches if the model has batches. The first prompt is asked at once, at the full
    price.
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
    # Any prompt may be the one at the full price: the estimate assumes the dearest.
    dollars = price.cost(prompts, answers + thinking) - spared + dearest if price else None
    tokens = (prompts, answers, thinking)
    return Estimate(model.spec, planned, answered, requests, *tokens, dollars, missing, batched, model.is_corpus)


def either(one: Estimate, other: Estimate) -> Estimate:
    """Return bounds that hold for both estimates of an LLM, of which its first answers show the right one."""
    counts = ("requests", "prompt_tokens", "answer_tokens", "thinking_tokens")
    most = {name: max(getattr(one, name), getattr(other, name)) for name in counts}
    dollars = None if one.dollars is None or other.dollars is None else max(one.dollars, other.dollars)
    return replace(one, unsure=True, dollars=dollars, **most)
