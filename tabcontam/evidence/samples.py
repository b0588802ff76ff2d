"""A query that is asked several times: every sample is a query of its own, whose answer is drawn at a temperature.

So a sample is planned, priced, stored and counted against a limit as any other query is.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from tabcontam.evidence.base import Query, Test, Trial
from tabcontam.evidence.questions import Prompt
from tabcontam.groups import grouped

MARK = "-sample-"  # in the id of a sample, before its number
NUMBERED = re.compile(rf"{MARK}[1-9][0-9]*\Z")

Part = TypeVar("Part", Query, Trial)


def samples_of(query: Query, count: int, temperature: float) -> list[Query]:
    """The query so many times, each time with a number of its own, from 1. Its question has to be a prompt."""
    return [
        replace(query, id=f"{query.id}{MARK}{number}", write=partial(_drawn, query, temperature, number))
        for number in range(1, count + 1)
    ]


def repeated(query: Query, count: int, temperature: float) -> list[Query]:
    """The query so many times, as `samples_of` has it; the paper's own is the first of them alone."""
    samples = samples_of(query, count, temperature)
    return [replace(sample, paper=query.paper and not number) for number, sample in enumerate(samples)]


def asked_often(trials: Sequence[Trial]) -> str:
    """How many answers there are to each query, in words with which a sentence begins; nothing where there is one."""
    most = max(map(len, by_query(trials).values()), default=0)
    return f"by the best of {most} answers to each, " if most > 1 else ""


def sampled(test: Test) -> bool:
    """Whether a test asks an LLM that tells no log-probabilities the same several times, if the user says how often."""
    return test.in_words(None) is None and test.in_words(1) is not None


def is_sample(name: str) -> bool:
    """Whether a query of this id is one of the samples of another."""
    return NUMBERED.search(name) is not None


def sampled_query(name: str) -> str:
    """The id of the query that a sample asks; that of any other query stays as it is."""
    return NUMBERED.sub("", name)


def by_query(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    """The trials of samples, by the id of the query that they ask."""
    return grouped(trials, lambda trial: sampled_query(trial.query.id))


def without_cut_off(asked: Sequence[Query], left: Sequence[Query]) -> tuple[Query, ...]:
    """What is asked without the samples of a query some of whose samples are left out: they would say nothing."""
    cut = {sampled_query(query.id) for query in left if NUMBERED.search(query.id)}
    return tuple(query for query in asked if sampled_query(query.id) not in cut)


def _drawn(query: Query, temperature: float, number: int) -> Prompt:
    return replace(query.prompt, temperature=temperature, sample=number)
