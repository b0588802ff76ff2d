"""A job: everything that a process needs to prepare a table, as JSON, and the work on it."""

import json
import platform
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from tabcontam.asking.query_plan import sheet_of
from tabcontam.baseline.stored_facts import libraries
from tabcontam.config import RunConfig
from tabcontam.evidence.base import Test
from tabcontam.evidence.registry import by_id
from tabcontam.tables.dataset_cards import ClassificationQuestion, DataDates
from tabcontam.tables.large.adjoining_rows import AdjoiningRows
from tabcontam.tables.large.table_excerpt import WholeTableFacts
from tabcontam.tables.serializers import Serializer, as_facts, from_facts
from tabcontam.tables.table import DrawnCell, FileReading, Table
from tabcontam.tables.text_tasks import TextForm, TextTask
from tabcontam.version import __version__


def job_of(table: Table | None, serializer: Serializer, tests: Sequence[Test], seed: int) -> bytes:
    """Return a job for these tests of a table. If `table` is None, the job is about the table of the job before it."""
    job: dict[str, Any] = {"serializer": as_facts(serializer), "tests": [test.id for test in tests], "seed": seed}
    job["made_with"] = made_with()
    if table:
        job["table"] = _facts_of(table)
    return json.dumps(job).encode()


def fill_cache(job: Mapping[str, Any], table: Table) -> None:
    """Write the queries of a job's tests about its table, only to fill the cache with the facts they need."""
    for test in job["tests"]:
        sheet_of(by_id()[test], table, from_facts(job["serializer"]), RunConfig(seed=job["seed"]))


def made_with() -> dict[str, str]:
    """Return what stored facts may depend on in addition to the table: versions of libraries, kind of processor."""
    return {"tabcontam": __version__} | libraries() | {"processor": platform.machine()}


def _facts_of(table: Table) -> dict[str, Any]:
    facts = {field.name: getattr(table, field.name) for field in fields(table) if field.init}
    facts |= {"missing": sorted(table.missing), "question": table.question and asdict(table.question)}
    facts |= {"drawn_cells": [asdict(cell) for cell in table.drawn_cells]}
    facts |= {"dates": asdict(table.dates), "read": asdict(table.read)}
    facts |= {"text": table.text and asdict(table.text), "whole": table.whole and _whole_facts(table.whole)}
    return facts | {"hints": table.hints and dict(table.hints)}


def _whole_facts(whole: WholeTableFacts) -> dict[str, Any]:
    """Return the facts about all rows of a large file, in a form that JSON allows."""
    facts = {field.name: getattr(whole, field.name) for field in fields(whole) if field.init}
    bloom = b64encode(whole.bloom).decode()
    facts |= {"adjoining": [one.facts() for one in whole.adjoining], "bloom": bloom}
    return facts | {"distinct": dict(whole.distinct), "numeric": sorted(whole.numeric)}


def _whole(facts: Mapping[str, Any]) -> WholeTableFacts:
    """Return the `WholeTableFacts` from the form that `_whole_facts` gives them."""
    distinct = {name: tuple(values) for name, values in facts["distinct"].items()}
    found = {"places": tuple(facts["places"]), "distinct": distinct, "bloom": b64decode(facts["bloom"])}
    found |= {name: tuple(map(tuple, facts[name])) for name in ("resembling", "key_rows")}
    found["adjoining"] = tuple(map(AdjoiningRows.read, facts["adjoining"]))
    return WholeTableFacts(**dict(facts) | found | {"numeric": frozenset(facts["numeric"])})


def table_from(facts: Mapping[str, Any]) -> Table:
    """Return the table from the form that `job_of` gives it."""
    whole: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in facts.items()}
    whole["rows"] = tuple(map(tuple, facts["rows"]))
    whole["known"] = tuple(tuple(map(tuple, rows)) for rows in facts["known"])
    whole |= {name: tuple(map(tuple, facts[name])) for name in ("withheld", "fresh")}
    whole["drawn_cells"] = tuple(
        DrawnCell(cell["row"], cell["column"], tuple(cell["alternatives"])) for cell in facts["drawn_cells"]
    )
    whole["missing"] = frozenset(facts["missing"])
    whole |= {"dates": DataDates(**facts["dates"]), "read": FileReading(**facts["read"])}
    whole["text"] = facts["text"] and TextTask(
        **facts["text"] | {"form": TextForm(facts["text"]["form"]), "texts": tuple(facts["text"]["texts"])}
    )
    whole["question"] = facts["question"] and ClassificationQuestion(**facts["question"])
    whole["whole"] = facts["whole"] and _whole(facts["whole"])
    whole["hints"] = facts["hints"] and {test: tuple(names) for test, names in facts["hints"].items()}
    return Table(**whole)
