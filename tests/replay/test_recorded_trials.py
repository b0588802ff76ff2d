"""Recorded answers as trials: rows by what it is worth to guess them, words by how much oftener they are said."""

import pytest

from tabcontam.evidence.base import Evidence
from tabcontam.replay.answer_records import Record
from tabcontam.replay.recorded_null_model import KnownEdition
from tabcontam.replay.recorded_trials import (
    COUNTER,
    ELSEWHERE,
    INSIDE,
    NO_DECOYS,
    NO_WORDS,
    NOT_ITS_NAME,
    OTHER_FEATURE,
    PREAMBLE,
    SINGLE,
    RecordedEvidence,
    asked_rows,
    asked_words,
)
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table
from tests.made_tables import ships

SHIPS = KnownEdition(ships(300))
ROW = 4
CELLS = SHIPS.row(ROW)
TEMPLATES = {
    "is": "The {feature_name} is {feature_value}, ",
    "equals": "{feature_name} = {feature_value}, ",
    "colon": "{feature_name}: {feature_value}, ",
    "is-equal-to": "The {feature_name} is equal to {feature_value}; ",
}


def recorded(output: str, test: str = "full_completion", row: int = ROW, **given: object) -> Record:
    made = {"serializer": None, "asked": tuple(SHIPS.table.columns), "values": SHIPS.row(row)} | given
    return Record(1, "m", "ships", test=test, file="f", output=output, **made)  # type: ignore[arg-type]


def said(row: int = ROW, serializer: str = "is", **changed: str) -> str:
    cells = {**SHIPS.row(row), **changed}
    return load_serializers()[serializer].row(tuple(cells), tuple(cells.values()))


def asked(*records: Record) -> RecordedEvidence:
    found = asked_rows(records, SHIPS)
    assert isinstance(found, RecordedEvidence)
    return found


def weighed(*records: Record) -> Evidence:
    return evidence(asked(*records))


def evidence(found: RecordedEvidence) -> Evidence:
    return found.test.weigh(found.trials, 0.001)


def p_value(*records: Record) -> float:
    found = weighed(*records).p_value
    assert found is not None
    return found


class TestRows:
    def test_a_row_that_is_told_whole_cannot_be_guessed(self) -> None:
        found = weighed(recorded(said()))
        assert found.hits == found.answered == 1
        assert p_value(recorded(said())) < 1e-6
        assert asked(recorded(said())).uninformative(0.001) is None
        assert found.recalled_bits is not None
        assert found.measured.expected is not None
        assert found.recalled_bits > 20 > found.measured.expected

    def test_b4_the_cells_that_are_right_count_and_the_wrong_one_does_not(self) -> None:
        wrong = "no" if CELLS["tolldue"] == "yes" else "yes"
        assert weighed(recorded(said(tolldue=wrong))).hits == 0
        assert p_value(recorded(said())) <= p_value(recorded(said(tolldue=wrong))) < 1e-6

    def test_b4_the_value_of_another_feature_is_none_of_this_one(self) -> None:
        value, names = str(CELLS["crewCnt"]), ("length_m", "crewCnt")
        turned = recorded(f"The length_m is {value}, The crewCnt is {CELLS['length_m']}", asked=names)
        assert weighed(turned).recalled_bits == 0
        assert OTHER_FEATURE in asked(turned).notes

    @pytest.mark.parametrize("longer", ["{}0", "3{}", "{}01282", " {} 5"])
    def test_b3_a_number_inside_a_longer_one_is_not_memory(self, longer: str) -> None:
        answer = longer.format(CELLS["crewCnt"])
        found = weighed(recorded(answer, "feature_completion", asked=("crewCnt",)))
        assert (found.hits, found.p_value) == (0, 1.0)

    @pytest.mark.parametrize(
        "before", ["Sure, here is the row:\n\n", "I recall that the next row reads as follows.\n```\n"]
    )
    def test_b1_an_answer_after_a_preamble_is_read_like_any_other(self, before: str) -> None:
        plain, announced = recorded(said()), recorded(before + said())
        assert weighed(announced) == weighed(plain)
        assert PREAMBLE in asked(announced).notes
        assert PREAMBLE not in asked(plain).notes

    def test_b1_an_answer_recorded_as_a_list_of_lines_is_read(self) -> None:
        assert weighed(recorded(str(["Sure:", "", said()]))) == weighed(recorded(said()))

    def test_b11_an_answer_whose_beginning_was_cut_off_is_read(self) -> None:
        names = ("length_m", "master")
        answer = f"The length_m is {CELLS['length_m']}, The master is {CELLS['master']}"
        whole = weighed(recorded(answer, "incomplete_completion", asked=names))
        assert weighed(recorded(answer[2:], "incomplete_completion", asked=names)) == whole
        assert whole.hits == 1

    @pytest.mark.parametrize("serializer", TEMPLATES)
    def test_the_serializer_changes_nothing(self, serializer: str) -> None:
        told = weighed(recorded(said(serializer=serializer), serializer=TEMPLATES[serializer]))
        assert told == weighed(recorded(said()))

    def test_the_way_a_number_is_written_changes_nothing(self) -> None:
        other = f"{float(str(CELLS['crewCnt'])):e}"
        assert p_value(recorded(said(crewCnt=other))) == p_value(recorded(said()))

    @pytest.mark.parametrize("hidden", ["unknown", "success"])
    def test_what_is_an_answer_does_not_hang_on_the_hidden_value(self, hidden: str) -> None:
        # `unknown` was read where it was the hidden value, and was no answer where it was not
        rows = [("10", hidden), *((str(number), "unknown") for number in range(30, 60))]
        known = KnownEdition(Table("t", "T", "made-up", "0", ("age", "outcome"), tuple(rows)))
        values = {"age": "10", "outcome": hidden}
        record = recorded("unknown", "feature_completion", values=values, asked=("outcome",))
        found = asked_rows([record], known)
        assert isinstance(found, RecordedEvidence)
        assert evidence(found).answered == 1

    def test_a_feature_that_only_counts_the_rows_counts_for_nothing(self) -> None:
        found = asked_rows([recorded(said())], SHIPS)
        assert isinstance(found, RecordedEvidence)
        assert COUNTER in found.notes
        assert "hullNo" not in found.trials[0].query.chance
        alone = recorded("The hullNo is 5", "feature_completion", asked=("hullNo",))
        assert asked_rows([alone], SHIPS) == "hullNo follows from the row's number"

    def test_a_row_that_was_asked_again_adds_nothing(self) -> None:
        assert asked(recorded(said()), recorded(said())) == asked(recorded(said()))

    def test_rows_whose_answers_are_wrong_count_too(self) -> None:
        right, wrong = recorded(said()), recorded(said(), row=9)
        assert p_value(right) < p_value(right, wrong)

    def test_a_missing_mark_is_never_a_hit(self) -> None:
        row = next(row for row in range(300) if None in SHIPS.row(row).values())
        missing = [name for name, cell in SHIPS.row(row).items() if cell is None]
        answer = ", ".join(f"The {name} is nan" for name in missing)
        found = weighed(recorded(answer, "incomplete_completion", row=row, asked=tuple(missing)))
        assert (found.hits, found.recalled_bits, found.p_value) == (0, 0, 1.0)

    def test_a_text_that_declines_is_no_answer(self) -> None:
        found = weighed(recorded("I cannot know the next row."), recorded("", row=5))
        assert (found.answered, found.asked, found.p_value) == (0, 2, 1.0)

    def test_always_the_likeliest_value_is_no_memory(self) -> None:
        names = ("homePort", "tolldue")
        mode = {name: SHIPS.table.distinct(name)[0] for name in names}
        answer = ", ".join(f"The {name} is {value}" for name, value in mode.items())
        rows = [recorded(answer, "incomplete_completion", row, asked=names) for row in range(100)]
        assert p_value(*rows) > 0.01

    def test_what_everybody_guesses_could_not_tell(self) -> None:
        found = asked(recorded("The tolldue is yes", "incomplete_completion", asked=("tolldue",)))
        assert str(found.uninformative(0.001)).startswith(
            "the test would detect a model that remembers 1 of the 1 asked"
        )

    def test_rows_of_another_table_are_not_recorded(self) -> None:
        foreign = Record(1, "m", "ships", None, "full_completion", "f", "x", values={"hullNo": "0"}, asked=("hullNo",))
        assert str(asked_rows([foreign], SHIPS)).startswith("not recorded: ")


SPECIFIC = ("fnlwgt", "workclass", "education.num", "capital.gain")


def answer(output: str, *words: str, dataset: str = "adult income", test: str = "feature_list_uninformed") -> Record:
    return Record(1, "m", dataset, None, test, "f", output=output, words=words)


def others(output: str = "port, mast", count: int = 9, each: int = 1) -> list[list[Record]]:
    return [[answer(output, "x", dataset=f"other {number}")] * each for number in range(count)]


def said_of(*records: Record, decoys: list[list[Record]] | None = None) -> RecordedEvidence:
    found = asked_words(records, others() if decoys is None else decoys)
    assert isinstance(found, RecordedEvidence)
    return found


class TestWords:
    def test_words_that_no_other_dataset_is_given_weigh(self) -> None:
        found = evidence(said_of(answer(", ".join(SPECIFIC), *SPECIFIC)))
        assert found.p_value is not None
        assert found.p_value < 0.01
        assert found.hits == found.asked == 4

    def test_words_that_are_always_said_weigh_nothing(self) -> None:
        found = said_of(answer("port, mast", "port", "mast"))
        assert evidence(found).p_value == 1.0
        assert ELSEWHERE in found.notes

    def test_answers_are_compared_one_with_one(self) -> None:
        # all three answers on another dataset together say more than one answer on this
        pair = said_of(*[answer(", ".join(SPECIFIC), *SPECIFIC)] * 2, decoys=others(each=2))
        assert [trial.query.decoy_of for trial in pair.trials].count("") == pair.queries == 2
        assert len(pair.trials) == 2 * (1 + 9)

    def test_numbers_and_missing_values_are_no_words(self) -> None:
        record = Record(1, "m", "wine", None, "feature_list_uninformed", "f", "fnlwgt, 1", words=(None, "fnlwgt"))
        assert evidence(said_of(record)).asked == 1

    def test_a_word_that_the_dataset_s_name_shows_is_not_asked(self) -> None:
        assert asked_words([answer("wine", "wine", dataset="wine")], others()) == NO_WORDS

    def test_b6_a_single_word_cannot_tell(self) -> None:
        found = said_of(answer("fnlwgt", "fnlwgt"))
        assert SINGLE in found.notes
        assert found.uninformative(0.001) is not None

    def test_b3_a_word_inside_a_longer_one_is_not_said(self) -> None:
        found = said_of(answer("a question", "quest", "fnlwgt"))
        assert evidence(found).hits == 0
        assert INSIDE in found.notes

    def test_an_answer_that_declines_is_no_decoy(self) -> None:
        silent = others("I'm sorry, I cannot know that.", 1) + others("", 1)
        assert asked_words([answer("fnlwgt", "fnlwgt")], silent) == NO_DECOYS

    def test_of_two_files_about_another_dataset_one_is_a_decoy(self) -> None:
        again = [answer("fnlwgt", "x", dataset="other 0")]
        assert len(said_of(answer("fnlwgt", "fnlwgt"), decoys=[*others(), again]).trials) == 1 + 9

    def test_no_card(self) -> None:
        assert str(asked_words([answer("x", "x", dataset="MathE")], others())).startswith("not recorded: ")


class TestNames:
    def named(self, dataset: str, output: str, decoys: int = 9, other: str = "Zand Register") -> RecordedEvidence:
        record = answer(output, dataset=load_cards()[dataset].title, test="recognition_features")
        return said_of(record, decoys=others(other, decoys))

    @pytest.mark.parametrize("output", ["The California Housing dataset", "california_housing", "cal_housing"])
    def test_its_names_count_however_spelled(self, output: str) -> None:
        assert evidence(self.named("housing", output)).hits == 1

    @pytest.mark.parametrize(
        ("dataset", "output"),
        [
            ("housing", "[boston_housing]"),
            ("housing", "[boston, housing, census]"),
            ("wine", "Wine Quality"),
            ("wine", "wine_quality dataset"),
            ("wine", "winequality-red.csv"),
            ("titanic", "Spaceship Titanic"),
            ("titanic", "spaceship_titanic"),
        ],
    )
    def test_b10_another_dataset_s_name_does_not_count(self, dataset: str, output: str) -> None:
        found = self.named(dataset, output)
        assert (evidence(found).hits, found.notes) == (0, (NOT_ITS_NAME,))

    def test_one_name_among_few_answers_cannot_tell(self) -> None:
        found = self.named("iris", "Iris")
        assert evidence(found).p_value == pytest.approx(0.1)
        assert found.uninformative(0.01) is not None

    def test_one_name_among_many_answers_can(self) -> None:
        assert self.named("iris", "Iris", decoys=200).uninformative(0.01) is None

    def test_a_name_that_is_always_given_weighs_nothing(self) -> None:
        assert evidence(self.named("iris", "Iris", other="Iris")).p_value == 1.0
