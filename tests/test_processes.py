"""Values and jobs that processes of the package exchange."""

import io
from dataclasses import dataclass, field
from enum import Enum
from math import inf
from pathlib import Path

import pytest

from tabcontam.processes import read_value, start_workers, write_value


class Kind(Enum):
    FIRST = "first"


@dataclass(frozen=True)
class Sent:
    places: dict[str, set[int]] = field(default_factory=dict)
    kind: Kind = Kind.FIRST
    path: Path = Path()
    most: float = 0.0


def test_a_value_comes_back_as_it_was_sent() -> None:
    odd = b"a\xff.txt".decode("utf-8", "surrogateescape")
    sent = Sent({odd: {1, 2}, "\udcfe": {3}, "a": set()}, Kind.FIRST, Path(odd), inf)
    stream = io.BytesIO()
    write_value(stream, sent, Sent)
    stream.seek(0)
    assert read_value(stream, Sent) == sent
    with pytest.raises(EOFError):
        read_value(stream, Sent)


def test_another_process_takes_the_place_of_a_lost_one() -> None:
    """A process that is lost costs its own job and no other."""
    code = (
        "import sys, os\n"
        "for line in sys.stdin:\n"
        "    if line == '3\\n': os._exit(1)\n"
        "    print(line.strip(), flush=True)\n"
    )
    with start_workers(code, 2, int, int) as answer:
        jobs = [answer(number) for number in range(12)]
        lost = [number for number, job in enumerate(jobs) if job.exception() is not None]
        assert lost == [3]
        assert [job.result() for job in jobs if job.exception() is None] == [*range(3), *range(4, 12)]
