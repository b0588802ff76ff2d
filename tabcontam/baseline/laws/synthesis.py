"""A search, from examples, for programs that write a column's texts from shown cells.

The search reads the texts of all example rows in parallel, from left to right. It keeps the programs that explain most
characters (a beam search over a small grammar of strings, after Gulwani, POPL 2011).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from re import Pattern

import numpy as np

from tabcontam.baseline.coded_columns import Bools, Floats, Ints
from tabcontam.baseline.laws.programs import (
    TOKENS,
    LiteralSegment,
    MeaningSegment,
    NumberSegment,
    PieceSegment,
    Program,
    Segment,
    whole,
)
from tabcontam.baseline.laws.text_pieces import PieceRule
from tabcontam.baseline.thresholds import (
    LEAST_EXAMPLE_SHARE,
    LEAST_MEANING_SHARE,
    LONGEST_PIECE_SOURCE,
    MOST_PROGRAM_DIGITS,
    MOST_SEGMENTS,
    PREFIX_LENGTHS,
    PROGRAM_BEAM,
    SURE_EXAMPLE_SHARE,
)

HEAD = 8  # first characters of a piece that are compared in one step
PARTIAL = ("first", "last", "behind", "words behind", "last two digits")  # cuts within a word


@dataclass(frozen=True, eq=False)
class TextExamples:
    """Texts to write, and the pieces of their rows' shown cells."""

    targets: tuple[str, ...]
    pieces: tuple[PieceRule, ...]
    values: tuple[tuple[str, ...], ...]  # pieces by rows

    @cached_property
    def letters(self) -> Ints:
        """The characters of the targets as numbers, one line per row, padded with zeros."""
        longest = max(map(len, self.targets))
        return _letters([*self.targets], longest + HEAD + 1)

    @cached_property
    def lengths(self) -> Ints:
        """The lengths of the targets."""
        return np.array([len(target) for target in self.targets], dtype=np.int64)

    @cached_property
    def heads(self) -> Ints:
        """The first characters of each piece in each row."""
        flat = [value[:HEAD] for values in self.values for value in values]
        return _letters(flat, HEAD).reshape(len(self.pieces), len(self.targets), HEAD)

    @cached_property
    def sizes(self) -> Ints:
        """The length of each piece in each row."""
        return np.array([[len(value) for value in values] for values in self.values], dtype=np.int64)

    @cached_property
    def numeric(self) -> Ints:
        """The indices of the pieces that are whole numbers in most rows."""
        parts = self.sizes > 0
        digits = ((self.heads[:, :, 0] >= ord("0")) & (self.heads[:, :, 0] <= ord("9"))).sum(axis=1)
        return np.flatnonzero(digits >= np.maximum(3, 0.5 * parts.sum(axis=1)))

    @cached_property
    def numbers(self) -> Floats:
        """The whole numbers of the numeric pieces, NaN where a piece is no whole number."""
        found = [[whole(value) for value in self.values[place]] for place in self.numeric]
        numbers = np.array([[np.nan if one is None else one for one in row] for row in found], dtype=np.float64)
        return numbers.reshape(len(found), len(self.targets))

    @cached_property
    def few(self) -> tuple[Ints, Ints]:
        """The indices of pieces with few distinct values, and the codes of these values by row; 0 is no value."""
        places, codes = [], []
        for place, values in enumerate(self.values):
            known = set(values) - {""}
            if 1 < len(known) <= 0.4 * len(values):
                order = {value: number + 1 for number, value in enumerate(sorted(known))}
                places.append(place)
                codes.append([order.get(value, 0) for value in values])
        return np.array(places, dtype=np.int64), np.array(codes, dtype=np.int64).reshape(len(places), len(self.targets))


@dataclass(frozen=True, eq=False)
class _PartialProgram:
    """The beginning of a program, and the position it has reached in each target; -1 where it has failed."""

    program: Program
    reached: Ints

    @property
    def worth(self) -> tuple[int, int]:
        """The number of explained characters, then the negative cost: between equals the simpler program wins."""
        return int(self.reached[self.reached > 0].sum()), -self.cost

    @cached_property
    def cost(self) -> int:
        """The number of segments. Segments that cut a word or number count double, since a carry may change digits."""
        return sum(1 + _cutting(segment) for segment in self.program)


def synthesize(examples: TextExamples, deep: int = MOST_SEGMENTS, most: int = 6) -> list[Program]:
    """Return the programs of at most `deep` segments that write most examples completely, the best first."""
    count = len(examples.targets)
    least = max(3, int(np.ceil(LEAST_EXAMPLE_SHARE * count)))
    if count < 3 or not examples.pieces or max(map(len, examples.targets)) > LONGEST_PIECE_SOURCE:
        return []
    done: dict[Program, int] = {}
    beam = [_PartialProgram((), np.zeros(count, dtype=np.int64))]
    for _ in range(deep):
        found: dict[bytes, _PartialProgram] = {}
        for state in beam:
            for segment, reached in _next(state, examples, least):
                made, key = _PartialProgram((*state.program, segment), reached), reached.tobytes()
                if key not in found or made.cost < found[key].cost:
                    found[key] = made
        ranked = sorted(found.values(), key=lambda one: one.worth, reverse=True)
        for state in ranked:
            hits = int((state.reached == examples.lengths).sum())
            if hits >= least and not all(isinstance(segment, LiteralSegment) for segment in state.program):
                done[state.program] = hits
        beam = _best(ranked, examples)
        if not beam or (done and max(done.values()) >= 0.98 * count):
            break
    return sorted(done, key=lambda program: -done[program])[:most]


def _cutting(segment: Segment) -> bool:
    if isinstance(segment, LiteralSegment):
        return False
    return segment.piece.cut in PARTIAL or (isinstance(segment, PieceSegment) and segment.length > 0)


def _best(ranked: Sequence[_PartialProgram], examples: TextExamples) -> list[_PartialProgram]:
    """Return the best unfinished programs, without programs that reach the same positions as a better one."""
    kept: list[_PartialProgram] = []
    for state in ranked:
        alive = state.reached >= 0
        if (state.reached < examples.lengths)[alive].any() and not any(
            np.array_equal(one.reached[alive], state.reached[alive]) for one in kept
        ):
            kept.append(state)
            if len(kept) == PROGRAM_BEAM:
                break
    return kept


def _next(state: _PartialProgram, examples: TextExamples, least: int) -> Iterator[tuple[Segment, Ints]]:
    """Yield the segments that continue a program in enough examples, each with the positions then reached."""
    alive = np.flatnonzero((state.reached >= 0) & (state.reached < examples.lengths))
    if len(alive) < least:
        return
    positions = state.reached[alive]
    following = examples.letters[alive[:, None], positions[:, None] + np.arange(HEAD)]
    yield from _taken(examples, alive, positions, following, least)
    yield from _raised(examples, alive, positions, following, least)
    yield from _meant(examples, alive, positions, least)
    yield from _literals(examples, alive, positions, following, least)


def _taken(
    examples: TextExamples, alive: Ints, positions: Ints, following: Ints, least: int
) -> Iterator[tuple[Segment, Ints]]:
    first = examples.heads[:, alive, 0] == following[:, 0]
    likely = np.flatnonzero(first.sum(axis=1) >= least)
    if not len(likely):
        return
    sizes = examples.sizes[np.ix_(likely, alive)]
    alike = np.cumprod(examples.heads[np.ix_(likely, alive)] == following, axis=2).sum(axis=2)
    alike = np.minimum(alike, sizes)
    full = (alike >= np.minimum(sizes, HEAD)) & (sizes > 0)
    # for each length: examples that continue with so many first characters of a piece, or with a whole shorter piece
    enough = {
        length: (alike >= length) | (full & (sizes < length)) for length in (*PREFIX_LENGTHS, PREFIX_LENGTHS[-1] + 1)
    }
    counts = {length: each.sum(axis=1) for length, each in enough.items()}
    wanted = {
        length: max(least, SURE_EXAMPLE_SHARE * len(alive)) if length == 1 else least for length in PREFIX_LENGTHS
    }
    ends = {
        length: (counts[length] >= wanted[length]) & (counts[length + 1] < 0.8 * counts[length])
        for length in PREFIX_LENGTHS
    }
    whole_ones = full.sum(axis=1) >= least
    for number in np.flatnonzero(np.logical_or.reduce([whole_ones, *ends.values()])).tolist():
        place = int(likely[number])
        if whole_ones[number]:
            values, matches = examples.values[place], full[number].copy()
            for one in np.flatnonzero(matches & (sizes[number] > HEAD)).tolist():
                row = alive[one]
                matches[one] = examples.targets[row].startswith(values[row], positions[one])
            if matches.sum() >= least:
                reached = _reaching(examples, alive[matches], (positions + sizes[number])[matches])
                yield PieceSegment(examples.pieces[place]), reached
        for length in PREFIX_LENGTHS:
            if ends[length][number]:
                rows = enough[length][number]
                moved = positions + np.minimum(sizes[number], length)
                yield PieceSegment(examples.pieces[place], length), _reaching(examples, alive[rows], moved[rows])


def _raised(
    examples: TextExamples, alive: Ints, positions: Ints, following: Ints, least: int
) -> Iterator[tuple[Segment, Ints]]:
    digits = (following[:, 0] >= ord("0")) & (following[:, 0] <= ord("9"))
    if digits.sum() < least or not len(examples.numeric):
        return
    tokens = _tokens(TOKENS["digits"], examples, alive, positions)
    numbers = np.array([np.nan if (one := whole(token)) is None else one for token in tokens], dtype=np.float64)
    lengths = np.array([len(token) for token in tokens], dtype=np.int64)
    apart = numbers - examples.numbers[:, alive]
    known = np.isfinite(apart).sum(axis=1)
    middle = np.sort(apart, axis=1)[np.arange(len(apart)), np.maximum(0, known - 1) // 2]  # the median: NaN is last
    equal = apart == middle[:, None]
    padded = any(token.startswith("0") and len(token) > 1 for token in tokens)
    for number in np.flatnonzero(equal.sum(axis=1) >= max(least, SURE_EXAMPLE_SHARE * len(alive))).tolist():
        place, added = int(examples.numeric[number]), int(middle[number])
        width = int(np.bincount(lengths[equal[number]]).argmax()) if padded else 0
        written = [len(str(int(one)).zfill(width)) if np.isfinite(one) else -1 for one in numbers]
        sizes = np.array(written, dtype=np.int64)
        matches = equal[number] & (sizes == lengths)
        if width <= MOST_PROGRAM_DIGITS and matches.sum() >= least:
            reached = _reaching(examples, alive[matches], (positions + sizes)[matches])
            yield NumberSegment(examples.pieces[place], added, width), reached


def _tokens(pattern: Pattern[str], examples: TextExamples, alive: Ints, positions: Ints) -> list[str]:
    """Return the match of a pattern at each position, in the targets of the rows `alive`; empty without a match."""
    places = zip(alive.tolist(), positions.tolist(), strict=True)
    matches = (pattern.match(examples.targets[row], position) for row, position in places)
    return [match.group() if match else "" for match in matches]


def _meant(examples: TextExamples, alive: Ints, positions: Ints, least: int) -> Iterator[tuple[Segment, Ints]]:
    places, codes = examples.few
    if not len(places):
        return
    seen = set()
    for token, pattern in TOKENS.items():
        matches = _tokens(pattern, examples, alive, positions)
        kinds = sorted(set(matches) - {""})
        if tuple(matches) in seen or not 1 < len(kinds) <= 0.5 * len(alive):
            continue
        seen.add(tuple(matches))
        order = {kind: number + 1 for number, kind in enumerate(kinds)}
        texts = np.array([order.get(match, 0) for match in matches], dtype=np.int64)
        by_chance = np.bincount(texts).max() / len(alive)
        for number, right in _alike(codes[:, alive], texts):
            wrong = 1 - right.sum() / len(alive)
            if right.sum() >= max(least, LEAST_MEANING_SHARE * len(alive)) and wrong <= 0.5 * (1 - by_chance):
                lengths = np.array([len(match) for match in matches], dtype=np.int64)
                piece = examples.pieces[int(places[number])]
                yield MeaningSegment(piece, token), _reaching(examples, alive[right], (positions + lengths)[right])


def _alike(codes: Ints, texts: Ints, most: int = 3) -> list[tuple[int, Bools]]:
    """Return the pieces that best predict these texts, and masks of rows predicted right from other rows."""
    kinds, values = int(texts.max()) + 1, int(codes.max()) + 1
    flat = (np.arange(len(codes))[:, None] * values + codes) * kinds + texts[None, :]
    found, places, counts = np.unique(flat, return_inverse=True, return_counts=True)
    groups = found // kinds
    order = np.lexsort((-counts, groups))  # the commonest text of each value comes first
    starts = np.append(True, groups[order][1:] != groups[order][:-1])
    second = np.append(np.where(starts[1:], 0, counts[order][1:]), 0)
    clear = np.zeros(len(found), dtype=np.bool_)
    clear[order] = starts & (counts[order] - 1 > second)  # also without the row itself
    right = clear[places].reshape(codes.shape) & (codes > 0) & (texts > 0)[None, :]
    order = np.argsort(-right.sum(axis=1), kind="stable")[:most]
    return [(int(number), right[number]) for number in order]


def _literals(
    examples: TextExamples, alive: Ints, positions: Ints, following: Ints, least: int
) -> Iterator[tuple[Segment, Ints]]:
    letters, counts = np.unique(following[:, 0], return_counts=True)
    for number in np.argsort(-counts, kind="stable")[:3].tolist():
        if counts[number] < least:
            return
        rows = following[:, 0] == letters[number]
        left = sorted(
            examples.targets[row][position:] for row, position in zip(alive[rows], positions[rows], strict=True)
        )
        shared = _shared(left[int(0.05 * len(left))], left[int(0.95 * (len(left) - 1))])  # by nine in ten of the texts
        for text in _ends(shared):
            targets = ((one, examples.targets[alive[one]]) for one in np.flatnonzero(rows).tolist())
            matches = [one for one, target in targets if target.startswith(text, positions[one])]
            yield LiteralSegment(text), _reaching(examples, alive[matches], positions[matches] + len(text))


def _shared(one: str, other: str) -> str:
    """Return the longest common beginning of both texts."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(letter for letter, _ in same)


def _ends(shared: str) -> Sequence[str]:
    """Return beginnings that may be literals: the whole text, or up to its last word, first word or first digits."""
    word_starts = [
        place for place in range(1, len(shared)) if shared[place].isalnum() and not shared[place - 1].isalnum()
    ]
    digits = [place for place in range(1, len(shared)) if shared[place].isdigit() and not shared[place - 1].isdigit()]
    ends = [len(shared), *word_starts[-1:], *word_starts[:1], *digits[:1]]
    return [shared[:end] for end in dict.fromkeys(ends) if end]


def _reaching(examples: TextExamples, rows: Ints, reached: Ints) -> Ints:
    found = np.full(len(examples.targets), -1, dtype=np.int64)
    found[rows] = reached
    return found


def _letters(texts: Sequence[str], width: int) -> Ints:
    """Return the characters of texts as numbers, one line per text, padded with zeros."""
    flat = np.array(list(texts), dtype=f"<U{width}")
    return np.frombuffer(flat.tobytes(), dtype=np.uint32).reshape(len(texts), width).astype(np.int64)
