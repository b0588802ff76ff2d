"""A session, which asks, judges and records. It alone knows the answers and the order of all LLMs' queries."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from tabcontam.asking.account import Account
from tabcontam.asking.asker import Asker, StoppedError
from tabcontam.asking.batch_asker import BatchAsker, check_none_open, in_words
from tabcontam.asking.batch_notes import BatchNotes
from tabcontam.asking.budget import Budget
from tabcontam.asking.estimate import Estimate, either, estimate, price_for
from tabcontam.asking.limiter import Limiters
from tabcontam.asking.query_plan import PlannedResult, RunSource, check_reachable
from tabcontam.asking.reply_store import Store, same_text, shared_query_key
from tabcontam.asking.run_progress import Progress
from tabcontam.asking.table_turns import Job, Slot, TableTurns
from tabcontam.asking.trial_file import Journal, Key, Line, answer_of, answers, line_key, trial_line
from tabcontam.config import PAPER
from tabcontam.errors import Skip, UsageError
from tabcontam.evidence.base import Answer, Query, Reply, ReplyState, Trial
from tabcontam.evidence.structured_answers import PROBE, PROBE_TOKENS, is_enforced
from tabcontam.evidence.trial_reading import complete_reply, read_trial
from tabcontam.groups import grouped
from tabcontam.models.base import Model, PromptForm, unserved
from tabcontam.models.batch_api import Batches
from tabcontam.models.prices import FREE, Price
from tabcontam.tables.table import Table
from tabcontam.verdicts.result_building import surely_contaminated
from tabcontam.verdicts.result_types import ResultKey

UNANSWERED = (ReplyState.REFUSED, ReplyState.TRUNCATED, ReplyState.EMPTY)  # asked again with --retry-unanswered


@dataclass
class Session(Account):
    """One run over planned results. `ask()` may be stopped at any time; `results()` returns the results so far."""

    journal: Journal
    progress: Progress
    store: Store = field(default_factory=Store)
    prices: Mapping[str, Price] = field(default_factory=dict)
    stopping: bool = False
    batched: list[BatchAsker] = field(default_factory=list)
    limiters: Limiters = field(default_factory=Limiters)
    _pending: dict[str, dict[str, list[Slot]]] = field(default_factory=dict)
    _unsettled: set[str] = field(default_factory=set)
    _recalled: dict[tuple[ResultKey, str], Slot] = field(default_factory=dict)
    _own: dict[int, list[PlannedResult]] = field(default_factory=dict)  # the cells of each subject, by its id

    def __post_init__(self) -> None:
        super().__post_init__()
        self._again = {ReplyState.FAILED, *(UNANSWERED if self.options.retry_unanswered else ())}
        self.budget = Budget(self.options.max_requests, self.options.max_cost)
        self._referring = bool(self.references)

    async def connect(self) -> None:
        """Connect to every LLM. Raises `UsageError` if a reference, or every LLM under test, is out of reach."""
        subjects = self._subjects()
        with self.progress.doing("connecting"):
            reached = await asyncio.gather(*(subject.model.connect() for subject in subjects), return_exceptions=True)
        self.unreachable = {}
        for subject, outcome in zip(subjects, reached, strict=True):
            if isinstance(outcome, UsageError):
                self.unreachable[subject.model.spec] = unserved(subject.model, outcome)
            elif isinstance(outcome, BaseException):
                raise outcome
        check_reachable(subjects, self.unreachable)

    async def hold(self, asks: bool = True) -> None:
        """If the user wants structured answers (JSON of a fixed schema), find out by one request to each server if it
        enforces a schema. Servers that do not are asked in chat form, without a schema. If `asks` is False, nothing is
        sent: a server is assumed to enforce it unless a stored answer shows otherwise.
        """
        if self.options.structured:
            chatting = [subject.model for subject in self._reached() if subject.model.form is PromptForm.CHAT]
            await asyncio.gather(*(self._hold(model, asks) for model in chatting))

    async def _hold(self, model: Model, asks: bool) -> None:
        self._settle(model)
        model.structured = True
        query = Query("form", lambda: PROBE, PROBE.values, (None,), PROBE_TOKENS)
        same = shared_query_key(model, query)
        found = list(self.store.get([same] if same else []).values())
        if asks and not found:
            with contextlib.suppress(StoppedError):  # the next query reports why
                found.append(await self._asker(model).ask(model, query, lambda answer: None))
                self.store.keep(model, query, model.spec, found[0], self._unsettled)
        if asks or found:
            model.structured = any(isinstance(reply, Reply) and is_enforced(reply) for reply in found)

    def _asker(self, model: Model) -> Asker:
        """Return the asker of an LLM, made with its limiter and its price at the first call."""
        if model.spec not in self.askers:
            limiter = self.limiters.of(model, self.options.max_connections, self.progress.limit)
            price = price_for(model, self.prices)
            self.askers[model.spec] = Asker(model.spec, limiter, self.budget, price, self.progress)
        return self.askers[model.spec]

    def recall(self) -> None:
        """Recall answers from the folder, then from the store. Raises `UsageError` if a batch has unasked queries."""
        for subject in self._reached():
            self._reword(subject)
        self._recall_held(self.plan)
        for subject in self._reached():
            self._recall_stored(subject)
            if not (self.options.batch_api and subject.model.batches):
                check_none_open(BatchNotes(self.journal.path.parent), subject.model.spec, self._pending)

    def _recall_held(self, plan: Sequence[PlannedResult]) -> None:
        known: dict[Key, Line] = {line_key(line): line for line in self.journal.lines()}
        for planned in plan:
            for query in planned.written if planned.lacks else planned.queries:  # it may have had what it lacks now
                line = known.get(line_key({**planned.name._asdict(), "query": query.id}))
                if line is None or not answers(line, query):
                    continue
                try:
                    stored = Trial(query, answer_of(line), cached=True)
                except (KeyError, TypeError, ValueError):
                    continue  # a damaged line: its query is asked again
                trial = self._read(planned, stored)
                if trial.reply.state not in self._again:
                    self._file(planned, trial)

    def _reword(self, subject: RunSource) -> list[PlannedResult]:
        """Ask for words if this LLM turned out to give no log-probabilities. Return the new planned results."""
        lacking = [planned for planned in self._plan_of(subject) if planned.lacks]
        changed = {id(planned): planned.otherwise for planned in lacking if planned.otherwise is not None}
        if changed:
            self.plan = [changed.get(id(planned), planned) for planned in self.plan]
            self._own.clear()
        return list(changed.values())

    async def ask(self) -> None:
        """Ask all queries without an answer, all LLMs at the same time. A model loaded here has its own thread.

        References are asked first: wherever a run ends, no verdict then depends on a missing answer of a reference.
        """
        subjects = self._reached()
        places = {subject.model.spec: self._places(subject) for subject in subjects}
        self.progress.begin({llm: sum(not self._is_unsure(*place) for place in own) for llm, own in places.items()})
        for llm, line in self.unreachable.items():
            self.progress.ended(llm, line)
        for cell, query in self._recalled.values():
            if self._turns_of(cell) is None:  # else it is recorded when its turn comes
                self._record(cell, self.trials[cell.name][query.id])
        for llm, queries in Counter(name.llm for name, trials in self.trials.items() for _ in trials).items():
            self.progress.known(llm, queries)
        for model in (subject.model for subject in subjects):
            self._asker(model)
            model.shown_by(partial(self.progress.doing, evenly=True))
        try:
            for first in (subject for subject in subjects if subject.reference):
                await self._ask_whole(first)
            self._referring = False
            if self.references:
                for cell in self.plan:  # some LLMs had answers before this run
                    self._end_if_found(cell)
            await asyncio.gather(*(self._ask_whole(subject) for subject in subjects if not subject.reference))
            await asyncio.gather(*(self._ask_deferred(subject) for subject in subjects if subject.joined))
        finally:
            self.progress.end()

    def stop(self) -> None:
        """Send nothing more. Requests under way are waited for, unless they take minutes."""
        self.stopping = True
        for asker in self.askers.values():
            asker.stop()
        for subject in self._subjects():
            subject.model.stop()

    async def close(self) -> None:
        """Free the connections and the memory of all LLMs."""
        for subject in self._subjects():
            await subject.model.close()

    def estimates(self) -> list[Estimate]:
        """Return the estimate of each LLM's queries without an answer. Call it after `recall`."""
        found = []
        for subject in self._subjects():
            model, places = subject.model, self._places(subject)
            left = [place for place in places if not self._answered(*place)]
            answered = len(places) - len(left)
            if model.spec in self._pending:  # identical queries are asked once
                left = [same[0] for same in self._pending[model.spec].values()]
            missing, price = self.unreachable.get(model.spec), price_for(model, self.prices)
            if missing and price == FREE:  # another's server may be there, and cost money
                price = None
            bounds = partial(
                estimate, model, price, len(places), answered, missing=missing, batch=self.options.batch_api
            )
            sure = [query for planned, query in left if not planned.provided]
            unsure = [planned for planned in self._plan_of(subject) if planned.provided]
            instead = [query for planned in unsure if planned.otherwise for query in planned.otherwise.queries]
            most = bounds(query for _, query in left)
            found.append(either(most, bounds([*sure, *instead])) if unsure else most)
        return found

    def _reached(self) -> list[RunSource]:
        return [subject for subject in self._subjects() if subject.model.spec not in self.unreachable]

    def _places(self, subject: RunSource) -> list[Slot]:
        return [(planned, query) for planned in self._plan_of(subject) for query in planned.queries]

    def _plan_of(self, subject: RunSource) -> Sequence[PlannedResult]:
        """Return the planned results of one LLM. All are grouped by LLM once, since a large run has millions."""
        if not self._own:
            self._own |= grouped(self.plan, lambda planned: id(planned.subject))
        return self._own.get(id(subject), ())

    def _recall_stored(self, subject: RunSource) -> None:
        """Recall an LLM's answers from the store. Keep the queries left to ask, as groups of equal queries."""
        model = subject.model
        self._settle(model)
        pending: dict[str, list[Slot]] = {}
        for number, (planned, query) in enumerate(self._places(subject)):
            if not self._answered(planned, query):
                same = shared_query_key(model, query) or same_text(model, planned.table, query) or str(number)
                pending.setdefault(same, []).append((planned, query))
        for found, reply in self.store.get(pending).items():
            asked = [(planned, Trial(query, reply, cached=True)) for planned, query in pending[found]]
            trials = [(planned, self._read_whole(planned, trial)) for planned, trial in asked]
            if all(trial.reply.state not in self._again for _, trial in trials):
                for planned, trial in trials:
                    self._recalled[planned.name, trial.query.id] = planned, trial.query
                    self._file(planned, trial)
                del pending[found]
        self._pending[model.spec] = pending

    def _settle(self, model: Model) -> None:
        """Give a model the form of prompts that an earlier run found, or note that this run must find it."""
        if self.store.settle(model):
            self._unsettled.add(model.spec)

    async def _ask_whole(self, subject: RunSource) -> None:
        await self._ask_one(subject)
        await subject.model.rest()

    async def _ask_one(self, subject: RunSource) -> None:
        """Ask one LLM all its queries, as many at a time as its limiter has slots.

        First comes a query that shows whether the LLM has the abilities that it may have; then the queries that are
        asked in any case, in the order of the plan; then the tables that are asked in turns; last the queries about
        tables that the turns left undecided, except for controls (`_ask_deferred`). With batches nothing is asked in
        turns.
        """
        await self._find_abilities(subject)
        if self.options.batch_api and subject.model.batches:
            await self._ask_in_batches(subject, subject.model.batches)
            return
        await self._ask_all(subject, lambda planned: not planned.sequential and not planned.deferred)
        own = [turns for place, turns in self._turns.items() if place.llm == subject.model.spec]
        async with asyncio.TaskGroup() as tables:
            for turns in own:
                tables.create_task(self._ask_in_turns(subject, turns))
        if not subject.joined:
            await self._ask_all(subject, lambda planned: planned.deferred)
        if plan := self._reword(subject):
            await self._ask_reworded(subject, plan)

    async def _ask_deferred(self, control: RunSource) -> None:
        """Ask a control, after all LLMs, the tests that LLMs with undecided tables were asked."""
        wanted = [place for place in self._places(control) if self._is_unsure(*place) and not self._over(place[0])]
        self.progress.more(control.model.spec, len(wanted))
        await self._ask_all(control, lambda planned: planned.deferred)
        await control.model.rest()

    async def _find_abilities(self, subject: RunSource) -> None:
        """Ask one query whose answer shows whether the LLM has an ability. If so, all queries for it are planned.

        With a limit on dollars it is not asked first: a declined request may cost what other queries need.
        """
        unsure = [place for place in self._places(subject) if self._is_unsure(*place)]
        if (
            unsure
            and self.options.max_cost is None
            and (job := await anext(self._jobs(subject, lambda planned: bool(planned.provided)), None))
        ):
            await self._ask_now(self.askers[subject.model.spec], job)
        self.progress.more(subject.model.spec, sum(not planned.lacks for planned, _ in unsure))

    def _is_unsure(self, planned: PlannedResult, query: Query) -> bool:
        """Return whether a query without an answer is only asked if the LLM has an ability, or an LLM is undecided."""
        later = planned.deferred and planned.subject.joined
        return (later or planned.provided is not None) and not self._answered(planned, query)

    async def _ask_reworded(self, subject: RunSource, plan: Sequence[PlannedResult]) -> None:
        """Ask for answers in words where log-probabilities were asked for in vain."""
        self.progress.more(subject.model.spec, sum(len(planned.queries) for planned in plan))
        self._recall_held(plan)
        before = set(self._recalled)
        self._recall_stored(subject)
        for planned, query in (self._recalled[place] for place in self._recalled.keys() - before):
            self._record(planned, self.trials[planned.name][query.id])
        known = sum(len(self.trials.get(planned.name, ())) for planned in plan)
        self.progress.known(subject.model.spec, known)
        await self._ask_all(subject, lambda planned: any(planned is own for own in plan))

    async def _ask_in_batches(self, subject: RunSource, batches: Batches) -> None:
        asker, notes = self.askers[subject.model.spec], BatchNotes(self.journal.path.parent)
        ask_now, take = partial(self._ask_now, asker), partial(self._take, asker)
        self.batched.append(own := BatchAsker(subject.model, batches, asker, notes, self.journal, ask_now, take))
        await own.ask([job async for job in self._jobs(subject, in_words)])
        await self._ask_all(subject, lambda planned: not in_words(planned))

    async def _ask_all(self, subject: RunSource, wanted: Callable[[PlannedResult], bool]) -> None:
        asker = self.askers[subject.model.spec]
        async with asyncio.TaskGroup() as under_way:
            async for job in self._jobs(subject, wanted):
                await asker.limiter.admit(job)
                under_way.create_task(self._answer(asker, job))
                if asker.stopped:
                    return

    async def _jobs(self, subject: RunSource, wanted: Callable[[PlannedResult], bool]) -> AsyncIterator[Job]:
        """Yield the unanswered queries of the LLM's `wanted` results, in order. Prepare the LLM for each new table."""
        model, table = subject.model, None
        for places in self._pending[subject.model.spec].values():
            left = tuple(place for place in places if wanted(place[0]) and not self._answered(*place))
            left = tuple(place for place in left if not self._over(place[0]))
            if left and table is not left[0][0].table:
                table = left[0][0].table
                model = await self._prepared(subject, table)
                left = tuple(place for place in left if not self._over(place[0]))
            if left:
                yield Job(model, left)

    async def _ask_in_turns(self, subject: RunSource, turns: TableTurns) -> None:
        """Ask the queries about a table in turns. Queries that are needed in any case are asked together."""
        asker, first = self.askers[subject.model.spec], turns.plan[0]
        model, known = subject.model, turns.take(self._taken)
        if known:
            self.progress.known(asker.llm, known)
        if turns.next:
            model = await self._prepared(subject, first.table)

        same = {(cell.name, query.id): places for places in self._pending[asker.llm].values() for cell, query in places}

        async def ask(slot: Slot) -> None:
            planned, query = slot
            others = [one for one in same[planned.name, query.id] if one[0] is not planned and not self._answered(*one)]
            await self._ask_now(asker, Job(model, (slot, *others)))

        while not self._over(first) and not asker.stopped:
            asked = [(cell, query) for cell, query in turns.next if (cell.name, query.id) in same]
            if not asked:
                break
            async with asyncio.TaskGroup() as at_once:
                for slot in asked:
                    at_once.create_task(ask(slot))
            if not turns.take(self._taken):
                break
        if (decided := turns.decided) is not None:
            own = [cell for cell in self.plan if cell.name.of_table == first.name.of_table and not subject.joined]
            spared = decided.planned - decided.asked + sum(map(self._spared, own))
            self.progress.decided(asker.llm, first.table.named, decided, spared)
            if decided.detected and self.options.stop_at_first:
                self.found_by.setdefault(asker.llm, first.name)

    async def _prepared(self, subject: RunSource, table: Table) -> Model:
        """Return the model that answers about a table. If it cannot be prepared, results on the table are skipped."""
        own = [planned for planned in self._plan_of(subject) if planned.table is table]
        queries = [query for planned in own for query in planned.queries]
        try:
            if subject.model.control:  # building takes seconds; other LLMs are asked meanwhile
                with self.progress.doing(f"building {subject.model.spec} for {table.named}"):
                    return await asyncio.to_thread(subject.model.prepare, table, queries)
            return subject.model.prepare(table, queries)
        except Skip as skip:
            self.skips.update({planned.name: str(skip) for planned in own})
            return subject.model
        finally:
            self.progress.asks_about(subject.model.spec, table.named)  # only answers count for the time left

    def _over(self, planned: PlannedResult) -> bool:
        lacks = bool(planned.lacks)  # the first query may show it
        spared = bool(self._spared(planned))
        return self.stopping or lacks or planned.name.llm in self.found_by or planned.name in self.skips or spared

    async def _ask_now(self, asker: Asker, job: Job) -> Answer | None:
        await asker.limiter.admit(job)
        return await self._answer(asker, job)

    async def _answer(self, asker: Asker, job: Job) -> Answer | None:
        (planned, query), take = job.places[0], partial(self._take, asker, job)
        return await asker.ask_admitted(job, job.model, query, take, lambda: self._over(planned))

    def _take(self, asker: Asker, job: Job, reply: Answer) -> None:
        """Store a reply, and record it in the folder for every planned result whose query it answers."""
        planned = job.places[0][0]
        self.store.keep(job.model, job.query, asker.llm, reply, self._unsettled)
        self.seconds[planned.name] = self.seconds.get(planned.name, 0.0) + (reply.seconds or 0.0)
        for planned, query in job.places:
            trial = self._read_whole(planned, Trial(query, reply))
            self._file(planned, trial)
            self._record(planned, trial)
            self.progress.answered(asker.llm, trial.reply)

    def _record(self, planned: PlannedResult, trial: Trial) -> None:
        """Write a trial to the folder. If that fails, stop the session and keep the line for `Journal.rescue`."""
        exposure, form = self._exposure_of(planned, trial.query), planned.subject.model.sent_in
        try:
            self.journal.append(trial_line(planned.name._asdict(), form, trial, self.options.rules == PAPER, exposure))
        except OSError:
            self.stop()

    def _read(self, planned: PlannedResult, trial: Trial) -> Trial:
        return read_trial(planned.test, trial, planned.serializer)

    def _read_whole(self, planned: PlannedResult, trial: Trial) -> Trial:
        return self._read(planned, complete_reply(planned.test, trial, planned.serializer))

    def _file(self, planned: PlannedResult, trial: Trial) -> None:
        """Keep a read trial. If its table is asked in turns, the trial waits for its turn."""
        if (turns := self._turns_of(planned)) is not None:
            turns.wait(planned, trial)
        else:
            self.trials.setdefault(planned.name, {})[trial.query.id] = trial
            self._end_if_found(planned)

    def _taken(self, planned: PlannedResult, trial: Trial) -> None:
        """Keep a trial whose turn has come; if it was recalled from the store, write it to the folder."""
        self.trials.setdefault(planned.name, {})[trial.query.id] = trial
        if (planned.name, trial.query.id) in self._recalled:
            self._record(planned, trial)

    def _answered(self, planned: PlannedResult, query: Query) -> bool:
        turns = self._turns_of(planned)
        return query.id in self.trials.get(planned.name, {}) or (turns is not None and turns.has(planned, query))

    def _end_if_found(self, planned: PlannedResult) -> None:
        """Ask an LLM nothing more after its first contaminated result, if the user wants that."""
        llm, own = planned.name.llm, self.trials.get(planned.name, {})
        asked = bool(own) and len(own) == len(planned.queries)
        may_end = self.options.stop_at_first and not self._referring and not planned.subject.reference
        if not may_end or not asked or planned.sequential or llm in self.found_by:
            return
        if surely_contaminated(self._result(planned), self.options.rules, planned.level):
            self.found_by[llm] = planned.name
