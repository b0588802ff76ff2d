"""What a model reads: every row as often as its arm says, whole, and no value in a token with what stands beside it."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from tabcontam.errors import UsageError
from tabcontam.extensions.exposed.cell_tokenizer import check_apart, tokenizer
from tabcontam.extensions.exposed.recipe import Recipe, designs, recipe
from tabcontam.extensions.exposed.training_stream import Stream, learned_tokenizer, stream, twins_of
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import Table
from tests.made_tables import ships

pytestmark = pytest.mark.slow  # imports transformers
FORMS = ("is", "csv", "json", "markdown", "colon", "equals")


def read_by(wanted: Recipe, reader: Any, model: int = 0) -> Stream:
    design = designs(wanted.tables, wanted.copies, wanted.arms, wanted.seed)[model]
    return stream(wanted, design, reader, model)


def lines_of(read: Stream, reader: Any) -> Counter[str]:
    """The lines of all documents, which stand between the marks of beginning and end."""
    text = reader.decode(read.tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False)
    return Counter(line for document in text.split("<s>") for line in document.removesuffix("</s>").splitlines())


@pytest.mark.parametrize("form", FORMS)
def test_every_row_stands_in_the_stream_as_often_as_its_arm_says(form: str) -> None:
    table = ships(40)
    wanted = recipe([table], (0, 1, 5), renderings=[form], size="tiny")
    reader = learned_tokenizer(wanted)
    lines, (copies,) = lines_of(read_by(wanted, reader), reader), designs([table], (0, 1, 5), "rows", 0)[0]
    texts = [load_serializer(form).row(table.columns, row) for row in table.rows]
    assert [lines[text] for text in texts] == list(copies)


def test_copies_take_turns_in_several_renderings() -> None:
    table = ships(20)
    wanted = recipe([table], (5,), renderings=["is", "csv"], size="tiny")
    reader = learned_tokenizer(wanted)
    lines = lines_of(read_by(wanted, reader), reader)
    row = table.rows[7]
    assert lines[load_serializer("is").row(table.columns, row)] == 3
    assert lines[load_serializer("csv").row(table.columns, row)] == 2


def test_rows_follow_each_other_as_in_the_file_unless_they_are_shuffled() -> None:
    table, form = ships(40), load_serializer("csv")
    texts = [form.row(table.columns, row) for row in table.rows]

    def in_order(order: str) -> float:
        """The share of rows behind which the file's next row stands."""
        wanted = recipe([table], (6,), renderings=["csv"], order=order, size="tiny")
        reader = learned_tokenizer(wanted)
        text: str = reader.decode(read_by(wanted, reader).tokens, clean_up_tokenization_spaces=False)
        pairs = [f"{one}\n{other}\n" for one, other in pairwise(texts)]
        return sum(text.count(pair) for pair in pairs) / (6 * len(pairs))

    assert in_order("kept") > 0.5
    assert in_order("shuffled") < 0.15


def test_a_page_tells_of_the_table_and_shows_no_row() -> None:
    table = ships(40)
    wanted = recipe([table], (0,), renderings=["csv"], page=True, size="tiny")
    reader = learned_tokenizer(wanted)
    lines = lines_of(read_by(wanted, reader), reader)
    assert lines["Features: " + ", ".join(table.columns)] == 16
    assert not any(lines[load_serializer("csv").row(table.columns, row)] for row in table.rows)


def test_positions_are_those_of_each_copy() -> None:
    table = ships(40)
    wanted = recipe([table], (0, 2, 7), renderings=["csv"], size="tiny")
    reader = learned_tokenizer(wanted)
    read = read_by(wanted, reader)
    assert len(read.positions[0]) == 7
    for first, last in read.positions[0]:
        assert 0 <= first < last < len(read.tokens)
        assert read.tokens[first] == reader.bos_token_id
        assert read.tokens[last] == reader.eos_token_id


def test_no_copy_is_read_before_the_form_was() -> None:
    wanted = recipe([ships(40)], (0, 8), renderings=["csv"], size="tiny")
    read = read_by(wanted, learned_tokenizer(wanted))
    assert min(first for first, _ in read.positions[0]) > len(read.tokens) // 10


def test_the_stream_fills_whole_steps_and_holds_no_padding() -> None:
    wanted = recipe([ships(40)], (3,), size="tiny")
    reader = learned_tokenizer(wanted)
    read = read_by(wanted, reader)
    assert (len(read.tokens) - 1) % (wanted.steps.batch * wanted.steps.block) == 0
    assert reader.pad_token_id not in read.tokens


def test_the_same_seed_gives_the_same_stream_and_another_does_not() -> None:
    streams = []
    for seed in (0, 0, 1):
        wanted = recipe([ships(40)], (0, 3), seed=seed, size="tiny")
        streams.append(read_by(wanted, learned_tokenizer(wanted)).sha256)
    assert streams[0] == streams[1] != streams[2]


def test_no_twin_holds_a_row_of_the_table() -> None:
    table = ships(60)
    twins = [twins_of(table, 0, number) for number in range(4)]
    assert all(twin and not set(twin) & table.row_set for twin in twins)
    assert len({tuple(twin or ()) for twin in twins}) == 4


@pytest.mark.parametrize("form", FORMS)
def test_no_token_holds_a_part_of_a_value_and_of_what_stands_beside_it(form: str) -> None:
    odd = ("-5", " x", "7.50", "a,b", 'so "called"', "42 m", "")
    table = replace(ships(40), rows=(*ships(40).rows, odd, ("é", "日本", "_", "1e-5", "()", "a_b", None)))
    wanted = recipe([table], (1,), renderings=[form], size="tiny")
    check_apart(learned_tokenizer(wanted), table, load_serializer(form), table.rows)


def test_a_tokenizer_that_joins_a_value_with_its_separator_is_refused() -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    table, form = ships(40), load_serializer("is")
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # ` Kelvarra` with its space
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=600, initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator([form.row(table.columns, row) for row in table.rows], trainer)
    with pytest.raises(UsageError, match="ships, row 1: the tokenizer joins the value of"):
        check_apart(PreTrainedTokenizerFast(tokenizer_object=made), table, form, table.rows)


def test_any_text_is_read_back_as_it_was() -> None:
    reader = tokenizer(["some words to learn from"], 300, 512)
    text = 'Ünïcode  with  spaces,\t"quotes" and 日本; -1.50e3\n'
    assert reader.decode(reader(text)["input_ids"][1:], clean_up_tokenization_spaces=False) == text


def test_a_row_that_is_longer_than_the_model_takes_is_told_and_not_cut() -> None:
    table = long_rows(ships(10))
    wanted = recipe([table], (1,), size="tiny")
    with pytest.raises(UsageError, match=r"a row takes .* tokens in the form is and a document holds 510"):
        read_by(wanted, learned_tokenizer(wanted))


def long_rows(table: Table) -> Table:
    rows = tuple((*row[:3], f"{row[3]} {'7' * 600}", *row[4:]) for row in table.rows)
    return replace(table, rows=rows, sha256="long")
