"""Examples that are written by a dataset's name: who has the rows is found, and who puts rows together is not."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from random import Random

import pytest

from tabcontam.asking.trial_file import trial_line, trial_of
from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.errors import Skip
from tabcontam.evidence.base import Evidence, Query, Reply, ReplyState, Trial
from tabcontam.evidence.checks import rendered
from tabcontam.extensions.papers.task.packed_table import unpacked
from tabcontam.extensions.papers.task.task_examples import TaskExamples
from tabcontam.extensions.papers.task.written_rows import counted_of, may_count, order_of, predictions_of
from tabcontam.extensions.papers.thresholds import ASKED_EXAMPLES, PRINTED_FIRST_ROWS, PRINTED_LAST_ROWS
from tabcontam.models.base import PromptForm
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Cell, Table
from tabcontam.tables.twin_tables import twin
from tests.answerers import reply_of
from tests.made_tables import made_table, ships

TEST = TaskExamples()
CSV = load_serializers()["csv"]
LEVEL = 0.01
SHIPS = ships(120)
REFUSALS = (
    "I cannot reproduce examples of this dataset.",
    "Es tut mir leid, aber diese Daten kenne ich nicht: ich kann keine Zeilen davon nennen.",
    "Je ne peux pas citer ces lignes, car je ne connais pas ce jeu de données.",
)
Drawn = Callable[[CellPrediction], str]


@cache
def asked() -> Sequence[Query]:
    return TEST.planned(SHIPS, CSV, Random(0))


@cache
def held() -> Table:
    return unpacked(asked()[0].not_expected[0])


@cache
def middle() -> Sequence[int]:
    """The rows of which something counts."""
    return sorted(may_count(held()))


def line(row: Sequence[Cell]) -> str:
    return CSV.row(SHIPS.columns, row)


def read(query: Query, text: str, state: ReplyState = ReplyState.OK) -> Trial:
    reply = Reply(text, state)
    return Trial(query, reply, TEST.read(query, reply, CSV))


def weighed(*texts: str) -> Evidence:
    """The evidence of one who gives these answers; the other queries are not asked."""
    return TEST.weigh([read(query, text) for query, text in zip(asked(), texts, strict=False)], LEVEL)


def p_of(*texts: str) -> float:
    found = weighed(*texts).p_value
    assert found is not None
    return found


def written(rows: Sequence[int], changed: Callable[[int], dict[str, Cell]]) -> str:
    """Rows of the table in which some cells are other ones."""
    cells = [{**dict(zip(SHIPS.columns, SHIPS.rows[row], strict=True)), **changed(row)} for row in rows]
    return "\n".join(line(list(row.values())) for row in cells)


def said_by(kind: str, seed: int) -> float:
    trials = [read(query, reply_of(kind, query, SHIPS, seed).text) for query in TEST.planned(SHIPS, CSV, Random(seed))]
    return TEST.weigh(trials, LEVEL).p_value or 0.0


@pytest.mark.slow
def test_the_prompts_name_dataset_features_and_labels_and_show_no_row() -> None:
    assert len(asked()) == 4
    for query in asked():
        said = rendered(query.prompt)
        assert all(part in said for part in (SHIPS.title, ",".join(SHIPS.columns), "tolldue", "no, yes"))
        assert not any(line(row) in said for row in SHIPS.rows)
        assert query.rows == ()
    assert "its beginning" in asked()[1].prompt.chat[-1].content
    assert [query.paper for query in asked()] == [True, False, False, False]
    assert "test split" in rendered(TEST.queries(replace(SHIPS, split="test"), CSV, Random(0))[0].prompt)


def test_a_column_that_counts_the_rows_neither_tells_them_nor_counts() -> None:
    assert "hullNo" in SHIPS.columns
    counted = made_table(("n", *SHIPS.columns), [(str(at), *row) for at, row in enumerate(SHIPS.rows)], "counted")
    assert "n" not in order_of(counted).columns


@pytest.mark.slow
def test_who_has_half_of_the_rows_is_found() -> None:
    assert TEST.uninformative(asked(), LEVEL) is None
    assert max(said_by("memoriser:0.5", seed) for seed in range(2)) < LEVEL


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["guesser", "schema-expert", "mode", "yes", "rambler"])
def test_who_puts_rows_together_is_not_found(kind: str) -> None:
    assert min(said_by(kind, seed) for seed in range(2)) > LEVEL


@pytest.mark.slow
def test_who_has_the_beginnings_of_rows_and_guesses_the_rest_is_not_found() -> None:
    guesses, rng = predictions_of(held(), middle()), Random(1)

    def likeliest(guess: CellPrediction) -> str:
        return guess.likeliest or "0"

    def drawn(guess: CellPrediction) -> str:
        return rng.choices(list(guess.values), list(guess.values.values()))[0] if guess.values else "0"

    def changed(row: int, draw: Drawn) -> dict[str, Cell]:
        return {name: draw(guesses[row].cells[name]) for name in counted_of(held(), row)}

    assert p_of(written(middle(), lambda row: changed(row, likeliest))) > LEVEL
    assert min(p_of(written(middle(), lambda row: changed(row, drawn))) for _ in range(10)) > LEVEL
    spoiled = written(middle()[:40], lambda row: dict([rng.choice(list(changed(row, drawn).items()))]))
    assert p_of(spoiled) < LEVEL, "who has rows but for a cell has read them"


@pytest.mark.slow
def test_a_twin_has_no_row() -> None:
    rows = twin(SHIPS).rows
    assert p_of("\n".join(map(line, rows))) > LEVEL


def test_the_beginning_and_the_end_of_the_file_count_nothing() -> None:
    page = "\n".join(map(line, (*SHIPS.rows[:PRINTED_FIRST_ROWS], *SHIPS.rows[-PRINTED_LAST_ROWS:])))
    found = weighed(page, page, page)
    assert (found.p_value, found.recalled_bits) == (1.0, 0.0)
    assert f"{PRINTED_FIRST_ROWS + PRINTED_LAST_ROWS} equal rows of the table" in found.sentence


@pytest.mark.slow
def test_rows_are_counted_as_exact_near_of_the_form_or_of_another() -> None:
    own = [dict(zip(SHIPS.columns, SHIPS.rows[row], strict=True)) for row in middle()[:2]]
    last = SHIPS.columns[-1]
    near = {**own[1], SHIPS.columns[1]: "Zwibarge"}
    form = {**near, SHIPS.columns[0]: "9999", SHIPS.columns[3]: "Nobody", SHIPS.columns[2]: "1.25"}
    other = {**form, last: "perhaps"}
    word = {**form, SHIPS.columns[0]: "many"}
    rows = [own[0], near, form, other, word, own[0]]
    found = weighed("\n".join(line(list(row.values())) for row in rows))
    counts = "1 equal rows of the table, 1 nearly do, 1 have its form alone, 2 another form"
    assert found.sentence.startswith(f"6 rows written, 1 of them again: {counts};")


@pytest.mark.slow
def test_known_rows_count_nothing() -> None:
    known = replace(SHIPS, known=(SHIPS.rows[:60],))
    queries = TEST.planned(known, CSV, Random(0))
    assert TEST.weigh([read(queries[0], "\n".join(map(line, SHIPS.rows[:60])))], LEVEL).p_value == 1.0
    assert not {row for query in queries for row in query.answering.places(query)} & set(range(60))


@pytest.mark.slow
def test_a_row_that_is_written_again_counts_once() -> None:
    three = "\n".join(line(SHIPS.rows[row]) for row in middle()[:3])
    once, again = weighed(three), weighed(f"{three}\n{three}", three)
    assert once.p_value == again.p_value
    assert "6 of them again" in again.sentence


@pytest.mark.slow
def test_who_writes_many_endings_of_a_beginning_names_much_and_shows_little() -> None:
    row = middle()[0]
    last = counted_of(held(), row)[-1]
    place = SHIPS.columns.index(last)
    every = [value for value in SHIPS.distinct(last) if value != SHIPS.rows[row][place]]
    others = "\n".join(line([*SHIPS.rows[row][:place], value, *SHIPS.rows[row][place + 1 :]]) for value in every[:60])
    alone = weighed(line(SHIPS.rows[row])).recalled_bits or 0.0
    assert 0 < (weighed(f"{others}\n{line(SHIPS.rows[row])}").recalled_bits or 0.0) < alone


@pytest.mark.parametrize("text", REFUSALS)
def test_who_declines_gives_no_answer(text: str) -> None:
    assert not read(asked()[0], text).readable
    found = weighed(text, text)
    assert (found.answered, found.asked) == (0, 2)


def test_the_published_rule_finds_whoever_writes_rows() -> None:
    invented = "\n".join(line(["9999", "Zwibarge", "1.25", "Nobody", "Wexlow", "3", "no"]) for _ in range(3))
    assert TEST.published is not None
    assert TEST.published.finds([read(asked()[0], invented)])
    assert not TEST.published.finds([read(asked()[0], REFUSALS[0])])
    assert p_of(invented) > LEVEL


@pytest.mark.slow
def test_what_is_stored_is_weighed_alike() -> None:
    trial = read(asked()[0], "\n".join(line(SHIPS.rows[row]) for row in middle()[:5]))
    cell = {"llm": "a", "dataset": "ships", "test": TEST.id, "serializer": "is"}
    stored = trial_of(json.loads(json.dumps(trial_line(cell, PromptForm.CHAT, trial, False))))
    anew = replace(stored, reading=TEST.read(stored.query, Reply(trial.reply.text, ReplyState.OK), CSV))
    assert TEST.weigh([anew], LEVEL) == TEST.weigh([trial], LEVEL)


def test_an_answer_of_twenty_rows_has_room() -> None:
    assert all(query.max_tokens >= ASKED_EXAMPLES * len(SHIPS.columns) for query in asked())
    assert TEST.complete(asked()[0], line(SHIPS.rows[0]) + "\n" + "10", CSV)
    assert not TEST.complete(asked()[0], line(SHIPS.rows[0]), CSV)


def test_a_table_of_all_combinations_is_skipped() -> None:
    every = made_table(("a", "b", "c"), [(str(a), b, c) for a in range(3) for b in "xy" for c in "pq"], "all")
    with pytest.raises(Skip, match="every combination"):
        TEST.queries(every, CSV, Random(0))


def test_what_holds_no_table_is_an_error() -> None:
    with pytest.raises(ValueError, match="the text holds no packed table"):
        unpacked("nothing")


@pytest.mark.slow
def test_a_label_may_be_written_by_its_name() -> None:
    codes = [("0" if row[-1] == "no" else "1") for row in SHIPS.rows]
    question = replace(SHIPS.question, answers={"0": "free", "1": "due"}) if SHIPS.question else None
    rows = tuple((*row[:-1], code) for row, code in zip(SHIPS.rows, codes, strict=True))
    table = replace(SHIPS, rows=rows, question=question)
    named = ["free" if row[-1] == "0" else "due" for row in table.rows]
    queries = TEST.planned(table, CSV, Random(0))
    text = "\n".join(line((*table.rows[row][:-1], named[row])) for row in range(20, 40))
    assert (TEST.weigh([read(queries[0], text)], LEVEL).p_value or 0.0) < LEVEL


def test_a_markdown_table_is_read() -> None:
    table = SHIPS
    rows = [f"| {' | '.join(cell or '' for cell in table.rows[row])} |" for row in middle()]
    assert p_of("\n".join([f"| {' | '.join(table.columns)} |", "|---" * len(table.columns) + "|", *rows])) < LEVEL
