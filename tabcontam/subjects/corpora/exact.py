"""Where the texts of a `Lookup` stand in a text, exactly: for each way to compare, what it means.

All of them are said of a text that is at hand as a whole. The search of a corpus reads much more at a time, and leaves
every decision to what is here.
"""

import re
from collections.abc import Iterator, Mapping

from tabcontam.evidence.questions import By, Lookup
from tabcontam.subjects.corpora.cells import Place
from tabcontam.subjects.corpora.cells import places as places_of_cells
from tabcontam.subjects.corpora.words import WORD_BYTES, cleaned, plain_words

NO_SIGN = re.compile(rb"[^%b]+" % WORD_BYTES)


def places(text: bytes, lookup: Lookup) -> list[Place]:
    """Every place of one of the texts in a text of UTF-8, in order. A lookup's text with nothing to compare (no word,
    no letter, no digit) stands nowhere.
    """
    if lookup.by is By.CELLS:
        return places_of_cells(text, lookup)
    by = {By.LETTERS: by_letters, By.WORDS: by_words, By.SIGNS: by_signs}[lookup.by]
    return sorted(by(text, {number: as_sought(wanted) for number, wanted in enumerate(lookup.texts)}))


def as_sought(text: str) -> bytes:
    """A text that is sought, as UTF-8; half a surrogate pair, which no document has, as a question mark."""
    return text.encode("utf-8", "replace")


def by_letters(text: bytes, sought: Mapping[int, bytes]) -> Iterator[Place]:
    """Places by letters: all, also those that overlap."""
    for number, wanted in sought.items():
        for begin in everywhere(text, wanted):
            yield Place(begin, begin + len(wanted), number)


def by_signs(text: bytes, sought: Mapping[int, bytes]) -> Iterator[Place]:
    """Places by letters and digits alone: what stands between them does not count, and every byte that is not ASCII
    is a letter.
    """
    kept = [match.start() for match in re.finditer(rb"[%b]" % WORD_BYTES, text)]
    signs = only_signs(text)
    for number, wanted in sought.items():
        own = only_signs(wanted)
        for begin in everywhere(signs, own):
            yield Place(kept[begin], kept[begin + len(own) - 1] + 1, number)


def by_words(text: bytes, sought: Mapping[int, bytes]) -> Iterator[Place]:
    """Places by words in a row, as `words` has them, but numbers as they are written."""
    found = plain_words(cleaned(text))
    keys = [key for key, _, _ in found]
    at: dict[bytes, list[int]] = {}
    for place, key in enumerate(keys):
        at.setdefault(key, []).append(place)
    for number, wanted in sought.items():
        own = keys_of(wanted)
        for place in at.get(own[0], ()) if own else ():
            if keys[place : place + len(own)] == own:
                yield Place(found[place][1], found[place + len(own) - 1][2], number)


def keys_of(text: bytes) -> list[bytes]:
    """The words of a text in small letters, numbers as they are written."""
    return [key for key, _, _ in plain_words(cleaned(text))]


def only_signs(text: bytes) -> bytes:
    """The letters and digits of a text."""
    return NO_SIGN.sub(b"", text)


def everywhere(text: bytes, wanted: bytes) -> Iterator[int]:
    """Where these bytes stand in others; nowhere, if they are none."""
    begin = text.find(wanted) if wanted else -1
    while begin >= 0:
        yield begin
        begin = text.find(wanted, begin + 1)
