"""The setting `--ray`: models, and tables that are prepared, on the machines of a Ray cluster."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tabcontam.config import COUNT, MACHINES, TEXT, TYPED, Kind, Setting


class RayOptions(NamedTuple):
    """The parts of `--ray`.

    `address`: the address of a cluster; "" starts a cluster here. `replicas`: the number for each LLM. `gpus`: the
    number for each replica, if the cluster has GPUs.
    """

    address: str = ""
    replicas: int = 1
    gpus: int = 1

    @classmethod
    def read(cls, given: Any) -> "RayOptions":
        """Return the options that a text such as `replicas=8,gpus=2` or a dictionary names. Raises ValueError."""
        parts = (
            given if isinstance(given, Mapping) else dict(part.split("=", 1) for part in TEXT.take(given).split(","))
        )
        counts = {name: COUNT.take(int(value)) for name, value in parts.items() if name != "address"}
        return cls(**{**parts, **counts})


RAY_KIND = Kind("made of address=HOST:PORT, replicas=N and gpus=N, with commas between", "str", RayOptions.read)
RAY: "Setting[RayOptions | None]" = Setting(
    RAY_KIND,
    None,
    MACHINES,
    TYPED,
    "PART=VALUE,…",
    "load each hf: and vllm: model in processes of a Ray cluster, on one or more machines: replicas=N processes "
    "for each model with gpus=N GPUs each, if the cluster has GPUs (1 by default), on the cluster at address=auto "
    "or address=HOST:6379 (default: one started on this machine for the run; see the page of this extension, cluster)",
    python="str | Mapping[str, str | int]",
    name="ray",
)
SETTINGS = (RAY,)
