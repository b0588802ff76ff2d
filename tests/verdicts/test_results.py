"""The reading view: what it accepts, what it refuses in one line, how it orders and counts."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tabcontam.errors import UsageError
from tabcontam.evidence import registry
from tabcontam.evidence.base import Verdict
from tabcontam.verdicts.document import parse_results, read_results
from tabcontam.verdicts.notes import NoteKind
from tabcontam.verdicts.result_types import count
from tabcontam.verdicts.run_facts import in_words
from tabcontam.verdicts.wording import listed, rounded, shorten, visible
from tests.report.synthetic import HOSTILE, KINDS, cell, document, results, table, weighed

ROOT = Path(__file__).parents[2]


def test_a_written_run_is_read_back(tmp_path: Path) -> None:
    written = results(["gpt-4o"], ["iris"])
    (tmp_path / "results.json").write_text(json.dumps(written), encoding="utf-8")
    assert read_results(tmp_path) == parse_results(written)


def test_tests_are_named_by_number_or_else_by_title(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of other packages too: whoever reads the rules has to know which tests they are about."""
    view = parse_results(results(["gpt-4o"], ["iris"]))
    assert view.knowledge_in_words == "1 to 6"
    assert view.row_tests_in_words.startswith("7 to 9, matched membership")
    assert "order of rows" not in view.row_tests_in_words  # which is asked where it is chosen, and was not
    asked = parse_results(document([cell("gpt-4o", "iris", "row_order", "not detected")]))
    assert "order of rows" in asked.row_tests_in_words
    known = {test.id: test.facts for test in registry.all_tests()}
    few = [known["feature_completion"], known["incomplete_completion"], known["matched_membership"]]
    assert in_words([*few, replace(few[0], number=None, title="Last cell")]) == "7, 9, matched membership and last cell"
    assert in_words(few[:1]) == "9"
    assert in_words([]) == ""


RULES = '{"rules": "paper"}'


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "no results.json"),
        ("{", "not readable JSON"),
        ("[" * 100_000, "not readable JSON"),
        ("[]", "names no schema"),
        ('{"schema": 3}', "reads schema 1, not 3"),
        ('{"schema": true}', "reads schema 1, not True"),
        ('{"schema": 1}', "run is missing"),
        ('{"schema": 1, "run": RULES, "results": [3]}', "result 1: Input should be"),
        (
            '{"schema": 1, "run": RULES, "results": [{"llm": "a", "dataset": "b", "test": "c", "kind": "membership", '
            '"verdict": "maybe"}]}',
            "maybe",
        ),
        (
            '{"schema": 1, "run": RULES, "results": [{"llm": "a", "dataset": "b", "test": "c", "kind": "membership", '
            '"score": "x"}]}',
            "result 1: score: 'x' is no number",
        ),
        ('{"schema": 1, "run": RULES, "results": [], "ranking": [{"llm": "a", "score": "x"}]}', "ranking"),
        ('{"schema": 1, "run": RULES, "results": [], "tables": [{"llm": "a", "verdict": "maybe"}]}', "table 1"),
        ('{"schema": 1, "run": RULES, "results": [], "tables": [{"llm": "a", "q_value": "x"}]}', "table 1"),
    ],
)
def test_a_foreign_folder_is_refused_in_one_line(tmp_path: Path, content: str | None, says: str) -> None:
    if content is not None:
        (tmp_path / "results.json").write_text(content.replace("RULES", RULES), encoding="utf-8")
    with pytest.raises(UsageError, match=says) as caught:
        read_results(tmp_path)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"statistic": "bits"},
        {"statistic": {"name": "bits"}},
        {"statistic": {"name": "bits", "value": "many"}},
        {"statistic": {"name": "bits", "value": 1, "expected": "few"}},
        {"interval": 0.5},
        {"interval": [0.5]},
        {"interval": [0.5, None]},
        {"interval": [0.5, "x"]},
        {"p_value": "small"},
    ],
)
def test_foreign_figures_of_a_cell_are_refused_in_one_line(changes: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"^result 1: (statistic|interval|p_value)") as caught:
        parse_results(document([weighed("m", "iris", "full_completion", "contaminated", **changes)]))
    assert "\n" not in str(caught.value)


def test_the_figures_of_a_cell_are_typed() -> None:
    (only,) = parse_results(document([weighed("m", "iris", "full_completion", "contaminated")])).results
    assert only.evidence.statistic is not None
    assert (only.evidence.statistic.name, only.evidence.statistic.value, only.evidence.statistic.expected) == (
        "recalled bits",
        212.3125,
        9.07,
    )
    assert only.evidence.interval == (0.25, 0.55)
    assert only.evidence.interval_of == "rows remembered"
    assert (only.evidence.null or "").startswith("the hidden cells drawn anew")
    assert only.numbers["detectable_share"] == 0.12


def test_a_cell_says_what_would_have_been_seen_and_nothing_of_the_kind_where_something_was() -> None:
    verdicts = ("not detected", "contaminated")
    clean, found = parse_results(
        document([weighed("m", "iris", "full_completion", verdict) for verdict in verdicts])
    ).results
    missed = "a model that remembers 12% of the rows would have been detected"
    assert clean.why == f"1 of 45 cut rows is right, and 0.7 are expected of the baseline; {missed}"
    assert "would have been detected" not in found.why
    (bare,) = parse_results(
        document([cell("m", "iris", "full_completion", "not detected", sentence="None was.")])
    ).results
    assert bare.why == "None was."


@pytest.mark.parametrize(
    ("own", "papers", "differs"),
    [
        ("contaminated", "contaminated", False),
        ("contaminated", "not detected", True),
        ("uninformative", "contaminated", True),
        ("contaminated", None, False),
        (None, None, False),
    ],
)
def test_another_verdict_of_the_papers_rules_is_told(own: str | None, papers: str | None, differs: bool) -> None:
    (only,) = parse_results(document([cell("m", "iris", "full_completion", own, paper_verdict=papers)])).results
    assert only.differs is differs


def test_tables_follow_the_run_with_controls_last() -> None:
    llms, datasets = ["control:exposed", "b", "a"], ["wine", "iris"]
    of = results(llms, datasets)
    of["tables"].reverse()
    view = parse_results(of)
    assert [(line.llm, view.label(line)) for line in view.tables_in_order] == [
        ("b", "wine"), ("b", "iris"), ("a", "wine"), ("a", "iris"), ("control:exposed", "wine"),
        ("control:exposed", "iris"),
    ]  # fmt: skip


def test_a_control_under_test_is_a_table_like_any_other() -> None:
    cells = [cell(llm, "iris", "full_completion", "contaminated") for llm in ("control:exposed", "m")]
    tables = [table(llm, "iris", "contaminated") for llm in ("m", "control:exposed")]
    assert [line.llm for line in parse_results(document(cells, tables)).tables_in_order] == ["control:exposed", "m"]


def test_the_tests_that_decide_a_table_do_not_stand_without_a_word() -> None:
    lines = parse_results(
        document([], [table("m", "iris", "uninformative"), table("m", "wine", "not detected")])
    ).tables
    assert lines[0].verdict is Verdict.UNINFORMATIVE
    assert lines[0].why == (
        "nothing could be learned from incomplete_completion, full_completion, feature_completion, matched_membership"
    )
    assert lines[1].why == "a model that remembers 12% of the rows would have been detected"
    assert lines[1].numbers["q_value"] == 0.95


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("p_value", 3.14159e-41, "3.1e-41"),
        ("q_value", 0.0, "under 1e-300"),
        ("recalled_bits", 212.3125, "212.3"),
        ("detectable_share", 0.123, "12%"),
        ("hits", 18, "18"),
        ("score", 0.123456, "0.1235"),
    ],
)
def test_numbers_are_rounded_as_people_read_them(key: str, value: float, shown: str) -> None:
    assert rounded(key, value) == shown


def test_a_file_and_a_missing_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "nowhere"):
        with pytest.raises(UsageError, match=r"folder"):
            read_results(path)


def test_tests_are_in_the_order_of_table_1_and_unknown_ones_last() -> None:
    cells = [cell("m", "iris", test, "not detected") for test in ["invented", *reversed(KINDS)]]
    assert parse_results(document(cells)).tests == (*KINDS, "invented")


def test_a_report_knows_the_tests_of_the_suite_and_which_of_them_are_of_rows() -> None:
    tests, view = registry.all_tests(), parse_results(document([]))
    recorded = {form for test in tests for form in test.recorded_forms}
    assert {"incomplete_completion_single"} <= recorded  # of one feature, as in the paper's records
    assert view.facts.keys() == {test.id for test in tests} | recorded
    assert {form for test in tests if test.row_test for form in (test.id, *test.recorded_forms)} == view.row_tests


def test_controls_that_joined_come_first_and_do_not_count() -> None:
    view = parse_results(results(["gpt-4o", "control:exposed"], ["iris"]))
    assert [block.llm for block in view.blocks] == ["control:exposed", "gpt-4o"]
    assert {one.llm for one in view.subjects} == {"gpt-4o"}
    assert [rank.llm for rank in view.ranks_in_order] == ["gpt-4o"]


def test_a_control_that_is_the_subject_counts() -> None:
    cells = [cell("control:exposed", "iris", "full_completion", "contaminated", control=False)]
    view = parse_results(document(cells))
    assert count(view.subjects) == {"contaminated": 1}
    assert [rank.llm for rank in view.ranks_in_order] == ["control:exposed"]


def test_outcomes_are_counted_worst_first_and_never_folded() -> None:
    view = parse_results(results(["gpt-4o"], ["iris", "wine", "adult", "bank", "german"]))
    counts = count(view.subjects)
    assert list(counts) == ["contaminated", "not detected", "uninformative", "no answer", "skipped", "scored"]
    assert sum(counts.values()) == len(view.results)


def test_a_column_is_named_by_what_tells_it_apart() -> None:
    cells = [
        cell("m", "heart", "full_completion", "not detected", edition="a", serializer="list"),
        cell("m", "heart", "full_completion", "not detected", edition="b", serializer="json"),
        cell("m", "iris", "full_completion", "not detected"),
    ]
    labels = [column.label for column in parse_results(document(cells)).blocks[0].columns]
    assert labels == ["heart@a list", "heart@b json", "iris list"]


def test_a_cell_that_stands_twice_is_shown_twice() -> None:
    twice = [cell("m", "iris", "full_completion", verdict) for verdict in ("contaminated", "not detected")]
    columns = parse_results(document(twice)).blocks[0].columns
    assert [column.label for column in columns] == ["iris", "iris #2"]


def test_a_control_that_the_user_named_speaks_for_models_like_it_and_says_what_it_has_read() -> None:
    cells = [
        cell("mine", "iris", "full_completion", "not detected", control=True) | {"exposure": 64.0},
        cell("mine", "iris", "feature_completion", "contaminated", control=True) | {"exposure": 64.0},
        cell("mine", "iris", "feature_values", "not detected", control=True) | {"exposure": 64.0},
        cell("mine", "wine", "full_completion", "contaminated", control=True) | {"exposure": 0.0},
    ]
    of = document(cells)
    of["run"]["llms"][0] |= {"control": True, "checks": False}
    each = "mine, which has read 64 copies, on average, of each row, was"
    assert [str(note) for note in parse_results(of).controls] == [
        "mine is known to have read 64 copies, on average, of each row of iris; none of the rows of wine",
        f"no power: against a model like it: {each} missed by full_completion on iris",
        f"{each} detected by the row tests in 1 of 2 measured results",
        "plausibility: an error: mine, which has read none of the rows, was flagged by full_completion on wine",
        "mine, which has read none of the rows, was flagged by the row tests in 1 of 1 measured results",
    ]


def test_the_controls_say_where_a_test_has_no_power_and_where_it_measures_plausibility() -> None:
    cells = [
        cell("control:exposed", "iris", "full_completion", "not detected", control=True),
        cell("control:exposed", "wine", "full_completion", "contaminated", control=True),
        cell("control:unexposed", "iris", "feature_completion", "contaminated", control=True),
        cell("control:unexposed", "iris", "membership", "skipped", control=True),
    ]
    notes = [str(note) for note in parse_results(document(cells)).controls]
    assert notes == [
        "no power: control:exposed, which has read the table, was missed by full_completion on iris",
        "plausibility: control:unexposed, which has read none of its rows, was flagged by feature_completion on iris",
        "control:exposed, which has read the table, was detected by the row tests in 1 of 2 measured results",
        "control:unexposed, which has read none of its rows, was flagged by the row tests in 1 of 1 measured results",
    ]


def test_what_both_controls_have_read_shows_neither_power_nor_plausibility() -> None:
    cells = [
        cell("control:exposed", "iris", "feature_list_informed", "not detected", control=True),
        cell("control:unexposed", "iris", "feature_list_informed", "contaminated", control=True),
    ]
    assert [str(note) for note in parse_results(document(cells)).controls] == [
        "control:exposed, which has read a page about the dataset, was missed by feature_list_informed on iris"
    ]


def test_of_a_file_that_no_page_describes_nothing_is_missed() -> None:
    of = document([cell("control:exposed", "mine.csv", "feature_list_informed", "not detected", control=True)])
    assert [note.text.partition(" was ")[2] for note in parse_results(of).controls] == [
        "missed by feature_list_informed on mine.csv"
    ]
    of["run"]["datasets"][0] |= {"edition": "3f2a91bc3f2a"}
    assert parse_results(of).controls == []


def test_an_uninformative_cell_is_not_one_that_missed_a_control() -> None:
    cells = [
        cell("control:exposed", "car", "full_completion", "uninformative", control=True),
        cell("control:unexposed", "car", "full_completion", "uninformative", control=True),
    ]
    assert parse_results(document(cells)).controls == []
    measured = cell("control:exposed", "iris", "full_completion", "contaminated", control=True)
    (found,) = parse_results(document([*cells, measured])).controls
    assert found.text.endswith("in 1 of 1 measured results")


def test_several_tests_that_missed_a_control_stand_in_one_note() -> None:
    tests = ("incomplete_completion", "full_completion", "matched_membership")
    cells = [
        cell("control:exposed", dataset, test, "not detected", control=True)
        for dataset in ("iris", "wine")
        for test in tests
    ]
    assert (
        parse_results(document(cells))
        .controls[0]
        .text.endswith("was missed by incomplete_completion, full_completion and matched_membership on iris and wine")
    )


@pytest.mark.parametrize(("verdict", "told"), [("contaminated", True), ("not detected", False)])
def test_who_is_found_may_know_public_facts(verdict: str, told: bool) -> None:
    cells = [weighed("gpt-4o", "players", "full_completion", verdict)]
    view = parse_results(document(cells, tables=[table("gpt-4o", "players", verdict)]))
    said = [note.text for note in view.notes if "public facts" in note.text]
    assert bool(said) is told
    assert all(text.startswith("players: if a table holds public facts") for text in said)


def test_what_an_llm_was_made_to_read_is_said_and_of_strangers_nothing() -> None:
    known = {"iris": 5.25, "wine": 5.25, "adult": 0.0, "bank": None}
    cells = [
        cell(llm, dataset, "full_completion", "not detected", exposure=copies)
        for llm, of in (("hf:made", known), ("gpt", dict.fromkeys(known)), ("simulated:guesser", {"iris": 0.0}))
        for dataset, copies in of.items()
    ]
    notes = parse_results(document(cells, [])).notes
    assert [note.text for note in notes if note.kind is NoteKind.EXPOSURE] == [
        "hf:made is known to have read 5.25 copies, on average, of each row of iris and wine; none of the rows of adult"
    ]


@pytest.mark.slow
def test_an_own_row_test_of_the_registry_is_one_in_the_report() -> None:
    """A test written after docs/add-a-test.md was reported as one that a page about the dataset is enough for."""
    code = """
import tabcontam.evidence.registry as registry
from tabcontam.evidence.rows.completion_tests import FeatureCompletion

class Own(FeatureCompletion):
    id = "own"

tests = (*registry.all_tests(), Own())
registry.all_tests = lambda: tests
from tabcontam.verdicts.run_facts import known_tests
print(*sorted(test for test, facts in known_tests().items() if facts.row_test))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    row_tests = {form for test in registry.all_tests() if test.row_test for form in (test.id, *test.recorded_forms)}
    assert set(done.stdout.split()) == {*row_tests, "own"}


def test_the_controls_say_that_both_are_as_expected() -> None:
    cells = [
        cell("control:exposed", "iris", "full_completion", "contaminated", control=True),
        cell("control:unexposed", "iris", "full_completion", "not detected", control=True),
    ]
    assert [str(note) for note in parse_results(document(cells)).controls] == [
        "control:exposed, which has read the table, was detected by the row tests in 1 of 1 measured results",
        "control:unexposed, which has read none of its rows, was flagged by the row tests in 0 of 1 measured results",
    ]


@pytest.mark.parametrize("code", [0x00, 0x08, 0x0B, 0x0D, 0x1B, 0x7F, 0x85, 0x9B, 0x202E, 0x2028, 0xD800, 0xFFFE])
def test_control_characters_are_shown_not_obeyed(code: int) -> None:
    assert chr(code) not in visible(chr(code))
    assert visible(chr(code))


def test_visible_keeps_text_and_can_keep_one_line() -> None:
    assert visible("汉字\tx\r\ny") == "汉字\tx\ny"
    assert "\n" not in visible("x\ny", line=True)
    visible(HOSTILE).encode()


def test_shortened_text_says_how_much_is_left_out() -> None:
    assert shorten("x" * 10, 10) == "x" * 10
    assert shorten("x" * 11, 10) == "x" * 10 + "… (+1 characters)"
    assert shorten("abc", 1, tail=True) == "(+2 characters) …c"


@pytest.mark.parametrize(
    ("value", "lines"),
    [(None, "(missing)"), ("a", "a"), (["a", None], "a\n(missing)"), ({"f": "1"}, "f = 1"), ([], "")],
)
def test_values_are_listed_one_a_line(value: object, lines: str) -> None:
    assert listed(value) == lines


@pytest.mark.parametrize(
    ("llms", "said"), [(4, ""), (100, "none of these 100 had seen any row, on average at most 1 of them")]
)
def test_the_levels_of_many_llms_add_up(llms: int, said: str) -> None:
    names = [f"m{number}" for number in range(llms)]
    view = parse_results(results(names, ["iris"]))
    tables = tuple(replace(one, bound=0.01) for one in view.tables)
    told = " ".join(note.text for note in replace(view, tables=tables).notes)
    assert said in told
    assert ("add up over models" in told) == bool(said)
