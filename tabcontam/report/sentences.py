"""The report at first sight: what was tested, and what was found about each LLM in one plain sentence.

A sentence tells rows that were recalled from mere knowledge, and nothing found from nothing that could be told. The
rows of a table are recalled where its verdict is contaminated or that of one of its row tests.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from tabcontam.report.results import (
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
from tabcontam.suite.base import Kind, Verdict

NAMES_SHOWN = 8  # in a clause
SHARES_SHOWN = 3
LONGEST_NAME, LONGEST_REASON = 80, 120
STRONGEST_FIRST = tuple(Verdict)  # as one verdict stands for several
UNTOLD = {
    Verdict.UNINFORMATIVE: "asking could not have told memory from guessing",
    Verdict.NO_ANSWER: "too few readable answers",
    Verdict.SKIPPED: "not asked",
}
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
    """

    table: str
    apart: str
    rows: Verdict | None
    knowledge: Verdict | None
    share: float | None
    why: str

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
    counts += [_count(queries, "query", "queries")] * bool(queries)
    counts += [f"beside {_count(len(view.joined), 'control')}"] * bool(view.joined)
    return "; ".join(filter(None, (", ".join(counts), _day(view), _rules(view))))


def sentences(view: Results) -> list[Sentence]:
    """One sentence an LLM, in the order of the page, then those that were asked nothing; controls that joined last."""
    titles = Titles(view)
    asked = [_sentence(view, titles, block) for block in view.blocks]
    present = {block.llm for block in view.blocks}
    absent = dict.fromkeys(fact["llm"] for fact in view.llms if fact["llm"] not in present)
    asked += [Sentence(llm, titles.llm(llm), False, " was asked nothing.") for llm in absent]
    return sorted(asked, key=lambda sentence: sentence.control)


def standings(view: Results, block: Block, titles: Titles | None = None) -> dict[str, Standing]:
    """What is known of each table of an LLM, by the table's label, in the order of the page."""
    titles = titles or Titles(view)
    tables = {view.label(table): table for table in view.tables if table.llm == block.llm}
    cells: dict[str, list[Cell]] = {}
    for cell in block.cells:
        cells.setdefault(view.label(cell), []).append(cell)
    return {label: _standing(titles, own, tables.get(label)) for label, own in cells.items()}


def _standing(titles: Titles, cells: Sequence[Cell], table: TableVerdict | None) -> Standing:
    rows = [cell for cell in cells if cell.test in ROW_TESTS]
    found = any(cell.verdict is Verdict.CONTAMINATED for cell in rows)
    verdict = Verdict.CONTAMINATED if found else table.verdict if table else _strongest(rows)
    shares = [cell.numbers["detectable_share"] for cell in rows if "detectable_share" in cell.numbers]
    share = table.numbers.get("detectable_share") if table else min(shares, default=None)
    # Of what the row tests do not show, only knowledge of the data is claimed, by tests 1 to 6 and others like them.
    others = [cell for cell in cells if cell.test not in ROW_TESTS and cell.kind in (Kind.KNOWLEDGE, Kind.MEMORIZATION)]
    judged = rows or others
    title, apart = titles.dataset(cells[0].dataset), titles.apart(cells[0])
    return Standing(title, apart, verdict, _strongest(others), share, _why(judged, verdict))


def _strongest(cells: Iterable[Cell]) -> Verdict | None:
    verdicts = {cell.verdict for cell in cells}
    return next((verdict for verdict in STRONGEST_FIRST if verdict in verdicts), None)


def _why(cells: Sequence[Cell], verdict: Verdict | None) -> str:
    """Why nothing could be told: the reason of those cells whose verdict stands for all, where they share one."""
    reasons = {cell.reason for cell in cells if cell.verdict is (verdict or _strongest(cells))}
    reason = reasons.pop() if len(reasons) == 1 else ""
    return reason.rstrip(".") if len(reason) <= LONGEST_REASON else ""


def _sentence(view: Results, titles: Titles, block: Block) -> Sentence:
    found = list(standings(view, block, titles).values())
    said = {EXPOSED: _of_exposed, UNEXPOSED: _of_unexposed}.get(block.llm) if block.control else None
    clauses = [*(said or _of_subject)(found), *_unasked(view, titles, block)]
    verbal = clauses[0].startswith(("recalls ", "knows ", "is "))
    rest = f"{'' if verbal else ':'} {'; '.join(clauses)}."
    return Sentence(block.llm, titles.llm(block.llm), block.control, rest)


def _of_subject(found: Sequence[Standing]) -> Iterator[str]:
    if recalled := [one for one in found if one.rows is Verdict.CONTAMINATED]:
        yield f"recalls rows of {_names(recalled)}"
    yield from _of_known([one for one in found if one.known and one.rows is not Verdict.CONTAMINATED])
    rest = [one for one in found if not one.known and one.rows is not Verdict.CONTAMINATED]
    for group, seen in _by_share([one for one in rest if one.rows is Verdict.NOT_DETECTED]):
        yield f"nothing found on {_names(group)}, {seen}"
    yield from _of_untold([one for one in rest if one.rows in UNTOLD])
    yield from _of_rows_unasked([one for one in rest if one.rows is None])


def _of_known(found: Sequence[Standing]) -> Iterator[str]:
    for group, seen in _by_share([one for one in found if one.rows is Verdict.NOT_DETECTED]):
        yield f"{_knows(group)} (no rows found, {seen})"
    if untold := [one for one in found if one.rows in UNTOLD]:
        yield f"{_knows(untold)} (whether it recalls rows could not be told)"
    if unasked := [one for one in found if one.rows is None]:
        yield f"{_knows(unasked)} (no test of rows was run)"


def _knows(group: Sequence[Standing]) -> str:
    return f"knows of {_names(group)}, which a page about {'it' if len(group) == 1 else 'each'} is enough for"


def _of_untold(found: Sequence[Standing]) -> Iterator[str]:
    for verdict in UNTOLD:
        if group := [one for one in found if one.rows is verdict]:
            yield f"whether it recalls rows of {_names(group)} could not be told: {_reason(group)}"


def _of_rows_unasked(found: Sequence[Standing]) -> Iterator[str]:
    if clean := [one for one in found if one.knowledge is Verdict.NOT_DETECTED]:
        yield f"no knowledge of {_names(clean)} found (no test of rows was run)"
    if untold := [one for one in found if one.knowledge in UNTOLD]:
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


def _by_share(found: Sequence[Standing]) -> Iterator[tuple[list[Standing], str]]:
    """Tables with what would have been seen on them: those of which that is known, and the others."""
    if known := [one for one in found if one.share is not None]:
        yield known, _seen([one.share for one in known if one.share is not None])
    if unknown := [one for one in found if one.share is None]:
        yield unknown, "and how much would have been seen is not known"


def _seen(shares: Sequence[float]) -> str:
    percents = list(dict.fromkeys(_percent(share) for share in shares))
    if len(percents) == 1:
        return f"where {percents[0]} of rows would have been seen"
    if len(shares) <= SHARES_SHOWN:
        each = _listed([_percent(share) for share in shares])
        return f"where {each} of rows would have been seen, in this order"
    return f"where from {_percent(min(shares))} to {_percent(max(shares))} of rows would have been seen"


def _percent(share: float) -> str:
    return rounded("detectable_share", share) if share >= 0.005 else "under 1%"


def _reason(group: Sequence[Standing]) -> str:
    """Why nothing could be told of any of them, with the reason that they share."""
    verdicts = dict.fromkeys(UNTOLD[one.verdict] for one in group if one.verdict in UNTOLD)
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
