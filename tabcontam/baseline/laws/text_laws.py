"""Texts composed from other cells of their row: an e-mail from a name, a code from a department and a year.

The reverse is found too: the first name from the e-mail. A search finds programs that write the target's texts in
examples (`synthesis`). Different rows may need different programs. A text that no shown cell determines, such as a
random number, has no program and no prediction.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tabcontam.baseline.coded_columns import MISSING, Bools, Column, Ints, without_words
from tabcontam.baseline.fit import Fit
from tabcontam.baseline.laws.base import LawPredictions
from tabcontam.baseline.laws.programs import (
    LiteralSegment,
    MeaningSegment,
    PieceSegment,
    Program,
    Read,
    learn_meanings,
    write,
)
from tabcontam.baseline.laws.synthesis import TextExamples, synthesize
from tabcontam.baseline.laws.text_pieces import PieceRule, pieces, plain
from tabcontam.baseline.thresholds import (
    FEW_VALUES,
    LEAST_NEW_TEXT_SHARE,
    LEAST_PROGRAM_ROWS,
    LONGEST_PIECE_SOURCE,
    MOST_PROGRAMS,
    MOST_SEGMENTS,
    MOST_TEXT_SOURCES,
    PROGRAM_EXAMPLE_ROWS,
    PROGRAM_SEARCHES,
    PROGRAM_TEST_ROWS,
    SURE_PROGRAM_SHARE,
)
from tabcontam.reading.answer_text import value_key


def strings(fit: Fit) -> list[LawPredictions]:
    """Return predictions by programs found in the training rows; probabilities are shares of rows."""
    if len(fit.train) < LEAST_PROGRAM_ROWS or not fit.shown:
        return []
    rows = fit.train[np.unique(np.linspace(0, len(fit.train) - 1, PROGRAM_TEST_ROWS).astype(np.int64))]
    sources = _Sources(fit.target, _looked_at(fit))
    found = _found(sources, rows)
    if not found:
        return []
    shares = _ProgramRates(sources.keys(rows), [one.keys for one in found])
    reads = [sources.read(row) for row in fit.predicted.tolist()]
    written = [[_key(write(one.program, read)) for read in reads] for one in found]
    return [LawPredictions.of([shares.chances(keys) for keys in zip(*written, strict=True)])]


@dataclass(frozen=True, eq=False)
class _ProgramTexts:
    """A program, and the keys of the texts that it writes in the tested rows."""

    program: Program
    keys: list[str | None]


class _Sources:
    """The plain texts of the target and of the columns from which it may be composed."""

    def __init__(self, target: Column, shown: Sequence[Column]) -> None:
        self.target, self.shown = target, shown
        self.plain = lru_cache(maxsize=None)(plain)

    def texts(self, column: Column, rows: Ints) -> list[str]:
        """Return the plain texts of a column in these rows; empty where missing."""
        return [self.plain(column.cells[row]) if column.keys[row] != MISSING else "" for row in rows.tolist()]

    def targets(self, rows: Ints) -> list[str]:
        """Return the texts to write: the key if the text contains it, as for a number, otherwise the text."""
        found = []
        for row in rows.tolist():
            key, text = self.target.keys[row], self.plain(self.target.cells[row])
            found.append("" if key == MISSING or len(key) >= LONGEST_PIECE_SOURCE else key if key in text else text)
        return found

    def keys(self, rows: Ints) -> list[str]:
        """Return the keys of the target's values in these rows."""
        return [self.target.keys[row] for row in rows.tolist()]

    def read(self, row: int) -> Read:
        """Return a function that reads pieces from this row."""

        def read(piece: PieceRule) -> str:
            one = self.shown[piece.column]
            return piece.piece_of(self.plain(one.cells[row])) if one.keys[row] != MISSING else ""

        return read


def _looked_at(fit: Fit) -> tuple[Column, ...]:
    """Return the shown columns without their words, which pieces include."""
    own = without_words(fit.shown)
    return tuple(sorted(own, key=lambda one: (one.numbers is not None, one.name))[:MOST_TEXT_SOURCES])


def _found(sources: _Sources, rows: Ints) -> list[_ProgramTexts]:
    """Return the programs to use: the best program first, then programs that write the remaining rows."""
    targets, keys = sources.targets(rows), sources.keys(rows)
    reads = [sources.read(row) for row in rows.tolist()]
    least = max(3, 2.5 + LEAST_NEW_TEXT_SHARE * len(rows))
    is_class = sources.target.distinct <= min(FEW_VALUES, len(rows) / 4)
    deep = 1 if is_class else MOST_SEGMENTS  # a class is not composed of parts
    found: list[_ProgramTexts] = []
    remaining = np.array([bool(target) for target in targets])
    for _ in range(PROGRAM_SEARCHES):
        if remaining.sum() < least or len(found) >= MOST_PROGRAMS:
            break
        places = np.flatnonzero(remaining)
        sample = places[np.unique(np.linspace(0, len(places) - 1, PROGRAM_EXAMPLE_ROWS).astype(np.int64))]
        made = []
        for program in synthesize(_examples(sources, rows[sample], [targets[place] for place in sample]), deep):
            if _known_otherwise(program, sources):
                continue
            whole_program, written = learn_meanings(program, targets, reads)
            made.append(_ProgramTexts(whole_program, [_key(text) for text in written]))
            if _right(made[-1].keys, keys)[remaining].mean() >= SURE_PROGRAM_SHARE:
                break
        new = _cover(made, keys, remaining, least)
        if not new:
            break
        found += new
    return found[:MOST_PROGRAMS]


def _examples(sources: _Sources, rows: Ints, targets: Sequence[str]) -> TextExamples:
    columns = enumerate(sources.shown)
    made = [item for number, one in columns for item in pieces(number, one, sources.texts(one, rows))]
    return TextExamples(tuple(targets), tuple(piece for piece, _ in made), tuple(values for _, values in made))


def _known_otherwise(program: Program, sources: _Sources) -> bool:
    """Return whether another law finds the program: it is a copy, a difference, or the meaning of one whole cell."""
    first = program[0]
    if len(program) > 1 or isinstance(first, LiteralSegment) or first.piece.cut != "whole":
        return False
    number = sources.shown[first.piece.column].numbers is not None
    alike = number == (sources.target.numbers is not None)
    return isinstance(first, MeaningSegment) or (alike and not (isinstance(first, PieceSegment) and first.length))


def _cover(made: Sequence[_ProgramTexts], keys: Sequence[str], remaining: Bools, least: float) -> list[_ProgramTexts]:
    """Return programs that write rows that no earlier one writes, and more of them than frequencies explain."""
    counts = Counter(keys)
    found: list[_ProgramTexts] = []
    for _ in range(len(made)):
        hits = [_right(one.keys, keys) & remaining for one in made]
        best = int(np.argmax([hit.sum() for hit in hits]))
        if hits[best].sum() < least or not _beyond_chance(made[best].keys, keys, counts):
            break
        found.append(made[best])
        remaining &= ~hits[best]
    return found


def _right(written: Sequence[str | None], keys: Sequence[str]) -> Bools:
    return np.array([own == key for own, key in zip(written, keys, strict=True)], dtype=np.bool_)


def _beyond_chance(written: Sequence[str | None], keys: Sequence[str], counts: Counter[str]) -> bool:
    """Return whether a program is right more often than the frequencies of its texts explain."""
    pairs = [(own, key) for own, key in zip(written, keys, strict=True) if own is not None]
    chances = np.array([(counts[own] - (own == key)) / len(keys) for own, key in pairs])
    right = sum(own == key for own, key in pairs)
    return bool(right - chances.sum() > 3 * np.sqrt((chances * (1 - chances)).sum() + 1) - 1)


class _ProgramRates:
    """The rates at which programs are right, by pattern: which programs write equal texts, other texts, or none."""

    def __init__(self, keys: Sequence[str], written: Sequence[Sequence[str | None]]) -> None:
        self.patterns: dict[tuple[int, ...], Counter[int]] = {}
        self.alone: Counter[int] = Counter()
        self.tries: Counter[int] = Counter()
        for own, row in zip(keys, zip(*written, strict=True), strict=True):
            counts = self.patterns.setdefault(_pattern(row), Counter())
            counts[-1] += 1
            for place, key in enumerate(row):
                self.tries[place] += key is not None
                if key is not None and key == own:
                    counts[row.index(key)] += 1
                    self.alone[place] += 1
                    break

    def chances(self, row: Sequence[str | None]) -> dict[str, float]:
        """Return the values that the programs write in a row, each with its probability."""
        counts = self.patterns.get(_pattern(row), Counter())
        found: dict[str, float] = {}
        for place, key in enumerate(row):
            if key is None or key in found:
                continue
            prior = self.alone[place] / (self.tries[place] + 1)
            found[key] = (counts[place] + prior) / (counts[-1] + 1)
        total = sum(found.values())
        return {key: share / max(1.0, total) for key, share in found.items() if share > 0}


def _pattern(row: Sequence[str | None]) -> tuple[int, ...]:
    """Return for each program the index of the first program with an equal text; -1 if it writes none."""
    return tuple(-1 if key is None else row.index(key) for key in row)


def _key(text: str | None) -> str | None:
    return None if text is None else value_key(text) or None
