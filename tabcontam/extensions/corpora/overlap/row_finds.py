"""The result of a search for a row: whether documents contain its own value, and how many of the other values.

The weight of the rows that documents contain, and the smallest share of rows that would be detected.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, fsum, log2

from tabcontam.evidence.base import Answer, Match, Matches, Query, ReplyState, Trial
from tabcontam.evidence.number_wording import describe_p_value, format_small_number


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


def counts_in(answer: object, texts: int) -> Sequence[int] | None:
    """Return how many documents contain each text of a lookup; None if the answer does not report it for each."""
    if not isinstance(answer, Matches) or answer.state is not ReplyState.OK:
        return None
    counts = answer.counts if answer.counts or answer.documents else (0,) * texts
    return counts if len(counts) == texts else None


def read_find(query: Query, answer: Answer) -> RowFind | None:
    """Return the search result in an answer, or None if the search was cut short or did not count each value."""
    if not isinstance(answer, Matches) or not query.chance:
        return None
    (feature,), (own,) = query.asked, query.expected
    chances = query.chance[feature].values
    counts = counts_in(answer, len(chances))
    if counts is None or own not in chances:
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


def weight_tail(rows: Sequence[RowFind]) -> float:
    """Return the p-value of the total weight, if every slot of a row has the same chance to hold its own value.

    A slot is the hidden cell, or a draw that could replace it. The p-value is exact: by chance, a row of weight
    -log2(share) bits is found with the probability `share`.
    """
    from tabcontam.statistics.exact_statistics import units, weighted_tail

    searched = [one for one in rows if one.share > 0]
    weights = [units(one.share) for one in searched]
    observed = sum(weight for weight, one in zip(weights, searched, strict=True) if one.own)
    return weighted_tail(weights, [one.share for one in searched], observed)


def even_chance(query: Query) -> float:
    """Return the mean share of slots with a row's own value: the chance that two random slots have equal values.

    It is the chance under the null model if documents contain no other value. It is known before the search, and does
    not depend on which slot is the own one.
    """
    (feature,) = query.asked
    return fsum(chance**2 for chance in query.chance[feature].values.values())


def detectable_share(chances: Sequence[float], level: float) -> float | None:
    """Return the smallest share of rows, in hundredths, that is detected with 95 % power, or None if there is none.

    `chances` has each row's share of slots with its own value (see `even_chance`).
    """
    from tabcontam.statistics.exact_statistics import units, weighted_tail
    from tabcontam.statistics.power import smallest
    from tabcontam.statistics.thresholds import BIT_UNITS, TARGET_POWER

    weights, needed = [units(chance) for chance in chances], ceil(-log2(level) * BIT_UNITS)
    return smallest(lambda share: weighted_tail(weights, [share] * len(weights), needed) >= TARGET_POWER)


def word_finds(own: Sequence[RowFind], twin: Sequence[RowFind], asked: int, p_value: float) -> str:
    """Return in words how many rows stand in how many documents, the number expected by chance, and one place."""
    present = [one for one in own if one.own]
    by_chance = format_small_number(fsum(one.share for one in own))
    stand = (
        f"{len(present)} of {len(own)} rows {_stand(len(present))} in {in_documents(present)}"
        if present
        else f"none of {len(own)} rows stands in a document"
    )
    weighing = sum(one.weight >= 1 for one in present)
    common = f", {len(present) - weighing} of them in so many variants that they show nothing" * (
        weighing < len(present)
    )
    changed = sum(all(place.lacking for place in one.places) for one in present if one.places)
    but_for = f", {changed} of them without one or two of their values" * bool(changed)
    of_twin = sum(one.own for one in twin)
    of_the_twin = (
        f"{of_twin or 'none'} of {len(twin)} rows of a shuffled twin {_stand(of_twin)} in documents"
        if twin
        else "the table has no shuffled twin"
    )
    unread = f"; {asked - len(own)} of {asked} rows could not be searched for" * (len(own) < asked)
    quote = f"; for example {quoted(present)}" if any(one.places for one in present) else ""
    sentence = f"{stand}{common}{but_for}, {by_chance} expected by chance"
    return f"{sentence}; {of_the_twin} ({describe_p_value(p_value)}){unread}{quote}"


def _stand(rows: int) -> str:
    return "stands" if rows < 2 else "stand"
