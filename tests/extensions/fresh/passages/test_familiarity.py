"""Old passages beside fresh ones: who is found, and who must not be."""

import asyncio
from random import Random

import pytest

from tabcontam.evidence.questions import Answer, Reply, ReplyState, Scores
from tabcontam.extensions.fresh.passage_controls import ReaderControl, readers
from tabcontam.extensions.fresh.passages.familiarity import (
    BITS,
    COPIED,
    LONGEST,
    FamiliarityConclusion,
    PassageStart,
    bits,
    conclusion,
    gap,
    pieces_of,
    recitals,
    recite_query,
    score_query,
)
from tabcontam.models.base import Model, ModelRequest
from tests.made_passages import MARCH, made_text


def text_of(number: int) -> str:
    return " ".join(made_text(number, MARCH).paragraphs)


def concluded(model: Model, pieces: list[PassageStart]) -> FamiliarityConclusion:
    """What the experiment says of a model."""

    async def asked() -> tuple[list[Answer], list[Answer]]:
        replies: list[Answer] = []
        scores: list[Answer] = []
        for piece in pieces:
            query = recite_query(piece)
            replies.append(await model.generate(ModelRequest(query.question, query.max_tokens)))
            scores.append(await model.score(ModelRequest(score_query(piece).question)))
        return replies, scores

    replies, scores = asyncio.run(asked())
    copied = recitals(pieces, replies)
    values: dict[str, list[float | None]] = {
        LONGEST: [one[0] if one else None for one in copied],
        COPIED: [one[1] if one else None for one in copied],
        BITS: list(map(bits, scores)),
    }
    gaps = []
    for name, own in values.items():
        old, fresh = (
            [value for value, piece in zip(own, pieces, strict=True) if piece.old is side] for side in (True, False)
        )
        gaps.append(gap(name, old, fresh))
    return conclusion(gaps)


@pytest.mark.slow
def test_the_controls_are_told_apart() -> None:
    old, fresh = [text_of(number) for number in range(12)], [text_of(number) for number in range(100, 112)]
    pieces = pieces_of(list(zip("abcdefghijkl", old, strict=True)), list(zip("abcdefghijkl", fresh, strict=True)))
    read, neither = readers(old, fresh, 0)
    assert concluded(read, pieces) is FamiliarityConclusion.COPIED
    assert concluded(neither, pieces) is FamiliarityConclusion.NO_GAP


@pytest.mark.slow
def test_plain_old_texts_make_nobody_a_reader() -> None:
    """The adversary: an LLM that has read neither side, and old texts of words that everybody knows."""
    rng = Random(0)
    common = ["the", "of", "and", "to", "in", "a", "is", "that", "it", "was", "for", "on", "are", "with", "as"]
    rare = [f"word{number}" for number in range(3000)]
    old = [(str(number), " ".join(rng.choices(common, k=120))) for number in range(15)]
    fresh = [(str(number), " ".join(rng.sample(rare, 120))) for number in range(15)]
    known = " ".join(rng.choices(common, k=4000) + rare)
    assert concluded(ReaderControl("x", [known]), pieces_of(old, fresh)) is FamiliarityConclusion.NO_GAP


def test_a_licence_that_stands_in_all_old_texts_makes_nobody_a_reader() -> None:
    """Another: an LLM that knows the licence under every old text by heart, and none of the texts."""
    licence = " ".join(text_of(5000).split()[:80])
    old = [(str(number), " ".join([*text_of(number).split()[:30], licence])) for number in range(15)]
    fresh = [(str(number), " ".join(text_of(number + 100).split()[:110])) for number in range(15)]
    known = [licence, " ".join(f"{text} x" for text in text_of(7000).split())]
    assert concluded(ReaderControl("x", known), pieces_of(old, fresh)) is FamiliarityConclusion.LIKELIER


def test_old_and_fresh_are_cut_to_one_length() -> None:
    old = [(str(number), text_of(number)) for number in range(10)]
    fresh = [(str(number), " ".join(text_of(number).split()[:90])) for number in range(10)]
    pieces = pieces_of([*old, ("short", "too short")], fresh)
    assert {len(piece.whole.split()) for piece in pieces} == {90}
    assert len(pieces) == 20
    with pytest.raises(ValueError, match="only 9 old passages have 60 words or more; 10 are needed"):
        pieces_of(old[:9], fresh)


def test_a_refusal_is_never_without_a_gap() -> None:
    piece = PassageStart("a", True, "one two three", "four five six seven eight nine")
    pieces = [piece, PassageStart("b", True, "ten", "eleven twelve")]

    def of(text: str, state: ReplyState) -> tuple[float, float] | None:
        return recitals(pieces, [Reply(text, state, "x"), None])[0]

    assert of("", ReplyState.REFUSED) is None
    assert of("four five six seven eight nine", ReplyState.TRUNCATED) == (6, 1.0)
    assert of("one two three four five six seven eight nine", ReplyState.OK) == (6, 1.0)
    assert of("eleven twelve", ReplyState.OK) == (-2, 0)  # what other passages say is no sign of this one
    assert bits(Scores((), ReplyState.FAILED)) is None
    few = gap(COPIED, [1.0] * 9 + [None] * 9, [0.0] * 18)
    assert (few.significant, few.gap) == (None, None)
    assert few.reason == "9 of 18 old and 18 of 18 fresh passages have an answer, which is too few"
    assert conclusion([few]) is FamiliarityConclusion.CANNOT_TELL


def test_a_gap_has_an_interval_and_an_error_rate() -> None:
    rng = Random(1)
    runs = 60
    wrong = covered = 0
    for seed in range(runs):
        old, fresh = ([rng.random() for _ in range(20)] for _ in range(2))
        found = gap(COPIED, old, fresh, seed)
        wrong += bool(found.significant)
        assert found.interval is not None
        covered += found.interval[0] <= 0 <= found.interval[1]
    assert wrong <= 2  # 0.01 / 3 of 60 are expected
    assert covered >= 50
    there = gap(COPIED, [value + 1 for value in range(20)], [value - 9 for value in range(20)])
    assert there.significant
    assert there.gap == 10
    same = gap(LONGEST, [1.0] * 10, [1.0] * 10)
    assert (same.significant, same.interval, same.p_value) == (False, (0.0, 0.0), 1.0)
