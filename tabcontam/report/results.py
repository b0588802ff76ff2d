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
from pathlib import Path
from typing import Any

from tabcontam.errors import UsageError
from tabcontam.suite.base import Kind, Verdict

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
    "full_completion": "8 Full completion",
    "feature_completion": "9 Feature completion",
    "membership": "Membership",
    "classification_0shot": "Classification, 0-shot",
    "classification_1shot": "Classification, 1-shot",
}
# Only these can show that rows were seen; a page about the dataset is enough to pass the others.
ROW_TESTS = frozenset({"incomplete_completion", "full_completion", "feature_completion"})

LETTERS = {
    Verdict.CONTAMINATED: "C",
    Verdict.NOT_DETECTED: ".",
    Verdict.UNINFORMATIVE: "u",
    Verdict.NO_ANSWER: "?",
    Verdict.SKIPPED: "s",
}
SCORE = "scored"
LONGEST_SENTENCE = 600
SCORE_LETTER = "%"

# What a cell of results.json holds: texts, and numbers that may be null.
_WORDS = ("llm", "dataset", "edition", "serializer", "source", "test", "kind", "reason", "sentence")
_NUMBERS = (
    "score", "hits", "expected_hits", "answered", "queries", "p_value", "q_value", "recalled_bits",
    "detectable_share",
)  # fmt: skip

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


@dataclass(frozen=True)
class Cell:
    """One judged (LLM, dataset, serializer, test); `verdict` is None where there is only a score."""

    llm: str
    dataset: str
    edition: str
    serializer: str
    source: str
    test: str
    kind: str
    reason: str
    sentence: str
    control: bool
    verdict: Verdict | None
    paper_verdict: Verdict | None
    numbers: Mapping[str, float]

    @property
    def place(self) -> tuple[str, ...]:
        """What its trials share with it."""
        return (self.llm, self.dataset, self.edition, self.serializer, self.source, self.test)

    @property
    def outcome(self) -> str:
        """The verdict's word, or that there is only a score."""
        return SCORE if self.verdict is None else self.verdict.value

    @property
    def letter(self) -> str:
        """One character that tells the outcome."""
        return SCORE_LETTER if self.verdict is None else LETTERS[self.verdict]

    @property
    def why(self) -> str:
        """The plain sentence; the bare reason where a cell was not measured."""
        unmeasured = self.verdict in (Verdict.SKIPPED, Verdict.NO_ANSWER, Verdict.UNINFORMATIVE)
        first, second = (self.reason, self.sentence) if unmeasured else (self.sentence, self.reason)
        return shorten(first or second or self.outcome, LONGEST_SENTENCE)

    @property
    def score(self) -> float | None:
        """The measured score, in [0, 1]."""
        return self.numbers.get("score")

    @property
    def title(self) -> str:
        """The test's name in words."""
        return TESTS.get(self.test, self.test)


@dataclass(frozen=True)
class Rank:
    """One LLM in the ranking of the paper's Table 2."""

    llm: str
    score: float | None
    membership: float | None
    zero_shot: float | None
    one_shot: float | None


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
    ranked: tuple[Rank, ...]

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
        asked = _order([fact["llm"] for fact in self.llms] + [cell.llm for cell in self.cells])
        joined = {cell.llm for cell in self.cells if cell.control}
        present = sorted({cell.llm for cell in self.cells}, key=lambda llm: (llm not in joined, asked[llm]))
        return tuple(Block(llm, llm in joined, self._columns(llm)) for llm in present)

    def _columns(self, llm: str) -> tuple[Column, ...]:
        datasets = _order([fact["dataset"] for fact in self.datasets] + [cell.dataset for cell in self.cells])
        test_order = _order(self.tests)
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

    def label(self, cell: Cell) -> str:
        """The dataset, and what tells it from another column: edition, serializer, source."""
        editions, serializers, sources = self._told_apart
        edition = f"@{cell.edition}" if len(editions[cell.dataset]) > 1 and cell.edition else ""
        serializer = f" {cell.serializer}" if len(serializers) > 1 and cell.serializer else ""
        source = f" {cell.source}" if len(sources) > 1 and cell.source else ""
        return f"{cell.dataset}{edition}{serializer}{source}"

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
        joined = {cell.llm for cell in self.cells if cell.control}
        ranks = [rank for rank in self.ranked if rank.llm not in joined]
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
    def notes(self) -> list[str]:
        """What a reader must know before believing a verdict: the rules, and whether the run ended early."""
        notes = []
        if self.run.get("rules") == "calibrated":
            notes.append(
                "rules calibrated: for now the paper's thresholds, on answers read by feature and by whole words; what "
                "cannot be read is no answer"
            )
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
    def controls(self) -> list[str]:
        """What the controls say about the tests themselves; empty where no control took part."""
        notes = []
        exposed, unexposed = self._measured(EXPOSED), self._measured(UNEXPOSED)
        missed = [cell for cell in exposed if cell.verdict is Verdict.NOT_DETECTED]
        silent = [cell for cell in exposed if cell.verdict is Verdict.NO_ANSWER]
        flagged = [cell for cell in unexposed if cell.verdict is Verdict.CONTAMINATED]
        notes += self._by_test(f"no power: {EXPOSED}, which has the table, was missed by", missed)
        notes += self._by_test(f"not known: {EXPOSED} gave no readable answer to", silent)
        notes += self._by_test(f"plausibility: {UNEXPOSED}, which has none of its rows, was flagged by", flagged)
        if exposed and not missed and not silent:
            notes.append(f"{EXPOSED} has the table, and was found in all {len(exposed)} measured cells")
        if unexposed and not flagged:
            notes.append(f"{UNEXPOSED} has none of its rows, and was flagged in none of {len(unexposed)} cells")
        return notes

    def _by_test(self, what: str, cells: Iterable[Cell]) -> list[str]:
        places: dict[str, list[str]] = {}
        for cell in cells:
            places.setdefault(cell.test, []).append(self.label(cell))
        tests: dict[tuple[str, ...], list[str]] = {}
        for test, labels in places.items():
            tests.setdefault(tuple(labels), []).append(test)
        return [f"{what} {', '.join(names)} on {', '.join(labels)}" for labels, names in tests.items()]

    def _measured(self, llm: str) -> list[Cell]:
        cells = [cell for block in self.blocks if block.llm == llm for cell in block.cells]
        return [cell for cell in cells if cell.verdict not in (None, Verdict.SKIPPED)]


def count(cells: Iterable[Cell]) -> dict[str, int]:
    """How many cells came to each outcome, worst first; outcomes that do not occur are left out."""
    found = Counter(cell.outcome for cell in cells)
    order = [*(verdict.value for verdict in Verdict), SCORE]
    return {outcome: found[outcome] for outcome in order if found[outcome]}


def evidence(
    cells: Iterable[Cell], trials: Iterable[Mapping[str, Any]]
) -> dict[tuple[str, ...], list[Mapping[str, Any]]]:
    """The trials that speak for each cell: its hits, the paper's own first; all trials where none is a hit.

    A query asked again counts once, with its last reply.
    """
    found: dict[tuple[str, ...], dict[str, Mapping[str, Any]]] = {cell.place: {} for cell in cells}
    for number, trial in enumerate(trials):
        place = tuple(text(trial.get(key)) for key in ("llm", "dataset", "edition", "serializer", "source", "test"))
        if place in found:
            found[place][text(trial.get("query")) or str(number)] = trial
    return {place: _telling(list(of_query.values())) for place, of_query in found.items()}


def _telling(trials: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    hits = [trial for trial in trials if trial.get("hit")] or trials
    return sorted(hits, key=lambda trial: not trial.get("paper"))


def asked(trial: Mapping[str, Any]) -> str:
    """The prompt as one text, with roles where it has several messages."""
    prompt = trial.get("prompt")
    if not isinstance(prompt, list):
        return text(prompt)
    messages = _mappings(prompt)
    if len(messages) < 2:
        return "".join(text(message.get("content")) for message in messages)
    return "\n\n".join(f"{text(message.get('role'))}: {text(message.get('content'))}" for message in messages)


def question(trial: Mapping[str, Any]) -> str:
    """The prompt's last message, without what every query says before it."""
    prompt = trial.get("prompt")
    return asked({"prompt": prompt[-1:]} if isinstance(prompt, list) else trial)


def expected(trial: Mapping[str, Any]) -> str:
    """What would have been a hit, one item a line."""
    return listed(trial.get("expected"))


def listed(value: object) -> str:
    """A word, a list or a mapping (feature to value) as lines; None is a missing value.

    >>> listed({"age": "39", "income": None})
    'age = 39\\nincome = (missing)'
    """
    if isinstance(value, Mapping):
        return "\n".join(f"{key} = {listed(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return "\n".join(listed(item) for item in value)
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
    ranked = tuple(_rank(fact) for fact in _mappings(document.get("ranking")))
    return Results(run, tuple(_cell(number, raw) for number, raw in enumerate(cells, start=1)), ranked)


def _cell(number: int, raw: object) -> Cell:
    if not isinstance(raw, Mapping) or not all(isinstance(raw.get(key), str) for key in ("llm", "dataset", "test")):
        raise UsageError(f"cell {number} needs `llm`, `dataset` and `test`")
    words = {key: text(raw.get(key)) for key in _WORDS}
    try:
        stated = {key: _number(raw.get(key)) for key in _NUMBERS}
        verdict, paper_verdict = _verdict(raw.get("verdict")), _verdict(raw.get("paper_verdict"))
    except ValueError as error:
        raise UsageError(f"cell {number}: {error}") from None
    numbers = {key: value for key, value in stated.items() if value is not None}
    control = raw.get("control") is True
    return Cell(**words, control=control, verdict=verdict, paper_verdict=paper_verdict, numbers=numbers)


def _rank(raw: Mapping[str, Any]) -> Rank:
    keys = ("score", "membership", "zero_shot", "one_shot")
    try:
        score, membership, zero_shot, one_shot = (_number(raw.get(key)) for key in keys)
    except ValueError as error:
        raise UsageError(f"ranking: {error}") from None
    return Rank(text(raw.get("llm")), score, membership, zero_shot, one_shot)


def _verdict(value: object) -> Verdict | None:
    return None if value is None else Verdict(text(value))


def _number(value: object) -> float | None:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
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
