"""The report at first sight: what was tested, and what was found about each LLM in one plain sentence.

A sentence tells rows that were recalled from mere knowledge, and nothing found from nothing that could be told. The
rows of a table are recalled where its verdict is contaminated or that of one of its row tests. It says no more than
the gate does: where that cannot tell, since a control voids the tests or they were not asked to the end, so it says.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from tabcontam.evidence.base import Kind, Verdict
from tabcontam.verdicts.gate import Conclusion, Ruling, Subject, cut_short, rulings
from tabcontam.verdicts.names import Place
from tabcontam.verdicts.results import (
    EXPOSED,
    ROW_TESTS,
    UNEXPOSED,
    Block,
    Cell,
    Results,
    TableVerdict,
    phrase,
    rounded,
    shorten,
    text,
)

NAMES_SHOWN = 8  # in a clause
SHARES_SHOWN = 3
WAYS_NAMED = 2  # serializers of a table that are named; more are counted
LONGEST_NAME, LONGEST_REASON = 80, 120
STRONGEST_FIRST = tuple(Verdict)  # as one verdict stands for several
UNTOLD = {
    Verdict.UNINFORMATIVE: "asking could not have told memory from guessing",
    Verdict.NO_ANSWER: "too few readable answers",
    Verdict.SKIPPED: "not asked",
}
CUT_SHORT = "not asked to the end"
RULES = {
    "calibrated": "calibrated rules: a finding is what guessing cannot explain, at level {alpha} over all cells of an "
    "LLM (Benjamini-Hochberg)",
    "paper": "the paper's rules: the published decisions, faults included, with no known error rate",
}


@dataclass(frozen=True)
class Standing:
    """What is known of one LLM and one table: its title, and what tells it from another one of the dataset.

    `rows` is the verdict on its rows and `knowledge` that of the other tests; None where no such test was judged.
    `share` is that of the rows which would have been seen, in [0, 1]; `why` says why the rows could not be told.
    `void` has the row tests that a control voids, and `unsure` says that the gate cannot tell by what stands in `rows`.
    `cut` says that it was not asked to the end, `edition` which table it is, and `source` where answers were recorded.
    """

    table: str
    apart: str
    rows: Verdict | None
    knowledge: Verdict | None
    share: float | None
    why: str
    void: tuple[str, ...] = ()
    unsure: bool = False
    cut: bool = False
    edition: str = ""
    source: str = ""

    @property
    def known(self) -> bool:
        """Whether a test found it that a page about the table is enough for."""
        return self.knowledge is Verdict.CONTAMINATED

    @property
    def verdict(self) -> Verdict | None:
        """That of the rows; where they were not asked, that of the other tests."""
        return self.rows or self.knowledge


@dataclass(frozen=True)
class Sentence:
    """What is said of one LLM: `title` and then `rest` make the sentence."""

    llm: str
    title: str
    control: bool
    rest: str

    def __str__(self) -> str:
        return self.title + self.rest


@dataclass(frozen=True)
class Titles:
    """What LLMs and tables are called in sentences: by the catalogue's titles and the cards', where there are any."""

    view: Results

    def llm(self, name: str) -> str:
        """The catalogue's title, with the name that the run gave where two would be called the same."""
        title = self._llms.get(name, "")
        if not title:
            return shorten(name, LONGEST_NAME)
        alone = list(self._llms.values()).count(title) == 1
        return title if alone else f"{title} ({shorten(name, LONGEST_NAME)})"

    def dataset(self, name: str) -> str:
        """The card's title, with the dataset's name where two would be called the same."""
        title = self._datasets.get(name) or name
        alone = list(self._datasets.values()).count(title) <= 1
        return shorten(title if alone else f"{title} [{name}]", LONGEST_NAME)

    def apart(self, of: Cell | TableVerdict) -> str:
        """What tells the table from another one of the dataset: edition, serializer, source."""
        return shorten(self.view.label(of).removeprefix(of.dataset).strip(), LONGEST_NAME)

    @cached_property
    def _llms(self) -> dict[str, str]:
        return {name: entry.title for name, entry in self.view.catalogue.items()}

    @cached_property
    def _datasets(self) -> dict[str, str]:
        return {fact["dataset"]: fact["title"] for fact in self.view.datasets}


def scope(view: Results) -> str:
    """What was tested, in one line: LLMs, tables, tests, queries, the day, the rules."""
    subjects = view.subjects
    llms, tests = {cell.llm for cell in subjects}, {cell.test for cell in subjects}
    tables = {(cell.dataset, cell.edition) for cell in subjects}
    serializers = {cell.serializer for cell in subjects}
    queries = int(sum(cell.numbers.get("queries", 0) for cell in subjects))
    counts = [_count(len(llms), "LLM"), _count(len(tables), "table"), _count(len(tests), "test")]
    counts += [_count(len(serializers), "serializer")] * (len(serializers) > 1)
    counts += [_count(queries, *_queries(view))] * bool(queries)
    counts += [f"beside {_count(len(view.joined), 'control')}"] * bool(view.joined)
    return "; ".join(filter(None, (", ".join(counts), _day(view), _rules(view))))


def sentences(view: Results, ruled: Mapping[Subject, Ruling] | None = None) -> list[Sentence]:
    """One sentence an LLM, in the order of the page, then those that were asked nothing; controls that joined last.

    `ruled` is what the gate says, where that is known already.
    """
    titles, ruled = Titles(view), rulings(view) if ruled is None else ruled
    asked = [_sentence(view, titles, block, ruled) for block in view.blocks]
    present = {block.llm for block in view.blocks}
    absent = dict.fromkeys(fact["llm"] for fact in view.llms if fact["llm"] not in present)
    asked += [Sentence(llm, titles.llm(llm), False, " was asked nothing.") for llm in absent]
    return sorted(asked, key=lambda sentence: sentence.control)


def standings(
    view: Results, block: Block, titles: Titles | None = None, ruled: Mapping[Subject, Ruling] | None = None
) -> dict[str, Standing]:
    """What is known of each table of an LLM, by the table's label, in the order of the page; `ruled` by the gate."""
    titles, ruled = titles or Titles(view), rulings(view) if ruled is None else ruled
    tables = {view.label(table): table for table in view.tables if table.llm == block.llm}
    cells: dict[str, list[Cell]] = {}
    for cell in block.cells:
        cells.setdefault(view.label(cell), []).append(cell)
    return {
        label: _standing(titles, own, tables.get(label), ruled.get((block.llm, Place.of(own[0]))))
        for label, own in cells.items()
    }


def _standing(titles: Titles, cells: Sequence[Cell], table: TableVerdict | None, ruling: Ruling | None) -> Standing:
    rows = [cell for cell in cells if cell.test in ROW_TESTS]
    found = any(cell.verdict is Verdict.CONTAMINATED for cell in rows)
    verdict = Verdict.CONTAMINATED if found else table.verdict if table else _strongest(rows)
    shares = [cell.numbers["detectable_share"] for cell in rows if "detectable_share" in cell.numbers]
    share = table.numbers.get("detectable_share") if table else min(shares, default=None)
    # Of what the row tests do not show, only knowledge of the data is claimed, by tests 1 to 6 and others like them.
    others = [cell for cell in cells if cell.test not in ROW_TESTS and cell.kind in (Kind.KNOWLEDGE, Kind.MEMORIZATION)]
    judged = rows or others
    title, apart = titles.dataset(cells[0].dataset), titles.apart(cells[0])
    standing = Standing(title, apart, verdict, _strongest(others), share, _why(judged, verdict))
    cut = _early(titles.view) and any(cut_short(cell) for cell in judged)
    standing = replace(standing, cut=cut, edition=cells[0].edition, source=cells[0].source)
    if ruling is None or table is None or verdict not in (Verdict.CONTAMINATED, Verdict.NOT_DETECTED):
        return standing
    void, found = ruling.void, verdict is Verdict.CONTAMINATED
    unsure = ruling.conclusion is Conclusion.CANNOT_TELL and bool(void or not found)
    return replace(standing, share=ruling.share, void=void, unsure=unsure)


def _strongest(cells: Iterable[Cell]) -> Verdict | None:
    verdicts = {cell.verdict for cell in cells}
    return next((verdict for verdict in STRONGEST_FIRST if verdict in verdicts), None)


def _why(cells: Sequence[Cell], verdict: Verdict | None) -> str:
    """Why nothing could be told: the reason of those cells whose verdict stands for all, where they share one."""
    reasons = {cell.reason for cell in cells if cell.verdict is (verdict or _strongest(cells))}
    reason = reasons.pop() if len(reasons) == 1 else ""
    return reason.rstrip(".") if len(reason) <= LONGEST_REASON else ""


def _sentence(view: Results, titles: Titles, block: Block, ruled: Mapping[Subject, Ruling]) -> Sentence:
    found = list(_together(standings(view, block, titles, ruled).values()))
    said = {EXPOSED: _of_exposed, UNEXPOSED: _of_unexposed}.get(block.llm) if block.control else None
    clauses = [*(said or _of_subject)(found), *_unasked(view, titles, block)]
    verbal = clauses[0].startswith(("recalls ", "knows ", "is "))
    rest = f"{'' if verbal else ':'} {'; '.join(clauses)}."
    return Sentence(block.llm, titles.llm(block.llm), block.control, rest)


def _together(found: Iterable[Standing]) -> Iterator[Standing]:
    """Each table once, by the strongest that is said of it, where it was asked about in many ways or many records."""
    tables: dict[tuple[str, str], list[Standing]] = {}
    for one in found:
        tables.setdefault((one.table, one.edition), []).append(one)
    for own in tables.values():
        # A score says nothing of a table of which something was judged.
        ways = [one for one in own if one.rows] or [one for one in own if one.knowledge] or own
        if len(ways) <= WAYS_NAMED and not any(one.source for one in own):
            yield from [one for one in own if one.verdict] or own
        else:
            yield _strongest_way(own, ways)


def _strongest_way(own: Sequence[Standing], ways: Sequence[Standing]) -> Standing:
    verdict = next((word for word in STRONGEST_FIRST if word in {one.rows for one in ways}), None)
    same = [one for one in ways if one.rows is verdict]
    same = [one for one in same if not one.unsure] or same
    knowledge = next((word for word in STRONGEST_FIRST if word in {one.knowledge for one in own}), None)
    edition = same[0].apart.split(" ")[0] if same[0].apart.startswith("@") else ""
    number = f"{len(same)} of {len(ways)} ways of asking" if len(same) < len(ways) else ""
    share = min((one.share for one in same if one.share is not None), default=None)
    why = same[0].why if len({one.why for one in same}) == 1 else ""
    return replace(same[0], apart=f"{edition} {number}".strip(), knowledge=knowledge, share=share, why=why)


def _of_subject(found: Sequence[Standing]) -> Iterator[str]:
    recalled = [one for one in found if one.rows is Verdict.CONTAMINATED]
    for void, group in _by_void([one for one in recalled if not one.unsure]):
        yield f"recalls rows of {_names(group)}" + (f" ({_flagged(void, group)} as well)" if void else "")
    for void, group in _by_void([one for one in recalled if one.unsure]):
        yield f"what was found on {_names(group)} may be plausibility, not memory: {_flagged(void, group)} as well"
    yield from _of_known([one for one in found if one.known and one.rows is not Verdict.CONTAMINATED])
    rest = [one for one in found if not one.known and one.rows is not Verdict.CONTAMINATED]
    for group in _by_power([one for one in rest if one.rows is Verdict.NOT_DETECTED]):
        yield f"nothing found on {_with_shares(group)}"
    yield from _of_untold([one for one in rest if one.rows in UNTOLD])
    yield from _of_rows_unasked([one for one in rest if one.rows is None])


def _of_known(found: Sequence[Standing]) -> Iterator[str]:
    for group in _by_power([one for one in found if one.rows is Verdict.NOT_DETECTED]):
        each = 1 < len(_by_percent(group)) <= SHARES_SHOWN
        yield f"{_knows(group)} (no rows found{f' on {_with_shares(group)}' if each else _seen(group)})"
    if untold := [one for one in found if one.rows in UNTOLD]:
        yield f"{_knows(untold)} (whether it recalls rows could not be told)"
    if unasked := [one for one in found if one.rows is None]:
        yield f"{_knows(unasked)} (no test of rows was run)"


def _knows(group: Sequence[Standing]) -> str:
    return f"knows of {_names(group)}, which a page about {'it' if len(group) == 1 else 'each'} is enough for"


def _of_untold(found: Sequence[Standing]) -> Iterator[str]:
    for verdict in UNTOLD:
        for group in filter(None, _by_end([one for one in found if one.rows is verdict])):
            yield f"whether it recalls rows of {_names(group)} could not be told: {_reason(group)}"


def _by_end(found: Sequence[Standing]) -> tuple[list[Standing], list[Standing]]:
    """Those that were asked to the end, and those that were not."""
    return [one for one in found if not one.cut], [one for one in found if one.cut]


def _of_rows_unasked(found: Sequence[Standing]) -> Iterator[str]:
    if clean := [one for one in found if one.knowledge is Verdict.NOT_DETECTED]:
        yield f"no knowledge of {_names(clean)} found (no test of rows was run)"
    for untold in filter(None, _by_end([one for one in found if one.knowledge in UNTOLD])):
        yield f"nothing could be told about {_names(untold)}: {_reason(untold)}"
    if scored := [one for one in found if one.knowledge is None]:
        yield f"only scores on {_names(scored)}, on which nothing is decided"


def _of_exposed(found: Sequence[Standing]) -> Iterator[str]:
    if recalled := [one for one in found if one.rows is Verdict.CONTAMINATED]:
        yield f"recalls rows of {_names(recalled)}, as it must: it has read them"
    if missed := [one for one in found if one.rows is Verdict.NOT_DETECTED]:
        yield f"is missed on {_names(missed)}, whose rows it has read: there the row tests have no power"
    yield from _of_control_untold(found)


def _of_unexposed(found: Sequence[Standing]) -> Iterator[str]:
    if flagged := [one for one in found if one.rows is Verdict.CONTAMINATED]:
        their = "its" if len(flagged) == 1 else "their"
        yield (
            f"is flagged on {_names(flagged)}, though it has read none of {their} rows: there the row tests measure "
            "plausibility, not memory"
        )
    if clean := [one for one in found if one.rows is Verdict.NOT_DETECTED]:
        their = "its" if len(clean) == 1 else "their"
        yield f"no rows of {_names(clean)} found, as it must be: it has read none of {their} rows"
    yield from _of_control_untold(found)


def _of_control_untold(found: Sequence[Standing]) -> Iterator[str]:
    yield from _of_untold([one for one in found if one.rows in UNTOLD])
    if unasked := [one for one in found if one.rows is None]:
        yield f"no test of rows was run on {_names(unasked)}"


def _unasked(view: Results, titles: Titles, block: Block) -> list[str]:
    """Tables of the run of which this LLM was asked nothing, as where a run was cut off."""
    present = {cell.dataset for cell in block.cells}
    missing = dict.fromkeys(fact["dataset"] for fact in view.datasets if fact["dataset"] not in present)
    return [f"asked nothing about {_listed([titles.dataset(name) for name in missing])}"] if missing else []


def _by_void(found: Sequence[Standing]) -> list[tuple[tuple[str, ...], list[Standing]]]:
    """Tables with the row tests that a control voids for them; first those of which it voids none."""
    groups: dict[tuple[str, ...], list[Standing]] = {}
    for one in found:
        groups.setdefault(one.void, []).append(one)
    return sorted(groups.items(), key=lambda group: bool(group[0]))


def _flagged(void: Sequence[str], group: Sequence[Standing]) -> str:
    return f"{UNEXPOSED}, which has none of {_its(group)} rows, was flagged by {_listed(void)}"


def _its(group: Sequence[Standing]) -> str:
    return "its" if len(group) == 1 else "their"


def _by_power(found: Sequence[Standing]) -> Iterator[list[Standing]]:
    """Tables on which nothing was found: those of which the same can be said of what would have been seen."""
    groups: dict[tuple[object, ...], list[Standing]] = {}
    for one in found:
        groups.setdefault((one.unsure, one.void, one.share is None), []).append(one)
    yield from (groups[key] for key in sorted(groups, key=lambda key: (key[0], bool(key[1]), key[2])))


def _by_percent(group: Sequence[Standing]) -> dict[str, list[Standing]]:
    """Tables by what is said of the share that would have been seen on them."""
    if group[0].unsure or group[0].share is None:
        return {"": list(group)}
    percents: dict[str, list[Standing]] = {}
    for one in group:
        percents.setdefault(_percent(one.share or 0.0), []).append(one)
    return percents


def _with_shares(group: Sequence[Standing]) -> str:
    """Tables and what would have been seen on them: "A, where 4% of rows would have been seen, and B, where 26%"."""
    percents = _by_percent(group)
    if not 1 < len(percents) <= SHARES_SHOWN:
        return _names(group) + _seen(group)
    each = [f"{_names(own)}, where {percent}" for percent, own in percents.items()]
    each[0] += " of rows would have been seen"
    return f"{', '.join(each[:-1])}, and {each[-1]}{_missed(group)}"


def _seen(group: Sequence[Standing]) -> str:
    """What would have been seen on all these tables, and what may stand against it."""
    void, percents = group[0].void, list(_by_percent(group))
    if group[0].unsure and void:
        return f", but not for sure: {_missed_by(void, group)} as well"
    if group[0].unsure:
        return " so far: not every row test was asked to the end"
    if group[0].share is None:
        return f", and how much would have been seen is not known{_missed(group)}"
    shares = [one.share for one in group if one.share is not None]
    least, most = _percent(min(shares)), _percent(max(shares))
    return f", where {percents[0] if least == most else f'from {least} to {most}'} of rows would have been seen" + (
        _missed(group)
    )


def _missed(group: Sequence[Standing]) -> str:
    return f" ({_missed_by(group[0].void, group)} as well)" if group[0].void else ""


def _missed_by(void: Sequence[str], group: Sequence[Standing]) -> str:
    return f"{EXPOSED}, which has {_its(group)} rows, was missed by {_listed(void)}"


def _percent(share: float) -> str:
    return rounded("detectable_share", share) if share >= 0.005 else "under 1%"


def _reason(group: Sequence[Standing]) -> str:
    """Why nothing could be told of any of them, with the reason that they share."""
    words = [CUT_SHORT if one.cut else UNTOLD.get(one.verdict or Verdict.CONTAMINATED) for one in group]
    verdicts = dict.fromkeys(filter(None, words))
    shared = {one.why for one in group}
    return " or ".join(verdicts) + (f" ({one})" if len(shared) == 1 and (one := shared.pop()) else "")


def _names(group: Sequence[Standing]) -> str:
    """The tables; those of one dataset together."""
    apart: dict[str, list[str]] = {}
    for one in group:
        apart.setdefault(one.table, []).append(one.apart)
    return _listed([f"{table} ({_listed(marks)})" if any(marks) else table for table, marks in apart.items()])


def _listed(names: Sequence[str]) -> str:
    """The names as a phrase, and how many are left out.

    >>> _listed(["a", "b", "c"])
    'a, b and c'
    """
    left_out = len(names) - NAMES_SHOWN
    shown = [*names[:NAMES_SHOWN], f"{left_out} more"] if left_out > 0 else list(names)
    return phrase(shown)


def _count(number: int, one: str, several: str = "") -> str:
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def _queries(view: Results) -> tuple[str, str]:
    """What queries are called: where the run ended early, not all of them were asked."""
    return ("planned query", "planned queries") if _early(view) else ("query", "queries")


def _early(view: Results) -> bool:
    """Whether a run ended before all was asked, of all LLMs or of one."""
    run, llms = view.run, view.run.get("llms")
    ended = any(isinstance(llm, Mapping) and llm.get("ended") for llm in (llms if isinstance(llms, list) else ()))
    return bool(ended or run.get("limit") or run.get("interrupted") or run.get("finished") is False)


def _day(view: Results) -> str:
    """The day on which the run began; empty where none is stated."""
    try:
        day = datetime.fromisoformat(text(view.run.get("started")))
    except ValueError:
        return ""
    return f"{day.day} {day:%B %Y}"


def _rules(view: Results) -> str:
    rules = text(view.run.get("rules"))
    alpha = text(view.run.get("alpha"))
    if rules == "calibrated" and not alpha:
        return "calibrated rules: a finding is what guessing cannot explain"
    return RULES[rules].format(alpha=alpha) if rules in RULES else rules
