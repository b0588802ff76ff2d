"""What a report reads: the `results.json` of a run's folder, checked and typed, and its trials.

Every text in them was written by a model, a table or a user. None of it reaches a page or a terminal without
`visible`, which makes control characters harmless and still shows that they were there.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

from tabcontam.errors import UsageError
from tabcontam.evidence import registry
from tabcontam.evidence.base import UNDECIDED, Kind, Verdict

SCHEMA = 1

# The paper's Table 1, then what its Table 2 adds.
TESTS = {
    "feature_list_informed": "1 Feature list, informed",
    "feature_list_uninformed": "2 Feature list, uninformed",
    "recognition_features": "3 Recognition by features",
    "recognition_examples": "4 Recognition by examples",
    "feature_values_informed": "5 Feature values, informed",
    "feature_values_uninformed": "6 Feature values, uninformed",
    "incomplete_completion": "7 Incomplete completion",
    "incomplete_completion_single": "Incomplete completion, single",  # in recorded answers alone
    "full_completion": "8 Full completion",
    "feature_completion": "9 Feature completion",
    "membership": "Membership",
    "matched_membership": "Matched membership",
    "classification_0shot": "Classification, 0-shot",
    "classification_1shot": "Classification, 1-shot",
}
# Only these can show that rows were seen; a page about the dataset is enough to pass the others. A user's own count.
ROW_TESTS = frozenset(test.id for test in registry.TESTS if test.of_rows) | {"incomplete_completion_single"}

LETTERS = {
    Verdict.CONTAMINATED: "C",
    Verdict.NOT_DETECTED: ".",
    Verdict.UNINFORMATIVE: "u",
    Verdict.NO_ANSWER: "?",
    Verdict.SKIPPED: "s",
}
SCORE = "scored"
OUTCOMES = (*(verdict.value for verdict in Verdict), SCORE)  # worst first
LONGEST_SENTENCE = 600
SCORE_LETTER = "%"

PLACE = ("llm", "dataset", "edition", "serializer", "source", "test")  # of a cell, and of its trials
# What a cell of results.json holds: texts, and numbers that may be null.
_WORDS = (*PLACE, "kind", "null", "interval_of", "reason", "sentence")
_NUMBERS = (
    "score", "hits", "expected_hits", "answered", "queries", "p_value", "q_value", "recalled_bits",
    "detectable_share",
)  # fmt: skip
_TABLE_WORDS = ("llm", "dataset", "edition", "serializer", "source", "reason")
_TABLE_NUMBERS = ("p_value", "q_value", "recalled_bits", "detectable_share")

WARNINGS = ("no power:", "not known:", "plausibility:")  # how notes about controls begin that warn
EXPOSED = "control:exposed"
UNEXPOSED = "control:unexposed"

# C0 and C1 controls but tab and newline, bidirectional marks, line separators, surrogates, non-characters.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)


def visible(text: str, *, line: bool = False) -> str:
    """`text` with each character that could drive a terminal or break a page replaced by one that shows it.

    `line=True` also keeps it on one line.

    >>> visible("\\x1b[31m")
    '␛[31m'
    """
    text = _UNSAFE.sub(_picture, text.replace("\r\n", "\n"))
    return text.replace("\n", " ⏎ ").replace("\t", " ") if line else text


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"\\u{code:04x}"


def shorten(text: str, limit: int, *, tail: bool = False) -> str:
    """At most `limit` characters of `text`, and how many are left out; `tail=True` keeps the end.

    >>> shorten("abcdef", 4)
    'abcd… (+2 characters)'
    """
    left_out = len(text) - limit
    if left_out <= 0:
        return text
    if tail:
        return f"(+{left_out} characters) …{text[left_out:]}"
    return f"{text[:limit]}… (+{left_out} characters)"


def rounded(key: str, value: float) -> str:
    """A number of a result as people read it: probabilities to two digits, bits to one decimal, shares in percent.

    >>> rounded("q_value", 0.00123), rounded("recalled_bits", 212.34), rounded("detectable_share", 0.12)
    ('0.0012', '212.3', '12%')
    """
    if key in ("p_value", "q_value"):
        return f"{value:.2g}" if value else "under 1e-300"
    if key == "recalled_bits":
        return f"{value:.1f}"
    return f"{value:.0%}" if key == "detectable_share" else f"{value:.4g}"


def place_of(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """The place of a cell, or of what is said of one, from its fields."""
    return tuple(text(fields.get(name)) for name in PLACE)


def outcome_of(verdict: Verdict | None) -> str:
    """The verdict's word, or that there is only a score."""
    return SCORE if verdict is None else verdict.value


@dataclass(frozen=True)
class Statistic:
    """What a test measured, what that came to, and what the null expects, where that is known."""

    name: str
    value: float
    expected: float | None


@dataclass(frozen=True)
class Cell:
    """One judged (LLM, dataset, serializer, test); `verdict` is None where there is only a score.

    `null` says what is drawn anew under it; `interval` has a confidence of 95% and is of what `interval_of` says.
    `otherwise` is what a contaminated cell would be without its finding.
    """

    llm: str
    dataset: str
    edition: str
    serializer: str
    source: str
    test: str
    kind: str
    null: str
    interval_of: str
    reason: str
    sentence: str
    control: bool
    verdict: Verdict | None
    otherwise: Verdict | None
    paper_verdict: Verdict | None
    numbers: Mapping[str, float]
    statistic: Statistic | None
    interval: tuple[float, float] | None

    @property
    def place(self) -> tuple[str, ...]:
        """What its trials share with it."""
        return place_of(vars(self))

    @property
    def outcome(self) -> str:
        """The verdict's word, or that there is only a score."""
        return outcome_of(self.verdict)

    @property
    def letter(self) -> str:
        """One character that tells the outcome."""
        return SCORE_LETTER if self.verdict is None else LETTERS[self.verdict]

    @property
    def why(self) -> str:
        """The plain sentence, and the reason where nothing was detected; the bare reason of what was not measured."""
        first, second = (self.reason, self.sentence) if self.verdict in UNDECIDED else (self.sentence, self.reason)
        if self.verdict is Verdict.NOT_DETECTED and first and second:
            return f"{shorten(first.rstrip('.'), LONGEST_SENTENCE)}; {shorten(second, LONGEST_SENTENCE)}"
        return shorten(first or second or self.outcome, LONGEST_SENTENCE)

    @property
    def limits(self) -> str:
        """The interval in words, and of what it is; empty where there is none."""
        if self.interval is None:
            return ""
        return f"{self.interval[0]:.3g} to {self.interval[1]:.3g}" + (
            f" ({self.interval_of})" if self.interval_of else ""
        )

    @property
    def differs(self) -> bool:
        """Whether the paper's rules come to another verdict."""
        return None not in (self.verdict, self.paper_verdict) and self.verdict is not self.paper_verdict

    @property
    def score(self) -> float | None:
        """The measured score, in [0, 1]."""
        return self.numbers.get("score")

    @property
    def title(self) -> str:
        """The test's name in words."""
        return TESTS.get(self.test, self.test)


@dataclass(frozen=True)
class TableVerdict:
    """What the row tests say together of one (LLM, dataset, serializer)."""

    llm: str
    dataset: str
    edition: str
    serializer: str
    source: str
    reason: str
    verdict: Verdict | None
    numbers: Mapping[str, float]

    @property
    def outcome(self) -> str:
        """The verdict's word, or that there is only a score."""
        return outcome_of(self.verdict)

    @property
    def why(self) -> str:
        """The reason."""
        return shorten(self.reason, LONGEST_SENTENCE)


ACCURACIES = ("zero_shot", "one_shot")
MEASURES = ("score", "membership", *ACCURACIES)  # of the ranking


@dataclass(frozen=True)
class Rank:
    """One LLM in the ranking of the paper's Table 2.

    `intervals` (95%) and `majorities` (the accuracy of always saying the largest class, in [0, 1], on the same rows)
    have the measures where they are known; the keys are those of `MEASURES`.
    """

    llm: str
    score: float | None
    membership: float | None
    zero_shot: float | None
    one_shot: float | None
    intervals: Mapping[str, tuple[float, float]]
    majorities: Mapping[str, float]


@dataclass(frozen=True)
class Correlation:
    """How two measures of the ranking go together over the LLMs: Spearman's coefficient, in [-1, 1].

    `interval` (95%) and `p_value` are None where there are too few LLMs to say.
    """

    first: str
    second: str
    llms: int
    value: float | None
    interval: tuple[float, float] | None
    p_value: float | None


@dataclass(frozen=True)
class Comparison:
    """One test of two cells that differ in one thing, and whether they differ by more than chance.

    `kind` says in what: "versions" of a family of LLMs (5.3 of the paper), "serializers" (5.5), or "runs". `first` and
    `second` are the two LLMs, serializers or runs; `llm` and `serializer` are empty where that is what differs.
    `change`: "appeared", "vanished", "same" (two scores are, too), or "unknown" where one of them was not decided.
    Shares and p-value are None where the two cannot be tested.
    """

    kind: str
    first: str
    second: str
    llm: str
    dataset: str
    edition: str
    serializer: str
    test: str
    first_verdict: Verdict | None
    second_verdict: Verdict | None
    first_share: float | None  # of hits among queries
    second_share: float | None
    queries: int  # that both were asked; 0 where they were asked different ones
    p_value: float | None
    q_value: float | None
    beyond_chance: bool
    change: str


@dataclass(frozen=True)
class Entry:
    """What the catalogue says of an LLM: its entry, its title, its family and its place there."""

    name: str
    title: str
    family: str
    order: int


@dataclass(frozen=True)
class Column:
    """The cells of one LLM on one dataset, by test; `label` also names what tells two such columns apart."""

    llm: str
    label: str
    cells: Mapping[str, Cell]


@dataclass(frozen=True)
class Block:
    """The columns of one LLM; `control` says that it joined as a control."""

    llm: str
    control: bool
    columns: tuple[Column, ...]

    @property
    def cells(self) -> list[Cell]:
        """Its cells, column by column, in the order of the tests."""
        return [cell for column in self.columns for cell in column.cells.values()]


@dataclass(frozen=True)
class Results:
    """`results.json`, typed. `run` stays the mapping it is: facts to show, not to decide by."""

    run: Mapping[str, Any]
    cells: tuple[Cell, ...]
    table_verdicts: tuple[TableVerdict, ...]
    ranked: tuple[Rank, ...]
    correlations: tuple[Correlation, ...] = ()
    comparisons: tuple[Comparison, ...] = ()

    @cached_property
    def tests(self) -> tuple[str, ...]:
        """The ids of the tests that occur, in the order of Table 1; unknown ones last."""
        found = dict.fromkeys(cell.test for cell in self.cells)
        known = [test for test in TESTS if test in found]
        return (*known, *(test for test in found if test not in TESTS))

    @cached_property
    def kinds(self) -> dict[str, tuple[str, ...]]:
        """The tests by kind: knowledge, memorization, membership, classification."""
        kind_of = {cell.test: cell.kind for cell in self.cells}
        order = list(dict.fromkeys([*(kind.value for kind in Kind), *kind_of.values()]))
        grouped = {kind: tuple(test for test in self.tests if kind_of[test] == kind) for kind in order}
        return {kind: tests for kind, tests in grouped.items() if tests}

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """One block an LLM, controls that joined first, then as the run names them."""
        asked, joined = self._llm_order, self.joined
        present = sorted({cell.llm for cell in self.cells}, key=lambda llm: (llm not in joined, asked[llm]))
        return tuple(Block(llm, llm in joined, self._columns(llm)) for llm in present)

    @cached_property
    def placed(self) -> dict[str, Cell]:
        """The cells in the order of the page, by where they stand there: `LLM-COLUMN-TEST`, each counted from 1."""
        row = {test: number for number, test in enumerate(self.tests, start=1)}
        return {
            f"{block_number}-{column_number}-{row[cell.test]}": cell
            for block_number, block in enumerate(self.blocks, start=1)
            for column_number, column in enumerate(block.columns, start=1)
            for cell in column.cells.values()
        }

    @cached_property
    def tables(self) -> tuple[TableVerdict, ...]:
        """What is said of each table, LLM by LLM as the run names them; controls that joined come last."""

        def place(table: TableVerdict) -> tuple[bool, int, int]:
            return table.llm in self.joined, self._llm_order[table.llm], self._dataset_order[table.dataset]

        return tuple(sorted(self.table_verdicts, key=place))

    @cached_property
    def joined(self) -> frozenset[str]:
        """The controls that joined the run."""
        return frozenset(cell.llm for cell in self.cells if cell.control)

    @cached_property
    def _llm_order(self) -> dict[str, int]:
        found = [cell.llm for cell in self.cells] + [table.llm for table in self.table_verdicts]
        return _order([fact["llm"] for fact in self.llms] + found)

    @cached_property
    def _dataset_order(self) -> dict[str, int]:
        found = [cell.dataset for cell in self.cells] + [table.dataset for table in self.table_verdicts]
        return _order([fact["dataset"] for fact in self.datasets] + found)

    def _columns(self, llm: str) -> tuple[Column, ...]:
        datasets, test_order = self._dataset_order, _order(self.tests)
        grouped: dict[tuple[str, int], dict[str, Cell]] = {}
        for cell in sorted(self.cells, key=lambda cell: (datasets[cell.dataset], test_order[cell.test])):
            if cell.llm == llm:
                label = self.label(cell)
                # The same cell twice, as when runs are joined, is shown twice: nothing is overwritten.
                repeat = next(n for n in range(1, 10**6) if cell.test not in grouped.get((label, n), {}))
                grouped.setdefault((label, repeat), {})[cell.test] = cell
        return tuple(
            Column(llm, label if repeat == 1 else f"{label} #{repeat}", cells)
            for (label, repeat), cells in grouped.items()
        )

    def label(self, of: Cell | TableVerdict) -> str:
        """The dataset, and what tells it from another column: edition, serializer, source."""
        editions, serializers, sources = self._told_apart
        edition = f"@{of.edition}" if len(editions.get(of.dataset, ())) > 1 and of.edition else ""
        serializer = f" {of.serializer}" if len(serializers) > 1 and of.serializer else ""
        source = f" {of.source}" if len(sources) > 1 and of.source else ""
        return f"{of.dataset}{edition}{serializer}{source}"

    @cached_property
    def _told_apart(self) -> tuple[dict[str, set[str]], set[str], set[str]]:
        editions: dict[str, set[str]] = {}
        for cell in self.cells:
            editions.setdefault(cell.dataset, set()).add(cell.edition)
        return editions, {cell.serializer for cell in self.cells}, {cell.source for cell in self.cells}

    @property
    def subjects(self) -> list[Cell]:
        """The cells that count: all but those of controls that joined."""
        return [cell for block in self.blocks for cell in block.cells if not cell.control]

    @property
    def ranking(self) -> list[Rank]:
        """By contamination score, highest first; controls that joined are not ranked."""
        ranks = [rank for rank in self.ranked if rank.llm not in self.joined]
        return sorted(ranks, key=lambda rank: (rank.score is None, -(rank.score or 0.0), rank.llm))

    @property
    def llms(self) -> list[dict[str, str]]:
        """The run's LLMs with what their servers state."""
        return [
            {
                "llm": text(fact.get("spec")),
                "resolved": "" if fact.get("resolved") == fact.get("spec") else text(fact.get("resolved")),
                "version": text(fact.get("version")),
                "took": _took(fact),
                "control": yes(fact.get("control")),
            }
            for fact in _mappings(self.run.get("llms"))
        ]

    @property
    def datasets(self) -> list[dict[str, str]]:
        """The run's datasets: name, edition, short hash, shape, order of rows."""
        return [
            {
                "dataset": text(fact.get("name")),
                "title": text(fact.get("title")),
                "edition": text(fact.get("edition")),
                "sha256": text(fact.get("sha256")),
                "shape": f"{text(fact.get('rows')) or '?'} x {text(fact.get('columns')) or '?'}",
                "order": text(fact.get("order")),
                "features": listed(fact.get("features")).replace("\n", ", ") if fact.get("features") else "",
            }
            for fact in _mappings(self.run.get("datasets"))
        ]

    @property
    def durations(self) -> list[tuple[str, float]]:
        """The cells that were asked now, by how long their answers took together, in seconds; the longest first."""
        cells = {cell.place: cell for cell in self.cells}
        took = [(cells[place], seconds) for place, seconds in self.seconds.items() if place in cells]
        named = [(f"{cell.llm} {self.label(cell)} {cell.test}", seconds) for cell, seconds in took]
        return sorted(named, key=lambda line: -line[1])

    @property
    def seconds(self) -> dict[tuple[str, ...], float]:
        """The same for each cell by its place, in the order of the run."""
        return {
            place_of(fact): float(fact["seconds"])
            for fact in _mappings(self.run.get("durations"))
            if isinstance(fact.get("seconds"), int | float)
        }

    @cached_property
    def catalogue(self) -> dict[str, Entry]:
        """What the catalogue says of the run's LLMs, by their names in the run; others are left out."""
        stated = self.run.get("catalogue")
        known = stated.items() if isinstance(stated, Mapping) else ()
        return {
            text(llm): Entry(text(fact["name"]), text(fact["title"]), text(fact["family"]), int(fact["order"]))
            for llm, fact in known
            if isinstance(fact, Mapping) and fact.keys() >= {"name", "title", "family", "order"}
        }

    def title(self, llm: str) -> str:
        """What the catalogue calls an LLM; empty where it does not have it."""
        return self.catalogue[llm].title if llm in self.catalogue else ""

    @property
    def notes(self) -> list[str]:
        """What a reader must know before believing a verdict: the rules, and whether the run ended early."""
        notes = [self._rules] if self.calibrated else []
        stated = self.run.get("notes")
        notes += map(text, stated if isinstance(stated, list) else [])
        if limit := text(self.run.get("limit")):
            notes.append(f"stopped: {limit}; the same command with a higher limit and this --out continues the run")
        for fact in _mappings(self.run.get("llms")):
            if (ended := text(fact.get("ended"))) and ended != limit:
                notes.append(f"{text(fact.get('spec'))} was asked nothing more: {ended}")
        if limit:
            return notes
        if self.run.get("interrupted"):
            notes.append("interrupted: not every query was asked; the same command with this --out continues the run")
        elif self.run.get("finished") is False:
            notes.append("not finished: not every query was asked; the same command with this --out continues the run")
        return notes

    @property
    def calibrated(self) -> bool:
        """Whether a level decided over all cells of an LLM; the calibrated rules of older runs had none."""
        return self.run.get("rules") == "calibrated" and any("q_value" in cell.numbers for cell in self.cells)

    @property
    def _rules(self) -> str:
        alpha = text(self.run.get("alpha"))
        return (
            f"rules calibrated: one level{alpha and f', {alpha},'} for each LLM over all its cells "
            "(Benjamini-Hochberg); tests 1 to 6 show that the dataset is known, row tests (7 to 9 and matched "
            "membership) that rows were seen"
        )

    @property
    def controls(self) -> list[str]:
        """What the controls say about the tests themselves; empty where no control took part.

        Both have read a page about the dataset, so only row tests tell them apart.
        """
        exposed, unexposed = self._measured(EXPOSED), self._measured(UNEXPOSED)
        missed = [cell for cell in exposed if cell.verdict is Verdict.NOT_DETECTED]
        silent = [cell for cell in exposed if cell.verdict is Verdict.NO_ANSWER]
        flagged = _of_rows(cell for cell in unexposed if cell.verdict is Verdict.CONTAMINATED)
        known = [cell for cell in missed if cell.test not in ROW_TESTS]
        return [
            *self._by_test(f"no power: {EXPOSED}, which has the table, was missed by", _of_rows(missed)),
            *self._by_test(f"not known: {EXPOSED} gave no readable answer to", silent),
            *self._by_test(f"plausibility: {UNEXPOSED}, which has none of its rows, was flagged by", flagged),
            *self._by_test(f"{EXPOSED}, which has read a page about the dataset, was missed by", known),
            *_found(f"{EXPOSED}, which has the table, was found", _of_rows(exposed)),
            *_found(f"{UNEXPOSED}, which has none of its rows, was flagged", _of_rows(unexposed)),
        ]

    def _by_test(self, what: str, cells: Iterable[Cell]) -> list[str]:
        """`what` with the tests and the datasets, tests that have the same datasets together."""
        places: dict[str, list[str]] = {}
        for cell in cells:
            places.setdefault(cell.test, []).append(self.label(cell))
        tests: dict[tuple[str, ...], list[str]] = {}
        for test, labels in places.items():
            tests.setdefault(tuple(labels), []).append(test)
        return [f"{what} {phrase(names)} on {phrase(labels)}" for labels, names in tests.items()]

    def _measured(self, llm: str) -> list[Cell]:
        """The cells of an LLM that were asked and decided: neither a score, nor skipped, nor uninformative."""
        cells = [cell for block in self.blocks if block.llm == llm for cell in block.cells]
        return [cell for cell in cells if cell.verdict not in (None, Verdict.SKIPPED, Verdict.UNINFORMATIVE)]


def _of_rows(cells: Iterable[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.test in ROW_TESTS]


def _found(what: str, cells: Sequence[Cell]) -> list[str]:
    found = sum(cell.verdict is Verdict.CONTAMINATED for cell in cells)
    return [f"{what} by the row tests in {found} of {len(cells)} measured cells"] if cells else []


def phrase(names: Sequence[str], last: str = "and") -> str:
    """The names as a phrase, with this word before the last one.

    >>> phrase(["a", "b", "c"])
    'a, b and c'
    """
    return f" {last} ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def count(cells: Iterable[Cell]) -> dict[str, int]:
    """How many cells came to each outcome, worst first; outcomes that do not occur are left out."""
    found = Counter(cell.outcome for cell in cells)
    return {outcome: found[outcome] for outcome in OUTCOMES if found[outcome]}


def listed(value: object) -> str:
    """A word, a list or a mapping (feature to value) as lines; None is a missing value, and each item is one line.

    >>> listed({"age": "39", "note": "a\\nb", "income": None})
    'age = 39\\nnote = a ⏎ b\\nincome = (missing)'
    """
    if isinstance(value, Mapping):
        return "\n".join(f"{key} = {visible(listed(item), line=True)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return "\n".join(visible(listed(item), line=True) for item in value)
    return "(missing)" if value is None else text(value)


def read_results(folder: Path) -> dict[str, Any]:
    """The checked `results.json` of a run's folder."""
    path = folder / "results.json"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{folder} is no run folder: it has no results.json; type the --out of a run") from None
    except NotADirectoryError:
        raise UsageError(f"{folder} is a file; type the folder of a run") from None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise UsageError(
            f"{path} is not readable JSON; delete that file and run the same command with --out {folder} again: "
            "the answers are in trials.jsonl"
        ) from None
    try:
        typed(document)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    checked: dict[str, Any] = document
    return checked


def typed(document: object) -> Results:
    """The reading view of a `results.json`; `UsageError` says in one line what is foreign in it."""
    if not isinstance(document, Mapping) or "schema" not in document:
        raise UsageError("not a tabcontam result: it names no schema")
    if document["schema"] != SCHEMA:
        raise UsageError(f"schema {document['schema']!r} is not {SCHEMA}; read it with the tabcontam that wrote it")
    run, cells = document.get("run"), document.get("cells")
    if not isinstance(run, Mapping) or not isinstance(cells, list):
        raise UsageError("not a tabcontam result: it needs `run` and a list of `cells`")
    tables = tuple(_table(number, raw) for number, raw in enumerate(_mappings(document.get("tables")), start=1))
    return Results(
        run,
        tuple(_cell(number, raw) for number, raw in enumerate(cells, start=1)),
        tables,
        tuple(_rank(fact) for fact in _mappings(document.get("ranking"))),
        tuple(_correlation(fact) for fact in _mappings(document.get("correlations"))),
        tuple(_comparison(fact) for fact in _mappings(document.get("comparisons"))),
    )


def _cell(number: int, raw: object) -> Cell:
    if not isinstance(raw, Mapping) or not all(isinstance(raw.get(key), str) for key in ("llm", "dataset", "test")):
        raise UsageError(f"cell {number} needs `llm`, `dataset` and `test`")
    words = {key: text(raw.get(key)) for key in _WORDS}
    try:
        return Cell(
            **words,
            control=raw.get("control") is True,
            verdict=_verdict(raw.get("verdict")),
            otherwise=_verdict(raw.get("otherwise")),
            paper_verdict=_verdict(raw.get("paper_verdict")),
            numbers=_numbers(raw, _NUMBERS),
            statistic=_statistic(raw.get("statistic")),
            interval=_interval(raw.get("interval")),
        )
    except ValueError as error:
        raise UsageError(f"cell {number}: {error}") from None


def _table(number: int, raw: Mapping[str, Any]) -> TableVerdict:
    words = {key: text(raw.get(key)) for key in _TABLE_WORDS}
    try:
        return TableVerdict(**words, verdict=_verdict(raw.get("verdict")), numbers=_numbers(raw, _TABLE_NUMBERS))
    except ValueError as error:
        raise UsageError(f"table {number}: {error}") from None


def _rank(raw: Mapping[str, Any]) -> Rank:
    try:
        score, membership, zero_shot, one_shot = (_number(raw.get(key)) for key in MEASURES)
        intervals = {key: _interval(raw.get(f"{key}_interval")) for key in MEASURES}
        majorities = {key: _number(raw.get(f"{key}_majority")) for key in ACCURACIES}
    except ValueError as error:
        raise UsageError(f"ranking: {error}") from None
    known = {key: interval for key, interval in intervals.items() if interval is not None}
    stated = {key: majority for key, majority in majorities.items() if majority is not None}
    return Rank(text(raw.get("llm")), score, membership, zero_shot, one_shot, known, stated)


def _correlation(raw: Mapping[str, Any]) -> Correlation:
    try:
        return Correlation(
            text(raw.get("first")),
            text(raw.get("second")),
            int(_number(raw.get("llms")) or 0),
            _number(raw.get("value")),
            _interval(raw.get("interval")),
            _number(raw.get("p_value")),
        )
    except ValueError as error:
        raise UsageError(f"correlations: {error}") from None


def _comparison(raw: Mapping[str, Any]) -> Comparison:
    words = ("kind", "first", "second", "llm", "dataset", "edition", "serializer", "test", "change")
    try:
        return Comparison(
            **{key: text(raw.get(key)) for key in words},
            first_verdict=_verdict(raw.get("first_verdict")),
            second_verdict=_verdict(raw.get("second_verdict")),
            first_share=_number(raw.get("first_share")),
            second_share=_number(raw.get("second_share")),
            queries=int(_number(raw.get("queries")) or 0),
            p_value=_number(raw.get("p_value")),
            q_value=_number(raw.get("q_value")),
            beyond_chance=raw.get("beyond_chance") is True,
        )
    except ValueError as error:
        raise UsageError(f"comparisons: {error}") from None


def _verdict(value: object) -> Verdict | None:
    return None if value is None else Verdict(text(value))


def _statistic(value: object) -> Statistic | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or (measured := _number(value.get("value"))) is None:
        raise ValueError(f"{value!r} is not a statistic with a value")
    return Statistic(text(value.get("name")), measured, _number(value.get("expected")))


def _interval(value: object) -> tuple[float, float] | None:
    if value is None:
        return None
    if isinstance(value, list) and len(value) == 2:
        low, high = map(_number, value)
        if low is not None and high is not None:
            return low, high
    raise ValueError(f"{value!r} is not an interval")


def _numbers(raw: Mapping[str, Any], keys: Iterable[str]) -> dict[str, float]:
    """Those of the numbers that are known."""
    stated = {key: _number(raw.get(key)) for key in keys}
    return {key: value for key, value in stated.items() if value is not None}


def _number(value: object) -> float | None:
    """Python reads NaN and Infinity in JSON, which no comparison can decide by."""
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)):
        return value
    raise ValueError(f"{value!r} is not a number")


def _took(fact: Mapping[str, Any]) -> str:
    """What an LLM was sent and what that cost, where something was sent."""
    requests, retries, dollars = (fact.get(name) for name in ("requests", "retries", "dollars"))
    if not isinstance(requests, int) or not requests:
        return ""
    again = f", {retries:,} of them again" if isinstance(retries, int) and retries else ""
    cost = f", ${dollars:.4f}" if isinstance(dollars, int | float) and dollars else ""
    return f"{requests:,} requests{again}{cost}"


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def text(value: object) -> str:
    """A JSON value as text; null is empty."""
    return "" if value is None else str(value)


def yes(value: object) -> str:
    """A JSON truth value as text that is itself true or false."""
    return "yes" if value is True else ""


def _order(names: Sequence[str]) -> dict[str, int]:
    """The place of each name's first appearance."""
    return {name: place for place, name in enumerate(dict.fromkeys(names))}
