"""The base of models whose files are in a folder or on the Hugging Face hub, and which this machine computes."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from tabcontam.config import FORMS
from tabcontam.errors import UsageError, one_line, unknown
from tabcontam.evidence.questions import Reply
from tabcontam.models.base import Model, ModelRequest, PromptForm, failed
from tabcontam.models.hf.model_tokenizer import ModelTokenizer, PromptTokens
from tabcontam.tables.table import Table

if TYPE_CHECKING:
    from tabcontam.models.known.exposure_card import ExposureCard

SMALLEST = ("config.json",)  # the file that every model has


class SavedModel(Model):
    """The LLM `name` of the hub, or in the folder `name`, without the parts that depend on the engine.

    `form` is "auto" (chat if the tokenizer has a template), "chat" or "completion"; `spec` is the user's name for it,
    by default PROVIDER:NAME. Raises `UsageError` for an unknown form.
    """

    provider: ClassVar[str]
    local = True
    form = PromptForm.CHAT

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
        """The function that creates this model in another process."""
        return partial(type(self), self._place, form=self._wanted, spec=self.spec)

    @property
    def _place(self) -> str:
        """The name by which each process here finds the model: a folder's absolute path, or a name on the hub."""
        folder = Path(self._name).expanduser()
        return str(folder.resolve()) if folder.is_dir() else self._name

    async def look(self) -> None:
        """Check that the model's files are on this machine or on the hub. Raises `UsageError`."""
        from tabcontam.models.hf.loading import folder_of

        await asyncio.to_thread(folder_of, self._name, self.provider, SMALLEST)

    def check_at_hand(self) -> None:
        """Raise `UsageError` if the folder has an exposure card that cannot be trusted."""
        if isinstance(self._card, UsageError):
            raise self._card

    def exposure(self, table: Table, row: int) -> float | None:
        """Return how many copies of a row the model has read, by its exposure card; None without a valid card."""
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

    def _fitting_row(
        self, text: ModelTokenizer, request: ModelRequest, context: int, room_of: Callable[[PromptTokens], int]
    ) -> PromptTokens | Reply:
        """Return a prompt as token ids, with an answer limit that fits in the context, or a reply with an error."""
        try:
            row = self._row(text, request)
        except Exception as error:  # a template or tokenizer may raise any error
            return failed(f"the prompt cannot be written for this model: {one_line(error)}")
        if (room := room_of(row)) >= 1:
            return replace(row, max_tokens=min(row.max_tokens, room))
        takes = f"{len(row.ids):,} tokens, and the model takes {context:,} with the answer"
        return failed(f"the prompt is too long: {takes}")

    def _row(self, text: ModelTokenizer, request: ModelRequest) -> PromptTokens:
        """Return a prompt as token ids, in the model's form."""
        prompt = request.prompt
        if self.form is PromptForm.CHAT:
            row = text.chat_row(prompt.chat, request.max_tokens)
        elif self.form is PromptForm.SEQ2SEQ:
            row = text.row(prompt.seq2seq, request.max_tokens, ())
        else:
            row = text.row(prompt.completion, request.max_tokens, prompt.stop)
        return replace(row, goes_on=request.goes_on)
