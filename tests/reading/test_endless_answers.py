"""An answer that goes on without end is told from one that is long; what it said before is read as if it went on."""

import random
import time

import pytest

from tabcontam.reading.endless_answers import goes_on

ASKED = ("petal length (cm)", "petal width (cm)", "target")
ROW = "The petal length (cm) is 4.0, The petal width (cm) is 1.3, The target is 1"


def row(number: int) -> str:
    return f"The petal length (cm) is {number}.{number}, The petal width (cm) is {number}.1, The target is {number % 3}"


ENDLESS = {
    "features over and over": f"{ROW}, " + ", ".join(f"The petal length (cm) is {n}.1, x is {n}" for n in range(9)),
    "one number": "57, 49, 56" + ", 38" * 20,
    "one sign": "1" + "0" * 80,
    "one word": "No " * 30,
    "a row line after line": f"{ROW}\n" * 3,
    "short lines": "4.0\n" * 30,
    "behind thinking": f"<think>Hm.</think>{'38, ' * 20}",
    "in json": '{"target": 1} ' * 6,
}
ENDING = {
    "an answer": ROW,
    "no text": "",
    "two rows": f"{ROW}\n{ROW}",
    "five rows in one line": ", ".join(map(row, range(5))),
    "many rows": "\n".join(map(row, range(40))),
    "thinking": f"<think>\n{'38, ' * 200}",
    "a rule": f"| a | b |\n|{'---|' * 40}",
    "blanks of a column": f"| {' ' * 90}",
    "prose": "To find the target: target 1 first, target 2 then, a target of 1, no target, so the target: the target",
    "other features": ", ".join(f"x is {n}" for n in range(90)),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_it_goes_on(name: str) -> None:
    assert goes_on(ENDLESS[name], ASKED)


@pytest.mark.parametrize("name", ENDING)
def test_it_may_end(name: str) -> None:
    text = ENDING[name]
    assert not any(goes_on(text[:end], ASKED) for end in range(len(text) + 1))


def test_what_the_prompt_shows_may_be_said() -> None:
    zeros = "5,1," + "0," * 40
    assert goes_on(zeros, ASKED)
    assert not goes_on(zeros, ASKED, f"Rows:\n7,2,{'0,' * 40}1")


HOSTILE = ["a" * 10_000, "ab" * 5_000, "a" * 9_999 + "b", "<think>" * 1_500, "\n" * 10_000, "target " * 1_500]


@pytest.mark.parametrize("text", [*HOSTILE, "".join(random.Random(0).choices("abc ,\n", k=10_000))])
def test_no_text_takes_long(text: str) -> None:
    start = time.process_time()
    for _ in range(10):
        goes_on(text, ASKED, text[:5_000])
    assert time.process_time() - start < 1.0  # 2 ms each, and less
