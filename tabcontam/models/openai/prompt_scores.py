"""Log-probabilities of given text in a completion reply.

OpenAI's old models, vLLM and SGLang return them for `echo`, vLLM also for `prompt_logprobs`. llama.cpp refuses `echo`.
Other servers ignore it and score their own answer: its tokens are then not the tokens of the text.

One token of answer is asked for and dropped: for none, some servers refuse and others write until the context is full.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from tabcontam.evidence.questions import ReplyState, Scores
from tabcontam.models.base import FatalError, LackError, ModelRequest, TransientError
from tabcontam.models.openai.replies import json_at
from tabcontam.models.served_llm import TOO_LONG
from tabcontam.models.thresholds import (
    HIGHEST_LOG_PROBABILITY,
    IMPOSSIBLE_LOG_PROBABILITY,
    LONGEST_FIRST_TOKEN,
    MOST_TOKENS_BEFORE_TEXT,
)

WAYS: tuple[Mapping[str, Any], ...] = ({"echo": True, "logprobs": 1}, {"prompt_logprobs": 0})
UNDECODED = re.compile(r"\ufffd|<0x[89A-F][0-9A-F]>|bytes:")  # a token that is a part of a character
ASCII_BYTE = re.compile(r"<0x([0-7][0-9A-F])>")

Scored = tuple[str | None, object]  # a token, None if the server leaves it out, and its log-probability as sent


def read_scores(body: object, text: str) -> list[tuple[str, float]]:
    """Return the (token, log-probability in nats) pairs of the text. The tokens joined are the text.

    Without a special token before it, the first token gets 0.0. Raises ValueError if another text was scored, or
    none.
    """
    choice = json_at(body, "choices", 0)
    if not isinstance(choice, dict):
        raise ValueError("the reply holds no choice")
    scored = _echoed(choice) or _prompt_scores(choice)
    starts = range(min(MOST_TOKENS_BEFORE_TEXT + 1, len(scored)))
    # A token that is left out is more often a special token than the text's first.
    for start in sorted(starts, key=lambda start: scored[start][0] is None):
        pieces = _pieces(scored[start:], text)
        if pieces is not None:
            return _checked(pieces)
    raise ValueError("the server does not score the text that it is given")


def _echoed(choice: Mapping[str, Any]) -> list[Scored]:
    """Return tokens and scores from `echo`'s two lists, in which the text's tokens come before the answer's."""
    tokens, scores = json_at(choice, "logprobs", "tokens"), json_at(choice, "logprobs", "token_logprobs")
    if not isinstance(tokens, list) or not isinstance(scores, list):
        return []
    return [(token if isinstance(token, str) else None, score) for token, score in zip(tokens, scores, strict=False)]


def _prompt_scores(choice: Mapping[str, Any]) -> list[Scored]:
    """Return tokens and scores from vLLM's `prompt_logprobs`. Its first entry is null, and names no token."""
    given = choice.get("prompt_logprobs")
    scored: list[Scored] = []
    for entry in given if isinstance(given, list) else []:
        fact = next(iter(entry.values()), None) if isinstance(entry, dict) else None
        token = json_at(fact, "decoded_token")
        scored.append((token if isinstance(token, str) else None, json_at(fact, "logprob")))
    return scored


def _pieces(scored: Sequence[Scored], text: str) -> list[tuple[str, object]] | None:
    """Return, for each token, its piece of the text and its score; None if the tokens do not make up the text.

    If a character is split into several tokens, its first token gets the whole character. Later tokens are left
    out.
    """
    pieces: list[tuple[str, object]] = []
    at, run = 0, 0  # characters of the text that are matched; undecoded tokens since then
    for token, score in scored:
        if at == len(text):
            break
        found = _next(token, text, at, run)
        # A token may be a part of a character, or the first token, which a server may leave out.
        unstated = not pieces and score is None
        if found is None and not (unstated if token is None else not token or UNDECODED.search(token)):
            break
        begin, end = found or (at, at)
        if run and found:
            pieces[-run] = (text[at:begin], pieces[-run][1])
        pieces.append((text[begin:end], score))
        at, run = (end, 0) if found else (at, run + 1)
    known = at > 0 or not scored or scored[0][0] is not None
    if known and 0 < len(text) - at <= _reach(at, run):  # the text ends in a split character
        pieces[-run] = (text[at:], pieces[-run][1])
        at = len(text)
    if at < len(text):
        return None
    # A piece that differs from its token must have characters that tokens can split.
    both = ((token, piece) for (token, _), (piece, _) in zip(scored, pieces, strict=False) if token and piece)
    odd = any(token != piece and piece.isascii() and UNDECODED.search(token) for token, piece in both)
    return None if odd else pieces


def _next(token: str | None, text: str, at: int, run: int) -> tuple[int, int] | None:
    """Return where the next token is in the text, after a `run` of undecoded tokens; None if it does not match."""
    for spelling in _spellings(token, first=at == 0) if token else ():
        begin = text.find(spelling, at + 1, at + _reach(at, run) + len(spelling)) if run else at
        if begin >= 0 and text.startswith(spelling, begin):
            return begin, begin + len(spelling)
    return None if token or run else (at, at) if token == "" else None


def _reach(at: int, run: int) -> int:
    """Return the most characters that a run of undecoded tokens may stand for. The first token may be long."""
    return 0 if not run else LONGEST_FIRST_TOKEN if at == 0 else 2 * run


def _spellings(token: str, first: bool) -> Iterator[str]:
    """Yield the possible spellings of a token in a text. Some servers send it in the signs of their tokenizer."""
    byte = ASCII_BYTE.fullmatch(token)
    plain = token.replace("▁", " ").replace("Ġ", " ").replace("Ċ", "\n")
    yield token
    yield chr(int(byte[1], 16)) if byte else plain
    if first and plain.startswith(" ") and len(plain) > 1:
        yield plain[1:]  # without the space that a tokenizer puts before every text


def _checked(pieces: Sequence[tuple[str, object]]) -> list[tuple[str, float]]:
    """Return the pairs without leading special tokens. Raises ValueError if a later token has no log-probability."""
    first = next((number for number, (piece, score) in enumerate(pieces) if piece or score is not None), 0)
    pairs = []
    for number, (piece, score) in enumerate(pieces[first:]):
        if number == 0 and score is None:
            score = 0.0
        if (
            isinstance(score, bool)
            or not isinstance(score, int | float)
            or not isfinite(score)
            or score > HIGHEST_LOG_PROBABILITY
        ):
            raise ValueError("the server does not score every token of the text")
        pairs.append((piece, min(0.0, float(score))))
    if len(pairs) > 1 and all(score <= IMPOSSIBLE_LOG_PROBABILITY for _, score in pairs[1:]):
        raise ValueError("the server reports that every token of the text is impossible")
    return pairs


Way = Mapping[str, Any]


@dataclass
class ScoringDiscovery:
    """A search for the way in which one server scores texts."""

    ask: Callable[[str, Way, Callable[[], None]], Awaitable[Scores]]  # sends a text in one of the `WAYS`
    who: Callable[[], str]  # returns the server's name for messages
    lacks: bool  # the server accepts no way
    way: Way | None = None  # that the server accepted
    _finding_out: asyncio.Lock = field(default_factory=asyncio.Lock)
    _faults: int = 0

    async def score(self, request: ModelRequest) -> Scores:
        """Return the scores of a passage. Raises `LackError` if the server scores no text, and the errors of `ask`."""
        if self.way is None:
            async with self._finding_out:
                if self.way is None:
                    return await self._found_out(request)
        return await self.ask(request.passage.text, self.way, request.again)

    # most_faults: failures of a server that has not scored a text yet
    async def _found_out(self, request: ModelRequest, *, most_faults: int = 3) -> Scores:
        lacked = self.lacks
        for number, way in enumerate(() if lacked else WAYS):
            if number:
                request.again()
            try:
                scores = await self.ask(request.passage.text, way, request.again)
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
        raise LackError(f"{self.who()} does not score a given text", sent=not lacked)
