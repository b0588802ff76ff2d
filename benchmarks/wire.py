"""What a request costs besides the wire: `python -m benchmarks.wire`, beside the limit that it is held to."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tabcontam.evidence.base import Message, Prompt, ReplyState
from tabcontam.models.base import Model, ModelRequest
from tabcontam.models.openai.provider import OpenAIModel

QUERIES = 3000
ROWS = "\n".join(f"age = {number}, workclass = Private, education = HS-grad, income = <=50K" for number in range(30))


@contextmanager
def served(*arguments: str) -> Iterator[str]:
    """The address of a quick server in a process of its own."""
    command = [sys.executable, "-m", "tests.loopback", "--port", "0", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


async def _ask(model: Model, numbers: range, connections: int) -> None:
    gate = asyncio.Semaphore(connections)

    async def one(number: int) -> None:
        text = f"{number}\n{ROWS}"
        async with gate:
            reply = await model.generate(ModelRequest(Prompt((Message("user", text),), text, text), 16))
        assert reply.state is ReplyState.OK

    await asyncio.gather(*map(one, numbers))


async def _measure(url: str, connections: int) -> tuple[float, float]:
    """Milliseconds of processor time a query, and queries a second."""
    model = OpenAIModel("model", url, max_connections=connections)
    try:
        await _ask(model, range(-2 * connections, 0), connections)  # opens the connections
        processor, wall = time.process_time(), time.perf_counter()
        await _ask(model, range(QUERIES), connections)
        return 1000 * (time.process_time() - processor) / QUERIES, QUERIES / (time.perf_counter() - wall)
    finally:
        await model.close()


def main() -> None:
    """Print each measurement with its limit."""
    for latency in ("0", "0.1"):
        with served("--latency", latency) as url:
            for connections in (64, 256):
                cost, rate = asyncio.run(_measure(url, connections))
                print(
                    f"{connections} connections, {latency} s latency: {cost:.2f} ms of processor time a query; "
                    f"limit 2 ms; {rate:.0f} queries a second"
                )


if __name__ == "__main__":
    main()
