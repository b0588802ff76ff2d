"""A server that nobody answers at is told while tables are prepared, and one that answers late holds nothing up."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

import pytest

from tabcontam.asking import preparing
from tabcontam.asking.query_plan import RunSource
from tabcontam.config import RunConfig
from tabcontam.errors import UsageError
from tabcontam.models.base import Model
from tabcontam.models.provider_registry import ModelSettings, resolve
from tabcontam.runs import run as running
from tabcontam.runs.llm_reachability import reached_meanwhile
from tabcontam.runs.run import prepare
from tests import made_tables
from tests.loopback import LoopbackServer, Response

NOBODY = "openai:model@http://127.0.0.1:9/v1"


def opened(spec: str) -> Model:
    """An LLM by its name, which nobody has reached yet."""
    return resolve(spec).open(ModelSettings())


def found_missing(*subjects: RunSource, lacking: Mapping[str, str] = MappingProxyType({})) -> str:
    """What is raised for these before anything is prepared; "" for nothing."""
    try:
        with reached_meanwhile(subjects, opened, lacking) as check:
            return told(check, 0.5)
    except UsageError as error:
        return str(error)


def told(check: Callable[[], None], seconds: float = 5.0) -> str:
    """What the check raises within some seconds; "" for nothing."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            check()
        except UsageError as error:
            return str(error)
        time.sleep(0.02)
    return ""


def test_a_server_that_is_down_is_told() -> None:
    assert "no server answers at http://127.0.0.1:9/v1" in found_missing(RunSource(opened(NOBODY)))


@pytest.mark.skipif(find_spec("torch") is None or find_spec("transformers") is None, reason="hf is not installed")
def test_files_that_neither_this_machine_nor_the_hub_has_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "cannot reach the Hugging Face hub" in found_missing(RunSource(opened("hf:no-such/model")))
    assert "no folder" in found_missing(RunSource(opened("hf:./no-such-folder")))


@pytest.mark.slow
def test_one_of_two_that_answers_is_enough() -> None:
    with LoopbackServer() as server:
        there = f"openai:model@{server.url}"
        assert found_missing(RunSource(opened(NOBODY)), RunSource(opened(there))) == ""
        assert "--reference" in found_missing(RunSource(opened(there)), RunSource(opened(NOBODY), reference=True))
        assert [request.method for request in server.requests] == ["GET", "GET"]  # the list of models, and no query


def test_what_is_known_to_lack_anyway_counts() -> None:
    with LoopbackServer() as server:
        there = f"openai:model@{server.url}"
        assert found_missing(RunSource(opened(there)), lacking={there: "it has no key"}) == "it has no key"


@pytest.mark.slow
def test_one_that_does_not_answer_holds_nothing_up() -> None:
    with LoopbackServer(models_response=Response({}, hang=True)) as server:
        there = f"openai:model@{server.url}"
        start = time.monotonic()
        with reached_meanwhile([RunSource(opened(there))], opened, {}) as check:
            assert told(check, 0.5) == ""
        assert time.monotonic() - start < 3


def test_controls_are_reached_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tabcontam.runs.llm_reachability.run_in_background", None)
    with reached_meanwhile([RunSource(opened("control:exposed"))], opened, {}) as check:
        check()


def test_a_run_ends_before_a_new_table_is_prepared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    monkeypatch.setattr(preparing, "processors", lambda: 1)
    order = RunConfig(llm=(NOBODY,), dataset=(made_tables.ships.__wrapped__(400, seed=11),), cache=False)
    with pytest.raises(UsageError, match="no server answers"):
        prepare(order)
    assert len(list(tmp_path.rglob("*.json"))) < 8  # of more than twenty findings


def test_nobody_elsewhere_is_reached_before_rows_may_leave(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    reached: list[list[str]] = []

    @contextmanager
    def noted(subjects: Sequence[RunSource], *given: object) -> Iterator[Callable[[], None]]:
        reached.append([subject.model.spec for subject in subjects if not subject.joined])
        yield lambda: None

    monkeypatch.setattr(running, "reached_meanwhile", noted)
    monkeypatch.setattr(running, "fitted", lambda tests: tests)
    private = replace(made_tables.ships.__wrapped__(40, seed=11), private=True)
    elsewhere = RunConfig(llm=("openai:model@http://llm.example/v1",), dataset=(private,), tests="membership")
    prepare(elsewhere)
    prepare(elsewhere.replace(send_rows=True))
    prepare(elsewhere.replace(llm=(NOBODY,)))
    assert reached == [[], list(elsewhere.llm), [NOBODY]]
