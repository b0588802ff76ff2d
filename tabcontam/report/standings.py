"""The state of knowledge about each LLM and table, for the report's sentences and its overview."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tabcontam.evidence.base import DECIDED, Family, Verdict
from tabcontam.groups import grouped
from tabcontam.verdicts.gate import Conclusion, TableRuling, Tested, cut_short, rulings
from tabcontam.verdicts.memory_share_limit import is_share
from tabcontam.verdicts.result_types import Result, TableVerdict
from tabcontam.verdicts.results import LlmBlock, RunResults
from tabcontam.verdicts.wording import shorten

LONGEST_NAME, LONGEST_REASON = 80, 120


@dataclass(frozen=True)
class TableStanding:
    """The state of knowledge about one LLM and one table with the title `table` and the edition `edition`.

    `apart` distinguishes the table from others of the dataset, and begins with `edition_and_split`: edition and split.
    `rows` is the verdict on the rows and `knowledge` that of the tests of knowledge; None if no such test was judged.
    `share`, in [0, 1], is the detectable share. `why` is the reason why nothing was decided on the rows. `rests_on`
    names the one column, or the columns of one entity, that a finding rests on, which therefore decides nothing; empty
    otherwise. `void` holds the row tests that the controls in `control` show to be worthless on this table. With
    `unsure` the gate reaches no conclusion, although `rows` has a verdict. With `cut` some queries were not asked.
    `source` names the file of recorded answers. `corpora` hold rows of the table, and the user states that the LLM was
    trained on them; with `by_corpora` the answers themselves show nothing. With `memory` memory's share was asked for.
    """

    table: str
    edition_and_split: str
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
    corpora: tuple[str, ...] = ()
    by_corpora: bool = False
    memory: bool = False

    @property
    def known(self) -> bool:
        """Return whether a test of knowledge found the table known, for which a page about it suffices."""
        return self.knowledge is Verdict.CONTAMINATED

    @property
    def verdict(self) -> Verdict | None:
        """The verdict on the rows or, if the rows were not asked, that of the other tests."""
        return self.rows or self.knowledge


@dataclass(frozen=True)
class Titles:
    """The names of LLMs and tables in sentences: titles of the catalogue and of cards where there are any.

    `ruled` holds the gate's decision on each LLM and table.
    """

    view: RunResults

    def llm(self, name: str) -> str:
        """Return the catalogue's title, with the run's name added if two LLMs share the title."""
        title, named = self.view.title(name), shorten(name, LONGEST_NAME)
        alone = self._llm_times.get(title) == 1
        return title if title and alone else f"{title} ({named})" if title else named

    def dataset(self, name: str) -> str:
        """Return the card's title, with the dataset's name added if two datasets share the title."""
        title = self._titles.get(name) or name
        alone = self._times.get(title, 0) <= 1
        return shorten(title if alone else f"{title} [{name}]", LONGEST_NAME)

    def apart(self, of: Result | TableVerdict) -> str:
        """Return the marks that distinguish tables of one dataset: edition, split, serializer, prompt set, source."""
        return shorten(self.view.label(of).removeprefix(of.dataset).strip(), LONGEST_NAME)

    @cached_property
    def tables(self) -> Mapping[str, Sequence[TableVerdict]]:
        """The table verdicts of each LLM."""
        return grouped(self.view.tables_in_order, lambda table: table.llm)

    @cached_property
    def known(self) -> dict[str, dict[str, TableStanding]]:
        """The cache of `standings`, by LLM."""
        return {}

    @cached_property
    def _titles(self) -> Mapping[str, str]:
        return {dataset.name: dataset.title for dataset in self.view.run.datasets}

    @cached_property
    def _times(self) -> Mapping[str, int]:
        """The number of datasets with each title."""
        return Counter(self._titles.values())

    @cached_property
    def _llm_times(self) -> Mapping[str, int]:
        """The number of LLMs with each title."""
        return Counter(entry.title for entry in self.view.run.catalogue.values())

    @cached_property
    def ruled(self) -> Mapping[Tested, TableRuling]:
        """The gate's decisions."""
        return rulings(self.view)

    def ruling(self, of: Result | TableVerdict) -> TableRuling | None:
        """Return the gate's decision on an LLM and table; None for controls and recorded answers."""
        return self.ruled.get((of.llm, of.table))


def titles_of(view: RunResults) -> Titles:
    """Return the titles of these results, cached on `view` because they take long to find in a large run."""
    titles: Titles = vars(view).setdefault("titles", Titles(view))
    return titles


def standings(titles: Titles, block: LlmBlock) -> dict[str, TableStanding]:
    """Return the standing of each table of an LLM, by the table's label, in the order of the page."""
    if block.llm not in titles.known:
        view = titles.view
        tables = {view.label(table): table for table in titles.tables.get(block.llm, ())}
        titles.known[block.llm] = {
            label: _standing(titles, own, tables.get(label), titles.ruling(own[0]))
            for label, own in grouped(block.results, view.label).items()
        }
    return titles.known[block.llm]


def _standing(
    titles: Titles, results: Sequence[Result], table: TableVerdict | None, ruling: TableRuling | None
) -> TableStanding:
    view = titles.view
    rows = [result for result in results if result.test in view.row_tests]
    found = any(result.verdict is Verdict.CONTAMINATED for result in rows)
    if not rows and table and not table.corpora:  # only a corpus was searched, and no row test was asked
        table = None
    verdict = (
        Verdict.CONTAMINATED if found else table.verdict if table else strongest(result.verdict for result in rows)
    )
    shares = [result.detectable_share for result in rows if result.detectable_share is not None]
    share, unsure = table.detectable_share if table else min(shares, default=None), False
    void: tuple[str, ...] = ()
    control = ""
    # Besides findings on rows, only knowledge of the data is claimed, from the tests of knowledge.
    others = [result for result in results if view.facts[result.test].family is Family.KNOWLEDGE]
    judged = rows or others
    if ruling and table and verdict in DECIDED:
        share, void, control = ruling.share, ruling.void, ruling.control
        unsure = ruling.conclusion is Conclusion.CANNOT_TELL and bool(void or verdict is Verdict.NOT_DETECTED)
    return TableStanding(
        table=titles.dataset(results[0].dataset),
        edition_and_split=view.edition(results[0]),
        apart=titles.apart(results[0]),
        rows=verdict,
        knowledge=strongest(result.verdict for result in others),
        share=share,
        why=_why(judged, verdict, table),
        rests_on=(table.rests_on or "") if table and table.verdict is verdict else "",
        void=void,
        control=control,
        unsure=unsure,
        cut=view.run.ended_early and any(cut_short(result) for result in judged),
        edition=results[0].edition,
        split=results[0].split,
        source=results[0].source,
        corpora=table.corpora if table else (),
        by_corpora=table.by_corpora if table else False,
        memory=any(is_share(view, result) and (result.memory or result.verdict) for result in results),
    )


def strongest(verdicts: Iterable[Verdict | None]) -> Verdict | None:
    """Return the verdict that stands for several: the first one in the order of `Verdict`."""
    present = set(verdicts)
    return next((verdict for verdict in Verdict if verdict in present), None)


def _why(results: Sequence[Result], verdict: Verdict | None, table: TableVerdict | None) -> str:
    """Return why nothing was decided: the reason that the results with the decisive verdict share, or "".

    If the table's finding rests on one column, the table's own reason is returned.
    """
    if table and table.rests_on and table.verdict is verdict:
        return table.reason if len(table.reason) <= LONGEST_REASON else ""
    decisive = verdict or strongest(result.verdict for result in results)
    reasons = {result.reason for result in results if result.verdict is decisive}
    reason = (reasons.pop() if len(reasons) == 1 else None) or ""
    return reason.rstrip(".") if len(reason) <= LONGEST_REASON else ""
