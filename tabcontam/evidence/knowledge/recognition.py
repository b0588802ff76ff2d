"""Tests 3 and 4: does the LLM recognize the dataset?"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import ClassVar

from tabcontam.errors import Skip
from tabcontam.evidence.answering import NameAnswers
from tabcontam.evidence.base import READ, RONVAL, Evidence, Kind, Prompt, PublishedRule, Query, Trial
from tabcontam.evidence.checks import drawn, given_away, rendered
from tabcontam.evidence.knowledge.decoys import Draft, decoy, features_of, is_english, listed_cards, other_features
from tabcontam.evidence.knowledge.words import WordTest, true_ones
from tabcontam.evidence.sentences import out_of_reach, stated
from tabcontam.reading.answers import FILLER, NOTHING
from tabcontam.reading.reading import answer_line
from tabcontam.reading.words import Dictionary, Found, WordDecision, decide_names, pieces, stands_in
from tabcontam.tables.draws import by_content
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table
from tabcontam.tables.twins import twin_rows

MAX_TOKENS = 16
EXAMPLES = 4
TRUE = 8
DECOYS = 10
LISTED = 2 / 3  # of the features that a list shows
KEPT = 1 / 3  # of an altered list that is the table's own
GIVEN_AWAY = "the rows' own words hold the dataset's name"


class RecognitionTest(WordTest):
    """Reads a name and decides it by Algorithm 1 on the dataset's names; names of other datasets do not count.

    Weighed, the answers that name the dataset are counted among those about it and among those about its decoys
    (Fisher's exact test, one-sided). An answer that declines names nothing, and counts on both sides.
    """

    worded: ClassVar[bool] = True
    unit: ClassVar[str] = "answers"
    answering = NameAnswers()

    def decision(self, query: Query, text: str, dictionary: Dictionary, found: Found) -> WordDecision:
        """Algorithm 1 on the dataset's names; ours after the names of others are struck out."""
        names = [name for name in query.expected if name is not None]
        text = _struck(text, query.not_expected) if found is stands_in else text
        return decide_names(text, names, dictionary, found)

    def named(self, query: Query, text: str) -> tuple[str, ...]:
        """The dataset's names that stand in a text, after those of others are struck out."""
        return super().named(query, _struck(text, query.not_expected))

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """How much oftener the dataset is named for its own features or rows than for its decoys'."""
        from tabcontam.statistics.exact import clopper_pearson, hypergeometric_tail

        asked = len(true_ones(trials))
        counting = [trial for trial in trials if self.counts(trial)]
        true = true_ones(counting)
        if len(true) == len(counting):
            true = []  # without decoys nothing is compared
        hits, named = sum(map(_names, true)), sum(map(_names, counting))
        p_value = hypergeometric_tail(hits, len(true), named, len(counting)) if true else 1.0
        expected = named * len(true) / len(counting) if counting else 0.0
        counted = f"{hits} of {len(true)} answers name the dataset, and {named - hits} of {len(counting) - len(true)}"
        return Evidence(
            statistic="answers that name the dataset",
            value=hits,
            null="the dataset is as likely to be named for a decoy",
            sentence=f"{counted} about decoys ({stated(p_value)})",
            hits=hits,
            asked=asked,
            answered=sum(trial.readable for trial in true),
            p_value=p_value,
            expected=expected,
            expected_hits=expected,
            interval=clopper_pearson(hits, len(true)) if true else None,
            interval_of="the share of answers that name the dataset",
        )

    def counts(self, trial: Trial) -> bool:
        """Any answer that was read: one that declines names nothing, which is as good as another name."""
        said = trial.reply.state in READ and bool(trial.reply.text.strip())
        return trial.readable or (trial.reading is not None and said)

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        """Whether even a name said for every true query, and for no decoy, would be too little."""
        from tabcontam.statistics.exact import hypergeometric_tail

        true = sum(not query.decoy_of for query in queries)
        if true == len(queries):
            return "there are no decoys to compare with"
        least = hypergeometric_tail(true, true, true, len(queries))
        if least <= level:
            return None
        best = f"an LLM named the dataset in all {true} answers about it and in none about decoys"
        return out_of_reach("questions", best, least, level)

    def is_answer(self, text: str) -> bool:
        """Any text may be a name, but not an announcement of one."""
        line = answer_line(text)
        return bool(line) and not FILLER.match(line) and not NOTHING.match(line)


@dataclass(frozen=True)
class RecognitionFeatures(RecognitionTest):
    """Given the list of features, the LLM must name the dataset.

    Measures: whether the features, by themselves, are known as those of this dataset. A page that lists them is enough.

    Queries: eight. The paper's lists all features, seven more two thirds of them, each in an order that is drawn.
    Features that hold one of the dataset's names (`diluted_wines` for Wine) are left out: they alone gave T0 its only
    published detection. Of ten decoys half list other datasets' features; half a third of this one's, plain English
    ones first, that is those which its topic implies, among features of others. Decoys are made of those cards whose
    features are known without their files.

    Null: the dataset is as likely to be named for a decoy as for its own features (Fisher's exact test). Contaminated:
    the answers name it oftener for the true lists.

    Published rule: Algorithm 1. The answer to the paper's query holds the dataset's name or an alias.

    Needs: two features or more that do not hold the dataset's name, and an LLM that generates text, in chat or
    completion form. A FILE counts as recognized by the name behind `--name` alone.

    Cannot show: that any row was seen. Feature names that say their topic (`wine_color`) let a reader guess the name;
    the mixed decoys answer for that as far as they hold such names.

    Source: test 3 of Ronval et al. 2024, section 3.1, and new there; decided by Algorithm 1, section 3.2.

    Example: `PassengerId, Survived, Pclass, ... / Dataset:` goes on with `Titanic`.
    """

    id: ClassVar[str] = "recognition_features"
    title: ClassVar[str] = "Recognition by features"
    published = PublishedRule("answers name the dataset from its features", 3, source=RONVAL)

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Eight lists, with their decoys. Raises `Skip` where fewer than two features do not hold the name."""
        features = sorted(nameless_features(table))
        if _shows_name(table, self.prompts.dataset_of_features(features)):
            raise Skip("the features' names together give the dataset's name away")
        count = max(2, round(len(features) * LISTED))
        lists = [rng.sample(features, len(features)), *(rng.sample(features, count) for _ in range(TRUE - 1))]
        # Of few features there are few lists: none is asked twice.
        writers = [partial(self.prompts.dataset_of_features, names) for names in dict.fromkeys(map(tuple, lists))]
        others = self._other_lists(table, features, count, rng)
        decoys = [partial(self.prompts.dataset_of_features, names) for names in others]
        return _paired(self.id, table, [(write, ()) for write in writers], [(write, ()) for write in decoys])

    def _other_lists(self, table: Table, features: Sequence[str], count: int, rng: Random) -> list[tuple[str, ...]]:
        """Lists that are not the table's: other cards' features, then some of its own among those."""
        strangers = other_features(table)
        lists = [
            rng.sample(names, min(count, len(names)))
            for card in listed_cards(table, DECOYS // 2, rng)
            if (names := [name for name in features_of(card) if name in strangers])
        ]
        for _ in range(DECOYS - len(lists)):
            plain_first = sorted(rng.sample(features, len(features)), key=lambda name: not is_english(name))
            kept = plain_first[: round(count * KEPT)]
            mixed = [*kept, *rng.sample(strangers, min(count - len(kept), len(strangers)))]
            lists.append(rng.sample(mixed, len(mixed)))
        hidden_name = (names for names in lists if not _shows_name(table, self.prompts.dataset_of_features(names)))
        return list(dict.fromkeys(map(tuple, hidden_name)))


@dataclass(frozen=True)
class RecognitionExamples(RecognitionTest):
    """Given four random rows, the LLM must name the dataset.

    Measures: whether rows are known as those of this dataset, beyond what their features and values give away.

    Queries: eight, one of the paper's and seven more. The paper's text draws the rows at random, its code takes the
    first five. Features that hold the name are left out, and rows that give it away are drawn again. Ten decoys show
    rows of a twin: a table of the same schema whose columns are shuffled within the classes of the target. So a name
    counts for the rows that it is said of, and not for their features.

    Null: the dataset is as likely to be named for rows of the twin as for its own (Fisher's exact test). Contaminated:
    the answers name it oftener for true rows.

    Published rule: Algorithm 1. The answer to the paper's query holds the dataset's name or an alias.

    Needs: a table that has a twin (car lists all combinations of its values and has none, so that there is nothing to
    compare with), and an LLM that generates text, in chat or completion form.

    Cannot show: which rows were seen. An LLM that knows the dataset by its features names it for the twin's rows too,
    and is not found: that is what the decoys are for.

    Source: test 4 of Ronval et al. 2024, section 3.1, and new there; decided by Algorithm 1, section 3.2.

    Example: four rows `The PassengerId is 1, ...`, then `Dataset:` goes on with `Titanic`.
    """

    id: ClassVar[str] = "recognition_examples"
    title: ClassVar[str] = "Recognition by examples"
    published = PublishedRule("answers name the dataset from its rows", 4, source=RONVAL)
    answering = NameAnswers(of_twin=True)
    kind: ClassVar[Kind] = Kind.MEMORIZATION
    shows_rows: ClassVar[bool] = True

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Eight draws of rows, with their decoys. Raises `Skip` where every draw of rows gives the name away."""
        features = nameless_features(table)
        rows = [(index, table.rows[index]) for index in by_content(table)]
        try:
            others = twin_rows(table)
        except Skip:
            others = []

        def draw(rows: Rows) -> Draft | None:
            shown = rng.sample(rows, min(EXAMPLES, len(rows)))
            write = partial(self._prompt, table, serializer, features, [row for _, row in shown])
            return None if _shows_name(table, write()) else (write, tuple(index for index, _ in shown))

        true = [drawn(partial(draw, rows), GIVEN_AWAY) for _ in range(TRUE)]
        decoys = [drawn(partial(draw, others), GIVEN_AWAY) for _ in range(DECOYS if others else 0)]
        # Of a small table there are few draws: none is asked twice.
        asked, compared = ({write(): (write, rows) for write, rows in drafts} for drafts in (true, decoys))
        return _paired(self.id, table, list(asked.values()), list(compared.values()))

    def _prompt(
        self, table: Table, serializer: Serializer, features: Sequence[str], rows: Sequence[Sequence[Cell]]
    ) -> Prompt:
        places = [table.columns.index(name) for name in features]
        return self.prompts.dataset_of_rows(
            serializer.rows(features, [[row[place] for place in places] for row in rows])
        )


Rows = Sequence[tuple[int, tuple[Cell, ...]]]


def _paired(test: str, table: Table, true: Sequence[Draft], decoys: Sequence[Draft]) -> list[Query]:
    """The true queries, of which the first is the paper's, each followed by its share of the decoys."""
    queries: list[Query] = []
    for number, (write, rows) in enumerate(true):
        query = Query(f"{test}-{number}", write, (), table.names, MAX_TOKENS, number == 0, rows, table.not_names)
        shared = decoys[number :: len(true)]
        queries += [query, *(decoy(query, place, other, shown) for place, (other, shown) in enumerate(shared))]
    return queries


def _shows_name(table: Table, prompt: Prompt) -> bool:
    text = rendered(prompt)
    return any(_gives_away(name, text) for name in table.names)


def _gives_away(name: str, text: str) -> bool:
    """Whether a text gives a name away, in the plural or not: `customer_id` does that with customers."""
    return given_away(name, text) or (name.endswith("s") and given_away(name[:-1], text))


def _struck(text: str, others: Sequence[str]) -> str:
    """A text without names of other data, however their words are separated: `boston_housing` too."""
    for other in filter(pieces, others):
        spelled = r"[\W_]*".join(map(re.escape, pieces(other)))
        text = re.sub(rf"(?<![^\W_]){spelled}(?![^\W_])", " ", text, flags=re.IGNORECASE)
    return text


def _names(trial: Trial) -> bool:
    return trial.reading is not None and bool(trial.reading.right)


def nameless_features(table: Table) -> list[str]:
    """The features whose names do not hold one of the dataset's names. Raises `Skip` where fewer than two are left."""
    features = [feature for feature in table.columns if not any(_gives_away(name, feature) for name in table.names)]
    if len(features) < 2:
        raise Skip("the features' names hold the dataset's name")
    return features
