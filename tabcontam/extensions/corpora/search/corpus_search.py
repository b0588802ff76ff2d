"""The search for all lookups of a run in one reading of a corpus."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

from tabcontam.evidence.questions import Lookup, LookupMode, Match
from tabcontam.extensions.corpora.search.documents import DocumentStretch
from tabcontam.extensions.corpora.search.lookup_matches import LookupMatches, quote_match
from tabcontam.extensions.corpora.search.row_places import RowLookup
from tabcontam.extensions.corpora.search.row_search import RowSearch
from tabcontam.extensions.corpora.search.string_search import StringSearch
from tabcontam.extensions.corpora.search.text_blocks import TextBlock, blocks


class CorpusSearch:
    """A search for several lookups together, each identified by its index in `lookups`."""

    def __init__(self, lookups: Sequence[Lookup]) -> None:
        self._lookups = lookups
        self._rows = RowSearch({number: RowLookup.of(lookup) for number, lookup in self._of(LookupMode.CELLS).items()})
        others = (LookupMode.WORDS, LookupMode.LETTERS, LookupMode.SIGNS)
        texts = {by: {number: lookup.texts for number, lookup in self._of(by).items()} for by in others}
        self._ways: list[RowSearch | StringSearch] = [self._rows, *(StringSearch(texts[by], by) for by in others)]

    def _of(self, by: LookupMode) -> Mapping[int, Lookup]:
        return {number: lookup for number, lookup in enumerate(self._lookups) if lookup.by is by}

    def find_matches(
        self,
        parts: Iterable[DocumentStretch],
        goes_on: bool = False,
        over: Iterable[int] = (),
        report: Callable[[int], None] = lambda size: None,
    ) -> dict[int, LookupMatches]:
        """Return the matches in these stretches, by the index of the lookup. Lookups in `over` are left out. `goes_on`
        means that the last document continues after the stretches. `report` is called with the number of bytes of each
        block that was searched, and may raise.
        """
        found: dict[int, LookupMatches] = {}
        left_out = set(over)
        self._rows.begin()
        for block in blocks(parts, goes_on):
            left_out |= self._look(block, frozenset(left_out), found)
            report(len(block.text))
        for number in self.given_up:
            found.setdefault(number, LookupMatches(self._lookups[number].most)).more = True
        return found

    @property
    def given_up(self) -> frozenset[int]:
        """The lookups that the search gave up, because nearly every place in the text may match them."""
        return frozenset(self._rows.given_up)

    def found_in(self, block: TextBlock, over: Iterable[int] = ()) -> dict[int, LookupMatches]:
        """Return the matches in one block of text, by the index of the lookup. Lookups in `over` are left out."""
        found: dict[int, LookupMatches] = {}
        self._look(block, frozenset(over), found)
        return found

    def _look(self, block: TextBlock, over: frozenset[int], found: dict[int, LookupMatches]) -> set[int]:
        """Add the matches in a block to `found`; return the lookups that need no further search."""
        for number, piece, places in chain.from_iterable(way.find(block, over) for way in self._ways):
            counted = found.setdefault(number, LookupMatches(self._lookups[number].most))
            source, start, low, high, _, _ = block.pieces[piece]
            for begin, end, text, lacking, *_ in places:
                if block.pieces[piece].owns(begin) and not counted.holds(source, text):
                    quote = quote_match(block.text, begin, end, low, high)
                    counted.add(Match(source, start + begin - low, *quote, text, lacking))
        return {number for number, counted in found.items() if counted.full}
