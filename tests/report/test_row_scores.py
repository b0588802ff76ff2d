"""The scores of rows on the page: which tables stand beside each other, and what is known of them."""

from collections.abc import Sequence
from dataclasses import replace

from tabcontam.evidence.base import EvidenceKind, Family, Statistic
from tabcontam.evidence.likelihood.published_scores import Loss, MinK, Perplexity
from tabcontam.report.row_scores import EARLY, LATE, RowScore, scored_tables
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.verdicts.columns import record_of
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.run_facts import CatalogueFacts, DatasetFacts, LlmFacts, RunFacts
from tests.report.rendered import pages_of

KNOWN = LlmFacts(spec="gpt-4o", resolved="gpt-4o", stands_for="openai:gpt-4o")


def auc(dataset: str, edition: str = "e", test: str = Loss.id, llm: str = "gpt-4o", **fields: object) -> Result:
    cell = record_of(Result, llm=llm, dataset=dataset, edition=edition, serializer="is", test=test,
                  kind=EvidenceKind.LIKELIHOOD,
                  score=0.8, hits=70, answered=90, queries=200, interval=(0.7, 0.9), interval_of="the AUC",
                  statistic=Statistic(name="AUC", value=0.8, expected=0.5))  # fmt: skip
    return cell.changed(**fields)


def view(cells: Sequence[Result], datasets: Sequence[DatasetFacts] = ()) -> RunResults:
    catalogue = {"gpt-4o": CatalogueFacts(name="gpt-4o", title="GPT-4o", family="GPT-4", order=1)}
    run = RunFacts(rules="calibrated", llms=(KNOWN,), datasets=tuple(datasets), catalogue=catalogue,
                   tests=(Perplexity().facts, Loss().facts, MinK().facts))  # fmt: skip
    return RunResults(run=run, results=tuple(cells))


def carded(name: str) -> DatasetFacts:
    edition = load_cards()[name].editions[0]
    return DatasetFacts(name=name, edition=edition.name, sha256=edition.sha256)


def test_tables_that_were_read_stand_before_those_that_were_not() -> None:
    found = scored_tables(view([auc("a", exposure=0.0), auc("b"), auc("c", exposure=4.0), auc("d", exposure=64.0)]))
    assert [(one.label, one.known) for one in found] == [
        ("d", "the LLM read 64 copies of each row"),
        ("c", "the LLM read 4 copies of each row"),
        ("b", ""),
        ("a", "the LLM read none of its rows"),
    ]
    assert found[0].scores == {Loss.id: RowScore(0.8, (0.7, 0.9), "")}


def test_a_table_that_was_released_before_the_training_data_end_may_have_been_read() -> None:
    iris = carded("iris")
    (found,) = scored_tables(view([auc("iris", iris.edition)], [iris]))
    assert found.known.startswith(EARLY)
    assert found.known.endswith(", 2023-10)")
    (other,) = scored_tables(view([auc("iris", iris.edition)], [replace(iris, sha256="f" * 64)]))
    assert other.known == ""  # another file of that name
    (named,) = scored_tables(view([auc("iris", iris.edition, llm="mine")], [iris]))
    assert named.known == ""
    assert LATE != EARLY


def test_a_score_in_another_unit_is_drawn_as_the_share_of_pairs() -> None:
    bits = Statistic(name="bits a character", value=1.0, expected=2.5)
    cell = auc("a", test=Perplexity.id, statistic=bits, score=0.75, hits=75, answered=100, interval=(1.2, 1.8))
    one = scored_tables(view([cell]))[0].scores[Perplexity.id]
    low, high = one.interval or (0, 0)
    assert (one.share, one.words) == (0.75, "bits a character: rows 1.00, twin 2.50")
    assert 0.6 < low < 0.75 < high < 0.9


def test_what_was_not_scored_is_not_drawn() -> None:
    assert scored_tables(view([auc("a", score=None), auc("b", answered=0), auc("c", statistic=None)])) == []
    assert Loss().facts.family is Family.LIKELIHOOD


def test_the_page_draws_them_beside_one_half_and_says_that_they_are_no_verdict() -> None:
    cells = [auc("a", exposure=64.0), auc("a", test=MinK.id, score=0.25, interval=(0.1, 0.4)), auc("<b>")]
    (page,) = pages_of(view(cells), []).values()
    section = page.partition('<section class="scores"')[2].partition("</section>")[0]
    assert section.count('class="majority" x1="50"') == 3
    assert 'cx="25.0"' in section
    assert 'x="10.0" y="3" width="30.0"' in section
    assert "the LLM read 64 copies of each row" in section
    assert "This is no verdict" in section
    assert "&lt;b&gt;" in section
    assert "<b>" not in section
    (without,) = pages_of(view([auc("a", score=None)]), []).values()
    assert 'class="scores"' not in without
