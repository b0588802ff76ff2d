"""The overlap of one text with another, in order: ROUGE-L.

Golchin and Surdeanu 2024, section 3.2, compare a completion with the true second piece by it. The definition is that of
Lin 2004 as the package rouge-score has it without stemming.
"""

import re

TOKEN = re.compile(r"[a-z0-9]+")


def tokens(text: str) -> list[str]:
    """Return the words that are compared: runs of the letters a to z and of digits, in lower case."""
    return TOKEN.findall(text.lower())


def rouge_l(expected: str, answer: str) -> float:
    """Return the F-measure of the longest common subsequence of the words of two texts, from 0 to 1.

    The subsequence's share of the words in `said` is the precision and its share of the expected words the recall. The
    measure is 0 if a text has no word.
    """
    from rapidfuzz.distance import LCSseq

    true, own = tokens(expected), tokens(answer)
    if not true or not own:
        return 0.0
    return 2 * LCSseq.similarity(true, own) / (len(true) + len(own))
