"""The exact definition of where the texts of a `Lookup` stand in a text, for each way to compare.

The functions take a text that is in memory as a whole. The search of a corpus reads much more at a time, and leaves
every decision to this module.
"""

import re
from collections.abc import Iterator, Mapping

from tabcontam.evidence.questions import By, Lookup
from tabcontam.subjects.corpora.cells import Place
from tabcontam.subjects.corpora.cells import places as places_of_cells
from tabcontam.subjects.corpora.words import WORD_BYTES, cleaned, plain_words

NO_SIGN = re.compile(rb"[^%b]+" % WORD_BYTES)


def places(text: bytes, lookup: Lookup) -> list[Place]:
    """Return every place of one of the texts in a UTF-8 text, in order. A text of the lookup with nothing to compare
    (no word, no letter, no digit) stands nowhere.
    """
    if lookup.by is By.CELLS:
        return places_of_cells(text, lookup)
    by = {By.LETTERS: by_letters, By.WORDS: by_words, By.SIGNS: by_signs}[lookup.by]
    return sorted(by(text, {number: as_sought(wanted) for number, wanted in enumerate(lookup.texts)}))


def as_sought(text: str) -> bytes:
    """Return a text to look for as UTF-8; half a surrogate pair, which no document has, becomes a question mark."""
    return text.encode("utf-8", "replace")


def by_letters(text: bytes, sought: Mapping[int, bytes]) -> Iterator[Place]:
    """Yield all places compared letter by letter, overlapping ones included."""
    for number, wanted in sought.items():
        for begin in everywhere(text, wanted):
            yield Place(begin, begin + len(wanted), number)


def by_signs(text: bytes, sought: Mapping[int, bytes]) -> Iterator[Place]:
    """Yield places compared by letters and digits alone: whatever stands between them is ignored, and every byte that
    is not ASCII is a letter.
    """
    kept = [match.start() for match in re.finditer(rb"[%b]" % WORD_BYTES, text)]
    signs = only_signs(text)
    for number, wanted in sought.items():
        own = only_signs(wanted)
        for begin in everywhere(signs, own):
            yield Place(kept[begin], kept[begin + len(own) - 1] + 1, number)


def by_words(text: bytes, sought: Mapping[int, bytes]) -> Iterator[Place]:
    """Yield places of consecutive words, as `words` splits them, but with numbers as they are written."""
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
    """Return the words of a text in lower case, numbers as they are written."""
    return [key for key, _, _ in plain_words(cleaned(text))]


def only_signs(text: bytes) -> bytes:
    """Return the letters and digits of a text."""
    return NO_SIGN.sub(b"", text)


def everywhere(text: bytes, wanted: bytes) -> Iterator[int]:
    """Yield the places of these bytes in a text; an empty string stands nowhere."""
    begin = text.find(wanted) if wanted else -1
    while begin >= 0:
        yield begin
        begin = text.find(wanted, begin + 1)
