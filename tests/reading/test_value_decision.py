"""Algorithm 2 on made-up answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.reading.value_decision import completion_line, decide_values, first_line

VALUES = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=8)


def found(output: str, value: str | None) -> bool:
    return decide_values(output, {"feature": value})


class TestOneValue:
    @pytest.mark.parametrize(
        ("output", "value"),
        [
            ("The fare is 8.05, and so on", "8.05"),
            ("It is 'S'!", "S"),
            (" 1169 ", "1169"),
            ("452600", "452600.0"),
            ("the Name is Allen, Mr. William;", "Allen, Mr. William"),
            ("1.0", "1.0"),
            ("-1", "-1"),
        ],
    )
    def test_found(self, output: str, value: str) -> None:
        assert found(output, value)

    @pytest.mark.parametrize(
        ("output", "value"),
        [
            ("", "5"),
            ("373450", "5"),
            ("The age is 256.0", "256"),
            ("The age is 256", "256.0"),
            ("no", "No"),
            ("No.", "No"),
            ('"No"', "No"),
            ("(No)", "No"),
            ("7", "class_0"),
            ("allen, mr. william", "Allen, Mr. William"),
        ],
    )
    def test_not_found(self, output: str, value: str) -> None:
        assert not found(output, value)

    @given(VALUES, st.text(" ,:;!?'", max_size=3), st.sampled_from(["The value is ", "", "a b "]))
    def test_a_value_said_alone_is_found(self, value: str, marks: str, before: str) -> None:
        assert found(f"{before}{value}{marks}", value)


class TestRows:
    def test_every_asked_value_must_appear(self) -> None:
        row = {"fare": "8.05", "port": "S"}
        assert decide_values("fare 8.05, port S", row)
        assert not decide_values("fare 8.05, port C", row)

    def test_a_value_may_stand_under_another_feature(self) -> None:
        assert decide_values("a is 1, b is 0", {"a": "0", "b": "1"})

    def test_nothing_asked_shows_nothing(self) -> None:
        assert not decide_values("1", {})


class TestMissingValues:
    def test_the_authors_look_for_nan(self) -> None:
        assert found("The cabin is nan, The port is S", None)
        assert not found("The cabin is missing", None)

    def test_one_that_the_caller_has_read_counts(self) -> None:
        row = {"cabin": None, "port": "S"}
        assert decide_values("cabin: , port: S", row, missing_shown=["cabin"])

    def test_but_never_for_a_value(self) -> None:
        assert not decide_values("cabin: ", {"cabin": "C85"}, missing_shown=["cabin"])


class TestLines:
    def test_only_the_first_line_is_kept(self) -> None:
        assert first_line("5\n6") == "5"
        assert first_line("\n5") == ""
        assert first_line("") == ""

    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("Here it is:\nThe a is 1\nThe a is 2", "The a is 1"),
            ("The a is 1, b is 2\nThe a is 3", "The a is 1, b is 2"),
            ("one", "one"),
            ("", ""),
        ],
    )
    def test_a_full_completion_may_have_a_short_preamble(self, text: str, line: str) -> None:
        assert completion_line(text) == line
