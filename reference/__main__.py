"""The reference run: LLMs by name on tables, a run each, and the folder that a paper would publish.

`OUT/runs/NAME` has the run of each LLM, with its prompts and answers; `OUT/published` the report of all of them,
redacted where licences ask for it, and in `paper/` the documents for a paper. The same command continues: an LLM whose
run is finished is not asked again, and one that was interrupted is asked what is left.
"""

import argparse
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tabcontam.errors import Exit, UsageError
from tabcontam.extensions.publish.redacted_folder import redact
from tabcontam.models.catalogue import load_catalogue
from tabcontam.paths import replace_file
from tabcontam.report.formats import Shape, render_form
from tabcontam.verdicts.document import read_results

LIST = Path(__file__).with_name("reference.toml")
KEYS = {"llms", "datasets", "options"}
PUBLISHED, PAPER = "published", "paper"
# The documents for a paper, by their file names: the form of each, and how it is written.
DOCUMENTS = {
    "methods.md": ("markdown", Shape(methods=True)),
    "methods.tex": ("latex", Shape(methods=True)),
    "references.bib": ("bibtex", Shape()),
    "tables.tex": ("latex", Shape()),
    "tables-one-column.tex": ("latex", Shape(columns=1)),
    "figures.pdf": ("pdf", Shape()),
    "figures-one-column.pdf": ("pdf", Shape(columns=1)),
    "heatmap.svg": ("svg", Shape()),
    "cells.csv": ("csv", Shape()),
    "contamination_report.csv": ("conda", Shape()),
    "model-cards.md": ("model-card", Shape()),
    "dataset-cards.md": ("dataset-card", Shape()),
}
README = """\
# Reference run

`index.html` opens from disk; `results.json` has every verdict and number, `trials.jsonl` every prompt and answer that
may be published. `paper/` has what goes into a paper: `methods.tex`, `tables.tex`, `figures.pdf`, `references.bib`
(each of the tables and figures for one column, too), records for the CONDA database, sections for model and dataset
cards. Of tables whose licence is not open there are verdicts, numbers and keyed hashes alone.

Made by tabcontam: `make reference`.
"""


@dataclass(frozen=True)
class Reference:
    """What is asked: `llms` by the name of their run's folder, as --llm takes them; `datasets`; options of `run`."""

    llms: dict[str, str]
    datasets: tuple[str, ...]
    options: tuple[str, ...]


def read(path: Path) -> Reference:
    """The list in a TOML file. Raises `UsageError`."""
    try:
        held = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    if unknown := held.keys() - KEYS:
        raise UsageError(f"{path}: there is no {min(unknown)}; it has {', '.join(sorted(KEYS))}")
    for key in sorted(KEYS):
        value = held.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise UsageError(f"{path}: {key} is a list of texts")
        if not value and key != "options":
            raise UsageError(f"{path} names no {key}")
    specs = [_spec(name, path) for name in held["llms"]]
    folders = [re.sub(r"[^\w.-]+", "-", name).strip("-.") for name in held["llms"]]
    named = {
        folder if folders.count(folder) == 1 else f"{folder}-{place}": spec
        for place, (folder, spec) in enumerate(zip(folders, specs, strict=True), start=1)
    }
    return Reference(named, tuple(held["datasets"]), tuple(held.get("options", ())))


def _spec(name: str, path: Path) -> str:
    """What --llm takes: of a name of the catalogue its weights, not whichever server has it."""
    if ":" in name:
        return name
    entry = load_catalogue().get(name)
    if entry is None or entry.hf is None:
        raise UsageError(
            f"{path}: the catalogue has no weights of {name}; see tabcontam list llms, or write PROVIDER:MODEL"
        )
    return f"hf:{entry.hf}"


def run(reference: Reference, out: Path) -> Iterator[tuple[str, int]]:
    """Ask the LLMs one after the other; each by the name of its folder with an exit code. Ends where one interrupts."""
    for place, (name, spec) in enumerate(reference.llms.items(), start=1):
        print(f"== {place} of {len(reference.llms)}: {spec}", flush=True)
        if finished(reference, name, out):
            print(f"finished before: {_folder(out, name)}", flush=True)
            yield name, Exit.DONE
            continue
        code = _called([sys.executable, "-m", "tabcontam", *_arguments(reference, name, out)])
        yield name, code
        if code == Exit.INTERRUPTED:
            return


def _folder(out: Path, name: str) -> Path:
    return out / "runs" / name


def _arguments(reference: Reference, name: str, out: Path) -> list[str]:
    """How an LLM is asked."""
    asked = [part for dataset in reference.datasets for part in ("--dataset", dataset)]
    folder = str(_folder(out, name))
    return ["run", "--llm", reference.llms[name], *asked, "--out", folder, "-q", *reference.options]


def finished(reference: Reference, name: str, out: Path) -> bool:
    """Whether an LLM's folder holds the run that is listed, asked to its end; another list is no such run."""
    try:
        run = read_results(_folder(out, name)).run
    except UsageError:
        return False
    return not run.ended_early and run.command == shlex.join(
        ["python", "-m", "tabcontam", *_arguments(reference, name, out)]
    )


def publish(reference: Reference, out: Path) -> None:
    """Write the folder that a paper would publish, and its key beside it. Raises `UsageError`."""
    published = out / PUBLISHED
    results = redact([_folder(out, name) for name in reference.llms], published)
    (published / PAPER).mkdir(exist_ok=True)
    for name, (form, shape) in DOCUMENTS.items():
        replace_file(published / PAPER / name, render_form(results, form, shape))
    replace_file(published / "README.md", README)


def _called(command: Sequence[str]) -> int:
    """The exit code of a command; an interruption reaches the command too, and it is left to end by itself."""
    process = subprocess.Popen(command)  # noqa: S603 - our own command line
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.wait()
        return Exit.INTERRUPTED


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and publish; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m reference", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("reports/reference"), help="default: %(default)s")
    parser.add_argument(
        "--list", type=Path, default=LIST, metavar="FILE", help="what is asked (default: reference.toml)"
    )
    options = parser.parse_args(arguments)
    try:
        reference = read(options.list)
        codes = dict(run(reference, options.out))
        left = [name for name in reference.llms if codes.get(name) or not finished(reference, name, options.out)]
        if left:
            print(
                f"not finished: {', '.join(left)}; the same command continues, and publishes when all are",
                file=sys.stderr,
            )
            return Exit.INTERRUPTED if Exit.INTERRUPTED in codes.values() else Exit.USAGE
        publish(reference, options.out)
    except KeyboardInterrupt:
        print("interrupted; the same command continues", file=sys.stderr)
        return Exit.INTERRUPTED
    except UsageError as error:
        print(f"reference: {error}", file=sys.stderr)
        return Exit.USAGE
    print(f"published: {options.out / PUBLISHED}")
    return Exit.DONE


if __name__ == "__main__":
    raise SystemExit(main())
