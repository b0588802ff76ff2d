"""Runs that ask until a table is decided: few queries, each paid for once, and a verdict that stands."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from random import Random

import pytest

import tabcontam
from tabcontam.asking.query_plan import RunSource, plan
from tabcontam.asking.reply_store import Store
from tabcontam.asking.run_progress import Progress
from tabcontam.asking.session import Session
from tabcontam.asking.trial_file import Journal
from tabcontam.cli.commands import main
from tabcontam.config import CALIBRATED, RunConfig
from tabcontam.errors import UsageError
from tabcontam.evidence.base import Capability, Query, Reply, Test, Verdict
from tabcontam.evidence.mixins import BettingTest
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.rows.completion_tests import FeatureCompletion
from tabcontam.models.base import Model, ModelRequest, PromptForm
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.runs.folder import merge
from tabcontam.runs.rescoring import rescore
from tabcontam.tables.serializers import Serializer, load_serializers
from tabcontam.tables.table import Table, load_table
from tabcontam.verdicts.notes import NoteKind
from tabcontam.verdicts.result_building import tables
from tabcontam.verdicts.result_types import Result, TableVerdict
from tabcontam.verdicts.sequential_test import SequentialOutcome
from tabcontam.verdicts.thresholds import ALPHA
from tests.made_tables import ships
from tests.usual import USUAL

ROWS = [test for test in USUAL if test.row_test and isinstance(test, BettingTest)]
MATCHED = by_id()["matched_membership"]
IN_TURNS = RunConfig(until_decided=True)
IS = load_serializers()["is"]


@cache
def wine() -> Table:
    """A table whose guesses come with the package."""
    return load_table("wine")


class Teller(Model):
    """An LLM on a server, which answers as a simulated one does and counts what it is asked."""

    spec = "teller:one"
    control = False
    local = True
    version = "7"
    form = PromptForm.CHAT
    capabilities = frozenset({Capability.GENERATE, Capability.INSTRUCTIONS})

    def __init__(self, kind: str, ends_after: int = 10**6) -> None:
        self.kind, self.asked, self.ends_after = kind, [0], ends_after
        self.session: Session | None = None
        self.inner: Model | None = None

    @property
    def identity(self) -> Mapping[str, str]:
        return {"provider": "teller", "address": "here", "model": self.kind}

    def prepare(self, table: Table, queries: Sequence[Query]) -> Model:
        self.inner = SimulatedModel(self.kind, 0, table, queries)
        return self

    async def generate(self, request: ModelRequest) -> Reply:
        self.asked[0] += 1
        if self.asked[0] == self.ends_after and self.session:
            self.session.stop()
        await asyncio.sleep(0)
        assert self.inner is not None
        return await self.inner.generate(request)


def asked(
    model: Teller, folder: Path, store: Store | None = None, options: RunConfig = IN_TURNS, tests: Sequence[Test] = ROWS
) -> list[Result]:
    """The results of a run, as a run asks: what was answered before is recalled first."""
    cells = plan([RunSource(model)], [wine()], [IS], tests, options)
    folder.mkdir(exist_ok=True)
    session = Session(cells, options, Journal(folder), Progress(), store or Store())
    model.session = session

    async def whole() -> None:
        session.recall()
        await session.ask()
        await session.close()

    asyncio.run(whole())
    return session.results()


def of_table(cells: Sequence[Result]) -> TableVerdict:
    (table,) = tables(cells, CALIBRATED, ALPHA)
    return table


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store.open(tmp_path / "replies.sqlite")) as opened:
        yield opened


@pytest.mark.slow
def test_who_remembers_is_found_after_a_few_queries_and_asked_no_more(tmp_path: Path) -> None:
    model = Teller("oracle")
    cells = asked(model, tmp_path / "run")
    table = of_table(cells)
    assert table.verdict is Verdict.CONTAMINATED
    assert table.decided_after == model.asked[0] <= 5
    assert table.sequential_queries == sum(cell.queries for cell in cells) > 50
    assert table.reason.startswith(f"decided after {table.decided_after} of {table.sequential_queries} queries: E = ")
    for cell in cells:
        assert (cell.sequential, cell.cut_short, cell.decided_after) == (True, False, table.decided_after)
        assert (cell.evidence.p_value, cell.decision.q_value, cell.evidence.interval, cell.evidence.without) == (
            None,
            None,
            None,
            {},
        )
        assert "p = " not in cell.evidence.sentence
    telling = [cell for cell in cells if cell.evidence.hits]
    assert telling
    assert {cell.verdict for cell in telling} == {Verdict.CONTAMINATED}
    assert all("(E = " in cell.evidence.sentence for cell in telling)


@pytest.mark.slow
def test_who_guesses_is_let_go(tmp_path: Path) -> None:
    model = Teller("guesser")
    cells = asked(model, tmp_path / "run")
    table = of_table(cells)
    assert table.verdict is Verdict.NOT_DETECTED
    assert table.decided_after == model.asked[0] <= 60
    assert {cell.verdict for cell in cells} == {Verdict.NOT_DETECTED}
    assert {cell.evidence.detectable_share for cell in cells} == {0.25}
    assert table.reason.endswith("a model that remembers 25% of the rows would have been detected")


@pytest.mark.slow
def test_progress_leaves_out_what_is_spared_of_the_table_that_was_decided(tmp_path: Path) -> None:
    ended: list[int] = []  # queries that were asked, and that were not any more

    class Told(Progress):
        def decided(self, llm: str, dataset: str, outcome: SequentialOutcome, spared: int) -> None:
            ended.append(outcome.asked + spared)

    cells = plan([RunSource(Teller("oracle"))], [wine()], [IS], [*ROWS, MATCHED], IN_TURNS)
    renamed = [replace(cell, table=replace(wine(), name="boats")) for cell in cells]
    session = Session([*cells, *renamed], IN_TURNS, Journal(tmp_path), Told(), Store())

    async def whole() -> None:
        session.recall()
        await session.ask()

    asyncio.run(whole())
    planned = sum(len(cell.queries) for cell in cells)
    assert ended == [planned, planned]


@pytest.mark.slow
def test_the_same_folder_asks_nothing_again(tmp_path: Path) -> None:
    first, again = Teller("memoriser:0.5"), Teller("memoriser:0.5")
    before = asked(first, tmp_path / "run")
    assert asked(again, tmp_path / "run") == before
    assert again.asked == [0]


@pytest.mark.slow
def test_stored_replies_of_a_whole_run_decide_after_as_many_queries_as_paid_ones(tmp_path: Path, store: Store) -> None:
    fresh, whole, stored = Teller("memoriser:0.5"), Teller("memoriser:0.5"), Teller("memoriser:0.5")
    expected = asked(fresh, tmp_path / "fresh")
    asked(whole, tmp_path / "whole", store, RunConfig())
    assert whole.asked[0] > 100
    assert asked(stored, tmp_path / "stored", store) == expected
    assert stored.asked == [0]
    assert len(list(Journal(tmp_path / "stored").lines())) == fresh.asked[0]  # nothing that was not looked at


@pytest.mark.slow
@pytest.mark.parametrize("ends_after", [1, 4, 9])
def test_a_run_that_was_cut_off_goes_on_where_it_ended_and_calls_nothing_clean(tmp_path: Path, ends_after: int) -> None:
    whole, first = Teller("guesser"), Teller("guesser", ends_after)
    expected = asked(whole, tmp_path / "whole")
    cut = asked(first, tmp_path / "run")
    assert first.asked[0] < whole.asked[0]
    assert {cell.verdict for cell in cut} <= {Verdict.NO_ANSWER, Verdict.SKIPPED}  # of what was not asked at all
    assert all(cell.cut_short and cell.decided_after is None for cell in cut)
    rest = Teller("guesser")
    assert asked(rest, tmp_path / "run") == expected
    assert rest.asked[0] + first.asked[0] == whole.asked[0]


@pytest.mark.slow
def test_membership_is_asked_only_where_the_others_leave_a_table_undecided(tmp_path: Path) -> None:
    *_, spared = asked(Teller("oracle"), tmp_path / "found", tests=[*ROWS, MATCHED])
    assert (spared.verdict, spared.cut_short) == (Verdict.SKIPPED, False)
    assert spared.decision.reason == "not asked: the earlier row tests decided the table"
    hardly = RunConfig(until_decided=True, min_power=0.004)
    *rows, membership = asked(Teller("guesser"), tmp_path / "open", options=hardly, tests=[*ROWS, MATCHED])
    assert {cell.decided_after for cell in rows} == {sum(cell.queries for cell in rows)}
    assert (membership.verdict, membership.sequential) == (Verdict.NOT_DETECTED, False)
    assert membership.evidence.p_value is not None


@pytest.mark.usefixtures("cheaply")
def test_the_papers_own_queries_are_left_out_unless_asked_for() -> None:
    def papers(options: RunConfig) -> int:
        cells = plan([RunSource(Teller("oracle"))], [ships()], [IS], ROWS, options)
        return sum(query.paper for cell in cells for query in cell.queries)

    assert papers(IN_TURNS) == 0
    assert papers(RunConfig(until_decided=True, papers_too=True)) > 5
    assert papers(RunConfig()) == 11


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


ASK = ["--dataset", "iris", "-k", "completion", "--until-decided"]


@pytest.mark.slow
def test_the_command_line_says_when_it_was_decided_and_what_e_means(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    llms = ["--llm", "simulated:oracle", "--llm", "simulated:guesser"]
    assert main(["run", *llms, *ASK, "-k", "completion", "--out", "run"]) == 0
    said = capsys.readouterr()
    shown = " ".join(said.out.split())
    for line in (
        r"oracle: iris: decided after \d+ of \d+ queries: contaminated",
        r"guesser: iris: decided .*: not detected",
    ):
        assert re.search(f"simulated:{line}", said.err)
    assert "E is what one unit has become that was bet on the model's answers" in shown
    found = tabcontam.load_results("run").run_results
    oracle, guesser, *controls = found.tables_in_order
    assert f"decided after {oracle.decided_after} of {oracle.sequential_queries} queries: E = " in shown
    assert (oracle.verdict, guesser.verdict) == (Verdict.CONTAMINATED, Verdict.NOT_DETECTED)
    assert found.run.until_decided == 0.25
    assert [note.kind for note in found.notes if note.kind is NoteKind.TURNS] == [NoteKind.TURNS]
    assert [table.verdict for table in controls] == [Verdict.CONTAMINATED, Verdict.NOT_DETECTED]
    assert all(table.decided_after for table in controls)  # controls are asked no more than decides, too
    assert main(["gate", "run", "--llm", "simulated:guesser", "--min-power", "0.25"]) == 0
    assert main(["gate", "run", "--llm", "simulated:guesser", "--min-power", "0.2"]) == 6
    assert main(["gate", "run", "--llm", "simulated:oracle"]) == 1
    before = found.results, found.tables
    again = rescore(Path("run"), None)
    assert (again.results, again.tables) == before
    with pytest.raises(UsageError, match="which the paper's rules cannot judge; make the run without"):
        rescore(Path("run"), "paper")
    merged = merge([Path("run")], Path("merged"))
    assert merged.tables == found.tables
    assert "bet on the model&#39;s answers" in Path("run/index.html").read_text("utf-8")


def test_no_readable_answer_is_no_verdict_and_the_gate_cannot_tell(here: Path) -> None:
    order = ["--llm", "simulated:decliner", *ASK, "-k", "completion", "--no-controls", "--out", "run"]
    assert main(["run", *order]) == 0
    (table,) = tabcontam.load_results("run").run_results.tables
    assert (table.verdict, table.decided_after) == (Verdict.NO_ANSWER, 20)
    assert main(["gate", "run"]) == 6
    assert rescore(Path("run"), None).tables == (table,)


@pytest.mark.slow
def test_min_power_says_when_a_table_is_let_go(here: Path) -> None:
    half = tabcontam.run(
        "simulated:guesser", "iris", tests="completion", until_decided=True, min_power=0.5, controls=False
    )
    tenth = tabcontam.run(
        "simulated:guesser", "iris", tests="completion", until_decided=True, min_power=0.15, controls=False
    )
    counts = [results.run_results.tables[0].decided_after or 0 for results in (half, tenth)]
    assert counts[0] < counts[1]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--rules", "paper"], "--until-decided decides by the calibrated rules; leave --rules paper out"),
        (["--queries", "paper"], "leave --queries paper out"),
    ],
)
def test_what_contradicts_it_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str], more: Sequence[str], said: str
) -> None:
    assert main(["run", "--llm", "simulated:oracle", *ASK, *more, "--out", "run"]) == 4
    assert said in capsys.readouterr().err
    assert not Path("run").exists()


@pytest.mark.slow
def test_another_way_to_ask_does_not_continue_a_run(here: Path) -> None:
    again = partial(tabcontam.run, "simulated:oracle", "iris", tests="completion", controls=False, out="run")
    again(until_decided=True)
    with pytest.raises(UsageError, match=r"run with until_decided=True and min_power=0\.25; choose another folder"):
        again()
    with pytest.raises(UsageError, match="choose another folder"):
        again(until_decided=True, min_power=0.1)


@pytest.mark.slow
def test_the_plan_says_that_it_asks_at_most(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--llm", "simulated:oracle", *ASK, "--dry-run"]) == 0
    assert "to ask, until the table is decided" in capsys.readouterr().out


@pytest.mark.slow
def test_what_a_reference_answers_too_decides_nothing(tmp_path: Path) -> None:
    knowing, reference = Teller("oracle"), Teller("oracle")
    reference.spec = "teller:reference"
    subjects = [RunSource(reference, reference=True), RunSource(knowing)]
    cells = plan(subjects, [wine()], [IS], ROWS, IN_TURNS)
    (tmp_path / "run").mkdir()
    session = Session(cells, IN_TURNS, Journal(tmp_path / "run"), Progress(), Store())

    async def whole() -> None:
        session.recall()
        await session.ask()
        await session.close()

    asyncio.run(whole())
    table = of_table(session.results())
    assert table.verdict is not Verdict.CONTAMINATED
    assert table.e_value is not None
    assert table.e_value <= 1


@pytest.mark.slow  # wine's guesses take seconds
def test_x_stops_after_the_first_table_that_is_found(here: Path) -> None:
    found = tabcontam.run(
        "simulated:oracle", ["iris", "wine"], tests="completion", until_decided=True, stop_at_first=True, controls=False
    ).run_results
    iris, wine = sorted(found.tables, key=lambda table: table.dataset)
    decided = [table for table in (iris, wine) if table.verdict is Verdict.CONTAMINATED]
    assert len(decided) >= 1
    for cell in found.results:
        if cell.sequential is False and cell.queries:
            assert cell.decision.reason is not None
            assert "not asked: -x stopped the run after" in cell.decision.reason


@pytest.mark.slow
def test_an_llm_that_cannot_be_reached_is_no_answer(here: Path) -> None:
    dead = "openai:one@http://127.0.0.1:9/v1"
    found = tabcontam.run([dead, "simulated:guesser"], "iris", tests="completion", until_decided=True, controls=False)
    mine = [cell for cell in found.run_results.results if cell.llm == dead and cell.queries]
    assert mine
    assert {cell.verdict for cell in mine} == {Verdict.NO_ANSWER}


def test_a_test_whose_queries_name_no_row_is_asked_whole_and_last(tmp_path: Path) -> None:
    class Unnamed(FeatureCompletion):
        """As test 9, of another package: its queries do not say which row they ask."""

        id = "unnamed_completion"

        def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
            return [replace(query, row=None) for query in super().queries(table, serializer, rng)]

    cells = plan([RunSource(Teller("oracle"))], [wine()], [IS], [*ROWS, Unnamed()], IN_TURNS)
    assert [(cell.sequential, cell.deferred) for cell in cells] == [(True, False)] * 3 + [(False, True)]
    assert cells[-1].queries


@pytest.mark.slow
def test_a_control_is_asked_a_later_test_only_if_an_llm_is_undecided(tmp_path: Path) -> None:
    """A test that an undecided LLM is asked must be checked by the controls, too."""
    perplexity = by_id()["perplexity"]

    def asked_of_control(kind: str, folder: str, least: float) -> dict[str, Result]:
        options = RunConfig(until_decided=True, min_power=least)
        control = Teller("oracle")
        control.spec = "teller:control"
        subjects = [RunSource(control, joined=True), RunSource(Teller(kind))]
        cells = plan(subjects, [wine()], [IS], [*ROWS, MATCHED, perplexity], options)
        (tmp_path / folder).mkdir()
        session = Session(cells, options, Journal(tmp_path / folder), Progress(), Store())

        async def whole() -> None:
            session.recall()
            await session.ask()

        asyncio.run(whole())
        return {result.test: result for result in session.results() if result.control}

    decided = asked_of_control("oracle", "decided", 0.25)
    assert 0 < (decided["full_completion"].decided_after or 0) <= 5
    assert decided["matched_membership"].decision.reason == "not asked: the earlier row tests decided the table"
    undecided = asked_of_control("guesser", "undecided", 0.004)
    assert 0 < (undecided["full_completion"].decided_after or 0) <= 5
    assert undecided["matched_membership"].evidence.answered
    assert {one["perplexity"].verdict for one in (decided, undecided)} == {Verdict.SKIPPED}


def test_a_control_is_asked_no_test_without_a_verdict() -> None:
    control = Teller("oracle")
    control.capabilities = frozenset(Capability)
    membership = by_id()["membership"]
    subjects = [RunSource(control, joined=True), RunSource(Teller("oracle"))]
    (own, tested) = plan(subjects, [wine()], [IS], [membership], RunConfig(until_decided=True, papers_too=True))
    assert own.skip == "it has no verdict, and --until-decided asks a control only what decides verdicts"
    assert tested.queries
    (own, _) = plan(subjects, [wine()], [IS], [membership], RunConfig())
    assert own.queries == tested.queries
