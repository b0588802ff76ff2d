"""The choice of the rows and cells that tests 7 to 9 ask, and of the example rows that a prompt shows.

Example rows are drawn at random. If one has the same cells as the asked ones, another row is asked instead. So the
examples reveal that the hidden cells differ from theirs; the baseline's predictions are corrected for this.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import sqrt
from random import Random

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.table_predictions import RowPrediction
from tabcontam.baseline.thresholds import QUERY_POOL
from tabcontam.errors import Skip
from tabcontam.evidence.base import BetPlace, Prompt, Query
from tabcontam.evidence.thresholds import (
    LEAST_PART_FACTOR,
    MOST_DRAWS_OF_A_QUERY,
    MOST_FRUITLESS_ROWS,
    PUBLISHED_COMPLETIONS,
    ROW_PARTS,
    SHOWN_EXAMPLES,
)
from tabcontam.tables import row_draws
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.table import Cell, Table

Write = Callable[[int, Sequence[int]], Prompt]  # writes the prompt about a row and these examples


@dataclass(frozen=True)
class HiddenCells:
    """The cells of rows that are hidden and asked, and how they are asked."""

    table: Table
    places: Sequence[int]
    write: Write
    max_tokens: int
    predictions: Mapping[int, RowPrediction]
    distinct: int | None = None  # a column in which no two examples have the same cell
    used: set[int] = field(default_factory=set)  # rows that are not asked again
    examples: int = SHOWN_EXAMPLES  # rows that are shown in addition to the asked one

    def query(self, rng: Random, row: int, paper: bool) -> Query | None:
        """Return the query about a row, or None if an example has the asked cells.

        A query of the paper gets other examples instead of None. Their choice depends on the hidden cells, which makes
        predictions of these invalid. So the query has no `chance` and is not weighed.
        """
        examples = self._examples(rng, row, parted=False)
        blind = examples is not None and all(self._parted(row, example) for example in examples)
        if paper and not blind:
            examples = self._examples(rng, row, parted=True)
        if examples is None or not (paper or blind):
            return None
        names = tuple(self.table.columns[place] for place in self.places)
        chance = self._chance(row, examples) if blind and row in self.predictions else {}
        write = partial(self.write, row, examples)
        shown = (*examples, row)
        bet = BetPlace(self.predictions[row].unsure if chance else 0.0)
        cells = self._cells(row)
        query = Query("", write, names, cells, self.max_tokens, paper, shown, chance=chance, row=row, bet=bet)
        return without_missing(query, self.table)

    def papers(self, rng: Random, candidates: Sequence[int]) -> list[Query]:
        """Return the paper's queries about random candidates. Raises `Skip` if none can be made."""
        queries: list[Query] = []
        for row in rng.sample(candidates, min(len(candidates), PUBLISHED_COMPLETIONS + MOST_FRUITLESS_ROWS)):
            if len(queries) < PUBLISHED_COMPLETIONS and (query := self.query(rng, row, paper=True)) is not None:
                self.used.add(row)
                queries.append(query)
        if not candidates:
            raise Skip("the shown cells determine the answer in no row")
        if not queries:
            raise Skip("every draw of examples shows the asked values")
        return queries

    def further(self, rng: Random, pool: Sequence[int], needed: int) -> Iterator[Query]:
        """Yield queries about rows that were not asked yet, in the order of `unsure_first`."""
        for row in unsure_first(rng, pool, self.predictions, needed):
            if row not in self.used and (query := self.query(rng, row, paper=False)) is not None:
                self.used.add(row)
                yield query

    def _cells(self, row: int) -> tuple[str | None, ...]:
        return tuple(self.table.rows[row][place] for place in self.places)

    def _examples(self, rng: Random, row: int, parted: bool) -> list[int] | None:
        """Return random rows to show as examples, or None if many draws give too few.

        An example never equals the asked row. If `parted`, it does not have the asked cells. If `distinct` is a column,
        all examples have different cells in it, and none is missing.
        """
        rows, place, order = self.table.rows, self.distinct, row_draws.by_content(self.table)
        chosen: list[int] = []
        for _ in range(MOST_DRAWS_OF_A_QUERY):
            index = order[rng.randrange(len(order))]
            rival = index in chosen or rows[index] == rows[row] or (parted and not self._parted(row, index))
            if place is not None and not rival:
                cell = rows[index][place]
                rival = self.table.is_missing(cell) or any(rows[other][place] == cell for other in chosen)
            if not rival:
                chosen.append(index)
            if len(chosen) == min(self.examples, len(rows) - 1):
                return chosen
        return None

    def _parted(self, row: int, example: int) -> bool:
        return self._cells(row) != self._cells(example)

    def _chance(self, row: int, examples: Sequence[int]) -> dict[str, CellPrediction]:
        """Return the predictions of a row's hidden cells; values that an example shows together are ruled out."""
        predictions, rows = self.predictions[row].cells, self.table.rows
        matching, chance = list(examples), {}
        for number, place in enumerate(self.places, start=1):
            name = self.table.columns[place]
            chance[name] = self._without(predictions[name], name, self._going_on(matching, number))
            matching = [example for example in matching if rows[example][place] == rows[row][place]]
        return chance

    def _going_on(self, examples: Sequence[int], asked: int) -> dict[str | None, float]:
        """Return the share to rule out for each cell that an example has in the last of the first `asked` places.

        The share is taken among the table's rows that have the example's cells in these places: those that equal an
        example in all asked places. In the places before, all `examples` have the same cells. A share from n rows is
        raised by its standard error, sqrt(share (1 - share) / n), because ruling out a value makes other values
        likelier.
        """
        begun, whole = _begun(self.table, self.places[:asked]), _begun(self.table, self.places)
        like: Counter[str | None] = Counter()
        rows: dict[str | None, int] = {}
        for cells in {self._cells(example) for example in examples}:
            like[cells[asked - 1]] += whole[cells]
            rows[cells[asked - 1]] = begun[cells[:asked]]
        shares = {cell: like[cell] / rows[cell] for cell in sorted(rows, key=repr)}
        return {cell: min(1.0, share + sqrt(share * (1 - share) / rows[cell])) for cell, share in shares.items()}

    def _without(self, prediction: CellPrediction, name: str, shares: Mapping[str | None, float]) -> CellPrediction:
        """Return a prediction after the shares of cells in `shares` are ruled out. All chances are upper bounds.

        P(v) is the predicted chance of a value v, and s(v) its share that is ruled out. A value that no example has
        gets P(v) / (1 - sum of P(u) s(u) over all u), by Bayes' rule. For a value of an example, only the shares of
        other values are ruled out in this formula, which makes its chance too large. In the last place, an example's
        value is ruled out completely, and its chance stays unchanged.
        """
        marks = [share for cell, share in shares.items() if self.table.is_missing(cell)]
        known = [cell for cell in shares if cell is not None and not self.table.is_missing(cell)]
        gone = {cell: prediction.values.get(cell, 0.0) * shares[cell] for cell in known}
        if marks:
            column = self.table.column(name)
            missing = cached_fact(self.table, ("missing", name), lambda: sum(map(self.table.is_missing, column)))
            gone[""] = max(prediction.missing, missing / len(column)) * max(marks)
        away = sum(gone.values())
        if not away:
            return prediction
        last = name == self.table.columns[self.places[-1]]

        def raised_one(value: str, chance: float) -> float:
            if value not in gone:
                return min(1.0, chance / max(1 - away, chance))
            return chance if last else min(1.0, chance / max(1 - away + gone[value], chance))

        values = {value: raised_one(value, chance) for value, chance in prediction.values.items()}
        left = 1 - away
        rest = min(1.0, prediction.rest / max(left, prediction.rest))
        coarser = tuple(one.likelier(left) for one in prediction.coarser)
        return replace(prediction, values=values, rest=rest, coarser=coarser)


def _begun(table: Table, places: Sequence[int]) -> Counter[tuple[Cell, ...]]:
    """Return how many rows have each combination of cells in these places."""
    key = ("begun", *places)
    columns = (table.column(table.columns[place]) for place in places)
    return cached_fact(table, key, lambda: Counter(zip(*columns, strict=True)))


def rule_out(prediction: CellPrediction, left: float) -> CellPrediction:
    """Return a prediction with all chances divided by `left`, the probability that is not ruled out."""
    if left == 1:
        return prediction
    values = {value: min(1.0, probability / left) for value, probability in prediction.values.items()}
    coarser = tuple(one.likelier(left) for one in prediction.coarser)
    return replace(prediction, values=values, rest=min(1.0, prediction.rest / left), coarser=coarser)


def pool_of(table: Table, part: int, place: int, candidates: Callable[[], Sequence[int]], asked: int) -> list[int]:
    """Return at most QUERY_POOL candidates, the same for every seed, to query the cells from column `place` on.

    The rows are divided among the row tests. All candidates come from the test's own share, number `part`, if it has
    enough for `asked` queries.
    """

    def find() -> list[int]:
        wanted = set(candidates())
        rows = row_draws.by_content(table)
        mixed = cached_fact(table, "mixed", lambda: row_draws.seeded(table, "row tests").sample(rows, len(rows)))
        own = [row for row in mixed[part::ROW_PARTS] if row in wanted]
        if len(own) < LEAST_PART_FACTOR * asked:
            taken = set(own)
            own += [row for row in mixed if row in wanted and row not in taken]
        return own[:QUERY_POOL]

    return cached_fact(table, ("pool", part, place), find)


def unsure_first(rng: Random, pool: Sequence[int], predictions: Mapping[int, RowPrediction], needed: int) -> list[int]:
    """Return the pool in random order: first the half that the baseline predicts worst, then the other half."""
    ranked = sorted(pool, key=lambda row: -predictions[row].unsure)
    half = max(needed, len(ranked) // 2)
    first, rest = ranked[:half], ranked[half:]
    return [*rng.sample(first, len(first)), *rng.sample(rest, len(rest))]


def without_missing(query: Query, table: Table) -> Query:
    """Return the query with None for each expected value that is a missing mark of the table."""
    return replace(query, expected=tuple(None if table.is_missing(cell) else cell for cell in query.expected))
