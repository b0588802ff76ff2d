"""The result of each test, and the joint verdict of the row tests on a table, as in results.json."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from tabcontam.evidence.base import UNDECIDED, Evidence, EvidenceKind, Family, Verdict
from tabcontam.statistics.number_types import Amount, Count, Number, Share, Truth
from tabcontam.tables.sources import is_source
from tabcontam.verdicts.columns import PART, changed, values_of
from tabcontam.verdicts.decisions import Decision
from tabcontam.verdicts.wording import rounded, shorten, text

PROMPTS = "default"  # for results from before there were prompt sets
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

OF_TABLE = ("llm", "dataset", "edition", "split", "serializer", "prompts")  # the fields that name a model and a table
PLACE = (*OF_TABLE, "source", "test")  # the fields that place a result, and its trials


def place_of(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the values of the fields in `PLACE`, which identify a result, from the fields of a result or a trial."""
    return tuple(text(fields.get(name)) for name in PLACE)


def outcome_of(verdict: Verdict | None) -> str:
    """Return the word of `verdict`, or the word for a score if it is None."""
    return SCORE if verdict is None else verdict.value


def count(results: Iterable["Result"]) -> dict[str, int]:
    """Return the number of results with each outcome, worst first. Outcomes that do not occur are left out."""
    found = Counter(result.outcome for result in results)
    return {outcome: found[outcome] for outcome in OUTCOMES if found[outcome]}


class TableName(NamedTuple):
    """A table as it is asked about: an edition of a dataset, or a split of it, in a serializer and a prompt set."""

    dataset: str
    edition: str | None
    serializer: str | None
    prompts: str | None = PROMPTS
    split: str | None = None


class ResultKey(NamedTuple):
    """The key of a result in a run, as in the lines of trials.jsonl."""

    llm: str
    dataset: str
    edition: str
    serializer: str
    test: str
    prompts: str = PROMPTS
    split: str = ""

    @property
    def of_table(self) -> "ResultKey":
        """The key of this model and table without the test: all their results share it."""
        return self._replace(test="")


class CachedPropertySlots:
    """A base class for dataclasses with slots. It adds a `__dict__`, where cached properties store their values."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TableFields(CachedPropertySlots):
    """A statement about a model and a table, and the fields that name both."""

    llm: str
    """The model as the user named it, such as llama3 or control:exposed; in recorded answers the record's own name."""
    dataset: str
    """The card's short name, or the file's name; in recorded answers the record's own name."""
    edition: str | None = None
    """The edition of the dataset; null in recorded answers."""
    split: str | None = None
    """The split of the dataset that the queries asked about, such as train or test; null if it has none."""
    serializer: str | None = None
    """The form of rows as text. In recorded answers the template of a serializer study, null for main runs."""
    prompts: str | None = PROMPTS
    """The prompt set that words the queries; null in recorded answers."""

    @cached_property
    def table(self) -> TableName:
        """The table, without the model."""
        return TableName(self.dataset, self.edition, self.serializer, self.prompts, self.split)

    @property
    def table_fields(self) -> dict[str, Any]:
        """The fields that name the model and the table."""
        return {name: getattr(self, name) for name in OF_TABLE}

    @property
    def of_split(self) -> str:
        """`#SPLIT`, or "" for a table without a split."""
        return f"#{self.split}" if self.split else ""

    @property
    def edition_group(self) -> tuple[str, str]:
        """The dataset, and for a dataset of a source the split. Tables of one group differ only in their edition."""
        return self.dataset, (self.split or "") if is_source(self.dataset) else ""

    @property
    def numbers(self) -> Mapping[str, float]:
        """The known numbers, by the names of their fields."""
        numbers = (int, float)
        values = values_of(self).items()
        return {name: value for name, value in values if isinstance(value, numbers) and not isinstance(value, bool)}


@dataclass(frozen=True, kw_only=True, slots=True)
class ResultFields(TableFields):
    """A statement about a model, a table and a test, and the fields that name the three."""

    test: str
    """The id of the contamination test, for example full_completion; run.tests describes it."""

    @cached_property
    def key(self) -> ResultKey:
        """The key of the result in its run."""
        edition, serializer, prompts, split = self.edition, self.serializer, self.prompts, self.split
        return ResultKey(self.llm, self.dataset, edition or "", serializer or "", self.test, prompts or "", split or "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Result(ResultFields):
    """The result of one test for one model, dataset, serializer and prompt set."""

    source: str | None = None
    """The file that recorded answers come from."""
    kind: EvidenceKind
    """The kind of measurement that the test makes."""
    control: Truth = False
    """True if the model is a control that joined the run: it counts in no gate, ranking or summary."""
    decision: Decision = field(default=Decision(), metadata=PART)
    """The verdict and its reasons."""
    evidence: Evidence = field(default=Evidence(), metadata=PART)
    """The measurement of the test."""
    reference: str | None = None
    """The model that has not seen the table and whose answers count for nothing in this result; null if none."""
    lacks: str | None = None
    """A need of the test that this model does not meet, such as log-probabilities; null if it can take the test."""
    exposure: Amount | None = None
    """The mean number of copies of a row of this table that the model is known to have read; null if unknown."""
    cut_short: Truth = False
    """True if some of the planned queries were never asked."""
    queries: Count = 0
    """The number of planned queries; in recorded answers the number of recorded ones."""
    sequential: Truth = False
    """True if the test was asked in turns with the other row tests of its table until they had decided it. E then
    replaces p_value, q_value and interval, which optional stopping would invalidate."""
    decided_after: Count | None = None
    """The number of queries of all these tests after which asking ended; null if it was cut short or not in turns."""
    not_averaged: str | None = None
    """The reason why the score is left out of the means of the ranking; null if it counts in them."""

    @classmethod
    def __get_pydantic_core_schema__(cls, kind: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """Return a schema that finds the fields of the parts among those of the result, as files have them."""

        def whole(values: Any) -> Any:
            return {**values, "evidence": values, "decision": values} if isinstance(values, Mapping) else values

        return {"type": "function-before", "function": {"type": "no-info", "function": whole}, "schema": handler(kind)}

    def changed(self, **values: Any) -> "Result":
        """Return a copy with other values in these columns, whichever part has them."""
        return changed(self, **values)

    @property
    def place(self) -> tuple[str, ...]:
        """The fields that its trials share with it, in the order of `PLACE`. Recorded answers also have the file."""
        names = (self.edition, self.split, self.serializer, self.prompts, self.source)
        return self.llm, self.dataset, *(name or "" for name in names), self.test

    @property
    def exposed(self) -> bool:
        """True if the model is known to have read, on average, at least one copy of each row of the table."""
        return self.exposure is not None and self.exposure >= 1

    @property
    def verdict(self) -> Verdict | None:
        """The verdict under the rules of this run; None for a score alone."""
        return self.decision.verdict

    @property
    def outcome(self) -> str:
        """The verdict's word, or the word for a score without a verdict."""
        return outcome_of(self.verdict)

    @property
    def letter(self) -> str:
        """One character that shows the outcome."""
        return SCORE_LETTER if self.verdict is None else LETTERS[self.verdict]

    @property
    def why(self) -> str:
        """The result's sentence, with the reason if nothing was detected; if nothing was measured, the reason alone."""
        verdict, first, second = self.verdict, self.evidence.sentence, self.decision.reason or ""
        if verdict in UNDECIDED:
            first, second = second, first
        if verdict is Verdict.NOT_DETECTED and first and second:
            return f"{shorten(first.rstrip('.'), LONGEST_SENTENCE)}; {shorten(second, LONGEST_SENTENCE)}"
        words = shorten(first or second or self.outcome, LONGEST_SENTENCE)
        left_out = self.not_averaged if verdict is None else None
        return f"{words}; left out of means: {left_out}" if left_out else words

    @property
    def where(self) -> str:
        """In words, the columns with recalled bits, most bits first, and for each the p-value without this column."""
        without = self.evidence.without
        clauses = [
            f"{rounded('recalled_bits', bits)} in {column} "
            f"(without this column p = {rounded('p_value', without[column])})"
            for column, bits in sorted(self.evidence.columns.items(), key=lambda one: -one[1])
            if bits and column in without
        ]
        return shorten(", ".join(clauses), LONGEST_SENTENCE)

    @property
    def limits(self) -> str:
        """The interval in words, with the quantity that it applies to; "" if there is none."""
        interval, quantity = self.evidence.interval, self.evidence.interval_of
        return f"{interval[0]:.3g} to {interval[1]:.3g}{f' ({quantity})' if quantity else ''}" if interval else ""

    @property
    def differs(self) -> bool:
        """True if the paper's rules reach a different verdict from this one."""
        verdict, of_paper = self.verdict, self.decision.paper_verdict
        return None not in (verdict, of_paper) and verdict is not of_paper


@dataclass(frozen=True, kw_only=True, slots=True)
class FamilyEvidence:
    """The evidence of one family's row tests together on a model and a table."""

    family: Family
    """The family of the tests."""
    p_value: Share
    """The p-value of all of them together, whatever their dependence: Bonferroni's over the tests. If the answers of
    several are bet on, it is twice the smaller of that and 1 / E; if they were asked in turns, it is 1 / E."""
    e_value: Amount | None = None
    """E of all of them together, the smallest over all bets and the bets without any one column; null without bets."""
    q_value: Share
    """The p-value corrected for all tables of this model (Benjamini and Hochberg); at most alpha in a finding."""
    p_without: Share | None = None
    """The largest p-value of all of them together if the cells of one column are left out of all."""
    q_without: Share | None = None
    """p_without corrected as q_value is; at most alpha if a finding needs no single column."""
    without: str | None = None
    """The column, or the columns of one entity, that p_without leaves out; null if none makes it larger."""
    corpora: tuple[str, ...] = ()
    """The corpora that were searched and that the user declared to be training data of the model; empty if the model or
    the corpus was asked itself."""

    def finds(self, alpha: float) -> bool:
        """Return whether the family detects the table, whichever column is left out."""
        return max(self.q_value, self.q_without or 0.0) <= alpha


@dataclass(frozen=True, kw_only=True, slots=True)
class TableVerdict(TableFields):
    """The joint verdict of the row tests on a model and a table. Only row tests can show that rows were seen."""

    verdict: Verdict
    """The verdict under the rules of this run."""
    p_value: Share | None = None
    """The p-value of the row tests of the family with the strongest evidence; null if there is none."""
    q_value: Share | None = None
    """The p-value corrected for all tables of this model (Benjamini and Hochberg); at most alpha in a finding, also in
    one that rests on one column."""
    e_value: Amount | None = None
    """E of that family: the value of one unit that was bet on its answers; null if nothing is bet on."""
    decided_after: Count | None = None
    """The number of queries of its row tests after which asking ended, if they were asked in turns."""
    sequential_queries: Count | None = None
    """The number of queries that were planned; null if they were not asked in turns."""
    families: tuple[FamilyEvidence, ...] = ()
    """The evidence of each family of tests with answers on the table."""
    rests_on: str | None = None
    """The column, or the columns of one entity, without which there is no finding; null if there is none."""
    corpora: tuple[str, ...] = ()
    """The corpora that contain its rows and that the user declared to be training data of the model."""
    by_corpora: Truth = False
    """True if the verdict rests on these corpora alone: the answers of the model, if it was asked, show nothing."""
    bound: Share | None = None
    """The largest chance of calling an unseen table contaminated: the sum of alpha over these families."""
    recalled_bits: Number | None = None
    """The sum of the recalled bits of its row tests."""
    detectable_share: Share | None = None
    """The smallest share of remembered rows that one of its row tests would have detected."""
    reason: str
    """The reason for the verdict."""

    source = None  # recorded answers have a source, but no verdicts on tables

    @property
    def outcome(self) -> str:
        """The verdict's word."""
        return self.verdict.value

    @property
    def why(self) -> str:
        """The reason, shortened for display."""
        return shorten(self.reason, LONGEST_SENTENCE)
