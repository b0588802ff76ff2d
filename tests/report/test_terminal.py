"""The report on a terminal: pytest's habits, no colour in a pipe, nothing obeyed that a model said."""

import re
from io import BytesIO, StringIO, TextIOWrapper
from typing import Any

import pytest
from rich.console import Console

from tests.report.rendered import print_header, print_report
from tests.report.synthetic import HOSTILE, KINDS, ROW_TESTS, cell, document, results, table, trial, trials, weighed


def printed(of: dict[str, Any], lines: list[dict[str, Any]] | None = None, **options: Any) -> str:
    """The whole report as a pipe, or with `terminal=True` a terminal, receives it."""
    width, verbosity, terminal = options.get("width", 100), options.get("verbosity", 0), options.get("terminal", False)
    stream = StringIO()
    console = Console(file=stream, width=width, force_terminal=terminal, color_system="standard" if terminal else None)
    print_header(console, of, verbosity)
    about = {name: options[name] for name in ("summary", "durations") if name in options}
    print_report(console, of, trials(of) if lines is None else lines, verbosity, index="out/index.html", **about)
    return stream.getvalue()


def test_the_header_names_what_ran() -> None:
    text = printed(results(["control:exposed", "gpt-4o"], ["iris"]))
    for fact in (
        "tabcontam 0.1.0", "python 3.11.7", "gpt-4o (v1)", "control:exposed (control, v1)",
        "iris@uci (150 x 5, sha256 3f2a91bc)", "seed 0", "rules calibrated", "portable en_US",
        "one level, 0.01, for each model and family of tests", "row tests (7 to 9, matched membership",
    ):  # fmt: skip
        assert fact in text


def test_what_no_level_decided_claims_none() -> None:
    assert "one level" not in printed(results(["gpt-4o"], ["iris"], rules="paper"))
    assert "one level" not in printed(document([cell("gpt-4o", "iris", "full_completion", "contaminated")]))


def test_each_column_is_a_line_of_letters_with_progress_at_the_right() -> None:
    lines = printed(results(["gpt-4o"], ["iris", "wine"])).splitlines()
    first = next(line for line in lines if line.startswith("gpt-4o iris"))
    second = next(line for line in lines if line.startswith("gpt-4o wine"))
    assert first.split() == ["gpt-4o", "iris", "C.ss.C.ss%C%%", "[", "50%]"]
    assert second.endswith("[100%]")
    assert len(first) == len(second) == 100


@pytest.mark.parametrize("width", [20, 40, 80, 300])
def test_a_terminal_of_any_width_holds_every_line(width: int) -> None:
    text = printed(results(["control:exposed", "gpt-4o"], ["iris", "a" * 60]), width=width, terminal=True)
    assert "contaminated" in text
    for line in re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines():
        assert len(line) <= width


def test_a_pipe_gets_whole_lines_and_no_colour_codes() -> None:
    of = document([cell("gpt-4o", "iris", "full_completion", "contaminated", sentence="long " * 60)])
    text = printed(of, width=40)
    assert "\x1b" not in text
    assert any(line.startswith("CONTAMINATED gpt-4o iris full_completion - long") for line in text.splitlines())
    assert f"CONTAMINATED gpt-4o iris full_completion - {'long ' * 60}" in text


def test_the_evidence_shows_one_hit_and_counts_the_others() -> None:
    of = document([cell("gpt-4o", "iris", "full_completion", "contaminated")])
    text = printed(of)
    assert "_ gpt-4o iris full_completion _" in text
    assert "expected  petal length = 1.4, petal width = (missing)\n" in text
    assert "(4 more in trials.jsonl)" in text
    assert "no trial of this result is stored" in printed(of, [])


def test_long_texts_are_cut_and_say_so() -> None:
    of = document([cell("gpt-4o", "iris", "full_completion", "contaminated")])
    text = printed(of, [trial(of["results"][0], "1", reply="x" * 9_400, prompt="y" * 1_000 + " the question")])
    assert "(+9160 characters)" in " ".join(text.split())
    assert "the question" in text
    assert len(text) < 5_000


def test_a_controls_evidence_stands_only_in_verbose_reports() -> None:
    of = document([cell("control:exposed", "iris", "full_completion", "contaminated", control=True)])
    assert "= evidence =" not in printed(of)
    assert "= evidence =" in printed(of, verbosity=1)


def test_many_contaminated_cells_are_left_to_the_page() -> None:
    of = document([cell("m", f"d{number}", "full_completion", "contaminated") for number in range(25)])
    assert printed(of).count("\nanswered") == 20
    assert "(5 more contaminated results: " in printed(of)
    assert printed(of, verbosity=1).count("\nanswered") == 25


def test_verbose_has_a_line_a_cell_with_its_sentence() -> None:
    text = printed(results(["gpt-4o"], ["iris"]), verbosity=1)
    assert re.search(
        r"^gpt-4o iris feature_list_informed CONTAMINATED +\[  7%\]\n    3 of 25 queries", text, re.MULTILINE
    )
    assert "gpt-4o iris membership SCORED 0.52" in text


def test_verbose_has_q_and_the_papers_verdict_where_it_is_another() -> None:
    cells = [
        weighed("gpt-4o", "iris", "full_completion", "contaminated"),
        weighed("gpt-4o", "bank", "incomplete_completion", "not detected", paper_verdict="contaminated"),
    ]
    text = printed(document(cells), verbosity=1)
    line = next(line for line in text.splitlines() if line.startswith("gpt-4o iris full_completion"))
    assert line.split("  ")[0] == "gpt-4o iris full_completion CONTAMINATED q 2.8e-40"
    assert line.endswith(" [ 50%]")
    assert len(line) == 100
    assert re.search(r"gpt-4o bank incomplete_completion NOT DETECTED q 0.81 \(paper: contaminated\) +\[100%\]\n", text)
    assert "(paper:" not in printed(document(cells[:1]), verbosity=1)


def test_each_table_is_a_line_with_what_its_verdict_rests_on() -> None:
    of = results(["control:exposed", "gpt-4o"], ["iris", "wine"])
    text = printed(of)
    lines = text[text.index("= tables =") :].splitlines()[1:5]
    assert [line.split("  ")[0] for line in lines] == [
        "gpt-4o iris", "gpt-4o wine", "control:exposed iris CONTAMINATED", "control:exposed wine NOT DETECTED",
    ]  # fmt: skip
    assert lines[0].endswith("NOT DETECTED  q 0.95, a model that remembers 12% of the rows would have been detected")
    assert lines[1].endswith(f"UNINFORMATIVE nothing could be learned from {', '.join(ROW_TESTS)}")
    assert lines[2].endswith("  q 2.4e-40, 424.6 bits recalled, the row tests together: p = 1.2e-40")
    assert "= tables =" not in printed(document(of["results"]))


def test_tables_of_controls_are_dimmed() -> None:
    of = results(["control:exposed", "gpt-4o"], ["iris"])
    lines = printed(of, terminal=True, width=120).splitlines()
    assert any(line.startswith("\x1b[2mcontrol:exposed iris") for line in lines)
    assert any(line.startswith("gpt-4o iris") and "\x1b[32mNOT DETECTED" in line for line in lines)


@pytest.mark.parametrize("width", [20, 40, 80, 120])
def test_a_terminal_folds_the_lines_of_tables_and_cells_without_cutting(width: int) -> None:
    llm, reason = "openai:qwen2.5-7b@http://127.0.0.1:8417/v1", "a reason of many words " * 8
    of = document(
        [cell(llm, "iris", "full_completion", "uninformative", reason=reason)],
        [table(llm, "iris", "uninformative", reason=reason)],
    )
    text = printed(of, [], width=width, terminal=True, verbosity=1)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert all(len(line) <= width for line in plain.splitlines())
    assert plain.replace("\n", "").replace(" ", "").count(reason.replace(" ", "")) == 3  # cell, table, summary


def test_quiet_has_only_the_summary_and_the_last_line() -> None:
    text = printed(results(["control:exposed", "gpt-4o"], ["iris"]), verbosity=-1)
    lines = text.splitlines()
    assert "short summary info" in lines[0]
    assert "in 12.3s" in lines[-1]
    assert all(line.startswith(("CONTAMINATED", "NO ANSWER", "UNINFORMATIVE", "SKIPPED")) for line in lines[1:-1])
    assert "control:" not in text


def test_skipped_cells_are_grouped_by_reason() -> None:
    cells = [
        cell("gpt-4o", dataset, test, "skipped", reason=reason)
        for dataset in ("iris", "wine")
        for test, reason in (("membership", "no corpus"), ("full_completion", "too few rows"))
    ]
    assert "SKIPPED 4 results: too few rows (full_completion); no corpus (membership)" in printed(document(cells))
    for text in (printed(document(cells), summary="s"), printed(document(cells), verbosity=1)):
        assert "SKIPPED [2] gpt-4o iris, wine membership - no corpus" in text
        assert "SKIPPED [2] gpt-4o iris, wine full_completion - too few rows" in text


def test_the_line_of_skipped_cells_names_the_commonest_reasons() -> None:
    cells = [cell("gpt-4o", "iris", test, "skipped", reason=f"reason {test}") for test in KINDS]
    cells += [cell("gpt-4o", "wine", "membership", "skipped", reason="reason membership")]
    (line,) = [line for line in printed(document(cells)).splitlines() if line.startswith("SKIPPED")]
    assert line.startswith("SKIPPED 14 results: reason membership (membership); ")
    assert line.endswith("; 10 more reasons, see -rs")


def test_the_last_line_counts_subjects_and_says_when_the_run_was_cut_off() -> None:
    of = results(["control:exposed", "gpt-4o"], ["iris"])
    counted = "4 contaminated, 3 not detected, 3 uninformative, 3 scored in 12.3s"
    assert printed(of).splitlines()[-2].strip("=") == f" {counted} "
    assert ", interrupted in" in printed(of | {"run": of["run"] | {"interrupted": True}})
    assert ", not finished in" in printed(of | {"run": of["run"] | {"finished": False}})
    assert "in 125.0s (0:02:05)" in printed(of | {"run": of["run"] | {"seconds": 125.0}})


@pytest.mark.parametrize(
    ("verdicts", "colour"),
    [
        (["contaminated", "not detected"], "31"),
        (["not detected", "skipped"], "32"),
        (["not detected", "uninformative"], "33"),
        (["no answer"], "33"),
        (["skipped"], "33"),
        ([], "33"),
    ],
)
def test_the_last_line_has_the_colour_of_the_worst(verdicts: list[str], colour: str) -> None:
    cells = [cell("gpt-4o", str(number), "full_completion", verdict) for number, verdict in enumerate(verdicts)]
    last = printed(document(cells), terminal=True).splitlines()[-2]
    assert last.startswith(f"\x1b[1;{colour}m=")


def test_the_path_of_the_page_comes_last() -> None:
    assert printed(results(["gpt-4o"], ["iris"])).endswith("\nreport: out/index.html\n")


def test_the_ranking_is_ordered_by_score() -> None:
    of = results(["b", "a"], ["iris"])
    of["ranking"] = [
        {"llm": "a", "score": 0.1, "membership": None, "zero_shot": None, "one_shot": 0.5},
        {"llm": "b", "score": 0.6, "membership": 0.5, "zero_shot": None, "one_shot": None},
    ]
    text = printed(of)
    ranking = text[text.index("= ranking") :].splitlines()
    assert ranking[2].split() == ["b", "0.60", "0.50", "-", "-"]
    assert ranking[3].split() == ["a", "0.10", "-", "-", "0.50"]


def test_intervals_stand_under_the_numbers_of_the_ranking() -> None:
    of = results(["a"], ["iris"])
    known = {"score_interval": [0.381, 1.0], "one_shot_interval": [0.0, 0.25], "one_shot_majority": 0.5}
    of["ranking"] = [{"llm": "a", "score": 0.6, "membership": None, "zero_shot": None, "one_shot": 0.1} | known]
    text = printed(of)
    ranking = text[text.index("= ranking") :].splitlines()
    assert ranking[2].split() == ["a", "0.60", "-", "-", "0.10"]
    assert ranking[3].split() == [".38-1.00", ".00-.25"]
    assert ranking[3].index(".00-.25") + len(".00-.25") == ranking[2].rindex("0.10") + len("0.10")
    assert ranking[4].split() == ["(largest", "class)", "0.50"]


def test_the_ranking_says_what_goes_together() -> None:
    of = results([f"m{number}" for number in range(5)], ["iris"])
    line = {"first": "score", "second": "one_shot", "llms": 5, "value": 0.7, "interval": [-0.2, 0.98], "p_value": 0.233}
    of["correlations"] = [line, line | {"second": "zero_shot", "llms": 3, "value": None, "interval": None}]
    text = printed(of)
    assert "Over 5 LLMs, Spearman's rho of contamination and 1-shot accuracy is 0.70 (-0.20 to 0.98), p = 0.23." in text
    assert "3 LLMs are too few to show whether contamination goes together with 0-shot accuracy." in text


def _hostile() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    cells = [
        cell(HOSTILE, HOSTILE, "full_completion", verdict, sentence=HOSTILE, reason=f"{HOSTILE}\n==== 0 forged ====")
        for verdict in ("contaminated", "no answer", "skipped", "uninformative")
    ]
    of = document(cells, [table(HOSTILE, HOSTILE, "contaminated", reason=HOSTILE)], command=HOSTILE, dictionary=HOSTILE)
    line = trial(cells[0], HOSTILE, reply=HOSTILE, prompt=HOSTILE, expected=[HOSTILE], asked=[HOSTILE])
    return of, [line]


@pytest.mark.parametrize("verbosity", [-1, 0, 1])
def test_hostile_text_is_shown_not_obeyed(verbosity: int) -> None:
    of, lines = _hostile()
    text = printed(of, lines, verbosity=verbosity)
    assert not any(character in text for character in "\x1b\x00\x9b\u202e\ud800")
    assert "[red]red[/red]" in text
    assert not any(line.startswith("==== 0 forged") for line in text.splitlines())


def test_an_output_that_cannot_write_unicode_gets_escapes() -> None:
    of, lines = _hostile()
    raw = BytesIO()
    with TextIOWrapper(raw, encoding="ascii") as stream:
        print_report(Console(file=stream, width=80, color_system=None), of, lines)
        stream.flush()
        assert b"\\u6c49" in raw.getvalue()


def test_the_same_results_print_the_same() -> None:
    of = results(["gpt-4o", "llama3"], ["iris", "wine"])
    assert printed(of) == printed(of)


def test_a_run_without_cells_says_so() -> None:
    assert "no results in 12.3s" in printed(document([]))
    joined = document([cell("control:exposed", "iris", "membership", "contaminated", control=True)])
    assert "no results but those of controls in 12.3s" in printed(joined)


@pytest.mark.parametrize(
    ("letters", "words"),
    [
        ("c", ["CONTAMINATED"]),
        ("sc", ["SKIPPED", "CONTAMINATED"]),
        ("n", ["NOT DETECTED"]),
        ("p", ["SCORED"]),
        ("A", ["CONTAMINATED", "NOT DETECTED", "UNINFORMATIVE", "NO ANSWER", "SKIPPED", "SCORED"]),
        ("cN", []),
    ],
)
def test_the_short_summary_names_the_outcomes_that_are_asked_for_in_their_order(letters: str, words: list[str]) -> None:
    verdicts = ["contaminated", "not detected", "uninformative", "no answer", "skipped", None]
    of = document([cell("gpt-4o", "iris", test, verdict) for test, verdict in zip(KINDS, verdicts, strict=False)])
    summary = printed(of, summary=letters, verbosity=-1).split("short summary info")[-1]
    found = re.findall(r"^([A-Z ]*[A-Z]) (?:\[1\] )?gpt-4o iris", summary, re.MULTILINE)
    assert found == words


def test_memorys_share_which_no_ranking_has_is_in_the_short_summary() -> None:
    said = "accuracy 0.84, on unseen twins of the same rows 0.71; memory's share 0.13"
    share = cell("gpt-4o", "iris", "memory_share", None, kind="classification", sentence=said)
    of = document([share, cell("gpt-4o", "iris", "classification_0shot", None)])
    summary = printed(of, verbosity=-1, width=200).split("short summary info")[-1]
    assert f"SCORED gpt-4o iris memory_share - {said}" in summary
    assert "classification_0shot" not in summary
    assert "memory_share" not in printed(of, verbosity=-1, summary="N")


def test_the_slowest_cells_are_named_longest_first() -> None:
    cells = [cell("gpt-4o", "iris", test, "not detected") for test in ROW_TESTS]
    took = [
        {name: one[name] for name in ("llm", "dataset", "edition", "serializer", "test")} | {"seconds": seconds}
        for one, seconds in zip(cells, (0.5, 12.25, 3.0, 0.01), strict=True)
    ]
    text = printed(document(cells, durations=took), durations=2)
    assert "slowest 2 results" in text
    assert re.findall(r"^([\d.]+)s gpt-4o iris (\w+)", text, re.MULTILINE) == [
        ("12.25", ROW_TESTS[1]),
        ("3.00", ROW_TESTS[2]),
    ]


def test_answers_that_were_there_took_no_time() -> None:
    of = document([cell("gpt-4o", "iris", "full_completion", "not detected")])
    assert "nothing was asked now" in printed(of, durations=3)


def test_what_changed_between_two_runs_is_told() -> None:
    """`report RUN_A RUN_B` told it on the page alone."""
    line = {
        "kind": "runs", "first": "before", "second": HOSTILE, "llm": "gpt-4o", "dataset": "iris", "edition": "uci",
        "serializer": "is", "test": "full_completion", "first_verdict": "not detected",
        "second_verdict": "contaminated", "first_share": 0.0, "second_share": 0.4, "queries": 30, "p_value": 0.0002,
        "q_value": 0.004, "beyond_chance": True, "change": "appeared",
    }  # fmt: skip
    text = printed(document([]) | {"comparisons": [line]})
    assert "= runs side by side =" in text
    assert "Of 1 verdicts 1 appeared (1 differs by more than chance) and 0 vanished." in text
    assert "APPEARED gpt-4o: before -> " in text
    assert (
        "8 Full completion on iris: 0% -> 40% right of the same 30 queries: more than chance explains (q = 0.004)"
        in text
    )
    assert "\x1b" not in text
    many = document([]) | {"comparisons": [{**line, "dataset": f"d{number}"} for number in range(25)]}
    assert printed(many).count("APPEARED") == 20
    assert "(5 more: see -v, or index.html)" in printed(many)
    assert printed(many, verbosity=1).count("APPEARED") == 25


def test_the_letters_say_which_tests_they_are() -> None:
    """A newcomer could not tell which of `uu..ssCCCssss` was which."""
    cells = [
        cell("gpt-4o", label, test, "not detected") for label in ("iris", "wine") for test in ("full_completion", "own")
    ]
    assert "from left to right: full_completion, own\n" in printed(document(cells))
    fewer = printed(document(cells[1:]))
    assert "from left to right: full_completion, own\n" in fewer
    assert "gpt-4o iris  ." in fewer  # a test that was not asked leaves its place empty
