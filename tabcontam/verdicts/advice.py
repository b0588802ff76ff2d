"""What a user can do about a test that an LLM cannot take."""

from collections.abc import Sequence

from tabcontam.errors import option
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.samples import sampled
from tabcontam.verdicts.wording import phrase

LOG_PROBABILITIES = "log-probabilities"  # how it is said that a test needs them


def instead(tests: Sequence[str], lacks: str) -> str:
    """What to do where an LLM does not tell the log-probabilities that these tests need; nothing for all else."""
    if lacks != LOG_PROBABILITIES:
        return ""
    known = by_id()
    asked = [name for name in tests if name in known and sampled(known[name])]
    words = f"add {option('samples', 'N')} to have {phrase(asked)} ask in words, or " if asked else ""
    return f"; {words}name an hf: model, or a server that scores given text (vLLM)"
