"""An LLM that cannot be asked stands in the run with its reason."""

import asyncio

import pytest

from tabcontam.errors import Unavailable
from tabcontam.evidence.base import Message, Prompt
from tabcontam.models.base import FatalError, ModelRequest, PromptForm
from tabcontam.models.provider_record import MissingModel

ERROR = Unavailable("nothing here serves T0: pip install 'tabcontam[hf]'")


def test_it_says_what_is_missing_when_it_is_to_connect() -> None:
    model = MissingModel("T0", ERROR)
    with pytest.raises(Unavailable) as caught:
        asyncio.run(model.connect())
    assert caught.value is ERROR


def test_it_is_never_asked() -> None:
    request = ModelRequest(Prompt((Message("user", "hello"),), "hello", "hello"), 5)
    with pytest.raises(FatalError, match="nothing here serves T0"):
        asyncio.run(MissingModel("T0", ERROR).generate(request))


def test_it_can_be_planned_for_and_leaves_no_reply_behind() -> None:
    model = MissingModel("T0", ERROR)
    assert (model.spec, model.form, model.local, model.control) == ("T0", PromptForm.CHAT, True, False)
    assert model.identity is None
    assert model.allowance == 0
    asyncio.run(model.close())
