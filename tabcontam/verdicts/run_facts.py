"""The facts of a run for results.json: its inputs and settings, the models and tables, and its end."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

from tabcontam.config import LLM, PAPER
from tabcontam.errors import option
from tabcontam.evidence.base import Facts, Test
from tabcontam.evidence.registry import all_tests
from tabcontam.groups import grouped
from tabcontam.models.catalogue import find_entry_of_spec
from tabcontam.statistics.number_types import Amount, Count, Level, Share, Truth
from tabcontam.verdicts.notes import Note
from tabcontam.verdicts.result_types import ResultFields
from tabcontam.verdicts.rules import Over

FILE = "file"  # in a published report, the edition of a user's own FILE, in place of a digest of its content


def known_tests() -> dict[str, Facts]:
    """Return the facts of each installed test by id, including the tests that only recorded answers have."""
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
    """Return the tests by their numbers in the paper's Table 1, or else by title: `7 to 9 and matched membership`."""
    tests = tuple(tests)
    numbers = enumerate(sorted(test.number for test in tests if test.number))
    spans = [[number for _, number in span] for span in grouped(numbers, lambda one: one[1] - one[0]).values()]
    named = [f"{span[0]} to {span[-1]}" if len(span) > 1 else str(span[0]) for span in spans]
    named += [test.title[:1].lower() + test.title[1:] for test in tests if not test.number]
    return " and ".join(filter(None, (", ".join(named[:-1]), *named[-1:])))


def in_order(facts: Iterable[Facts]) -> tuple[Facts, ...]:
    """Return the tests in the order of a report, each once: first the tests of the paper's Table 1."""
    order = {test: place for place, test in enumerate(known_tests())}
    found = {one.id: one for one in facts}
    return tuple(sorted(found.values(), key=lambda one: order.get(one.id, len(order))))


@dataclass(frozen=True, kw_only=True, slots=True)
class Duration(ResultFields):
    """The total time of the answers of a result that this run asked for."""

    seconds: Amount
    """The sum over its answers, in seconds."""


@dataclass(frozen=True, kw_only=True)
class LlmFacts:
    """A model of the run."""

    spec: str
    """The model as the user named it."""
    resolved: str = ""
    """The model that the name means here, with a note if it is not exactly the named model."""
    stands_for: str = ""
    """The model that the name means, without the note: PROVIDER:MODEL."""
    version: str | None = None
    """The version or digest that the server states; null if it states none."""
    control: Truth = False
    """True if it is a control that joined the run."""
    checks: Truth = False
    """True if it checks the tests: it knows exactly the rows of a table that it is known to have read."""
    requests: Count | None = None
    """The number of requests that were sent."""
    retries: Count | None = None
    """The number of requests that were sent again."""
    dollars: Amount | None = None
    """The cost of the requests, in US dollars; null if no price is known."""
    is_corpus: Truth = False
    """True if it is a corpus, which is searched and not asked."""
    ended: str | None = None
    """The reason why asking it ended early, if it did."""

    @property
    def named_otherwise(self) -> str:
        """The model to which an alias resolves; "" if the model was named by its own name."""
        return "" if self.resolved == self.spec else self.resolved

    @property
    def took(self) -> str:
        """The requests that were sent and their cost in words; "" if none was sent."""
        if not self.requests:
            return ""
        again = f", {self.retries:,} of them repeated" if self.retries else ""
        cost = f", ${self.dollars:.4f}" if self.dollars else ""
        return f"{self.requests:,} {'lookups' if self.is_corpus else 'requests'}{again}{cost}"


@dataclass(frozen=True, kw_only=True)
class TrainingDeclaration:
    """A corpus that the user declared to be training data of a model, or a part of it."""

    llm: str
    """The model as the user named it."""
    corpus: str
    """The corpus as the user named it, which is a subject of the run."""


@dataclass(frozen=True, kw_only=True)
class CatalogueFacts:
    """The catalogue's entry of a model."""

    name: str
    """The name of the entry."""
    title: str
    """The name in common use."""
    family: str
    """The family of versions that it belongs to; empty for none."""
    order: Count
    """Its place in the catalogue."""


def catalogued(specs: Mapping[str, str]) -> dict[str, CatalogueFacts]:
    """Return the catalogue's facts of a run's models, by their names in the run. Models without an entry are left out.

    `specs` maps the name of a model in the run to the form in which `--llm` would name it.
    """
    return {
        name: CatalogueFacts(name=entry.name, title=entry.title, family=entry.family, order=entry.order)
        for name, spec in specs.items()
        if (entry := find_entry_of_spec(spec)) is not None
    }


@dataclass(frozen=True, kw_only=True)
class DatasetFacts:
    """A table of the run."""

    name: str
    """The card's short name, or the file's name."""
    title: str = ""
    """The name in prompts."""
    edition: str = ""
    """The edition."""
    split: str | None = None
    """The split of the dataset that these rows are; null if it has none."""
    elsewhere: Count | None = 0
    """The number of its rows that are also in another split of the dataset, about which no query asked. Null if the
    file of another split was not available."""
    sha256: str = ""
    """The SHA-256 of its file, in hexadecimal digits."""
    rows: Count | None = None
    """The number of its rows."""
    sampled: Count | None = None
    """The number of rows in the sample that was asked about and learned from; null if that is all rows."""
    columns: Count | None = None
    """The number of its columns."""
    features: tuple[str, ...] = ()
    """The names of its columns, in order."""
    order: str | None = None
    """The order of its rows: kept for the original one, or the criterion that the published rows are sorted by."""
    withheld: Count = 0
    """The number of rows of its source that were never published and were given with it."""
    withheld_sha256: str = ""
    """The SHA-256 of the cells of these rows, in hexadecimal digits; empty without such rows."""
    fresh: Count = 0
    """The number of rows given with it that no model can have read."""
    fresh_sha256: str = ""
    """The SHA-256 of the cells of these rows, in hexadecimal digits; empty without such rows."""
    reading: str = ""
    """The user's own description of its text format, such as `delimiter ';'`; empty if that is found out."""
    failed: tuple[str, ...] = ()
    """A line for each predictor of the baseline that failed on it and was left out: its name, and the error."""
    read: str = ""
    """A line on how a FILE was read: kind, signs, encoding, header, size, and renamed columns; empty for others."""

    @property
    def named(self) -> str:
        """The name of the dataset, with its edition and its split, if it has them: `adult@uci#test`."""
        return f"{self.name}{self.edition and f'@{self.edition}'}{f'#{self.split}' if self.split else ''}"

    @property
    def key(self) -> tuple[str, str, str]:
        """The name, edition and split, which together differ between all tables of a run."""
        return self.name, self.edition, self.split or ""

    @property
    def is_file(self) -> bool:
        """True for a user's own FILE: its edition is a digest of its content, and no page describes it."""
        if not self.sha256:
            return self.edition.partition(" ")[0] == FILE
        return bool(self.edition) and self.sha256.startswith(self.edition)

    @property
    def shape(self) -> str:
        """Rows and columns."""
        return f"{f'{self.rows:,}' if self.rows else '?'} x {self.columns or '?'}"


@dataclass(frozen=True, kw_only=True)
class KnownFacts:
    """A file of rows that the models may know: the baseline learned from these rows, and no query asked about them."""

    name: str
    """The name of the file, or of the dataset."""
    sha256: str
    """The SHA-256 of its content, in hexadecimal digits."""
    rows: Count
    """The number of its rows."""
    datasets: tuple[str, ...]
    """The tables of the run that have its columns."""

    def __str__(self) -> str:
        return f"{self.name} ({self.rows:,} rows{self.sha256 and f', sha256 {self.sha256[:8]}'})"


@dataclass(frozen=True, kw_only=True)
class SerializerFacts:
    """A serializer: the form of rows as text."""

    name: str
    """Its name."""
    form: str = "template"
    """The form of a row: template, csv, json, markdown or, in evaluate alone, passage. The fields below belong to a
    template or a passage, and are empty for other forms."""
    specifier: str = ""
    """The text before each feature."""
    value_separator: str = ""
    """The text between a feature and its value."""
    feature_separator: str = ""
    """The text between two features."""
    end: str = ""
    """The text after each feature of a passage."""


@dataclass(frozen=True, kw_only=True)
class PromptFacts:
    """A wording of the queries."""

    name: str
    """Its name."""
    about: str = ""
    """The description in its file."""


@dataclass(frozen=True, kw_only=True)
class MergedRun:
    """A run that was merged with others."""

    folder: str
    """Its folder, as the user named it."""
    version: str | None = None
    """The version of tabcontam."""
    seed: int | str | None = None
    """Its seed."""
    queries: Count | Literal["paper"] | None = None
    """The queries of each result, as in the run's own field."""
    command: str | None = None
    """Its command line."""
    started: str | None = None
    """The time of its start."""


@dataclass(frozen=True, kw_only=True)
class ShardFacts:
    """The parts of a run that these results contain. Several machines asked one part each."""

    parts: tuple[Count, ...]
    """The numbers of the parts, from 1."""
    total: Count
    """The number of parts of the run."""
    plan: str
    """The SHA-256 of all queries, in hexadecimal digits: it is equal in all parts."""
    results: Count
    """The number of results that all parts have together."""

    @property
    def missing(self) -> tuple[int, ...]:
        """The numbers of the missing parts."""
        return tuple(number for number in range(1, self.total + 1) if number not in self.parts)

    def __str__(self) -> str:
        several = len(self.parts) > 1
        return f"part{'s' * several} {', '.join(map(str, self.parts))} of {self.total}"


def asked_queries(run: "RunFacts | MergedRun") -> str:
    """Return in words how many queries a run asked for each result: all, the paper's own, or at most a number."""
    if run.queries == PAPER:
        return "the paper's own queries alone"
    return "all queries" if run.queries is None else f"at most {run.queries} queries for each result"


def turns_in_words(run: "RunFacts") -> str:
    """Return in words how a run asked its row tests: until a table was decided, or all queries."""
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
    """The time of the run's start, in ISO 8601 with its offset from UTC."""
    seconds: Amount | None = None
    """The duration of the run, in seconds; of merged runs the sum."""
    seed: int | str | None = None
    """The seed; of merged runs all of theirs, divided by commas."""
    rules: Literal["calibrated", "paper"]
    """The rules by which answers became verdicts."""
    queries: Count | Literal["paper"] | None = None
    """The largest number of queries of each result; "paper" for the paper's own alone, null for all."""
    rows: Count | None = None
    """The number of rows of a table for tests of classification and of memory's share, which can ask about any number;
    null for the default."""
    samples: Count | None = None
    """The number of times that a model without log-probabilities was asked the same query instead; null if never."""
    temperature: Amount | None = None
    """The temperature at which queries were asked `samples` times, if their test can do so; null if asked once."""
    shots: Count | None = None
    """The number of demonstrations of other tables that chat models were shown in row tests; null for none."""
    until_decided: Level | None = None
    """The share of rows for asking in turns: a table was decided as not detected once a model that remembers this share
    would have been detected; null if all queries were asked."""
    alpha: Level | None = None
    """The mean share of false findings among a model's contaminated results of one family of tests."""
    family_over: Over = LLM
    """The models that share alpha for a family of tests: each model alone, or all models under test together."""
    level: Share | None = None
    """The p-value at which a single result of any family is a finding, whatever the other results."""
    levels: Mapping[str, Share] = field(default_factory=dict)
    """The level of each family of tests."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Further settings that are not at their default, by name."""
    overlap: str | None = None
    """The measure by which Algorithm 1 of Golchin and Surdeanu compared texts, `bleurt:MODEL` or `bertscore:MODEL`;
    null for ROUGE-L."""
    dictionary: str = ""
    """The dictionary that decided which strings are words."""
    recorded: Truth = False
    """True if these are judged recorded answers: the results then have no models, tables or trials."""
    llms: tuple[LlmFacts, ...] = ()
    """The models of the run."""
    catalogue: Mapping[str, CatalogueFacts] = field(default_factory=dict)
    """The catalogue's entries of models, by the models' names in the run."""
    references: tuple[LlmFacts, ...] = ()
    """The reference models, which have not seen the tables: their answers count for nothing."""
    trained_on: tuple[TrainingDeclaration, ...] = ()
    """The corpora of the run that the user declared to be training data of a model: their rows count for it."""
    judge: LlmFacts | None = None
    """The model that judged completions; null if none was named."""
    known: tuple[KnownFacts, ...] = ()
    """The files of rows that the models may know."""
    datasets: tuple[DatasetFacts, ...] = ()
    """The tables of the run."""
    tests: tuple[Facts, ...] = ()
    """The contamination tests of the results, in the order of a report."""
    serializers: tuple[SerializerFacts, ...] = ()
    """The serializers of the run."""
    prompts: tuple[PromptFacts, ...] = ()
    """The prompt sets of the run; empty in results that were made before there were several."""
    shard: ShardFacts | None = None
    """The parts of a run that these results contain; null for the whole run, or if all of its parts were joined."""
    runs: tuple[MergedRun, ...] = ()
    """The merged runs, in order."""
    redacted: tuple[str, ...] | None = None
    """The tables without any cell, prompt or answer in a published report; null in a run's own folder."""
    notes: tuple[Note, ...] = ()
    """The notes for a reader of the results."""
    finished: Truth = True
    """True if every query was asked."""
    interrupted: Truth = False
    """True if the user stopped it."""
    limit: str | None = None
    """The user's limit that it stopped at, if it did."""
    durations: tuple[Duration, ...] = ()
    """The total time of the answers to each result that this run asked for."""

    def level_of(self, family: str) -> float:
        """Return the p-value at which a single result of a family is a finding, whatever the other results."""
        return self.levels.get(family, self.level or 0.0)

    @property
    def ended_early(self) -> bool:
        """True if the run ended before everything was asked, of all models or of one model."""
        return bool(self.limit) or self.interrupted or not self.finished or any(llm.ended for llm in self.llms)
