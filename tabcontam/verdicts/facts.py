"""The facts of a run, as they stand in results.json: what ran, who was asked about what, how it ended."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

from tabcontam.errors import option
from tabcontam.evidence.base import Facts, Test
from tabcontam.evidence.registry import all_tests
from tabcontam.groups import grouped
from tabcontam.subjects.catalogue import standing_for
from tabcontam.verdicts.cells import InCell
from tabcontam.verdicts.checked import Amount, Count, Level, Share, Truth
from tabcontam.verdicts.notes import Note
from tabcontam.verdicts.rules import LLM, PAPER, Over

FILE = "file"  # the edition of a user's own FILE in a published report, in place of a digest of its content


def known_tests() -> dict[str, Facts]:
    """What is known of each test that is installed, and of that which only recorded answers have, by its id."""
    return dict(_known(all_tests()))


@lru_cache(maxsize=1)
def _known(tests: tuple[Test, ...]) -> dict[str, Facts]:
    known = {}
    for test in tests:
        known[test.id] = test.facts
        for form, title in test.recorded_forms.items():
            known[form] = replace(test.facts, id=form, title=title, number=None)
    return known


def in_words(tests: Iterable[Facts]) -> str:
    """The tests by their numbers in the paper's Table 1, or else by their titles: `7 to 9 and matched membership`."""
    tests = tuple(tests)
    numbers = enumerate(sorted(test.number for test in tests if test.number))
    spans = [[number for _, number in span] for span in grouped(numbers, lambda one: one[1] - one[0]).values()]
    named = [f"{span[0]} to {span[-1]}" if len(span) > 1 else str(span[0]) for span in spans]
    named += [test.title[:1].lower() + test.title[1:] for test in tests if not test.number]
    return " and ".join(filter(None, (", ".join(named[:-1]), *named[-1:])))


def in_order(facts: Iterable[Facts]) -> tuple[Facts, ...]:
    """The tests as a report shows them, each once: those of the paper's Table 1 first, those of others last."""
    order = {test: place for place, test in enumerate(known_tests())}
    found = {one.id: one for one in facts}
    return tuple(sorted(found.values(), key=lambda one: order.get(one.id, len(order))))


@dataclass(frozen=True, kw_only=True, slots=True)
class Duration(InCell):
    """How long the answers of a cell took that were asked now."""

    seconds: Amount
    """The time of its answers, added up, in seconds."""


@dataclass(frozen=True, kw_only=True)
class LlmFacts:
    """An LLM of the run."""

    spec: str
    """The LLM as it was named."""
    resolved: str = ""
    """What that name stands for here, with a note where that is not quite what was named."""
    stands_for: str = ""
    """What that name stands for, without the note: PROVIDER:MODEL."""
    version: str | None = None
    """The version or digest that the server states; null where it states none."""
    control: Truth = False
    """Whether it is a control that joined the run."""
    checks: Truth = False
    """Whether it checks the tests: it knows all that it is known to have read, and nothing else of a table's rows."""
    requests: Count | None = None
    """How many requests were sent."""
    retries: Count | None = None
    """How many of them were sent again."""
    dollars: Amount | None = None
    """What they cost, in US dollars; null where no price is known."""
    documents: Truth = False
    """Whether it is a body of documents, which is searched and not asked."""
    ended: str | None = None
    """Why it was asked no more, if it was not asked to the end."""

    @property
    def named_otherwise(self) -> str:
        """What its name stands for; empty where that is the name itself."""
        return "" if self.resolved == self.spec else self.resolved

    @property
    def took(self) -> str:
        """What it was sent and what that cost, where something was sent."""
        if not self.requests:
            return ""
        again = f", {self.retries:,} of them again" if self.retries else ""
        cost = f", ${self.dollars:.4f}" if self.dollars else ""
        return f"{self.requests:,} {'lookups' if self.documents else 'requests'}{again}{cost}"


@dataclass(frozen=True, kw_only=True)
class TrainedOn:
    """Documents that the user declared to be what an LLM was trained on, or a part of it."""

    llm: str
    """The LLM as it was named."""
    documents: str
    """The body of documents as it was named, which is a subject of the run."""


@dataclass(frozen=True, kw_only=True)
class CatalogueFacts:
    """What the catalogue says of an LLM."""

    name: str
    """The name of the entry."""
    title: str
    """What people call it."""
    family: str
    """The family of versions that it belongs to; empty for none."""
    order: Count
    """Its place in the catalogue."""


def catalogued(specs: Mapping[str, str]) -> dict[str, CatalogueFacts]:
    """What the catalogue says of the LLMs of a run, by their names there; others are left out.

    `specs` has the LLM as `--llm` would name it, by its name in the run.
    """
    return {
        name: CatalogueFacts(name=entry.name, title=entry.title, family=entry.family, order=entry.order)
        for name, spec in specs.items()
        if (entry := standing_for(spec)) is not None
    }


@dataclass(frozen=True, kw_only=True)
class DatasetFacts:
    """A table of the run."""

    name: str
    """The card's short name, or the file's name."""
    title: str = ""
    """What it is called in prompts."""
    edition: str = ""
    """The edition."""
    split: str | None = None
    """The split of the dataset that these rows are; null where it has none."""
    elsewhere: Count | None = 0
    """How many of its rows stand in another split of the dataset, too: no query asked about one of them. Null where the
    file of another split was not to be had."""
    sha256: str = ""
    """The SHA-256 of its file, in hexadecimal digits."""
    rows: Count | None = None
    """How many rows it has."""
    sampled: Count | None = None
    """How many of them make up the sample that was asked about and learned from; null where that is all."""
    columns: Count | None = None
    """How many columns it has."""
    features: tuple[str, ...] = ()
    """The names of its columns, in order."""
    order: str | None = None
    """Whether its rows stand in the order that the file had when it was published."""
    withheld: Count = 0
    """How many rows of its source that were never published were given beside it."""
    withheld_sha256: str = ""
    """The SHA-256 of their cells, in hexadecimal digits; empty without such rows."""
    fresh: Count = 0
    """How many rows that no LLM can have read were given beside it."""
    fresh_sha256: str = ""
    """The SHA-256 of their cells, in hexadecimal digits; empty without such rows."""
    reading: str = ""
    """How the user said that its text is to be read, as `delimiter ';'`; empty where that is found out."""
    failed: tuple[str, ...] = ()
    """A line for each predictor of the baseline that failed on it and was left out: its name, and the error."""
    read: str = ""
    """How a FILE was read, in a line: kind, signs, encoding, header, size, and renamed columns; empty of others."""

    @property
    def named(self) -> str:
        """Its name, with its edition and its split, if it has them: `adult@uci#test`."""
        return f"{self.name}{self.edition and f'@{self.edition}'}{f'#{self.split}' if self.split else ''}"

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from the other tables of a run."""
        return self.name, self.edition, self.split or ""

    @property
    def is_file(self) -> bool:
        """Whether it is a user's own FILE, whose edition is a digest of its content; no page describes it."""
        if not self.sha256:
            return self.edition.partition(" ")[0] == FILE
        return bool(self.edition) and self.sha256.startswith(self.edition)

    @property
    def shape(self) -> str:
        """Rows and columns."""
        return f"{f'{self.rows:,}' if self.rows else '?'} x {self.columns or '?'}"


@dataclass(frozen=True, kw_only=True)
class KnownFacts:
    """A file whose rows the LLMs may know: they taught the guesser, and no query asked about one of them."""

    name: str
    """The name of the file, or of the dataset."""
    sha256: str
    """The SHA-256 of its content, in hexadecimal digits."""
    rows: Count
    """How many rows it has."""
    datasets: tuple[str, ...]
    """The tables of the run that have its columns."""

    def __str__(self) -> str:
        return f"{self.name} ({self.rows:,} rows{self.sha256 and f', sha256 {self.sha256[:8]}'})"


@dataclass(frozen=True, kw_only=True)
class SerializerFacts:
    """How rows were written as text."""

    name: str
    """Its name."""
    form: str = "template"
    """The form of a row: template, csv, json, markdown or, of evaluate alone, passage. What follows is that of a
    template or a passage, and else empty."""
    specifier: str = ""
    """What stands before each feature."""
    value_separator: str = ""
    """What stands between a feature and its value."""
    feature_separator: str = ""
    """What stands between two features."""
    end: str = ""
    """What stands behind each feature of a passage."""


@dataclass(frozen=True, kw_only=True)
class PromptFacts:
    """A wording of the queries."""

    name: str
    """Its name."""
    about: str = ""
    """What its file says of it."""


@dataclass(frozen=True, kw_only=True)
class MergedRun:
    """A run that was merged with others."""

    folder: str
    """Its folder, as it was named."""
    version: str | None = None
    """The version of tabcontam."""
    seed: int | str | None = None
    """Its seed."""
    queries: Count | Literal["paper"] | None = None
    """What it asked in each cell, as in the run's own field."""
    command: str | None = None
    """Its command line."""
    started: str | None = None
    """When it started."""


@dataclass(frozen=True, kw_only=True)
class ShardFacts:
    """Which parts of a run these results hold, of a run that several machines made."""

    parts: tuple[Count, ...]
    """The numbers of the parts, from 1."""
    of: Count
    """How many parts the run has."""
    plan: str
    """The SHA-256 of what all parts ask, in hexadecimal digits: the same in all of them."""
    cells: Count
    """How many cells all parts have."""

    @property
    def missing(self) -> tuple[int, ...]:
        """The numbers of the parts that are not here."""
        return tuple(number for number in range(1, self.of + 1) if number not in self.parts)

    def __str__(self) -> str:
        several = len(self.parts) > 1
        return f"part{'s' * several} {', '.join(map(str, self.parts))} of {self.of}"


def asked_queries(run: "RunFacts | MergedRun") -> str:
    """Which of their queries the tests of a run asked, in words."""
    if run.queries == PAPER:
        return "the paper's own queries alone"
    return "all queries" if run.queries is None else f"at most {run.queries} queries a cell"


def turns_in_words(run: "RunFacts") -> str:
    """Whether the row tests of a run were asked until a table was decided, in words."""
    if run.until_decided is None:
        return f"that asked all queries, without {option('until_decided')}"
    return f"with {option('until_decided')} and {option('min_power', run.until_decided)}"


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """The facts of the run, of several merged ones, or of recorded answers that were judged."""

    version: str = ""
    """The version of tabcontam."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Python and the libraries that can change a result, with their versions."""
    command: str = ""
    """The command line; those of merged runs, divided by semicolons."""
    started: str | None = None
    """When the run started, in ISO 8601 with its offset from UTC."""
    seconds: Amount | None = None
    """How long it took, in seconds; of merged runs the sum."""
    seed: int | str | None = None
    """The seed; of merged runs all of theirs, divided by commas."""
    rules: Literal["calibrated", "paper"]
    """How answers became verdicts."""
    queries: Count | Literal["paper"] | None = None
    """At most so many queries were asked in each cell, or "paper": the paper's own alone; null: all of a test."""
    rows: Count | None = None
    """How many rows of a table the tests were to ask about that can be asked about any number, those of classification
    and of memory's share; null: as many as they ask by default."""
    samples: Count | None = None
    """How often an LLM that tells no log-probabilities was asked the same in their place; null: not at all."""
    temperature: Amount | None = None
    """At which every query of the tests that can weigh several answers was asked `samples` times; null: asked once."""
    shots: Count | None = None
    """How many demonstrations of other tables chat models were shown in row tests; null: none."""
    until_decided: Level | None = None
    """Row tests were asked in turns until a table was decided, and it was let go once an LLM that remembers this share
    of the rows would have been found; null where all queries were asked."""
    alpha: Level | None = None
    """The share of an LLM's contaminated cells of one family of tests that may be false, on average."""
    family_over: Over = LLM
    """Whose cells of a family of tests share alpha: those of each LLM, or those of all LLMs under test."""
    level: Share | None = None
    """The p-value at which a single cell of any family counts as found whatever the others show."""
    levels: Mapping[str, Share] = field(default_factory=dict)
    """The level of each family of tests."""
    overlap: str | None = None
    """By what Algorithm 1 of Golchin and Surdeanu compared texts, `bleurt:MODEL` or `bertscore:MODEL`; null: by
    ROUGE-L."""
    dictionary: str = ""
    """The dictionary that decided what is a word."""
    recorded: Truth = False
    """Whether these are recorded answers that were judged, of which there are no LLMs, tables or trials here."""
    llms: tuple[LlmFacts, ...] = ()
    """The LLMs of the run."""
    catalogue: Mapping[str, CatalogueFacts] = field(default_factory=dict)
    """What the catalogue says of the LLMs that it has, by their names in the run."""
    references: tuple[LlmFacts, ...] = ()
    """The LLMs that have not seen the tables and were asked beside: what they answer counts for nothing."""
    trained_on: tuple[TrainedOn, ...] = ()
    """Which documents of the run the user declared to be training data of which LLM: what they hold counts for it."""
    judge: LlmFacts | None = None
    """The LLM that judged completions; null where none was named."""
    known: tuple[KnownFacts, ...] = ()
    """The files whose rows the LLMs may know."""
    datasets: tuple[DatasetFacts, ...] = ()
    """The tables of the run."""
    tests: tuple[Facts, ...] = ()
    """The contamination tests of the cells, in the order of a report."""
    serializers: tuple[SerializerFacts, ...] = ()
    """The serializers of the run."""
    prompts: tuple[PromptFacts, ...] = ()
    """The prompt sets of the run; empty in results that were made before there were several."""
    shard: ShardFacts | None = None
    """Which parts of a run these are; null where they are the whole run, or all of its parts were joined."""
    runs: tuple[MergedRun, ...] = ()
    """What was merged, in order."""
    redacted: tuple[str, ...] | None = None
    """Of a published report: the tables of which no cell, prompt or answer is shown; null in a run's own folder."""
    notes: tuple[Note, ...] = ()
    """What a reader must know of merged runs."""
    finished: Truth = True
    """Whether every query was asked."""
    interrupted: Truth = False
    """Whether the user stopped it."""
    limit: str | None = None
    """The user's limit that it stopped at, if it did."""
    durations: tuple[Duration, ...] = ()
    """How long the answers of each cell took that were asked now."""

    def level_of(self, family: str) -> float:
        """The p-value at which a single cell of a family counts as found whatever the others show."""
        return self.levels.get(family, self.level or 0.0)

    @property
    def ended_early(self) -> bool:
        """Whether it ended before all was asked, of all LLMs or of one."""
        return bool(self.limit) or self.interrupted or not self.finished or any(llm.ended for llm in self.llms)
