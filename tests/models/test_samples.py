"""A sample is drawn at its temperature by every provider, and under its own number where a server takes a seed."""

from tabcontam.asking.reply_store import key
from tabcontam.evidence.questions import Message, Prompt
from tabcontam.models.anthropic.replies import AnthropicHabits as Anthropics
from tabcontam.models.base import ModelRequest, PromptForm
from tabcontam.models.gemini.replies import GeminiHabits as Geminis
from tabcontam.models.openai.habits import OpenAIHabits as OpenAIs

GREEDY = Prompt((Message("user", "What?"),), "What?", "What?")
THIRD = Prompt((Message("user", "What?"),), "What?", "What?", temperature=1.0, sample=3)
FOURTH = Prompt((Message("user", "What?"),), "What?", "What?", temperature=1.0, sample=4)


def test_openai_and_its_like_draw_at_the_temperature_with_the_samples_seed() -> None:
    for form in (PromptForm.CHAT, PromptForm.COMPLETION):
        drawn = OpenAIs(seed="seed").arguments(form, ModelRequest(THIRD, 8))
        assert (drawn["temperature"], drawn["seed"]) == (1.0, 3)
        greedy = OpenAIs(seed="seed").arguments(form, ModelRequest(GREEDY, 8))
        assert (greedy["temperature"], greedy["seed"]) == (0, 0)
    own = OpenAIs(frozenset({"temperature"})).arguments(PromptForm.CHAT, ModelRequest(THIRD, 8))
    assert "temperature" not in own  # a model that takes none draws at its own


def test_anthropic_draws_at_the_temperature() -> None:
    assert Anthropics().arguments(PromptForm.CHAT, ModelRequest(THIRD, 8))["temperature"] == 1.0
    assert Anthropics().arguments(PromptForm.CHAT, ModelRequest(GREEDY, 8))["temperature"] == 0


def test_gemini_draws_at_the_temperature_with_the_samples_seed() -> None:
    config = Geminis().arguments(PromptForm.CHAT, ModelRequest(THIRD, 8))["generationConfig"]
    assert (config["temperature"], config["seed"]) == (1.0, 3)


def test_samples_are_kept_apart() -> None:
    identity = {"provider": "openai", "address": "", "model": "m"}
    keys = {key(identity, "", PromptForm.CHAT, prompt, 8) for prompt in (GREEDY, THIRD, FOURTH)}
    assert len(keys) == 3
