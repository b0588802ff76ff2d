"""Dose and response from LLMs of known exposure, in recorded runs and in a new run for `power`.

Rows that were read equally often are judged together, as one table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tabcontam.asking.run_progress import Progress
from tabcontam.asking.trial_file import RESULTS, Line
from tabcontam.calibration.dose import TABLE, Observation
from tabcontam.calibration.power_study import Study
from tabcontam.config import CALIBRATED, RunConfig
from tabcontam.errors import UsageError, option
from tabcontam.evidence.base import Trial
from tabcontam.evidence.registry import by_id
from tabcontam.groups import grouped
from tabcontam.models.provider_registry import ModelSettings, resolve
from tabcontam.runs.folder import load_whole
from tabcontam.runs.named_models import check_known
from tabcontam.runs.rescoring import read_again
from tabcontam.runs.run import Run, execute, prepare
from tabcontam.tables.serializers import load_serializer
from tabcontam.verdicts.result_building import build_result, build_results, pool_parts
from tabcontam.verdicts.result_types import Result, ResultKey, TableName
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.run_facts import RunFacts

Read = Mapping[ResultKey, Sequence[tuple[Line, Trial]]]


def run_folders(folder: Path) -> list[Path]:
    """Return the runs in a folder: itself if it is a run, else its direct subfolders. Raises `UsageError`."""
    if (folder / RESULTS).is_file():
        return [folder]
    try:
        found = sorted(one for one in folder.iterdir() if (one / RESULTS).is_file())
    except OSError as error:
        raise UsageError(
            f"cannot read {folder}: {error.strerror or error}; name a folder of models or of runs"
        ) from None
    if not found:
        raise UsageError(f"{folder} holds neither models that expose made nor runs; name a folder of either")
    return found


def observations(folder: Path) -> list[Observation]:
    """Return the observations of a run as in `placed`, with the folder's name before each LLM's name."""
    return [replace(one, llm=f"{folder.name} {one.llm}") for _, one in placed(folder)]


def placed(folder: Path) -> list[tuple[TableName, Observation]]:
    """Return a run's observations (verdicts by copies read) on tables with known exposure, each with its table.

    If all rows of a table were read equally often, its recorded results are used. Otherwise the rows of each number of
    copies are judged again as a separate table, by the tests that record the row of each query. Results of controls
    that joined, and of tables with unknown exposure, are left out. Raises `UsageError` for a run that cannot be judged
    like this.
    """
    past = load_whole(folder)
    if past.run.rules != CALIBRATED:
        again = f"judge it again: python -m tabcontam rescore {folder} {option('rules', CALIBRATED)}"
        raise UsageError(f"{folder} was judged by the published rules; {again}")
    known = [
        result for result in past.results if result.exposure is not None and not result.control and not result.lacks
    ]
    if any(result.sequential for result in known):
        raise UsageError(f"{folder} was made with {option('until_decided')}; ladder needs a run that asks every query")
    read = read_again(folder, replace(past, results=tuple(known)))
    return [
        (table, observed)
        for (llm, table), own in grouped(known, lambda result: (result.llm, result.table)).items()
        for observed in _of_table(past, own, read, llm)
    ]


def _of_table(past: RunResults, own_results: Sequence[Result], read: Read, llm: str) -> Iterator[Observation]:
    name = past.label(own_results[0])
    stated = (_copies(line) for result in own_results for line, _ in read[result.key])
    copies = sorted({one for one in stated if one is not None})
    if len(copies) <= 1:
        yield from _judged(past.run, own_results, llm, name, own_results[0].exposure or 0.0, None)
        return
    for exposure in copies:
        own = {result.key: _arm(read[result.key], exposure) for result in own_results}
        rows = len({trial.query.row for trials in own.values() for trial in trials} - {None})
        yield from _judged(past.run, list(_of_arm(past.run, own_results, own)), llm, name, exposure, rows)


def _copies(line: Line) -> float | None:
    """Return the number of copies read of the row that a line asks about; None if the LLM's card does not state it."""
    exposure = line.get("exposure")
    return float(exposure) if isinstance(exposure, int | float) and not isinstance(exposure, bool) else None


def _arm(read_lines: Sequence[tuple[Line, Trial]], exposure: float) -> list[Trial]:
    """Return the trials about rows of one exposure, and the decoys of these trials."""
    own = {trial.query.id for line, trial in read_lines if _copies(line) == exposure}
    return [trial for _, trial in read_lines if trial.query.id in own or trial.query.decoy_of in own]


def _of_arm(run: RunFacts, own_results: Sequence[Result], own: Mapping[ResultKey, Sequence[Trial]]) -> Iterator[Result]:
    for result in own_results:
        test, trials = by_id()[result.test], own[result.key]
        if trials and test.row_test:
            pools = pool_parts(result.key, test, own)
            yield build_result(
                result.key, test, trials, len(trials), CALIBRATED, run.level_of(test.family), pooled_trials=pools
            )


def _judged(
    run: RunFacts, own_results: Sequence[Result], llm: str, dataset: str, copies: float, rows: int | None
) -> Iterator[Observation]:
    """Yield the verdicts of these results and of their table, as if no other table had been asked about."""
    found = build_results(run, own_results)
    for result in found.results:
        yield Observation(llm, dataset, copies, result.test, result.verdict, result.evidence.p_value, rows)
    for table in found.tables:
        yield Observation(llm, dataset, copies, TABLE, table.verdict, table.p_value, rows)


TableObservations = Sequence[tuple[TableName, Observation]]


def observe_models(study: Study, llms: Sequence[str], command: str, progress: Progress) -> TableObservations:
    """Return the result of each test on rows of each table, by the number of copies that each LLM has read.

    The LLMs are asked as in a run with the study's seed, level, tests and words, but only replies are cached. Before
    anything is asked, raises `UsageError` for an LLM with unknown exposure to a table. Raises `KeyboardInterrupt` if
    the user ended the run.
    """
    settings = ModelSettings(serializers=(load_serializer(study.serializer),))
    check_known("llm", [resolve(spec).open(settings) for spec in dict.fromkeys(llms)], study.tables())
    with TemporaryDirectory(prefix="tabcontam-") as folder:
        out = Path(folder) / "run"
        outcome = execute(_planned(study, llms, command, out, progress), progress)
        if outcome.results.run.interrupted:
            raise KeyboardInterrupt
        if outcome.failure:
            raise UsageError(outcome.unreached)
        return placed(out)


def _planned(study: Study, llms: Sequence[str], command: str, out: Path, progress: Progress) -> Run:
    words = {name: getattr(study, name) for name in ("marks", "seed", "alpha", "target", "name", "known")}
    words |= {"llm": llms, "dataset": study.datasets, "tests": study.expression, "controls": False, "out": out}
    words |= {"serializer": [study.serializer], "prompts": [study.prompts], "command": command, **vars(study.text)}
    return prepare(RunConfig(**words), progress)


def with_models(document: dict[str, Any], llms: Sequence[str], observations: TableObservations) -> dict[str, Any]:
    """Return the document of `power` with the observations of these LLMs, in each dataset under `models`."""

    def observed(dataset: dict[str, Any]) -> dict[str, Any]:
        place = dataset["dataset"], dataset["edition"], dataset["split"] or ""
        own = [one for table, one in observations if (table.dataset, table.edition or "", table.split or "") == place]
        return {**dataset, "models": [asdict(one) for one in own]}

    return {**document, "llms": list(dict.fromkeys(llms)), "datasets": list(map(observed, document["datasets"]))}
