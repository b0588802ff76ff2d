"""What was found in a cell, and what the row tests say together of a table; as they stand in results.json."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

from tabcontam.evidence.base import UNDECIDED, Family, Kind, Verdict
from tabcontam.tables.sources import is_source
from tabcontam.verdicts.checked import Amount, Count, Interval, Number, Share, Truth
from tabcontam.verdicts.wording import rounded, shorten, text

PROMPTS = "default"  # the prompt set of results that name none: they were made before there were several
LETTERS = {
    Verdict.CONTAMINATED: "C",
    Verdict.NOT_DETECTED: ".",
    Verdict.UNINFORMATIVE: "u",
    Verdict.NO_ANSWER: "?",
    Verdict.SKIPPED: "s",
}
SCORE = "scored"
OUTCOMES = (*(verdict.value for verdict in Verdict), SCORE)  # worst first
SCORE_LETTER = "%"
LONGEST_SENTENCE = 600

PLACE = (
    "llm",
    "dataset",
    "edition",
    "split",
    "serializer",
    "prompts",
    "source",
    "test",
)  # of a cell, and of its trials
NUMBERS = (
    "score", "hits", "expected_hits", "answered", "queries", "p_value", "q_value", "e_value", "bound", "recalled_bits",
    "detectable_share", "exposure",
)  # fmt: skip


def place_of(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the place of a result, or of a trial, from its fields."""
    return tuple(text(fields.get(name)) for name in PLACE)


def outcome_of(verdict: Verdict | None) -> str:
    """The verdict's word, or that there is only a score."""
    return SCORE if verdict is None else verdict.value


def count(cells: Iterable["Result"]) -> dict[str, int]:
    """How many cells came to each outcome, worst first; outcomes that do not occur are left out."""
    found = Counter(cell.outcome for cell in cells)
    return {outcome: found[outcome] for outcome in OUTCOMES if found[outcome]}


def held(part: Any) -> dict[str, Any]:
    """The fields of a part of the results, whose own parts are left as they are."""
    return {one.name: getattr(part, one.name) for one in fields(part)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Statistic:
    """What a test measured."""

    name: str
    """What it is, with its unit, for example: recalled bits."""
    value: Number
    """What it came to."""
    expected: Number | None = None
    """What the null expects on average, where that is known."""


class TableName(NamedTuple):
    """A table as it was asked about: an edition of a dataset, or a split of it, in a serializer and a prompt set."""

    dataset: str
    edition: str | None
    serializer: str | None
    prompts: str | None = PROMPTS
    split: str | None = None


class CellName(NamedTuple):
    """What tells a cell from the others of a run, as in the lines of trials.jsonl."""

    llm: str
    dataset: str
    edition: str
    serializer: str
    test: str
    prompts: str = PROMPTS
    split: str = ""

    @property
    def of_table(self) -> "CellName":
        """What all cells of its LLM and table have in common, as the table is asked about."""
        return self._replace(test="")


class Cached:
    """The base of a class with slots that has cached properties: what these were found to be is kept in its dict."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InTable(Cached):
    """What everything that is said of an LLM and a table states first: which LLM, and which table."""

    llm: str
    """The LLM as it was named, for example llama3 or control:exposed; in recorded answers the record's own name."""
    dataset: str
    """The card's short name, or the file's name; in recorded answers the record's own name."""
    edition: str | None = None
    """The edition of the dataset; null in recorded answers."""
    split: str | None = None
    """The split of the dataset that was asked about, as train or test; null where it has none."""
    serializer: str | None = None
    """How rows are written as text. In recorded answers the template of a serializer study, null for main runs."""
    prompts: str | None = PROMPTS
    """The prompt set that the queries are worded by; null in recorded answers."""

    @cached_property
    def table(self) -> TableName:
        """The table, whichever LLM was asked."""
        return TableName(self.dataset, self.edition, self.serializer, self.prompts, self.split)

    @property
    def of_split(self) -> str:
        """`#SPLIT` where it is of a split; else empty."""
        return f"#{self.split}" if self.split else ""

    @property
    def told_by_edition(self) -> tuple[str, str]:
        """What has several editions where two tables of it differ in theirs: the dataset. The splits of a dataset of a
        source are files of their own, each with an edition, so that it is the split there."""
        return self.dataset, (self.split or "") if is_source(self.dataset) else ""

    @property
    def numbers(self) -> Mapping[str, float]:
        """Those of its numbers that are known, by their names."""
        return {name: value for name in NUMBERS if (value := getattr(self, name, None)) is not None}


@dataclass(frozen=True, kw_only=True, slots=True)
class InCell(InTable):
    """What everything that is said of a cell states first: which LLM, table and test."""

    test: str
    """The id of the contamination test, for example full_completion; run.tests says what it is."""

    @cached_property
    def key(self) -> CellName:
        """The name of the cell."""
        edition, serializer, prompts, split = self.edition, self.serializer, self.prompts, self.split
        return CellName(self.llm, self.dataset, edition or "", serializer or "", self.test, prompts or "", split or "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Won:
    """What bets on the answers of a cell came to, as log2 of what each unit became; docs/method.md says how E is made
    of it."""

    memory: tuple[Number, ...]
    """By the share of remembered rows that is bet on, from the smallest."""
    honest: tuple[Number, ...]
    """The same on the answers of an honest predictor, who learned from all rows that are not asked."""
    rows: Count
    """How many rows speak for memory."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BesideReference:
    """Memory's share beside the cell's reference LLM: how much more is lost on unseen twins than it loses on them."""

    pairs: Count
    """How many rows both LLMs answered together with the twins."""
    accuracy: Share
    """The accuracy of the reference on these rows."""
    twin_accuracy: Share
    """Its accuracy on their twins."""
    share: Number
    """How much more the LLM loses on the twins."""
    interval: Interval
    """Its 95% interval."""
    p_value: Share
    """How often as much or more would be seen of who loses no more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OfReference:
    """One of several reference LLMs beside which memory's share stands."""

    llm: str
    """The LLM, as it was named."""
    accuracy: Share
    """Its accuracy on the rows that all of them answered, and the LLM under test, too."""
    twin_accuracy: Share
    """Its accuracy on their twins."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AmongReferences:
    """Memory's share beside several reference LLMs: what is above the accuracy that they lead one to expect."""

    pairs: Count
    """How many rows all LLMs answered together with the twins."""
    references: tuple[OfReference, ...]
    """Those that answered any, in the order in which they were named."""
    accuracy: Share
    """The accuracy of the LLM under test on these rows."""
    twin_accuracy: Share
    """Its accuracy on their twins."""
    expected: Number
    """The accuracy on rows of who has this one on twins, by the curve of the references."""
    share: Number
    """How far the accuracy on rows is above that."""
    interval: Interval
    """Its 95% interval."""
    p_value: Share
    """How often as much or more would be seen of who is on the curve."""
    apart: Interval
    """The least and the most that it would be without one of the references."""
    outside: Truth
    """Whether the accuracy on twins is above or below those of all references, so that the curve goes beyond them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryShare:
    """Memory's share of an accuracy, of rows whose unseen twins were asked as well; docs/method.md says how."""

    pairs: Count
    """How many rows were answered together with their twins: it is measured on these."""
    left_out: Count
    """Of how many more an answer was refused or could not be read, to the row or to its twin."""
    accuracy: Share
    """The accuracy on the rows."""
    twin_accuracy: Share
    """The accuracy on their twins."""
    share: Number
    """Memory's share: the difference of both, less what models that learned lose on the same twins."""
    interval: Interval
    """Its 95% interval."""
    p_value: Share
    """How often a share as large or larger would be seen of who recalls nothing."""
    deviation: Amount
    """The standard deviation of what a pair adds to the share: how many rows are needed follows from it."""
    if_wrong: Interval | None = None
    """The interval where what was refused or could not be read is a wrong answer; null where nothing was, or where no
    answer at all was right."""
    beside: BesideReference | None = None
    """The same beside the reference LLM; null where there is none, or it gave no answer to compare with."""
    among: AmongReferences | None = None
    """The same beside several reference LLMs; null where fewer than two were named and answered."""
    further: tuple[str, ...] = ()
    """The references that were named after the first one, whether they answered or not."""
    fresh: Count = 0
    """How many fresh rows were answered that take the place of twins; 0 where there are twins."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Result(InCell):
    """One judged (LLM, dataset, serializer, prompt set, test)."""

    source: str | None = None
    """The file that recorded answers come from."""
    kind: Kind
    """What the test measures."""
    control: Truth = False
    """Whether it belongs to a control that joined the run: it counts in no gate, ranking or summary."""
    verdict: Verdict | None = None
    """Under the rules of this run; null where there is only a score."""
    otherwise: Verdict | None = None
    """Of a cell that is contaminated, or whose finding rests on one column: the verdict that it would have without
    the finding. Else null."""
    paper_verdict: Verdict | None = None
    """By the published rules, on the queries that are the paper's own; null where there are none or only a score."""
    reference: str | None = None
    """The LLM that has not seen the table, whose answers count for nothing in this cell; null where there is none."""
    lacks: str | None = None
    """What the test needs and this LLM does not have, as log-probabilities; null where it can take the test."""
    exposure: Amount | None = None
    """How many copies of a row of this table the LLM is known to have read, on average; null where nobody knows."""
    cut_short: Truth = False
    """Whether queries were planned that were never asked."""
    score: Share | None = None
    """The share of queries that were answered right, or the measure of a test without a verdict, as an accuracy."""
    hits: Count | None = 0
    """How many answers were right; in tests of names and words how many of these were said."""
    expected_hits: Amount | None = None
    """How many a guesser would get."""
    answered: Count | None = 0
    """How many answers could be read."""
    asked: Count | None = None
    """Of how many that were asked for; in tests of names and words of how many of these."""
    queries: Count = 0
    """How many queries were planned; in recorded answers how many are recorded."""
    statistic: Statistic | None = None
    """What the calibrated rules weigh; null where nothing was measured."""
    null: str | None = None
    """The null hypothesis in words: what is drawn anew, and what is held."""
    p_value: Share | None = None
    """The p-value: how often chance alone would show as much under the null; null where there is none."""
    q_value: Share | None = None
    """The p-value corrected for all cells of this LLM and family (Benjamini-Hochberg); at most alpha in a finding,
    also in one that rests on one column."""
    interval: Interval | None = None
    """The 95% interval of what interval_of says; null where there is none."""
    interval_of: str | None = None
    """What the interval is of, for example: rows remembered."""
    recalled_bits: Number | None = None
    """The sum of -log2 of the guesser's probability over the asked cells that were recalled; row tests alone."""
    columns: Mapping[str, Amount] = field(default_factory=dict)
    """The recalled bits by the column, or the columns of one entity, that they lie in; row tests alone."""
    without: Mapping[str, Share] = field(default_factory=dict)
    """For each column asked, or columns of one entity, the p-value without its cells; empty where the rule of one
    column does not bind the test."""
    q_without: Share | None = None
    """The largest of p_value and without, corrected as q_value is; at most alpha where a finding needs no one column.
    """
    rests_on: str | None = None
    """The column, or columns of one entity, without which the finding does not stand; null where there is none."""
    sequential: Truth = False
    """Whether it was asked in turns with the other row tests of its table, until these had decided it: then E stands in
    place of p_value, q_value and interval, which stopping would spoil."""
    decided_after: Count | None = None
    """After how many queries of all of these tests the asking ended; null where it was cut short or not so asked."""
    e_value: Amount | None = None
    """E: what one unit became that was bet on the answers of this cell, beyond what it became on an honest predictor's;
    null where nothing is bet on."""
    bets: Mapping[str, Won] = field(default_factory=dict)
    """What the bets came to: under "" all of them, under each column, or columns of one entity, those without it."""
    detectable_share: Share | None = None
    """The share of remembered rows that this cell would have found."""
    reason: str | None = None
    """Why the verdict is not contaminated, where something is to be said of it."""
    sentence: str | None = None
    """What was found, in one plain sentence."""
    memory: MemoryShare | None = None
    """Memory's share, and what it is made of; null of any other measure."""
    not_averaged: str | None = None
    """Why the score, if there is one, is left out of the means of the ranking; null where it belongs into them."""

    def changed(self, **findings: Any) -> "Result":
        """The same cell with other findings, as `dataclasses.replace` makes it; of a large run there are many."""
        if not findings.keys() <= FINDINGS:
            raise TypeError(f"no findings: {', '.join(sorted(findings.keys() - FINDINGS))}")
        cell = object.__new__(Result)
        vars(cell).update(vars(self))  # its name does not change
        for become, value in zip(BECOME, VALUES(self), strict=True):
            become(cell, value)
        for name, value in findings.items():
            object.__setattr__(cell, name, value)
        return cell

    @property
    def place(self) -> tuple[str, ...]:
        """What its trials share with it; of recorded answers also the file."""
        names = (self.edition, self.split, self.serializer, self.prompts, self.source)
        return self.llm, self.dataset, *(name or "" for name in names), self.test

    @property
    def exposed(self) -> bool:
        """Whether the LLM is known to have read a copy of each row of the table, or more, on average."""
        return self.exposure is not None and self.exposure >= 1

    @property
    def outcome(self) -> str:
        """The verdict's word, or that there is only a score."""
        return outcome_of(self.verdict)

    @property
    def letter(self) -> str:
        """One character that tells the outcome."""
        return SCORE_LETTER if self.verdict is None else LETTERS[self.verdict]

    @property
    def why(self) -> str:
        """The plain sentence, and the reason where nothing was detected; the bare reason of what was not measured."""
        first, second = (self.reason, self.sentence) if self.verdict in UNDECIDED else (self.sentence, self.reason)
        if self.verdict is Verdict.NOT_DETECTED and first and second:
            return f"{shorten(first.rstrip('.'), LONGEST_SENTENCE)}; {shorten(second, LONGEST_SENTENCE)}"
        said = shorten(first or second or self.outcome, LONGEST_SENTENCE)
        return f"{said}; left out of means: {self.not_averaged}" if self.not_averaged and self.verdict is None else said

    @property
    def where(self) -> str:
        """In which columns its recalled bits lie, in words: most bits first, each with the p-value without it."""
        told = [
            f"{rounded('recalled_bits', bits)} in {column} (without it p = {rounded('p_value', self.without[column])})"
            for column, bits in sorted(self.columns.items(), key=lambda one: -one[1])
            if bits and column in self.without
        ]
        return shorten(", ".join(told), LONGEST_SENTENCE)

    @property
    def limits(self) -> str:
        """The interval in words, and of what it is; empty where there is none."""
        if self.interval is None:
            return ""
        of = f" ({self.interval_of})" if self.interval_of else ""
        return f"{self.interval[0]:.3g} to {self.interval[1]:.3g}{of}"

    @property
    def differs(self) -> bool:
        """Whether the paper's rules come to another verdict."""
        return None not in (self.verdict, self.paper_verdict) and self.verdict is not self.paper_verdict


NAMES = [one.name for one in fields(Result)]
VALUES, BECOME = attrgetter(*NAMES), [getattr(Result, name).__set__ for name in NAMES]
FINDINGS = frozenset(NAMES) - {one.name for one in fields(InCell)}


@dataclass(frozen=True, kw_only=True, slots=True)
class FamilyEvidence:
    """What the row tests of one family say together of an LLM and a table."""

    family: Family
    """The family of the tests."""
    p_value: Share
    """The p-value of all of them together, whatever their dependence. It is Bonferroni's over the tests. Where the
    answers of several are bet on, it is twice the smaller of that and of 1 / E; where they were asked in turns, 1 / E.
    """
    e_value: Amount | None = None
    """E of all of them together, the least of all bets and of those without any one column; null where there are none.
    """
    q_value: Share
    """The same corrected for all tables of this LLM (Benjamini and Hochberg); at most alpha in a finding."""
    p_without: Share | None = None
    """The largest p-value of all of them together where the cells of one column are left out of all."""
    q_without: Share | None = None
    """The same corrected as q_value is; at most alpha where a finding needs no one column."""
    without: str | None = None
    """The column, or columns of one entity, that p_without leaves out; null where leaving one out loses nothing."""
    documents: tuple[str, ...] = ()
    """The bodies of documents that were searched, which the user declared to be training data of the LLM; empty where
    the LLM, or the body of documents, was asked itself."""

    def finds(self, alpha: float) -> bool:
        """Whether it finds the table, whichever column is left out."""
        return max(self.q_value, self.q_without or 0.0) <= alpha


@dataclass(frozen=True, kw_only=True, slots=True)
class TableVerdict(InTable):
    """What the row tests say together of an LLM and a table as asked about: only they can show that rows were seen."""

    verdict: Verdict
    """Under the rules of this run."""
    p_value: Share | None = None
    """The p-value of the row tests of the family that says most; null where there is none."""
    q_value: Share | None = None
    """The same corrected for all tables of this LLM (Benjamini and Hochberg); at most alpha in a finding, also in one
    that rests on one column."""
    e_value: Amount | None = None
    """E of that family: what one unit became that was bet on its answers; null where nothing is bet on."""
    decided_after: Count | None = None
    """After how many queries of its row tests the asking ended, where they were asked in turns until it was decided."""
    in_turns: Count | None = None
    """Of how many that were planned; null where they were not asked so."""
    families: tuple[FamilyEvidence, ...] = ()
    """What each family of tests that weighed answers says of the table."""
    rests_on: str | None = None
    """The column, or columns of one entity, without which no finding stands; null where there is none."""
    documents: tuple[str, ...] = ()
    """The bodies of documents that hold its rows and that the user declared to be training data of the LLM."""
    by_documents: Truth = False
    """Whether the verdict rests on these documents alone: what the LLM answered, if it was asked, shows nothing."""
    bound: Share | None = None
    """How often at most a table that the LLM has not seen is called contaminated: alpha for each of these families."""
    recalled_bits: Number | None = None
    """The recalled bits of its row tests, added up."""
    detectable_share: Share | None = None
    """The smallest share of remembered rows that one of its row tests would have found."""
    reason: str
    """What the verdict rests on."""

    source = None  # of recorded answers, on whose tables there is no verdict

    @property
    def outcome(self) -> str:
        """The verdict's word."""
        return self.verdict.value

    @property
    def why(self) -> str:
        """The reason."""
        return shorten(self.reason, LONGEST_SENTENCE)
