"""LLMs on the machines of a Ray cluster: each replica of one is an actor, which loads the model and answers.

Ray (https://docs.ray.io) decides where an actor runs and waits until a machine has room for it. The process that drives
the run keeps everything else: the plan, budgets, what was answered, the run's folder. LLMs behind an API are asked from
there as ever, by one client each: it has the key, and one limiter.

Ray carries values between its own processes as pickles. So a cluster must be nobody else's; one that is started here
listens on this machine alone.
"""

import asyncio
import gc
import logging
import os
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tabcontam.errors import UsageError, one_line, option, option_name
from tabcontam.subjects.base import FatalError, Model
from tabcontam.subjects.ray import library
from tabcontam.subjects.ray.joining import TOKEN, TOKEN_FILE, WANTS_TOKEN, own_token, place, reach
from tabcontam.subjects.ray.replica import Replica
from tabcontam.subjects.ray.replicated import Replicated

INSTALL = "pip install 'tabcontam[ray]'"
NAMED = 3  # LLMs that the line about what is waited for names
PULSE = 2.0  # seconds between two looks whether the head of the cluster is there
LOOK = 3.0  # seconds that a look takes at most
# Looks in vain, one after another, after which the head is taken for lost: within 35 seconds. After 60 Ray itself would
# end this process, whatever it is doing.
LOOKS = 7


@dataclass(frozen=True)
class OnRay:
    """Where LLMs of this kind of machine run: the `address` of a cluster ("" starts one here), how many `replicas`
    each LLM has, and how many GPUs each replica (where the cluster has any)."""

    address: str = ""
    replicas: int = 1
    gpus: int = 1


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

    def begin(self, model: Replicated) -> None:
        """Begin or join the cluster for a model, and look after its head. Raises `UsageError`."""
        self._open.add(model)
        self.join()
        if self._watch is None:
            self._watch = asyncio.ensure_future(self._watched())

    async def visited(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something on the cluster that was joined until its end, or until its head is lost, and leave it."""
        tasks = [asyncio.ensure_future(work), asyncio.ensure_future(self._headless())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.to_thread(self._shutdown)
        if not tasks[0].cancelled():
            tasks[0].result()

    def join(self) -> None:
        """Begin or join the cluster. Raises `UsageError`."""
        if self._begun:
            return
        if not find_spec("ray"):
            raise UsageError(f"{option('engine', 'ray')} needs the package ray: {INSTALL}")
        os.environ.update({name: value for name, value in library.USUAL.items() if name not in os.environ})
        logging.getLogger("ray").setLevel(logging.ERROR)
        how: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
        if self.order.address:
            how |= {"address": self.order.address}
        else:
            how |= {"address": "local", "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
        if not library.ray().is_initialized():
            self._say("joining the Ray cluster" if self.order.address else "starting Ray")
            try:
                reach(self.order.address)
                with own_token(not self.order.address):
                    library.ray().init(**how)
            except Exception as error:  # OSError, RuntimeError, ValueError: by what is wrong with the address
                raise UsageError(self._unjoined(error)) from error
            self._begun = True
            gc.freeze()  # Ray stays, and is large: to look for what is free in it takes longer than its calls
            # It says what becomes of machines on standard output, which is the report's: no option turns that off.
            worker: Any = import_module("ray._private.worker")
            worker.print_to_stdstream = lambda *given, **more: None
        if self._watch is None:
            self._head, self.lost = str(library.ray().get_runtime_context().gcs_address), ""

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

    def leave(self, model: Replicated) -> None:
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
        kind = library.ray().remote(num_cpus=1, num_gpus=gpus, max_restarts=0, max_concurrency=max(2, at_once))(Replica)
        return kind.remote(make)

    async def all_fit(self) -> bool:
        """Whether all replicas of all models fit at once. Raises `FatalError` where the head is lost."""
        await self._headed()
        room = self._gpus() // self.order.gpus if self._gpus() else int(library.ray().cluster_resources().get("CPU", 0))
        return len(self.models) * self.order.replicas <= room

    def wanted(self) -> str:
        """What a replica waits for before it begins, in words."""
        most = max((node["Resources"].get("GPU", 0) for node in library.ray().nodes() if node["Alive"]), default=0)
        if 0 < most < self.order.gpus:
            return f"a machine with {self.order.gpus} GPUs, which the Ray cluster does not have"
        return "room on the Ray cluster"

    @staticmethod
    def _gpus() -> int:
        return int(library.ray().cluster_resources().get("GPU", 0))

    # --- the head

    async def _watched(self) -> None:
        """End what is under way once the head is lost: without it Ray does nothing more."""
        await self._headless()
        for model in self.models:
            model.end(self.lost)
        await asyncio.to_thread(self._shutdown)  # it takes seconds, and others are asked meanwhile

    async def _headless(self) -> None:
        """Wait until the head has not been there for a while, and take it for lost."""
        in_vain = 0
        while in_vain < LOOKS:
            await asyncio.sleep(PULSE)
            in_vain = 0 if await self._heard() else in_vain + 1
        self.lost = (
            f"the head of the Ray cluster, {self._head}, does not answer any more; "
            "start a cluster, and the same command continues this run"
        )

    async def _headed(self) -> None:
        """Wait until the head is there. What asks it would otherwise wait too, and everything else with it."""
        while not (self.lost or await self._heard()):
            await asyncio.sleep(PULSE)
        if self.lost:
            raise FatalError(self.lost)

    async def _heard(self) -> bool:
        host, port = place(self._head)
        try:
            _, stream = await asyncio.wait_for(asyncio.open_connection(host, port), LOOK)
        except OSError:  # with TimeoutError
            return False
        stream.close()
        return True

    def _shutdown(self) -> None:
        if self._begun:
            self._begun = False
            library.ray().shutdown()
            gc.unfreeze()


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
