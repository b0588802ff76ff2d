"""Splits of a dataset side by side, on the page and on the terminal: which of them leaked."""

import io
from typing import Any

import pytest
from rich.console import Console

from tabcontam.report.split_lines import SplitGroup, split_groups
from tabcontam.verdicts.document import parse_results
from tests.report.rendered import print_report, render_html
from tests.report.synthetic import HOSTILE, document, table, weighed

FOUND, CLEAN, UNTOLD = "contaminated", "not detected", "no answer"


def run(verdicts: dict[str, dict[str, str]], name: str = "adult", **facts: Any) -> dict[str, Any]:
    """A run on the splits of one dataset: what was found, by LLM and split."""
    cells, tables = [], []
    for llm, found in verdicts.items():
        for split, verdict in found.items():
            decided = verdict if verdict != UNTOLD else CLEAN
            answered = {} if verdict != UNTOLD else {"verdict": UNTOLD, "reason": "declined"}
            joined = {"control": llm.startswith("control:"), "split": split}
            cells.append(weighed(llm, name, "full_completion", decided) | answered | joined)
            tables.append(table(llm, name, verdict) | {"split": split})
    of = document(cells, tables)
    splits = dict.fromkeys(split for found in verdicts.values() for split in found)
    about = {"name": name, "title": "Adult", "edition": "uci", "sha256": "a" * 64, "features": ["a", "b"], **facts}
    of["run"]["datasets"] = [{**about, "split": split, "elsewhere": 3 * place} for place, split in enumerate(splits)]
    return of


def group(of: dict[str, Any]) -> SplitGroup:
    (found,) = split_groups(parse_results(of))
    return found


@pytest.mark.parametrize(
    ("verdicts", "sentence"),
    [
        ({"train": FOUND, "test": CLEAN}, "rows of train were detected, and none of test"),
        ({"train": FOUND, "test": FOUND}, "rows of train and test were detected"),
        ({"train": CLEAN, "dev": CLEAN, "test": CLEAN}, "no row of train, dev or test was detected"),
        ({"train": FOUND, "test": UNTOLD}, "rows of train were detected; nothing is decided on test"),
        ({"train": CLEAN, "test": UNTOLD}, "no row of train was detected; nothing is decided on test"),
        ({"train": UNTOLD, "test": UNTOLD}, "nothing is decided on train and test"),
    ],
)
def test_a_sentence_says_which_split_leaked(verdicts: dict[str, str], sentence: str) -> None:
    found = group(run({"m": verdicts}))
    assert found.splits == tuple(verdicts)
    assert [line.sentence for line in found.lines] == [sentence]
    assert [one and one.verdict.value for one in found.lines[0].tables] == list(verdicts.values())


def test_a_split_that_one_llm_was_not_asked_about_is_told() -> None:
    found = group(run({"a": {"train": FOUND, "test": CLEAN}, "b": {"test": CLEAN}}))
    assert found.lines[1].tables[0] is None
    assert found.lines[1].sentence == "no row of test was detected; nothing is decided on train"
    assert found.left_out == "rows in several splits were never asked about: 3 of test"


def test_files_of_the_same_columns_are_splits_of_one_dataset() -> None:
    view = run({"m": {"train": FOUND, "test": CLEAN}}, name="x.csv")
    assert len(split_groups(parse_results(view))) == 1
    of = document([weighed("m", name, "full_completion", CLEAN) for name in ("train.csv", "test.csv", "odd.csv")])
    of["run"]["datasets"] = [
        {"name": name, "edition": digit * 12, "sha256": digit * 64, "split": split, "features": features}
        for name, digit, split, features in (
            ("train.csv", "1", "train", ["a", "b"]),
            ("test.csv", "2", "test", ["b", "a"]),
            ("odd.csv", "3", "test", ["c"]),
        )
    ]
    (found,) = split_groups(parse_results(of))
    assert found.splits == ("train", "test")
    assert found.title == "train.csv, test.csv"


def test_one_split_alone_has_nothing_beside_it() -> None:
    assert split_groups(parse_results(run({"m": {"test": FOUND}}))) == []
    assert "Splits side by side" not in render_html(run({"m": {"test": FOUND}}), [])


def test_the_page_and_the_terminal_show_them() -> None:
    view = run({"m": {"train": FOUND, "test": CLEAN}, "control:exposed": {"train": FOUND, "test": FOUND}})
    page = render_html(view, [])
    assert "Splits side by side" in page
    assert "rows of train were detected, and none of test" in page
    written = io.StringIO()
    print_report(Console(file=written, width=120), view, [])
    lines = written.getvalue().splitlines()
    assert (
        "m                rows of train were detected, and none of test (train contaminated, test not detected)"
        in lines
    )


def test_a_name_of_a_split_is_shown_as_text() -> None:
    page = render_html(run({"m": {HOSTILE: FOUND, "test": CLEAN}}), [])
    assert "Splits side by side" in page
    assert "<script>alert" not in page
