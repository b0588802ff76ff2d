"""What can be chosen is what the page has, in its order."""

from tabcontam.report.filters import choices, places
from tabcontam.verdicts.document import parse_results
from tabcontam.verdicts.results import RunResults
from tests.report.synthetic import cell, document, results


def shown(view: RunResults) -> dict[str, list[str]]:
    return {name: [option.value for option in options] for name, (_, options) in choices(view, view.blocks).items()}


def test_each_choice_occurs_on_the_page() -> None:
    cells = [
        cell("b", "wine", "full_completion", "no answer"),
        cell("a", "iris", "of_my_own", None, kind="classification"),
    ]
    assert shown(parse_results(document(cells))) == {
        "llm": ["b", "a"],
        "dataset": ["wine", "iris"],
        "test": ["full_completion", "of_my_own"],
        "kind": ["memorization", "classification"],
        "verdict": ["no-answer", "scored"],
    }


def test_a_page_of_one_llm_offers_its_own_alone() -> None:
    view = parse_results(
        document([cell("a", "iris", "membership", None), cell("b", "wine", "full_completion", "skipped")])
    )
    found = choices(view, view.blocks[1:])
    assert [option.value for option in found["dataset"][1]] == ["wine"]
    assert [option.value for option in found["kind"][1]] == ["memorization"]
    assert places(choices(view, view.blocks[1:]))["llm"] == {"b": 0}


def test_what_row_tests_found_outweighs_what_the_others_did() -> None:
    cells = [
        cell("rows", "iris", "full_completion", "contaminated"),
        *(cell("knows", "wine", test, "contaminated") for test in ("feature_list_informed", "recognition_features")),
        cell("clean", "wine", "full_completion", "not detected"),
    ]
    view = parse_results(document(cells))
    llms = sorted(choices(view, view.blocks)["llm"][1], key=lambda option: -option.contaminated)
    assert [option.value for option in llms] == ["rows", "knows", "clean"]


def test_what_a_control_that_joined_has_found_sorts_no_dataset() -> None:
    control = cell("control:exposed", "wine", "full_completion", "contaminated", control=True)
    view = parse_results(document([control, cell("m", "iris", "full_completion", "contaminated")]))
    assert {option.value: option.contaminated for option in choices(view, view.blocks)["dataset"][1]} == {
        "wine": 0,
        "iris": 1001,
    }


def test_labels_are_the_catalogues_and_values_are_the_names() -> None:
    of = results(["openai:x"], ["iris"])
    of["run"]["catalogue"] = {"openai:x": {"name": "x", "title": "The X", "family": "", "order": 1}}
    view = parse_results(of)
    (option,) = choices(view, view.blocks)["llm"][1]
    assert (option.value, option.label) == ("openai:x", "The X")
