"""What answers to rows weigh: cells that a guesser would get are worth little, others their bits."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log2
from random import Random

import pytest

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.rounded_numbers import RoundedPrediction, worths
from tabcontam.evidence.base import Evidence, FeatureFacts, Message, Prompt, Query, Reply, ReplyState, Trial
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.rows.completion_tests import FeatureCompletion, FullCompletion, IncompleteCompletion
from tabcontam.evidence.rows.row_test import CellTest, RowTest
from tabcontam.tables.serializers import load_serializers
from tests.made_tables import made_table, ships

IS = load_serializers()["is"]
PROMPT = Prompt((Message("user", "Rows:"),), "Rows:", "")
LEVEL = 0.001
AGE = CellPrediction({str(age): 1 / 64 for age in range(60)}, 1 / 64)
SEX = CellPrediction({"female": 0.25, "male": 0.75}, 0.01)
BANK = {
    "previous": CellPrediction({"0": 0.82, "1": 0.06, "2": 0.05}, 0.01),
    "poutcome": CellPrediction({"unknown": 0.98, "failure": 0.01}, 0.01),
    "y": CellPrediction({"no": 0.9, "yes": 0.1}, 0.01),
}


def query(
    number: int, cells: Mapping[str, tuple[str | None, CellPrediction | None]], test: str = "incomplete_completion"
) -> Query:
    expected = tuple(value for value, _ in cells.values())
    chance = {name: guess for name, (_, guess) in cells.items() if guess is not None}
    return Query(f"{test}-{number}", lambda: PROMPT, tuple(cells), expected, 99, chance=chance)


def person(number: int, age: str | None = "39", sex: str | None = "female") -> Query:
    return query(number, {"age": (age, AGE), "sex": (sex, SEX)})


def weighed(asked: Sequence[Query], texts: Sequence[str]) -> Evidence:
    test = by_id()[asked[0].id.rpartition("-")[0]]
    replies = [Reply(text, ReplyState.OK) for text in texts]
    readings = [test.read(query, reply, IS) for query, reply in zip(asked, replies, strict=True)]
    return test.weigh(list(map(Trial, asked, replies, readings)), LEVEL)


RIGHT = "The age is 39, The sex is female"


def test_every_row_test_shows_that_rows_were_seen() -> None:
    for test in (IncompleteCompletion(), FullCompletion(), FeatureCompletion()):
        assert test.decides
        assert test.row_test


def test_a_right_cell_is_worth_its_bits() -> None:
    evidence = weighed([person(0)], [RIGHT])
    assert evidence.recalled_bits == evidence.measured.value == pytest.approx(6 + 2)
    assert evidence.p_value == pytest.approx(1 / 64 / 4)
    assert (evidence.hits, evidence.asked, evidence.answered) == (1, 1, 1)
    assert evidence.expected_hits == pytest.approx(1 / 256)
    assert evidence.measured.expected == pytest.approx(6 / 64 + 2 / 4)


def test_a_row_that_is_right_in_part_counts_for_what_it_is_worth() -> None:
    evidence = weighed([person(0)], ["The age is 39, The sex is male"])
    assert evidence.hits == 0
    assert evidence.recalled_bits == pytest.approx(6)
    assert evidence.p_value == pytest.approx(1 / 64)


def test_always_the_mode_is_no_memory() -> None:
    """B2: the last three columns of Bank are `0, unknown, no` in most rows, and that passed test 7."""
    truth = dict(zip(BANK, ("0", "unknown", "no"), strict=True))
    cells = {name: (truth[name], BANK[name]) for name in BANK}
    asked = [query(number, cells) for number in range(5)]
    evidence = weighed(asked, ["The previous is 0, The poutcome is unknown, The y is no"] * 5)
    assert evidence.hits == 5
    assert evidence.p_value is not None
    assert evidence.p_value > 0.1


def test_a_number_that_holds_the_right_one_is_not_right() -> None:
    """B3: ` 3101282`, the number of the ticket, was counted for PassengerId 3."""
    passenger = CellPrediction({}, 1 / 892)
    asked = [query(number, {"PassengerId": (str(number), passenger)}, "feature_completion") for number in (1, 3, 5)]
    evidence = weighed(asked, [" 310", " 3101282", " 373450"])
    assert (evidence.hits, evidence.recalled_bits, evidence.p_value) == (0, 0, 1)
    right = weighed(asked, ["1", "3", "5"])
    assert right.recalled_bits == pytest.approx(3 * log2(892))


TITANIC = {
    "Survived": ("0", CellPrediction({"0": 0.6, "1": 0.4}, 0.01)),
    "Pclass": ("3", CellPrediction({"3": 0.55, "1": 0.25}, 0.01)),
    "Name": ("Allen, Mr. William Henry", CellPrediction({}, 1 / 892)),
    "Parch": ("0", CellPrediction({"0": 0.8, "1": 0.2}, 0.01)),
}


@pytest.mark.parametrize(
    "text",
    [
        "The Survived is 1, The Pclass is 3, The Name is Allen, Mr. William Henry, The Parch is 0",
        "The Survived is 1, The Pclass is 3, The Name is Allen, Mr. William Henry, The Parch is 0\n\nThe Survived is 0",
    ],
)
def test_a_wrong_cell_is_not_right_by_anothers_value(text: str) -> None:
    """B4: two Titanic rows counted as complete whose Survived is wrong, since another cell holds a 0."""
    row = query(0, TITANIC, "full_completion")
    reading = FullCompletion().read(row, Reply(text, ReplyState.OK), IS)
    assert reading.paper_hit
    assert (reading.hit, reading.right) == (False, ("Pclass", "Name", "Parch"))
    evidence = weighed([row], [text])
    assert evidence.hits == 0
    assert evidence.expected_hits == pytest.approx(0.4 * 0.55 * 0.8 / 892)
    assert evidence.recalled_bits == pytest.approx(log2(892) - log2(0.55) - log2(0.8))


@pytest.mark.parametrize("mark", ["", "?", "nan", "NA", "-", "missing"])
def test_a_missing_mark_is_never_right(mark: str) -> None:
    evidence = weighed([person(0, age=None)], [f"The age is {mark}, The sex is female"])
    assert evidence.recalled_bits == pytest.approx(2)
    assert evidence.measured.expected == pytest.approx(2 / 4)  # nor could it be, so it is not expected either


def test_a_value_that_looks_like_a_missing_mark_counts() -> None:
    garage = CellPrediction({"none": 0.5, "one": 0.5}, 0.01)
    evidence = weighed(
        [query(0, {"age": ("39", None), "garage": ("none", garage)})], ["The age is 40, The garage is none"]
    )
    assert evidence.recalled_bits == pytest.approx(1)


def test_all_rows_asked_count_also_those_without_a_readable_answer() -> None:
    evidence = weighed([person(number) for number in range(3)], [RIGHT, "I cannot know.", ""])
    assert (evidence.hits, evidence.asked, evidence.answered) == (1, 3, 1)
    assert evidence.interval is not None
    assert evidence.interval[0] < 1 / 3 < evidence.interval[1]


def test_a_feature_without_a_guess_counts_for_nothing() -> None:
    asked = [query(0, {"age": ("39", AGE), "sex": ("female", None)})]
    evidence = weighed(asked, ["The age is 39, The sex is male"])
    assert evidence.hits == 1
    assert evidence.recalled_bits == pytest.approx(6)


def test_a_query_without_guesses_is_the_papers_alone() -> None:
    plain = query(1, {"age": ("39", None), "sex": ("female", None)})
    assert weighed([person(0), plain], [RIGHT] * 2) == weighed([person(0)], [RIGHT])


def test_answers_to_nothing_that_counts_weigh_nothing() -> None:
    evidence = weighed([query(0, {"age": ("39", None), "sex": ("female", None)})], [RIGHT])
    assert (evidence.p_value, evidence.asked, evidence.recalled_bits) == (1, 0, 0)


@pytest.mark.parametrize(
    "text",
    [
        RIGHT,
        "The age is 39.0, The sex is FEMALE",
        "age = 3.9e1, sex = female.",
        '{"sex": "female", "age": 39}',
        "Sure, this is the row:\n\n```\nage: 39, sex: female\n```\nI hope this helps.",
        "| age | sex |\n|---|---|\n| 39 | female |",
        "The age is 39 because most are (I think), The sex is female (a guess)",
    ],
)
def test_the_shape_of_an_answer_changes_no_weight(text: str) -> None:
    assert weighed([person(0)], [text]) == weighed([person(0)], [RIGHT])


@pytest.mark.parametrize(("age", "sex"), [("39.0", "Female"), ("3.9e1", " female "), ("039", "female.")])
@pytest.mark.parametrize("text", [RIGHT, "The age is 40, The sex is female", "Unknown", "39, female", "The age is ?"])
def test_an_equal_value_that_is_written_differently_changes_no_weight(age: str, sex: str, text: str) -> None:
    assert weighed([person(0, age, sex)], [text]) == weighed([person(0)], [text])


def test_the_sentence_says_what_a_person_can_check() -> None:
    evidence = weighed([person(number) for number in range(4)], [RIGHT, RIGHT, RIGHT, "The age is 3, The sex is male"])
    assert evidence.sentence.startswith("3 of 4 cut rows are right, and 0.023 are expected of the baseline")
    assert "recalled bits 24" in evidence.sentence
    assert "drawn again" in (evidence.null or "")


def test_the_detectable_share_shrinks_with_the_number_of_rows() -> None:
    few, many = (
        weighed([person(row) for row in range(rows)], ["The age is 20, The sex is male"] * rows).detectable_share
        for rows in (4, 60)
    )
    assert few is not None
    assert many is not None
    assert many < few < 1


def test_rows_without_an_answer_were_counted_as_if_memory_had_been_seen_there() -> None:
    asked = [person(number) for number in range(40)]
    all_heard = weighed(asked, ["The age is 20, The sex is male"] * 40).detectable_share
    half_heard = weighed(asked, ["The age is 20, The sex is male", "I do not know."] * 20).detectable_share
    assert all_heard is not None
    assert half_heard is not None
    assert half_heard > all_heard
    assert weighed(asked, ["I do not know."] * 40).detectable_share is None


PRICE = CellPrediction(
    {"12.34": 0.002}, 0.001, coarser=(RoundedPrediction(1, {}, 0.01), RoundedPrediction(0, {}, 0.02))
)


@pytest.mark.parametrize(("answer", "digits"), [("12.34", 0), ("12.3", 1), ("12.31", 1), ("12", 2), ("13", None)])
def test_a_rounded_number_is_worth_what_its_digits_are_worth(answer: str, digits: int | None) -> None:
    evidence = weighed([query(0, {"price": ("12.34", PRICE)}, "feature_completion")], [answer])
    chances = PRICE.chances(answer)
    assert evidence.recalled_bits == pytest.approx(0 if digits is None else worths(chances)[digits])
    assert evidence.p_value == pytest.approx(1 if digits is None else chances[digits])
    assert evidence.hits == (digits == 0)


def test_many_rounded_numbers_are_memory() -> None:
    asked = [query(number, {"price": ("12.34", PRICE)}, "feature_completion") for number in range(9)]
    for answer, most in (("12.34", 1e-20), ("12.3", 1e-8), ("12", 1e-3)):
        p_value = weighed(asked, [answer] * 9).p_value
        assert p_value is not None
        assert p_value < most


def test_an_answer_that_was_not_read_weighs_nothing() -> None:
    """`control:exposed` was called contaminated with none of its answers read: each was cut."""
    asked = [query(number, {f"c{place}": ("39", AGE) for place in range(9)}, "full_completion") for number in range(9)]
    cut = Reply("The c0 is 39, The c1 is 39, The c2 is 3", ReplyState.TRUNCATED)
    trials = [Trial(one, cut, FullCompletion().read(one, cut, IS)) for one in asked]
    evidence = FullCompletion().weigh(trials, LEVEL)
    assert (evidence.answered, evidence.recalled_bits, evidence.p_value) == (0, 0, 1)


def test_asking_what_every_guesser_knows_would_tell_nothing() -> None:
    sure = CellPrediction({"39": 0.99}, 0.001)
    reason = IncompleteCompletion().uninformative([query(number, {"age": ("39", sure)}) for number in range(40)], LEVEL)
    assert reason is not None
    assert "the test would detect a model that remembers half of the rows in only 2% of runs, at p <= 0.001" in reason


def test_asking_forty_people_can_tell() -> None:
    assert IncompleteCompletion().uninformative([person(number) for number in range(40)], LEVEL) is None


def test_whether_asking_can_tell_does_not_hang_on_hidden_cells() -> None:
    for rows in (1, 2, 3, 4, 40):
        asked = [person(number) for number in range(rows)]
        other = [person(number, "7", None) for number in range(rows)]
        assert IncompleteCompletion().uninformative(asked, LEVEL) == IncompleteCompletion().uninformative(other, LEVEL)


def test_no_row_that_counts_is_no_test() -> None:
    reason = IncompleteCompletion().uninformative([query(0, {"age": ("39", None)})], LEVEL)
    assert reason is not None
    assert "in no cell of the asked rows" in reason


def test_evidence_says_in_which_columns_the_bits_lie_and_what_stands_without_each() -> None:
    evidence = weighed([person(0), person(1)], [RIGHT, "The age is 39, The sex is male"])
    assert evidence.columns == {"age": pytest.approx(12), "sex": pytest.approx(2)}
    assert set(evidence.without) == {"age", "sex"}
    assert evidence.without["sex"] == pytest.approx(1 / 64 / 64)
    assert evidence.without["age"] == pytest.approx(weighed([person(0)], ["The sex is female"]).p_value or 0)
    assert evidence.p_value is not None
    assert evidence.p_value < evidence.without["sex"] < evidence.without["age"]


def test_without_its_only_column_nothing_is_left() -> None:
    ages = [query(number, {"age": ("39", AGE)}, "feature_completion") for number in range(3)]
    evidence = weighed(ages, ["39"] * 3)
    assert evidence.columns == {"age": pytest.approx(18)}
    assert evidence.without == {"age": 1.0}


def test_the_columns_of_one_entity_count_as_one() -> None:
    known = replace(person(0), features=FeatureFacts(dict.fromkeys(("age", "sex"), "age and sex")))
    evidence = weighed([known], [RIGHT])
    assert evidence.columns == {"age and sex": pytest.approx(8)}
    assert evidence.without == {"age and sex": 1.0}


def test_what_is_not_answered_lies_in_no_column() -> None:
    evidence = weighed([person(0)], ["I do not know."])
    assert (evidence.columns, evidence.without) == ({}, {})


@pytest.mark.parametrize("test", [IncompleteCompletion(), FullCompletion(), FeatureCompletion()])
@pytest.mark.slow
def test_a_plan_says_which_features_are_of_one_entity_and_which_row_is_asked(test: RowTest) -> None:
    rows = tuple((f"name {place}", f"day {place}", str(place * 37 % 100), str(place % 7)) for place in range(120))
    columns = ("name", "born", "height", "shirt")
    table = replace(ships(), columns=columns, rows=rows, target=None, hints=None, question=None)
    for asked in test.planned(table, IS, Random(1)):
        named = {name: "name and born" for name in asked.asked if name in ("name", "born")}
        assert asked.features.lies_in == named
        assert asked.row is not None
        assert asked.expected == tuple(dict(zip(columns, rows[asked.row], strict=True))[name] for name in asked.asked)


@pytest.mark.parametrize("test", [IncompleteCompletion(), FullCompletion(), FeatureCompletion()])
@pytest.mark.slow
def test_each_value_of_the_table_is_read_however_unlikely_it_is_there(test: CellTest) -> None:
    """SmolLM2 wrote a team that drives in every race, and the guesser was sure of another: it was called no value."""
    teams = ("Orlan", "Brask", "Tivel", "Suda", "Merrin", "Ocke")
    rows = [
        (f"{place}.{place % 7}", str(place % 3), teams[place // 40], f"driver {place * 37 % 23}")
        for place in range(240)
    ]
    table = made_table(("lap", "stops", "team", "driver"), rows)
    for place, asked in enumerate(test.planned(table, IS, Random(1))):
        other = dict(zip(table.columns, rows[(place * 41) % 240], strict=True))
        given = tuple(other[name] for name in asked.asked)
        text = asked.answering.text(asked, given, asked.prompt)
        reading = test.read(asked, Reply(text, ReplyState.OK), IS)
        assert reading.parsed == dict(zip(asked.asked, given, strict=True))


def beside(silent: str | None) -> list[Query]:
    """Twenty ages, each 39, of which a silent predictor says this."""
    guess = replace(AGE, silent=silent)
    return [query(number, {"age": ("39", guess)}, "feature_completion") for number in range(20)]


def test_who_is_no_better_than_an_honest_predictor_shows_no_memory() -> None:
    """The guesser gives the age a chance of 1/64, and trees on the other rows name it: it followed from something."""
    alike = weighed(beside("39"), ["39"] * 20)
    assert alike.p_value is not None
    assert alike.p_value > 0.1
    assert alike.without == {"age": 1.0}
    assert alike.recalled_bits == pytest.approx(20 * 6)  # what is right is told all the same
    assert "more by a predictor with all other rows" in alike.sentence


def test_who_is_better_than_an_honest_predictor_is_found() -> None:
    better = weighed([*beside("39")[:5], *beside("7")[5:]], ["39"] * 20)
    assert better.p_value is not None
    assert better.p_value < 1e-12


@pytest.mark.parametrize("silent", [None, "7"])
def test_a_predictor_that_is_wrong_takes_nothing_off(silent: str | None) -> None:
    assert weighed(beside(silent), ["39"] * 20).p_value == weighed(beside(None), ["39"] * 20).p_value


def test_only_cells_that_were_answered_are_compared() -> None:
    declined = "I do not know."
    assert weighed(beside("39"), ["39"] + [declined] * 19).p_value == 1.0
    wrong = weighed(beside("39"), [declined] * 17 + ["7"] * 3)
    assert wrong.p_value == 1.0


def test_the_share_that_would_be_found_counts_what_is_taken_off() -> None:
    more = weighed([*beside("39")[:10], *beside(None)[10:]], ["7"] * 20).detectable_share
    less = weighed(beside(None), ["7"] * 20).detectable_share
    assert more is not None
    assert less is not None
    assert more > less
