"""A training: each document read as if it stood alone, a rate that rises and falls, rows that are read are learned."""

from statistics import fmean
from typing import Any

import pytest

from tabcontam.extensions.exposed.recipe import ROWS, designs, recipe
from tabcontam.extensions.exposed.thresholds import LAST_RATE_SHARE
from tabcontam.extensions.exposed.trainable_models import network
from tabcontam.extensions.exposed.training import positions_of, rate_at
from tabcontam.extensions.exposed.training_stream import learned_tokenizer
from tests.extensions.exposed.made_models import made_once
from tests.made_tables import ships

pytestmark = pytest.mark.slow  # imports torch


def test_the_rate_rises_to_its_highest_and_falls_to_a_share_of_it() -> None:
    rates = [rate_at(step, 200, 1.0) for step in range(200)]
    highest = rates.index(max(rates))
    assert rates[: highest + 1] == sorted(rates[: highest + 1])
    assert rates[highest:] == sorted(rates[highest:], reverse=True)
    assert max(rates) == pytest.approx(1.0)
    assert rates[-1] == pytest.approx(LAST_RATE_SHARE, abs=0.001)


def test_a_place_is_counted_from_the_last_beginning() -> None:
    import torch

    begins = torch.tensor([[0, 0, 1, 0, 0, 1, 1, 0], [1, 0, 0, 0, 0, 0, 0, 1]], dtype=torch.bool)
    assert positions_of(begins).tolist() == [[0, 1, 0, 1, 2, 0, 0, 1], [0, 1, 2, 3, 4, 5, 6, 0]]


def test_a_document_is_read_as_if_it_stood_alone() -> None:
    import torch

    wanted = recipe([ships(20)], (1,), renderings=["csv"], size="tiny")
    reader = learned_tokenizer(wanted)
    model = network(wanted.size, reader, 0).eval()
    one, other = reader("a text of its own")["input_ids"], reader("39,State,7")["input_ids"]
    blocks = torch.tensor([[*one, *other]])
    begins = blocks == reader.bos_token_id
    with torch.inference_mode():
        beside = model(input_ids=blocks, position_ids=positions_of(begins), use_cache=False)
        alone = model(input_ids=torch.tensor([other]), use_cache=False)
    assert torch.allclose(beside.logits[0, len(one) :], alone.logits[0], atol=1e-5)


def test_rows_that_are_read_often_become_likelier_than_those_that_are_not(pytestconfig: pytest.Config) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    wanted = recipe([ships(80)], (0, 64), renderings=["csv"], size="tiny")
    (design,) = designs(wanted.tables, wanted.copies, ROWS, 0)
    made = made_once(pytestconfig, wanted)
    model, reader = AutoModelForCausalLM.from_pretrained(made).eval(), AutoTokenizer.from_pretrained(made)
    (table,), (form,) = wanted.tables, wanted.renderings
    found = [nats(model, reader, form.alone(table.columns, row)) for row in table.rows]
    read = {often: fmean(n for n, own in zip(found, design[0], strict=True) if own == often) for often in (0, 64)}
    assert read[64] > read[0] + 1


def nats(model: Any, reader: Any, text: str) -> float:
    """The log-probability of a text."""
    import torch

    ids = torch.tensor([reader(text)["input_ids"]])
    with torch.inference_mode():
        scores = model(input_ids=ids).logits.log_softmax(-1)[0, :-1]
    return float(scores.gather(1, ids[0, 1:, None]).sum())
