"""LatestEval's contamination experiment, which tests whether an LLM knows old passages better than fresh ones.

Source: Li, Guerin and Lin 2024, section "Contamination Test". It compares the perplexity of texts of equal length, and
how much of a text a model continues word for word after its beginning (Carlini et al. 2022).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from math import log, sqrt
from statistics import fmean, variance

import numpy as np

from tabcontam.evidence.base import Query
from tabcontam.evidence.questions import READ, Answer, Message, Passage, Prompt, Reply, ReplyState, Scores, as_read
from tabcontam.extensions.fresh.passages.passage_words import copied_share, longest_run, words
from tabcontam.extensions.fresh.thresholds import (
    COMPARED_CONTINUATIONS,
    EXCHANGE_DRAWS,
    FAMILIARITY_LEVEL,
    LEAST_COPIED_RUN,
    LEAST_PASSAGE_WORDS,
    LEAST_PASSAGES_OF_A_SIDE,
    MOST_PASSAGE_WORDS,
    TOKENS_PER_CONTINUED_WORD,
)

BITS, LONGEST, COPIED = MEASURES = ("bits_a_character", "longest_common_ngram", "copy_rate")
RECITE = "Go on with this text word for word, as it was published. Write the continuation alone."


@dataclass(frozen=True)
class PassageStart:
    """The first words of a passage: the part `shown` in a query, and its `expected` continuation."""

    id: str
    old: bool
    shown: str
    expected: str

    @property
    def whole(self) -> str:
        """Both parts together."""
        return f"{self.shown} {self.expected}"


@dataclass(frozen=True)
class FamiliarityGap:
    """The difference between old and fresh passages in a measure. It is above 0 if the old passages are more familiar.

    `interval` is Welch's 95 % confidence interval. `p_value` is one-sided, from random exchanges of old and fresh
    passages. `significant` is true if the p-value is small enough, given that three measures are tested. With too few
    answers, `gap` is None and `reason` explains it.
    """

    measure: str
    old: float | None = None
    fresh: float | None = None
    gap: float | None = None
    interval: tuple[float, float] | None = None
    p_value: float | None = None
    significant: bool | None = None
    answered: tuple[int, int] = (0, 0)
    reason: str = ""


class FamiliarityConclusion(StrEnum):
    """The joint conclusion from all gaps of an LLM."""

    COPIED = "copied"  # it continues old passages word for word, but not fresh ones
    LIKELIER = "likelier"  # it only predicts old passages better: faint memory, or plainer texts
    NO_GAP = "no gap"
    CANNOT_TELL = "cannot tell"


def conclusion(gaps: Sequence[FamiliarityGap]) -> FamiliarityConclusion:
    """Return the conclusion. The LLM has read old texts that it copies. Old texts that it only finds likelier may be
    easier to predict.

    The conclusion is never `NO_GAP` for an LLM with too few answers in both measures of copying.
    """
    found = {one.measure: one.significant for one in gaps}
    if found.get(LONGEST) or found.get(COPIED):
        return FamiliarityConclusion.COPIED
    if found.get(BITS):
        return FamiliarityConclusion.LIKELIER
    return FamiliarityConclusion.CANNOT_TELL if found.get(COPIED) is None else FamiliarityConclusion.NO_GAP


def pieces_of(old: Sequence[tuple[str, str]], fresh: Sequence[tuple[str, str]]) -> list[PassageStart]:
    """Return passages, given as id and text, cut to the same length: the number of words of the shortest, at most 200.

    Passages of fewer than 60 words are left out. Raises `ValueError` if fewer than ten old or fresh passages are left.
    """
    long = [(name, text.split(), is_old) for own, is_old in ((old, True), (fresh, False)) for name, text in own]
    long = [one for one in long if len(one[1]) >= LEAST_PASSAGE_WORDS]
    for is_old, what in ((True, "old"), (False, "fresh")):
        if (count := sum(one[2] is is_old for one in long)) < LEAST_PASSAGES_OF_A_SIDE:
            raise ValueError(
                f"only {count} {what} passages have {LEAST_PASSAGE_WORDS} words or more; "
                f"{LEAST_PASSAGES_OF_A_SIDE} are needed"
            )
    length = min(MOST_PASSAGE_WORDS, *(len(text) for _, text, _ in long))
    half = length // 2
    cut = [(name, is_old, " ".join(text[:half]), " ".join(text[half:length])) for name, text, is_old in long]
    return [PassageStart(f"{'old' if is_old else 'fresh'}-{name}", is_old, *parts) for name, is_old, *parts in cut]


def score_query(piece: PassageStart) -> Query:
    """Return the query that scores the whole text."""
    return Query(f"{piece.id}-scored", partial(Passage, piece.whole), (), (), 0, paper=False)


def recite_query(piece: PassageStart) -> Query:
    """Return the query that shows the first half, which the LLM has to continue."""
    asked = f"{RECITE}\n\n{piece.shown}"
    prompt = Prompt((Message("user", asked),), piece.shown, asked, stop=())
    tokens = TOKENS_PER_CONTINUED_WORD * len(piece.expected.split())
    return Query(f"{piece.id}-recited", lambda: prompt, (), (), tokens, paper=False)


def bits(scores: Answer | None) -> float | None:
    """Return the bits per character, without the first token (many servers do not score it); None without scores."""
    if not isinstance(scores, Scores) or scores.state is not ReplyState.OK or len(scores.tokens) < 2:
        return None
    scored = scores.tokens[1:]
    characters = sum(len(token.text) for token in scored)
    return -sum(token.log_probability for token in scored) / log(2) / characters if characters else None


def recitals(pieces: Sequence[PassageStart], replies: Sequence[Answer | None]) -> list[tuple[float, float] | None]:
    """Return how many words in a row each reply shares with the true continuation, and the share of the continuation
    that it copied.

    Each number is reduced by its mean for the same reply and the continuations of ten other passages of the same group,
    old or fresh. This removes the effect of common phrases, such as a licence that many texts have. None marks a piece
    without an answer, because a refusal is no evidence about memory.
    """
    expected = [words(piece.expected) for piece in pieces]
    sides = {side: [place for place, piece in enumerate(pieces) if piece.old is side] for side in (True, False)}
    found: list[tuple[float, float] | None] = []
    for place, (piece, reply) in enumerate(zip(pieces, replies, strict=True)):
        continued = _continued_words(piece, reply)
        if continued is None:
            found.append(None)
            continue
        own = sides[piece.old]
        at = own.index(place)
        others = [*own[at + 1 :], *own[:at]][:COMPARED_CONTINUATIONS]
        longest = [longest_run(expected[one], continued) for one in (place, *others)]
        copied = [copied_share(expected[one], continued, LEAST_COPIED_RUN) for one in (place, *others)]
        found.append((longest[0] - fmean(longest[1:]), copied[0] - fmean(copied[1:])))
    return found


def _continued_words(piece: PassageStart, reply: Answer | None) -> list[str] | None:
    """Return the first words of a reply after the shown text, a few more than the continuation has; None if unread."""
    if not isinstance(reply, Reply) or reply.state not in READ:
        return None
    continued, shown = words(as_read(reply).text), words(piece.shown)
    if continued[: len(shown)] == shown:  # the reply repeats the shown text first
        continued = continued[len(shown) :]
    return continued[: len(words(piece.expected)) + LEAST_COPIED_RUN]


def gap(measure: str, old: Sequence[float | None], fresh: Sequence[float | None], seed: int = 0) -> FamiliarityGap:
    """Return the gap of a measure. Familiar passages have fewer bits, and higher values of the other measures."""
    sign = -1.0 if measure == BITS else 1.0
    one, other = ([value for value in side if value is not None] for side in (old, fresh))
    answered = (len(one), len(other))
    if min(answered) < LEAST_PASSAGES_OF_A_SIDE or len(one) * 2 < len(old) or len(other) * 2 < len(fresh):
        counts = f"{answered[0]} of {len(old)} old and {answered[1]} of {len(fresh)} fresh passages have an answer"
        return FamiliarityGap(measure, answered=answered, reason=f"{counts}, which is too few")
    apart = sign * (fmean(one) - fmean(other))
    p_value = _exchanged(sign * np.asarray(one), sign * np.asarray(other), seed)
    return FamiliarityGap(
        measure, fmean(one), fmean(other), apart, _welch(one, other, apart), p_value,
        p_value <= FAMILIARITY_LEVEL / len(MEASURES), answered,
    )  # fmt: skip


def _welch(one: Sequence[float], other: Sequence[float], apart: float) -> tuple[float, float]:
    """Return Welch's 95 % confidence interval of a difference of means."""
    from scipy import special

    first, second = variance(one) / len(one), variance(other) / len(other)
    if first + second == 0:
        return apart, apart
    freedom = (first + second) ** 2 / (first**2 / (len(one) - 1) + second**2 / (len(other) - 1))
    reach = float(special.stdtrit(freedom, 0.975)) * sqrt(first + second)
    return apart - reach, apart + reach


def _exchanged(one: "np.typing.NDArray[np.float64]", other: "np.typing.NDArray[np.float64]", seed: int) -> float:
    """Return the p-value: the share of random regroupings into old and fresh with at least this difference of means."""
    values, size = np.concatenate([one, other]), len(one)
    rng = np.random.default_rng(seed)
    true = values[:size].mean() - values[size:].mean()
    drawn = rng.permuted(np.broadcast_to(values, (EXCHANGE_DRAWS, len(values))).copy(), axis=1)
    apart = drawn[:, :size].mean(axis=1) - drawn[:, size:].mean(axis=1)
    return float(1 + (apart >= true - 1e-12).sum()) / (EXCHANGE_DRAWS + 1)
