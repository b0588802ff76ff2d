"""Examples of texts: two that are recited are found, and what is fluent, printed everywhere or common is not."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from random import Random

import pytest

from tabcontam.evidence.base import Evidence, Query, Reply, ReplyState, Trial
from tabcontam.evidence.checks import rendered
from tabcontam.extensions.papers.task.recited_passages import listed_passages, text_of
from tabcontam.extensions.papers.task.task_examples import TaskExamples
from tabcontam.extensions.papers.thresholds import PRINTED_FIRST_ROWS
from tabcontam.tables.serializers import load_serializers
from tests.answerers import reply_of
from tests.made_tables import logs, made_table

TEST = TaskExamples()
CSV = load_serializers()["csv"]
LEVEL = 0.01
LOGS = logs()


@cache
def asked() -> Sequence[Query]:
    return TEST.planned(LOGS, CSV, Random(0))


def read(query: Query, text: str) -> Trial:
    reply = Reply(text, ReplyState.OK)
    return Trial(query, reply, TEST.read(query, reply, CSV))


def weighed(*texts: str) -> Evidence:
    return TEST.weigh([read(query, text) for query, text in zip(asked(), texts, strict=False)], LEVEL)


def p_of(*texts: str) -> float:
    return weighed(*texts).p_value or 0.0


def lines(rows: Sequence[int]) -> str:
    return "\n".join(text_of(LOGS, row) for row in rows)


def fluent(seed: int) -> str:
    """Texts of the table's words, two and two as they stand somewhere in it."""
    rng, every = Random(seed), [word for row in range(len(LOGS.rows)) for word in text_of(LOGS, row).split()]
    pairs = [" ".join(every[place : place + 2]) for place in range(len(every) - 2)]
    return "\n".join(" ".join(rng.choice(pairs) for _ in range(15)) for _ in range(10))


def test_texts_are_asked_for_and_none_is_shown() -> None:
    assert len(asked()) == 2
    for query in asked():
        assert LOGS.title in rendered(query.prompt)
        assert "10 training examples" in rendered(query.prompt)
        assert not any(text_of(LOGS, row) in rendered(query.prompt) for row in range(len(LOGS.rows)))
    assert TEST.uninformative(asked(), LEVEL) is None


@pytest.mark.parametrize("form", ["{}", '1. "{}"', '{{"text": "{}", "label": "sea"}}', "Text: {}"])
def test_two_recited_texts_are_a_finding_in_any_form_and_one_is_none(form: str) -> None:
    one, two = (form.format(text_of(LOGS, row)) for row in (20, 30))
    assert p_of(f"{fluent(1)}\n{one}") > LEVEL
    assert p_of(f"{fluent(1)}\n{one}\n{two}") < 1e-6
    assert p_of(f"{fluent(1)}\n{one}", two) < 1e-6


def test_a_text_that_is_written_again_counts_once() -> None:
    assert p_of(lines([20, 20]), f"{lines([20])} And more of it.") > LEVEL


def test_the_first_texts_of_the_file_count_nothing() -> None:
    found = weighed(lines(range(PRINTED_FIRST_ROWS)))
    assert (found.p_value, found.recalled_bits) == (1.0, 0.0)
    assert f"{PRINTED_FIRST_ROWS} equal texts of the table" in found.sentence


def test_known_texts_count_nothing() -> None:
    known = replace(LOGS, known=(LOGS.rows[:40],))
    (first, *_) = TEST.planned(known, CSV, Random(0))
    assert TEST.weigh([read(first, lines(range(15, 35)))], LEVEL).p_value == 1.0


def test_who_writes_words_of_the_table_is_not_found() -> None:
    for seed in range(10):
        assert p_of(fluent(seed), fluent(100 + seed)) > LEVEL
        assert p_of(*(reply_of("guesser", query, LOGS, seed).text for query in asked())) > LEVEL


def test_a_formula_that_other_texts_have_is_worth_nothing() -> None:
    formula = "then the crew stood before the harbour master and asked for a berth until the morning tide"
    rows = [(f"{text_of(LOGS, row)} {row} {formula}.", "x") for row in range(40)]
    table = replace(made_table(("book", "mark"), rows, "formulas"), text=replace(LOGS.text, texts=("book",)))  # type: ignore[type-var]
    (first, *_) = TEST.planned(table, CSV, Random(0))
    told = "\n".join(f"{' '.join(text_of(LOGS, row).split()[-5:])} {row} {formula}" for row in range(12, 30))
    found = TEST.weigh([read(first, told)], LEVEL)
    assert (found.p_value or 0.0) > LEVEL


def test_lines_that_are_no_text_and_refusals_are_none() -> None:
    assert listed_passages("Here are some:\n\n1.\nToo short.") == []
    assert not read(asked()[0], "I am sorry, but I cannot recite any of the texts of this dataset here.").readable
    assert len(listed_passages(f"{lines([20, 21])}", cut=True)) == 1
