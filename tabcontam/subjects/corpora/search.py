"""The search for all lookups of a run in one reading of a corpus."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

from tabcontam.evidence.questions import By, Lookup, Match
from tabcontam.subjects.corpora.blocks import Block, blocks
from tabcontam.subjects.corpora.cells import Place, Row
from tabcontam.subjects.corpora.counted import Counted, quoted
from tabcontam.subjects.corpora.documents import Part
from tabcontam.subjects.corpora.phrases import Phrases
from tabcontam.subjects.corpora.rows import Rows
from tabcontam.subjects.corpora.strings import Strings


class Search:
    """Lookups that are looked for together, each known by its place among them."""

    def __init__(self, lookups: Sequence[Lookup]) -> None:
        self._lookups = lookups
        self._rows = Rows({number: Row.of(lookup) for number, lookup in self._of(By.CELLS).items()})
        self._ways: list[Rows | Phrases | Strings] = [
            self._rows,
            Phrases({number: lookup.texts for number, lookup in self._of(By.WORDS).items()}),
            Strings({number: lookup.texts for number, lookup in self._of(By.LETTERS).items()}),
            Strings({number: lookup.texts for number, lookup in self._of(By.SIGNS).items()}, signs=True),
        ]

    def _of(self, by: By) -> Mapping[int, Lookup]:
        return {number: lookup for number, lookup in enumerate(self._lookups) if lookup.by is by}

    def found(
        self,
        parts: Iterable[Part],
        goes_on: bool = False,
        over: Iterable[int] = (),
        told: Callable[[int], None] = lambda size: None,
    ) -> dict[int, Counted]:
        """Return the matches in these stretches, by the place of the lookup. Lookups in `over` are not looked for;
        `goes_on` means that the last document continues after the stretches. `told` is called with the number of bytes
        of each block that was searched, and may raise.
        """
        found: dict[int, Counted] = {}
        left_out = set(over)
        self._rows.begin()
        for block in blocks(parts, goes_on):
            left_out |= self._look(block, frozenset(left_out), found)
            told(len(block.text))
        for number in self.given_up:
            found.setdefault(number, Counted(self._lookups[number].most)).more = True
        return found

    @property
    def given_up(self) -> frozenset[int]:
        """The lookups whose search was given up because nearly everything in the text may match them."""
        return frozenset(self._rows.given_up)

    def found_in(self, block: Block, over: Iterable[int] = ()) -> dict[int, Counted]:
        """Return the matches in one block, by the place of the lookup."""
        found: dict[int, Counted] = {}
        self._look(block, frozenset(over), found)
        return found

    def _look(self, block: Block, over: frozenset[int], found: dict[int, Counted]) -> set[int]:
        """Add the matches in a block; return the lookups that need no further search."""
        for number, piece, places in chain.from_iterable(way.find(block, over) for way in self._ways):
            counted = found.setdefault(number, Counted(self._lookups[number].most))
            self._add(counted, block, piece, places)
        return {number for number, counted in found.items() if counted.full}

    def _add(self, counted: Counted, block: Block, piece: int, places: Iterable[Place]) -> None:
        source, start, low, high, _, _ = block.pieces[piece]
        for place in places:
            begin, end, text, lacking = place[:4]
            if block.pieces[piece].owns(begin) and not counted.holds(source, text):
                quote = quoted(block.text, begin, end, low, high)
                counted.add(Match(source, start + begin - low, *quote, text, lacking))
