"""Judgements in the folders of runs: reports show them, and no other report may replace them."""

from pathlib import Path

import pytest

from tabcontam import run
from tabcontam.errors import UsageError
from tabcontam.evidence.completion_pairs import Likeness
from tabcontam.extensions.papers.completion_judgements import Judgement, compared_in, pair_of
from tabcontam.extensions.papers.judgement_file import JUDGEMENTS, JudgementJournal
from tabcontam.report.trial_digest import RunDigestFacts, results_by_llm
from tabcontam.runs import llm_extracts
from tabcontam.runs.folder import load, merge
from tabcontam.runs.stored_trials import StoredTrials, shown_lines
from tests.runs.test_llm_extracts import sent


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A run with a judgement of each completion by a person."""
    folder = tmp_path / "run"
    run("simulated:mode", "iris", tests="guided_match", controls=False, out=folder)
    journal = JudgementJournal(folder)
    for place, compared in compared_in(shown_lines(folder, load(folder).results)).items():
        for one in compared:
            journal.note(Judgement(place, one.query_id, "Ida", pair_of(one), Likeness.NONE, person=True))
    assert (folder / JUDGEMENTS).exists()
    return folder


def test_another_process_shows_the_judgements_as_they_are_shown_here(made: Path) -> None:
    found = load(made)
    trials = shown_lines(made, found.results)
    (placed,) = results_by_llm(found).values()
    job = llm_extracts.ExtractionJob(found.results, placed, frozenset(), RunDigestFacts.of(found), by_id=True)
    there = llm_extracts.read_extract(llm_extracts.make_stored_extract(sent(llm_extracts.stored_job(job, trials))))
    without = llm_extracts.make_extract(job, StoredTrials(trials.path, trials.places).trials_of)
    assert there == llm_extracts.make_extract(job, trials.trials_of) != without


def test_a_merged_report_has_the_judgements_and_no_other_one_replaces_them(made: Path, tmp_path: Path) -> None:
    both = tmp_path / "both"
    assert [one.by for one in merge([made], both).judges] == ["Ida"]
    assert (both / JUDGEMENTS).read_text("utf-8") == (made / JUDGEMENTS).read_text("utf-8")
    (both / JUDGEMENTS).write_text('{"verdict": "match"}\n', "utf-8")
    with pytest.raises(UsageError, match="both holds answers of another run"):
        merge([made], both)
