"""The ranking on the page: numbers with their intervals, and a plot that reads without being seen."""

import re
from dataclasses import replace
from html import unescape
from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import pytest

from tabcontam.report import ranking
from tabcontam.report.ranking import LETTER, LINE, RankingPlot, RankingPoint, context
from tabcontam.verdicts.document import as_document, parse_results
from tabcontam.verdicts.llm_ranking import COLUMNS, MEASURES, OTHER_SCORES, Rank, correlations
from tests.report.partials import part
from tests.report.synthetic import HOSTILE, cell, results


def ranked(llms: int, **changes: Any) -> dict[str, Any]:
    """A run whose ranking has every number; `changes` are of its first LLM."""
    names = [f"llm-{number}" for number in range(llms)]
    of = results(names, ["iris"])
    of["ranking"] = [
        {"llm": name, "score": score, "membership": 0.5, "zero_shot": 0.55 + score / 3, "one_shot": 0.8 - score / 2}
        | {"score_interval": [max(0, score - 0.2), score + 0.1], "membership_interval": [0.4, 0.6]}
        | {"zero_shot_interval": [0.5 + score / 3, 0.6 + score / 3], "one_shot_interval": [0.1, 0.9]}
        | {"zero_shot_majority": 0.62, "one_shot_majority": 0.62}
        for name, score in zip(names, (number / 40 for number in range(llms)), strict=True)
    ]
    of["ranking"][0] |= changes
    of["correlations"] = as_document(replace(parse_results(of), correlations=correlations(parse_results(of).ranking)))[
        "correlations"
    ]
    return of


def plots(of: dict[str, Any]) -> list[RankingPlot]:
    found: list[RankingPlot] = context(parse_results(of))["ranking_plots"]
    return found


def text(of: dict[str, Any]) -> str:
    """The words of the part, without its markup."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", part("ranking", of, context))))


def test_each_number_has_its_interval() -> None:
    words = text(ranked(2))
    for number in ("0.55 [0.50, 0.60]", "0.00 [0.00, 0.10]", "0.50 [0.40, 0.60]", "0.80 [0.10, 0.90]"):
        assert number in words


def test_an_accuracy_is_marked_against_the_majority_only_where_the_interval_says_so() -> None:
    words = text(ranked(12))
    assert "▼ 0.55 [0.50, 0.60]" in words
    assert "▲ 0.64 [0.59, 0.69]" not in words
    assert " 0.64 [0.59, 0.69]" in words
    assert words.count("▼") == 4  # three and the legend
    assert "Always the largest class 0.62 0.62" in words


def test_majorities_that_differ_are_told_from_which_to_which() -> None:
    assert "Always the largest class 0.62 0.51 to 0.62" in text(ranked(3, one_shot_majority=0.51))


def test_without_a_ranking_there_is_no_part() -> None:
    assert part("ranking", results(["m"], ["iris"]) | {"ranking": []}, context).strip() == ""


def test_a_ranking_of_an_older_run_has_its_numbers_alone() -> None:
    words = text(results(["m"], ["iris"]))
    assert "0.50" in words
    assert not any(sign in words for sign in ("[", "▲", "interval"))


def test_a_measure_that_no_llm_has_has_no_column() -> None:
    of = ranked(2)
    for line in of["ranking"]:
        line["one_shot"] = None
    assert "LLM Contamination Membership 0-shot 1" in text(of)


class TestOtherScores:
    def test_stand_beside_the_score_with_their_intervals_where_they_tell_more(self) -> None:
        of = ranked(2, score_all=0.2, score_all_interval=[0.1, 0.4], score_shared=0.7, score_shared_interval=[0.5, 0.9])
        of["ranking"][0]["shared_results"] = 14
        words = text(of)
        assert "LLM Contamination All results Shared results Membership 0-shot 1-shot" in words
        assert "0.20 [0.10, 0.40]" in words
        assert "0.70 [0.50, 0.90]" in words
        assert (
            "Shared results: contamination over the 14 results of the paper's tests that were decided for every"
            in words
        )

    def test_that_are_the_score_for_every_llm_are_left_out_and_a_line_says_so(self) -> None:
        of = ranked(2)
        for line in of["ranking"]:
            line |= {"score_all": line["score"], "score_shared": line["score"]}
        words = text(of)
        assert "LLM Contamination Membership" in words
        assert "Contamination is the same over all results and the results that all LLMs share." in words
        of["ranking"][1]["score_all"] = 0.5
        assert "LLM Contamination All results Membership" in text(of)
        assert "Contamination is the same over the results that all LLMs share." in text(of)

    def test_of_older_runs_are_neither_shown_nor_spoken_of(self) -> None:
        words = text(ranked(2))
        assert "All results" not in words
        assert "is the same over" not in words

    def test_every_column_is_a_field_with_an_interval(self) -> None:
        names = [column.name for column in COLUMNS]
        fields = vars(Rank(llm="m"))
        assert all(name in fields and f"{name}_interval" in fields for name in names)
        assert [name for name in names[:-1] if name not in OTHER_SCORES] == list(MEASURES)


def test_what_is_in_no_mean_is_named_once_with_its_reason() -> None:
    of = ranked(2)
    for one in of["results"]:
        if one["test"] == "classification_0shot":
            one |= {"verdict": None, "score": 0.4, "not_averaged": "its classes are codes"}
    assert text(of).count("The mean of 0-shot leaves out iris, since its classes are codes.") == 1


class TestCorrelations:
    def test_are_told_in_words(self) -> None:
        assert re.search(
            r"Over 5 LLMs, Spearman's rho of contamination and 0-shot accuracy is 1.00 \(-?0.\d\d to 1.00\), p = 0.017",
            text(ranked(5)),
        )

    def test_who_is_left_out_is_counted(self) -> None:
        assert "Over 5 LLMs (without 1 that lack one of both), Spearman's rho of contamination and 0-shot" in text(
            ranked(6, zero_shot=None)
        )

    def test_three_are_too_few_to_say(self) -> None:
        few = "3 LLMs are too few to show whether contamination goes together with 0-shot accuracy, 1-shot accuracy or"
        assert few in text(ranked(3))

    def test_where_all_are_the_same_nothing_is_claimed(self) -> None:
        assert "5 LLMs have the same contamination or the same membership, so there is nothing to correlate." in text(
            ranked(5)
        )


class TestPlots:
    def test_there_is_one_for_each_accuracy_that_was_measured(self) -> None:
        assert [plot.measure for plot in plots(ranked(3))] == ["zero_shot", "one_shot"]
        of = ranked(3)
        for line in of["ranking"]:
            line["one_shot"] = None
        assert [plot.measure for plot in plots(of)] == ["zero_shot"]

    def test_more_is_further_right_and_further_up(self) -> None:
        up, down = plots(ranked(10))
        points = sorted(up.points, key=lambda point: point.x)
        assert [point.name for point in points] == [f"llm-{number}" for number in range(10)]
        assert [point.y for point in points] == sorted((point.y for point in points), reverse=True)
        assert [point.y for point in sorted(down.points, key=lambda point: point.x)] == sorted(
            point.y for point in down.points
        )

    def test_everything_that_is_drawn_stands_inside(self) -> None:
        for plot in plots(ranked(30, one_shot=0.0, one_shot_interval=[0.0, 0.01])):
            for point in plot.points:
                heights = [point.y, *(point.vertical or ()), *([] if point.majority is None else [point.majority])]
                assert all(ranking.AREA.top <= y <= ranking.AREA.bottom for y in heights)
                sides = [point.x, *(point.horizontal or ())]
                assert all(ranking.AREA.left <= x <= ranking.AREA.right for x in sides)

    def test_one_majority_is_a_line_and_several_are_marks(self) -> None:
        assert all(plot.majority is not None for plot in plots(ranked(3)))
        assert plots(ranked(3, one_shot_majority=0.5))[1].majority is None

    @pytest.mark.parametrize("llms", [10, 30])
    def test_no_two_labels_cover_each_other_much(self, llms: int) -> None:
        for plot in plots(ranked(llms)):
            boxes = [_box(point) for point in plot.points]
            covered = [_overlap(one, other) for one, other in combinations(boxes, 2)]
            assert max(covered) < LETTER * LINE / 2

    def test_many_are_numbered_as_in_the_table(self) -> None:
        (plot, _) = plots(ranked(13))
        assert plot.numbered
        assert {point.label for point in plot.points} == {str(place) for place in range(1, 14)}
        assert next(point.label for point in plot.points if point.name == "llm-12") == "1"

    def test_the_catalogues_titles_are_the_labels(self) -> None:
        of = ranked(2)
        of["run"]["catalogue"] = {"llm-0": {"name": "x", "title": "The First", "family": "f", "order": 1}}
        assert {point.label for point in plots(of)[0].points} == {"The First", "llm-1"}

    def test_a_plot_can_be_read_without_seeing_it(self) -> None:
        source = part("ranking", ranked(2), context)
        svg = source[source.index('<svg class="plot"') : source.index("</svg>", source.index('<svg class="plot"')) + 6]
        picture = ElementTree.fromstring(svg)
        named = picture.attrib["aria-labelledby"].split()
        assert [picture.find(f"*[@id='{name}']") is not None for name in named] == [True, True]
        described = picture.findtext("desc") or ""
        assert "llm-0: contamination 0.00, 0-shot accuracy 0.55. The numbers are in the table above" in described


def test_membership_of_recorded_answers_is_no_auc() -> None:
    of = ranked(2)
    assert "mean share of rows answered right" in text(of)
    measured = {"name": "AUC", "value": 0.6, "expected": 0.5}
    of["results"].append(cell("llm-0", "iris", "membership", None, statistic=measured))
    assert "mean AUC" in text(of)


def test_a_hostile_name_stays_text_and_no_style_is_inline() -> None:
    source = part("ranking", ranked(3, llm=HOSTILE), context)
    assert "<script" not in source
    assert "\x1b" not in source
    assert "style=" not in source
    assert "‮" not in source


def _box(point: RankingPoint) -> tuple[float, float, float, float]:
    wide = LETTER * len(point.label)
    left = point.label_x - (wide if point.anchor == "end" else 0)
    return left, point.label_y - LINE + 2, left + wide, point.label_y + 2


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> float:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    return max(0.0, wide) * max(0.0, min(one[3], other[3]) - max(one[1], other[1]))
