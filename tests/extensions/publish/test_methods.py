"""The methods paragraphs: every number is of the run, and what a run did not do is not claimed."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tabcontam.extensions.publish.citations import RONVAL, render_bibtex, software
from tabcontam.extensions.publish.methods_text import latex_methods, markdown_methods
from tabcontam.verdicts.document import parse_results
from tabcontam.verdicts.run_facts import MergedRun
from tests.commands import tabcontam
from tests.extensions.publish.test_latex_tables import EVIL, check_source
from tests.report.synthetic import HOSTILE, cell, document, table, weighed


def said(of: dict[str, Any]) -> str:
    return markdown_methods(parse_results(of))


def judged(**run: Any) -> dict[str, Any]:
    return document(
        [weighed("a", "iris", "full_completion", "not detected")], [table("a", "iris", "not detected")], **run
    )


@pytest.mark.slow
def test_it_says_who_was_asked_what_and_when(tmp_path: Path) -> None:
    asked = ("--llm", "simulated:guesser", "--dataset", "iris", "-k", "completion", "--queries", "9", "--seed", "3")
    assert tabcontam("run", *asked, "--out", "run", "-q", cwd=tmp_path).returncode == 0
    shown = tabcontam("report", "run", "--format", "markdown", "--methods", cwd=tmp_path).stdout
    run = json.loads((tmp_path / "run" / "results.json").read_text("utf-8"))
    own = [one for one in run["results"] if not one["control"]]
    planned, answered = (sum(one[name] for one in own) for name in ("queries", "answered"))
    digest = run["run"]["datasets"][0]["sha256"]
    for part in (
        f"With tabcontam {run['run']['version']} \\[1\\], on Python {run['run']['versions']['python']}, we tested 1 ",
        f"starting on {run['run']['started'][:10]}: `simulated:guesser` (version `1`).",
        f"`iris` (edition `scikit-learn`, 150 rows, 5 columns, SHA-256 `{digest}`)",
        " ask about rows, and can show that they were seen.",
        f"{planned} queries were planned, and {answered} answers could be read.",
        "The level is 0.01 over the results of each LLM",
        "control:exposed, which has read the table, was detected by the row tests in",
        "The seed is 3;",
        f"2. {', '.join(RONVAL.authors)} (2024): {RONVAL.title}.",
    ):
        assert part in shown
    assert "classification" not in shown.lower()


def test_a_run_until_decided_says_after_how_many_queries() -> None:
    tables = [
        table(llm, "iris", "not detected", decided_after=after, sequential_queries=60)
        for llm, after in (("a", 9), ("b", 31))
    ]
    shown = said(document(judged()["results"], tables, until_decided=0.25))
    assert "asked in turns until a table was decided or an LLM that remembers 25% of its rows" in shown
    assert ": 9 to 31 of 60 queries." in shown


def test_the_papers_rules_claim_no_error_rate() -> None:
    shown = said(judged(rules="paper"))
    assert "their error rate is not known" in shown
    assert "Benjamini" not in shown
    assert "The level" not in shown


def test_a_run_without_row_tests_can_show_no_rows() -> None:
    shown = said(document([cell("a", "iris", "feature_list_informed", "contaminated")]))
    assert "No row test was asked, so nothing here can show that rows were seen." in shown
    assert "rests on its row tests" not in shown


def test_a_run_that_was_cut_short_says_so() -> None:
    whole = parse_results(judged(finished=False))
    shown = markdown_methods(replace(whole, results=tuple(replace(one, cut_short=True) for one in whole.results)))
    assert "For 1 result not every query was asked." in shown
    assert "Note: not finished: not every query was asked." in shown
    assert "the same command" not in shown


def test_without_controls_it_says_so() -> None:
    assert "No control was run." in said(judged())


def test_merged_runs_have_all_their_days() -> None:
    whole = parse_results(judged())
    runs = tuple(MergedRun(folder=name, started=f"2026-0{name}-02T10:00:00+00:00") for name in "37")
    shown = markdown_methods(replace(whole, run=replace(whole.run, runs=runs)))
    assert ", from 2026-03-02 to 2026-07-02: `a`" in shown


def test_recorded_answers_have_no_tables_and_no_llms_facts() -> None:
    of = document([cell("gpt4", "iris", "full_completion", "not detected", serializer=None, edition=None)])
    del of["run"]["llms"]
    assert "we tested 1 LLM for contamination with tabular data" in said(of)


def with_judges(*judges: dict[str, Any], **run: Any) -> dict[str, Any]:
    return judged(**run) | {"judges": list(judges)}


def judging(by: str, **changes: Any) -> dict[str, Any]:
    words = {"near-exact": 2, "no match": 7}
    return {"by": by, "person": False, "judged": 9, "unjudged": 1, "words": words, "made": []} | changes


def pairs_made(word: str, pairs: int, right: int, **changes: Any) -> dict[str, Any]:
    return {"word": word, "pairs": pairs, "right": right, "unjudged": 0} | changes


def test_it_says_which_llm_judged_how_often_and_how_often_it_errs() -> None:
    made = [pairs_made("near-exact", 20, 18), pairs_made("no match", 20, 20, begging=4, led=1)]
    people = [judging(name, person=True, judged=count, unjudged=0) for name, count in (("Ida", 9), ("Max", 20))]
    of = with_judges(judging("gpt-x", made=made), *people, judge={"spec": "gpt-x", "version": "2026-01"})
    shown = said(of)
    assert (
        "was judged by an LLM, `gpt-x` (version `2026-01`): of 10 completions it called 2 near-exact and 7 no match "
        "and gave no answer for 1. Its error rate was measured on pairs of known likeness, which are easier: it "
        "labelled 38 of 40 made pairs right (wrong on 2 of 20 near-exact; misled by 1 of 4 that ask for another "
        "label). "
        "2 people judged 9 to 20 completions each, without knowing who wrote them."
    ) in shown
    assert "Ida" not in shown
    assert "gpt-x" in latex_methods(parse_results(of))
    assert "judged" not in said(judged()).replace("was judged by the rules", "")


def test_a_judge_without_made_pairs_or_completions_says_so() -> None:
    assert "Its error rate was not measured." in said(with_judges(judging("gpt-x")))
    shown = said(judged(judge={"spec": "gpt-x"}))
    assert "An LLM, `gpt-x`, was to judge which completions match; it was asked about none." in shown


def test_of_recorded_answers_the_judge_is_no_llm_of_the_run() -> None:
    whole = parse_results(with_judges(judging("the recorded judge")))
    shown = markdown_methods(replace(whole, run=replace(whole.run, recorded=True)))
    assert "As recorded, an LLM had judged which completions match: of 10 completions" in shown
    assert "recorded judge" not in shown


def test_a_learned_overlap_is_named() -> None:
    shown = said(judged(overlap="bleurt:org/model"))
    assert "texts were compared by `bleurt:org/model`, not ROUGE-L." in shown
    assert "ROUGE" not in said(judged())


def test_hostile_names_stay_names() -> None:
    of = document([weighed(HOSTILE, HOSTILE, "full_completion", "contaminated")])
    assert "<script>" not in said(of).replace("`<script>alert(1)</script>", "")
    source = latex_methods(
        parse_results(document([weighed(EVIL, EVIL, "full_completion", "contaminated")], dictionary=EVIL))
    )
    check_source(source)


def test_the_version_that_is_cited_is_the_runs() -> None:
    assert software("9_9").bibtex in render_bibtex(parse_results(judged(version="9_9")))
    written = render_bibtex(parse_results(judged(version=EVIL)))
    assert written.isascii()
    assert written.count("{") == written.count("}")


def test_papers_whose_tests_were_asked_are_cited() -> None:
    asked = [weighed("gpt4", "iris", test, "not detected") for test in ("full_completion", "guided_completion", "quiz")]
    of = document(asked)
    assert "Tests without a number follow \\[3\\] and \\[4\\]." in said(of)
    written = render_bibtex(parse_results(of))
    assert [key in written for key in ("golchin2024time", "golchin2025quiz", "bordt2024elephants")] == [1, 1, 0]


@pytest.mark.parametrize("rules", ["calibrated", "paper"])
def test_every_work_that_is_cited_has_an_entry(rules: str) -> None:
    view = parse_results(judged(rules=rules))
    keys = [line.split("{")[1].rstrip(",") for line in render_bibtex(view).splitlines() if line.startswith("@")]
    source = latex_methods(view)
    assert all(f"\\cite{{{key}}}" in source for key in keys)
