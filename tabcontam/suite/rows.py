"""What tests 7 to 9 share: an answer is cells of a row, read by feature and, for the paper, decided by Algorithm 2."""

from collections.abc import Sequence
from typing import ClassVar

from tabcontam.datasets import Cell
from tabcontam.decide.reading import answer_line, declines, plain, same_value
from tabcontam.decide.values import decide_values
from tabcontam.decide.words import Dictionary
from tabcontam.serializers import Serializer, load_serializers
from tabcontam.suite.base import Capability, Measurement, Query, Reading, Reply, State, Trial
from tabcontam.suite.words import READ, measured


class RowTest:
    """Reads the asked cells of a row; a row is a hit if every asked cell that has a value is right."""

    claim: ClassVar[str]
    by_feature: ClassVar[bool] = True
    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.GENERATE})

    def complete(self, query: Query, text: str, serializer: Serializer) -> bool:
        """A cut answer is complete once a line that gives all asked features has ended."""
        lines = plain(text).splitlines()[:-1] if "\n" in text.strip() else []
        return any(len(self.cells(query, line, serializer)) == len(query.asked) for line in lines)

    def read(self, query: Query, reply: Reply, serializer: Serializer, dictionary: Dictionary) -> Reading:
        """The cells that the answer gives, whether they are the row's, and what Algorithm 2 makes of the text."""
        if reply.state not in READ:
            return Reading(None, hit=False, paper_hit=False, readable=False)
        truth = dict(zip(query.asked, query.expected, strict=True))
        cells = self.cells(query, reply.text, serializer)
        missing = [feature for feature, cell in cells.items() if cell is None]
        paper = decide_values(self.published_line(reply.text), truth, missing_shown=missing).detected
        hit = right(cells, truth)
        given = [cell for cell in cells.values() if cell is not None]
        answer = bool(given) and not declines(reply.text)
        return Reading(cells, hit, paper, readable=hit or (reply.state is State.OK and answer))

    def cells(self, query: Query, text: str, serializer: Serializer) -> dict[str, Cell]:
        """The asked features that the answer gives."""
        text = plain(text)
        named = named_cells(text, query.asked, serializer)
        continued = {} if query.asked[0] in named else serializer.read_on(text, query.asked)
        return max(named, continued, key=len)

    def published_line(self, text: str) -> str:
        """The part of the answer that the authors' code keeps."""
        raise NotImplementedError

    def judge(self, trials: Sequence[Trial]) -> Measurement:
        """Detected if at least one row is a hit."""
        return measured(trials, needed=1, claim=self.claim)


def right(cells: dict[str, Cell], truth: dict[str, Cell]) -> bool:
    """Whether every asked cell that has a value is right; a missing value is never evidence."""
    known = {feature: value for feature, value in truth.items() if value is not None}
    return bool(known) and all(same_value(cells.get(feature), value) for feature, value in known.items())


def short_cell(query: Query, text: str, serializer: Serializer) -> dict[str, Cell]:
    """The one asked cell of a short answer, named or bare."""
    named = named_cells(plain(text), query.asked, serializer)
    return named or serializer.read_on(answer_line(text), query.asked)


def named_cells(text: str, asked: Sequence[str], serializer: Serializer) -> dict[str, Cell]:
    """The asked features that an answer names in the query's own serializer, or in another that shows more of them."""
    readings = [item.read(text, asked) for item in (serializer, *load_serializers().values())]
    return max(readings, key=len)
