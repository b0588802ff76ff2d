"""A tokenizer that has learned rows by heart tells nothing of the model: no text is scored by it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tabcontam.evidence.base import Endings, ReplyState
from tabcontam.evidence.likelihood.cell_replacement import replace_cell
from tabcontam.models.base import ModelRequest
from tabcontam.models.hf.provider import HFModel
from tabcontam.models.hf.saved_model import MERGED
from tabcontam.tables.serializers import load_serializers
from tests.made_tables import ships
from tests.models.hf import tiny
from tests.needed import needed

needed("torch")
needed("transformers")

pytestmark = pytest.mark.slow
TABLE = ships(12)
SERIALIZERS = load_serializers()


def whole_rows(lines: list[str]) -> Any:
    """A BPE that may join words, so that rows become single tokens."""
    from tokenizers import Tokenizer, models, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE(unk_token="<unk>"))
    special = ["<unk>", "<s>", "</s>", "<pad>"]
    made.train_from_iterator(
        lines, trainers.BpeTrainer(vocab_size=tiny.VOCABULARY, special_tokens=special, show_progress=False)
    )
    names = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(tokenizer_object=made, **names)


def asked(form: str, place: int) -> Endings:
    values = [str(row[place]) for row in TABLE.rows]
    return replace_cell(SERIALIZERS[form], TABLE.columns, TABLE.rows[0], place, values)


@pytest.mark.parametrize("form", ["is", "csv"])
def test_a_tokenizer_that_merges_cells_and_separators_fails_the_question(form: str, tmp_path: Path) -> None:
    rows = tiny.rows_of(TABLE, SERIALIZERS[form])
    model = HFModel(str(tiny.saved(tiny.causal(), whole_rows(rows), tmp_path)))
    asyncio.run(model.connect())
    answer = asyncio.run(model.compare(ModelRequest(asked(form, 2))))
    assert (answer.state, answer.detail) == (ReplyState.FAILED, MERGED)


@pytest.mark.parametrize("form", SERIALIZERS)
def test_a_usual_tokenizer_does_not(form: str, tmp_path: Path) -> None:
    rows = tiny.rows_of(TABLE, SERIALIZERS[form])
    model = HFModel(str(tiny.saved(tiny.causal(), tiny.tokenizer(rows), tmp_path)))
    asyncio.run(model.connect())
    for place in range(len(TABLE.columns)):
        assert asyncio.run(model.compare(ModelRequest(asked(form, place)))).state is ReplyState.OK
