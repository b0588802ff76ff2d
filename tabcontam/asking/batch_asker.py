"""One LLM's queries in batches, which are written, sent and watched. A later run finds them again.

The first query is asked at once: if the model refuses a part of it, we know at once and not a day later. A reply from a
batch is stored under the key that it would have without batches. It costs the price of a batch.
"""

import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import NoReturn
from uuid import uuid4

from tabcontam.asking.asker import MOST_WAIT, NOTHING, TRIES, Asker, Done, StoppedError
from tabcontam.asking.batch_notes import BatchNote, BatchNotes, on_disk
from tabcontam.asking.budget import Charge
from tabcontam.asking.estimate import most_dollars
from tabcontam.asking.query_plan import PlannedResult
from tabcontam.asking.reply_store import key
from tabcontam.asking.table_turns import Job
from tabcontam.asking.trial_file import Journal
from tabcontam.errors import UsageError, option
from tabcontam.evidence.questions import Answer, Prompt, Reply, ReplyState, Usage
from tabcontam.models.base import FatalError, Model, ModelRequest, PromptForm, SpentError, TransientError, failed
from tabcontam.models.batch_api import Batches, BatchProgress
from tabcontam.models.prices import Price
from tabcontam.models.served_model import sum_known_charges

FIRST_LOOK = 2.0  # seconds until a batch is looked at again
LAST_LOOK = 120.0  # seconds; the longest time between two looks
FULL = "429"  # the error kind of a provider that has as many requests of this user as it allows


@dataclass(eq=False)
class RunningBatch:
    """A batch at its provider, with its unanswered queries by the names of their requests, and its share of the budget.

    `spent` is the cost in dollars of the answers that were read so far.
    """

    noted: BatchNote
    jobs: dict[str, Job]
    charge: Charge
    spent: Decimal = NOTHING
    standing: BatchProgress = field(default_factory=lambda: BatchProgress(ended=False))


@dataclass
class BatchAsker:
    """An asker that sends one LLM's queries in batches.

    `ask_now` asks one query at once. `take` stores an answer and writes it to the journal. `left` are the batches that
    are still at the provider. `waiting`, in its methods, has each query to ask, with True if it was sent once before.
    """

    model: Model
    batches: Batches
    asker: Asker
    notes: BatchNotes
    journal: Journal
    ask_now: Callable[[Job], Awaitable[Answer | None]]
    take: Callable[[Job, Answer], None]
    clock: Callable[[], float] = time.time
    left: list[RunningBatch] = field(default_factory=list)
    _piloted: bool = False
    _most: int = 0  # requests of a batch; smaller than the provider's limit after it refused a larger batch
    _used: dict[str, Usage | None] = field(default_factory=dict)  # tokens used by the first try of requests to repeat

    async def ask(self, jobs: Sequence[Job]) -> None:
        """Get an answer to each query, or leave its batch at the provider for a later run. Raises nothing."""
        self._most = self.batches.most_requests
        waiting = deque((job, False) for job in jobs)
        with suppress(StoppedError):
            await self._find(waiting)
            while waiting or self.left:
                await self._submit(waiting)
                if not self.left:
                    break
                for ended in await self._ended():
                    waiting.extend(await self._collected(ended))

    async def _find(self, waiting: deque[tuple[Job, bool]]) -> None:
        """Watch the batches that an earlier run left at the provider, and remove their queries from `waiting`."""
        for noted in self.notes.open(self.model.spec):
            if not self.model.settled:
                self.model.settle(noted.sent.form)
            names = set(noted.names)
            named = {self._name(job, noted.sent.form): job for job, _ in waiting}
            jobs = {name: job for name, job in named.items() if name in names}
            if not jobs:
                continue  # its queries were answered in another way
            if not noted.id:
                found = await self._tried(partial(self._found, noted))
                if not found:  # it was never sent
                    self._settled(noted)
                    continue
                noted = replace(noted, id=found)
                self._submitted(noted)
            most = sum((self._most_dollars(job, noted.sent.allowance) for job in jobs.values()), NOTHING)
            self.left.append(RunningBatch(noted, jobs, self.asker.budget.take_up(len(jobs), most)))
            own = set(map(id, jobs.values()))
            rest = [(job, again) for job, again in waiting if id(job) not in own]
            waiting.clear()
            waiting.extend(rest)

    async def _submit(self, waiting: deque[tuple[Job, bool]]) -> None:
        """Send the queries of `waiting` in batches, until the user's limit or the provider allows no more."""
        await self._pilot(waiting)
        tries = 0
        while waiting and not (self.left and self._most < self.batches.most_requests):
            packed = await self._packed(waiting)
            if packed is None:
                return
            under_way, lines = packed
            noted = under_way.noted
            try:
                self.notes.intend(noted)
            except OSError as error:
                self.asker.budget.take_back(under_way.charge)
                self._end(f"{self.notes.path}: {error.strerror}; no batch was sent: make room and run this again")
            try:
                found = await self._tried(self._submission(noted, lines), lets_pass=FULL)
            except TransientError as error:
                self._undo(under_way, waiting)
                if self.left:
                    return
                tries += 1
                if tries >= TRIES or (error.wait or 0) > MOST_WAIT:
                    self._end(f"{error}; {self.batches.service} takes no batch: run the same command again later")
                self._most = max(1, len(lines) // 2)
                await self.asker.wait_after(error, tries)
                continue
            except StoppedError:
                self.asker.budget.take_back(under_way.charge)
                raise
            under_way.noted = replace(noted, id=found)
            self._submitted(under_way.noted)
            self.left.append(under_way)

    # pilots: the most queries that are asked at once; the first reply ends this
    async def _pilot(self, waiting: deque[tuple[Job, bool]], *, pilots: int = 3) -> None:
        """Ask the first query at once, to learn which parts of a request this model accepts."""
        for _ in range(pilots):
            if self._piloted or not waiting:
                return
            answer = await self.ask_now(waiting.popleft()[0])
            if self.asker.stopped:
                raise StoppedError
            self._piloted = answer is not None and answer.state is not ReplyState.FAILED
        self._piloted = True

    async def _packed(self, waiting: deque[tuple[Job, bool]]) -> tuple[RunningBatch, list[bytes]] | None:
        """Return the next batch with its lines, taken from `waiting`; None if the user's limit allows no request now.

        A batch contains either only requests that were sent before or only new ones.
        """
        sent, again, budget = self.batches.sent, waiting[0][1], self.asker.budget
        jobs: dict[str, Job] = {}
        lines: list[bytes] = []
        charge: Charge | None = None
        size = 0
        while waiting and waiting[0][1] == again and len(lines) < self._most:
            job = waiting[0][0]
            name = self._name(job, sent.form)
            try:
                line = self.batches.written(name, self._request(job))
            except ValueError:
                self._take(waiting.popleft()[0], failed("the prompt holds half of a surrogate pair, not valid in JSON"))
                continue
            if name in jobs or (lines and size + len(line) > self.batches.most_bytes):
                break
            most = self._most_dollars(job, sent.allowance)
            try:
                if charge is None:
                    charge = budget.charge_now(most) if self.left else await budget.charge(most)
                else:
                    budget.add(charge, most)
            except SpentError as error:
                if not (lines or self.left):
                    self.asker.spent |= not self.asker.ended
                    self._end(str(error))
                break
            jobs[name] = job
            lines.append(line)
            size += len(line)
            waiting.popleft()
        if charge is None:
            return None
        noted = BatchNote(uuid4().hex, self.model.spec, self.clock(), sent, tuple(jobs), again)
        return RunningBatch(noted, jobs, charge), lines

    def _submission(self, noted: BatchNote, lines: Sequence[bytes]) -> Callable[[], Awaitable[str]]:
        """Return a function that sends a batch. After a failure it first asks the provider if the batch arrived."""
        tried = False

        async def submit() -> str:
            nonlocal tried
            found = await self._found(noted) if tried else None
            tried = True
            try:
                return found or await self.batches.submit(lines, noted.mark)
            except FatalError:  # the provider states that it refused the batch
                self._settled(noted)
                raise

        return submit

    async def _found(self, noted: BatchNote) -> str | None:
        return await self.batches.find(noted.mark, noted.since, noted.names)

    def _undo(self, under_way: RunningBatch, waiting: deque[tuple[Job, bool]]) -> None:
        """Put back into `waiting` the requests that the provider refused."""
        self.asker.budget.take_back(under_way.charge)
        self._settled(under_way.noted)
        waiting.extendleft((job, under_way.noted.again) for job in reversed(under_way.jobs.values()))

    async def _ended(self) -> list[RunningBatch]:
        """Wait until at least one batch has ended, and return all that have. The pauses between two checks grow."""
        slower = 1.5  # factor from each wait to the next
        wait = FIRST_LOOK
        while True:
            for each in self.left:
                each.standing = await self._tried(partial(self.batches.standing, each.noted.id))
                standing = each.standing
                of = standing.total or len(each.noted.names)
                self.asker.progress.batch(self.asker.llm, each.noted.id, each.noted.since, standing.done, of)
            if ended := [each for each in self.left if each.standing.ended]:
                return ended
            await self.asker.pause(wait)
            wait = min(wait * slower, LAST_LOOK)

    async def _collected(self, ended: RunningBatch) -> list[tuple[Job, bool]]:
        """Store the answers of an ended batch; return its requests that must be sent again."""
        noted, standing, again = ended.noted, ended.standing, list[tuple[Job, bool]]()
        fewer = len(ended.jobs) // 2 if standing.crowded else 0

        async def read() -> None:
            async for result in self.batches.results(noted.id):
                job = ended.jobs.get(result.name)
                if job is None:  # the result belongs to no request of this run, or came twice
                    continue
                reply, may_better = self.batches.read(result, self._request(job), noted.sent)
                del ended.jobs[result.name]
                ended.spent += self._cost(job, reply, noted)
                usage = sum_known_charges([self._used.pop(result.name, None), reply.usage])
                if may_better and not noted.again:
                    self._used[result.name] = usage
                    again.append((job, True))
                else:
                    self._take(job, replace(reply, usage=usage))

        requests = len(ended.jobs)
        if fewer:
            self._most = fewer
            again = [(job, noted.again) for job in ended.jobs.values()]
            ended.jobs.clear()
        else:
            await self._tried(read)
        for job in ended.jobs.values():
            self._take(job, failed(standing.reason or f"batch {noted.id} holds no result for it"))
        self.left.remove(ended)
        self.asker.progress.batch_ended(self.asker.llm, noted.id)
        self.asker.budget.settle(ended.charge, ended.spent)
        self.asker.requests += 0 if fewer else requests
        self.asker.dollars += ended.spent
        if not self.journal.unsaved and on_disk(self.journal.path):
            self._settled(noted)
        return again

    def _take(self, job: Job, reply: Reply) -> None:
        self.take(job, reply)
        if self.journal.unsaved:  # the disk is full: answers that are not stored stay at the provider
            raise StoppedError

    async def _tried(self, action: Callable[[], Awaitable[Done]], lets_pass: str | None = None) -> Done:
        """Return the action's result, after retries. Any lasting failure ends the questions to this LLM.

        Raises `StoppedError` after a lasting failure. Raises a `TransientError` of the kind `lets_pass` at once.
        """
        patient_tries = 60  # in place of `TRIES` while a batch is under way: half an hour or more
        try:
            return await self.asker.retried(action, patient_tries if self.left else TRIES, lets_pass)
        except TransientError as error:
            if error.kind == lets_pass:
                raise
            under_way = "".join(f"; batch {each.noted.id} goes on there" for each in self.left)
            self._end(f"{error}{under_way}: run the same command again")
        except FatalError as error:
            self._end(str(error))

    def _end(self, line: str) -> NoReturn:
        self.asker.end(line)
        raise StoppedError

    def _submitted(self, noted: BatchNote) -> None:
        with suppress(OSError):  # without this note, or the one below, the next run asks the provider
            self.notes.submitted(noted.mark, noted.id)

    def _settled(self, noted: BatchNote) -> None:
        with suppress(OSError):
            self.notes.settled(noted.mark)

    def _request(self, job: Job) -> ModelRequest:
        return ModelRequest(job.query.question, job.query.max_tokens, structured=self.model.structured)

    def _name(self, job: Job, form: PromptForm) -> str:
        """Return the name of a request in a batch: the key under which its reply is stored."""
        form, query = PromptForm.STRUCTURED if self.model.structured else form, job.query
        return key(self.model.identity or {}, self.model.version, form, query.question, query.max_tokens)

    def _most_dollars(self, job: Job, allowance: int) -> Decimal:
        return most_dollars(self.model, self._price, job.query.question, job.query.max_tokens, allowance)

    def _cost(self, job: Job, reply: Reply, noted: BatchNote) -> Decimal:
        """Return a reply's cost by its token counts; without them 0 if it failed, else the highest possible cost."""
        if self._price and reply.usage:
            return self._price.cost(reply.usage.prompt, reply.usage.written)
        return NOTHING if reply.state is ReplyState.FAILED else self._most_dollars(job, noted.sent.allowance)

    @property
    def _price(self) -> Price | None:
        return self.asker.price and self.asker.price.in_batch


def in_words(planned: PlannedResult) -> bool:
    """Return whether the queries of `planned` are prompts. Prompts go into batches; texts to be scored do not."""
    return bool(planned.queries) and isinstance(planned.queries[0].question, Prompt)


def check_none_open(notes: BatchNotes, llm: str, pending: Mapping[str, Mapping[str, object]]) -> None:
    """Raise `UsageError` if a query that is to be asked now is already in a batch, and would be paid for twice.

    `pending`: for each LLM the queries to ask, by the names of their requests.
    """
    asked = {name for names in pending[llm] for name in names.split()}
    for noted in notes.open(llm):
        if not asked.isdisjoint(noted.names):
            batch = f"batch {noted.id} of {llm} is" if noted.id else f"a batch of {llm} may be"
            raise UsageError(
                f"{notes.path.parent}: {batch} under way, and would be paid for twice; add "
                f"{option('batch_api')} to take its answers, or choose another folder with {option('out')}"
            )


def going_on(asking: Iterable[BatchAsker]) -> list[str]:
    """Return a line for each batch that is still at its provider: its id, its progress, and the way to cancel it."""
    lines = []
    for each in asking:
        for one in each.left:
            standing, batch = one.standing, one.noted.id
            how = f"{'has ended' if standing.ended else 'goes on'} at {each.batches.service}"
            done = f"{standing.done}/{standing.total or len(one.noted.names)} done"
            lines.append(
                f"batch {batch} of {each.model.spec} {how}, {done}; to cancel it: {each.batches.cancelling(batch)}"
            )
    return lines
