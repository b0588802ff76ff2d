"""The words and characters of a row, and the pieces of them in the published rules. Digits are words as any other."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from tabcontam.evidence.thresholds import GPT3_MOST_DOCUMENTS, GPT3_SHORT_ROW_SHARE, LLAMA_RUN_WORDS, SHORT_PIECE_WORDS

WORD = re.compile(r"(?:[0-9A-Za-z\u0080-\U0010ffff]|(?<=[0-9])\.(?=[0-9]))+")
LEAST, MOST = 8, 13  # words of a piece of GPT-3
SIGNS, DRAWN = 50, 3  # letters and digits of a piece of GPT-4, and the number of pieces


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text in small letters, numbers whole: `The age is 39.5` has four."""
    return tuple(word.casefold() for word in WORD.findall(text))


def signs(text: str) -> str:
    """Return the letters and digits of a text, as GPT-4's rule compares it."""
    return "".join(sign for sign in text if sign.isalnum())


def grams(own: Sequence[str], length: int) -> list[str]:
    """Return all pieces of `length` adjacent words, in order; none of a text that is shorter."""
    return [" ".join(own[start : start + length]) for start in range(len(own) - length + 1)]


def of_length(own: Sequence[str], length: int) -> list[str]:
    """Return the pieces that GPT-3 looks for: all of `length` words, or the whole of a text that is shorter."""
    return grams(own, length) or ([" ".join(own)] if own else [])


def usual_length(lengths: Iterable[int]) -> int:
    """Return the words of a piece of GPT-3: the 5th percentile of the rows' lengths, but 8 to 13."""
    ordered = sorted(lengths)
    return min(MOST, max(LEAST, ordered[int(GPT3_SHORT_ROW_SHARE * (len(ordered) - 1))])) if ordered else MOST


def drawn_signs(text: str, rng: Random) -> tuple[str, ...]:
    """Return three random pieces of 50 letters and digits, or the whole text if it is shorter."""
    own = signs(text)
    starts = [rng.randrange(len(own) - SIGNS + 1) if len(own) > SIGNS else 0 for _ in range(DRAWN)]
    return tuple(dict.fromkeys(own[start : start + SIGNS] for start in starts))


@dataclass(frozen=True)
class PieceOverlap:
    """The parts of one row that documents hold, by the published rules' own measures."""

    short: float  # share of its pieces of 8 words; 0 for a row of fewer words
    in_short: float  # share of its words in pieces of 8 words that documents hold
    collides: bool  # whether a piece of GPT-3's length, or all of a shorter row, stands in 1 to 10 documents
    common: bool  # whether one of these stands in more documents, and is left out by GPT-3
    in_runs: float  # share of its words in runs of more than 10 words that documents hold


def overlap(own: Sequence[str], counts: Mapping[str, int], length: int) -> PieceOverlap:
    """Return a row's overlap, from the number of documents with each piece and the length of GPT-3's pieces."""
    short = grams(own, SHORT_PIECE_WORDS)
    held = sum(counts.get(piece, 0) > 0 for piece in short)
    usual = [counts.get(piece, 0) for piece in of_length(own, length)]
    return PieceOverlap(
        short=held / len(short) if short else 0.0,
        in_short=_covered(own, SHORT_PIECE_WORDS, counts),
        collides=any(0 < count <= GPT3_MOST_DOCUMENTS for count in usual),
        common=any(count > GPT3_MOST_DOCUMENTS for count in usual),
        in_runs=_covered(own, LLAMA_RUN_WORDS, counts),
    )


def _covered(own: Sequence[str], length: int, counts: Mapping[str, int]) -> float:
    """Return the share of words that stand in a piece of `length` words which documents hold."""
    covered: set[int] = set()
    for start, piece in enumerate(grams(own, length)):
        if counts.get(piece, 0):
            covered.update(range(start, start + length))
    return len(covered) / len(own) if own else 0.0
