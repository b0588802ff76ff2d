"""Which columns are hardest to guess, without a fit of the guesser: those are asked."""

from collections.abc import Collection, Mapping, Sequence

from tabcontam.guesser.columns import Column, as_column
from tabcontam.guesser.laws import derived, law_bits, own_lags, seen
from tabcontam.guesser.laws.one_column import surprise
from tabcontam.guesser.sample import MOST_ROWS
from tabcontam.tables.table import Cell

LOOKED_AT = 12  # columns that may be hardest to guess


def least_sure_of(
    columns: Mapping[str, Sequence[Cell] | Column],
    shown: Sequence[str],
    candidates: Sequence[str],
    count: int,
    missing: Collection[str] = (),
    order: Sequence[int] | None = None,
    apart: bool = False,
    near: Collection[str] | None = None,
) -> list[str]:
    """The candidates that are hardest to guess given the shown columns and the candidates chosen before, hardest first.

    Hard to guess is a column whose cells have many bits on average under simple frequencies, in at most 2,000 rows, and
    under the laws that hold in some of these, without a fitted predictor; missing cells have none. Of many candidates
    only those that vary most are looked at; where all are chosen, no laws are looked for. With `apart` each is asked by
    itself, and the choice of one tells nothing about another. `near` is as in `Chain`.
    """
    whole = {name: as_column(name, columns[name], missing) for name in sorted({*shown, *candidates})}
    rows = tuple(order if order is not None else range(len(whole[candidates[0]].keys)))[:MOST_ROWS]
    taken = {name: one.sampled(rows) for name, one in whole.items()}
    varied = sorted(sorted(candidates), key=lambda name: -surprise(taken[name], []))
    lacking = {
        name: surprise(taken[name], [taken[other] for other in seen(name, sorted(set(shown) - {name}), near)])
        for name in varied[: max(LOOKED_AT, count)]
    }
    found: list[str] = []
    lawful: dict[str, int] = {}  # how many were chosen when laws were looked for last
    while lacking and len(found) < count:
        best = min(lacking, key=lambda name: (-lacking[name], name))
        beside = 0 if apart else len(found)
        # what more is shown can only make a column easier to guess, so that the others wait
        if len(candidates) > count and lawful.get(best) != beside:
            lawful[best] = beside
            # of earlier rows the column's own cells do: what a row is like as a whole, the last one seldom tells
            of_row = shown if near is None else set(shown) & own_lags(best)
            beside_it = sorted({*of_row, *([] if apart else found)} - {best})
            given = [one for other in beside_it for one in derived(taken[other])]
            lacking[best] = min(lacking[best], law_bits(taken[best], given))
            continue
        found.append(best)
        del lacking[best]
        for name in [] if apart else list(lacking):
            lacking[name] = min(lacking[name], surprise(taken[name], [taken[best]]))
    return found
