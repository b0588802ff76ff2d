"""Records for the CONDA database: contaminated tables alone, nothing claimed that no verdict says."""

import csv
from typing import Any

import pytest

from tabcontam.errors import UsageError
from tabcontam.extensions.publish.conda import COLUMNS, render_conda
from tabcontam.verdicts.document import parse_results
from tests.report.synthetic import HOSTILE, document, table, weighed

HEADER = (
    "Evaluation Dataset;Subset;Contaminated Source;Version;Model or corpus;Train Split;Development Split;Test Split;"
    "Approach;Reference;PR"
)
VERDICTS = ("contaminated", "not detected", "uninformative", "no answer", "skipped")


def run(llm: str, stands_for: str, verdict: str = "contaminated", version: str | None = None) -> dict[str, Any]:
    facts = {"spec": llm, "resolved": stands_for, "stands_for": stands_for, "version": version}
    of = document(
        [weighed(llm, "adult", "full_completion", "contaminated")], [table(llm, "adult", verdict)], llms=[facts]
    )
    of["run"]["datasets"] = [{"name": "adult", "title": "Adult Income", "edition": "uci"}]
    return of


def rows(of: dict[str, Any]) -> list[list[str]]:
    return list(csv.reader(render_conda(parse_results(of)).splitlines(), delimiter=";"))


def test_the_columns_are_those_of_the_database() -> None:
    assert ";".join(COLUMNS) == HEADER
    assert render_conda(parse_results(run("a", "hf:org/a"))).splitlines()[0] == HEADER


@pytest.mark.parametrize(
    ("stands_for", "source"),
    [
        ("hf:meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-8B"),
        ("hf:/home/me/models/mine", "mine"),
        ("hf:./mine", "mine"),
        ("openai:NAME@http://10.0.0.7:8000/v1", "NAME"),
        ("ollama:llama3:8b", "llama3:8b"),
    ],
)
def test_a_contaminated_table_is_a_line_without_percentages(stands_for: str, source: str) -> None:
    (_, line) = rows(run("a", stands_for, version="sha 7f"))
    assert line == ["Adult Income", "uci", source, "sha 7f", "model", "", "", "", "model-based", "", ""]


def test_a_split_is_a_subset() -> None:
    of = run("a", "hf:org/a")
    for part in (*of["results"], *of["tables"], *of["run"]["datasets"]):
        part["split"] = "test"
    (_, line) = rows(of)
    assert line[:2] == ["Adult Income", "uci#test"]


@pytest.mark.parametrize("verdict", VERDICTS[1:])
def test_no_other_verdict_is_reported_as_clean_or_as_found(verdict: str) -> None:
    assert len(rows(run("a", "hf:org/a", verdict))) == 1


@pytest.mark.parametrize("stands_for", ["control:exposed", "simulated:oracle"])
def test_our_own_answerers_are_no_models(stands_for: str) -> None:
    assert len(rows(run(stands_for, stands_for))) == 1


def test_rules_without_an_error_rate_report_nothing() -> None:
    of = run("a", "hf:org/a")
    of["run"]["rules"] = "paper"
    with pytest.raises(UsageError, match=r"calibrated rules.*rescore"):
        render_conda(parse_results(of))


def test_names_stay_in_their_fields() -> None:
    of = run("a", f'hf:x;"y"\n{HOSTILE}')
    of["run"]["datasets"][0]["title"] = "=1+1;x"
    (_, line) = rows(of)
    assert (len(line), line[0]) == (len(COLUMNS), "'=1+1;x")
