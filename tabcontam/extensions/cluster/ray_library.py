"""The library Ray, imported at its first use, and its errors for lost replicas and machines."""

import sys
from importlib import import_module
from typing import Any

from tabcontam.errors import one_line

# Usage is not reported, and replicas have this process's priority, unless the user sets other values.
USUAL = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


def ray() -> Any:
    return import_module("ray")


def loss(error: Exception) -> str:
    """Return why a replica is lost, in Ray's words without its numbers of processes."""
    line = one_line(error, sys.maxsize)
    return one_line(Exception(line.partition("The actor is dead because ")[2] or line))


def lost_errors() -> tuple[type[Exception], ...]:
    """Return the errors that Ray raises if a replica or its machine is lost."""
    known = import_module("ray.exceptions")
    return known.RayActorError, known.ObjectLostError, known.RaySystemError, known.NodeDiedError
