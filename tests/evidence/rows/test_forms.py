"""Answers to prompts that show rows as CSV, JSON or Markdown, in the ways that LLMs write them."""

from dataclasses import replace
from random import Random

import pytest

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.evidence.base import Message, Prompt, Query, Reading, Reply, ReplyState
from tabcontam.evidence.checks import given_away, rendered
from tabcontam.evidence.mixins import WordedTest
from tabcontam.evidence.registry import all_tests, by_id
from tabcontam.evidence.rows.completion_tests import FeatureCompletion, FullCompletion, IncompleteCompletion
from tabcontam.evidence.score.memory_share import TwinShareTest
from tabcontam.tables.serializers import load_serializers
from tests.made_tables import ships

FORMS = load_serializers()
COLUMNS = ("id", "Name", "Age", "Cabin", "Fare", "Embarked")
SHOWN = (("8", 'Dahl, Mr. "Karl"', "45", None, "8.05", "S"), ("9", "Moor, Miss", "22", "C85", "7.25", "C"))
ROW = ("10", 'Fynney, Mr. Joseph "Joe"', "35", None, "1026.50", "Q")
TESTS = {"full": FullCompletion(), "incomplete": IncompleteCompletion(), "feature": FeatureCompletion()}
NUMBERS = CellPrediction({"1026.50": 0.1, "8": 0.1}, 0.1)


def query(test: str, form: str, first: int, last: int = len(COLUMNS), row: tuple[str | None, ...] = ROW) -> Query:
    """What a test asks about the features from `first` to `last`, behind rows that a prompt shows in a form."""
    rows = "\n".join(FORMS[form].rows(COLUMNS, SHOWN))
    text = f"Rows of the dataset Ships:\n{rows}\n{FORMS[form].prefix(COLUMNS, row, first) if first else ''}"
    prompt = Prompt((Message("user", text),), text, text)
    asked, expected = COLUMNS[first:last], row[first:last]
    chance = {name: NUMBERS for name in asked if name in ("id", "Age", "Fare")}
    return Query(f"{test}_completion-0", lambda: prompt, asked, expected, 99, chance=chance)


def read(query: Query, text: str, form: str, state: ReplyState = ReplyState.OK) -> Reading:
    return TESTS[query.id.partition("_")[0]].read(query, Reply(text, state), FORMS[form])


LAST = [  # the last two cells, in ways that are read whatever the form of the prompt
    "1026.50,Q",
    " 1026.50, Q\n",
    '"1026.50","Q"',
    "1026.50,Q.",
    "1026.50,          Q",
    f"1026.5,   {' ' * 5000}Q",
    "```csv\n1026.50,Q\n```",
    "Sure! Here is the rest of the row:\n\n```\n1026.50,Q\n```\nLet me know if you need more.",
    "Answer: 1026.50,Q",
    "Fare,Embarked\n1026.50,Q",
    "Fare: 1026.50, Embarked: Q",
    "The Fare is 1026.50, The Embarked is Q",
    "Fare = 1026.50, Embarked = Q",
    "- **Fare**: 1026.50\n- **Embarked**: Q",
    '{"Fare": 1026.50, "Embarked": "Q"}',
    '```json\n{"Fare": "1026.50", "Embarked": "Q"}\n```',
    '[1026.50, "Q"]',
    '{"id": 10, "Name": "Fynney, Mr. Joseph \\"Joe\\"", "Age": 35, "Cabin": null, "Fare": 1026.50, "Embarked": "Q"}',
    "| 1026.50 | Q |",
    "|1026.50|Q|",
    "| Fare | Embarked |\n|---|---|\n| 1026.50 | Q |",
    "| id | Name | Age | Cabin | Fare | Embarked |\n|---|---|---|---|---|---|\n| 10 | Moor | 35 |  | 1026.50 | Q |",
    "| Feature | Value |\n|---|---|\n| Fare | 1026.50 |\n| Embarked | Q |",
    "1026.50\nQ",
]
OWN = {  # in the prompt's own form: with what it leaves off, or a whole row, which is read by the prompt's header
    "csv": [
        ",1026.50,Q",
        "1026.50,Q,",
        '10,"Fynney, Mr. Joseph ""Joe""",35,,1026.50,Q',
        "10,Fynney,35,,1026.50,Q.",
        '10, "Fynney, Mr. Joseph", 35, , 1026.50, Q',
        'id,Name,Age,Cabin,Fare,Embarked\n10,"Fynney, Mr. Joseph ""Joe""",35,,1026.50,Q',
        '9,"Moor, Miss",22,C85,7.25,C\n1026.50,Q',
    ],
    "json": [' 1026.50, "Embarked": "Q"}', '1026.50, "Embarked": "Q"'],
    "markdown": [
        " 1026.50 | Q |",
        '| 10 | Fynney, Mr. Joseph "Joe" | 35 |  | 1026.50 | Q |',
        "|10|Fynney, Mr. Joseph|35||1026.50|Q|",
        "10 | Fynney, Mr. Joseph | 35 |  | 1026.50 | Q",
        "```\n| 10 | Fynney, Mr. Joseph | 35 |  | 1026.50 | Q |\n```",
    ],
}


@pytest.mark.parametrize("form", OWN)
def test_the_last_cells_are_read_in_any_shape(form: str) -> None:
    asked = query("incomplete", form, 4)
    for text in (*LAST, *OWN[form]):
        assert read(asked, text, form).hit, text
        wrong = read(asked, text.replace("1026.5", "2026.5"), form)
        assert (wrong.hit, wrong.readable) == (False, True), text


WHOLE = {
    "json": [
        FORMS["json"].row(COLUMNS, ROW),
        "```json\n[" + FORMS["json"].row(COLUMNS, ROW) + "]\n```",
        '{"id": "10", "Name": "Fynney, Mr. Joseph \\"Joe\\"", "Age": "35", "Cabin": "", "Fare": "1026.50", '
        '"Embarked": "Q"}',
    ],
    "markdown": [
        FORMS["markdown"].row(COLUMNS, ROW),
        "\n".join(FORMS["markdown"].rows(COLUMNS, [ROW])),
        '|10|Fynney, Mr. Joseph "Joe"|35||1026.50|Q|',
        '|10|Fynney, Mr. Joseph "Joe"|35|NaN|1026.50|Q|',
    ],
}


@pytest.mark.parametrize("form", ["csv", "json", "markdown"])
def test_a_whole_row_is_read_in_its_form_and_in_others(form: str) -> None:
    for named in ("is", "colon", "equals", "csv", "json", "markdown"):
        for text in (*WHOLE.get(named, ()), FORMS[named].row(COLUMNS, ROW)):
            assert read(query("full", form, 0), text, form).hit, text


def test_a_text_whose_quotes_were_forgotten_is_read_where_no_other_comma_has_a_space() -> None:
    row = ("10", "Fynney, Mr. Joseph J", "35", None, "1026.50", "Q")
    assert read(query("full", "csv", 0, row=row), "10,Fynney, Mr. Joseph J,35,,1026.50,Q", "csv").hit


@pytest.mark.parametrize("form", ["csv", "json", "markdown"])
def test_one_value_is_read_bare_or_named(form: str) -> None:
    texts = [
        'Fynney, Mr. Joseph "Joe"',
        'The Name is Fynney, Mr. Joseph "Joe"',
        '{"Name": "Fynney, Mr. Joseph \\"Joe\\""}',
        'Name\nFynney, Mr. Joseph "Joe"',
        '```\nFynney, Mr. Joseph "Joe"\n```',
        '| Name |\n|---|\n| Fynney, Mr. Joseph "Joe" |',
        'Answer: Fynney, Mr. Joseph "Joe".',
    ]
    assert [text for text in texts if not read(query("feature", form, 1, 2), text, form).hit] == []


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("csv", '"Fynney, Mr. Joseph ""Joe""",35,,1026.50,Q'),
        ("csv", '10,"Fynney, Mr. Joseph ""Joe""",35,,1026.50,Q'),
        ("json", ' "Fynney, Mr. Joseph \\"Joe\\"", "Age": 35, "Cabin": null, "Fare": 1026.50, "Embarked": "Q"}'),
        ("json", '"Fynney, Mr. Joseph \\"Joe\\""'),
        ("json", '"Name": "Fynney, Mr. Joseph \\"Joe\\""'),
        ("markdown", ' Fynney, Mr. Joseph "Joe" | 35 |  | 1026.50 | Q |'),
        ("markdown", '| Fynney, Mr. Joseph "Joe" |'),
        ("markdown", '| 10 | Fynney, Mr. Joseph "Joe" | 35 |  | 1026.50 | Q |'),
    ],
)
def test_one_value_is_read_at_the_beginning_of_the_row_that_follows_or_in_a_whole_row(form: str, text: str) -> None:
    assert read(query("feature", form, 1, 2), text, form).hit


def test_the_comma_before_the_asked_cell_may_stand_there_once_more() -> None:
    """Qwen2.5-Coder 1.5B wrote it in nine of nine rows of Titanic, and eight of them were called not understood."""
    asked = query("feature", "csv", 1, 2)
    given = read(asked, ',"Smith, Mr. William",35,,1026.50,Q', "csv")
    assert (given.parsed, given.readable) == ({"Name": "Smith, Mr. William"}, True)
    assert read(asked, ',"Fynney, Mr. Joseph ""Joe""",35,,1026.50,Q', "csv").right == ("Name",)
    empty = read(query("feature", "csv", 3, 4), ",1026.50,Q", "csv")  # its comma ends the cell
    assert empty.parsed in (None, {"Cabin": None})
    assert read(asked, "1.\n-", "csv").parsed == {"Name": "1"}  # lines of a list, with nothing in them


@pytest.mark.parametrize("form", ["csv", "json", "markdown"])
def test_one_number_is_read_with_the_commas_of_thousands(form: str) -> None:
    texts = ["1026.50", "1,026.50", "1026.5.", "$1026.50", "Fare: 1026.50", "The Fare is 1026.50"]
    assert [text for text in texts if not read(query("feature", form, 4, 5), text, form).hit] == []


TALK = [
    "Sure, I'd be happy to help!",
    "I'm sorry, I cannot know.",
    "As an AI, I have no access, sorry",
    "I don't know",
    "Unknown",
    "The last row lacks its features, which are not given",
    "Based on the rows, it depends",
    "|",
    "| --- | --- |",
    "|---|---|",
    "{}",
    '{"a": 1}',
    "",
]


@pytest.mark.parametrize("form", ["csv", "json", "markdown"])
def test_talk_is_no_answer(form: str) -> None:
    assert [text for text in TALK if read(query("incomplete", form, 4), text, form).readable] == []
    assert [text for text in TALK if read(query("full", form, 0), text, form).readable] == []


@pytest.mark.parametrize("form", ["is", "csv", "json", "markdown"])
@pytest.mark.parametrize("text", ["I'm sorry, but I can't help with that.", "Es tut mir leid, das weiß ich nicht."])
def test_a_refusal_is_no_answer_where_a_text_is_asked(form: str, text: str) -> None:
    names = CellPrediction({"Dahl, Mr. Karl": 0.1, "Moor, Miss": 0.1}, 0.1)
    asked = replace(query("feature", form, 1, 2), chance={"Name": names})
    assert not read(asked, text, form).readable
    assert read(asked, "Dahl, Mr. Karl", form).readable
    declined = CellPrediction({"Unable to work": 0.4, "Employed": 0.4}, 0.1)  # as answers to a survey may say
    assert read(replace(asked, chance={"Name": declined}), "Unable to walk", form).readable


@pytest.mark.parametrize("form", ["csv", "json", "markdown"])
def test_a_row_of_another_number_of_cells_is_not_read_by_its_places(form: str) -> None:
    short = FORMS[form].row(COLUMNS[:4], ROW[:4])
    assert not read(query("full", form, 0), short, form).hit
    assert not read(query("incomplete", form, 3), "1026.50,Q", form).readable


@pytest.mark.parametrize("form", ["csv", "json", "markdown"])
def test_a_cut_answer_keeps_the_cells_that_were_over(form: str) -> None:
    row, asked = FORMS[form].row(COLUMNS, ROW), query("full", form, 0)
    test = TESTS["full"]
    assert test.complete(asked, f"{row}\nThe", FORMS[form])
    assert not test.complete(asked, row[:-2], FORMS[form])
    assert "Embarked" not in (read(asked, row[:-2], form, ReplyState.TRUNCATED).parsed or {})


SHOWING = ["incomplete_completion", "full_completion", "feature_completion", "membership", "feature_values_informed"]


@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
@pytest.mark.parametrize("form", ["csv", "markdown"])
@pytest.mark.parametrize("test", SHOWING)
def test_a_header_stands_above_rows_that_name_no_features(form: str, test: str) -> None:
    table, serializer = replace(ships()), FORMS[form]
    header, rows = serializer.header(table.columns)[0], {serializer.row(table.columns, row) for row in table.rows}
    for asked in by_id()[test].queries(table, serializer, Random(0)):
        if asked.decoy_of:  # shows the cells of one feature alone
            continue
        for text in (asked.prompt.completion, asked.prompt.chat[-1].content):
            lines = [line.removeprefix("Row: ") for line in text.splitlines()]
            whole = [number for number, line in enumerate(lines) if line in rows]
            if whole or text == asked.prompt.completion:
                assert header in lines[: whole[0]]


@pytest.mark.usefixtures("cheaply")
@pytest.mark.parametrize("form", ["csv", "markdown"])
def test_a_row_without_one_feature_stands_below_a_header_without_it(form: str) -> None:
    table, serializer = replace(ships()), FORMS[form]
    for asked in FeatureCompletion().queries(table, serializer, Random(0)):
        others = [name for name in table.columns if name != asked.asked[0]]
        cells = [table.rows[asked.rows[-1]][table.columns.index(name)] for name in others]
        assert serializer.alone(others, cells) in asked.prompt.chat[-1].content
        assert serializer.row(table.columns, table.rows[asked.rows[-1]]) not in asked.prompt.chat[-1].content


@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
@pytest.mark.parametrize(  # the class of a ship says nothing, and a twin that may have another one is not asked about
    "test",
    [
        one.id
        for one in all_tests()
        if not one.row_test and isinstance(one, WordedTest) and not isinstance(one, TwinShareTest)
    ],
)
def test_nothing_expected_stands_in_a_prompt_that_shows_rows_in_these_forms(test: str) -> None:
    table = replace(ships())
    for form in ("csv", "json", "markdown"):
        for asked in by_id()[test].queries(table, FORMS[form], Random(0)):
            if not asked.asked or (asked.asked[0] not in ("Yes", "No") and not asked.chance.get("majority")):
                text = rendered(asked.prompt)
                assert not [word for word in asked.expected if word and given_away(word, text)], form


@pytest.mark.parametrize("form", ["csv", "json", "markdown"])
def test_the_published_algorithm_finds_the_values_of_a_row_in_these_forms(form: str) -> None:
    row = (*ROW[:3], "C 85", *ROW[4:])
    asked = query("incomplete", form, 3, row=row)
    assert read(asked, FORMS[form].row(COLUMNS[3:], row[3:]), form).paper_hit
    assert not read(asked, FORMS[form].row(COLUMNS[3:], ("C 85", "7", "Q")), form).paper_hit


TWICE = [  # the fare by two values; either could be meant
    '{"Fare": 1026.50, "fare": 7.25, "Embarked": "Q"}',
    '{"fare": 7.25, "Fare": 1026.50, "Embarked": "Q"}',
    '{\n  "Fare": 7.25,\n  "Fare": 1026.50,\n  "Embarked": "Q"\n}',
    "Fare: 1026.50, Fare: 7.25, Embarked: Q",
    "The Fare is 7.25, The Embarked is Q, The Fare is 1026.50",
    "| Fare | Fare | Embarked |\n|---|---|---|\n| 7.25 | 1026.50 | Q |",
    "| Feature | Value |\n|---|---|\n| Fare | 7.25 |\n| Fare | 1026.50 |\n| Embarked | Q |",
    "Fare,Fare,Embarked\n1026.50,7.25,Q",
]


@pytest.mark.parametrize("form", ["is", "csv", "json", "markdown"])
def test_a_feature_that_is_named_twice_with_two_values_is_not_answered(form: str) -> None:
    for text in TWICE:
        given = read(query("incomplete", form, 4), text, form)
        assert not isinstance(given.parsed, dict) or "Fare" not in given.parsed, text
        assert not given.hit, text
        assert "Fare" not in given.right, text


@pytest.mark.parametrize("form", ["is", "csv", "json", "markdown"])
def test_a_feature_that_is_named_twice_with_one_value_is_answered(form: str) -> None:
    texts = [text.replace("7.25", "1026.50") for text in TWICE[:-1]]
    assert [text for text in texts if not read(query("incomplete", form, 4), text, form).hit] == []


@pytest.mark.parametrize("form", ["is", "csv", "json", "markdown"])
def test_one_text_that_is_named_twice_with_two_values_is_no_answer(form: str) -> None:
    texts = [
        '{"Name": "Moor", "name": "Dahl"}',
        "Name: Moor, Name: Dahl",
        "Name is Moor. Name is Dahl",
        "The Name is Dahl, The Name is Moor",
    ]
    assert [text for text in texts if read(query("feature", form, 1, 2), text, form).readable] == []


@pytest.mark.parametrize("form", ["is", "csv", "json", "markdown"])
def test_a_number_that_is_said_again_with_a_unit_or_a_reason_is_one_value(form: str) -> None:
    for again in ("1026.50 dollars", "1,026.5", "1026.50 because the others are"):
        text = f"The Fare is 1026.50, The Embarked is Q. So the Fare is {again}"
        assert "Fare" in read(query("incomplete", form, 4), text, form).right


@pytest.mark.parametrize("form", ["is", "json"])
def test_further_rows_on_lines_of_their_own_do_not_unsay_the_first(form: str) -> None:
    row, other = FORMS[form].row(COLUMNS[4:], ROW[4:]), FORMS[form].row(COLUMNS[4:], SHOWN[1][4:])
    assert read(query("incomplete", form, 4), f"{row}\n{other}", form).hit


def test_columns_whose_names_differ_in_case_alone_have_a_value_each() -> None:
    columns, row = ("x", "age", "Age"), ("1", "20", "39")
    shown = "\n".join(FORMS["csv"].rows(columns, [("2", "30", "31")]))
    prompt = Prompt((Message("user", shown),), shown, shown)
    asked = Query("incomplete_completion-0", lambda: prompt, columns[1:], row[1:], 99)
    for text in ("1,20,39", "20,39", "x,age,Age\n1,20,39"):
        assert read(asked, text, "csv").hit
