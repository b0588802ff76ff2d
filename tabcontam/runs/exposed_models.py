"""Models of known exposure, asked about the tables of `power` in addition to its simulated answerers."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tabcontam.asking.run_progress import Progress
from tabcontam.calibration.dose import Observation
from tabcontam.calibration.power_study import Study
from tabcontam.config import RunConfig
from tabcontam.errors import UsageError
from tabcontam.models.provider_registry import ModelSettings, resolve
from tabcontam.runs.dose_observations import placed
from tabcontam.runs.known_controls import check_known
from tabcontam.runs.run import Run, execute, prepare
from tabcontam.tables.serializers import load_serializer
from tabcontam.verdicts.result_types import TableName

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
