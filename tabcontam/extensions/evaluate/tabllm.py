"""The results that the TabLLM paper published for tables. `tabllm.toml` contains the results and their source."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("tabllm.toml")


@dataclass(frozen=True)
class PublishedAuc:
    """A published AUC at 0 shots: table, LLM, template and source. The text `compares` states how comparable it is."""

    dataset: str
    llm: str
    template: str
    auc: float
    name: str
    citation: str
    address: str
    compares: str


@cache
def published_auc(dataset: str) -> PublishedAuc | None:
    """Return the published AUC of a table, by the name of the table's card; None if there is none."""
    held: dict[str, Any] = tomllib.loads(FILE.read_text("utf-8"))
    auc = held.pop("zero_shot").get(dataset)
    return None if auc is None else PublishedAuc(dataset=dataset, auc=auc, **held)
