"""Documents that hold a table's rows are found, in any rendering; what only looks like the table is not."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from random import Random

import pytest

from tabcontam.errors import Skip
from tabcontam.evidence.base import Lookup, LookupMode, Match, Matches, ReplyState
from tabcontam.evidence.registry import all_tests, by_id
from tabcontam.tables.known_rows import with_known
from tabcontam.tables.table import Cell, Table
from tabcontam.tables.twin_tables import twin
from tests.extensions.corpora.overlap.bodies import (
    IS,
    LEVEL,
    RENDERED,
    Rows,
    as_csv,
    as_json,
    asked,
    crops,
    evidence,
    read,
    rows_asked,
    searched,
    standing,
)
from tests.made_tables import made_table, ships

pytestmark = pytest.mark.slow  # guessers are fitted, and documents searched slowly
TEST = by_id()["row_overlap"]


def some(table: Table, count: int) -> list[tuple[Cell, ...]]:
    return [table.rows[row] for row in rows_asked(table)[:count]]


def among_others(text: str) -> dict[str, str]:
    """A document between others that have nothing to do with it."""
    rng = Random("others")
    words = [" ".join(rng.choices(["plough", "12", "3.5", "rye", "the", "sand", "harvest"], k=300)) for _ in range(5)]
    return {
        **{f"other {number}": one for number, one in enumerate(words)},
        "page": f"{words[0]}\n\n{text}\n\n{words[1]}",
    }


@pytest.mark.parametrize("rendering", RENDERED)
@pytest.mark.parametrize("count", [3, 20])
def test_rows_are_found_in_any_rendering(rendering: str, count: int) -> None:
    table = serials()
    found = evidence(table, among_others(RENDERED[rendering](table, some(table, count))))
    assert found.hits >= count
    assert standing(found) < LEVEL / 3
    assert f"of {found.answered} rows stand in 1 document" in found.sentence
    assert "for example page, byte " in found.sentence


@pytest.mark.parametrize("rendering", RENDERED)
def test_a_single_row_with_rare_cells_is_found_in_any_rendering(rendering: str) -> None:
    """Its own values are two or three of a thousand that could stand there."""
    table, chances = serials(), Counter[int]()
    for query in asked("row_overlap", table):
        if query.row is not None:
            chance = query.chance[query.asked[0]].values[str(query.expected[0])]
            chances[query.row] = max(chances[query.row], round(1000 * chance))
    rarest = min(rows_asked(table), key=chances.__getitem__)
    found = evidence(table, among_others(RENDERED[rendering](table, [table.rows[rarest]])))
    assert found.hits == 1
    assert standing(found) < LEVEL / 3


@lru_cache(maxsize=1)  # what is found out about a table is kept with it
def serials() -> Table:
    """Numbers of which each could be any."""
    rng = Random("serials")
    rows = [(rng.choice("abc"), *(str(rng.randrange(100, 100 + 20 * 3**k)) for k in (3, 4, 3, 4))) for _ in range(200)]
    return made_table(("line", "volts", "ohms", "metres", "grams"), rows, "serials")


def others_of(table: Table, seed: int) -> Rows:
    """More rows of the same kind, none of which is the table's."""
    own = set(table.rows)
    return [row for row in crops(len(table.rows), seed).rows if row not in own]


def altered(table: Table) -> Rows:
    """Each row with one of its cells that are hard to guess replaced by that of another row."""
    rng, rows = Random("altered"), []
    hard = {query.row: table.columns.index(query.asked[0]) for query in asked("row_overlap", table)}
    for number, row in enumerate(table.rows):
        place = hard.get(number, 1)
        cell = rng.choice([one for one in table.column(table.columns[place]) if one != row[place]])
        rows.append((*row[:place], cell, *row[place + 1 :]))
    return rows


def lists_of_numbers(table: Table) -> str:
    rng = Random("numbers")
    numbers = [cell for name in table.columns for cell in table.column(name) if cell and table.is_numeric(name)]
    return " ".join(rng.choices(numbers, k=4000))


def facts_of_columns(table: Table) -> str:
    return "\n".join(
        f"The values of {name} are {', '.join(sorted({str(cell) for cell in table.column(name)}))}."
        for name in table.columns
    )


def linked(table: Table) -> str:
    """A dictionary that links two columns, row by row."""
    return as_csv([row[1:3] for row in table.rows]) + as_csv([row[3:5] for row in table.rows])


ADVERSARIES: dict[str, Callable[[Table], str]] = {
    "twin": lambda table: as_csv(twin(table).rows),
    "twin in JSON": lambda table: as_json(table, twin(table).rows),
    "other rows": lambda table: as_csv(others_of(table, 1)),
    "altered rows": lambda table: as_csv(altered(table)),
    "lists of numbers": lists_of_numbers,
    "facts of columns": facts_of_columns,
    "word list": lambda table: " ".join(sorted({str(cell) for row in table.rows for cell in row})),
    "two columns linked": linked,
    "nothing": lambda table: "",
}


@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_what_only_looks_like_the_table_is_not_found(adversary: str) -> None:
    table = crops()
    found = evidence(table, among_others(ADVERSARIES[adversary](table)))
    assert found.answered > 100
    assert standing(found) > LEVEL


def test_all_combinations_of_a_small_domain_tell_nothing() -> None:
    """All rows stand there, and all others that could."""
    rng = Random("domain")
    values = [[f"{name}{number}" for number in range(count)] for name, count in (("a", 4), ("b", 3), ("c", 3))]
    rows = [(*(rng.choice(own) for own in values), f"{number}") for number in range(24)]
    table = made_table(("a", "b", "c", "d"), rows, "domain")
    everything = as_csv(list(product(*values, [row[3] for row in rows])))
    found = evidence(table, {"domain": everything})
    assert found.hits == found.answered >= 20
    assert standing(found) > LEVEL
    assert "in so many variants that they show nothing" in found.sentence
    assert standing(evidence(table, {"table": as_csv(rows)})) < 1e-9


def test_rows_that_lack_a_value_are_found_and_said_to() -> None:
    """A copy of a table of seven columns may have dropped one, or have written its class in other words."""
    table = ships()
    found = evidence(table, {"copy": as_csv([row[:-1] for row in table.rows])})
    assert standing(found) < 1e-9
    assert "without one or two of their values" in found.sentence


def test_a_copy_without_the_column_that_is_hidden_first_is_found_by_the_others() -> None:
    table = ships()
    place = table.columns.index(asked("row_overlap", table)[0].asked[0])
    found = evidence(table, {"copy": as_csv([(*row[:place], *row[place + 1 :]) for row in table.rows])})
    assert standing(found) < 1e-9


@pytest.mark.usefixtures("cheaply")
def test_known_rows_and_rows_that_are_alike_are_not_asked() -> None:
    table = replace(crops(80))
    known = made_table(table.columns, table.rows[:50], "known")
    (given,) = with_known([table], [known])
    assert min(rows_asked(given)) >= 50
    double = replace(table, rows=(*table.rows, *table.rows[:20]), sha256="d" * 64)
    assert not {row % 80 for row in rows_asked(double)} & set(range(20))


def test_a_query_does_not_tell_which_value_is_the_own_one() -> None:
    for query in asked("row_overlap", crops()):
        question = query.question
        assert isinstance(question, Lookup)
        assert question.by is LookupMode.CELLS
        assert list(question.texts) == sorted(question.texts)
        assert len(set(question.texts)) == len(question.texts)
        assert sum(query.chance[query.asked[0]].values.values()) == pytest.approx(1)
        assert query.expected[0] in question.texts
        assert (len(question.context), question.lacking) == (4, 0)


def test_each_row_is_hidden_in_two_columns_and_has_a_row_of_the_twin() -> None:
    table = crops()
    queries, rows = asked("row_overlap", table), set(table.rows)
    own = [query for query in queries if query.row is not None]
    assert len({(query.row, query.asked) for query in own}) == len(own) == 2 * len(rows_asked(table))
    decoys = [query for query in queries if query.decoy_of]
    assert len(decoys) == len(rows_asked(table))
    assert {query.decoy_of for query in decoys} <= {query.id for query in own}
    for query in decoys:
        question = query.question
        assert isinstance(question, Lookup)
        place = table.columns.index(query.asked[0])
        assert (*question.context[:place], *query.expected, *question.context[place:]) not in rows


@pytest.mark.parametrize("state", [ReplyState.FAILED, ReplyState.TRUNCATED, ReplyState.REFUSED, ReplyState.EMPTY])
def test_a_body_that_cannot_be_read_is_never_clean(state: ReplyState) -> None:
    trials = [read(TEST, query, Matches((), 0, state, "gone")) for query in asked("row_overlap", crops())]
    found = TEST.weigh(trials, LEVEL)
    assert (found.answered, found.hits, found.p_value) == (0, 0, 1.0)
    assert found.asked == len(rows_asked(crops()))
    assert "could not be searched for" in found.sentence


def test_an_answer_that_does_not_count_each_value_cannot_be_read() -> None:
    query = asked("row_overlap", crops())[0]
    assert not read(TEST, query, Matches((), 3, ReplyState.OK)).readable
    assert not read(TEST, query, Matches((), 3, ReplyState.OK, counts=(1, 2))).readable
    assert read(TEST, query, Matches((), 0, ReplyState.OK)).readable


def test_what_is_quoted_cannot_drive_a_terminal() -> None:
    table = crops()
    hostile = as_csv(some(table, 20)).replace(",", ",\x1b[31m\u202e<script>")
    found = evidence(table, {"page\x1b[2J": hostile})
    assert found.hits >= 5
    assert found.sentence.isprintable()
    assert "»" in found.sentence


def test_counting_that_ended_early_is_said() -> None:
    queries = asked("row_overlap", crops())

    def answer(place: int, texts: Sequence[str]) -> Matches:
        counts = tuple(50 * (number == place) for number in range(len(texts)))
        return Matches((Match("a.txt", 3, "x 5 y", 2, 3, place),), 50, ReplyState.OK, counts=counts, more=True)

    trials = []
    for query in queries:
        if query.decoy_of:
            trials.append(read(TEST, query, Matches((), 0, ReplyState.OK)))
            continue
        question = query.question
        assert isinstance(question, Lookup)
        trials.append(read(TEST, query, answer(question.texts.index(str(query.expected[0])), question.texts)))
    found = TEST.weigh(trials, LEVEL)
    assert "stand in at least 50 documents" in found.sentence
    assert found.sentence.endswith("a.txt, byte 3: x »5« y")


def test_a_table_whose_rows_nothing_tells_apart_is_skipped_with_the_reason() -> None:
    pairs = made_table(("a", "b"), [(str(number % 9), str(number)) for number in range(60)], "pairs")
    with pytest.raises(Skip, match="no row has 3 values"):
        TEST.queries(pairs, IS, Random(0))
    coins = made_table(("a", "b", "c"), [("x", "y", str(number)) for number in range(60)], "coins")
    with pytest.raises(Skip, match="the test needs 20 such rows"):
        TEST.queries(coins, IS, Random(0))


def test_rows_of_the_twin_that_weigh_as_much_clear_the_table() -> None:
    table = crops()
    trials = searched(TEST, asked("row_overlap", table), {"rows": as_csv(table.rows)})
    own = {trial.query.id: trial for trial in trials}
    assert standing(TEST.weigh(trials, LEVEL)) < 1e-9
    alike = []
    for trial in trials:
        if not trial.query.decoy_of:
            continue
        question, other = trial.query.question, own[trial.query.decoy_of]
        assert isinstance(question, Lookup)
        place = question.texts.index(str(trial.query.expected[0]))
        counts = tuple(int(number == place) for number in range(len(question.texts)))
        assert isinstance(other.reply, Matches)
        alike.append(read(TEST, trial.query, Matches((), 1, ReplyState.OK, counts=counts)))
    both = [trial for trial in trials if not trial.query.decoy_of] + alike
    assert TEST.weigh(both, LEVEL).p_value == 1.0


def test_a_table_of_which_one_column_alone_can_be_hidden_cannot_tell() -> None:
    """What would be found could rest on that column alone: facts from elsewhere do the same."""
    rng = Random("news")
    rows = [(f"title {number}", f"text {number * 7}", rng.choice(["a", "b", "c", "d"])) for number in range(80)]
    queries = asked("row_overlap", made_table(("title", "text", "label"), rows, "news"))
    assert {query.asked for query in queries} == {("label",)}
    assert "only cells of label can be hidden" in str(TEST.uninformative(queries, LEVEL))
    assert TEST.uninformative(asked("row_overlap", crops()), LEVEL) is None
    assert "too few rows" in str(TEST.uninformative(asked("row_overlap", crops())[:3], 1e-9))


def test_it_is_the_only_row_test_of_corpora() -> None:
    own = [test for test in all_tests() if type(test).__module__.startswith("tabcontam.extensions.corpora.")]
    assert [test.id for test in own if test.row_test] == ["row_overlap"]
