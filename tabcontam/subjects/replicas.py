"""LLMs on the machines of a Ray cluster: each replica of one is an actor, which loads the model and answers.

Ray (https://docs.ray.io) decides where an actor runs and waits until a machine has room for it. The process that drives
the run keeps everything else: the plan, budgets, what was answered, the run's folder. LLMs behind an API are asked from
there as ever, by one client each: it has the key, and one limiter.

Ray carries values between its own processes as pickles. So a cluster must be nobody else's; one that is started here
listens on this machine alone.
"""

import asyncio
import logging
import os
import secrets
import socket
import subprocess
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

from tabcontam.errors import UsageError, one_line, option, option_name
from tabcontam.evidence.base import Query
from tabcontam.evidence.questions import (
    Answer,
    Capability,
    Question,
    Scores,
    State,
    Token,
    without_answer,
)
from tabcontam.subjects.base import FatalError, Form, Model, Request, TransientError
from tabcontam.tables.table import Table
from tabcontam.version import __version__

AUTO = "auto"  # the address of a cluster that this machine is in
INSTALL = "pip install 'tabcontam[ray]'"
LOST = 5  # replicas of an LLM that may be lost without an answer between
LOADS = 3  # times that the first replica of an LLM is begun, where it is lost while it loads
REACHED = 10.0  # seconds, within which somebody has to listen at the address of a cluster
ANSWERED = 30.0  # seconds, within which the head of a cluster has to answer there
NAMED = 3  # LLMs that the line about what is waited for names
ROOM = 5.0  # seconds that a replica may take to begin where there is room
PAUSE = 2.0  # seconds before a lost replica is begun anew
AHEAD = 2  # as many questions as a model takes at once: it has the next ones while answers are on their way
PULSE = 2.0  # seconds between two looks whether the head of the cluster is there
LOOK = 3.0  # seconds that a look takes at most
# Looks in vain, one after another, after which the head is taken for lost: within 35 seconds. After 60 Ray itself would
# end this process, whatever it is doing.
LOOKS = 7
TOKEN = "RAY_AUTH_TOKEN"  # noqa: S105 - the name of a variable
WANTS_TOKEN = "authentication token"  # noqa: S105 - what Ray says where it gets no token, or another one
TOKEN_FILE = Path("~/.ray/auth_token")  # where Ray looks for it else
OWN_TOKEN = secrets.token_hex(32)  # of clusters that this process starts; Ray reads it once
# Nothing is reported to anybody, and replicas have the priority of this process, unless the user says otherwise.
USUAL = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


# What goes to a replica and back: plain tuples, which Ray writes many times as fast as those that have a class.
Asked = tuple[int, Question, int]  # the number that its answer will have, a question, and the most tokens of the answer


@dataclass(frozen=True)
class Ended:
    """Why a model that was loaded answers nothing any more."""

    why: str


Said = tuple[int, Answer | Ended | str]  # an answer, or the line that says why there is none


@dataclass(frozen=True)
class OnRay:
    """Where LLMs of this kind of machine run: the `address` of a cluster ("" starts one here), how many `replicas`
    each LLM has, and how many GPUs each replica (where the cluster has any)."""

    address: str = ""
    replicas: int = 1
    gpus: int = 1


@dataclass(frozen=True)
class About:
    """What a replica knows once its model is loaded."""

    form: Form
    capabilities: frozenset[Capability]
    version: str
    connections: int


class Replica:
    """What an actor runs: one model, loaded when it is first asked for."""

    def __init__(self, make: Callable[[], Model]) -> None:
        self._model, self._loading = make(), asyncio.Lock()
        self._about: About | None = None
        self._answered: list[Said] = []
        self._under_way: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()

    async def here(self) -> None:
        """Answer as soon as a machine has had room for this replica."""

    async def about(self, version: str) -> About | str:
        """Load the model. A text says why that cannot be, or that this machine has another tabcontam."""
        if version != __version__:
            return f"a machine of the cluster has tabcontam {__version__}, and this one {version}; install the same"
        async with self._loading:
            if self._about is None:
                try:
                    await self._model.connect()
                except UsageError as error:
                    return str(error)
                own = self._model
                self._about = About(own.form, own.capabilities, own.version, own.connections or 1)
        return self._about

    async def answers(self, asked: Sequence[Asked]) -> list[Said]:
        """Ask the model these questions too, and wait for an answer to any that it was asked: all that there are then.

        Where several calls wait, one of them takes them. None are given once the model is asked nothing more.
        """
        for number, question, max_tokens in asked:
            self._under_way.add(number)
            task = asyncio.create_task(self._ask(number, Request(question, max_tokens)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        while self._under_way and not self._answered:
            self._changed.clear()
            await self._changed.wait()
        answered, self._answered = self._answered, []
        return answered

    async def _ask(self, number: int, request: Request) -> None:
        try:
            answer: Answer | Ended | str = await self._model.answer(request)
        except FatalError as error:  # an engine that died: it would answer nothing else, either
            answer = Ended(one_line(error))
        except Exception as error:  # this question alone has no answer
            answer = one_line(error)
        self._answered.append((number, packed(answer)))
        self._under_way.discard(number)
        self._changed.set()


class Cluster:
    """A Ray cluster, which is begun or joined when the first model is to be reached, and left with the last.

    `say` is told what is waited for until the models are there.
    """

    def __init__(self, order: OnRay, say: Callable[[str], None] = lambda words: None) -> None:
        self.order, self._say = order, say
        self.models: list[Replicated] = []
        self._waits: dict[str, str] = {}  # what each model waits for, by its name
        self._open: set[Replicated] = set()
        self._begun = False
        self._head = ""
        self.lost = ""  # why nothing more comes of it, once that is so
        self._watch: asyncio.Task[None] | None = None

    def holds(self, model: Model) -> Model:
        """The model with its replicas there; itself where it is no model that another process can load."""
        if model.elsewhere is None:
            return model
        held = Replicated(self, model, model.elsewhere)
        self.models.append(held)
        return held

    def begin(self, model: "Replicated") -> None:
        """Begin or join the cluster. Raises `UsageError`."""
        self._open.add(model)
        if self._begun:
            return
        if not find_spec("ray"):
            raise UsageError(f"{option('engine', 'ray')} needs the package ray: {INSTALL}")
        os.environ.update({name: value for name, value in USUAL.items() if name not in os.environ})
        logging.getLogger("ray").setLevel(logging.ERROR)
        how: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
        if self.order.address:
            how |= {"address": self.order.address}
        else:
            how |= {"address": "local", "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
        if not _ray().is_initialized():
            self._say("joining the Ray cluster" if self.order.address else "starting Ray")
            try:
                _reach(self.order.address)
                with _own_token(not self.order.address):
                    _ray().init(**how)
            except Exception as error:  # OSError, RuntimeError, ValueError: by what is wrong with the address
                raise UsageError(self._unjoined(error)) from error
            self._begun = True
            # It says what becomes of machines on standard output, which is the report's: no option turns that off.
            setattr(import_module("ray._private.worker"), "print_to_stdstream", lambda *given, **more: None)  # noqa: B010
        if self._watch is None:
            self._head, self.lost = str(_ray().get_runtime_context().gcs_address), ""
            self._watch = asyncio.ensure_future(self._watched())

    def _unjoined(self, error: Exception) -> str:
        if not self.order.address:
            return f"Ray cannot be started on this machine: {one_line(error)}"
        where = option("ray_address", self.order.address)
        if WANTS_TOKEN in str(error).lower():
            return (
                f"{where}: the Ray cluster there wants its token; set RAY_AUTH_MODE=token, and {TOKEN} to what it was "
                f"started with (else it is in {TOKEN_FILE} there)"
            )
        return f"{where}: no Ray cluster can be joined there ({one_line(error, 120)}); start one with: ray start --head"

    def waits(self, spec: str, what: str) -> None:
        """Say what this model waits for; nothing, once it is there."""
        self._waits[spec] = what
        said = [f"{spec} {what}" for spec, what in self._waits.items() if what]
        more = [f"and {len(said) - NAMED} more"] if len(said) > NAMED else []
        self._say(", ".join([*said[:NAMED], *more]))

    def leave(self, model: "Replicated") -> None:
        """Note that a model needs the cluster no more."""
        self._open.discard(model)
        if self._open:
            return
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        self._shutdown()

    async def actor(self, make: Callable[[], Model], at_once: int) -> Any:
        """A new replica, which begins as soon as a machine has room for it. Raises `FatalError` for a lost head."""
        await self._headed()
        gpus = self.order.gpus if self._gpus() else 0
        kind = _ray().remote(num_cpus=1, num_gpus=gpus, max_restarts=0, max_concurrency=max(2, at_once))(Replica)
        return kind.remote(make)

    async def all_fit(self) -> bool:
        """Whether all replicas of all models fit at once. Raises `FatalError` where the head is lost."""
        await self._headed()
        room = self._gpus() // self.order.gpus if self._gpus() else int(_ray().cluster_resources().get("CPU", 0))
        return len(self.models) * self.order.replicas <= room

    def wanted(self) -> str:
        """What a replica waits for before it begins, in words."""
        most = max((node["Resources"].get("GPU", 0) for node in _ray().nodes() if node["Alive"]), default=0)
        if 0 < most < self.order.gpus:
            return f"a machine with {self.order.gpus} GPUs, which the Ray cluster does not have"
        return "room on the Ray cluster"

    @staticmethod
    def _gpus() -> int:
        return int(_ray().cluster_resources().get("GPU", 0))

    # --- the head

    async def _watched(self) -> None:
        """End what is under way once the head has not been there for a while: without it Ray does nothing more."""
        in_vain = 0
        while in_vain < LOOKS:
            await asyncio.sleep(PULSE)
            in_vain = 0 if await self._heard() else in_vain + 1
        self.lost = (
            f"the head of the Ray cluster, {self._head}, does not answer any more; "
            "start a cluster, and the same command continues this run"
        )
        for model in self.models:
            model.end(self.lost)
        await asyncio.to_thread(self._shutdown)  # it takes seconds, and others are asked meanwhile

    async def _headed(self) -> None:
        """Wait until the head is there. What asks it would otherwise wait too, and everything else with it."""
        while not (self.lost or await self._heard()):
            await asyncio.sleep(PULSE)
        if self.lost:
            raise FatalError(self.lost)

    async def _heard(self) -> bool:
        host, port = _place(self._head)
        try:
            _, stream = await asyncio.wait_for(asyncio.open_connection(host, port), LOOK)
        except OSError:  # with TimeoutError
            return False
        stream.close()
        return True

    def _shutdown(self) -> None:
        if self._begun:
            self._begun = False
            _ray().shutdown()


class _Held:
    """A replica of a model, and what it is asked. `lost` is told once that it is gone.

    A call costs more than a millisecond, however little it carries. So what is asked at about the same time goes with
    one, at most as much as the model takes `at_once`, and what was answered meanwhile comes back with one; there is
    always one that waits for the next answer.
    """

    def __init__(self, actor: Any, lost: Callable[["_Held", Exception], None], at_once: int) -> None:
        self.actor, self.at_once, self._lost = actor, at_once, lost
        self._numbers = count()
        self._unsent: list[Asked] = []
        self._waiting: dict[int, tuple[Question, asyncio.Future[Answer]]] = {}
        self._calls: set[asyncio.Task[Any]] = set()
        self._open = 0  # calls that will bring an answer, with the one that is about to be made
        self._gathering = False
        self._ended = ""

    @property
    def under_way(self) -> int:
        """How many answers it is at."""
        return len(self._waiting)

    async def ask(self, request: Request) -> Answer:
        """Its answer. Raises `TransientError` where it is lost, `FatalError` where the cluster is."""
        number = next(self._numbers)
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[number] = request.question, answer
        self._unsent.append((number, request.question, request.max_tokens))
        self._call()
        return await answer

    async def about(self) -> About | str:
        """What it knows once its model is loaded. Raises `FatalError` where it is ended, and as Ray does."""
        call = asyncio.ensure_future(self._about())
        self._calls.add(call)
        await asyncio.wait([call])
        self._calls.discard(call)
        if call.cancelled():
            raise FatalError(self._ended)
        return call.result()

    async def _about(self) -> About | str:
        told: About | str = await self.actor.about.remote(__version__)
        return told

    async def here(self) -> None:
        """Wait until a machine has room for it; to no end where it is lost before."""
        with suppress(Exception):  # whoever waits for what it knows is told
            await self.actor.here.remote()
            return
        await asyncio.Event().wait()

    def end(self, error: TransientError | FatalError) -> None:
        """Wait for no answer any more: whoever does is told this."""
        self._ended = str(error)
        for call in self._calls:
            call.cancel()
        waiting, self._waiting = self._waiting, {}
        for _, answer in waiting.values():
            if not answer.done():  # else whoever asked waits no more
                answer.set_exception(error)

    def _call(self) -> None:
        if self._gathering:  # it goes with the call that is about to be made
            return
        self._gathering = True
        self._open += 1
        call = asyncio.ensure_future(self._called())
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)

    async def _called(self) -> None:
        """Send what is asked now, and take what is answered next."""
        try:
            said = await self.actor.answers.remote(await self._gathered())
        except _lost_errors() as error:
            self._lost(self, error)
            return
        except Exception as error:  # the call itself failed: nobody knows whose answers it would have brought
            said = [(number, one_line(getattr(error, "cause", error))) for number in self._waiting]
        self._open -= 1
        dead = ""
        for number, answer in said:
            if isinstance(answer, Ended):
                dead = answer.why
            else:
                self._take(number, answer)
        if dead:
            self._lost(self, FatalError(dead))
            return
        if self._waiting and not self._open:
            self._call()

    async def _gathered(self) -> list[Asked]:
        """What is asked, once that is as much as goes with a call, or nobody asks more in a turn of the loop."""
        seen = -1
        while seen < len(self._unsent) < self.at_once:
            seen = len(self._unsent)
            await asyncio.sleep(0)
        asked, self._unsent = self._unsent[: self.at_once], self._unsent[self.at_once :]
        self._gathering = False
        if self._unsent:
            self._call()
        return asked

    def _take(self, number: int, said: Answer | str) -> None:
        if number not in self._waiting:
            return
        question, answer = self._waiting.pop(number)
        if not answer.done():  # else whoever asked waits no more
            answer.set_result(without_answer(question, State.FAILED, said) if isinstance(said, str) else unpacked(said))


class Replicated(Model):
    """A model whose replicas answer on a cluster. It is what the model is, but for where that runs.

    A question goes to the replica that has the fewest. Where that is lost with its machine, the question is asked again
    (`TransientError`), and another replica is begun in its place.
    """

    local = True
    form = Form.CHAT

    def __init__(self, cluster: Cluster, model: Model, make: Callable[[], Model]) -> None:
        self._cluster, self._model, self._make = cluster, model, make
        self.spec, self.stands_for, self.control = model.spec, model.stands_for, model.control
        self.capabilities, self.form, self.connections = model.capabilities, model.form, model.connections
        self._ready: list[_Held] = []
        self._loading: set[_Held] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._lost, self._gone = 0, ""
        self._given_up = 0  # replicas that cannot be begun
        self._at_once = model.connections or 1  # questions that the model takes at once
        self._changed: asyncio.Event | None = None

    @property
    def identity(self) -> Mapping[str, str] | None:
        """That of the model: who answers is the same wherever it runs."""
        return self._model.identity

    def check_at_hand(self) -> None:
        """As the model does."""
        self._model.check_at_hand()

    def exposure(self, table: Table, row: int) -> float | None:
        """As the model says."""
        return self._model.exposure(table, row)

    def prepare(self, table: Table, queries: Sequence[Query]) -> Model:
        """Itself."""
        return self

    async def connect(self) -> None:
        """Load the model in one replica, to know what it is. Raises `UsageError`.

        Where not all models fit at once, the replica gives its place to the next and is begun again when it is asked.
        """
        if self.version:
            return
        self._cluster.begin(self)
        try:
            held, about = await self._first()
        except FatalError as error:
            raise UsageError(f"{self.spec}: {error}") from error
        except _lost_errors() as error:
            raise UsageError(f"{LOADS} replicas of {self.spec} were lost while they loaded: {_loss(error)}") from error
        except Exception as error:
            raise UsageError(self._unloaded(error)) from error
        if isinstance(about, str):
            self._end(held)
            raise UsageError(about)
        self.form, self.capabilities, self.version = about.form, about.capabilities, about.version
        self._at_once = held.at_once = about.connections
        self.connections = AHEAD * about.connections * self._cluster.order.replicas
        if await self._cluster.all_fit():
            self._ready.append(held)
        else:
            self._end(held)

    async def answer(self, request: Request) -> Answer:
        """Ask a replica. Raises `TransientError` where that is lost, `FatalError` where none can be begun."""
        held = await self._freest()
        said = await held.ask(request)
        self._lost = 0
        return said

    async def rest(self) -> None:
        """Give the places of its replicas to the models that wait for one, if there are any."""
        with suppress(FatalError):  # nobody waits for one on a cluster that is lost
            if self._cluster._begun and len(self._cluster.models) > 1 and not await self._cluster.all_fit():
                self._end_all()

    async def close(self) -> None:
        """End its replicas."""
        self._end_all()
        self._cluster.leave(self)

    def end(self, why: str) -> None:
        """Answer nothing more: the cluster is lost."""
        self._gone = self._gone or why
        for task in self._tasks:
            task.cancel()
        for held in [*self._ready, *self._loading]:
            held.end(FatalError(why))
        self._ready.clear()
        self._tell()

    # --- the replicas

    async def _first(self) -> tuple[_Held, About | str]:
        """The first replica, begun again where it is lost while it loads."""
        for _ in range(LOADS - 1):
            with suppress(*_lost_errors()):
                return await self._loaded()
            await asyncio.sleep(PAUSE)
        return await self._loaded()

    async def _loaded(self) -> tuple[_Held, About | str]:
        """One more replica, and what it knows once its model is loaded, or why that cannot be."""
        actor = await self._cluster.actor(self._make, self._at_once)
        held = _Held(actor, self._note_lost, self._at_once)
        self._loading.add(held)
        said = asyncio.ensure_future(self._said(held))
        try:
            return held, await held.about()
        except asyncio.CancelledError:
            self._end(held)
            raise
        finally:
            said.cancel()
            self._cluster.waits(self.spec, "")
            self._loading.discard(held)

    async def _said(self, held: _Held) -> None:
        """Say whether it is room or the model that is waited for."""
        self._cluster.waits(self.spec, "begins")
        begun = asyncio.ensure_future(held.here())
        try:
            if not (await asyncio.wait([begun], timeout=ROOM))[0]:
                self._cluster.waits(self.spec, f"waits for {self._cluster.wanted()}")
            await begun
            self._cluster.waits(self.spec, "is loading")
        finally:
            begun.cancel()

    async def _freest(self) -> _Held:
        """The replica with the least to do, once there is one."""
        self._changed = self._changed or asyncio.Event()
        wanted = self._cluster.order.replicas - self._given_up
        while len(self._tasks) + len(self._ready) < wanted and not self._gone:
            self._begin()
        while not self._ready:
            if self._gone:
                raise FatalError(self._gone)
            self._changed.clear()
            await self._changed.wait()
        return min(self._ready, key=lambda held: held.under_way)

    def _begin(self, after: float = 0.0) -> None:
        task = asyncio.ensure_future(self._begun(after))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _begun(self, after: float) -> None:
        """Load one more replica, and let it be asked."""
        await asyncio.sleep(after)
        try:
            held, about = await self._loaded()
        except FatalError as error:
            self._give_up(str(error))
            return
        except _lost_errors() as error:
            self._lose(error)
            return
        except Exception as error:  # of the model's libraries, or no machine can ever hold it
            self._give_up(self._unloaded(error))
            return
        if isinstance(about, str):
            self._end(held)
            self._give_up(about)
        elif about.version != self.version:
            self._end(held)
            self._give_up(
                f"{self.spec} is not the same model on all machines of the cluster ({about.version} on one, "
                f"{self.version} on another); copy the same files to all"
            )
        else:
            self._ready.append(held)
            self._tell()

    def _unloaded(self, error: Exception) -> str:
        return f"{self.spec} cannot be loaded in a replica: {one_line(getattr(error, 'cause', error))}"

    def _note_lost(self, held: _Held, error: Exception) -> None:
        if held in self._ready:  # the first of those that waited for its answers
            self._ready.remove(held)
            self._end(held, TransientError(f"a replica of {self.spec} was lost: {_loss(error)}", "replica lost"))
            self._lose(error)

    def _lose(self, error: Exception) -> None:
        self._lost += 1
        if self._lost >= LOST and not self._ready:
            self._give_up(f"{LOST} replicas of {self.spec} were lost one after another: {_loss(error)}")
        elif not self._gone:
            self._begin(PAUSE)

    def _give_up(self, why: str) -> None:
        """Begin no further replica; where none is ready, or about to be, nothing can be answered."""
        self._given_up += 1
        if not self._ready and len(self._tasks) <= 1:  # the one that gives up is among them
            self._gone = why
        self._tell()

    def _tell(self) -> None:
        if self._changed is not None:
            self._changed.set()

    def _end_all(self) -> None:
        self._given_up = 0
        for task in self._tasks:
            task.cancel()
        while self._ready:
            self._end(self._ready.pop())

    def _end(self, held: _Held, error: TransientError | None = None) -> None:
        held.end(error or TransientError("a replica was ended", "replica ended"))
        if not self._cluster.lost and _ray().is_initialized():
            _ray().kill(held.actor)


def _ray() -> Any:
    """Ray, which is imported where it is used."""
    return import_module("ray")


def _reach(address: str) -> None:
    """Raises `OSError` where no Ray head answers at HOST:PORT or `auto`, or it wants a token.

    Ray itself would try for minutes, and print what it tries.
    """
    _, colon, port = address.rpartition(":")
    is_place = bool(colon) and "/" not in address and port.isdecimal()
    if is_place:
        socket.create_connection(_place(address), timeout=REACHED).close()
    elif address != AUTO:
        return
    ask = [sys.executable, "-m", "ray.scripts.scripts", "status", "--address", address]
    words = dict(os.environ)
    if address == AUTO and (TOKEN in words or f"{TOKEN}_PATH" in words or TOKEN_FILE.expanduser().exists()):
        words.setdefault("RAY_AUTH_MODE", "token")  # as Ray does where it joins a cluster of this machine
    try:
        asked = subprocess.run(  # noqa: S603 - our own words
            ask, env=words, stdin=subprocess.DEVNULL, capture_output=True, timeout=ANSWERED, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise OSError(f"who listens there does not answer as Ray within {ANSWERED:.0f} s") from error
    said = asked.stderr.decode("utf-8", "replace").strip()
    if asked.returncode and said:
        raise OSError(WANTS_TOKEN if WANTS_TOKEN in said.lower() else said.splitlines()[-1])


@contextmanager
def _own_token(local: bool) -> Iterator[None]:
    """A token of its own for a cluster that is started here.

    Ray would write one into the user's home, and for its sake ask for a token wherever one is started later.
    """
    if not local or TOKEN in os.environ or f"{TOKEN}_PATH" in os.environ:
        yield
        return
    os.environ[TOKEN] = OWN_TOKEN
    try:
        yield
    finally:
        del os.environ[TOKEN]


def _place(address: str) -> tuple[str, int]:
    """Host and port of HOST:PORT."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def _loss(error: Exception) -> str:
    """Why a replica is gone, in Ray's words without its numbers of what ran where."""
    said = one_line(error, sys.maxsize)
    return one_line(Exception(said.partition("The actor is dead because ")[2] or said))


def _lost_errors() -> tuple[type[Exception], ...]:
    """What Ray raises where a replica or its machine is gone."""
    known = import_module("ray.exceptions")
    return known.RayActorError, known.ObjectLostError, known.RaySystemError, known.NodeDiedError


def packed(answer: Answer | Ended | str) -> Answer | Ended | str:
    """As it is sent: tokens column by column, numbers as bytes, which are written many times as fast as single ones."""
    if isinstance(answer, Scores) and answer.tokens:
        texts, *numbers = zip(*answer.tokens, strict=True)
        return replace(answer, tokens=(texts, *map(_as_bytes, numbers)))  # type: ignore[arg-type] # until unpacked
    return answer


def unpacked(answer: Answer) -> Answer:
    """As it was before it was sent."""
    if isinstance(answer, Scores) and answer.tokens:
        texts, *numbers = answer.tokens
        rows = zip(texts, *map(_as_numbers, numbers), strict=True)
        return replace(answer, tokens=tuple(map(partial(tuple.__new__, Token), rows)))
    return answer


def _as_bytes(numbers: Sequence[float | None]) -> object:
    known = [one for one in numbers if type(one) is float]
    return array("d", known).tobytes() if len(known) == len(numbers) else numbers


def _as_numbers(held: Any) -> Sequence[float | None]:
    return memoryview(held).cast("d").tolist() if isinstance(held, bytes) else held


def check_engine(engine: str | None, address: str | None, replicas: int | None, gpus: int | None) -> OnRay | None:
    """What these options mean together; None where LLMs are loaded in this process. Raises `UsageError`."""
    given = {"ray_address": address, "replicas": replicas, "gpus_per_replica": gpus}
    if engine != "ray":
        for word, value in given.items():
            if value is not None:
                raise UsageError(f"{option_name(word)} is for replicas on Ray; add {option('engine', 'ray')}")
        return None
    if not find_spec("ray"):
        raise UsageError(f"{option('engine', 'ray')} needs the package ray: {INSTALL}")
    return OnRay(address or "", replicas or 1, gpus or 1)
