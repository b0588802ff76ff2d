"""Answers to the row tests, in the shapes that LLMs give them: right ones are hits, talk is no answer."""

import json
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.evidence.base import Message, Prompt, Query, Reading, Reply, ReplyState, Trial
from tabcontam.evidence.knowledge.feature_lists import FeatureListUninformed
from tabcontam.evidence.knowledge.recognition import RecognitionFeatures
from tabcontam.evidence.rows.answer_cells import sorts_of
from tabcontam.evidence.rows.completion_tests import FeatureCompletion, FullCompletion, IncompleteCompletion
from tabcontam.evidence.rows.membership import Membership
from tabcontam.evidence.trial_reading import read_trial
from tabcontam.reading.answer_readers import read_json, read_list
from tabcontam.tables.serializers import load_serializers

SHOWN = "The age is 20, The T is 2, The master is Brown, Mr. A, The Smoking is Yes, The Hx Smoking is Yes"
PROMPT = Prompt((Message("user", f"Rows:\n{SHOWN}\n\nWrite the row."),), f"Rows:\n{SHOWN}\n", "")
COLUMNS = ("age", "T", "master", "Smoking", "Hx Smoking")
VALUES = ("39", "1.50", "Braund, Mr. Owen", "No", "Yes")
ROW = Query("full_completion-0", lambda: PROMPT, COLUMNS, VALUES, 99)
THREE = Query("incomplete_completion-0", lambda: PROMPT, ("age", "T", "Smoking"), ("39", "1.50", "No"), 99)
NUMBER = Query("feature_completion-0", lambda: PROMPT, ("age",), ("39",), 99)
NAME = Query("feature_completion-0", lambda: PROMPT, ("master",), ("Braund, Mr. Owen",), 99)
SERIALIZERS = load_serializers()


def read(
    query: Query,
    text: str,
    state: ReplyState = ReplyState.OK,
    serializer: str = "is",
    test: FullCompletion | IncompleteCompletion | FeatureCompletion | None = None,
) -> Reading:
    known = {"full": FullCompletion(), "incomplete": IncompleteCompletion(), "feature": FeatureCompletion()}
    reader = test or known[query.id.partition("_")[0]]
    return reader.read(query, Reply(text, state), SERIALIZERS[serializer])


RIGHT_ROWS = [
    "The age is 39, The T is 1.50, The master is Braund, Mr. Owen, The Smoking is No, The Hx Smoking is Yes",
    "age = 39, T = 1.50, master = Braund, Mr. Owen, Smoking = No, Hx Smoking = Yes",
    "age: 39, T: 1.50, master: Braund, Mr. Owen, Smoking: No, Hx Smoking: Yes",
    "The age is equal to 39, The T is equal to 1.5, The master is equal to Braund, Mr. Owen, "
    "The Smoking is equal to No, The Hx Smoking is equal to Yes",
    "Hx Smoking: Yes, Smoking: No, master: Braund, Mr. Owen, T: 1.5, age: 39",
    '{"age": 39, "T": 1.50, "master": "Braund, Mr. Owen", "Smoking": "No", "Hx Smoking": "Yes"}',
    'Here it is:\n```json\n[{"age": "39", "T": 1.5, "master": "Braund, Mr. Owen", "Smoking": "No", '
    '"Hx Smoking": "Yes"}]\n```',
    "| age | T | master | Smoking | Hx Smoking |\n|---|---|---|---|---|\n| 39 | 1.50 | Braund, Mr. Owen | No | Yes |",
    "1. **age**: 39\n2. **T**: 1.5\n3. **master**: Braund, Mr. Owen\n4. **Smoking**: No\n5. **Hx Smoking**: Yes",
    "- `age` = 39\n- `T` = 1.5\n- `master` = Braund, Mr. Owen\n- `Smoking` = No\n- `Hx Smoking` = Yes",
    '39, 1.50, "Braund, Mr. Owen", No, Yes',
    "39;1.50;Braund, Mr. Owen;No;Yes",
    f"{SHOWN}\nThe age is 39, The T is 1.50, The master is Braund, Mr. Owen, The Smoking is No, The Hx Smoking is Yes",
    "I don't have access to the file, but my best guess: The age is 39, The T is 1.50, The master is Braund, Mr. Owen, "
    "The Smoking is No, The Hx Smoking is Yes",
]


@pytest.mark.parametrize("text", RIGHT_ROWS)
def test_a_right_row_is_a_hit_in_any_shape(text: str) -> None:
    assert read(ROW, text).hit


@pytest.mark.parametrize("serializer", list(SERIALIZERS))
@pytest.mark.parametrize("text", RIGHT_ROWS[:5])
def test_a_right_row_is_a_hit_whatever_the_serializer_of_the_query(text: str, serializer: str) -> None:
    assert read(ROW, text, serializer=serializer).hit


@pytest.mark.parametrize("text", RIGHT_ROWS)
def test_one_wrong_cell_is_no_hit_but_an_answer(text: str) -> None:
    reading = read(ROW, text.replace("39", "38"))
    assert (reading.hit, reading.readable) == (False, True)


def test_a_feature_is_not_read_from_another_whose_name_ends_alike() -> None:
    reading = read(ROW, "age: 39, T: 1.5, master: Braund, Mr. Owen, Hx Smoking: No, Smoking: Yes", serializer="colon")
    assert reading.parsed == {
        "age": "39",
        "T": "1.5",
        "master": "Braund, Mr. Owen",
        "Smoking": "Yes",
        "Hx Smoking": "No",
    }
    assert not reading.hit


@pytest.mark.parametrize("text", ["39, The T is 1.50, The Smoking is No", " 39, The T is 1.50, The Smoking is No\nThe"])
def test_a_continuation_is_read_from_its_first_value(text: str) -> None:
    assert read(THREE, text).hit


RIGHT_THREE = [
    "Answer: 39, 1.50, No",
    "['39', '1.50', 'No']",
    "(39, '1.5', 'No')",
    "| 39 | 1.50 | No |",
    "39\n1.50\nNo",
    "1. 39\n2. 1.50\n3. No",
    "The age is 39,\nThe T is 1.50,\nThe Smoking is No",
    "| feature | value |\n|---|---|\n| age | 39 |\n| T | 1.50 |\n| Smoking | No |",
    "age: 39; T: 1.50; Smoking: No",
    "age = 39 and T = 1.50 and Smoking = No",
    "39, T: 1.50, Smoking: No",
]


@pytest.mark.parametrize("text", RIGHT_THREE)
def test_three_right_cells_are_a_hit_in_any_shape(text: str) -> None:
    assert read(THREE, text).hit
    wrong = read(THREE, text.replace("1.5", "2.5"))
    assert (wrong.hit, wrong.readable) == (False, True)


def test_a_reader_that_runs_values_together_gives_way_to_one_that_does_not() -> None:
    parsed = read(THREE, "The age is 39 - The T is 1.50 - The Smoking is No").parsed
    assert parsed == {"age": "39", "T": "1.50", "Smoking": "No"}


def test_a_prompt_is_written_again_only_where_the_answer_asks_for_it() -> None:
    """Its rows show what values look like that the guesser lists none of; its lines may be repeated."""
    written: list[Prompt] = []

    def write() -> Prompt:
        written.append(PROMPT)
        return PROMPT

    known = {
        name: CellPrediction({value: 0.5, f"{value}1": 0.2, f"{value}2": 0.2}, 0.01)
        for name, value in zip(COLUMNS, VALUES, strict=True)
    }
    counted = replace(ROW, write=write, chance=known)
    assert read(counted, SERIALIZERS["is"].row(COLUMNS, VALUES)).hit
    assert len(written) == 0
    assert read(counted, f"{SHOWN}\n{SERIALIZERS['is'].row(COLUMNS, VALUES)}").hit
    assert len(written) == 1


def test_a_value_may_be_the_word_unknown() -> None:
    shown = replace(
        PROMPT, completion="The pdays is 9, The poutcome is unknown\nThe pdays is 3, The poutcome is failure\n"
    )
    query = Query("incomplete_completion-0", lambda: shown, ("pdays", "poutcome"), ("0", "unknown"), 99)
    assert read(query, "The pdays is 0, The poutcome is unknown").hit
    assert not read(query, "The pdays is unknown, The poutcome is unknown").hit


TALK = [
    "Sure, I'd be happy to help!",
    "Unknown",
    "N/A",
    "No idea.",
    "I apologize, but this is beyond what I have memorized.",
    "As a language model I have no memory of files.",
    "It is impossible to know.",
    "Write the row that follows in the file, on one line and in the form of these rows.",
    SHOWN + "\n" + SHOWN,
    "RED <script>alert(1)</script> AAAA",
    "",
]


@pytest.mark.parametrize("text", TALK)
@pytest.mark.parametrize("query", [ROW, THREE, NUMBER], ids=["row", "three", "number"])
def test_talk_is_no_answer(query: Query, text: str) -> None:
    reading = read(query, text)
    assert (reading.hit, reading.readable) == (False, False)


@pytest.mark.parametrize(
    "text",
    ["39", "39.0", "**39**", "```\n39\n```", "The age is 39.", "Answer: 39", "age = 39", "The value of age is 39.",
     "Sure!\n39", "Sure! Here is the value:\n\n39", "39, The T is 1.50, The", "The age is 39. This is from memory.",
     "The answer is **39**.", "The age of this row is 39", "The age value is 39", "My best guess: 39",
     "I would guess 39", "[39]", '{"age": 39}', "\\boxed{39}", "<answer>39</answer>", "39 years",
     "age is 39, I think", "The age is: 39"],
)  # fmt: skip
def test_a_right_number_is_a_hit(text: str) -> None:
    assert read(NUMBER, text).hit


@pytest.mark.parametrize("text", ["Braund, Mr. Owen", '"Braund, Mr. Owen"', "The master is Braund, Mr. Owen"])
def test_a_right_name_is_a_hit(text: str) -> None:
    assert read(NAME, text).hit


@pytest.mark.parametrize(
    "text",
    [
        "390",
        "3",
        "3,9",
        "1, 39",
        "about 40",
        "3101282",
        "39 thousand",
        "39 or 40",
        "39 to 45",
        "39. No, 40",
        "39 is wrong; 5",
        "The age is 39 or 40",
        "39 plus 30",
        "The age is not 39",
    ],
)
def test_a_number_that_only_holds_the_right_one_is_no_hit(text: str) -> None:
    assert not read(NUMBER, text).hit


@pytest.mark.parametrize(
    ("query", "text", "complete"),
    [
        (NUMBER, "39", False),
        (NUMBER, "39\n", True),
        (NUMBER, "39, The T is 1.5", True),
        (NUMBER, "Sure, let me think:\nThe age is 3", False),
        (NUMBER, "Let me think about it.\nThe row is from", False),
        (THREE, " 39, The T is 1.50, The Smoking is N", False),
        (THREE, " 39, The T is 1.50, The Smoking is No, The Hx Smoking is", True),
        (THREE, " 39, The T is 1.50, The Smoking is No\nThe age", True),
        (THREE, " 39, The T is 1.50\n", False),
        (THREE, "| age | T | Smoking |\n|---|---|---|\n", False),
        (THREE, "| age | T | Smoking |\n|---|---|---|\n| 39 | 1.50 | N", False),
        (THREE, "| age | T | Smoking |\n|---|---|---|\n| 39 | 1.50 | No |", True),
    ],
)
def test_what_of_a_cut_answer_is_complete(query: Query, text: str, complete: bool) -> None:
    test = FeatureCompletion() if query is NUMBER else IncompleteCompletion()
    assert test.complete(query, text, SERIALIZERS["is"]) is complete


def test_a_value_that_was_cut_is_no_hit() -> None:
    query = Query("feature_completion-0", lambda: PROMPT, ("T",), ("4.0",), 64)
    assert not read(query, "4", ReplyState.TRUNCATED).hit
    assert read(query, "4.0, The master is", ReplyState.TRUNCATED).hit


def test_a_missing_value_is_never_evidence() -> None:
    query = Query("incomplete_completion-0", lambda: PROMPT, ("age", "T"), (None, None), 99)
    assert not read(query, "The age is , The T is ").hit
    query = Query("incomplete_completion-0", lambda: PROMPT, ("age", "T"), ("39", None), 99)
    assert read(query, "The age is 39, The T is ").hit
    assert read(query, "The age is 39, The T is ").paper_hit


AGES = CellPrediction({"20": 0.3, "39": 0.2}, 0.01)
PERSON = replace(
    THREE,
    chance={
        "age": AGES,
        "T": CellPrediction({"2": 0.5}, 0.1),
        "Smoking": CellPrediction({"No": 0.5, "Yes": 0.4}, 0.01),
    },
)
POUTCOME = Query(
    "feature_completion-0",
    lambda: PROMPT,
    ("poutcome",),
    ("unknown",),
    64,
    chance={"poutcome": CellPrediction({"unknown": 0.8, "failure": 0.1}, 0.01)},
)


@pytest.mark.parametrize(
    "text",
    [
        "The age is 39 because he is not young (a guess), The T is 1.50 (typical), The Smoking is No (most do not)",
        "**age**: 39 (estimated)\n**T**: 1.50 - a common value\n**Smoking**: No, since most do so",
        "Based on the pattern, I think:\n\n- age: 39\n- T: 1.50\n- Smoking: No\n\nNote that this is a guess.",
        "I cannot be certain, but the row goes on: The age is 39, The T is 1.50, The Smoking is No.",
        "age,T,Smoking\n39,1.50,No",
        "```csv\n39,1.50,No\n```",
        '{"row": {"age": 39, "T": 1.5, "Smoking": "No"}}',
        "{'age': 39, 'T': 1.5, 'Smoking': 'No'}",
        "The missing values are 39, 1.50, and No.",
        "THE AGE IS 39, THE T IS 1.50, THE SMOKING IS NO",
        "The age is 39 years, The T is 1.50 cm, The Smoking is No",
        "The age is 39, The T is 1.50, The Smoking is No, The Hx Smoking is Yes",
    ],
)
def test_cells_are_read_with_what_explains_them(text: str) -> None:
    """B1: an answer that comes after a preamble is read like any other."""
    assert read(PERSON, text).right == ("age", "T", "Smoking")


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("The age is 38, The T is 1.50, The Smoking is No", ("T", "Smoking")),
        ("The T is 39, The age is 1.50, The Smoking is No", ("Smoking",)),
        ("The age is nan, The T is ?, The Smoking is No", ("Smoking",)),
        ("The age is , The T is , The Smoking is ", ()),
        ("I don't know the age. The T is 1.50. Smoking: No", ("T", "Smoking")),
        ("The age is unknown, The T is unknown, The Smoking is unknown", ()),
        ("I'm sorry, I cannot know this.", ()),
    ],
)
def test_the_cells_that_are_right_are_told_by_feature(text: str, right: tuple[str, ...]) -> None:
    assert read(PERSON, text).right == right


@pytest.mark.parametrize(
    "text", ["It is 39.", "It's 39", "The missing age is 39.", "The age of this person is 39", "~39", "$39",
             "The age is likely 39", "**39** (a guess)", "39 - the most frequent", "39 (since others are 39ish)"]
)  # fmt: skip
def test_a_number_is_read_out_of_a_sentence(text: str) -> None:
    expected = () if text.endswith("39ish)") else ("age",)  # another number may be what is meant
    assert read(replace(NUMBER, chance={"age": AGES}), text).right == expected


def test_a_word_for_nothing_is_a_value_where_the_feature_has_it_and_only_there() -> None:
    assert read(POUTCOME, "unknown").right == ("poutcome",)
    for text in ("N/A", "none", "not given"):
        assert not read(POUTCOME, text).readable


@pytest.mark.parametrize(
    "text", ["39", "The age is 39", "unknown", "The age is unknown", "No idea", "39 or 40", "n/a", "LINE"]
)
def test_what_is_read_does_not_hang_on_the_hidden_value(text: str) -> None:
    """An answer that was read only where it is right would look better than any guesser's."""
    queries = [replace(NUMBER, chance={"age": AGES}, expected=(value,)) for value in ("39", "40", "-1", "LINE", None)]
    assert len({str(read(query, text).parsed) for query in queries}) == 1
    queries = [replace(POUTCOME, expected=(value,)) for value in ("unknown", "failure", "39", None)]
    assert len({str(read(query, text).parsed) for query in queries}) == 1


@pytest.mark.parametrize("text", ["a" * 200_000, '"' + "a" * 200_000, "[" * 200_000], ids=["word", "quote", "brackets"])
def test_an_answer_of_one_endless_field_ended_the_run(text: str) -> None:
    trial = Trial(PERSON, Reply(text, ReplyState.OK))
    assert read_trial(IncompleteCompletion(), trial, SERIALIZERS["is"]).reply.text == text
    assert read_list(text, PERSON.asked, sorts_of(PERSON, SERIALIZERS["is"])) == {}


@pytest.mark.parametrize("serializer", list(SERIALIZERS))
@pytest.mark.parametrize("query", [PERSON, ROW], ids=["three", "row"])
def test_a_row_is_read_the_same_in_every_serializer(query: Query, serializer: str) -> None:
    text = SERIALIZERS[serializer].row(query.asked, query.expected)
    for asked_in in SERIALIZERS:
        for said in (text, f"Sure!\n\n```\n{text}\n```", text.upper(), f"{text}."):
            assert read(query, said, serializer=asked_in).right == query.asked


def test_the_published_algorithm_decides_on_the_papers_queries_alone() -> None:
    text = SERIALIZERS["is"].row(THREE.asked, THREE.expected)
    assert read(THREE, text).paper_hit
    assert not read(replace(THREE, paper=False), text).paper_hit


@pytest.mark.parametrize("shape", ["{}", "Sure! Here it is:\n\n```\n{}\n```"])
def test_a_row_in_the_form_asked_for_is_read_quickly(shape: str) -> None:
    names = tuple(f"feature number {place}" for place in range(15))
    query = Query("full_completion-0", lambda: PROMPT, names, tuple(map(str, range(15))), 99, paper=False)
    text = shape.format(SERIALIZERS["is"].row(names, query.expected))
    assert read(query, text).hit
    start = time.process_time()  # of this process alone: others may keep it waiting
    for _ in range(100):
        read(query, text)
    assert (time.process_time() - start) / 100 < 0.002  # a tenth of it on an idle machine


WORDS = Query("feature_list_uninformed-0", lambda: PROMPT, (), ("ATA", "fnlwgt"), 256)


@pytest.mark.parametrize(
    ("text", "hit", "paper"),
    [
        ("age, fnlwgt, sex", True, True),
        ("age, fnl_wgt", False, False),
        ("the contents of this dataset", False, True),
        ("ata, nap", True, True),
    ],
)
def test_a_word_is_a_whole_word_but_not_for_the_published_algorithm(text: str, hit: bool, paper: bool) -> None:
    reading = FeatureListUninformed().read(WORDS, Reply(text, ReplyState.OK), SERIALIZERS["is"])
    assert (reading.hit, reading.paper_hit) == (hit, paper)


@pytest.mark.parametrize(
    ("text", "readable"),
    [
        ("age, sex", True),
        ("target", True),
        ("- age\n- sex", True),
        ("Sure, I'd be happy to help!", False),
        ("Unknown", False),
        ("The features of this dataset depend on the version of the file that was published first", False),
    ],
)
def test_what_could_be_a_list(text: str, readable: bool) -> None:
    reading = FeatureListUninformed().read(WORDS, Reply(text, ReplyState.OK), SERIALIZERS["is"])
    assert (reading.hit, reading.readable) == (False, readable)


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("age, fnlwgt\n", True),
        ("age, wor", False),
        ("Here are the features:\nage, wor", False),
        ("- age\n- wor", False),
        ("1. age\n2. wor", False),
        ("* age\n* wor", False),
        ("```\nage, wor", False),
        ("Here are the features:\nage, work\nThese", True),
    ],
)
def test_what_of_a_cut_list_is_complete(text: str, complete: bool) -> None:
    assert FeatureListUninformed().complete(WORDS, text, SERIALIZERS["is"]) is complete


@pytest.mark.parametrize(
    ("text", "hit"),
    [("Wine", True), ("The Wine dataset", True), ("Wine Quality", False), ("winequality-red.csv", False)],
)
def test_another_datasets_name_does_not_count(text: str, hit: bool) -> None:
    query = Query("recognition_features-0", lambda: PROMPT, (), ("Wine",), 16, not_expected=("Wine Quality",))
    assert RecognitionFeatures().read(query, Reply(text, ReplyState.OK), SERIALIZERS["is"]).hit is hit


@pytest.mark.parametrize(
    ("text", "complete"),
    [("No, the row", True), ("No", True), ("There is no way to", False), ("Yesterda", False), ("I think that", False)],
)
def test_what_of_a_cut_choice_is_complete(text: str, complete: bool) -> None:
    query = Query("membership-0", lambda: PROMPT, ("Yes", "No"), ("No",), 4)
    assert Membership().complete(query, text, SERIALIZERS["is"]) is complete


@pytest.mark.slow
@given(text=st.text() | st.text(alphabet="age is:=,|[]{}\"'`*-0 1\n."), cut=st.booleans())
@pytest.mark.parametrize("query", [ROW, THREE, NUMBER, NAME], ids=["row", "three", "number", "name"])
def test_reading_never_fails_on_hostile_text(query: Query, text: str, cut: bool) -> None:
    reading = read(query, text, ReplyState.TRUNCATED if cut else ReplyState.OK)
    assert isinstance(reading.parsed, dict | None)
    assert not reading.hit or reading.readable


@given(values=st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"])), min_size=5, max_size=5))
def test_what_json_says_is_read_as_it_is(values: list[str]) -> None:
    cells = read_json(json.dumps(dict(zip(COLUMNS, values, strict=True))), COLUMNS)
    assert cells == {name: value.strip() or None for name, value in zip(COLUMNS, values, strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ['"' * 2000, "," * 2000, "[" * 2000, "*" * 2000, " " * 2000, "age " * 500, "- " * 1000]
)
@pytest.mark.parametrize("query", [ROW, NUMBER], ids=["row", "number"])
def test_no_text_takes_long_to_read(query: Query, text: str) -> None:
    start = time.perf_counter()
    read(query, text, ReplyState.TRUNCATED)
    assert time.perf_counter() - start < 2
