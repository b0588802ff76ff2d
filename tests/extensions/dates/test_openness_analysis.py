"""Contamination by openness and size: an LLM is one observation, and of few nothing is said."""

from collections.abc import Mapping

from tabcontam.extensions.dates.openness_analysis import OpennessAnalysis, openness
from tabcontam.extensions.dates.openness_plots import openness_sentences
from tabcontam.models.catalogue import load_catalogue
from tabcontam.verdicts.document import parse_results
from tabcontam.verdicts.results import RunResults
from tests.report.rendered import pages_of
from tests.report.synthetic import cell, document, table

CLOSED = ("gpt-3.5-turbo", "gpt-4", "gpt-4o", "gpt-4.1", "gpt-5")
WEIGHTS = ("llama-3.2-1b-instruct", "llama-3.2-3b-instruct", "llama-3.1", "qwen2.5-0.5b", "qwen2.5-1.5b", "qwen2.5-7b")
FACTS = ("name", "title", "family", "order")


def results(scores: Mapping[str, float]) -> RunResults:
    """LLMs with these scores; rows of a table are found where it is above a half."""
    catalogue = {llm: load_catalogue()[llm] for llm in scores if llm in load_catalogue()}
    found = {llm: "contaminated" if score > 0.5 else "not detected" for llm, score in scores.items()}
    held = document(
        [cell(llm, "iris", "full_completion", verdict) for llm, verdict in found.items()],
        [table(llm, "iris", verdict) for llm, verdict in found.items()],
        catalogue={llm: {fact: getattr(entry, fact) for fact in FACTS} for llm, entry in catalogue.items()},
    )
    ranking = [{"llm": llm, "score": score, "score_interval": [0.0, 1.0]} for llm, score in scores.items()]
    return parse_results({**held, "ranking": ranking})


def found(view: RunResults) -> OpennessAnalysis:
    told = openness(view)
    assert told is not None
    return told


HIGH = {llm: 0.9 - 0.01 * place for place, llm in enumerate(CLOSED)}
LOW = {llm: 0.1 + 0.1 * place for place, llm in enumerate(WEIGHTS)}
EVERY = results(HIGH | LOW | {"tidal": 0.3, "gpt-j": 0.0})


def test_kinds_are_told_where_there_are_five_llms() -> None:
    told = found(EVERY)
    assert [(kind.name, len(kind.llms), kind.conclusive) for kind in told.kinds] == [
        ("closed", 5, True),
        ("semi-open", 6, True),
        ("open", 1, False),
    ]
    closed, weights, _ = told.kinds
    assert (closed.contaminated, closed.decided) == (5, 5)
    assert closed.interval is not None
    assert round(closed.interval[0], 2) == 0.48
    assert weights.contaminated == 1
    (one,) = told.differences
    assert (one.first, one.second) == ("closed", "semi-open")
    assert one.p_value < 0.01
    assert told.unknown == ("tidal",)


def test_sizes_are_compared_within_families_alone() -> None:
    told = found(EVERY)
    assert {line[0].family: [one.size for one in line] for line in told.families} == {
        "llama": [1, 3, 8],
        "qwen": [0.5, 1.5, 7],
    }
    assert told.steps[:2] == (4, 0)


def test_of_few_nothing_is_said() -> None:
    said = " ".join(openness_sentences(EVERY))
    assert "5 closed LLMs have a mean score of 0.88; rows of some table were detected in 5 of 5" in said
    assert "1 open LLM has no mean, which needs at least 5 of a kind" in said
    assert "4 steps from one size to the next within families: that is too few to show whether size matters." in said
    few = results({"gpt-4": 0.9, "llama-2": 0.1, "gpt-j": 0.0})
    assert openness_sentences(few)[0] == "Closed: GPT-4; semi-open: Llama 2; open: GPT-J."
    assert not found(few).differences
    assert all(kind.interval is None for kind in found(few).kinds)
    assert "mean score" not in " ".join(openness_sentences(few))


def test_the_page_has_both_figures_and_the_kind_beside_the_name() -> None:
    page = pages_of(EVERY, [])["index.html"]
    assert '<h2 id="openness">' in page
    assert "Contamination by openness</title>" in page
    assert "Contamination by size within families</title>" in page
    assert '<span class="interval">semi-open</span>' in page


def test_a_run_without_two_llms_of_the_catalogue_has_no_such_section() -> None:
    alone = results({"gpt-4": 0.9, "tidal": 0.1})
    assert openness(alone) is None
    assert '<h2 id="openness">' not in pages_of(alone, [])["index.html"]
    assert openness_sentences(alone) == ()
