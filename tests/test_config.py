"""A setting is stated in one place, and is found on every surface."""

import argparse
import inspect
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import tabcontam
from tabcontam import api, config, entry_points
from tabcontam.cli.arguments import commands_of, parser
from tabcontam.cli.commands import main
from tabcontam.config import COUNT, EVERYWHERE, MAIN, RUN, RunConfig, Setting, settings
from tabcontam.errors import UsageError, name_options_in_python, option
from tabcontam.pytest_plugin.uncontaminated_mark import uncontaminated
from tabcontam.runs.option_checks import check_options
from tests.added_points import added_points
from tests.docs.made import helps
from tests.installed import EXTENSIONS, LACKING

ASKED = ("--llm", "simulated:guesser", "--dataset", "iris", "-k", "recognition_features", "--no-controls")
DEPTH = Setting(
    COUNT,
    None,
    "settings of a test",
    EVERYWHERE,
    "N",
    "ask N times deeper",
    name="depth",
    most=(9, "dig at most 9 times"),
    excludes={"stop_at_first": "{depth} digs, and {stop_at_first} ends early; leave {depth *} out"},
)
SETTINGS = (DEPTH,)  # what the entry point names


@pytest.fixture
def extension(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package with a setting."""
    yield from offering("tests.test_config:SETTINGS", monkeypatch)


def offering(value: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Offer a group of settings as an installed package does."""
    added_points(monkeypatch, "tabcontam.settings", [("digging", value, "digs")])
    monkeypatch.setattr(config, "FURTHER", {})
    entry_points.offered.cache_clear()
    entry_points.load_settings.cache_clear()
    yield
    entry_points.offered.cache_clear()
    entry_points.load_settings.cache_clear()


@pytest.mark.usefixtures("extension")
def test_a_setting_of_an_extension_is_on_every_surface(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry_points.load_settings()
    monkeypatch.chdir(tmp_path)
    run = commands_of(parser())["run"]
    assert "ask N times deeper" in run.full_help()
    assert "ask N times deeper" not in run.format_help()
    assert all("settings of a test:" in text for path, text in helps().items() if path.stem in ("run", "gate"))

    (tmp_path / "pyproject.toml").write_text("[tool.tabcontam]\ndepth = 3\n")
    assert main(["run", *ASKED, "--out", "of-file", "-q"]) == 0
    assert main(["run", *ASKED, "--depth", "4", "--out", "typed", "-q"]) == 0
    stated = [
        json.loads((tmp_path / out / "results.json").read_text())["run"]["settings"] for out in ("of-file", "typed")
    ]
    assert stated == [{"depth": 3}, {"depth": 4}]

    monkeypatch.setattr(tabcontam.run, "__signature__", api.signature())
    assert inspect.signature(tabcontam.run).parameters["depth"].annotation == "int | None"
    made = tabcontam.run("simulated:guesser", "iris", tests="recognition_features", controls=False, depth=5)  # type: ignore[call-arg]
    assert made.document["run"]["settings"] == {"depth": 5}
    assert "depth=5" in made.document["run"]["command"]
    with pytest.raises(UsageError, match="depth is 0; write a whole number above 0"):
        tabcontam.run("simulated:guesser", "iris", depth=0)  # type: ignore[call-arg]

    marked = uncontaminated("llama3", "iris", contaminated="fail", undecided="fail", depth=6)
    assert DEPTH.of(marked.asking) == 6
    with pytest.raises(ValueError, match="depth is a whole number above 0, not 'deep'"):
        uncontaminated("llama3", "iris", contaminated="fail", undecided="fail", depth="deep")


@pytest.mark.usefixtures("extension")
def test_a_setting_states_what_contradicts_it() -> None:
    entry_points.load_settings()
    check_options(RunConfig(depth=9))
    with pytest.raises(UsageError, match="depth is 10; dig at most 9 times"):
        check_options(RunConfig(depth=10))
    clash = RunConfig(depth=2, stop_at_first=True)
    with pytest.raises(UsageError, match="--depth digs, and -x ends early; leave --depth 2 out"):
        check_options(clash)
    with name_options_in_python(), pytest.raises(UsageError, match="depth digs, and stop_at_first=True ends early"):
        check_options(clash)
    assert option("depth", 3) == "--depth 3"


def test_a_setting_that_cannot_be_added_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in offering("tabcontam.config:GROUPS", monkeypatch):
        assert main(["run", "--dry-run"]) == 4
        assert "the group of settings 'digging' has one that is no Setting" in capsys.readouterr().err


def test_the_short_help_has_at_most_14_options_and_the_full_one_has_all() -> None:
    run = commands_of(parser())["run"]
    shown = [action for action in run._actions if action not in run.further]
    assert len(shown) <= 14
    assert {setting.name for setting in settings(RUN).values() if setting.group == MAIN} < {one.dest for one in shown}
    assert all(action.option_strings[0] in run.full_help() for action in run._actions)
    assert [action for action in run.further if action.help is argparse.SUPPRESS] == []


def test_every_command_is_in_a_group_and_those_of_a_run_come_first() -> None:
    text = parser().format_help()
    ends = "commands of extensions:" if set(EXTENSIONS) - set(LACKING) else "this machine:"
    assert text.index("\n  run ") < text.index("\n  list ") < text.index(ends)
    assert all(f"\n  {name} " in text for name in commands_of(parser()))


def test_list_alone_lists_what_can_be_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    assert "tabcontam list datasets\n" in capsys.readouterr().out


def test_a_configuration_knows_its_settings_alone() -> None:
    assert RunConfig(alpha=0.05).replace(seed=1) == RunConfig(seed=1, alpha=0.05)
    assert RunConfig(llm=["a"]).llm == ("a",)
    assert RunConfig(alpha=None) == RunConfig(alpha=0.01) == RunConfig()
    with pytest.raises(TypeError, match="a run has no setting 'alfa'"):
        RunConfig(alfa=1)
