"""A run's results in publishable form: for a table that may not be shown, they have only verdicts and numbers.

The code lists the fields of results that are published, not those that are left out. So a new field stays private until
the code lists it. Texts are composed anew from the numbers, and a column is named by its position.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from tabcontam.evidence.base import UNDECIDED, Verdict
from tabcontam.evidence.registry import built_in_tests
from tabcontam.evidence.twin_comparison import TwinComparison
from tabcontam.extensions.publish.public_names import without_place
from tabcontam.report.finding_sentences import CORPUS_UNDECIDED_BECAUSE, ONE_COLUMN, REMEMBERING, UNDECIDED_BECAUSE
from tabcontam.tables.dataset_cards import Card, all_cards
from tabcontam.verdicts.notes import Note, NoteKind
from tabcontam.verdicts.result_types import Result, TableFields, TableVerdict
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.run_facts import FILE, DatasetFacts, KnownFacts, LlmFacts, RunFacts, TrainingDeclaration
from tabcontam.verdicts.wording import phrase, rounded

# Licences under which rows may be published unchanged. In doubt a table is redacted. So licences are missing here if
# they require more than attribution, bind the publisher of an extract, or have a remark.
OPEN = frozenset({"CC0", "CC0 1.0", "CC BY 4.0", "CC BY 3.0", "PDDL", "PDDL 1.0", "Public domain", "MIT"})
# Words for numbers in a sentence.
NUMBER_WORDS = {
    "expected_hits": "{} expected of the baseline",
    "recalled_bits": "{} bits recalled",
    "p_value": "p = {}",
}
USUAL_SPLITS = ("train", "training", "validation", "valid", "val", "dev", "development", "test", "testing")
HOLDING = ("an LLM that remembers", "documents that hold")  # the second text replaces the first for a corpus
LEFT_OUT = "left out"  # replaces a word that others chose
Part = TypeVar("Part", bound=TableFields)
TableId = tuple[str, str]  # name and edition of a dataset


def restricted_tables(run: RunFacts, everything: bool = False) -> frozenset[TableId]:
    """Return the tables of a run with cells that may not be published.

    A table's cells may be published only if a card with the hash of its file calls it public under an open licence.
    Cells may not be published of tables that were asked about with a known file that is not open, or with withheld or
    fresh rows.
    """
    cards = all_cards().values()
    closed = {name for file in run.known if not _open(file.sha256, cards) for name in file.datasets}
    return frozenset(
        (one.name, one.edition)
        for one in run.datasets
        if everything
        or one.withheld
        or one.fresh
        or one.name in closed
        or not _open(one.sha256, [card for card in cards if card.name == one.name])
    )


def _open(sha256: str, cards: Iterable[Card]) -> bool:
    return any(
        card.public and card.licence in OPEN and sha256 in {file.sha256 for file in card.files} for card in cards
    )


def redact_results(view: RunResults, everything: bool = False) -> tuple[RunResults, "Redaction"]:
    """Return the results without the parts that may not be published, and the `Redaction` that removed these parts."""
    people = tuple(one.by for one in view.judges if one.person)
    done = Redaction(view.run, restricted_tables(view.run, everything), people)
    return done.results(view), done


@dataclass(frozen=True)
class Redaction:
    """The tables with content that must be left out of a run's results, and the names that replace the run's names."""

    run: RunFacts
    tables: frozenset[TableId]
    people: tuple[str, ...] = ()

    def hides(self, dataset: str, edition: str | None) -> bool:
        """Return whether a table, named as in the run, may not be shown."""
        return (dataset, edition or "") in self.tables

    @cached_property
    def llms(self) -> Mapping[str, str]:
        """The published name of each LLM, without address and folder."""
        judge = (self.run.judge,) if self.run.judge else ()
        return _apart((llm.spec, without_place(llm.spec)) for llm in (*self.run.llms, *self.run.references, *judge))

    def words(self, sentence: str) -> str:
        """Return a sentence with the published names of corpora and references in it, without addresses and folders."""
        named = {*self._corpora, *(llm.spec for llm in self.run.references)}
        for name in sorted((name for name in named if self.llm(name) != name), key=len, reverse=True):
            sentence = sentence.replace(name, self.llm(name))
        return sentence

    def judge(self, by: str) -> str:
        """Return the published name of a judge of completions. A person is replaced by a number."""
        if by in self.people:
            return f"person {self.people.index(by) + 1}"
        return self.llms.get(by) or without_place(by)

    @cached_property
    def editions(self) -> Mapping[TableId, str]:
        """The published edition of each table. The edition of a private table reveals no part of the file's hash."""
        shipped = {(card.name, one.sha256) for card in all_cards().values() if not card.source for one in card.files}
        private = [one for one in self.run.datasets if (one.name, one.sha256) not in shipped]
        number = {(one.name, one.edition): place for place, one in enumerate(private)}
        first = {one.name: number[one.name, one.edition] for one in reversed(private)}
        return {
            table: FILE + (f" {place - first[table[0]] + 1}" if place > first[table[0]] else "")
            for table, place in number.items()
            if table in self.tables
        }

    def columns(self, table: TableId, groups: Iterable[str]) -> dict[str, str]:
        """Return the published name of each column of a table, and of each group of columns that count as one."""
        features = {name: f"column {place}" for name, place in self._features.get(table, {}).items()}
        groups = sorted({group for group in groups if group and group not in features})
        return features | {group: f"columns of entity {place}" for place, group in enumerate(groups, start=1)}

    @cached_property
    def _features(self) -> Mapping[TableId, Mapping[str, int]]:
        return {
            (one.name, one.edition): {name: place for place, name in enumerate(one.features, start=1)}
            for one in self.run.datasets
        }

    def results(self, view: RunResults) -> RunResults:
        """Return the results in publishable form."""
        groups: dict[TableId, set[str]] = {}
        for result in view.results:
            found = groups.setdefault((result.dataset, result.edition or ""), set())
            found |= {
                *result.evidence.columns,
                *result.evidence.without,
                *result.evidence.bets,
                *filter(None, [result.decision.rests_on]),
            }
        for table in view.tables:
            found = groups.setdefault((table.dataset, table.edition or ""), set())
            found |= set(filter(None, [table.rests_on, *(family.without for family in table.families)]))
        names = {table: self.columns(table, found) for table, found in groups.items()}
        return replace(
            view,
            run=self._run(view.run),
            results=tuple(self._result(result, names) for result in view.results),
            tables=tuple(self._table(table, names) for table in view.tables),
            ranking=tuple(replace(rank, llm=self.llm(rank.llm)) for rank in view.ranking),
            judges=tuple(replace(one, by=self.judge(one.by)) for one in view.judges),
            agreements=tuple(
                replace(one, first=self.judge(one.first), second=self.judge(one.second)) for one in view.agreements
            ),
            comparisons=tuple(
                replace(self._named(one), first=self._side(one.first), second=self._side(one.second))
                for one in view.comparisons
            ),
        )

    def llm(self, name: str) -> str:
        """Return the published name of an LLM."""
        return self.llms.get(name, name)

    def edition(self, dataset: str, edition: str | None) -> str | None:
        """Return the published name of a table's edition."""
        return self.editions.get((dataset, edition or ""), edition)

    def split(self, dataset: str, edition: str | None, split: str) -> str:
        """Return the published name of a table's split. For a private table, an unusual word is replaced."""
        if not self.hides(dataset, edition) or split.casefold() in ("", *USUAL_SPLITS):
            return split
        own = [one.split for one in self.run.datasets if (one.name, one.edition) == (dataset, edition or "")]
        return f"split {own.index(split) + 1}" if split in own else LEFT_OUT

    def _named(self, part: Part) -> Part:
        """Return a part of the results in which LLM, edition and split have their published names."""
        edition, split = self.edition(part.dataset, part.edition), part.split
        named = self.split(part.dataset, part.edition, split) if split else None
        return replace(part, llm=self.llm(part.llm), edition=edition, split=named)

    def _side(self, name: str) -> str:
        """Return the published name of one side of a comparison: a number for a merged run, a name for an LLM."""
        return self._folders.get(name) or self.llm(name)

    @cached_property
    def _folders(self) -> Mapping[str, str]:
        return {run.folder: f"run {number}" for number, run in enumerate(self.run.runs, start=1)}

    def _memory(self, memory: TwinComparison | None) -> TwinComparison | None:
        """Return memory's share with the published names of its reference LLMs."""
        if memory is None:
            return memory
        memory = replace(memory, further=tuple(map(self.llm, memory.further)))
        if memory.several_references is None:
            return memory
        named = tuple(replace(one, llm=self.llm(one.llm)) for one in memory.several_references.references)
        return replace(memory, several_references=replace(memory.several_references, references=named))

    def _result(self, result: Result, names: Mapping[TableId, Mapping[str, str]]) -> Result:
        reference, memory = result.reference and self.llm(result.reference), self._memory(result.evidence.memory)
        result = result.changed(reference=reference, memory=memory)
        decision, evidence = result.decision, result.evidence
        if result.llm in self._corpora:  # sentences on a corpus quote documents and name unreadable files
            reason = self._because(result.llm, decision.verdict, evidence.detectable_share, decision.rests_on)
            result = result.changed(reason=reason, sentence=_corpus_sentence(result))
        if not self.hides(result.dataset, result.edition):
            texts = result.evidence.sentence, result.decision.reason
            sentence, reason = (text and self.words(text) for text in texts)
            return self._named(result.changed(sentence=sentence, reason=reason))
        column = names[result.dataset, result.edition or ""]
        rests_on = decision.rests_on and column[decision.rests_on]
        own = result.test in {test.id for test in built_in_tests()}  # sentences of another package may quote the table
        named = own or evidence.statistic is None
        statistic = evidence.statistic if named else replace(evidence.measured, name=LEFT_OUT)
        return self._named(result).changed(
            source=None,
            lacks=result.lacks if own else result.lacks and LEFT_OUT,
            statistic=statistic,
            null=evidence.null if own else None,
            interval_of=evidence.interval_of if own else None,
            columns={column[name]: bits for name, bits in evidence.columns.items()},
            without={column[name]: value for name, value in evidence.without.items()},
            bets={name and column[name]: won for name, won in evidence.bets.items()},
            rests_on=rests_on,
            reason=self._because(result.llm, decision.verdict, evidence.detectable_share, rests_on),
            sentence=_corpus_sentence(result) if result.llm in self._corpora else _sentence(result),
            not_averaged=result.not_averaged and "its answers cannot be known",
        )

    def _table(self, table: TableVerdict, names: Mapping[TableId, Mapping[str, str]]) -> TableVerdict:
        corpora = tuple(map(self.llm, table.corpora))
        families = tuple(replace(one, corpora=tuple(map(self.llm, one.corpora))) for one in table.families)
        table = replace(table, corpora=corpora, families=families)
        if not self.hides(table.dataset, table.edition):
            return replace(self._named(table), reason=self.words(table.reason))
        column = names[table.dataset, table.edition or ""]
        rests_on = table.rests_on and column[table.rests_on]
        families = tuple(replace(one, without=one.without and column[one.without]) for one in table.families)
        by = f"documents that it was trained on ({phrase(corpora)})" if table.by_corpora else "the row tests together"
        found = None if table.p_value is None else f"{by}: p = {rounded('p_value', table.p_value)}"
        reason = self._because(table.llm, table.verdict, table.detectable_share, rests_on) or found or table.outcome
        return replace(self._named(table), families=families, rests_on=rests_on, reason=reason)

    @cached_property
    def _corpora(self) -> frozenset[str]:
        return frozenset(llm.spec for llm in self.run.llms if llm.is_corpus)

    def _because(self, llm: str, verdict: Verdict | None, share: float | None, rests_on: str | None) -> str | None:
        """Return the reason why an LLM or documents have no finding, composed from published facts."""
        searched = llm in self._corpora
        if searched and verdict in CORPUS_UNDECIDED_BECAUSE and not rests_on:
            return CORPUS_UNDECIDED_BECAUSE[verdict]
        reason = _reason(verdict, share, rests_on)
        return reason and reason.replace(*HOLDING) if searched else reason

    def _run(self, run: RunFacts) -> RunFacts:
        known = tuple(_known(file) for file in run.known)
        return replace(
            run,
            command="",
            settings={name: value for name, value in run.settings.items() if isinstance(value, int | float)},
            overlap=run.overlap and without_place(run.overlap),
            llms=tuple(self._llm(llm) for llm in run.llms),
            references=tuple(self._llm(llm) for llm in run.references),
            judge=self._llm(run.judge) if run.judge else None,
            catalogue={self.llm(name): entry for name, entry in run.catalogue.items()},
            known=known,
            trained_on=tuple(
                TrainingDeclaration(llm=self.llm(one.llm), corpus=self.llm(one.corpus)) for one in run.trained_on
            ),
            datasets=tuple(self._dataset(one) for one in run.datasets),
            durations=tuple(self._named(one) for one in run.durations),
            runs=tuple(replace(one, folder=self._folders[one.folder], command=None) for one in run.runs),
            notes=(*map(self._note, run.notes), self._what),
            redacted=tuple(sorted({name for name, _ in self.tables})),
        )

    def _llm(self, llm: LlmFacts) -> LlmFacts:
        stands_for = without_place(llm.stands_for)
        return replace(
            llm,
            spec=self.llm(llm.spec),
            resolved=stands_for or self.llm(llm.spec),
            stands_for=stands_for,
            ended=llm.ended and "it ended early",  # a server's words may quote a prompt
        )

    def _dataset(self, one: DatasetFacts) -> DatasetFacts:
        if not self.hides(one.name, one.edition):
            return one
        edition = self.edition(one.name, one.edition) or ""
        features = tuple(f"column {place}" for place in range(1, len(one.features) + 1))
        sha256 = "" if (one.name, one.edition) in self.editions else one.sha256  # a card publishes this hash
        split = self.split(one.name, one.edition, one.split) if one.split else None
        kept = replace(
            one, edition=edition, split=split, sha256=sha256, features=features, order=None, reading="", read=""
        )
        failed = ("of a column that is not shown",) * len(one.failed)
        return replace(kept, withheld_sha256="", fresh_sha256="", failed=failed)

    def _note(self, note: Note) -> Note:
        if note.kind is NoteKind.DEFAULTS:  # the note repeats the command, which is left out
            return replace(note, text="a project's pyproject.toml set options of the command")
        if note.kind is NoteKind.NOT_READ:  # the note names files
            return replace(
                note, text="some documents could not be read in full, and their unread parts were not searched"
            )
        if note.kind in (NoteKind.KNOWN, NoteKind.REFERENCE):
            what = "files of known rows" if note.kind is NoteKind.KNOWN else "references"
            return replace(note, text=f"the runs have different {what}")
        text = note.text
        editions = {edition: name for (_, edition), name in self.editions.items() if edition}
        for old, new in sorted({**editions, **self._folders}.items(), key=lambda one: -len(one[0])):
            text = text.replace(old, new)
        return replace(note, text=text)

    @property
    def _what(self) -> Note:
        names = sorted({name for name, _ in self.tables})
        if not names:
            return Note(NoteKind.REDACTED, "commands, folders and addresses are left out")
        text = (
            f"of {phrase(names)} only verdicts and numbers are shown, no cell, prompt or answer; columns are numbered"
        )
        return Note(NoteKind.REDACTED, text)


def _reason(verdict: Verdict | None, share: float | None, rests_on: str | None) -> str | None:
    """Return the reason why there is no finding, composed from published facts."""
    if rests_on:
        return f"{ONE_COLUMN}, {rests_on}"
    if verdict in UNDECIDED:
        return UNDECIDED_BECAUSE[verdict]
    if verdict is Verdict.NOT_DETECTED and share is not None:
        return REMEMBERING.format(rounded("detectable_share", share))
    return None


def _sentence(result: Result) -> str:
    """Return a sentence on a result, composed from its numbers; "" if nothing was decided."""
    if result.verdict in UNDECIDED or not result.queries:
        return ""
    score, known = result.evidence.score, result.numbers
    parts = [f"{result.evidence.hits} right in {result.evidence.answered} answers"]
    if result.verdict is None and score is not None:
        parts.append(f"score {score:.2f}")
    parts += [words.format(rounded(key, known[key])) for key, words in NUMBER_WORDS.items() if key in known]
    if result.sequential and "e_value" in known:
        parts.append(f"E = {rounded('e_value', known['e_value'])}")
    return ", ".join(parts)


def _corpus_sentence(result: Result) -> str:
    """Return a sentence on the rows that were found in documents, composed from the numbers; "" if undecided."""
    if result.verdict in UNDECIDED or not result.queries:
        return ""
    p_value, found = result.evidence.p_value, f"{result.evidence.hits} of {result.evidence.answered} found"
    return found if p_value is None else f"{found}, p = {rounded('p_value', p_value)}"


def _known(file: KnownFacts) -> KnownFacts:
    return file if _open(file.sha256, all_cards().values()) else replace(file, name="a known file", sha256="")


def _apart(names: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return a mapping from old to new names. New names that would be equal get a number."""
    found: dict[str, str] = {}
    for old, new in names:
        taken = [name for other, name in found.items() if other != old]
        number = next(number for number in range(1, len(taken) + 2) if _numbered(new, number) not in taken)
        found[old] = _numbered(new, number)
    return found


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name} #{number}"
