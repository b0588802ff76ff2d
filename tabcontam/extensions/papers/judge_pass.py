"""The second pass of a run with `--judge`: an LLM judges which of the collected completions match the true texts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from tabcontam.asking.asker import Asker
from tabcontam.asking.estimate import Estimate, estimate, price_for
from tabcontam.asking.query_plan import PlannedResult
from tabcontam.asking.reply_store import shared_query_key
from tabcontam.asking.run_progress import Progress
from tabcontam.asking.session import Session
from tabcontam.config import RunConfig
from tabcontam.errors import UsageError, option, option_name
from tabcontam.evidence.base import Capability, Query, Reply, ReplyState, Test, Trial
from tabcontam.evidence.completion_pairs import CompletionPair, Likeness
from tabcontam.evidence.mixins import JudgedTest
from tabcontam.evidence.questions import Answer
from tabcontam.evidence.registry import all_tests
from tabcontam.extensions.papers.completion_judge import (
    counted_label,
    judge_query,
    longest,
    made_pairs,
    read_judge,
    to_judge,
)
from tabcontam.extensions.papers.completion_judgements import Judgement, Judgements, pair_of
from tabcontam.extensions.papers.judgement_file import JudgementJournal
from tabcontam.extensions.papers.papers_settings import JUDGE
from tabcontam.groups import grouped
from tabcontam.models.base import Model, failed
from tabcontam.models.provider_registry import ModelSettings, resolve
from tabcontam.runs.run_part import RunPart
from tabcontam.verdicts.result_types import ResultKey
from tabcontam.verdicts.run_facts import LlmFacts


@dataclass(frozen=True)
class JudgePair:
    """A completion with its true text, or a pair of texts that was made to check the judge."""

    place: ResultKey
    compared: CompletionPair
    made: Likeness | None = None
    begging: bool = False

    @property
    def query(self) -> Query:
        return judge_query(self.compared)

    def judged(self, model: Model, reply: Reply) -> Judgement:
        """Return the judgement in a reply. Its word is None if the reply contains no label, or more than one."""
        likeness = read_judge(reply)
        word = likeness if self.made else counted_label(self.compared, likeness)
        detail = reply.detail or ("" if reply.state is ReplyState.OK else reply.state.value)
        if word is None and reply.state is ReplyState.OK:
            detail = "no label, or more than one"
        return Judgement(
            self.place,
            self.compared.query_id,
            model.spec,
            pair_of(self.compared),
            word,
            made=self.made,
            begging=self.begging,
            reply=reply.text[:200],
            detail=detail,
            version=model.version,
        )


class JudgePass(RunPart):
    """A judge of the completions of a session. If the session is stopped, `ask` stops too."""

    setting = "judge"
    judge: Model
    session: Session
    journal: JudgementJournal

    def __init__(self, config: RunConfig, progress: Progress) -> None:
        super().__init__(config, progress)
        self._unsettled: set[str] = set()
        self._before: set[Judgement] = set()
        self._judgements: list[Judgement] = []

    def open(self, tests: Sequence[Test], settings: ModelSettings, asks: bool) -> None:
        """Open the judge. Raises `UsageError` if it cannot judge, has nothing to judge or, if asked, lacks a key."""
        if not any(isinstance(test, JudgedTest) for test in tests):
            names = " or ".join(test.id for test in all_tests() if isinstance(test, JudgedTest))
            raise UsageError(
                f"{option_name('judge')}: no chosen test has answers for a judge; add {option('tests', names)}, "
                f"or leave {option('judge')} out"
            )
        spec = JUDGE.of(self.config) or ""
        try:
            self.resolved = resolve(spec)
            self.judge = judge = self.resolved.open(settings)
            if asks:
                judge.check_at_hand()
        except UsageError as error:
            raise UsageError(f"{option_name('judge')}: {error}") from None
        able = Capability.INSTRUCTIONS in judge.capabilities | judge.may_have
        if judge.control or judge.identity is None or not able:
            raise UsageError(
                f"{option_name('judge')}: {spec} cannot judge: it understands no question; name a model that follows "
                "instructions"
            )
        self.models, self.label = (judge,), f"judge {judge.spec}"  # it may be under test, too

    def begin(self, session: Session, folder: Path) -> None:
        self.session, self.journal = session, JudgementJournal(folder)

    @property
    def plan(self) -> list[PlannedResult]:
        """The planned results with completions to judge."""
        return [
            planned for planned in self.session.plan if isinstance(planned.test, JudgedTest) and planned.subject.tested
        ]

    async def connect(self) -> None:
        try:
            await self.judge.connect()
        except UsageError as error:
            raise UsageError(f"{option_name('judge')}: {error}") from None

    async def close(self) -> None:
        await self.judge.close()

    async def ask(self) -> None:
        """Ask about every unjudged completion and every unjudged made pair; equal pairs are asked once."""
        session, progress, held = self.session, self.session.progress, self.journal.judgements()
        self._before, self._judgements = set(held), []
        pairs = list(self._pairs())
        left, stored = self._left(pairs, held)
        for same, reply in stored:
            self._note(same, reply)
        progress.begin({self.label: len(pairs)})
        progress.known(self.label, len(pairs) - sum(map(len, left)))
        price = price_for(self.judge, session.prices)
        limiter = session.limiters.of(self.judge, session.options.max_connections, progress.limit)
        asker = Asker(self.label, limiter, session.budget, price, progress)
        session.askers[self.label] = asker  # so Ctrl-C stops it, and its limit is the run's
        try:
            await asker.ask_each(self.judge, ((same[0].query, partial(self._take, same)) for same in left))
        finally:
            session.records = {**session.records, self.setting: held.with_these(self._judgements)}
            progress.end()

    def rescue(self) -> None:
        self.journal.rescue()

    def facts(self) -> dict[str, Any]:
        used = self.session.used().get(self.label) or LlmFacts(spec=self.label)
        judge = replace(
            used,
            spec=self.judge.spec,
            resolved=str(self.resolved),
            stands_for=self.resolved.stands_for,
            version=self.judge.version,
        )
        return {"judge": judge}

    def rows_leaving(self, plan: Sequence[PlannedResult]) -> dict[tuple[str, str], int]:
        rows: dict[tuple[str, str], set[int | str]] = {}
        for planned in plan if not self.judge.local else ():
            if isinstance(planned.test, JudgedTest) and planned.subject.tested:
                shown = rows.setdefault((self.label, planned.name.dataset), set())
                shown.update(query.id for query in planned.queries if query.withheld)
                if planned.table.private:
                    asked = ((*query.rows, *(() if query.row is None else (query.row,))) for query in planned.queries)
                    shown.update(row for own in asked for row in own)
        return {key: len(shown) for key, shown in rows.items() if shown}

    async def survey(self) -> list[Estimate]:
        """Return the estimate of the unasked pairs, where missing completions count as the longest. Close the judge."""
        missing = None
        try:
            await self.judge.connect()
        except UsageError as error:
            missing = str(error)
        finally:
            await self.close()
        pairs = [*self._pairs(), *self._to_come()]
        asked, _ = self._left(pairs, self.journal.judgements())
        left = [same[0].query for same in asked]
        price = price_for(self.judge, self.session.prices)
        found = estimate(self.judge, price, len(pairs), len(pairs) - len(left), left, missing)
        return [replace(found, llm=self.label)]

    def _pairs(self) -> Iterator[JudgePair]:
        """Yield the pairs made to check the judge, table by table, and the completions that the session has."""
        for place, plan in grouped(self.plan, lambda planned: planned.name._replace(llm="")).items():
            for made in made_pairs(_unasked(plan[0], plan[0].queries)):
                yield JudgePair(place, made.compared, made.word, made.begging)
        for planned in self.plan:
            trials = list(self.session.trials.get(planned.name, {}).values())
            yield from (JudgePair(planned.name, one) for one in to_judge(_compared(planned, trials)))

    def _to_come(self) -> Iterator[JudgePair]:
        """Yield a pair for each missing completion, as long as the longest text that is shown to the judge."""
        for planned in self.plan:
            trials = self.session.trials.get(planned.name, {})
            left = [query for query in planned.queries if query.id not in trials]
            most = [longest(own) for own in _unasked(planned, left)]
            yield from (JudgePair(planned.name, one) for one in to_judge(most))

    def _left(
        self, pairs: Sequence[JudgePair], judgements: Judgements
    ) -> tuple[list[list[JudgePair]], list[tuple[list[JudgePair], Reply]]]:
        """Return the groups of equal pairs to ask, and the groups that have a stored reply, each with that reply."""
        model, store, again = self.judge, self.session.store, self.session.options.retry_unanswered
        self._unsettled = {self.label} if store.settle(model) else set()
        known = {one.key for one in judgements if one.version == model.version and one.word is not None}
        asked: dict[str, list[JudgePair]] = {}
        for number, pair in enumerate(pairs):
            if pair.judged(model, failed("")).key not in known:
                asked.setdefault(shared_query_key(model, pair.query) or str(number), []).append(pair)
        stored = [
            (asked.pop(same), reply)
            for same, reply in store.get(asked).items()
            if isinstance(reply, Reply) and (reply.state is ReplyState.OK or not again)
        ]
        return list(asked.values()), stored

    def _take(self, same: Sequence[JudgePair], reply: Answer) -> None:
        """Store a reply, and note its judgement of each pair in `same`."""
        self.session.store.keep(self.judge, same[0].query, self.label, reply, self._unsettled)
        if isinstance(reply, Reply):
            self._note(same, reply)
        for _ in same:
            self.session.progress.answered(self.label, reply)

    def _note(self, same: Sequence[JudgePair], reply: Reply) -> None:
        """Write the reply's judgements to the folder. If that fails, stop the session."""
        found = [pair.judged(self.judge, reply) for pair in same]
        self._judgements += found
        try:
            for one in found:
                if one not in self._before:
                    self.journal.note(one)
        except OSError:
            self.session.stop()


def _unasked(planned: PlannedResult, queries: Sequence[Query]) -> Sequence[CompletionPair]:
    """Return a comparison for each of the `queries` of `planned`, with an empty completion."""
    return _compared(planned, [Trial(query, Reply("", ReplyState.OK)) for query in queries])


def _compared(planned: PlannedResult, trials: Sequence[Trial]) -> Sequence[CompletionPair]:
    return planned.test.compared(trials) if isinstance(planned.test, JudgedTest) else ()
