"""What a square shows is what its cell says."""

import pytest

from tabcontam.report.heatmap_squares import levels_shown, sign, sources_shown, spoken_name, strength
from tabcontam.report.published_marks import marks, published, sources
from tabcontam.report.standings import Titles
from tabcontam.verdicts.document import parse_results
from tabcontam.verdicts.result_types import Result
from tests.report.synthetic import cell, document, weighed


def only(**given: object) -> Result:
    return parse_results(document([given])).results[0]


def strength_of(**given: object) -> int:
    view = parse_results(document([given]))
    return strength(view, view.results[0])


@pytest.mark.parametrize(
    ("bits", "level"), [(None, 0), (-3, 1), (0, 1), (15.9, 1), (16, 2), (64, 3), (256, 4), (1024, 5), (1e9, 5)]
)
def test_each_step_of_strength_is_four_times_the_one_before(bits: float | None, level: int) -> None:
    assert strength_of(**weighed("m", "iris", "full_completion", "contaminated", recalled_bits=bits)) == level


def test_only_what_a_row_test_found_has_a_strength() -> None:
    assert strength_of(**weighed("m", "iris", "full_completion", "not detected")) == 0
    assert strength_of(**cell("m", "iris", "feature_list_informed", "contaminated", recalled_bits=99)) == 0


def test_a_score_is_its_own_sign() -> None:
    assert sign(only(**cell("m", "iris", "membership", None, score=0.756))) == "0.76"
    assert sign(only(**cell("m", "iris", "membership", None, score=None))) == "%"
    assert sign(only(**cell("m", "iris", "membership", "skipped"))) == "s"


def test_the_spoken_name_has_all_that_the_square_shows() -> None:
    of = document(
        [
            weighed("gpt-4", "iris", "full_completion", "contaminated", recalled_bits=1234.5),
            cell("gpt-4", "iris", "classification_0shot", None, score=0.9),
            weighed("unknown", "iris", "full_completion", "contaminated"),
        ],
        catalogue={"gpt-4": {"name": "gpt-4", "title": "GPT-4", "family": "gpt", "order": 2}},
    )
    view = parse_results(of)
    names = [spoken_name(view, Titles(view), one) for one in view.results]
    told = [
        f"{mark.source.name}: {'contaminated' if mark.found else 'not detected'}"
        for mark in marks("gpt-4", "iris", "full_completion")
    ]
    assert told  # the paper has this cell
    assert names == [
        ", ".join(["GPT-4, iris, 8 Full completion: contaminated, 1,234 bits recalled", *told]),
        "GPT-4, iris, Classification, 0-shot: scored, 0.90",
        "unknown, iris, 8 Full completion: contaminated, 212 bits recalled",
    ]
    assert published(view, view.results[2]) == ()
    assert set(sources_shown(view)) <= set(sources())
    assert len(levels_shown(view)) == 5
