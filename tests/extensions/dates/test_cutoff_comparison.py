"""Tables whose rows are dated: what an LLM gets on rows from before its cut-off, and from after it."""

from dataclasses import replace

from tabcontam.extensions.dates.chronological_analysis import chronologies
from tabcontam.extensions.dates.chronology_sentences import sentences
from tabcontam.extensions.dates.dated_pairs import both_sides, results_by_dates
from tabcontam.verdicts.results import RunResults
from tests.report.rendered import pages_of
from tests.verdicts.dated import results


def parted(*splits: str) -> RunResults:
    """GPT-4o, whose training data end in 2023-10, on splits of one table: right in 80, 60, 40… of 100 answers."""
    view = results(lambda *_: 50, ("gpt-4o",), ("iris",) * len(splits))
    cells = tuple(
        cell.changed(split=split, hits=80 - 20 * number, dataset="internationals")
        for number, (cell, split) in enumerate(zip(view.results, splits, strict=True))
    )
    return replace(view, results=cells)


def test_both_sides_of_the_llms_own_cut_off_stand_beside_each_other() -> None:
    view = parted("before-2023-10", "after-2023-10")
    (one,) = both_sides(view, results_by_dates(view))
    assert (one.before.hits, one.after.hits, one.cutoff) == (80, 60, "2023-10")
    assert 0.001 < one.p_value < 0.01
    (found,), left_out = chronologies(view)
    assert (found.pairs, left_out) == ((), ())
    (sentence,) = sentences(found)
    assert "80 of 100 rows from before 2023-10 (accuracy 0.80, majority 0.50)" in sentence
    assert '<h2 id="chronology">' in pages_of(view, [])["index.html"]


def test_rows_of_one_side_alone_are_named_and_left_out() -> None:
    found, left_out = chronologies(parted("after-2023-10"))
    assert found == ()
    assert left_out == (
        "gpt-4o on internationals: the run lacks rows from before its training cut-off, or rows from after it",
    )


def test_a_table_without_dated_rows_is_a_pair_as_a_whole() -> None:
    view = results(lambda *_: 50, ("gpt-4o",), ("iris",))
    datasets = tuple(replace(one, split="before-2023-10") for one in view.run.datasets)
    cells = tuple(replace(cell, split="before-2023-10") for cell in view.results)
    (found,), left_out = chronologies(replace(view, results=cells, run=replace(view.run, datasets=datasets)))
    assert [(pair.dataset, pair.side) for pair in found.pairs] == [("iris", 1)]
    assert left_out == ()


def test_a_split_that_reaches_over_the_cut_off_is_on_no_side() -> None:
    over = parted("before-2024-06", "after-2024-06")
    assert both_sides(over, results_by_dates(over)) == ()
    further = parted("before-2023-01", "after-2024-06", "after-2025-01")
    (one,) = both_sides(further, results_by_dates(further))
    assert (one.before.split, one.after.split) == ("before-2023-01", "after-2024-06")
