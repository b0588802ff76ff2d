"""The query of a lookup in documents and the places that it found, for the page and the terminal.

Documents may contain harmful text, so `visible` is applied to every text that this module returns.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tabcontam.asking.trial_file import LOOKUP
from tabcontam.report.trials_by_result import Trial
from tabcontam.verdicts.wording import shorten, text, visible

LONGEST_NAME, LONGEST_FOUND, AROUND = 200, 400, 120  # characters


@dataclass(frozen=True)
class LookupPlace:
    """A place in a document: the document's name, the byte offset, and the text with its surroundings.

    `own` is True for the row's own value, and False for a value that is looked up for comparison. A negative `offset`
    means that the position is unknown.
    """

    source: str
    offset: int
    before: str
    found: str
    after: str
    own: bool

    @property
    def where(self) -> str:
        """The document and the byte offset in it."""
        return self.source if self.offset < 0 else f"{self.source}, byte {self.offset:,}"


def is_lookup(trial: Trial) -> bool:
    """Return whether a trial is a search of documents rather than a query to an LLM."""
    return trial.get("question") == LOOKUP


def places(trial: Trial) -> list[LookupPlace]:
    """Return the places that a lookup found, at most ten. Places of the row's own value come first."""
    most_places = 10
    texts, mine = _texts(trial), own_texts(trial)
    listed = [one for one in as_list(trial.get("found")) if isinstance(one, list) and len(one) >= 3]
    found = [_place(match, texts, mine) for match in listed if isinstance(match[2], str)]
    return sorted(found, key=lambda place: not place.own)[:most_places]


def _place(match: list[Any], texts: Sequence[str], mine: Collection[str]) -> LookupPlace:
    """Return one place from trials.jsonl. Without positions, the whole quote is taken as the text that was found."""
    source, offset, quote, *more = match
    begin, end, which = (*_numbers(more[:3]), *(0, 0, 0)[len(more[:3]) :])
    begin, end = (begin, end) if 0 <= begin < end <= len(quote) else (0, len(quote))
    before, after = quote[max(0, begin - AROUND) : begin], quote[end : end + AROUND]
    return LookupPlace(
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
    """Return in words how many documents contain a text that was looked up."""
    number = trial.get("documents")
    count = number if isinstance(number, int) and not isinstance(number, bool) else 0
    least = "at least " if trial.get("more") is True else ""
    return f"{least}{count:,} document{'' if count == 1 else 's'}"


# counted: most texts that are returned
def documents_by_text(trial: Trial, *, counted: int = 12) -> list[tuple[str, int]]:
    """Return each looked-up text that documents contain, and the number of these. The row's own texts come first."""
    pairs = zip(_texts(trial), _numbers(as_list(trial.get("counts"))), strict=False)
    found = [(one, count) for one, count in pairs if count > 0]
    found.sort(key=lambda pair: pair[0] not in own_texts(trial))
    return [(shorten(visible(one, line=True), LONGEST_NAME), count) for one, count in found[:counted]]


def own_texts(trial: Trial) -> list[str]:
    """Return the looked-up texts that are values of the row, without texts for comparison; if there are none, all."""
    expected, texts = trial.get("expected"), _texts(trial)
    values = [text(value) for value in (expected.values() if isinstance(expected, Mapping) else ())]
    return [one for one in texts if one in values] or texts


def _texts(trial: Trial) -> list[str]:
    return list(map(text, as_list(trial.get("texts"))))


def as_list(held: object) -> list[Any]:
    """Return a value from a trial if it is a list, else an empty list."""
    return held if isinstance(held, list) else []
