"""The English dictionary of Algorithm 1 (Ronval et al., section 3.2): the same answer on every machine.

pyenchant where its C library is present, over the word files in `english/`; the portable reader of the same files
otherwise. What a machine's own dictionaries and a user's own word lists say never counts.
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
from tabcontam.reading.english.reader import WordFiles

# The authors took these three out of their dictionary by hand, to get the answers of enchant 2.3.2 (reference 1a).
REMOVED = frozenset({"blue-collar", "admin.", "self-employed"})

LONGEST = 100  # bytes; longer words are cut off at different places by different versions of enchant

REMEMBERED = 10_000  # words that were asked for: those of a run come again and again

# Tells our files read by hunspell from another dictionary or another reader of the same files.
PROBES = {"fnlwgt": False, "workclass": False, "near-bay": True, "21st": True, "22th": False, "jobs.": True}


@dataclass(frozen=True)
class Dictionary:
    """en_US over the pinned files, without the words that the authors removed.

    `name` has the word files and what reads them, with their versions, as they stand in the report.
    """

    name: str
    known: Callable[[str], bool]

    def knows(self, word: str) -> bool:
        """Whether the whole of `word`, spaces included, is one English word."""
        word = unicodedata.normalize("NFC", word)
        if not word.isprintable() or not 0 < len(word.encode()) <= LONGEST:
            return False
        return word.lower() not in REMOVED and self.known(word)


@cache
def english(portable: bool = False) -> Dictionary:
    """The dictionary of Algorithm 1; `portable` asks for the reader that needs no C library."""
    pinned = f"en_US {files.VERSION} (SCOWL)"
    found = None if portable else _enchant()
    if found is not None:
        import enchant

        return Dictionary(f"{pinned}, pyenchant {enchant.__version__}/hunspell", lru_cache(REMEMBERED)(found))
    known = WordFiles.read(files.AFFIXES, files.WORDS).knows
    return Dictionary(f"{pinned}, portable reader", lru_cache(REMEMBERED)(known))


def _enchant() -> Callable[[str], bool] | None:
    """pyenchant's check over our files; None where its C library, or hunspell in it, is missing or reads otherwise."""
    try:
        import enchant
    except ImportError:  # pyenchant raises it too when there is no C library
        return None
    tag = f"tabcontam{secrets.token_hex(4)}"  # no "_": enchant would fall back to the language before it
    with tempfile.TemporaryDirectory(prefix="tabcontam-", ignore_cleanup_errors=True) as folder:
        looked_in = Path(folder) / "hunspell"  # first of all by enchant's hunspell; nobody else has our language
        looked_in.mkdir()
        shutil.copyfile(files.AFFIXES, looked_in / f"{tag}.aff")
        shutil.copyfile(files.WORDS, looked_in / f"{tag}.dic")
        with _config_folder(folder):
            try:
                broker = enchant.Broker()
                broker.set_ordering(tag, "hunspell")
                found = broker.request_dict(tag)
            except enchant.errors.Error:
                return None

    def knows(word: str, broker: Any = broker) -> bool:  # the broker has to outlive its dictionary
        return bool(found.check(word))

    if found.provider.name != "hunspell" or any(knows(word) is not known for word, known in PROBES.items()):
        return None
    return knows


@contextmanager
def _config_folder(folder: str) -> Iterator[None]:
    """enchant's user folder is `folder` inside: personal and exclude lists are read and made there."""
    before = os.environ.get("ENCHANT_CONFIG_DIR")
    os.environ["ENCHANT_CONFIG_DIR"] = folder
    try:
        yield
    finally:
        if before is None:
            del os.environ["ENCHANT_CONFIG_DIR"]
        else:
            os.environ["ENCHANT_CONFIG_DIR"] = before
