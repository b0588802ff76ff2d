"""A comparison of a dataset's splits, such as train and test: a sentence names the splits that an LLM has read."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from tabcontam.evidence.base import Verdict
from tabcontam.groups import grouped
from tabcontam.report.standings import Titles, titles_of
from tabcontam.report.terminal_writer import TerminalWriter
from tabcontam.tables.sources import is_source
from tabcontam.verdicts.gate import Conclusion
from tabcontam.verdicts.result_types import TableVerdict
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.run_facts import DatasetFacts
from tabcontam.verdicts.wording import phrase

Key = tuple[str, str, str]


@dataclass(frozen=True)
class SplitLine:
    """The verdict on one LLM for each split of a dataset (None: not asked about).

    `way` names the serializer and the prompt set if a run uses several.
    """

    llm: str
    way: str
    tables: tuple[TableVerdict | None, ...]
    sentence: str


@dataclass(frozen=True)
class SplitGroup:
    """A dataset with several splits in a run. `shared` has by split the number of rows that other splits contain, too;
    None if they could not be compared.
    """

    title: str
    splits: tuple[str, ...]
    shared: Mapping[str, int | None]
    lines: tuple[SplitLine, ...]

    @property
    def left_out(self) -> str:
        """A sentence on rows that were not asked about because several splits contain them; empty if there are none."""
        counts = [f"{count:,} of {split}" for split, count in self.shared.items() if count]
        return f"rows in several splits were never asked about: {phrase(counts)}" if counts else ""


def split_groups(view: RunResults, titles: Titles | None = None) -> list[SplitGroup]:
    """Return the datasets with several splits in a run, in the run's order."""
    titles = titles or titles_of(view)
    parts = [one for one in view.run.datasets if one.split]
    return [_group(view, titles, group) for group in _datasets(parts) if len(group) > 1]


def _datasets(parts: Sequence[DatasetFacts]) -> list[list[DatasetFacts]]:
    """Return the splits of each dataset. FILEs are splits of one dataset if they share columns but not names."""
    by_name = grouped(parts, lambda one: (one.name, one.edition))
    whole = [group for group in by_name.values() if len(group) > 1 or not group[0].is_file]
    files = [group[0] for group in by_name.values() if len(group) == 1 and group[0].is_file]
    return [*whole, *grouped(files, lambda one: (is_source(one.name) and one.name, frozenset(one.features))).values()]


def _group(view: RunResults, titles: Titles, parts: Sequence[DatasetFacts]) -> SplitGroup:
    place: dict[Key, int] = {one.key: number for number, one in enumerate(parts)}
    names = tuple(one.split or "" for one in parts)
    shared = {one.title for one in parts}
    title = shared.pop() if len(shared) == 1 and all(shared) else ", ".join(dict.fromkeys(one.name for one in parts))
    own = [table for table in view.tables_in_order if _key(table) in place]
    several = [name for name in ("serializer", "prompts") if len({getattr(table, name) for table in own}) > 1]
    lines = []
    for tables in grouped(own, lambda table: (table.llm, table.serializer, table.prompts)).values():
        found: list[TableVerdict | None] = [None] * len(parts)
        for table in tables:
            found[place[_key(table)]] = table
        way = " ".join(filter(None, (getattr(tables[0], name) for name in several)))
        lines.append(SplitLine(tables[0].llm, way, tuple(found), _sentence(titles, names, found)))
    return SplitGroup(title, names, {one.split or "": one.elsewhere for one in parts}, tuple(lines))


def _key(table: TableVerdict) -> Key:
    return table.dataset, table.edition or "", table.split or ""


def _sentence(titles: Titles, names: Sequence[str], tables: Sequence[TableVerdict | None]) -> str:
    """Return in words of which splits the LLM has read rows: `rows of train were detected, and none of test`."""
    by_verdict: dict[Verdict, list[str]] = {}
    for name, table in zip(names, tables, strict=True):
        by_verdict.setdefault(_decided(titles, table), []).append(name)
    found, clean = by_verdict.get(Verdict.CONTAMINATED, []), by_verdict.get(Verdict.NOT_DETECTED, [])
    undecided = [name for name in names if name not in (*found, *clean)]
    clauses, neither = [], phrase(clean, "or")
    if found:
        clauses.append(f"rows of {phrase(found)} were detected" + (f", and none of {neither}" if clean else ""))
    elif clean:
        clauses.append(f"no row of {neither} was detected")
    if undecided:
        clauses.append(f"nothing is decided on {phrase(undecided)}")
    return "; ".join(clauses)


def _decided(titles: Titles, table: TableVerdict | None) -> Verdict:
    """Return the verdict on a split. It counts as undecided if the gate reaches no conclusion."""
    if table is None:
        return Verdict.SKIPPED
    ruling = titles.ruling(table)
    unsure = ruling is not None and ruling.conclusion is Conclusion.CANNOT_TELL
    return Verdict.NO_ANSWER if unsure else table.verdict


def print_splits(paper: TerminalWriter, groups: Sequence[SplitGroup], joined: Collection[str] = ()) -> None:
    """Print a line for each dataset and LLM: the detected splits, and each verdict. Controls in `joined` are dimmed."""
    if not groups:
        return
    paper.rule("splits")
    for group in groups:
        paper.line(group.title, "bold")
        heads = paper.aligned((" ".join(filter(None, (line.llm, line.way))) for line in group.lines), gap=2)
        for head, line in zip(heads, group.lines, strict=True):
            pairs = zip(group.splits, line.tables, strict=True)
            words = ", ".join(f"{split} {table.outcome if table else 'not asked'}" for split, table in pairs)
            style = "dim" * (line.llm in joined)
            paper.entry([(head, style)], f"{line.sentence} ({words})", style)
        if group.left_out:
            paper.line(group.left_out, "dim")
    paper.line()
