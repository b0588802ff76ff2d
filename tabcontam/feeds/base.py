"""What a feed gives: texts with the date at which they came out."""

from collections.abc import Callable
from dataclasses import dataclass

from tabcontam.feeds.dates import Instants

PAPER, NEWS, README = "paper", "news", "readme"


@dataclass(frozen=True)
class Document:
    """A dated text.

    `genre` is what it is (paper, news, readme), `published` when it came out, as far as its source says. `paragraphs`
    is the text; `summary` what its authors say in short elsewhere: an abstract, a description. It is no part of the
    text.
    """

    id: str
    genre: str
    address: str
    title: str
    published: Instants
    paragraphs: tuple[str, ...]
    summary: str = ""

    @property
    def words(self) -> int:
        """How many words its text has."""
        return sum(len(paragraph.split()) for paragraph in self.paragraphs)


class LeftOut(Exception):
    """A text that is not taken; its text is the reason, in the same words for all of its kind."""


# Gives a date back that counts, and raises `LeftOut` for any other, and for none: before more of a text is fetched.
Dated = Callable[[Instants | None], Instants]
