"""Every verdict that can be had without asking an LLM: what the golden files hold, computed.

Simulated models answer every test about every card whose file is here, and the recorded answers of the papers are
judged again. A result is told by numbers and codes alone: sentences may be reworded, verdicts may not move.
"""

import asyncio
import csv
import os
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Protocol
from unittest.mock import patch
from zlib import crc32

from benchmarks.exposed.asked import study_of
from benchmarks.exposed.chances import fitted as fitted_of_exposed
from benchmarks.exposed.found import RECORD as EXPOSED_RECORD
from benchmarks.exposed.found import found as found_of_exposed
from benchmarks.exposed.tables import NAMES as PARTS
from benchmarks.real.asked import at_hand as asked_really
from benchmarks.real.chances import RECORD, by_chances, fitted, of_record
from benchmarks.real.judging import judged as judged_really
from benchmarks.real.judging import recorded
from tabcontam.asking.query_plan import RunSource, plan
from tabcontam.calibration.power_study import TOGETHER, AnswererPlan, asked_of, judge, written_once
from tabcontam.config import CALIBRATED, PAPER, RunConfig
from tabcontam.errors import Skip, UsageError
from tabcontam.evidence.base import Capability, Likelihoods, Query, Reply, ReplyState, Scores, Test, Token, Verdict
from tabcontam.evidence.registry import built_in_tests
from tabcontam.models.base import Model, ModelRequest, PromptForm
from tabcontam.models.known.simulated import SimulatedModel, SimulatedQuery, read_kind
from tabcontam.models.provider_registry import BUILT_IN, ModelSettings
from tabcontam.reading.word_decision import english
from tabcontam.replay.record_kinds import judge_files
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.tables.serializers import DEFAULT, load_serializer
from tabcontam.tables.table import Cell, Table, load_table
from tabcontam.tables.twin_tables import twin
from tabcontam.verdicts.columns import values_of
from tabcontam.verdicts.thresholds import ALPHA
from tests.golden.chances import Archive, Chances, stored
from tests.golden.reasons import code
from tests.made_tables import as_needed, ships

NOTHING, RULES = "nothing", "rules"
SHARES = {NOTHING: 0.0, "tenth": 0.1, "half": 0.5, "all": 1.0}  # of the rows, that a model remembers
MODELS = (*SHARES, RULES)
QUERIES, ROWS = 12, 12  # a result: enough for every verdict, and soon asked; few-shot learning is measured once
SHOTS = "classification_shots"  # draws its shots several times, of which one is enough
MADE = "ships"  # a table of our own, which needs no file
MOST = 160  # rows of a table, from its first: models that learn want 150
RECORDED = ("records.jsonl", "tabmemcheck_answers.jsonl", "text/quiz.jsonl", "text/time_travel.jsonl",
            "text/time_travel_100.jsonl")  # fmt: skip
# Log-probabilities of a word of a line that was read, behind the one before it or elsewhere. Like all that the scorer
# says they are exact in binary: their sums, and so ties of them, are the same under every Python.
FOLLOWS, READ = -1 / 64, -1 / 16
REAL = "real:"  # what the name of a table of the record of real answers begins with
EXPOSED = "exposed:"  # the same of half a table in the record of the contaminated LLM


class Row(NamedTuple):
    """What a golden file holds of one result: the last two are the verdict and the code under the paper's rules."""

    verdict: str | None
    p: float | None
    q: float | None
    bits: float | None
    reason: str
    paper: str | None
    paper_reason: str


Rows = dict[str, Row]


def at_hand() -> list[str]:
    """The cards whose file is here."""
    return [MADE, *(name for name in load_cards() if _table(name) is not None)]


@cache
def _table(name: str) -> Table | None:
    """The beginning of a card's table, which is fitted in seconds; None where its file is not here."""
    try:
        table = ships() if name == MADE else load_table(name)
        return replace(table, rows=table.rows[:MOST])
    except UsageError:
        return None


def of_card(name: str, archive: Archive, chances: Chances = stored) -> Rows:
    """Every result of every model about one card, by `CARD MODEL TEST`.

    The table's verdict has the test `table`, behind what the model did: `answering`, `scoring` or `held`.

    The chances are those of the archive, unless they are `computed` and put into it.
    """
    table, found = _table.__wrapped__(name), Rows()  # one that knows no finding yet
    assert table is not None
    for on, parts in _parts(table):
        with chances(on, archive):
            for tests, knowing in parts:
                found |= {f"{name} {line}": row for line, row in _of_part(tests, on, knowing)}
    return found


def _of_part(tests: Sequence[Test], table: Table, knowing: "Knowing") -> Iterator[tuple[str, Row]]:
    with knowing(NOTHING, table, ()) as model:
        run = _planned(tests, table, model)
    published = AnswererPlan([cell for cell in run.cells if cell.test.published])
    queries = [query for cell in run.cells for query in cell.queries]
    for who in MODELS:
        with knowing(who, table, queries) as model:
            trials = asyncio.run(asked_of(run, model))
        calibrated, paper = judge(run, trials, ALPHA).parts, judge(published, trials, ALPHA, PAPER).parts
        does = tests[0].id if len(tests) == 1 else knowing.__name__.strip("_")  # type: ignore[attr-defined]  # each is a function
        for test, part in calibrated.items():
            yield f"{who} {f'{does} ' * (test == TOGETHER)}{test}", _row(part, paper.get(test))


def of_recorded(name: str) -> Rows:
    """Every result of a file of recorded answers, by the file's name and the result's number in it."""
    path = Path(os.environ["TABCONTAM_REPLAY"], name)
    calibrated, paper = (judge_files([path], rules, english(), False).results for rules in (CALIBRATED, PAPER))
    pairs = zip(calibrated, paper, strict=True)
    return {
        f"{path.name} {number} {own.test}": _row(values_of(own), values_of(other))
        for number, (own, other) in enumerate(pairs)
    }


def of_real(name: str, anew: bool = False) -> tuple[Rows, Archive]:
    """Every result about a table of the record of real answers, by LLM, form, writing and test.

    They rest on the stored chances, or are judged `anew` by chances that are fitted now, which come with them.
    """
    rows, table, every = Rows(), name.removeprefix(REAL), recorded(RECORD)
    archive = fitted(every, table) if anew else of_record(RECORD)
    for one in by_chances(every, [table], archive):
        paper = judged_really(one.place, one.trials, PAPER).parts
        head = " ".join([name, one.llm.name, *one.place.words[1:]])
        rows |= {f"{head} {test}": _row(part, paper.get(test)) for test, part in one.judged.parts.items()}
    return rows, archive if anew else {}


def of_exposed(name: str, anew: bool = False) -> tuple[Rows, Archive]:
    """Every result about half a table that a real LLM has read or not, by snapshot, form, writing and test.

    They rest on the stored chances, or are judged `anew` by chances that are fitted now, which come with them.
    """
    rows, part, study = Rows(), name.removeprefix(EXPOSED), study_of(EXPOSED_RECORD)
    archive = fitted_of_exposed(study, part) if anew else of_record(EXPOSED_RECORD)
    for one in found_of_exposed(EXPOSED_RECORD, study, archive, [part]):
        paper = judge(AnswererPlan(study.planned(one.place)), one.trials, ALPHA, PAPER).parts
        head = " ".join([name, one.snapshot, *one.place.words[1:]])
        rows |= {f"{head} {test}": _row(cell, paper.get(test)) for test, cell in one.judged.parts.items()}
    return rows, archive if anew else {}


def exposed_at_hand() -> list[str]:
    """The halves of tables that a real LLM was contaminated with and whose rows are here."""
    study, found = study_of(EXPOSED_RECORD), []
    for part in PARTS:
        with suppress(UsageError):
            study.table(part)
            found.append(f"{EXPOSED}{part}")
    return found


def real_at_hand() -> list[str]:
    """The tables of the record of real answers whose files are here."""
    return [f"{REAL}{table}" for table in asked_really()]


def extension_of(test: str) -> str:
    """The extension that has a test, or "" for the core; a measure of a test has a name that begins with the test's."""
    own = max((name for name in _modules() if test.startswith(name)), key=len, default="")
    return re.sub(r"tabcontam\.extensions\.(\w+)\..*|.*", r"\1", _modules().get(own, ""), count=1)


@cache
def _modules() -> dict[str, str]:
    return {test.id: type(test).__module__ for test in built_in_tests()}


def _row(part: Mapping[str, Any], paper: Mapping[str, Any] | None) -> Row:
    numbers = (part["p_value"], part["q_value"], part["recalled_bits"])
    p, q, bits = (None if number is None else float(f"{number:.6g}") for number in numbers)
    of_paper = (_name(paper), code(paper["reason"])) if paper else (None, "")
    return Row(_name(part), p, q, bits, code(part["reason"]), *of_paper)


def _name(part: Mapping[str, Any]) -> str | None:
    return part["verdict"] and Verdict(part["verdict"]).name


class Knowing(Protocol):
    """Opens the model of a name that knows its share of a table, and is to be asked these queries."""

    def __call__(self, who: str, table: Table, queries: Sequence[Query]) -> AbstractContextManager[Model]:
        """Return it, until it is closed."""


def _parts(table: Table) -> Iterator[tuple[Table, list[tuple[list[Test], Knowing]]]]:
    """The table as tests need it, with these tests and who can take them."""
    every: list[Any] = [*built_in_tests()]
    every = [replace(test, draws=1) if test.id == SHOTS else test for test in every]
    kinds = ((Capability.GENERATE, _answering), (Capability.SCORE, _scoring), (Capability.SEARCH, _held))
    usual = [test for test in every if not test.only_with]
    parts = [([test for test in usual if need in test.needs], knowing) for need, knowing in kinds]
    yield table, [(tests, knowing) for tests, knowing in parts if tests]
    for test in every if table.name == MADE else ():
        if test.only_with:
            yield as_needed(test, table), [([test], _scoring)]


def _planned(tests: Sequence[Test], table: Table, model: Model) -> AnswererPlan:
    options = RunConfig(queries=QUERIES, rows=ROWS)
    return written_once(plan([RunSource(model)], [table], [load_serializer(DEFAULT)], tests, options))


def _memory(who: str) -> SimulatedModel:
    share = SHARES.get(who, 0.0)
    return SimulatedModel("oracle" if share == 1 else f"memoriser:{share:g}" if share else "guesser")


@contextmanager
def _answering(who: str, table: Table, queries: Sequence[Query]) -> Iterator[Model]:
    """Answers in words: what is remembered, and guesses else; who solves rules says what is likeliest."""
    model = _memory(who).prepare(table, queries)
    if who == RULES:
        model._answerer = _likeliest  # type: ignore[attr-defined]
    yield model


def _likeliest(turn: SimulatedQuery) -> Reply:
    query, guesser = turn.query, read_kind("guesser")[0]
    if not query.answering.of_row or query.row is None or not all(name in query.chance for name in query.asked):
        return guesser(turn)
    return turn.reply_with([query.chance[name].likeliest for name in query.asked])


@contextmanager
def _scoring(who: str, table: Table, queries: Sequence[Query]) -> Iterator[Model]:
    """Tells log-probabilities: a row that is remembered is likely, and likelier behind the row before it."""
    forms = (load_serializer(name) for name in (DEFAULT, "csv"))
    yield Scorer([list(form.rows(table.columns, _rows(who, table))) for form in forms])


class Scorer(Model):
    """Scores texts line by line: likely is what begins a line that it has read, of any other chance decides."""

    spec, version, local, connections, form = "scorer", "1", True, 1, PromptForm.COMPLETION
    capabilities = frozenset({Capability.SCORE, Capability.MOMENTS, Capability.INSTRUCTIONS})

    def __init__(self, read: Sequence[Sequence[str]]) -> None:
        self._read = sorted(line for lines in read for line in lines)
        self._follow = {pair for lines in read for pair in pairwise(lines)}

    def _has_read(self, line: str) -> bool:
        return any(one.startswith(line) for one in self._read[bisect_left(self._read, line) :][:1])

    async def score(self, request: ModelRequest) -> Scores:
        lines = self._lines(request.passage.text)
        tokens = (Token(word, known or chance, -2.0, 1.0) for known, words in lines for word, chance in words)
        return Scores(tuple(tokens), ReplyState.OK)

    async def compare(self, request: ModelRequest) -> Likelihoods:
        last = request.endings.beginning.rpartition("\n")[2]
        return Likelihoods(tuple(self._sum(last + ending) for ending in request.endings.endings), ReplyState.OK)

    def _sum(self, text: str) -> float:
        lines = self._lines(text)
        return sum(known * len(words) if known else sum(chance for _, chance in words) for known, words in lines)

    def _lines(self, text: str) -> Iterator[tuple[float | None, "Words"]]:
        """The words of each line, and the chance that each of them has where the line was read."""
        before = ""
        for line in text.splitlines(keepends=True):
            own = line.strip()
            known = FOLLOWS if (before, own) in self._follow else READ if self._has_read(own) else None
            yield known, guessed_words(line)
            before = own


Words = tuple[tuple[str, float], ...]  # of a line, each with its log-probability


@lru_cache(maxsize=20_000)
def guessed_words(line: str) -> Words:
    """The words of a line with log-probabilities of any size, which are the same each time."""
    seed = crc32(line.strip().encode("utf-8", "surrogatepass"))
    words = re.findall(r"\s*\S+\s*", line)
    return tuple((word, -0.5 - (crc32(word.encode("utf-8", "surrogatepass"), seed) & 0xFF) / 64) for word in words)


@contextmanager
def _held(who: str, table: Table, queries: Sequence[Query]) -> Iterator[Model]:
    """Documents: a file with the rows that are remembered, and those of a twin for the rest."""
    with TemporaryDirectory() as folder:
        with Path(folder, "rows.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([table.columns, *_rows(who, table)])
        model = BUILT_IN["corpus"].open(folder, ModelSettings(spec="documents"))
        with patch(f"{type(model).__module__}.QUIET", 0.0):
            asyncio.run(model.connect())
            yield model


def _rows(who: str, table: Table) -> list[tuple[Cell, ...]]:
    """The rows that are remembered, at their places, and those of a twin for the rest, if there is one."""
    memory, found = _memory(who), dict(enumerate(table.rows))
    found = {place: row for place, row in found.items() if memory.exposure(table, place)}
    with suppress(Skip):
        found = dict(enumerate(twin(table).rows)) | found
    return [found[place] for place in sorted(found)]
