"""Who has read rows ranks their own cells first; who knows the columns, the classes or nothing does not."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from random import Random

import pytest

from tabcontam.asking.trial_file import as_lines, trial_line, trial_of
from tabcontam.errors import Skip
from tabcontam.evidence.base import Endings, Evidence, Likelihoods, Query, ReplyState, Trial
from tabcontam.evidence.likelihood.surrogate_rank import SurrogateRank
from tabcontam.evidence.thresholds import RANKED_SURROGATES
from tabcontam.models.base import ModelRequest, PromptForm
from tabcontam.models.known.control import open_control
from tabcontam.tables.known_rows import with_known
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import Cell, Table
from tests.commands import tabcontam
from tests.made_tables import made_table, ships

pytestmark = pytest.mark.slow  # guessers are fitted, and many tables made

IS, CSV = load_serializer("is"), load_serializer("csv")
TEST = SurrogateRank()
Scorer = Callable[[Query, str, str], float]  # of a query, the value and the whole ending


@lru_cache(maxsize=32)  # what is found out about a table is kept with it
def crops(rows: int, seed: int = 0) -> Table:
    """Fields whose size goes with the crop, and what has nothing to do with it; commas that have to be quoted."""
    rng = Random(f"crops {seed}")

    def field() -> tuple[Cell, ...]:
        crop = rng.choice(["rye", "oats", "flax"])
        size, soil = f"{rng.gauss(len(crop) * 10, 4):.1f}", rng.choice(["loam", "clay, wet", "sand"])
        return crop, size, soil, str(rng.randrange(12)), f"{rng.expovariate(1 / 40):.0f}"

    return made_table(("crop", "size", "soil", "age", "walk"), [field() for _ in range(rows)], f"crops {seed}")


def trials(table: Table, scorer: Scorer) -> list[Trial]:
    """The read trials of one who gives such likelihoods."""
    found = []
    for query in TEST.queries(table, IS, Random(0)):
        asked, values = query.question, (str(query.expected[0]), *query.not_expected)
        assert isinstance(asked, Endings)
        scores = [scorer(query, value, text) for value, text in zip(values, asked.endings, strict=True)]
        reply = Likelihoods(tuple(scores), ReplyState.OK)
        found.append(Trial(query, reply, TEST.read(query, reply, IS)))
    return found


def weighed(table: Table, scorer: Scorer) -> Evidence:
    return TEST.weigh(trials(table, scorer), 0.01)


def p_of(evidence: Evidence) -> float:
    assert evidence.p_value is not None
    return evidence.p_value


def of_control(table: Table, kind: str) -> Evidence:
    model = open_control(kind).prepare(table)

    async def each(query: Query) -> Trial:
        reply = await model.answer(ModelRequest(query.question))
        return Trial(query, reply, TEST.read(query, reply, IS))

    return TEST.weigh([asyncio.run(each(query)) for query in TEST.queries(table, IS, Random(0))], 0.01)


@pytest.mark.usefixtures("cheaply")
def test_a_column_that_says_the_same_is_hidden_and_replaced_together_with_the_cell() -> None:
    table = crops(160)
    litres = {age: f"{int(age or 0) * 250} l" for age in table.column("age")}
    rows = [(*row, litres[row[3]]) for row in table.rows]
    asked = TEST.queries(made_table((*table.columns, "litres"), rows, "cows"), CSV, Random(0))
    of_age = [query for query in asked if query.asked == ("age",)]
    assert len(of_age) > len(rows) / 8
    assert "litres" not in {name for query in asked for name in query.asked}
    for query in of_age:
        question = query.question
        assert isinstance(question, Endings)
        values = (str(query.expected[0]), *query.not_expected)
        for value, ending in zip(values, question.endings, strict=True):
            assert ending.startswith(value)
            assert ending.rstrip().endswith(f",{litres[value]}")


def test_in_words_a_column_that_says_the_same_is_not_shown() -> None:
    table = crops(160)
    rows = [(*row, f"{int(row[3] or 0) * 250} l") for row in table.rows]
    test = TEST.in_words(1)
    assert test is not None
    asked = test.queries(made_table((*table.columns, "litres"), rows, "cows"), CSV, Random(0))
    assert any(query.asked == ("age",) for query in asked)
    assert all("litres" not in str(query.prompt) for query in asked)


def test_one_who_has_read_the_rows_is_found_and_one_who_read_the_twin_is_not() -> None:
    table = crops(150)
    found, clear = of_control(table, "exposed"), of_control(table, "unexposed")
    assert p_of(found) < 1e-30
    assert max(found.without.values()) < 1e-12
    assert found.hits > 0.8 * found.answered
    assert (found.recalled_bits or 0) > 100
    assert p_of(clear) > 0.01


def test_a_faint_memory_of_all_rows_is_found() -> None:
    rng = Random(3)
    found = weighed(crops(160), lambda query, value, text: rng.gauss(0.8 * (value == query.expected[0]), 1))
    assert p_of(found) < 1e-6
    assert max(found.without.values()) < 1e-4
    assert found.expected_hits == pytest.approx(found.answered / 10)


def test_what_stands_without_a_column_has_to_be_ten_times_as_rare() -> None:
    """An LLM may have read other rows of the same file, and so know more of a cell than the guesser."""
    rng = Random(3)
    own = trials(crops(160), lambda query, value, text: rng.gauss(0.6 * (value == query.expected[0]), 1))
    found = TEST.weigh(own, 0.01)
    for column, stands in found.without.items():
        others = TEST.weigh([trial for trial in own if trial.query.asked != (column,)], 0.01)
        assert stands == pytest.approx(min(1.0, 10 * p_of(others)))


@pytest.mark.parametrize("scorer", ["frequent", "rare", "large", "small", "long", "noise"])
def test_who_knows_the_columns_alone_is_found_as_often_as_chance_has_it(scorer: str) -> None:
    def known(seed: int) -> Scorer:
        table, rng = crops(160, seed), Random(f"{scorer} {seed}")
        counts = {name: Counter(table.column(name)) for name in table.columns}
        noise: dict[str, float] = {}  # the same for the same text, as with any model

        def score(query: Query, value: str, text: str) -> float:
            times, signs = counts[query.asked[0]][value], [ord(sign) for sign in value]
            size = float(value) if value[0].isdigit() else sum(signs)
            ways = {"frequent": times, "rare": -times, "large": size, "small": -size, "long": len(value)}
            return ways[scorer] if scorer in ways else noise.setdefault(text, rng.random())

        return score

    tails = [p_of(weighed(crops(160, seed), known(seed))) for seed in range(2)]
    assert min(tails) > 0.005
    assert max(tails) > 0.1


def test_what_the_nearest_rows_hold_must_agree() -> None:
    def own(query: Query, value: str, text: str) -> float:
        return float(value == query.expected[0])

    table = crops(160)
    assert p_of(weighed(table, own)) < 1e-20
    turned = []
    for trial in trials(table, own):
        assert isinstance(trial.reply, Likelihoods)
        values = (
            *trial.reply.values[: RANKED_SURROGATES + 1],
            *(2.0 for _ in trial.reply.values[RANKED_SURROGATES + 1 :]),
        )
        turned.append(replace(trial, reply=Likelihoods(values, ReplyState.OK)))
    assert p_of(TEST.weigh(turned, 0.01)) == 1.0


@pytest.mark.usefixtures("cheaply")
def test_each_text_is_the_row_with_one_cell_replaced() -> None:
    table = replace(crops(60))
    for serializer in (IS, CSV):
        queries = TEST.queries(table, serializer, Random(0))
        assert len({query.row for query in queries}) == len(queries) > 50
        for query in queries:
            asked, row = query.question, table.rows[query.row or 0]
            assert isinstance(asked, Endings)
            assert len(asked.endings) == len(query.not_expected) + 1
            place = table.columns.index(query.asked[0])
            columns = table.columns[: place + 4]
            assert asked.beginning + asked.endings[0] == serializer.row(columns, row[: place + 4])
            for value, ending in zip(query.not_expected, asked.endings[1:], strict=True):
                cells = [*row[:place], value, *row[place + 1 :]][: place + 4]
                assert asked.beginning + ending == serializer.row(columns, cells)


def test_every_feature_that_is_hidden_is_hidden_in_about_as_many_rows() -> None:
    counts = Counter(query.asked[0] for query in TEST.queries(crops(160), IS, Random(0)))
    assert len(counts) == 4
    assert min(counts.values()) > 32


def test_one_who_computes_cells_from_the_others_of_their_rows_is_not_found() -> None:
    rng = Random(5)

    def gift() -> tuple[Cell, ...]:
        times, adults, children = rng.randrange(1, 400), rng.randrange(1, 60), rng.randrange(60)
        numbers = (times, 250 * times, adults, children, adults + children, rng.randrange(1, 90))
        return (*map(str, numbers), rng.choice("ab"))

    columns = ("times", "volume", "adults", "children", "persons", "months", "again")
    table = made_table(columns, [gift() for _ in range(150)])

    def computes(query: Query, value: str, text: str) -> float:
        row = dict(zip(columns, table.rows[query.row or 0], strict=True)) | {query.asked[0]: value}
        laws = (
            query.asked[0] == "times" or int(row["volume"] or 0) == 250 * int(row["times"] or 0),
            int(row["adults"] or 0) + int(row["children"] or 0) == int(row["persons"] or 0),
        )
        return sum(laws) + Random(text).random()

    found = trials(table, computes)
    hidden = Counter(trial.query.asked[0] for trial in found)
    assert set(hidden) == {"times", "months"}  # the volume is replaced together with the times
    assert hidden["months"] > 30
    evidence = TEST.weigh(found, 0.01)
    assert max(p_of(evidence), *evidence.without.values()) > 0.05


@pytest.mark.usefixtures("cheaply")
def test_keys_are_not_hidden_and_rows_that_may_be_known_are_not_asked() -> None:
    table = replace(ships(80))
    (with_file,) = with_known([table], [replace(table, rows=table.rows[:50], name="half", sha256="1" * 64)])
    rows = {query.row for query in TEST.queries(with_file, IS, Random(0))}
    assert rows
    assert min(row for row in rows if row is not None) >= 50
    assert "hullNo" not in {query.asked[0] for query in TEST.queries(table, IS, Random(0))}


@pytest.mark.usefixtures("cheaply")
def test_two_rows_that_are_alike_in_all_else_are_not_asked() -> None:
    table = crops(60)
    twice = made_table(table.columns, [*table.rows, *(table.rows[:20])])
    assert all((query.row or 0) not in (*range(20), *range(60, 80)) for query in TEST.queries(twice, IS, Random(0)))


@pytest.mark.parametrize(
    "rows",
    [
        [(f"name {number}", f"{number}.{number}7") for number in range(60)],
        [("a", str(number % 2)) for number in range(60)],
    ],
    ids=["keys", "two values"],
)
def test_a_table_without_such_cells_is_skipped(rows: list[tuple[Cell, ...]]) -> None:
    with pytest.raises(Skip, match="0 rows have a cell that others could hold as well; the test needs 20"):
        TEST.queries(made_table(("one", "other"), rows), IS, Random(0))


def test_below_twenty_rows_it_is_too_small() -> None:
    assert "too small" in (TEST.too_small(19) or "")
    assert TEST.too_small(20) is None


def test_an_answer_without_all_likelihoods_is_unreadable() -> None:
    (query, *_) = TEST.queries(crops(60), IS, Random(0))
    for reply in (Likelihoods((), ReplyState.FAILED, "no"), Likelihoods((1.0, 2.0), ReplyState.OK)):
        assert not TEST.read(query, reply, IS).readable
    empty = TEST.weigh([], 0.01)
    assert (empty.p_value, empty.answered, empty.recalled_bits) == (1.0, 0, 0.0)


def test_trials_that_are_read_back_weigh_as_much() -> None:
    rng = Random(1)
    own = trials(crops(60), lambda query, value, text: rng.gauss(value == query.expected[0], 1))
    cell = {"llm": "m", "dataset": "d", "edition": "e", "serializer": "is", "prompts": "default", "test": TEST.id}
    lines = [json.loads(as_lines([trial_line(cell, PromptForm.CHAT, trial, paper_rules=False)])) for trial in own]
    again = []
    for line in lines:
        trial = trial_of(line)
        assert isinstance(trial.reply, Likelihoods)
        again.append(replace(trial, reading=TEST.read(trial.query, trial.reply, IS)))
    assert TEST.weigh(again, 0.01) == TEST.weigh(own, 0.01)


@pytest.mark.slow
def test_it_is_asked_where_it_is_chosen_and_its_verdict_stands_in_the_report(tmp_path: Path) -> None:
    columns = crops(60).columns

    def results(rows: int, *more: str) -> dict[str, str]:
        file, out = tmp_path / f"{rows}.csv", tmp_path / f"run{rows}"
        file.write_text("\n".join(CSV.row(columns, row) for row in (columns, *crops(60).rows[:rows])) + "\n")
        assert tabcontam("run", "--dataset", str(file), *more, "--out", str(out), cwd=tmp_path).returncode == 0
        cells = json.loads((out / "results.json").read_text("utf-8"))["results"]
        return {cell["llm"]: cell["verdict"] for cell in cells if cell["test"] == TEST.id}

    assert results(60, "-k", TEST.id) == {"control:exposed": "contaminated", "control:unexposed": "not detected"}
    assert results(25) == {}


def test_rows_that_were_not_scored_are_told() -> None:
    """Rows that are longer than a model's context, for example: the others are weighed, and the sentence says so."""
    scored = trials(crops(160), lambda query, value, text: 0.0)
    lost = Likelihoods((), ReplyState.FAILED, "the text is too long: 49 tokens; the model takes 30")
    unread = [replace(one, reply=lost, reading=TEST.read(one.query, lost, IS)) for one in scored[:30]]
    part = [*scored[30:], *unread]
    found = TEST.weigh(part, 0.01)
    assert (found.asked, found.answered) == (len(scored), len(scored) - 30)
    assert found.sentence.endswith(f"; 30 of {len(scored)} cells could not be read")
