"""One query as the evidence shows it: its kind, its cells, their chance, and nothing cut in silence."""

from typing import Any

import pytest

from tabcontam.reading.answer_text import value_key
from tabcontam.report.query import bits_of, kind_of, prompt_of, query_for_page, row_of, words_read
from tests.report.synthetic import HOSTILE, cell, trial

ROW = cell("gpt-4o", "iris", "full_completion", "contaminated")
WORDS = cell("gpt-4o", "iris", "feature_list_informed", "contaminated")


def guess(chance: float, rest: float = 0.01, **values: float) -> dict[str, Any]:
    return {"values": values or {"1.4": chance}, "rest": rest, "missing": 0.0}


def row(**changes: Any) -> dict[str, Any]:
    return trial(ROW, "1", **changes)


def words(reply: str, parsed: str | None, **changes: Any) -> dict[str, Any]:
    expected = ["sepal width", "sepal, petal", "class"]
    return trial(WORDS, "1", **{"asked": [], "expected": expected, "reply": reply, "parsed": parsed, **changes})


def choice(parsed: str | None, **changes: Any) -> dict[str, Any]:
    of = {"asked": ["Yes", "No"], "expected": ["No"], "parsed": parsed, "reply": str(parsed), "hit": parsed == "No"}
    return trial(cell("gpt-4o", "iris", "matched_membership", "contaminated"), "1", **{**of, **changes})


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"hit": True}, "hit"),
        ({"hit": True, "state": "truncated"}, "hit"),
        ({"hit": False, "readable": True}, "miss"),
        ({"hit": False, "readable": False}, "not understood"),
        ({"hit": False, "readable": False, "unread": "declined", "reply": "未知"}, "declined"),
        ({"hit": False, "readable": False, "unread": "<b>", "reply": "x"}, "not understood"),
        ({"hit": False, "readable": False, "reply": "I am sorry, I cannot tell"}, "not understood"),
        ({"hit": False, "state": "truncated"}, "cut off"),
        ({"hit": None, "state": "refused"}, "refused"),
        ({"hit": None, "state": "empty"}, "empty"),
        ({"hit": None, "state": "failed"}, "failed"),
        ({"hit": None, "state": "made up"}, "failed"),
        ({"hit": False}, "miss"),
        ({"hit": False, "parsed": None}, "not understood"),
        ({"hit": True, "decoy_of": "1"}, "decoy"),
    ],
)
def test_what_came_of_a_query(changes: dict[str, Any], kind: str) -> None:
    assert kind_of(row(**changes)) == kind


def test_the_cells_of_a_row_are_told_apart() -> None:
    asked = {"a": "1", "b": "2", "c": "3", "d": None, "e": None, "f": "4"}
    parsed = {"a": "1.0", "b": "20", "d": None, "e": "5", "f": "n/a"}
    cells = row_of(row(expected=asked, parsed=parsed))
    assert [one.state for one in cells] == ["right", "wrong", "missing", "blank", "wrong", "missing"]


def test_a_chance_is_that_of_the_answer_and_bits_are_of_right_cells() -> None:
    chance = {"petal length": guess(0.25), "petal width": guess(0.5, rest=0.125)}
    of = row(expected={"petal length": "1.4", "petal width": "0.3", "class": "a"}, chance=chance)
    of["parsed"] = {"petal length": "1.40", "petal width": "0.2", "class": "a"}
    assert query_for_page(of)["row"] == [
        ["petal length", "1.4", "1.40", "right", "25%", "2.0"],
        ["petal width", "0.3", "0.2", "wrong", "12%", ""],
        ["class", "a", "a", "right", None, ""],
    ]
    assert bits_of(of) == 2.0
    assert query_for_page(of)["bits"] == "2.0"


def test_a_number_that_is_right_in_fewer_digits_is_neither_right_nor_wrong() -> None:
    coarser = [{"places": 1, "values": {value_key("1.5"): 0.25}, "rest": 0.125}]
    held = guess(0.1, rest=0.01) | {"coarser": coarser}
    of = row(expected=dict.fromkeys("abc", "1.46"), chance=dict.fromkeys("abc", held))
    of |= {"parsed": {"a": "1.46", "b": "1.5", "c": "1.3"}, "reply": "a is 1.46, b is 1.5, c is 1.3"}
    right, rounded, wrong = query_for_page(of)["row"]
    assert (right[3], rounded[3:5], wrong[3:]) == ("right", ["rounded", "25%"], ["wrong", "1%", ""])
    assert 0 == float(rounded[5]) < float(right[5])  # 0.15 / 0.25 is no more than chance
    assert [part[0] for part in query_for_page(of)["answer"] if isinstance(part, list)] == ["right", "rounded", "wrong"]


def test_a_sure_cell_is_worth_nothing_and_not_less() -> None:
    of = row(expected={"a": "1.4"}, parsed={"a": "1.4"}, chance={"a": guess(1.0)})
    assert query_for_page(of)["row"] == [["a", "1.4", "1.4", "right", "100%", "0.0"]]


@pytest.mark.parametrize("held", [None, [], {"petal length": 1}, {"petal length": {"values": {"1.4": "x"}, "rest": 0}}])
def test_a_guess_that_cannot_be_read_is_none(held: object) -> None:
    of = row(chance=held)
    assert query_for_page(of)["row"][0][4] is None
    assert bits_of(of) == 0


def test_a_guess_of_nothing_is_worth_nothing() -> None:
    assert bits_of(row(chance={"petal length": guess(0.0, rest=0.0)})) == 0


def test_expected_words_are_found_in_what_was_read() -> None:
    assert words_read(words("", "sepal width, class")) == ("sepal width", "class")
    assert words_read(words("", "sepal, petal")) == ("sepal, petal",)
    assert words_read(words("", None)) == ()
    assert words_read(row()) == words_read(choice("No")) == ()


def test_words_are_shown_with_their_least_chance_and_weigh_their_bits() -> None:
    chance = {"sepal width": guess(0.5, **{"sepal width": 0.5}), "class": guess(0.2, **{"class": 0.2})}
    of = words("Sepal Width, class", "sepal width", chance=chance)
    assert query_for_page(of)["words"] == [
        ["sepal width", "right", "50%"], ["sepal, petal", "missing", ""], ["class", "missing", ""],
    ]  # fmt: skip
    assert query_for_page(of)["answer"] == [["right", "Sepal Width"], ", class"]
    assert bits_of(of) == 1.0


def test_a_label_is_shown_with_its_chance_which_is_a_coins_at_least() -> None:
    chance = {"Yes": guess(0, 0.8, Yes=0.8), "No": guess(0, 0.2, No=0.2)}
    assert query_for_page(choice("No", chance=chance))["choice"] == {
        "expected": "No", "read": "No", "chance": "50%", "bits": "1.0",
    }  # fmt: skip
    assert query_for_page(choice("Yes", chance=chance))["choice"]["chance"] == "80%"
    assert query_for_page(choice("Yes", chance=chance))["choice"]["bits"] == ""
    assert query_for_page(choice(None, chance=chance))["choice"] == {"expected": "No", "read": None}


def test_a_classification_names_what_baselines_say() -> None:
    chance = {"majority": guess(0, 0, Yes=1.0), "few-shot": guess(0, 0, No=0.75, Yes=0.25)}
    assert query_for_page(choice("No", chance=chance))["choice"]["baselines"] == [
        ["majority", "Yes"],
        ["few-shot", "No"],
    ]


def test_the_prompt_is_whole_and_the_answer_says_what_is_left_out() -> None:
    of = query_for_page(row(prompt="p" * 50_000, reply="a" * 10_000, parsed=None, line=7))
    assert of["prompt"] == [["", "p" * 50_000]]
    assert (of["answer"], of["cut"], of["line"]) == (["a" * 4_000], 6_000, 7)
    assert query_for_page(row(expected={"a": "v" * 1_000}))["row"][0][1].endswith("… (+600 characters)")


def test_a_state_is_told_with_its_detail_where_it_is_not_ok() -> None:
    assert "state" not in query_for_page(row())
    assert query_for_page(row(state="failed", detail="HTTP 500\nsorry"))["state"] == "failed: HTTP 500 ⏎ sorry"


def test_no_text_leaves_as_it_came() -> None:
    of = row(
        prompt=[{"role": HOSTILE, "content": HOSTILE}, "no message"],
        reply=HOSTILE,
        expected={HOSTILE: HOSTILE},
        parsed={HOSTILE: HOSTILE},
        state="refused",
        detail=HOSTILE,
    )
    for told in (
        query_for_page(of),
        query_for_page(words(HOSTILE, HOSTILE, expected=[HOSTILE])),
        query_for_page(choice(HOSTILE, expected=["No"])),
    ):
        assert not {"\x00", "\x1b", "\x9b", "\u202e", "\ud800"} & set(repr_of(told))


def repr_of(value: object) -> str:
    """All texts in a value, one after the other."""
    if isinstance(value, dict):
        return "".join(map(repr_of, value.values()))
    return "".join(map(repr_of, value)) if isinstance(value, list) else str(value)


def test_a_prompt_is_its_messages_with_their_roles() -> None:
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "x"}]
    assert prompt_of({"prompt": messages}) == [["system", "s"], ["user", "x"]]
    assert prompt_of({"prompt": "text"}) == [["", "text"]]
    assert prompt_of({"prompt": []}) == []
    assert prompt_of({}) == [["", ""]]


def passage(parsed: str | None, **changes: Any) -> dict[str, Any]:
    text = "The age is 39, The job is cook"
    scores = [["The age is ", -1.0, None, None], ["39", -6.931471805599453, -2.0, 1.0], [HOSTILE, -3.0, None, None]]
    of = {"question": "passage", "prompt": text, "reply": text, "parsed": parsed, "hit": None, "scores": scores}
    return row(**{**of, "readable": parsed is not None, **changes})


def test_a_scored_passage_shows_what_it_took_and_its_costliest_tokens() -> None:
    told = query_for_page(passage("1.25 bits a character"))
    assert (told["kind"], told["prompt"]) == ("scored", [["", "The age is 39, The job is cook"]])
    assert told["passage"]["read"] == "1.25 bits a character"
    assert told["passage"]["tokens"][0] == ["39", "10.0"]
    assert "answer" not in told
    assert kind_of(passage(None)) == "unreadable"


@pytest.mark.parametrize("scores", [None, "x", [1, [], ["a"], ["a", "b"], ["a", None]], [["a", float("-inf")]]])
def test_scores_of_a_strange_file_are_passed_over(scores: object) -> None:
    assert query_for_page(passage("1 bit", scores=scores))["passage"]["tokens"] == []
