"""Checks before a run continues in the folder of an earlier run: it must be the same run."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tabcontam.asking.session import Session
from tabcontam.asking.trial_file import RESULTS
from tabcontam.config import PAPER, settings
from tabcontam.errors import UsageError, option
from tabcontam.runs.folder import load, load_whole
from tabcontam.tables.table import Table
from tabcontam.tables.unread_rows import digest_of
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.run_facts import DatasetFacts, asked_queries, turns_in_words
from tabcontam.verdicts.wording import phrase
from tabcontam.version import __version__

if TYPE_CHECKING:
    from tabcontam.runs.run import Run


def check_same_run(folder: Path, run: "Run") -> None:
    """Raise `UsageError` unless the run has all results of the folder's run: the report would lose a missing one."""
    if not (folder / RESULTS).exists():
        return
    if difference := next(_run_differences(folder, run, load_whole(folder)), None):
        raise UsageError(f"{difference}; choose another folder with {option('out')}")


def _run_differences(folder: Path, run: "Run", recorded: RunResults) -> Iterator[str]:
    """Yield in words each part of the folder's run (`recorded`) that the new run does not have."""
    for name, setting in settings().items():
        had = getattr(recorded.run, name, recorded.run.settings.get(name, setting.default)) if setting.fixed else None
        if setting.fixed and had != setting.of(run.config):
            given = "without" if had == setting.default != 0 else "with"
            yield f"{folder} holds a run {given} {option(name) if given == 'without' else option(name, had)}"
    now, before = run.config.shard, recorded.run.shard
    if (before and (before.parts, before.total)) != (now and ((now.number,), now.of)):
        yield f"{folder} holds {f'{before} of a run' if before else 'a whole run'}"
    if recorded.run.version != __version__:
        yield f"{folder} holds a run of tabcontam {recorded.run.version}"
    if PAPER in (recorded.run.queries, run.config.queries) and recorded.run.queries != run.config.queries:
        yield f"{folder} holds a run of {asked_queries(recorded.run)}"
    for each, table in _in_both(run, recorded):
        if table.read.options != each.reading:
            yield f"{folder} holds a run on {each.name} read {each.reading or 'as detected'}"
    for word in ("withheld", "fresh"):
        for each, table in _in_both(run, recorded):
            if digest_of(getattr(table, word)) != getattr(each, f"{word}_sha256"):
                number = getattr(each, word)
                given = f"with {number} {word} rows of {each.name}" if number else f"without {option(word)}"
                yield f"{folder} holds a run {given}"
    for each, table in _in_both(run, recorded):
        if table.elsewhere != each.elsewhere:
            left_out = "all rows that it could" if each.elsewhere is None else f"{each.elsewhere} rows"
            how = f"that left out {left_out} of {each.named} that also stand in another split"
            yield f"{folder} holds a run {how}"
    share = run.config.min_power if run.config.until_decided else None
    if recorded.run.until_decided != share:
        yield f"{folder} holds a run {turns_in_words(recorded.run)}"
    known = [file.sha256 for file in recorded.run.known], [file.sha256 for file in run.known]
    references = (
        [llm.spec for llm in recorded.run.references],
        [one.model.spec for one in run.subjects if one.reference],
    )
    for given, (had, has), names in (
        (option("known"), known, [file.name for file in recorded.run.known]),
        (option("reference"), references, references[0]),
    ):
        if set(had) != set(has) or (names == references[0] and had[:1] != has[:1]):
            yield f"{folder} holds a run {f'with {given} {phrase(names)}' if names else f'without {given}'}"
    if lost := [one for one in recorded.run.trained_on if one not in run.trained_on]:
        yield f"{folder} holds a run with {option('trained_on', f'{lost[0].llm}={lost[0].corpus}')}"
    named = {one.model.spec: str(run.resolved.get(one.model.spec, one.model.spec)) for one in run.subjects}
    for llm in (*recorded.run.llms, *recorded.run.references):
        resolved = named.get(llm.spec)
        if llm.resolved and resolved and llm.resolved != resolved:
            yield f"in {folder} {llm.spec} is {llm.resolved}, now it is {resolved}"
    planned = {result.name for result in run.plan}
    for result in recorded.results:
        if result.key not in planned:
            yield f"{folder} holds {result.llm} {result.dataset} {result.test}, which this run does not ask"


def _in_both(run: "Run", recorded: RunResults) -> list[tuple[DatasetFacts, Table]]:
    """Return the tables that are in both runs, each as (its facts in the folder, the table now)."""
    tables = {table.key: table for table in run.tables}
    return [(each, tables[each.key]) for each in recorded.run.datasets if each.key in tables]


def check_same_versions(folder: Path, session: Session) -> None:
    """Raise `UsageError` if an LLM has changed: one result cannot combine its old and new answers."""
    if not (folder / RESULTS).exists():
        return
    versions = {planned.name.llm: planned.subject.model.version for planned in session.plan}
    recorded = load(folder).run
    for llm in (*recorded.llms, *recorded.references):
        before, now = llm.version, versions.get(llm.spec)
        if before and now and before != now:
            raise UsageError(
                f"in {folder} {llm.spec} was version {before}, now it is {now}; "
                f"choose another folder with {option('out')}"
            )
