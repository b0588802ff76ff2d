"""The feature names test of Bordt et al.: the model must name the features that follow the first ones of the file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import ClassVar

from tabcontam.errors import Skip
from tabcontam.evidence.base import PublishedRule, Query, Reading, Reply
from tabcontam.evidence.checks import rendered, select_hidden_words
from tabcontam.evidence.knowledge.decoys import Draft, features_of, listed_cards, other_titles, title_of, with_decoys
from tabcontam.evidence.knowledge.feature_lists import MAX_TOKENS, UNIT
from tabcontam.evidence.knowledge.word_test import WordListTest
from tabcontam.evidence.mixins import WordedTest
from tabcontam.evidence.thresholds import LEAST_HIDDEN_NAMES
from tabcontam.extensions.papers.memcheck.csv_row_tests import BORDT, MARKS
from tabcontam.extensions.papers.thresholds import ROWS_PER_SHOWN_NAME
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table


@dataclass(frozen=True)
class FeatureNames(WordedTest, WordListTest):
    """Given the dataset's name and the first quarter of its features, the model must name its other features.

    Measures: whether the names of the table's features are known. A page that describes the dataset is enough to pass.

    Queries: one query, which shows the first quarter of the file's features, and four decoys. Two decoys show the same
    features under another dataset's title. Two decoys show the first features of another dataset under that dataset's
    title. A name that the prompt gives away is not expected.

    Null: a name is as likely in an answer about the table as in an answer about its decoys. A name that a reader may
    infer from the topic is given a chance of at least one half. Contaminated: answers about this table name more
    features than the null model explains.

    Published rule: no rule that gives a verdict. The package tabmemcheck prints the answer and the names, and the
    reader compares the two. Here an answer counts if it contains all names that were asked.

    Needs: three features or more, and a model that generates text, in chat or completion form.

    Cannot show: that any row was seen. Names that follow from the topic count little. If few names are expected, even
    an answer with all expected names is no detection, and the result is `uninformative`.

    Source: the feature names test of Bordt et al. 2024, section 3; tabmemcheck 0.1.6, `feature_names_test`.

    Example: `Dataset: Adult Census Income / Features: age, workclass, fnlwgt,` is continued with `education`.
    """

    id: ClassVar[str] = "feature_names"
    follows = "feature_completion"
    published = PublishedRule("answers hold every name that follows", share=None, source=BORDT)
    own_marks: ClassVar[frozenset[str]] = MARKS
    on_request: ClassVar[bool] = True
    unit: ClassVar[str] = UNIT
    decoys: int = 4

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        shown = self._shown(table.columns)
        write = partial(self.prompts.feature_list, table.title, shown)
        expected = select_hidden_words(table.columns[len(shown) :], rendered(write()))
        if len(expected) < LEAST_HIDDEN_NAMES:
            raise Skip("the features that are shown give the names of all others away, or all but one")
        titles = other_titles(table, self.decoys // 2, rng)
        lists = [(title, shown) for title in titles]
        lists += [
            (title_of(card), self._shown(features_of(card)))
            for card in listed_cards(table, self.decoys - len(titles), rng)
        ]
        drafts: list[Draft] = [(partial(self.prompts.feature_list, title, names), ()) for title, names in lists]
        true = Query(f"{self.id}-0", write, (), expected, MAX_TOKENS)
        return with_decoys(table, true, drafts)

    def read(self, query: Query, reply: Reply, serializer: Serializer) -> Reading:
        reading = super().read(query, reply, serializer)
        return replace(reading, paper_hit=query.paper and set(query.expected) <= set(reading.right))

    def _shown(self, names: Sequence[str]) -> list[str]:
        return list(names[: max(1, len(names) // ROWS_PER_SHOWN_NAME)])
