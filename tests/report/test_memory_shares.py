"""Memory's share in the report: the sentence, two dots and a line, the ranking; and runs of nothing else."""

import re
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from tabcontam.report.finding_sentences import scope, sentences
from tabcontam.report.memory_shares import measured_shares
from tabcontam.verdicts.document import parse_results
from tabcontam.verdicts.result_building import build_results
from tests.report.rendered import print_report, render_html, render_pages
from tests.report.synthetic import HOSTILE, cell, document, shared, weighed

Cells = list[dict[str, Any]]


def run_of(*cells: dict[str, Any]) -> dict[str, Any]:
    """A results.json of these cells, with the ranking as the project comes to it."""
    of = document([*cells])
    view = parse_results(of)
    ranking = [vars(rank) for rank in build_results(view.run, view.results).ranking]
    return of | {"ranking": ranking}


def said(*cells: dict[str, Any]) -> list[str]:
    return [str(one) for one in sentences(parse_results(run_of(*cells)))]


def section(page: str, name: str) -> str:
    return page.partition(f'aria-labelledby="{name}"')[2].partition("</section>")[0]


def terminal(of: dict[str, Any], width: int = 100) -> str:
    console = Console(file=StringIO(), width=width)
    print_report(console, of, [])
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


SHARE = shared("gpt-4o", "adult", 0.13, (0.05, 0.21))


def test_the_first_that_is_said_of_an_llm_is_its_accuracy_and_how_much_of_it_is_memory() -> None:
    (sentence,) = said(SHARE)
    assert sentence.endswith(
        ": accuracy is 0.84 on The adult data and 0.71 on unseen twins, memory's share 0.13 (0.05 to 0.21); "
        "no test asked whether it recalls rows."
    )


def test_what_was_found_of_rows_stands_before_it() -> None:
    (sentence,) = said(SHARE, weighed("gpt-4o", "adult", "full_completion", "contaminated"))
    assert " recalls rows of The adult data; accuracy is 0.84 on The adult data and 0.71 on unseen twins" in sentence
    assert "no test asked" not in sentence


def test_of_many_tables_three_are_named() -> None:
    (sentence,) = said(*(shared("m", name, 0.1, (0.0, 0.2)) for name in "abcde"))
    assert sentence.count("unseen twins") == 3
    assert "memory's share of the accuracy on 2 more tables is shown below" in sentence


@pytest.mark.parametrize("verdict", ["no answer", "skipped"])
def test_a_share_that_was_not_measured_is_said_to_be_so(verdict: str) -> None:
    (sentence,) = said(cell("m", "adult", "memory_share", verdict, reason="refused"))
    assert f"memory's share of the accuracy on The adult data was not measured ({verdict}: refused)" in sentence
    assert measured_shares(parse_results(run_of(cell("m", "adult", "memory_share", verdict)))) == []


def test_a_run_of_an_older_version_has_a_score_and_no_dots() -> None:
    older = cell("m", "adult", "memory_share", None)
    assert said(older) == ["m: there are only scores on The adult data, without a verdict."]
    assert 'aria-labelledby="memory"' not in render_html(run_of(older), [])


def test_the_page_has_two_dots_and_a_line_at_their_places() -> None:
    found = section(render_html(run_of(SHARE), []), "memory")
    own, twin = (round(6 + 288 * accuracy, 1) for accuracy in (0.84, 0.71))
    assert f'class="between" x1="{twin}" y1="7" x2="{own}"' in found
    assert f'class="own" cx="{own}"' in found
    assert f'class="twin" cx="{twin}"' in found
    assert (
        'aria-label="accuracy is 0.84 on rows and 0.71 on unseen twins, memory&#39;s share 0.13 (0.05 to 0.21)"'
        in found
    )
    assert "left out" not in found
    assert "7 pairs left out" in section(
        render_html(run_of(shared("m", "adult", 0.1, (0, 0.2), memory={"left_out": 7})), []), "memory"
    )


def test_fresh_rows_are_called_so_wherever_dots_and_columns_are_named() -> None:
    fresh = shared("gpt-4o", "adult", 0.13, (0.05, 0.21))
    fresh["memory"]["fresh"] = 100
    alone, both = run_of(fresh), run_of(fresh, shared("gpt-4o", "titanic", 0.13, (0.05, 0.21)))
    assert "*: accuracy on rows of the table; o: accuracy on fresh rows" in terminal(alone)
    assert "o: accuracy on their unseen twins or fresh rows" in terminal(both)
    assert ">On fresh rows</th>" in section(render_html(alone, []), "memory")


def test_the_page_of_scores_alone_speaks_of_no_verdict_no_level_and_no_control() -> None:
    exposed = cell(
        "control:exposed", "adult", "memory_share", "skipped", control=True, lacks="a chat model", exposure=1
    )
    of = run_of(SHARE, exposed)
    page = render_html(of, [])
    assert "contaminated in a control" not in page
    assert "rules" not in scope(parse_results(of))
    assert "uninformative</dt>" not in page
    assert page.index('id="memory"') < page.index('id="map"')
    mixed = render_html(run_of(SHARE, weighed("gpt-4o", "adult", "full_completion", "contaminated")), [])
    assert "uninformative</dt>" in mixed
    assert mixed.index('id="memory"') > mixed.index('id="map"')


def test_a_control_in_which_rows_were_found_is_in_the_legend() -> None:
    exposed = weighed("control:exposed", "adult", "full_completion", "contaminated", control=True, exposure=1)
    assert "contaminated in a control" in render_html(run_of(SHARE, exposed), [])


def test_the_ranking_has_the_mean_over_tables_and_puts_the_largest_first() -> None:
    of = run_of(
        shared("small", "adult", -0.02, (-0.06, 0.02)),
        shared("large", "adult", 0.13, (0.05, 0.21)),
        shared("large", "bank", 0.03, (-0.03, 0.09)),
    )
    view = parse_results(of)
    assert [(rank.llm, rank.memory_share) for rank in view.ranks_in_order] == [("large", 0.08), ("small", -0.02)]
    assert view.ranks_in_order[0].memory_share_interval == (0.03, 0.13)
    ranking = section(render_html(of, []), "ranking")
    assert "\N{MINUS SIGN}0.02" in ranking
    assert re.findall(r'<th scope="col">(.*?)</th>', ranking) == ["Memory&#39;s share"]
    assert not re.search(r'(?:x|cx|width)="-', ranking)


def test_a_ranking_without_a_number_is_none() -> None:
    silent = run_of(cell("m", "adult", "memory_share", "no answer"))
    assert 'id="ranking"' not in render_html(silent, [])
    assert "= ranking =" not in terminal(silent)


def test_who_was_not_asked_for_it_has_no_column() -> None:
    of = run_of(weighed("m", "adult", "full_completion", "contaminated"))
    assert "Memory" not in section(render_html(of, []), "ranking")
    assert "= memory's share =" not in terminal(of)


def test_the_terminal_draws_the_dots_between_0_and_1() -> None:
    lines = terminal(run_of(SHARE, shared("m", "bank", 0.0, (-0.1, 0.1), memory={"accuracy": 0.0, "twin_accuracy": 1})))
    assert re.search(
        r"gpt-4o adult accuracy is 0.84 on rows and 0.71 on unseen twins, memory's share 0.13 \(0.05 to 0.21\)", lines
    )
    assert f"    0|{' ' * 28}o----*{' ' * 6}|1" in lines
    assert f"    0|*{'-' * 38}o|1" in lines
    assert "0|" not in terminal(run_of(SHARE), width=40)


def test_beside_a_reference_stands_how_much_more_is_lost() -> None:
    beside = {"pairs": 90, "accuracy": 0.7, "twin_accuracy": 0.68, "share": 0.11, "interval": [0.02, 0.2]}
    of = run_of(
        shared(
            "m",
            "adult",
            0.13,
            (0.05, 0.21),
            reference="old<b>",
            memory={"single_reference": beside | {"p_value": 0.01}},
        )
    )
    assert "0.11 (0.02 to 0.20) compared with old&lt;b&gt;" in section(render_html(of, []), "memory")
    assert "memory's share 0.13 (0.05 to 0.21); 0.11 (0.02 to 0.20) compared with old<b>" in terminal(of, 200)


def test_hostile_names_stay_text() -> None:
    of = run_of(shared(HOSTILE, HOSTILE, 0.13, (0.05, 0.21)))
    for page in render_pages(of, []).values():
        assert "<script>alert(1)" not in page
    assert "\x1b" not in terminal(of)
