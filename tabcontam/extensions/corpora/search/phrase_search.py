"""The search for many phrases in a block of text at once, by the first one, two, four or eight words of each."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tabcontam.extensions.corpora.search.exact_places import encode_text, keys_of
from tabcontam.extensions.corpora.search.row_places import TextSpan
from tabcontam.extensions.corpora.search.text_blocks import TextBlock
from tabcontam.extensions.corpora.search.word_arrays import BY_FIRST, BY_LAST, KnownHashes, tokens
from tabcontam.groups import grouped

if TYPE_CHECKING:
    from tabcontam.extensions.corpora.search.word_arrays import Hashes

SIZES = (1, 2, 4, 8)  # numbers of words that are hashed together


class PhraseSearch:
    """A search for texts by their words. Each list of texts has a number that the caller chose."""

    def __init__(self, texts: Mapping[int, tuple[str, ...]]) -> None:
        every = [
            (number, place, keys)
            for number, own in texts.items()
            for place, text in enumerate(own)
            if (keys := keys_of(encode_text(text)))
        ]
        by_size = grouped(every, lambda phrase: max(size for size in SIZES if size <= len(phrase[2])))
        self._sought: dict[int, tuple[KnownHashes, dict[int, list[tuple[int, int, list[bytes]]]]]] = {}
        for size, phrases in by_size.items():
            words = tokens(b" ".join(key for _, _, keys in phrases for key in keys[:size]))  # one call for all phrases
            wanted: dict[int, list[tuple[int, int, list[bytes]]]] = {}
            for phrase, hashed in zip(phrases, _together(words.hashes, size)[::size].tolist(), strict=True):
                wanted.setdefault(hashed, []).append(phrase)
            self._sought[size] = _known(wanted), wanted

    def find(self, block: TextBlock, over: frozenset[int] = frozenset()) -> Iterator[tuple[int, int, list[TextSpan]]]:
        """Yield a list's number, a piece's index and the first place there of one text. Skip the lists in `over`."""
        words = block.tokens
        for size, (known, wanted) in self._sought.items():
            found: set[tuple[int, int, int]] = set()
            together = _together(words.hashes, size)
            for at in known.among(together)[0].tolist():
                piece = int(block.first_words.searchsorted(at, "right")) - 1
                for number, text, keys in wanted[int(together[at])]:
                    if number in over or (number, text, piece) in found:
                        continue
                    last = at + len(keys) - 1
                    if last >= block.first_words[piece + 1]:
                        continue
                    begin, end = int(words.begins[at]), int(words.ends[last])
                    if block.pieces[piece].owns(begin) and keys_of(block.text[begin:end]) == keys:
                        found.add((number, text, piece))
                        yield number, piece, [TextSpan(begin, end, text)]


def _known(wanted: Mapping[int, object]) -> KnownHashes:
    import numpy as np

    return KnownHashes(np.fromiter(wanted, np.uint64, len(wanted)))


def _together(hashes: "Hashes", size: int) -> "Hashes":
    """Return a hash of each run of `size` consecutive words."""
    import numpy as np

    step = 1
    while step < size:
        if len(hashes) <= step:
            return hashes[:0]
        hashes = hashes[:-step] * np.uint64(BY_FIRST + 2 * step) + hashes[step:]
        hashes = (hashes ^ hashes >> np.uint64(32)) * np.uint64(BY_LAST)
        step *= 2
    return hashes
