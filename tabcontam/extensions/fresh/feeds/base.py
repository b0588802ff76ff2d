"""The type of a text with the date of its publication, which all feeds return, and the errors of feeds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tabcontam.errors import UsageError
from tabcontam.extensions.fresh.feeds.date_ranges import InstantRange

PAPER, NEWS, README = "paper", "news", "readme"


@dataclass(frozen=True)
class Document:
    """A dated text.

    `genre` is its kind (paper, news, readme), `published` the time of its publication, as precise as its source states
    it. `paragraphs` is the text; `summary` is the authors' short version, which is not part of the text: an abstract or
    a description.
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
    """The error for a text that is left out. The message is the reason, equal for all texts with this fault."""


# Returns a date that counts. Raises `UnusableText` for other dates and for None, before the text is fetched.
Dated = Callable[[InstantRange | None], InstantRange]


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise `UsageError` instead of `OSError` while `path` is written."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot write to {path}: {error.strerror or error}; make room, and repeat") from error
