"""Tables with texts: the columns with the text of a row, and the role of the text, which prompts mention.

Golchin and Surdeanu 2024, appendix A, word their instructions in the four forms of `TextForm`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median
from typing import Any

from tabcontam.tables.thresholds import (
    LEAST_SHARE_OF_DISTINCT_TEXTS,
    LEAST_SHARE_OF_LETTERS,
    LEAST_WORDS_OF_TEXTS,
    MOST_COLUMNS_WITH_TEXTS,
    MOST_ROWS_FOR_TEXTS,
)
from tabcontam.tables.toml_files import check_fields


class TextForm(StrEnum):
    """The role of the texts in a dataset; it decides the wording of an instruction."""

    CLASSIFICATION = "classification"  # one text with a label
    PAIR = "pair"  # two sentences with a label: does the second follow from the first?
    SUMMARY = "summary"  # a text and its summary of several sentences
    SENTENCE = "one-sentence summary"  # a text and its summary of one sentence


@dataclass(frozen=True)
class TextTask:
    """The columns of a dataset of texts.

    `texts` are the columns that form one text, in reading order (title and description of a news item). Of a pair of
    sentences, prompts show the first, and the model completes the second. For summaries, `texts` has only the column
    that is completed. `label` is the column of the label, if there is one; `names` maps its values to names (1 to
    World).
    """

    form: TextForm
    texts: tuple[str, ...]
    label: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)


def text_task(raw: dict[str, Any], where: str) -> TextTask | None:
    """Return the text task of a card, None without one. Raises ValueError, which names `where` and the key."""
    if not raw:
        return None
    form, names = raw.pop("form", None), raw.pop("names", {})
    if form not in list(TextForm):
        raise ValueError(f"{where} form cannot be {form!r}; write {', '.join(TextForm)}")
    if not isinstance(names, dict) or not all(isinstance(name, str) and name for name in names.values()):
        raise ValueError(f"{where} names cannot be {names!r}; give a text for each value of the label")
    return TextTask(**check_fields(TextTask, raw, where, ("form", "names")), form=TextForm(form), names=names)


def found_texts(
    columns: Sequence[str], rows: Sequence[Sequence[str | None]], target: str | None = None
) -> TextTask | None:
    """Return the text columns of a FILE, with the target as their label; None if its rows are no texts.

    Text columns have long cells of many words that hardly repeat, and they hold most of the table's content. Several of
    them form one text in their order, such as title and description.
    """
    if len(columns) > MOST_COLUMNS_WITH_TEXTS or not rows:
        return None
    cells = {name: [row[place] or "" for row in rows[:MOST_ROWS_FOR_TEXTS]] for place, name in enumerate(columns)}
    texts = tuple(name for name in columns if name != target and _is_text(cells[name]))
    sizes = {name: sum(map(len, own)) for name, own in cells.items()}
    if not texts or 2 * sum(sizes[name] for name in texts) < sum(sizes.values()):
        return None
    return TextTask(TextForm.CLASSIFICATION, texts, target)


def _is_text(cells: Sequence[str]) -> bool:
    repeated = len(set(cells)) < LEAST_SHARE_OF_DISTINCT_TEXTS * len(cells)
    if repeated or median(cell.count(" ") for cell in cells) < LEAST_WORDS_OF_TEXTS - 1:
        return False
    signs = "".join("".join(cells).split())
    return sum(map(str.isalpha, signs)) >= LEAST_SHARE_OF_LETTERS * len(signs)
