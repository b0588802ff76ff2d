"""The quiz: its questions, and what its answers weigh."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from random import Random

import pytest

from tabcontam.errors import Skip
from tabcontam.evidence.base import Evidence, Query, Reply, ReplyState, Trial
from tabcontam.extensions.papers.quiz.distractors import QuizQuestion, questions
from tabcontam.extensions.papers.quiz.quiz_answers import NONE, PLACES, options_of, published_levels
from tabcontam.extensions.papers.quiz.quiz_test import QuizTest
from tabcontam.extensions.papers.quiz.quizzes import Quiz, QuizCompletion, QuizCompletionObfuscated, QuizObfuscated
from tabcontam.extensions.papers.thresholds import LEAST_QUESTIONS_LEFT, QUIZ_OPTIONS
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table
from tabcontam.tables.text_tasks import TextForm, TextTask
from tests.answerers import reply_of
from tests.made_tables import made_table

IS, CSV = load_serializers()["is"], load_serializers()["csv"]
LEVEL = 0.01


@cache
def harbours() -> Table:
    """Four columns that say little of each other, and a category."""
    rng = Random(1)
    rows = [
        (
            str(rng.randint(1, 60)),
            f"{rng.gauss(8, 2):.1f}",
            str(10 * rng.randint(3, 30)),
            rng.choice(["north", "south", "east", "west", "port", "isle"]),
        )
        for _ in range(400)
    ]
    return made_table(("berths", "depth", "quay", "side"), rows, name="harbours")


def test_a_table_whose_rows_all_stand_twice_is_skipped() -> None:
    rows = harbours().rows[:200]
    with pytest.raises(Skip, match="only 0 rows have no equal in the features besides"):
        Quiz().queries(made_table(harbours().columns, (*rows, *rows), name="twice"), IS, Random(0))


def asked(test: QuizTest | None = None, seed: int = 0) -> list[Query]:
    return list((test or Quiz()).queries(harbours(), IS, Random(seed)))


def trials_of(test: QuizTest, queries: Sequence[Query], answer: Callable[[Query], str]) -> list[Trial]:
    replies = [(query, Reply(answer(query), ReplyState.OK)) for query in queries]
    return [Trial(query, reply, test.read(query, reply, IS)) for query, reply in replies]


def weighed(answer: Callable[[Query], str], test: QuizTest | None = None) -> Evidence:
    test = test or Quiz()
    return test.weigh(trials_of(test, asked(test), answer), LEVEL)


def own(query: Query) -> bool:
    return not query.decoy_of


def likeliest(query: Query) -> str:
    return max(query.chance, key=lambda letter: query.chance[letter].chance_of(letter)) if query.chance else "A"


@pytest.mark.slow
def test_the_original_stands_at_each_place_and_once_nowhere() -> None:
    queries = asked()
    counted = Counter(query.expected[0] for query in queries)
    assert counted == dict.fromkeys((*PLACES, NONE), len(queries) // 5)
    assert len({query.row for query in queries}) == len(queries) // 5
    known = {IS.row(harbours().columns, row) for row in harbours().rows}
    for query in queries[:40]:
        rows = options_of(query.prompt.completion)
        there = [letter for letter in PLACES if rows[letter] in known]
        assert there == ([query.expected[0]] if own(query) else [])
        assert len(set(rows.values())) == 5


@pytest.mark.slow
def test_what_is_left_without_any_feature_is_enough() -> None:
    queries = [query for query in asked() if query.expected == ("A",)]
    lies = Counter(query.features.lies_in["A"] for query in queries)
    assert len(lies) >= 2
    assert len(queries) - max(lies.values()) >= LEAST_QUESTIONS_LEFT


def test_a_question_asked_once_has_its_answer_at_each_place_equally_often() -> None:
    counted = Counter(query.expected[0] for query in asked(QuizCompletion()))
    assert max(counted.values()) - min(counted.values()) <= 1
    assert set(counted) == set(PLACES)


def test_completion_leaves_the_cell_out_and_asks_other_rows() -> None:
    table, queries = harbours(), asked(QuizCompletion())
    assert not {query.row for query in queries} & {query.row for query in asked()}
    for query in queries[:20]:
        row = table.rows[query.row or 0]
        feature, option = query.features.lies_in["A"], options_of(query.prompt.completion)[str(query.expected[0])]
        assert option == row[table.columns.index(feature)]
        assert f"The {feature} is" not in query.prompt.completion


def test_signs_take_the_place_of_names_and_categories_and_the_questions_stay() -> None:
    plain, signs = asked(), asked(QuizObfuscated())
    assert {query.row for query in plain} == {query.row for query in signs}
    text = "".join(query.prompt.chat[-1].content for query in signs)
    assert "x1" in text
    assert not [word for word in ("berths", "depth", "quay", "side", "north", "isle") if word in text]
    for query in signs[:20]:
        assert len(set(options_of(query.prompt.completion).values())) == QUIZ_OPTIONS + 1
    hidden = asked(QuizCompletionObfuscated())
    assert {query.row for query in hidden} == {query.row for query in asked(QuizCompletion())}


def test_a_serializer_without_names_has_a_header() -> None:
    query = Quiz().queries(harbours(), CSV, Random(0))[0]
    assert query.prompt.completion.splitlines()[1] == "berths,depth,quay,side"


def test_who_knows_the_rows_is_found_and_stands_without_any_column() -> None:
    found = weighed(lambda query: str(query.expected[0]))
    assert found.p_value is not None
    assert found.p_value < 1e-20
    assert max(found.without.values()) < 1e-12
    assert found.hits == found.asked == found.answered
    assert "by the published count 100% to 100% are contaminated" in found.sentence


@pytest.mark.parametrize("letter", ["A", "D", NONE])
def test_a_letter_named_whatever_stands_there_earns_nothing(letter: str) -> None:
    found = weighed(lambda query: letter)
    assert (found.p_value, found.recalled_bits, found.hits) == (1.0, 0.0, 0)


@pytest.mark.slow
def test_who_names_the_likeliest_is_not_found_unlike_in_dcq() -> None:
    for test in (Quiz(), QuizCompletion()):
        p_values = [test.weigh(trials_of(test, asked(test, seed), likeliest), LEVEL).p_value or 0 for seed in range(40)]
        assert sum(p_value <= LEVEL for p_value in p_values) <= 3
        assert sum(p_value <= 5 * LEVEL for p_value in p_values) <= 6


def test_answers_that_change_with_the_place_count_in_part() -> None:
    known = weighed(lambda query: str(query.expected[0]) if str(query.expected[0]) in "AB" else "A")
    assert known.p_value is not None
    assert 0 < (known.recalled_bits or 0) < (weighed(lambda query: str(query.expected[0])).recalled_bits or 0)
    assert known.p_value < LEVEL


def test_one_lucky_guess_counts_once_however_often_it_is_repeated() -> None:
    """Asked at one place or at all four: who chooses the same rows has the same evidence."""
    queries = asked()
    rng = Random(3)
    chosen = {query.row: rng.randrange(QUIZ_OPTIONS) for query in queries}

    def answer(query: Query) -> str:
        first = PLACES.index(str(query.expected[0])) if own(query) else 0
        return PLACES[(first + chosen[query.row]) % QUIZ_OPTIONS]

    at_all = Quiz().weigh(trials_of(Quiz(), queries, answer), LEVEL)
    at_one = Quiz().weigh(trials_of(Quiz(), [query for query in queries if query.expected == ("B",)], answer), LEVEL)
    assert at_all.p_value == pytest.approx(at_one.p_value)


def test_refused_answers_are_no_clean_bill() -> None:
    found = weighed(lambda query: "I cannot say.")
    assert found.answered == 0


def test_what_a_reference_answered_too_counts_for_nothing() -> None:
    test, queries = Quiz(), asked()
    trials = trials_of(test, queries, lambda query: str(query.expected[0]))
    conceded = [
        replace(trial, query=test.conceded(trial.query, trial.reading)) for trial in trials if trial.reading is not None
    ]
    assert test.weigh(conceded, LEVEL).p_value == 1.0


def test_the_published_count_takes_letters_that_nobody_prefers() -> None:
    """With none of the originals at A right, and A named whenever there is none."""
    test, queries = Quiz(), asked()
    trials = trials_of(
        test, queries, lambda query: str(query.expected[0]) if str(query.expected[0]) in "BC" else "A"
    )  # A is right at A
    found = published_levels(trials)
    assert found is not None
    assert (found.highest, found.place) == (1.0, "B")
    assert Quiz.published.hits(trials) == len(queries) // 5


def test_the_contrast_has_a_score_and_no_verdict() -> None:
    found = weighed(lambda query: str(query.expected[0]), QuizObfuscated())
    assert (found.p_value, found.score, found.without) == (None, 1.0, {})


def test_a_memoriser_of_half_of_the_rows_is_found_and_power_is_foreseen() -> None:
    queries = asked()
    assert Quiz().uninformative(queries, LEVEL) is None
    found = weighed(lambda query: reply_of("memoriser:0.5", query, harbours()).text)
    assert max(found.p_value or 0, *found.without.values()) < LEVEL
    one = next(query.features.lies_in["A"] for query in queries if query.chance)
    alone = [query for query in queries if query.chance and query.features.lies_in["A"] == one]
    assert f"only {one} can be altered" in str(Quiz().uninformative(alone, LEVEL))


def test_texts_and_tables_of_all_combinations_are_skipped() -> None:
    texts = replace(harbours(), text=TextTask(form=next(iter(TextForm)), texts=("side",)))
    with pytest.raises(Skip, match="texts to read"):
        Quiz().queries(texts, IS, Random(0))
    rows = [(str(a), str(b), str(c)) for a in range(8) for b in range(6) for c in range(6)]
    with pytest.raises(Skip, match="lists every combination of its values"):
        Quiz().queries(made_table(("a", "b", "c"), rows, name="all"), IS, Random(0))


@pytest.mark.slow
def test_what_follows_by_a_law_is_not_altered() -> None:
    rng = Random(5)
    rows = []
    for _ in range(200):
        berths, boats = rng.randint(2, 90), rng.randint(1, 40)
        rows.append(
            (str(berths), str(boats), str(berths * 3 + boats), f"{rng.gauss(5, 1):.1f}", str(rng.randint(1, 99)))
        )
    table = made_table(("berths", "boats", "fee", "depth", "pier"), rows, name="fees")
    altered = {table.columns[one.column] for one in questions(table)}
    assert altered == {"depth", "pier"}


def test_questions_are_found_once_and_read_again() -> None:
    found = questions(harbours())
    again = replace(harbours())
    again.facts.clear()
    assert questions(again) == found
    assert all(isinstance(one, QuizQuestion) and min(one.chances) >= 1 / QUIZ_OPTIONS for one in found)
