"""What documents tell of a dataset and of its task is counted and quoted, and says nothing about rows."""

from dataclasses import replace
from random import Random

import pytest

from tabcontam.errors import Skip
from tabcontam.evidence.base import Family, Lookup, Match, Matches, ReplyState
from tabcontam.evidence.registry import by_id
from tabcontam.tables.table import FileReading
from tests.extensions.corpora.overlap.bodies import IS, LEVEL, as_csv, as_json, as_sentences, asked, evidence, read
from tests.made_tables import made_table, ships

PAGE = "The Harbour Register of Zand has: hullNo,shipKind,length_m,master,homePort,crewCnt,tolldue."
TOLD = ("header_overlap", "task_overlap")


def test_a_page_about_the_dataset_is_knowledge_and_no_row() -> None:
    found = evidence(ships(), {"page": PAGE}, "header_overlap")
    assert (found.hits, found.asked, found.answered) == (3, 4, 4)
    assert found.p_value is None
    assert (
        "all names of columns: 1 document (page, byte 34: The Harbour Register of Zand has: »hullNo,ship"
        in found.sentence
    )
    assert "its question: no document" in found.sentence
    test = by_id()["header_overlap"]
    assert (test.family, test.row_test, test.decides) == (Family.KNOWLEDGE, False, False)


def test_names_of_columns_in_any_order_are_the_header_but_not_its_line() -> None:
    turned = ", ".join(ships().columns[::-1])
    found = evidence(ships(), {"page": turned}, "header_overlap")
    assert found.hits == 1
    assert "all names of columns: 1 document" in found.sentence
    assert "the header line: no document" in found.sentence


def test_names_of_a_file_without_a_header_are_not_looked_for() -> None:
    table = replace(ships(), read=FileReading(header=False))
    assert [query.id for query in asked("header_overlap", table)] == ["header_overlap-names", "header_overlap-question"]


def test_rows_alone_are_no_header() -> None:
    assert evidence(ships(), {"rows": as_csv(ships().rows)}, "header_overlap").hits == 0


def test_examples_of_the_task_are_counted_by_template() -> None:
    table = ships()
    shown = as_sentences(table, table.rows[:1])
    documents = {
        "one": f"{shown} Does this ship owe a toll? Yes",
        "two": f"{as_sentences(table, table.rows[1:2])} Does this ship owe a toll?\nAnswer: no",
        "three": as_json(table, table.rows[2:3]),
        "four": "Does this ship owe a toll? Nobody knows. The master is ill.",
    }
    found = evidence(table, documents, "task_overlap")
    assert "the question: 3 documents (one, byte " in found.sentence
    assert "the question with an answer: 2 documents" in found.sentence
    assert "lines of features: 2 documents" in found.sentence
    assert "features as keys of JSON: 1 document (three" in found.sentence
    assert found.score == 1.0
    assert found.p_value is None


@pytest.mark.parametrize(
    ("behind", "documents"),
    [
        ("Yes", 1), ("Answer: no", 1), ("### Response:\nYes", 1), ("assistant\nNo", 1), ("gpt\nYes.", 1),
        ("Yes or No?", 0), ("Yes/No", 0), ("Yes, No", 0), ("- Yes\n- No", 0),
        ("Yes or No?\nAnswer: yes", 1), ("Nobody knows.", 0), ("Who says: yes?", 0),
    ],
)  # fmt: skip
def test_an_answer_is_no_choice_of_answers(behind: str, documents: int) -> None:
    found = evidence(ships(), {"one": f"Does this ship owe a toll? {behind}"}, "task_overlap")
    assert ("the question with an answer: 1 document (" in found.sentence) is bool(documents)
    assert ("the question with an answer: no document" in found.sentence) is not documents


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 40, 150, 200])
def test_examples_are_all_counted_however_many_there_are(times: int) -> None:
    """Each document has a place for each feature: with 200 places in all, those of 60 examples were counted as none."""
    table = ships()
    documents = {f"{n}": f"{as_sentences(table, table.rows[:1])} Does this ship owe a toll? Yes" for n in range(times)}
    found = evidence(table, documents, "task_overlap")
    number = f"{times} document{'s' * (times > 1)} ("
    for what in ("the question and features of a row", "the question with an answer", "lines of features"):
        assert f"{what}: {number}" in found.sentence


def test_a_record_with_the_row_between_the_question_and_its_answer_is_shown_first() -> None:
    """As Alpaca's records are: the instruction, the input, the output."""
    table = ships()
    documents = {
        "alpaca": f"Does this ship owe a toll?\n{as_sentences(table, table.rows[:1])}\nYes",
        "keys": f"Does this ship owe a toll?\n{as_json(table, table.rows[:1])}\nYes",
        "asked": "Does this ship owe a toll?",
        "shown": as_sentences(table, table.rows[:1]),
    }
    found = evidence(table, documents, "task_overlap")
    assert found.sentence.startswith("the question and features of a row: 2 documents (alpaca, byte 0: »Does this ship")


def test_places_that_are_not_all_told_are_told_as_the_least() -> None:
    one = by_id()["task_overlap"]
    (lines,) = (query for query in asked("task_overlap", ships()) if query.id.endswith("-lines"))
    question = lines.question
    assert isinstance(question, Lookup)
    counts = (7,) * len(question.texts)
    places = tuple(Match("one", 0, "The master is", 0, 13, text) for text in range(len(counts)))
    found = one.weigh([read(one, lines, Matches(places, 7, ReplyState.OK, counts=counts))], LEVEL)
    assert "lines of features: at least 1 document (" in found.sentence
    found = one.weigh([read(one, lines, Matches(places[:1], 7, ReplyState.OK, counts=counts))], LEVEL)
    assert "lines of features: none of the documents that were counted, but others may hold it" in found.sentence


def test_each_name_of_a_dataset_has_its_own_number() -> None:
    """A zoo has penguins: its page must not be taken for one about the table of that name."""
    table = replace(ships(), names=("Harbour Register of Zand", "Ships"))
    documents = {"zoo": "We saw ships.", "page": "The Harbour Register of Zand lists ships."}
    found = evidence(table, documents, "header_overlap")
    assert "the dataset's names: 2 documents [Harbour Register of Zand: 1, Ships: 2] (" in found.sentence


def test_one_feature_in_a_sentence_is_no_example() -> None:
    found = evidence(ships(), {"page": "The master is ill. The length_m is unknown."}, "task_overlap")
    assert found.hits == 0


def test_a_table_without_a_question_has_no_examples_of_its_task() -> None:
    with pytest.raises(Skip, match="no classification question"):
        by_id()["task_overlap"].queries(made_table(("a", "b"), [("x", "y")]), IS, Random(0))


@pytest.mark.parametrize("test", TOLD)
def test_what_could_not_be_searched_is_told(test: str) -> None:
    one, queries = by_id()[test], asked(test, ships())
    found = one.weigh([read(one, query, Matches((), 0, ReplyState.REFUSED, "no")) for query in queries], LEVEL)
    assert (found.answered, found.score) == (0, None)
    assert found.sentence == f"{len(queries)} of {len(queries)} items could not be searched for"


@pytest.mark.parametrize("test", TOLD)
def test_every_query_says_in_words_what_is_looked_for(test: str) -> None:
    queries = asked(test, ships())
    assert len({query.asked for query in queries}) == len(queries) > 2
