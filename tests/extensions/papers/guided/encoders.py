"""Tiny untrained encoders, as learned overlaps read them."""

from collections.abc import Iterable
from pathlib import Path

from tests.extensions.papers.guided.texts import ENDS


def encoder(folder: Path, labels: int = 1, texts: Iterable[str] = ()) -> Path:
    """An encoder with a head of so many scores, written to the folder; it knows the words of these texts."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocabulary = {word: place for place, word in enumerate([*marks, *ENDS, *sorted({*" ".join(texts).split()})])}
    tokens = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokens.pre_tokenizer = pre_tokenizers.Whitespace()
    tokens.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    sizes = {"vocab_size": len(vocabulary), "hidden_size": 16, "num_hidden_layers": 4, "num_attention_heads": 2}
    wide = {"intermediate_size": 32, "max_position_embeddings": 24, "initializer_range": 0.5}
    torch.manual_seed(labels)
    BertForSequenceClassification(BertConfig(**sizes, **wide, num_labels=labels)).save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokens, **names).save_pretrained(folder)
    return folder
