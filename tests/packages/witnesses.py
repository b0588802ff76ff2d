"""A package of somebody else: a test of each kind of question, subjects that answer them, and a family of silly tests.

`installed` puts it where Python finds it, with its entry points, as pip would.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import ClassVar

from tabcontam.evidence.base import (
    Capability,
    Evidence,
    EvidenceKind,
    Family,
    Lookup,
    Match,
    Matches,
    Message,
    Passage,
    Prompt,
    Query,
    Reading,
    Reply,
    ReplyState,
    Scores,
    Statistic,
    Test,
    Token,
    Trial,
    Usage,
)
from tabcontam.models.base import Model, ModelRequest, PromptForm
from tabcontam.models.provider_record import ModelSettings
from tabcontam.tables.serializers import Serializer, load_serializers
from tabcontam.tables.table import Table, load_table

ROWS = 12
Answered = Reply | Scores | Matches
SILLY = 10


class Witness(Test):
    """Whether more rows of the table are known than rows of its making: the sign test over so many rows."""

    needs: ClassVar[frozenset[Capability]]

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """A query about each of some rows."""
        texts = [serializer.row(table.columns, table.rows[row]) for row in range(ROWS)]
        return [
            Query(f"{self.id}-{row}", partial(self.question, text), (), (text,), 8, rows=(row,))
            for row, text in enumerate(texts)
        ]

    def question(self, text: str) -> Prompt | Passage | Lookup:
        """What is asked about a row."""
        raise NotImplementedError

    def known(self, answer: Answered) -> bool:
        """Whether an answer knows the row."""
        raise NotImplementedError

    def read(self, query: Query, reply: Answered, serializer: Serializer) -> Reading:
        """Whether the row is known, by the answer alone."""
        known = self.known(reply)
        return Reading("known" if known else "unknown", known, known, readable=reply.state is ReplyState.OK)

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """One in two by chance."""
        read = [trial.reading for trial in trials if trial.readable and trial.reading]
        hits = sum(reading.hit is True for reading in read)
        return Evidence(
            statistic=Statistic(name="rows known", value=hits),
            null="a coin",
            sentence=f"{hits} of {len(read)} rows known",
            hits=hits,
            asked=len(trials),
            answered=len(read),
            p_value=0.5 ** len(read) if hits == len(read) and read else 1.0,
        )


@dataclass(frozen=True)
class Told(Witness):
    """Says the LLM that it knows the row?"""

    id = "told"
    family = Family.ORDER
    kind = EvidenceKind.MEMBERSHIP
    needs = frozenset({Capability.GENERATE, Capability.INSTRUCTIONS})

    def question(self, text: str) -> Prompt:
        return Prompt((Message("user", f"Do you know this row? {text}"),), text, text)

    def known(self, answer: Answered) -> bool:
        return isinstance(answer, Reply) and answer.text == "Yes"


@dataclass(frozen=True)
class Weighed(Witness):
    """Is the row likelier than one token in two?"""

    id = "weighed"
    family = Family.LIKELIHOOD
    kind = EvidenceKind.MEMORIZATION
    needs = frozenset({Capability.SCORE})
    own_marks = frozenset({"slow"})

    def question(self, text: str) -> Passage:
        return Passage(text)

    def known(self, answer: Answered) -> bool:
        return isinstance(answer, Scores) and all(token.log_probability > -0.7 for token in answer.tokens)


@dataclass(frozen=True)
class Found(Witness):
    """Does a document hold the row?"""

    id = "found"
    family = Family.CORPUS
    kind = EvidenceKind.MEMORIZATION
    needs = frozenset({Capability.SEARCH})

    def question(self, text: str) -> Lookup:
        return Lookup((text, text.upper()), most=2)

    def known(self, answer: Answered) -> bool:
        return isinstance(answer, Matches) and answer.documents > 0


class Body(Model):
    """Some documents in memory that are also an LLM: it knows the rows that stand in them.

    `body:FILE` has read the table in FILE; `body:` alone has read nothing. Every answer is written to the file that the
    environment's WITNESSED names, so that a test can count them; WITNESSES_DIE ends the process after so many.
    """

    local = True
    version = "1"
    form = PromptForm.CHAT
    connections = 1
    capabilities = frozenset({Capability.GENERATE, Capability.INSTRUCTIONS, Capability.SCORE, Capability.SEARCH})

    def __init__(self, name: str, settings: ModelSettings) -> None:
        self.spec = settings.spec
        self._name = name
        rows = load_table(name) if name != "nothing" else None
        form = load_serializers()["is"]
        texts = [form.row(rows.columns, row) for row in rows.rows] if rows else []
        self._documents = {"page one": "Rows: " + " / ".join(texts), "page two": "\n".join(texts)}

    def exposure(self, table: Table, row: int) -> float:
        return 2.0 if self._name != "nothing" else 0.0

    async def generate(self, request: ModelRequest) -> Reply:
        asked = request.prompt.chat[-1].content.partition("? ")[2]
        return Reply("Yes" if self._holds(asked) else "No", ReplyState.OK, tokens=1, usage=self._charged(request))

    async def score(self, request: ModelRequest) -> Scores:
        chance = -0.1 if self._holds(request.passage.text) else -3.0
        tokens = tuple(Token(sign, chance, -2.0, 1.0) for sign in request.passage.text)
        return Scores(tokens, ReplyState.OK, usage=self._charged(request))

    async def search(self, request: ModelRequest) -> Matches:
        found = [
            Match(name, text.index(each), f"<b>{each}</b>")
            for name, text in self._documents.items()
            for each in request.lookup.texts
            if each in text
        ]
        return Matches(tuple(found[: request.lookup.most]), len(found), ReplyState.OK, usage=self._charged(request))

    def _holds(self, text: str) -> bool:
        return any(text in document for document in self._documents.values())

    def _charged(self, request: ModelRequest) -> Usage:
        witnessed = Path(os.environ["WITNESSED"])
        with witnessed.open("a") as file:
            file.write(json.dumps(type(request.question).__name__) + "\n")
        if len(witnessed.read_text().splitlines()) == int(os.environ.get("WITNESSES_DIE", "0")):
            os._exit(9)
        return Usage(50, 1)


@dataclass(frozen=True)
class Silly(Told):
    """Asks the same ten times over, and is always sure."""

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """All is known."""
        return Evidence(
            statistic=Statistic(name="certainty", value=1.0),
            null="none",
            sentence="all rows are known",
            hits=1,
            asked=1,
            answered=1,
            p_value=1e-12,
        )


SILLIES = [
    type(f"Silly{number}", (Silly,), {"id": f"silly_{number}", "__doc__": f"Silly test number {number}."})
    for number in range(SILLY)
]
globals().update({test.__name__: test for test in SILLIES})

TESTS = ["told = witnesses:Told", "weighed = witnesses:Weighed", "found = witnesses:Found"]
SILLY_TESTS = [f"silly_{number} = witnesses:Silly{number}" for number in range(SILLY)]


def installed(folder: Path, tests: Sequence[str]) -> dict[str, str]:
    """The environment in which Python finds this package in a folder, with these tests and its provider."""
    info = folder / "witnesses-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "witnesses.py").write_text(Path(__file__).read_text("utf-8"), "utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: witnesses\nVersion: 1.0\n")
    points = ["[tabcontam.tests]", *tests, "[tabcontam.providers]", "body = witnesses:Body"]
    (info / "entry_points.txt").write_text("\n".join([*points, ""]))
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "WITNESSED": str(folder / "asked.jsonl")}
