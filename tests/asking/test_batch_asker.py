"""Queries go to a provider together, once, and their answers come back whatever happens to the run meanwhile."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest

from tabcontam.asking import asker
from tabcontam.asking import batch_asker as asking
from tabcontam.asking.batch_asker import going_on
from tabcontam.asking.batch_notes import BATCHES, BatchNote, BatchNotes
from tabcontam.asking.query_plan import PlannedResult
from tabcontam.asking.reply_store import Store
from tabcontam.asking.session import Session
from tabcontam.config import RunConfig
from tabcontam.errors import UsageError
from tabcontam.evidence.base import Reply, ReplyState, Usage
from tabcontam.models.base import FatalError, Model, ModelRequest, PromptForm, TransientError
from tabcontam.models.batch_api import Batches, BatchProgress, BatchResult, RequestStyle, as_line, json_lines
from tabcontam.models.prices import Price
from tests.asking.test_session import ALL, Spy, answer, few, planned, session

pytestmark = pytest.mark.usefixtures("cheaply")

batched = partial(few, batch_api=True)
LEFT = ALL - 1  # the first is asked at once
PRICE = Price(1000.0, 2000.0)
Change = Callable[[list[BatchResult]], list[BatchResult]]


class Crash(BaseException):
    """The run ends here, as by a kill."""


class Kept(Batches):
    """Batches that a provider holds, in memory: they outlive the model that sent them."""

    service, most_requests, most_bytes = "Here", 1000, 10**6
    _model: Model

    def __init__(self) -> None:
        self.held: dict[str, tuple[str, list[str]]] = {}
        self.looks = 0
        self.ends_after = 1
        self.reason = ""
        self.crowded_above = 0  # requests of a batch that fails whole
        self.change: Change = lambda results: results
        self.better: set[int] = set()  # the batches whose replies may be better
        self.submit_fails: list[BaseException] = []  # before a batch is held
        self.answer_lost: list[BaseException] = []  # after it is
        self.look_fails: list[BaseException] = []

    @property
    def sent(self) -> RequestStyle:
        return RequestStyle(PromptForm.CHAT)

    def written(self, name: str, request: ModelRequest) -> bytes:
        return as_line({"name": name})

    async def submit(self, requests: Sequence[bytes], mark: str) -> str:
        if self.submit_fails:
            raise self.submit_fails.pop(0)
        batch = f"b{len(self.held)}"
        self.held[batch] = mark, [json.loads(line)["name"] for line in requests]
        if self.answer_lost:
            raise self.answer_lost.pop(0)
        return batch

    async def find(self, mark: str, since: float, names: Sequence[str]) -> str | None:
        return next((batch for batch, (own, _) in self.held.items() if own == mark), None)

    async def standing(self, batch: str) -> BatchProgress:
        if self.look_fails:
            raise self.look_fails.pop(0)
        self.looks += 1
        of = len(self.held[batch][1])
        crowded = 0 < self.crowded_above < of
        return BatchProgress(
            self.looks >= self.ends_after, 3, of, "too much at once" if crowded else self.reason, crowded
        )

    async def results(self, batch: str) -> AsyncIterator[BatchResult]:
        number = int(batch[1:])
        results = [BatchResult(name, {"text": f"{batch} {place}", "better": number in self.better})
                   for place, name in enumerate(self.held[batch][1])]  # fmt: skip
        for result in self.change(results):
            yield result

    def read(self, result: BatchResult, request: ModelRequest, sent: RequestStyle) -> tuple[Reply, bool]:
        return Reply(result.content["text"], ReplyState.OK, usage=Usage(10, 5)), result.content["better"]

    def cancelling(self, batch: str) -> str:
        return f"cancel {batch}"

    @property
    def sizes(self) -> list[int]:
        """How many requests each batch has."""
        return [len(names) for _, names in self.held.values()]


class Batching(Spy):
    """A model whose maker holds these batches."""

    def __init__(self, kept: Kept) -> None:
        super().__init__()
        self.kept = kept

    @property
    def batches(self) -> Kept:
        return self.kept


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is waited for."""
    monkeypatch.setattr(asking, "FIRST_LOOK", 0.001)
    monkeypatch.setattr(asker, "backoff", lambda before: 0.0)


@pytest.fixture
def kept() -> Kept:
    """What the provider holds over all runs of a test."""
    return Kept()


def ran(kept: Kept, folder: Path, options: RunConfig | None = None, store: Store | None = None) -> Session:
    """A run to its end, by a new process as it were."""
    running = begun(kept, folder, options, store)
    answer(running)
    return running


def begun(kept: Kept, folder: Path, options: RunConfig | None = None, store: Store | None = None) -> Session:
    folder.mkdir(exist_ok=True)
    options = options or batched()
    return session(planned(Batching(kept), options), folder, options, store, {"spy:one": PRICE})


def cells(running: Session) -> list[PlannedResult]:
    return list(running.plan)


def model_of(running: Session) -> Batching:
    model = running.plan[0].subject.model
    assert isinstance(model, Batching)
    return model


def replies(running: Session) -> list[Reply]:
    found = [trial.reply for own in running.trials.values() for trial in own.values()]
    return [reply for reply in found if isinstance(reply, Reply)]


def lines(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / BATCHES).read_text().splitlines()]


def open_notes(folder: Path) -> list[BatchNote]:
    return BatchNotes(folder).open("spy:one")


@pytest.mark.slow
def test_the_first_query_is_asked_at_once_and_the_others_in_one_batch(kept: Kept, tmp_path: Path) -> None:
    running = ran(kept, tmp_path)
    assert (len(model_of(running).asked), kept.sizes) == (1, [LEFT])
    assert sorted(reply.text for reply in replies(running)) == sorted(
        ["nothing that fits", *(f"b0 {place}" for place in range(LEFT))]
    )
    assert open_notes(tmp_path) == []


@pytest.mark.slow
def test_what_a_batch_answered_is_stored_as_if_it_had_been_asked_at_once(kept: Kept, tmp_path: Path) -> None:
    (tmp_path / "two").mkdir()
    with closing(Store.open(tmp_path / "replies.sqlite")) as store:
        ran(kept, tmp_path / "one", store=store)
        live = session(planned(spy := Spy(), few()), tmp_path / "two", few(), store)
        answer(live)
    assert spy.asked == []
    assert sum(reply.text.startswith("b0") for reply in replies(live)) == LEFT


@pytest.mark.slow
def test_what_is_spent_is_counted_at_the_price_of_a_batch(kept: Kept, tmp_path: Path) -> None:
    used = ran(kept, tmp_path).used()["spy:one"]
    first = ran(Kept(), tmp_path / "other", batched(max_requests=1)).used()["spy:one"]
    assert (used.requests, first.requests) == (ALL, 1)
    assert used.dollars == pytest.approx((first.dollars or 0) + LEFT * (10 * 500 + 5 * 1000) / 10**6)


def test_a_batch_costs_half_where_its_price_is_not_stated() -> None:
    assert PRICE.in_batch == Price(500.0, 1000.0)
    assert replace(PRICE, batch_input=1.0, batch_output=2.0).in_batch == Price(1.0, 2.0)


def test_a_run_that_is_killed_finds_its_batch_again_by_its_id(kept: Kept, tmp_path: Path) -> None:
    kept.look_fails = [Crash()]
    with pytest.raises(Crash):
        ran(kept, tmp_path)
    assert [noted.id for noted in open_notes(tmp_path)] == ["b0"]
    again = ran(kept, tmp_path)
    assert (kept.sizes, len(model_of(again).asked)) == ([LEFT], 0)
    assert len(replies(again)) == ALL
    assert open_notes(tmp_path) == []


def test_a_batch_whose_id_was_never_written_down_is_found_by_its_mark(kept: Kept, tmp_path: Path) -> None:
    kept.answer_lost = [Crash()]
    with pytest.raises(Crash):
        ran(kept, tmp_path)
    assert [noted.id for noted in open_notes(tmp_path)] == [""]
    assert len(replies(ran(kept, tmp_path))) == ALL
    assert kept.sizes == [LEFT]


def test_a_batch_that_never_got_there_is_sent_once_more(kept: Kept, tmp_path: Path) -> None:
    kept.submit_fails = [Crash()]
    with pytest.raises(Crash):
        ran(kept, tmp_path)
    assert len(replies(ran(kept, tmp_path))) == ALL
    assert kept.sizes == [LEFT - 1]  # the first was asked by the first run, and another one by the second
    assert open_notes(tmp_path) == []


def test_a_batch_whose_answer_was_lost_on_the_way_is_not_sent_twice(kept: Kept, tmp_path: Path) -> None:
    kept.answer_lost = [TransientError("cut", "cut connection", sent=True)]
    assert len(replies(ran(kept, tmp_path))) == ALL
    assert kept.sizes == [LEFT]


def test_ctrl_c_leaves_the_batch_and_says_how_it_goes_on(kept: Kept, tmp_path: Path) -> None:
    kept.ends_after = 10**6
    running = begun(kept, tmp_path)

    async def interrupted() -> None:
        running.recall()
        task = asyncio.ensure_future(running.ask())
        while kept.looks < 3:
            await asyncio.sleep(0.001)
        running.stop()
        await task

    asyncio.run(interrupted())
    assert going_on(running.batched) == [f"batch b0 of spy:one goes on at Here, 3/{LEFT} done; to cancel it: cancel b0"]
    kept.ends_after = 0
    assert len(replies(ran(kept, tmp_path))) == ALL
    assert kept.sizes == [LEFT]


def test_a_run_without_batches_does_not_pay_for_what_is_in_one(kept: Kept, tmp_path: Path) -> None:
    kept.look_fails = [Crash()]
    with pytest.raises(Crash):
        ran(kept, tmp_path)
    with pytest.raises(UsageError, match=r"batch b0 of spy:one is under way.*add --batch-api"):
        ran(kept, tmp_path, few())
    ran(kept, tmp_path)
    assert model_of(ran(kept, tmp_path, few())).asked == []  # now all is there


def test_results_may_come_in_any_order_twice_of_nobody_or_not_at_all(kept: Kept, tmp_path: Path) -> None:
    def odd(results: list[BatchResult]) -> list[BatchResult]:
        stranger, forged = (
            BatchResult("who", {"text": "?", "better": False}),
            replace(results[1], content={"text": "forged"}),
        )
        return [stranger, *reversed(results[1:]), forged]

    kept.change = odd
    running = ran(kept, tmp_path)
    assert sorted(reply.text for reply in replies(running) if reply.state is ReplyState.OK)[:-1] == sorted(
        f"b0 {place}" for place in range(1, LEFT)
    )
    (missing,) = [reply for reply in replies(running) if reply.state is ReplyState.FAILED]
    assert missing.detail == "batch b0 holds no result for it"


def test_what_a_batch_had_no_time_for_is_failed_with_the_reason_and_asked_again_by_the_next_run(
    kept: Kept, tmp_path: Path
) -> None:
    kept.reason, kept.change = "the batch expired", lambda results: results[3:]
    first = ran(kept, tmp_path)
    assert [reply.detail for reply in replies(first) if reply.state is ReplyState.FAILED] == 3 * ["the batch expired"]
    kept.change = lambda results: results
    second = ran(kept, tmp_path)
    assert (len(model_of(second).asked), kept.sizes) == (1, [LEFT, 2])
    assert [reply.state for reply in replies(second)] == ALL * [ReplyState.OK]


def test_a_reply_that_may_be_better_is_asked_for_once_more_and_no_oftener(kept: Kept, tmp_path: Path) -> None:
    kept.better = {0, 1}
    running = ran(kept, tmp_path)
    assert kept.sizes == [LEFT, LEFT]
    assert {reply.usage for reply in replies(running)} == {None, Usage(20, 10)}
    assert running.used()["spy:one"].requests == 1 + 2 * LEFT


def test_a_batch_that_is_too_much_at_once_is_sent_in_parts_one_after_the_other(kept: Kept, tmp_path: Path) -> None:
    kept.crowded_above = 4
    running = ran(kept, tmp_path)
    assert kept.sizes == [LEFT, 4, 4, 1]
    assert [reply.state for reply in replies(running)] == ALL * [ReplyState.OK]
    assert running.used()["spy:one"].requests == ALL


def test_a_provider_that_takes_no_batch_for_now_is_asked_to_take_less(kept: Kept, tmp_path: Path) -> None:
    kept.submit_fails = [TransientError("HTTP 429", "429", crowded=True)]
    assert len(replies(ran(kept, tmp_path))) == ALL
    assert kept.sizes == [4, 4, 1]


def test_a_batch_holds_no_more_requests_and_bytes_than_its_provider_takes(kept: Kept, tmp_path: Path) -> None:
    kept.most_requests = 4
    ran(kept, tmp_path)
    assert kept.sizes == [4, 4, 1]
    other = Kept()
    other.most_bytes = 3 * len(as_line({"name": 64 * "x"}))
    ran(other, tmp_path / "other")
    assert other.sizes == [3, 3, 3]


def test_a_limit_of_the_user_holds_for_batches_too(kept: Kept, tmp_path: Path) -> None:
    running = ran(kept, tmp_path, batched(max_requests=6))
    assert kept.sizes == [5]
    assert running.limit() == "--max-requests 6 is reached"
    assert len(replies(running)) == 6


def test_dollars_that_are_reserved_for_a_batch_are_free_again_once_it_has_ended(kept: Kept, tmp_path: Path) -> None:
    dear = ran(kept, tmp_path, batched(max_cost=Decimal(6)))
    assert len(kept.sizes) > 1
    assert (dear.used()["spy:one"].dollars or 0) <= 6


def test_where_it_cannot_be_written_down_no_batch_is_sent(
    kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: BatchNotes, noted: BatchNote) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(BatchNotes, "intend", full)
    running = ran(kept, tmp_path)
    assert kept.sizes == []
    assert "No space left on device; no batch was sent" in (running.used()["spy:one"].ended or "")


def test_answers_that_could_not_be_written_down_stay_with_the_provider(
    kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = begun(kept, tmp_path)
    append, written = running.journal.append, []

    def full(line: object) -> None:
        written.append(line)
        if len(written) > 3:
            running.journal.unsaved.append({})
            raise OSError(28, "No space left on device")
        append(line)  # type: ignore[arg-type]

    monkeypatch.setattr(running.journal, "append", full)
    answer(running)
    assert [noted.id for noted in open_notes(tmp_path)] == ["b0"]
    assert len(replies(ran(kept, tmp_path))) == ALL
    assert kept.sizes == [LEFT]


@pytest.mark.parametrize("trouble", [FatalError("the key is gone"), TransientError("down", "503", wait=3600.0)])
def test_a_provider_that_fails_while_a_batch_is_under_way_loses_none_of_its_answers(
    trouble: Exception, kept: Kept, tmp_path: Path
) -> None:
    kept.look_fails = [trouble]
    running = ran(kept, tmp_path)
    assert str(trouble) in (running.used()["spy:one"].ended or "")
    assert len(replies(ran(kept, tmp_path))) == ALL
    assert kept.sizes == [LEFT]


def test_a_batch_that_its_provider_refuses_keeps_nobody_from_asking_otherwise(kept: Kept, tmp_path: Path) -> None:
    kept.submit_fails = [FatalError("no batches of this model")]
    assert "no batches of this model" in (ran(kept, tmp_path).used()["spy:one"].ended or "")
    assert open_notes(tmp_path) == []
    assert len(replies(ran(kept, tmp_path, few()))) == ALL


def test_what_is_to_be_scored_is_no_matter_for_batches() -> None:
    assert not asking.in_words(replace(planned(Spy())[0], written=()))
    assert asking.in_words(planned(Spy())[0])


def test_the_notes_hold_no_prompt_and_are_read_although_a_crash_cut_them_off(kept: Kept, tmp_path: Path) -> None:
    kept.look_fails = [Crash()]
    with pytest.raises(Crash):
        ran(kept, tmp_path)
    text = (tmp_path / BATCHES).read_text()
    assert set(lines(tmp_path)[0]) == {"batch", "mark", "llm", "since", "sent", "names", "again"}
    (tmp_path / BATCHES).write_text(
        '{"batch": "intended", "mark": 3}\n[1]\n{"mark": "a", "batch": "intended"}\n' + text + '{"ba'
    )
    assert len(replies(ran(kept, tmp_path))) == ALL
    assert kept.sizes == [LEFT]
    assert open_notes(tmp_path) == []


def test_lines_of_a_file_that_are_too_long_or_no_object_are_passed_over() -> None:
    text = b'{"a": 1}\n\n[2]\n{"broken": \nnull\n{"b": "\xc3\xa4"}\n{"c": 3}'
    assert list(json_lines(text)) == [{"a": 1}, {"b": "ä"}, {"c": 3}]
    assert list(json_lines(text, longest=9)) == [{"a": 1}, {"c": 3}]
