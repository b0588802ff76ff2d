"""Parts of a run, made apart and joined: nobody is accused or cleared who would not be by the one run that they are.

The adversaries: machines with other numbers of processors and libraries, a part that was killed and continued, a table
whose LLMs lie in several parts, an LLM that fails in one part, a budget that ends in one, folders of different runs.
"""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tabcontam
from tabcontam.asking.plan import Options
from tabcontam.asking.progress import Progress
from tabcontam.asking.shards import Shard, digest, part_of, spans
from tabcontam.asking.trials import TRIALS
from tabcontam.cli.commands import main
from tabcontam.errors import UsageError
from tabcontam.runs.folder import load, load_all, merge
from tabcontam.runs.rescoring import rescore
from tabcontam.runs.run import RunOrder, execute, prepare
from tabcontam.verdicts.gate import Conclusion, judge
from tabcontam.verdicts.notes import NoteKind
from tabcontam.verdicts.results import RunResults

LLMS = ("simulated:oracle", "simulated:memoriser:0.3", "simulated:schema-expert")
OF_TIME = ("started", "seconds", "durations", "command")


def order(out: Path, shard: str | None = None, **changes: Any) -> RunOrder:
    known = {"llms": LLMS, "datasets": ("iris", "wine"), "cache": False, "expression": "full or 0shot or names"}
    options = changes.pop("options", Options())
    part = None if shard is None else Shard.read(shard)
    return RunOrder(out=out, shard=part, options=options, **(known | changes))


def ran(out: Path, shard: str | None = None, **changes: Any) -> RunResults:
    return execute(prepare(order(out, shard, **changes)), Progress()).results


def parts(folder: Path, of: int, **changes: Any) -> list[Path]:
    """The folders of all parts of a run."""
    made = [folder / f"{number}-of-{of}" for number in range(1, of + 1)]
    for number, out in enumerate(made, start=1):
        ran(out, f"{number}/{of}", **changes)
    return made


def document(folder: Path) -> dict[str, Any]:
    """What results.json holds, but for what tells when it was made, and by which command."""
    held = json.loads((folder / "results.json").read_text())
    return held | {"run": {name: value for name, value in held["run"].items() if name not in OF_TIME}}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    ran(folder, serializers=("is", "colon"))
    return folder


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return parts(tmp_path_factory.mktemp("three"), 3, serializers=("is", "colon"))


def test_parts_joined_are_the_run_field_by_field(whole: Path, three: list[Path], tmp_path: Path) -> None:
    """Two serializers, controls and simulated LLMs whose tables lie in several parts, given in any order."""
    tables = [{cell.dataset for cell in load(folder).cells if cell.llm == LLMS[0]} for folder in three]
    llms = [{cell.llm for cell in load(folder).cells} for folder in three]
    assert max(map(len, llms)) > 1
    assert sum(map(bool, tables)) >= 1
    asked = [load(folder) for folder in three]
    assert sum(len(part.cells) for part in asked) == len(load(whole).cells)
    merge([three[2], three[0], three[1]], tmp_path)
    assert document(tmp_path) == document(whole)
    assert load(tmp_path).run.shard is None
    assert judge(load(tmp_path)).conclusion is judge(load(whole)).conclusion is Conclusion.CONTAMINATED
    assert rescore(tmp_path, None).cells == load(whole).cells


def test_beside_a_reference_and_in_turns_parts_are_the_run_as_well(tmp_path: Path) -> None:
    """What the reference answers counts for nothing, so that the LLMs of a table are never apart from it."""
    changes = {
        "reference": "simulated:schema-expert",
        "llms": LLMS[:2],
        "expression": "full or feature_completion",
        "controls": False,
        "options": Options(until_decided=True, queries=20),
    }
    ran(tmp_path / "whole", **changes)
    made = parts(tmp_path, 2, **changes)
    for folder in made:
        assert len({cell.dataset for cell in load(folder).cells}) == 1
    merge(made, tmp_path / "joined")
    assert document(tmp_path / "joined") == document(tmp_path / "whole")
