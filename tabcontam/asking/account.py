"""The account of a session: all results, the requests and costs, and the reason why it ended."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from statistics import fmean

from tabcontam.asking.asker import Asker
from tabcontam.asking.part_records import Records, attach
from tabcontam.asking.query_plan import PlannedResult, RunSource
from tabcontam.asking.table_turns import TableTurns, turns_of
from tabcontam.config import RunConfig
from tabcontam.evidence.base import Query, ReplyState, Trial, Verdict
from tabcontam.evidence.score.classification import AccuracyTest
from tabcontam.groups import grouped
from tabcontam.models.base import NO_SCHEMA, OTHERWISE, PromptForm
from tabcontam.verdicts.notes import Note, NoteKind
from tabcontam.verdicts.reference_correction import Reference, asked_of_reference, concede
from tabcontam.verdicts.result_building import build_result, build_unjudged, conclude, pool_parts
from tabcontam.verdicts.result_types import Result, ResultKey
from tabcontam.verdicts.run_facts import Duration, LlmFacts
from tabcontam.verdicts.sequential_results import result_in_turns
from tabcontam.verdicts.wording import visible

SPARED = "not asked: the earlier row tests decided the table"


@dataclass
class Account:
    """A session's results, judged from the answers so far, and its requests and costs."""

    plan: Sequence[PlannedResult]
    options: RunConfig
    _: KW_ONLY
    found_by: dict[str, ResultKey] = field(default_factory=dict)
    unreachable: dict[str, str] = field(default_factory=dict)
    skips: dict[ResultKey, str] = field(default_factory=dict)
    trials: dict[ResultKey, dict[str, Trial]] = field(default_factory=dict)
    askers: dict[str, Asker] = field(default_factory=dict)
    seconds: dict[ResultKey, float] = field(default_factory=dict)
    records: Records = field(default_factory=dict)
    _copies: dict[tuple[str, str, str], Sequence[float | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.references = [subject.model.spec for subject in self._subjects() if subject.reference]
        self._under_test = frozenset(one.model.spec for one in self._subjects() if one.tested and one.sequential)
        self._turns = turns_of(self.plan, self.options, self._conceded)

    def _subjects(self) -> list[RunSource]:
        return list({id(planned.subject): planned.subject for planned in self.plan}.values())

    def results(self) -> list[Result]:
        """Return the result of each query sheet, judged from the answers so far. Sheets of references are left out."""
        results = [
            replace(
                self._result(planned),
                control=planned.subject.joined,
                exposure=self._exposure(planned),
                not_averaged=planned.test.not_averaged(planned.table)
                if planned.queries and isinstance(planned.test, AccuracyTest)
                else None,
            )
            for planned in self.plan
            if not planned.subject.reference
        ]
        return conclude(results, self.options.rules, self.options.alpha, over=self.options.family_over)

    def failures(self) -> str | None:
        """Return why every request to the LLMs under test failed; None if at least one got a reply."""
        under_test = {planned.name: planned for planned in self.plan if planned.subject.tested}
        replies = [trial.reply for name in under_test for trial in self.trials.get(name, {}).values()]
        if any(reply.state is not ReplyState.FAILED for reply in replies):
            return None
        ended = sorted({line for name in under_test if (line := self._ended(name.llm))})
        if ended and not self.limit():
            return "; ".join(ended)
        if not replies:
            return None
        ((detail, _),) = Counter(reply.detail for reply in replies).most_common(1)
        what = "lookups" if all(planned.subject.model.is_corpus for planned in under_test.values()) else "requests"
        return f"every one of {len(replies)} {what} failed: {detail}"

    def used(self) -> dict[str, LlmFacts]:
        """Return each LLM's requests, repeated requests and dollars, and the reason if its questions ended early."""
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

    def notes(self) -> list[Note]:
        """Return notes on unread parts of corpora, on servers that refuse parts of requests, and on sampled tables."""
        lines: dict[NoteKind, list[str]] = {NoteKind.NOT_READ: [], NoteKind.SENT: [], NoteKind.SAMPLED: []}
        for plan in grouped(self.plan, lambda planned: planned.subject.model.spec).values():
            model, details = plan[0].subject.model, dict[str, None]()
            for planned in plan:
                replies = (trial.reply for trial in self.trials.get(planned.name, {}).values())
                details |= {reply.detail: None for reply in replies if reply.state is ReplyState.OK}
            asked = any(self.trials.get(planned.name) for planned in plan)
            if model.is_corpus and asked and (unread := dict.fromkeys(filter(None, (model.unread, *details)))):
                what = "parts of it could not be read as they stand, and unread parts were not searched"
                lines[NoteKind.NOT_READ].append(f"{model.spec}: {what}: {'; '.join(unread)}")
            otherwise = dict.fromkeys(line for detail in details for line in detail.split("; ") if line in OTHERWISE)
            if self.options.structured and model.form is PromptForm.CHAT and not model.structured:
                otherwise[NO_SCHEMA] = None
            if otherwise:
                lines[NoteKind.SENT].append(f"{model.spec}: {'; '.join(otherwise)}")
            for own in grouped(plan, lambda planned: id(planned.table)).values():
                queries = [query for planned in own for query in planned.queries]
                asked = any(self.trials.get(planned.name) for planned in own)
                if asked and (read := model.sampled(own[0].table, queries)):
                    lines[NoteKind.SAMPLED].append(f"{model.spec} {read}")
        return [Note(kind, visible(line, line=True)) for kind, own in lines.items() for line in own]

    def durations(self) -> list[Duration]:
        """Return the seconds that the answers of each planned result took in total. Stored answers took no time."""
        return [
            Duration(**planned.name._asdict(), seconds=round(self.seconds[planned.name], 3))
            for planned in self.plan
            if planned.name in self.seconds and not planned.subject.reference
        ]

    def limit(self) -> str | None:
        """Return the user's limit that ended the run; None if no limit did."""
        return next((asker.ended for asker in self.askers.values() if asker.spent), None)

    def _exposure(self, planned: PlannedResult) -> float | None:
        """Return how many copies of a row of its table the model of `planned` has read, on average; None if unknown."""
        copies = self._copies_of(planned)
        stated = [copy for copy in copies if copy is not None]
        return round(fmean(stated), 6) if stated and len(stated) == len(copies) else None

    def _exposure_of(self, planned: PlannedResult, query: Query) -> float | None:
        """Return how many copies of the query's rows the model of `planned` has read; None if this differs by row.

        A decoy asks about no row of the table, so its number is None.
        """
        copies = self._copies_of(planned)
        rows = query.rows if query.row is None else (query.row,)
        stated = {copies[row] if row < len(copies) else None for row in rows}
        return stated.pop() if len(stated) == 1 else None

    def _copies_of(self, planned: PlannedResult) -> Sequence[float | None]:
        model, table = planned.subject.model, planned.table
        known = (model.spec, table.sha256, table.title)
        if known not in self._copies:
            self._copies[known] = [model.exposure(table, row) for row in range(len(table.rows))]
        return self._copies[known]

    def _ended(self, llm: str) -> str:
        """Return why the server or the user's limit ended the questions to an LLM; "" if neither did."""
        return self.askers[llm].ended if llm in self.askers else ""

    def _turns_of(self, planned: PlannedResult) -> TableTurns | None:
        """Return the `TableTurns` of the table of `planned`; None if `planned` is not asked in turns."""
        return self._turns.get(planned.name.of_table) if planned.sequential else None

    def _spared(self, planned: PlannedResult) -> int:
        """Return how many queries of `planned` are not asked because earlier tests have decided its table.

        A control that joined is asked them if the table of an LLM under test is not decided.
        """
        if not planned.deferred:
            return 0
        llms = self._under_test - self.unreachable.keys() if planned.subject.joined else {planned.name.llm}
        turns = [self._turns.get(planned.name.of_table._replace(llm=llm)) for llm in llms]
        spared = all(one and one.decided and one.decided.verdict_reached for one in turns)
        return len(planned.queries) if spared else 0

    def _of_reference(self, planned: PlannedResult) -> Reference | None:
        """Return the reference with its answers to the queries of `planned`; None if the test ignores references."""
        if not self.references or not asked_of_reference(planned.test):
            return None
        first, *further = self.references
        answers = {llm: list(self.trials.get(planned.name._replace(llm=llm), {}).values()) for llm in self.references}
        return Reference(
            first,
            answers[first],
            {llm: answers[llm] for llm in further if asked_of_reference(planned.test, further=True)},
        )

    def _conceded(self, planned: PlannedResult, trial: Trial) -> Trial:
        """Return a read trial without the right answers that the reference gave too."""
        return concede(planned.test, [trial], self._of_reference(planned)).weighed[0]

    def _result(self, planned: PlannedResult) -> Result:
        name, test, trials = planned.name, planned.test, self.trials.get(planned.name, {})
        skip = planned.skip or self.skips.get(name)
        if skip and not trials:
            return build_unjudged(name, test, Verdict.SKIPPED, skip, lacks=planned.lacks)
        if planned.uninformative:
            return build_unjudged(name, test, Verdict.UNINFORMATIVE, planned.uninformative)
        turns, ended = self._turns_of(planned), skip or self._ended(name.llm)
        if turns is not None and (trials or turns.decided):
            own, reference = list(trials.values()), self._of_reference(planned)
            return result_in_turns(name, test, own, len(planned.written), turns.decided, ended, reference)
        if self._spared(planned):
            return build_unjudged(name, test, Verdict.SKIPPED, SPARED)
        if not trials:
            unanswered = self.unreachable.get(name.llm) or self._ended(name.llm)
            verdict = Verdict.NO_ANSWER if unanswered else Verdict.SKIPPED
            return build_unjudged(name, test, verdict, self._unasked(name.llm), len(planned.queries))
        asked = [trials[query.id] for query in planned.written if query.id in trials]
        asked = attach(self.records, name, test, asked)
        pools = pool_parts(name, test, {key: own.values() for key, own in self.trials.items()})
        rules, at, reference = self.options.rules, planned.level, self._of_reference(planned)
        return build_result(name, test, asked, len(planned.askable), rules, at, ended, reference, pools)

    def _unasked(self, llm: str) -> str:
        if llm in self.found_by:
            name = self.found_by[llm]
            return f"not asked: -x stopped the run after {name.test} on {name.dataset} was contaminated"
        return self.unreachable.get(llm) or self._ended(llm) or "not asked: the run ended first"
