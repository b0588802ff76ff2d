"""The choice of the columns to query: those that are hardest to predict, found without fitting the baseline."""

from collections.abc import Collection, Mapping, Sequence

from tabcontam.baseline.coded_columns import Column, as_column
from tabcontam.baseline.laws import derived, law_bits, own_lags, visible_features
from tabcontam.baseline.laws.one_column_laws import surprise
from tabcontam.baseline.thresholds import MOST_FITTED_ROWS, MOST_HARD_CANDIDATES
from tabcontam.tables.table import Cell


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
    """Return the `count` candidates that are hardest to predict, hardest first, given shown and earlier chosen columns.

    A column is hard if its cells have a high mean surprisal in bits: by simple frequencies in at most 2,000 rows, and
    by the laws that hold there. Missing cells add no bits. Of many candidates only the most varied are examined. If all
    candidates are chosen, no laws are learned. With `apart`, chosen columns do not count as shown. `near` is as in
    `FeatureChain`.
    """
    whole = {name: as_column(name, columns[name], missing) for name in sorted({*shown, *candidates})}
    rows = tuple(order if order is not None else range(len(whole[candidates[0]].keys)))[:MOST_FITTED_ROWS]
    taken = {name: one.sampled(rows) for name, one in whole.items()}
    varied = sorted(sorted(candidates), key=lambda name: -surprise(taken[name], []))
    lacking = {}
    for name in varied[: max(MOST_HARD_CANDIDATES, count)]:
        others = visible_features(name, sorted(set(shown) - {name}), near)
        lacking[name] = surprise(taken[name], [taken[other] for other in others])
    found: list[str] = []
    lawful: dict[str, int] = {}  # number of chosen columns when the column's laws were last learned
    while lacking and len(found) < count:
        best = min(lacking, key=lambda name: (-lacking[name], name))
        chosen = 0 if apart else len(found)
        # more shown columns can only make a column easier, so only the hardest column needs laws now
        if len(candidates) > count and lawful.get(best) != chosen:
            lawful[best] = chosen
            # of earlier rows, only cells of this column: other columns of the last row seldom help
            of_row = shown if near is None else set(shown) & own_lags(best)
            others = sorted({*of_row, *([] if apart else found)} - {best})
            given = [one for other in others for one in derived(taken[other])]
            lacking[best] = min(lacking[best], law_bits(taken[best], given))
            continue
        found.append(best)
        del lacking[best]
        for name in [] if apart else list(lacking):
            lacking[name] = min(lacking[name], surprise(taken[name], [taken[best]]))
    return found
