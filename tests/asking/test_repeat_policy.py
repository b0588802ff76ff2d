"""`--last-failed`: asked again is what has no readable answer in the run's folder, and nothing else."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

import tabcontam as package
from tabcontam.asking.reply_store import Store
from tabcontam.asking.trial_file import Journal
from tabcontam.config import RunConfig
from tabcontam.errors import UsageError
from tabcontam.evidence.base import Query, Reply, ReplyState, Verdict
from tabcontam.models.base import Model, ModelRequest
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.tables.table import Table
from tests.asking.test_session import ALL, Spy, answer, few, planned, session
from tests.commands import tabcontam

pytestmark = pytest.mark.usefixtures("cheaply")
AGAIN = few(last_failed=True)
BAD = {
    0: Reply("", ReplyState.FAILED, "the server is down"),
    1: Reply("", ReplyState.REFUSED),
    2: Reply("the sepal", ReplyState.TRUNCATED),
    3: Reply("", ReplyState.EMPTY),
    4: Reply("I cannot say.", ReplyState.OK),  # which no test can read
}


class Flaky(Spy):
    """One that knows the table, and gives no readable answer to the queries whose number is among `bad`."""

    def __init__(self, bad: Callable[[int], bool] = lambda number: False, inner: Model | None = None) -> None:
        super().__init__()
        self.bad, self.inner = bad, inner or SimulatedModel("oracle")

    def prepare(self, table: Table, queries: list[Query]) -> Model:  # type: ignore[override]
        self.inner = SimulatedModel("oracle", 0, table, queries)
        return self

    async def generate(self, request: ModelRequest) -> Reply:
        self.asked.append(request)
        number = len(self.asked) - 1
        return BAD[number % len(BAD)] if self.bad(number) else await self.inner.generate(request)


class Stored(Flaky):
    """The same behind a server, whose replies are stored."""

    identity = {"provider": "openai", "address": "http://127.0.0.1:9/v1", "model": "one"}  # noqa: RUF012


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store.open(tmp_path / "replies.sqlite")) as opened:
        yield opened


def states(folder: Path) -> list[str]:
    """The states of the newest replies."""
    newest = {(line["test"], line["query"]): line["state"] for line in Journal(folder).lines()}
    return list(newest.values())


@pytest.mark.slow
def test_every_kind_of_unreadable_answer_is_asked_again_and_no_readable_one(tmp_path: Path) -> None:
    answer(session(planned(Flaky(lambda number: number < 5)), tmp_path))
    second = Flaky()
    again = session(planned(second, AGAIN), tmp_path, AGAIN)
    answer(again)
    assert len(second.asked) == 5
    assert states(tmp_path) == ["ok"] * ALL
    assert all(trial.readable for trials in again.trials.values() for trial in trials.values())
    third = Flaky()
    answer(session(planned(third, AGAIN), tmp_path, AGAIN))
    assert third.asked == []


@pytest.mark.slow
def test_what_was_never_asked_is_left_alone(tmp_path: Path) -> None:
    answer(session(planned(Flaky(lambda number: number % 2 == 0)), tmp_path))
    lines = (tmp_path / "trials.jsonl").read_text("utf-8").splitlines()
    kept = lines[:7]
    (tmp_path / "trials.jsonl").write_text("\n".join([*kept, ""]), "utf-8")
    second = Flaky()
    answer(session(planned(second, AGAIN), tmp_path, AGAIN))
    assert len(second.asked) == sum(not json.loads(line)["readable"] for line in kept)
    assert len(states(tmp_path)) == len(kept)


@pytest.mark.slow
def test_a_readable_reply_of_another_run_is_taken_and_an_unreadable_one_is_paid_for_anew(
    tmp_path: Path, store: Store
) -> None:
    first, other, third = (tmp_path / name for name in ("first", "other", "third"))
    for folder in (first, other, third):
        folder.mkdir()
    bad = Stored(lambda number: number % 5 in (1, 4))  # refused, and talk: both are stored
    answer(session(planned(bad), first, None, store))
    same = Stored()
    answer(session(planned(same), other, None, store))
    assert same.asked == []  # what is stored stands, readable or not
    again = Stored()
    answer(session(planned(again, AGAIN), first, AGAIN, store))
    assert len(again.asked) == ALL // 5 * 2
    once = Stored()
    answer(session(planned(once, AGAIN), other, AGAIN, store))
    assert once.asked == []  # the readable replies are in the store now
    assert states(other) == ["ok"] * ALL


@pytest.mark.slow
def test_an_answer_that_is_not_replaced_stands(tmp_path: Path) -> None:
    """A limit or Ctrl-C before it was asked again makes it no query that was never asked."""
    answer(session(planned(Flaky(lambda number: True)), tmp_path))
    before = session(planned(Spy(), AGAIN), tmp_path, AGAIN)
    before.recall()
    stopped = AGAIN.replace(max_requests=1)
    running = session(planned(Flaky(), stopped), tmp_path, stopped)
    answer(running)
    assert sum(map(len, running.trials.values())) == ALL
    assert sum(trial.readable for trials in running.trials.values() for trial in trials.values()) == 1


def test_in_turns_no_query_is_asked_that_was_not_asked_before(tmp_path: Path) -> None:
    turns = RunConfig(until_decided=True)
    first = Flaky(lambda number: number in (1, 4))
    answer(session(planned(first, turns), tmp_path, turns))
    asked = {json.dumps(line["prompt"]) for line in Journal(tmp_path).lines()}
    again, second = turns.replace(last_failed=True), Flaky()
    answer(session(planned(second, again), tmp_path, again))
    assert 0 < len(second.asked) <= 2
    assert {json.dumps(line["prompt"]) for line in Journal(tmp_path).lines()} == asked


ORDER = ("run", "--no-controls", "--llm", "simulated:decliner", "--dataset", "iris", "-k", "full", "--queries", "8")


@pytest.mark.slow
def test_on_the_command_line_and_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert tabcontam(*ORDER, "--out", "reports/one", cwd=tmp_path).returncode == 0
    done = tabcontam(*ORDER, "--lf", "--dry-run", "--out", "reports/one", cwd=tmp_path)
    assert (done.returncode, "8 to ask" in done.stdout) == (0, True)
    monkeypatch.setattr("tabcontam.cli.newest_run.on_terminal", lambda: True)
    done = tabcontam(*ORDER, "--last-failed", cwd=tmp_path)
    assert done.returncode == 0
    assert "asking again the queries without a readable answer: the run of reports/one, " in done.stderr
    assert [folder.name for folder in (tmp_path / "reports").iterdir()] == ["one"]
    assert len((tmp_path / "reports" / "one" / "trials.jsonl").read_text("utf-8").splitlines()) == 16
    asked = {"tests": "full", "queries": 8, "controls": False, "last_failed": True}
    results = package.run("simulated:decliner", "iris", out="reports/one", **asked)  # type: ignore[arg-type]
    assert [cell.verdict for cell in results.results] == [Verdict.NO_ANSWER]
    with pytest.raises(UsageError, match="last_failed=True needs the folder of the run; add out="):
        package.run("simulated:decliner", "iris", **asked)  # type: ignore[arg-type]
    other = tabcontam(*ORDER, "--llm", "simulated:mode", "--seed", "1", "--lf", "--out", "reports/one", cwd=tmp_path)
    assert other.returncode == 4
    assert "or add --last-failed to its own command: tabcontam.run(llm='simulated:decliner'" in other.stderr


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ((), "--last-failed needs the folder of the run; add --out"),
        (
            ("--out", "new"),
            "repeats the queries of a run that have no readable answer, and new holds no run; give its folder",
        ),
    ],
)
def test_without_a_run_there_is_nothing_to_ask_again(tmp_path: Path, more: tuple[str, ...], line: str) -> None:
    done = tabcontam(*ORDER[:-4], "-k", "list_informed", "--lf", *more, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (4, "")
    assert line in done.stderr
    assert list(tmp_path.iterdir()) == []
