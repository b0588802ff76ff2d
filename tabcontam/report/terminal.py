"""The report on a terminal, in pytest's manner: a letter for each result, the evidence, a summary, and a last line."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from tabcontam.evidence.base import RECALLED, UNDECIDED, Verdict
from tabcontam.evidence.number_wording import format_signed
from tabcontam.groups import grouped
from tabcontam.report import comparisons, memory_shares, paper_methods, recalled_rows
from tabcontam.report.lookup_places import documents, is_lookup, places
from tabcontam.report.query import kind_of, prompt_of
from tabcontam.report.ranking import correlation_sentences, left_out, majorities, ranking_columns, same_scores, words_of
from tabcontam.report.report_parts import part_sentences
from tabcontam.report.self_check import NEXT, self_check
from tabcontam.report.split_lines import print_splits, split_groups
from tabcontam.report.terminal_writer import INDENT, NARROWEST, TerminalWriter, open_table
from tabcontam.report.trials_by_result import Trial, TrialIndex, trials_to_show
from tabcontam.report.unread import unread
from tabcontam.verdicts.llm_ranking import OTHER_SCORES
from tabcontam.verdicts.notes import NoteKind
from tabcontam.verdicts.result_types import LETTERS, SCORE, SCORE_LETTER, Result, TableVerdict, count
from tabcontam.verdicts.results import ResultColumn, RunResults
from tabcontam.verdicts.wording import listed, phrase, rounded, shorten, text

if TYPE_CHECKING:
    from rich.console import Console

STYLES = dict.fromkeys(UNDECIDED, "yellow") | {
    Verdict.CONTAMINATED.value: "red",
    Verdict.NOT_DETECTED.value: "green",
    SCORE: "cyan",
}
SUMMARY: dict[str, Verdict | None] = {  # the letters that choose the outcomes of the short summary, as pytest's -r
    "c": Verdict.CONTAMINATED,
    "n": Verdict.NOT_DETECTED,
    "u": Verdict.UNINFORMATIVE,
    "a": Verdict.NO_ANSWER,
    "s": Verdict.SKIPPED,
    "p": None,
}
USUAL = "caus"
ALL_LETTERS = {verdict.value: letter for verdict, letter in LETTERS.items()} | {SCORE: SCORE_LETTER}
AS_IT_SHOULD = "green"  # colour of a finding in a control that has read the rows
CHECKED = {True: "green", None: "yellow", False: "red"}  # colours by the conclusion of the self-check
CROWDED = 200  # above so many LLMs and tables, without -v, each LLM has one line and lists are cut
LISTED = 50  # most lines of a list that is cut
VERDICT = max(len(verdict.value) for verdict in Verdict) + 1
TABLE_NUMBERS = {"q_value": "q {}", "recalled_bits": "{} bits recalled"}
LONGEST = {"features": 160, "asked": 240, "answered": 240, "expected": 240, "quoted": 600}


# named: most LLMs, datasets and notes of a kind in the head of a crowded run
def print_header(console: "Console", view: RunResults, verbosity: int = 0, *, named: int = 12) -> None:
    """Print the run's facts: versions, LLMs as their servers report them, editions of datasets, seed, rules."""
    width = 10  # characters shown of a corpus's digest
    if verbosity < 0:
        return
    paper, run = TerminalWriter(console), view.run
    paper.rule(f"tabcontam {run.version}".strip(), "bold")
    if run.versions:
        paper.line(", ".join(f"{name} {version}" for name, version in run.versions.items()))
    most = named if verbosity < 1 and _is_crowded(view) else None
    for llm in run.llms[:most]:
        version = (llm.version or "")[:width] if llm.is_corpus else llm.version  # results.json has the whole digest
        stated = ", ".join(filter(None, ("control" if llm.control else "", llm.named_otherwise, version)))
        paper.line(
            f"{'documents' if llm.is_corpus else 'llm'}: {llm.spec}"
            + (f" ({stated})" if stated else "")
            + (f": {llm.took}" if llm.took else "")
        )
    _print_left(paper, run.llms, most, "LLMs")
    for dataset in run.datasets[:most]:
        digest = f", sha256 {dataset.sha256[:8]}" if dataset.sha256 else ""
        paper.line(f"dataset: {dataset.named} ({dataset.shape}{digest})")
        if dataset.read:
            paper.line(f"  {dataset.read}", "dim")
        if dataset.features and most is None:
            features = listed(dataset.features).replace("\n", ", ")
            paper.line(f"  features: {shorten(features, LONGEST['features'])}", "dim")
        for failure in dataset.failed if verbosity > 0 else ():
            paper.line(f"  the baseline leaves out: {failure}", "yellow")
    _print_left(paper, run.datasets, most, "datasets")
    settings = {"seed": run.seed, "rules": run.rules, "alpha": run.alpha, "dictionary": run.dictionary}
    paper.line(", ".join(f"{name} {value}" for name, value in settings.items() if text(value)))
    for kind, notes in grouped(view.notes, lambda note: note.kind).items():  # by kind, so that each kind is shown
        if kind is NoteKind.EXPOSURE and most and len(notes) > most:  # each note names dozens of tables
            paper.line(f"known exposure of {len(notes):,} LLMs to these tables: see -v, or index.html", "yellow")
            continue
        for note in notes[:most]:
            paper.line(str(note), "yellow")
        _print_left(paper, notes, most, f"notes on {kind}")
    paper.line()


def _is_crowded(view: RunResults) -> bool:
    """Return whether a run has too many LLMs and tables for a line each."""
    return sum(len(block.columns) for block in view.blocks) > CROWDED


def _print_left(paper: TerminalWriter, parts: Sequence[object], most: int | None, what: str) -> None:
    """Print how many of the `parts` were left out of a list. `most` is the number shown; None means all."""
    if most is not None and len(parts) > most:
        paper.line(f"({len(parts) - most:,} more {what}: see -v, or index.html)", "dim")


def print_report(
    console: "Console",
    view: RunResults,
    trials: Iterable[Trial],
    verbosity: int = 0,
    index: Path | str | None = None,
    *,
    summary: str = USUAL,
    durations: int = 0,
) -> None:
    """Print the report. `verbosity` is -1 for `-q`, 1 for `-v`. `index` is the path of the HTML report.

    `summary` has letters of `SUMMARY` in the order to print, "A" for all or "N" for none. `durations` is the number of
    slowest results to name.
    """
    paper = TerminalWriter(console)
    crowded = verbosity < 1 and _is_crowded(view)
    if verbosity >= 0:
        if verbosity:
            _print_results(paper, view, trials)
        else:
            paper.line("  ".join(f"{letter} {outcome}" for outcome, letter in ALL_LETTERS.items()), "dim")
            (_print_llms if crowded else _print_letters)(paper, view)
        for each in view.impossible:  # tests that some LLMs do not support
            paper.entry([("  ", "dim")], str(each), "dim")
        paper.line()
        _print_evidence(paper, view, trials, with_controls=verbosity > 0)
        _print_tables(paper, view, found_alone=crowded)
        print_splits(paper, split_groups(view), view.joined)
        _print_controls(paper, view)
        if not crowded:  # otherwise the page has these lines
            _print_memory(paper, view)
            _print_recalled_rows(paper, view, trials)
        _print_ranking(paper, view)
        _print_papers(paper, view)
        _print_comparisons(paper, view, verbosity)
    _print_durations(paper, view, durations)
    most = LISTED if crowded else None
    _print_summary(paper, view, summary, each_skip=verbosity > 0 or summary != USUAL, most=most)
    _print_last_line(paper, view)
    if index is not None and verbosity >= 0:
        paper.line(f"report: {index}")
    _print_self_check(paper, view)


def _style(view: RunResults, of: Result | TableVerdict) -> str:
    """Return the colour of an outcome. A finding in a control that has read the rows is not red."""
    expected = of.outcome == Verdict.CONTAMINATED and (of.llm, of.table) in view.exposed
    return AS_IT_SHOULD if expected else STYLES[of.outcome]


def _lines(view: RunResults) -> Iterator[tuple[ResultColumn, list[tuple[Result, str]]]]:
    """Yield each column with its results. Each result comes with the progress so far, like pytest's `[ 37%]`."""
    done, total = 0, len(view.possible)
    for block in view.blocks:
        for column in block.columns:
            results = []
            for result in column.results.values():
                done += 1
                results.append((result, f"[{100 * done // total:3d}%]"))
            yield column, results


def _print_letters(paper: TerminalWriter, view: RunResults) -> None:
    from rich.cells import cell_len

    paper.entry([("from left to right: ", "dim")], ", ".join(view.tests), "dim")
    lines = list(_lines(view))
    heads = paper.aligned((f"{column.llm} {column.label}" for column, _ in lines), gap=1)
    for head, (_, results) in zip(heads, lines, strict=True):
        of_test = {result.test: (result.letter, _style(view, result)) for result, _ in results}
        letters = [of_test.get(test, (" ", "")) for test in view.tests]
        progress = results[-1][1]
        if cell_len(head) + len(letters) + 1 + len(progress) > paper.width:  # the letters do not fit next to the label
            paper.line(head.rstrip())
            head = "  "
        paper.parts([(head, ""), *letters], progress)


def _print_llms(paper: TerminalWriter, view: RunResults) -> None:
    """Print a line for each LLM: the number of its results with each outcome, below the outcome's letter."""
    done, total = 0, len(view.possible)
    counts = [count(block.results) for block in view.blocks]
    letters = {word: letter for word, letter in ALL_LETTERS.items() if any(word in own for own in counts)}
    blank, *names = paper.aligned(["", *(block.llm for block in view.blocks)])
    wide = 3 + max((len(f"{number:,}") for own in counts for number in own.values()), default=0)
    paper.line(blank + "".join(letter.rjust(wide) for letter in letters.values()), "dim")
    for block, name, own in zip(view.blocks, names, counts, strict=True):
        done += len(block.results)
        parts = [(name, "")]
        for outcome in letters:
            known = outcome == Verdict.CONTAMINATED and all(
                (result.llm, result.table) in view.exposed for result in block.results if result.outcome == outcome
            )
            style = "" if outcome not in own else AS_IT_SHOULD if known else STYLES[outcome]
            parts.append((f"{own.get(outcome, 0):,}".rjust(wide), style))
        paper.parts(parts, f"[{100 * done // total:3d}%]")


def _print_results(paper: TerminalWriter, view: RunResults, trials: Iterable[Trial]) -> None:
    trials_of = TrialIndex(view.results, trials)
    for column, results in _lines(view):
        for result, progress in results:
            score = (
                "" if result.verdict is not None or result.evidence.score is None else f" {result.evidence.score:.2f}"
            )
            parts = [
                (f"{column.llm} {column.label} {result.test} ", ""),
                (f"{result.outcome.upper()}{score}", _style(view, result)),
                ("" if result.decision.q_value is None else f" q {rounded('q_value', result.decision.q_value)}", ""),
                (f" (paper: {result.decision.paper_verdict})" if result.differs else "", "yellow"),
            ]
            paper.parts(parts, progress)
            paper.entry([(" " * INDENT, "")], result.why, "dim")
            asked = [(kind_of(trial), trial) for trial in trials_of[result.place].values()]
            if summary := unread(asked, advised=not view.run.recorded and not result.control):
                paper.entry([(" " * INDENT, "")], summary.counted, "yellow")
                advice = [("what to do", summary.advice)] if summary.advice else []
                for head, words in (*summary.first, *advice):
                    paper.entry([(" " * 2 * INDENT, ""), (f"{head}: ", "yellow")], words)


def _print_evidence(paper: TerminalWriter, view: RunResults, trials: Iterable[Trial], *, with_controls: bool) -> None:
    shown_results = 20  # most contaminated results with evidence, without -v
    results = [result for block in view.blocks for result in block.results] if with_controls else view.subjects
    flagged = [result for result in results if result.verdict is Verdict.CONTAMINATED]
    if not flagged:
        return
    shown = flagged if with_controls else flagged[:shown_results]
    found = trials_to_show(shown, trials)
    paper.rule("evidence")
    for result in shown:
        style = _style(view, result)
        paper.rule(f"{result.llm} {view.label(result)} {result.test}", style, fill="_")
        paper.line(result.why)
        _print_trial(paper, found[result.place], style)
    _print_left(paper, flagged, len(shown), "contaminated results")
    paper.line()


def _print_tables(paper: TerminalWriter, view: RunResults, *, found_alone: bool = False) -> None:
    """Print one line for each table with its verdict. Controls that the run added come last and are dimmed.

    With `found_alone` the tables are counted, and only the first `LISTED` contaminated tables have a line.
    """
    from rich.cells import cell_len

    tables = view.tables_in_order
    if not tables:
        return
    paper.rule("tables")
    if found_alone:
        own = [table for table in tables if table.llm not in view.joined]
        of_outcome = grouped(own, lambda table: table.outcome)
        counts = [f"{len(of_outcome[word]):,} {word}" for word in STYLES if word in of_outcome]
        paper.line(f"{len(own):,} {'pair' if len(own) == 1 else 'pairs'} of LLM and table: {', '.join(counts)}")
        found = of_outcome.get(Verdict.CONTAMINATED.value, [])
        tables = tuple(found[:LISTED])
    labels = paper.aligned(f"{table.llm} {view.label(table)} " for table in tables)
    width = paper.width - VERDICT - max(map(cell_len, labels), default=0)
    room = width >= NARROWEST or not paper.console.is_terminal
    for label, table in zip(labels, tables, strict=True):
        control = "dim" if table.llm in view.joined else ""
        verdict = (table.outcome.upper().ljust(VERDICT), f"{control} {_style(view, table)}".strip())
        if room:
            paper.entry([(label, control), verdict], _figures(view, table), control)
        else:
            paper.line(label.rstrip(), control)
            paper.entry([("  ", ""), verdict], _figures(view, table), control)
    if found_alone:
        _print_left(paper, found, LISTED, "contaminated")
    paper.line()


def _figures(view: RunResults, table: TableVerdict) -> str:
    """Return the numbers behind a table's verdict. Recalled bits are for findings only: the baseline has some, too."""
    shown = {Verdict.CONTAMINATED: ("q_value", "recalled_bits"), Verdict.NOT_DETECTED: ("q_value",)}
    left_out = ["q_value"] * bool(table.sequential_queries)  # the reason already contains E
    left_out += ["recalled_bits"] * (table.by_corpora or table.llm in view.corpora)  # recalled bits belong to answers
    known = [key for key in shown.get(table.verdict, ()) if key in table.numbers and key not in left_out]
    numbers = [TABLE_NUMBERS[key].format(rounded(key, table.numbers[key])) for key in known]
    return ", ".join(filter(None, (*numbers, table.why)))


def _print_trial(paper: TerminalWriter, trials: list[Trial], style: str) -> None:
    if not trials:
        paper.line("no trial of this result is stored", "dim")
        return
    trial = trials[0]
    if is_lookup(trial):
        _print_lookup(paper, trial, style)
        _print_more(paper, trials)
        return
    features = listed(trial.get("asked")).replace("\n", ", ")
    question = "".join(words for _, words in prompt_of(trial)[-1:])  # without the part that all queries share
    paper.block("asked", shorten(question.rstrip(), LONGEST["asked"], tail=True))
    if features:
        paper.block("for", shorten(features, LONGEST["expected"]))
    reply = shorten(text(trial.get("reply")).strip(), LONGEST["answered"])
    paper.block("answered", reply, style if trial.get("hit") else "")
    paper.block("expected", shorten(listed(trial.get("expected")).replace("\n", ", "), LONGEST["expected"]), "green")
    _print_more(paper, trials)


def _print_lookup(paper: TerminalWriter, trial: Trial, style: str) -> None:
    """Print a text that was looked up in documents, and the first place where it was found."""
    sought = "".join(words for _, words in prompt_of(trial))
    paper.block("looked up", shorten(sought, LONGEST["asked"]))
    if isinstance(trial.get("expected"), Mapping):
        paper.block("row has", shorten(listed(trial.get("expected")).replace("\n", ", "), LONGEST["expected"]), "green")
    paper.block("found in", documents(trial))
    for place in places(trial)[:1]:
        paper.block("first", place.where)
        quote = f"{place.before}[{place.found}]{place.after}".replace("\n", " ")
        paper.block("which has", shorten(quote, LONGEST["quoted"]), style if trial.get("hit") else "")


def _print_more(paper: TerminalWriter, trials: Sequence[Trial]) -> None:
    if len(trials) > 1:
        paper.line(f"({len(trials) - 1} more in trials.jsonl)", "dim")


def _print_controls(paper: TerminalWriter, view: RunResults) -> None:
    if view.controls:
        paper.rule("controls")
        for note in view.controls:
            paper.line(str(note), "yellow" if note.warns else "")
        paper.line()


def _print_memory(paper: TerminalWriter, view: RunResults) -> None:
    """Print memory's share for each LLM and table: both accuracies as numbers, and as dots on a line from 0 to 1."""
    found = memory_shares.measured_shares(view)
    if not found:
        return
    paper.rule("memory's share")
    for one in found:
        paper.entry([(f"{one.llm} {one.label} ", "")], "; ".join(filter(None, (one.words, one.compared))))
        if paper.width >= memory_shares.WIDTH + 2 * INDENT:
            paper.parts([(f"{' ' * INDENT}0|", "dim"), (one.line, ""), ("|1", "dim")])
    paper.line(memory_shares.legend(found, memory_shares.ON_ROWS, memory_shares.ON_TWINS), "dim")
    paper.line()


def _print_recalled_rows(paper: TerminalWriter, view: RunResults, trials: Iterable[Trial]) -> None:
    """Print the accuracy on recalled rows and on other rows for each result."""
    found = recalled_rows.compare_accuracies(view, trials)
    if not found:
        return
    paper.rule("recalled rows")
    for one in found:
        line = f"accuracy on recalled rows {one.recalled}, on others {one.others}, difference {one.gap}"
        paper.entry([(f"{one.llm} {one.label} {one.test} ", "")], line)
    paper.line()


def _print_ranking(paper: TerminalWriter, view: RunResults) -> None:
    """Print a line for each LLM with 95 % intervals below it, then how contamination correlates with other measures."""
    from rich.text import Text

    columns = ranking_columns(view)
    if not columns:
        return
    paper.rule("ranking")
    table = open_table("LLM", (column.short for column in columns), 2)
    for rank in view.ranks_in_order:
        values = [rank.measures[column.name] for column in columns]
        scores = ["-" if value is None else format_signed(value, minus="-") for value in values]
        table.add_row(Text(paper.printable(rank.llm)), *scores)
        if rank.intervals:
            table.add_row("", *(_limits(rank.intervals.get(column.name)) for column in columns), style="dim")
    if known := majorities(view.ranks_in_order):
        table.add_row("(largest class)", *(known.get(column.name, "") for column in columns), style="dim")
    paper.console.print(table)
    for column in columns:
        if column.name in OTHER_SCORES:
            paper.line(f"{column.short}: {words_of(view, column)}", "dim")
    if same := same_scores(view):
        paper.line(same, "dim")
    for sentence in left_out(view):
        paper.line(sentence, "dim")
    if len(view.ranks_in_order) > 1:
        for sentence in (*correlation_sentences(view), *part_sentences(view)):
            paper.line(sentence)
    paper.line()


def _print_papers(paper: TerminalWriter, view: RunResults) -> None:
    if lines := list(paper_methods.papers_text(view)):
        paper.rule("paper by paper")
    for line in lines:
        paper.line(line)


# changes_shown: most changes of a comparison that are printed without -v
def _print_comparisons(paper: TerminalWriter, view: RunResults, verbosity: int, *, changes_shown: int = 20) -> None:
    """Print the changes between versions, serializers, prompt sets or runs, and the changes that exceed chance."""
    for section in comparisons.context(view)["compared"]:
        paper.rule(section.title.lower())
        paper.line(section.counted)
        changes = [(group, change) for group in section.changed for change in group.changes]
        shown = changes if verbosity else changes[:changes_shown]
        for group, change in shown:
            llm = f"{group.llm}: " if group.llm else ""
            where = f" {llm}{group.first} -> {group.second}, {change.where}: {change.figures.replace('→', '->')}"
            paper.entry([(change.word.upper(), "red" if change.word == "appeared" else "yellow")], where)
        if len(shown) < len(changes):
            paper.line(f"({len(changes) - len(shown)} more: see -v, or index.html)", "dim")
        paper.line()


def _limits(interval: tuple[float, float] | None) -> str:
    """Return the ends of an interval in few characters.

    >>> _limits((0.381, 1.0))
    '.38-1.00'
    >>> _limits((-0.03, 0.1))
    '-0.03 to 0.10'
    """
    if interval is None:
        return ""
    low, high = (format_signed(limit, minus="-") for limit in interval)
    return f"{low} to {high}" if low.startswith("-") else f"{low.removeprefix('0')}-{high.removeprefix('0')}"


def _print_durations(paper: TerminalWriter, view: RunResults, most: int) -> None:
    if not most:
        return
    paper.rule(f"slowest {most} results")
    for name, seconds in view.durations[:most]:
        paper.line(f"{seconds:.2f}s {name}")
    if not view.durations:
        paper.line("nothing was asked now: the answers were stored", "dim")


def _print_summary(
    paper: TerminalWriter, view: RunResults, letters: str, *, each_skip: bool, most: int | None = None
) -> None:
    """Print the results with the outcomes that `letters` choose, in at most `most` lines for each outcome."""
    letters = "" if "N" in letters else "".join(SUMMARY) if "A" in letters else letters
    listed = {
        SUMMARY[letter]: [result for result in view.subjects if result.verdict is SUMMARY[letter]] for letter in letters
    }
    if letters and None not in listed:  # scores that the ranking does not contain
        scores = [result for result in view.subjects if result.verdict is None]
        listed[None] = [result for result in scores if view.facts[result.test].measure == RECALLED]
    held = [table for table in view.tables_in_order if table.by_corpora and "c" in letters]
    if not any(listed.values()) and not held:
        return
    paper.rule("short summary info", "cyan")
    for table in held:  # no result of the LLM shows these findings
        paper.parts(
            [(table.outcome.upper(), _style(view, table)), (f" {table.llm} {view.label(table)} - {table.why}", "")]
        )
    for outcome, results in listed.items():
        if outcome is Verdict.SKIPPED and not each_skip:
            _print_skips(paper, results)
        elif outcome in UNDECIDED:  # grouped by reason
            alike = grouped(results, lambda result: (result.outcome, result.why))
            ordered = list(alike.items())
            if most is not None:  # the most frequent reasons come first
                ordered.sort(key=lambda one: -len(one[1]))
            for (word, why), group in ordered[:most]:
                place = f" [{len(group)}] {_places(view, group)} - {why}"
                paper.parts([(word.upper(), STYLES[word]), (place, "")])
            _print_left(paper, ordered, most, f"reasons of {outcome}")
            if outcome is Verdict.NO_ANSWER and results and not each_skip:
                paper.line("(-v and index.html show the unread replies, and what to do next)", "dim")
        else:
            for result in results[:most]:
                place = f" {result.llm} {view.label(result)} {result.test} - {result.why}"
                paper.parts([(result.outcome.upper(), _style(view, result)), (place, "")])
            _print_left(paper, results, most, outcome or SCORE)


# skips_named: most reasons named in the line on skipped results
def _print_skips(paper: TerminalWriter, results: Sequence[Result], *, skips_named: int = 3) -> None:
    """Print one line for all skipped results, with their most frequent reasons."""
    by_reason = sorted(grouped(results, lambda cell: cell.why).items(), key=lambda one: -len(one[1]))
    reasons = [f"{why} ({phrase(list(dict.fromkeys(cell.test for cell in own)))})" for why, own in by_reason]
    left = len(reasons) - skips_named
    more = [f"{left:,} more {'reason' if left == 1 else 'reasons'}, see -rs"] if left > 0 else []
    if results:
        number = f" {len(results):,} {'result' if len(results) == 1 else 'results'}: "
        word = Verdict.SKIPPED.value
        paper.parts([(word.upper(), STYLES[word]), (number + "; ".join([*reasons[:skips_named], *more]), "")])


def _places(view: RunResults, results: list[Result]) -> str:
    """Return the LLMs, datasets and tests of results: `gpt-4o iris, wine membership`. A long list is only counted."""
    found = {
        "LLMs": dict.fromkeys(result.llm for result in results),
        "datasets": dict.fromkeys(view.label(result) for result in results),
        "tests": dict.fromkeys(result.test for result in results),
    }
    return " ".join(", ".join(names) if len(names) <= 3 else f"({len(names)} {kind})" for kind, names in found.items())


def _print_last_line(paper: TerminalWriter, view: RunResults) -> None:
    counts = count(view.subjects)
    none = "no results but those of controls" if view.results else "no results"
    words = ", ".join(f"{number:,} {outcome}" for outcome, number in counts.items()) or none
    if view.run.interrupted:
        words += ", interrupted"
    elif view.run.limit:
        words += ", stopped at a limit"
    elif not view.run.finished:
        words += ", not finished"
    paper.rule(f"{words} in {_duration(view.run.seconds)}", f"bold {_worst(view, counts)}")


def _print_self_check(paper: TerminalWriter, view: RunResults) -> None:
    """Print the conclusion of a run that asks only controls: whether the tests work, and the next command."""
    if found := self_check(view):
        paper.line()
        paper.line(found.text, f"bold {CHECKED[found.passed]}")
        if found.passed:
            paper.line(NEXT)


def _worst(view: RunResults, counts: Mapping[str, int]) -> str:
    """Return the colour of the worst outcome. It is green only if something was decided and nothing is undecided."""
    if found := self_check(view):
        return CHECKED[found.passed]
    if any(_style(view, result) == "red" for result in view.subjects):
        return "red"
    undecided = Verdict.UNINFORMATIVE in counts or Verdict.NO_ANSWER in counts
    cut_off = view.run.interrupted or not view.run.finished
    decided = Verdict.NOT_DETECTED in counts or Verdict.CONTAMINATED in counts
    return "green" if decided and not undecided and not cut_off else "yellow"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "?s"
    clock = f" ({timedelta(seconds=int(seconds))})" if seconds >= 60 else ""
    return f"{seconds:.1f}s{clock}"
