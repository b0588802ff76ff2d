"""Ask, judge, record: the session alone knows who asks whom, in what order, and what was answered before."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import fmean

from tabcontam.asking.asker import Asker, StoppedError
from tabcontam.asking.budget import Budget
from tabcontam.asking.estimate import Estimate, estimate
from tabcontam.asking.limiter import CEILING, START, Limiter
from tabcontam.asking.plan import Options, PlannedCell, Subject
from tabcontam.asking.progress import Progress
from tabcontam.asking.replies import Store, asked_as, key
from tabcontam.asking.trials import Journal, Key, Line, answer_of, answers, line_key, trial_line
from tabcontam.errors import Skip, UsageError
from tabcontam.evidence.base import Answer, Query, State, Trial, Verdict
from tabcontam.reading.words import Dictionary
from tabcontam.subjects.base import Model
from tabcontam.subjects.missing import MissingModel
from tabcontam.subjects.prices import FREE, Price, price_of
from tabcontam.tables.table import Table
from tabcontam.verdicts.cells import CellName, Result
from tabcontam.verdicts.facts import Duration, LlmFacts
from tabcontam.verdicts.judge import conclude, read_trial, result, siblings, surely_found, unjudged, whole
from tabcontam.verdicts.reference import Reference
from tabcontam.verdicts.rules import PAPER

UNANSWERED = (State.REFUSED, State.TRUNCATED, State.EMPTY)
Slot = tuple[PlannedCell, Query]


@dataclass(frozen=True, eq=False)
class Job:
    """One query to ask, and every place of the plan where its reply belongs."""

    model: Model
    places: tuple[Slot, ...]


@dataclass
class Session:
    """One run over planned cells. `ask()` may be stopped at any time; `results()` tells what there is."""

    cells: Sequence[PlannedCell]
    options: Options
    dictionary: Dictionary
    journal: Journal
    progress: Progress
    store: Store = field(default_factory=Store)
    prices: Mapping[str, Price] = field(default_factory=dict)
    stopping: bool = False
    trials: dict[CellName, dict[str, Trial]] = field(default_factory=dict)
    found_by: dict[str, CellName] = field(default_factory=dict)
    unreachable: dict[str, str] = field(default_factory=dict)
    skips: dict[CellName, str] = field(default_factory=dict)
    askers: dict[str, Asker] = field(default_factory=dict)
    seconds: dict[CellName, float] = field(default_factory=dict)
    _limiters: dict[tuple[tuple[str, str], ...], Limiter] = field(default_factory=dict)
    _pending: dict[str, dict[str, list[Slot]]] = field(default_factory=dict)
    _unsettled: set[str] = field(default_factory=set)
    _recalled: list[tuple[PlannedCell, Trial]] = field(default_factory=list)
    _exposures: dict[tuple[str, str, str], float | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._budget = Budget(self.options.most_requests, self.options.most_dollars)
        self.reference = next((subject.model.spec for subject in self._subjects() if subject.reference), "")
        self._referring = bool(self.reference)

    async def connect(self) -> None:
        """Reach every LLM first. Raises `UsageError` when none under test can be reached, or not the reference."""
        subjects = self._subjects()
        with self.progress.doing("connecting"):
            reached = await asyncio.gather(*(subject.model.connect() for subject in subjects), return_exceptions=True)
        self.unreachable = {}
        for subject, outcome in zip(subjects, reached, strict=True):
            if isinstance(outcome, UsageError):
                self.unreachable[subject.model.spec] = str(outcome)
            elif isinstance(outcome, BaseException):
                raise outcome
        under_test = [subject.model.spec for subject in subjects if subject.tested]
        lines = [self.unreachable[spec] for spec in under_test if spec in self.unreachable]
        if under_test and len(lines) == len(under_test):
            raise UsageError("; ".join(dict.fromkeys(lines)))
        if self.reference in self.unreachable:
            raise UsageError(f"--reference: {self.unreachable[self.reference]}")

    def recall(self) -> None:
        """Take the answers that the run's folder holds to the same prompts, then those that the store holds."""
        known: dict[Key, Line] = {line_key(line): line for line in self.journal.lines()}
        for cell in self.cells:
            for query in cell.written if cell.lacks else cell.queries:  # it may have had what it lacks now
                line = known.get(line_key({**cell.name._asdict(), "query": query.id}))
                if line is None or not answers(line, query):
                    continue
                try:
                    trial = Trial(query, answer_of(line), cached=True)
                except (KeyError, TypeError, ValueError):
                    continue  # damaged: it is asked again
                if self._usable(trial):
                    self._keep(cell, trial)
        del known
        for subject in self._reached():
            self._recall_stored(subject)

    async def ask(self) -> None:
        """Ask what has no answer yet, all LLMs side by side; one that is loaded here keeps to a thread of its own.

        The reference is asked before them: no verdict rests on what it might still answer, wherever a run ends.
        """
        subjects = self._reached()
        self.progress.begin({subject.model.spec: len(self._places(subject)) for subject in subjects})
        for llm, line in self.unreachable.items():
            self.progress.ended(llm, line)
        for cell, trial in self._recalled:
            self._record(cell, trial)
        for llm, queries in Counter(name.llm for name, trials in self.trials.items() for _ in trials).items():
            self.progress.known(llm, queries)
        for model in (subject.model for subject in subjects):
            limiter, price = self._limiter(model), self._price(model)
            self.askers[model.spec] = Asker(model.spec, limiter, self._budget, price, self.progress)
        try:
            for first in (subject for subject in subjects if subject.reference):
                await self._ask_one(first)
                self._referring = False
                for cell in self.cells:  # of which answers were known before
                    self._end_if_found(cell)
            await asyncio.gather(*(self._ask_one(subject) for subject in subjects if not subject.reference))
        finally:
            self.progress.end()

    def stop(self) -> None:
        """Ask nothing more; what is on its way is waited for."""
        self.stopping = True
        for asker in self.askers.values():
            asker.stop()

    async def close(self) -> None:
        """Give back what the LLMs hold."""
        for subject in self._subjects():
            await subject.model.close()

    def results(self) -> list[Result]:
        """The result of every cell but the reference's, judged from what was answered."""
        cells = [
            replace(
                self._result(cell),
                control=cell.subject.joined,
                exposure=self._exposure(cell),
                not_averaged=cell.test.not_averaged(cell.table) if cell.queries else None,
            )
            for cell in self.cells
            if not cell.subject.reference
        ]
        return conclude(cells, self.options.rules, self.options.alpha, over=self.options.family_over)

    def failures(self) -> str | None:
        """What the LLMs under test failed with, if not one of their replies came through; else None."""
        under_test = {cell.name: cell for cell in self.cells if cell.subject.tested}
        replies = [trial.reply for name in under_test for trial in self.trials.get(name, {}).values()]
        if any(reply.state is not State.FAILED for reply in replies):
            return None
        ended = sorted({line for name in under_test if (line := self._ended(name.llm))})
        if ended and not self.limit():
            return "; ".join(ended)
        if not replies:
            return None
        ((detail, _),) = Counter(reply.detail for reply in replies).most_common(1)
        return f"every one of {len(replies)} requests failed: {detail}"

    def estimates(self) -> list[Estimate]:
        """What is left to ask of each LLM, once the answers that there are have been recalled."""
        found = []
        for subject in self._subjects():
            model, places = subject.model, self._places(subject)
            left = [query for cell, query in places if query.id not in self.trials.get(cell.name, {})]
            answered = len(places) - len(left)
            if model.spec in self._pending:  # identical queries are asked once
                left = [same[0][1] for same in self._pending[model.spec].values()]
            missing = self.unreachable.get(model.spec)
            found.append(estimate(model, self._price(model), len(places), answered, left, missing))
        return found

    def used(self) -> dict[str, LlmFacts]:
        """What each LLM took: requests, those that were sent again, dollars, and why it ended early, if it did."""
        return {
            llm: LlmFacts(
                spec=llm,
                requests=asker.requests,
                retries=asker.retries,
                dollars=float(asker.dollars) if asker.price else None,
                ended=asker.ended or None,
            )
            for llm, asker in self.askers.items()
        }

    def durations(self) -> list[Duration]:
        """How long the answers of each cell took, in seconds, added up; those that were stored took none."""
        return [
            Duration(**cell.name._asdict(), seconds=round(self.seconds[cell.name], 3))
            for cell in self.cells
            if cell.name in self.seconds and not cell.subject.reference
        ]

    def limit(self) -> str | None:
        """The user's limit that the run stopped at, if it did."""
        return next((asker.ended for asker in self.askers.values() if asker.spent), None)

    def _subjects(self) -> list[Subject]:
        return list({id(cell.subject): cell.subject for cell in self.cells}.values())

    def _price(self, model: Model) -> Price | None:
        if model.identity is None:
            return None if isinstance(model, MissingModel) else FREE
        return price_of(model.identity, model.local, self.prices)

    def _reached(self) -> list[Subject]:
        return [subject for subject in self._subjects() if subject.model.spec not in self.unreachable]

    def _places(self, subject: Subject) -> list[Slot]:
        return [(cell, query) for cell in self.cells if cell.subject is subject for query in cell.queries]

    def _recall_stored(self, subject: Subject) -> None:
        """Look up the whole of an LLM's plan at once, and keep what is left to ask, identical queries together."""
        model = subject.model
        self._settle(model)
        pending: dict[str, list[Slot]] = {}
        for number, (cell, query) in enumerate(self._places(subject)):
            if query.id not in self.trials.get(cell.name, {}):
                pending.setdefault(asked_as(model, query) or str(number), []).append((cell, query))
        # Of a prompt nothing can be stored for one whose form is still to be found out.
        stored = {} if model.identity is None else self.store.get(asked for asked in pending if " " not in asked)
        for found, reply in stored.items():
            trials = [
                (cell, whole(cell.test, Trial(query, reply, cached=True), cell.serializer))
                for cell, query in pending[found]
            ]
            if all(self._usable(trial) for _, trial in trials):
                self._recalled += [(cell, self._keep(cell, trial)) for cell, trial in trials]
                del pending[found]
        self._pending[model.spec] = pending

    def _settle(self, model: Model) -> None:
        """Tell a model the form that an earlier run found it to take, or remember to note what this one finds."""
        if not model.settled and model.identity is not None:
            form = self.store.form(model.identity, model.version)
            if form is not None:
                model.settle(form)
            else:
                self._unsettled.add(model.spec)

    def _usable(self, trial: Trial) -> bool:
        again = (State.FAILED, *(UNANSWERED if self.options.retry_unanswered else ()))
        return trial.reply.state not in again

    def _limiter(self, model: Model) -> Limiter:
        """One for each model at each address, however often it is named."""
        identity = model.identity or {"spec": model.spec}
        who = tuple(sorted(identity.items()))
        if who not in self._limiters:
            fixed = model.connections or self.options.connections
            tell = partial(self.progress.limit, model.spec)
            self._limiters[who] = Limiter(fixed or START, fixed or CEILING, tell)
        return self._limiters[who]

    async def _ask_one(self, subject: Subject) -> None:
        """Everything one LLM is asked, in the order of the plan, as many at a time as its limiter has slots."""
        asker = self.askers[subject.model.spec]
        async with asyncio.TaskGroup() as under_way:
            async for job in self._jobs(subject):
                await asker.limiter.admit(job)
                under_way.create_task(self._answer(asker, job))
                if asker.stopped:
                    return

    async def _jobs(self, subject: Subject) -> AsyncIterator[Job]:
        """The unanswered queries of one LLM, in order; the LLM is prepared for a table when its turn comes."""
        model, table = subject.model, None
        for places in self._pending[subject.model.spec].values():
            if table is not places[0][0].table:
                table = places[0][0].table
                model = await self._prepared(subject, table)
            if left := tuple(place for place in places if not self._over(place[0])):
                yield Job(model, left)

    async def _prepared(self, subject: Subject, table: Table) -> Model:
        """The model that answers for a table. Where none can be made, its cells are skipped and it is not asked."""
        own = [cell for cell in self.cells if cell.subject is subject and cell.table is table]
        queries = [query for cell in own for query in cell.queries]
        try:
            if subject.model.control:  # takes seconds; the others are asked meanwhile
                with self.progress.doing(f"building {subject.model.spec} for {table.name}"):
                    return await asyncio.to_thread(subject.model.prepare, table, queries)
            return subject.model.prepare(table, queries)
        except Skip as skip:
            self.skips.update({cell.name: str(skip) for cell in own})
            return subject.model
        finally:
            self.progress.at(subject.model.spec, table.name)  # the time left is reckoned from answers alone

    def _over(self, cell: PlannedCell) -> bool:
        """Whether nothing more is to be asked for this cell."""
        lacks = bool(cell.lacks)  # which the first that is asked may find out
        return self.stopping or lacks or cell.name.llm in self.found_by or cell.name in self.skips

    async def _answer(self, asker: Asker, job: Job) -> None:
        cell, query = job.places[0]
        try:
            reply = await asker.ask(job.model, query, unwanted=lambda: self._over(cell))
        except StoppedError:
            return
        finally:
            asker.limiter.dismiss(job)
        self._put(job, asker.llm, reply)
        self.seconds[cell.name] = self.seconds.get(cell.name, 0.0) + (reply.seconds or 0.0)
        for cell, query in job.places:
            trial = self._keep(cell, whole(cell.test, Trial(query, reply), cell.serializer))
            self._record(cell, trial)
            self.progress.answered(asker.llm, trial.reply)

    def _put(self, job: Job, llm: str, reply: Answer) -> None:
        """Store a reply under the form that it was asked in, which may have been found out only now."""
        model, query = job.model, job.places[0][1]
        if model.identity is None:
            return
        self.store.put(key(model.identity, model.version, model.form, query.question, query.max_tokens), llm, reply)
        if llm in self._unsettled and model.settled:
            self._unsettled.remove(llm)
            self.store.note_form(model.identity, model.version, model.form)

    def _record(self, cell: PlannedCell, trial: Trial) -> None:
        """Write a trial down; where that fails, ask nothing more and keep the line for `Journal.rescue`."""
        line = trial_line(cell.name._asdict(), cell.subject.model.form, trial, self.options.rules == PAPER)
        try:
            self.journal.append(line)
        except OSError:
            self.stop()

    def _keep(self, cell: PlannedCell, trial: Trial) -> Trial:
        read = read_trial(cell.test, trial, cell.serializer, self.dictionary)
        self.trials.setdefault(cell.name, {})[trial.query.id] = read
        self._end_if_found(cell)
        return read

    def _end_if_found(self, cell: PlannedCell) -> None:
        """Ask an LLM nothing more after its first contaminated cell, if that is wanted."""
        llm, own = cell.name.llm, self.trials.get(cell.name, {})
        asked = bool(own) and len(own) == len(cell.queries)
        may_end = self.options.stop_at_first and not self._referring and not cell.subject.reference
        if not may_end or not asked or llm in self.found_by:
            return
        if surely_found(self._result(cell), self.options.rules, cell.level):
            self.found_by[llm] = cell.name

    def _of_reference(self, cell: PlannedCell) -> Reference | None:
        """The reference with what it answered to a cell's queries; None where it has no say."""
        if not self.reference or not cell.test.referred:
            return None
        own = self.trials.get(cell.name._replace(llm=self.reference), {})
        return Reference(self.reference, list(own.values()))

    def _result(self, cell: PlannedCell) -> Result:
        trials = self.trials.get(cell.name, {})
        skip = cell.skip or self.skips.get(cell.name)
        if skip and not trials:
            return unjudged(cell.name, cell.test, Verdict.SKIPPED, skip, lacks=cell.lacks)
        if cell.uninformative:
            return unjudged(cell.name, cell.test, Verdict.UNINFORMATIVE, cell.uninformative)
        if not trials:
            unanswered = self.unreachable.get(cell.name.llm) or self._ended(cell.name.llm)
            verdict = Verdict.NO_ANSWER if unanswered else Verdict.SKIPPED
            return unjudged(cell.name, cell.test, verdict, self._unasked(cell.name.llm), len(cell.queries))
        asked = [trials[query.id] for query in cell.written if query.id in trials]
        ended = skip or self._ended(cell.name.llm)
        beside = siblings(cell.name, cell.test, {key: own.values() for key, own in self.trials.items()})
        rules, at, reference = self.options.rules, cell.level, self._of_reference(cell)
        return result(cell.name, cell.test, asked, len(cell.written), rules, at, ended, reference, beside)

    def _exposure(self, cell: PlannedCell) -> float | None:
        """How many copies of a row of the cell's table its subject is known to have read, on average over the rows."""
        model, table = cell.subject.model, cell.table
        known = (model.spec, table.sha256, table.title)
        if known not in self._exposures:
            copies = [model.exposure(table, row) for row in range(len(table.rows))]
            stated = [copy for copy in copies if copy is not None]
            self._exposures[known] = round(fmean(stated), 6) if stated and len(stated) == len(copies) else None
        return self._exposures[known]

    def _ended(self, llm: str) -> str:
        """Why an LLM was asked nothing more, if it was its server or the user's limit that ended it."""
        return self.askers[llm].ended if llm in self.askers else ""

    def _unasked(self, llm: str) -> str:
        """Why nothing was asked of an LLM."""
        if llm in self.found_by:
            name = self.found_by[llm]
            return f"not asked: -x stopped after {name.test} on {name.dataset} was found contaminated"
        return self.unreachable.get(llm) or self._ended(llm) or "not asked: the run ended before"
