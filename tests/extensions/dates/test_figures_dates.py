"""Accuracies by dates and contamination by openness as figures for papers."""

from collections.abc import Iterator

import numpy as np
import pytest

from tabcontam.extensions.dates.chronological_analysis import chronologies
from tests.extensions.dates.test_generation_accuracy import FOUR
from tests.extensions.dates.test_generation_accuracy import results as generated
from tests.extensions.dates.test_openness_analysis import EVERY
from tests.extensions.dates.test_openness_analysis import results as scored
from tests.needed import needed
from tests.report.synthetic import results as plain_results
from tests.verdicts import dated

matplotlib = needed("matplotlib")


@pytest.fixture(autouse=True)
def plain() -> Iterator[None]:
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        yield


@pytest.mark.slow
@pytest.mark.parametrize("room", [7.0, 3.35])
def test_shares_and_accuracies_stand_by_llm(room: float) -> None:
    from tabcontam.extensions.dates.date_figures import by_dates

    view = dated.results()
    shares, accuracies = by_dates(view, room)
    (found,), _ = chronologies(view)
    names = [label.get_text() for label in shares.axes[0].get_yticklabels()]
    assert names == ["all LLMs", *(f"{one.title} {one.cutoff[:4]}" for one in found.llms)]
    assert shares.get_figwidth() == accuracies.get_figwidth() == room
    before, after = ([text.get_text() for text in axes.texts] for axes in shares.axes)
    assert before[0] == f"{found.whole.before.above} of {found.whole.before.pairs} ({found.whole.before.significant})"
    assert len(before) == len(after) == 5
    assert [axes.get_title() for axes in accuracies.axes] == [
        "classification, 0-shot, tables from before 2021",
        "classification, 0-shot, tables from 2021 on",
    ]


@pytest.mark.slow
def test_kinds_and_sizes_stand_side_by_side() -> None:
    from tabcontam.extensions.dates.date_figures import by_openness

    (figure,) = by_openness(EVERY)
    kinds, sizes = figure.axes
    assert [label.get_text() for label in kinds.get_xticklabels()] == ["closed (5)", "semi-open (6)", "open (1)"]
    lines = [np.unique(np.asarray(line.get_xdata())) for line in sizes.get_lines()]
    assert sum(len(ends) == 1 for ends in lines) == 6  # an interval for each LLM of a size
    legend = sizes.get_legend()
    assert legend is not None
    assert {text.get_text() for text in legend.get_texts()} == {"llama", "qwen"}
    (alone,) = by_openness(scored({"gpt-4": 0.9, "gpt-j": 0.0}))
    assert len(alone.axes) == 1


@pytest.mark.parametrize("room", [7.0, 3.35])
def test_outputs_generated_exactly_stand_against_accuracy(room: float) -> None:
    from tabcontam.extensions.dates.date_figures import exact_against_accuracy

    (figure,) = exact_against_accuracy(generated(FOUR), room)
    (axes,) = figure.axes
    assert figure.get_figwidth() <= room
    assert axes.get_title().startswith("rte#train: r 0.99 (0.")
    assert [text.get_text() for text in axes.texts] == list(FOUR)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("outputs generated exactly", "0-shot accuracy")


def test_without_two_sides_or_two_llms_there_is_no_figure() -> None:
    from tabcontam.extensions.dates.date_figures import by_dates, by_openness
    from tabcontam.verdicts.document import parse_results

    view = parse_results(plain_results(["one", "two"], ["iris"]))
    assert by_dates(view) == by_openness(view) == []
