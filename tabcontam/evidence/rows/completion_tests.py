"""Tests 7 to 9 of Ronval et al. 2024, which ask the model to complete rows of the table.

The first queries are the paper's own. Further queries, about the rows that are hardest to predict, give the calibrated
rules their power.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from random import Random
from typing import ClassVar, NamedTuple

from tabcontam.baseline.table_predictions import RowPrediction, least_sure, predict_rows
from tabcontam.errors import Skip
from tabcontam.evidence.base import RONVAL, BetPlace, Prompt, PublishedRule, Query
from tabcontam.evidence.checks import alone_rows, determined_rows
from tabcontam.evidence.mixins import WordedTest
from tabcontam.evidence.rows.answer_length import answer_tokens
from tabcontam.evidence.rows.hidden_cells import HiddenCells, pool_of, rule_out, unsure_first, without_missing
from tabcontam.evidence.rows.row_test import OneCellTest, RowTest
from tabcontam.evidence.thresholds import (
    FITTED_FEATURES,
    FURTHER_FEATURES,
    FURTHER_NEXT_ROWS,
    LEAST_OPEN_BITS,
    LEAST_PART_FACTOR,
    LEAST_SECOND_FEATURE_SHARE,
    MOST_COUNTED_FEATURES,
    MOST_FITTED_FEATURES,
    NEXT_ROW_PART,
    PUBLISHED_COMPLETIONS,
    SHOWN_EXAMPLES,
)
from tabcontam.reading.value_decision import completion_line
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.known_rows import known_rows
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table

BLOCK = SHOWN_EXAMPLES + 1  # rows of a query of test 8: those shown and the asked one


@dataclass(frozen=True)
class IncompleteCompletion(WordedTest, RowTest):
    """Given four full rows and one without its last three features, the model must complete that row.

    Measures: whether a model that sees the first cells of a row knows the last cells. This row test can show that rows
    were seen.

    Queries: 35 queries. Five queries are the paper's: all their rows are drawn at random, as in the paper's text.
    Thirty more queries ask about the rows that the baseline predicts worst. A row is asked only if its shown cells
    determine the answer among all rows, and if none of the four full rows has the asked values.

    Null: the model's answers are kept, and the hidden cells are drawn again from the baseline's prediction, given the
    shown cells. Contaminated: the right cells, also in rows with wrong cells, are worth more bits than the null model
    explains.

    Published rule: Algorithm 2. The table is contaminated if at least half of the five rows are completed without an
    error, as in the last version of the authors' code. The paper's text requires one such row.

    Needs: four features or more; rows that their first features identify; a model that generates text, in chat or
    completion form.

    Cannot show: memory of values that follow from the shown values by a rule that the baseline does not know: a model
    that computes such values is detected, too. If the last features are easy to predict, the test has little power.

    Source: test 7 of Ronval et al. 2024, section 3.1, after the row completion of Bordt et al. 2024 and, for text,
    Golchin and Surdeanu 2023; Algorithm 2 is from section 3.2.

    Example: `... The Ticket is A/5 21171, The Fare is` is continued with `7.25, The Cabin is , The Embarked is S`.
    """

    id: ClassVar[str] = "incomplete_completion"
    recorded_forms: ClassVar[Mapping[str, str]] = {"incomplete_completion_single": "Incomplete completion, single"}
    published = PublishedRule("cut rows were completed with the values of the file", 7, share=0.5, source=RONVAL)
    holds: ClassVar[bool] = True
    part: ClassVar[int] = 0  # number of the part of the rows that is asked
    further: ClassVar[int] = 30  # queries in addition to the paper's
    whole: ClassVar[str] = "cut rows are right"
    max_tokens: ClassVar[int] = 256
    removed: int = 3

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        first = len(table.columns) - self.removed
        if first < 1:
            raise Skip(f"too few features: the test asks {self.removed} and shows one")
        places = range(first, len(table.columns))
        pool = pool_of(table, self.part, first, partial(alone_rows, table, first), PUBLISHED_COMPLETIONS + self.further)
        asked = table.columns[first:]

        def prompt(row: int, examples: Sequence[int]) -> Prompt:
            cells = table.rows[row]
            return self.prompts.incomplete_row(
                title=table.title,
                rows=serializer.rows(table.columns, [table.rows[index] for index in examples]),
                shown=serializer.row(table.columns[:first], cells[:first]),
                asked=asked,
                prefix=serializer.prefix(table.columns, cells, first),
            )

        room = answer_tokens(table, serializer, asked, self.max_tokens)
        cut = HiddenCells(table, places, prompt, room, predict_rows(table, asked, table.columns[:first], pool))
        candidates = pool if len(pool) >= PUBLISHED_COMPLETIONS else determined_rows(table, range(first), places)
        queries = cut.papers(rng, candidates)
        queries += islice(cut.further(rng, pool, self.further), self.further)
        return _numbered(self.id, queries)


@dataclass(frozen=True)
class FullCompletion(WordedTest, RowTest):
    """Given the dataset's name, its features and its first four rows, the model must write the next row.

    Measures: whether the order and the cells of the file are known. This row test can show that rows were seen.

    Queries: 60 queries, fewer for a table of less than 300 rows. One query is the paper's and shows the first four rows
    of the file. 59 more queries ask about the places that the baseline predicts worst from the row before. No two
    queries show the same row. The test presumes that the model saw the published order, so the rows have the order of
    the file; the authors' code shuffles iris, wine and thyroid. Only eight features count: those that the baseline
    predicts worst.

    Null: the model's answers are kept, and the hidden cells are drawn again from the baseline's prediction, given the
    rows before. Contaminated: the right cells, also in rows with wrong cells, are worth more bits than the null model
    explains.

    Published rule: Algorithm 2. The table is contaminated if all values of the row in the paper's query are right.

    Needs: five successive rows with a last row unlike the four rows before it; a table that does not list every
    combination of its values; a model that generates text, in chat or completion form.

    Cannot show: memory of rows that were seen in another order, as in a shuffled or sorted copy of the file.

    Source: test 8 of Ronval et al. 2024, section 3.1, after the header test of Bordt et al. 2024; Algorithm 2 is from
    section 3.2.

    Example: four rows of iris are continued with `The sepal length (cm) is 5.0, The sepal width (cm) is 3.6, ...`.
    """

    id: ClassVar[str] = "full_completion"
    published = PublishedRule("next rows were written as in the file", 8, source=RONVAL)
    holds: ClassVar[bool] = True
    further: ClassVar[int] = FURTHER_NEXT_ROWS
    whole: ClassVar[str] = "next rows are right in every counted cell"
    max_tokens: ClassVar[int] = 512

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        fitting, pool, predictions, left = next_rows(table)
        room = answer_tokens(table, serializer, table.columns, self.max_tokens)

        def prompt(shown: Sequence[int]) -> Prompt:
            rows = serializer.rows(table.columns, [table.rows[index] for index in shown])
            return self.prompts.next_row(table.title, table.columns, rows)

        def query(last: int) -> Query:
            shown = tuple(range(last - SHOWN_EXAMPLES, last))
            chance = {name: rule_out(prediction, left) for name, prediction in predictions[last].cells.items()}
            write, row, bet = partial(prompt, shown), table.rows[last], BetPlace(predictions[last].unsure)
            paper = last == SHOWN_EXAMPLES
            return Query("", write, table.columns, row, room, paper, shown, chance=chance, row=last, bet=bet)

        paper = [last for last in fitting[:1] if last == SHOWN_EXAMPLES]
        # a table of so many rows need not be asked in every place
        wide = len(table.rows) >= LEAST_PART_FACTOR * (1 + self.further) * BLOCK
        remainder = rng.randrange(BLOCK) if wide else SHOWN_EXAMPLES  # no two queries show the same row
        others = [last for last in pool if last % BLOCK == remainder and last not in paper]
        asked = [*paper, *unsure_first(rng, others, predictions, self.further)[: self.further]]
        queries = (query(last) for last in asked)
        return _numbered(self.id, (without_missing(query, table) for query in queries))

    def published_line(self, text: str) -> str:
        """Return the first line, or the second one if the first is short."""
        return completion_line(text)


class RemovedValueTest(OneCellTest):
    """A test that asks for a removed value of a row: the choice of its features and rows."""

    part: ClassVar[int] = 2  # number of the part of the rows that is asked
    further: ClassVar[int] = 40  # queries in addition to the paper's
    whole: ClassVar[str] = "removed values are right"
    max_tokens: ClassVar[int] = 64

    def _feature(self, table: Table) -> tuple[int, list[int]]:
        """Return the column that the paper's queries ask about, and the rows in which it can be asked."""
        hinted = (table.hints or {}).get(self.id, ())
        by_values = sorted(table.columns[1:], key=lambda name: (-len(table.distinct(name)), name))
        for name in dict.fromkeys([*(name for name in hinted if name in by_values), *by_values]):
            column = table.columns.index(name)
            if len(table.distinct(name)) > SHOWN_EXAMPLES:
                rows = determined_rows(table, range(column), [column])
                if len(rows) >= PUBLISHED_COMPLETIONS:
                    return column, rows
        several = f"{SHOWN_EXAMPLES + 1} values"
        raise Skip(f"no feature has {several}, and rows whose features before it allow one value alone")

    def _unsure_features(self, table: Table) -> Sequence[str]:
        """Return the features that further queries ask about: the hardest to predict of those with enough rows."""

        def find() -> Sequence[str]:
            several = [name for name in table.columns[1:] if len(table.distinct(name)) > SHOWN_EXAMPLES]
            rows = {name: len(alone_rows(table, table.columns.index(name))) for name in several}
            enough = [name for name in several if rows[name] >= self.further // FURTHER_FEATURES]
            names = enough or [name for name in several if rows[name]]
            unsure = self._unsure(table, names)
            ranked = sorted(unsure, key=lambda name: -unsure[name])[:FURTHER_FEATURES]
            if sum(rows[name] for name in ranked[:1]) < PUBLISHED_COMPLETIONS + self.further:
                return ranked  # the first feature alone has too few rows
            return [name for name in ranked if unsure[name] >= LEAST_SECOND_FEATURE_SHARE * unsure[ranked[0]]]

        return cached_fact(table, "unsure features", find)

    def _unsure(self, table: Table, names: Sequence[str]) -> dict[str, float]:
        """Return the average surprisal in bits of the true cell, for each feature for which a baseline is trained.

        A baseline is trained for the three features that seem hardest to predict, and then for three more at a time
        while fewer than two features have half a bit.
        """
        unsure: dict[str, float] = {}
        most = min(MOST_FITTED_FEATURES, len(names) + FITTED_FEATURES - 1)
        for count in range(FITTED_FEATURES, most + 1, FITTED_FEATURES):
            for name in sorted(set(least_sure(table, names, count)) - set(unsure)):
                row_predictions = self._predictions(table, table.columns.index(name)).values()
                unsure[name] = sum(prediction.unsure for prediction in row_predictions) / len(row_predictions)
            if sum(bits >= LEAST_OPEN_BITS for bits in unsure.values()) >= FURTHER_FEATURES:
                break
        return unsure

    def _predictions(self, table: Table, place: int) -> Mapping[int, RowPrediction]:
        shown = [name for name in table.columns if name != table.columns[place]]
        return predict_rows(table, table.columns[place : place + 1], shown, self._pool(table, place))

    def _pool(self, table: Table, place: int) -> list[int]:
        return pool_of(table, self.part, place, partial(alone_rows, table, place), PUBLISHED_COMPLETIONS + self.further)


@dataclass(frozen=True)
class FeatureCompletion(WordedTest, RemovedValueTest):
    """Given the dataset's name, features, four random rows and a fifth without a value, the model must name the value.

    Measures: whether a model that sees a row's other cells knows one cell. This row test can show that rows were seen.

    Queries: 45 queries. Five queries are the paper's: their rows are random and all have different values of the
    feature, as in the paper's text. (The authors' code shows no examples and asks the first five rows.) The asked
    feature is that of the authors' code if it can be asked. A feature can be asked if it has five values, and if there
    are rows in which the features before it determine the answer: a base model sees only the features before it. So the
    first column (PassengerId of titanic in the authors' code) is never asked. If the feature of the authors' code
    cannot be asked, the feature with the most values is asked instead. Forty more queries ask about the two features
    and the rows that the baseline predicts worst. No two queries ask about the same row.

    Null: the model's answers are kept, and the hidden cell is drawn again from the baseline's prediction, given the
    row's other cells. Contaminated: the right values are worth more bits than the null model explains.

    Published rule: Algorithm 2. The table is contaminated if one of the five values is right.

    Needs: a feature with five values or more; rows in which the features before it determine the answer; a model that
    generates text, in chat or completion form.

    Cannot show: memory of values that follow from the shown values. The baseline knows the rules that it finds in other
    rows; a model that knows another rule is detected, too.

    Source: test 9 of Ronval et al. 2024, section 3.1, after the feature completion of Bordt et al. 2024; Algorithm 2 is
    from section 3.2.

    Example: `... The Survived is 0, The Pclass is 3, The Name is` is continued with `Braund, Mr. Owen Harris`.
    """

    id: ClassVar[str] = "feature_completion"
    published = PublishedRule("removed values were named as in the file", 9, source=RONVAL)
    holds: ClassVar[bool] = True

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        places = {name: place for place, name in enumerate(table.columns)}
        column, candidates = self._feature(table)
        used: set[int] = set()

        def prompt(place: int, row: int, examples: Sequence[int]) -> Prompt:
            cells = table.rows[row]
            others = [index for index in range(len(table.columns)) if index != place]
            return self.prompts.missing_feature(
                title=table.title,
                features=table.columns,
                rows=serializer.rows(table.columns, [table.rows[index] for index in examples]),
                shown=serializer.alone([table.columns[i] for i in others], [cells[i] for i in others]),
                asked=table.columns[place],
                prefix=serializer.prefix(table.columns, cells, place),
            )

        def removed(place: int) -> HiddenCells:
            predictions = self._predictions(table, place)
            room = answer_tokens(table, serializer, table.columns[place : place + 1], self.max_tokens)
            return HiddenCells(table, [place], partial(prompt, place), room, predictions, place, used)

        own = self._pool(table, column)
        queries = removed(column).papers(rng, own if len(own) >= PUBLISHED_COMPLETIONS else candidates)
        features = [removed(places[name]) for name in self._unsure_features(table)]
        each = self.further // FURTHER_FEATURES
        more = [feature.further(rng, list(feature.predictions), each) for feature in features]
        queries += chain.from_iterable([list(islice(queries, each)) for queries in more])
        queries += islice(chain.from_iterable(more), PUBLISHED_COMPLETIONS + self.further - len(queries))
        return _numbered(self.id, queries)


class NextRows(NamedTuple):
    """The rows that can be asked, given the rows before them, and the baseline's predictions of these rows.

    `fitting` has all rows that differ from the four before, and `pool` those from which queries are made. `left` is the
    share of places whose row differs from the four before.
    """

    fitting: Sequence[int]
    pool: Sequence[int]
    predictions: Mapping[int, RowPrediction]
    left: float


def next_rows(table: Table) -> NextRows:
    """Return the next rows of a table that a test may ask. Raises `Skip` if there are none."""
    if table.enumerates_domain:
        raise Skip("the table lists every combination of its values in order: the next row follows from this order")
    rows, lasts = table.rows, _lasts(table)
    new = (last for last in lasts if rows[last] not in rows[last - SHOWN_EXAMPLES : last])
    fitting = cached_fact(table, "next rows", lambda: list(new))
    if not fitting:
        raise Skip(f"the last of every {SHOWN_EXAMPLES + 1} successive rows repeats another one of them")
    pool = pool_of(table, NEXT_ROW_PART, 0, lambda: fitting, (1 + FURTHER_NEXT_ROWS) * BLOCK)
    counted = least_sure(table, table.columns, MOST_COUNTED_FEATURES, before=True)
    predictions = predict_rows(table, counted, (), list(dict.fromkeys([*fitting[:1], *pool])), before=True)
    return NextRows(fitting, pool, predictions, len(fitting) / len(lasts))


def _lasts(table: Table) -> Sequence[int]:
    """Return the places that test 8 may ask: the paper's, and those whose query shows no row of the paper's query.

    A place is left out if the model may know its row or the next row, since a row resembles the rows before and after.
    """
    every, known = (SHOWN_EXAMPLES, *range(SHOWN_EXAMPLES + BLOCK, len(table.rows))), known_rows(table)
    places = every[: len(table.rows) - SHOWN_EXAMPLES]
    if table.whole is not None:
        after = (*table.rows_before[1:], 0)  # 0 if the row that follows is unknown
        late = (place for place in places if table.rows_before[place] >= SHOWN_EXAMPLES)
        places = tuple(place for place in late if after[place] or not known)
    return [place for place in places if not known & {place, place + 1}] if known else places


def _numbered(test: str, queries: Iterable[Query]) -> list[Query]:
    return [replace(query, id=f"{test}-{number}") for number, query in enumerate(queries)]
