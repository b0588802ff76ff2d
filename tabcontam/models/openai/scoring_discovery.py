"""The discovery of how a server scores given texts, if it does. All texts wait until the first text has shown it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tabcontam.evidence.questions import ReplyState, Scores
from tabcontam.models.base import FatalError, LackError, ModelRequest, TransientError
from tabcontam.models.openai.prompt_scores import WAYS
from tabcontam.models.served_llm import TOO_LONG

Way = Mapping[str, Any]


class ScoringDiscovery:
    """A search for the way in which one server scores texts. `ask` sends a text in one of the `WAYS`.

    `who` returns the server's name for messages. `way`: the way that the server accepted, None until one is found.
    `lacks`: the server accepts no way.
    """

    def __init__(
        self, ask: Callable[[str, Way, Callable[[], None]], Awaitable[Scores]], who: Callable[[], str], lacks: bool
    ) -> None:
        self.way: Way | None = None
        self.lacks = lacks
        self._ask = ask
        self._who = who
        self._finding_out = asyncio.Lock()
        self._faults = 0

    async def score(self, request: ModelRequest) -> Scores:
        """Return the scores of a passage. The first passage needs at most two requests, or more if the server fails.

        Raises `LackError` if the server scores no given text, and the errors of `ask`.
        """
        if self.way is None:
            async with self._finding_out:
                if self.way is None:
                    return await self._found_out(request)
        return await self._ask(request.passage.text, self.way, request.again)

    # most_faults: failures of a server that has not scored a text yet
    async def _found_out(self, request: ModelRequest, *, most_faults: int = 3) -> Scores:
        """Return the scores of the first passage. Raises `LackError` if the server does not score the text."""
        lacked = self.lacks
        for number, way in enumerate(() if lacked else WAYS):
            if number:
                request.again()
            try:
                scores = await self._ask(request.passage.text, way, request.again)
            except FatalError:
                continue  # may concern these requests only: others show whether key and quota are good
            except TransientError as error:
                self._faults += not error.crowded
                if self._faults < most_faults:
                    raise
                continue  # some servers fail at unknown parameters
            too_long = scores.state is ReplyState.FAILED and scores.detail.startswith(TOO_LONG)
            if scores.state is ReplyState.REFUSED or too_long:
                return scores  # only this text is refused; others may be scored
            if scores.state is ReplyState.OK and any(token.log_probability < 0 for token in scores.tokens[1:]):
                self.way = way
                return scores
        self.lacks = True
        raise LackError(f"{self._who()} does not score a given text", sent=not lacked)
