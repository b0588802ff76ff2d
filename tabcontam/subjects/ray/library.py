"""Ray itself, which is imported where it is used, and what it says of what is lost."""

import sys
from importlib import import_module
from typing import Any

from tabcontam.errors import one_line

# Nothing is reported to anybody, and replicas have the priority of this process, unless the user says otherwise.
USUAL = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


def ray() -> Any:
    """The library."""
    return import_module("ray")


def loss(error: Exception) -> str:
    """Why a replica is gone, in Ray's words without its numbers of what ran where."""
    said = one_line(error, sys.maxsize)
    return one_line(Exception(said.partition("The actor is dead because ")[2] or said))


def lost_errors() -> tuple[type[Exception], ...]:
    """What Ray raises where a replica or its machine is gone."""
    known = import_module("ray.exceptions")
    return known.RayActorError, known.ObjectLostError, known.RaySystemError, known.NodeDiedError
