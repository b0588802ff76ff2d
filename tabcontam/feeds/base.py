"""The texts of a feed, each with the date at which it came out."""

from collections.abc import Callable
from dataclasses import dataclass

from tabcontam.feeds.date_ranges import InstantRange

PAPER, NEWS, README = "paper", "news", "readme"


@dataclass(frozen=True)
class Document:
    """A dated text.

    `genre` is its kind (paper, news, readme), `published` the time when it came out, as far as its source states it.
    `paragraphs` is the text; `summary` is its authors' short version elsewhere: an abstract, a description. It is no
    part of the text.
    """

    id: str
    genre: str
    address: str
    title: str
    published: InstantRange
    paragraphs: tuple[str, ...]
    summary: str = ""

    @property
    def words(self) -> int:
        """The number of words in the text."""
        return sum(len(paragraph.split()) for paragraph in self.paragraphs)


class UnusableText(Exception):
    """A text that is left out; the message is the reason, worded alike for all texts with this fault."""


# Returns a date that counts, and raises `UnusableText` for other dates and for none, before more of a text is fetched.
Dated = Callable[[InstantRange | None], InstantRange]
