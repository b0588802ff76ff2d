"""A session plans, asks, judges and records; what it was told once it never pays for again."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tabcontam.datasets import Table
from tabcontam.decide.words import english
from tabcontam.engine.progress import Unheard
from tabcontam.errors import Skip, UsageError
from tabcontam.models.base import Form, Model, Request
from tabcontam.models.simulated import open_simulated
from tabcontam.plan import Options, PlannedCell, Subject, plan, rows_shown
from tabcontam.serializers import load_serializers
from tabcontam.session import Session
from tabcontam.store import TRIALS, Journal
from tabcontam.suite.base import Capability, Query, Reply, State
from tabcontam.suite.registry import BY_ID, TESTS
from tests.tables import ships

IS = load_serializers()["is"]
COMPLETION = [BY_ID["incomplete_completion"], BY_ID["full_completion"]]


class Spy(Model):
    """A model that counts what it is asked, and can do something on every request."""

    spec = "spy:one"
    control = False
    local = True
    version = "7"
    form = Form.CHAT
    capabilities = frozenset({Capability.GENERATE, Capability.INSTRUCTIONS})

    def __init__(self, state: State = State.OK) -> None:
        self.asked: list[Request] = []
        self.state = state
        self.closed = False
        self.most = self.now = 0

    async def connect(self) -> None:
        return

    def prepare(self, table: Table, queries: Sequence[Query]) -> Model:
        return self

    async def generate(self, request: Request) -> Reply:
        self.asked.append(request)
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        return Reply("nothing that fits", self.state)

    async def close(self) -> None:
        self.closed = True


def session(cells: Sequence[PlannedCell], folder: Path, options: Options | None = None) -> Session:
    return Session(cells, options or Options(), english(), Journal(folder), Unheard())


def answer(running: Session) -> None:
    """Recall, ask and close, as a run does."""

    async def whole() -> None:
        running.recall()
        await running.ask()
        await running.close()

    asyncio.run(whole())


def planned(model: Model, options: Options | None = None, table: Table | None = None) -> list[PlannedCell]:
    return plan([Subject(model)], [table or ships()], [IS], COMPLETION, options or Options())


def test_the_plan_is_the_same_for_every_llm() -> None:
    cells = plan([Subject(Spy()), Subject(open_simulated("knows"))], [ships()], [IS], TESTS, Options())
    half = len(cells) // 2
    assert [cell.queries for cell in cells[:half]] == [cell.queries for cell in cells[half:]]


def test_what_is_planned_for_a_test_does_not_depend_on_the_other_tests() -> None:
    alone = plan([Subject(Spy())], [ships()], [IS], [BY_ID["membership"]], Options())
    among = plan([Subject(Spy())], [ships()], [IS], TESTS, Options())
    assert alone[0].queries == next(cell for cell in among if cell.test.id == "membership").queries


def test_tests_without_rows_are_asked_under_one_serializer_only() -> None:
    both = list(load_serializers().values())[:2]
    cells = plan([Subject(Spy())], [ships()], both, TESTS, Options())
    assert sum(cell.test.id == "feature_list_informed" for cell in cells) == 1
    assert sum(cell.test.id == "full_completion" for cell in cells) == 2


def test_a_model_that_lacks_a_capability_is_skipped_with_that_reason() -> None:
    spy = Spy()
    spy.capabilities = frozenset({Capability.GENERATE})
    cells = plan([Subject(spy)], [ships()], [IS], [BY_ID["membership"]], Options())
    assert cells[0].skip == "spy:one cannot take part: the test needs instructions"


def test_at_most_so_many_queries_a_cell() -> None:
    assert [len(cell.queries) for cell in planned(Spy(), Options(queries=2))] == [2, 1]


def test_the_same_command_into_the_same_folder_asks_nothing_again(tmp_path: Path) -> None:
    first, second = Spy(), Spy()
    answer(session(planned(first), tmp_path))
    again = session(planned(second), tmp_path)
    answer(again)
    assert (len(first.asked), len(second.asked)) == (6, 0)
    assert all(trial.cached for trials in again.trials.values() for trial in trials.values())


@pytest.mark.parametrize(("state", "retry", "asked"), [
    (State.FAILED, False, 6),
    (State.REFUSED, False, 0),
    (State.REFUSED, True, 6),
    (State.TRUNCATED, True, 6),
    (State.EMPTY, True, 6),
    (State.OK, True, 0),
])  # fmt: skip
def test_what_is_asked_again(tmp_path: Path, state: State, retry: bool, asked: int) -> None:
    answer(session(planned(Spy(state)), tmp_path))
    spy, options = Spy(), Options(retry_unanswered=retry)
    answer(session(planned(spy, options), tmp_path, options))
    assert len(spy.asked) == asked


def test_another_prompt_is_never_answered_by_an_old_reply(tmp_path: Path) -> None:
    answer(session(planned(Spy()), tmp_path))
    spy = Spy()
    answer(session(planned(spy, table=ships(seed=1)), tmp_path))
    assert len(spy.asked) == 6


def test_a_line_that_a_crash_cut_off_is_asked_again(tmp_path: Path) -> None:
    answer(session(planned(Spy()), tmp_path))
    path = tmp_path / TRIALS
    path.write_bytes(path.read_bytes()[:-40])
    spy = Spy()
    again = session(planned(spy), tmp_path)
    answer(again)
    assert len(spy.asked) == 1
    assert len(list(Journal(tmp_path).lines())) == 6


def test_no_more_requests_at_a_time_than_allowed(tmp_path: Path) -> None:
    spy, options = Spy(), Options(connections=3)
    cells = plan([Subject(spy)], [ships()], [IS], TESTS, options)
    answer(session(cells, tmp_path, options))
    assert spy.most == 3
    assert spy.closed


def test_stopping_keeps_what_is_in_flight_and_calls_nothing_clean(tmp_path: Path) -> None:
    spy = Spy()
    running = session(planned(spy), tmp_path, Options(connections=1))
    original = spy.generate

    async def generate(request: Request) -> Reply:
        running.stopping = len(spy.asked) == 2
        return await original(request)

    spy.generate = generate  # type: ignore[method-assign]  # the spy's own method is replaced on purpose
    answer(running)
    first, second = running.results()
    assert len(list(Journal(tmp_path).lines())) == 3
    assert (first["verdict"], first["reason"]) == ("no answer", "the run ended after 3 of 5 queries")
    assert (second["verdict"], second["reason"]) == ("skipped", "not asked: the run ended before")


def test_x_stops_after_the_first_contaminated_cell(tmp_path: Path) -> None:
    model, options = open_simulated("knows"), Options(stop_at_first=True, connections=1)
    running = session(planned(model, options), tmp_path, options)
    answer(running)
    first, second = running.results()
    assert first["verdict"] == "contaminated"
    assert second["verdict"] == "skipped"
    assert second["reason"] == "not asked: -x stopped after incomplete_completion on ships was found contaminated"


def test_a_model_that_cannot_be_made_for_a_table_is_skipped(tmp_path: Path) -> None:
    class Picky(Spy):
        def prepare(self, table: Table, queries: Sequence[Query]) -> Model:
            raise Skip("the table enumerates its domain")

    running = session(planned(Picky()), tmp_path)
    answer(running)
    assert {(cell["verdict"], cell["reason"]) for cell in running.results()} == {
        ("skipped", "the table enumerates its domain")
    }


class Absent(Spy):
    spec = "spy:absent"

    async def connect(self) -> None:
        raise UsageError("no server at http://127.0.0.1:9")


def test_one_llm_that_cannot_be_reached_does_not_stop_the_others(tmp_path: Path) -> None:
    cells = plan([Subject(Spy()), Subject(Absent())], [ships()], [IS], COMPLETION, Options())
    running = session(cells, tmp_path)

    async def both() -> None:
        await running.connect()
        running.recall()
        await running.ask()

    asyncio.run(both())
    absent = [cell for cell in running.results() if cell["llm"] == "spy:absent"]
    assert {(cell["verdict"], cell["reason"]) for cell in absent} == {("no answer", "no server at http://127.0.0.1:9")}


def test_no_llm_that_can_be_reached_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no server"):
        asyncio.run(session(planned(Absent()), tmp_path).connect())


def test_rows_of_a_file_that_would_leave_are_counted() -> None:
    spy = Spy()
    spy.local = False
    cells = planned(spy, table=ships(private=True))
    shown = {row for cell in cells for query in cell.queries for row in query.rows}
    assert rows_shown(cells) == {("spy:one", "ships"): len(shown)}
    assert rows_shown(planned(Spy(), table=ships(private=True))) == {}
    assert rows_shown(planned(spy)) == {}


def test_a_full_disk_loses_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Spy()
    running = session(planned(spy), tmp_path, Options(connections=1))

    def full(self: Journal, line: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Journal, "_write", full)
    answer(running)
    assert len(spy.asked) == 1  # nothing more is paid for
    with pytest.raises(UsageError, match="No space left on device") as error:
        running.journal.rescue()
    place = next(word for word in str(error.value).split() if "/tabcontam-" in word).rstrip(":")
    assert json.loads(Path(place).read_text())["reply"] == "nothing that fits"
    Path(place).unlink()
