"""A session plans, asks, judges and records; what it was told once it never pays for again."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest

from tabcontam.asking.query_plan import PlannedResult, RunSource, plan, rows_shown
from tabcontam.asking.reply_store import Store
from tabcontam.asking.run_progress import Progress
from tabcontam.asking.session import Session
from tabcontam.asking.trial_file import TRIALS, Journal
from tabcontam.config import RunConfig
from tabcontam.errors import Skip, UsageError
from tabcontam.evidence.base import Capability, Passage, Prompt, Query, Reply, ReplyState, Scores, Token, Usage
from tabcontam.evidence.registry import all_tests, by_id
from tabcontam.models.base import FatalError, LackError, Model, ModelRequest, PromptForm, TransientError
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.models.prices import Price
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table
from tabcontam.verdicts.run_facts import LlmFacts
from tests.made_tables import ships

pytestmark = pytest.mark.usefixtures("cheaply")

IS = load_serializers()["is"]
COMPLETION = [by_id()["incomplete_completion"], by_id()["full_completion"]]
EACH = 5  # queries of each of the two tests: enough for what they ask to be informative
ALL = 2 * EACH
few = partial(RunConfig, queries=EACH)


class Planned(Progress):
    """A progress that notes the numbers of queries that are planned."""

    def __init__(self) -> None:
        self.queries: list[int] = []

    def begin(self, planned: Mapping[str, int]) -> None:
        self.queries += planned.values()

    def more(self, llm: str, queries: int) -> None:
        self.queries.append(queries)


class Spy(Model):
    """A model that counts what it is asked, and can do something on every request."""

    spec = "spy:one"
    control = False
    local = True
    version = "7"
    form = PromptForm.CHAT
    capabilities = frozenset({Capability.GENERATE, Capability.INSTRUCTIONS})

    def __init__(self, state: ReplyState = ReplyState.OK) -> None:
        self.asked: list[ModelRequest] = []
        self.state = state
        self.closed = False
        self.most = self.now = 0

    async def connect(self) -> None:
        return

    def prepare(self, table: Table, queries: Sequence[Query]) -> Model:
        return self

    async def generate(self, request: ModelRequest) -> Reply:
        self.asked.append(request)
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        return Reply("nothing that fits", self.state)

    async def close(self) -> None:
        self.closed = True


def session(
    cells: Sequence[PlannedResult],
    folder: Path,
    options: RunConfig | None = None,
    store: Store | None = None,
    prices: Mapping[str, Price] | None = None,
) -> Session:
    journal, kept = Journal(folder), store or Store()
    return Session(cells, options or few(), journal, Progress(), kept, prices or {})


def answer(running: Session) -> None:
    """Recall, ask and close, as a run does."""

    async def whole() -> None:
        running.recall()
        await running.ask()
        await running.close()

    asyncio.run(whole())


def planned(model: Model, options: RunConfig | None = None, table: Table | None = None) -> list[PlannedResult]:
    return plan([RunSource(model)], [table or ships()], [IS], COMPLETION, options or few())


@pytest.mark.slow  # every test is planned
def test_the_plan_is_the_same_for_every_llm() -> None:
    cells = plan([RunSource(Spy()), RunSource(SimulatedModel("oracle"))], [ships(60)], [IS], all_tests(), RunConfig())
    half = len(cells) // 2
    assert [cell.written for cell in cells[:half]] == [cell.written for cell in cells[half:]]


@pytest.mark.slow  # every test is planned
def test_what_is_planned_for_a_test_does_not_depend_on_the_other_tests() -> None:
    membership = by_id()["membership"]
    others = [by_id()[name] for name in ("feature_list_informed", "row_order", "quiz", "digits", "perplexity")]
    alone = plan([RunSource(Spy())], [ships()], [IS], [membership], RunConfig())
    among = plan([RunSource(Spy())], [ships()], [IS], [*COMPLETION, *others, membership], RunConfig())
    assert alone[0].queries == next(cell for cell in among if cell.test.id == "membership").queries


@pytest.mark.slow  # every test is planned
def test_tests_without_rows_are_asked_under_one_serializer_only() -> None:
    both = list(load_serializers().values())[:2]
    tests = [by_id()[name] for name in ("feature_list_informed", "full_completion")]
    cells = plan([RunSource(Spy())], [ships()], both, tests, RunConfig())
    assert sum(cell.test.id == "feature_list_informed" for cell in cells) == 1
    assert sum(cell.test.id == "full_completion" for cell in cells) == 2


def test_a_model_that_lacks_a_capability_is_skipped_with_that_reason() -> None:
    spy = Spy()
    spy.capabilities = frozenset({Capability.GENERATE})
    cells = plan([RunSource(spy)], [ships()], [IS], [by_id()["membership"]], RunConfig())
    assert cells[0].skip == "spy:one cannot take part: the test needs an LLM that understands a question"


def test_at_most_so_many_queries_a_cell() -> None:
    cut, whole = planned(Spy(), RunConfig(queries=20)), planned(Spy(), RunConfig())
    assert [cell.queries for cell in cut] == [cell.queries[:20] for cell in whole]
    assert all(len(cell.queries) > 20 for cell in whole)


def test_the_same_command_into_the_same_folder_asks_nothing_again(tmp_path: Path) -> None:
    first, second = Spy(), Spy()
    answer(session(planned(first), tmp_path))
    again = session(planned(second), tmp_path)
    answer(again)
    assert (len(first.asked), len(second.asked)) == (ALL, 0)
    assert all(trial.cached for trials in again.trials.values() for trial in trials.values())


@pytest.mark.slow
@pytest.mark.parametrize(("state", "retry", "asked"), [
    (ReplyState.FAILED, False, ALL),
    (ReplyState.REFUSED, False, 0),
    (ReplyState.REFUSED, True, ALL),
    (ReplyState.TRUNCATED, True, ALL),
    (ReplyState.EMPTY, True, ALL),
    (ReplyState.OK, True, 0),
])  # fmt: skip
def test_what_is_asked_again(tmp_path: Path, state: ReplyState, retry: bool, asked: int) -> None:
    answer(session(planned(Spy(state)), tmp_path))
    spy, options = Spy(), few(retry_unanswered=retry)
    answer(session(planned(spy, options), tmp_path, options))
    assert len(spy.asked) == asked


@pytest.mark.slow
def test_another_prompt_is_never_answered_by_an_old_reply(tmp_path: Path) -> None:
    answer(session(planned(Spy()), tmp_path))
    spy = Spy()
    answer(session(planned(spy, table=ships(60, seed=1)), tmp_path))
    assert len(spy.asked) == ALL


def test_a_line_that_a_crash_cut_off_is_asked_again(tmp_path: Path) -> None:
    answer(session(planned(Spy()), tmp_path))
    path = tmp_path / TRIALS
    path.write_bytes(path.read_bytes()[:-40])
    spy = Spy()
    again = session(planned(spy), tmp_path)
    answer(again)
    assert len(spy.asked) == 1
    assert len(list(Journal(tmp_path).lines())) == ALL


def test_no_more_requests_at_a_time_than_allowed(tmp_path: Path) -> None:
    spy, options = Spy(), few(max_connections=3)
    answer(session(planned(spy, options), tmp_path, options))
    assert spy.most == 3
    assert spy.closed


def test_stopping_keeps_what_is_in_flight_and_calls_nothing_clean(tmp_path: Path) -> None:
    spy = Spy()
    running = session(planned(spy), tmp_path, few(max_connections=1))
    original = spy.generate

    async def generate(request: ModelRequest) -> Reply:
        running.stopping = len(spy.asked) == 2
        return await original(request)

    spy.generate = generate  # type: ignore[method-assign]  # the spy's own method is replaced on purpose
    answer(running)
    first, second = running.results()
    assert len(list(Journal(tmp_path).lines())) == 3
    assert (first.verdict, first.decision.reason) == ("no answer", "the run ended after 3 of 5 queries")
    assert (second.verdict, second.decision.reason) == ("skipped", "not asked: the run ended first")


def test_x_stops_after_the_first_contaminated_cell(tmp_path: Path) -> None:
    model, options = SimulatedModel("oracle"), few(stop_at_first=True, max_connections=1)
    running = session(planned(model, options), tmp_path, options)
    answer(running)
    first, second = running.results()
    assert first.verdict == "contaminated"
    assert second.verdict == "skipped"
    assert (
        second.decision.reason == "not asked: -x stopped the run after incomplete_completion on ships was contaminated"
    )


def test_a_model_that_cannot_be_made_for_a_table_is_skipped(tmp_path: Path) -> None:
    class Picky(Spy):
        def prepare(self, table: Table, queries: Sequence[Query]) -> Model:
            raise Skip("the table enumerates its domain")

    running = session(planned(Picky()), tmp_path)
    answer(running)
    assert {(cell.verdict, cell.decision.reason) for cell in running.results()} == {
        ("skipped", "the table enumerates its domain")
    }


class Absent(Spy):
    spec = "spy:absent"

    async def connect(self) -> None:
        raise UsageError("no server at http://127.0.0.1:9")


def test_one_llm_that_cannot_be_reached_does_not_stop_the_others(tmp_path: Path) -> None:
    cells = plan([RunSource(Spy()), RunSource(Absent())], [ships()], [IS], COMPLETION, few())
    running = session(cells, tmp_path)

    async def both() -> None:
        await running.connect()
        running.recall()
        await running.ask()

    asyncio.run(both())
    absent = [cell for cell in running.results() if cell.llm == "spy:absent"]
    assert {(cell.verdict, cell.decision.reason) for cell in absent} == {
        ("no answer", "no server at http://127.0.0.1:9")
    }


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


def test_rows_that_may_leave_to_be_scored_are_counted_before_anybody_knows() -> None:
    """A server is found to score texts when it is connected; by then it is too late to ask whether rows may leave."""
    spy = Spy()
    spy.local = False
    tests = [by_id()["perplexity"]]
    assert rows_shown(plan([RunSource(spy)], [ships(private=True)], [IS], tests, RunConfig())) == {}
    spy.may_have = frozenset({Capability.SCORE})
    (cell,) = plan([RunSource(spy)], [ships(private=True)], [IS], tests, RunConfig())
    assert rows_shown([cell]) == {("spy:one", "ships"): 100}
    assert (cell.skip, cell.provided) == (None, "log-probabilities")
    spy.may_have = frozenset()
    assert cell.skip == "spy:one cannot take part: the test needs log-probabilities"


def test_what_an_llm_turns_out_to_lack_is_asked_no_more_and_ends_nothing_else(tmp_path: Path) -> None:
    class Lacking(Spy):
        may_have = frozenset({Capability.SCORE})

        async def score(self, request: ModelRequest) -> Scores:
            self.may_have = frozenset()
            self.asked.append(request)
            request.again()
            raise LackError("it scores no given text")

    spy = Lacking()
    tests = [by_id()["perplexity"], by_id()["membership"]]
    running = session(plan([RunSource(spy)], [ships()], [IS], tests, few()), tmp_path)
    running.progress = progress = Planned()
    answer(running)
    found = {cell.test: cell for cell in running.results()}
    assert (found["perplexity"].verdict, found["perplexity"].lacks) == ("skipped", "log-probabilities")
    prompts = [asked for asked in spy.asked if isinstance(asked.question, Prompt)]
    assert len(prompts) == found["membership"].queries > 0
    assert len([asked for asked in spy.asked if isinstance(asked.question, Passage)]) == 1
    assert running.used()["spy:one"].requests == len(spy.asked) + 1
    assert running.used()["spy:one"].ended is None
    assert isinstance(spy.asked[0].question, Passage)  # so what it lacks is known from the start
    assert progress.queries == [found["membership"].queries, 0]


def test_a_server_that_turns_out_to_score_texts_is_asked_each_of_its_queries_once(tmp_path: Path) -> None:
    class Scoring(Spy):
        may_have = frozenset({Capability.SCORE})

        async def score(self, request: ModelRequest) -> Scores:
            self.capabilities, self.may_have = self.capabilities | {Capability.SCORE}, frozenset()
            self.asked.append(request)
            text = request.passage.text
            return Scores((Token(text[:1], 0.0), Token(text[1:], -1.0)), ReplyState.OK)

    spy = Scoring()
    tests = [by_id()["membership"], by_id()["perplexity"]]
    running = session(plan([RunSource(spy)], [ships()], [IS], tests, few()), tmp_path)
    running.progress = progress = Planned()
    planned = sum(len(cell.queries) for cell in running.plan)
    assert [(one.unsure, one.requests, one.queries) for one in running.estimates()] == [(True, planned, planned)]
    answer(running)
    found = {cell.test: cell for cell in running.results()}
    texts = [request.passage.text for request in spy.asked if isinstance(request.question, Passage)]
    assert (found["perplexity"].lacks, bool(found["perplexity"].evidence.answered)) == (None, True)
    assert len(texts) == len(set(texts))
    assert progress.queries == [found["membership"].queries, len(texts)]
    assert len(spy.asked) == planned
    assert [one.unsure for one in running.estimates()] == [False]


def test_the_queries_in_words_that_an_llm_may_get_instead_are_in_the_estimate(tmp_path: Path) -> None:
    spy = Spy()
    spy.may_have = frozenset({Capability.SCORE})
    tests = [by_id()["perplexity"], by_id()["membership"]]
    scored, worded = plan([RunSource(spy)], [ships()], [IS], tests, RunConfig())
    (alone,) = session([worded], tmp_path).estimates()
    (both,) = session([replace(scored, otherwise=worded)], tmp_path).estimates()
    assert (scored.provided, both.unsure, alone.unsure) == ("log-probabilities", True, False)
    assert both.requests == max(len(scored.queries), len(worded.queries)) > 0
    assert both.answer_tokens >= alone.answer_tokens > 0


def test_what_was_scored_before_stays_where_a_server_lacks_it_now(tmp_path: Path) -> None:
    class Scoring(Spy):
        capabilities = Spy.capabilities | {Capability.SCORE}

        async def score(self, request: ModelRequest) -> Scores:
            tokens = tuple(Token(sign, -1.0) for sign in request.passage.text)
            return Scores(tokens, ReplyState.OK)

    tests = [by_id()["perplexity"]]
    for model in (Scoring(), Spy()):
        running = session(plan([RunSource(model)], [ships()], [IS], tests, RunConfig()), tmp_path)
        answer(running)
        (cell,) = running.results()
        assert (cell.verdict, cell.evidence.answered) == (None, 100)


def test_a_damaged_line_of_scores_is_asked_again(tmp_path: Path) -> None:
    model = Spy()
    model.capabilities = Spy.capabilities | {Capability.SCORE}
    cells = plan([RunSource(model)], [ships()], [IS], [by_id()["perplexity"]], RunConfig(queries=2))
    answer(session(cells, tmp_path))
    file = tmp_path / "trials.jsonl"
    lines = [json.loads(line) | {"scores": "x", "state": "ok"} for line in file.read_text("utf-8").splitlines()]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    again = session(cells, tmp_path)
    again.recall()
    assert again.trials == {}


def test_a_full_disk_loses_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Spy()
    running = session(planned(spy), tmp_path, few(max_connections=1))

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


# What other runs were told


class Served(Spy):
    """A spy behind an address, of a version, in a form."""

    def __init__(
        self,
        state: ReplyState = ReplyState.OK,
        version: str = "7",
        address: str = "http://a/v1",
        form: PromptForm = PromptForm.CHAT,
    ) -> None:
        super().__init__(state)
        self.version = version
        self.form = form
        self.address = address

    @property
    def identity(self) -> Mapping[str, str]:
        return {"provider": "spy", "address": self.address, "model": "one"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store.open(tmp_path / "replies.sqlite")) as opened:
        yield opened


def folder(tmp_path: Path, name: str) -> Path:
    made = tmp_path / name
    made.mkdir()
    return made


def asked_after(first: Model, second: Spy, tmp_path: Path, store: Store, options: RunConfig | None = None) -> int:
    """How many queries a second run in another folder asks."""
    answer(session(planned(first), folder(tmp_path, "first"), None, store))
    answer(session(planned(second, options), folder(tmp_path, "second"), options, store))
    return len(second.asked)


def test_stored_replies_are_found_by_a_run_in_another_folder(tmp_path: Path, store: Store) -> None:
    assert asked_after(Served(), Served(), tmp_path, store) == 0
    first, second = (list(Journal(tmp_path / name).lines()) for name in ("first", "second"))
    assert len(second) == len(first) == ALL
    assert {line["cached"] for line in first} == {False}
    assert {line["cached"] for line in second} == {True}

    def plain(lines: Sequence[Mapping[str, object]]) -> list[str]:
        return sorted(json.dumps({**line, "cached": None}) for line in lines)

    assert plain(first) == plain(second)


def test_what_was_found_in_the_store_is_not_asked_by_a_third_run_in_the_same_folder(
    tmp_path: Path, store: Store
) -> None:
    asked_after(Served(), Served(), tmp_path, store)
    again = session(planned(Served()), tmp_path / "second")
    answer(again)
    assert len(list(Journal(tmp_path / "second").lines())) == ALL


@pytest.mark.slow
@pytest.mark.parametrize("other", [
    Served(version="8"),
    Served(address="http://b/v1"),
    Served(form=PromptForm.COMPLETION),
])  # fmt: skip
def test_another_llm_is_not_answered_by_stored_replies(tmp_path: Path, store: Store, other: Served) -> None:
    assert asked_after(Served(), other, tmp_path, store) == ALL


def test_another_limit_on_the_answer_is_another_query(tmp_path: Path, store: Store) -> None:
    answer(session(planned(Served()), folder(tmp_path, "first"), None, store))
    second = Served()
    cells = [
        replace(cell, written=tuple(replace(query, max_tokens=query.max_tokens + 1) for query in cell.written))
        for cell in planned(second)
    ]
    answer(session(cells, folder(tmp_path, "second"), None, store))
    assert len(second.asked) == ALL


@pytest.mark.slow
@pytest.mark.parametrize(("state", "retry", "asked"), [
    (ReplyState.FAILED, False, ALL),
    (ReplyState.REFUSED, False, 0),
    (ReplyState.REFUSED, True, ALL),
    (ReplyState.TRUNCATED, False, 0),
    (ReplyState.TRUNCATED, True, ALL),
    (ReplyState.EMPTY, True, ALL),
    (ReplyState.OK, True, 0),
])  # fmt: skip
def test_what_of_the_stored_is_asked_again(
    tmp_path: Path, store: Store, state: ReplyState, retry: bool, asked: int
) -> None:
    assert asked_after(Served(state), Served(), tmp_path, store, few(retry_unanswered=retry)) == asked


def test_without_a_store_every_run_asks(tmp_path: Path) -> None:
    assert asked_after(Served(), Served(), tmp_path, Store()) == ALL


def test_a_model_without_an_identity_is_not_stored(tmp_path: Path, store: Store) -> None:
    class Unnamed(Spy):
        identity = None

    assert asked_after(Unnamed(), Unnamed(), tmp_path, store) == ALL
    assert store.facts()["replies"] == 0


class Wavering(Served):
    """A model that finds out with its first reply that it takes completions only."""

    def __init__(self) -> None:
        super().__init__()
        self.settled = False

    def settle(self, form: PromptForm) -> None:
        self.form, self.settled = form, True

    async def generate(self, request: ModelRequest) -> Reply:
        reply = await super().generate(request)
        self.settle(PromptForm.COMPLETION)
        return reply


def test_a_model_that_settled_for_completions_is_found_again(tmp_path: Path, store: Store) -> None:
    second = Wavering()
    assert asked_after(Wavering(), second, tmp_path, store) == 0
    assert (second.form, second.settled) == (PromptForm.COMPLETION, True)
    prompts = [line["prompt"] for line in Journal(tmp_path / "second").lines()]
    assert all(isinstance(prompt, str) for prompt in prompts)


def test_a_model_that_settled_is_found_by_one_told_to_send_completions(tmp_path: Path, store: Store) -> None:
    assert asked_after(Wavering(), Served(form=PromptForm.COMPLETION), tmp_path, store) == 0


# One query at several places of the plan


def twin_cells(model: Model) -> list[PlannedResult]:
    """The same queries under two names of the table."""
    tables = [ships(), replace(ships(), name="boats")]
    return plan([RunSource(model)], tables, [IS], COMPLETION, few())


@pytest.mark.slow
def test_identical_queries_are_asked_once_and_filed_at_every_place(tmp_path: Path) -> None:
    spy = Served()
    running = session(twin_cells(spy), tmp_path)
    answer(running)
    assert len(spy.asked) == len({(request.prompt, request.max_tokens) for request in spy.asked}) == ALL
    lines = list(Journal(tmp_path).lines())
    assert Counter(line["dataset"] for line in lines) == {"ships": ALL, "boats": ALL}
    assert running.estimates()[0].queries == 2 * ALL
    assert all(cell.verdict != "skipped" for cell in running.results())


def test_identical_queries_are_estimated_once(tmp_path: Path) -> None:
    running = session(twin_cells(Served()), tmp_path)
    running.recall()
    (found,) = running.estimates()
    assert (found.queries, found.answered, found.requests) == (2 * ALL, 0, ALL)


def test_identical_queries_of_a_model_without_an_identity_are_all_asked(tmp_path: Path) -> None:
    class Unnamed(Spy):
        identity = None

    spy = Unnamed()
    answer(session(twin_cells(spy), tmp_path))
    assert len(spy.asked) == 2 * ALL


# How an LLM ends


class Dying(Spy):
    """A server that takes one query and then no other."""

    spec = "spy:dying"

    async def generate(self, request: ModelRequest) -> Reply:
        reply = await super().generate(request)
        if len(self.asked) > 1:
            raise FatalError("HTTP 402: the account is empty")
        return reply


def test_one_llm_that_ends_leaves_the_others(tmp_path: Path) -> None:
    well, dying, options = Spy(), Dying(), few(max_connections=1)
    cells = plan([RunSource(dying), RunSource(well)], [ships()], [IS], COMPLETION, options)
    running = session(cells, tmp_path, options)
    answer(running)
    assert (len(well.asked), len(dying.asked)) == (ALL, 2)
    own = [cell for cell in running.results() if cell.llm == "spy:dying"]
    assert [cell.verdict for cell in own] == ["no answer", "no answer"]
    assert all("HTTP 402: the account is empty" in str(cell.decision.reason) for cell in own)
    assert running.used()["spy:dying"].ended == "HTTP 402: the account is empty"
    assert running.used()["spy:one"] == LlmFacts(spec="spy:one", requests=ALL, retries=0, dollars=0.0)
    assert running.limit() is None
    assert running.failures() is None


def test_only_llms_that_ended_is_a_failure(tmp_path: Path) -> None:
    class Dead(Spy):
        async def generate(self, request: ModelRequest) -> Reply:
            raise FatalError("HTTP 401: wrong key")

    running = session(planned(Dead()), tmp_path)
    answer(running)
    assert running.failures() == "HTTP 401: wrong key"
    assert list(Journal(tmp_path).lines()) == []


def test_at_most_so_many_requests_and_then_a_report(tmp_path: Path) -> None:
    spy, options = Spy(), few(max_requests=4)
    running = session(planned(spy), tmp_path, options)
    answer(running)
    assert len(spy.asked) == len(list(Journal(tmp_path).lines())) == 4
    assert running.limit() == "--max-requests 4 is reached"
    assert running.failures() is None
    assert "not detected" not in {cell.verdict for cell in running.results()}
    assert any("--max-requests 4 is reached" in str(cell.decision.reason) for cell in running.results())


def test_at_most_so_many_requests_of_all_llms_together(tmp_path: Path) -> None:
    class Other(Spy):
        spec = "spy:two"

    spies, options = (Spy(), Other()), few(max_requests=5)
    cells = plan([RunSource(spy) for spy in spies], [ships()], [IS], COMPLETION, options)
    running = session(cells, tmp_path, options)
    answer(running)
    assert sum(len(spy.asked) for spy in spies) == 5
    assert running.limit() == "--max-requests 5 is reached"


def test_the_same_command_goes_on_where_the_limit_stopped_it(tmp_path: Path) -> None:
    first, second, options = Spy(), Spy(), few(max_requests=6)
    answer(session(planned(first), tmp_path, options))
    going_on = session(planned(second), tmp_path, options)
    answer(going_on)
    assert (len(first.asked), len(second.asked)) == (6, ALL - 6)
    assert going_on.limit() is None


class Paid(Served):
    """A server that charges ten tokens each way."""

    async def generate(self, request: ModelRequest) -> Reply:
        return replace(await super().generate(request), usage=Usage(10, 10))


@pytest.mark.parametrize("limit", ["0.001", "0.05", "0.2"])
def test_at_most_so_many_dollars(tmp_path: Path, limit: str) -> None:
    spy, options, price = Paid(), few(max_cost=Decimal(limit)), Price(100.0, 1000.0)
    running = session(planned(spy), tmp_path, options, prices={"spy:one@http://a/v1": price})
    answer(running)
    spent = len(spy.asked) * price.cost(10, 10)
    assert running.used()["spy:one"].dollars == pytest.approx(float(spent))
    assert spent <= Decimal(limit)
    assert len(spy.asked) < ALL
    assert str(running.limit()).startswith(f"--max-cost {limit} allows no further request: ")
    assert running.failures() is None  # also where not one request was allowed


def test_enough_dollars_stop_nothing(tmp_path: Path) -> None:
    spy, options, price = Paid(), few(max_cost=Decimal(2)), Price(100.0, 1000.0)
    running = session(planned(spy), tmp_path, options, prices={"spy:one@http://a/v1": price})
    answer(running)
    assert (len(spy.asked), running.limit()) == (ALL, None)


def test_a_control_that_is_long_made_does_not_hold_up_the_others(tmp_path: Path) -> None:
    answered = threading.Event()

    class Control(Spy):
        spec = "control:slow"
        control = True
        identity = None

        def prepare(self, table: Table, queries: Sequence[Query]) -> Model:
            assert answered.wait(10), "the others waited for it"
            return self

    class Last(Spy):
        async def generate(self, request: ModelRequest) -> Reply:
            reply = await super().generate(request)
            if len(self.asked) == ALL:
                answered.set()
            return reply

    control, spy = Control(), Last()
    cells = plan([RunSource(control, joined=True), RunSource(spy)], [ships()], [IS], COMPLETION, few())
    answer(session(cells, tmp_path))
    assert (len(control.asked), len(spy.asked)) == (ALL, ALL)


@pytest.mark.parametrize("found", [
    frozenset({Capability.GENERATE, Capability.INSTRUCTIONS}),
    frozenset({Capability.INSTRUCTIONS}),
])  # fmt: skip
def test_what_an_llm_can_do_may_be_found_out_as_it_connects(tmp_path: Path, found: frozenset[Capability]) -> None:
    class Learning(Spy):
        capabilities = frozenset({Capability.GENERATE})

        async def connect(self) -> None:
            self.capabilities = found

    spy = Learning()
    running = session(planned(spy), tmp_path)

    async def whole() -> None:
        await running.connect()
        running.recall()
        await running.ask()

    asyncio.run(whole())
    generates = Capability.GENERATE in found
    assert len(spy.asked) == (ALL if generates else 0)
    reasons = {cell.decision.reason for cell in running.results()}
    lacks = "spy:one cannot take part: the test needs an LLM that answers in words"
    assert (lacks in reasons) is not generates


def test_two_names_of_one_model_share_its_limiter(tmp_path: Path) -> None:
    class Alias(Served):
        spec = "spy:alias"

    models = (Served(), Alias(), Served(address="http://b/v1"))
    models[2].spec = "spy:elsewhere"
    running = session(plan([RunSource(model) for model in models], [ships()], [IS], COMPLETION, few()), tmp_path)
    answer(running)
    one, alias, elsewhere = (running.askers[model.spec].limiter for model in models)
    assert one is alias
    assert one is not elsewhere


def test_stopping_ends_the_wait_for_another_try(tmp_path: Path) -> None:
    class Busy(Spy):
        async def generate(self, request: ModelRequest) -> Reply:
            self.asked.append(request)
            raise TransientError("HTTP 503", "503", 500.0)

    spy = Busy()
    running = session(planned(spy), tmp_path)

    async def whole() -> None:
        running.recall()
        asking = asyncio.create_task(running.ask())
        while len(spy.asked) < ALL:
            await asyncio.sleep(0.001)
        running.stop()
        await asyncio.wait_for(asking, 1)

    asyncio.run(whole())
    assert running.stopping
    assert {cell.verdict for cell in running.results()} == {"skipped"}
