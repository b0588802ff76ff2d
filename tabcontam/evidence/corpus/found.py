"""What a search for a row brought: whether its own value stands there, and how many of the others do."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log2

from tabcontam.evidence.base import Answer, Match, Matches, Query, State, Trial

AROUND = 60  # signs of a quote beside what was found
WITHIN = 240  # signs of what was found that a sentence quotes


@dataclass(frozen=True)
class Found:
    """A row's find. `share` is that of the slots whose value was found: the chance of the own one under the null."""

    query: Query
    own: bool
    share: float
    documents: int  # that hold the own value, or more where `more` says so
    more: bool
    places: tuple[Match, ...]  # of the own value

    @property
    def weight(self) -> float:
        """What a find of the own value would weigh, in bits: nothing where all others are found, too."""
        return -log2(self.share) if self.share else 0.0

    @property
    def bits(self) -> float:
        """What the row weighs: nothing where the own value is not found."""
        return self.weight if self.own else 0.0

    @property
    def lies_in(self) -> str:
        """The column of the hidden cell, or the columns of its entity."""
        (feature,) = self.query.asked
        return self.query.lies_in.get(feature, feature)


def found_of(query: Query, answer: Answer) -> Found | None:
    """What an answer says of a row; None where it was not searched to the end, or does not count each value."""
    if not isinstance(answer, Matches) or answer.state is not State.OK or not query.chance:
        return None
    (feature,), (own,) = query.asked, query.expected
    chances = query.chance[feature].values
    counts = answer.counts if answer.counts or answer.documents else (0,) * len(chances)
    if len(counts) != len(chances) or own not in chances:
        return None
    place = list(chances).index(str(own))
    share = sum(chance for chance, count in zip(chances.values(), counts, strict=True) if count)
    places = tuple(match for match in answer.found if match.text == place)
    return Found(query, counts[place] > 0, min(1.0, share), counts[place], answer.more, places)


def all_found(trials: Iterable[Trial]) -> list[Found]:
    """The finds of all trials that could be read."""
    read = (found_of(trial.query, trial.reply) for trial in trials if trial.readable)
    return [one for one in read if one is not None]


def in_documents(rows: Sequence[Found]) -> str:
    """In how many distinct documents rows stand: by the places that are told, or by the row that most hold."""
    named = {match.source for one in rows for match in one.places}
    most = max([len(named), *(one.documents for one in rows)])
    told_all = all(one.documents == len({match.source for match in one.places}) and not one.more for one in rows)
    return f"{'' if told_all else 'at least '}{most} document{'s' * (most != 1)}"


def quoted(rows: Sequence[Found]) -> str:
    """One place where a row stands, the one that weighs most, with what was found between marks; empty for none."""
    told = [one for one in rows if one.places]
    if not told:
        return ""
    match = min(max(told, key=lambda one: one.bits).places, key=lambda place: place.lacking)
    return place_of(match)


def place_of(match: Match) -> str:
    """A place in words: the document, the byte where it is known, and the text with what was found between marks."""
    at = f", byte {match.offset}" if match.offset >= 0 else ""
    begin, end = (match.begin, match.end) if match.end > match.begin else (0, len(match.quote))
    before, after = match.quote[:begin][-AROUND:], match.quote[end:][:AROUND]
    marked = f"»{_shortened(harmless(match.quote[begin:end]))}«"
    return f"{harmless(match.source)}{at}: {harmless(before)}{marked}{harmless(after)}"


def harmless(text: str) -> str:
    """A text on one line, in which what cannot be printed is a question mark."""
    return "".join(sign if sign.isprintable() else "?" for sign in " ".join(text.splitlines()).replace("\t", " "))


def _shortened(text: str) -> str:
    return text if len(text) <= WITHIN else f"{text[: WITHIN // 2]} […] {text[-WITHIN // 2 :]}"
