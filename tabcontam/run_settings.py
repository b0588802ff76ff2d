"""The arguments of `tabcontam.run`, for type checkers. `python -m tests.docs` makes this module."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Literal, TypeAlias, TypedDict

from tabcontam.tables.frames import Frame
from tabcontam.tables.table import Table

Dataset: TypeAlias = "str | Path | Table | Frame"


class RunSettings(TypedDict, total=False):
    """Further arguments of `tabcontam.run`."""

    target: "str | None"
    tests: "str | None"
    marks: "str | None"
    until_decided: "bool"
    send_rows: "bool"
    max_cost: "float | Decimal | str | None"
    out: "str | Path | None"
    serializer: "str | Sequence[str]"
    prompts: "str | Sequence[str]"
    queries: "int | Literal['paper'] | None"
    rows: "int | None"
    memory_share: "bool"
    name: "str | None"
    delimiter: "str | None"
    encoding: "str | None"
    header: "bool | None"
    header_line: "int | None"
    split_column: "str | None"
    known: "Dataset | Sequence[Dataset]"
    withheld: "str | Path | Sequence[str | Path]"
    fresh: "str | Path | Sequence[str | Path]"
    trained_on: "str | Sequence[str] | Mapping[str, str | Sequence[str]]"
    reference: "str | Sequence[str]"
    controls: "bool"
    control: "str | Sequence[str] | Mapping[str, str]"
    rules: "str"
    alpha: "float"
    family_over: "str"
    seed: "int"
    samples: "int | None"
    temperature: "float | None"
    shots: "int | None"
    batch_size: "int"
    batch_api: "bool"
    form: "str"
    stop_at_first: "bool"
    max_connections: "int | None"
    max_requests: "int | None"
    prices: "str | Path | None"
    cache: "bool"
    retry_unanswered: "bool"
    shard: "str | None"
    progress: "bool"
    min_power: "float"
    judge: "str | None"
    overlap: "str | None"
    key: "str | Path | Sequence[str | Path]"
    ray: "str | Mapping[str, str | int] | None"
