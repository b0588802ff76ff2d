"""A real LLM that is contaminated on purpose: `python -m benchmarks.exposed OUT --llm hf:FOLDER`.

Each of six tables that the LLM cannot know is cut into two halves of N / 2 rows (`--rows`, 100) and as many rows behind
them. `expose` lets the LLM read the first halves: each of the snapshots `1`, `4`, `16` and `64` goes on from the one
before and has read them so often. `16-lora` and `64-lora` have read them by an adapter. Two have read the rows behind
instead: `none` 64 times, and `forgets`, which goes on from `16`, 16 times. `base` is the LLM itself. Nobody reads the
second halves. Each snapshot is asked about all halves. Printed is how many are contaminated, by copies read.

The weights have to be older than 2026. What is there in OUT is not done again, and the same command goes on. It needs
TABCONTAM_DATA and the extras `hf` and `lora`. Answers are kept in OUT/record; --judge trains and asks nothing. The
answers that are part of the project are judged by `python -m benchmarks.exposed benchmarks/exposed/record --judge`.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path

from benchmarks.exposed.asked import STUDY, Study, places, study_of
from benchmarks.exposed.chances import fit, planned_by
from benchmarks.exposed.found import as_markdown, found
from benchmarks.exposed.snapshots import PROVIDER, train
from benchmarks.rate_tables import put
from benchmarks.real.asked import FORMS, SEED, Place
from benchmarks.real.chances import of_record
from benchmarks.real.record import Answers, Line
from benchmarks.real.recording import ask
from tabcontam.errors import Exit, UsageError
from tabcontam.models.hf.loading import find, weights_digest
from tabcontam.models.hf.provider import HFModel
from tabcontam.tables.row_draws import identity
from tests.golden.chances import Missing

FEWEST = 80  # rows of a table: memory's share needs forty that were read, and forty others


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, ask and judge, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exposed", description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--llm", metavar="hf:FOLDER")
    parser.add_argument(
        "--rows", type=int, default=100, help="of each table, in two halves; half as many rows lie behind them (100)"
    )
    parser.add_argument("--queries", type=int, default=6, help="of a test about half a table (6)")
    parser.add_argument("--licence", default="unknown", help="of the weights, for the record")
    parser.add_argument("--judge", action="store_true", help="judge the answers that are there")
    parser.add_argument("--docs", action="store_true", help="with --judge: put the tables on docs/real-llms.md")
    options = parser.parse_args(arguments)
    record = options.out / "record" if (options.out / "record").is_dir() or not options.judge else options.out
    try:
        if not options.judge:
            _make(options, record)
        lines = as_markdown(list(found(record, study_of(record), of_record(record))))
    except UsageError as error:
        print(error, file=sys.stderr)
        return Exit.USAGE
    except Missing:
        print(f"{record} lacks chances of the baseline; type the command again without --judge", file=sys.stderr)
        return Exit.USAGE
    except KeyboardInterrupt:
        print("stopped; the same command goes on", file=sys.stderr)
        return Exit.INTERRUPTED
    print("\n".join(lines))
    if options.judge and options.docs:
        put(lines, "exposed")
    return Exit.DONE


def _make(options: argparse.Namespace, record: Path) -> None:
    """Train the snapshots, and ask them what the record lacks. Raises `UsageError` for another study's folder."""
    if not options.llm:
        raise UsageError("no LLM is named; type --llm hf:FOLDER, or --judge for answers that are there")
    if options.rows < FEWEST or options.queries < 1:
        raise UsageError(f"a study needs {FEWEST} rows of a table and a query; type --rows 100 --queries 6")
    name = options.llm.removeprefix(PROVIDER).rstrip("/").rpartition("/")[2]  # where it lies, nobody needs to know
    facts = {"llm": name, "licence": options.licence, "rows": options.rows, "queries": options.queries}
    file = record / STUDY
    if file.exists() and json.loads(file.read_text("utf-8")) != facts:
        raise UsageError(f"{options.out} holds another study (see {file}); name a new folder")
    snapshots, study = train(options.out, options.llm, options.rows), Study(options.rows, options.queries)
    record.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(facts, indent=1) + "\n", "utf-8")
    archive = fit(record, study)
    for name, llm in snapshots.items():
        place = llm.removeprefix(PROVIDER)
        models = {form: HFModel(place, form=form) for form in FORMS}
        session = partial(_session, {**facts, "snapshot": name}, cache(partial(weights_digest, find(place))), study)
        ask(Answers(record, name), models, places(name), partial(planned_by, archive, study), session)


def _session(facts: Line, sha256: Callable[[], str], study: Study, place: Place) -> Line:
    """Return what the record says before the answers at a place; `sha256` computes that of the weights."""
    return {
        **facts,
        "sha256": sha256(),
        "form": place.form,
        "table": place.table,
        "table_sha256": identity(study.table(place.table)),
        "versions": {name: version(name) for name in ("tabcontam", "torch", "transformers")},
        "seed": SEED,
        "began": datetime.now(UTC).isoformat(timespec="seconds"),
    }


if __name__ == "__main__":
    raise SystemExit(main())
