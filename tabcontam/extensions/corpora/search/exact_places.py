"""The exact definition of the places of a `Lookup`'s texts in a text, for each `LookupMode`.

The functions need the whole text in memory. The fast search of a corpus must find exactly the places that are defined
here.
"""

import re
from collections.abc import Iterator, Mapping

from tabcontam.evidence.questions import Lookup, LookupMode
from tabcontam.extensions.corpora.search.corpus_words import WORD_BYTES, blank_punctuation, plain_words
from tabcontam.extensions.corpora.search.row_places import TextSpan
from tabcontam.extensions.corpora.search.row_places import places as places_of_cells

NO_SIGN = re.compile(rb"[^%b]+" % WORD_BYTES)


def places(text: bytes, lookup: Lookup) -> list[TextSpan]:
    """Return all places of the lookup's texts in a UTF-8 text, in order. A text of the lookup without a word, letter or
    digit has no place.
    """
    if lookup.by is LookupMode.CELLS:
        return places_of_cells(text, lookup)
    by = {LookupMode.LETTERS: by_letters, LookupMode.WORDS: by_words, LookupMode.SIGNS: by_signs}[lookup.by]
    return sorted(by(text, {number: encode_text(wanted) for number, wanted in enumerate(lookup.texts)}))


def encode_text(text: str) -> bytes:
    """Return a text of a lookup as UTF-8. Half a surrogate pair becomes a question mark, which matches no document."""
    return text.encode("utf-8", "replace")


def by_letters(text: bytes, sought: Mapping[int, bytes]) -> Iterator[TextSpan]:
    """Yield all places at which a sought text occurs letter by letter, including overlapping places."""
    for number, wanted in sought.items():
        for begin in everywhere(text, wanted):
            yield TextSpan(begin, begin + len(wanted), number)


def by_signs(text: bytes, sought: Mapping[int, bytes]) -> Iterator[TextSpan]:
    """Yield the places of sought texts, compared by letters and digits only. Bytes that are not ASCII are letters."""
    kept = [match.start() for match in re.finditer(rb"[%b]" % WORD_BYTES, text)]
    signs = only_signs(text)
    for number, wanted in sought.items():
        own = only_signs(wanted)
        for begin in everywhere(signs, own):
            yield TextSpan(kept[begin], kept[begin + len(own) - 1] + 1, number)


def by_words(text: bytes, sought: Mapping[int, bytes]) -> Iterator[TextSpan]:
    """Yield the places at which a sought text's words follow each other, split as by `words`, numbers as written."""
    found = plain_words(blank_punctuation(text))
    keys = [key for key, _, _ in found]
    at: dict[bytes, list[int]] = {}
    for place, key in enumerate(keys):
        at.setdefault(key, []).append(place)
    for number, wanted in sought.items():
        own = keys_of(wanted)
        for place in at.get(own[0], ()) if own else ():
            if keys[place : place + len(own)] == own:
                yield TextSpan(found[place][1], found[place + len(own) - 1][2], number)


def keys_of(text: bytes) -> list[bytes]:
    """Return the words of a text in lower case, with numbers as they are written."""
    return [key for key, _, _ in plain_words(blank_punctuation(text))]


def only_signs(text: bytes) -> bytes:
    """Return the letters and digits of a text."""
    return NO_SIGN.sub(b"", text)


def everywhere(text: bytes, wanted: bytes) -> Iterator[int]:
    """Yield all places of `wanted` in a text; none if `wanted` is empty."""
    begin = text.find(wanted) if wanted else -1
    while begin >= 0:
        yield begin
        begin = text.find(wanted, begin + 1)
