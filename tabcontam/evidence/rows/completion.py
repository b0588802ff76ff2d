"""Tests 7 to 9: can the LLM complete rows of the table?

The first queries are the paper's own. The further ones, which give the calibrated rules their power, are about rows of
which the guesser is least sure by what the prompt shows. Examples are drawn without a look at the asked cells; where
they show these all the same, another row is asked, and the guess takes into account that this was not so.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from random import Random
from typing import ClassVar

from tabcontam.errors import Skip
from tabcontam.evidence import prompts
from tabcontam.evidence.base import Kind, Measurement, Prompt, Query, Trial
from tabcontam.evidence.checks import alone_rows, determined_rows, shown_rows
from tabcontam.evidence.knowledge.words import measured
from tabcontam.evidence.rows.rows import OneCellTest, RowTest, without_missing
from tabcontam.guesser.chance import Guess
from tabcontam.guesser.table import POOL, Guessed, guessed, least_sure
from tabcontam.reading.values import completion_line, first_line
from tabcontam.tables import draws
from tabcontam.tables.facts import cached_fact
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table

EXAMPLES = 4
BLOCK = EXAMPLES + 1  # rows that a query of test 8 shows and asks
REPEATS = 5  # the paper's queries of tests 7 and 9
COUNTED = 5  # features of the next row whose cells count
COMPARED = 3  # features that are looked at closely
WORTH = 0.25  # of what the first is unsure by, for a second to be asked
FEATURES = 2  # of them, that the further queries of test 9 are about
GIVE_UP = 50  # rows without fitting examples before a cell is skipped
PARTS = 3  # of a table's rows, one for each test: no two ask about the same row of a large table
ROOM = 3  # times as many rows as are asked have to be in a part; else all of the table's are drawn from
Write = Callable[[int, Sequence[int]], Prompt]  # the prompt about a row beside these examples


@dataclass(frozen=True)
class IncompleteCompletion(RowTest):
    """Given four full rows and one that lacks its last three features, the LLM must complete it.

    Measures: whether the last cells of rows are known to who sees the others. A row test: it can show that rows were
    seen.

    Queries: 45 in all. The paper's are five, for each of which all rows are drawn anew and at random, as in the text;
    forty more ask rows of which the guesser is least sure. A row is asked only if no other row has the shown cells with
    another answer, and no example shows the asked values.

    Null: the answers stay, and the hidden cells are drawn anew from what the guesser makes of the shown cells.
    Contaminated: the cells that are right, those of partly right rows too, are worth more bits than that explains.

    Published rule: Algorithm 2. At least half of the five rows are completed without a fault, as in the authors' last
    code; the text asks for one.

    Needs: four features or more, rows that their first features tell apart, and an LLM that generates text, in chat or
    completion form.

    Cannot show: memory of values that follow from the shown ones by a rule the guesser does not know: an LLM that
    computes them is found too. Where the last features are all but certain it has little power.

    Source: test 7 of Ronval et al. 2024, section 3.1, after the row completion of Bordt et al. 2024 and, for text,
    Golchin and Surdeanu 2023; decided by Algorithm 2, section 3.2.

    Example: `... The Ticket is A/5 21171, The Fare is` goes on with `7.25, The Cabin is , The Embarked is S`.
    """

    id: ClassVar[str] = "incomplete_completion"
    title: ClassVar[str] = "Incomplete completion"
    number: ClassVar[int | None] = 7
    part: ClassVar[int] = 0  # of the rows
    further: ClassVar[int] = 40  # queries besides the paper's
    kind: ClassVar[Kind] = Kind.MEMORIZATION
    shows_rows: ClassVar[bool] = True
    claim: ClassVar[str] = "cut rows were completed with the values of the file"
    whole: ClassVar[str] = "cut rows are right"
    max_tokens: ClassVar[int] = 256
    removed: int = 3

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """The paper's five queries and forty. Raises `Skip` where no row is determined by its shown cells."""
        first = len(table.columns) - self.removed
        if first < 1:
            raise Skip(f"too few features: {self.removed} are asked and one must be shown")
        places = range(first, len(table.columns))
        pool = _pool(table, self.part, first, partial(alone_rows, table, first), REPEATS + self.further)
        asked = table.columns[first:]

        def prompt(row: int, examples: Sequence[int]) -> Prompt:
            cells = table.rows[row]
            return prompts.incomplete_row(
                title=table.title,
                rows=[serializer.row(table.columns, table.rows[index]) for index in examples],
                shown=serializer.row(table.columns[:first], cells[:first]),
                asked=asked,
                prefix=serializer.prefix(table.columns, cells, first),
            )

        cut = _Asked(table, places, prompt, self.max_tokens, guesses_of(table, asked, table.columns[:first], pool))
        candidates = pool if len(pool) >= REPEATS else determined_rows(table, range(first), places)
        queries = _papers(rng, candidates, cut)
        queries += islice(cut.further(rng, pool, self.further), self.further)
        return _numbered(self.id, queries)

    def published_line(self, text: str) -> str:
        """The first line."""
        return first_line(text)

    def judge(self, trials: Sequence[Trial], planned: int) -> Measurement:
        """Detected if at least half of the planned rows are hits."""
        return measured(trials, needed=planned / 2, claim=self.claim)


@dataclass(frozen=True)
class FullCompletion(RowTest):
    """Given the dataset's name, its features and its first four rows, the LLM must write the next row.

    Measures: whether the order and the cells of the file are known. A row test: it can show that rows were seen.

    Queries: 30 in all. The paper's one shows the first four rows of the file; 29 more ask for other places of it, of
    which the guesser, who knows the row before, is least sure. No two show the same row. The test presumes that the
    published order is what the LLM saw, so the rows are those of the file, in its order; the authors' code shuffles
    iris, wine and thyroid. What counts are the five features of which the guesser is least sure.

    Null: the answers stay, and the hidden cells are drawn anew from what the guesser makes of the rows before.
    Contaminated: the cells that are right, those of partly right rows too, are worth more bits than that explains.

    Published rule: Algorithm 2. All values of the paper's one row are right.

    Needs: five rows or more of which the last differs from the four before, in a table that does not list every
    combination of its values, and an LLM that generates text, in chat or completion form.

    Cannot show: memory of rows that were seen in another order, as in a shuffled or sorted copy of the file.

    Source: test 8 of Ronval et al. 2024, section 3.1, after the header test of Bordt et al. 2024; decided by Algorithm
    2, section 3.2.

    Example: the first four rows of iris go on with `The sepal length (cm) is 5.0, The sepal width (cm) is 3.6, ...`.
    """

    id: ClassVar[str] = "full_completion"
    title: ClassVar[str] = "Full completion"
    number: ClassVar[int | None] = 8
    part: ClassVar[int] = 1  # of the rows
    further: ClassVar[int] = 29  # queries besides the paper's
    kind: ClassVar[Kind] = Kind.MEMORIZATION
    shows_rows: ClassVar[bool] = True
    claim: ClassVar[str] = "next rows were written as in the file"
    whole: ClassVar[str] = "next rows are right in all that counts"
    max_tokens: ClassVar[int] = 512

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """The paper's query and 29. Raises `Skip` where every five rows in a row repeat themselves."""
        if cached_fact(table, "enumerates domain", table.enumerates_domain):
            raise Skip("the table lists every combination of its values in order: the next row follows from the rows")
        fitting = cached_fact(
            table, "next rows", lambda: [last for last in self._lasts(table) if self._fit(table, last)]
        )
        if not fitting:
            raise Skip(f"no {EXAMPLES + 1} rows in a row of which the last differs from the others")
        pool = _pool(table, self.part, 0, lambda: fitting, (1 + self.further) * BLOCK)
        counted = least_sure(table, table.columns, COUNTED, previous=True)
        guesses = guessed(table, counted, (), list(dict.fromkeys([*fitting[:1], *pool])), previous=True)
        left = len(fitting) / len(self._lasts(table))

        def prompt(shown: Sequence[int]) -> Prompt:
            rows = [serializer.row(table.columns, table.rows[index]) for index in shown]
            return prompts.next_row(table.title, table.columns, rows)

        def query(last: int) -> Query:
            shown = tuple(range(last - EXAMPLES, last))
            chance = {name: raised(guess, left) for name, guess in guesses[last].cells.items()}
            write, row = partial(prompt, shown), table.rows[last]
            paper = last == EXAMPLES
            return Query("", write, table.columns, row, self.max_tokens, paper, shown, chance=chance)

        paper = [last for last in fitting[:1] if last == EXAMPLES]
        wide = len(table.rows) >= ROOM * (1 + self.further) * BLOCK  # so many that not all places have to be asked
        remainder = rng.randrange(BLOCK) if wide else EXAMPLES  # so no two show the same row
        others = [last for last in pool if last % BLOCK == remainder and last not in paper]
        asked = [*paper, *_unsure_first(rng, others, guesses, self.further)[: self.further]]
        queries = (query(last) for last in asked)
        return _numbered(self.id, (without_missing(query, table) for query in queries))

    def published_line(self, text: str) -> str:
        """The first line, or the second after a short one."""
        return completion_line(text)

    def _lasts(self, table: Table) -> Sequence[int]:
        """Where the asked row may stand: at the paper's place, or so that none of the paper's rows is shown."""
        return (EXAMPLES, *range(EXAMPLES + BLOCK, len(table.rows)))[: len(table.rows) - EXAMPLES]

    def _fit(self, table: Table, last: int) -> bool:
        return table.rows[last] not in table.rows[last - EXAMPLES : last]


@dataclass(frozen=True)
class FeatureCompletion(OneCellTest):
    """Given the dataset's name, features, four random rows and a fifth that lacks one feature, the LLM must name it.

    Measures: whether one cell of a row is known to who sees the others. A row test: it can show that rows were seen.

    Queries: 65 in all. The paper's are five, all rows random and all with different values of the feature, as in the
    text (the authors' code shows no examples and asks the first five rows). The feature is the one of the authors' code
    where it can be asked: it needs five values, and rows whose features up to it fit no other answer, since a base
    model sees no more of the row. So the first column (PassengerId of titanic, in their code) is never asked; the
    feature of most values is asked instead. Sixty more are about the two features, and the rows, of which the guesser
    is least sure; no two about the same row.

    Null: the answers stay, and the hidden cell is drawn anew from what the guesser makes of the row's other cells.
    Contaminated: the values that are right are worth more bits than that explains.

    Published rule: Algorithm 2. One of the five values is right.

    Needs: a feature with five values or more that the features before it leave open, and an LLM that generates text, in
    chat or completion form.

    Cannot show: memory of a value that follows from three or more other columns by a formula (`price`, `x` of
    diamonds): the guesser does not know such laws, and an LLM that computes the value is found too often.

    Source: test 9 of Ronval et al. 2024, section 3.1, after the feature completion of Bordt et al. 2024; decided by
    Algorithm 2, section 3.2.

    Example: `... The Survived is 0, The Pclass is 3, The Name is` goes on with `Braund, Mr. Owen Harris`.
    """

    id: ClassVar[str] = "feature_completion"
    title: ClassVar[str] = "Feature completion"
    number: ClassVar[int | None] = 9
    part: ClassVar[int] = 2  # of the rows
    further: ClassVar[int] = 60  # queries besides the paper's
    kind: ClassVar[Kind] = Kind.MEMORIZATION
    shows_rows: ClassVar[bool] = True
    claim: ClassVar[str] = "removed values were named as in the file"
    whole: ClassVar[str] = "removed values are right"
    max_tokens: ClassVar[int] = 64

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """The paper's five queries and sixty. Raises `Skip` where no feature can be asked."""
        places = {name: place for place, name in enumerate(table.columns)}
        column, candidates = self._feature(table)
        used: set[int] = set()

        def prompt(place: int, row: int, examples: Sequence[int]) -> Prompt:
            cells = table.rows[row]
            others = [index for index in range(len(table.columns)) if index != place]
            return prompts.missing_feature(
                title=table.title,
                features=table.columns,
                rows=[serializer.row(table.columns, table.rows[index]) for index in examples],
                shown=serializer.row([table.columns[i] for i in others], [cells[i] for i in others]),
                asked=table.columns[place],
                prefix=serializer.prefix(table.columns, cells, place),
            )

        def removed(place: int) -> _Asked:
            guesses = self._guesses(table, place)
            return _Asked(table, [place], partial(prompt, place), self.max_tokens, guesses, place, used)

        own = self._pool(table, column)
        queries = _papers(rng, own if len(own) >= REPEATS else candidates, removed(column))
        features = [removed(places[name]) for name in self._unsure_features(table)]
        more = [feature.further(rng, list(feature.guesses), self.further // FEATURES) for feature in features]
        queries += chain.from_iterable([list(islice(queries, self.further // FEATURES)) for queries in more])
        queries += islice(chain.from_iterable(more), REPEATS + self.further - len(queries))
        return _numbered(self.id, queries)

    def published_line(self, text: str) -> str:
        """The first line."""
        return first_line(text)

    def _feature(self, table: Table) -> tuple[int, list[int]]:
        """The column that the paper's queries ask, and the rows in which it can be asked."""
        hinted = (table.hints or {}).get(self.id, ())
        by_values = sorted(table.columns[1:], key=lambda name: (-len(table.distinct(name)), name))
        for name in dict.fromkeys([*(name for name in hinted if name in by_values), *by_values]):
            column = table.columns.index(name)
            if len(table.distinct(name)) > EXAMPLES:
                rows = determined_rows(table, range(column), [column])
                if len(rows) >= REPEATS:
                    return column, rows
        raise Skip(f"no feature has {EXAMPLES + 1} values and rows whose features before it fit no other answer")

    def _unsure_features(self, table: Table) -> Sequence[str]:
        """The features that the further queries ask: of those with enough rows the least sure, all others shown."""

        def find() -> Sequence[str]:
            several = [name for name in table.columns[1:] if len(table.distinct(name)) > EXAMPLES]
            rows = {name: len(alone_rows(table, table.columns.index(name))) for name in several}
            enough = [name for name in several if rows[name] >= self.further // FEATURES]
            names = enough or [name for name in several if rows[name]]
            compared = sorted(least_sure(table, names, COMPARED)) if names else ()
            unsure = {name: self._unsure(table, table.columns.index(name)) for name in compared}
            ranked = sorted(unsure, key=lambda name: -unsure[name])[:FEATURES]
            if sum(rows[name] for name in ranked[:1]) < REPEATS + self.further:
                return ranked  # the first alone has too few rows
            return [name for name in ranked if unsure[name] >= WORTH * unsure[ranked[0]]]

        return cached_fact(table, "unsure features", find)

    def _unsure(self, table: Table, place: int) -> float:
        guesses = self._guesses(table, place).values()
        return sum(guess.unsure for guess in guesses) / len(guesses)

    def _guesses(self, table: Table, place: int) -> Mapping[int, Guessed]:
        shown = [name for name in table.columns if name != table.columns[place]]
        return guesses_of(table, table.columns[place : place + 1], shown, self._pool(table, place))

    def _pool(self, table: Table, place: int) -> list[int]:
        return _pool(table, self.part, place, partial(alone_rows, table, place), REPEATS + self.further)


@dataclass(frozen=True)
class _Asked:
    """The cells that are asked of a row, and how. With `distinct`, no two examples share a cell in that column.

    No row of `used` is asked again.
    """

    table: Table
    places: Sequence[int]
    write: Write
    max_tokens: int
    guesses: Mapping[int, Guessed]
    distinct: int | None = None
    used: set[int] = field(default_factory=set)

    def query(self, rng: Random, row: int, paper: bool) -> Query | None:
        """The query about a row; None where the examples show the asked cells.

        For the paper's queries others are drawn then, which says something about these cells: they have no chance.
        """
        count = min(EXAMPLES, len(self.table.rows) - 1)
        examples = shown_rows(self.table, rng, count, row, lambda _, example: example != row, self.distinct)
        blind = examples is not None and all(self._parted(row, example) for example in examples)
        if paper and not blind:
            examples = shown_rows(self.table, rng, count, row, self._parted, self.distinct)
        if examples is None or not (paper or blind):
            return None
        names = tuple(self.table.columns[place] for place in self.places)
        chance = self._chance(row, examples) if blind and row in self.guesses else {}
        write = partial(self.write, row, examples)
        query = Query("", write, names, self._cells(row), self.max_tokens, paper, (*examples, row), chance=chance)
        return without_missing(query, self.table)

    def further(self, rng: Random, pool: Sequence[int], needed: int) -> Iterator[Query]:
        """Queries about the rows that were not asked yet, the half of them first that the guesser is least sure of."""
        for row in _unsure_first(rng, pool, self.guesses, needed):
            if row not in self.used and (query := self.query(rng, row, paper=False)) is not None:
                self.used.add(row)
                yield query

    def _cells(self, row: int) -> tuple[str | None, ...]:
        cells = self.table.rows[row]
        return tuple(cells[place] for place in self.places)

    def _parted(self, row: int, example: int) -> bool:
        return self._cells(row) != self._cells(example)

    def _chance(self, row: int, examples: Sequence[int]) -> dict[str, Guess]:
        """The guesses, now that the cells are known to be none of the examples'."""
        guesses = self.guesses[row].cells
        beside = list(examples)
        chance = {}
        for number, place in enumerate(self.places, start=1):
            name = self.table.columns[place]
            chance[name] = self._without(guesses[name], name, self._going_on(beside, number))
            beside = [example for example in beside if self.table.rows[example][place] == self.table.rows[row][place]]
        return chance

    def _going_on(self, examples: Sequence[int], asked: int) -> dict[str | None, float]:
        """For the examples' cells in the last of so many asked places: how often rows with them go on as examples do.

        The examples have all cells before it in common.
        """
        begun, whole = _begun(self.table, self.places[:asked]), _begun(self.table, self.places)
        shares: dict[str | None, float] = {}
        for cells in sorted({self._cells(example) for example in examples}, key=repr):
            cell = cells[asked - 1]
            shares[cell] = shares.get(cell, 0.0) + whole[cells] / begun[cells[:asked]]
        return shares

    def _without(self, guess: Guess, name: str, shares: Mapping[str | None, float]) -> Guess:
        """A guess of a cell that cannot go on as rows with these cells do: an upper bound for each value.

        Such a value is likelier too, since the row may go on with it in another way where it cannot with the others; in
        the last place it cannot.
        """
        if not shares:
            return guess
        away = {cell: guess.values.get(cell, 0.0) for cell in shares if cell is not None}
        if any(map(self.table.is_missing, shares)):
            away[""] = max(guess.missing, missing_share(self.table, name))
        left = 1 - min(sum(away.values()), 1.0)
        if left == 1:
            return guess
        last = name == self.table.columns[self.places[-1]]
        gone = {cell: chance * shares.get(cell, 1.0) for cell, chance in away.items()}

        def raised_one(value: str, chance: float) -> float:
            if value not in shares:
                return min(1.0, chance / max(left, chance))
            return chance if last else min(1.0, chance / max(1 - sum(gone.values()) + gone[value], chance))

        values = {value: raised_one(value, chance) for value, chance in guess.values.items()}
        return Guess(values, min(1.0, guess.rest / max(left, guess.rest)), guess.missing)


def _begun(table: Table, places: Sequence[int]) -> Counter[tuple[Cell, ...]]:
    """How many rows have each combination of cells in these places."""
    key = ("begun", *places)
    return cached_fact(
        table, key, lambda: Counter(zip(*(table.column(table.columns[place]) for place in places), strict=True))
    )


def missing_share(table: Table, column: str) -> float:
    """The share of a column's cells that are missing."""
    missing = cached_fact(table, ("missing", column), lambda: sum(map(table.is_missing, table.column(column))))
    return missing / len(table.rows)


def raised(guess: Guess, left: float) -> Guess:
    """A guess in which every value is as much likelier as if the rest of the probability had been ruled out."""
    if left == 1:
        return guess
    values = {value: min(1.0, probability / left) for value, probability in guess.values.items()}
    return Guess(values, min(1.0, guess.rest / left), guess.missing)


def guesses_of(table: Table, asked: Sequence[str], shown: Sequence[str], rows: Sequence[int]) -> Mapping[int, Guessed]:
    """What the guesser makes of these rows; of none, nothing."""
    return guessed(table, asked, shown, rows) if rows else {}


def _pool(table: Table, part: int, place: int, candidates: Callable[[], Sequence[int]], asked: int) -> list[int]:
    """At most POOL candidates, the same for every seed: those of the test's own part, if that has room."""

    def find() -> list[int]:
        wanted = set(candidates())
        mixed = cached_fact(table, "mixed", lambda: _mixed(table))
        own = [row for row in mixed[part::PARTS] if row in wanted]
        if len(own) < ROOM * asked:
            taken = set(own)
            own += [row for row in mixed if row in wanted and row not in taken]
        return own[:POOL]

    return cached_fact(table, ("pool", part, place), find)


def _mixed(table: Table) -> list[int]:
    rows = draws.by_content(table)
    return draws.seeded(table, "row tests").sample(rows, len(rows))


def _unsure_first(rng: Random, pool: Sequence[int], guesses: Mapping[int, Guessed], needed: int) -> list[int]:
    """The pool in random order, the half before the rest that the guesser is least sure of."""
    ranked = sorted(pool, key=lambda row: -guesses[row].unsure)
    half = max(needed, len(ranked) // 2)
    first, rest = ranked[:half], ranked[half:]
    return [*rng.sample(first, len(first)), *rng.sample(rest, len(rest))]


def _papers(rng: Random, candidates: Sequence[int], asked: _Asked) -> list[Query]:
    """The paper's queries about random candidates. Raises `Skip` where none can be made."""
    queries: list[Query] = []
    for row in rng.sample(candidates, min(len(candidates), REPEATS + GIVE_UP)):
        if (query := asked.query(rng, row, paper=True)) is not None:
            asked.used.add(row)
            queries.append(query)
        if len(queries) == REPEATS:
            return queries
    if not queries:
        raise Skip(
            "no row has shown cells that fit no other answer"
            if not candidates
            else "every draw of examples shows the asked values"
        )
    return queries


def _numbered(test: str, queries: Iterable[Query]) -> list[Query]:
    return [replace(query, id=f"{test}-{number}") for number, query in enumerate(queries)]
