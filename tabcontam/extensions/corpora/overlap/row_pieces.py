"""The words and characters of a row, and their pieces in the published rules. Digits are part of words."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from tabcontam.extensions.corpora.thresholds import (
    GPT3_LEAST_WORDS,
    GPT3_MOST_DOCUMENTS,
    GPT3_MOST_WORDS,
    GPT3_SHORT_ROW_SHARE,
    GPT4_PIECE_CHARACTERS,
    GPT4_PIECES,
    LLAMA_RUN_WORDS,
    SHORT_PIECE_WORDS,
)

WORD = re.compile(r"(?:[0-9A-Za-z\u0080-\U0010ffff]|(?<=[0-9])\.(?=[0-9]))+")


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text in lower case, with numbers whole: `The age is 39.5` has four words."""
    return tuple(word.casefold() for word in WORD.findall(text))


def signs(text: str) -> str:
    """Return the letters and digits of a text, which GPT-4's rule compares."""
    return "".join(sign for sign in text if sign.isalnum())


def grams(own: Sequence[str], length: int) -> list[str]:
    """Return all pieces of `length` adjacent words, in order; [] if there are fewer words."""
    return [" ".join(own[start : start + length]) for start in range(len(own) - length + 1)]


def of_length(own: Sequence[str], length: int) -> list[str]:
    """Return the pieces of `length` words that GPT-3's rule searches for; a shorter text is one piece."""
    return grams(own, length) or ([" ".join(own)] if own else [])


def usual_length(lengths: Iterable[int]) -> int:
    """Return the words of a piece by GPT-3's rule: the 5th percentile of the rows' lengths, limited to 8 to 13."""
    ordered = sorted(lengths)
    return (
        min(GPT3_MOST_WORDS, max(GPT3_LEAST_WORDS, ordered[int(GPT3_SHORT_ROW_SHARE * (len(ordered) - 1))]))
        if ordered
        else GPT3_MOST_WORDS
    )


def drawn_signs(text: str, rng: Random) -> tuple[str, ...]:
    """Return three random pieces of 50 letters and digits, or the whole text if it is shorter."""
    own = signs(text)
    starts = [
        rng.randrange(len(own) - GPT4_PIECE_CHARACTERS + 1) if len(own) > GPT4_PIECE_CHARACTERS else 0
        for _ in range(GPT4_PIECES)
    ]
    return tuple(dict.fromkeys(own[start : start + GPT4_PIECE_CHARACTERS] for start in starts))


@dataclass(frozen=True)
class PieceOverlap:
    """The share of one row that documents contain, by the measures of the published rules."""

    short: float  # share of its pieces of 8 words that are found; 0 for a row of fewer words
    in_short: float  # share of its words that are in found pieces of 8 words
    collides: bool  # whether 1 to 10 documents contain a piece of GPT-3's length, or a shorter row
    common: bool  # whether more than 10 documents contain such a piece, which GPT-3's rule leaves out
    in_runs: float  # share of its words that are in found runs of more than 10 words


def overlap(own: Sequence[str], counts: Mapping[str, int], length: int) -> PieceOverlap:
    """Return a row's overlap. `counts` has each piece's number of documents; GPT-3's pieces have `length` words."""
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
    """Return the share of words that are in a found piece of `length` words."""
    covered: set[int] = set()
    for start, piece in enumerate(grams(own, length)):
        if counts.get(piece, 0):
            covered.update(range(start, start + length))
    return len(covered) / len(own) if own else 0.0
