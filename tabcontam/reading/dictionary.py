"""The English dictionary of Algorithm 1 (Ronval et al., section 3.2), with the same answers on every machine.

It has the word files in `english/`. A machine's own dictionaries and a user's own word lists never count.
"""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

from tabcontam.reading import english as files
from tabcontam.reading.english.hunspell_reader import WordFiles
from tabcontam.reading.thresholds import LONGEST_DICTIONARY_WORD

# The authors removed these three words from their dictionary by hand, to get the answers of enchant 2.3.2 (reference
# 1a).
REMOVED = frozenset({"blue-collar", "admin.", "self-employed"})


@dataclass(frozen=True)
class Dictionary:
    """The dictionary en_US of the pinned files, without the words that the authors removed. Reports state `name`."""

    name: str
    known: Callable[[str], bool]

    def knows(self, word: str) -> bool:
        """Return whether `word`, as a whole and with any spaces in it, is an English word."""
        word = unicodedata.normalize("NFC", word)
        if not word.isprintable() or not 0 < len(word.encode()) <= LONGEST_DICTIONARY_WORD:
            return False
        return word.lower() not in REMOVED and self.known(word)


@cache
def english() -> Dictionary:
    remembered = 10_000  # cached words: a run repeats its words
    known = WordFiles.read(files.AFFIXES, files.WORDS).knows
    return Dictionary(f"en_US {files.VERSION} (SCOWL)", lru_cache(remembered)(known))
