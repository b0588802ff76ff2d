"""A check that a cluster answers at an address, and the token that a process needs to join a cluster."""

import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

AUTO = "auto"  # means a cluster that this machine is part of
ANSWERED = 30.0  # seconds in which the head of a cluster must answer
TOKEN = "RAY_AUTH_TOKEN"  # noqa: S105 - the name of a variable
WANTS_TOKEN = "authentication token"  # noqa: S105 - Ray's message if it gets no token, or another one
TOKEN_FILE = Path("~/.ray/auth_token")  # where Ray looks for it if no variable is set
OWN_TOKEN = secrets.token_hex(32)  # for clusters that this process starts; Ray reads it once


# reached: seconds in which a connection to the cluster must succeed
def reach(address: str, *, reached: float = 10.0) -> None:
    """Raise OSError if no Ray head answers at `address` (HOST:PORT or `auto`), or if the head demands a token.

    Ray itself would try for minutes, and print its attempts.
    """
    _, colon, port = address.rpartition(":")
    is_place = bool(colon) and "/" not in address and port.isdecimal()
    if is_place:
        socket.create_connection(split_address(address), timeout=reached).close()
    elif address != AUTO:
        return
    ask = [sys.executable, "-m", "ray.scripts.scripts", "status", "--address", address]
    words = dict(os.environ)
    if address == AUTO and (TOKEN in words or f"{TOKEN}_PATH" in words or TOKEN_FILE.expanduser().exists()):
        words.setdefault("RAY_AUTH_MODE", "token")  # as Ray does to join a cluster of this machine
    try:
        asked = subprocess.run(  # noqa: S603 - our own words
            ask, env=words, stdin=subprocess.DEVNULL, capture_output=True, timeout=ANSWERED, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise OSError(f"the server there does not answer as Ray within {ANSWERED:.0f} s") from error
    output = asked.stderr.decode("utf-8", "replace").strip()
    if asked.returncode and output:
        raise OSError(WANTS_TOKEN if WANTS_TOKEN in output.lower() else output.splitlines()[-1])


@contextmanager
def own_token(local: bool) -> Iterator[None]:
    """Set the token of this process while a cluster is started here.

    Otherwise Ray would write a token into the user's home. Every cluster that starts later would then demand it.
    """
    if not local or TOKEN in os.environ or f"{TOKEN}_PATH" in os.environ:
        yield
        return
    os.environ[TOKEN] = OWN_TOKEN
    try:
        yield
    finally:
        del os.environ[TOKEN]


def split_address(address: str) -> tuple[str, int]:
    """Return the host and the port of HOST:PORT."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)
