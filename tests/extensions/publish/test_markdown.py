"""Markdown: what GitHub and GitLab make of it, and that no name or answer becomes more than text there."""

from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tabcontam.extensions.publish.markdown import code, prose
from tabcontam.verdicts.wording import visible
from tests.extensions.publish.rendered_publications import render_markdown
from tests.report.synthetic import HOSTILE, cell, document, facts_of, results, table, weighed

EVIL = [
    HOSTILE,
    "a | b || c",
    "`code` ``two`` ` ",
    "*em* **strong** _em_ ~~gone~~",
    "[here](https://evil.example) [there](evil) ![x](//evil.example/x.png) <https://evil.example>",
    "https://evil.example www.evil.example http://a.b ftp://c.d mailto:me",
    "@octocat, #1 !2 $3 %4 ~5 &6 GH-7 me@evil.example :tada: $x^2$ $`x`$ \\(x\\)",
    "<img src=x onerror=alert(1)> <!-- gone --> &lt;b&gt; &#42;x&#42;",
    "# head\n\n---\n- item\n> quote\n```\nfence\n1. one\n| a |\n|---|\n[x]: https://evil.example",
    "\\| \\` \\",
    "   ",
    "",
]
HARMLESS = {
    "inline", "text", "code_inline", "strong_open", "strong_close", "paragraph_open", "paragraph_close",
    "heading_open", "heading_close", "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close",
    "table_open", "table_close", "thead_open", "thead_close", "tbody_open", "tbody_close", "tr_open", "tr_close",
    "th_open", "th_close", "td_open", "td_close",
}  # fmt: skip


def tokens(source: str) -> list[Token]:
    """The source as a renderer with tables, strikethrough and raw HTML reads it, inline tokens after their block."""
    blocks = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(source)
    return [token for block in blocks for token in (block, *(block.children or ()))]


def shown(source: str) -> str:
    """What a reader sees of it."""
    return "".join(token.content for token in tokens(source) if token.type in ("text", "code_inline"))


def rows(source: str) -> list[list[str]]:
    """The rows of all tables."""
    found: list[list[str]] = []
    for token in tokens(source):
        if token.type == "tr_open":
            found.append([])
        elif token.type in ("th_open", "td_open"):
            found[-1].append("")
        elif token.type in ("text", "code_inline") and found and found[-1]:
            found[-1][-1] += token.content
    return found


def evil(words: str) -> dict[str, Any]:
    """Results that are all made of `words`."""
    verdicts = ("contaminated", "not detected", "uninformative", "no answer", "skipped", None)
    texts = {"sentence": words, "reason": words, "edition": words}
    cells = [cell(words, f"{number}{words}", words, verdict, **texts) for number, verdict in enumerate(verdicts)]
    of = document(
        cells, [table(words, words, "contaminated", reason=words)], command=words, dictionary=words, version=words
    )
    names = {"kind": "runs", "first": words, "second": words, "llm": words, "dataset": words, "serializer": words}
    of["comparisons"] = [names | {"edition": words, "test": words, "change": "same", "beyond_chance": True}]
    of["correlations"] = [{"first": "score", "second": "one_shot", "llms": 2}]
    of["run"]["catalogue"] = {words: {"name": words, "title": words, "family": words, "order": 1}}
    return of


@pytest.mark.parametrize("words", EVIL)
def test_hostile_texts_stay_text(words: str) -> None:
    source = render_markdown(evil(words))
    assert {token.type for token in tokens(source)} <= HARMLESS
    assert len([token for token in tokens(source) if token.type == "table_open"]) == 4
    assert {len(row) for row in rows(source)} <= {8, 7, 6, 5, 2}


@pytest.mark.parametrize("words", EVIL)
def test_what_a_page_would_link_or_replace_stands_in_code(words: str) -> None:
    for token in tokens(render_markdown(evil(words))):
        if token.type == "text":
            assert not any(sign in token.content for sign in ("@", "#", "$", "://", "www.", ":tada:", "GH-", "~5"))


@given(st.text())
def test_a_name_is_shown_as_it_is(name: str) -> None:
    line = visible(name, line=True)
    assert shown(f"x {code(name)} x").removeprefix("x ").removesuffix(" x") == line


@given(st.text())
def test_a_sentence_is_shown_word_for_word(sentence: str) -> None:
    assert shown(f"x {prose(sentence)}").split()[1:] == visible(sentence, line=True).split()


@given(st.text(alphabet="`| \\ab<*_[]()", max_size=12))
def test_a_name_is_one_cell_of_a_table(name: str) -> None:
    source = f"| a | b |\n| --- | --- |\n| {code(name)} | {prose(name)} |\n"
    assert [len(row) for row in rows(source)] == [2, 2]
    assert "".join(rows(source)[1][0].split()) == "".join(visible(name, line=True).split())


def test_ordinary_sentences_stay_prose() -> None:
    sentence = "25 of 44 cut rows are right (p = 7.2e-45), d' 2.0 [0.59, 0.83]: 78% said Yes; under <0.01"
    assert "`" not in prose(sentence).replace("`<0.01`", "")
    assert shown(prose(sentence)) == sentence


def test_what_was_found_of_each_llm_is_a_sentence() -> None:
    of = document(
        [
            weighed("gpt-4o", "iris", "full_completion", "contaminated"),
            weighed("t0", "iris", "full_completion", "not detected"),
        ],
        [table("gpt-4o", "iris", "contaminated"), table("t0", "iris", "not detected")],
    )
    of["run"]["catalogue"] = {"gpt-4o": {"name": "gpt-4o", "title": "GPT-4o", "family": "gpt", "order": 1}}
    found = render_markdown(of).split("## Findings")[1].split("##")[0].split("\n")
    assert found[2].startswith("- GPT-4o (`gpt-4o`) recalls rows of The iris data")
    assert found[3].startswith("- `t0`: no rows were detected on The iris data, where ")


def test_every_cell_stands_in_the_heatmap_of_its_llm() -> None:
    of = document([
        weighed("gpt-4o", "iris", "full_completion", "contaminated"),
        cell("gpt-4o", "wine", "full_completion", "not detected"),
        cell("gpt-4o", "iris", "feature_list_informed", "contaminated"),
        cell("gpt-4o", "iris", "membership", None),
        cell("gpt-4o", "iris", "feature_completion", "no answer"),
        cell("gpt-4o", "iris", "own_test", "skipped", kind="knowledge"),
    ])  # fmt: skip
    heatmap = rows(render_markdown(of).split("## Heatmap")[1].split("## Ranking")[0])
    assert heatmap == [
        ["Kind", "Test", "iris", "wine"],
        ["knowledge", "1 Feature list, informed", "C", ""],
        ["", "own_test", "s", ""],
        ["memorization", "8 Full completion", "C 212", "."],
        ["", "9 Feature completion", "?", ""],
        ["membership", "Membership", "0.52", ""],
    ]


def test_the_tables_verdicts_with_their_numbers() -> None:
    source = render_markdown(results(["control:exposed", "gpt-4o"], ["iris", "wine"]))
    found = rows(source.split("## Tables")[1].split("## Heatmap")[0])
    assert found[1] == [
        "gpt-4o",
        "iris",
        "not detected",
        "a model that remembers 12% of the rows would have been detected",
        "0.95",
        "8.2",
        "12%",
    ]
    assert [row[0] for row in found[1:]] == [
        "gpt-4o",
        "gpt-4o",
        "control:exposed (control)",
        "control:exposed (control)",
    ]


def test_the_ranking_with_intervals_and_majorities() -> None:
    of = results(["a", "b"], ["iris"])
    of["ranking"][0] |= {"score_interval": [0.31, 0.78], "zero_shot_interval": [0.5, 0.7], "zero_shot_majority": 0.6}
    of["correlations"] = [
        {"first": "score", "second": "zero_shot", "llms": 10, "value": 0.71, "interval": [0.2, 0.9], "p_value": 0.02},
        {"first": "score", "second": "membership", "llms": 3, "value": None, "interval": None, "p_value": None},
    ]
    section = render_markdown(of).split("## Ranking")[1]
    assert rows(section)[1] == ["a", "0.50 (0.31 to 0.78)", "0.52", "0.61 (0.50 to 0.70, majority 0.60)", ""]
    told = shown(section)
    assert "Over 10 LLMs, Spearman's rho of contamination and 0-shot accuracy is 0.71 (0.20 to 0.90), p = 0.02." in told
    assert "3 LLMs are too few to show whether contamination goes together with membership." in told


def test_the_comparisons_that_changed_are_listed_and_the_others_counted() -> None:
    same = {
        "kind": "versions", "first": "llama2", "second": "llama3", "llm": "", "dataset": "iris", "edition": "uci",
        "serializer": "is", "test": "membership", "first_verdict": None, "second_verdict": None, "first_share": 0.0,
        "second_share": 0.4, "queries": 45, "p_value": 0.5, "q_value": 0.5, "beyond_chance": False, "change": "same",
    }  # fmt: skip
    of = results(["a"], ["iris"])
    of["run"]["tests"] += [asdict(one) for one in facts_of({"own": "membership"})]
    of["comparisons"] = [
        same,
        same | {"test": "full_completion", "change": "appeared", "beyond_chance": True, "q_value": 0.001},
        same | {"test": "own", "change": "same", "beyond_chance": True},
        same | {"change": "unknown"},
        same | {"kind": "runs"},
    ]
    source = render_markdown(of)
    section = source.split("## Versions side by side")[1].split("## Runs")[0]
    assert "Of 4 scores" in shown(section)
    assert rows(section) == [
        ["First", "Second", "Table", "Test", "Change", "Right answers"],
        ["llama2", "llama3", "iris@uci is", "full_completion", "appeared", rows(section)[1][5]],
        ["llama2", "llama3", "iris@uci is", "own", "scored and scored", rows(section)[2][5]],
    ]
    assert "of the same 45 queries" in rows(section)[1][5]
    assert rows(source.split("## Runs")[1]) == []


def test_the_controls_and_the_notes_are_told() -> None:
    of = results(["control:exposed", "a"], ["iris"], finished=False)
    told = shown(render_markdown(of))
    assert "Note: not finished" in told
    assert "Warning: no power: control:exposed, which has read the table, was missed by" in told


@pytest.mark.slow
def test_no_cells_and_many() -> None:
    assert "Nothing was asked." in render_markdown(document([]))
    many = render_markdown(results([f"m{n}" for n in range(30)], [f"d{n}" for n in range(15)]))
    assert sum(len(row) - 2 for row in rows(many.split("## Heatmap")[1].split("## Ranking")[0])) == 30 * 15 * 14


def test_the_same_results_write_the_same_text() -> None:
    assert render_markdown(results(["a"], ["iris"])) == render_markdown(results(["a"], ["iris"]))
