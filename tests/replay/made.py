"""Made-up recorded answers."""

import json
from pathlib import Path
from typing import Any

PRINTED = """\
Deck Level             3
Name          Ada  Byron
Fare               10.50
Cabin                NaN
Name: 4, dtype: object"""


def record(**given: Any) -> dict[str, Any]:
    """A made-up record of test 6, with changes."""
    return {
        "file": "a.txt",
        "llm": "llm",
        "serialization": None,
        "dataset": "ships",
        "output": "fore, aft",
        "expected": "['fore', 'aft']",
        "matches": "{'fore': True, 'aft': True}",
        "decision": True,
        "test_id": "6",
        "test": "feature_values_uninformed",
    } | given


def row_record(**given: Any) -> dict[str, Any]:
    """A made-up record of test 7, with changes."""
    matches = "{'Name': ('Ada  Byron', True), 'Fare': ('10.50', True), 'Cabin': ('nan', True)}"
    made = {"test_id": "7", "test": "incomplete_completion", "expected": PRINTED, "matches": matches}
    made["output"] = "Name is Ada  Byron, Fare is 10.50, Cabin is nan"
    return record(**(made | given))


def written(folder: Path, *records: dict[str, Any]) -> Path:
    path = folder / "records.jsonl"
    path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records), encoding="utf-8")
    return path
