"""An LLM that declines most of what the row tests ask is called clean by no table and no gate."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands import tabcontam
from tests.loopback import LoopbackServer

DECLINED = "I cannot recall rows of this dataset."
NAMES = ("sepal length (cm)", "sepal width (cm)", "petal length (cm)", "petal width (cm)", "target")
ASKED = {
    "incomplete_completion": "The last row lacks its last",
    "full_completion": "Write the row that follows",
    "feature_completion": "Which value of",
}
Declines = Callable[[str, int], bool]


def guessing(declines: Declines) -> Callable[[dict[str, Any]], str]:
    """A model that gives wrong values, and declines where it is to: by the test, and how often it was asked before."""
    asked: Counter[str] = Counter()

    def answer(body: dict[str, Any]) -> str:
        text = body["messages"][-1]["content"]
        test = next((test for test, words in ASKED.items() if words in text), "")
        asked[test] += 1
        if declines(test, asked[test]):
            return DECLINED
        wanted = text.rsplit("\n", 1)[-1]
        names = [name for name in NAMES if name in wanted] or NAMES
        return ", ".join(
            f"The {name} is {len(text) % 2 if name == 'target' else len(text) % 7 + 0.5}" for name in names
        )

    return answer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("declines", "options", "why"),
    [
        (lambda test, _: test != "feature_completion", [], "no answer to 2 of 3 tests"),
        (lambda test, _: test != "full_completion", ["--until-decided"], "no answer to 2 of 3 tests"),
        (lambda _, number: number % 5 < 3, [], "no readable answer to 21 of 35 queries: declined"),
    ],
)
def test_the_gate_cannot_tell(declines: Declines, options: list[str], why: str, tmp_path: Path) -> None:
    with LoopbackServer(guessing(declines), models=["m"]) as server:
        what = ["--llm", f"openai:m@{server.url}", "--dataset", "iris", "-k", "completion", "--no-controls"]
        done = tabcontam("gate", *what, "--no-cache", "--out", "run", *options, cwd=tmp_path)
    assert done.returncode == 6, done.stdout + done.stderr
    assert why in done.stdout.splitlines()[-1]
    again = tabcontam("gate", "run", cwd=tmp_path)
    assert again.returncode == 6
    assert why in again.stdout


@pytest.mark.slow
def test_one_that_is_read_is_called_clean_with_how_many_answers_were_read(tmp_path: Path) -> None:
    with LoopbackServer(guessing(lambda _, number: number % 5 < 1), models=["m"]) as server:
        what = ["--llm", f"openai:m@{server.url}", "--dataset", "iris", "-k", "completion", "--no-controls"]
        done = tabcontam("run", *what, "--no-cache", "--out", "run", "-v", cwd=tmp_path)
    assert tabcontam("gate", "run", cwd=tmp_path).returncode == 0, done.stdout + done.stderr
    assert "28 answers were read, 7 were not" in done.stdout
    assert f"declined: {DECLINED}" in done.stdout
    assert '"unread": "declined"' in (tmp_path / "run" / "trials.jsonl").read_text()
