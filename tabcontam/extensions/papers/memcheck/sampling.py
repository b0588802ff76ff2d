"""The sampling test of Bordt et al.: the model draws rows without seeing any, and these are compared with the table."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from random import Random
from typing import ClassVar

from tabcontam.errors import Skip
from tabcontam.evidence.base import (
    READ,
    Capability,
    Evidence,
    EvidenceKind,
    Family,
    Prompt,
    PublishedRule,
    Query,
    Reading,
    Reply,
    ReplyState,
    Statistic,
    Test,
    Trial,
)
from tabcontam.evidence.checks import check_comparable
from tabcontam.evidence.number_wording import format_small_number
from tabcontam.evidence.prompts import ask
from tabcontam.evidence.rows.answer_length import answer_tokens
from tabcontam.evidence.thresholds import LEAST_DIFFERENT_ROWS
from tabcontam.extensions.papers.answers_of_several_rows import RememberedRows, cells_of
from tabcontam.extensions.papers.memcheck.csv_row_tests import (
    BORDT,
    MARKS,
    NUMBERED,
    cell_key,
    csv_serializer,
    cuts,
    dataset_in_prompt,
    without_counts,
)
from tabcontam.extensions.papers.task.packed_table import carried_table, packed
from tabcontam.extensions.papers.thresholds import MOST_ROW_CHANCE, SAMPLED_ROWS, SAMPLING_SEEDS, SAMPLING_TEMPERATURE
from tabcontam.reading.answer_text import declines, plain, unlabelled
from tabcontam.reading.numbers import is_number
from tabcontam.tables.cached_facts import table_fact
from tabcontam.tables.known_rows import keys_of, not_known
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table

Row = tuple[Cell, ...]


@dataclass(frozen=True)
class SampledRowsRule(PublishedRule):
    """The rule that counts draws that are rows of the table; a row that is drawn again counts again."""

    def hits(self, trials: Sequence[Trial]) -> int:
        return _counted(trials).rows


@dataclass(frozen=True)
class Sampling(Test):
    """Given the dataset's name and its features alone, the model must write down a row, 25 times at a temperature.

    Measures: how many of the rows that the model draws are rows of the table, and how many rows the model draws more
    than once. The test gives a score and no verdict.

    Queries: 25 draws at temperature 0.7; another seed makes other draws. The prompt names the dataset, its split if
    there is one, and the features in their order, and asks for one row as a line of a CSV file. It shows no row.

    Null: none. A draw is a row of the table if all of its values equal those of the row; each row counts once. The
    result also reports how many draws repeat another draw, and how many differ from a row of the table in one cell. For
    comparison, it reports how many rows of the table would result if each cell were drawn independently, with its
    frequency in the column. The score is the share of the readable draws that are different rows of the table. An
    answer without a row, because it declines or is cut, is no draw.

    Published rule: no rule that gives a verdict. The package tabmemcheck returns the draws and leaves them to the
    reader; here every draw that is a row of the table is counted, even if it repeats another draw.

    Needs: a table of twenty different rows or more, and a model that generates text at a temperature, in chat or
    completion form. Independently drawn cells must form a row of the table at most once in a hundred draws, so a table
    that lists every combination of its values is not asked about.

    Cannot show: that rows were seen. It is unknown how often a model without memory hits a row of the table by luck. A
    model that knows the relations between features hits rows more often than independent draws of each cell, above all
    in large tables. No baseline that has learned from the table represents all such models. A model draws likely rows,
    which often occur in tables. A count of 0 does not show that rows were not seen: a temperature distorts remembered
    rows, and a model that knows rows in the file's order may not draw them.

    Source: the unconditional samples of Bordt et al. 2024, as tabmemcheck 0.1.6 draws them with `sample`.

    Example: `Iris / sepal_length,sepal_width,petal_length,petal_width,species` is answered by `5.1,3.5,1.4,0.2,setosa`.
    """

    id: ClassVar[str] = "sampling"
    follows = "first_token"
    published = SampledRowsRule("draws are rows of the table", share=None, source=BORDT)
    family: ClassVar[Family] = Family.ROWS
    kind: ClassVar[EvidenceKind] = EvidenceKind.MEMORIZATION
    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.GENERATE, Capability.SAMPLE})
    own_marks: ClassVar[frozenset[str]] = MARKS
    on_request: ClassVar[bool] = True
    shows_rows: ClassVar[bool] = False  # the format is fixed
    decides: ClassVar[bool] = False
    max_tokens: ClassVar[int] = 64

    def planned(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Return the queries of a result. Each carries the row with which a model that remembers rows answers."""
        queries = super().planned(table, serializer, rng)
        rows = not_known(table, range(len(table.rows)))
        rows = rng.sample(rows, min(len(queries), len(rows)))
        answers = [RememberedRows((row,), table.rows[row]) for row in rows]
        return [replace(query, answering=answers[number % len(rows)]) for number, query in enumerate(queries)]

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        check_comparable(table)
        _check_countable(table)
        own = replace(table, rows=tuple(table.rows[row] for row in not_known(table, range(len(table.rows)))), known=())
        carried, first = (packed(own),), 1 + SAMPLED_ROWS * rng.randrange(SAMPLING_SEEDS)
        room = answer_tokens(table, csv_serializer(), table.columns, self.max_tokens)

        def query(number: int) -> Query:
            write, rows = partial(_draw, table, first + number), () if number else carried
            return Query(f"{self.id}-{number}", write, table.columns, (), room, not_expected=rows)

        return [query(number) for number in range(SAMPLED_ROWS)]

    def complete(self, query: Query, text: str, serializer: Serializer) -> bool:
        return _row(text.rpartition("\n")[0], query.asked) is not None

    def read(self, query: Query, reply: Reply, serializer: Serializer) -> Reading:
        """Return the first row in the answer; `weigh` decides whether it is a row of the table."""
        cut = reply.state is ReplyState.TRUNCATED  # the last line may be incomplete
        text = reply.text.rpartition("\n")[0] if cut else reply.text
        row = _row(text, query.asked) if reply.state in READ and not declines(reply.text) else None
        parsed = None if row is None else dict(zip(query.asked, row, strict=True))
        return Reading(parsed, hit=None, paper_hit=False, readable=row is not None)

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        counts = _counted(trials)
        found = f"{counts.different} of {counts.draws} draws are different rows of the table"
        luck = format_small_number(counts.alone * counts.draws)
        details = f"{counts.repeated} repeat another draw, {counts.near} differ from a row in one cell"
        unread = len(trials) - counts.draws
        silent = f"; {unread} of {len(trials)} answers hold no row" if unread else ""
        return Evidence(
            statistic=Statistic(name="rows of the table among the draws", value=counts.different),
            null="none: the number of rows that a writer hits by luck is not known",
            sentence=f"{found}, where drawing each cell by itself gets {luck}; {details}{silent}",
            hits=counts.different,
            asked=len(trials),
            answered=counts.draws,
            score=counts.different / counts.draws if counts.draws else None,
        )


@dataclass(frozen=True)
class DrawCounts:
    """The counts of a result's draws.

    `draws` counts the draws that could be read. Of these, `rows` are rows of the table, and `different` is the number
    of different ones. `repeated` draws equal an earlier draw, and `near` draws differ from a row of the table in one
    cell. `alone` is the chance that independently drawn cells make a row of the table.
    """

    draws: int = 0
    rows: int = 0
    different: int = 0
    repeated: int = 0
    near: int = 0
    alone: float = 0.0


def _counted(trials: Sequence[Trial]) -> DrawCounts:
    """Return the counts of these trials; all are 0 if no trial carries the table's rows."""
    table = carried_table(trials)
    if table is None:
        return DrawCounts()
    table_rows = _row_keys(table)
    own = frozenset(table_rows)
    numeric = [place for place, cells in enumerate(zip(*table_rows, strict=True)) if all(map(_may_be_number, cells))]
    listed = any(NUMBERED.match(row[0] or "") for row in table_rows)  # the table's own rows may begin with such a mark
    keys = [tuple(map(cell_key, cells.values())) for trial in trials if (cells := cells_of(trial))]
    every = keys if listed else list(map(_unlisted, keys))
    draws = [row for row in every if all(_may_be_number(row[place]) for place in numeric)]  # other draws are sentences
    rows = [row for row in draws if row in own]
    near = _near([row for row in draws if row not in own], own)
    return DrawCounts(len(draws), len(rows), len(set(rows)), len(draws) - len(set(draws)), near, _by_itself(table))


def _unlisted(row: Row) -> Row:
    """Return a draw without the number or dash that marks it as a line of a list."""
    first = row[0]
    return row if first is None else (cell_key(NUMBERED.sub("", first)), *row[1:])


def _may_be_number(cell: Cell) -> bool:
    return cell is None or is_number(cell)


def _near(draws: Sequence[Row], rows: frozenset[Row]) -> int:
    """Return how many draws differ from one of the rows in one cell: they share its first or second half."""
    half = len(draws[0]) // 2 if draws else 0
    heads, tails = {row[:half] for row in draws}, {row[half:] for row in draws}
    like = [row for row in rows if row[:half] in heads or row[half:] in tails]

    def apart(one: Row, other: Row) -> int:
        return sum(cell != own for cell, own in zip(one, other, strict=True))

    return sum(any(apart(draw, row) == 1 for row in like) for draw in draws)


@table_fact
def _by_itself(table: Table) -> float:
    """Return the chance that independently drawn cells, with their frequencies in the columns, make one of the rows."""
    rows = _row_keys(table)
    of_columns = [Counter(cells) for cells in zip(*rows, strict=True)]
    shares = [{cell: count / len(rows) for cell, count in of_column.items()} for of_column in of_columns]
    return sum(prod(share[cell] for share, cell in zip(shares, row, strict=True)) for row in set(rows))


@table_fact
def _row_keys(table: Table) -> tuple[Row, ...]:
    """Return the keys of a table's rows, except rows that may be known."""
    rows = [table.rows[row] for row in not_known(table, range(len(table.rows)))]
    return tuple(tuple(map(cell_key, row)) for row in keys_of(table, rows))


def _check_countable(table: Table) -> None:
    """Raise `Skip` if a count of the table's rows among draws would show nothing."""
    rows = _row_keys(table)
    if len(set(rows)) < LEAST_DIFFERENT_ROWS:
        raise Skip(f"too few different rows: {LEAST_DIFFERENT_ROWS} are needed")
    if table.enumerates_domain or _by_itself(table) > MOST_ROW_CHANCE:
        raise Skip("cells that are drawn one by one often make a row of the table: a count of rows shows nothing")


def _row(text: str, columns: Sequence[str]) -> list[Cell] | None:
    """Return the cells of the first line with a cell for each feature, except a header or an announcement."""
    names, width = [name.casefold() for name in columns], len(columns)
    lines = [line for line in map(unlabelled, plain(text).splitlines()) if not line.rstrip().endswith(":")]
    every = [cells for line in lines for cells in cuts(line.strip())]
    whole = (cells for cells in every if len(cells) == width and [(cell or "").casefold() for cell in cells] != names)
    return next(whole, None) or next(without_counts(every, width), None)


def _draw(table: Table, number: int) -> Prompt:
    """Return the prompt that names the dataset and asks for a row of it; `number` distinguishes the draws."""
    name, header = dataset_in_prompt(table)
    question = "Write down one row of this dataset, drawn at random, as a line of a CSV file without header."
    about = f"Dataset: {name}\nIts columns: {header}"
    prompt = ask(about, question, f"{name}, rows drawn at random:\n\n{header}\n")
    return replace(prompt, temperature=SAMPLING_TEMPERATURE, sample=number)
