"""The library Ray, imported at its first use, and its errors for what is lost."""

import sys
from importlib import import_module
from typing import Any

from tabcontam.errors import one_line

# No usage is reported, and replicas have the priority of this process, unless the user sets otherwise.
USUAL = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


def ray() -> Any:
    """Return the library."""
    return import_module("ray")


def loss(error: Exception) -> str:
    """Return why a replica is gone, in Ray's words without its numbers of what ran where."""
    line = one_line(error, sys.maxsize)
    return one_line(Exception(line.partition("The actor is dead because ")[2] or line))


def lost_errors() -> tuple[type[Exception], ...]:
    """Return the errors that Ray raises if a replica or its machine is gone."""
    known = import_module("ray.exceptions")
    return known.RayActorError, known.ObjectLostError, known.RaySystemError, known.NodeDiedError
