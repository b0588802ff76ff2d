"""The result of a search for a row: whether documents contain its own value, and how many of the other values."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log2

from tabcontam.evidence.base import Answer, Match, Matches, Query, ReplyState, Trial


@dataclass(frozen=True)
class RowFind:
    """The search result for one row. `share` is the share of slots (own cell and draws) whose value is found."""

    query: Query
    own: bool
    share: float
    documents: int  # documents that contain the own value; there are further ones if `more` is true
    more: bool
    places: tuple[Match, ...]  # places of the own value

    @property
    def weight(self) -> float:
        """The bits that the row counts if its own value is found: 0 if all other values are found, too."""
        return -log2(self.share) if self.share else 0.0

    @property
    def bits(self) -> float:
        """The bits that the row counts: 0 if its own value is not found."""
        return self.weight if self.own else 0.0

    @property
    def lies_in(self) -> str:
        """The column of the hidden cell, or the columns of its entity."""
        (feature,) = self.query.asked
        return self.query.features.lies_in.get(feature, feature)


def read_find(query: Query, answer: Answer) -> RowFind | None:
    """Return the search result in an answer, or None if the search was cut short or did not count each value."""
    if not isinstance(answer, Matches) or answer.state is not ReplyState.OK or not query.chance:
        return None
    (feature,), (own,) = query.asked, query.expected
    chances = query.chance[feature].values
    counts = answer.counts if answer.counts or answer.documents else (0,) * len(chances)
    if len(counts) != len(chances) or own not in chances:
        return None
    place = list(chances).index(str(own))
    share = sum(chance for chance, count in zip(chances.values(), counts, strict=True) if count)
    places = tuple(match for match in answer.places if match.text == place)
    return RowFind(query, counts[place] > 0, min(1.0, share), counts[place], answer.more, places)


def read_finds(trials: Iterable[Trial]) -> list[RowFind]:
    """Return the search results of all trials that could be read."""
    read = (read_find(trial.query, trial.reply) for trial in trials if trial.readable)
    return [one for one in read if one is not None]


def in_documents(rows: Sequence[RowFind]) -> str:
    """Return in words how many documents contain rows; `at least` precedes the number if it is a lower bound."""
    named = {match.source for one in rows for match in one.places}
    most = max([len(named), *(one.documents for one in rows)])
    complete = all(one.documents == len({match.source for match in one.places}) and not one.more for one in rows)
    return f"{'' if complete else 'at least '}{most} document{'s' * (most != 1)}"


def quoted(rows: Sequence[RowFind]) -> str:
    """Return one place in words, of the row that counts the most bits; "" if there is none."""
    quotable = [one for one in rows if one.places]
    if not quotable:
        return ""
    match = min(max(quotable, key=lambda one: one.bits).places, key=lambda place: place.lacking)
    return place_of(match)


# around: characters of a quote on each side of the match
def place_of(match: Match, *, around: int = 60) -> str:
    """Return a place in words: the document, the byte if known, and the text around the marked match."""
    where = f", byte {match.offset}" if match.offset >= 0 else ""
    begin, end = (match.begin, match.end) if match.end > match.begin else (0, len(match.quote))
    before, after = match.quote[:begin][-around:], match.quote[end:][:around]
    marked = f"»{_shortened(harmless(match.quote[begin:end]))}«"
    return f"{harmless(match.source)}{where}: {harmless(before)}{marked}{harmless(after)}"


def harmless(text: str) -> str:
    """Return a text on one line, in which every unprintable character is a question mark."""
    return "".join(sign if sign.isprintable() else "?" for sign in " ".join(text.splitlines()).replace("\t", " "))


# within: characters of the match that a sentence quotes
def _shortened(text: str, *, within: int = 240) -> str:
    return text if len(text) <= within else f"{text[: within // 2]} […] {text[-within // 2 :]}"
