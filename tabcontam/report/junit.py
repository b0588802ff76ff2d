"""JUnit XML for CI: a suite a (LLM, dataset), a test case a cell.

    contaminated     a failure; of a control that joined, a pass with the sentence in system-out
    not detected     a pass
    uninformative    skipped, "uninformative: …"
    no answer        skipped, "no answer: …": nothing is broken, so no error; nothing is known, so no pass
    skipped          skipped, with the reason
    a score only     a pass with the property `score`

The file holds no times of its own, so the same results write the same file.
"""

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

from tabcontam.report.results import Block, Cell, Column, Results, text, typed, visible
from tabcontam.suite.base import Verdict

DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'
UNDECIDED = (Verdict.UNINFORMATIVE, Verdict.NO_ANSWER, Verdict.SKIPPED)
FACTS = ("version", "command", "started", "seed", "rules", "alpha", "dictionary", "finished", "interrupted")


def render_junit(results: Mapping[str, Any]) -> str:
    """The results as JUnit XML. XML 1.0 has no control characters: they are replaced by what shows them."""
    view = typed(results)
    suites = [_suite(view, block, column) for block in view.blocks for column in block.columns]
    root = ElementTree.Element("testsuites", {"name": "tabcontam", **_totals(suites)})
    if isinstance(seconds := view.run.get("seconds"), int | float):
        root.set("time", f"{seconds:g}")  # of the whole run; cells are asked side by side
    root.extend(suites)
    ElementTree.indent(root)
    return f"{DECLARATION}\n{ElementTree.tostring(root, encoding='unicode')}\n"


def _suite(view: Results, block: Block, column: Column) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", {"name": visible(f"{column.llm} {column.label}")})
    facts = {fact: text(view.run.get(fact)) for fact in FACTS if view.run.get(fact) is not None}
    _properties(suite, facts | {"control": "true" if block.control else "false"})
    cases = [_case(column, cell) for cell in column.cells.values()]
    suite.extend(cases)
    for name, tag in (("tests", None), ("failures", "failure"), ("skipped", "skipped")):
        suite.set(name, str(sum(tag is None or case.find(tag) is not None for case in cases)))
    suite.attrib |= {"errors": "0", "time": "0"}
    if started := text(view.run.get("started")):
        suite.set("timestamp", visible(started))
    return suite


def _case(column: Column, cell: Cell) -> ElementTree.Element:
    name = {"classname": visible(f"{column.llm}.{column.label}"), "name": visible(cell.test), "time": "0"}
    case = ElementTree.Element("testcase", name)
    _properties(case, _measured(cell))
    if cell.verdict is Verdict.CONTAMINATED and not cell.control:
        failure = ElementTree.SubElement(case, "failure", {"message": visible(cell.why), "type": "contaminated"})
        failure.text = visible(cell.why)
    elif cell.verdict in UNDECIDED:
        prefix = "" if cell.verdict is Verdict.SKIPPED else f"{cell.outcome}: "
        ElementTree.SubElement(case, "skipped", {"message": visible(prefix + cell.why), "type": cell.outcome})
    else:
        ElementTree.SubElement(case, "system-out").text = visible(f"{cell.outcome}: {cell.why}")
    return case


def _measured(cell: Cell) -> dict[str, str]:
    statistic, interval = cell.statistic, cell.interval
    facts = {
        "verdict": cell.outcome,
        "paper_verdict": text(cell.paper_verdict),
        "edition": cell.edition,
        "serializer": cell.serializer,
        "statistic": statistic.name if statistic else "",
        "statistic_value": text(statistic and statistic.value),
        "statistic_expected": text(statistic and statistic.expected),
        "null": cell.null,
        "interval_low": text(interval and interval[0]),
        "interval_high": text(interval and interval[1]),
        "interval_of": cell.interval_of,
        **{name: text(value) for name, value in cell.numbers.items()},
        "control": "true" if cell.control else "",
    }
    return {name: value for name, value in facts.items() if value}


def _properties(parent: ElementTree.Element, facts: Mapping[str, str]) -> None:
    properties = ElementTree.SubElement(parent, "properties")
    for name, value in facts.items():
        ElementTree.SubElement(properties, "property", {"name": name, "value": visible(value)})


def _totals(suites: list[ElementTree.Element]) -> dict[str, str]:
    counted = ("tests", "failures", "errors", "skipped")
    return {name: str(sum(int(suite.get(name, "0")) for suite in suites)) for name in counted} | {"time": "0"}
