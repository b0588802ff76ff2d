"""The first part of the report: the scope of the run, and one plain sentence of findings for each LLM.

A sentence distinguishes recalled rows (the verdict on the table, or on one of its row tests, is contaminated) from
knowledge about the table, and "not detected" from "not decided". It claims no more than the gate.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tabcontam.config import ALL, CALIBRATED
from tabcontam.evidence.base import Verdict
from tabcontam.groups import grouped
from tabcontam.report import memory_shares
from tabcontam.report.standings import TableStanding, Titles, standings, strongest, titles_of
from tabcontam.verdicts.notes import copies_read
from tabcontam.verdicts.results import LlmBlock, RunResults
from tabcontam.verdicts.wording import phrase, rounded

NAMES_SHOWN = 8  # most names in a clause
SHARES_SHOWN = 3
UNDECIDED_BECAUSE = {
    Verdict.UNINFORMATIVE: "the test could not tell memory from prediction",
    Verdict.NO_ANSWER: "too few answers could be read",
    Verdict.SKIPPED: "nothing was asked",
}
CORPUS_UNDECIDED_BECAUSE = {  # reasons for an undecided corpus
    Verdict.UNINFORMATIVE: "a search cannot distinguish these rows from others",
    Verdict.NO_ANSWER: "too little of it could be read",
    Verdict.SKIPPED: "it was not searched",
}
# clauses on controls: those that the run added, and those that the user named
OF_EXPOSED = {
    Verdict.CONTAMINATED: "recalls rows of {tables}, as it must: it has read them",
    Verdict.NOT_DETECTED: "is missed on {tables}, whose rows it has read, so the row tests have no power there",
}
AS_IT_MUST = {Verdict.NOT_DETECTED: "no rows of {tables} were detected, as it must be: it has read none of {its} rows"}
OF_UNEXPOSED = {
    Verdict.CONTAMINATED: "is flagged on {tables}, though it has read none of {its} rows: the row tests measure "
    "plausibility there, not memory",
    **AS_IT_MUST,
}
OF_NAMED_EXPOSED = {
    Verdict.CONTAMINATED: "is detected on {tables}, of which it has read {copies} of each row",
    Verdict.NOT_DETECTED: "is missed on {tables}, of which it has read {copies} of each row",
}
OF_NAMED_UNEXPOSED = {
    Verdict.CONTAMINATED: "is flagged on {tables}, by mistake: it has read none of {its} rows",
    **AS_IT_MUST,
}
VERBS = ("recalls ", "knows ", "is ", "holds ")  # first words of clauses with the LLM as subject
TRAINED_ON = "documents that it was trained on"
ONE_COLUMN = "the finding rests on one column"
CUT_SHORT = "not every query was asked"
REMEMBERING = "an LLM that remembers {} of the rows would have been detected"
RULES = {
    "calibrated": "calibrated rules: a result is contaminated if the baseline does not explain the answers, at level "
    "{alpha} over all results of {over} and a family of tests (Benjamini-Hochberg)",
    "paper": "the paper's rules: decisions as published, with their faults, and with no known error rate",
}


@dataclass(frozen=True)
class Sentence:
    """A sentence on one LLM: `title` and `rest`, joined by a blank or a colon."""

    llm: str
    title: str
    control: bool
    joint: str
    rest: str

    def __str__(self) -> str:
        return f"{self.title}{self.joint}{self.rest}"


def scope(view: RunResults) -> str:
    """Return the scope of the run in one line: the numbers of LLMs, tables, tests and queries, the day, the rules."""
    subjects = view.subjects
    searched = {result.llm for result in subjects} & view.corpora
    llms, tests = {result.llm for result in subjects}, {result.test for result in subjects}
    tables = {(result.dataset, result.edition, result.split) for result in subjects}
    serializers, prompts = ({getattr(result, way) for result in subjects} for way in ("serializer", "prompts"))
    queries = sum(result.queries for result in subjects)
    bodies = _count(len(searched), "corpus", "corpora")
    counts = [_count(len(llms - searched), "LLM")] * bool(llms - searched or not searched) + [bodies] * bool(searched)
    counts += [_count(len(tables), "table"), _count(len(tests), "test")]
    counts += [_count(len(serializers), "serializer")] * (len(serializers) > 1)
    counts += [_count(len(prompts), "prompt set")] * (len(prompts) > 1)
    # Not all queries were asked if the run ended early or a table was decided early.
    partly = view.run.ended_early or view.run.until_decided is not None
    names = ("planned query", "planned queries") if partly else ("query", "queries")
    counts += [_count(queries, *names)] * bool(queries)
    counts += [f"plus {_count(len(view.joined), 'control')}"] * bool(view.joined)
    decided = not tests or any(view.facts[test].decides for test in tests)
    return "; ".join(filter(None, (", ".join(counts), _day(view), _rules(view) if decided else "")))


def sentences(view: RunResults, titles: Titles | None = None) -> list[Sentence]:
    """Return a sentence for each LLM in the page's order, then for LLMs that were asked nothing, then for controls."""
    titles = titles or titles_of(view)
    asked = [_sentence(titles, block) for block in view.blocks]
    present = {block.llm for block in view.blocks}
    absent = dict.fromkeys(llm.spec for llm in view.run.llms if llm.spec not in present)
    asked += [Sentence(llm, titles.llm(llm), False, " ", f"{_of_absent(titles, llm)}.") for llm in absent]
    return sorted(asked, key=lambda sentence: sentence.control)


def _of_absent(titles: Titles, llm: str) -> str:
    """Return clauses on an LLM that was asked nothing, about its training documents that contain rows of a table."""
    held = [table for table in titles.view.tables_in_order if table.llm == llm and table.corpora]
    by_corpora = grouped(held, lambda table: table.corpora)
    clauses = [
        f"{TRAINED_ON} ({phrase(corpora)}) hold rows of {_listed([titles.dataset(table.dataset) for table in own])}"
        for corpora, own in by_corpora.items()
    ]
    return "; ".join(["was asked nothing", *clauses])


def _sentence(titles: Titles, block: LlmBlock) -> Sentence:
    own = standings(titles, block)
    if block.llm in titles.view.named_controls:
        clauses = [*_of_named_control(titles, block, own), *_unasked(titles, block)]
    else:
        tables = list(_together(own.values()))
        if block.control:
            clauses_of = _of_control(tables, OF_EXPOSED if block.results[0].exposed else OF_UNEXPOSED)
        else:
            clauses_of = _of_corpus(tables) if block.llm in titles.view.corpora else _of_subject(tables)
        clauses = [*clauses_of, *_of_memory(titles, block, own), *_unasked(titles, block)]
    joint = " " if clauses[0].startswith(VERBS) else ": "
    return Sentence(block.llm, titles.llm(block.llm), block.control, joint, f"{'; '.join(clauses)}.")


# ways_named: most serializers and prompt sets of a table that are named; more are counted
def _together(found: Iterable[TableStanding], *, ways_named: int = 2) -> Iterator[TableStanding]:
    """Yield each table once. If several serializers or prompt sets were used, it has its strongest verdict."""
    for own in grouped(found, lambda one: (one.table, one.result.edition, one.result.split)).values():
        # A score does not matter if a verdict exists on the table.
        ways = [one for one in own if one.rows] or [one for one in own if one.knowledge] or own
        if len(ways) <= ways_named and not any(one.result.source for one in own):
            yield from [one for one in own if one.verdict] or own
        else:
            yield _strongest_way(own, ways)


def _strongest_way(own: Sequence[TableStanding], ways: Sequence[TableStanding]) -> TableStanding:
    verdict = strongest(one.rows for one in ways)
    same = [one for one in ways if one.rows is verdict]
    same = [one for one in same if not one.unsure] or same
    knowledge = strongest(one.knowledge for one in own)
    number = f"{len(same)} of {len(ways)} ways of asking" if len(same) < len(ways) else ""
    share = min((one.share for one in same if one.share is not None), default=None)
    why = same[0].why if len({one.why for one in same}) == 1 else ""
    return replace(
        same[0], apart=f"{same[0].edition_and_split} {number}".strip(), knowledge=knowledge, share=share, why=why
    )


def _of_subject(found: Sequence[TableStanding]) -> Iterator[str]:
    recalled = [one for one in found if one.rows is Verdict.CONTAMINATED and not one.by_corpora]
    for void, group in _by_void([one for one in recalled if not one.unsure]):
        as_well = f" ({_flagged(void, group)} as well)" if void else ""
        yield f"recalls rows of {_names(group)}{as_well}"
    for void, group in _by_void([one for one in recalled if one.unsure]):
        why = f"{_flagged(void, group)} as well"
        yield f"the finding on {_names(group)} may be plausibility, not memory: {why}"
    held = grouped((one for one in found if one.corpora), lambda one: (one.corpora, one.by_corpora))
    for (corpora, alone), group in held.items():
        as_well = "" if alone else " as well"
        yield f"{TRAINED_ON} ({phrase(corpora)}) hold rows of {_names(group)}{as_well}"
    yield from _of_known([one for one in found if one.known and one.rows is not Verdict.CONTAMINATED])
    rest = [one for one in found if not one.known and one.rows is not Verdict.CONTAMINATED]
    for group in _by_power([one for one in rest if one.rows is Verdict.NOT_DETECTED]):
        yield f"no rows were detected on {_with_shares(group)}"
    yield from _of_undecided([one for one in rest if one.rows in UNDECIDED_BECAUSE])
    yield from _of_rows_unasked([one for one in rest if one.rows is None])


def _of_known(found: Sequence[TableStanding]) -> Iterator[str]:
    for group in _by_power([one for one in found if one.rows is Verdict.NOT_DETECTED]):
        each = 1 < len(_by_percent(group)) <= SHARES_SHOWN
        yield _knows(group, f"no rows were detected{f' on {_with_shares(group)}' if each else _detectable(group)}")
    if undecided := [one for one in found if one.rows in UNDECIDED_BECAUSE]:
        yield _knows(undecided, "whether it recalls rows is undecided")
    if unasked := [one for one in found if one.rows is None]:
        yield _knows(unasked, "no row test was run")


def _knows(group: Sequence[TableStanding], of_rows: str) -> str:
    page = f"a page about {'it' if len(group) == 1 else 'each'}"
    return f"knows {_names(group)}, for which {page} is enough ({of_rows})"


def _of_undecided(found: Sequence[TableStanding]) -> Iterator[str]:
    for verdict in UNDECIDED_BECAUSE:
        for group in _by_end([one for one in found if one.rows is verdict]):
            yield f"whether it recalls rows of {_names(group)} is undecided: {_reason(group)}"


def _by_end(found: Sequence[TableStanding]) -> Iterable[list[TableStanding]]:
    """Return the tables with all queries asked, then the other tables."""
    return grouped(sorted(found, key=lambda one: one.cut), lambda one: one.cut).values()


def _of_rows_unasked(found: Sequence[TableStanding]) -> Iterator[str]:
    if clean := [one for one in found if one.knowledge is Verdict.NOT_DETECTED]:
        yield f"no knowledge of {_names(clean)} was detected (no row test was run)"
    for undecided in _by_end([one for one in found if one.knowledge in UNDECIDED_BECAUSE]):
        yield f"nothing is decided on {_names(undecided)}: {_reason(undecided)}"
    if scored := [one for one in found if one.knowledge is None and not one.memory]:
        yield f"there are only scores on {_names(scored)}, without a verdict"


def _of_memory(titles: Titles, block: LlmBlock, found: Mapping[str, TableStanding]) -> Iterator[str]:
    """Yield clauses on memory's share of the accuracy, and on tables about which nothing else was asked."""
    if block.control:
        return
    yield from memory_shares.clauses(titles, block)
    if alone := [one for one in found.values() if one.memory and not one.verdict]:
        of = f" of {_names(alone)}" if len(alone) < len(found) else ""
        yield f"no test asked whether it recalls rows{of}"


def _of_corpus(found: Sequence[TableStanding]) -> Iterator[str]:
    if held := [one for one in found if one.rows is Verdict.CONTAMINATED]:
        yield f"holds rows of {_names(held)}"
    if clean := [one for one in found if one.rows is Verdict.NOT_DETECTED]:
        yield f"no rows of {_names(clean)} were detected in it"
    for verdict, because in CORPUS_UNDECIDED_BECAUSE.items():
        for group in _by_end([one for one in found if one.rows is verdict]):
            why = CUT_SHORT if group[0].cut else because
            reasons = {one.why for one in group}
            reason = f" ({one})" if len(reasons) == 1 and (one := reasons.pop()) else ""
            yield f"whether it holds rows of {_names(group)} is undecided: {why}{reason}"
    if described := [one for one in found if one.known and one.rows is not Verdict.CONTAMINATED]:
        yield f"it holds the content of a page about {_names(described)}"
    if unasked := [one for one in found if one.rows is None and not one.known]:
        yield f"it was not searched for rows of {_names(unasked)}"


def _of_named_control(titles: Titles, block: LlmBlock, found: Mapping[str, TableStanding]) -> Iterator[str]:
    """Yield clauses on a control that the user named. They are grouped by the copies of the rows that it has read."""
    copies = {titles.view.label(result): result.exposure or 0.0 for result in block.results}
    for number, labels in grouped(found, copies.__getitem__).items():
        clauses = OF_NAMED_EXPOSED if number else OF_NAMED_UNEXPOSED
        yield from _of_control([*_together(found[label] for label in labels)], clauses, copies_read(number))


def _of_control(found: Sequence[TableStanding], clauses: Mapping[Verdict, str], copies: str = "") -> Iterator[str]:
    for verdict, clause in clauses.items():
        if own := [one for one in found if one.rows is verdict]:
            yield clause.format(tables=_names(own), its=_its(own), copies=copies)
    yield from _of_undecided([one for one in found if one.rows in UNDECIDED_BECAUSE])
    if unasked := [one for one in found if one.rows is None]:
        yield f"no row test was run on {_names(unasked)}"


def _unasked(titles: Titles, block: LlmBlock) -> list[str]:
    """Return a clause on the run's tables about which this LLM was not asked, for example in an interrupted run."""
    present = {result.dataset for result in block.results}
    missing = dict.fromkeys(dataset.name for dataset in titles.view.run.datasets if dataset.name not in present)
    names = [titles.dataset(name) for name in missing]
    return [f"nothing was asked about {_listed(names)}"] if missing else []


def _by_void(found: Sequence[TableStanding]) -> list[tuple[tuple[str, ...], list[TableStanding]]]:
    """Return the tables, grouped by the row tests that do not count because of a control."""
    return sorted(grouped(found, lambda one: one.void).items(), key=lambda group: bool(group[0]))


def _flagged(void: Sequence[str], group: Sequence[TableStanding]) -> str:
    return f"{group[0].control}, which has none of {_its(group)} rows, was flagged by {_listed(void)}"


def _its(group: Sequence[TableStanding]) -> str:
    return "its" if len(group) == 1 else "their"


def _by_power(found: Sequence[TableStanding]) -> Iterator[list[TableStanding]]:
    """Yield the tables on which nothing was detected, grouped by whether the detectable share is known, and certain."""
    groups = grouped(found, lambda one: (one.unsure, one.void, one.share is None))
    yield from (groups[key] for key in sorted(groups, key=lambda key: (key[0], bool(key[1]), key[2])))


def _by_percent(group: Sequence[TableStanding]) -> dict[str, list[TableStanding]]:
    known = not group[0].unsure and group[0].share is not None
    return grouped(group, lambda one: _percent(one.share or 0.0) if known else "")


def _with_shares(group: Sequence[TableStanding]) -> str:
    """Return the tables in words, each with its detectable share: "A, where an LLM that … 4% …, and B, where 26%"."""
    percents = _by_percent(group)
    if not 1 < len(percents) <= SHARES_SHOWN:
        return _names(group) + _detectable(group)
    first, *others = percents
    each = [f"{_names(percents[first])}, where {REMEMBERING.format(first)}"]
    each += [f"{_names(percents[percent])}, where {percent}" for percent in others]
    return f"{', '.join(each[:-1])}, and {each[-1]}{_missed(group)}"


def _detectable(group: Sequence[TableStanding]) -> str:
    """Return in words the detectable share on these tables, and what limits this claim."""
    void, percents = group[0].void, list(_by_percent(group))
    if group[0].unsure:
        missed = f", but this is uncertain: {_missed_by(void, group)} as well"
        return missed if void else " so far: not every query of the row tests was asked"
    shares = [one.share for one in group if one.share is not None]
    if not shares:
        return f", and the detectable share is not known{_missed(group)}"
    share = percents[0] if len(percents) == 1 else f"from {_percent(min(shares))} to {_percent(max(shares))}"
    return f", where {REMEMBERING.format(share)}{_missed(group)}"


def _missed(group: Sequence[TableStanding]) -> str:
    return f" ({_missed_by(group[0].void, group)} as well)" if group[0].void else ""


def _missed_by(void: Sequence[str], group: Sequence[TableStanding]) -> str:
    return f"{group[0].control}, which has {_its(group)} rows, was missed by {_listed(void)}"


def _percent(share: float) -> str:
    return rounded("detectable_share", share) if share >= 0.005 else "under 1%"


def _reason(group: Sequence[TableStanding]) -> str:
    words = [CUT_SHORT if one.cut else _because(one) for one in group]
    verdicts = dict.fromkeys(filter(None, words))
    shared = {one.why for one in group}
    return " or ".join(verdicts) + (f" ({one})" if len(shared) == 1 and (one := shared.pop()) else "")


def _because(one: TableStanding) -> str | None:
    return ONE_COLUMN if one.rests_on else UNDECIDED_BECAUSE.get(one.verdict or Verdict.CONTAMINATED)


def _names(group: Sequence[TableStanding]) -> str:
    """Return the tables' names in words, with the tables of one dataset next to each other."""
    by_table = grouped(group, lambda one: one.table)
    apart = {table: [one.apart for one in own] for table, own in by_table.items()}
    return _listed([f"{table} ({_listed(marks)})" if any(marks) else table for table, marks in apart.items()])


def _listed(names: Sequence[str]) -> str:
    """Return the names as a phrase. The phrase counts the names that are left out.

    >>> _listed(["a", "b", "c"])
    'a, b and c'
    """
    left_out = len(names) - NAMES_SHOWN
    shown = [*names[:NAMES_SHOWN], f"{left_out} more"] if left_out > 0 else list(names)
    return phrase(shown)


def _count(number: int, one: str, several: str = "") -> str:
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def _day(view: RunResults) -> str:
    """Return the day on which the run began; empty if unknown."""
    try:
        day = datetime.fromisoformat(view.run.started or "")
    except ValueError:
        return ""
    return f"{day.day} {day:%B %Y}"


def _rules(view: RunResults) -> str:
    if view.run.rules == CALIBRATED and view.run.alpha is None:
        return "calibrated rules: a result is contaminated if the baseline does not explain the answers"
    over = "all LLMs" if view.run.family_over == ALL else "an LLM"
    return RULES[view.run.rules].format(alpha=view.run.alpha, over=over)
