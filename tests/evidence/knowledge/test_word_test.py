"""Tests 1 to 6 against their decoys: what is asked beside the true question, and what the answers weigh."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.calibration.power_study import ask, judge, planned
from tabcontam.errors import Skip, UsageError
from tabcontam.evidence import base
from tabcontam.evidence.base import Evidence, Prompt, Query, Reading, Reply, ReplyState, Trial, Verdict
from tabcontam.evidence.checks import rendered
from tabcontam.evidence.knowledge.decoys import features_of, is_english, other_cards, title_of
from tabcontam.evidence.knowledge.feature_lists import FeatureListInformed, FeatureListUninformed
from tabcontam.evidence.knowledge.feature_values import FeatureValuesInformed, FeatureValuesUninformed
from tabcontam.evidence.knowledge.recognition import RecognitionExamples, RecognitionFeatures
from tabcontam.evidence.knowledge.strangers import strangers
from tabcontam.tables.dataset_cards import Card, Edition, load_cards
from tabcontam.tables.row_draws import seeded
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table, load_table
from tabcontam.tables.twin_tables import twin_rows
from tests.made_tables import PORTS, ships

DATA = Path(os.environ.get("TABCONTAM_DATA") or "/nonexistent")
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="TABCONTAM_DATA names no folder of dataset files")
IS = load_serializers()["is"]
LISTS = FeatureListUninformed()
NAMES = RecognitionFeatures()
BUDGET: dict[base.Test, tuple[int, int, int]] = {
    FeatureListInformed(): (3, 12, 3),
    FeatureListUninformed(): (1, 6, 1),
    RecognitionFeatures(): (8, 10, 1),
    RecognitionExamples(): (8, 20, 1),
    FeatureValuesInformed(): (2, 8, 2),
    FeatureValuesUninformed(): (3, 12, 2),
}
TESTS = list(BUDGET)
IDS = [test.id for test in TESTS]
LEVEL = 0.01
WORDS = ("fnlwgt", "workclass", "xqid", "pdays")
Answerer = Callable[[Query], str | None]


def asked(test: base.Test, table: Table, seed: int = 0) -> Sequence[Query]:
    return test.queries(table, IS, seeded(table, seed, test.id))


def read(test: base.Test, query: Query, text: str | None, state: ReplyState = ReplyState.OK) -> Reading:
    reply = Reply("", ReplyState.REFUSED) if text is None else Reply(text, state)
    return test.read(query, reply, IS)


def weighed(test: base.Test, queries: Sequence[Query], answer: Answerer) -> Evidence:
    trials = []
    for query in queries:
        text = answer(query)
        reply = Reply("", ReplyState.REFUSED) if text is None else Reply(text, ReplyState.OK)
        trials.append(Trial(query, reply, test.read(query, reply, IS)))
    return test.weigh(trials, LEVEL)


def p_value(test: base.Test, queries: Sequence[Query], answer: Answerer) -> float:
    found = weighed(test, queries, answer).p_value
    assert found is not None
    return found


def made(decoys: int = 6, words: Sequence[str] = WORDS, floor: float | None = None) -> list[Query]:
    """A question about a table, and the same of as many others."""
    prompt = Prompt((), "Dataset: Zand\nFeatures:", "")
    chances = {word: CellPrediction({word: floor or 1 / (decoys + 1)}, floor or 1 / (decoys + 1)) for word in words}
    true = Query("feature_list_uninformed-0", lambda: prompt, (), tuple(words), 256, chance=chances)
    others = [
        replace(true, id=f"{true.id}-decoy-{number}", paper=False, chance={}, decoy_of=true.id)
        for number in range(decoys)
    ]
    return [true, *others]


# --- what is asked


@pytest.mark.parametrize("test", TESTS, ids=IDS)
def test_each_true_query_is_followed_by_its_decoys(test: base.Test) -> None:
    queries = asked(test, ships())
    true, decoys, paper = BUDGET[test]
    assert sum(not query.decoy_of for query in queries) == true
    assert sum(bool(query.decoy_of) for query in queries) == decoys
    assert sum(query.paper for query in queries) == paper
    assert not any(query.paper and query.decoy_of for query in queries)
    last = ""
    for query in queries:
        last = query.id if not query.decoy_of else last
        assert query.decoy_of in ("", last)
        assert query.id.startswith(last)


@pytest.mark.parametrize("test", TESTS, ids=IDS)
@pytest.mark.parametrize("seed", range(5))
def test_what_a_decoy_shows_is_not_looked_for_in_its_answer(test: base.Test, seed: int) -> None:
    queries = asked(test, load_table("iris") if "recognition" in test.id else ships(), seed)
    expected = {query.id: set(query.expected) for query in queries}
    for query in queries:
        text = rendered(query.prompt).casefold()
        assert query.expected
        assert (
            query.expected <= tuple(expected[query.decoy_of or query.id])
            or set(query.expected) <= expected[query.decoy_of or query.id]
        )
        assert not [word for word in query.expected if word and len(word) > 3 and word.casefold() in text]


@pytest.mark.parametrize("test", TESTS, ids=IDS)
def test_decoys_about_others_are_made_of_the_cards_alone(test: base.Test) -> None:
    titles = {title_of(card) for card in load_cards().values()}
    decoys = [query for query in asked(test, ships(private=True)) if query.decoy_of]
    lines = [line for query in decoys for line in query.prompt.completion.splitlines()]
    named = {line.removeprefix("Dataset: ") for line in lines if line.startswith("Dataset: ")}
    assert named <= titles
    assert named or "recognition" in test.id


@needs_data
def test_a_card_that_shares_a_name_is_no_decoy() -> None:
    """A model that knows Titanic would say its features of Spaceship Titanic too."""
    named = {card.name for card in other_cards(load_table("titanic"))}
    assert not {"titanic", "spaceship"} & named
    of_texts = {
        card.name
        for card in load_cards().values()
        if card.dates.completed or any(edition.text for edition in card.editions)
    }
    assert named == set(load_cards()) - of_texts - {"titanic", "spaceship"}


def test_a_card_of_the_same_features_is_no_decoy() -> None:
    """A user's copy of Adult under another name: the model's answer about Adult would be one about the table."""
    adult = load_cards()["adult"]
    copy = replace(ships(), title="mydata", names=("mydata",), columns=(*features_of(adult)[:7],))
    assert adult not in other_cards(copy)
    assert adult in other_cards(ships())


@pytest.mark.parametrize("test", TESTS, ids=IDS)
def test_the_order_of_rows_changes_no_question(test: base.Test) -> None:
    shuffled = replace(ships(), rows=tuple(Random("a").sample(ships().rows, 200)))
    prompts = [query.prompt for query in asked(test, ships())]
    assert [query.prompt for query in asked(test, shuffled)] == prompts


@pytest.mark.parametrize("test", TESTS, ids=IDS)
def test_the_order_of_columns_changes_no_question_but_the_rows_that_it_shows(test: base.Test) -> None:
    table = ships()
    order = Random("a").sample(range(len(table.columns)), len(table.columns))
    turned = replace(
        table,
        columns=tuple(table.columns[place] for place in order),
        rows=tuple(tuple(row[place] for place in order) for row in table.rows),
    )
    first, second = asked(test, table), asked(test, turned)
    assert [query.rows for query in first] == [query.rows for query in second]
    assert [set(query.expected) for query in first] == [set(query.expected) for query in second]
    if not test.shows_rows:
        assert [query.prompt for query in first] == [query.prompt for query in second]


@pytest.mark.parametrize("test", TESTS, ids=IDS)
def test_another_seed_asks_something_else(test: base.Test) -> None:
    assert [query.prompt for query in asked(test, ships(), 1)] != [query.prompt for query in asked(test, ships(), 2)]


def test_the_decoys_of_examples_are_rows_of_a_twin_and_of_other_tables() -> None:
    table = ships()
    real = {IS.row(table.columns, row) for row in table.rows}
    mixed = 0
    for query in asked(RecognitionExamples(), table):
        shown = query.prompt.completion.splitlines()[1:-1]
        assert len(shown) == 4
        assert [line in real for line in shown] == [not query.decoy_of] * 4
        own = [sum(f"The {name} is " in line for name in table.columns) for line in shown]
        if "-decoy-" not in query.id:
            assert len(query.rows) == 4
            assert own == [len(table.columns)] * 4
        elif query.rows:  # a third of its features, cell by cell of other rows
            mixed += 1
            assert own[0] in (1, 2)
        else:
            assert own == [0] * 4
    assert mixed == 3


def test_a_twin_keeps_the_columns_of_each_class() -> None:
    table = ships()
    target = table.columns.index("tolldue")
    rows = twin_rows(table)
    assert sorted(str(row[0]) for _, row in rows) == sorted(str(row[0]) for row in table.rows)
    assert all(table.rows[place][target] == row[target] for place, row in rows)


@needs_data
def test_without_a_twin_rows_are_compared_with_those_of_other_tables_alone() -> None:
    test, queries = RecognitionExamples(), asked(RecognitionExamples(), load_table("car"))
    assert [query.paper for query in queries if not query.decoy_of] == [True, *[False] * 7]
    assert not any("-twin-" in query.id for query in queries)
    assert test.uninformative(queries, LEVEL) is None
    assert p_value(test, queries, lambda query: "Car Evaluation") == 1
    evidence = weighed(test, queries, lambda query: "Iris" if query.decoy_of else "Car Evaluation")
    assert evidence.sentence == (
        "8 of 8 answers name the dataset, and 0 of 10 about rows of other tables (p = 2.3e-05: distinguished from rows "
        "of other tables)"
    )


def test_a_file_is_compared_with_its_twin_alone_since_its_name_may_follow_from_its_features() -> None:
    test, queries = RecognitionExamples(), asked(RecognitionExamples(), ships(private=True))
    assert sum("-twin-" in query.id for query in queries) == sum(bool(query.decoy_of) for query in queries) == 10
    inferred = p_value(test, queries, lambda query: "Zand Register")
    assert inferred == 1


@pytest.mark.parametrize(
    ("twin", "elsewhere", "told"),
    [
        ("Zand Register", "Iris", "distinguished from rows of other tables, not from rows of its twin"),
        ("Iris", "Iris", "distinguished from rows of other tables and from rows of its twin"),
        ("Zand Register", "Zand Register", ""),
    ],
)
def test_the_sentence_says_which_rows_the_true_ones_are_told_from(twin: str, elsewhere: str, told: str) -> None:
    def answer(query: Query) -> str:
        return (twin if "-twin-" in query.id else elsewhere) if query.decoy_of else "Zand Register"

    evidence = weighed(RecognitionExamples(), asked(RecognitionExamples(), ships()), answer)
    assert evidence.p_value is not None
    assert (evidence.p_value <= LEVEL) == bool(told)
    assert evidence.sentence.endswith(f": {told})" if told else "(p = 1)")


@pytest.mark.parametrize("name", ["iris", "wine", "breast-cancer"])
def test_rows_of_other_tables_are_none_of_the_asked_one(name: str) -> None:
    table = load_table(name)
    found = strangers(table)
    assert len(found) == 6
    assert table.columns not in [one.columns for one in found]
    assert all(len(one.rows) > 100 for one in found)
    carried = [(one.columns, one.rows) for one in found]
    others = [load_table(other) for other in {"iris", "wine", "breast-cancer"} - {name}]
    assert all((other.columns, other.rows) in carried for other in others)


# --- lists that are too short alone


def test_short_lists_of_a_table_are_weighed_together() -> None:
    """Iris has five names, all of them English, and three values: neither list alone could reach the level."""
    table = load_table("iris")
    tests = [FeatureListInformed(), FeatureListUninformed(), FeatureValuesUninformed()]
    run = planned(table, [*tests, RecognitionFeatures()], IS, 0, LEVEL)
    alone = [cell.test.uninformative(cell.written, cell.level) for cell in run.cells if cell.test in tests]
    assert all(alone)
    assert all(cell.queries for cell in run.cells)
    found = judge(run, ask(run, "schema-expert", 0), LEVEL)
    assert {cell.verdict for cell in found.results.values()} == {Verdict.CONTAMINATED}
    cell = found.results["feature_values_uninformed"]
    assert cell.evidence.hits == 3
    assert cell.evidence.sentence
    assert cell.evidence.sentence.startswith(
        "answers name 3 of 3 values; in all lists they name 8 of 8 names and values, 3.4 expected"
    )
    found = judge(run, ask(run, "mode", 0), LEVEL)
    assert {cell.verdict for cell in found.results.values()} == {Verdict.NOT_DETECTED}


@needs_data
def test_codes_are_asked_by_their_names_and_yes_and_no_are_none() -> None:
    table = load_table("iris")
    assert table.names_of_codes("target") == {"0": "setosa", "1": "versicolor", "2": "virginica"}
    (true,) = (query for query in asked(FeatureValuesUninformed(), table) if not query.decoy_of)
    assert (true.asked, true.expected, true.paper) == (("target",), ("setosa", "versicolor", "virginica"), False)
    assert not load_table("titanic").names_of_codes("Survived")
    assert not load_table("wine").names_of_codes("target")


@pytest.mark.slow
@needs_data
def test_all_features_of_words_are_asked_and_the_papers_two_are_marked() -> None:
    true = [query for query in asked(FeatureValuesUninformed(), load_table("bank")) if not query.decoy_of]
    assert len(true) == 10
    assert [query.paper for query in true] == [True, True, *[False] * 8]


@pytest.mark.slow
@needs_data
def test_editions_of_other_features_have_titles_of_their_own() -> None:
    """Who names the features of another edition of California Housing is not asked for these.

    A dataset of texts keeps its one name: its prompts ask for texts, whatever a distributor calls the columns.
    """
    titles = [(card, [card.title_of(edition) for edition in card.editions]) for card in load_cards().values()]
    for card, own in titles:
        tables = [load_table(f"{card.name}@{edition.name}") for edition in card.editions if at_hand(card, edition)]
        for one, other in combinations(tables, 2):
            same = set(one.columns) == set(other.columns)
            assert one.title != other.title or same or one.text is not None, card.name
        assert all(title == card.title or card.title in title or "(" in title for title in own)


def at_hand(card: Card, edition: Edition) -> bool:
    try:
        load_table(f"{card.name}@{edition.name}")
    except UsageError:
        return False
    return True


# --- altered lists


@needs_data
def test_altered_lists_hold_a_third_of_the_tables_features() -> None:
    table, mixed = load_table("titanic"), []
    for query in asked(RecognitionFeatures(), table):
        shown = query.prompt.completion.splitlines()[0].partition(": ")[2].split(", ")
        own = set(shown) & set(table.columns)
        assert len(own) == len(shown) or query.decoy_of
        if query.decoy_of and own:
            mixed.append(len(own) / len(shown))
    assert len(mixed) == 5
    assert all(0.3 < share < 0.4 for share in mixed)


@pytest.mark.parametrize("name", ["customers", "customer"])
def test_a_name_in_the_plural_is_given_away_by_the_singular(name: str) -> None:
    columns = ("customer_id", "mail", "town", "plan", "seats", "since", "spent")
    table = replace(ships(), title=name, names=(name,), columns=columns)
    shown = "".join(query.prompt.completion for query in asked(RecognitionFeatures(), table))
    assert "town" in shown
    assert "customer_id" not in shown


# --- floors


@pytest.mark.parametrize(
    ("word", "inferred"),
    [("hours-per-week", True), ("<=50K", True), ("VIP", True), ("Germany", True), ("?", True), ("fnlwgt", False),
     ("malic_acid", False), ("workclass", False)],
)  # fmt: skip
def test_what_a_reader_may_infer_from_the_topic(word: str, inferred: bool) -> None:
    assert is_english(word) is inferred


@needs_data
def test_an_english_name_has_a_chance_of_a_half_and_another_that_of_any_answer() -> None:
    true = asked(FeatureListUninformed(), load_table("adult"))[0]
    assert true.chance["fnlwgt"].chance_of("fnlwgt") == pytest.approx(1 / 7)
    assert true.chance["race"].chance_of("race") == 0.5


def test_the_names_of_a_users_file_may_be_of_any_language() -> None:
    """`Kunde, Ort, Telefon` follow from the title of a German file, though no English dictionary has them."""
    for query in asked(FeatureListUninformed(), ships(private=True)):
        assert all(guess.surest == 0.5 for guess in query.chance.values())


# --- what answers weigh


def say(words: Sequence[str], of_decoys: Sequence[str]) -> Answerer:
    return lambda query: ", ".join(of_decoys if query.decoy_of else words)


def test_words_said_of_the_table_alone_are_known() -> None:
    evidence = weighed(LISTS, made(), say(WORDS, ["ash", "hue", "proline", "wind"]))
    assert evidence.p_value == pytest.approx(7**-4, rel=0.2)
    assert (evidence.hits, evidence.asked, evidence.answered) == (4, 4, 4)
    assert evidence.expected_hits == pytest.approx(4 / 7)
    assert (
        evidence.sentence
        == "answers name 4 of 4 names of features, 0.57 expected from answers about decoys (p = 0.00042)"
    )
    assert evidence.interval is not None
    assert evidence.interval[1] == 1


def test_words_said_of_all_are_explained() -> None:
    evidence = weighed(LISTS, made(), lambda query: ", ".join(WORDS))
    assert (evidence.hits, evidence.expected_hits, evidence.p_value) == (4, 4, 1)


def test_a_word_counts_by_how_much_oftener_it_is_said() -> None:
    last = say(WORDS, ["ash", "hue", "proline", "wind"])
    queries = made()

    def often(times: int) -> float:
        return p_value(LISTS, queries, lambda query: last(query if query in queries[times + 1 :] else queries[0]))

    assert often(0) < often(1) < often(3) < often(6) == 1


def test_a_word_said_nowhere_is_evidence_of_nothing_known() -> None:
    half = ["fnlwgt", "pdays"]
    other = ["ash", "hue", "wind", "tide"]
    assert p_value(LISTS, made(), say(half, other)) > p_value(LISTS, made(), say(WORDS, other))
    assert p_value(LISTS, made(), say(other, other)) == 1


def test_a_word_counts_once_however_many_queries_expect_it() -> None:
    first, second = made(), [replace(query, id=f"1{query.id}") for query in made()]
    second = [second[0], *(replace(query, decoy_of=second[0].id) for query in second[1:])]
    answer = say(WORDS, ["ash", "hue", "wind", "tide"])
    assert weighed(LISTS, [*first, *second], answer).asked == 4
    assert p_value(LISTS, [*first, *second], answer) == p_value(LISTS, first, answer)


def test_a_longer_answer_holds_more_of_any_words() -> None:
    """One that lists all words it can think of for the table, and two for a decoy, knows nothing."""
    many = [*WORDS, *(f"{a}{b}" for a in "bcdfgh" for b in ("one", "two", "six", "ten", "red", "old"))]
    assert p_value(LISTS, made(), say(many, ["ash", "hue"])) > 0.05
    assert p_value(LISTS, made(), say(many, many[4:])) < 0.001


@pytest.mark.parametrize("silence", [None, "I'm sorry, but I cannot recall this dataset.", "unknown"])
def test_a_decoy_without_an_answer_is_left_out(silence: str | None) -> None:
    queries = made()

    def mute(count: int) -> Evidence:
        answer = say(WORDS, ["ash", "hue", "wind", "tide"])
        return weighed(LISTS, queries, lambda query: silence if query in queries[1 : count + 1] else answer(query))

    none, all_but_one, every = mute(0), mute(5), mute(6)
    assert none.p_value is not None
    assert all_but_one.p_value is not None
    assert none.p_value < 0.01 < all_but_one.p_value
    assert (every.p_value, every.answered) == (1, 0)


def test_a_true_query_without_an_answer_has_no_words() -> None:
    evidence = weighed(LISTS, made(), lambda query: "ash, hue" if query.decoy_of else "I cannot recall this.")
    assert (evidence.p_value, evidence.asked, evidence.answered, evidence.interval) == (1, 4, 0, None)


def test_a_constant_list_of_all_words_is_not_memory_whoever_declines_at_random() -> None:
    """Were a decoy that is declined one that does not say the words, all words would count together."""
    for seed in range(30):
        rng = Random(seed)
        queries, answer = made(), ", ".join(WORDS)
        answers = {query.id: answer if rng.random() < 0.5 else "No idea." for query in queries}
        assert p_value(LISTS, queries, lambda query, said=answers: said[query.id]) > 0.5  # type: ignore[misc]


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(12,), (3, 12, 40)])
def test_lists_drawn_at_random_are_flagged_no_oftener_than_the_level(sizes: Sequence[int]) -> None:
    vocabulary = [*WORDS, *(a + b for a in "bcdfghjklm" for b in ("ane", "ilo", "uth", "esk", "orp", "yn"))]
    rng, queries = Random("random lists"), made()
    found = [
        p_value(LISTS, queries, lambda query: ", ".join(rng.sample(vocabulary, rng.choice(sizes)))) for _ in range(250)
    ]
    assert sum(p <= LEVEL for p in found) <= 6
    assert sum(p <= 0.1 for p in found) <= 36


@pytest.mark.slow
@given(texts=st.lists(st.text(), min_size=7, max_size=7))
@settings(deadline=None)
def test_hostile_answers_have_a_p_value(texts: list[str]) -> None:
    queries = made()
    answers = dict(zip((query.id for query in queries), texts, strict=True))
    for test in (LISTS, NAMES):
        assert 0 < p_value(test, queries, lambda query: answers[query.id]) <= 1


# --- the smallest p-value there can be


def test_few_english_words_could_not_tell_memory_from_inference() -> None:
    queries = made(words=("age", "sex", "race"), floor=0.5)
    assert LISTS.uninformative(queries, 0.2) is None
    reason = (
        "too few names of features for a verdict: even if a model named all 3 of them for this table and none for "
        "other data, p would be 0.12, above 0.01"
    )
    assert LISTS.uninformative(queries, 0.01) == reason


def test_a_question_whose_decoys_were_cut_off_could_not_tell_anything() -> None:
    assert LISTS.uninformative(made(), 0.01) is None
    assert LISTS.uninformative(made()[:1], 0.5) is not None


def test_too_few_answers_could_not_reach_the_level() -> None:
    queries = asked(NAMES, ships())
    assert NAMES.uninformative(queries, 1e-4) is None
    reason = (
        "too few questions for a verdict: even if a model named the dataset in all 8 answers about it and in none "
        "about decoys, p would be 2.3e-05, above 1e-05"
    )
    assert NAMES.uninformative(queries, 1e-5) == reason


# --- recognition


@pytest.mark.parametrize(
    ("true", "decoy", "low", "high"),
    [
        ("Zand Register", "Iris", 0, 1e-4),
        ("Zand Register", "I cannot tell.", 0, 1e-4),
        ("Zand Register", "Zand Register", 1, 1),
        ("Iris", "Iris", 1, 1),
        ("I cannot tell.", "I cannot tell.", 1, 1),
    ],
)
def test_a_name_counts_where_it_is_said_oftener_of_the_table(true: str, decoy: str, low: float, high: float) -> None:
    found = p_value(NAMES, asked(NAMES, ships()), lambda query: decoy if query.decoy_of else true)
    assert low <= found <= high


def test_recognition_is_told_in_a_sentence() -> None:
    queries = asked(NAMES, ships())
    lucky = queries[1]
    evidence = weighed(NAMES, queries, lambda query: "Zand Register" if query in (lucky, *queries[3:4]) else "Iris")
    assert evidence.sentence == "1 of 8 answers name the dataset, and 1 of 10 about decoys (p = 0.71)"
    assert (evidence.hits, evidence.asked, evidence.answered) == (1, 8, 8)
    assert evidence.expected_hits == pytest.approx(16 / 18)


def test_one_that_names_and_declines_at_random_is_flagged_no_oftener_than_the_level() -> None:
    queries, rng = asked(NAMES, ships()), Random("names")
    found = [
        p_value(NAMES, queries, lambda query: rng.choice(["Zand Register", "I cannot tell.", "Iris"]))
        for _ in range(150)
    ]
    assert sum(p <= LEVEL for p in found) <= 5


def test_refused_decoys_leave_nothing_to_compare() -> None:
    evidence = weighed(NAMES, asked(NAMES, ships()), lambda query: None if query.decoy_of else "Zand Register")
    assert (evidence.p_value, evidence.answered) == (1, 0)


# --- reading


@pytest.mark.parametrize(
    "text",
    [
        "age, fnlwgt, work_class",
        "Sure! Here are the features of the dataset:\n\n```\nage, fnlwgt, xqid\n```\nI hope this helps.",
        "- **fnlwgt**: the final weight that the census bureau gives this person\n- **age**: how old they are",
        "1. age - how old the person is at the time of the interview\n2. fnlwgt (the final weight of the record)",
        '["age", "FNLWGT"]',
        "| feature |\n|---|\n| fnlwgt |",
    ],
)
def test_a_list_counts_in_any_shape(text: str) -> None:
    reading = read(LISTS, made()[0], text)
    assert reading.readable
    assert "fnlwgt" in reading.right
    assert "pdays" not in reading.right


@pytest.mark.parametrize(
    "text",
    [
        "I do not have access to the class labels of this dataset, so I cannot say.",
        "I'm sorry, but I cannot recall the class of these rows.",
        "It is not possible to name a class here",
    ],
)
def test_a_text_that_declines_says_no_word_by_the_way(text: str) -> None:
    """A decliner has no answer, even where its sentence holds a word that is a feature's name."""
    query = made(words=("class", "rows", "fnlwgt"))[0]
    reading = read(LISTS, query, text)
    assert (reading.readable, reading.right) == (False, ())
    reading = read(LISTS, query, f"{text} Still, my best guess: age, class, fnlwgt")
    assert (reading.readable, reading.right) == (True, ("class", "fnlwgt"))


def test_a_list_that_explains_its_items_is_an_answer_whether_or_not_they_are_right() -> None:
    """Else only right answers in that shape were read, and wrong ones of the decoys left out."""
    text = (
        "1. age - how old the person is at the time of the interview\n2. sex - as the person said when asked about it"
    )
    reading = read(LISTS, made()[0], text)
    assert (reading.readable, reading.right) == (True, ())


def test_english_words_are_right_too() -> None:
    """Algorithm 1 looks for none of them where a word is unknown to the dictionary."""
    query = made(words=("fnlwgt", "race"))[0]
    assert read(LISTS, query, "race, age").right == ("race",)


def test_a_word_that_was_cut_is_not_right() -> None:
    assert read(LISTS, made()[0], "age, fnlwgt, pdays", ReplyState.TRUNCATED).right == ("fnlwgt",)


def test_a_note_in_parentheses_may_be_left_out() -> None:
    assert read(LISTS, made(words=("sepal length (cm)", "sepal width (cm)"))[0], "sepal length, width").right == (
        "sepal length (cm)",
    )


@pytest.mark.parametrize("text", ["Wine Quality", "winequality-red.csv", "Wine Quality dataset"])
def test_the_name_of_other_data_is_not_right(text: str) -> None:
    """B10: Boston Housing and Wine Quality counted as California Housing and Wine."""
    query = replace(made(words=("Wine",))[0], not_expected=("Wine Quality",))
    assert read(NAMES, query, text).right == ()
    assert read(NAMES, query, "the Wine dataset").right == ("Wine",)


# --- tables of any shape


@pytest.mark.parametrize("test", TESTS, ids=IDS)
@pytest.mark.parametrize("shape", ["one row", "constant", "wide", "missing", "unique"])
@pytest.mark.slow
def test_tables_of_any_shape_are_asked_or_skipped_with_a_reason(test: base.Test, shape: str) -> None:
    wide = tuple(f"feat{number}" for number in range(150))
    columns = {"wide": wide}.get(shape, ("ka", "kb", "kc", "kd"))
    cells: dict[str, list[tuple[str | None, ...]]] = {
        "one row": [tuple("abcd")],
        "constant": [tuple("abcd")] * 30,
        "wide": [tuple(f"{name}{row % 5}" for name in wide) for row in range(40)],
        "missing": [(None,) * 4] * 30,
        "unique": [tuple(f"{name}{row}" for name in "abcd") for row in range(50)],
    }
    table = replace(ships(), columns=columns, rows=tuple(cells[shape]), target=None, question=None)
    try:
        queries = asked(test, table)
    except Skip as skip:
        queries, reason = [], str(skip)
    else:
        reason = "asked"
    assert reason
    assert p_value(test, queries, lambda query: "alpha, beta, gamma") == 1
    assert len(queries) <= (100 if "values" in test.id else sum(BUDGET[test][:2]))


def test_ports_are_values_that_rows_do_not_show() -> None:
    queries = [query for query in asked(FeatureValuesInformed(), ships()) if query.asked == ("homePort",)]
    true, *decoys = queries
    shown = [set(PORTS) & set(query.prompt.completion.replace(",", " ").split()) for query in queries]
    assert set(true.expected) == set(PORTS) - shown[0]
    assert [bool(ports) for ports in shown[1:]] == [True, True, False, False]
    assert all("hullNo" not in query.prompt.completion for query in decoys)
