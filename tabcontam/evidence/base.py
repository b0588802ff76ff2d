"""The words of the contamination tests: query, answer, reading, trial, evidence, verdict.

One direction: a test writes `Query`s and judges `Trial`s. It never calls a model and never knows which LLM answers.
What a query can ask, and what comes back, stands in `questions`, whose names are here, too.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tabcontam.evidence.answering import Answering
from tabcontam.evidence.compared import Compared, Judged
from tabcontam.evidence.kinds import DECIDED as DECIDED
from tabcontam.evidence.kinds import GENERATED as GENERATED
from tabcontam.evidence.kinds import NEEDED as NEEDED
from tabcontam.evidence.kinds import OF_A_PAPER as OF_A_PAPER
from tabcontam.evidence.kinds import OF_ROWS as OF_ROWS
from tabcontam.evidence.kinds import RANKS as RANKS
from tabcontam.evidence.kinds import RECALLED as RECALLED
from tabcontam.evidence.kinds import RONVAL as RONVAL
from tabcontam.evidence.kinds import SHOWING_ROWS as SHOWING_ROWS
from tabcontam.evidence.kinds import UNDECIDED as UNDECIDED
from tabcontam.evidence.kinds import Family as Family
from tabcontam.evidence.kinds import Given as Given
from tabcontam.evidence.kinds import Kind as Kind
from tabcontam.evidence.kinds import Measure as Measure
from tabcontam.evidence.kinds import Verdict as Verdict
from tabcontam.evidence.prompts import PromptSet, default_prompts
from tabcontam.evidence.questions import READ as READ
from tabcontam.evidence.questions import Answer as Answer
from tabcontam.evidence.questions import By as By
from tabcontam.evidence.questions import Capability as Capability
from tabcontam.evidence.questions import Endings as Endings
from tabcontam.evidence.questions import Likelihoods as Likelihoods
from tabcontam.evidence.questions import Lookup as Lookup
from tabcontam.evidence.questions import Match as Match
from tabcontam.evidence.questions import Matches as Matches
from tabcontam.evidence.questions import Message as Message
from tabcontam.evidence.questions import Passage as Passage
from tabcontam.evidence.questions import Prompt as Prompt
from tabcontam.evidence.questions import Question as Question
from tabcontam.evidence.questions import Reply as Reply
from tabcontam.evidence.questions import Scores as Scores
from tabcontam.evidence.questions import State as State
from tabcontam.evidence.questions import Token as Token
from tabcontam.evidence.questions import Usage as Usage
from tabcontam.evidence.questions import as_read as as_read
from tabcontam.guesser.chance import Guess
from tabcontam.reading.reading import declines
from tabcontam.statistics.eprocess import Bets, Stake

if TYPE_CHECKING:
    from tabcontam.reading.words import Dictionary
    from tabcontam.tables.serializers import Serializer
    from tabcontam.tables.table import Table


@dataclass(frozen=True, slots=True)
class Query:
    """One question, what was asked and the expected answer.

    `asked` and `expected` run in parallel for row tests (feature, value; None is a missing value); for the others
    `asked` holds the possible answers, if they are a closed list, and `expected` the words, names or the one answer.
    `chance` says what a guesser would answer: by asked feature in row tests, by expected word in word tests (the
    chance of a word that says nothing of the table), by choice (`Yes`) in membership, by baseline in classification.
    `lies_in` names by the keys of `chance` the column, or the columns of one entity, whose cell a right answer tells
    of; a key that it does not have is the column's own name in row tests. `values` are all that an asked feature can
    have, where these are few: an answer in words that is none of them is talk.
    """

    id: str
    write: Callable[[], Question] = field(compare=False, repr=False)  # the same each time; a plan has too many to keep
    asked: tuple[str, ...]
    expected: tuple[str | None, ...]
    max_tokens: int
    paper: bool = True  # whether it is one of the paper's own
    rows: tuple[int, ...] = ()  # the table's rows that stand in the prompt, whole or in part
    not_expected: tuple[str, ...] = ()  # names that must not count (Wine Quality, where Wine is expected)
    chance: Mapping[str, Guess] = field(default_factory=dict, compare=False)
    decoy_of: str = ""  # the id of the query that asks the same about the table, where this one is for comparison
    row: int | None = None  # the table's row that is asked, from 0
    withheld: bool = field(default=False, compare=False)  # whether it shows a row that was never published
    unsure: float = field(default=0.0, compare=False)  # bits that the guesser lacks by what the prompt shows
    turn: int | None = field(default=None, compare=False)  # among the queries of its table that are bet on, from 0
    lies_in: Mapping[str, str] = field(default_factory=dict, compare=False)  # see below
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)  # see below
    kept: tuple[str, ...] = field(default=(), compare=False)  # of a twin, the features that are the row's own in all
    answering: Answering = field(default=Answering(), compare=False, repr=False)  # for one whose knowledge is known

    @property
    def question(self) -> Question:
        """The question, written anew."""
        return self.write()

    @property
    def prompt(self) -> Prompt:
        """The question of a query that asks for words, written anew. Raises TypeError for any other."""
        question = self.write()
        if not isinstance(question, Prompt):
            raise TypeError(f"{self.id} asks no prompt but a {type(question).__name__}")
        return question


class Unread(StrEnum):
    """Why nothing was read in a text that came."""

    DECLINED = "declined"
    NOT_UNDERSTOOD = "not understood"

    @classmethod
    def of(cls, text: str) -> "Unread":
        """Return why nothing was read in this text, by the phrases that decline."""
        return cls.DECLINED if declines(text) else cls.NOT_UNDERSTOOD


@dataclass(frozen=True, slots=True)
class Reading:
    """How one reply was read."""

    parsed: Mapping[str, str | None] | str | None  # what was understood
    hit: bool | None  # the decision by what was understood; None where only all answers together make one
    paper_hit: bool  # the published algorithm's decision on the text as it came
    readable: bool  # whether it was an answer at all; a text that declines is none
    right: tuple[str, ...] = ()  # the asked features whose cells are the row's, or the expected words that it holds
    unread: Unread | None = None  # why it is no answer, where the test knows it better than by phrases


@dataclass(frozen=True, slots=True)
class Trial:
    """A query with the subject's answer and, once judged, its reading."""

    query: Query
    reply: Answer
    reading: Reading | None = None
    cached: bool = False
    judged: Judged | None = None  # what a judge said of it, where its test has answers compared

    @property
    def readable(self) -> bool:
        """Whether it was read, and is an answer."""
        return self.reading is not None and self.reading.readable

    @property
    def unread(self) -> Unread | None:
        """Why nothing was read in a text that came; None where it was read, or the reply's state says why."""
        if self.readable or self.reply.state is not State.OK or not isinstance(self.reply, Reply):
            return None
        return (self.reading and self.reading.unread) or Unread.of(self.reply.text)


@dataclass(frozen=True)
class PublishedRule:
    """What a paper concludes from a test: contaminated by at least one hit and this `share` of the queries."""

    claim: str  # what a hit is, in the words that follow "3 of 5"
    number: int | None = None  # the test's id in the paper's Table 1
    share: float | None = 0.0  # None where the paper has only a score
    source: str = ""  # the paper, by its first author and year, as in ronval2024

    def detects(self, hits: int, queries: int) -> bool | None:
        """Whether so many hits are enough; None where there is only a score."""
        return None if self.share is None else hits >= max(1, self.share * queries)

    def finds(self, trials: Sequence[Trial]) -> bool | None:
        """What the rule decides on the paper's own queries; None where there is only a score."""
        return self.detects(self.hits(trials), len(trials))

    def lacks(self, trials: Sequence[Trial]) -> str | None:
        """Why these trials are no reason to call a table clean though nothing is found; None where they are one."""
        return None

    def hits(self, trials: Sequence[Trial]) -> int:
        """How many of the paper's own queries are hits by the published algorithm."""
        return sum(trial.reading is not None and trial.reading.paper_hit for trial in trials)

    def counted(self, trials: Sequence[Trial]) -> Sequence[Trial]:
        """Those of the paper's own queries in which hits are counted: all but such as are there for comparison."""
        return trials

    def said(self, trials: Sequence[Trial]) -> str:
        """What the rule found in the paper's own queries, in words that a person can check."""
        return f"{self.hits(trials)} of {len(self.counted(trials))} {self.claim}"


@dataclass(frozen=True)
class OnTwins:
    """What memory's share of an accuracy is made of: pairs of a row and its unseen twin, both answered.

    `deviation` is the standard deviation of what a pair adds to the share, which lies between -2 and 2. `if_wrong` is
    the interval where what named no class is a wrong answer; None where nothing of that kind was answered.

    `fresh` is how many fresh rows were answered, where they take the place of twins. Then `pairs` is the number of rows
    or of fresh rows, whichever is smaller, and the deviation that of a row and a fresh row together.
    """

    pairs: int
    left_out: int  # pairs of which one answer or both named no class
    accuracy: float  # on the rows
    twin_accuracy: float
    share: float
    interval: tuple[float, float]
    p_value: float  # that the share is 0 or less
    deviation: float
    if_wrong: tuple[float, float] | None = None
    fresh: int = 0


@dataclass(frozen=True)
class BesideReference:
    """How much more an LLM loses on unseen twins than a reference LLM, over pairs that both answered."""

    pairs: int
    accuracy: float  # of the reference on the rows
    twin_accuracy: float
    share: float
    interval: tuple[float, float]
    p_value: float  # that it loses no more


@dataclass(frozen=True)
class OfReference:
    """One of several reference LLMs, and how often it is right on the compared rows and on their unseen twins."""

    llm: str
    accuracy: float
    twin_accuracy: float


@dataclass(frozen=True)
class AmongReferences:
    """How much oftener an LLM is right on rows than several reference LLMs lead one to expect of one like it on twins.

    `apart` is the least and the most that it would be without one of them; `outside` says that the LLM's accuracy on
    twins is above or below those of all of them.
    """

    pairs: int
    references: tuple[OfReference, ...]
    accuracy: float  # of the LLM on the rows that all of them answered
    twin_accuracy: float
    expected: float  # accuracy on the rows
    share: float
    interval: tuple[float, float]
    p_value: float  # that it is no more
    apart: tuple[float, float]
    outside: bool


@dataclass(frozen=True)
class Evidence:
    """What the answers weigh against the null, before any verdict."""

    statistic: str  # its name
    value: float  # what the statistic came to
    null: str  # what is drawn anew under the null, in words
    sentence: str  # what a person can check
    counted: str = field(default="", kw_only=True)  # the same without a p-value, of a test whose answers are bet on
    hits: int
    asked: int  # queries, decoys aside
    answered: int
    p_value: float | None = None  # None where there is only a score
    expected: float | None = None  # the statistic that the null expects
    expected_hits: float | None = None  # the hits that the null expects
    interval: tuple[float, float] | None = None  # with a confidence of 95 %
    interval_of: str = ""  # what the interval is of
    recalled_bits: float | None = None
    score: float | None = None  # the cell's score, from 0 to 1, where there is no p-value and the statistic is no share
    share: float | None = None  # the least share of remembered rows that is found with 95 % power; None where none is
    columns: Mapping[str, float] = field(default_factory=dict)  # recalled bits by the column, or an entity's columns
    # By the same the p-value where these cells are left out (1 where none is left): for each in which something was
    # asked. It is empty where facts from elsewhere cannot explain what is right: the finding needs no second column.
    without: Mapping[str, float] = field(default_factory=dict)
    bets: Bets = field(default_factory=dict)  # what bets on the answers came to, where they are bet on
    twins: OnTwins | None = None  # what memory's share is made of, where that is what is measured


class Test(ABC):
    """A contamination test: a frozen dataclass whose docstring is its page, and all that others need to know of it.

    Only what has no default has to be stated: `id`, `family` and `kind`. One with an `id` of its own inherits neither
    the `title` nor the `published` rule of another.
    """

    id: ClassVar[str]
    title: ClassVar[str]  # the words of the id by default
    family: ClassVar[Family]
    kind: ClassVar[Kind]
    published: ClassVar[PublishedRule | None] = None
    measure: ClassVar[str] = ""  # the column of the ranking, or the figure, that its score goes into, if any
    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.GENERATE})
    shows_rows: ClassVar[bool] = True  # whether the serializer matters
    worded: ClassVar[bool] = False  # whether its queries are worded by `prompts`, so that the prompt set matters
    by_feature: ClassVar[bool] = False  # whether `asked` and `expected` of its queries run in parallel
    decides: ClassVar[bool] = True  # whether the calibrated rules give a verdict; else there is only a score
    referred: ClassVar[bool] = False  # whether what a reference LLM answers, too, counts for nothing: see `conceded`
    set_beside: ClassVar[bool] = False  # whether a reference LLM is asked the same for comparison: see `beside`
    answering: ClassVar[Answering] = Answering()  # what kind of answer it asks for
    on_request: ClassVar[bool] = False  # asked only where it is chosen or, if it scores text, an LLM here does
    beside_fresh: ClassVar[bool] = False  # whether it compares with rows that nobody can have read, if there are any
    only_with: ClassVar[Given] = Given.NOTHING  # what has to be given for it to be asked
    bet_on: ClassVar[bool] = False  # whether its answers can be bet on, query by query: see `stakes`
    resampled: ClassVar[bool] = False  # whether all answers to a query that is asked several times are weighed together
    draws_as: ClassVar[str] = ""  # the id of the test as which it draws, so that both ask about the same rows
    pool: ClassVar[str] = ""  # tests of a table that share it are weighed together where one alone asks too little
    sized: ClassVar[bool] = False  # whether it can be asked about another number of rows: see `about`
    own_marks: ClassVar[frozenset[str]] = frozenset()  # by which `-m` selects it, besides those that it has anyway
    judgeable: ClassVar[bool] = False  # whether a judge compares its answers with the true ones: see `compared`
    recorded_forms: ClassVar[Mapping[str, str]] = {}  # further ids, with titles, that recorded answers alone have

    def __init_subclass__(cls) -> None:
        if "id" in vars(cls):
            cls.title = vars(cls).get("title", cls.id.replace("_", " ").capitalize())
            cls.published = vars(cls).get("published")
            cls.recorded_forms = vars(cls).get("recorded_forms", {})

    @property
    def number(self) -> int | None:
        """Its id in the paper's Table 1, None for tests that are not in it."""
        return self.published.number if self.published else None

    @property
    def source(self) -> str:
        """The paper that has its published rule, by first author and year; empty where there is none."""
        return self.published.source if self.published else ""

    @property
    def row_test(self) -> bool:
        """Whether it can show that rows were seen."""
        return self.family in SHOWING_ROWS and self.decides

    @property
    def marks(self) -> tuple[str, ...]:
        """The words by which `-m` selects it.

        They are its family; `rows`, where it can show that rows were seen; `paper`, where it has a published rule; its
        source; what it needs of a subject: `text`, `logprobs` or `corpus`; and those of its own.
        """
        needed = [mark for capability, mark in NEEDED.items() if capability in self.needs]
        shown, of_paper = OF_ROWS if self.row_test else "", OF_A_PAPER if self.published else ""
        marks = (self.family.value, shown, of_paper, self.source, *needed, *sorted(self.own_marks))
        return tuple(dict.fromkeys(filter(None, marks)))

    @property
    def prompts(self) -> PromptSet:
        """The prompt set that words its queries: that of the cell which is planned, else the default one."""
        given: PromptSet | None = vars(self).get("_prompts")
        return given or default_prompts()

    @property
    def scores_text(self) -> bool:
        """Whether it has texts scored and asks no question: an LLM that is loaded here does so for nothing but time."""
        return Capability.SCORE in self.needs and Capability.INSTRUCTIONS not in self.needs

    def worded_by(self, prompts: PromptSet) -> Self:
        """The same test with its queries in the words of this set; it is equal to the one with other words."""
        test = copy(self)
        vars(test)["_prompts"] = prompts  # past a frozen dataclass, and for a class that is none
        return test

    @property
    def facts(self) -> "Facts":
        """What it says of itself to those who do not have it at hand."""
        return Facts(**{item.name: getattr(self, item.name) for item in fields(Facts)})

    def planned(self, table: "Table", serializer: "Serializer", rng: Random) -> list[Query]:
        """The queries of a cell, with what the test says of all of them. Raises `Skip`."""
        queries = self.queries(table, serializer, rng)
        rule = self.published is not None
        return [replace(query, answering=self.answering, paper=query.paper and rule) for query in queries]

    def about(self, rows: int) -> Self:
        """The same test about so many rows of a table, or as many as there are; only where it is `sized`.

        Fewer rows are the first of more, behind the same examples, so that their answers need not be asked for again.
        """
        raise NotImplementedError(f"{self.id} cannot be asked about another number of rows")

    def as_published(self) -> "Test":
        """The test that writes the paper's own queries, where only these are asked.

        It is the test itself, unless the paper asks more queries of this kind than the test does. Its `queries` that
        are not marked as the paper's are left out.
        """
        return self

    def in_words(self, samples: int | None) -> "Test | None":
        """The same test as it is asked in words of an LLM that tells no log-probabilities; None where it cannot be.

        It has the same id, and `read` and `weigh` of this one read and weigh its trials as well. `samples` is how often
        a query may be asked at a temperature (`--samples`); None where the user said nothing of it.
        """
        return None

    def not_averaged(self, table: "Table") -> str | None:
        """Why its score on this table is in none of the ranking's means; None where it is."""
        return None

    def too_small(self, rows: int) -> str | None:
        """Why a table of so many different rows is too small to tell memory from guessing; None where it is not.

        Such a table is `uninformative`, and is not asked about under the calibrated rules.
        """
        return None

    @abstractmethod
    def queries(self, table: "Table", serializer: "Serializer", rng: Random) -> Sequence[Query]:
        """Every query of the cell, checked. Raises `Skip` with the reason where the table does not allow the test."""

    def complete(self, query: Query, text: str, serializer: "Serializer") -> bool:
        """Whether a text that was cut at the token limit held the whole asked item before it; it is not, by default."""
        return False

    @abstractmethod
    def read(self, query: Query, reply: Any, serializer: "Serializer", dictionary: "Dictionary") -> Reading:
        """One answer, read and decided: of the kind that belongs to the question, as `questions` has them."""

    @abstractmethod
    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """What all read trials of a cell, decoys among them, weigh against the null.

        `level` is the p-value that a cell of this grid must reach at most; the detectable share is stated for it.
        """

    def compared(self, trials: Sequence[Trial]) -> Sequence[Compared]:
        """Those of a cell's answers that are compared with the true ones by a judge; by default none.

        A trial may be one that has not been asked yet: its answer is then an empty text.
        """
        return ()

    def pooled(self, own: Evidence, together: Evidence) -> Evidence:
        """What is said of a test that asks too little alone, by its `own` evidence and that of its pool `together`."""
        return together

    def told_apart(self, trials: Sequence[Trial]) -> Sequence[Trial]:
        """The read trials of a cell, with those unread that only together show that they are no answers."""
        return trials

    def counts(self, trial: Trial) -> bool:
        """Whether a read trial is weighed: its answer could be read or, in some tests, says enough as it is."""
        return trial.readable

    def stakes(self, trial: Trial) -> Sequence[Stake]:
        """What one unit comes to that is staked on each answered cell of a read trial; only where it is `bet_on`."""
        return ()

    def foreseen(self, query: Query) -> tuple[Trial, Trial]:
        """The read trials of one who remembers what a query asks and of one who guesses; only where it is `bet_on`."""
        raise NotImplementedError(f"{self.id} is not bet on")

    def conceded(self, query: Query, reading: Reading) -> Query:
        """The query as it is weighed where an LLM that has not seen the table gave an answer that was read like this.

        What it said has chance 1. Only a test that is `referred` has such chances.
        """
        return query

    def beside(self, trials: Sequence[Trial], others: Sequence[Trial]) -> BesideReference | None:
        """What the read trials of a cell show beside those of a reference LLM; only where it is `set_beside`.

        None where nothing of it was answered by both.
        """
        return None

    def among(self, trials: Sequence[Trial], others: Mapping[str, Sequence[Trial]]) -> AmongReferences | None:
        """The same beside several reference LLMs, whose read trials stand under their names.

        None where nothing of it was answered by all that answered anything, or fewer than two did.
        """
        return None

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        """Why the queries could not tell memory from guessing at this level; None where they could.

        Known before anything is asked: from what the prompts show, never from the hidden values.
        """
        return None


@dataclass(frozen=True, slots=True)
class Facts:
    """What a test says of itself to those who show or count its results, and who need not have the test at hand."""

    id: str
    """The test's id, for example full_completion."""
    title: str
    """The test's name in words."""
    number: int | None
    """Its number in the paper's Table 1; null for tests that are not in it."""
    kind: Kind
    """What it measures."""
    family: Family
    """The tests that share its kind of evidence."""
    row_test: bool
    """Whether it can show that rows were seen."""
    decides: bool
    """Whether it has a verdict; else there is only a score."""
    shows_rows: bool
    """Whether its prompts show rows, so that the serializer matters."""
    measure: str
    """The column of the ranking that its score goes into, `generated`, or `recalled`; empty where it goes into none."""
    source: str = ""
    """The paper that has its published rule, by first author and year, as in ronval2024; empty where there is none."""
    marks: tuple[str, ...] = ()
    """The words by which -m selects it."""
