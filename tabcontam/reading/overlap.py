"""How much of a text stands in another one, in order: ROUGE-L.

Golchin and Surdeanu 2024, section 3.2, compare a completion with the true second piece by it. The definition is that of
Lin 2004 as the package rouge-score has it without stemming.
"""

import re

TOKEN = re.compile(r"[a-z0-9]+")


def tokens(text: str) -> list[str]:
    """The words that are compared: runs of the letters a to z and of digits, in lower case, all else left out."""
    return TOKEN.findall(text.lower())


def rouge_l(expected: str, said: str) -> float:
    """The F-measure of the longest common subsequence of the words of two texts, from 0 to 1.

    The subsequence's share of the words said is the precision and its share of the words expected the recall. 0 where a
    text has no word.
    """
    from rapidfuzz.distance import LCSseq

    true, own = tokens(expected), tokens(said)
    if not true or not own:
        return 0.0
    return 2 * LCSseq.similarity(true, own) / (len(true) + len(own))
