"""Results as a pandas DataFrame: one row for each result, table or LLM. Every run has the same columns."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tabcontam.evidence.base import Verdict
from tabcontam.verdicts.llm_ranking import ACCURACIES, COLUMNS, Rank
from tabcontam.verdicts.result_types import Result, field_values
from tabcontam.verdicts.results import RunResults

if TYPE_CHECKING:
    import pandas as pd

TEXT, COUNT, NUMBER, TRUTH, VERDICT = "string", "Int64", "Float64", "boolean", "verdict"
Columns = Mapping[str, str]  # the data type of each column

OF_RESULT = dict.fromkeys(("llm", "dataset", "edition", "split", "serializer", "prompts", "source"), TEXT)
RESULTS: Columns = {
    **OF_RESULT,
    **dict.fromkeys(("test", "kind"), TEXT),
    "control": TRUTH,
    **dict.fromkeys(("verdict", "otherwise", "paper_verdict"), VERDICT),
    "score": NUMBER,
    "hits": COUNT,
    "expected_hits": NUMBER,
    **dict.fromkeys(("answered", "asked", "queries"), COUNT),
    "statistic_name": TEXT,
    **dict.fromkeys(("statistic_value", "statistic_expected"), NUMBER),
    "null": TEXT,
    **dict.fromkeys(("p_value", "q_value", "interval_low", "interval_high"), NUMBER),
    "interval_of": TEXT,
    **dict.fromkeys(("recalled_bits", "detectable_share"), NUMBER),
    **dict.fromkeys(("columns", "without"), TEXT),
    "q_without": NUMBER,
    "rests_on": TEXT,
    "e_value": NUMBER,
    "bets": TEXT,
    "sequential": TRUTH,
    "decided_after": COUNT,
    **dict.fromkeys(("reason", "sentence"), TEXT),
    "cut_short": TRUTH,
    "lacks": TEXT,
    "reference": TEXT,
    "exposure": NUMBER,
    "not_averaged": TEXT,
    **dict.fromkeys(("memory_pairs", "memory_left_out"), COUNT),
    **dict.fromkeys(("memory_accuracy", "memory_twin_accuracy", "memory_share"), NUMBER),
    **dict.fromkeys(("memory_interval_low", "memory_interval_high", "memory_p_value", "memory_deviation"), NUMBER),
    **dict.fromkeys(("memory_if_wrong_low", "memory_if_wrong_high"), NUMBER),
    **{f"memory_single_reference_{name}": NUMBER for name in ("share", "low", "high", "p_value")},
}
TABLES: Columns = {
    **OF_RESULT,
    "verdict": VERDICT,
    **dict.fromkeys(("p_value", "q_value", "e_value", "bound", "recalled_bits", "detectable_share"), NUMBER),
    **dict.fromkeys(("decided_after", "sequential_queries"), COUNT),
    **dict.fromkeys(("rests_on", "reason"), TEXT),
}
MEASURED = [column.name for column in COLUMNS]
RANKING: Columns = {
    "llm": TEXT,
    **{f"{measure}{end}": NUMBER for measure in MEASURED for end in ("", "_low", "_high")},
    **{f"{measure}_majority": NUMBER for measure in ACCURACIES},
}


def result_fields(result: Result) -> dict[str, str | float | bool | None]:
    """Return a result's fields. Statistic, intervals and memory's share have several columns; mappings are JSON."""
    fields = field_values(result) | dict(result.numbers)
    if result.statistic:
        fields |= {f"statistic_{name}": value for name, value in field_values(result.statistic).items()}
    bets = {group: asdict(won) for group, won in result.bets.items()}
    for name, by_column in (("columns", result.columns), ("without", result.without), ("bets", bets)):
        fields[name] = json.dumps(by_column, ensure_ascii=False) if by_column else ""
    return fields | _ends("interval", result.interval) | _memory(result)


def _memory(result: Result) -> dict[str, object]:
    if result.memory is None:
        return {}
    parts = {f"memory_{name}": value for name, value in field_values(result.memory).items()}
    if compared := result.memory.single_reference:
        parts |= {"memory_single_reference_share": compared.share, "memory_single_reference_p_value": compared.p_value}
        parts |= _ends("memory_single_reference", compared.interval)
    return parts | _ends("memory_interval", result.memory.interval) | _ends("memory_if_wrong", result.memory.if_wrong)


def _of_rank(rank: Rank) -> dict[str, object]:
    fields = vars(rank) | {f"{measure}_majority": value for measure, value in rank.majorities.items()}
    for measure in MEASURED:
        fields |= _ends(measure, rank.intervals.get(measure))
    return fields


def _ends(name: str, interval: tuple[float, float] | None) -> dict[str, object]:
    low, high = interval or (None, None)
    return {f"{name}_low": low, f"{name}_high": high}


PARTS: Mapping[str, tuple[Columns, Callable[[RunResults], list[Mapping[str, Any]]]]] = {
    "results": (RESULTS, lambda view: [result_fields(cell) for cell in view.results]),
    "tables": (TABLES, lambda view: [field_values(table) | dict(table.numbers) for table in view.tables_in_order]),
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
