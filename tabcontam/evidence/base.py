"""The basic classes of the contamination tests: query, answer, reading, trial, evidence, verdict.

Dependencies go in one direction. A test writes queries (`Query`) and judges trials (`Trial`). It never calls a model
and never knows which model answers. The questions of queries and their answers are defined in `questions`; their names
can be imported from here, too.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.evidence.answering import AnswerKind
from tabcontam.evidence.completion_pairs import CompletionJudgement
from tabcontam.evidence.evidence_kinds import DECIDED as DECIDED
from tabcontam.evidence.evidence_kinds import GENERATED as GENERATED
from tabcontam.evidence.evidence_kinds import NEEDED as NEEDED
from tabcontam.evidence.evidence_kinds import OF_A_PAPER as OF_A_PAPER
from tabcontam.evidence.evidence_kinds import OF_ROWS as OF_ROWS
from tabcontam.evidence.evidence_kinds import RANKS as RANKS
from tabcontam.evidence.evidence_kinds import RECALLED as RECALLED
from tabcontam.evidence.evidence_kinds import RONVAL as RONVAL
from tabcontam.evidence.evidence_kinds import SHOWING_ROWS as SHOWING_ROWS
from tabcontam.evidence.evidence_kinds import UNDECIDED as UNDECIDED
from tabcontam.evidence.evidence_kinds import EvidenceKind as EvidenceKind
from tabcontam.evidence.evidence_kinds import Family as Family
from tabcontam.evidence.evidence_kinds import Measure as Measure
from tabcontam.evidence.evidence_kinds import RequiredInput as RequiredInput
from tabcontam.evidence.evidence_kinds import Verdict as Verdict
from tabcontam.evidence.number_wording import describe_p_value
from tabcontam.evidence.questions import READ as READ
from tabcontam.evidence.questions import Answer as Answer
from tabcontam.evidence.questions import Capability as Capability
from tabcontam.evidence.questions import Endings as Endings
from tabcontam.evidence.questions import Likelihoods as Likelihoods
from tabcontam.evidence.questions import Lookup as Lookup
from tabcontam.evidence.questions import LookupMode as LookupMode
from tabcontam.evidence.questions import Match as Match
from tabcontam.evidence.questions import Matches as Matches
from tabcontam.evidence.questions import Message as Message
from tabcontam.evidence.questions import Passage as Passage
from tabcontam.evidence.questions import Prompt as Prompt
from tabcontam.evidence.questions import Question as Question
from tabcontam.evidence.questions import Reply as Reply
from tabcontam.evidence.questions import ReplyState as ReplyState
from tabcontam.evidence.questions import Scores as Scores
from tabcontam.evidence.questions import Token as Token
from tabcontam.evidence.questions import Usage as Usage
from tabcontam.evidence.questions import as_read as as_read
from tabcontam.evidence.twin_comparison import TwinComparison
from tabcontam.reading.answer_text import declines
from tabcontam.statistics.eprocess import Bets
from tabcontam.statistics.number_types import Amount, Count, Interval, Number, Share

if TYPE_CHECKING:
    from tabcontam.tables.serializers import Serializer
    from tabcontam.tables.table import Table


@dataclass(frozen=True, slots=True)
class BetPlace:
    """The place of a query among the bets on its table."""

    unsure: float = 0.0  # the baseline's uncertainty in bits about the hidden cells
    turn: int | None = None  # None without a bet


@dataclass(frozen=True, slots=True)
class FeatureFacts:
    """Facts about the features that a query asks for.

    `lies_in` maps keys of the query's `chance` to the column, or the columns of one entity, that a right answer
    reveals. In row tests, a key without an entry is itself the name of the column. `values` lists all values of a
    feature if they are few. An answer in words that is not one of these values then counts as no answer. `shared`, for
    a query about a twin, lists the features that equal the row's.
    """

    lies_in: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    shared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """A question, the items that it asks for, and the expected answer.

    In row tests, `asked` lists features and `expected` their values in the same order; None is a missing value. In
    other tests, `asked` lists the possible answers if only these count, and `expected` lists the right words, names or
    answer. `chance` has the baseline's predictions. Its keys are the asked features in row tests, the choices (`Yes`)
    in membership, the baselines in classification, and the expected words in word tests. The chance of a word is the
    chance that a reader who knows only the topic names it.
    """

    id: str
    write: Callable[[], Question] = field(compare=False, repr=False)  # writes the same text each time; not stored
    asked: tuple[str, ...]
    expected: tuple[str | None, ...]
    max_tokens: int
    paper: bool = True  # whether it is one of the paper's own
    rows: tuple[int, ...] = ()  # the table's rows that the prompt shows, whole or in part
    not_expected: tuple[str, ...] = ()  # names that must not count (Wine Quality if Wine is expected)
    chance: Mapping[str, CellPrediction] = field(default_factory=dict, compare=False)
    decoy_of: str = ""  # for a decoy, the id of the query that asks the same about the table
    row: int | None = None  # the table's row that is asked, from 0
    withheld: bool = field(default=False, compare=False)  # whether the prompt shows a row that was never published
    bet: BetPlace = field(default=BetPlace(), compare=False)
    features: FeatureFacts = field(default=FeatureFacts(), compare=False)
    answering: AnswerKind = field(default=AnswerKind(), compare=False, repr=False)  # for simulated answerers

    @property
    def question(self) -> Question:
        """The question; each access writes it again."""
        return self.write()

    @property
    def prompt(self) -> Prompt:
        """The question of a query that asks for words; each access writes it again.

        Raises `TypeError` for other queries.
        """
        question = self.write()
        if not isinstance(question, Prompt):
            raise TypeError(f"the question of {self.id} is a {type(question).__name__}, not a Prompt")
        return question


class UnreadReason(StrEnum):
    """The reason why no answer was read in a reply's text."""

    DECLINED = "declined"
    NOT_UNDERSTOOD = "not understood"

    @classmethod
    def of(cls, text: str) -> "UnreadReason":
        """Return the reason why no answer was read in `text`: a text with a phrase of refusal declines."""
        return cls.DECLINED if declines(text) else cls.NOT_UNDERSTOOD


@dataclass(frozen=True, slots=True)
class Reading:
    """The answer that was read in one reply."""

    parsed: Mapping[str, str | None] | str | None  # the values that were read
    hit: bool | None  # whether the answer is right; None if only all answers together decide
    paper_hit: bool  # the published algorithm's decision on the unchanged text
    readable: bool  # whether the text holds an answer; a text that declines holds none
    right: tuple[str, ...] = ()  # the asked features with right cells, or the expected words in the answer
    unread: UnreadReason | None = None  # the reason why there is no answer, if the phrases do not decide it


@dataclass(frozen=True, slots=True)
class Trial:
    """A query with its answer and, once judged, its reading."""

    query: Query
    reply: Answer
    reading: Reading | None = None
    cached: bool = False
    judged: CompletionJudgement | None = None  # a judge's label, if a judge compares the test's answers

    @property
    def readable(self) -> bool:
        """True if the reply holds an answer that could be read."""
        return self.reading is not None and self.reading.readable

    @property
    def unread(self) -> UnreadReason | None:
        """The reason why no answer was read in a text; None if one was read or the reply's state is not `ok`."""
        if self.readable or self.reply.state is not ReplyState.OK or not isinstance(self.reply, Reply):
            return None
        return (self.reading and self.reading.unread) or UnreadReason.of(self.reply.text)


@dataclass(frozen=True)
class PublishedRule:
    """The conclusion that a paper draws: contaminated if some queries, and at least this `share` of them, are hits."""

    claim: str  # a definition of a hit, in the words that follow "3 of 5"
    number: int | None = None  # the test's id in the paper's Table 1
    share: float | None = 0.0  # None if the paper has only a score
    source: str = ""  # the paper, by its first author and year, as in ronval2024

    def detects(self, hits: int, queries: int) -> bool | None:
        """Return whether `hits` of `queries` are enough for contaminated, or None if the rule gives only a score."""
        return None if self.share is None else hits >= max(1, self.share * queries)

    def finds(self, trials: Sequence[Trial]) -> bool | None:
        """Return the rule's decision on the paper's own queries, or None if the rule gives only a score."""
        return self.detects(self.hits(trials), len(trials))

    def lacks(self, trials: Sequence[Trial]) -> str | None:
        """Return why the rule cannot decide `not detected` on these trials, or None if it can."""
        return None

    def hits(self, trials: Sequence[Trial]) -> int:
        """Return how many of the paper's own queries are hits by the published algorithm."""
        return sum(trial.reading is not None and trial.reading.paper_hit for trial in trials)

    def counted(self, trials: Sequence[Trial]) -> Sequence[Trial]:
        """Return the trials in which hits are counted: the paper's own queries, without those that are comparisons."""
        return trials

    def describe(self, trials: Sequence[Trial]) -> str:
        """Return the rule's decision on the paper's own queries as a sentence that a person can check."""
        return f"{self.hits(trials)} of {len(self.counted(trials))} {self.claim}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Statistic:
    """A measurement of a test."""

    name: str
    """The name of the quantity, with its unit, for example: recalled bits."""
    value: Number
    """The measured value."""
    expected: Number | None = None
    """The mean under the null model; null if it is not known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """A test's measurement: the answers, weighed against the null model, before there is a verdict."""

    score: Share | None = None
    """The share of right answers, or the measure of a test without a verdict, such as an accuracy."""
    hits: Count = 0
    """The number of right answers; in tests of names and words the number of those that the replies contain."""
    expected_hits: Amount | None = None
    """The number of right answers that the baseline would give."""
    answered: Count = 0
    """The number of answers that could be read."""
    asked: Count | None = None
    """The number of answers asked for; in tests of names and words the number of names or words."""
    statistic: Statistic | None = None
    """The statistic that the calibrated rules weigh; null if nothing was measured."""
    null: str | None = None
    """The null hypothesis in words: which quantity is drawn again, and which is held fixed."""
    p_value: Share | None = None
    """The p-value: the chance of as much evidence under the null model; null if there is none."""
    interval: Interval | None = None
    """The 95% interval of the quantity that interval_of names; null if there is none."""
    interval_of: str | None = None
    """The quantity that the interval is of, for example: rows remembered."""
    recalled_bits: Number | None = None
    """The sum of -log2 of the baseline's probability over the cells asked that were recalled; row tests alone."""
    columns: Mapping[str, Amount] = field(default_factory=dict)
    """The recalled bits by column, or by the columns of one entity; row tests alone."""
    without: Mapping[str, Share] = field(default_factory=dict)
    """The p-value without the cells of each column asked, or of the columns of one entity; empty if the rule of one
    column does not bind the test."""
    e_value: Amount | None = None
    """E: the value of one unit that was bet on these answers, divided by its value on an honest predictor's answers, if
    that is above one; null if nothing is bet on."""
    bets: Bets = field(default_factory=dict)
    """The outcome of the bets: all under "", and without a column, or the columns of one entity, under its name."""
    detectable_share: Share | None = None
    """The smallest share of remembered rows that this test would have detected."""
    sentence: str = ""
    """The finding in one plain sentence."""
    memory: TwinComparison | None = None
    """Memory's share and its parts; null for any other measure."""

    @property
    def measured(self) -> Statistic:
        """The statistic of a test that weighed its answers."""
        assert self.statistic is not None  # noqa: S101 - only a result without answers has none
        return self.statistic

    @property
    def without_p_value(self) -> str:
        """The sentence without its p-value, for answers that are bet on."""
        return self.sentence.replace(f" ({describe_p_value(self.p_value or 0.0)})", "", 1)


class Test(ABC):
    """A contamination test: a frozen dataclass whose docstring is its page in the docs.

    A subclass has to state only the attributes without a default: `id`, `family` and `kind`. A subclass that states its
    own `id` does not inherit `title` and `published`. The module `mixins` has what only some tests say.
    """

    id: ClassVar[str]
    title: ClassVar[str]  # by default the words of the id
    follows: ClassVar[str] = ""  # the id of the test that stands before it in lists, for a test of an extension
    family: ClassVar[Family]
    kind: ClassVar[EvidenceKind]
    published: ClassVar[PublishedRule | None] = None
    measure: ClassVar[str] = ""  # the column of the ranking, or the figure, that shows its score, if any
    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.GENERATE})
    shows_rows: ClassVar[bool] = True  # whether the serializer changes its queries
    decides: ClassVar[bool] = True  # whether the calibrated rules give a verdict; else there is only a score
    answering: ClassVar[AnswerKind] = AnswerKind()  # the kind of answer that it asks for
    on_request: ClassVar[bool] = False  # asked only if chosen, or if it scores text and a model on this machine does
    only_with: ClassVar[RequiredInput] = RequiredInput.NOTHING  # the input without which it is not asked
    draws_as: ClassVar[str] = ""  # the id of the test with the same random draws, so that both ask about the same rows
    own_marks: ClassVar[frozenset[str]] = frozenset()  # further marks by which `-m` selects it
    recorded_forms: ClassVar[Mapping[str, str]] = {}  # further ids, with titles, that only recorded answers have

    def __init_subclass__(cls) -> None:
        if "id" in vars(cls):
            cls.title = vars(cls).get("title", cls.id.replace("_", " ").capitalize())
            cls.published = vars(cls).get("published")
            cls.recorded_forms = vars(cls).get("recorded_forms", {})

    @property
    def number(self) -> int | None:
        """The test's id in the paper's Table 1, or None if it is not in that table."""
        return self.published.number if self.published else None

    @property
    def source(self) -> str:
        """The paper with its published rule, as first author and year; empty if there is none."""
        return self.published.source if self.published else ""

    @property
    def row_test(self) -> bool:
        """True if the test can show that the model has read rows."""
        return self.family in SHOWING_ROWS and self.decides

    @property
    def marks(self) -> tuple[str, ...]:
        """The words by which the option `-m` selects the test.

        These words are the test's family; `rows` if it can show that rows were seen; `paper` if it has a published
        rule; its source; the capabilities that it needs (`text`, `logprobs` or `corpus`); and words of its own.
        """
        needed = [mark for capability, mark in NEEDED.items() if capability in self.needs]
        shown, of_paper = OF_ROWS if self.row_test else "", OF_A_PAPER if self.published else ""
        marks = (self.family.value, shown, of_paper, self.source, *needed, *sorted(self.own_marks))
        return tuple(dict.fromkeys(filter(None, marks)))

    @property
    def scores_text(self) -> bool:
        """True if a model scores texts and is asked no question: with a model on this machine this costs only time."""
        return Capability.SCORE in self.needs and Capability.INSTRUCTIONS not in self.needs

    @property
    def facts(self) -> "Facts":
        """The description of the test for code that does not have the test object."""
        return Facts(**{item.name: getattr(self, item.name) for item in fields(Facts)})

    def planned(self, table: "Table", serializer: "Serializer", rng: Random) -> list[Query]:
        """Return the queries of one result, with the attributes that the test adds. Raises `Skip`."""
        queries = self.queries(table, serializer, rng)
        rule = self.published is not None
        return [replace(query, answering=self.answering, paper=query.paper and rule) for query in queries]

    @abstractmethod
    def queries(self, table: "Table", serializer: "Serializer", rng: Random) -> Sequence[Query]:
        """Return all queries of one result, checked.

        Raises `Skip` with the reason if the test cannot be asked about the table.
        """

    def complete(self, query: Query, text: str, serializer: "Serializer") -> bool:
        """Return whether a text that was cut at the token limit contains the whole asked item; False by default."""
        return False

    @abstractmethod
    def read(self, query: Query, reply: Any, serializer: "Serializer") -> Reading:
        """Return the reading of one answer. The class of `reply` matches the class of the question: see `questions`."""

    @abstractmethod
    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """Return the evidence of all read trials of a result, including decoys, against the null model.

        `level` is the largest p-value of a detection in this run; the detectable share is computed for this level.
        """

    def counts(self, trial: Trial) -> bool:
        """Return whether `weigh` counts a read trial: by default if its answer could be read."""
        return trial.readable

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        """Return why the queries could not tell memory from prediction at this level, or None if they could.

        The reason is known before anything is asked. It depends on the shown cells and not on the hidden ones.
        """
        return None


@dataclass(frozen=True, slots=True)
class Facts:
    """The description of a test for code that shows or counts its results without the test object."""

    id: str
    """The test's id, for example full_completion."""
    title: str
    """The test's name in words."""
    number: int | None
    """Its number in the paper's Table 1; null for tests that are not in it."""
    kind: EvidenceKind
    """The kind of thing that it measures."""
    family: Family
    """The tests that share its kind of evidence."""
    row_test: bool
    """True if it can show that rows were seen."""
    decides: bool
    """True if it has a verdict; else there is only a score."""
    shows_rows: bool
    """True if its prompts show rows, so that the serializer matters."""
    measure: str
    """The column of the ranking that its score goes into, `generated`, or `recalled`; empty if it goes into none."""
    source: str = ""
    """The paper that has its published rule, by first author and year, as in ronval2024; empty if there is none."""
    marks: tuple[str, ...] = ()
    """The words by which -m selects it."""
