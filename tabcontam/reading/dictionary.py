"""The English dictionary of Algorithm 1 (Ronval et al., section 3.2), with the same answers on every machine.

It reads the word files in `english/`: with the library pyenchant if its C library is installed, else with the portable
reader. A machine's own dictionaries and a user's own word lists never count.
"""

import os
import secrets
import shutil
import tempfile
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from tabcontam.reading import english as files
from tabcontam.reading.english.hunspell_reader import WordFiles
from tabcontam.reading.thresholds import LONGEST_DICTIONARY_WORD

# The authors removed these three words from their dictionary by hand, to get the answers of enchant 2.3.2 (reference
# 1a).
REMOVED = frozenset({"blue-collar", "admin.", "self-employed"})


# These words show whether hunspell reads our files, or another dictionary or reader is used.
PROBES = {"fnlwgt": False, "workclass": False, "near-bay": True, "21st": True, "22th": False, "jobs.": True}


@dataclass(frozen=True)
class Dictionary:
    """The dictionary en_US of the pinned files, without the words that the authors removed.

    `name` is the text for the report: the word files and their reader, with versions.
    """

    name: str
    known: Callable[[str], bool]

    def knows(self, word: str) -> bool:
        """Return whether `word`, as a whole and with any spaces in it, is an English word."""
        word = unicodedata.normalize("NFC", word)
        if not word.isprintable() or not 0 < len(word.encode()) <= LONGEST_DICTIONARY_WORD:
            return False
        return word.lower() not in REMOVED and self.known(word)


@cache
def english(portable: bool = False) -> Dictionary:
    """Return the dictionary of Algorithm 1. `portable` selects the reader that needs no C library."""
    remembered = 10_000  # cached words: a run repeats its words
    pinned = f"en_US {files.VERSION} (SCOWL)"
    found = None if portable else _enchant()
    if found is not None:
        import enchant

        return Dictionary(f"{pinned}, pyenchant {enchant.__version__}/hunspell", lru_cache(remembered)(found))
    known = WordFiles.read(files.AFFIXES, files.WORDS).knows
    return Dictionary(f"{pinned}, portable reader", lru_cache(remembered)(known))


def _enchant() -> Callable[[str], bool] | None:
    """Return pyenchant's check of a word with our files; None if it lacks a library or fails on `PROBES`."""
    try:
        import enchant
    except ImportError:  # pyenchant also raises it without its C library
        return None
    tag = f"tabcontam{secrets.token_hex(4)}"  # "_" would make enchant use the language before it
    with tempfile.TemporaryDirectory(prefix="tabcontam-", ignore_cleanup_errors=True) as folder:
        # enchant's hunspell looks in this folder first; no other folder has this language.
        word_folder = Path(folder) / "hunspell"
        word_folder.mkdir()
        shutil.copyfile(files.AFFIXES, word_folder / f"{tag}.aff")
        shutil.copyfile(files.WORDS, word_folder / f"{tag}.dic")
        with _config_folder(folder):
            try:
                broker = enchant.Broker()
                broker.set_ordering(tag, "hunspell")
                checker = broker.request_dict(tag)
            except enchant.errors.Error:
                return None

    def knows(word: str, broker: Any = broker) -> bool:  # keeps the broker as long as its dictionary
        return bool(checker.check(word))

    if checker.provider.name != "hunspell" or any(knows(word) is not known for word, known in PROBES.items()):
        return None
    return knows


@contextmanager
def _config_folder(folder: str) -> Iterator[None]:
    """Make `folder` the place where the library enchant reads and creates word lists, within the context."""
    before = os.environ.get("ENCHANT_CONFIG_DIR")
    os.environ["ENCHANT_CONFIG_DIR"] = folder
    try:
        yield
    finally:
        if before is None:
            del os.environ["ENCHANT_CONFIG_DIR"]
        else:
            os.environ["ENCHANT_CONFIG_DIR"] = before
