"""Tables whose rows are texts: which columns hold what is read, and what a row's text is asked for.

The four forms are those in which Golchin and Surdeanu 2024, appendix A, word their instructions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class TextForm(StrEnum):
    """What the rows of a dataset of texts are for, so how an instruction speaks of them."""

    CLASSIFICATION = "classification"  # one text with a label
    PAIR = "pair"  # two sentences with a label: does the second follow from the first?
    SUMMARY = "summary"  # a text and its summary of several sentences
    SENTENCE = "one-sentence summary"  # a text and its summary of one sentence


@dataclass(frozen=True)
class TextTask:
    """The columns of a dataset of texts.

    `texts` are the columns that together are one text, in reading order (title and description of a piece of news).
    In a pair the first is shown whole and the second is completed; in a summary the completed text alone is named.
    `label` is the column of the label, if there is one, and `names` has what its values are called (World for 1).
    """

    form: TextForm
    texts: tuple[str, ...]
    label: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
