"""Which LLMs and tables of a run a name means."""

from pathlib import Path
from typing import Any

import pytest

from tabcontam.errors import UsageError
from tabcontam.verdicts.document import parse_results
from tabcontam.verdicts.name_lookup import llms_named, places_named
from tabcontam.verdicts.result_types import TableName
from tabcontam.verdicts.results import RunResults
from tests.report import synthetic

FULL = "full_completion"
EXPOSED = "control:exposed"


def view(*asked: tuple[str, dict[str, Any]], resolved: dict[str, str] | None = None) -> RunResults:
    cells = [
        synthetic.weighed(llm, "adult", FULL, "not detected") | {"control": llm == EXPOSED} | about
        for llm, about in asked
    ]
    document = synthetic.document(cells)
    for fact in document["run"]["llms"]:
        fact["resolved"] = (resolved or {}).get(fact["spec"], fact["spec"])
    return parse_results(document)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ([], ["llama3", "openai:gpt-4o", "openai:own@http://h/v1"]),
        ([EXPOSED], [EXPOSED]),
        (["Llama-3", "llama3"], ["llama3"]),
        (["llama3:8b"], ["llama3"]),
        (["ollama:llama3:8b"], ["llama3"]),
        (["gpt-4o"], ["openai:gpt-4o"]),
        (["GPT 4o"], ["openai:gpt-4o"]),
        (["openai:own@http://h/v1"], ["openai:own@http://h/v1"]),
    ],
)
def test_llms(names: list[str], found: list[str]) -> None:
    stood_for = {"llama3": "ollama:llama3:8b (the instruct model)"}
    specs = [EXPOSED, "llama3", "openai:gpt-4o", "openai:own@http://h/v1"]
    run = view(*((spec, {}) for spec in specs), resolved=stood_for)
    if names == ["llama3:8b"]:  # no name of the catalogue, and not how the run has it
        with pytest.raises(UsageError, match="did you mean"):
            llms_named(run, names)
    else:
        assert llms_named(run, names) == found


def test_tables() -> None:
    of_iris = [TableName("iris", "uci", serializer) for serializer in ("is", "equals")]
    places = [TableName("adult", "uci", "is", split="train"), TableName("adult", "openml", "is"), *of_iris]
    run = view(*(("m", place._asdict()) for place in places))
    adult, other, iris, equals = places
    assert places_named(run, "adult") == [adult, other]
    assert places_named(run, "Census Income") == [adult, other]
    assert places_named(run, "adult@openml") == [other]
    assert places_named(run, "adult#train") == places_named(run, "census income@uci#train") == [adult]
    assert places_named(run, "iris") == places_named(run, "iris@uci") == [iris, equals]
    assert places_named(run, "iris equals") == [equals]
    for name in ("adult@kaggle", "adult#test", "wine", "", "a\0b", "x" * 5000):
        with pytest.raises(UsageError, match="unknown dataset of these results"):
            places_named(run, name)


def test_a_file_is_named_by_its_path_as_long_as_it_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_bytes(b"a,b\n1,2\n3,4\n")
    edition = "7a3a9a8b1f0e"
    run = view(("m", {"dataset": "own.csv", "edition": edition}))
    with pytest.raises(UsageError, match="is not the file that was tested"):
        places_named(run, str(path))
    assert places_named(run, f"own.csv@{edition}") == places_named(run, "elsewhere/own.csv") != []
    from tabcontam.tables.table import load_table

    same = view(("m", {"dataset": "own.csv", "edition": load_table(str(path)).edition}))
    assert len(places_named(same, str(path))) == 1
