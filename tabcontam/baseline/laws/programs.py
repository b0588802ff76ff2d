"""Programs that compose a text from other cells of its row: a sequence of pieces, literals, numbers and meanings."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tabcontam.baseline.laws.text_pieces import DIGITS, PieceRule
from tabcontam.baseline.thresholds import MOST_PROGRAM_DIGITS

Read = Callable[[PieceRule], str]
"""A function that reads a piece from a row's shown cells."""

TOKENS: Mapping[str, re.Pattern[str]] = {
    "letters": re.compile(r"[^\W\d_]+"),
    "digits": DIGITS,
    "word": re.compile(r"[^\W_]+"),
    "end": re.compile(r".+", re.DOTALL),
}


@dataclass(frozen=True)
class LiteralSegment:
    """A fixed text."""

    text: str

    def write(self, read: Read) -> str:
        """Return the text."""
        return self.text


@dataclass(frozen=True)
class PieceSegment:
    """A piece of another cell, or its first `length` characters if `length` is not 0."""

    piece: PieceRule
    length: int = 0

    def write(self, read: Read) -> str:
        """Return the piece; empty if the row has none."""
        return read(self.piece)[: self.length or None]


@dataclass(frozen=True)
class NumberSegment:
    """The whole number in a piece plus the constant `added`, padded with zeros to `width` digits."""

    piece: PieceRule
    added: int
    width: int = 0

    def write(self, read: Read) -> str:
        """Return the resulting number; empty if the piece is no whole number."""
        number = whole(read(self.piece))
        return "" if number is None or number + self.added < 0 else str(number + self.added).zfill(self.width)


@dataclass(frozen=True)
class MeaningSegment:
    """A text that replaces a piece's value, learned from other rows: a department's code, a month's number."""

    piece: PieceRule
    token: str  # kind of the text: a key of TOKENS
    meanings: tuple[tuple[str, str], ...] = ()

    def write(self, read: Read) -> str:
        """Return the most frequent meaning of the piece's value; empty if the value is unknown."""
        return dict(self.meanings).get(read(self.piece), "")


Segment = LiteralSegment | PieceSegment | NumberSegment | MeaningSegment
Program = tuple[Segment, ...]


def whole(text: str) -> int | None:
    """Return the whole number that a text of digits spells, else None."""
    return int(text) if 0 < len(text) <= MOST_PROGRAM_DIGITS and text.isascii() and text.isdigit() else None


def write(program: Program, read: Read) -> str | None:
    """Return the text that a program writes in a row; None if one of its segments is empty."""
    parts = [segment.write(read) for segment in program]
    return "".join(parts) if all(parts) else None


def learn_meanings(
    program: Program, targets: Sequence[str], reads: Sequence[Read], least: int = 2
) -> tuple[Program, list[str | None]]:
    """Return the program with meanings learned from all rows, and its text in each row with meanings from other rows.

    A meaning needs `least` rows, the row itself included.
    """
    if not any(isinstance(segment, MeaningSegment) for segment in program):
        return program, [write(program, read) for read in reads]
    tokens = [_tokens(program, target, read) for target, read in zip(targets, reads, strict=True)]
    counts: dict[int, dict[str, Counter[str]]] = {}
    for row in tokens:
        for place, value, token in row or ():
            counts.setdefault(place, {}).setdefault(value, Counter())[token] += 1
    whole_program = tuple(_taught(segment, counts.get(place, {})) for place, segment in enumerate(program))
    written: list[str | None] = []
    for read, own in zip(reads, tokens, strict=True):
        parts = [segment.write(read) for segment in whole_program]
        for place, value, token in own or ():
            others = counts[place][value] - Counter([token])
            parts[place] = _commonest(others) if others.total() >= least - 1 else ""
        written.append("".join(parts) if all(parts) else None)
    return whole_program, written


def _taught(segment: Segment, counts: Mapping[str, Counter[str]]) -> Segment:
    if not isinstance(segment, MeaningSegment):
        return segment
    meanings = {value: _commonest(tokens) for value, tokens in counts.items() if tokens.total() > 1}
    return MeaningSegment(segment.piece, segment.token, tuple(sorted(meanings.items())))


def _commonest(tokens: Counter[str]) -> str:
    return min(tokens, key=lambda token: (-tokens[token], token), default="")


def _tokens(program: Program, target: str, read: Read) -> list[tuple[int, str, str]] | None:
    """Return each meaning's index in the program, piece value and text in `target`; None if the program fails."""
    found: list[tuple[int, str, str]] = []
    position = 0
    for place, segment in enumerate(program):
        if isinstance(segment, MeaningSegment):
            value, match = read(segment.piece), TOKENS[segment.token].match(target, position)
            if match is None or not value:
                return None
            found.append((place, value, match.group()))
            position = match.end()
        else:
            text = segment.write(read)
            if not text or not target.startswith(text, position):
                return None
            position += len(text)
    return found if position == len(target) else None
