"""The methods section of a paper about a run, as paragraphs. Every number comes from results.json.

A paragraph is a list of pieces: our own words, and names that others chose. Each form of a report marks and escapes
these names in its own way.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tabcontam.config import ALL, PAPER
from tabcontam.evidence.base import Facts, Family, Verdict
from tabcontam.extensions.publish.citations import BENJAMINI, RONVAL, CitedWork, others_of, software
from tabcontam.groups import grouped
from tabcontam.verdicts.judge_facts import JudgeFacts
from tabcontam.verdicts.notes import NoteKind
from tabcontam.verdicts.result_types import PROMPTS, TableVerdict
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.run_facts import DatasetFacts, LlmFacts, in_words
from tabcontam.verdicts.wording import phrase, rounded

# Kinds of other notes that a reader of the paper must know.
SHOWN_NOTES = (
    NoteKind.QUERIES, NoteKind.KNOWN, NoteKind.TRAINED, NoteKind.REFERENCE, NoteKind.REDACTED, NoteKind.SEEDS,
    NoteKind.VERSIONS, NoteKind.NOT_READ, NoteKind.SENT, NoteKind.SAMPLED,
    NoteKind.EDITIONS, NoteKind.STOPPED, NoteKind.ENDED, NoteKind.INTERRUPTED, NoteKind.NOT_FINISHED,
)  # fmt: skip
CONTINUES = "; the same command"  # from here on, a note is meant only for the person who made the run
KNOWN, ROWS, MEASURED = "known", "rows", "measured"
SHOWS = {
    KNOWN: ("asks", "ask", "whether the dataset is known, for which a page about it is enough"),
    ROWS: ("asks", "ask", "about rows, and can show that they were seen"),
    MEASURED: ("gives", "give", "an accuracy or another measure, without a verdict on contamination"),
}


@dataclass(frozen=True)
class Name:
    """A text that others chose: the name of an LLM or a table, or a hash."""

    text: str


Piece = str | Name | CitedWork  # a work is cited at the piece's place
Paragraph = list[Piece]


def methods(view: RunResults) -> list[Paragraph]:
    """Return the paragraphs: the LLMs and their queries; the verdicts; further facts that a reader must know."""
    parts: tuple[tuple[Callable[[RunResults], Iterator[Piece]], ...], ...] = (
        (_llms, _tables, _tests, _queries, _judges),
        (_rules, _rows, _found),
        (_controls, _notes, _made),
    )
    paragraphs = [[piece for sentence in part for piece in sentence(view)] for part in parts]
    return [_joined(one) for one in paragraphs if one]


def _joined(pieces: Iterable[Piece]) -> Paragraph:
    """Return the pieces without empty ones. Neighbouring words are joined, and the last piece has no final blank."""
    kept: Paragraph = []
    for piece in pieces:
        if isinstance(piece, str) and kept and isinstance(kept[-1], str):
            kept[-1] += piece
        elif piece != "":
            kept.append(piece)
    return [*kept[:-1], kept[-1].rstrip()] if isinstance(kept[-1], str) else kept


def _listed(items: Sequence[Sequence[Piece]]) -> Iterator[Piece]:
    """Yield the items as a phrase: a, b and c."""
    for place, item in enumerate(items):
        yield "" if place == 0 else " and " if place == len(items) - 1 else ", "
        yield from item


def _count(number: int, name: str, names: str = "") -> str:
    return f"{number:,} {name if number == 1 else names or name + 's'}"


def _llms(view: RunResults) -> Iterator[Piece]:
    facts = {llm.spec: llm for llm in view.run.llms}
    named = list(dict.fromkeys(result.llm for result in view.subjects))
    asked, searched = ([llm for llm in named if (llm in view.corpora) is wanted] for wanted in (False, True))
    python = view.run.versions.get("python")
    yield from (f"With tabcontam {view.run.version} ", software(view.run.version))
    yield f"{f', on Python {python},' if python else ''} we tested "
    counted = [_count(len(asked), "LLM")] if asked or not searched else []
    counted += [_count(len(searched), "corpus", "corpora")] if searched else []
    yield f"{phrase(counted)} for contamination with tabular data{_when(view)}: "
    yield from _listed([list(_llm(view, llm, facts.get(llm))) for llm in (*asked, *searched)] or [["none"]])
    yield ". "


def _llm(view: RunResults, spec: str, facts: LlmFacts | None) -> Iterator[Piece]:
    yield Name(spec)
    if facts is None:
        return
    titles = [title] if (title := view.title(spec)) else []
    yield f" ({', '.join(titles)}{', ' if titles else ''}" if titles else " ("
    if facts.named_otherwise:
        yield from (Name(facts.named_otherwise), ", ")
    yield from ("version ", Name(facts.version)) if facts.version else ("no version is stated",)
    yield ")"


def _when(view: RunResults) -> str:
    """Return when the LLMs were asked: a day or, for merged runs, the first and the last day."""
    started = [run.started for run in view.run.runs] or [view.run.started]
    days = sorted({moment[:10] for moment in started if moment})
    return "" if not days else f", starting on {days[0]}" if len(days) == 1 else f", from {days[0]} to {days[-1]}"


def _tables(view: RunResults) -> Iterator[Piece]:
    used = {(result.dataset, result.edition or "", result.split or "") for result in view.subjects}
    tables = [table for table in view.run.datasets if table.key in used]
    if tables:
        yield f"{'The table was' if len(tables) == 1 else 'The tables were'} "
        yield from _listed([list(_table(table)) for table in tables])
        yield ". "


def _table(table: DatasetFacts) -> Iterator[Piece]:
    yield Name(table.name)
    yield " ("
    if table.edition:
        yield from ("edition ", Name(table.edition), ", ")
    if table.split:
        yield from ("split ", Name(table.split), ", ")
    yield _count(table.rows or 0, "row")
    if table.sampled is not None:
        yield f" (queries and baseline took a sample of {table.sampled:,} of them)"
    yield f", {_count(table.columns or 0, 'column')}"
    if table.sha256:
        yield from (", SHA-256 ", Name(table.sha256))
    yield ")"


def _tests(view: RunResults) -> Iterator[Piece]:
    asked = {result.test for result in view.subjects if result.queries}
    by_kind = grouped([view.facts[test] for test in view.tests if test in asked], _shows)
    for kind, tests in by_kind.items():
        one, many, rest = SHOWS[kind]
        head = _named(tests)
        yield f"{head[:1].upper()}{head[1:]} {one if len(tests) == 1 else many} {rest}. "
    if any(view.facts[test].number for test in asked if test in view.facts):
        yield from ("They are numbered as in ", RONVAL, ". ")
    if others := others_of(view):
        yield "Tests without a number follow "
        yield from _listed([[work] for work in others])
        yield ". "
    ways = (
        ("Rows were written as text by the serializer", "serializer", None),
        ("Queries were worded by the prompt set", "prompts", PROMPTS),
    )
    for words, way, usual in ways:
        chosen = list(dict.fromkeys(name for result in view.subjects if (name := getattr(result, way))))
        if chosen and chosen != [usual]:
            yield f"{words}{'s' if len(chosen) > 1 else ''} "
            yield from _listed([[Name(name)] for name in chosen])
            yield ". "


def _named(tests: Sequence[Facts]) -> str:
    named = in_words(tests)
    return f"{'test' if len(tests) == 1 else 'tests'} {named}" if named[:1].isdigit() else named


def _shows(test: Facts) -> str:
    if test.row_test:
        return ROWS
    return KNOWN if test.family is Family.KNOWLEDGE else MEASURED


def _queries(view: RunResults) -> Iterator[Piece]:
    planned = sum(result.queries for result in view.subjects)
    read = sum(result.evidence.answered for result in view.subjects)
    yield f"{_count(planned, 'query was', 'queries were')} planned, and {_count(read, 'answer')} could be read. "
    turns = [table for table in _judged(view) if table.decided_after is not None]
    if view.run.until_decided is not None and turns:
        after, of = ([getattr(table, name) or 0 for table in turns] for name in ("decided_after", "sequential_queries"))
        yield (
            "The row tests were asked in turns until a table was decided or an LLM that remembers "
            f"{view.run.until_decided:.0%} of its rows would have been detected: {_spread(after)} of {_spread(of)} "
            "queries. "
        )
    blunt = sum(result.verdict is Verdict.UNINFORMATIVE and not result.queries for result in view.subjects)
    if blunt:
        yield f"For {_count(blunt, 'result')} nothing was asked, since the test could not tell memory from prediction. "
    cut = sum(result.cut_short for result in view.subjects)
    if cut:
        yield f"For {_count(cut, 'result')} not every query was asked. "


def _judges(view: RunResults) -> Iterator[Piece]:
    """Yield sentences on the comparison of texts if it was not ROUGE-L, and on the judges of completions."""
    if overlap := view.run.overlap:
        yield from ("In the published rule by overlap, texts were compared by ", Name(overlap), ", not ROUGE-L. ")
    judge = view.run.judge
    if judge and judge.spec not in {one.by for one in view.judges}:
        yield from ("An LLM, ", Name(judge.spec), ", was to judge which completions match; it was asked about none. ")
    for one in view.judges:
        if not one.person:
            yield from _judge(one, judge if judge and judge.spec == one.by else None, view.run.recorded)
    people = [one.judged for one in view.judges if one.person]
    if people:
        yield f"{_count(len(people), 'person', 'people')} judged {_spread(people)} completions"
        yield " each" if len(people) > 1 else ""
        yield ". " if view.run.recorded else ", without knowing who wrote them. "


def _judge(one: JudgeFacts, facts: LlmFacts | None, recorded: bool) -> Iterator[Piece]:
    """Yield the facts of an LLM that judged: its number of completions, its judgements and its error rate."""
    if recorded:
        yield "As recorded, an LLM had judged which completions match"
    else:
        yield from ("Which completions match, if the text alone does not show it, was judged by an LLM, ", Name(one.by))
        yield from (" (version ", Name(facts.version), ")") if facts and facts.version else ()
    called = phrase([f"{count:,} {word}" for word, count in one.words.items()])
    yield f": of {_count(one.judged + one.unjudged, 'completion')} it called {called or 'none by a word'}"
    yield f" and gave no answer for {one.unjudged}. " if one.unjudged else ". "
    if one.errs:
        yield f"Its error rate was measured on pairs of known likeness, which are easier: {one.errs}. "
    else:
        yield "Its error rate was not measured. "


def _spread(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _judged(view: RunResults) -> list[TableVerdict]:
    return [table for table in view.tables_in_order if table.llm not in view.joined]


def _rules(view: RunResults) -> Iterator[Piece]:
    if view.run.rules == PAPER:
        yield "Answers were judged by the rules of the paper as published, which have no null model: their error rate "
        yield "is not known. "
        return
    weighed = [result for result in view.subjects if result.evidence.null and result.test in view.row_tests]
    yield "A result is contaminated if the baseline does not explain the answers"
    for null, results in grouped(weighed, lambda result: result.evidence.null).items():
        tests = {result.test for result in results}
        yield f"; in {_named([view.facts[test] for test in view.tests if test in tests])} {null}"
    yield ". "
    if view.run.alpha is not None:
        over = "all LLMs" if view.run.family_over == ALL else "each LLM"
        yield f"The level is {view.run.alpha:g} over the results of {over} and of each family of tests, by the "
        yield from ("procedure of Benjamini and Hochberg ", BENJAMINI, ". ")


def _rows(view: RunResults) -> Iterator[Piece]:
    if not any(result.queries and result.test in view.row_tests for result in view.subjects):
        yield "No row test was asked, so nothing here can show that rows were seen. "
    elif view.run.rules != PAPER and view.bets:
        yield "A table's verdict rests on its row tests together: on the e-value E, the value of one unit bet on the "
        yield "answers at the baseline's odds, which reaches 1/a with a probability of at most a for an LLM that has "
        yield "not seen the rows. The verdict must hold whichever single column is left out. "


def _found(view: RunResults) -> Iterator[Piece]:
    tables = _judged(view)
    if not tables:
        return
    by_verdict = grouped(tables, lambda table: table.verdict)
    verdicts = [f"{verdict} in {len(by_verdict[verdict]):,}" for verdict in Verdict if verdict in by_verdict]
    searched = {table.llm for table in tables} & view.corpora
    whom = (
        "an LLM"
        if not searched
        else "an LLM, or a corpus,"
        if len(searched) < len({table.llm for table in tables})
        else "a corpus"
    )
    yield f"Of {_count(len(tables), 'pair')} of {whom} and a table the verdict is {phrase(verdicts)}. "
    if alone := sum(table.by_corpora for table in tables):
        yield f"Of these, {alone:,} rest only on documents that the LLM was trained on. "
    shares = sorted(
        table.detectable_share
        for table in by_verdict.get(Verdict.NOT_DETECTED, ())
        if table.detectable_share is not None
    )
    if shares:
        least, most = (rounded("detectable_share", share) for share in (shares[0], shares[-1]))
        spread = least if least == most else f"{least} to {most} (depending on the table)"
        yield f"Where a table is not detected, an LLM that remembers {spread} of its rows would have been detected; "
        yield "smaller shares stay undetected. "


def _controls(view: RunResults) -> Iterator[Piece]:
    if not view.joined and not view.checking:
        yield "No control was run. "
        return
    yield "Controls, language models whose exposure to the tables is known, took the same tests"
    yield f": {'; '.join(map(str, view.controls))}. " if view.controls else ". "


def _notes(view: RunResults) -> Iterator[Piece]:
    for note in view.notes:
        if note.kind is NoteKind.FACTS:
            yield "If a table holds public facts, an LLM that knows several columns of them from elsewhere counts as "
            yield "contaminated, too; no LLM that has not seen the tables was asked as a reference. "
        if note.kind in SHOWN_NOTES:
            yield f"Note: {str(note).partition(CONTINUES)[0].rstrip('. ')}. "


def _made(view: RunResults) -> Iterator[Piece]:
    if view.run.seed is not None:
        yield f"The seed is {view.run.seed}; "
    yield "the dictionary is "
    yield from (Name(view.run.dictionary or "(not recorded)"), ".")
