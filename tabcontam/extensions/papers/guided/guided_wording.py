"""The instructions: guided, general, with another dataset's name, and with a wrong label, for texts and for rows.

Their contents follow Golchin and Surdeanu 2024, section 3.1 and appendix A; the wording is ours.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tabcontam.evidence.base import Prompt
from tabcontam.evidence.prompts import ask
from tabcontam.tables.text_tasks import TextForm


class InstanceOrigin(NamedTuple):
    """The origin of an instance: a dataset's title, and its split if there is one."""

    title: str
    split: str = ""

    @property
    def words(self) -> str:
        """The origin in words."""
        return f"the {self.split} split of the dataset {self.title}" if self.split else f"the dataset {self.title}"


class TextWords(NamedTuple):
    """The words for an instance of one form, for both pieces together, for the label's meaning, and for each piece."""

    what: str
    whole: str
    label: str = ""
    first: str = "First piece"
    second: str = "Second piece"


FOLLOWING = "the label, which says how the second sentence follows from the first"
WORDS: Mapping[TextForm, TextWords] = {
    TextForm.CLASSIFICATION: TextWords("a text", "one text", "the label of the text"),
    TextForm.PAIR: TextWords("a pair of sentences", "a pair", FOLLOWING, "Sentence 1", "Sentence 2"),
    TextForm.SUMMARY: TextWords("a summary", "one summary", "the label of the summary"),
    TextForm.SENTENCE: TextWords(
        "a summary of one sentence", "one summary of a single sentence", "the label of the summary"
    ),
}
ROW = TextWords("a row", "one row")
FIRST = re.compile(r"^(?:First piece|Sentence 1|A row [^\n]*):\s?", re.MULTILINE)  # text before a first piece
SECOND = re.compile(r"\n(?:Second piece|Sentence 2):\Z")  # text after a first piece


def text_prompt(form: TextForm, place: InstanceOrigin | None, first: str, label: str) -> Prompt:
    """Return the instruction to continue a text: guided if it has a `place`, else general."""
    words = WORDS[form]
    labelled = f"{words.label[:1].upper()}{words.label[1:]}, is given. " if label else ""
    shown = "\n".join(filter(None, (f"Label: {label}" if label else "", f"{words.first}: {first}")))
    if place is None:
        begun = f"{words.first} below begins {words.what}. {labelled}"
        wanted = f"Write {words.second}, so that the two make {words.whole}. Write {words.second} alone."
        of_base = shown
    else:
        begun = f"{words.first} below begins {words.what} of {place.words}. {labelled}"
        wanted = f"Write {words.second} exactly as it stands in the dataset, word for word. Write {words.second} alone."
        of_base = f"From {place.words}\n{shown}"
    goes_on = f"{of_base}\n{words.second}:" if form is TextForm.PAIR else of_base
    return ask(f"{begun}{wanted}", f"{shown}\n{words.second}:", goes_on)


def row_prompt(
    place: InstanceOrigin | None, shown: str, label: str, asked: Sequence[str], header: Sequence[str], prefix: str
) -> Prompt:
    """Return the instruction to continue a row, under a `header` if its form names no features."""
    from_where = f"of {place.words}" if place else "of a table"
    labelled = f"The label of the row, {label}, stands first in it. " if label else ""
    begun = f"{ROW.first} below begins {ROW.what} {from_where}. {labelled}It goes on with {', '.join(asked)}. "
    form = f"on one line and in the form of {ROW.first.lower()}"
    if place is None:
        wanted = f"Write {ROW.second}, {form}, so that the two make {ROW.whole}. Write {ROW.second} alone."
    else:
        wanted = f"Write {ROW.second}, {form}, exactly as the row has it in the dataset. Write {ROW.second} alone."
    of_base = "\n".join((f"A row {from_where}:", *header, prefix))
    return ask(f"{begun}{wanted}", f"{ROW.first}:\n{shown}\n{ROW.second}:", of_base)


def shown_in(text: str) -> str:
    """Return the first piece that a rendering of these instructions shows, without the words before and after it."""
    begun = FIRST.search(text)
    return SECOND.sub("", text[begun.end() if begun else 0 :])


def is_pair(text: str) -> bool:
    """Return whether a rendering of these instructions asks for the second sentence of a pair."""
    return text.endswith(f"\n{WORDS[TextForm.PAIR].second}:")


# Well-known datasets of texts by their form, which are wrong but plausible names.
OTHERS: Mapping[TextForm, Sequence[str]] = {
    TextForm.CLASSIFICATION: (
        "AG News", "IMDB", "Yelp Reviews", "DBpedia", "20 Newsgroups", "Yahoo Answers", "Amazon Reviews", "SST-2",
        "Reuters-21578",
    ),
    TextForm.PAIR: ("RTE", "WNLI", "SNLI", "MultiNLI", "QNLI", "SciTail", "SICK", "CommitmentBank"),
    TextForm.SUMMARY: ("SAMSum", "CNN/DailyMail", "DialogSum", "Multi-News", "BillSum", "BookSum"),
    TextForm.SENTENCE: ("XSum", "Gigaword", "Newsroom", "Reddit TIFU", "SciTLDR", "WikiHow"),
}  # fmt: skip
