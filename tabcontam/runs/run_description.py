"""The facts of a run for its results: inputs and settings, the models asked about each table, and the libraries."""

import contextlib
import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import datetime
from importlib import metadata
from typing import TYPE_CHECKING

from tabcontam.asking.query_plan import RunSource
from tabcontam.asking.run_shards import digest
from tabcontam.baseline.failures import failures_of
from tabcontam.config import PAPER, RESULTS, settings
from tabcontam.tables.known_rows import has_columns
from tabcontam.tables.sources import without_queries
from tabcontam.tables.table import Table
from tabcontam.tables.unread_rows import digest_of
from tabcontam.verdicts.notes import Note, NoteKind
from tabcontam.verdicts.run_facts import (
    DatasetFacts,
    KnownFacts,
    LlmFacts,
    PromptFacts,
    RunFacts,
    SerializerFacts,
    ShardFacts,
    catalogued,
)
from tabcontam.verdicts.wording import phrase
from tabcontam.version import __version__

if TYPE_CHECKING:
    from tabcontam.runs.run import Run

# The settings that have a field of their own in results.json.
OF_ASKING = ("seed", "rules", "queries", "rows", "samples", "temperature", "shots", "alpha", "family_over")
LIBRARIES = ("numpy", "openai", "pandas", "scikit-learn", "scipy")


def describe(run: "Run", started: datetime, used: Mapping[str, LlmFacts]) -> RunFacts:
    """Return the facts of a run. `used` has each LLM's requests and costs so far."""
    config = run.config
    stated = {name: one.of(config) for name, one in settings(RESULTS).items() if one.is_set(config)}
    levels = {planned.test.family.value: planned.level for planned in run.grid}
    return RunFacts(
        version=__version__,
        versions=versions(),
        command=without_queries(run.config.command),
        started=started.isoformat(timespec="seconds"),
        **{name: getattr(config, name) for name in OF_ASKING},
        until_decided=config.min_power if config.until_decided else None,
        settings=stated,
        level=min(levels.values()),
        levels=levels,
        shard=_shard(run),
        dictionary=run.dictionary.name,
        llms=tuple(_llm(run, subject, used) for subject in run.subjects if not subject.reference),
        references=tuple(_llm(run, subject, used) for subject in run.subjects if subject.reference),
        known=tuple(_known(run, file) for file in run.known),
        trained_on=run.trained_on,
        catalogue=catalogued({subject.model.spec: _written(run, subject.model.spec) for subject in run.subjects}),
        datasets=tuple(
            DatasetFacts(
                name=table.name,
                title=table.title,
                edition=table.edition,
                split=table.split or None,
                elsewhere=table.elsewhere,
                sha256=table.sha256,
                rows=table.rows_in_file,
                sampled=None if table.whole is None else len(table.rows),
                columns=len(table.columns),
                features=tuple(table.columns),
                order=table.order,
                withheld=len(table.withheld),
                withheld_sha256=digest_of(table.withheld),
                fresh=len(table.fresh),
                fresh_sha256=digest_of(table.fresh),
                reading=table.read.options,
                failed=failures_of(table),
                read=table.read.how,
            )
            for table in run.tables
        ),
        serializers=tuple(
            SerializerFacts(**{fact.name: getattr(item, fact.name, "") for fact in fields(SerializerFacts)})
            for item in run.serializers
        ),
        prompts=tuple(PromptFacts(name=item.name, about=item.about) for item in run.prompts),
        notes=(
            *((Note(NoteKind.DEFAULTS, run.config.defaults),) if run.config.defaults else ()),
            *(Note(NoteKind.SAMPLED, table.sampled) for table in run.tables if table.whole is not None),
            *((Note(NoteKind.QUERIES, left_out),) if (left_out := not_asked(run)) else ()),
        ),
    )


def _shard(run: "Run") -> ShardFacts | None:
    shard = run.config.shard
    if shard is None:
        return None
    planned = sum(not planned_result.subject.reference for planned_result in run.grid)
    return ShardFacts(parts=(shard.number,), total=shard.of, plan=digest(run.grid), results=planned)


def not_asked(run: "Run") -> str:
    """Return a line on the parts left out by `--queries paper`: tests, queries, and results that will be undecided."""
    if run.config.queries != PAPER:
        return ""
    plan = [planned for planned in run.grid if planned.subject is run.subjects[0]]
    beyond = sum(planned.beyond for planned in plan)
    undecided = sum(planned.uninformative is not None for planned in plan)
    left_out = [f"{phrase([test.id for test in run.left_out])} whole"] if run.left_out else []
    left_out += [f"{beyond:,} further queries to each model"] if beyond else []
    of_rules = (
        f"; {undecided} of {len(plan)} results of a model are not asked for, since the calibrated rules need more "
        "queries (--rules paper asks for them)"
    )
    return f"only the paper's own queries: left out are {phrase(left_out) or 'none'}" + (of_rules if undecided else "")


def _llm(run: "Run", subject: RunSource, used: Mapping[str, LlmFacts]) -> LlmFacts:
    spec, found = subject.model.spec, run.resolved.get(subject.model.spec)
    return replace(
        used.get(spec) or LlmFacts(spec=spec),
        resolved=spec if found is None else str(found),
        stands_for=spec if found is None else found.stands_for,
        version=subject.model.version,
        control=subject.joined,
        checks=subject.model.control,
        is_corpus=subject.model.is_corpus,
    )


def _written(run: "Run", name: str) -> str:
    """Return an LLM's spec without its label: a label is no evidence of the LLM behind it."""
    found = run.resolved.get(name)
    return found.stands_for if found is not None and found.label else name


def _known(run: "Run", file: Table) -> KnownFacts:
    fitting = tuple(dict.fromkeys(table.name for table in run.tables if has_columns(file, table)))
    return KnownFacts(name=file.name, sha256=file.sha256, rows=len(file.rows), datasets=fitting)


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that can change a result."""
    found = {"python": sys.version.split()[0]}
    for name in LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found
