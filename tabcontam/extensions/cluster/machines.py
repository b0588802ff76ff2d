"""The processors of a cluster's other machines. Each does one piece of work at a time."""

from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any

from tabcontam.extensions.cluster import ray_library
from tabcontam.extensions.cluster.cluster import Cluster

LABEL = "ray.io/node-id"  # a label that Ray gives every machine


class LostWorkError(Exception):
    """The error for a machine that was lost during its work, or could not do it."""


class ClusterMachines:
    """The machines of a cluster except this one, for as long as this process has joined the cluster.

    Work on these machines gets bytes and yields bytes.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.lines: set[str] = set()  # why machines could not work
        self._known: dict[object, Any] = {}

    def places(self) -> int:
        """Return how many processors the other machines have; 0 if Ray does not answer."""
        try:
            every = ray_library.ray().nodes()
        except ray_library.ray().exceptions.RayError:
            return 0
        others = [node for node in every if node["Alive"] and node["NodeID"] != self._own]
        return sum(int(node["Resources"].get("CPU", 0)) for node in others)

    async def doing(self, work: Callable[[bytes], Iterator[bytes]], given: bytes) -> AsyncGenerator[bytes]:
        """Yield the output of `work(given)` on another machine, once a processor is free. Raises `LostWorkError`."""
        ray, task = ray_library.ray(), None
        try:
            task = self._remote(work).remote(ray.put(given))
            async for output in task:
                yield await output
        except ray.exceptions.RayError as error:
            raise LostWorkError(ray_library.loss(error)) from error
        finally:
            if task is not None and not self.cluster.lost:
                ray.cancel(task, force=True)

    def _remote(self, work: Callable[[bytes], Iterator[bytes]]) -> Any:
        if work not in self._known:
            kind = ray_library.ray().remote(num_cpus=1, max_retries=0, label_selector={LABEL: f"!{self._own}"})
            self._known[work] = kind(work)
        return self._known[work]

    @property
    def _own(self) -> str:
        return str(ray_library.ray().get_runtime_context().get_node_id())
