"""What guided completion asks, in which words and arms, and how an answer is read."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.table_predictions import RowPrediction
from tabcontam.errors import Skip
from tabcontam.evidence.base import Query, Reading, Reply, ReplyState
from tabcontam.evidence.prompts import default_prompts
from tabcontam.extensions.papers.guided import cut_instances
from tabcontam.extensions.papers.guided.guided_completion import GuidedCompletion
from tabcontam.extensions.papers.guided.guided_test import (
    GENERAL,
    SECOND,
    WRONG_LABEL,
    WRONG_NAME,
    arm_of,
    first_piece,
    of_text,
)
from tabcontam.extensions.papers.guided.guided_wording import InstanceOrigin, text_prompt
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table
from tabcontam.tables.text_tasks import TextForm
from tests.extensions.papers.guided.texts import news
from tests.made_tables import made_table, ships

FORMS = load_serializers()
IS = FORMS["is"]
TEST = GuidedCompletion()


def quickly(table: Table, asked: tuple[str, ...], shown: tuple[str, ...], rows: list[int]) -> dict[int, RowPrediction]:
    return {row: RowPrediction({name: CellPrediction({}, 0.01) for name in asked}, float(row % 2)) for row in rows}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A guesser that is fitted to nothing, where only the drawing matters."""
    monkeypatch.setattr(cut_instances, "predict_rows", quickly)
    monkeypatch.setattr(cut_instances, "least_sure", lambda table, columns, count: columns[:count])


def asked(table: Table, seed: int = 0, serializer: str = "is") -> list[Query]:
    return TEST.planned(table, FORMS[serializer], Random(seed))


def by_arm(queries: list[Query]) -> Counter[str]:
    return Counter(arm_of(query) for query in queries)


def read(query: Query, text: str, state: ReplyState = ReplyState.OK) -> Reading:
    return TEST.read(query, Reply(text, state), IS)


def first_of(queries: list[Query], arm: str = "") -> Query:
    return next(query for query in queries if arm_of(query) == arm)


@pytest.mark.usefixtures("quick")
def test_of_rows_the_arms_stand_beside_the_papers_ten() -> None:
    queries = asked(ships(500))
    assert by_arm(queries) == {"": 45, GENERAL: 10, WRONG_NAME: 10, WRONG_LABEL: 10}
    assert Counter(arm_of(query) for query in queries if query.paper) == {"": 10, GENERAL: 10}
    for query in queries:
        guided = next(one for one in queries if one.id == (query.decoy_of or query.id))
        assert (query.asked, query.expected, query.rows) == (guided.asked, guided.expected, guided.rows)
        assert bool(query.chance) == (query is guided)
    assert len({query.rows for query in queries}) == 45
    assert TEST.planned(ships(500), IS, Random(0)) == queries


@pytest.mark.usefixtures("quick")
def test_a_row_is_cut_at_a_share_of_its_own_and_its_label_stands_first() -> None:
    table = ships(500)
    cuts = Counter(len(query.asked) for query in asked(table) if not query.decoy_of)
    assert set(cuts) == {2, 3, 4}  # of six features besides the label 40 to 70 % are shown
    for query in asked(table)[:20]:
        shown = [name for name in ("tolldue", *table.columns[:-1]) if name not in query.asked]
        assert shown[0] == "tolldue"
        assert "tolldue" not in query.asked
        row = table.rows[query.rows[0]]
        assert query.expected == tuple(row[table.columns.index(name)] for name in query.asked)


@pytest.mark.usefixtures("quick")
def test_only_rows_that_the_shown_cells_tell_apart_are_asked() -> None:
    table = ships(500)
    for query in asked(table):
        places = [place for place, name in enumerate(table.columns) if name not in query.asked]
        shown = [[row[place] for place in places] for row in table.rows]
        assert shown.count(shown[query.rows[0]]) == 1
    with pytest.raises(Skip, match="the shown cells identify no row"):
        asked(made_table(("a", "b", "c"), [("x", str(row % 2), str(row)) for row in range(60)]))
    pairs = made_table(("a", "b"), [(str(row), str(row)) for row in range(60)])
    with pytest.raises(Skip, match="too few features"):
        asked(replace(pairs, target="b"))


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("serializer", list(FORMS))
def test_the_guided_instruction_names_dataset_split_and_label_and_the_general_one_nothing(serializer: str) -> None:
    table = replace(ships(500), split="train")
    queries = asked(table, serializer=serializer)
    guided, general, wrong, label = (first_of(queries, arm) for arm in ("", GENERAL, WRONG_NAME, WRONG_LABEL))
    prompts = [query.prompt for query in (guided, general, wrong, label)]
    for texts in zip(*((one.chat[-1].content, one.completion, one.seq2seq) for one in prompts), strict=True):
        assert [f"the train split of the dataset {table.title}" in text for text in texts] == [True, False, False, True]
        assert "the train split of the dataset" in texts[2]
        assert table.title not in texts[1] + texts[2]
        assert "dataset" not in texts[1]
        assert texts[0] != texts[3]
    assert first_piece(guided) == first_piece(general)
    assert guided.prompt.completion.endswith(general.prompt.completion.partition("\n")[2])
    assert all(value not in guided.prompt.completion for value in guided.expected[-1:] if value and len(value) > 5)


def test_of_texts_the_arms_stand_beside_twenty() -> None:
    queries = asked(news(90))
    assert by_arm(queries) == {"": 40, GENERAL: 20, WRONG_NAME: 20, WRONG_LABEL: 10}
    assert Counter(arm_of(query) for query in queries if query.paper) == {"": 10, GENERAL: 10}
    assert all(of_text(query) and query.asked == (SECOND,) and not query.chance for query in queries)
    assert {len(query.prompt.chat) for query in queries} == {2}


@pytest.mark.parametrize("form", list(TextForm))
def test_both_pieces_together_are_the_text(form: TextForm) -> None:
    table = news(90, form)
    shares = []
    for query in asked(table):
        if query.decoy_of:
            continue
        row = table.rows[query.rows[0]]
        assert query.expected[0] is not None
        if form is TextForm.PAIR:
            assert (first_piece(query), query.expected[0]) == row[:2]
        else:
            assert f"{first_piece(query)} {query.expected[0]}" == row[0]
            shares.append(round(len(first_piece(query)) / len(row[0]), 2))
        assert query.expected[0] not in query.prompt.chat[-1].content + query.prompt.completion
    assert len(set(shares)) > 3 or form is TextForm.PAIR


def test_of_a_summary_and_its_text_the_summary_alone_is_cut() -> None:
    table = news(90, TextForm.SENTENCE)
    assert table.text is not None
    table = replace(table, text=replace(table.text, texts=("other", "text")))
    for query in asked(table)[:10]:
        assert f"{first_piece(query)} {query.expected[0]}" == table.rows[query.rows[0]][0]
        assert str(table.rows[query.rows[0]][1]) not in query.prompt.chat[-1].content


def test_the_four_forms_are_worded_each_in_its_way() -> None:
    said = {form: text_prompt(form, InstanceOrigin("Zand Courier", "test"), "one", "1 (Harbour)") for form in TextForm}
    texts = {form: prompt.chat[-1].content for form, prompt in said.items()}
    assert len(set(texts.values())) == 4
    assert all(
        "the test split of the dataset Zand Courier" in text and "Label: 1 (Harbour)" in text for text in texts.values()
    )
    assert texts[TextForm.PAIR].endswith("Sentence 1: one\nSentence 2:")
    assert said[TextForm.PAIR].completion.endswith("Sentence 1: one\nSentence 2:")
    assert said[TextForm.SENTENCE].completion.endswith("First piece: one")
    assert "Label" not in text_prompt(TextForm.SUMMARY, None, "one", "").chat[-1].content
    assert said[TextForm.SUMMARY].chat[0].content == default_prompts().system


def test_the_label_control_has_another_label_of_the_dataset() -> None:
    queries = {query.id: query for query in asked(news(90))}
    for query in queries.values():
        if arm_of(query) == WRONG_LABEL:
            texts = [one.prompt.chat[-1].content for one in (queries[query.decoy_of], query)]
            assert ["Label: 1 (Harbour)" in text for text in texts] in ([True, False], [False, True])
            assert ["Label: 2 (Orchard)" in text for text in texts] in ([True, False], [False, True])


def test_a_wrong_name_is_another_of_the_same_form_and_never_the_right_one() -> None:
    table = replace(news(90), title="AG News", names=("AG News",))
    wrong = [query.prompt.chat[-1].content for query in asked(table) if arm_of(query) == WRONG_NAME]
    assert len(wrong) == 20
    assert not any("AG News" in text for text in wrong)
    assert len({text.partition("of the dataset ")[2].partition(".")[0] for text in wrong}) > 4


def test_a_second_piece_is_read_as_it_was_written() -> None:
    query = asked(news(90))[0]
    true = query.expected[0] or ""
    assert read(query, true).hit is True
    assert read(query, f"Second piece: {true.upper()}\n\nAnd more.").hit is True
    half = read(query, " ".join(true.split()[:7]))
    assert (half.hit, half.readable, half.right) == (False, True, ())
    assert isinstance(half.parsed, dict)
    assert half.parsed[SECOND] == " ".join(true.split()[:7])
    assert not read(query, "I'm sorry, but I cannot recall this text.").readable
    assert read(query, f"I do not have access to the dataset, but: {true}").readable
    assert not read(query, "", ReplyState.REFUSED).readable
    assert not read(query, "a few words", ReplyState.TRUNCATED).readable
    assert TEST.complete(query, f"{true} and so on", IS)
    assert not TEST.complete(query, "a few words", IS)


def test_a_single_asked_cell_may_be_answered_bare() -> None:
    query = Query(
        "q",
        lambda: default_prompts().feature_list("x", ()),
        ("crewCnt",),
        ("17",),
        9,
        chance={"crewCnt": CellPrediction({"17": 0.1}, 0.1)},
    )
    assert read(query, "17").right == ("crewCnt",)
    assert read(query, "The crewCnt is 17").right == ("crewCnt",)
