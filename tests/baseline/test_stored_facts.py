"""What takes seconds to find out about a table is computed in one thread, and kept on disk."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tabcontam.baseline import stored_facts as keeping
from tabcontam.baseline.stored_facts import one_thread, ranks, stored_fact
from tabcontam.tables.table import Table
from tests import made_tables as tables

FIRST_FIT = """
import sys
from random import Random
from tabcontam.evidence.registry import by_id
from tabcontam.tables.serializers import load_serializer
from tests.made_tables import ships

import tabcontam.{module} as module
compute = module.{function}

def counting(*given):
    from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
    from threadpoolctl import threadpool_info
    print(_openmp_effective_n_threads(), *(library["num_threads"] for library in threadpool_info()))
    return compute(*given)

module.{function} = counting
assert "sklearn" not in sys.modules
by_id()["{test}"].queries(ships(200), load_serializer("is"), Random(0))
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder without what other tests made."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    return tmp_path


def ships(seed: int = 0) -> Table:
    """A table of its own, of which nothing is known yet."""
    return tables.ships.__wrapped__(40, seed=seed)


def found(table: Table, value: object, question: object = "what") -> Any:
    """What is kept, or else this value, which has to be a list."""

    def read(held: Any) -> Any:
        if not isinstance(held, list):
            raise ValueError("no list")
        return held

    return stored_fact(table, question, lambda: value, lambda value: value, read)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "module", "function"),
    [
        ("feature_completion", "baseline.chains", "mixture_of"),
        ("matched_membership", "evidence.rows.altered_rows", "_find_alteration"),
        ("classification_0shot", "evidence.score.classification", "_few_shot"),
    ],
)
def test_the_first_fit_of_a_process_computes_in_one_thread(test: str, module: str, function: str) -> None:
    """A limit set before scikit-learn is loaded would hold for nothing."""
    code = FIRST_FIT.format(test=test, module=module, function=function)
    path = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "3")
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=os.environ | threads | {"PYTHONPATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    counts = {int(number) for number in done.stdout.split()}
    assert counts == {1}


def test_threads_are_as_many_as_before_when_it_is_computed() -> None:
    with one_thread():
        pass  # all libraries are loaded now
    from threadpoolctl import threadpool_limits

    computing = keeping._computing_libraries()  # another test may have loaded others since, such as torch's
    with threadpool_limits(2):
        with one_thread():
            assert {library["num_threads"] for library in computing.info()} == {1}
        assert 2 in {library["num_threads"] for library in computing.info()}


def test_what_was_found_is_not_looked_for_again() -> None:
    assert found(ships(), [1]) == [1]
    assert found(ships(), [2]) == [1]


def test_another_question_table_or_library_has_its_own_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    found(ships(), [1])
    assert found(ships(), [2], "else") == [2]
    assert found(ships(seed=1), [3]) == [3]
    monkeypatch.setattr(keeping, "libraries", lambda: {"numpy": "another version"})
    assert found(ships(), [4]) == [4]


@pytest.mark.parametrize("text", [b"", b"{", b"null", b'{"a": 1}', b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_or_foreign_file_is_made_anew(text: bytes, cache: Path) -> None:
    found(ships(), [1])
    (file,) = cache.rglob("*.json")
    file.write_bytes(text)
    assert found(ships(), [2]) == [2]
    assert json.loads(file.read_bytes()) == [2]


def test_a_home_that_nobody_knows_is_passed_over(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    def nowhere() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(keeping, "cache_folder", nowhere)
    assert found(ships(), [1]) == [1]
    assert not list(cache.rglob("*.json"))


def test_half_a_surrogate_pair_is_kept() -> None:
    assert found(ships(), ["\ud800"]) == ["\ud800"]
    assert found(ships(), [2]) == ["\ud800"]


def test_a_row_has_the_same_rank_wherever_it_stands() -> None:
    table = ships()
    turned = replace(table, rows=table.rows[::-1])
    assert [ranks(table)[row] for row in range(40)] == [ranks(turned)[39 - row] for row in range(40)]


def test_what_is_collected_about_a_table_is_not_read_for_its_twin() -> None:
    with keeping.collect_stored_facts() as together:
        assert found(ships(), [1]) == [1]
        assert found(ships(seed=1), [2]) == [2]
        assert found(ships(), [3]) == [1]
    assert sorted(together.values()) == ["[1]", "[2]"]
    assert all(keeping.NAME.fullmatch(name) for name in together)
