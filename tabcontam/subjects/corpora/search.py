"""All lookups of a run looked for in one reading of a corpus."""

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
        self._ways: list[Rows | Phrases | Strings] = [
            Rows({number: Row.of(lookup) for number, lookup in self._of(By.CELLS).items()}),
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
        """What stands in these stretches, by the place of the lookup. Those that are `over` are not looked for;
        `goes_on` says that the last document goes on behind them. `told` is called with the bytes of each block that
        was looked through, and may raise.
        """
        found: dict[int, Counted] = {}
        left_out = set(over)
        for block in blocks(parts, goes_on):
            leaving = frozenset(left_out)
            for number, piece, places in chain.from_iterable(one.find(block, leaving) for one in self._ways):
                counted = found.setdefault(number, Counted(self._lookups[number].most))
                self._add(counted, block, piece, places)
                if counted.full:
                    left_out.add(number)
            told(len(block.text))
        return found

    def _add(self, counted: Counted, block: Block, piece: int, places: Iterable[Place]) -> None:
        source, start, low, high, _, _ = block.pieces[piece]
        for place in places:
            begin, end, text, lacking = place[:4]
            if block.pieces[piece].owns(begin) and not counted.holds(source, text):
                quote = quoted(block.text, begin, end, low, high)
                counted.add(Match(source, start + begin - low, *quote, text, lacking))
