"""The command `ladder`: ask models with known exposure about their tables, and show results by copies of a row read."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabcontam.cli.option_values import path
from tabcontam.cli.printing import command_line, console_of, open_page, print_json, write_files
from tabcontam.cli.run_arguments import OF_FILES, add_settings
from tabcontam.config import RunConfig
from tabcontam.errors import Exit, UsageError

if TYPE_CHECKING:
    from tabcontam.asking.run_progress import Progress
    from tabcontam.models.known.exposure_card import ExposureCard

OWN = "ladder"  # the folder of the report, inside the first named folder
RUNS = "runs"  # the runs of models, inside the report's folder
EXAMPLES = """\
examples:
  python -m tabcontam expose --dataset penguins --dataset titanic --copies 0,1,4,16,64 --rendering csv --out models
  python -m tabcontam ladder models -m "rows or likelihood"
  python -m tabcontam ladder models other-models runs-of-others --out ladder
"""


@dataclass(frozen=True)
class LadderPlan:
    """The model to ask (a folder), the tables and serializers to ask about, and the folder of the run."""

    llm: Path
    datasets: tuple[str, ...]
    serializers: tuple[str, ...]
    out: Path


def add_ladder(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Ask models of known exposure about the tables that they have read. The report has the share that each test\n"
        "detects by copies read, and its p-values on rows that were never read. A DIR is the folder of expose, one\n"
        "of its models, a run, or a folder of runs with known exposure. The same command continues after an\n"
        "interruption, and asks no query twice."
    )
    command.epilog = EXAMPLES
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_argument("folders", type=path, nargs="+", metavar="DIR", help="folders of models, or of runs")
    what = command.add_argument_group("models and tables")
    about = "; one that a model never read counts as read 0 times (default: the tables that it read)"
    add_settings(what, "dataset", help=RunConfig.dataset.about + about)
    about = " (default: the first form in which the model read the rows)"
    add_settings(what, "serializer", help=RunConfig.serializer.about + about)
    add_settings(what, "tests", "marks", *OF_FILES)
    add_settings(what, "seed", default=0)
    where = command.add_argument_group("the report")
    where.add_argument(
        "--out",
        type=path,
        metavar="DIR",
        help="the folder of ladder.html, ladder.json and the runs that are made (default: ladder in the first DIR)",
    )
    add_settings(where, "open")
    where.add_argument("--json", action="store_true", help="print ladder.json")


def ladder(options: argparse.Namespace) -> int:
    from tabcontam.report.progress_display import progress

    out = options.out or options.folders[0] / OWN
    planned, runs = _planned(options, out)
    shown = progress(quiet=False)
    for number, rung in enumerate(planned, start=1):
        if len(planned) > 1:
            print(f"model {number} of {len(planned)}: {rung.llm}", file=sys.stderr, flush=True)
        if _interrupted(rung, options, shown):
            return Exit.INTERRUPTED
    write_ladder([*(rung.out for rung in planned), *runs], out, options.json)
    if options.open:
        open_page(out / "ladder.html")
    return Exit.DONE


def ask_exposed_models(made: argparse.Namespace) -> int:
    """Run `ladder` on the models that `expose` has made, with the options on tables that `expose` was given."""
    asked = {"folders": [made.out], "out": None, "serializer": [], "tests": None, "marks": None, "open": False}
    return ladder(argparse.Namespace(**(vars(made) | asked)))


def _planned(options: argparse.Namespace, out: Path) -> tuple[list[LadderPlan], list[Path]]:
    """Return the models to ask, each with its tables, and the folders of existing runs. Raises `UsageError`."""
    from tabcontam.extensions.exposed.finished_models import models_in, tables_read
    from tabcontam.runs.dose_observations import run_folders

    planned: dict[Path, LadderPlan] = {}
    runs: list[Path] = []
    for each in options.folders:
        models = models_in(each)
        if not models:
            runs += run_folders(each)
        for model, card in models:
            name = f"{model.resolve().parent.name}-{model.resolve().name}"
            rung = LadderPlan(
                llm=model,
                datasets=tuple(options.dataset) or tuple(tables_read(card)),
                serializers=tuple(options.serializer) or _forms(card)[:1],
                out=out / RUNS / name,
            )
            if any(model.resolve() == other.llm.resolve() for other in planned.values()):
                continue  # the folder is named twice
            if rung.out in planned:
                raise UsageError(
                    f"{each} and {planned[rung.out].llm} have the same name, {name}; rename one of the folders"
                )
            planned[rung.out] = rung
    return list(planned.values()), runs


def _forms(card: "ExposureCard") -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for read in card.tables for name in read.renderings))


def _interrupted(rung: LadderPlan, options: argparse.Namespace, shown: "Progress") -> bool:
    """Ask the model of one rung. Return True if the user interrupted it. Raises `UsageError` if no answer came."""
    from tabcontam.runs.run import execute, prepare

    own = {"llm": (f"hf:{rung.llm}",), "dataset": rung.datasets, "serializer": rung.serializers, "out": rung.out}
    read = {name: getattr(options, name) for name in ("tests", "marks", "seed", "began", *OF_FILES)}
    config = RunConfig(**own, **read, controls=False, command=command_line())
    outcome = execute(prepare(config, shown), shown)
    if outcome.failure:
        raise UsageError(f"{rung.llm} gave no answer: {outcome.failure}")
    return outcome.results.run.interrupted


def write_ladder(runs: Sequence[Path], out: Path, as_json: bool) -> None:
    """Evaluate runs by copies of a row read, write the report and print it. Raises `UsageError`."""
    from tabcontam.asking.trial_file import open_folder
    from tabcontam.calibration.dose import doses
    from tabcontam.extensions.exposed.ladder_page import document, render_ladder
    from tabcontam.extensions.exposed.ladder_text import print_ladder
    from tabcontam.runs.dose_observations import observations
    from tabcontam.verdicts.document import as_json as in_json
    from tabcontam.verdicts.run_facts import known_tests

    observed = [one for run in runs for one in observations(run)]
    if not observed:
        raise UsageError("these runs have no model whose copies of a table are known; name the folder that expose made")
    known = known_tests()
    found = doses(observed, {test: facts.family for test, facts in known.items()})
    titles = {test: facts.title for test, facts in known.items()}
    held: Any = document(found, observed, [str(run) for run in runs])
    open_folder(out)
    page = render_ladder(found, observed, titles, [str(run) for run in runs])
    write_files(out, {"ladder.json": in_json(held), "ladder.html": page})
    if as_json:
        print_json(held)
    else:
        print_ladder(console_of(), found, titles, out / "ladder.html")
