"""The results as JUnit XML for CI: a suite for each LLM and dataset, a test case for each result.

    contaminated     a failure; of a control that joined, a pass with the sentence in system-out
    not detected     a pass
    uninformative    skipped, "uninformative: …"
    no answer        skipped, "no answer: …": nothing is broken, so no error; nothing is known, so no pass
    skipped          skipped, with the reason
    a score only     a pass with the property `score`

Above `LARGE` results, a suite is an LLM and a case is a table. The case is a failure if one of the table's results is
contaminated, and skipped if none was decided.

CI systems read the file differently. GitLab shows a case under its class name, with the text of the elements failure
and skipped. It ignores a second case with the same names. GitHub's report actions group cases by suite, then by class
name if that differs from the suite's. They show a failure's message as the heading of an annotation. So a suite and the
class of its cases share one name that no other suite has. A message is short, and the text of a failure is complete.
`file` is omitted, because it must name a file of the repository. Times are those of the run, so equal results give
equal files.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree

from tabcontam.evidence.base import UNDECIDED, Verdict
from tabcontam.report.frame import RESULTS, TEXT, fields_of
from tabcontam.report.html import INDEX, has_page_per_llm
from tabcontam.verdicts.result_types import Result, TableName, TableVerdict
from tabcontam.verdicts.results import LlmBlock, ResultColumn, RunResults
from tabcontam.verdicts.run_facts import LlmFacts
from tabcontam.verdicts.wording import rounded, shorten, text, visible

DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'
FACTS = ("version", "command", "started", "seed", "rules", "alpha", "dictionary", "finished", "interrupted")
TEXTS = ("source", "statistic_name", "null", "interval_of")
MEASURED = [name for name, kind in RESULTS.items() if kind != TEXT or name in TEXTS]  # the columns of a case
LARGE = 20_000  # most results with one case each: readers of JUnit cannot show hundreds of thousands


def render_junit(view: RunResults) -> str:
    """Return the results as JUnit XML. Visible signs replace control characters, which XML 1.0 does not allow."""
    pages = _pages(view)
    taken: set[str] = set()
    suites = []
    large = len(view.possible) > LARGE
    tables = {(table.llm, table.table): table for table in view.tables} if large else {}
    for block in view.blocks:
        if large:
            suites.append(_suite_of_llm(view, _unique(visible(block.llm, line=True), taken), block, pages, tables))
            continue
        for column in block.columns:
            name = _unique(visible(f"{column.llm} {column.label}", line=True), taken)
            suites.append(_suite(view, name, column, pages))
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
    numbered = (name if number == 1 else f"{name} ({number})" for number in range(1, len(taken) + 2))
    own = next(one for one in numbered if one not in taken)
    taken.add(own)
    return own


def _pages(view: RunResults) -> dict[int, str]:
    """Return the address of each result in the HTML report, by Python's `id()` of the result."""
    page = "llm-{}.html" if has_page_per_llm(view) else INDEX
    return {id(result): f"{page.format(place.split('-')[0])}#cell-{place}" for place, result in view.placed.items()}


def _suite_of_llm(
    view: RunResults,
    name: str,
    block: LlmBlock,
    pages: Mapping[int, str],
    tables: Mapping[tuple[str, TableName], TableVerdict],
) -> ElementTree.Element:
    """Return the suite of one LLM in a large run, with a case for each table."""
    suite = ElementTree.Element("testsuite", {"name": name})
    _properties(suite, {fact: shown for fact in FACTS if (shown := text(getattr(view.run, fact)))})
    cases = []
    for column in block.columns:
        results = list(column.results.values())
        seconds = sum(view.seconds.get(result.key, 0.0) for result in results)
        named = {"classname": name, "name": visible(column.label, line=True), "time": _time(seconds)}
        case = ElementTree.Element("testcase", named)
        _table_case(case, results, tables.get((block.llm, results[0].table)), pages[id(results[0])].partition("#")[0])
        cases.append(case)
    _fill(suite, cases, sum(float(case.get("time", "0")) for case in cases))
    return suite


def _table_case(case: ElementTree.Element, results: Sequence[Result], table: TableVerdict | None, page: str) -> None:
    """Complete a table's case: a failure if one of its results is contaminated, skipped if none was decided."""
    own = f"{table.outcome}: {table.why}" if table else "no row test was asked"
    found = [result for result in results if result.verdict is Verdict.CONTAMINATED]
    details = "\n".join(
        [f"{result.test}: {result.why}" for result in found] + [f"its rows: {own}", f"evidence: {page}"]
    )
    if found and not results[0].control:
        message = f"contaminated in {len(found)} of {len(results)} tests; its rows: {own}"
        failure = ElementTree.SubElement(case, "failure", {"message": _message(message), "type": "contaminated"})
        failure.text = visible(details)
    elif not any(result.verdict is Verdict.NOT_DETECTED for result in results) and not found:
        word = next((word for word in UNDECIDED if any(result.verdict is word for result in results)), None)
        if word is not None:
            skipped = ElementTree.SubElement(case, "skipped", {"message": _message(own), "type": word.value})
            skipped.text = visible(details)
    else:
        ElementTree.SubElement(case, "system-out").text = visible(details)


def _fill(suite: ElementTree.Element, cases: Sequence[ElementTree.Element], seconds: float) -> None:
    suite.extend(cases)
    for count, tag in (("tests", None), ("failures", "failure"), ("skipped", "skipped")):
        suite.set(count, str(sum(tag is None or case.find(tag) is not None for case in cases)))
    suite.attrib |= {"errors": "0", "time": _time(seconds)}


def _suite(view: RunResults, name: str, column: ResultColumn, pages: Mapping[int, str]) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", {"name": name})
    results = list(column.results.values())
    _properties(suite, _facts(view, results[0]))
    cases = [_case(view, name, result, pages[id(result)]) for result in results]
    _fill(suite, cases, sum(view.seconds.get(result.key, 0.0) for result in results))
    with suppress(ValueError):  # the time may be unreadable
        suite.set("timestamp", datetime.fromisoformat(view.run.started or "").isoformat())
    return suite


def _time(seconds: float | None) -> str:
    return f"{seconds:.3f}" if seconds else "0"


def _facts(view: RunResults, first: Result) -> dict[str, str]:
    """Return facts that all results of a suite share: on the run, the LLM, the table and the verdict on the table."""
    llm = next((llm for llm in view.run.llms if llm.spec == first.llm), LlmFacts(spec=first.llm))
    named = (first.dataset, first.edition or "", first.split or "")
    known = [dataset.sha256 for dataset in view.run.datasets if dataset.key == named]
    tables = [one for one in view.tables if (one.llm, one.table) == (first.llm, first.table)]
    facts = {
        **{fact: text(getattr(view.run, fact)) for fact in FACTS},
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


def _case(view: RunResults, suite: str, result: Result, page: str) -> ElementTree.Element:
    attributes = {
        "classname": suite,
        "name": visible(result.test, line=True),
        "time": _time(view.seconds.get(result.key)),
    }
    case = ElementTree.Element("testcase", attributes)
    _properties(case, _measured(result))
    if result.verdict is Verdict.CONTAMINATED and not result.control:
        failure = ElementTree.SubElement(case, "failure", {"message": _message(result.why), "type": "contaminated"})
        failure.text = visible("\n".join(_failure(view, result, page)))
    elif result.verdict in UNDECIDED:
        why = result.why if result.verdict is Verdict.SKIPPED else f"{result.outcome}: {result.why}"
        skipped = ElementTree.SubElement(case, "skipped", {"message": _message(why), "type": result.outcome})
        skipped.text = visible(why)
    else:
        ElementTree.SubElement(case, "system-out").text = visible(f"{result.outcome}: {result.why}")
    return case


def _message(why: str, *, longest_message: int = 200) -> str:
    return visible(shorten(why, longest_message), line=True)


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


def _measured(result: Result) -> dict[str, str]:
    fields = fields_of(result) | {"verdict": result.outcome}
    values = {name: "true" if value is True else text(value) for name, value in fields.items() if value is not False}
    return {name: shown for name in MEASURED if (shown := values.get(name))}


def _properties(parent: ElementTree.Element, facts: Mapping[str, str]) -> None:
    properties = ElementTree.SubElement(parent, "properties")
    for name, value in facts.items():
        ElementTree.SubElement(properties, "property", {"name": name, "value": visible(value, line=True)})
