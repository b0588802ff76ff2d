"""The text that `power` prints: each test's chance to detect memory, the tests that were not asked, a conclusion."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tabcontam.calibration.dose import TABLE, Observation, amount
from tabcontam.evidence.base import Verdict
from tabcontam.groups import grouped
from tabcontam.report.terminal_writer import TerminalWriter, open_table
from tabcontam.verdicts.wording import phrase, rounded, visible

if TYPE_CHECKING:
    from rich.console import Console

Document = Mapping[str, Any]
NONE = "-"
LEGEND = (
    "Each column is a simulated LLM, and a number the share of its runs in which",
    "the test called it contaminated.",
    "knows nothing: it knows no row, so each finding is an error; the true rate is",
    "  below the limit in brackets with 95% confidence",
    "schema: it knows the dataset's name, features and values, and no row; tests",
    "  that ask for these should detect it, tests that ask about rows should not",
    "5% to 100%: it remembers this share of the rows and predicts the others",
)


def print_power(console: "Console", document: Document) -> None:
    """Print how often each test detected memory on each dataset, in lines of 80 characters."""
    paper = TerminalWriter(console)
    for dataset in document["datasets"]:
        part = dataset["split"] or ""
        paper.line(f"power of the tests on {dataset['dataset']}@{dataset['edition']}{part and f'#{part}'}", "bold")
        asked = f"serializer {document['serializer']}, prompts {document['prompts']}"
        paper.line(f"{dataset['rows']:,} rows, {dataset['columns']} columns, {asked}")
        runs = f"{document['runs']:,} {'run' if document['runs'] == 1 else 'runs'} of each simulated LLM"
        paper.line(f"{runs}, seed {document['seed']}, alpha {document['alpha']:g}")
        paper.line()
        _print_rates(paper, dataset)
        for line in dataset["tests"]:
            if line["not_asked"]:
                some = f" in some runs ({line['asked']} asked it)" if line["asked"] else ""
                paper.line(f"{line['test']} is {line['not_asked']}{some}: {line['reason']}", "yellow")
        paper.line()
        _print_models(paper, dataset)
    for words in LEGEND:
        paper.line(words)
    for dataset in document["datasets"]:
        paper.line()
        paper.line(f"In short, on {dataset['dataset']}:", "bold")
        conclusions = [str(each["sentence"]) for each in dataset.get("conclusions", ())]
        for sentence in [*conclusions, *_of_models(dataset)]:
            paper.indented(visible(sentence, line=True))
        if not dataset.get("conclusions"):
            paper.line("  no test could be asked", "yellow")


def _print_rates(paper: TerminalWriter, dataset: Document) -> None:
    from rich.text import Text

    lines = [line for line in (*dataset["tests"], dataset["table"]) if line and line["asked"]]
    shares = next((list(line["power"]) for line in lines if line["power"]), [])
    table = open_table("test", ("queries", "knows nothing", "schema", *(f"{float(share):.0%}" for share in shares)))
    for line in lines:
        errors = line["false_positives"]
        false = f"{errors['rate']:.1%} (<{errors['upper']:.1%})" if errors["runs"] else NONE
        cells = [f"{line['queries']}", false, _found(line["expert"])]
        power = line["power"] or {}
        table.add_row(Text(_name(line)), *cells, *(_found(power.get(share)) for share in shares))
    if lines:
        paper.console.print(table)


def _name(line: Document) -> str:
    return "row tests together" if line["test"] == "table" else visible(str(line["test"]), line=True)


def _found(rate: Document | None) -> str:
    return f"{rate['rate']:.0%}" if rate and rate["runs"] else NONE


def _observed(dataset: Document) -> list[Observation]:
    return [Observation(**each) for each in dataset.get("models", ())]


def _print_models(paper: TerminalWriter, dataset: Document) -> None:
    """Print each test's results by the copies of a row that a model read, and the copies that each model read."""
    from rich.text import Text

    if "models" not in dataset:
        return
    observed = _observed(dataset)
    asked = [one for one in observed if one.verdict not in (None, Verdict.SKIPPED)]
    paper.line("detected in models, by the copies of a row that they have read", "bold")
    copies = sorted({one.copies for one in asked})
    table = open_table("test", map(amount, copies))
    by_test = grouped(sorted(asked, key=lambda one: one.test == TABLE), lambda one: one.test)
    for test, own in by_test.items():
        by_copies = grouped(own, lambda one: one.copies)
        table.add_row(Text(_name({"test": test})), *(_in_models(by_copies.get(number, ())) for number in copies))
    paper.console.print(table)
    paper.line("yes or no, with the p-value, or the number of several models detected;", "dim")
    paper.line(f"{NONE}: no readable answer, or the test could not tell memory from prediction", "dim")
    for llm, own in grouped(observed, lambda one: one.llm).items():
        read = _times(sorted({one.copies for one in own}))
        paper.line(visible(f"{llm} has read each row {read}", line=True))
    paper.line()


def _times(copies: Sequence[float]) -> str:
    """Return in words how often a row was read: `0 or 16 times`."""
    return f"{phrase(list(map(amount, copies)), 'or')} {'time' if copies[-1] == 1 else 'times'}"


# least: a smaller p-value is printed as "below `least`"
def _in_models(own: Sequence[Observation], *, least: float = 1e-9) -> str:
    """Return a test's result on the models in `own`: one model's p-value, or how many of several were detected."""
    if len(own) > 1:
        return f"{sum(one.contaminated for one in own)} of {len(own)}"
    if not own or not own[0].decided:
        return NONE
    word, p_value = "yes" if own[0].contaminated else "no", own[0].p_value
    if p_value is None:
        return word
    return f"{word} {rounded('p_value', p_value)}" if p_value >= least else f"{word} <{least:.0e}"


def _of_models(dataset: Document) -> Iterator[str]:
    """Yield a sentence on how often a model must read rows until the row tests together detect them."""
    own = grouped((one for one in _observed(dataset) if one.test == TABLE), lambda one: one.copies)
    shares = {number: sum(one.contaminated for one in own[number]) / len(own[number]) for number in sorted(own)}
    groups = grouped(shares, lambda number: (shares[number] == 1) - (shares[number] == 0))
    words = {
        1: "detect rows that were read {}",
        0: "detect rows that were read {} in some models only",
        -1: "do not detect rows that were read {}",
    }
    clauses = [text.format(_times(groups[which])) for which, text in words.items() if which in groups]
    if clauses:
        yield f"In models whose exposure is known, the row tests together {phrase(clauses)}."
