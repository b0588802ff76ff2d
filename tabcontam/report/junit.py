"""The results as JUnit XML for CI: a suite for each LLM and dataset, a test case for each result.

    contaminated     a failure; of a control that joined, a pass with the sentence in system-out
    not detected     a pass
    uninformative    skipped, "uninformative: …"
    no answer        skipped, "no answer: …": nothing is broken, so no error; nothing is known, so no pass
    skipped          skipped, with the reason
    a score only     a pass with the property `score`

Above `LARGE` results, a suite is an LLM and a case is a table.

GitLab shows a case under its class name, with the text of the elements failure and skipped, and ignores a second case
with the same names. GitHub's report actions group cases by suite, then by class name if that differs from the suite's,
and show a failure's message as the heading of an annotation. So a suite and the class of its cases share one name that
no other suite has; a message is short, and the text of a failure complete. `file` is omitted, because it must name a
file of the repository. Times are those of the run, so equal results give equal files.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree

from tabcontam.evidence.base import DECIDED, UNDECIDED, Verdict
from tabcontam.report.frame import RESULTS, TEXT, fields_of
from tabcontam.report.html import INDEX, has_page_per_llm
from tabcontam.verdicts.result_types import Result, TableName, TableVerdict
from tabcontam.verdicts.results import ResultColumn, RunResults
from tabcontam.verdicts.run_facts import LlmFacts
from tabcontam.verdicts.wording import rounded, shorten, text, visible

DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'
FACTS = ("version", "command", "started", "seed", "rules", "alpha", "dictionary", "finished", "interrupted")
TEXTS = ("source", "statistic_name", "null", "interval_of")
MEASURED = [name for name, kind in RESULTS.items() if kind != TEXT or name in TEXTS]  # the columns of a case
LARGE = 20_000  # most results with one case each: readers of JUnit cannot show hundreds of thousands


@dataclass(frozen=True)
class _Case:
    """A test case. `tag` is the element with its outcome, or "". `properties` is None for a table of a large run."""

    name: str
    seconds: float
    tag: str
    text: str
    message: str = ""
    outcome: str = ""
    properties: Mapping[str, str] | None = None

    def element(self, suite: str, *, longest_message: int = 200) -> ElementTree.Element:
        attributes = {"classname": suite, "name": visible(self.name, line=True), "time": _time(self.seconds)}
        case = ElementTree.Element("testcase", attributes)
        if self.properties is not None:
            _add_properties(case, self.properties)
        if self.tag:
            message = visible(shorten(self.message, longest_message), line=True)
            attributes = {"message": message, "type": self.outcome} if self.outcome else {}
            ElementTree.SubElement(case, self.tag, attributes).text = visible(self.text)
        return case


def render_junit(view: RunResults) -> str:
    """Return the results as JUnit XML. Visible signs replace control characters, which XML 1.0 does not allow."""
    page = "llm-{}.html" if has_page_per_llm(view) else INDEX
    pages = {id(result): f"{page.format(place.split('-')[0])}#cell-{place}" for place, result in view.placed.items()}
    large = len(view.possible) > LARGE
    tables = {(table.llm, table.table): table for table in view.tables} if large else {}
    taken: set[str] = set()
    suites = []
    for block in view.blocks:
        columns = [(column, list(column.results.values())) for column in block.columns]
        if large:
            cases = [_table_case(view, *column, tables, pages) for column in columns]
            suites.append(_suite(_unique(block.llm, taken), _facts(view), cases))
            continue
        for column, results in columns:
            cases = [_result_case(view, result, pages[id(result)]) for result in results]
            suite = _suite(_unique(f"{column.llm} {column.label}", taken), _facts(view, results[0]), cases)
            with suppress(ValueError):  # the time may be unreadable
                suite.set("timestamp", datetime.fromisoformat(view.run.started or "").isoformat())
            suites.append(suite)
    counted = ("tests", "failures", "errors", "skipped")
    totals = {name: str(sum(int(suite.get(name, "0")) for suite in suites)) for name in counted}
    root = ElementTree.Element("testsuites", {"name": "tabcontam", **totals, "time": "0"})
    if view.run.seconds is not None:
        root.set("time", f"{view.run.seconds:g}")  # of the whole run: results are asked in parallel
    root.extend(suites)
    ElementTree.indent(root)
    return f"{DECLARATION}\n{ElementTree.tostring(root, encoding='unicode')}\n"


def write_junit(path: Path, view: RunResults) -> None:
    """Write the results as JUnit XML to `path`."""
    path.write_text(render_junit(view), encoding="utf-8", errors="backslashreplace", newline="")


def _unique(name: str, taken: set[str]) -> str:
    """Return a suite's name, with a number if it is taken: LLM "a" on table "b c" and "a b" on "c" give equal names."""
    name = visible(name, line=True)
    numbered = (name if number == 1 else f"{name} ({number})" for number in range(1, len(taken) + 2))
    own = next(one for one in numbered if one not in taken)
    taken.add(own)
    return own


def _suite(name: str, facts: Mapping[str, str], cases: Sequence[_Case]) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", {"name": name})
    _add_properties(suite, facts)
    suite.extend([case.element(name) for case in cases])
    tags = [case.tag for case in cases]
    counts = {"tests": len(cases), "failures": tags.count("failure"), "skipped": tags.count("skipped"), "errors": 0}
    suite.attrib |= {count: str(number) for count, number in counts.items()}
    suite.set("time", _time(sum(case.seconds for case in cases)))
    return suite


def _time(seconds: float) -> str:
    return f"{seconds:.3f}" if seconds else "0"


def _add_properties(parent: ElementTree.Element, facts: Mapping[str, str]) -> None:
    properties = ElementTree.SubElement(parent, "properties")
    for name, value in facts.items():
        ElementTree.SubElement(properties, "property", {"name": name, "value": visible(value, line=True)})


def _facts(view: RunResults, first: Result | None = None) -> dict[str, str]:
    """Return the facts of a run and, for the suite of a table, those that all its results share with the first one."""
    facts = {fact: text(getattr(view.run, fact)) for fact in FACTS}
    if first is not None:
        llm = next((llm for llm in view.run.llms if llm.spec == first.llm), LlmFacts(spec=first.llm))
        named = (first.dataset, first.edition or "", first.split or "")
        known = [dataset.sha256 for dataset in view.run.datasets if dataset.key == named]
        tables = [one for one in view.tables if (one.llm, one.table) == (first.llm, first.table)]
        facts |= {
            "llm": first.llm,
            "llm_resolved": llm.named_otherwise,
            "llm_version": text(llm.version),
            "dataset": first.dataset,
            "edition": text(first.edition),
            "split": text(first.split),
            "sha256": known[0] if known else "",
            "serializer": text(first.serializer),
            "prompts": text(first.prompts),
            "table_verdict": tables[0].outcome if tables else "",
            "table_reason": tables[0].why if tables else "",
            "control": "true" if first.control else "false",
        }
    return {name: value for name, value in facts.items() if value}


def _table_case(
    view: RunResults,
    column: ResultColumn,
    results: Sequence[Result],
    tables: Mapping[tuple[str, TableName], TableVerdict],
    pages: Mapping[int, str],
) -> _Case:
    """Return a table's case: a failure if one of its results is contaminated, skipped if none was decided."""
    table = tables.get((column.llm, results[0].table))
    rows = f"{table.outcome}: {table.why}" if table else "no row test was asked"
    found = [result for result in results if result.verdict is Verdict.CONTAMINATED]
    page = pages[id(results[0])].partition("#")[0]
    details = [*(f"{result.test}: {result.why}" for result in found), f"its rows: {rows}", f"evidence: {page}"]
    tag, message, outcome = "system-out", "", ""
    if found and not results[0].control:
        message = f"contaminated in {len(found)} of {len(results)} tests; its rows: {rows}"
        tag, outcome = "failure", "contaminated"
    elif not any(result.verdict in DECIDED for result in results):
        word = next((word for word in UNDECIDED if any(result.verdict is word for result in results)), None)
        tag, message, outcome = ("skipped", rows, word.value) if word else ("", "", "")
    seconds = sum(view.seconds.get(result.key, 0.0) for result in results)
    return _Case(column.label, seconds, tag, "\n".join(details), message, outcome)


def _result_case(view: RunResults, result: Result, page: str) -> _Case:
    tag, message, outcome, details = "system-out", "", "", f"{result.outcome}: {result.why}"
    if result.verdict is Verdict.CONTAMINATED and not result.control:
        tag, message, outcome = "failure", result.why, "contaminated"
        details = "\n".join(_failure(view, result, page))
    elif result.verdict in UNDECIDED:
        details = result.why if result.verdict is Verdict.SKIPPED else details
        tag, message, outcome = "skipped", details, result.outcome
    fields = fields_of(result) | {"verdict": result.outcome}
    values = {name: "true" if value is True else text(value) for name, value in fields.items() if value is not False}
    measured = {name: shown for name in MEASURED if (shown := values.get(name))}
    return _Case(result.test, view.seconds.get(result.key) or 0.0, tag, details, message, outcome, measured)


def _failure(view: RunResults, result: Result, page: str) -> Iterator[str]:
    """Yield the text of a failure: the sentence, the numbers behind it, and the location of the evidence."""
    statistic = result.evidence.statistic
    yield result.why
    if result.differs:
        yield f"by the paper's rules: {result.decision.paper_verdict}"
    if statistic:
        expected = "" if statistic.expected is None else f", {statistic.expected:.4g} expected of the baseline"
        yield f"{statistic.name}: {statistic.value:.4g}{expected}"
    if result.evidence.p_value is not None:
        corrected = "" if result.decision.q_value is None else f", q = {rounded('q_value', result.decision.q_value)}"
        yield f"p = {rounded('p_value', result.evidence.p_value)}{corrected}"
    if result.evidence.e_value is not None:
        yield f"E = {rounded('e_value', result.evidence.e_value)}"
    if result.evidence.interval:
        yield f"95% interval: {result.limits}"
    if result.evidence.null:
        yield f"null: {result.evidence.null}"
    if not view.run.recorded:  # recorded answers have no trials
        yield f"evidence: {page}, and the lines of trials.jsonl of this LLM, dataset and test"
    elif result.source:
        yield f"recorded in {result.source}"
