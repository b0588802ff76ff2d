"""Questions that belong to no table, such as questions about texts. They are asked as a run asks its queries."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from tabcontam.asking.asker import Asker
from tabcontam.asking.budget import Budget
from tabcontam.asking.estimate import Estimate, estimate, price_for
from tabcontam.asking.limiter import Limiters
from tabcontam.asking.reply_store import Store, shared_query_key
from tabcontam.asking.run_progress import Progress
from tabcontam.config import RunConfig
from tabcontam.evidence.base import Query
from tabcontam.evidence.questions import Answer, Reply, ReplyState
from tabcontam.models.base import Model, failed
from tabcontam.models.prices import Price

Asked = tuple[Model, Sequence[Query]]


@dataclass
class QuestionAsker:
    """An asker of LLMs in several stages, with limits for all stages together. `stop` may be called at any time."""

    options: RunConfig
    store: Store
    prices: Mapping[str, Price]
    progress: Progress = field(default_factory=Progress)
    stopping: bool = False
    askers: dict[str, Asker] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.budget = Budget(self.options.max_requests, self.options.max_cost)
        self.limiters = Limiters()
        self._unsettled: set[str] = set()

    @property
    def ended(self) -> dict[str, str]:
        """The LLMs that are asked nothing more, each with the reason."""
        return {spec: asker.ended for spec, asker in self.askers.items() if asker.ended}

    @property
    def spent(self) -> bool:
        """Return whether a limit of the user ended the questions."""
        return any(asker.spent for asker in self.askers.values())

    def stop(self) -> None:
        """Send nothing more; wait for the requests under way."""
        self.stopping = True
        for asker in self.askers.values():
            asker.stop()

    async def ask(self, asked: Sequence[Asked]) -> list[dict[str, Answer]]:
        """Return, for each of `asked`, its answers by the query's id. All LLMs are asked at the same time.

        A query with a stored answer is not asked, and equal questions are asked once.
        """
        totals: dict[str, int] = {}
        for model, queries in asked:
            totals[model.spec] = totals.get(model.spec, 0) + len(queries)
        self.progress.begin(totals)
        try:
            return list(await asyncio.gather(*(self._ask_one(model, queries) for model, queries in asked)))
        finally:
            self.progress.end()

    def estimate(self, model: Model, queries: Sequence[Query]) -> Estimate:
        """Return the estimate of the queries that have no stored answer."""
        found, left = self._left(model, queries)
        price = price_for(model, self.prices)
        return estimate(model, price, len(queries), len(found), [same[0] for same in left], None)

    async def _ask_one(self, model: Model, queries: Sequence[Query]) -> dict[str, Answer]:
        found, left = self._left(model, queries)
        self.progress.known(model.spec, len(found))
        if (asker := self.askers.get(model.spec)) is None:
            limiter = self.limiters.of(model, self.options.max_connections, self.progress.limit)
            price = price_for(model, self.prices)
            asker = self.askers[model.spec] = Asker(model.spec, limiter, self.budget, price, self.progress)
        if not self.stopping:
            await asker.ask_each(model, ((same[0], partial(self._take, model, same, found)) for same in left))
        return found

    def _left(self, model: Model, queries: Sequence[Query]) -> tuple[dict[str, Answer], list[list[Query]]]:
        """Return the stored answers by the id of the query, and the queries left to ask, as groups of equal queries."""
        if self.store.settle(model):
            self._unsettled.add(model.spec)
        asked: dict[str, list[Query]] = {}
        for number, query in enumerate(queries):
            asked.setdefault(shared_query_key(model, query) or str(number), []).append(query)
        found: dict[str, Answer] = {}
        for same, answer in self.store.get(asked).items():
            if answer.state is ReplyState.OK or not self.options.retry_unanswered:
                found |= {query.id: answer for query in asked.pop(same)}
        return found, list(asked.values())

    def _take(self, model: Model, same: Sequence[Query], found: dict[str, Answer], answer: Answer) -> None:
        """Store an answer, and add it to `found` for each of the equal queries `same`."""
        self.store.keep(model, same[0], model.spec, answer, self._unsettled)
        for one in same:
            found[one.id] = answer
            self.progress.answered(model.spec, answer)


def reply_of(answers: Mapping[str, Answer], query: Query) -> Reply:
    """Return the reply to a query; a failed reply if it has no answer."""
    answer = answers.get(query.id)
    return answer if isinstance(answer, Reply) else failed("not asked")
