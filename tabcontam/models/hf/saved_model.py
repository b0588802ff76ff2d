"""The base of models whose files are in a folder or on the Hugging Face hub, and which this machine computes."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from tabcontam.config import FORMS
from tabcontam.errors import UsageError, one_line, unknown
from tabcontam.evidence.questions import Capability, Likelihoods, Prompt, Reply, ReplyState, Scores, Token
from tabcontam.models.base import Model, ModelRequest, PromptForm, common_prefix_length, failed
from tabcontam.models.hf.model_tokenizer import ModelTokenizer, PromptTokens
from tabcontam.tables.table import Table

if TYPE_CHECKING:
    from tabcontam.models.known.exposure_card import ExposureCard

SMALLEST = ("config.json",)  # the file that every model has
NOT_NUMBERS = "the model's log-probabilities are not numbers"
MERGED = "the tokenizer merges cells and the text between them into one token"
SEVERAL = re.compile(r"\w[^\w.+-]")  # the end of a word or number, and a separator


class SavedEngine(Protocol):
    """The engine of a loaded model. `context`: the most tokens of a prompt and its answer; 0 without a limit."""

    text: ModelTokenizer
    context: int

    @property
    def most_scored(self) -> int:
        """The most tokens of a text to be scored; 0 without a limit."""
        ...

    def room(self, row: PromptTokens) -> int:
        """Return how many answer tokens fit in the context after this prompt, which is never cut."""
        ...

    async def answer(self, row: PromptTokens, prompt: Prompt) -> Reply: ...

    async def scores(self, ids: tuple[int, ...]) -> Sequence[tuple[float, ...]] | None:
        """Return the log-probability of each token, and maybe moments; None: too large. The first is uniform."""
        ...

    async def sums(self, texts: Sequence[tuple[int, ...]], head: int) -> Sequence[float | None]:
        """Return each text's log-probability after the first `head` tokens, which all share; None: too large."""
        ...

    def described(self, error: Exception) -> str:
        """Return a description of an error of one request. Raises `FatalError` if the engine is lost."""
        ...

    async def close(self) -> None: ...


class SavedModel(Model):
    """The LLM `name` of the hub, or in the folder `name`. Raises `UsageError` for an unknown form."""

    provider: ClassVar[str]
    local = True
    capabilities = frozenset({Capability.GENERATE, Capability.COMPLETION, Capability.SCORE, Capability.INSTRUCTIONS})
    form = PromptForm.CHAT
    _engine: SavedEngine | None = None

    def __init__(self, name: str, *, form: str = "auto", spec: str = "") -> None:
        if form not in FORMS:
            raise unknown("form", form, FORMS)
        self.spec = spec or f"{self.provider}:{name}"
        self._name = name
        self._wanted = form
        # The form that the user asked for. `_take_form` replaces it when the model's files are known.
        self.form = PromptForm.COMPLETION if form == "completion" else PromptForm.CHAT

    @property
    def identity(self) -> Mapping[str, str]:
        """The key of stored replies. It has a folder's name without the path: the version identifies its content."""
        folder = Path(self._name).expanduser()
        name = folder.resolve().name if folder.is_dir() else self._name
        return {"provider": self.provider, "address": "", "model": name}

    @property
    def elsewhere(self) -> Callable[[], Model]:
        return partial(type(self), self._place, form=self._wanted, spec=self.spec)

    @property
    def _place(self) -> str:
        """The name by which each process here finds the model: a folder's absolute path, or a name on the hub."""
        folder = Path(self._name).expanduser()
        return str(folder.resolve()) if folder.is_dir() else self._name

    async def look(self) -> None:
        from tabcontam.models.hf.loading import folder_of

        await asyncio.to_thread(folder_of, self._name, self.provider, SMALLEST)

    def check_at_hand(self) -> None:
        if isinstance(self._card, UsageError):
            raise self._card

    def exposure(self, table: Table, row: int) -> float | None:
        card = self._card
        return None if card is None or isinstance(card, UsageError) else card.copies(table, row)

    @cached_property
    def _card(self) -> "ExposureCard | UsageError | None":
        """The card of `tabcontam expose` in the model's folder; the error if it is not valid; None without a card."""
        folder = Path(self._name).expanduser()
        if not folder.is_dir():  # a card from elsewhere cannot be trusted
            return None
        from tabcontam.models.known.exposure_card import read_card

        try:
            return read_card(folder)
        except UsageError as error:
            return error

    def _take_form(self, chat: bool, seq2seq: bool = False) -> None:
        """Set the form that the model's files allow. Raises `UsageError` if the user asked for another form."""
        if self._wanted == "chat" and not chat:
            raise UsageError(f"{self.spec} has no chat template; choose the form auto or completion")
        if self._wanted == "auto":
            own = PromptForm.CHAT if chat else PromptForm.COMPLETION
            self.form = PromptForm.SEQ2SEQ if seq2seq else own

    async def generate(self, request: ModelRequest) -> Reply:
        engine = self._engine
        if engine is None:
            return failed(self._unconnected())
        try:
            row = self._row(engine.text, request)
        except Exception as error:  # a template or tokenizer may raise any error
            return failed(f"the prompt cannot be written for this model: {one_line(error)}")
        if (room := engine.room(row)) < 1:
            takes = f"{len(row.ids):,} tokens, and the model takes {engine.context:,} with the answer"
            return failed(f"the prompt is too long: {takes}")
        try:
            return await engine.answer(replace(row, max_tokens=min(row.max_tokens, room)), request.prompt)
        except Exception as error:
            return failed(engine.described(error))

    async def score(self, request: ModelRequest) -> Scores:
        """Return the score of each token of a passage, after the tokenizer's first special token."""
        engine, text = self._engine, request.passage.text
        if engine is None or Capability.SCORE not in self.capabilities:
            return Scores((), ReplyState.FAILED, self._unconnected())
        if not text:
            return Scores((), ReplyState.EMPTY, "no text")
        try:
            pieces = engine.text.pieces(text)
            ids = (*engine.text.begin, *(token for token, _ in pieces))
            if problem := beyond(len(ids), engine.most_scored):
                return Scores((), ReplyState.FAILED, problem)
            found = await engine.scores(ids)
        except Exception as error:
            return Scores((), ReplyState.FAILED, engine.described(error))
        if found is None:
            return Scores((), ReplyState.FAILED, too_large(len(ids)))
        own = found[len(engine.text.begin) :]
        if not all(isfinite(number) for token in own for number in token):
            return Scores((), ReplyState.FAILED, NOT_NUMBERS)
        tokens = (Token(piece, *numbers) for (_, piece), numbers in zip(pieces, own, strict=True))
        return Scores(tuple(tokens), ReplyState.OK)

    async def compare(self, request: ModelRequest) -> Likelihoods:
        """Return how likely each ending is, by the tokens of whole texts after their common beginning."""
        engine, asked = self._engine, request.endings
        if engine is None or Capability.SCORE not in self.capabilities:
            return Likelihoods((), ReplyState.FAILED, self._unconnected())
        try:
            endings = list(dict.fromkeys(asked.endings))
            read = engine.text.plain([asked.beginning + ending for ending in endings])
            texts = [(*engine.text.begin, *own) for own in read]
            longest, head = max(map(len, texts), default=0), common_prefix_length(texts)
            if problem := beyond(longest, engine.most_scored):
                return Likelihoods((), ReplyState.FAILED, problem)
            if joins(engine.text, asked.beginning, texts[0][:head]):
                return Likelihoods((), ReplyState.FAILED, MERGED)
            found = await engine.sums(texts, head)
        except Exception as error:
            return Likelihoods((), ReplyState.FAILED, engine.described(error))
        sums = {ending: value for ending, value in zip(endings, found, strict=True) if value is not None}
        if len(sums) < len(endings):
            return Likelihoods((), ReplyState.FAILED, too_large(longest))
        if not all(map(isfinite, sums.values())):
            return Likelihoods((), ReplyState.FAILED, NOT_NUMBERS)
        return Likelihoods(tuple(sums[ending] for ending in asked.endings), ReplyState.OK)

    async def close(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.close()

    def _unconnected(self) -> str:
        seq2seq = "is a sequence-to-sequence model, which scores no text"
        return f"{self.spec} {'was asked before it was connected' if self._engine is None else seq2seq}"

    def _row(self, text: ModelTokenizer, request: ModelRequest) -> PromptTokens:
        prompt = request.prompt
        if self.form is PromptForm.CHAT:
            row = text.chat_row(prompt.chat, request.max_tokens)
        elif self.form is PromptForm.SEQ2SEQ:
            row = text.row(prompt.seq2seq, request.max_tokens, ())
        else:
            row = text.row(prompt.completion, request.max_tokens, prompt.stop)
        return replace(row, goes_on=request.goes_on)


def beyond(tokens: int, most: int) -> str:
    """Return the message that a text has more tokens than `most`; "" if it has not, or without a limit (0)."""
    return f"the text is too long: {tokens:,} tokens; the model takes {most:,}" if 0 < most < tokens else ""


def too_large(tokens: int) -> str:
    """Return the message that memory is not enough for a text of so many tokens."""
    return f"out of memory with a single text of {tokens:,} tokens"


def joins(reader: ModelTokenizer, beginning: str, common: Sequence[int]) -> bool:
    """Return whether a token contains a word and a separator of `beginning`, and the beginning of an ending.

    Rows with cells that share a token are shorter, so that even a model that has read no table prefers them.
    `common`: the tokens with which all texts begin.
    """
    begun = reader.decode(common[len(reader.begin) :])
    left = beginning[len(begun) :] if beginning.startswith(begun) else ""
    return SEVERAL.search(left) is not None
