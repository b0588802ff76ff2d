"""The judge of a run (`--judge`): its choice, the rows that it may be shown, and the second pass that asks it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tabcontam.asking.query_plan import PlannedResult, rows_shown
from tabcontam.asking.session import Session
from tabcontam.errors import UsageError, option, option_name
from tabcontam.evidence.base import Capability, Test
from tabcontam.evidence.registry import all_tests
from tabcontam.extensions.papers.judge_pass import JudgePass, label
from tabcontam.extensions.papers.judgement_file import judgements_in
from tabcontam.models.base import Model
from tabcontam.models.provider_registry import ModelSettings, resolve
from tabcontam.verdicts.run_facts import LlmFacts

if TYPE_CHECKING:
    from tabcontam.runs.run import Run


def open_judge(spec: str | None, tests: Sequence[Test], settings: ModelSettings, asks: bool) -> Model | None:
    """Return the LLM that judges, if one is named. Raises `UsageError` if it cannot judge, or has nothing to judge.

    If the run `asks`, a missing key is reported before anything is asked.
    """
    if spec is None:
        return None
    if not any(test.judgeable for test in tests):
        names = " or ".join(test.id for test in all_tests() if test.judgeable)
        raise UsageError(
            f"{option_name('judge')}: no chosen test has answers for a judge; add {option('tests', names)}, "
            f"or leave {option('judge')} out"
        )
    try:
        model = resolve(spec).open(settings)
        if asks:
            model.check_at_hand()
    except UsageError as error:
        raise UsageError(f"{option_name('judge')}: {error}") from None
    able = Capability.INSTRUCTIONS in model.capabilities | model.may_have
    if model.control or model.identity is None or not able:
        raise UsageError(
            f"{option_name('judge')}: {spec} cannot judge: it understands no question; name a model that follows "
            "instructions"
        )
    return model


def judging_of(run: "Run", session: Session, folder: Path) -> JudgePass | None:
    """Return the object that asks the run's judge, if there is one. The session gets the folder's judgements."""
    session.judgements = judgements_in(folder)
    return JudgePass(run.judge, session, folder) if run.judge is not None else None


def judge_facts(run: "Run", judging: JudgePass | None) -> LlmFacts | None:
    """Return the judge's facts for results.json, with its requests and costs so far."""
    if run.judge is None or judging is None or run.config.judge is None:
        return None
    took = judging.facts()
    resolved = resolve(run.config.judge)
    return LlmFacts(
        spec=run.judge.spec,
        resolved=str(resolved),
        stands_for=resolved.stands_for,
        version=run.judge.version,
        requests=took.requests,
        retries=took.retries,
        dollars=took.dollars,
        ended=took.ended,
    )


def rows_leaving(run: "Run") -> dict[tuple[str, str], int]:
    """Return the number of private rows that would leave this machine, by LLM and dataset, with rows for the judge."""
    return rows_shown(run.plan) | (_rows_judged(run.judge, run.plan) if run.judge is not None else {})


def _rows_judged(judge: Model, plan: Sequence[PlannedResult]) -> dict[tuple[str, str], int]:
    """Return the number of private rows that the judge would be shown, by its label and dataset."""
    rows: dict[tuple[str, str], set[int | str]] = {}
    for planned in plan if not judge.local else ():
        if planned.test.judgeable and planned.subject.tested:
            shown = rows.setdefault((label(judge), planned.name.dataset), set())
            shown.update(query.id for query in planned.queries if query.withheld)
            if planned.table.private:
                asked = ((*query.rows, *(() if query.row is None else (query.row,))) for query in planned.queries)
                shown.update(row for own in asked for row in own)
    return {key: len(shown) for key, shown in rows.items() if shown}
