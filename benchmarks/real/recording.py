"""Ask real LLMs what the record lacks, and keep each answer as it comes."""

import asyncio
import math
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import monotonic

from benchmarks.real.asked import EVERYWHERE, LLM, ONCE, QUERIES, SEED, Place, places, table_of
from benchmarks.real.chances import of_record, planned_by
from benchmarks.real.record import Answers, Line
from tabcontam.asking.query_plan import PlannedResult
from tabcontam.evidence.base import Query
from tabcontam.models.base import Model, ModelRequest, PromptForm, TransientError
from tabcontam.models.gguf.provider import GGUFModel
from tabcontam.tables.row_draws import identity

TRIES = 3


def record(folder: Path, llm: LLM, weights: Path, wanted: Iterable[str], until: float) -> None:
    """Ask an LLM what its record lacks, of the places and tests that all `wanted` words name.

    It sends nothing more after `until`, a time of `monotonic`. Answers that have come are kept, however this ends.
    """
    answers, archive = Answers(folder, llm.name), of_record(folder)
    tests = {word for word in wanted if word in (*EVERYWHERE, *ONCE)}
    chosen = [place for place in places(llm) if set(wanted) - tests <= set(place.words)]
    models = {form: GGUFModel(str(weights), form=form) for form in llm.forms}
    alone = ([place] for place in chosen)
    ask(answers, models, alone, partial(planned_by, archive), partial(session, llm), tests, until)


def ask(
    answers: Answers,
    models: Mapping[PromptForm, Model],
    chosen: Iterable[Sequence[Place]],
    cells_of: Callable[[Place], Sequence[PlannedResult]],
    session_of: Callable[[Place], Line],
    tests: Collection[str] = (),
    until: float = math.inf,
) -> None:
    """Ask an LLM what it has not answered at these places, if given of these `tests` alone, and pack the answers.

    Places of one form may be asked together. `models` are the same weights in each form. Nothing is sent after `until`,
    a time of `monotonic`.
    """
    try:
        asyncio.run(_ask_all(answers, models, chosen, cells_of, session_of, tests, until))
    finally:
        answers.pack()


async def _ask_all(
    answers: Answers,
    models: Mapping[PromptForm, Model],
    chosen: Iterable[Sequence[Place]],
    cells_of: Callable[[Place], Sequence[PlannedResult]],
    session_of: Callable[[Place], Line],
    tests: Collection[str],
    until: float,
) -> None:
    loaded: PromptForm | None = None
    try:
        for together in chosen:
            form = together[0].form
            left = [
                (place, cell.test.id, query)
                for place in together
                for cell in cells_of(place)
                for query in cell.queries
                if (not tests or cell.test.id in tests) and answers.of(query, form) is None
            ]
            if not left or monotonic() > until:
                continue
            model = models[form]
            if loaded is not form:
                for other in models.values():  # the weights are in memory once
                    await other.close()
                await model.connect()
                loaded = form
            for place in dict.fromkeys(place for place, _, _ in left):
                answers.begin(session_of(place))
            began = monotonic()
            slots = asyncio.Semaphore(model.connections or 1)
            async with asyncio.TaskGroup() as group:
                for place, test, query in left:
                    group.create_task(_ask(model, answers, place, test, query, until, slots))
            came = sum(answers.of(query, form) is not None for _, _, query in left)
            named = together[0].words if len(together) == 1 else (f"{len(together)} tables", *together[0].words[1:])
            _say(f"{answers.name} {' '.join(named)}: {came} of {len(left)} answers in {monotonic() - began:.0f} s")
    finally:
        for model in models.values():
            await model.close()


async def _ask(
    model: Model, answers: Answers, place: Place, test: str, query: Query, until: float, slots: asyncio.Semaphore
) -> None:
    async with slots:
        if monotonic() > until:
            return
        for _ in range(TRIES):
            with suppress(TransientError):  # what has no answer now is asked when this is run again
                answers.add(place, test, query, await model.answer(ModelRequest(query.question, query.max_tokens)))
                return


def session(llm: LLM, place: Place) -> Line:
    """What the record says before the answers at a place: who is asked, about which table, and what answers."""
    return {
        "llm": llm.name,
        "sha256": llm.sha256,
        "licence": llm.licence,
        "form": place.form,
        "table": place.table,
        "table_sha256": identity(table_of(place.table)),
        "versions": {name: version(name) for name in ("tabcontam", "xllamacpp")},
        "seed": SEED,
        "queries": QUERIES,
        "began": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
