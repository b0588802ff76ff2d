"""Tests 1 and 2 of Ronval et al. 2024, which ask the model for the names of the features."""

from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import ClassVar

from tabcontam.errors import Skip
from tabcontam.evidence.base import RONVAL, PublishedRule, Query
from tabcontam.evidence.checks import draw_until_valid, rendered, select_hidden_words
from tabcontam.evidence.knowledge.decoys import Draft, features_of, listed_cards, other_titles, title_of, with_decoys
from tabcontam.evidence.knowledge.word_test import WordListTest
from tabcontam.evidence.mixins import WordedTest
from tabcontam.evidence.thresholds import LEAST_HIDDEN_NAMES
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table

MAX_TOKENS = 256
UNIT = "names of features"


@dataclass(frozen=True)
class FeatureListInformed(WordedTest, WordListTest):
    """Given the dataset's name and some of its features, the model must name its other features.

    Measures: whether the names of the table's features are known. A page that describes the dataset is enough to pass.

    Queries: three. Each query shows five random features, as in the authors' code, or fewer features if the table has
    few: at least two names must stay hidden. A name is not expected if the prompt gives it away (`sepal width` if the
    prompt shows `sepal length` and `petal width`). The draws are seeded. Each query has four decoys. Two decoys show
    the same features under another dataset's title, so that answers contain what these features imply. Two decoys show
    the features of another dataset under that dataset's title. Decoys are made of the cards that list the features of
    their dataset.

    Null: a name is as likely in an answer about the table as in an answer about its decoys. A name that a reader may
    infer from the topic is given a chance of at least one half. Contaminated: answers about this table name more
    features than the null model explains.

    Published rule: Algorithm 1. The table is contaminated if one answer contains an expected name that is no English
    word. If all expected names are English words, one answer must contain all expected names.

    Needs: three features or more, and a model that generates text, in chat or completion form.

    Cannot show: that any row was seen. Names that follow from the topic count little, but a model that infers nearly
    all names is detected. If few names are expected, even an answer with all expected names is no detection, and the
    result is `uninformative`.

    Source: test 1 of Ronval et al. 2024, section 3.1; Algorithm 1 is from section 3.2. The feature list without the
    given names is from Bordt et al. 2024.

    Example: `Dataset: Adult Census Income / Features: sex, race, income,` is continued with `fnlwgt`.
    """

    id: ClassVar[str] = "feature_list_informed"
    title: ClassVar[str] = "Feature list, informed"
    published = PublishedRule("answers name features of the table that the prompt does not", 1, source=RONVAL)
    unit: ClassVar[str] = UNIT
    repeats: int = 3
    shown: int = 5
    decoys: int = 4

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        count = min(self.shown, len(table.columns) - 2)
        if count < 1:
            raise Skip("too few features: a prompt must show one and leave two to name")

        def draw() -> tuple[Query, list[str]] | None:
            shown = rng.sample(sorted(table.columns), count)
            write = partial(self.prompts.feature_list, table.title, shown)
            expected = select_hidden_words((name for name in table.columns if name not in shown), rendered(write()))
            return None if len(expected) < LEAST_HIDDEN_NAMES else (Query("", write, (), expected, MAX_TOKENS), shown)

        asked: list[Query] = []
        for number in range(self.repeats):
            true, shown = draw_until_valid(draw, "the features that are shown give the names of all others away")
            titles = other_titles(table, self.decoys // 2, rng)
            lists = [(title, shown) for title in titles]
            for card in listed_cards(table, self.decoys - len(titles), rng):
                names = features_of(card)
                lists.append((title_of(card), rng.sample(names, min(len(shown), len(names)))))
            drafts: list[Draft] = [(partial(self.prompts.feature_list, title, names), ()) for title, names in lists]
            asked += with_decoys(table, replace(true, id=f"{self.id}-{number}"), drafts)
        return asked


@dataclass(frozen=True)
class FeatureListUninformed(WordedTest, WordListTest):
    """Given only the dataset's name, the model must name the dataset's features.

    Measures: whether the names of the table's features are known. A page that describes the dataset is enough to pass.

    Queries: one query, with six decoys that ask about the features of other datasets. Names that the dataset's own name
    gives away are not expected. A changed title of the same dataset is no decoy, since the changed title still means
    this dataset.

    Null: a name is as likely in an answer about the table as in an answer about its decoys. A name that a reader may
    infer from the topic is given a chance of at least one half. Contaminated: answers about this table name more
    features than the null model explains.

    Published rule: Algorithm 1. The table is contaminated if the answer contains an expected name that is no English
    word. If all expected names are English words, the answer must contain all expected names.

    Needs: a name for the table that a model may know, and a model that generates text, in chat or completion form.

    Cannot show: that any row was seen. If few names are expected, even an answer with all expected names is no
    detection, and the result is `uninformative`.

    Source: test 2 of Ronval et al. 2024, section 3.1, after Bordt et al. 2024; Algorithm 1 is from section 3.2.

    Example: `Dataset: Titanic / Features:` is continued with `PassengerId, Survived, Pclass`.
    """

    id: ClassVar[str] = "feature_list_uninformed"
    title: ClassVar[str] = "Feature list, uninformed"
    published = PublishedRule("answers name features of the table", 2, source=RONVAL)
    unit: ClassVar[str] = UNIT
    decoys: int = 6

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        write = partial(self.prompts.feature_list, table.title, ())
        expected = select_hidden_words(table.columns, rendered(write()))
        if not expected:
            raise Skip("the dataset's name gives the names of all features away")
        true = Query(f"{self.id}-0", write, (), expected, MAX_TOKENS)
        titles = other_titles(table, self.decoys, rng)
        return with_decoys(table, true, [(partial(self.prompts.feature_list, title, ()), ()) for title in titles])
