"""What is known of each LLM and table, as the report's sentences and its overview say it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tabcontam.evidence.base import DECIDED, Family, Verdict
from tabcontam.groups import grouped
from tabcontam.verdicts.cells import Result, TableVerdict
from tabcontam.verdicts.gate import Conclusion, Ruling, Tested, cut_short, rulings
from tabcontam.verdicts.memory import is_share
from tabcontam.verdicts.results import Block, RunResults
from tabcontam.verdicts.wording import shorten

LONGEST_NAME, LONGEST_REASON = 80, 120


@dataclass(frozen=True)
class Standing:
    """What is known of one LLM and one table, whose title is `table` and whose edition is `edition`.

    `apart` says what tells it from other tables of the dataset here, and begins with `at`: edition and split.
    `rows` is the verdict on its rows and `knowledge` that of the other tests; None where no such test was judged.
    `share`, in [0, 1]: an LLM that remembers this share of the rows would have been found. `why` is the reason why
    nothing was decided on the rows; `rests_on` the column, or columns of one entity, on which alone a finding rests,
    where it does and so decides nothing. `void` has the row tests that the controls named in `control` show to be worth
    nothing on this table; `unsure` says that the gate cannot tell, although `rows` has a verdict. `cut` says that not
    every query was asked, and `source` names the file that recorded answers come from. `documents` hold rows of it that
    the LLM was trained on, by the user's word; with `by_documents` the answers show nothing besides. `memory` says that
    it was asked how much of the accuracy is memory.
    """

    table: str
    at: str
    apart: str
    rows: Verdict | None
    knowledge: Verdict | None
    share: float | None
    why: str
    rests_on: str
    void: tuple[str, ...]
    control: str
    unsure: bool
    cut: bool
    edition: str | None
    split: str | None
    source: str | None
    documents: tuple[str, ...] = ()
    by_documents: bool = False
    memory: bool = False

    @property
    def known(self) -> bool:
        """Whether a test found it that a page about the table is enough for."""
        return self.knowledge is Verdict.CONTAMINATED

    @property
    def verdict(self) -> Verdict | None:
        """That of the rows; where they were not asked, that of the other tests."""
        return self.rows or self.knowledge


@dataclass(frozen=True)
class Titles:
    """What LLMs and tables are called in sentences: by the catalogue's titles and the cards', where there are any.

    `ruled` is what the gate says of each LLM and table.
    """

    view: RunResults

    def llm(self, name: str) -> str:
        """The catalogue's title, with the name that the run gave where two would be called the same."""
        title, named = self.view.title(name), shorten(name, LONGEST_NAME)
        alone = self._llm_times.get(title) == 1
        return title if title and alone else f"{title} ({named})" if title else named

    def dataset(self, name: str) -> str:
        """The card's title, with the dataset's name where two would be called the same."""
        title = self._titles.get(name) or name
        alone = self._times.get(title, 0) <= 1
        return shorten(title if alone else f"{title} [{name}]", LONGEST_NAME)

    def apart(self, of: Result | TableVerdict) -> str:
        """What tells the table from another one of the dataset: edition, split, serializer, prompt set, source."""
        return shorten(self.view.label(of).removeprefix(of.dataset).strip(), LONGEST_NAME)

    @cached_property
    def tables(self) -> Mapping[str, Sequence[TableVerdict]]:
        """What is said of the tables of each LLM."""
        return grouped(self.view.tables_in_order, lambda table: table.llm)

    @cached_property
    def known(self) -> dict[str, dict[str, Standing]]:
        """What `standings` found out of LLMs."""
        return {}

    @cached_property
    def _titles(self) -> Mapping[str, str]:
        return {dataset.name: dataset.title for dataset in self.view.run.datasets}

    @cached_property
    def _times(self) -> Mapping[str, int]:
        """How many datasets have a title."""
        return Counter(self._titles.values())

    @cached_property
    def _llm_times(self) -> Mapping[str, int]:
        """How many LLMs have a title."""
        return Counter(entry.title for entry in self.view.run.catalogue.values())

    @cached_property
    def ruled(self) -> Mapping[Tested, Ruling]:
        """The gate's decisions."""
        return rulings(self.view)

    def ruling(self, of: Result | TableVerdict) -> Ruling | None:
        """What the gate says of an LLM and table; it decides on no control and no recorded answers."""
        return self.ruled.get((of.llm, of.table))


def titles_of(view: RunResults) -> Titles:
    """The titles of these results, which are kept with them: what they rest on takes long in a large run."""
    titles: Titles = vars(view).setdefault("titles", Titles(view))
    return titles


def standings(titles: Titles, block: Block) -> dict[str, Standing]:
    """What is known of each table of an LLM, by the table's label, in the order of the page."""
    if block.llm not in titles.known:
        titles.known[block.llm] = _standings(titles, block)
    return titles.known[block.llm]


def _standings(titles: Titles, block: Block) -> dict[str, Standing]:
    view = titles.view
    tables = {view.label(table): table for table in titles.tables.get(block.llm, ())}
    return {
        label: _standing(titles, own, tables.get(label), titles.ruling(own[0]))
        for label, own in grouped(block.cells, view.label).items()
    }


def _standing(titles: Titles, cells: Sequence[Result], table: TableVerdict | None, ruling: Ruling | None) -> Standing:
    view = titles.view
    rows = [cell for cell in cells if cell.test in view.row_tests]
    found = any(cell.verdict is Verdict.CONTAMINATED for cell in rows)
    if not rows and table and not table.documents:  # documents were searched for it, and no row test was asked
        table = None
    verdict = Verdict.CONTAMINATED if found else table.verdict if table else strongest(cell.verdict for cell in rows)
    shares = [cell.detectable_share for cell in rows if cell.detectable_share is not None]
    share, unsure = table.detectable_share if table else min(shares, default=None), False
    void: tuple[str, ...] = ()
    control = ""
    # Of what the row tests do not show, only knowledge of the data is claimed, by the tests of knowledge.
    others = [cell for cell in cells if view.facts[cell.test].family is Family.KNOWLEDGE]
    judged = rows or others
    if ruling and table and verdict in DECIDED:
        share, void, control = ruling.share, ruling.void, ruling.control
        unsure = ruling.conclusion is Conclusion.CANNOT_TELL and bool(void or verdict is Verdict.NOT_DETECTED)
    return Standing(
        table=titles.dataset(cells[0].dataset),
        at=view.edition(cells[0]),
        apart=titles.apart(cells[0]),
        rows=verdict,
        knowledge=strongest(cell.verdict for cell in others),
        share=share,
        why=_why(judged, verdict, table),
        rests_on=(table.rests_on or "") if table and table.verdict is verdict else "",
        void=void,
        control=control,
        unsure=unsure,
        cut=view.run.ended_early and any(cut_short(cell) for cell in judged),
        edition=cells[0].edition,
        split=cells[0].split,
        source=cells[0].source,
        documents=table.documents if table else (),
        by_documents=table.by_documents if table else False,
        memory=any(is_share(view, cell) and (cell.memory or cell.verdict) for cell in cells),
    )


def strongest(verdicts: Iterable[Verdict | None]) -> Verdict | None:
    """The verdict that stands for several."""
    there = set(verdicts)
    return next((verdict for verdict in Verdict if verdict in there), None)


def _why(cells: Sequence[Result], verdict: Verdict | None, table: TableVerdict | None) -> str:
    """Why nothing could be told: the reason of those cells whose verdict stands for all, where they share one.

    Of a table whose finding rests on one column it is the table's own.
    """
    if table and table.rests_on and table.verdict is verdict:
        return table.reason if len(table.reason) <= LONGEST_REASON else ""
    reasons = {cell.reason for cell in cells if cell.verdict is (verdict or strongest(cell.verdict for cell in cells))}
    reason = (reasons.pop() if len(reasons) == 1 else None) or ""
    return reason.rstrip(".") if len(reason) <= LONGEST_REASON else ""
