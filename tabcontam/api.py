"""The Python interface, in the words of the command line: `tabcontam.run(...)`, `tabcontam.load_results(...)`.

An error that a user can correct is raised as `UsageError`. Its text is the line that the command line prints, but an
option such as `--send-rows` is written as the Python argument `send_rows=True`.
"""

import inspect
import os.path
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast

from tabcontam.config import PYTHON, RunConfig, settings
from tabcontam.entry_points import load_settings
from tabcontam.errors import UsageError, name_options_in_python, unknown
from tabcontam.evidence.base import Verdict
from tabcontam.models.catalogue import write_labels
from tabcontam.tables.frames import is_frame, to_frame
from tabcontam.tables.table import Table
from tabcontam.verdicts.document import RESULTS, as_document, read_results, read_without_results
from tabcontam.verdicts.gate import EarlierRun, GateDecision, judge
from tabcontam.verdicts.llm_ranking import Rank
from tabcontam.verdicts.name_lookup import llms_named, places_named
from tabcontam.verdicts.result_lines import count_results, select_lines
from tabcontam.verdicts.result_types import Result, TableVerdict, count
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.wording import visible

if TYPE_CHECKING:
    import pandas as pd

    from tabcontam.run_settings import Dataset, RunSettings
    from tabcontam.tables.frames import Frame


@dataclass(frozen=True, repr=False)
class Results:
    """The results of a run. `folder` contains the run's results.json, its trials and its report.

    The results of the tests of a large run are left `on_disk`: `source` lacks them, and they are read from results.json
    when they are needed. A notebook displays an object of this class as the heatmap.
    """

    folder: Path
    source: RunResults
    on_disk: bool = False

    @cached_property
    def run_results(self) -> RunResults:
        """The whole content of results.json."""
        return read_results(self.folder) if self.on_disk else self.source

    def __repr__(self) -> str:
        if self.on_disk:
            with suppress(ValueError):  # then the file is read as a whole
                stored = f"{count_results(self.folder / RESULTS)} results, read from disk when needed"
                return visible(f"<Results {self.folder}: {stored}>", line=True)
        llms = dict.fromkeys(result.llm for result in self.results)
        found = ", ".join(f"{number} {outcome}" for outcome, number in count(self.run_results.subjects).items())
        counted = f"{len(llms)} LLMs, {len(self.results)} results: {found or 'none'}"
        return visible(f"<Results {self.folder}: {counted}>", line=True)

    def _repr_html_(self) -> str:
        """Return the heatmap at its full width. Texts from models and tables are escaped."""
        from tabcontam.report.svg import render_svg

        return f'<div style="overflow-x: auto">{render_svg(self.run_results)}</div>'

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The content of results.json."""
        return as_document(self.run_results)

    @property
    def results(self) -> tuple[Result, ...]:
        """The result of each (LLM, dataset, serializer, prompt set, test), controls included."""
        return self.run_results.results

    @property
    def tables(self) -> tuple[TableVerdict, ...]:
        """The joint verdict of the row tests on each (LLM, dataset, serializer, prompt set)."""
        return self.source.tables_in_order

    @property
    def ranking(self) -> list[Rank]:
        """The LLMs under test, the most contaminated first."""
        return self.source.ranks_in_order

    @name_options_in_python()
    def select(
        self,
        *,
        llm: str | Sequence[str] = (),
        dataset: str | Sequence[str] = (),
        test: str | Sequence[str] = (),
        verdict: str | Sequence[str] = (),
    ) -> tuple[Result, ...]:
        """Return the results for these LLMs, datasets, tests and verdicts, by their names in the results.

        An argument that is not given selects all. Of a large run, only the selected results are read from disk. Raises
        `UsageError` for a verdict that does not exist.
        """
        for word in several_of(verdict):
            if word not in list(Verdict):
                raise unknown("verdict", word, list(Verdict))
        given = {"llm": llm, "dataset": dataset, "test": test, "verdict": verdict}
        wanted = {name: several_of(words) for name, words in given.items() if words}
        if self.on_disk:
            with suppress(OSError, ValueError):  # below, the whole file is read, and the fault is named
                found = select_lines(self.folder / RESULTS, wanted)
                if {result.test for result in found} <= self.source.facts.keys():
                    return found
        return tuple(
            result for result in self.results if all(getattr(result, name) in words for name, words in wanted.items())
        )

    @name_options_in_python()
    def verdict(self, llm: str, dataset: str) -> Verdict | None:
        """Return the verdict on one table, one of the five words; None if no row test was asked.

        Raises `UsageError` for a name that is not in the results, and for a name that fits several of their tables.
        """
        llms, places = llms_named(self.run_results, [llm]), places_named(self.run_results, dataset)
        found = [table for table in self.tables if table.llm in llms and table.table in places]
        if len(found) > 1:
            names = [f"{table.llm} on {self.run_results.label(table)}" for table in found]
            raise UsageError(f"{llm} and {dataset} mean {len(found)} tables: {', '.join(names)}; name one of them")
        return found[0].verdict if found else None

    @name_options_in_python()
    def gate(
        self,
        *,
        llm: str | Sequence[str] = (),
        dataset: str | Sequence[str] = (),
        fail_on: str | Sequence[str] = (),
        min_power: float | None = None,
        max_memory_share: float | None = None,
        baseline: "str | Path | Results | None" = None,
    ) -> GateDecision:
        """Return the decision whether an experiment may go on, by the rules of `gate.judge`, as `python -m tabcontam
        gate` does.

        `baseline` is an earlier run or its folder. A table that was contaminated in that run is known, and no longer
        fails. Raises `UsageError` for a name that is not in the results and for a condition that does not exist.
        """
        past = load_results(baseline) if isinstance(baseline, str | Path) else baseline
        return judge(
            self.run_results,
            EarlierRun(str(past.folder), past.run_results) if past else None,
            llms=several_of(llm),
            datasets=several_of(dataset),
            fail_on=several_of(fail_on),
            min_power=min_power,
            max_memory_share=max_memory_share,
        )

    def to_frame(self, part: Literal["results", "tables", "ranking"] = "results") -> "pd.DataFrame":
        """Return one row per result, table or LLM; counts are `Int64`, other numbers `Float64`, texts `string`.

        A pair, such as an interval, makes two columns: `interval_low` and `interval_high`. Names and sentences are
        unchanged, as models and tables wrote them. For a CSV file that a spreadsheet opens safely, use `report --format
        csv`.
        """
        from tabcontam.report.frame import PARTS, frame

        if part not in PARTS:
            raise unknown("part of the results", part, PARTS)
        return frame(self.run_results, part)


@name_options_in_python()
def run(
    llm: str | Sequence[str] | Mapping[str, str] = (),
    dataset: "Dataset | Sequence[Dataset]" = (),
    **further: "Unpack[RunSettings]",
) -> Results:
    """Ask, judge and record, as `python -m tabcontam run` with these options does: `tests` is `-k`, `marks` is `-m`.

    A `Table` or frame as `dataset` counts as a FILE, and a frame needs a `name`. `llm` can give LLMs new names:
    `{"mine": "openai:NAME@…"}` is `"mine=openai:NAME@…"`. `header` states whether the first line names the columns.
    With `batch_api` the call waits for up to a day. The report is in `out`, by default `reports/<time>`; the same call
    with the same `out` continues it. The call prints nothing, unless `progress` is true. It also works while an event
    loop runs, such as in a notebook.

    Ctrl-C finishes the queries in flight, records the replies and raises `KeyboardInterrupt`, which names the folder. A
    run that ends at one of your limits returns its results, which name the queries that were not asked. Raises
    `UsageError` for a bad input, and if no LLM could be reached.

    The settings:
    """
    began, words = monotonic(), {"llm": llm, "dataset": dataset, **further}
    from tabcontam.report import progress_display as report_progress
    from tabcontam.runs.run import execute, prepare

    if strange := [word for word in words if word not in settings(PYTHON)]:
        raise TypeError(f"run() got an unexpected keyword argument {strange[0]!r}")
    taken = {word: checked_argument(word, value) for word, value in words.items()}
    config = RunConfig(**taken, command=_call(words), began=began)
    shown = report_progress.progress(quiet=not config.progress)
    outcome = execute(prepare(config, shown), shown)
    if outcome.results.run.interrupted:
        continues = f"the answers are in {outcome.folder}; the same call with this `out` continues the run"
        raise KeyboardInterrupt("; ".join((continues, *outcome.going_on)))
    if outcome.failure:
        raise UsageError(outcome.unreached)
    return Results(outcome.folder, outcome.results)


def signature() -> inspect.Signature:
    """Return the arguments of `run`, with those that extensions add."""
    load_settings()
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=one.annotation)
        for name, one in settings(PYTHON).items()
    ]
    first = [one.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD) for one in parameters[:2]]
    return inspect.Signature([*first, *parameters[2:]], return_annotation=Results)


run.__signature__ = signature()  # type: ignore[attr-defined]
run.__doc__ = "\n    ".join([str(run.__doc__).rstrip(), *(setting.in_python for setting in settings(PYTHON).values())])


@name_options_in_python()
def load_results(folder: str | Path) -> Results:
    """Return the results of a past run, or of recorded answers, from its folder. Raises `UsageError`.

    The results of the tests of a large run are read only when they are needed.
    """
    folder = Path(folder)
    stored = read_without_results(folder)
    return Results(folder, stored or read_results(folder), on_disk=stored is not None)


@name_options_in_python()
def join(folders: Sequence[str | Path], out: str | Path, *, incomplete: bool = False) -> Results:
    """Return one run from its parts, which `run(shard="1/8")` and so on wrote to `folders`; record it in `out`.

    With `incomplete` parts may be missing, and the report then names them. Raises `UsageError` for a part that is
    missing, that is given twice, or that belongs to another run.
    """
    from tabcontam.runs.folder import merge

    given = [Path(folder) for folder in folders]
    whole: Path = checked_argument("out", out)
    return Results(whole, merge(given, whole, incomplete=incomplete))


def _labelled(given: str | Sequence[str] | Mapping[str, str]) -> tuple[str, ...]:
    return write_labels(given) if isinstance(given, Mapping) else several_of(given)


def several_of(words: str | Sequence[str]) -> tuple[str, ...]:
    """Return one name or several. Raises `UsageError` for a value that is not a text."""
    several = tuple(words) if isinstance(words, Iterable) and not isinstance(words, str) else (words,)
    for word in several:
        if not isinstance(word, str):
            raise UsageError(f"{word!r} is not a name; write a text")
    return several


def _declared(given: str | Sequence[str] | Mapping[str, str | Sequence[str]]) -> tuple[str, ...]:
    """Return the documents that each LLM was trained on, in the form of `--trained-on`. Raises `UsageError`."""
    if not isinstance(given, Mapping):
        return several_of(given)
    return tuple(f"{llm}={corpus}" for llm, several in given.items() for corpus in several_of(several))


def _datasets(given: "Dataset | Sequence[Dataset]") -> "tuple[str | Table | Frame, ...]":
    one = isinstance(given, str | Path | Table) or is_frame(given) or not isinstance(given, Iterable)
    several: tuple[Any, ...] = (given,) if one else tuple(cast("Iterable[Any]", given))
    for each in several:
        if not isinstance(each, str | Path | Table) and not is_frame(each):
            library = type(each).__module__.partition(".")[0].removeprefix("_")
            kind = " ".join([library] * (library != "builtins") + [type(each).__name__])
            known = "a name, a path, a Table or a data frame of pandas or polars"
            raise UsageError(f"a dataset is {known}, not {kind}{to_frame(each)}")
    # a `Path` is a file, even if it reads like the name of a dataset
    return tuple(os.path.join(".", each.expanduser()) if isinstance(each, Path) else each for each in several)


def _known(given: "Dataset | Sequence[Dataset]") -> tuple[str | Table, ...]:
    """Return the known files. The report calls a frame "known rows"."""
    return tuple(
        each if isinstance(each, str | Table) else Table.from_frame(each, name="known rows")
        for each in _datasets(given)
    )


def _call(given: Mapping[str, Any]) -> str:
    """Return the call as the run records it: only the arguments that differ from their defaults."""

    def differs(value: object, default: object) -> bool:
        return value is not default and not (isinstance(value, bool | int | float | str) and value == default)

    known = {word: setting.default for word, setting in settings(PYTHON).items() if word in given}
    words = [f"{word}={_written(given[word])}" for word, default in known.items() if differs(given[word], default)]
    return f"tabcontam.run({', '.join(words)})"


def _written(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, Table):
        return f"Table({value.name!r})"
    if is_frame(value):
        return f"<{type(value).__module__.partition('.')[0]} {type(value).__name__}, {len(value)} rows>"
    return repr(str(value) if isinstance(value, Path) else value)


def checked_argument(word: str, value: Any) -> Any:
    """Return the value of a setting as it is kept. Raises `UsageError` for a value that does not fit."""
    setting = settings()[word]
    if word in FROM_PYTHON:
        return FROM_PYTHON[word](value)
    try:
        found = setting.take(value)
    except ValueError as error:
        raise UsageError(f"{word} is {value!r}; write {error}") from None
    for each in found if setting.several else [found]:
        if setting.choices and each is not None and each not in setting.choices:
            raise unknown(word, str(each), setting.choices)
    return found


# What Python takes that no command line can give: data frames, tables, and dictionaries of names.
FROM_PYTHON: Mapping[str, Callable[[Any], Any]] = {
    "llm": _labelled, "control": _labelled, "dataset": _datasets, "known": _known, "trained_on": _declared,
}  # fmt: skip
