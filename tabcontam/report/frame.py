"""Results as a pandas DataFrame: one row for each result, table or LLM. Every run has the same columns."""

import json
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any

from tabcontam.evidence.base import Verdict
from tabcontam.verdicts.columns import record_columns, values_of
from tabcontam.verdicts.llm_ranking import ACCURACIES, COLUMNS, Rank
from tabcontam.verdicts.result_types import Result, TableVerdict
from tabcontam.verdicts.results import RunResults

if TYPE_CHECKING:
    import pandas as pd

TEXT, COUNT, NUMBER, TRUTH, VERDICT = "string", "Int64", "Float64", "boolean", "verdict"
Columns = Mapping[str, str]  # the data type of each column

TYPES = {float: NUMBER, int: COUNT, bool: TRUTH, Verdict: VERDICT}
ENDS = ("low", "high")  # the columns of an interval


def _columns(kind: type, prefix: str = "") -> dict[str, str]:
    """Return the columns of a dataclass. An interval has two columns, and a nested dataclass has all of its own."""
    found: dict[str, str] = {}
    for column, _, hint in record_columns(kind):
        name = f"{prefix}{column}"
        if isinstance(hint, type) and is_dataclass(hint):
            found |= _columns(hint, f"{name}_")
        elif hint == tuple[float, float]:
            found |= dict.fromkeys((f"{name}_{end}" for end in ENDS), NUMBER)
        else:
            found[name] = TYPES.get(hint, TEXT)
    return found


RESULTS: Columns = _columns(Result)
TABLES: Columns = _columns(TableVerdict)
MEASURED = [column.name for column in COLUMNS]
RANKING: Columns = {
    "llm": TEXT,
    **{f"{measure}{end}": NUMBER for measure in MEASURED for end in ("", "_low", "_high")},
    **{f"{measure}_majority": NUMBER for measure in ACCURACIES},
}


def fields_of(record: object, prefix: str = "") -> dict[str, Any]:
    """Return the values of a record in its columns. Lists and mappings are JSON."""
    found: dict[str, Any] = {}
    for column, value in values_of(record).items():
        name = f"{prefix}{column}"
        if is_dataclass(value):
            found |= fields_of(value, f"{name}_")
        elif isinstance(value, Mapping | tuple):
            found |= {name: json.dumps(value, ensure_ascii=False, default=values_of) if value else ""}
            found |= _ends(name, value) if isinstance(value, tuple) and len(value) == len(ENDS) else {}
        else:
            found[name] = value
    return found


def _of_rank(rank: Rank) -> dict[str, object]:
    fields = vars(rank) | {f"{measure}_majority": value for measure, value in rank.majorities.items()}
    for measure in MEASURED:
        fields |= _ends(measure, rank.intervals.get(measure))
    return fields


def _ends(name: str, interval: tuple[float, float] | None) -> dict[str, object]:
    return {f"{name}_{end}": limit for end, limit in zip(ENDS, interval or (None, None), strict=True)}


PARTS: Mapping[str, tuple[Columns, Callable[[RunResults], list[Mapping[str, Any]]]]] = {
    "results": (RESULTS, lambda view: list(map(fields_of, view.results))),
    "tables": (TABLES, lambda view: list(map(fields_of, view.tables_in_order))),
    "ranking": (RANKING, lambda view: [_of_rank(rank) for rank in view.ranks_in_order]),
}


def frame(view: RunResults, part: str) -> "pd.DataFrame":
    """Return one of `PARTS` as a DataFrame. A row is a result (controls included), a verdict on a table, or an LLM.

    An empty text becomes a missing value, because no text in the results has a meaning when it is empty.
    """
    import pandas as pd

    dtypes = {
        VERDICT: pd.CategoricalDtype([word.value for word in Verdict]),
        TEXT: pd.StringDtype("python"),  # pyarrow's type cannot store half a surrogate pair
    }
    columns, rows_of = PARTS[part]
    rows = rows_of(view)
    values = {name: [None if row.get(name) == "" else row.get(name) for row in rows] for name in columns}
    return pd.DataFrame({name: pd.Series(values[name], dtype=dtypes.get(kind, kind)) for name, kind in columns.items()})
