"""Planted digits by answers: who has read the published file is found, who has not read it is not."""

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from tabcontam.evidence.base import Query
from tabcontam.extensions.planting.planted_digits import Planted
from tabcontam.extensions.planting.planting_key import drawn_place
from tabcontam.extensions.planting.table_planting import PlantingChoices, plant, write_planted
from tests.commands import tabcontam
from tests.evidence.likelihood.test_in_words import own, weighed, worded
from tests.extensions.planting.test_planted_digits import TABLE, drawn
from tests.loopback import LoopbackServer, Response, error
from tests.made_tables import planted, ships

pytestmark = pytest.mark.slow  # guessers are fitted

ASKED = worded(Planted())
SMALL = planted(ships(), 12)


def test_who_has_read_the_published_file_is_found_by_his_answers() -> None:
    table = drawn(TABLE, b"1")
    found = weighed(ASKED, table, own)
    assert found.p_value == pytest.approx(0.1**40)
    assert found.recalled_bits == pytest.approx(40 * math.log2(10))
    assert found.sentence.startswith(
        "by its answers the model knows the drawn digits of 40 of 40 planted cells, 4 expected"
    )
    assert found.without == {}


@pytest.mark.parametrize("who", ["the original", "a computer", "another key", "a decliner"])
def test_who_has_not_read_the_draws_is_accused_under_no_key(who: str) -> None:
    tails = []
    for run in range(100):
        table, other = drawn(SMALL, bytes([run, 7])), bytes([run, 9])

        def says(query: Query, other: bytes = other) -> str:
            row, values = query.row or 0, list(query.chance["length_m"].values)
            crew = int(ships().rows[row][5] or 0)
            return {
                "the original": str(ships().rows[row][2]),
                "a computer": f"{values[0][:-1]}{crew % 10}",
                "another key": values[drawn_place(other, "ships", "length_m", row, len(values))],
                "a decliner": "I cannot know that.",
            }[who]

        tails.append(weighed(ASKED, table, says).p_value or 0.0)
    assert sum(p <= 0.01 for p in tails) <= 5
    assert sum(p <= 0.1 for p in tails) <= 20  # 10 are due
    assert who == "a decliner" or sum(p <= 0.5 for p in tails) > 24  # two cells of twelve: 34 are due


def test_an_answer_that_could_not_be_drawn_is_a_miss_and_none_is_no_answer() -> None:
    table = drawn(TABLE, b"1")
    far = weighed(ASKED, table, lambda query: "999.99")
    assert (far.hits, far.expected_hits, far.p_value, far.answered) == (0, 0.0, 1.0, 40)
    silent = weighed(ASKED, table, lambda query: "I cannot know that.")
    assert (silent.answered, silent.p_value) == (0, 1.0)


def test_the_command_asks_a_chat_server_for_the_cells_once_it_scores_no_text(tmp_path: Path) -> None:
    table = ships()
    with (tmp_path / "my.csv").open("w", newline="") as file:
        csv.writer(file).writerows([table.columns, *table.rows])
    # with a random key, one run in a hundred would find that my.csv is contaminated
    planting = plant(str(tmp_path / "my.csv"), PlantingChoices(), "published.csv", lambda *_: None, secret=b"1" * 32)
    write_planted(planting, tmp_path / "published.csv", tmp_path / "published.key")
    known = {
        name: {tuple(row[:2]): row for row in csv.reader((tmp_path / name).read_text().splitlines())}
        for name in ("my.csv", "published.csv")
    }

    def of(name: str) -> Callable[[dict[str, object]], str | Response]:
        def answer(body: dict[str, object]) -> str | Response:
            messages = body.get("messages")
            if not isinstance(messages, list):
                return error(400, "this server does not score text")
            text = messages[-1]["content"]
            cells = dict(part.split(" is ", 1) for part in text.splitlines()[2].removeprefix("The ").split(", The "))
            asked = next(column for column in table.columns if f"feature {column} is left out" in text)
            row = next(
                row
                for key, row in known[name].items()
                if all(cells.get(c, v) == v for c, v in zip(table.columns[:2], key, strict=True))
            )
            return row[table.columns.index(asked)]

        return answer

    found = {}
    for name in known:
        with LoopbackServer(of(name)) as server:
            words = ("--dataset", "published.csv", "--key", "published.key", "-k", "planted", "--no-controls")
            run = ("run", "--llm", f"openai:model@{server.url}", *words, "--out", f"of {name}")
            done = tabcontam(*run, cwd=tmp_path, XDG_CACHE_HOME=str(tmp_path / name.removesuffix(".csv")))
            assert done.returncode == 0, done.stderr
            assert len([body for body in server.asked if "messages" in body]) == 200
        (found[name],) = json.loads((tmp_path / f"of {name}" / "results.json").read_text())["results"]
    assert found["published.csv"]["verdict"] == "contaminated"
    assert found["published.csv"]["p_value"] < 1e-100
    assert found["my.csv"]["verdict"] == "not detected"
    assert found["my.csv"]["answered"] == 200
    before = found["published.csv"]["p_value"]
    assert tabcontam("rescore", "of published.csv", cwd=tmp_path).returncode == 0
    (after,) = json.loads((tmp_path / "of published.csv" / "results.json").read_text())["results"]
    assert after["p_value"] == before
