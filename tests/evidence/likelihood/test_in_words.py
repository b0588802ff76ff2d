"""What LLMs are asked in words that tell no log-probabilities: who knows rows is found, who guesses is not."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tabcontam.asking.query_plan import sheet_of
from tabcontam.asking.trial_file import trial_line, trial_of
from tabcontam.config import RunConfig
from tabcontam.errors import Skip
from tabcontam.evidence.base import Evidence, Query, Reply, ReplyState, Test, Trial
from tabcontam.evidence.likelihood.surrogate_rank import SurrogateRank
from tabcontam.evidence.mixins import InWordsTest
from tabcontam.evidence.thresholds import MOST_SAMPLED_ROWS
from tabcontam.models.base import PromptForm
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import Table, load_table
from tests.commands import tabcontam
from tests.evidence.likelihood.test_surrogate_rank import crops
from tests.loopback import LoopbackServer, Response, error
from tests.made_tables import made_table

pytestmark = pytest.mark.slow  # guessers are fitted

IS = load_serializer("is")
Says = Callable[[Query], str | Reply]  # what somebody answers to a query


def worded(test: InWordsTest, samples: int | None = None) -> Test:
    found = test.in_words(samples)
    assert found is not None
    return found


def answered(test: Test, query: Query, said: str | Reply) -> Trial:
    reply = Reply(said, ReplyState.OK) if isinstance(said, str) else said
    return Trial(query, reply, test.read(query, reply, IS))


def weighed(test: Test, table: Table, says: Says, seed: int = 0) -> Evidence:
    queries = test.planned(table, IS, Random(seed))
    return test.weigh([answered(test, query, says(query)) for query in queries], 0.01)


def own(query: Query) -> str:
    return f"It is {query.expected[0]}."


# Surrogate rank by samples

RANK = SurrogateRank()


def test_without_samples_it_cannot_be_asked_in_words() -> None:
    assert RANK.in_words(None) is None
    assert worded(RANK, 3).id == RANK.id


def test_who_answers_a_part_of_the_rows_is_found() -> None:
    rng = Random(1)
    part = {number for number in range(MOST_SAMPLED_ROWS) if rng.random() < 0.6}

    def says(query: Query) -> str:
        row = int(query.id.split("-")[1])
        return own(query) if row in part else str(rng.choice(query.not_expected))

    found = weighed(worded(RANK, 5), crops(160), says)
    assert found.p_value is not None
    assert found.p_value < 1e-4
    assert max(found.without.values()) < 0.05
    assert (found.asked, found.answered) == (MOST_SAMPLED_ROWS, MOST_SAMPLED_ROWS)
    assert found.sentence.startswith("by 5 answers to each, ")


@pytest.mark.parametrize("who", ["marginal", "twin", "neighbours", "always"])
def test_who_has_not_read_the_rows_is_found_as_often_as_chance_has_it(who: str) -> None:
    tails = []
    for seed in range(12):
        table, rng = crops(160, seed % 2), Random(f"{who} {seed}")
        shuffled = {name: rng.sample(table.column(name), len(table.rows)) for name in table.columns}

        def says(query: Query, table: Table = table, rng: Random = rng, shuffled: dict = shuffled) -> str:  # type: ignore[type-arg]
            name, row = query.asked[0], query.row or 0
            column = table.column(name)
            if who == "neighbours":  # a good guesser: in most other cells these rows are like this one
                shown = [at for at in range(len(table.columns)) if table.columns[at] != name]

                def alike(at: int) -> int:
                    return sum(table.rows[at][place] == table.rows[row][place] for place in shown)

                others = [at for at in range(len(table.rows)) if at != row]
                return str(column[rng.choice(sorted(others, key=alike)[-9:])])
            ways = {"marginal": rng.choice(column), "twin": shuffled[name][row], "always": max(map(str, column))}
            return str(ways[who])

        tails.append(weighed(worded(RANK, 4), table, says, seed).p_value or 0.0)
    assert min(tails) > 0.001
    assert sorted(tails)[6] > 0.2


def test_a_row_is_unread_where_half_of_its_samples_failed() -> None:
    lost = Reply("", ReplyState.FAILED, "gone")
    cut = Reply("The", ReplyState.TRUNCATED, "token limit")

    def says(query: Query) -> str | Reply:
        number, sample = int(query.id.split("-")[1]), int(query.id.rsplit("-", 1)[1])
        if number < 20:
            return lost if sample > 2 else own(query)  # three of five are lost
        return own(query) if number > 30 or sample > 2 else cut  # two are cut

    found = weighed(worded(RANK, 5), crops(160), says)
    assert (found.asked, found.answered) == (MOST_SAMPLED_ROWS, MOST_SAMPLED_ROWS - 20)
    nobody = weighed(worded(RANK, 5), crops(160), lambda query: "I do not know this dataset.")
    assert (nobody.answered, nobody.p_value) == (0, 1.0)


def test_each_sample_is_a_query_of_its_own_and_stands_in_the_trials() -> None:
    test = worded(RANK, 3)
    first, second, *rest = test.planned(crops(160), IS, Random(0))
    assert len(rest) == 3 * MOST_SAMPLED_ROWS - 2
    assert (first.prompt.sample, second.prompt.sample, first.prompt.temperature) == (1, 2, 1.0)
    assert first.prompt.chat == second.prompt.chat
    assert first.id == "surrogate_rank-0-sample-1"
    assert str(first.expected[0]) not in first.prompt.chat[-1].content.split("One of its rows:")[0]
    cell = {"llm": "m", "dataset": "d", "edition": "e", "serializer": "is", "test": test.id, "prompts": "default"}
    trial = answered(test, second, own(second))
    again = trial_of(json.loads(json.dumps(trial_line(cell, PromptForm.CHAT, trial, paper_rules=False))))
    assert again.query.prompt.sample == 2
    read = replace(again, reading=RANK.read(again.query, again.reply, IS))
    assert RANK.weigh([read], 0.01).answered == 1  # a past run is judged by the test itself


def test_a_limit_on_queries_cuts_no_row_in_two() -> None:
    sheet = sheet_of(worded(RANK, 4), crops(160), IS, RunConfig(queries=10))
    assert [query.id for query in sheet.written] == [
        f"surrogate_rank-{row}-sample-{sample}" for row in (0, 1) for sample in (1, 2, 3, 4)
    ]


def test_long_cells_are_not_asked() -> None:
    rng = Random(0)
    rows = [(at, (rng.choice(["a", "b"]), str(10**15 + rng.randrange(30)))) for at in range(80)]
    table = made_table(("kind", "serial", "weight"), [(*row, f"{at}.5 kg of them") for at, row in rows])
    with pytest.raises(Skip, match="have a cell of 12 characters or fewer that others could hold as well"):
        worded(RANK, 2).planned(table, IS, Random(0))


def test_a_chat_server_is_sampled_and_what_was_paid_for_is_not_asked_again(tmp_path: Path) -> None:
    table = load_table("iris")
    known = {}
    for row in table.rows:
        for place, cell in enumerate(row):
            others = [at for at in range(len(row)) if at != place]
            known[IS.alone([table.columns[at] for at in others], [row[at] for at in others])] = cell

    def answer(body: dict[str, object]) -> str | Response:
        messages = body.get("messages")
        if not isinstance(messages, list):
            return error(400, "this server does not score text")
        shown = messages[-1]["content"].splitlines()[2]
        return str(known.get(shown, "0.0"))

    def run(url: str, *more: str) -> str:
        llm = f"openai:model@{url}"
        words = ("--llm", llm, "--dataset", "iris", "-k", "surrogate_rank", "--no-controls", *more)
        return tabcontam("run", *words, cwd=tmp_path).stdout

    with LoopbackServer(answer) as server:
        advice = "add --samples N to have surrogate_rank ask in words, or name an hf: model, or a server that scores"
        assert advice in " ".join(run(server.url, "--out", "without").split())
        assert len(server.asked) <= 3
        before = len(server.asked)
        assert f"{2 * MOST_SAMPLED_ROWS} requests" in run(server.url, "--samples", "2", "--dry-run")
        assert "contaminated" in run(server.url, "--samples", "2", "--out", "two").casefold()
        bodies = server.asked[before:]
        assert len(bodies) == 2 * MOST_SAMPLED_ROWS
        assert {body["temperature"] for body in bodies} == {1.0}
        run(server.url, "--samples", "2", "--out", "again")
        assert len(server.asked) == before + 2 * MOST_SAMPLED_ROWS
        run(server.url, "--samples", "3", "--out", "three")
        assert len(server.asked) == before + 3 * MOST_SAMPLED_ROWS
    (cell,) = json.loads((tmp_path / "two" / "results.json").read_text())["results"]
    assert (cell["verdict"], cell["queries"]) == ("contaminated", 2 * MOST_SAMPLED_ROWS)
    assert cell["p_value"] < 1e-6


def test_samples_without_a_test_that_takes_them_are_refused(tmp_path: Path) -> None:
    for words, said in (
        (("-k", "digits", "--samples", "3"), "no chosen test repeats its queries; add -k surrogate_rank"),
        (("-k", "feature_completion", "--samples", "5"), "add --temperature 1 to repeat row tests at"),
        (("-k", "surrogate_rank", "--samples", "201"), "--samples is 201; each time is a request: ask at"),
    ):
        done = tabcontam("run", *words, cwd=tmp_path)
        assert (done.returncode, said in done.stderr) == (4, True)
