"""Queries that are asked several times: each sample is a separate query, and its answer is drawn at a temperature.

So a sample is planned, priced, stored and counted against a limit like any other query.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from tabcontam.evidence.base import Query, Test, Trial
from tabcontam.evidence.mixins import InWordsTest
from tabcontam.evidence.questions import Prompt
from tabcontam.groups import grouped

MARK = "-sample-"  # in the id of a sample, before the sample's number
NUMBERED = re.compile(rf"{MARK}[1-9][0-9]*\Z")

Part = TypeVar("Part", Query, Trial)


def samples_of(query: Query, count: int, temperature: float) -> list[Query]:
    """Return `count` samples of the query, numbered from 1. Its question has to be a prompt."""
    return [
        replace(query, id=f"{query.id}{MARK}{number}", write=partial(_drawn, query, temperature, number))
        for number in range(1, count + 1)
    ]


def repeated(query: Query, count: int, temperature: float) -> list[Query]:
    """Return `count` samples of the query like `samples_of`; only the first counts as the paper's own query."""
    samples = samples_of(query, count, temperature)
    return [replace(sample, paper=query.paper and not number) for number, sample in enumerate(samples)]


def asked_often(trials: Sequence[Trial]) -> str:
    """Return the beginning of a sentence: the number of answers to each query; "" if it is one answer."""
    most = max(map(len, by_query(trials).values()), default=0)
    return f"by the best of {most} answers to each, " if most > 1 else ""


def needs_samples(test: Test) -> bool:
    """Return whether a test asks each query several times if the model has no log-probabilities (with `--samples`)."""
    return isinstance(test, InWordsTest) and test.in_words(None) is None and test.in_words(1) is not None


def is_sample(name: str) -> bool:
    """Return whether a query with this id is a sample of another query."""
    return NUMBERED.search(name) is not None


def sampled_query(name: str) -> str:
    """Return the id of the query of which this is a sample; any other id stays unchanged."""
    return NUMBERED.sub("", name)


def by_query(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    """Return the trials by query id; all samples of one query have the same key."""
    return grouped(trials, lambda trial: sampled_query(trial.query.id))


def without_cut_off(asked: Sequence[Query], left: Sequence[Query]) -> tuple[Query, ...]:
    """Return the asked queries, except samples of a query with samples in `left`: a part of them shows nothing."""
    cut = {sampled_query(query.id) for query in left if NUMBERED.search(query.id)}
    return tuple(query for query in asked if sampled_query(query.id) not in cut)


def _drawn(query: Query, temperature: float, number: int) -> Prompt:
    return replace(query.prompt, temperature=temperature, sample=number)
