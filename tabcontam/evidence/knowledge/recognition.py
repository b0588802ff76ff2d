"""Tests 3 and 4 of Ronval et al. 2024, which ask the model to recognize the dataset."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import ClassVar, NamedTuple

from tabcontam.errors import Skip
from tabcontam.evidence.answering import DECOY, TWIN, NameAnswers, of_twin
from tabcontam.evidence.base import READ, RONVAL, Evidence, EvidenceKind, Prompt, PublishedRule, Query, Statistic, Trial
from tabcontam.evidence.checks import draw_until_valid, given_away, rendered
from tabcontam.evidence.knowledge.decoys import Draft, decoy, features_of, is_english, listed_cards, other_features
from tabcontam.evidence.knowledge.strangers import mixed, strangers
from tabcontam.evidence.knowledge.word_test import WordTest, trials_about_table
from tabcontam.evidence.mixins import WordedTest
from tabcontam.evidence.number_wording import describe_p_value, explain_out_of_reach
from tabcontam.evidence.thresholds import (
    KEPT_SHARE,
    LISTED_SHARE,
    MIXED_DECOYS,
    RECOGNITION_DECOYS,
    RECOGNITION_QUERIES,
    SHOWN_EXAMPLES,
)
from tabcontam.groups import grouped
from tabcontam.reading.answer_readers import NOTHING
from tabcontam.reading.answer_text import answer_line
from tabcontam.reading.languages import FILLER
from tabcontam.reading.word_decision import WordDecision, WordSearch, decide_names, english, pieces, stands_in
from tabcontam.statistics.exact_statistics import any_dependence, clopper_pearson, hypergeometric_tail
from tabcontam.tables.row_draws import by_content
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table
from tabcontam.tables.twin_tables import twin_rows

GIVEN_AWAY = "the rows' own words hold the dataset's name"


class DecoyComparison(NamedTuple):
    """The answers about the table, and the answers about its decoys of the kind `name`."""

    name: str
    true: Sequence[Trial]
    decoys: Sequence[Trial]

    @property
    def p_value(self) -> float:
        """The p-value of Fisher's exact test (one-sided) that true answers name the dataset more often than others."""
        hits, both = sum(map(_names, self.true)), len(self.true) + len(self.decoys)
        return hypergeometric_tail(hits, len(self.true), hits + self.named, both) if self.true else 1.0

    @property
    def expected(self) -> float:
        """The expected number of true answers that name the dataset, if these name it as often as all answers do."""
        both = len(self.true) + len(self.decoys)
        return (sum(map(_names, self.true)) + self.named) * len(self.true) / both

    @property
    def named(self) -> int:
        """The number of answers about decoys that name the dataset."""
        return sum(map(_names, self.decoys))


class RecognitionTest(WordedTest, WordTest):
    """A test that reads a dataset's name and is decided by Algorithm 1; names of other datasets do not count.

    The test compares how often the dataset is named in answers about it and in answers about its decoys (Fisher's exact
    test, one-sided). An answer that declines counts as one that does not name it.
    """

    unit: ClassVar[str] = "answers"
    answering = NameAnswers()
    decoy_kinds: ClassVar[tuple[str, ...]] = ("decoys",)  # each kind is compared with the true queries separately

    def decision(self, query: Query, text: str, is_in: WordSearch) -> WordDecision:
        """Return Algorithm 1's decision on the dataset's names; our own decision ignores names of other datasets."""
        names = [name for name in query.expected if name is not None]
        text = _struck(text, query.not_expected) if is_in is stands_in else text
        return decide_names(text, names, english(), is_in)

    def named(self, query: Query, text: str) -> tuple[str, ...]:
        """Return the dataset's names in a text from which names of other datasets are removed."""
        return super().named(query, _struck(text, query.not_expected))

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """Weigh how much more often the dataset is named for its own features or rows than for its decoys."""
        counting = [trial for trial in trials if self.counts(trial)]
        true = trials_about_table(counting)
        by_kind = grouped((one for one in counting if one.query.decoy_of), lambda one: self.decoy_kind(one.query))
        compared = [DecoyComparison(kind, true, by_kind[kind]) for kind in self.decoy_kinds if kind in by_kind]
        true = true if compared else []  # without decoys there is no comparison
        hits = sum(map(_names, true))
        p_value = any_dependence([one.p_value for one in compared]) if compared else 1.0
        expected = max((one.expected for one in compared), default=0.0)
        clauses = [f"{one.named} of {len(one.decoys)} about {one.name}" for one in compared]
        counted = ", and ".join(clauses) or "0 of 0 about decoys"
        suffix = f" ({describe_p_value(p_value)}{self._distinguished(compared, level)})"
        return Evidence(
            statistic=Statistic(name="answers that name the dataset", value=hits, expected=expected),
            null="the dataset is as likely to be named for a decoy",
            sentence=f"{hits} of {len(true)} answers name the dataset, and {counted}{suffix}",
            hits=hits,
            asked=len(trials_about_table(trials)),
            answered=sum(trial.readable for trial in true),
            p_value=p_value,
            expected_hits=expected,
            interval=clopper_pearson(hits, len(true)) if true else None,
            interval_of="share of answers that name the dataset",
        )

    def decoy_kind(self, query: Query) -> str:
        """Return the kind of a decoy, one of `decoy_kinds`."""
        return self.decoy_kinds[0]

    def _distinguished(self, compared: Sequence[DecoyComparison], level: float) -> str:
        """Return the end of a sentence: the kinds of decoys from which true answers differ; "" if there is one kind."""
        differing = [one.name for one in compared if len(compared) * one.p_value <= level]
        if len(self.decoy_kinds) < 2 or not differing:
            return ""
        missed = [one.name for one in compared if one.name not in differing]
        return f": distinguished from {' and from '.join(differing)}" + "".join(f", not from {name}" for name in missed)

    def counts(self, trial: Trial) -> bool:
        """Return whether an answer has text. An answer that declines counts as one that does not name the dataset."""
        has_text = trial.reply.state in READ and bool(trial.reply.text.strip())
        return trial.readable or (trial.reading is not None and has_text)

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        true = sum(not query.decoy_of for query in queries)
        decoys = Counter(self.decoy_kind(query) for query in queries if query.decoy_of)
        if not decoys:
            return "there are no decoys to compare with"
        least = any_dependence([hypergeometric_tail(true, true, true, true + count) for count in decoys.values()])
        best = f"a model named the dataset in all {true} answers about it and in none about decoys"
        return explain_out_of_reach("questions", best, least, level)

    def is_answer(self, text: str) -> bool:
        """Return whether a text may be a name: any text except an announcement of one."""
        line = answer_line(text)
        return bool(line) and not FILLER.match(line) and not NOTHING.match(line)


@dataclass(frozen=True)
class RecognitionFeatures(RecognitionTest):
    """Given the list of features, the model must name the dataset.

    Measures: whether the model recognizes the dataset by its features. A page that lists them is enough to pass.

    Queries: eight, with the features in random order. The paper's query lists all features. Seven more queries list two
    thirds of the features. Features that contain one of the dataset's names (`diluted_wines` for Wine) are left out:
    they caused the only contaminated result published for the model T0. There are ten decoys. Five decoys list other
    datasets' features. Five decoys list a third of this dataset's features among other datasets' features. Plain
    English names are taken first for this third, since the topic implies such names. Decoys are made of the cards that
    list the features of their dataset.

    Null: an answer names the dataset as often for a decoy as for its own features (Fisher's exact test). Contaminated:
    answers name the dataset more often for its own features than for decoys.

    Published rule: Algorithm 1. The table is contaminated if the paper's query is answered with the dataset's name or
    an alias.

    Needs: two features or more that do not contain the dataset's name, and a model that generates text, in chat or
    completion form. A FILE counts as recognized only if an answer contains the name given with `--name`.

    Cannot show: that any row was seen. A reader can infer the name from features that reveal their topic
    (`wine_color`); decoys that mix features of several datasets account for this only if they list such features.

    Source: test 3 of Ronval et al. 2024, section 3.1, where the test is new; Algorithm 1 is from section 3.2.

    Example: `PassengerId, Survived, Pclass, ... / Dataset:` is continued with `Titanic`.
    """

    id: ClassVar[str] = "recognition_features"
    title: ClassVar[str] = "Recognition by features"
    published = PublishedRule("answers name the dataset from its features", 3, source=RONVAL)

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        features = sorted(nameless_features(table))
        if _shows_name(table, self.prompts.dataset_of_features(features)):
            raise Skip("the features' names together give the dataset's name away")
        count = max(2, round(len(features) * LISTED_SHARE))
        lists = [rng.sample(features, size) for size in (len(features), *[count] * (RECOGNITION_QUERIES - 1))]
        own = dict.fromkeys(map(tuple, lists))  # few features make few different lists, and no list is asked twice
        others = self._other_lists(table, features, count, rng)
        true, decoys = (
            [(partial(self.prompts.dataset_of_features, names), ()) for names in each] for each in (own, others)
        )
        return _paired(self.id, table, true, {DECOY: decoys})

    def _other_lists(self, table: Table, features: Sequence[str], count: int, rng: Random) -> list[tuple[str, ...]]:
        """Return lists that are not the table's: other cards' features, then these mixed with some of the table's."""
        strangers = other_features(table)
        lists = [
            rng.sample(names, min(count, len(names)))
            for card in listed_cards(table, RECOGNITION_DECOYS // 2, rng)
            if (names := [name for name in features_of(card) if name in strangers])
        ]
        for _ in range(RECOGNITION_DECOYS - len(lists)):
            kept = _plain_first(features, rng)[: round(count * KEPT_SHARE)]
            mixed = [*kept, *rng.sample(strangers, min(count - len(kept), len(strangers)))]
            lists.append(rng.sample(mixed, len(mixed)))
        hidden_name = (names for names in lists if not _shows_name(table, self.prompts.dataset_of_features(names)))
        return list(dict.fromkeys(map(tuple, hidden_name)))


@dataclass(frozen=True)
class RecognitionExamples(RecognitionTest):
    """Given four random rows, the model must name the dataset.

    Measures: whether the model recognizes the dataset by its rows: by their features and values, or by the exact rows.

    Queries: eight: the paper's query and seven more queries. The paper's text draws the rows at random; the authors'
    code shows the first five rows. Features that contain the dataset's name are left out. Rows that give the name away
    are drawn again. There are two kinds of decoys. Ten decoys show rows of other tables, which are shipped with
    scikit-learn or made up for this test. In three of these ten decoys, some features are replaced by a third of this
    table's features, plain English names first. Ten other decoys show rows of a twin: a table with the same columns,
    which are shuffled within the classes of the target.

    Null: an answer names the dataset as often for a decoy as for its own rows. Fisher's exact test compares true rows
    with each kind of decoys, and the smaller p-value is doubled. Contaminated: answers name the dataset more often for
    true rows. The result's sentence reports from which kinds of decoys true rows differ. Rows of other tables have
    other features and values; rows of a twin have the same values in other combinations.

    Published rule: Algorithm 1. The table is contaminated if the paper's query is answered with the dataset's name or
    an alias.

    Needs: a model that generates text, in chat or completion form. A table that lists all combinations of its values
    (car) has no twin, and is compared only with other tables. A FILE is compared only with its twin, since the name of
    a FILE (`customers`) may follow from the names of its features.

    Cannot show: which rows were seen. A model that recognizes the dataset by its features also names it for the twin's
    rows.

    Source: test 4 of Ronval et al. 2024, section 3.1, where the test is new; Algorithm 1 is from section 3.2.

    Example: four rows `The PassengerId is 1, ...`, then `Dataset:` is continued with `Titanic`.
    """

    id: ClassVar[str] = "recognition_examples"
    title: ClassVar[str] = "Recognition by examples"
    published = PublishedRule("answers name the dataset from its rows", 4, source=RONVAL)
    kind: ClassVar[EvidenceKind] = EvidenceKind.MEMORIZATION
    shows_rows: ClassVar[bool] = True
    decoy_kinds: ClassVar[tuple[str, ...]] = ("rows of other tables", "rows of its twin")

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        features = nameless_features(table)
        rows = [(index, table.rows[index]) for index in by_content(table)]
        try:
            others = twin_rows(table)
        except Skip:
            others = []

        def draw(rows: Rows) -> Draft | None:
            shown = rng.sample(rows, min(SHOWN_EXAMPLES, len(rows)))
            write = partial(self._prompt, table, serializer, features, [row for _, row in shown])
            return None if _shows_name(table, write()) else (write, tuple(index for index, _ in shown))

        true = [draw_until_valid(partial(draw, rows), GIVEN_AWAY) for _ in range(RECOGNITION_QUERIES)]
        twins = [
            draw_until_valid(partial(draw, others), GIVEN_AWAY) for _ in range(RECOGNITION_DECOYS if others else 0)
        ]
        # A small table has few different draws, and no draw is asked twice.
        asked, compared = ({write(): (write, rows) for write, rows in drafts}.values() for drafts in (true, twins))
        # The name of a FILE may follow from its features: `customers`.
        elsewhere = [] if table.private else self._of_other_tables(table, serializer, features, rng)
        return _paired(self.id, table, list(asked), {DECOY: elsewhere, TWIN: list(compared)})

    def decoy_kind(self, query: Query) -> str:
        return self.decoy_kinds[of_twin(query)]

    def _of_other_tables(
        self, table: Table, serializer: Serializer, features: Sequence[str], rng: Random
    ) -> list[Draft]:
        """Return decoys with rows of other tables. The last ones have some of the table's features."""
        others = strangers(table)
        drafts: list[Draft] = []
        for number in range(RECOGNITION_DECOYS):
            other, shown = others[number % len(others)], list[int]()
            if number >= RECOGNITION_DECOYS - MIXED_DECOYS:
                kept = _plain_first(sorted(features), rng)[: max(1, round(len(features) * KEPT_SHARE))]
                other, shown = mixed(table, other, kept, SHOWN_EXAMPLES, rng)
            texts = serializer.rows(other.columns, other.drawn(SHOWN_EXAMPLES, rng))
            write = partial(self.prompts.dataset_of_rows, texts)
            if not _shows_name(table, write()):
                drafts.append((write, tuple(shown)))
        return drafts

    def _prompt(
        self, table: Table, serializer: Serializer, features: Sequence[str], rows: Sequence[Sequence[Cell]]
    ) -> Prompt:
        places = [table.columns.index(name) for name in features]
        return self.prompts.dataset_of_rows(
            serializer.rows(features, [[row[place] for place in places] for row in rows])
        )


Rows = Sequence[tuple[int, tuple[Cell, ...]]]


def _plain_first(features: Sequence[str], rng: Random) -> list[str]:
    """Return the features in random order, plain English ones first: a reader can infer these from the topic."""
    return sorted(rng.sample(list(features), len(features)), key=lambda name: not is_english(name))


def _paired(
    test: str, table: Table, true: Sequence[Draft], decoys: Mapping[str, Sequence[Draft]], *, max_tokens: int = 16
) -> list[Query]:
    """Return the true queries, each followed by its share of the decoys of each kind. The first is the paper's."""
    queries: list[Query] = []
    for number, (write, rows) in enumerate(true):
        query = Query(f"{test}-{number}", write, (), table.names, max_tokens, number == 0, rows, table.not_names)
        queries.append(query)
        for word, drafts in decoys.items():
            shared = enumerate(drafts[number :: len(true)])
            queries += [decoy(query, place, other, shown, word) for place, (other, shown) in shared]
    return queries


def _shows_name(table: Table, prompt: Prompt) -> bool:
    return any(_gives_away(name, rendered(prompt)) for name in table.names)


def _gives_away(name: str, text: str) -> bool:
    """Return whether a text gives a name away, also in the singular: `customer_id` does so for customers."""
    return given_away(name, text) or (name.endswith("s") and given_away(name[:-1], text))


def _struck(text: str, others: Sequence[str]) -> str:
    """Return a text without the names of other data, in any spelling: `boston_housing` is Boston Housing."""
    for other in filter(pieces, others):
        spelled = r"[\W_]*".join(map(re.escape, pieces(other)))
        text = re.sub(rf"(?<![^\W_]){spelled}(?![^\W_])", " ", text, flags=re.IGNORECASE)
    return text


def _names(trial: Trial) -> bool:
    return trial.reading is not None and bool(trial.reading.right)


def nameless_features(table: Table) -> list[str]:
    """Return the features that contain none of the dataset's names. Raises `Skip` if there are fewer than two."""
    features = [feature for feature in table.columns if not any(_gives_away(name, feature) for name in table.names)]
    if len(features) < 2:
        raise Skip("the features' names hold the dataset's name")
    return features
