"""Make the sample report: `python -m tests.sample_report`.

Five real tables against both controls and a base model that a real server on loopback serves: an infinity-gram model
that has read Titanic and Penguins, and of other datasets the pages that their cards make. The tables are found under
TABCONTAM_DATA; their rows are not ours to hand on, so the report is written without prompts and answers.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from tabcontam.cli.commands import main as tabcontam
from tabcontam.models.known.control import control_documents
from tabcontam.models.known.ngram_model import build
from tabcontam.report.junit import render_junit
from tabcontam.report.svg import render_svg
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import load_table
from tabcontam.verdicts.document import as_json, parse_results
from tabcontam.verdicts.results import RunResults
from tests.loopback import LoopbackServer, Response, completion
from tests.report.rendered import pages_of

SAMPLE = Path(__file__).parent.parent / "reports" / "sample"
TABLES = ("adult", "bank", "titanic", "thyroid", "penguins")
READ = ("titanic", "penguins")
PORT = 8417
README = """\
# A sample report

Made by `python -m tests.sample_report`: five real tables against the two controls and a base model behind a real
server on loopback, an infinity-gram model that has read Titanic and Penguins, and of other datasets no more than the
pages that their cards make: Adult's lists its features, so that Adult is known, and no row of it. Open `index.html`.
A run of your own has a `trials.jsonl` too, and the evidence of each cell in its page; here both are left out, because
they quote rows of tables that are not ours to hand on.
"""


def main() -> None:
    """Run, then write the sample without the rows of the tables."""
    serializers = list(load_serializers().values())
    model = build(text for name in READ for text in control_documents(load_table(name), serializers))

    def answer(body: dict[str, Any]) -> Response:
        generated = model.generate(body["prompt"], body["max_tokens"], body.get("stop") or ())
        finish = "length" if generated.finish == "length" else "stop"
        return completion(generated.text, finish, generated.tokens)

    with (
        tempfile.TemporaryDirectory() as folder,
        LoopbackServer(answer, ["reader"], paths=["/completions"], port=PORT) as server,
    ):
        datasets = [word for name in TABLES for word in ("--dataset", name)]
        code = tabcontam(["run", "--llm", f"openai:reader@{server.url}", *datasets, "--out", folder])
        document = json.loads((Path(folder) / "results.json").read_text("utf-8"))
    if code:
        raise SystemExit(code)
    document["run"]["command"] = "python -m tests.sample_report"
    write(parse_results(document))


def write(results: RunResults) -> None:
    """The sample's files."""
    SAMPLE.mkdir(parents=True, exist_ok=True)
    files = {
        "README.md": README,
        "results.json": as_json(results),
        "index.html": pages_of(results, ())["index.html"],
        "junit.xml": render_junit(results),
        "heatmap.svg": render_svg(results),
    }
    for name, text in files.items():
        (SAMPLE / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
