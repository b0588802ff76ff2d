"""What a lookup in documents asked for and where it was found, as the page and the terminal show it.

Documents are hostile text: every part that leaves here has passed through `visible`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tabcontam.asking.trials import LOOKUP
from tabcontam.report.trials import Trial
from tabcontam.verdicts.wording import shorten, text, visible

LONGEST_NAME, LONGEST_FOUND, AROUND = 200, 400, 120  # characters
PLACES = 10
COUNTED = 12  # of the texts that were looked for


@dataclass(frozen=True)
class Place:
    """A place in a document: its name, the byte from which on it stands there, and the text with what is around it.

    `which` is the number of the text among those that were looked for, from 0; `offset` is below 0 where nobody knows.
    """

    source: str
    offset: int
    before: str
    found: str
    after: str
    which: int

    @property
    def where(self) -> str:
        """The document and the place in it."""
        return self.source if self.offset < 0 else f"{self.source}, byte {self.offset:,}"


def is_lookup(trial: Trial) -> bool:
    """Whether documents were searched."""
    return trial.get("question") == LOOKUP


def places(trial: Trial) -> list[Place]:
    """The places that a lookup found, some of them where there are many."""
    told = trial.get("found")
    return list(map(_place, filter(_is_place, told if isinstance(told, list) else [])))[:PLACES]


def _is_place(match: object) -> bool:
    return isinstance(match, list) and len(match) >= 3 and isinstance(match[2], str)


def _place(match: list[Any]) -> Place:
    """A place as trials.jsonl holds it; what it does not say of what was found is all that is quoted."""
    source, offset, quote, *more = match
    begin, end, which = (*_numbers(more[:3]), *(0, 0, 0)[len(more[:3]) :])
    begin, end = (begin, end) if 0 <= begin < end <= len(quote) else (0, len(quote))
    before, after = quote[max(0, begin - AROUND) : begin], quote[end : end + AROUND]
    return Place(
        source=shorten(visible(text(source), line=True), LONGEST_NAME),
        offset=offset if isinstance(offset, int) else -1,
        before="…" * (begin > AROUND) + visible(before),
        found=shorten(visible(quote[begin:end]), LONGEST_FOUND),
        after=visible(after) + "…" * (len(quote) - end > AROUND),
        which=which,
    )


def _numbers(values: list[Any]) -> Iterator[int]:
    return (value if isinstance(value, int) and not isinstance(value, bool) else 0 for value in values)


def documents(trial: Trial) -> str:
    """How many documents hold what was looked for, in words."""
    number = trial.get("documents")
    count = number if isinstance(number, int) and not isinstance(number, bool) else 0
    least = "at least " if trial.get("more") is True else ""
    return f"{least}{count:,} document{'' if count == 1 else 's'}"


def counted(trial: Trial) -> list[tuple[str, int]]:
    """Each text that was looked for with the number of documents that hold it, where one does; the first of them."""
    texts, counts = trial.get("texts"), trial.get("counts")
    if not isinstance(texts, list) or not isinstance(counts, list):
        return []
    pairs = zip(map(text, texts), _numbers(counts), strict=False)
    found = [(shorten(visible(one, line=True), LONGEST_NAME), count) for one, count in pairs if count > 0]
    return found[:COUNTED]
