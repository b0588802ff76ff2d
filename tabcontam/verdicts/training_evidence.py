"""Rows of a table in corpora that the user declared to be training data of a model. They count for this model alone.

The evidence of the corpora is one more family in the verdict on the model's table, at a family's level over the tables
of the model. It changes no q-value of another family, and can only add findings. If the corpora contain no row, or
could not be read, the answers decide, because a model is trained on more than the declared corpora.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tabcontam.config import ALL
from tabcontam.evidence.base import DECIDED, Facts, Family, Verdict
from tabcontam.groups import grouped
from tabcontam.verdicts import one_column_rule
from tabcontam.verdicts.result_types import FamilyEvidence, Result, TableName, TableVerdict
from tabcontam.verdicts.rules import Over
from tabcontam.verdicts.run_facts import TrainingDeclaration
from tabcontam.verdicts.wording import phrase, rounded

NONE = "none of the rows"


class RowsKey(NamedTuple):
    """The rows of a dataset, in any serializer and any wording of queries: a corpus is searched for the rows alone."""

    dataset: str
    edition: str | None
    split: str | None


class CorpusEvidence(NamedTuple):
    """The evidence of a model's declared corpora on a table: each corpus's result, and their joint evidence."""

    results: tuple[Result, ...]
    evidence: FamilyEvidence

    @property
    def names(self) -> tuple[str, ...]:
        """The corpora that contain a row."""
        return tuple(dict.fromkeys(result.llm for result in self.results if result.evidence.hits))


def rows_of(of: Result | TableVerdict | TableName) -> RowsKey:
    """Return the rows that a result or a table's verdict is about, or the rows of a table."""
    return RowsKey(of.dataset, of.edition, of.split)


def corpus_evidence(
    results: Iterable[Result], declared: Sequence[TrainingDeclaration], tests: Mapping[str, Facts], over: Over
) -> dict[tuple[str, RowsKey], CorpusEvidence]:
    """Return the evidence of each model's training corpora on each table, if they were searched for its rows."""
    found = _declared_results(results, declared, tests)
    together = {key: one_column_rule.join_evidence(own) for key, own in found.items()}

    def budget(key: tuple[str, RowsKey]) -> str:
        return "" if over == ALL else key[0]

    evidence = one_column_rule.family_evidence(together, budget, lambda key: Family.CORPUS)
    corpora = {key: tuple(dict.fromkeys(result.llm for result in own)) for key, own in found.items()}
    return {
        key: CorpusEvidence(own, replace(evidence[key], e_value=None, corpora=corpora[key]))
        for key, own in found.items()
    }


def _declared_results(
    results: Iterable[Result], declared: Sequence[TrainingDeclaration], tests: Mapping[str, Facts]
) -> dict[tuple[str, RowsKey], tuple[Result, ...]]:
    """Return the results of the corpora, by the model for which they are declared and by the rows searched."""
    weighed = [
        result
        for result in results
        if tests[result.test].row_test
        and tests[result.test].family is Family.CORPUS
        and result.evidence.p_value is not None
    ]
    by_corpus = grouped(weighed, lambda result: result.llm)
    own: dict[tuple[str, RowsKey], tuple[Result, ...]] = {}
    for one in declared:
        for rows, group in grouped(by_corpus.get(one.corpus, ()), rows_of).items():
            own[one.llm, rows] = (*own.get((one.llm, rows), ()), *group)
    return own


def join_corpus_evidence(
    verdicts: Sequence[TableVerdict], corpora: Mapping[tuple[str, RowsKey], CorpusEvidence], alpha: float
) -> list[TableVerdict]:
    """Return the verdicts with the evidence of the corpora, and a new verdict for each table without a verdict.

    If a model was asked about rows in several serializers or prompt sets, the corpus's finding counts for each of
    these.
    """
    known, joined = {(table.llm, rows_of(table)) for table in verdicts}, list(verdicts)
    for (llm, rows), own in corpora.items():
        if (llm, rows) not in known:
            place = own.results[0].table_fields | {"llm": llm}
            joined.append(TableVerdict(**place, verdict=Verdict.SKIPPED, reason=f"{llm} was asked no row test"))
    with_corpora = ((table, corpora.get((table.llm, rows_of(table)))) for table in joined)
    return [table if own is None else _with(table, own, alpha) for table, own in with_corpora]


def _with(table: TableVerdict, own: CorpusEvidence, alpha: float) -> TableVerdict:
    """Return a table's verdict with the evidence of the corpora. They can only make it contaminated."""
    families = (*table.families, own.evidence)
    table = replace(table, families=families, bound=min(1.0, round(alpha * len(families), 12)))
    also = table.verdict is Verdict.CONTAMINATED
    if not own.evidence.finds(alpha):
        return table if also else replace(table, reason=f"{table.reason}; {phrase_no_rows(own)}")
    found = f"{table.reason}; {phrase_corpus_rows(own)}" if also else phrase_corpus_rows(own)
    first = min(families, key=lambda one: (one.q_without or one.q_value, one.q_value, one.p_value))
    return replace(
        table,
        verdict=Verdict.CONTAMINATED,
        reason=found,
        rests_on=None,
        p_value=first.p_value,
        q_value=first.q_value,
        e_value=first.e_value,
        corpora=own.names,
        by_corpora=not also,
    )


def phrase_detectable(share: float, families: Collection[Family]) -> str:
    """Return in words the smallest share of rows that these families would have detected, in a model or a corpus."""
    holder = "a corpus that holds" if set(families) == {Family.CORPUS} else "a model that remembers"
    return f"{holder} {share:.0%} of the rows"


def phrase_corpus_rows(own: CorpusEvidence) -> str:
    """Return in words the rows of a table in corpora: `corpora that it was trained on hold 12 of 300 rows (NAME)`."""
    return f"corpora that it was trained on hold {_shares(own)}: {_tests(own)}, {_p_value(own)}"


def phrase_own_rows(own: CorpusEvidence) -> str:
    """Return in words the rows of a table in a corpus that is itself a subject of the run."""
    found = [result.evidence for result in own.results if result.evidence.hits]
    shares = phrase([f"{one.hits} of {one.answered} rows" for one in found])
    return f"the corpus holds {shares}: {_tests(own)}, {_p_value(own)}"


def _tests(own: CorpusEvidence) -> str:
    return phrase(list(dict.fromkeys(result.test for result in own.results)))


def phrase_no_rows(own: CorpusEvidence) -> str:
    """Return in words that the corpora are no evidence against the model, and why."""
    if not any(result.verdict in DECIDED or result.decision.rests_on for result in own.results):
        return f"{phrase(list(own.evidence.corpora))} gave no result: {own.results[0].decision.reason}"
    column = own.evidence.without if any(result.decision.rests_on for result in own.results) else None
    p_without = rounded("p_value", own.evidence.p_without or 1.0)
    rests_on = f", which rests on {column} (without this column p = {p_without})" if column else ""
    found = f"{_shares(own)}{rests_on or f', which chance explains ({_p_value(own)})'}" if _shares(own) else NONE
    return f"corpora that it was trained on hold {found}, and it may have been trained on others as well"


def _shares(own: CorpusEvidence) -> str:
    """Return in words the number of rows in each corpus; "" if no corpus contains any."""
    holding = [result for result in own.results if result.evidence.hits and result.evidence.answered]
    return phrase([f"{result.evidence.hits} of {result.evidence.answered} rows ({result.llm})" for result in holding])


def _p_value(own: CorpusEvidence) -> str:
    return f"p = {rounded('p_value', own.evidence.p_value)}"
