"""Laws between a row's cells, by which arithmetic or general knowledge reveals an altered row.

A classifier that sees cells as ranks multiplies no cells and does not know that Fresno is in California. So this module
searches for the same laws as the baseline. The altered cell may follow from other cells, or another cell may follow
from the altered one and others.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from tabcontam.baseline.altered_copies import AlterationHint, AlteredCopies, revealing_column
from tabcontam.baseline.coded_columns import MISSING, Column, column
from tabcontam.baseline.laws import with_derived
from tabcontam.baseline.thresholds import FEW_VALUES, LEAST_LAW_EXCESS
from tabcontam.evidence.thresholds import (
    LEAST_FOLLOWING_SHARE,
    LEAST_SHARING_ROWS,
    MOST_CLASSIFIER_HINTS,
    MOST_USUAL_VALUE_SHARE,
)
from tabcontam.tables.table import Table
from tabcontam.tables.thresholds import MOST_CATEGORIES


def column_that_reveals(table: Table, name: str, rows: Sequence[int]) -> str | None:
    """Return in words the column that reveals a feature, or None if there is none.

    A column reveals the feature if it determines the feature's value in 95 % of the rows with a recurring cell. A text
    that differs in most rows may reveal a category: a model may know such facts (the country of a city, the weekday of
    a date), which cannot be learned from the table.
    """
    taken = {one: column(one, [table.column(one)[row] for row in rows], table.missing) for one in sorted(table.columns)}
    target = taken.pop(name)
    informative = max(Counter(target.keys).values()) < MOST_USUAL_VALUE_SHARE * len(rows)
    for one in with_derived(taken.values()) if informative else ():
        shared, agreeing = _agreeing(one, target)
        if shared >= LEAST_SHARING_ROWS and agreeing >= LEAST_FOLLOWING_SHARE * shared:
            return f"{name} goes with {one.name}"
    for other, one in () if table.is_numeric(name) else taken.items():
        unlike = _agreeing(one, target)[0] < np.count_nonzero(one.codes) / 2
        if unlike and not table.is_numeric(other) and one.distinct > MOST_CATEGORIES:
            return f"{other} may reveal {name}"
    return None


def law_that_reveals(copies: AlteredCopies) -> str | None:
    """Return in words the law that reveals altered copies, or None if there is none."""
    if (lawful := revealing_column(copies)) is None:
        return None
    name = copies.column
    return f"{name} follows from other columns" if lawful == name else f"{lawful} follows from {name} and others"


def _agreeing(one: Column, target: Column) -> tuple[int, int]:
    """Return how many rows share their cell in `one`, and how many of them share `target` with most such rows."""
    pairs = [pair for pair in zip(one.keys, target.keys, strict=True) if pair[0] != MISSING]
    alike, both = Counter(shown for shown, _ in pairs), Counter(pairs)
    shared = [pair for pair in pairs if alike[pair[0]] > 1]
    return len(shared), sum(both[pair] - 1 > (alike[pair[0]] - 1) / 2 for pair in shared)


def hints_of(copies: AlteredCopies, reference: Sequence[int]) -> list[AlterationHint]:
    """Return the hints that most often hold in rows and fail in copies: laws, and texts that predict the cell.

    How often a text occurs with a value is counted in the `reference` rows.
    """
    hints = [hint for _, hint in copies.laws]
    texts = [name for name, one in copies.columns.items() if one.numbers is None and one.distinct > FEW_VALUES + 1]
    hints += [_together(copies, name, reference) for name in texts if name != copies.column]
    telling = [hint for hint in hints if hint.more > LEAST_LAW_EXCESS]
    return sorted(telling, key=lambda hint: -hint.more)[:MOST_CLASSIFIER_HINTS]


def _together(copies: AlteredCopies, name: str, reference: Sequence[int]) -> AlterationHint:
    """Return 1 for each row whose altered cell most rows with the same cell in column `name` share, else 0."""
    cells, texts = copies.table.column(copies.column), copies.table.column(name)
    alike, both = Counter(texts[row] for row in reference), Counter((texts[row], cells[row]) for row in reference)
    row_texts = [texts[row] for row in copies.rows]
    others = np.array([alike[text] - 1 for text in row_texts])
    true = np.array([both[text, cells[row]] - 1 for text, row in zip(row_texts, copies.rows, strict=True)])
    false = np.array([both[text, cell] for text, cell in zip(row_texts, copies.copied, strict=True)])
    return AlterationHint((true > others / 2).astype(np.float64), (false > others / 2).astype(np.float64))
