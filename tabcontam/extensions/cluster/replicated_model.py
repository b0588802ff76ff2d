"""A model with replicas on a cluster: it chooses a replica for each question, and replaces lost replicas."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from tabcontam.errors import UsageError, one_line
from tabcontam.evidence.base import Query
from tabcontam.evidence.questions import Answer
from tabcontam.extensions.cluster import ray_library
from tabcontam.extensions.cluster.replica import ReplicaFacts
from tabcontam.extensions.cluster.replica_client import ReplicaClient
from tabcontam.models.base import FatalError, Model, ModelRequest, PromptForm, TransientError
from tabcontam.tables.table import Table

if TYPE_CHECKING:
    from tabcontam.extensions.cluster.cluster import Cluster

LOADS = 3  # times that an LLM's first replica is started if it is lost while it loads
ROOM = 5.0  # seconds; a replica that takes longer to start waits for room
PAUSE = 2.0  # seconds until a lost replica is replaced


class ReplicatedModel(Model):
    """A model that is loaded in replicas on a cluster. It answers exactly as the model itself does.

    A question goes to the replica with the fewest open questions. If that is lost with its machine, the question is
    asked again (`TransientError`), and another replica is started.
    """

    local = True
    form = PromptForm.CHAT

    def __init__(self, cluster: "Cluster", model: Model, make: Callable[[], Model]) -> None:
        self._cluster, self._model, self._make = cluster, model, make
        self.spec, self.stands_for, self.control = model.spec, model.stands_for, model.control
        self.capabilities, self.form, self.connections = model.capabilities, model.form, model.connections
        self._ready: list[ReplicaClient] = []
        self._loading: set[ReplicaClient] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._lost, self._gone = 0, ""
        self._given_up = 0  # replicas that could not be started
        self._at_once = model.connections or 1  # questions that a replica answers at a time
        self._changed: asyncio.Event | None = None

    @property
    def identity(self) -> Mapping[str, str] | None:
        """The identity of the model, which does not depend on where it runs."""
        return self._model.identity

    def check_at_hand(self) -> None:
        """Check as the model does."""
        self._model.check_at_hand()

    def exposure(self, table: Table, row: int) -> float | None:
        """Return the exposure that the model reports."""
        return self._model.exposure(table, row)

    def prepare(self, table: Table, queries: Sequence[Query]) -> Model:
        """Return this model itself."""
        return self

    async def connect(self) -> None:
        """Load the model in one replica, to learn its facts. Raises `UsageError`.

        If not all models fit on the cluster at once, this replica is ended. A new one starts when the model is asked.
        """
        ahead = 2  # times `connections` of the model: the next questions wait at the replica
        if self.version:
            return
        self._cluster.begin(self)
        try:
            replica, about = await self._first()
        except FatalError as error:
            raise UsageError(f"{self.spec}: {error}") from error
        except ray_library.lost_errors() as error:
            lost = f"{LOADS} replicas of {self.spec} were lost while they loaded"
            raise UsageError(f"{lost}: {ray_library.loss(error)}") from error
        except Exception as error:
            raise UsageError(self._unloaded(error)) from error
        if isinstance(about, str):
            self._end(replica)
            raise UsageError(about)
        self.form, self.capabilities, self.version = about.form, about.capabilities, about.version
        self._at_once = replica.at_once = about.connections
        self.connections = ahead * about.connections * self._cluster.order.replicas
        if await self._cluster.all_fit():
            self._ready.append(replica)
        else:
            self._end(replica)

    async def answer(self, request: ModelRequest) -> Answer:
        """Return a replica's answer. Raises `TransientError` for a lost replica, `FatalError` if none can start."""
        replica = await self._freest()
        result = await replica.ask(request)
        self._lost = 0
        return result

    async def rest(self) -> None:
        """End the model's replicas if other models wait for room."""
        with suppress(FatalError):  # on a lost cluster no model waits for room
            if self._cluster._begun and len(self._cluster.models) > 1 and not await self._cluster.all_fit():
                self._end_all()

    async def close(self) -> None:
        """End the model's replicas."""
        self._end_all()
        self._cluster.leave(self)

    def end(self, why: str) -> None:
        """Answer nothing more, because the cluster is lost for the reason `why`."""
        self._gone = self._gone or why
        for task in self._tasks:
            task.cancel()
        for replica in [*self._ready, *self._loading]:
            replica.end(FatalError(why))
        self._ready.clear()
        self._notify()

    # --- the replicas

    async def _first(self) -> tuple[ReplicaClient, ReplicaFacts | str]:
        """Return the first replica. If it is lost while it loads, it is started again."""
        for _ in range(LOADS - 1):
            with suppress(*ray_library.lost_errors()):
                return await self._loaded()
            await asyncio.sleep(PAUSE)
        return await self._loaded()

    async def _loaded(self) -> tuple[ReplicaClient, ReplicaFacts | str]:
        """Return one more replica, with the facts about its model once it is loaded, or why that failed."""
        actor = await self._cluster.actor(self._make, self._at_once)
        replica = ReplicaClient(actor, self._note_lost, self._at_once)
        self._loading.add(replica)
        report = asyncio.ensure_future(self._report_waiting(replica))
        try:
            return replica, await replica.about()
        except asyncio.CancelledError:
            self._end(replica)
            raise
        finally:
            report.cancel()
            self._cluster.waits(self.spec, "")
            self._loading.discard(replica)

    async def _report_waiting(self, replica: ReplicaClient) -> None:
        """Report whether the replica waits for room or for its model."""
        self._cluster.waits(self.spec, "begins")
        begun = asyncio.ensure_future(replica.here())
        try:
            if not (await asyncio.wait([begun], timeout=ROOM))[0]:
                self._cluster.waits(self.spec, f"waits for {self._cluster.wanted()}")
            await begun
            self._cluster.waits(self.spec, "is loading")
        finally:
            begun.cancel()

    async def _freest(self) -> ReplicaClient:
        """Return the replica with the fewest open questions, as soon as one is ready."""
        self._changed = self._changed or asyncio.Event()
        wanted = self._cluster.order.replicas - self._given_up
        while len(self._tasks) + len(self._ready) < wanted and not self._gone:
            self._begin()
        while not self._ready:
            if self._gone:
                raise FatalError(self._gone)
            self._changed.clear()
            await self._changed.wait()
        return min(self._ready, key=lambda replica: replica.under_way)

    def _begin(self, after: float = 0.0) -> None:
        task = asyncio.ensure_future(self._begun(after))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _begun(self, after: float) -> None:
        """Load one more replica, which is asked from then on."""
        await asyncio.sleep(after)
        try:
            replica, about = await self._loaded()
        except FatalError as error:
            self._give_up(str(error))
            return
        except ray_library.lost_errors() as error:
            self._lose(error)
            return
        except Exception as error:  # an error of the model's libraries, or no machine is large enough
            self._give_up(self._unloaded(error))
            return
        if isinstance(about, str):
            self._end(replica)
            self._give_up(about)
        elif about.version != self.version:
            self._end(replica)
            self._give_up(
                f"{self.spec} is not the same model on all machines of the cluster ({about.version} on one, "
                f"{self.version} on another); copy the same files to all"
            )
        else:
            self._ready.append(replica)
            self._notify()

    def _unloaded(self, error: Exception) -> str:
        return f"{self.spec} cannot be loaded in a replica: {one_line(getattr(error, 'cause', error))}"

    def _note_lost(self, replica: ReplicaClient, error: Exception) -> None:
        if replica in self._ready:  # False if the loss is already noted
            self._ready.remove(replica)
            why = f"a replica of {self.spec} was lost: {ray_library.loss(error)}"
            self._end(replica, TransientError(why, "replica lost"))
            self._lose(error)

    # lost: replicas of an LLM that may be lost without an answer in between
    def _lose(self, error: Exception, *, lost: int = 5) -> None:
        self._lost += 1
        if self._lost >= lost and not self._ready:
            self._give_up(f"{lost} replicas of {self.spec} were lost one after another: {ray_library.loss(error)}")
        elif not self._gone:
            self._begin(PAUSE)

    def _give_up(self, why: str) -> None:
        """Start no further replica. If none is ready or being started, nothing can be answered."""
        self._given_up += 1
        if not self._ready and len(self._tasks) <= 1:  # the task that gives up is one of them
            self._gone = why
        self._notify()

    def _notify(self) -> None:
        if self._changed is not None:
            self._changed.set()

    def _end_all(self) -> None:
        self._given_up = 0
        for task in self._tasks:
            task.cancel()
        while self._ready:
            self._end(self._ready.pop())

    def _end(self, replica: ReplicaClient, error: TransientError | None = None) -> None:
        replica.end(error or TransientError("a replica was ended", "replica ended"))
        if not self._cluster.lost and ray_library.ray().is_initialized():
            ray_library.ray().kill(replica.actor)
