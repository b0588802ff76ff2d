"""Advice for a model that cannot take a test."""

from collections.abc import Sequence

from tabcontam.errors import option
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.samples import needs_samples
from tabcontam.verdicts.wording import phrase

LOG_PROBABILITIES = "log-probabilities"  # the name of this need of a test in messages


def advise_on_lack(tests: Sequence[str], lacks: str) -> str:
    """Return advice if `lacks` says that a model lacks the log-probabilities that `tests` need; "" otherwise."""
    if lacks != LOG_PROBABILITIES:
        return ""
    known = by_id()
    asked = [name for name in tests if name in known and needs_samples(known[name])]
    words = f"add {option('samples', 'N')} to have {phrase(asked)} ask in words, or " if asked else ""
    return f"; {words}name an hf: model, or a server that scores given text (vLLM)"
