"""JUnit XML: what CI sees of each verdict."""

from datetime import datetime
from typing import Any
from xml.etree import ElementTree

import pytest

from tabcontam.verdicts.document import parse_results
from tests.report.rendered import render_junit, render_pages
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
    assert failure.get("message") == "it knew"
    assert (failure.text or "").splitlines()[0] == "it knew"


def test_a_failure_encloses_its_numbers_and_where_the_evidence_is() -> None:
    of = document([weighed("gpt-4o", "iris", "full_completion", "contaminated", paper_verdict="not detected")])
    failure = parsed(of).find(".//failure")
    assert failure is not None
    _, *lines = (failure.text or "").splitlines()
    assert lines == [
        "by the paper's rules: not detected",
        "recalled bits: 212.3, 9.07 expected of the baseline",
        "p = 3.1e-41, q = 2.8e-40",
        "95% interval: 0.25 to 0.55 (rows remembered)",
        "null: the hidden cells drawn anew from what the rest of the row tells, the answers as they are",
        "evidence: index.html#cell-1-1-1, and the lines of trials.jsonl of this LLM, dataset and test",
    ]


def test_the_evidence_of_a_cell_is_where_the_page_has_it() -> None:
    of = results(["control:exposed", "a", "b"], ["iris", "wine"])
    view = parse_results(of)
    found = {}
    for suite in parsed(of).findall("testsuite"):
        for case in suite.findall("testcase"):
            if (failure := case.find("failure")) is not None:
                place = (failure.text or "").split("#cell-")[1].split(",")[0]
                found[place] = (suite.get("name"), case.get("name"))
    assert len(found) > 3
    assert all(
        found[place] == (f"{cell.llm} {cell.dataset}", cell.test)
        for place, cell in view.placed.items()
        if place in found
    )


def test_a_large_run_has_its_evidence_on_a_page_an_llm() -> None:
    of = document([cell(f"m{n}", "iris", "full_completion", "contaminated") for n in range(31)])
    pages = render_pages(of, ())
    places = [(found.text or "").split("evidence: ")[1].split(",")[0] for found in parsed(of).iter("failure")]
    assert len(places) == 31
    for place in places:
        page, anchor = place.split("#")
        assert f'id="{anchor}"' in pages[page]


def test_recorded_answers_point_to_their_records() -> None:
    found = cell("gpt4", "iris", "full_completion", "contaminated", source="a.txt", serializer=None)
    of = document([found], recorded=True)
    failure = parsed(of).find(".//failure")
    assert failure is not None
    assert (failure.text or "").splitlines()[-1] == "recorded in a.txt"


def test_a_message_is_short_and_on_one_line() -> None:
    failure = only_case("contaminated", sentence="so\n" * 150).find("failure")
    assert failure is not None
    message = failure.get("message", "")
    assert len(message) < 1000
    assert "\n" not in message
    assert "characters)" in message
    assert (failure.text or "").count("so\n") == 150


def test_a_control_that_joined_never_fails() -> None:
    case = only_case("contaminated", sentence="it knew", control=True)
    assert outcome(case) == {"system-out": "contaminated: it knew"}
    assert properties(case)["control"] == "true"


def test_not_detected_passes() -> None:
    assert list(outcome(only_case("not detected"))) == ["system-out"]


@pytest.mark.parametrize(
    ("verdict", "message"),
    [("no answer", "no answer: because"), ("uninformative", "uninformative: because"), ("skipped", "because")],
)
def test_what_was_not_decided_is_skipped_with_its_reason(verdict: str, message: str) -> None:
    case = only_case(verdict, reason="because")
    assert outcome(case) == {"skipped": message}
    assert case.findtext("skipped") == message  # which is what GitLab shows


def test_a_score_passes_with_a_property() -> None:
    case = only_case(None)
    assert list(outcome(case)) == ["system-out"]
    assert properties(case)["score"] == "0.52"


def test_the_figures_of_a_cell_are_properties() -> None:
    of = document([weighed("gpt-4o", "iris", "full_completion", "not detected", paper_verdict="contaminated")])
    case = parsed(of).find(".//testcase")
    assert case is not None
    assert properties(case).items() >= {
        "paper_verdict": "contaminated", "statistic_name": "recalled bits", "statistic_value": "8.25",
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
    check_shape(parsed(of))


@pytest.mark.slow
def test_no_cells_and_many_cells() -> None:
    assert parsed(document([])).get("tests") == "0"
    many = parsed(results([f"m{n}" for n in range(30)], [f"d{n}" for n in range(15)]))
    assert many.get("tests") == "5850"
    check_shape(many)


def test_every_case_has_a_name_of_its_own() -> None:
    """GitLab passes over the second of two cases with the same class and name."""
    places = [
        ("a", "b c", {}), ("a b", "c", {}), ("a", "iris", {}), ("a", "iris", {"serializer": "colon"}),
        ("a", "iris", {"edition": "kaggle"}), ("a", "iris", {}),
    ]  # fmt: skip
    cells = [cell(llm, dataset, "membership", None, **other) for llm, dataset, other in places]
    root = parsed(document(cells))
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(set(names)) == len(cells)
    assert len({suite.get("name") for suite in root}) == len(list(root))
    check_shape(root)


def test_a_suite_and_its_class_have_one_name() -> None:
    """Else GitHub's report actions show a group within each suite, and GitLab another name than they."""
    for suite in parsed(results(["gpt-4o"], ["iris", "wine"])):
        assert {case.get("classname") for case in suite.iter("testcase")} == {suite.get("name")}


def test_a_suite_says_what_was_asked_and_what_the_table_came_to() -> None:
    of = results(["gpt-4o"], ["iris"])
    suite = parsed(of).find("testsuite")
    assert suite is not None
    stated = suite.find("properties")
    assert stated is not None
    assert properties(stated).items() >= {
        "llm": "gpt-4o", "llm_version": "v1", "dataset": "iris", "edition": "uci", "serializer": "list",
        "table_verdict": "contaminated", "rules": "calibrated", "control": "false", "sha256": "3f2a91bc" * 8,
    }.items()  # fmt: skip


def test_a_case_takes_as_long_as_its_answers() -> None:
    of = results(["a"], ["iris"])
    place = {key: of["results"][1][key] for key in ("llm", "dataset", "edition", "serializer", "test")}
    of["run"]["durations"] = [{**place, "seconds": 1.25}, {**place, "dataset": "wine", "seconds": 3}]
    suite = parsed(of).find("testsuite")
    assert suite is not None
    assert suite.get("time") == "1.250"
    assert [case.get("time") for case in suite.iter("testcase")][:3] == ["0", "1.250", "0"]


# What the schema of Jenkins' xUnit plugin allows that we use, and properties of a case, which pytest writes, too.
SHAPE: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": ({"name", "tests", "failures", "errors", "skipped", "time"}, set(), {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors", "skipped", "time"}, {"timestamp"}, {"properties", "testcase"},
    ),
    "testcase": ({"name", "classname", "time"}, set(), {"properties", "failure", "skipped", "system-out"}),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, set(), set()),
    "failure": ({"message", "type"}, set(), set()),
    "skipped": ({"message", "type"}, set(), set()),
    "system-out": (set(), set(), set()),
}  # fmt: skip


def check_shape(root: ElementTree.Element) -> None:
    """Elements, attributes, their order and their types are those that readers of JUnit XML know."""
    assert root.tag == "testsuites"
    for element in root.iter():
        needed, allowed, children = SHAPE[element.tag]
        assert needed <= element.attrib.keys() <= needed | allowed
        assert {child.tag for child in element} <= children
        assert all(element.get(name, "0").isdecimal() for name in ("tests", "failures", "errors", "skipped"))
        assert float(element.get("time", "0")) >= 0
        if "timestamp" in element.attrib:
            assert datetime.fromisoformat(element.get("timestamp", "")).tzinfo
        if element.tag in ("testsuite", "testcase"):
            assert [child.tag for child in element].index("properties") == 0
        if element.tag == "testcase":
            assert len(element.findall("failure") + element.findall("skipped") + element.findall("system-out")) == 1


def test_the_same_results_write_the_same_file() -> None:
    assert render_junit(results(["a"], ["iris"])) == render_junit(results(["a"], ["iris"]))
