"""Recorded words and names weighed against decoys: the same LLM's answers to the same test on the other datasets.

A word counts by how much oftener it is said for the true dataset: of the true answers and D others, s hold it, and its
chance to be held by the true ones is s / (D + 1), but never under 1/2 where common English words make it up. What the
prompts showed is not recorded; a word that stands in the dataset's name was shown.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from tabcontam.cards import Card
from tabcontam.decide.reading import declines
from tabcontam.decide.statistics import clopper_pearson, units, weighted_tail
from tabcontam.decide.words import appears, pieces, stands_in, without_note
from tabcontam.records import Record, lines
from tabcontam.replays.weighing import Weighed, shown
from tabcontam.suite.base import Evidence
from tabcontam.suite.decoys import INFERRED, is_english

ALL = 1.0  # of the words
NO_DECOYS = "not recorded: no answers of this LLM to this test on another dataset"
INSIDE = "a word stands only inside a longer one"
ELSEWHERE = "its answers on other datasets hold the words too"
ENGLISH = "common English words, which the topic suggests"
SINGLE = "one expected word, which may follow from what the prompt shows (B5, B6)"
ONE_NAME = "one name, asked once"
NOT_ITS_NAME = "no name of the dataset, or another dataset's (B10)"
Decoys = Mapping[str, Sequence[str]]  # by dataset, the answers


def weigh_words(records: Sequence[Record], decoys: Decoys) -> Weighed | str:
    """What the words of a cell's answers weigh, each expected word once; or why that is not known."""
    others = answered(decoys)
    if not others:
        return NO_DECOYS
    expected = _expected(records)
    if not expected:
        return "not recorded: no word is expected that the dataset's name does not show"
    said = {word: any(stands_in(word, text) for text in texts) for word, texts in expected.items()}
    elsewhere = {word: _times(others, [word]) for word in expected}
    chances = {
        word: max(INFERRED if is_english(word) else 0.0, (elsewhere[word] + 1) / (len(others) + 1)) for word in expected
    }
    inside = any(appears(word, text) for word in said if not said[word] for text in expected[word])
    why = {
        SINGLE: len(said) == 1,
        INSIDE: inside,
        ELSEWHERE: any(said[word] and elsewhere[word] for word in said),
        ENGLISH: any(said[word] and is_english(word) for word in said),
    }
    notes = tuple(note for note, holds in why.items() if holds)
    answers = sum(_readable(record.output) for record in records)
    evidence = _evidence("words that are said of this dataset alone", said, chances, len(others), answers)
    return Weighed(evidence, len(records), tuple((chance,) for chance in chances.values()), ALL, notes)


def weigh_names(records: Sequence[Record], decoys: Decoys, card: Card) -> Weighed | str:
    """What the names that a cell's answers give weigh, as whole names and not those of other datasets."""
    others = answered(decoys)
    if not others:
        return NO_DECOYS
    texts = [lines(record.output) for record in records]
    name = next((name for name in card.names for text in texts if _named(name, text, card)), None)
    chance = (1 + sum(any(_named(each, text, card) for text in own for each in card.names) for own in others)) / (
        len(others) + 1
    )
    notes = (ONE_NAME if name else NOT_ITS_NAME,)
    answers = sum(map(_readable, texts))
    what = f"the name {name!r}" if name else "a name of the dataset"
    evidence = _evidence(what, {what: name is not None}, {what: chance}, len(others), answers)
    return Weighed(evidence, len(records), ((chance,),), ALL, notes)


def answered(decoys: Decoys) -> list[list[str]]:
    """The readable answers of each other dataset that has some."""
    texts = ([lines(text) for text in own if _readable(text)] for own in decoys.values())
    return [own for own in texts if own]


def _expected(records: Iterable[Record]) -> dict[str, list[str]]:
    """Each expected word, with the answers that should hold it; not those that the dataset's name shows."""
    expected: dict[str, list[str]] = {}
    for record in records:
        for word in dict.fromkeys(without_note(word) for word in record.words if word):
            if not stands_in(word, record.dataset):
                expected.setdefault(word, []).append(lines(record.output))
    return expected


def _times(others: Iterable[Iterable[str]], words: Iterable[str]) -> int:
    return sum(any(stands_in(word, text) for text in own for word in words) for own in others)


def _named(name: str, text: str, card: Card) -> bool:
    """Whether a text holds the name, once the names that are not the dataset's are struck out, however spelled."""
    for other in card.not_aliases:
        spelled = r"[\W_]*".join(map(re.escape, pieces(other)))
        text = re.sub(rf"(?<![^\W_]){spelled}(?![^\W_])", " ", text, flags=re.IGNORECASE)
    return stands_in(name, text)


def _readable(text: str) -> bool:
    return bool(text.strip()) and not declines(text)


def _evidence(
    what: str, said: Mapping[str, bool], chances: Mapping[str, float], decoys: int, answered: int
) -> Evidence:
    weights = [units(chance) for chance in chances.values()]
    observed = sum(units(chances[word]) for word, there in said.items() if there)
    hits, expected = sum(said.values()), sum(chances.values())
    p_value = weighted_tail(weights, list(chances.values()), observed)
    return Evidence(
        statistic=what,
        value=hits,
        expected=expected,
        null=f"what was said is as likely said of any of {decoys} other datasets; what the prompt showed is unrecorded",
        sentence=f"{hits} of {len(said)} {'words' if len(said) > 1 else 'word'} said, where {expected:.1f} would be "
        f"by answers to {decoys} other datasets ({shown(p_value)})",
        hits=hits,
        asked=len(said),
        answered=answered,
        p_value=p_value,
        expected_hits=expected,
        interval=clopper_pearson(hits, len(said)),
        interval_of="of the words said",
    )
