"""What documents hold that an LLM was trained on: it counts for this LLM alone, can only find, and clears nobody."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabcontam.evidence.base import EvidenceKind, Facts, Family, Verdict
from tabcontam.verdicts.columns import record_of
from tabcontam.verdicts.result_building import conclude, tables
from tabcontam.verdicts.result_types import Result, TableVerdict
from tabcontam.verdicts.run_facts import TrainingDeclaration

ALPHA = 0.01
A, B, DUMP, OTHER = "llm-a", "llm-b", "corpus:dump", "corpus:other"
DECLARED = (TrainingDeclaration(llm=A, corpus=DUMP),)


def facts(test: str, family: Family, kind: EvidenceKind = EvidenceKind.MEMORIZATION) -> Facts:
    row_test = family in (Family.ROWS, Family.CORPUS)
    return Facts(test, test, None, kind, family, row_test, True, True, "")


TESTS = {
    one.id: one
    for one in (
        facts("full_completion", Family.ROWS),
        facts("row_overlap", Family.CORPUS),
        facts("header_overlap", Family.KNOWLEDGE, EvidenceKind.KNOWLEDGE),
    )
}


def cell(llm: str, test: str, p_value: float | None, dataset: str = "iris", **changes: Any) -> Result:
    """A cell as it comes from its trials; the verdict is that without a finding."""
    said: dict[str, Any] = {"verdict": Verdict.NOT_DETECTED, "hits": 12, "answered": 300, "queries": 300}
    kind = TESTS[test].kind
    named = {"llm": llm, "dataset": dataset, "edition": "e", "serializer": "is", "test": test, "kind": kind}
    return record_of(Result, **{**named, "p_value": p_value, **said, **changes})


def judged(
    cells: list[Result], declared: tuple[TrainingDeclaration, ...] = DECLARED, **changes: Any
) -> list[TableVerdict]:
    """The verdicts on all tables."""
    rules = changes.get("rules", "calibrated")
    concluded = conclude(cells, rules, ALPHA, TESTS)
    return tables(concluded, rules, ALPHA, TESTS, changes.get("over", "llm"), declared)


def of(found: list[TableVerdict], llm: str, dataset: str = "iris") -> TableVerdict:
    return next(table for table in found if (table.llm, table.dataset) == (llm, dataset))


MISSED = [cell(A, "full_completion", 0.4), cell(B, "full_completion", 0.4)]


def test_rows_in_documents_that_it_was_trained_on_make_a_table_contaminated_for_this_llm_alone() -> None:
    found = judged([*MISSED, cell(DUMP, "row_overlap", 1e-9)])
    own = of(found, A)
    assert own.verdict is Verdict.CONTAMINATED
    assert own.reason == "corpora that it was trained on hold 12 of 300 rows (corpus:dump): row_overlap, p = 1e-09"
    assert (own.corpora, own.by_corpora, own.q_value) == ((DUMP,), True, 1e-9)
    assert of(found, B) == of(judged(MISSED), B)
    assert of(found, DUMP).verdict is Verdict.CONTAMINATED
    assert of(found, DUMP).reason == "the corpus holds 12 of 300 rows: row_overlap, p = 1e-09"


def test_without_a_declaration_documents_stand_by_themselves() -> None:
    found = judged([*MISSED, cell(DUMP, "row_overlap", 1e-9)], ())
    assert of(found, A) == of(judged(MISSED, ()), A)
    assert of(found, DUMP).verdict is Verdict.CONTAMINATED


def test_what_is_found_by_answers_and_in_documents_is_said_of_both() -> None:
    own = of(judged([cell(A, "full_completion", 1e-6), cell(DUMP, "row_overlap", 1e-9)]), A)
    assert own.reason.startswith("the row tests together: p = 1e-06; corpora that it was trained on hold 12 of 300")
    assert (own.corpora, own.by_corpora) == ((DUMP,), False)
    assert own.bound == 0.02


def test_documents_that_hold_nothing_say_nothing_against_answers() -> None:
    found, empty = [cell(A, "full_completion", 1e-6)], cell(DUMP, "row_overlap", 1.0, hits=0)
    own, alone = of(judged([*found, empty]), A), of(judged(found, ()), A)
    assert (own.verdict, own.reason, own.p_value, own.q_value) == (
        alone.verdict, alone.reason, alone.p_value, alone.q_value,
    )  # fmt: skip


def test_documents_that_hold_nothing_are_said_to_be_not_all_of_the_training_data() -> None:
    own = of(judged([*MISSED, cell(DUMP, "row_overlap", 1.0, hits=0)]), A)
    assert own.verdict is Verdict.NOT_DETECTED
    assert own.reason.endswith(
        "corpora that it was trained on hold none of the rows, and it may have been trained on others as well"
    )


def test_a_few_rows_that_chance_explains_are_no_finding() -> None:
    own = of(judged([*MISSED, cell(DUMP, "row_overlap", 0.2, hits=2)]), A)
    assert own.verdict is Verdict.NOT_DETECTED
    assert "hold 2 of 300 rows (corpus:dump), which chance explains (p = 0.2)" in own.reason


@pytest.mark.parametrize("verdict", [Verdict.NO_ANSWER, Verdict.UNINFORMATIVE])
def test_documents_that_could_not_be_read_make_no_table_clean(verdict: Verdict) -> None:
    silent = cell(DUMP, "row_overlap", 1.0, verdict=verdict, hits=0, answered=0, reason="failed, damaged")
    asked = [cell(A, "full_completion", 1.0, verdict=Verdict.NO_ANSWER), silent]
    assert of(judged(asked), A).verdict is Verdict.NO_ANSWER
    assert of(judged(asked), A).reason.endswith("corpus:dump gave no result: failed, damaged")
    assert of(judged([silent]), A).verdict is Verdict.SKIPPED


def test_rows_in_the_readable_part_of_documents_count() -> None:
    partly = cell(DUMP, "row_overlap", 1e-9, verdict=Verdict.NO_ANSWER, answered=100)
    assert of(judged([*MISSED, partly]), A).verdict is Verdict.CONTAMINATED


def test_an_llm_that_was_asked_nothing_has_a_table_of_what_documents_hold() -> None:
    own = of(judged([cell(DUMP, "row_overlap", 1e-9)]), A)
    assert (own.verdict, own.by_corpora, own.serializer) == (Verdict.CONTAMINATED, True, "is")


def test_a_finding_of_answers_that_rests_on_one_column_does_not_keep_documents_from_finding() -> None:
    lone = cell(A, "full_completion", 1e-6, without={"zip": 0.5}, columns={"zip": 20.0})
    assert of(judged([lone], ()), A).verdict is Verdict.UNINFORMATIVE
    own = of(judged([lone, cell(DUMP, "row_overlap", 1e-9)]), A)
    assert (own.verdict, own.rests_on, own.by_corpora) == (Verdict.CONTAMINATED, None, True)


def test_under_the_papers_rules_documents_count_as_well() -> None:
    asked = [cell(A, "full_completion", 0.4, paper_verdict=Verdict.NOT_DETECTED), cell(DUMP, "row_overlap", 1e-9)]
    assert of(judged(asked, rules="paper"), A).verdict is Verdict.CONTAMINATED


def test_knowledge_in_documents_shows_no_rows() -> None:
    assert of(judged([*MISSED, cell(DUMP, "header_overlap", 1e-9)]), A) == of(judged(MISSED, ()), A)


def test_a_body_of_documents_counts_for_each_llm_that_was_trained_on_it_and_several_for_one() -> None:
    declared = (*DECLARED, TrainingDeclaration(llm=B, corpus=DUMP), TrainingDeclaration(llm=A, corpus=OTHER))
    found = judged([*MISSED, cell(DUMP, "row_overlap", 1e-9), cell(OTHER, "row_overlap", 1.0, hits=0)], declared)
    assert of(found, A).corpora == of(found, B).corpora == (DUMP,)
    families = {llm: [one for one in of(found, llm).families if one.corpora] for llm in (A, B)}
    assert families[A][0].corpora == (DUMP, OTHER)
    assert (families[A][0].p_value, families[B][0].p_value) == (2e-9, 1e-9)  # Bonferroni over what was searched


def test_each_serializer_of_a_table_has_the_find_and_it_is_counted_once() -> None:
    asked = [cell(A, "full_completion", 0.4, serializer=name) for name in ("is", "equals", "csv")]
    iris, wine = cell(DUMP, "row_overlap", 0.004), cell(DUMP, "row_overlap", 1.0, "wine", hits=0)
    found = [table for table in judged([*asked, iris, wine]) if (table.llm, table.dataset) == (A, "iris")]
    assert [table.serializer for table in found] == ["is", "equals", "csv"]
    assert {table.verdict for table in found} == {Verdict.CONTAMINATED}
    assert {table.families[-1].q_value for table in found} == {0.008}


def test_each_split_and_edition_is_a_table_of_its_own() -> None:
    asked = [cell(A, "full_completion", 0.4, split=name) for name in ("train", "test")]
    found = judged([*asked, cell(DUMP, "row_overlap", 1e-9, split="train")])
    by_split = {table.split: table.verdict for table in found if table.llm == A}
    assert by_split == {"train": Verdict.CONTAMINATED, "test": Verdict.NOT_DETECTED}


@settings(max_examples=40)
@given(
    own=st.lists(st.floats(1e-12, 1), min_size=1, max_size=4),
    held=st.lists(st.floats(1e-12, 1), min_size=4, max_size=4),
    over=st.sampled_from(["llm", "all"]),
)
def test_what_documents_hold_changes_no_other_family_and_no_other_llm(
    own: list[float], held: list[float], over: str
) -> None:
    names = [f"table {place}" for place in range(len(own))]
    asked = [cell(llm, "full_completion", p, name) for llm in (A, B) for p, name in zip(own, names, strict=True)]
    documents = [cell(DUMP, "row_overlap", p, name) for p, name in zip(held, names, strict=False)]
    without, joined = judged(asked, (), over=over), judged([*asked, *documents], over=over)
    for name in names:
        before, after = of(without, A, name), of(joined, A, name)
        assert after.families[:-1] == before.families
        assert of(joined, B, name) == of(without, B, name)
        found = after.families[-1].finds(ALPHA)
        assert after.verdict is (Verdict.CONTAMINATED if found else before.verdict)


def test_a_find_of_documents_that_rests_on_one_column_is_none_and_says_so() -> None:
    lone = cell(DUMP, "row_overlap", 1e-9, without={"zip": 0.5}, columns={"zip": 20.0})
    own = of(judged([*MISSED, lone]), A)
    assert own.verdict is Verdict.NOT_DETECTED
    assert (
        "hold 12 of 300 rows (corpus:dump), which rests on zip (without this column p = 0.5), and it may have"
        in own.reason
    )


def test_what_would_have_been_found_is_said_of_documents_as_such() -> None:
    found = judged([cell(DUMP, "row_overlap", 1.0, hits=0, detectable_share=0.04)])
    assert of(found, DUMP).reason == "a corpus that holds 4% of the rows would have been detected"
