"""The base of models whose files are in a folder or on the Hugging Face hub, loaded on this machine by any engine."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from tabcontam.errors import UsageError, one_line, unknown
from tabcontam.evidence.questions import Reply, ReplyState
from tabcontam.models.base import Model, ModelRequest, PromptForm
from tabcontam.models.hf.model_tokenizer import ModelTokenizer, PromptTokens
from tabcontam.models.prompt_form import FORMS
from tabcontam.tables.table import Table

if TYPE_CHECKING:
    from tabcontam.models.known.exposed.exposure_card import ExposureCard

SMALLEST = ("config.json",)  # the file that every model has


class SavedModel(Model):
    """The LLM of this name on the hub, or in this folder: all that does not depend on how it is computed.

    `form` is "auto" (chat if the tokenizer has a template), "chat" or "completion"; `spec` is how the user named it, if
    not by provider and name. Raises `UsageError` for an unknown form.
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
        # The form that the user asked for, until the model's files show which it has.
        self.form = PromptForm.COMPLETION if form == "completion" else PromptForm.CHAT

    @property
    def identity(self) -> Mapping[str, str]:
        """The key of its replies. A folder goes by its own name wherever it is: its version identifies its contents."""
        folder = Path(self._name).expanduser()
        name = folder.resolve().name if folder.is_dir() else self._name
        return {"provider": self.provider, "address": "", "model": name}

    @property
    def elsewhere(self) -> Callable[[], Model]:
        """The function that makes this model in another process."""
        return partial(type(self), self._place, form=self._wanted, spec=self.spec)

    @property
    def _place(self) -> str:
        """The name by which every process on this machine finds it: for a folder its absolute path."""
        folder = Path(self._name).expanduser()
        return str(folder.resolve()) if folder.is_dir() else self._name

    async def look(self) -> None:
        """Check that its files are here, or on the hub. Raises `UsageError` if they are at neither."""
        from tabcontam.models.hf.loading import folder_of

        await asyncio.to_thread(folder_of, self._name, self.provider, SMALLEST)

    def check_at_hand(self) -> None:
        """Raise `UsageError` for a card that cannot be trusted."""
        if isinstance(self._card, UsageError):
            raise self._card

    def exposure(self, table: Table, row: int) -> float | None:
        """Return the copies in the folder's card, written by `tabcontam expose`; None without a card to trust."""
        card = self._card
        return None if card is None or isinstance(card, UsageError) else card.copies(table, row)

    @cached_property
    def _card(self) -> "ExposureCard | UsageError | None":
        """The card of the tables it has read, if `tabcontam expose` made it, or why the card cannot be trusted."""
        folder = Path(self._name).expanduser()
        if not folder.is_dir():  # a card from elsewhere cannot be trusted
            return None
        from tabcontam.models.known.exposed.exposure_card import read_card

        try:
            return read_card(folder)
        except UsageError as error:
            return error

    def _take_form(self, chat: bool, seq2seq: bool = False) -> None:
        """Take the form that its files allow. Raises `UsageError` if the user asked for another."""
        if self._wanted == "chat" and not chat:
            raise UsageError(f"{self.spec} has no chat template; choose the form auto or completion")
        if self._wanted == "auto":
            own = PromptForm.CHAT if chat else PromptForm.COMPLETION
            self.form = PromptForm.SEQ2SEQ if seq2seq else own

    def _fitting_row(
        self, text: ModelTokenizer, request: ModelRequest, context: int, room_of: Callable[[PromptTokens], int]
    ) -> PromptTokens | Reply:
        """Return a prompt as token ids, with at most as many for the answer as there is room, or why there is none."""
        try:
            row = self._row(text, request)
        except Exception as error:  # a template or tokenizer of any make
            return Reply("", ReplyState.FAILED, f"the prompt cannot be written for this model: {one_line(error)}")
        if (room := room_of(row)) >= 1:
            return replace(row, max_tokens=min(row.max_tokens, room))
        takes = f"{len(row.ids):,} tokens, and the model takes {context:,} with the answer"
        return Reply("", ReplyState.FAILED, f"the prompt is too long: {takes}")

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
