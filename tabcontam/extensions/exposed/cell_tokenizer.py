"""A tokenizer for new models. No token contains both a part of a cell's value and a part of the text next to it.

It is byte-level BPE. Each digit, space and sign is one token; consecutive letters are split into pieces. Most
tokenizers join a space with the next word. This one does not, because the space may be part of a separator and the word
part of a value.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from tabcontam.errors import UsageError
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table

BEGIN, END, PAD = "<s>", "</s>", "<pad>"
PIECES = r"\p{N}|\p{L}[\p{L}\p{M}]*|\s|[^\s\p{L}\p{N}]"


def tokenizer(texts: Iterable[str], vocabulary: int, context: int) -> Any:
    """Return a transformers tokenizer learned from these texts: at most `vocabulary` tokens, `<s>` at the start."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    cut = pre_tokenizers.Split(Regex(PIECES), "isolated")
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [cut, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[BEGIN, END, PAD],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(texts, trainer)
    made.post_processor = processors.TemplateProcessing(
        single=f"{BEGIN} $A", pair=f"{BEGIN} $A $B", special_tokens=[(BEGIN, made.token_to_id(BEGIN))]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        bos_token=BEGIN,
        eos_token=END,
        pad_token=PAD,
        clean_up_tokenization_spaces=False,
        model_max_length=context,
    )


def check_apart(reader: Any, table: Table, serializer: Serializer, rows: Sequence[Sequence[Cell]]) -> None:
    """Raise `UsageError` if a token contains parts of a value and of the text next to it."""
    for number, cells in enumerate(rows, start=1):
        text = serializer.row(table.columns, cells)
        read = reader(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        ends = {place for offsets in read["offset_mapping"] for place in offsets}
        for column, (begin, end) in zip(table.columns, serializer.places(table.columns, cells), strict=True):
            if begin < end and not {begin, end} <= ends:
                raise UsageError(
                    f"{table.name}, row {number}: the tokenizer joins the value of {column} with the text next "
                    f"it in the form {serializer.name}; choose another rendering"
                )
