"""Plan, ask, judge, record: the session alone knows who asks whom, in what order, and what was answered before."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Protocol

from tabcontam.datasets import Table
from tabcontam.decide.words import Dictionary
from tabcontam.errors import Skip, UsageError
from tabcontam.judge import CellName, Result, read_trial, result, unjudged
from tabcontam.models.base import Form, Model, Request
from tabcontam.serializers import Serializer
from tabcontam.store import Journal, Key, Line, line_key, sent, trial_line, trial_of
from tabcontam.suite.base import Query, Reply, State, Test, Trial, Verdict
from tabcontam.suite.verdicts import PAPER

UNANSWERED = (State.REFUSED, State.TRUNCATED, State.EMPTY)


@dataclass(frozen=True)
class Subject:
    """An LLM of the run; `joined` says that it is a control beside the LLMs under test."""

    model: Model
    joined: bool = False


@dataclass(frozen=True)
class PlannedCell:
    """A cell with every query that it will ask, or the reason why it will ask none."""

    name: CellName
    subject: Subject
    table: Table
    serializer: Serializer
    test: Test
    queries: tuple[Query, ...] = ()
    skip: str | None = None


@dataclass(frozen=True)
class Options:
    """How a session runs."""

    seed: int = 0
    rules: str = "calibrated"
    queries: int | None = None
    connections: int = 8
    stop_at_first: bool = False
    retry_unanswered: bool = False


class Progress(Protocol):
    """What a session tells while it asks."""

    def begin(self, queries: int) -> None:
        """So many queries are planned."""
        ...

    def known(self, queries: int) -> None:
        """So many of them are answered already."""
        ...

    def at(self, llm: str, dataset: str) -> None:
        """These are asked now."""
        ...

    def answered(self, reply: Reply) -> None:
        """One query has its reply."""
        ...

    def end(self) -> None:
        """Nothing more is asked."""
        ...


def plan(
    subjects: Sequence[Subject],
    tables: Sequence[Table],
    serializers: Sequence[Serializer],
    tests: Sequence[Test],
    options: Options,
) -> list[PlannedCell]:
    """Every cell with every query, before anything is sent. The same seed plans the same queries for every LLM.

    Tests that show no rows are planned once, under the first serializer.
    """
    cells = []
    for table in tables:
        for number, serializer in enumerate(serializers):
            for test in tests:
                if number and not test.shows_rows:
                    continue
                queries, reason = _queries(test, table, serializer, options)
                for subject in subjects:
                    skip = reason or _lacking(subject.model, test)
                    model = subject.model
                    name = CellName(model.spec, table.name, table.edition, serializer.name, test.id, subject.joined)
                    asked = () if skip else queries
                    cells.append(PlannedCell(name, subject, table, serializer, test, asked, skip))
    order = {id(subject): number for number, subject in enumerate(subjects)}
    return sorted(cells, key=lambda cell: order[id(cell.subject)])


def _queries(
    test: Test, table: Table, serializer: Serializer, options: Options
) -> tuple[tuple[Query, ...], str | None]:
    rng = Random(f"{options.seed} {table.sha256} {test.id}")
    try:
        return tuple(test.queries(table, serializer, rng))[: options.queries], None
    except Skip as skip:
        return (), str(skip)


def _lacking(model: Model, test: Test) -> str | None:
    lacking = sorted(test.needs - model.capabilities)
    if not lacking:
        return None
    return f"{model.spec} cannot take part: the test needs {' and '.join(lacking)}"


def rows_shown(cells: Sequence[PlannedCell]) -> dict[tuple[str, str], int]:
    """For each (LLM, FILE) whose rows would leave this machine, how many distinct rows the prompts show."""
    rows: dict[tuple[str, str], set[int]] = {}
    for cell in cells:
        if cell.table.private and not cell.subject.model.local:
            shown = rows.setdefault((cell.name.llm, cell.name.dataset), set())
            shown.update(index for query in cell.queries for index in query.rows)
    return {key: len(shown) for key, shown in rows.items() if shown}


@dataclass
class Session:
    """One run over planned cells. `ask()` may be stopped at any time; `results()` tells what there is."""

    cells: Sequence[PlannedCell]
    options: Options
    dictionary: Dictionary
    journal: Journal
    progress: Progress
    stopping: bool = False
    trials: dict[CellName, dict[str, Trial]] = field(default_factory=dict)
    found_by: dict[str, CellName] = field(default_factory=dict)
    unreachable: dict[str, str] = field(default_factory=dict)
    skips: dict[CellName, str] = field(default_factory=dict)

    async def connect(self) -> None:
        """Reach every LLM before anything is asked. Raises `UsageError` when none under test can be reached."""
        subjects = self._subjects()
        failed: dict[str, UsageError] = {}
        for subject in subjects:
            try:
                await subject.model.connect()
            except UsageError as error:
                failed[subject.model.spec] = error
        under_test = [subject.model.spec for subject in subjects if not subject.joined]
        if under_test and all(spec in failed for spec in under_test):
            raise failed[under_test[0]]
        self.unreachable = {spec: str(error) for spec, error in failed.items()}

    async def ask(self) -> None:
        """Ask what has no answer yet: controls first, then all LLMs side by side."""
        self.progress.begin(sum(len(cell.queries) for cell in self.cells))
        self.progress.known(sum(len(trials) for trials in self.trials.values()))
        subjects = [subject for subject in self._subjects() if subject.model.spec not in self.unreachable]
        try:
            for subject in subjects:
                if subject.model.control:
                    await self._ask_one(subject, connections=1)
            rest = [subject for subject in subjects if not subject.model.control]
            await asyncio.gather(*(self._ask_one(subject, self.options.connections) for subject in rest))
        finally:
            self.progress.end()

    async def close(self) -> None:
        """Give back what the LLMs hold."""
        for subject in self._subjects():
            await subject.model.close()

    def recall(self) -> None:
        """Take the answers that the run's folder holds already, if they were given to the same prompts."""
        known: dict[Key, Line] = {line_key(line): line for line in self.journal.lines()}
        for cell in self.cells:
            for query in cell.queries:
                line = known.get(line_key({**cell.name.fields(), "query": query.id}))
                # in any form: which one a server takes is known only once it has been asked
                if line and line.get("prompt") in [sent(query.prompt, form) for form in Form] and self._usable(line):
                    reply = trial_of(line).reply
                    self._keep(cell, Trial(query, reply, cached=True))

    def results(self) -> list[Result]:
        """The result of every cell, judged from what was answered."""
        return [self._result(cell) for cell in self.cells]

    def _usable(self, line: Mapping[str, object]) -> bool:
        again = (State.FAILED, *(UNANSWERED if self.options.retry_unanswered else ()))
        return line.get("state") in set(State) - set(again)

    def _subjects(self) -> list[Subject]:
        return list({id(cell.subject): cell.subject for cell in self.cells}.values())

    async def _ask_one(self, subject: Subject, connections: int) -> None:
        jobs = self._jobs(subject)
        workers = [asyncio.create_task(self._work(jobs)) for _ in range(connections)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()

    def _jobs(self, subject: Subject) -> Iterator[tuple[Model, PlannedCell, Query]]:
        """The unanswered queries of one LLM, in order; the LLM is prepared for a table when its turn comes."""
        cells = [cell for cell in self.cells if cell.subject is subject]
        for table in {(cell.table.name, cell.table.edition): cell.table for cell in cells}.values():
            own = [cell for cell in cells if cell.table is table and cell.queries]
            if not own or self.stopping:
                continue
            self.progress.at(subject.model.spec, table.name)
            try:
                model = subject.model.prepare(table, [query for cell in own for query in cell.queries])
            except Skip as skip:
                self.skips.update({cell.name: str(skip) for cell in own})
                continue
            yield from self._unanswered(model, own)

    def _unanswered(self, model: Model, cells: Sequence[PlannedCell]) -> Iterator[tuple[Model, PlannedCell, Query]]:
        for cell in cells:
            for query in cell.queries:
                if self._over(cell):
                    return
                if query.id not in self.trials.get(cell.name, {}):
                    yield model, cell, query

    def _over(self, cell: PlannedCell) -> bool:
        """Whether nothing more is to be asked of this cell's LLM."""
        return self.stopping or (self.options.stop_at_first and cell.name.llm in self.found_by)

    def _note_finding(self, cell: PlannedCell) -> None:
        """Remember the first contaminated cell of an LLM, once the cell is complete; `-x` ends there."""
        llm = cell.name.llm
        if llm in self.found_by or len(self.trials[cell.name]) < len(cell.queries):
            return
        if self._result(cell)["verdict"] == Verdict.CONTAMINATED:
            self.found_by[llm] = cell.name

    async def _work(self, jobs: Iterator[tuple[Model, PlannedCell, Query]]) -> None:
        for model, cell, query in jobs:
            reply = await model.generate(Request(query.prompt, query.max_tokens))
            if reply.state is State.TRUNCATED and cell.test.complete(query, reply.text, cell.serializer):
                reply = replace(reply, state=State.OK)
            trial = self._keep(cell, Trial(query, reply))
            self._record(trial_line(cell.name.fields(), model.form, trial, self.options.rules == PAPER))
            self.progress.answered(reply)
            await asyncio.sleep(0)  # an embedded model never waits; let Ctrl-C through

    def _record(self, line: Line) -> None:
        """Write a trial down; where that fails, ask nothing more and keep the line for `Journal.rescue`."""
        try:
            self.journal.append(line)
        except OSError:
            self.stopping = True

    def _keep(self, cell: PlannedCell, trial: Trial) -> Trial:
        read = read_trial(cell.test, trial, cell.serializer, self.dictionary)
        self.trials.setdefault(cell.name, {})[trial.query.id] = read
        if self.options.stop_at_first:
            self._note_finding(cell)
        return read

    def _result(self, cell: PlannedCell) -> Result:
        trials = self.trials.get(cell.name, {})
        if cell.skip or cell.name in self.skips:
            return unjudged(cell.name, Verdict.SKIPPED, cell.skip or self.skips[cell.name])
        if not trials:
            verdict = Verdict.NO_ANSWER if cell.name.llm in self.unreachable else Verdict.SKIPPED
            return unjudged(cell.name, verdict, self._unasked(cell.name.llm), len(cell.queries))
        asked = [trials[query.id] for query in cell.queries if query.id in trials]
        return result(cell.name, asked, len(cell.queries), self.options.rules)

    def _unasked(self, llm: str) -> str:
        """Why nothing was asked of an LLM."""
        if llm in self.found_by:
            name = self.found_by[llm]
            return f"not asked: -x stopped after {name.test} on {name.dataset} was found contaminated"
        return self.unreachable.get(llm) or "not asked: the run ended before"

    def failures(self) -> str | None:
        """What the LLMs under test failed with, if not one of their replies came through; else None."""
        under_test = {cell.name: cell for cell in self.cells if not cell.subject.joined}
        replies = [trial.reply for name in under_test for trial in self.trials.get(name, {}).values()]
        if not replies or any(reply.state is not State.FAILED for reply in replies):
            return None
        ((detail, _),) = Counter(reply.detail for reply in replies).most_common(1)
        return f"every one of {len(replies)} requests failed: {detail}"
