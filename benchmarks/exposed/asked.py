"""What the snapshots are asked: which tests, about which parts of tables, in which forms."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.exposed.snapshots import LAST, NONE
from benchmarks.exposed.tables import CLASS, NAMES, OTHER, READ, TABLES, part_name, write
from benchmarks.memory_share_by_copies import prompts
from benchmarks.real.asked import CSV, SEED, Place
from tabcontam.asking.query_plan import PlannedResult, RunSource, plan
from tabcontam.config import RunConfig
from tabcontam.errors import UsageError
from tabcontam.evidence.base import Test
from tabcontam.evidence.prompts import PromptSet, load_prompt_set
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.selection import selected
from tabcontam.models.base import PromptForm
from tabcontam.models.hf.provider import HFModel
from tabcontam.tables.dataset_splits import load_tables
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import Table
from tabcontam.tables.unread_rows import with_fresh

ANSWERS = ("incomplete_completion", "full_completion", "feature_completion", "header", "membership")
STUDY = "study.json"  # in a record: how much was asked, and of which LLM
LIKELIHOOD, SHARE = "likelihood", "share"  # the groups of tests besides these


@dataclass(frozen=True)
class Study:
    """How much is asked: `rows` of a table, of which half are read, and `queries` of a test about a part."""

    rows: int
    queries: int

    def most(self, group: str) -> int | None:
        """Return how many queries a test of a group has at most: twice as many where none has to be answered."""
        return {SHARE: None, LIKELIHOOD: 2 * self.queries}.get(group, self.queries)

    def table(self, name: str) -> Table:
        """A part of a table by its name. Raises `UsageError` where a table of 2026 is not on this machine."""
        return _table(name, self.rows, False)

    def planned(self, place: Place) -> Sequence[PlannedResult]:
        """The cells of a place as a run plans them, the same for every snapshot."""
        return _planned(self, place.table, place.group)


def study_of(record: Path) -> Study:
    """Return how much was asked. Raises `UsageError` where the folder holds no record."""
    try:
        facts = json.loads((record / STUDY).read_text("utf-8"))
    except OSError:
        raise UsageError(f"{record} holds no answers; type --llm hf:FOLDER to make some") from None
    return Study(facts["rows"], facts["queries"])


def places(snapshot: str) -> Iterator[list[Place]]:
    """What a snapshot is asked: places that are asked together, those that cost least first.

    The share of memory is measured of the last snapshot, and of that which has read as much of other rows.
    """
    yield [Place(name, PromptForm.COMPLETION, CSV, LIKELIHOOD) for name in NAMES]
    yield [Place(name, PromptForm.COMPLETION, CSV) for name in NAMES]
    if snapshot in (NONE, LAST):
        yield [Place(part_name(table, READ), PromptForm.COMPLETION, CSV, SHARE) for table in TABLES]
    yield [Place(name, PromptForm.CHAT, CSV) for name in NAMES]


def groups(name: str) -> list[Place]:
    """All that is asked about a part of a table, whatever the form."""
    shared = [SHARE] if name.endswith(f"-{READ}") else []
    return [Place(name, PromptForm.COMPLETION, CSV, group) for group in ("", LIKELIHOOD, *shared)]


def forget() -> None:
    """Forget the plans, which rest on the baseline's chances."""
    _planned.cache_clear()
    _table.cache_clear()


@cache
def _table(name: str, rows: int, beside_other: bool) -> Table:
    table, _, part = name.rpartition("-")
    with TemporaryDirectory() as folder:
        files = write(Path(folder), table, rows)
        found = load_tables([str(files[part])], target=CLASS)[0]
        return (with_fresh(found, [str(files[OTHER])])[0] if beside_other else found)[0]


@cache
def _planned(study: Study, name: str, group: str) -> Sequence[PlannedResult]:
    options = RunConfig(seed=SEED, queries=study.most(group), rows=study.rows)
    table = _table(name, study.rows, group == SHARE)
    worded = [_goes_on()] if group == SHARE else []
    return plan(
        [RunSource(HFModel("anybody"))], [table], [load_serializer(CSV)], _tests(group), options, prompts=worded
    )


def _tests(group: str) -> Sequence[Test]:
    if group == LIKELIHOOD:
        return selected(list(by_id().values()), None, "likelihood or order")
    return [by_id()["memory_share"]] if group == SHARE else [by_id()[name] for name in ANSWERS]


@cache
def _goes_on() -> PromptSet:
    """The prompts in which a classification goes on as a file does."""
    with TemporaryDirectory() as folder:
        return load_prompt_set(str(prompts(Path(folder))))
