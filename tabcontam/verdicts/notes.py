"""Notes that a reader needs before believing a verdict. The kind of a note decides where and how it is displayed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tabcontam.evidence.base import Verdict
from tabcontam.groups import grouped
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.wording import phrase


class NoteKind(StrEnum):
    """The subject of a note."""

    RULES = "rules"
    DEFAULTS = "defaults"  # settings from a project's file, not from the command line
    QUERIES = "queries"  # the choice of queries
    KNOWN = "known"  # rows that the LLMs may know
    JUDGES = "judges"  # the judges of completions, and how often they err
    TRAINED = "trained on"  # corpora whose finds count for an LLM
    REFERENCE = "reference"  # an LLM whose answers count for nothing
    NOT_READ = "not read"  # documents of a corpus that were not searched, or were searched after a change
    FAILED = "failed"  # predictors that were left out of the baseline
    SENT = "sent otherwise"  # options that a server does not support, and the consequence for its answers
    SAMPLED = "sampled"  # the number of rows of a large table that a control read
    TURNS = "turns"  # tables that were asked until they were decided
    EXPOSURE = "exposure"  # an LLM that was made to read tables
    FACTS = "facts"  # public facts that look like remembered rows
    REDACTED = "redacted"  # the parts of a run that are left out of its published form
    SEEDS = "seeds"  # differences between merged runs
    VERSIONS = "versions"
    EDITIONS = "editions"
    SHARD = "shard"  # results of some parts of a run alone
    STOPPED = "stopped"  # at the user's limit
    ENDED = "ended"  # a model that was not asked everything
    INTERRUPTED = "interrupted"
    NOT_FINISHED = "not finished"
    NO_POWER = "no power"
    NOT_KNOWN = "not known"
    PLAUSIBILITY = "plausibility"
    CONTROLS = "controls"  # what controls show, without a warning


MEASURED = (Verdict.CONTAMINATED, Verdict.NOT_DETECTED, Verdict.NO_ANSWER)
WARNINGS = (NoteKind.NO_POWER, NoteKind.NOT_KNOWN, NoteKind.PLAUSIBILITY)
CLAIMS = (
    *WARNINGS,
    NoteKind.SHARD,
    NoteKind.STOPPED,
    NoteKind.INTERRUPTED,
    NoteKind.NOT_FINISHED,
)  # printed before the text


@dataclass(frozen=True)
class Note:
    """A note of a run."""

    kind: NoteKind
    """The subject of the note."""
    text: str
    """The note in words."""

    @property
    def warns(self) -> bool:
        """True if the note warns that a test cannot be trusted on this table."""
        return self.kind in WARNINGS

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}" if self.kind in CLAIMS else self.text


Labelled = tuple[str, Result]  # a result, with the report's label of its table


HAS_READ = "is known to have read"


def note_exposure(results: Iterable[Labelled]) -> list[Note]:
    """Return for each model of these results a note on the tables that it has read, if this is known."""
    by_llm = grouped(results, lambda one: one[1].llm).items()
    return [Note(NoteKind.EXPOSURE, f"{llm} {read}") for llm, own in by_llm if (read := _read(own))]


def is_of(note: Note, llm: str) -> bool:
    """Return whether `note`, on tables that a model has read, is about `llm`."""
    return note.text.startswith(f"{llm} {HAS_READ} ")


def _read(results: Iterable[Labelled]) -> str:
    """Return in words the tables that the model of these results is known to have read; "" if this is unknown."""
    copies = {label: result.exposure for label, result in results if result.exposure is not None}
    read = grouped((label for label in copies if copies[label]), copies.__getitem__)
    clauses = [
        f"{copies_read(number)} of each row of {phrase(labels)}"
        for number, labels in read.items()
        if number is not None
    ]
    unread = [label for label, number in copies.items() if not number]
    clauses += [f"none of the rows of {phrase(unread)}"] if unread else []
    return f"{HAS_READ} {'; '.join(clauses)}" if clauses else ""


def copies_read(number: float) -> str:
    """Return a mean number of copies in words.

    >>> copies_read(64.0)
    '64 copies, on average,'
    """
    return f"{number:,.4g} {'copy' if number == 1 else 'copies'}, on average,"


def note_controls(
    results: Sequence[Labelled], row_tests: frozenset[str], files: frozenset[str] = frozenset()
) -> list[Note]:
    """Return notes on the quality of the tests, from `results` of the built-in controls.

    A control that has read a table has also read a page about its dataset: only row tests are evidence of rows. `files`
    are datasets without such a page: a test of knowledge that does not detect them has missed nothing.
    """
    notes: list[Note] = []
    for llm, own in grouped(results, lambda one: one[1].llm).items():
        exposed = [one for one in own if one[1].exposed]
        unexposed = [one for one in own if one[1].exposure == 0]
        rows, others = _of_tests(exposed, row_tests), [one for one in exposed if one[1].test not in row_tests]
        missed, known = _judged(rows, Verdict.NOT_DETECTED), _judged(others, Verdict.NOT_DETECTED)
        paged = [one for one in known if one[1].dataset not in files]
        silent = _judged(exposed, Verdict.NO_ANSWER)
        flagged = _judged(_of_tests(unexposed, row_tests), Verdict.CONTAMINATED)
        notes += [
            *_by_test(NoteKind.NO_POWER, f"{llm}, which has read the table, was missed by", missed),
            *_by_test(NoteKind.NOT_KNOWN, f"{llm} gave no readable answer to", silent),
            *_by_test(NoteKind.PLAUSIBILITY, f"{llm}, which has read none of its rows, was flagged by", flagged),
            *_by_test(NoteKind.CONTROLS, f"{llm}, which has read a page about the dataset, was missed by", paged),
            *_count_detected(f"{llm}, which has read the table, was detected", _judged(rows, *MEASURED)),
            *_count_detected(
                f"{llm}, which has read none of its rows, was flagged",
                _judged(_of_tests(unexposed, row_tests), *MEASURED),
            ),
        ]
    return sorted(notes, key=lambda note: list(NoteKind).index(note.kind))


def note_named_controls(results: Sequence[Labelled], row_tests: frozenset[str]) -> list[Note]:
    """Return notes on the quality of the row tests, from controls that the user named, by the number of copies read.

    A missed control only shows that a test has no power against a similar model that has read as much: the control may
    not have learned the rows. If a control that has read nothing is flagged, this is an error.
    """
    notes: list[Note] = []
    for llm, own in grouped(results, lambda one: one[1].llm).items():
        notes.append(Note(NoteKind.CONTROLS, f"{llm} {_read(own)}"))
        for copies, same in grouped(_of_tests(own, row_tests), lambda one: one[1].exposure).items():
            read = f"{copies_read(copies)} of each row" if copies else "none of the rows"
            subject = f"{llm}, which has read {read}, was"
            missed, silent = _judged(same, Verdict.NOT_DETECTED), _judged(same, Verdict.NO_ANSWER)
            flagged = _judged(same, Verdict.CONTAMINATED)
            if copies:
                notes += _by_test(NoteKind.NO_POWER, f"against a model like it: {subject} missed by", missed)
                notes += _by_test(NoteKind.NOT_KNOWN, f"{llm} gave no readable answer to", silent)
            else:
                notes += _by_test(NoteKind.PLAUSIBILITY, f"an error: {subject} flagged by", flagged)
            notes += _count_detected(f"{subject} {'detected' if copies else 'flagged'}", _judged(same, *MEASURED))
    return notes


def _of_tests(results: Iterable[Labelled], tests: frozenset[str]) -> list[Labelled]:
    return [one for one in results if one[1].test in tests]


def _judged(results: Iterable[Labelled], *verdicts: Verdict) -> list[Labelled]:
    return [one for one in results if one[1].verdict in verdicts]


def _by_test(kind: NoteKind, what: str, results: Iterable[Labelled]) -> list[Note]:
    """Return a note for each group of tests with equal datasets: `what`, then the tests and the datasets."""
    by_test = grouped(results, lambda one: one[1].test)
    places = {test: tuple(label for label, _ in own) for test, own in by_test.items()}
    tests = grouped(places, places.__getitem__)
    return [Note(kind, f"{what} {phrase(names)} on {phrase(labels)}") for labels, names in tests.items()]


def _count_detected(what: str, results: Sequence[Labelled]) -> list[Note]:
    found = sum(result.verdict is Verdict.CONTAMINATED for _, result in results)
    text = f"{what} by the row tests in {found} of {len(results)} measured results"
    return [Note(NoteKind.CONTROLS, text)] if results else []
