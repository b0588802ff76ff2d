"""What documents tell of a dataset and of its task is counted and quoted, and says nothing about rows."""

from dataclasses import replace
from random import Random

import pytest

from tabcontam.errors import Skip
from tabcontam.evidence.base import Family, Matches, State
from tabcontam.evidence.registry import by_id
from tests.evidence.corpus.bodies import IS, LEVEL, as_csv, as_json, as_sentences, asked, evidence, read
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
    table = replace(ships(), header=False)
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


def test_one_feature_in_a_sentence_is_no_example() -> None:
    found = evidence(ships(), {"page": "The master is ill. The length_m is unknown."}, "task_overlap")
    assert found.hits == 0


def test_a_table_without_a_question_has_no_examples_of_its_task() -> None:
    with pytest.raises(Skip, match="no classification question"):
        by_id()["task_overlap"].queries(made_table(("a", "b"), [("x", "y")]), IS, Random(0))


@pytest.mark.parametrize("test", TOLD)
def test_what_could_not_be_searched_is_told(test: str) -> None:
    one, queries = by_id()[test], asked(test, ships())
    found = one.weigh([read(one, query, Matches((), 0, State.REFUSED, "no")) for query in queries], LEVEL)
    assert (found.answered, found.score) == (0, None)
    assert found.sentence == f"{len(queries)} of {len(queries)} could not be searched for"


@pytest.mark.parametrize("test", TOLD)
def test_every_query_says_in_words_what_is_looked_for(test: str) -> None:
    queries = asked(test, ships())
    assert len({query.asked for query in queries}) == len(queries) > 2
