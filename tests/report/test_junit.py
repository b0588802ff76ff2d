"""JUnit XML: what CI sees of each verdict."""

from typing import Any
from xml.etree import ElementTree

import pytest

from tabcontam.report.junit import render_junit
from tests.report.synthetic import HOSTILE, cell, document, results, weighed


def parsed(of: dict[str, Any]) -> ElementTree.Element:
    return ElementTree.fromstring(render_junit(of))


def only_case(verdict: str | None, **changes: Any) -> ElementTree.Element:
    case = parsed(document([cell("gpt-4o", "iris", "full_completion", verdict, **changes)])).find(".//testcase")
    assert case is not None
    return case


def outcome(case: ElementTree.Element) -> dict[str, str]:
    return {child.tag: child.get("message") or child.text or "" for child in case if child.tag != "properties"}


def properties(case: ElementTree.Element) -> dict[str, str]:
    return {one.get("name", ""): one.get("value", "") for one in case.iter("property")}


def test_contaminated_is_a_failure_with_its_sentence() -> None:
    case = only_case("contaminated", sentence="it knew")
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("message") == failure.text == "it knew"


def test_a_control_that_joined_never_fails() -> None:
    case = only_case("contaminated", sentence="it knew", control=True)
    assert outcome(case) == {"system-out": "contaminated: it knew"}
    assert properties(case)["control"] == "true"


def test_not_detected_passes() -> None:
    assert list(outcome(only_case("not detected"))) == ["system-out"]


@pytest.mark.parametrize(
    ("verdict", "message"),
    [
        ("no answer", "no answer: because"),
        ("uninformative", "uninformative: because"),
        ("skipped", "because"),
    ],
)
def test_what_was_not_decided_is_skipped_with_its_reason(verdict: str, message: str) -> None:
    assert outcome(only_case(verdict, reason="because")) == {"skipped": message}


def test_a_score_passes_with_a_property() -> None:
    case = only_case(None)
    assert list(outcome(case)) == ["system-out"]
    assert properties(case)["score"] == "0.52"


def test_the_figures_of_a_cell_are_properties() -> None:
    of = document([weighed("gpt-4o", "iris", "full_completion", "not detected", paper_verdict="contaminated")])
    case = parsed(of).find(".//testcase")
    assert case is not None
    assert properties(case).items() >= {
        "paper_verdict": "contaminated", "statistic": "recalled bits", "statistic_value": "8.25",
        "statistic_expected": "9.07", "p_value": "0.57", "q_value": "0.81", "interval_low": "0.0",
        "interval_high": "0.11", "interval_of": "rows remembered", "recalled_bits": "8.25", "detectable_share": "0.12",
    }.items()  # fmt: skip
    assert "q_value" not in properties(only_case("not detected"))


def test_a_suite_an_llm_and_dataset_with_counts_that_add_up() -> None:
    root = parsed(results(["control:exposed", "gpt-4o"], ["iris", "wine"]))
    suites = root.findall("testsuite")
    assert [suite.get("name") for suite in suites] == [
        "control:exposed iris", "control:exposed wine", "gpt-4o iris", "gpt-4o wine",
    ]  # fmt: skip
    for name, tag in (("tests", "testcase"), ("failures", "failure"), ("skipped", "skipped")):
        assert root.get(name) == str(len(list(root.iter(tag))))
        assert root.get(name) == str(sum(int(suite.get(name, "")) for suite in suites))
    assert properties(suites[0])["seed"] == "0"


@pytest.mark.parametrize("verdict", ["contaminated", "not detected", "no answer", "skipped", None])
def test_hostile_text_leaves_the_file_readable(verdict: str | None) -> None:
    hostile = cell(HOSTILE, HOSTILE, HOSTILE, verdict, sentence=HOSTILE, reason=HOSTILE, edition=HOSTILE)
    of = document([hostile], command=HOSTILE, started=HOSTILE)
    render_junit(of).encode()
    case = parsed(of).find(".//testcase")
    assert case is not None
    assert "<script>alert(1)</script>" in case.get("name", "")
    assert "]]>" in case.get("name", "")


def test_no_cells_and_many_cells() -> None:
    assert parsed(document([])).get("tests") == "0"
    assert parsed(results([f"m{n}" for n in range(30)], [f"d{n}" for n in range(15)])).get("tests") == "5850"


def test_the_same_results_write_the_same_file() -> None:
    assert render_junit(results(["a"], ["iris"])) == render_junit(results(["a"], ["iris"]))
