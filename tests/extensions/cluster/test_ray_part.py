"""The part of Ray in a run."""

import pytest

from tabcontam.asking.preparing import Elsewhere
from tabcontam.asking.query_plan import RunSource
from tabcontam.asking.run_progress import Progress
from tabcontam.config import RunConfig
from tabcontam.errors import UsageError
from tabcontam.extensions.cluster import cluster
from tabcontam.extensions.cluster.cluster import Cluster
from tabcontam.extensions.cluster.ray_part import RayPart
from tabcontam.extensions.cluster.ray_setting import RayOptions
from tabcontam.models.base import Model
from tabcontam.models.provider_registry import ModelSettings, resolve


def opened(spec: str) -> Model:
    """An LLM by its name, which nobody has reached yet."""
    return resolve(spec).open(ModelSettings())


def test_a_cluster_that_is_not_there_is_reported_before_tables_are_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    def join(self: Cluster) -> None:
        if self.order.address != "there":
            raise UsageError("no cluster")

    def early(address: str, *others: str, asks: bool = True) -> Elsewhere | None:
        part = RayPart(RunConfig(ray=RayOptions(address)), Progress())
        models = [part.model(opened("hf:model")), *map(opened, others)]
        return part.elsewhere([RunSource(model) for model in models], {}, asks)

    monkeypatch.setattr(Cluster, "join", join)
    monkeypatch.setattr(cluster, "find_spec", lambda name: name)
    assert early("there") is not None
    assert early("") is None  # a cluster that is begun here has no other machines
    with pytest.raises(UsageError, match="no cluster"):
        early("elsewhere")
    assert early("elsewhere", "simulated:guesser") is None  # which is asked all the same
    assert early("elsewhere", asks=False) is None


def test_without_ray_a_model_stays_as_it_is() -> None:
    part, model = RayPart(RunConfig(), Progress()), opened("simulated:guesser")
    assert part.model(model) is model
    assert part.elsewhere([RunSource(model)], {}, asks=True) is None
    assert not part.notices()
