"""The base of tests 1 to 6: answers are words or a name, decided by Algorithm 1 or by comparison with decoys.

The published algorithm searches for a word anywhere in the text: it finds `ATA` in `dataset`. Our own decision searches
for whole words.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod
from statistics import median
from typing import ClassVar

from tabcontam.evidence.answering import AnswerKind, WordAnswers
from tabcontam.evidence.base import (
    READ,
    Evidence,
    EvidenceKind,
    Family,
    Query,
    Reading,
    Reply,
    ReplyState,
    Statistic,
    Test,
    Trial,
    as_read,
)
from tabcontam.evidence.mixins import PooledTest
from tabcontam.evidence.number_wording import describe_p_value, explain_out_of_reach, format_small_number
from tabcontam.evidence.thresholds import LONGEST_ITEM_WORDS
from tabcontam.reading.answer_readers import NOTHING, PREFIX
from tabcontam.reading.answer_text import answer_line, declines, plain
from tabcontam.reading.languages import FILLER
from tabcontam.reading.word_decision import (
    WordDecision,
    WordSearch,
    appears,
    decide_words,
    english,
    pieces,
    stands_in,
    without_note,
)
from tabcontam.statistics.exact_statistics import clopper_pearson, units, weighted_tail
from tabcontam.statistics.thresholds import BIT_UNITS
from tabcontam.tables.serializers import Serializer

ITEMS = re.compile(r"[,;\n|]")
LIST_LINE = re.compile(r"[-+*•]\s|\d+[.)]\s")
EXPLAINED = re.compile(r":\s|\s[-\u2013\u2014]\s|\s\(")
CLAUSE_END = re.compile(r"(?<=[.!?;:,])\s+|\n|\s(?=but\s)")
MORE = "x"  # appended to a cut answer, to see which of its words may be incomplete


class WordTest(Test):
    """A test that reads words, decided by Algorithm 1 (Ronval et al. 2024, section 3.2) or against decoys."""

    unit: ClassVar[str] = "words"  # the counted items, such as names of features
    family: ClassVar[Family] = Family.KNOWLEDGE
    kind: ClassVar[EvidenceKind] = EvidenceKind.KNOWLEDGE
    shows_rows: ClassVar[bool] = False
    answering: ClassVar[AnswerKind] = WordAnswers()

    def complete(self, query: Query, text: str, serializer: Serializer) -> bool:
        """Return whether the answer's line ended before the cut. A list with one item a line is never complete."""
        line = answer_line(text)
        ended = answer_line(text + MORE) == line
        return ended and self.is_answer(line) and not LIST_LINE.match(line)

    def read(self, query: Query, reply: Reply, serializer: Serializer) -> Reading:
        """Return the expected words in the answer: as whole words, and by Algorithm 1's search."""
        if reply.state not in READ:
            return Reading(None, hit=False, paper_hit=False, readable=False)
        text = undeclined(reply.text)
        hit, right = self.decision(query, text, stands_in).detected, self.named(query, text)
        if reply.state is ReplyState.TRUNCATED:
            hit = hit and self.decision(query, text + MORE, stands_in).detected
            right = tuple(word for word in right if word in self.named(query, text + MORE))
        answer = reply.state is ReplyState.OK and not declines(reply.text) and self.is_answer(reply.text)
        published = self.decision(query, reply.text, appears).detected
        readable = hit or bool(right) or answer
        return Reading(", ".join(right) or None, hit, published, readable=readable, right=right)

    def named(self, query: Query, text: str) -> tuple[str, ...]:
        """Return the expected words that a text contains as whole words."""
        return tuple(word for word in query.expected if word and stands_in(without_note(word), text))

    def decision(self, query: Query, text: str, is_in: WordSearch) -> WordDecision:
        """Return Algorithm 1's decision on the expected words."""
        return decide_words(text, query.expected, english(), is_in)

    def is_answer(self, text: str) -> bool:
        """Return whether a text may be a list: its items are short, and it announces or denies nothing."""
        line = answer_line(text)
        if not line or FILLER.match(line) or NOTHING.match(line):
            return False
        lengths = [len(item.split()) for item in _items(plain(text)) if item.strip()]
        return bool(lengths) and median(lengths) <= LONGEST_ITEM_WORDS


class WordListTest(PooledTest, WordTest):
    """A test that asks for a list of words and weighs how many of them are named.

    Each expected word is weighed separately. If `s` of the `D + 1` answers about the table and its `D` decoys contain a
    word, all answers have the same chance under the null model to be among these `s`. So the chance that the true
    answer contains the word is `s / (D + 1)`. This chance is higher if the true answer is longer than the others, and
    never lower than for a reader who knows only the topic (`Query.chance`). A word counts -log2 of its chance in bits.
    A list that is too short for a detection is weighed together with the table's other lists of names and values; a
    word that two lists contain counts in the first list.
    """

    pool: ClassVar[str] = "names and values"

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """Weigh how much more often answers name the expected words for the table than for its decoys."""
        asked = len({key for trial in trials_about_table(trials) for key in map(_key, trial.query.expected)})
        words = self.words([trial for trial in trials if self.counts(trial)])
        chances, weights = [chance for _, chance in words], [units(chance) for _, chance in words]
        hits, observed = sum(named for named, _ in words), sum(units(chance) for named, chance in words if named)
        p_value = weighted_tail(weights, chances, observed)
        return Evidence(
            statistic=Statistic(
                name="bits of the named words",
                value=observed / BIT_UNITS,
                expected=sum(weight * chance for weight, chance in zip(weights, chances, strict=True)) / BIT_UNITS,
            ),
            null="answers name each word for the table as often as for its decoys, or as a reader infers it",
            sentence=f"answers name {hits} of {len(words)} {self.unit}, {_explained(sum(chances), p_value)}",
            hits=hits,
            asked=asked,
            answered=len(words),
            p_value=p_value,
            expected_hits=sum(chances),
            interval=clopper_pearson(hits, len(words)) if words else None,
            interval_of="share of the expected words that are named",
        )

    def pooled(self, own: Evidence, together: Evidence) -> Evidence:
        """Return the evidence of one list, with the p-value of all lists of names and values."""
        alone = f"answers name {own.hits} of {own.answered} {self.unit}"
        counted = f"in all lists they name {together.hits} of {together.answered} {self.pool}"
        return replace(
            own,
            statistic=replace(together.measured, name=f"{together.measured.name} in all lists of {self.pool}"),
            p_value=together.p_value,
            sentence=f"{alone}; {counted}, {_explained(together.expected_hits or 0.0, together.p_value or 1.0)}",
        )

    def words(self, trials: Sequence[Trial]) -> list[tuple[bool, float]]:
        """Return for each expected word whether the true answer contains it, and the null model's chance of this.

        A word counts once, in the first true answer that should contain it. It needs a readable decoy that expects it.
        """
        found: dict[str, tuple[bool, float]] = {}
        lengths = {trial.query.id: _length(trial) for trial in trials}
        for trial in trials_about_table(trials):
            decoys = [other for other in trials if other.query.decoy_of == trial.query.id]
            for word in filter(None, trial.query.expected):
                compared = [decoy for decoy in decoys if word in decoy.query.expected]
                if compared and _key(word) not in found:
                    found[_key(word)] = _weighed(word, [trial, *compared], lengths)
        return list(found.values())

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        chances: dict[str, float] = {}
        for query in queries:
            for word, prediction in query.chance.items():
                decoys = sum(other.decoy_of == query.id and word in other.expected for other in queries)
                chances.setdefault(_key(word), max(prediction.surest, 1 / (1 + decoys)))
        least = prod(chances.values())
        best = f"a model named all {len(chances)} of them for this table and none for other data"
        return explain_out_of_reach(self.unit, best, least, level)


def _explained(by_decoys: float, p_value: float) -> str:
    return f"{format_small_number(by_decoys)} expected from answers about decoys ({describe_p_value(p_value)})"


def undeclined(text: str) -> str:
    """Return a text without its clauses that decline: `I have no access to the class labels` names no feature."""
    if not declines(text):
        return text
    return "\n".join(clause for clause in CLAUSE_END.split(text) if not declines(clause))


def trials_about_table(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials about the table, without decoys."""
    return [trial for trial in trials if not trial.query.decoy_of]


def _key(word: str | None) -> str:
    return (word or "").casefold()


def _weighed(word: str, trials: Sequence[Trial], lengths: Mapping[str, int]) -> tuple[bool, float]:
    """Return whether the first trial, the true one, has the word, and its chance; the other trials are decoys."""
    true = trials[0]
    times, length = sum(_names(trial, word) for trial in trials), sum(lengths[trial.query.id] for trial in trials)
    share = max(1 / len(trials), lengths[true.query.id] / length)  # a longer answer contains any word more often
    return _names(true, word), min(1.0, max(true.query.chance[word].surest, times * share))


def _names(trial: Trial, word: str) -> bool:
    return trial.reading is not None and word in trial.reading.right


def _length(trial: Trial) -> int:
    """Return how many different words an answer has, without lines that only announce it."""
    lines = plain(as_read(trial.reply).text).splitlines()
    content = [PREFIX.sub("", line) for line in lines if not line.endswith(":") and not FILLER.match(line)]
    return max(1, len(set(pieces("\n".join(content or lines)))))


def _items(text: str) -> list[str]:
    """Return the texts that may be items: between commas or, if lines explain their items, before the explanation."""
    lines = text.splitlines()
    explained = [EXPLAINED.split(line, maxsplit=1)[0] for line in lines if LIST_LINE.match(line)]
    return explained if len(explained) > 1 else ITEMS.split(text)
