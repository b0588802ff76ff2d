"""One engine of vLLM: it returns the tokens of an answer, or the likelihoods of given tokens.

An engine answers only on the event loop on which it was started, so it has its own loop on its own thread.
"""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import aclosing
from itertools import count
from math import log
from threading import Thread
from typing import Any, TypeVar

from tabcontam.errors import one_line
from tabcontam.evidence.questions import Prompt, Reply
from tabcontam.models.base import FatalError
from tabcontam.models.hf.decoding import allowance_of, reply_of, room_of
from tabcontam.models.hf.loading import release
from tabcontam.models.hf.model_tokenizer import PromptTokens
from tabcontam.models.hf.row_batches import RowEnds
from tabcontam.models.hf.saved_model import SavedEngine
from tabcontam.models.thresholds import LEAST_LOG_PROBABILITY
from tabcontam.models.vllm.engine_start import EngineParts, ModelFiles, start

Got = TypeVar("Got")


class Engine(SavedEngine):
    """A running engine. It can be called from any event loop, many times at once. `of` starts one."""

    def __init__(self, parts: EngineParts, loop: asyncio.AbstractEventLoop, thread: Thread) -> None:
        self.parts, self.text, self.context = parts, parts.text, parts.context
        self._loop, self._thread = loop, thread
        self._requests = count()

    @property
    def most_scored(self) -> int:
        return self.context - 1  # the engine writes one token after each text

    def room(self, row: PromptTokens) -> int:
        return room_of(row, self.context)

    @classmethod
    async def of(cls, files: ModelFiles) -> "Engine":
        async def begun() -> EngineParts:
            return start(files)

        loop = asyncio.new_event_loop()
        thread = Thread(target=loop.run_forever, name=f"vllm:{files.name}", daemon=True)
        thread.start()
        try:
            return cls(await _on(loop, begun()), loop, thread)
        except BaseException:
            await asyncio.to_thread(_end, loop, thread)
            raise

    async def answer(self, row: PromptTokens, prompt: Prompt) -> Reply:
        return reply_of(row, await _on(self._loop, self._answered(row, prompt)), self.text, self.parts.eos)

    async def scores(self, ids: tuple[int, ...]) -> Sequence[tuple[float, ...]]:
        return [(value,) for value in await _on(self._loop, self._valued(ids))]

    async def sums(self, texts: Sequence[tuple[int, ...]], head: int) -> Sequence[float]:
        found = await asyncio.gather(*(_on(self._loop, self._valued(ids)) for ids in texts))
        return [sum(values[head:]) for values in found]

    def described(self, error: Exception) -> str:
        from vllm.v1.engine.exceptions import EngineDeadError

        if isinstance(error, EngineDeadError):
            raise FatalError("vLLM's engine ended while it computed, and answers nothing more") from error
        return f"{type(error).__name__}: {one_line(error)}"

    async def close(self) -> None:
        async def ended() -> None:
            self.parts.engine.shutdown()
            del self.parts
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        await _on(self._loop, ended())
        await asyncio.to_thread(_end, self._loop, self._thread)
        release()  # an engine that is not released prints complaints at exit

    async def _answered(self, row: PromptTokens, prompt: Prompt) -> Sequence[int]:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        ends = RowEnds(
            [row], start=0, allowances=[allowance_of(row, self.context)], eos=self.parts.eos, decode=self.text.decode
        )
        watched = bool(row.stop or row.thinks or row.goes_on)  # else the engine itself detects the end
        parameters = SamplingParams(
            temperature=prompt.temperature,
            seed=prompt.sample if prompt.temperature else None,
            max_tokens=ends.remaining,
            stop_token_ids=sorted(self.parts.eos),
            detokenize=False,
            output_kind=RequestOutputKind.CUMULATIVE if watched else RequestOutputKind.FINAL_ONLY,
        )
        ids: Sequence[int] = ()
        seen = 0
        async with aclosing(self._asked(row.ids, parameters)) as outputs:  # an early return stops the engine
            async for output in outputs:
                ids = output.outputs[0].token_ids  # all tokens so far, or all tokens
                for length in range(seen + 1, len(ids) + 1):
                    if ends.ended(0, ids[:length]):
                        return ids[:length]
                seen = len(ids)
        return ids

    async def _valued(self, ids: Sequence[int]) -> list[float]:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        parameters = SamplingParams(
            temperature=0.0,
            max_tokens=1,
            prompt_logprobs=0,  # only those of the text's own tokens
            detokenize=False,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )
        scored: Sequence[Any] = ()
        async with aclosing(self._asked(ids, parameters)) as outputs:
            async for output in outputs:
                scored = output.prompt_logprobs
        own = [each[token].logprob for token, each in zip(ids[1:], scored[1:], strict=True)]
        return [
            -log(self.parts.vocabulary),
            *(LEAST_LOG_PROBABILITY if value < LEAST_LOG_PROBABILITY else value for value in own),
        ]

    def _asked(self, ids: Sequence[int], parameters: Any) -> AsyncGenerator[Any, None]:
        from vllm import TokensPrompt

        prompt = TokensPrompt(prompt_token_ids=list(ids))
        outputs: AsyncGenerator[Any, None] = self.parts.engine.generate(prompt, parameters, str(next(self._requests)))
        return outputs


async def _on(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Got]) -> Got:
    """Return the result of work on another loop. If the caller is cancelled, the work is, too."""
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))


def _end(loop: asyncio.AbstractEventLoop, thread: Thread) -> None:
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
