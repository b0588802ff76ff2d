"""What the tests of corpora share."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tabcontam.extensions.corpora.search.corpus_files import corpus_files
from tabcontam.extensions.corpora.search.documents import OVERLAP, DocumentStretch
from tabcontam.extensions.corpora.search.portions import SPLIT, portions, read
from tabcontam.extensions.corpora.search.tally import Tally


class Read:
    """All that is read of a corpus: its stretches, and the tally."""

    def __init__(self, typed: str, split: int = SPLIT, overlap: int = OVERLAP, largest: int = 1 << 24) -> None:
        self.files = corpus_files(typed)
        self.portions = portions(self.files, split)
        self.tally = Tally()
        self.parts: list[DocumentStretch] = []
        for portion in self.portions:
            self.parts += read(portion, overlap, self.tally, largest)

    @property
    def texts(self) -> dict[str, bytes]:
        """The text of each document, its stretches put together; they must agree where they overlap."""
        found: dict[str, bytes] = {}
        for source, start, text in self.parts:
            before = found.get(source, b"")
            assert start <= len(before), "a stretch is missing"
            shared = before[start : start + len(text)]
            assert text.startswith(shared)
            found[source] = before[:start] + text
        return found


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, from which tests are started; the cache is elsewhere."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(folder)
    return folder


Reader = Callable[..., Read]
