"""Controls for the experiment with passages: one has read the old passages, the other has read no passage.

Both are ∞-gram models, like the controls for tables. Both have read the words of all passages in random order, so they
know the words of old and fresh passages equally well. One of them has also read the old passages.
"""

from collections.abc import Sequence
from random import Random

from tabcontam.evidence.questions import Capability, Reply, ReplyState, Scores
from tabcontam.models.base import Model, ModelRequest, PromptForm
from tabcontam.models.known.ngram_model import build

OLD, NEITHER = "control:old", "control:neither"


class ReaderControl(Model):
    """A control for passages, which has read some texts."""

    control = True
    local = True
    capabilities = frozenset({Capability.GENERATE, Capability.COMPLETION, Capability.SCORE})
    form = PromptForm.COMPLETION
    connections = 1
    identity = None  # made in seconds: not worth storing
    version = "infinigram 2"

    def __init__(self, spec: str, texts: Sequence[str]) -> None:
        self.spec = spec
        self._language_model = build(texts)

    async def generate(self, request: ModelRequest) -> Reply:
        """Return the greedy continuation of the prompt in completion form."""
        prompt = request.prompt
        generated = self._language_model.generate(prompt.completion, request.max_tokens, prompt.stop)
        state = ReplyState.TRUNCATED if generated.finish == "length" else ReplyState.OK
        return Reply(generated.text, state if generated.text.strip() else ReplyState.EMPTY, tokens=generated.tokens)

    async def score(self, request: ModelRequest) -> Scores:
        """Return the tokens of a passage with their log-probabilities."""
        return Scores(tuple(self._language_model.score(request.passage.text)), ReplyState.OK)


def readers(old: Sequence[str], fresh: Sequence[str], seed: int) -> tuple[ReaderControl, ReaderControl]:
    """Return the control that has read the old texts, and the control that has read neither old nor fresh ones."""
    every = [*old, *fresh]
    dealt = [word for text in every for word in text.split()]
    Random(f"{seed} readers").shuffle(dealt)
    known = " ".join(dealt)
    return ReaderControl(OLD, [known, *old]), ReaderControl(NEITHER, [known])
