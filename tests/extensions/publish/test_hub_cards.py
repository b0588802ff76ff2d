"""Sections for model and dataset cards: whose they are, what they rest on, and no word of a stranger as markup."""

from typing import Any

from tabcontam.extensions.publish.hub_cards import render_dataset_card, render_model_card
from tabcontam.verdicts.document import parse_results
from tests.report.synthetic import HOSTILE, document, table, weighed

LLMS = (("a", "hf:org/a", "0f1e"), ("b", "ollama:b", None))


def run(**changes: Any) -> dict[str, Any]:
    llms = [{"spec": spec, "stands_for": stands_for, "version": version} for spec, stands_for, version in LLMS]
    tables = [
        table("a", "iris", "contaminated"), table("a", "wine", "not detected"), table("b", "iris", "not detected"),
    ]  # fmt: skip
    cells = [weighed(one["llm"], one["dataset"], "full_completion", one["verdict"]) for one in tables]
    of = document(cells, tables, llms=llms, started="2026-11-23T04:00:00+00:00", **changes)
    of["run"]["datasets"] = [
        {"name": name, "title": name, "edition": "uci", "sha256": "ab" * 32} for name in ("iris", "wine")
    ]
    return of


def test_a_model_card_has_the_tables_of_one_llm() -> None:
    first, second = render_model_card(parse_results(run())).split("<!-- for the card of ")[1:]
    assert first.startswith(
        "org/a -->\n\n## Contamination with tabular data\n\nThe model was asked as `a`, version `0f1e`, with"
    )
    assert "on 2026-11-23. Contaminated: the baseline does not explain" in first
    assert f"| `iris` | `uci` | `{'ab' * 32}` | **contaminated** | 2.4e-40 | 12% |" in first
    assert "| `wine` |" in first
    assert second.startswith("b -->")
    assert "`wine`" not in second
    assert "Not detected does not mean unseen" in second


def test_a_dataset_card_has_the_llms_of_one_table() -> None:
    first, second = render_dataset_card(parse_results(run())).split("<!-- for the card of ")[1:]
    assert first.startswith(
        f"iris -->\n\n## LLMs that have seen this table\n\nThis table (edition `uci`, SHA-256 `{'ab' * 32}`)"
    )
    assert "| `a` | `0f1e` | **contaminated** |" in first
    assert "| `b` |  | not detected |" in first
    assert "| `b` |" not in second


def test_the_papers_rules_claim_no_level() -> None:
    shown = render_model_card(parse_results(run(rules="paper")))
    assert "no known error rate" in shown
    assert "Benjamini" not in shown


def test_controls_that_joined_have_no_card() -> None:
    of = run()
    for part in (*of["results"], *of["run"]["llms"]):
        part["control"] = part.get("llm", part.get("spec")) == "b"
    assert "for the card of b" not in render_model_card(parse_results(of))


def test_hostile_names_stay_names() -> None:
    evil = f"{HOSTILE} --> ## gone\n# gone | `x`"
    of = document([weighed(evil, evil, "full_completion", "contaminated")], [table(evil, evil, "contaminated")])
    for shown in (render_model_card(parse_results(of)), render_dataset_card(parse_results(of))):
        assert [line for line in shown.splitlines() if line.startswith("#")] == [
            line for line in shown.splitlines() if line.startswith("## ") and "gone" not in line
        ]
        assert all(
            line.count("-->") == 1 and line.endswith("-->") for line in shown.splitlines() if line.startswith("<!--")
        )


def test_a_run_without_verdicts_on_tables_says_so() -> None:
    assert render_model_card(parse_results(document([]))) == "<!-- no LLM was judged on a table -->\n"
