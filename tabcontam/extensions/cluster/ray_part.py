"""The part of Ray in a run: models that answer, and tables that are prepared, on the machines of a cluster."""

from collections.abc import Mapping, Sequence
from functools import partial

from tabcontam.asking.preparing import Elsewhere
from tabcontam.asking.query_plan import RunSource, check_reachable
from tabcontam.asking.run_progress import Progress
from tabcontam.config import RunConfig
from tabcontam.errors import UsageError
from tabcontam.extensions.cluster.cluster import Cluster, check_ray
from tabcontam.extensions.cluster.machines import ClusterMachines
from tabcontam.extensions.cluster.ray_setting import RAY
from tabcontam.extensions.cluster.remote_preparation import prepare_remotely
from tabcontam.models.base import Model
from tabcontam.runs.run_part import RunPart


class RayPart(RunPart):
    """The cluster of a run with the setting `ray`."""

    def __init__(self, config: RunConfig, progress: Progress) -> None:
        super().__init__(config, progress)
        chosen = RAY.of(config)
        if chosen is not None:
            check_ray()
        self._cluster = Cluster(chosen, progress.note) if chosen is not None else None
        self._machines: ClusterMachines | None = None

    def model(self, model: Model) -> Model:
        """Return the model with replicas on the cluster."""
        return self._cluster.holds(model) if self._cluster else model

    def elsewhere(self, subjects: Sequence[RunSource], lacking: Mapping[str, str], asks: bool) -> Elsewhere | None:
        """Return work for a cluster's other machines, joined before the run asks, so that they can prepare new tables.

        Return None if the cluster is started on this machine, or cannot be joined. In the second case, raises
        `UsageError` if the run `asks` and cannot reach any LLM under test, or cannot reach the reference, without the
        cluster.
        """
        if not (self._cluster and self._cluster.order.address):
            return None
        try:
            with self.progress.doing("looking for other machines"):
                self._cluster.join()
        except UsageError as error:
            if asks:
                check_reachable(subjects, {**lacking, **{model.spec: str(error) for model in self._cluster.models}})
            return None  # the run reports this error when it reaches the LLMs
        self._machines = ClusterMachines(self._cluster)
        return partial(prepare_remotely, self._machines)

    def notices(self) -> Sequence[str]:
        """Return the reasons why machines could not work."""
        return sorted(self._machines.lines) if self._machines else ()
