"""A body of documents and a test that searches it, made for the tests: rows are found where a line has all their cells.

`pages:FILE` is the text of a file, a line a document; one that is not there is found out when it is searched. The test
`rows_held` asks for rows of a table by their cells; each that is found is worth a coin.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import pytest

from tabcontam.evidence import registry
from tabcontam.evidence.base import (
    Capability,
    Evidence,
    EvidenceKind,
    Family,
    Lookup,
    LookupMode,
    Match,
    Matches,
    Query,
    Reading,
    ReplyState,
    Statistic,
    Trial,
)
from tabcontam.evidence.mixins import FeatureTest
from tabcontam.models import provider_registry as subjects
from tabcontam.models.base import Model, ModelRequest, PromptForm
from tabcontam.models.provider_record import ModelSettings, Provider
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table

ROWS = 20


class Pages(Model):
    """The lines of a text file as documents."""

    local = True
    form = PromptForm.COMPLETION
    connections = 4
    capabilities = frozenset({Capability.SEARCH})
    searches = 0  # of all bodies together

    def __init__(self, path: str, settings: ModelSettings) -> None:
        self.spec = settings.spec
        self._path = Path(path)

    async def search(self, request: ModelRequest) -> Matches:
        type(self).searches += 1
        lookup = request.lookup
        try:
            lines = self._path.read_text("utf-8").splitlines()
        except OSError as error:
            return Matches((), 0, ReplyState.FAILED, f"{self._path.name} cannot be read: {error.strerror}")
        held = [
            (number, place, line)
            for number, line in enumerate(lines)
            for place, text in enumerate(lookup.texts)
            if {text, *lookup.context} <= set(line.split(","))
        ]
        found = tuple(
            Match(f"{self._path.name}#{number}", 0, line, 0, len(line), place) for number, place, line in held
        )
        counts = tuple(sum(place == own for _, own, _ in held) for place in range(len(lookup.texts)))
        return Matches(found[: lookup.most], len(held), ReplyState.OK, counts=counts)


@dataclass(frozen=True)
class RowsHeld(FeatureTest):
    """Does a document hold the row?"""

    id = "rows_held"
    family = Family.CORPUS
    kind = EvidenceKind.MEMORIZATION
    needs = frozenset({Capability.SEARCH})
    shows_rows = False

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """A lookup of each of the first rows: its last cell beside the others."""
        return [
            Query(f"{self.id}-{row}", partial(_lookup, cells), table.columns[-1:], cells[-1:], 0, rows=(row,), row=row)
            for row, cells in enumerate(table.rows[:ROWS])
        ]

    def read(self, query: Query, reply: Matches, serializer: Serializer) -> Reading:
        """Whether a document was found."""
        held = reply.documents > 0
        parsed = {query.asked[0]: query.expected[0] if held else None}
        return Reading(parsed, held, held, readable=reply.state is ReplyState.OK)

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """A coin for each row that is found."""
        read = [trial.reading for trial in trials if trial.readable and trial.reading]
        hits = sum(reading.hit is True for reading in read)
        sentence = f"documents hold {hits} of {len(read)} rows"
        found = [match for trial in trials if isinstance(trial.reply, Matches) for match in trial.reply.places]
        if found:
            sentence += f"; for example {found[0].source}: {found[0].quote}"
        p_value = 0.5**hits
        return Evidence(
            statistic=Statistic(name="rows held", value=hits),
            null="a coin",
            sentence=sentence,
            hits=hits,
            asked=len(trials),
            answered=len(read),
            p_value=p_value,
        )


def _lookup(cells: Sequence[str | None]) -> Lookup:
    known = tuple(cell for cell in cells if cell is not None)
    return Lookup((known[-1], "another"), by=LookupMode.CELLS, context=known[:-1])


PROVIDER = Provider("pages", {"pages:FILE": "the lines of a text file"}, Pages)


@contextmanager
def installed() -> Iterator[None]:
    """The body of documents and the test, as if they belonged to the package."""
    tests = (*registry.built_in_tests(), RowsHeld())
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(registry, "built_in_tests", lambda: tests)
        patched.setitem(subjects.BUILT_IN, "pages", PROVIDER)
        _forget()
        yield
    _forget()


def _forget() -> None:
    registry.all_tests.cache_clear()
    registry.by_id.cache_clear()


def rows_of(table: str, count: int = ROWS) -> str:
    """The text of a file that holds the first rows of a table, a line each."""
    from tabcontam.tables.table import load_table

    return "".join(f"{','.join(cell or '' for cell in row)}\n" for row in load_table(table).rows[:count])
