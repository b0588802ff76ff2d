"""The discovery of whether and how a server scores given texts: the first text finds out while the others wait."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tabcontam.evidence.questions import ReplyState, Scores
from tabcontam.models.base import FatalError, LackError, ModelRequest, TransientError
from tabcontam.models.openai.prompt_scores import WAYS

TOO_LONG = "the prompt is too long: "

Way = Mapping[str, Any]


class ScoringDiscovery:
    """The way to ask one server for scores. `ask` sends a text in one of the `WAYS`; messages call the server `who`.

    `way` is the one that the server took, None until it has; `lacks` means that it takes none.
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
        """Return the scores of a passage. The first one takes two requests at most, more if the server fails meanwhile.

        Raises `LackError` if the server scores no given text, and as `ask` does.
        """
        if self.way is None:
            async with self._finding_out:
                if self.way is None:
                    return await self._found_out(request)
        return await self._ask(request.passage.text, self.way, request.again)

    # most_faults: of a server while it has not scored a text yet
    async def _found_out(self, request: ModelRequest, *, most_faults: int = 3) -> Scores:
        """Return the scores of the first passage. Raises `LackError` if the server scores none, or something else."""
        lacked = self.lacks
        for number, way in enumerate(() if lacked else WAYS):
            if number:
                request.again()
            try:
                scores = await self._ask(request.passage.text, way, request.again)
            except FatalError:
                continue  # of these requests alone: others show whether key and quota are good
            except TransientError as error:
                self._faults += not error.crowded
                if self._faults < most_faults:
                    raise
                continue  # some servers break at what they do not know
            too_long = scores.state is ReplyState.FAILED and scores.detail.startswith(TOO_LONG)
            if scores.state is ReplyState.REFUSED or too_long:
                return scores  # this text alone; what becomes of another is not known
            if scores.state is ReplyState.OK and any(token.log_probability < 0 for token in scores.tokens[1:]):
                self.way = way
                return scores
        self.lacks = True
        raise LackError(f"{self._who()} does not score a given text", sent=not lacked)
