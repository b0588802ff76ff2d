"""A server on loopback that speaks OpenAI's protocol, well or badly, for the tests of what asks it.

    with LoopbackServer(lambda body: "42") as server:
        ...  # server.url, server.requests

`answer` gets the request's body and gives the text, or a `Response` for everything else a server can do. Run as a
script, `python -m tests.loopback --port N`, it is the server of `tests.loopback_quick`.
"""

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

from tests.loopback_http import USUAL, Entry, Loopback
from tests.loopback_http import Answer as Answer
from tests.loopback_http import Received as Received
from tests.loopback_http import Response as Response
from tests.loopback_quick import Settings, serve

COMPLETIONS = ("/chat/completions", "/completions")


def error(status: int, message: str, headers: Mapping[str, str] | None = None, **fields: object) -> Response:
    """An error in OpenAI's shape; `fields` are its code, param and type."""
    body = {"error": {"message": message, "type": "invalid_request_error", **fields}}
    return Response(body, status, headers or {})


def reply(content: object, finish: str = "stop", tokens: int = 3, reasoning: int = 0, **message: object) -> Response:
    """A chat reply; `message` holds further fields of the message, such as a refusal."""
    return Response(
        {
            "object": "chat.completion",
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
            ],
            "usage": {
                "completion_tokens": tokens + reasoning,
                "completion_tokens_details": {"reasoning_tokens": reasoning},
            },
        }
    )


def completion(text: object, finish: str = "stop", tokens: int = 3) -> Response:
    """A reply in completion form."""
    choice = {"index": 0, "text": text, "finish_reason": finish}
    return Response({"object": "text_completion", "choices": [choice], "usage": {"completion_tokens": tokens}})


class LoopbackServer(Loopback):
    """OpenAI's protocol. An entry of the list of models may be a name; None means that there is no such list.

    `paths` are the forms that exist.
    """

    usual = ("model",)
    below = "/v1"

    def __init__(
        self,
        answer: Answer = lambda body: "fine",
        models: Sequence[Entry] | None = USUAL,
        models_response: Response | None = None,
        paths: Sequence[str] = COMPLETIONS,
        port: int = 0,
    ) -> None:
        super().__init__(answer, models, models_response, port)
        self.paths = paths

    def answers(self, path: str) -> bool:
        """Whether one of the forms is at this path."""
        return path.removeprefix("/v1") in self.paths

    def written(self, text: str, path: str) -> Response:
        """A reply in the form of this path."""
        return reply(text) if path.endswith("/chat/completions") else completion(text)

    def lists(self, path: str) -> bool:
        """Whether this is the path of the list of models."""
        return path.removeprefix("/v1") == "/models"

    def told(self, path: str) -> Response:
        """The list of models."""
        if not self.lists(path) or self.models is None:
            return self.nothing(path)
        entries = [{"id": model} if isinstance(model, str) else dict(model) for model in self.models]
        return Response({"object": "list", "data": [{"object": "model", **entry} for entry in entries]})

    def nothing(self, path: str) -> Response:
        """As servers behind FastAPI say it."""
        return Response({"detail": "Not Found"}, 404)


def main() -> None:
    """Serve in a process of its own until interrupted, quickly, and with as many faults as are asked for."""
    parser = argparse.ArgumentParser(description="A server on loopback that speaks OpenAI's protocol.")
    parser.add_argument("--port", type=int, default=8000, help="0 takes a free one")
    parser.add_argument("--model", action="append", help="a name for the list of models (repeatable)")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before an answer")
    parser.add_argument("--rate", type=float, default=0.0, help="requests a second; 0 sets no limit")
    parser.add_argument("--burst", type=float, default=1.0, help="requests at once, within the limit")
    parser.add_argument("--retry-after", type=float, default=1.0, help="seconds that a 429 asks for")
    parser.add_argument("--faults", type=float, default=0.0, help="share of requests that meet a fault")
    parser.add_argument("--seed", type=int, default=0, help="for the faults")
    given = vars(parser.parse_args())
    port, models = given.pop("port"), tuple(given.pop("model") or ["model"])
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(Settings(models=models, **given), port, ready=partial(print, flush=True)))


if __name__ == "__main__":
    main()
