"""The JSON Schema of results.json: it has every field of every results.json, in words, and nothing foreign.

That every run of the tests is checked against it is `conftest.py`'s doing.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tabcontam.cli.commands import main
from tabcontam.evidence.base import EvidenceKind, Verdict
from tabcontam.verdicts.columns import record_columns
from tabcontam.verdicts.document import as_document, json_schema, parse_results
from tabcontam.verdicts.result_types import Result
from tests.replay.made import record, row_record
from tests.report.synthetic import cell, document, results, table, weighed
from tests.results_schema import checked, faults

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "reports" / "sample" / "results.json"
PUBLISHED = ROOT / "docs" / "results.schema.json"
RUN = ("run", "--llm", "simulated:guesser", "--no-controls", "--dataset", "iris", "--queries", "3", "--quiet")


def parts(part: Any) -> Iterator[dict[str, Any]]:
    """Every schema within the schema."""
    if isinstance(part, dict):
        if "type" in part or "enum" in part or "$ref" in part or "const" in part:
            yield part
        for value in part.values():
            yield from parts(value)
    elif isinstance(part, list):
        for value in part:
            yield from parts(value)


@pytest.mark.slow
def test_it_is_a_schema_of_the_draft_that_it_names() -> None:
    assert json_schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert json_schema()["$id"] == "urn:tabcontam:results:1"
    Draft202012Validator.check_schema(json_schema())


@pytest.mark.slow
def test_every_field_is_told_in_words() -> None:
    fields = [field for part in parts(json_schema()) for field in part.get("properties", {}).items()]
    assert len(fields) > 100
    assert [name for name, field in fields if not field.get("description") and not field.get("$ref")] == []


@pytest.mark.slow
def test_every_object_of_ours_is_closed() -> None:
    objects = [part for part in parts(json_schema()) if part.get("type") == "object"]
    assert len(objects) > 10
    assert all("additionalProperties" in one for one in objects)
    assert {json.dumps(one["additionalProperties"]) for one in objects if "properties" in one} == {"false"}


@pytest.mark.slow
def test_it_has_the_words_and_the_fields_of_a_cell() -> None:
    defined = json_schema()["$defs"]
    assert list(defined["Result"]["properties"]) == [one.name for one in record_columns(Result)]
    assert defined["EvidenceKind"]["enum"] == list(EvidenceKind)
    assert defined["Verdict"]["enum"] == list(Verdict)


@pytest.mark.slow
def test_the_sample_report_is_valid() -> None:
    checked(as_document(parse_results(json.loads(SAMPLE.read_text("utf-8")))))


def test_made_up_results_are_valid() -> None:
    checked(as_document(parse_results(results(["control:exposed", "gpt-4o"], ["iris", "wine"]))))


def with_everything() -> dict[str, Any]:
    """Results with every field that not every run has."""
    of = document([weighed("a", "iris", "full_completion", "contaminated")], [table("a", "iris", "contaminated")])
    place = {key: of["results"][0][key] for key in ("llm", "dataset", "edition", "serializer", "test")}
    compared = {"first": "a", "second": "b", "kind": "versions", "change": "appeared", "beyond_chance": True}
    shares = {"first_share": 0.0, "second_share": 1.0, "queries": 3, "p_value": 0.25, "q_value": 0.25}
    verdicts = {"first_verdict": "not detected", "second_verdict": "contaminated"}
    of["run"] |= {
        "durations": [{**place, "seconds": 1.5}],
        "catalogue": {"a": {"name": "a", "title": "A", "family": "as", "order": 1}},
        "notes": [{"kind": "seeds", "text": "two seeds"}],
        "runs": [{"folder": "r", "version": "0.1.0", "seed": 0, "command": "", "started": "2026-01-02T03:04:05+00:00"}],
    }
    of["ranking"][0] |= {"score_interval": [0.1, 0.9], "membership_interval": None, "zero_shot_majority": 0.5}
    of["correlations"] = [
        {"first": "score", "second": "one_shot", "llms": 1, "value": None, "interval": None, "p_value": None}
    ]
    of["comparisons"] = [place | {"llm": ""} | compared | shares | verdicts]
    return as_document(parse_results(of))


def test_what_only_some_runs_have_is_valid() -> None:
    checked(with_everything())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("results", 0, "verdict"), "clean"),
        (("results", 0, "p_value"), 1.5),
        (("results", 0, "interval"), [0.1]),
        (("results", 0, "hits"), 1.5),
        (("results", 0, "statistic"), {"name": "bits", "value": 1.0}),
        (("results", 0, "own"), "x"),
        (("tables", 0, "verdict"), 3),
        (("ranking", 0, "score_interval"), [0.1, "0.9"]),
        (("comparisons", 0, "change"), "grew"),
        (("correlations", 0, "second"), "luck"),
        (("run", "catalogue"), {"a": {"name": "a"}}),
        (("run", "rules"), "mine"),
        (("schema",), 3),
    ],
)
def test_what_is_foreign_is_named_with_its_place(path: tuple[str | int, ...], value: object) -> None:
    of: Any = with_everything()
    place = of
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    fault, *_ = faults(of)
    assert str(path[0]) in fault


def test_a_cell_that_lacks_a_field_is_invalid() -> None:
    lacking = as_document(parse_results(document([cell("a", "iris", "full_completion", "skipped")])))
    del lacking["results"][0]["reason"]
    (fault,) = faults(lacking)
    assert "'reason' is a required property" in fault


@pytest.mark.slow
def test_what_each_command_writes_is_valid(tmp_path: Path) -> None:
    def written(*command: str, out: str) -> None:
        assert main([*command]) == 0
        checked(json.loads((tmp_path / out / "results.json").read_text("utf-8")))

    one, other, both, told = (str(tmp_path / name) for name in ("one", "other", "both", "told"))
    records = tmp_path / "records.jsonl"
    records.write_text("".join(json.dumps(line) + "\n" for line in (record(), record(output="aft"), row_record())))
    written(*RUN, "--out", one, out="one")
    written(*RUN, "--serializer", "colon", "--seed", "1", "-k", "feature", "--out", other, out="other")
    written("rescore", one, "--rules", "paper", out="one")
    written("rescore", other, "--rules", "paper", out="other")
    written("report", one, other, "--out", both, out="both")
    written("replay", str(records), "--differences", "--out", told, out="told")


@pytest.mark.slow
def test_the_docs_have_the_schema_that_an_installed_package_makes() -> None:
    assert json.loads(PUBLISHED.read_text("utf-8")) == json_schema()
