"""Contamination records in the form of the CONDA workshop's Data Contamination Database.

The records are lines for the database's contamination_report.csv: its columns of 2024, separated by semicolons. A line
states that an evaluation dataset was found in a model. Three percentages state how much of each split is contaminated;
the database shows an empty percentage as unknown. They stay empty here, because a test asks about the most informative
rows: the recalled share of these rows is not the table's share. A percentage of 0 would state that a split is clean,
which no verdict states, so only contaminated tables get a line. The person who opens the pull request fills in
Reference and PR: the paper and the request's number.
"""

import csv
import io

from tabcontam.config import CALIBRATED
from tabcontam.errors import UsageError
from tabcontam.evidence.base import Verdict
from tabcontam.extensions.publish.public_names import llm_facts, own, public_name
from tabcontam.report.csv_text import guarded
from tabcontam.verdicts.result_types import TableVerdict
from tabcontam.verdicts.results import RunResults

COLUMNS = (
    "Evaluation Dataset", "Subset", "Contaminated Source", "Version", "Model or corpus", "Train Split",
    "Development Split", "Test Split", "Approach", "Reference", "PR",
)  # fmt: skip

LOCAL = "corpus:"


def reported(view: RunResults) -> list[TableVerdict]:
    """Return the verdicts that get a line: each contaminated table of an LLM that others can ask, once."""
    facts = llm_facts(view)
    found = [
        table
        for table in view.tables_in_order
        if table.verdict is Verdict.CONTAMINATED and (llm := facts.get(table.llm)) is not None and not own(llm)
        # others cannot find a corpus that has no public name
        if not (llm.is_corpus and llm.stands_for in ("", llm.spec) and llm.spec.startswith(LOCAL))
    ]
    return list({(table.llm, table.dataset, table.edition, table.split): table for table in found}.values())


def render_conda(view: RunResults) -> str:
    """Return the header and a line for each contaminated table. Raises `UsageError` if the error rate is unknown."""
    if view.run.rules != CALIBRATED or view.run.recorded:
        raise UsageError(
            "--format conda needs the verdicts of a run under the calibrated rules, whose error rate is known; "
            "type python -m tabcontam rescore RUN_DIR --rules calibrated"
        )
    facts, titles = llm_facts(view), {(one.name, one.edition): one.title for one in view.run.datasets}
    written = io.StringIO(newline="")
    writer = csv.writer(written, delimiter=";", lineterminator="\n")
    writer.writerow(COLUMNS)
    for table in reported(view):
        llm, edition = facts[table.llm], table.edition or ""
        named = titles.get((table.dataset, edition)) or table.dataset
        model = llm.spec if llm.is_corpus else public_name(llm)
        source = "corpus" if llm.is_corpus else "model"
        approach = "data-based" if llm.is_corpus or table.by_corpora else "model-based"
        cells = (named, edition + view.split(table), model, llm.version or "", source, "", "", "", approach, "", "")
        writer.writerow(map(guarded, cells))
    return written.getvalue()
