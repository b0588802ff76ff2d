"""Models whose replicas answer on a Ray cluster: the same results, whatever is lost on the way."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import tabcontam
from tabcontam.cli.commands import main
from tabcontam.errors import Exit, UsageError
from tabcontam.evidence.questions import Answer, Passage, ReplyState, Scores, Token, Usage
from tabcontam.extensions.cluster import cluster, cluster_joining, ray_library, replica, replicated_model
from tabcontam.extensions.cluster.cluster import Cluster, check_ray
from tabcontam.extensions.cluster.ray_setting import RayOptions
from tabcontam.extensions.cluster.replica import pack_answer, unpack_answer
from tabcontam.models.base import FatalError, ModelRequest, TransientError
from tabcontam.models.hf.provider import HFModel
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import load_table
from tests.commands import environment
from tests.models.hf import tiny

# A run that takes a head for lost sooner than others do.
IMPATIENT = """
import sys
from tabcontam.cli.commands import main
from tabcontam.extensions.cluster import cluster
cluster.PULSE, cluster.LOOKS = 0.2, 3
sys.exit(main(sys.argv[1:]))
"""
ASKED = ("--dataset", "iris", "-k", "perplexity", "--no-controls", "--no-cache")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model in the hub's format."""
    pytest.importorskip("torch")
    lines = tiny.rows_of(load_table("iris"), load_serializer("is"))
    return tiny.saved(tiny.causal(), tiny.tokenizer(lines), tmp_path_factory.mktemp("models") / "tiny")


# --- what the options say


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--ray", "replicas=0"], "argument --ray: 'replicas=0' is not made of address=HOST:PORT, replicas=N and"),
        (["--ray", "nodes=2"], "argument --ray: 'nodes=2' is not made of address=HOST:PORT"),
        (["--ray", "auto"], "argument --ray: 'auto' is not made of address=HOST:PORT"),
    ],
)
def test_a_bad_option_is_one_line(words: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(["run", "--llm", "simulated:guesser", *words])
    except SystemExit as ended:  # where the words cannot be read at all
        code = int(ended.code or 0)
    assert code == Exit.USAGE
    assert line in capsys.readouterr().err


def test_without_ray_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"--ray needs the package ray: pip install 'tabcontam\[ray\]'"):
        check_ray()


def test_what_answers_from_here_stays_here() -> None:
    cluster, guesser = Cluster(RayOptions()), SimulatedModel("guesser")
    assert cluster.holds(guesser) is guesser
    assert not cluster.models


def test_a_folder_is_found_from_wherever_a_replica_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)
    model = HFModel("model", batch_size=3)
    made = model.elsewhere()
    assert isinstance(made, HFModel)
    assert (made._name, made.spec, made.connections) == (str(tmp_path / "model"), "hf:model", 6)


# --- without a cluster: a replica that is lost, and one that is another model


class Lost(Exception):
    """What Ray raises where an actor is gone."""


class Called:
    """A method of an actor, called where it stands."""

    def __init__(self, call: Any) -> None:
        self._call = call

    def remote(self, *given: Any) -> Any:
        return self._call(*given)


class Answering(SimulatedModel):
    """A model that answers with the text that it is asked: "bad" is beyond it, "slow" takes until it is to `go_on`."""

    def __init__(self) -> None:
        super().__init__("guesser")
        self.asked, self.connections, self.go_on = 0, 2, asyncio.Event()

    async def answer(self, request: ModelRequest) -> Scores:
        await asyncio.sleep(0)
        self.asked += 1
        if request.passage.text == "bad":
            raise ValueError("of the replica")
        if request.passage.text == "last":
            raise FatalError("the engine ended")
        if request.passage.text == "slow":
            await self.go_on.wait()
        return Scores((Token("a", -0.5, -1.0, 0.25),), ReplyState.OK, request.passage.text)


class Actor:
    """An actor in this process. `answers` are so many, after which it is lost."""

    def __init__(self, version: str, answers: int) -> None:
        self.version, self.left, self.calls = version, answers, 0
        self.model = Answering()
        self.replica = replica.Replica(lambda: self.model)
        self.here, self.about, self.answers = Called(self.replica.here), Called(self._about), Called(self._answers)

    @property
    def asked(self) -> int:
        """Questions that its model was asked."""
        return self.model.asked

    async def _about(self, version: str) -> replica.ReplicaFacts | str:
        if self.left < 0:
            raise Lost("class_name: Replica pid: 4711\nThe actor is dead because its process has died.")
        if self.version == "broken":
            raise AttributeError("no such layer")
        found = await self.replica.about(version)
        return found if isinstance(found, str) else replace(found, version=self.version)

    async def _answers(self, asked: Sequence[replica.SentQuestion]) -> list[replica.SentAnswer]:
        self.calls += 1
        if self.left < len(asked):
            raise Lost("its machine is gone")
        self.left -= len(asked)
        return await self.replica.answers(asked)


@pytest.fixture
def actors(monkeypatch: pytest.MonkeyPatch) -> list[Actor]:
    """The actors that are to be begun, in order; each that was begun is taken off."""
    waiting: list[Actor] = []
    monkeypatch.setattr(Cluster, "begin", lambda self, model: None)
    monkeypatch.setattr(Cluster, "leave", lambda self, model: None)

    async def begun(self: Cluster, make: object, at_once: int) -> Actor:
        return waiting.pop(0)

    async def fitting(self: Cluster) -> bool:
        return True

    monkeypatch.setattr(Cluster, "actor", begun)
    monkeypatch.setattr(Cluster, "all_fit", fitting)
    monkeypatch.setattr(ray_library, "ray", lambda: SimpleNamespace(is_initialized=lambda: False, nodes=list))
    monkeypatch.setattr(ray_library, "lost_errors", lambda: (Lost,))
    monkeypatch.setattr(replicated_model, "PAUSE", 0.0)
    return waiting


def held(count: int) -> replicated_model.ReplicatedModel:
    found = Cluster(RayOptions(replicas=count)).holds(HFModel("model"))
    assert isinstance(found, replicated_model.ReplicatedModel)
    return found


def asking(text: str) -> ModelRequest:
    return ModelRequest(Passage(text))


def test_a_lost_replica_is_replaced_and_its_questions_are_asked_again(actors: list[Actor]) -> None:
    actors += [first := Actor("v1", 3), second := Actor("v1", 99)]

    async def whole() -> list[str]:
        model = held(1)
        await model.connect()
        found = []
        for number in range(8):
            try:
                found.append((await model.answer(asking(f"{number}"))).detail)
            except TransientError as error:
                found.append(error.kind)
        return found

    assert asyncio.run(whole()) == ["0", "1", "2", "replica lost", "4", "5", "6", "7"]
    assert (first.asked, second.asked) == (3, 4)


@pytest.mark.parametrize(
    "tokens",
    [
        (Token("a", -0.1, -0.2, 0.3), Token("ä", float("-inf"), -1.0, 0.0)),
        (Token("a", -0.1), Token("b", 0, None, 1.5)),
        (Token("a\0b", -0.1), Token("\ud800", float("-inf"))),
        (),
    ],
)
def test_scores_arrive_as_they_were_sent(tokens: tuple[Token, ...]) -> None:
    scores = Scores(tokens, ReplyState.OK, usage=Usage(3, 0))
    found = unpack_answer(cast(Scores, pack_answer(scores)))
    assert found == scores
    assert [type(one) for token in found.tokens for one in token] == [type(one) for token in tokens for one in token]
    assert all(type(token) is Token for token in found.tokens)


def test_it_says_whether_room_or_the_model_is_waited_for(actors: list[Actor], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replicated_model, "ROOM", 0.01)
    actors += [Actor("v1", 9)]
    room, loads, said = asyncio.Event(), asyncio.Event(), list[str]()

    async def whole() -> None:
        actor = actors[0]
        actor.here = Called(room.wait)

        async def about(version: str) -> replica.ReplicaFacts | str:
            await loads.wait()
            return await actor._about(version)

        actor.about = Called(about)
        cluster = Cluster(RayOptions(), said.append)
        connecting = asyncio.ensure_future(cluster.holds(HFModel("model")).connect())
        for event in (room, loads):
            while len(said) < (3 if event is loads else 2):
                await asyncio.sleep(0.001)
            event.set()
        await connecting

    asyncio.run(asyncio.wait_for(whole(), 30))
    assert said == ["hf:model begins", "hf:model waits for room on the Ray cluster", "hf:model is loading", ""]


def test_of_many_llms_it_names_a_few() -> None:
    said: list[str] = []
    cluster = Cluster(RayOptions(), said.append)
    for number in range(1, 6):
        cluster.waits(f"hf:{number}", "is loading")
    cluster.waits("hf:1", "")
    assert said[-2].endswith("hf:2 is loading, hf:3 is loading, and 2 more")
    assert said[-1] == "hf:2 is loading, hf:3 is loading, hf:4 is loading, and 1 more"


def test_questions_go_to_the_replica_with_the_least_to_do(actors: list[Actor]) -> None:
    own = [Actor("v1", 99) for _ in range(3)]
    actors += own

    async def whole() -> int | None:
        model = held(3)
        await model.connect()
        await model.answer(asking("first"))
        await asyncio.sleep(0)  # the other two are begun
        await asyncio.gather(*(model.answer(asking(f"{number}")) for number in range(30)))
        return model.connections

    assert asyncio.run(whole()) == 12  # each is asked two at a time, and as many more wait there
    assert sum(actor.asked for actor in own) == 31
    assert min(actor.asked for actor in own) >= 10


def test_another_model_under_the_same_name_answers_nothing(actors: list[Actor]) -> None:
    actors += [Actor("v1", 1), Actor("v2", 99)]

    async def whole() -> None:
        model = held(1)
        await model.connect()
        await model.answer(asking("a"))
        with pytest.raises(TransientError):
            await model.answer(asking("b"))
        with pytest.raises(FatalError, match="not the same model on all machines"):
            await model.answer(asking("c"))

    asyncio.run(whole())


def test_a_replica_that_is_lost_while_it_loads_is_begun_again_but_not_for_ever(actors: list[Actor]) -> None:
    async def whole() -> str:
        model = held(1)
        actors.extend(Actor("v1", left) for left in (-1, -1, 9))
        await model.connect()
        actors.extend(Actor("v1", -1) for _ in range(3))
        with pytest.raises(UsageError) as raised:
            await held(1).connect()
        return model.version + str(raised.value)

    assert asyncio.run(whole()) == "v1" + "3 replicas of hf:model were lost while they loaded: its process has died."
    assert actors == []


def check_ends(why: str) -> None:
    """A model that loses its first replica with a question says why nothing answers the next one."""

    async def whole() -> None:
        model = held(1)
        await model.connect()
        with pytest.raises(TransientError):
            await model.answer(asking("a"))
        with pytest.raises(FatalError, match=why):
            await asyncio.wait_for(model.answer(asking("b")), 10)

    asyncio.run(whole())


def test_replicas_that_are_lost_one_after_another_end_it(actors: list[Actor]) -> None:
    actors += [Actor("v1", 0), *(Actor("v1", -1) for _ in range(20))]

    check_ends("5 replicas of hf:model were lost one after another")


def test_a_replica_whose_engine_ended_is_replaced_and_answers_nothing_more(actors: list[Actor]) -> None:
    actors += [Actor("v1", 99), second := Actor("v1", 99)]

    async def whole() -> list[str]:
        model = held(1)
        await model.connect()
        found = []
        for text in ("a", "last", "b"):
            try:
                found.append((await model.answer(asking(text))).detail)
            except TransientError as error:
                found.append(str(error))
        return found

    assert asyncio.run(whole()) == ["a", "a replica of hf:model was lost: the engine ended", "b"]
    assert second.asked == 1


def test_a_model_that_cannot_be_loaded_again_ends_it_with_a_line(actors: list[Actor]) -> None:
    actors += [Actor("v1", 0), Actor("broken", 99)]

    check_ends("hf:model cannot be loaded in a replica: no such layer")


def test_where_a_machine_cannot_load_the_model_the_others_answer(actors: list[Actor]) -> None:
    actors += [Actor("v1", 99), Actor("broken", 99)]

    async def whole() -> list[str]:
        model = held(2)
        await model.connect()
        return [(await model.answer(asking(f"{number}"))).detail for number in range(5)]

    assert asyncio.run(whole()) == ["0", "1", "2", "3", "4"]
    assert not actors  # it was tried once


def test_a_question_that_a_replica_cannot_answer_fails_alone(actors: list[Actor]) -> None:
    actors.append(Actor("v1", 99))

    async def whole() -> tuple[ReplyState, str, ReplyState]:
        model = held(1)
        await model.connect()
        bad, good = [await model.answer(asking(text)) for text in ("bad", "good")]
        return bad.state, bad.detail, good.state

    assert asyncio.run(whole()) == (ReplyState.FAILED, "of the replica", ReplyState.OK)


def test_what_is_asked_at_once_goes_with_few_calls(actors: list[Actor]) -> None:
    actors.append(actor := Actor("v1", 999))
    actor.model.connections = 10

    async def whole() -> list[Answer]:
        model = held(1)
        await model.connect()
        return await asyncio.gather(*(model.answer(asking(f"{number}")) for number in range(40)))

    answers = asyncio.run(whole())
    assert [answer.detail for answer in answers] == [f"{number}" for number in range(40)]
    assert actor.calls == 4
    assert isinstance(answers[0], Scores)
    assert answers[0].tokens[0].log_probability == -0.5  # a plain tuple on its way


def test_long_answers_come_back_in_parts(actors: list[Actor], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica, "MOST", 330)  # three answers
    actors.append(actor := Actor("v1", 999))
    actor.model.connections, brought = 10, list[int]()

    async def counted(asked: Sequence[replica.SentQuestion]) -> list[replica.SentAnswer]:
        said = await actor._answers(asked)
        brought.append(len(said))
        return said

    actor.answers = Called(counted)

    async def whole() -> list[Answer]:
        model = held(1)
        await model.connect()
        return await asyncio.gather(*(model.answer(asking(f"{number}")) for number in range(20)))

    answers = asyncio.run(asyncio.wait_for(whole(), 20))
    assert [answer.detail for answer in answers] == [f"{number}" for number in range(20)]
    assert [count for count in brought if count] == [3] * 6 + [2]


def test_a_slow_answer_keeps_no_other_waiting(actors: list[Actor]) -> None:
    actors.append(actor := Actor("v1", 999))

    async def whole() -> list[str]:
        model, found = held(1), []
        await model.connect()

        async def ask(text: str) -> None:
            found.append((await model.answer(asking(text))).detail)

        slow = asyncio.ensure_future(ask("slow"))
        for number in range(5):
            await ask(f"{number}")
        actor.model.go_on.set()
        await slow
        return found

    assert asyncio.run(asyncio.wait_for(whole(), 20)) == ["0", "1", "2", "3", "4", "slow"]


def test_all_that_a_lost_replica_was_asked_is_asked_again(actors: list[Actor]) -> None:
    actors += [Actor("v1", 1), second := Actor("v1", 999)]

    async def whole() -> list[str]:
        model = held(1)
        await model.connect()
        outcomes = await asyncio.gather(
            *(model.answer(asking(f"{number}")) for number in range(4)), return_exceptions=True
        )
        again = await asyncio.gather(*(model.answer(asking(f"{number}")) for number in range(4)))
        assert all(isinstance(outcome, TransientError) for outcome in outcomes)
        return [answer.detail for answer in again]

    assert asyncio.run(whole()) == ["0", "1", "2", "3"]
    assert second.asked == 4


# --- a head that is lost


@pytest.fixture
def headless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody listens at the head's address, and it does not take long to tell."""

    async def silent(self: Cluster) -> bool:
        return False

    monkeypatch.setattr(Cluster, "_head_answers", silent)
    monkeypatch.setattr(cluster, "PULSE", 0.01)
    monkeypatch.setattr(cluster, "LOOKS", 3)


@pytest.mark.usefixtures("headless")
def test_without_a_head_what_is_under_way_ends_with_one_line(actors: list[Actor]) -> None:
    actors.append(Actor("v1", 999))

    async def whole() -> list[BaseException | Answer]:
        model = held(1)
        await model.connect()
        watch = asyncio.ensure_future(model._cluster._watched())
        under_way = [model.answer(asking("slow")) for _ in range(3)]
        outcomes = await asyncio.gather(*under_way, return_exceptions=True)
        await watch
        return [*outcomes, *await asyncio.gather(model.answer(asking("more")), return_exceptions=True)]

    outcomes = asyncio.run(asyncio.wait_for(whole(), 20))
    assert len(outcomes) == 4
    for outcome in outcomes:
        assert isinstance(outcome, FatalError)
        assert "does not answer any more; start a cluster, and the same command continues this run" in str(outcome)


@pytest.mark.usefixtures("headless")
def test_without_a_head_nobody_waits_for_a_model_to_load(actors: list[Actor]) -> None:
    actors.append(actor := Actor("v1", 999))

    async def forever(version: str) -> replica.ReplicaFacts:
        await asyncio.Event().wait()
        raise AssertionError

    actor.about = Called(forever)

    async def whole() -> None:
        model = held(1)
        watch = asyncio.ensure_future(model._cluster._watched())
        with pytest.raises(UsageError, match=r"^hf:model: the head of the Ray cluster, .*, does not answer any more"):
            await model.connect()
        await watch

    asyncio.run(asyncio.wait_for(whole(), 20))


@pytest.mark.usefixtures("headless")
def test_without_a_head_no_replica_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    async def whole() -> None:
        cluster = Cluster(RayOptions())
        watch = asyncio.ensure_future(cluster._watched())
        with pytest.raises(FatalError, match="does not answer any more"):
            await cluster.actor(Answering, 1)
        await watch

    asyncio.run(asyncio.wait_for(whole(), 20))


# --- on a cluster


def compared(folder: Path) -> dict[str, Any]:
    """What results.json says, but for times and the command."""
    found: dict[str, Any] = json.loads((folder / "results.json").read_text("utf-8"))
    for word in ("started", "seconds", "durations", "command"):
        found["run"].pop(word, None)
    for llm in found["run"]["llms"]:  # what was lost on the way was asked again
        assert llm.pop("requests") - llm.pop("retries") == 199  # two of the queries have one text
    return found


@pytest.mark.slow
def test_on_ray_the_results_are_those_of_this_process(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    llms = ("--llm", f"hf:{folder}")
    assert main(["run", *llms, *ASKED, "--out", str(tmp_path / "here")]) == Exit.DONE
    command = [
        sys.executable,
        "-m",
        "tabcontam",
        "run",
        *llms,
        *ASKED,
        "--ray",
        "replicas=1",
        "--out",
        str(tmp_path / "ray"),
    ]
    env = {name: value for name, value in environment().items() if not name.startswith("RAY_AUTH")}
    env["HOME"] = str(tmp_path)
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == Exit.DONE, done.stderr
    assert not (tmp_path / ".ray").exists()  # a token there would make clusters of later ask for it
    assert compared(tmp_path / "ray") == compared(tmp_path / "here")
    assert "WARNING" not in done.stderr
    assert "raylet" not in done.stdout


@pytest.mark.slow
def test_nodes_that_are_killed_lose_nothing(folder: Path, tmp_path: Path) -> None:
    """Two machines of one core; the one that answers is killed twice, and comes back."""
    pytest.importorskip("ray")
    os.environ.update(ray_library.USUAL)
    from ray.cluster_utils import Cluster as Machines

    assert main(["run", "--llm", f"hf:{folder}", *ASKED, "--out", str(tmp_path / "here")]) == Exit.DONE
    machines = Machines(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        nodes = [machines.add_node(num_cpus=1), machines.add_node(num_cpus=1)]
        command = ["run", "--llm", f"hf:{folder}", *ASKED, "--ray", f"address={machines.address},replicas=2"]
        command += ["--batch-size", "1", "--out", str(tmp_path / "ray")]
        run = subprocess.Popen(
            [sys.executable, "-m", "tabcontam", *command],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        trials, killed = tmp_path / "ray" / "trials.jsonl", 0
        while run.poll() is None:
            lines = trials.read_bytes().count(b"\n") if trials.exists() else 0
            if killed < 2 and lines > 10 + 60 * killed:
                machines.remove_node(nodes.pop(0), allow_graceful=False)
                nodes.append(machines.add_node(num_cpus=1))
                killed += 1
            time.sleep(0.05)
        printed, said = run.communicate()
        assert run.returncode == Exit.DONE, said
        assert killed >= 1  # the other may answer all that is left before it is its turn
        assert "raylet" not in printed
    finally:
        machines.shutdown()  # type: ignore[no-untyped-call]
    assert compared(tmp_path / "ray") == compared(tmp_path / "here")
    asked = [json.loads(line) for line in (tmp_path / "ray" / "trials.jsonl").read_text("utf-8").splitlines()]
    assert len({line["query"] for line in asked}) == len(asked)


@pytest.mark.slow
def test_a_lost_head_ends_the_run_and_the_same_command_continues_it(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    os.environ.update(ray_library.USUAL)
    from ray.cluster_utils import Cluster as Machines

    lines = tiny.rows_of(load_table("iris"), load_serializer("is"))
    slow = tiny.saved(tiny.causal(hidden_size=256, num_hidden_layers=4), tiny.tokenizer(lines), tmp_path / "slow")
    trials, said, codes = tmp_path / "run" / "trials.jsonl", [], []
    for kills in (True, False):
        machines = Machines(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        try:
            command = ["run", "--llm", f"hf:{slow}", *ASKED, "--ray", f"address={machines.address}"]
            run = subprocess.Popen(
                [sys.executable, "-c", IMPATIENT, *command, "--batch-size", "1", "--out", str(tmp_path / "run")],
                env=environment(),
                stderr=subprocess.PIPE,
                text=True,
            )
            while kills and run.poll() is None:
                if trials.exists() and trials.read_bytes().count(b"\n") > 5:
                    assert machines.head_node is not None
                    (head,) = machines.head_node.all_processes["gcs_server"]
                    head.process.kill()
                    break
                time.sleep(0.02)
            said.append(run.communicate(timeout=120)[1])
            codes.append(run.returncode)
        finally:
            machines.shutdown()  # type: ignore[no-untyped-call]
        kept = trials.read_bytes().count(b"\n")
        assert kept == 200 or kills
        assert kept < 200 or not kills
    assert codes == [Exit.DONE, Exit.DONE], said
    assert said[0].count("does not answer any more; start a cluster, and the same command continues this run") == 1
    assert "Traceback" not in "".join(said)
    asked = [json.loads(line)["query"] for line in trials.read_text("utf-8").splitlines()]
    assert len(set(asked)) == len(asked) == 200


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_answered_and_leaves_no_process(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    command = [
        "run",
        "--llm",
        f"hf:{folder}",
        *ASKED,
        "--ray",
        "replicas=1",
        "--batch-size",
        "1",
        "--out",
        str(tmp_path / "ray"),
    ]
    run = subprocess.Popen(
        [sys.executable, "-m", "tabcontam", *command], env=environment(), stderr=subprocess.PIPE, text=True
    )
    trials = tmp_path / "ray" / "trials.jsonl"
    while run.poll() is None and not (trials.exists() and trials.read_bytes().count(b"\n") > 20):
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=120)
    assert run.returncode == Exit.INTERRUPTED, said
    kept = trials.read_bytes().count(b"\n")
    assert 20 < kept < 200
    assert main(["run", "--llm", f"hf:{folder}", *ASKED, "--out", str(tmp_path / "ray")]) == Exit.DONE
    assert trials.read_bytes().count(b"\n") == 200


@pytest.mark.slow
def test_no_cluster_at_the_address_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ray")
    assert main(["run", "--llm", f"hf:{folder}", *ASKED, "--ray", "address=127.0.0.1:9"]) == Exit.USAGE
    assert "no Ray cluster can be joined there" in capsys.readouterr().err


@pytest.mark.slow
def test_whoever_listens_there_and_is_no_cluster_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray")
    monkeypatch.setattr(cluster_joining, "ANSWERED", 4.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = "{}:{}".format(*silent.getsockname())
        asked = ["run", "--llm", f"hf:{folder}", *ASKED, "--ray", f"address={address}"]
        assert main(asked) == Exit.USAGE
    assert "(the server there does not answer as Ray within 4 s)" in capsys.readouterr().err


@pytest.mark.slow
def test_a_cluster_that_wants_a_token_is_one_line(folder: Path, tmp_path: Path) -> None:
    """Ray itself would try for half a minute, and print each try."""
    pytest.importorskip("ray")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ray = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", f"--port={port}", "--num-cpus=1"]
    ray += ["--include-dashboard=false", f"--temp-dir={tmp_path.parent.parent / 'ray'}", "--node-ip-address=127.0.0.1"]
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0" * 64}
    without = {name: value for name, value in environment().items() if not name.startswith("RAY_AUTH")}
    head = subprocess.Popen(ray, env=without | ray_library.USUAL | token, stdout=subprocess.PIPE, text=True)
    try:
        assert head.stdout is not None
        assert any("Ray runtime started" in line for line in head.stdout)
        asked = ["run", "--llm", f"hf:{folder}", *ASKED, "--ray", f"address=127.0.0.1:{port}"]
        command = [sys.executable, "-m", "tabcontam", *asked, "--out", str(tmp_path / "run"), "-q"]
        for env, code, line in (
            (without, Exit.USAGE, "needs its token; set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN to the token"),
            (without | token, Exit.DONE, ""),
        ):
            done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
            assert done.returncode == code, done.stderr
            assert line in done.stderr
            assert "gcs_client" not in done.stderr
    finally:
        head.terminate()
        head.communicate(timeout=60)


def test_python_takes_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ("nodes=2", {"nodes": 2}, {"replicas": 0}):
        with pytest.raises(tabcontam.UsageError, match=r"ray is .*; write .*address=HOST:PORT, replicas=N and gpus=N"):
            tabcontam.run("simulated:guesser", "iris", ray=wrong)
