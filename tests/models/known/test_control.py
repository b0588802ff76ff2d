"""The control pair: what it reads, that the twin holds no row of the table, and that the exposed one knows them all."""

import asyncio
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.errors import Skip, UsageError
from tabcontam.evidence.base import Capability, Endings, Likelihoods, Passage, Prompt, Reply, ReplyState, Scores
from tabcontam.evidence.knowledge.decoys import other_cards
from tabcontam.models.base import Model, ModelRequest, PromptForm
from tabcontam.models.known.control import MOST_CHARACTERS, ControlModel, control_documents, open_control
from tabcontam.tables.dataset_cards import ClassificationQuestion, load_cards
from tabcontam.tables.serializers import Serializer, TemplateRows, load_serializers, shipped_templates
from tabcontam.tables.table import Cell, Table, load_table
from tabcontam.tables.thresholds import MOST_ROWS_OF_RARE_VALUE, NEAR_NUMBERS
from tabcontam.tables.twin_tables import twin

COMMAS = TemplateRows("equals", "", "", " = ", ", ")
SENTENCES = TemplateRows("is", "", "The ", " is ", ", ")


def make_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    target: str | None = None,
    question: ClassificationQuestion | None = None,
) -> Table:
    cells = tuple(map(tuple, rows))
    return Table(
        name="made",
        title="Made Table",
        edition="1",
        sha256=sha256(repr((columns, cells)).encode()).hexdigest(),
        columns=tuple(columns),
        rows=cells,
        names=("Made Table", "made-up"),
        target=target,
        question=question,
        missing=frozenset({"?"}),
    )


def random_table(rows: int, columns: int, values: int, target: str | None = "c0", seed: int = 0) -> Table:
    rng = Random(seed)
    names = [f"c{number}" for number in range(columns)]
    return make_table(names, [[str(rng.randrange(values)) for _ in names] for _ in range(rows)], target)


@pytest.fixture(scope="module", params=["iris", "wine"])
def carried(request: pytest.FixtureRequest) -> Table:
    """A table that scikit-learn carries."""
    from sklearn import datasets

    frame = getattr(datasets, f"load_{request.param}")(as_frame=True).frame
    rows = [[str(value) for value in row] for row in frame.itertuples(index=False)]
    return make_table(list(frame.columns), rows, "target")


def ask(model: Model, prompt: str, max_tokens: int = 500, stop: tuple[str, ...] = ("\n",)) -> Reply:
    return asyncio.run(model.generate(ModelRequest(Prompt((), prompt, "", stop), max_tokens)))


def rows_continued(model: Model, table: Table, serializer: Serializer, rows: Sequence[int], shown: int) -> float:
    """The share of rows that are continued as in the table from their first `shown` features on."""
    hits = 0
    for index in rows:
        row, prefix = table.rows[index], serializer.prefix(table.columns, table.rows[index], shown)
        hits += prefix + ask(model, prefix).text == serializer.row(table.columns, row)
    return hits / len(rows)


def identified(table: Table, shown: int) -> list[int]:
    """The rows that no other row of the table shares its first cells with."""
    heads = Counter(row[:shown] for row in table.rows)
    return [index for index, row in enumerate(table.rows) if heads[row[:shown]] == 1]


# --- the documents


def tables_of_numbers() -> list[str]:
    """The cards whose rows are no texts and no records: theirs are the pages that a control reads."""
    tables = {name: card for name, card in load_cards().items() if not card.dates.completed}
    return [name for name, card in tables.items() if not any(edition.text for edition in card.editions)]


def test_the_documents_are_a_page_the_csv_file_and_the_rows_in_each_serializer() -> None:
    table = make_table(["age", "job, now"], [["39", 'a "clerk"'], [None, "x"]])

    page, *others, file, commas, sentences, preview = control_documents(table, [COMMAS, SENTENCES])

    assert page.startswith("Made Table")
    assert len(others) == len(other_cards(table)) == len(tables_of_numbers())
    assert '\n39,"a ""clerk"""\nDataset: Made Table\n' in preview
    assert file == 'age,"job, now"\n39,"a ""clerk"""\n,x\n'
    assert commas == 'age = 39, job, now = a "clerk"\nage = , job, now = x\n'
    assert sentences.splitlines()[0] == 'The age is 39, The job, now is a "clerk"'


def test_the_page_names_the_dataset_its_features_and_their_values_by_frequency() -> None:
    rows: list[list[Cell]] = [["b", "1"], ["a", "2"], ["a", "3"], ["?", "4"], [None, "5"]]

    page = next(control_documents(make_table(["letter", "number"], rows), []))

    assert "\nDataset: Made Table\nFeatures: letter, number\n" in page
    assert "\nFeature: letter\nDataset: Made Table\nValues: a, b\n" in page


def test_the_unexposed_control_reads_the_pages_of_other_cards_and_none_of_the_table() -> None:
    table = random_table(40, 4, 9)

    *pages, file, commas = control_documents(table, [COMMAS], exposed=False)

    assert len(pages) == len(tables_of_numbers())
    assert not any("Made Table" in text for text in (*pages, file, commas))
    assert sorted(file.splitlines()[0]) == sorted(",".join(table.columns))
    adult = next(page for page in pages if page.startswith("Adult"))
    assert "\nFeatures: age, workclass, fnlwgt, " in adult
    bank = next(page for page in pages if page.startswith("Bank"))
    assert "\nFeatures: named in its header\n" in bank


def test_columns_with_many_values_or_none_are_described_without_a_list() -> None:
    rows = [[str(number), f"word {number}", "?"] for number in range(31)]

    page = next(control_documents(make_table(["number", "word", "empty"], rows), []))

    assert "\nValues: 31 different numbers from 0 to 30\n" in page
    assert "\nValues: 31 different entries such as word 0 and word 1\n" in page
    assert "\nValues: never filled in\n" in page


# --- the twin


def assert_is_twin(shuffled: Table, table: Table) -> None:
    assert shuffled.columns == table.columns
    assert not set(shuffled.rows) & set(table.rows)
    assert len(shuffled.rows) >= 2
    assert 2 * len(shuffled.rows) >= len(table.rows)
    for column in table.columns:
        assert Counter(shuffled.column(column)) <= Counter(table.column(column))


@given(st.integers(2, 40), st.integers(1, 5), st.integers(2, 30), st.integers(0, 999), st.sampled_from(["c0", None]))
def test_a_twin_has_no_row_of_the_table_or_there_is_none(
    rows: int, columns: int, values: int, seed: int, target: str | None
) -> None:
    table = random_table(rows, columns, values, target, seed)
    try:
        shuffled = twin(table)
    except Skip:
        return
    assert_is_twin(shuffled, table)
    assert twin(table) == shuffled


def test_a_twin_keeps_all_rows_and_columns_where_it_can(carried: Table) -> None:
    shuffled = twin(carried)

    assert_is_twin(shuffled, carried)
    assert len(shuffled.rows) == len(carried.rows)


def test_columns_are_shuffled_within_the_classes_of_the_target(carried: Table) -> None:
    def by_class(table: Table, column: str) -> Counter[tuple[Cell, Cell]]:
        times = Counter(carried.column(column))
        pairs = zip(table.column("target"), table.column(column), strict=True)
        return Counter((row_class, cell) for row_class, cell in pairs if times[cell] > MOST_ROWS_OF_RARE_VALUE)

    shuffled = twin(carried)

    assert all(by_class(shuffled, column) == by_class(carried, column) for column in carried.columns)
    assert shuffled.rows != carried.rows


def test_what_occurs_once_does_not_tell_the_class_of_its_row() -> None:
    """A name or a sum that only one row has would be memory of that row: a user's table showed it in test 7."""
    rng = Random(0)
    rows = [[f"C{number:03}", f"{rng.lognormvariate(4, 1):.4f}", rng.choice(["yes", "no"])] for number in range(400)]
    table = make_table(["customer", "spend", "churned"], rows, "churned")

    shuffled = twin(table)

    for place, column in enumerate(("customer", "spend")):
        truth = {row[place]: row[2] for row in rows}
        kept = sum(truth[row[place] or ""] == row[2] for row in shuffled.rows)
        assert 0.4 * 400 < kept < 0.6 * 400, column
        assert Counter(shuffled.column(column)) == Counter(table.column(column))


def test_a_target_that_names_each_row_does_not_keep_the_rows_as_they_are() -> None:
    """The unexposed control had read nearly all of a table whose identifier was given as --target."""
    rng = Random(0)
    rows = [[f"{number:03}x", rng.choice("abcd"), rng.choice("efgh"), rng.choice("ijkl")] for number in range(200)]
    table = make_table(["customer", "plan", "town", "note"], rows, "customer")

    shuffled = twin(table)

    plan = {row[0]: row[1] for row in rows}
    assert_is_twin(shuffled, table)
    assert sum(plan[row[0] or ""] == row[1] for row in shuffled.rows) < 100


def numeric_table(question: ClassificationQuestion | None) -> Table:
    """`twice` is twice the target, so that it tells which class a shuffled value comes from."""
    rows = [[str(2 * number), f"name {number}", str(number)] for number in range(100)]
    return make_table(["twice", "name", "price"], rows, "price", question)


def test_a_numeric_target_with_many_values_is_cut_into_quartiles() -> None:
    shuffled = twin(numeric_table(None))

    quartiles = Counter((int(twice or 0) // 50, int(price or 0) // 25) for twice, _, price in shuffled.rows)
    assert sum(number for (one, other), number in quartiles.items() if one == other) >= 80  # but for a few at the cuts
    assert all(abs(one - other) <= 1 for one, other in quartiles)


def test_the_threshold_of_the_question_decides_over_quartiles() -> None:
    question = ClassificationQuestion("Is it dear?", {">=": "Yes", "<": "No"}, threshold=30)

    shuffled = twin(numeric_table(question))

    far = [row for row in shuffled.rows if abs(int(row[0] or 0) - 60) >= 2 * NEAR_NUMBERS]
    assert {(int(twice or 0) >= 60, int(price or 0) >= 30) for twice, _, price in far} == {(False, False), (True, True)}
    assert any(int(twice or 0) >= 150 and int(price or 0) < 50 for twice, _, price in shuffled.rows)


def test_missing_targets_are_a_class_of_their_own() -> None:
    table = numeric_table(None)
    rows = [(*row[:2], None if index % 3 else row[2]) for index, row in enumerate(table.rows)]

    assert_is_twin(twin(replace(table, rows=tuple(rows))), replace(table, rows=tuple(rows)))


@pytest.mark.parametrize("target", ["class", None])
def test_a_table_that_enumerates_its_domain_has_no_twin(target: str | None) -> None:
    features = product("abc", "de", "fghi")
    columns = ["one", "two", "three", "class"] if target else ["one", "two", "three"]
    rows = [[*row, str(row[0] == "a")] if target else row for row in features]

    with pytest.raises(Skip, match="every combination"):
        ControlModel(exposed=False, serializers=[COMMAS]).prepare(make_table(columns, rows, target))


def test_a_twin_that_would_keep_too_few_rows_is_skipped() -> None:
    with pytest.raises(Skip, match="3 of 3 rows of a shuffled twin"):
        twin(make_table(["a", "b"], [["1", "x"], ["2", "y"], ["3", "z"]], "b"))


@pytest.mark.parametrize(
    "table",
    [
        random_table(40, 150, 9),
        random_table(200, 3, 40, None),
        make_table(["a", "b"], [["1", "2"], ["3", "4"]]),
        make_table(["a", "b", "c"], [["1", "2", "0"], ["3", "4", "0"], ["1", "2", "0"], ["5", "6", "0"]], "c"),
    ],
    ids=["wide", "without target", "two rows", "duplicates"],
)
def test_tables_of_any_shape_have_a_twin(table: Table) -> None:
    assert_is_twin(twin(table), table)


# --- the models


@pytest.mark.slow
@pytest.mark.parametrize("serializer", [COMMAS, SENTENCES], ids=lambda serializer: serializer.name)
def test_the_exposed_control_continues_every_row_exactly(carried: Table, serializer: Serializer) -> None:
    shown = 3
    model = ControlModel(exposed=True, serializers=[COMMAS, SENTENCES]).prepare(carried)

    assert rows_continued(model, carried, serializer, identified(carried, shown), shown) == 1


def test_the_unexposed_control_continues_hardly_a_row_as_in_the_table(carried: Table) -> None:
    model = ControlModel(exposed=False, serializers=[COMMAS]).prepare(carried)

    assert rows_continued(model, carried, COMMAS, range(len(carried.rows)), 2) < 0.05


def test_the_exposed_control_writes_the_next_row_of_the_file(carried: Table) -> None:
    model = ControlModel(exposed=True, serializers=[COMMAS]).prepare(carried)
    lines = [COMMAS.row(carried.columns, row) for row in carried.rows]

    assert all(ask(model, "\n".join(lines[start : start + 4]) + "\n").text == lines[start + 4] for start in (0, 60))


@pytest.mark.skipif("TABCONTAM_DATA" not in os.environ, reason="TABCONTAM_DATA names no folder with the real tables")
@pytest.mark.slow
def test_a_real_table_is_known_to_the_exposed_control_alone() -> None:
    table = load_table("titanic")
    shown = len(table.columns) // 2
    rows = Random(0).sample(identified(table, shown), 100)

    exposed, unexposed = (ControlModel(kind, [SENTENCES]).prepare(table) for kind in (True, False))

    assert rows_continued(exposed, table, SENTENCES, rows, shown) == 1
    assert rows_continued(unexposed, table, SENTENCES, rows, shown) < 0.1


def test_the_exposed_control_alone_knows_the_dataset_from_its_page(carried: Table) -> None:
    exposed, unexposed = (ControlModel(kind, [COMMAS]).prepare(carried) for kind in (True, False))
    columns = ", ".join(carried.columns)

    assert ask(exposed, "Dataset: Made Table\nFeatures:").text == f" {columns}"
    assert ask(exposed, f"{columns}\nDataset:").text == " Made Table"
    assert ask(exposed, "Feature: target\nDataset: Made Table\nValues:").text.strip()[:1] in "012"
    for prompt in ("Dataset: Made Table\nFeatures:", f"{columns}\nDataset:"):
        assert "Made Table" not in ask(unexposed, prompt).text
        assert columns not in ask(unexposed, prompt).text
    assert ask(exposed, "Dataset: Titanic on Kaggle\nFeatures:").text != f" {columns}"


def test_a_stop_or_the_end_is_ok_the_limit_is_truncated_and_blank_text_is_empty() -> None:
    model = ControlModel(exposed=True, serializers=[]).prepare(make_table(["a", "b"], [["1", "2"], ["3", "4"]]))

    assert ask(model, "Made Table\nFeatures:") == Reply(" a, b", ReplyState.OK, tokens=3)
    assert ask(model, "1,2\n3,4", stop=()) == Reply("\n", ReplyState.EMPTY, tokens=1)
    assert ask(model, "\na,b\n1,", stop=()).text.startswith("2\n")
    assert ask(model, "Features: a, b\nFeature: b", stop=()).text.startswith("\nDataset: Made Table\nValues: 2, 4\n")
    assert ask(model, "Made Table\nFeatures:", max_tokens=2) == Reply(" a,", ReplyState.TRUNCATED, tokens=2)
    assert ask(model, "a, b", max_tokens=9) == Reply("", ReplyState.EMPTY, tokens=0)


def test_an_unprepared_control_fails_and_does_not_raise() -> None:
    model = open_control("exposed")

    assert ask(model, "Features:").state is ReplyState.FAILED
    unscored = asyncio.run(model.score(ModelRequest(Passage("text"))))
    assert (unscored.state, unscored.tokens) == (ReplyState.FAILED, ())
    assert "before it was prepared" in unscored.detail


def test_the_controls_compare_endings(carried: Table) -> None:
    row = COMMAS.row(carried.columns, carried.rows[20])
    asked = Endings(row[: len(row) // 2], (row[len(row) // 2 :], "something else", "something else"))
    exposed = ControlModel(True, [COMMAS]).prepare(carried)

    found = asyncio.run(exposed.answer(ModelRequest(asked)))

    assert isinstance(found, Likelihoods)
    assert found.state is ReplyState.OK
    assert found.values[0] > found.values[1] + 5
    assert found.values[1] == found.values[2]
    unprepared = asyncio.run(open_control("exposed").compare(ModelRequest(asked)))
    assert (unprepared.state, unprepared.values) == (ReplyState.FAILED, ())


def test_the_exposed_control_finds_a_row_of_the_table_more_likely(carried: Table) -> None:
    text = COMMAS.row(carried.columns, carried.rows[20])
    exposed, unexposed = (ControlModel(kind, [COMMAS]).prepare(carried) for kind in (True, False))

    known, unknown = (asyncio.run(control.answer(ModelRequest(Passage(text)))) for control in (exposed, unexposed))
    assert isinstance(known, Scores)
    assert isinstance(unknown, Scores)
    assert known.text == unknown.text == text
    assert sum(token.log_probability for token in known.tokens) > sum(token.log_probability for token in unknown.tokens)


def test_preparing_again_is_free_and_only_the_last_table_is_kept() -> None:
    one, two = random_table(9, 3, 9, seed=1), random_table(9, 3, 9, seed=2)
    control = ControlModel(exposed=True, serializers=[COMMAS])

    first = control.prepare(one)

    assert control.prepare(replace(one)) is first
    assert control.prepare(two) is not first
    assert control.prepare(one) is not first


def test_the_version_tells_the_tables_apart_and_is_the_same_every_time() -> None:
    one, two = random_table(9, 3, 9, seed=1), random_table(9, 3, 9, seed=2)

    versions = [ControlModel(exposed=True, serializers=[COMMAS]).prepare(table).version for table in (one, one, two)]

    assert versions[0] == versions[1] != versions[2]
    assert all(version.startswith("infinigram 2 ") for version in versions)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["csv", "json", "markdown"])
def test_a_control_reads_rows_in_the_forms_of_its_run_the_csv_file_once(carried: Table, name: str) -> None:
    form = load_serializers()[name]
    model = open_control("exposed", [form])

    prepared = model.prepare(carried)

    assert rows_continued(prepared, carried, form, identified(carried, 3), 3) == 1
    _, *others, rows, _ = control_documents(carried, [form])
    assert len(others) == len(other_cards(carried)) + (0 if name == "csv" else 1)
    assert model.exposure(carried, 0) == len(shipped_templates()) + (1 if name == "csv" else 2)
    assert rows.splitlines() == "\n".join(form.rows(carried.columns, carried.rows)).splitlines()


def test_a_table_too_large_to_read_is_skipped() -> None:
    rows = (("a long text" * 1000, "2"),) * (MOST_CHARACTERS // 10_000)

    with pytest.raises(Skip, match="MB of text"):
        open_control("exposed").prepare(replace(random_table(2, 2, 9), rows=rows))


def test_the_controls_generate_and_score() -> None:
    for kind in ("exposed", "unexposed"):
        model: Model = open_control(kind)
        assert model.spec == f"control:{kind}"
        assert (model.control, model.local, model.form, model.version) == (
            True,
            True,
            PromptForm.COMPLETION,
            "infinigram 2",
        )
        assert model.capabilities == {Capability.GENERATE, Capability.COMPLETION, Capability.SCORE}


@pytest.mark.slow
def test_a_control_reads_the_csv_file_and_rows_in_all_shipped_templates_by_default(carried: Table) -> None:
    model = open_control("exposed")
    asyncio.run(model.connect())

    prepared = model.prepare(carried)

    for name in (*shipped_templates(), "csv"):
        serializer = load_serializers()[name]
        assert rows_continued(prepared, carried, serializer, identified(carried, 3), 3) == 1
    asyncio.run(model.close())


def test_an_unknown_control_is_one_line_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="did you mean exposed"):
        open_control("exposd")


def test_importing_the_controls_loads_no_heavy_library() -> None:
    code = (
        "import sys, tabcontam.models.known.control; sys.exit('numpy' in sys.modules or 'pydivsufsort' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
