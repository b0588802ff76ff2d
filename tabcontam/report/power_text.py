"""What `power` prints: a line for each test, what is not asked and why, and last what that comes to."""

from collections.abc import Mapping
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from tabcontam.report.paper import Paper
from tabcontam.verdicts.wording import visible

if TYPE_CHECKING:
    from rich.console import Console

Document = Mapping[str, Any]
NONE = "-"
WIDTH = 80  # of the sentences at the end
LEGEND = (
    "Each column is a simulated LLM, and a number the share of its runs in which",
    "the test called it contaminated.",
    "knows nothing: of the rows, so each finding is an error; the true rate is below",
    "  the limit behind it with 95% confidence",
    "schema: knows the dataset's name, features and values, and no row; tests that",
    "  ask for these should find it, tests that ask about rows should not",
    "5% to 100%: remembers this share of the rows and guesses the others",
)


def print_power(console: "Console", document: Document) -> None:
    """The measured rates of each dataset, 80 characters wide."""
    paper = Paper(console)
    for dataset in document["datasets"]:
        part = dataset["split"] or ""
        paper.line(f"power of the tests on {dataset['dataset']}@{dataset['edition']}{part and f'#{part}'}", "bold")
        asked = f"serializer {document['serializer']}, prompts {document['prompts']}"
        paper.line(f"{dataset['rows']:,} rows, {dataset['columns']} columns, {asked}")
        runs = f"{document['runs']:,} {'run' if document['runs'] == 1 else 'runs'} of each answerer"
        paper.line(f"{runs}, seed {document['seed']}, alpha {document['alpha']:g}")
        paper.line()
        _print_rates(paper, dataset)
        _print_idle(paper, dataset)
        paper.line()
    for line in LEGEND:
        paper.line(line)
    _print_conclusions(paper, document)


def _print_conclusions(paper: Paper, document: Document) -> None:
    """What it comes to, last: a sentence for each dataset and family of tests."""
    for dataset in document["datasets"]:
        paper.line()
        paper.line(f"In short, on {dataset['dataset']}:", "bold")
        for each in dataset.get("conclusions", ()):
            for line in wrap(
                visible(str(each["sentence"]), line=True), WIDTH, initial_indent="  ", subsequent_indent="    "
            ):
                paper.line(line)
        if not dataset.get("conclusions"):
            paper.line("  nothing: no test could be asked", "yellow")


def _print_rates(paper: Paper, dataset: Document) -> None:
    from rich.table import Table
    from rich.text import Text

    lines = [line for line in (*dataset["tests"], dataset["table"]) if line and line["asked"]]
    shares = next((list(line["power"]) for line in lines if line["power"]), [])
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("test", overflow="fold")
    for head in ("queries", "knows nothing", "schema", *(f"{float(share):.0%}" for share in shares)):
        table.add_column(head, justify="right", no_wrap=True)
    for line in lines:
        cells = [f"{line['queries']}", _false(line["false_positives"]), _found(line["expert"])]
        power = line["power"] or {}
        table.add_row(Text(_name(line)), *cells, *(_found(power.get(share)) for share in shares))
    if lines:
        paper.console.print(table)


def _name(line: Document) -> str:
    return "row tests together" if line["test"] == "table" else visible(str(line["test"]), line=True)


def _false(rate: Document) -> str:
    return f"{rate['rate']:.1%} (<{rate['upper']:.1%})" if rate["runs"] else NONE


def _found(rate: Document | None) -> str:
    return f"{rate['rate']:.0%}" if rate and rate["runs"] else NONE


def _print_idle(paper: Paper, dataset: Document) -> None:
    """What is not asked, in all runs or in some, with the reason."""
    for line in dataset["tests"]:
        if line["not_asked"]:
            some = f" in some runs ({line['asked']} asked it)" if line["asked"] else ""
            paper.line(f"{line['test']} is {line['not_asked']}{some}: {line['reason']}", "yellow")
