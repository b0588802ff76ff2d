"""A sample is drawn at its temperature by every provider, and under its own number where a server takes a seed."""

from tabcontam.asking.replies import key
from tabcontam.evidence.questions import Message, Prompt
from tabcontam.subjects.anthropic.habits import Habits as Anthropics
from tabcontam.subjects.base import Form, Request
from tabcontam.subjects.gemini.habits import Habits as Geminis
from tabcontam.subjects.openai.habits import Habits as OpenAIs

GREEDY = Prompt((Message("user", "What?"),), "What?", "What?")
THIRD = Prompt((Message("user", "What?"),), "What?", "What?", temperature=1.0, sample=3)
FOURTH = Prompt((Message("user", "What?"),), "What?", "What?", temperature=1.0, sample=4)


def test_openai_and_its_like_draw_at_the_temperature_with_the_samples_seed() -> None:
    for form in (Form.CHAT, Form.COMPLETION):
        drawn = OpenAIs(seed="seed").arguments(form, Request(THIRD, 8))
        assert (drawn["temperature"], drawn["seed"]) == (1.0, 3)
        greedy = OpenAIs(seed="seed").arguments(form, Request(GREEDY, 8))
        assert (greedy["temperature"], greedy["seed"]) == (0, 0)
    own = OpenAIs(frozenset({"temperature"})).arguments(Form.CHAT, Request(THIRD, 8))
    assert "temperature" not in own  # a model that takes none draws at its own


def test_anthropic_draws_at_the_temperature() -> None:
    assert Anthropics().arguments(Request(THIRD, 8))["temperature"] == 1.0
    assert Anthropics().arguments(Request(GREEDY, 8))["temperature"] == 0


def test_gemini_draws_at_the_temperature_with_the_samples_seed() -> None:
    config = Geminis().arguments(Request(THIRD, 8))["config"]
    assert (config["temperature"], config["seed"]) == (1.0, 3)


def test_samples_are_kept_apart() -> None:
    identity = {"provider": "openai", "address": "", "model": "m"}
    keys = {key(identity, "", Form.CHAT, prompt, 8) for prompt in (GREEDY, THIRD, FOURTH)}
    assert len(keys) == 3
