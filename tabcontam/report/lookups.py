"""What a lookup in documents asked for and where it was found, as the page and the terminal show it.

Documents are hostile text: every part that leaves here has passed through `visible`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
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

    `own` says that it is the row's own value, and none that it is compared with; nobody knows an `offset` below 0.
    """

    source: str
    offset: int
    before: str
    found: str
    after: str
    own: bool

    @property
    def where(self) -> str:
        """The document and the place in it."""
        return self.source if self.offset < 0 else f"{self.source}, byte {self.offset:,}"


def is_lookup(trial: Trial) -> bool:
    """Whether documents were searched."""
    return trial.get("question") == LOOKUP


def places(trial: Trial) -> list[Place]:
    """The places that a lookup found, those of the row's own value first, and some of them where there are many."""
    texts, mine = _texts(trial), own(trial)
    found = [_place(match, texts, mine) for match in _list(trial.get("found")) if _is_place(match)]
    return sorted(found, key=lambda place: not place.own)[:PLACES]


def _is_place(match: object) -> bool:
    return isinstance(match, list) and len(match) >= 3 and isinstance(match[2], str)


def _place(match: list[Any], texts: Sequence[str], mine: Collection[str]) -> Place:
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
        own=not 0 <= which < len(texts) or texts[which] in mine,
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
    """Each text that was looked for with the number of documents that hold it, where one does: the row's own first."""
    pairs = zip(_texts(trial), _numbers(_list(trial.get("counts"))), strict=False)
    found = [(one, count) for one, count in pairs if count > 0]
    found.sort(key=lambda pair: pair[0] not in own(trial))
    return [(shorten(visible(one, line=True), LONGEST_NAME), count) for one, count in found[:COUNTED]]


def own(trial: Trial) -> list[str]:
    """The texts that are the row's own, rather than what they are compared with: all of them, where none is."""
    expected, texts = trial.get("expected"), _texts(trial)
    values = [text(value) for value in (expected.values() if isinstance(expected, Mapping) else ())]
    return [one for one in texts if one in values] or texts


def _texts(trial: Trial) -> list[str]:
    return list(map(text, _list(trial.get("texts"))))


def _list(held: object) -> list[Any]:
    return held if isinstance(held, list) else []
