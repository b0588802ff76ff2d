"""ROUGE-L, the overlap of the words of two texts in the same order.

Golchin and Surdeanu 2024, section 3.2, use it to compare a completion with the true second piece. The definition is
from Lin 2004, computed as in the package rouge-score without stemming.
"""

import re

TOKEN = re.compile(r"[a-z0-9]+")


def tokens(text: str) -> list[str]:
    """Return the words that are compared: runs of the letters a to z and of digits, in lower case."""
    return TOKEN.findall(text.lower())


def rouge_l(expected: str, answer: str) -> float:
    """Return the F-measure of the longest common subsequence of the words of two texts, from 0 to 1.

    The precision is the subsequence's share of the answer's words, the recall its share of the expected words. The
    result is 0 if a text has no words.
    """
    from rapidfuzz.distance import LCSseq

    true, own = tokens(expected), tokens(answer)
    if not true or not own:
        return 0.0
    return 2 * LCSseq.similarity(true, own) / (len(true) + len(own))
