"""A real LLM that is contaminated on purpose: `python -m benchmarks.exposed OUT --llm hf:FOLDER`.

Six tables that the LLM cannot know are cut into halves of their first N rows (100) and the N / 2 rows behind them.
`expose` lets it read the first halves: snapshots of one training have read them 1, 4, 16 and 64 times, and two of
another, by an adapter (`--lora`), 16 and 64 times. Others have read the rows behind: `none` 64 times, and `forgets`,
which goes on from 16 copies, 16 times. `base` is the LLM itself. Each is asked about all halves. Printed is how many
are contaminated, by copies read.

The weights have to be older than 2026. What is there in OUT is not done again, and the same command goes on. It needs
TABCONTAM_DATA and the extras `hf` and `lora`. Answers are kept in OUT/record; --judge trains and asks nothing.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path

from benchmarks.exposed.asked import Study, places
from benchmarks.exposed.chances import fit, planned_by
from benchmarks.exposed.found import as_markdown, found
from benchmarks.exposed.snapshots import train
from benchmarks.real.asked import FORMS, SEED, Place
from benchmarks.real.chances import of_record
from benchmarks.real.record import Answers, Line
from benchmarks.real.recording import ask
from tabcontam.errors import Exit, UsageError
from tabcontam.subjects.hf.loading import find, weights_digest
from tabcontam.subjects.hf.provider import HFModel
from tabcontam.subjects.known.exposed.bases import PROVIDER
from tabcontam.tables.draws import identity

STUDY = "study.json"
FEWEST = 40  # rows of a table: memory's share needs twenty that were read, and twenty others


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, ask and judge, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exposed", description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--llm", metavar="hf:FOLDER")
    parser.add_argument("--rows", type=int, default=100, help="of each table; half of them are read (100)")
    parser.add_argument("--queries", type=int, default=6, help="of a test about half a table (6)")
    parser.add_argument("--licence", default="unknown", help="of the weights, for the record")
    parser.add_argument("--judge", action="store_true", help="judge the answers that are there")
    options = parser.parse_args(arguments)
    record = options.out / "record" if (options.out / "record").is_dir() or not options.judge else options.out
    try:
        if not options.judge:
            _make(options, record)
        lines = _lines(record)
    except UsageError as error:
        print(error, file=sys.stderr)
        return Exit.USAGE
    except KeyboardInterrupt:
        print("stopped; the same command goes on", file=sys.stderr)
        return Exit.INTERRUPTED
    print("\n".join(lines))
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
        session = partial(_session, {**facts, "snapshot": name, "sha256": weights_digest(find(place))}, study)
        ask(Answers(record, name), models, places(name), partial(planned_by, archive, study), session)


def _session(facts: Line, study: Study, place: Place) -> Line:
    """What the record says before the answers at a place."""
    return {
        **facts,
        "table": place.table,
        "table_sha256": identity(study.table(place.table)),
        "versions": {name: version(name) for name in ("tabcontam", "torch", "transformers")},
        "seed": SEED,
        "began": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _lines(record: Path) -> list[str]:
    """What the answers in a record come to. Raises `UsageError` where it is none."""
    try:
        facts = json.loads((record / STUDY).read_text("utf-8"))
    except OSError:
        raise UsageError(f"{record} holds no answers; type --llm hf:FOLDER to make some") from None
    return as_markdown(list(found(record, Study(facts["rows"], facts["queries"]), of_record(record))))


if __name__ == "__main__":
    raise SystemExit(main())
