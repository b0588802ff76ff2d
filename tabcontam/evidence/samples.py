"""Queries that are asked several times: every sample is a query of its own, whose answer is drawn at a temperature.

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
    """Return `count` samples of the query, numbered from 1. Its question has to be a prompt."""
    return [
        replace(query, id=f"{query.id}{MARK}{number}", write=partial(_drawn, query, temperature, number))
        for number in range(1, count + 1)
    ]


def repeated(query: Query, count: int, temperature: float) -> list[Query]:
    """Return `count` samples of the query as `samples_of` does; only the first counts as the paper's own."""
    samples = samples_of(query, count, temperature)
    return [replace(sample, paper=query.paper and not number) for number, sample in enumerate(samples)]


def asked_often(trials: Sequence[Trial]) -> str:
    """Return the number of answers to each query as words that begin a sentence; return "" if there is one answer."""
    most = max(map(len, by_query(trials).values()), default=0)
    return f"by the best of {most} answers to each, " if most > 1 else ""


def needs_samples(test: Test) -> bool:
    """Return whether a test repeats its queries to a model without log-probabilities if the user sets how often."""
    return test.in_words(None) is None and test.in_words(1) is not None


def is_sample(name: str) -> bool:
    """Return whether a query of this id is one of the samples of another."""
    return NUMBERED.search(name) is not None


def sampled_query(name: str) -> str:
    """Return the id of the query that a sample asks; that of any other query stays as it is."""
    return NUMBERED.sub("", name)


def by_query(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    """Return the trials of samples by the id of the query that they ask."""
    return grouped(trials, lambda trial: sampled_query(trial.query.id))


def without_cut_off(asked: Sequence[Query], left: Sequence[Query]) -> tuple[Query, ...]:
    """Return the asked queries without those that lost some of their samples, which alone would show nothing."""
    cut = {sampled_query(query.id) for query in left if NUMBERED.search(query.id)}
    return tuple(query for query in asked if sampled_query(query.id) not in cut)


def _drawn(query: Query, temperature: float, number: int) -> Prompt:
    return replace(query.prompt, temperature=temperature, sample=number)
