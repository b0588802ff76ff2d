"""Tests 5 and 6 of Ronval et al. 2024, which ask the model for the values of a feature."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from random import Random
from typing import ClassVar

from tabcontam.errors import Skip
from tabcontam.evidence.answering import USUAL_VALUES, WordAnswers
from tabcontam.evidence.base import RONVAL, EvidenceKind, Prompt, PublishedRule, Query
from tabcontam.evidence.checks import draw_until_valid, rendered, select_hidden_words
from tabcontam.evidence.knowledge.decoys import Draft, other_titles, with_decoys
from tabcontam.evidence.knowledge.word_test import WordListTest
from tabcontam.evidence.mixins import WordedTest
from tabcontam.evidence.thresholds import (
    LEAST_FEATURE_VALUES,
    MOST_ASKED_FEATURES,
    PAPERS_FEATURES,
    SHOWN_EXAMPLES,
    VALUE_DECOYS,
)
from tabcontam.groups import grouped
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.row_draws import by_content
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table

MAX_TOKENS = 128
MADE_UP = ("type A", "type B", "type C", "type D")  # categories that reveal nothing
UNIT = "values"
VALUES = WordAnswers(USUAL_VALUES)


@dataclass(frozen=True)
class FeatureValuesInformed(WordedTest, WordListTest):
    """Given the dataset's name, a categorical feature and four rows, the model must name the feature's other values.

    Measures: whether the values of a feature are known. A page that describes the feature is enough to pass.

    Queries: one for each feature with words as values, twenty at most. The first two queries are the paper's, since the
    authors' code asks about two features. They ask about the features that the card names, or about the features with
    the most values. The expected values are those that the four rows neither show nor give away. At least two values
    are expected, since a single value follows from the shown values. In the authors' code, the shown rows and the
    removed values did not match, so that prompts contained answers. Each query has four decoys under other datasets'
    titles. The decoys' rows have only the asked feature. The other features would let a model recognize the dataset,
    and name its values for decoys, too. Two decoys keep the feature's cells, so that answers contain what the shown
    values imply (`9th` next to `10th`). In two decoys the cells are made up, so that answers contain what the feature's
    name implies (`Divorced` for marital-status).

    Null: a value is as likely in an answer about the table as in an answer about its decoys. A value that a reader may
    infer is given a chance of at least one half. Contaminated: answers about this table name more values than the null
    model explains.

    Published rule: Algorithm 1. The table is contaminated if one answer contains an expected value that is no English
    word. If all expected values are English words, one answer must contain all expected values.

    Needs: a feature with 3 to 30 values that are words; four rows that leave at least two of these values unshown; a
    model that generates text, in chat or completion form.

    Cannot show: that any row was seen. On most tables the result is `uninformative`, since two features with few values
    are seldom enough for a detection.

    Source: test 5 of Ronval et al. 2024, section 3.1, where the test is new; Algorithm 1 is from section 3.2.

    Example: four rows of bank, `Values of job: services, technician,` is continued with `blue-collar`.
    """

    id: ClassVar[str] = "feature_values_informed"
    title: ClassVar[str] = "Feature values, informed"
    published = PublishedRule("answers name values that the rows shown do not", 5, source=RONVAL)
    kind: ClassVar[EvidenceKind] = EvidenceKind.MEMORIZATION
    shows_rows: ClassVar[bool] = True
    unit: ClassVar[str] = UNIT
    answering = VALUES

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        queries: list[Query] = []
        reasons: list[str] = []
        for number, feature in enumerate(_features(table, fewest=LEAST_FEATURE_VALUES)):
            try:
                true = replace(self._query(table, serializer, feature, number, rng), paper=number < PAPERS_FEATURES)
            except Skip as skip:
                reasons.append(str(skip))
            else:
                queries += with_decoys(table, true, self._altered(table, serializer, true, rng))
        if not queries:
            raise Skip(reasons[0])
        return queries

    def _query(self, table: Table, serializer: Serializer, feature: str, number: int, rng: Random) -> Query:
        values, cells = sorted(table.distinct(feature)), table.column(feature)
        rows_of = cached_fact(table, ("rows of", feature), lambda: grouped(by_content(table), cells.__getitem__))
        present = [value for value in values if value in rows_of]  # the sample of a large table may lack a rare value

        def draw() -> Query | None:
            # The values to show are drawn first, so that at least two values remain to be named.
            shown = rng.sample(present, min(SHOWN_EXAMPLES, len(values) - 2, len(present)))
            candidates = list(chain.from_iterable(rows_of[value] for value in shown))
            if len(candidates) < SHOWN_EXAMPLES:
                return None
            rows = tuple(rng.sample(candidates, SHOWN_EXAMPLES))
            seen = tuple(dict.fromkeys(str(cells[index]) for index in rows))
            write = partial(self._prompt, table, serializer, feature, rows, seen)
            expected = select_hidden_words((value for value in values if value not in seen), rendered(write()))
            if len(expected) < 2:
                return None
            return Query(f"{self.id}-{number}", write, (feature,), expected, MAX_TOKENS, rows=rows)

        return draw_until_valid(draw, f"four rows give away all values of {feature}, or all but one")

    def _prompt(
        self, table: Table, serializer: Serializer, feature: str, rows: Sequence[int], seen: Sequence[str]
    ) -> Prompt:
        texts = serializer.rows(table.columns, [table.rows[index] for index in rows])
        return self.prompts.feature_values(table.title, feature, texts, seen)

    def _altered(self, table: Table, serializer: Serializer, true: Query, rng: Random) -> list[Draft]:
        """Return decoys of test 5 under other titles: half with the feature's cells, half with made-up cells."""
        (feature,), cells = true.asked, table.column(true.asked[0])
        known = [str(cells[row]) for row in true.rows]
        renamed = dict(zip(dict.fromkeys(known), MADE_UP, strict=False))
        made_up = [renamed[value] for value in known]
        decoys: list[Draft] = []
        for number, title in enumerate(other_titles(table, VALUE_DECOYS, rng)):
            values, rows = (known, true.rows) if number < VALUE_DECOYS // 2 else (made_up, ())
            texts = serializer.rows((feature,), [(value,) for value in values])
            write = partial(self.prompts.feature_values, title, feature, texts, tuple(dict.fromkeys(values)))
            decoys.append((write, rows))
        return decoys


@dataclass(frozen=True)
class FeatureValuesUninformed(WordedTest, WordListTest):
    """Given the dataset's name and a categorical feature, the model must name the feature's values.

    Measures: whether the values of a feature are known. A page that describes the feature is enough to pass.

    Queries: one for each feature with words as values, twenty at most. The first two queries are the paper's, as in the
    authors' code. If the card names a target's codes (`setosa` for 0), one more query asks for the names of these
    codes. Each query has four decoys that ask for the values of the same feature under other datasets' titles. So
    answers to decoys contain what the feature's name implies.

    Null: a value is as likely in an answer about the table as in an answer about its decoys. A value that a reader may
    infer is given a chance of at least one half. Contaminated: answers about this table name more values than the null
    model explains.

    Published rule: Algorithm 1. The table is contaminated if one answer contains an expected value that is no English
    word. If all expected values are English words, one answer must contain all expected values.

    Needs: a feature with 2 to 30 values that are words, and a model that generates text, in chat or completion form.

    Cannot show: that any row was seen. On most tables the result is `uninformative`, since two features with few values
    are seldom enough for a detection.

    Source: test 6 of Ronval et al. 2024, section 3.1, after Bordt et al. 2024; Algorithm 1 is from section 3.2.

    Example: `Dataset: Adult Census Income / Values of income:` is continued with `<=50K, >50K`.
    """

    id: ClassVar[str] = "feature_values_uninformed"
    title: ClassVar[str] = "Feature values, uninformed"
    published = PublishedRule("answers name values of the feature", 6, source=RONVAL)
    kind: ClassVar[EvidenceKind] = EvidenceKind.MEMORIZATION
    unit: ClassVar[str] = UNIT
    answering = VALUES

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        queries: list[Query] = []
        coded = [name for name in table.columns if table.names_of_codes(name)]
        for number, feature in enumerate([*_features(table, fewest=2, enough=bool(coded)), *coded]):
            write = partial(self.prompts.feature_values, table.title, feature, (), ())
            values = table.names_of_codes(feature).values() or table.distinct(feature)
            if expected := select_hidden_words(sorted(values), rendered(write())):
                of_paper = number < PAPERS_FEATURES and feature not in coded
                true = Query(f"{self.id}-{number}", write, (feature,), expected, MAX_TOKENS, of_paper)
                titles = other_titles(table, VALUE_DECOYS, rng)
                decoys = [partial(self.prompts.feature_values, title, feature, (), ()) for title in titles]
                queries += with_decoys(table, true, [(write, ()) for write in decoys])
        if not queries:
            raise Skip("the prompt gives away the values of every categorical feature")
        return queries


def _features(table: Table, fewest: int, enough: bool = False) -> list[str]:
    """Return the features with words as values; for a wide table the card's features, then those with the most values.

    Raises `Skip` if there are none, unless `enough` is true.
    """
    hinted = (table.hints or {}).get("feature_values", ())
    categorical = [name for name in table.columns if table.is_categorical(name) and not table.is_numeric(name)]
    by_values = sorted(categorical, key=lambda name: (-len(table.distinct(name)), name))
    ranked = dict.fromkeys([*(name for name in hinted if name in categorical), *by_values])
    chosen = [name for name in ranked if len(table.distinct(name)) >= fewest][:MOST_ASKED_FEATURES]
    if not chosen and not enough:
        raise Skip(f"no feature has between {fewest} and 30 values that are words")
    return chosen
