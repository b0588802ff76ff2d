"""Whether a cluster answers at an address, and the token without which nobody may join one."""

import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

AUTO = "auto"  # the address of a cluster that this machine is in
REACHED = 10.0  # seconds, within which somebody has to listen at the address of a cluster
ANSWERED = 30.0  # seconds, within which the head of a cluster has to answer there
TOKEN = "RAY_AUTH_TOKEN"  # noqa: S105 - the name of a variable
WANTS_TOKEN = "authentication token"  # noqa: S105 - what Ray says where it gets no token, or another one
TOKEN_FILE = Path("~/.ray/auth_token")  # where Ray looks for it else
OWN_TOKEN = secrets.token_hex(32)  # of clusters that this process starts; Ray reads it once


def reach(address: str) -> None:
    """Raises `OSError` where no Ray head answers at HOST:PORT or `auto`, or it wants a token.

    Ray itself would try for minutes, and print what it tries.
    """
    _, colon, port = address.rpartition(":")
    is_place = bool(colon) and "/" not in address and port.isdecimal()
    if is_place:
        socket.create_connection(place(address), timeout=REACHED).close()
    elif address != AUTO:
        return
    ask = [sys.executable, "-m", "ray.scripts.scripts", "status", "--address", address]
    words = dict(os.environ)
    if address == AUTO and (TOKEN in words or f"{TOKEN}_PATH" in words or TOKEN_FILE.expanduser().exists()):
        words.setdefault("RAY_AUTH_MODE", "token")  # as Ray does where it joins a cluster of this machine
    try:
        asked = subprocess.run(  # noqa: S603 - our own words
            ask, env=words, stdin=subprocess.DEVNULL, capture_output=True, timeout=ANSWERED, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise OSError(f"who listens there does not answer as Ray within {ANSWERED:.0f} s") from error
    said = asked.stderr.decode("utf-8", "replace").strip()
    if asked.returncode and said:
        raise OSError(WANTS_TOKEN if WANTS_TOKEN in said.lower() else said.splitlines()[-1])


@contextmanager
def own_token(local: bool) -> Iterator[None]:
    """A token of its own for a cluster that is started here.

    Ray would write one into the user's home, and for its sake ask for a token wherever one is started later.
    """
    if not local or TOKEN in os.environ or f"{TOKEN}_PATH" in os.environ:
        yield
        return
    os.environ[TOKEN] = OWN_TOKEN
    try:
        yield
    finally:
        del os.environ[TOKEN]


def place(address: str) -> tuple[str, int]:
    """Host and port of HOST:PORT."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)
