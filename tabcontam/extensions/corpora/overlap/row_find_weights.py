"""The weight of the rows that documents contain, and the smallest share of rows that would be detected."""

from collections.abc import Sequence
from math import ceil, fsum, log2

from tabcontam.evidence.base import Query
from tabcontam.evidence.number_wording import describe_p_value, format_small_number
from tabcontam.extensions.corpora.overlap.row_finds import RowFind, in_documents, quoted


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
