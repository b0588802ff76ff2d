"""The standing of each LLM and table: its verdicts and their reasons, for the report's sentences and overview."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tabcontam.evidence.base import DECIDED, Family, Verdict
from tabcontam.groups import grouped
from tabcontam.verdicts.gate import Conclusion, rulings
from tabcontam.verdicts.memory_share_limit import is_share
from tabcontam.verdicts.result_types import Result, TableVerdict
from tabcontam.verdicts.results import LlmBlock, RunResults
from tabcontam.verdicts.table_ruling import TableRuling, Tested, cut_short
from tabcontam.verdicts.wording import shorten

LONGEST_NAME, LONGEST_REASON = 80, 120


@dataclass(frozen=True)
class TableStanding:
    """The standing of one LLM and one table: one of its results, the verdict on the table, and the gate's decision.

    `table` is the table's title. `apart` distinguishes it from other tables of the dataset, and begins with
    `edition_and_split`. `rows` is the verdict on the rows, `knowledge` that of the tests of knowledge (None: no such
    verdict). `share`, in [0, 1], is the detectable share. `why` is the reason why nothing was decided on the rows.
    `cut`: some queries were not asked. `memory`: memory's share was asked for.
    """

    result: Result
    joint: TableVerdict | None
    ruling: TableRuling | None
    table: str
    edition_and_split: str
    apart: str
    rows: Verdict | None
    knowledge: Verdict | None
    share: float | None
    why: str
    cut: bool
    memory: bool

    @property
    def rests_on(self) -> str:
        """The one column, or the columns of one entity, behind a finding, which then decides nothing; else ""."""
        return (self.joint.rests_on or "") if self.joint and self.joint.verdict is self.rows else ""

    @property
    def void(self) -> tuple[str, ...]:
        """The row tests that do not count on this table, because of the controls in `control`."""
        return self.ruling.void if self.ruling else ()

    @property
    def control(self) -> str:
        """The controls because of which row tests do not count."""
        return self.ruling.control if self.ruling else ""

    @property
    def unsure(self) -> bool:
        """True if the gate reaches no conclusion, although `rows` has a verdict."""
        cannot_tell = self.ruling is not None and self.ruling.conclusion is Conclusion.CANNOT_TELL
        return cannot_tell and bool(self.void or self.rows is Verdict.NOT_DETECTED)

    @property
    def corpora(self) -> tuple[str, ...]:
        """The corpora that contain rows of the table and, as the user states, were training data of the LLM."""
        return self.joint.corpora if self.joint else ()

    @property
    def by_corpora(self) -> bool:
        """True if only the corpora show contamination, not the answers."""
        return self.joint is not None and self.joint.by_corpora

    @property
    def known(self) -> bool:
        """Return whether a test of knowledge found that the LLM knows the table, perhaps only from a page about it."""
        return self.knowledge is Verdict.CONTAMINATED

    @property
    def verdict(self) -> Verdict | None:
        """The verdict on the rows or, if no row test was asked, the verdict of the tests of knowledge."""
        return self.rows or self.knowledge


@dataclass(frozen=True)
class Titles:
    """The names of LLMs and tables in sentences: titles in the catalogue and on cards, or else names in the run.

    `ruled` is the gate's decision on each LLM and table.
    """

    view: RunResults

    def llm(self, name: str) -> str:
        """Return the LLM's title in the catalogue. If two LLMs share the title, the name in the run is added."""
        title, named = self.view.title(name), shorten(name, LONGEST_NAME)
        alone = self._llm_times.get(title) == 1
        return title if title and alone else f"{title} ({named})" if title else named

    def dataset(self, name: str) -> str:
        """Return the title on the dataset's card. If two datasets share the title, the dataset's name is added."""
        title = self._titles.get(name) or name
        alone = self._times.get(title, 0) <= 1
        return shorten(title if alone else f"{title} [{name}]", LONGEST_NAME)

    def apart(self, of: Result | TableVerdict) -> str:
        """Return the words that tell a table from others of its dataset: edition, split, serializer and others."""
        return shorten(self.view.label(of).removeprefix(of.dataset).strip(), LONGEST_NAME)

    @cached_property
    def tables(self) -> Mapping[str, Sequence[TableVerdict]]:
        """The verdicts on tables, by LLM."""
        return grouped(self.view.tables_in_order, lambda table: table.llm)

    @cached_property
    def known(self) -> dict[str, dict[str, TableStanding]]:
        """The cached results of `standings`, by LLM."""
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
        """The gate's decision on each LLM and table."""
        return rulings(self.view)

    def ruling(self, of: Result | TableVerdict) -> TableRuling | None:
        """Return the gate's decision on an LLM and a table; None for controls and recorded answers."""
        return self.ruled.get((of.llm, of.table))


def titles_of(view: RunResults) -> Titles:
    """Return the titles for these results, cached in `view`: computing them is slow for a large run."""
    titles: Titles = vars(view).setdefault("titles", Titles(view))
    return titles


def standings(titles: Titles, block: LlmBlock) -> dict[str, TableStanding]:
    """Return the standing of each table of an LLM, by the table's label, in the page's order."""
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
    if not rows and table and not table.corpora:  # a corpus was searched, but no row test was asked
        table = None
    verdict = (
        Verdict.CONTAMINATED if found else table.verdict if table else strongest(result.verdict for result in rows)
    )
    shares = [share for result in rows if (share := result.evidence.detectable_share) is not None]
    # Apart from findings on rows, a sentence claims only knowledge, which the tests of knowledge show.
    others = [result for result in results if view.facts[result.test].family is Family.KNOWLEDGE]
    ruled = ruling if table and verdict in DECIDED else None
    share = ruled.share if ruled else table.detectable_share if table else min(shares, default=None)
    return TableStanding(
        result=results[0],
        joint=table,
        ruling=ruled,
        table=titles.dataset(results[0].dataset),
        edition_and_split=view.edition(results[0]),
        apart=titles.apart(results[0]),
        rows=verdict,
        knowledge=strongest(result.verdict for result in others),
        share=share,
        why=_why(rows or others, verdict, table),
        cut=view.run.ended_early and any(cut_short(result) for result in rows or others),
        memory=any(is_share(view, result) and (result.evidence.memory or result.verdict) for result in results),
    )


def strongest(verdicts: Iterable[Verdict | None]) -> Verdict | None:
    """Return the strongest verdict, which is the first in the order of `Verdict`; None if all are None."""
    present = set(verdicts)
    return next((verdict for verdict in Verdict if verdict in present), None)


def _why(results: Sequence[Result], verdict: Verdict | None, table: TableVerdict | None) -> str:
    """Return the common reason of the results that have `verdict`; "" if they have several reasons or a long one.

    For a finding that rests on one column, it is the reason of `table`.
    """
    if table and table.rests_on and table.verdict is verdict:
        return table.reason if len(table.reason) <= LONGEST_REASON else ""
    decisive = verdict or strongest(result.verdict for result in results)
    reasons = {result.decision.reason for result in results if result.verdict is decisive}
    reason = (reasons.pop() if len(reasons) == 1 else None) or ""
    return reason.rstrip(".") if len(reason) <= LONGEST_REASON else ""
