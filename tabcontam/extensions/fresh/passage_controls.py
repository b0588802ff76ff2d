"""Controls for the experiment with passages: one has read the old passages, the other has read no passage.

Both are ∞-gram models, like the controls for tables. Both have read the words of all passages in random order, so they
know the words of old and fresh passages equally well. One of them has also read the old passages.
"""

from collections.abc import Sequence
from random import Random

from tabcontam.models.known.control import ControlModel
from tabcontam.models.known.ngram_model import build

OLD, NEITHER = "control:old", "control:neither"


class ReaderControl(ControlModel):
    """A control for passages, which has read some texts."""

    def __init__(self, spec: str, texts: Sequence[str]) -> None:
        super().__init__(exposed=False, serializers=())
        self.spec, self._language_model = spec, build(texts)


def readers(old: Sequence[str], fresh: Sequence[str], seed: int) -> tuple[ReaderControl, ReaderControl]:
    """Return the control that has read the old texts, and the control that has read neither old nor fresh ones."""
    every = [*old, *fresh]
    dealt = [word for text in every for word in text.split()]
    Random(f"{seed} readers").shuffle(dealt)
    known = " ".join(dealt)
    return ReaderControl(OLD, [known, *old]), ReaderControl(NEITHER, [known])
