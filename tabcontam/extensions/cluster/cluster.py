"""LLMs on the machines of a Ray cluster. Each replica of a model is an actor, which loads the model and answers.

Ray (https://docs.ray.io) decides where an actor runs and waits until a machine has room for it. The process that drives
the run has everything else: the plan, the budgets, the replies, the run's folder. It also asks the LLMs of an API,
through one client each, since that client has the key and the only limiter.

Ray sends values between its own processes as pickles. So a cluster must have no other users. A cluster that is started
here listens only on this machine.
"""

import asyncio
import gc
import logging
import os
from collections.abc import Callable, Coroutine
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tabcontam.errors import UsageError, one_line, option, option_name
from tabcontam.extensions.cluster import ray_library
from tabcontam.extensions.cluster.cluster_joining import TOKEN, TOKEN_FILE, WANTS_TOKEN, own_token, reach, split_address
from tabcontam.extensions.cluster.ray_setting import RayOptions
from tabcontam.extensions.cluster.replica import Replica
from tabcontam.extensions.cluster.replicated_model import ReplicatedModel
from tabcontam.models.base import FatalError, Model

INSTALL = "pip install 'tabcontam[ray]'"
PULSE = 2.0  # seconds between two checks of the cluster's head
# Failed checks in a row after which the head counts as lost, in at most 35 seconds. After 60, Ray would end this
# process, even during its work.
LOOKS = 7


class Cluster:
    """A Ray cluster. It is joined or started for the first model that connects, and left after the last.

    Until the models are ready, `report` is called with what they wait for.
    """

    def __init__(self, order: RayOptions, report: Callable[[str], None] = lambda words: None) -> None:
        self.order, self._report = order, report
        self.models: list[ReplicatedModel] = []
        self._waits: dict[str, str] = {}  # what each model waits for, by its name
        self._open: set[ReplicatedModel] = set()
        self._begun = False
        self._head = ""
        self.lost = ""  # why the cluster is lost; "" while it is not
        self._watch: asyncio.Task[None] | None = None

    def holds(self, model: Model) -> Model:
        """Return `model` with replicas on the cluster, or `model` itself if other processes cannot load it."""
        if model.elsewhere is None:
            return model
        replicated = ReplicatedModel(self, model, model.elsewhere)
        self.models.append(replicated)
        return replicated

    def begin(self, model: ReplicatedModel) -> None:
        """Start or join the cluster for a model, and watch its head, the managing machine. Raises `UsageError`."""
        self._open.add(model)
        self.join()
        if self._watch is None:
            self._watch = asyncio.ensure_future(self._watched())

    async def visited(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` on the joined cluster until it ends or the cluster's head is lost. Then leave the cluster."""
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
        """Start or join the cluster. Raises `UsageError`."""
        if self._begun:
            return
        check_ray()
        os.environ.update({name: value for name, value in ray_library.USUAL.items() if name not in os.environ})
        logging.getLogger("ray").setLevel(logging.ERROR)
        how: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
        if self.order.address:
            how |= {"address": self.order.address}
        else:
            how |= {"address": "local", "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
        if not ray_library.ray().is_initialized():
            self._report("joining the Ray cluster" if self.order.address else "starting Ray")
            try:
                reach(self.order.address)
                with own_token(not self.order.address):
                    ray_library.ray().init(**how)
            except Exception as error:  # the class depends on what is wrong with the address
                raise UsageError(self._unjoined(error)) from error
            self._begun = True
            gc.freeze()  # Ray stays loaded and is large: a search for its garbage takes longer than its calls
            # Ray prints news of machines to standard output, which belongs to the report. No option turns that off.
            worker: Any = import_module("ray._private.worker")
            worker.print_to_stdstream = lambda *given, **more: None
        if self._watch is None:
            self._head, self.lost = str(ray_library.ray().get_runtime_context().gcs_address), ""

    def _unjoined(self, error: Exception) -> str:
        if not self.order.address:
            return f"Ray cannot be started on this machine: {one_line(error)}"
        where = option("ray", f"address={self.order.address}")
        if WANTS_TOKEN in str(error).lower():
            return (
                f"{where}: the Ray cluster there needs its token; set RAY_AUTH_MODE=token, and {TOKEN} to the token "
                f"that it was started with (by default {TOKEN_FILE} there)"
            )
        return f"{where}: no Ray cluster can be joined there ({one_line(error, 120)}); start one with: ray start --head"

    def waits(self, spec: str, what: str) -> None:
        """Report what this model waits for; "" means that it is ready."""
        named = 3  # LLMs that the line about waiting names
        self._waits[spec] = what
        lines = [f"{spec} {what}" for spec, what in self._waits.items() if what]
        more = [f"and {len(lines) - named} more"] if len(lines) > named else []
        self._report(", ".join([*lines[:named], *more]))

    def leave(self, model: ReplicatedModel) -> None:
        """Note that a model no longer needs the cluster. After the last model the cluster is left."""
        self._open.discard(model)
        if self._open:
            return
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        self._shutdown()

    async def actor(self, make: Callable[[], Model], at_once: int) -> Any:
        """Return a new replica, which starts once a machine has room. Raises `FatalError` if the head is lost."""
        await self._headed()
        gpus, most = self.order.gpus if self._gpus() else 0, max(2, at_once)
        as_actor = ray_library.ray().remote(num_cpus=1, num_gpus=gpus, max_restarts=0, max_concurrency=most)
        return as_actor(Replica).remote(make)

    async def all_fit(self) -> bool:
        """Return whether all replicas of all models fit at once. Raises `FatalError` if the head is lost."""
        await self._headed()
        processors = int(ray_library.ray().cluster_resources().get("CPU", 0))
        room = self._gpus() // self.order.gpus if self._gpus() else processors
        return len(self.models) * self.order.replicas <= room

    def wanted(self) -> str:
        """Return, in words, what a replica waits for before it starts."""
        most = max((node["Resources"].get("GPU", 0) for node in ray_library.ray().nodes() if node["Alive"]), default=0)
        if 0 < most < self.order.gpus:
            return f"a machine with {self.order.gpus} GPUs, which the Ray cluster does not have"
        return "room on the Ray cluster"

    @staticmethod
    def _gpus() -> int:
        return int(ray_library.ray().cluster_resources().get("GPU", 0))

    # --- the head

    async def _watched(self) -> None:
        """End all work once the head is lost, since Ray does nothing without it."""
        await self._headless()
        for model in self.models:
            model.end(self.lost)
        await asyncio.to_thread(self._shutdown)  # it takes seconds; other LLMs are asked meanwhile

    async def _headless(self) -> None:
        """Wait until `LOOKS` checks of the head in a row have failed. Then note that the head is lost."""
        in_vain = 0
        while in_vain < LOOKS:
            await asyncio.sleep(PULSE)
            in_vain = 0 if await self._head_answers() else in_vain + 1
        self.lost = (
            f"the head of the Ray cluster, {self._head}, does not answer any more; "
            "start a cluster, and the same command continues this run"
        )

    async def _headed(self) -> None:
        """Wait until the head answers. A call to Ray would wait too, and block this process. Raises `FatalError`."""
        while not (self.lost or await self._head_answers()):
            await asyncio.sleep(PULSE)
        if self.lost:
            raise FatalError(self.lost)

    # look: seconds after which a check has failed
    async def _head_answers(self, *, look: float = 3.0) -> bool:
        host, port = split_address(self._head)
        try:
            _, stream = await asyncio.wait_for(asyncio.open_connection(host, port), look)
        except OSError:  # TimeoutError is a subclass
            return False
        stream.close()
        return True

    def _shutdown(self) -> None:
        if self._begun:
            self._begun = False
            ray_library.ray().shutdown()
            gc.unfreeze()


def check_ray() -> None:
    """Raise `UsageError` if the package ray is not installed."""
    if not find_spec("ray"):
        raise UsageError(f"{option_name('ray')} needs the package ray: {INSTALL}")
