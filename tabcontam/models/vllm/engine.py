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
from tabcontam.evidence.questions import Prompt
from tabcontam.models.base import FatalError
from tabcontam.models.hf.decoding import allowance_of
from tabcontam.models.hf.loading import release
from tabcontam.models.hf.model_tokenizer import PromptTokens
from tabcontam.models.hf.row_ends import RowEnds
from tabcontam.models.thresholds import LEAST_LOG_PROBABILITY
from tabcontam.models.vllm.engine_start import EngineParts, ModelFiles, start

Got = TypeVar("Got")


class Engine:
    """A running engine. It can be called from any event loop, many times at once. `of` starts one."""

    def __init__(self, started: EngineParts, loop: asyncio.AbstractEventLoop, thread: Thread) -> None:
        self.text, self.eos, self.context, self.version = started.text, started.eos, started.context, started.version
        self._engine: Any = started.engine
        self._vocabulary = started.vocabulary
        self._loop, self._thread = loop, thread
        self._requests = count()

    @classmethod
    async def of(cls, files: ModelFiles) -> "Engine":
        """Start and return the engine for a model. Raises `UsageError`."""

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

    async def answer(self, row: PromptTokens, prompt: Prompt) -> Sequence[int]:
        """Return the tokens of an answer, up to the place where `hf:` would end it."""
        return await _on(self._loop, self._answered(row, prompt))

    async def values(self, ids: Sequence[int]) -> list[float]:
        """Return the log-probability of each token given those before it. The first token counts as uniform."""
        return await _on(self._loop, self._valued(ids))

    async def close(self) -> None:
        """End the engine's processes, and free the memory."""
        await _on(self._loop, self._ended())
        await asyncio.to_thread(_end, self._loop, self._thread)
        release()  # an engine that is not released prints complaints at exit

    async def _answered(self, row: PromptTokens, prompt: Prompt) -> Sequence[int]:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        ends = RowEnds(
            [row],
            start=0,
            allowances=[allowance_of(row, self.context)],
            eos=self.eos,
            decode=self.text.decode,
            stopping=lambda: False,
        )
        watched = bool(row.stop or row.thinks or row.goes_on)  # else the engine itself detects the end
        parameters = SamplingParams(
            temperature=prompt.temperature,
            seed=prompt.sample if prompt.temperature else None,
            max_tokens=ends.remaining,
            stop_token_ids=sorted(self.eos),
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
            -log(self._vocabulary),
            *(LEAST_LOG_PROBABILITY if value < LEAST_LOG_PROBABILITY else value for value in own),
        ]

    def _asked(self, ids: Sequence[int], parameters: Any) -> AsyncGenerator[Any, None]:
        from vllm import TokensPrompt

        prompt = TokensPrompt(prompt_token_ids=list(ids))
        outputs: AsyncGenerator[Any, None] = self._engine.generate(prompt, parameters, str(next(self._requests)))
        return outputs

    async def _ended(self) -> None:
        engine, self._engine = self._engine, None
        engine.shutdown()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _on(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Got]) -> Got:
    """Return the result of work on another loop. If the caller is cancelled, the work is, too."""
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))


def _end(loop: asyncio.AbstractEventLoop, thread: Thread) -> None:
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def describe_engine_error(error: Exception) -> str:
    """Return a description of an error of one request. Raises `FatalError` if the whole engine is lost."""
    from vllm.v1.engine.exceptions import EngineDeadError

    if isinstance(error, EngineDeadError):
        raise FatalError("vLLM's engine ended while it computed, and answers nothing more") from error
    return f"{type(error).__name__}: {one_line(error)}"
