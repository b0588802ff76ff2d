"""Checks before a run goes on in a folder that holds one: only the same run is continued."""

from pathlib import Path
from typing import TYPE_CHECKING

from tabcontam.asking.session import Session
from tabcontam.asking.trial_file import RESULTS
from tabcontam.errors import UsageError, option
from tabcontam.runs.folder import load, load_whole
from tabcontam.tables.withheld_rows import digest_of
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.rules import PAPER
from tabcontam.verdicts.run_facts import asked_queries, turns_in_words
from tabcontam.verdicts.wording import phrase, visible
from tabcontam.version import __version__

if TYPE_CHECKING:
    from tabcontam.runs.run import Run


def check_same_run(folder: Path, run: "Run") -> None:
    """Raise `UsageError` unless the run has all results of the folder's run: others would vanish from its report.

    If the folder's run is to be asked again, the error names its command.
    """
    if not (folder / RESULTS).exists():
        return
    recorded = load_whole(folder)
    try:
        _check_same_run(folder, run, recorded)
    except UsageError as error:
        if run.order.options.last_failed and recorded.run.command:
            command = visible(recorded.run.command, line=True)
            raise UsageError(f"{error}, or add {option('last_failed')} to its own command: {command}") from None
        raise


def check_last_failed(run: "Run") -> None:
    """Raise `UsageError` if there is no run whose queries could be asked again."""
    if not run.order.options.last_failed:
        return
    if run.order.out is None:
        raise UsageError(f"{option('last_failed')} needs the folder of the run; add {option('out')}")
    if not (run.order.out / RESULTS).exists():
        what = f"{option('last_failed')} repeats the queries of a run that have no readable answer"
        raise UsageError(f"{what}, and {run.order.out} holds no run; give its folder with {option('out')}")


def _check_same_run(folder: Path, run: "Run", recorded: RunResults) -> None:
    if recorded.run.seed != run.order.options.seed:
        raise UsageError(
            f"{folder} holds a run with seed {recorded.run.seed}; choose another folder with {option('out')}"
        )
    now, before = run.order.shard, recorded.run.shard
    if (before and (before.parts, before.total)) != (now and ((now.number,), now.of)):
        recorded_part = f"{before} of a run" if before else "a whole run"
        raise UsageError(f"{folder} holds {recorded_part}; choose another folder with {option('out')}")
    if recorded.run.version != __version__:
        raise UsageError(
            f"{folder} holds a run of tabcontam {recorded.run.version}; choose another folder with {option('out')}"
        )
    if PAPER in (recorded.run.queries, run.order.options.queries) and recorded.run.queries != run.order.options.queries:
        raise UsageError(
            f"{folder} holds a run of {asked_queries(recorded.run)}; choose another folder with {option('out')}"
        )
    for word in ("samples", "shots"):
        if (had := getattr(recorded.run, word)) != getattr(run.order.options, word):
            given = option(word, had) if had else f"without {option(word)}"
            raise UsageError(f"{folder} holds a run {given}; choose another folder with {option('out')}")
    if recorded.run.temperature != run.order.options.temperature:
        temperature = recorded.run.temperature
        given = (
            f"with {option('temperature', temperature)}"
            if temperature is not None
            else f"without {option('temperature')}"
        )
        raise UsageError(f"{folder} holds a run {given}; choose another folder with {option('out')}")
    read = {table.key: table.reading for table in run.tables}
    for each in recorded.run.datasets:
        if read.get(each.key, each.reading) != each.reading:
            how = each.reading or "as detected"
            raise UsageError(
                f"{folder} holds a run on {each.name} read {how}; choose another folder with {option('out')}"
            )
    withheld = {table.key: digest_of(table.withheld) for table in run.tables}
    for each in recorded.run.datasets:
        if withheld.get(each.key, each.withheld_sha256) != each.withheld_sha256:
            how = (
                f"with {each.withheld} withheld rows of {each.name}"
                if each.withheld
                else f"without {option('withheld')}"
            )
            raise UsageError(f"{folder} holds a run {how}; choose another folder with {option('out')}")
    fresh = {table.key: digest_of(table.fresh) for table in run.tables}
    for each in recorded.run.datasets:
        if fresh.get(each.key, each.fresh_sha256) != each.fresh_sha256:
            how = f"with {each.fresh} fresh rows of {each.name}" if each.fresh else f"without {option('fresh')}"
            raise UsageError(f"{folder} holds a run {how}; choose another folder with {option('out')}")
    shared = {table.key: table.elsewhere for table in run.tables}
    for each in recorded.run.datasets:
        if shared.get(each.key, each.elsewhere) != each.elsewhere:
            left_out = "all rows that it could" if each.elsewhere is None else f"{each.elsewhere} rows"
            how = f"that left out {left_out} of {each.named} that also stand in another split"
            raise UsageError(f"{folder} holds a run {how}; choose another folder with {option('out')}")
    share = run.order.options.min_power if run.order.options.until_decided else None
    if recorded.run.until_decided != share:
        raise UsageError(
            f"{folder} holds a run {turns_in_words(recorded.run)}; choose another folder with {option('out')}"
        )
    specs = [subject.model.spec for subject in run.subjects]
    named = {spec: str(run.resolved.get(spec, spec)) for spec in specs}
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
            kind = f"with {given} {phrase(names)}" if names else f"without {given}"
            raise UsageError(f"{folder} holds a run {kind}; choose another folder with {option('out')}")
    if lost := [one for one in recorded.run.trained_on if one not in run.trained_on]:
        given = option("trained_on", f"{lost[0].llm}={lost[0].corpus}")
        raise UsageError(f"{folder} holds a run with {given}; choose another folder with {option('out')}")
    for llm in (*recorded.run.llms, *recorded.run.references):
        resolved = named.get(llm.spec)
        if llm.resolved and resolved and llm.resolved != resolved:
            other = f"is {llm.resolved}, now it is {resolved}"
            raise UsageError(f"in {folder} {llm.spec} {other}; choose another folder with {option('out')}")
    planned = {result.name for result in run.plan}
    for result in recorded.results:
        if result.key not in planned:
            name = f"{result.llm} {result.dataset} {result.test}"
            raise UsageError(
                f"{folder} holds {name}, which this run does not ask; choose another folder with {option('out')}"
            )


def check_same_versions(folder: Path, session: Session) -> None:
    """Raise `UsageError` if an LLM has changed since: its answers do not belong in one result with the old ones."""
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
