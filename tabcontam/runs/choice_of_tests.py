"""The choice of a run's tests, and of the LLMs and corpora that get them.

A run asks a chosen test if its needs are met, if it has the required queries, and if a subject of the run can take it.
Only corpora take tests that search documents, and they take no other tests.
"""

from collections.abc import Collection, Iterable, Sequence

from tabcontam.asking.query_plan import QuerySheet, RunSource
from tabcontam.config import PAPER, RunConfig
from tabcontam.errors import NothingSelected, UsageError, option, option_name
from tabcontam.evidence.base import NEEDED as MARKS
from tabcontam.evidence.base import Capability, RequiredInput, Test
from tabcontam.evidence.mixins import ShareTest, SizedTest
from tabcontam.evidence.registry import all_tests
from tabcontam.verdicts.wording import phrase

SEARCHING = MARKS[Capability.SEARCH]  # the mark of all tests that search documents
NEEDED = {
    RequiredInput.KEY: ("the key of a planted table", "KEYFILE"),
    RequiredInput.WITHHELD: ("rows of the table's source that were never published", "FILE"),
}


def with_given(tests: Sequence[Test], config: RunConfig) -> list[Test]:
    """Return the tests that have all the inputs they need. Raises `NothingSelected` if no test is left."""
    possible = [test for test in tests if not test.only_with or config.values.get(test.only_with)]
    if not possible:
        raise NothingSelected("; ".join(map(_lacking, tests)))
    return possible


def _lacking(test: Test) -> str:
    words, value = NEEDED[test.only_with]
    return f"{test.id} needs {words}; add {option(test.only_with.value, value)}"


def check_fresh(config: RunConfig, tests: Sequence[Test]) -> None:
    """Raise `UsageError` if fresh rows are given but no test compares with them."""
    if config.fresh and not any(isinstance(test, ShareTest) for test in tests):
        able = " or ".join(test.id for test in all_tests() if isinstance(test, ShareTest))
        raise UsageError(
            f"{option_name('fresh')}: no chosen test compares with fresh rows; choose {option('tests', able)} "
            "and a model that understands questions"
        )


def check_rows(config: RunConfig, tests: Sequence[Test]) -> None:
    """Raise `UsageError` if a number of rows is given but no test can use it."""
    if config.rows is not None and not any(isinstance(test, SizedTest) for test in tests):
        able = " or ".join(test.id for test in all_tests() if isinstance(test, SizedTest))
        raise UsageError(
            f"{option_name('rows')}: no chosen test takes a number of rows; choose "
            f"{option('tests', able)}, or leave {option('rows')} out"
        )


def fewer_rows(config: RunConfig, sheets: Iterable[QuerySheet]) -> tuple[str, ...]:
    """Return a line on each test and table with fewer rows to ask about than the user wants."""
    wanted = config.rows
    if wanted is None or config.queries is not None:
        return ()
    lines = {}
    for sheet in sheets:
        rows = sum(not query.decoy_of for query in sheet.written)
        if isinstance(sheet.test, SizedTest) and not sheet.unfit and rows < wanted:
            label = sheet.table.named
            lines[sheet.test.id, label] = (
                f"{option('rows', wanted)}: {sheet.test.id} asks about only {rows:,} rows of {label}, since no "
                "other row of it suits the test"
            )
    return tuple(lines.values())


def split_asked_tests(tests: Sequence[Test], config: RunConfig) -> tuple[list[Test], tuple[Test, ...]]:
    """Return the tests that are asked, and the tests that are left out because the paper has no queries for them.

    Raises `NothingSelected` if no test is asked.
    """
    if config.queries != PAPER:
        return list(tests), ()
    named, found = [test.id for test in tests], [test for test in tests if test.published]
    if not found:
        raise NothingSelected(f"none of the chosen tests has queries of the paper's own: {', '.join(named)}")
    return found, tuple(test for test in tests if test not in found)


def put_to(
    tests: Sequence[Test], subjects: Sequence[RunSource], declared: Collection[str] = ()
) -> tuple[list[Test], tuple[RunSource, ...], tuple[str, ...]]:
    """Return the tests that a subject under test takes, the subjects that take one, and a line on each that takes none.

    Controls do not join if only corpora are searched. An LLM with `declared` training data is kept, because rows found
    in that data count for it. Raises `NothingSelected` if no subject under test takes a test.
    """
    under_test = [subject for subject in subjects if subject.tested]
    taken = [test for test in tests if any(subject.takes(test) for subject in under_test)]
    if not taken:
        raise NothingSelected(_not_taken(tests, under_test))
    idle = [subject.model for subject in under_test if not any(map(subject.takes, taken))]
    lines = tuple(_idle(model.spec, model.is_corpus, taken) for model in idle if model.spec not in declared)
    searched = all(Capability.SEARCH in test.needs for test in taken)
    taking = tuple(
        subject
        for subject in subjects
        if not (subject.joined and searched) and (subject.model not in idle or subject.model.spec in declared)
    )
    return taken, taking, lines


def _not_taken(tests: Sequence[Test], subjects: Sequence[RunSource]) -> str:
    """Return the reason why no subject takes any of these tests, with the options to type instead."""
    chosen, named = phrase([test.id for test in tests]), phrase([subject.model.spec for subject in subjects])
    if all(subject.model.is_corpus for subject in subjects):
        what = "is a corpus" if len(subjects) == 1 else "are corpora"
        verb = "asks" if len(tests) == 1 else "ask"
        instead = option("marks", SEARCHING)
        return f"{chosen} {verb} LLMs, and {named} {what}; choose {instead} instead, or also name a model"
    verb = "searches" if len(tests) == 1 else "search"
    return f"{chosen} {verb} documents, and no corpus is named; name one with {option('llm', 'corpus:PATH')}"


def _idle(spec: str, is_corpus: bool, tests: Sequence[Test]) -> str:
    verb = "chosen tests ask only LLMs" if is_corpus else "chosen tests search only documents"
    what = "is not searched" if is_corpus else "is asked nothing"
    return f"{spec} {what}: the {verb} ({phrase([test.id for test in tests])})"
