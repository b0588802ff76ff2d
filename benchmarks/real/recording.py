"""Ask real LLMs what the record lacks, and keep each answer as it comes."""

import asyncio
import sys
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import monotonic

from benchmarks.real.asked import EVERYWHERE, LLM, ONCE, QUERIES, SEED, Place, places, table_of
from benchmarks.real.chances import of_record, planned_by
from benchmarks.real.record import Answers, Line
from tabcontam.evidence.base import Query
from tabcontam.subjects.base import Form, Request, TransientError
from tabcontam.subjects.gguf.provider import GGUFModel
from tabcontam.tables.draws import identity
from tests.golden.chances import Archive

TRIES = 3


def record(folder: Path, llm: LLM, weights: Path, wanted: Iterable[str], until: float) -> None:
    """Ask an LLM what its record lacks, of the places and tests that all `wanted` words name.

    It sends nothing more after `until`, a time of `monotonic`. Answers that have come are kept, however this ends.
    """
    answers, archive = Answers(folder, llm), of_record(folder)
    tests = {word for word in wanted if word in (*EVERYWHERE, *ONCE)}
    chosen = [place for place in places(llm) if set(wanted) - tests <= set(place.words)]
    try:
        asyncio.run(_record(answers, archive, llm, weights, chosen, tests, until))
    finally:
        answers.pack()


async def _record(
    answers: Answers,
    archive: Archive,
    llm: LLM,
    weights: Path,
    chosen: Sequence[Place],
    tests: Collection[str],
    until: float,
) -> None:
    models = {form: GGUFModel(str(weights), form=form) for form in llm.forms}
    loaded: Form | None = None
    try:
        for place in chosen:
            model = models[place.form]
            left = [
                (cell.test.id, query)
                for cell in planned_by(archive, place)
                for query in cell.queries
                if (not tests or cell.test.id in tests) and answers.of(query, place.form) is None
            ]
            if not left or monotonic() > until:
                continue
            if loaded is not place.form:
                for other in models.values():  # the weights are in memory once
                    await other.close()
                await model.connect()
                loaded = place.form
            answers.begin(session(llm, place))
            began = monotonic()
            slots = asyncio.Semaphore(model.connections or 1)
            async with asyncio.TaskGroup() as group:
                for test, query in left:
                    group.create_task(_ask(model, answers, place, test, query, until, slots))
            came = sum(answers.of(query, place.form) is not None for _, query in left)
            _say(f"{llm.name} {' '.join(place.words)}: {came} of {len(left)} answers in {monotonic() - began:.0f} s")
    finally:
        for model in models.values():
            await model.close()


async def _ask(
    model: GGUFModel, answers: Answers, place: Place, test: str, query: Query, until: float, slots: asyncio.Semaphore
) -> None:
    async with slots:
        if monotonic() > until:
            return
        for _ in range(TRIES):
            with suppress(TransientError):  # what has no answer now is asked when this is run again
                answers.add(place, test, query, await model.answer(Request(query.question, query.max_tokens)))
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
