"""What somebody meets who does not know the command line yet: help, near misses, names, the report in a browser."""

import inspect
import json
from pathlib import Path

import pytest

import tabcontam as package
from tabcontam.errors import UsageError
from tests.commands import tabcontam

SIMULATED = ("run", "--llm", "simulated:oracle", "--no-controls", "--dataset", "iris", "-k", "recognition_features")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that is over."""
    folder = tmp_path_factory.mktemp("finished")
    assert tabcontam(*SIMULATED, "--out", "run", cwd=folder).returncode == 0
    return folder / "run"


def test_the_command_alone_shows_help_and_is_no_success_for_a_script() -> None:
    done = tabcontam()
    assert (done.returncode, done.stderr) == (4, "")
    assert done.stdout == tabcontam("--help").stdout
    assert "python -m tabcontam run\n" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("rn --llm llama3", "unknown command 'rn'; did you mean run?; see tabcontam --help"),
        ("reprot x", "unknown command 'reprot'; did you mean report?; see tabcontam --help"),
        ("here.csv", "unknown command 'here.csv'; did you mean run --dataset here.csv?; see tabcontam --help"),
        ("run --verb", "run takes no '--verb'; did you mean --verbose?; see tabcontam run --help"),
        ("run --no-cont", "run takes no '--no-cont'; did you mean --no-controls?; see tabcontam run --help"),
        (
            "run --rules papr",
            "argument --rules: 'papr' is not one of calibrated, paper; did you mean paper?; see tabcontam run --help",
        ),
        (
            "gate --fail-on undecided,knowledge",
            "argument --fail-on: 'undecided,knowledge' is a list; write --fail-on undecided --fail-on knowledge; "
            "see tabcontam gate --help",
        ),
    ],
)
def test_a_near_miss_is_one_line_and_runs_nothing(tmp_path: Path, arguments: str, line: str) -> None:
    (tmp_path / "here.csv").write_text("a,b\n1,2\n")
    done = tabcontam(*arguments.split(), cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (4, "", f"tabcontam: {line}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["here.csv"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("--llm llama3,gpt-4o", "'llama3,gpt-4o' is a list; write --llm llama3 --llm gpt-4o"),
        ("--llm openai:gpt-4o,gpt-5", "'openai:gpt-4o,gpt-5' is a list; write --llm openai:gpt-4o --llm gpt-5"),
        ("--dataset adult,bank", "'adult,bank' is a list; write --dataset adult --dataset bank"),
        ("--dataset iris,here.csv", "'iris,here.csv' is a list; write --dataset iris --dataset here.csv"),
        ("--serializer csv,json", "'csv,json' is a list; write --serializer csv --serializer json"),
        (
            "--llm a=gpt-4o,b=openai:gpt-5",
            "'a=gpt-4o,b=openai:gpt-5' is a list; write --llm a=gpt-4o --llm b=openai:gpt-5",
        ),
        ("--llm a,b", "unknown model 'a,b'; if it is a list, write --llm a --llm b"),
        ("--dataset a,b", "unknown dataset 'a,b'; if it is a list, write --dataset a --dataset b"),
        (
            "--llm http://127.0.0.1:8000/v1",
            "an address names no model; put provider and name before it: openai:NAME@ADDRESS",
        ),
        ("--dataset nope,none.csv", "no such file: nope,none.csv; check the path, or see `tabcontam list datasets`"),
    ],
)
def test_names_with_commas_between_are_to_be_given_one_by_one(tmp_path: Path, arguments: str, line: str) -> None:
    (tmp_path / "here.csv").write_text("a,b\n1,2\n")
    done = tabcontam("run", "--no-controls", "--llm", "simulated:oracle", *arguments.split(), cwd=tmp_path)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (4, f"tabcontam: {line}")


@pytest.mark.slow
def test_a_file_or_a_model_may_have_a_comma_in_its_name(tmp_path: Path) -> None:
    rows = [f"{number},{number % 7},{number % 5}" for number in range(40)]
    (tmp_path / "iris,wine.csv").write_text("\n".join(["a,b,c", *rows]))
    llm = "openai:gpt-4o,mini@http://127.0.0.1:9/v1"
    done = tabcontam(
        "run", "--dry-run", "--no-controls", "--llm", llm, "--dataset", "iris,wine.csv", "-k", "feature_list_informed",
        cwd=tmp_path,
    )  # fmt: skip
    assert llm in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ("llms llama-3 instruct", ["llama-3.2-1b-instruct", "llama-3.2-3b-instruct"]),
        ("llms gpt-4o-m*", ["gpt-4o-mini"]),
        ("llms Llama_2", ["llama-2"]),
        ("llms bigscience/T0", ["t0"]),
        ("datasets census", ["adult", "housing"]),
        ("tests -v full_comp", ["full_completion"]),
        ("serializers JSON", ["json"]),
        ("prompts default", ["default"]),
    ],
)
def test_list_shows_what_matches(arguments: str, names: list[str]) -> None:
    done = tabcontam("list", "--json", *arguments.split())
    assert [item["name"] for item in json.loads(done.stdout)] == names


def test_what_matches_is_told_from_what_only_holds_the_letters() -> None:
    shown = tabcontam("list", "llms", "llama").stdout.splitlines()
    assert all("llama" in line.replace("ollama", "") for line in shown)  # no model for its ollama:NAME alone
    assert tabcontam("list", "llms", "-v", "t0").stdout.startswith("t0: open")


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        ("llms lama9", "did you mean llama-2 or llama-3 or llama-3.1?"),
        ("datasets adlut", "did you mean adult"),
        ("llms [", "list llms without a pattern shows all"),
        ("tests zzz --json", "list tests without a pattern shows all"),
    ],
)
def test_nothing_that_matches_is_one_line(arguments: str, advice: str) -> None:
    done = tabcontam("list", *arguments.split())
    (line,) = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (4, "")
    assert line.startswith("tabcontam: none of the ")
    assert advice in line


def test_the_report_is_opened_in_the_browser_that_the_system_names(
    finished: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\necho "asked for $1"\n')
    browser.chmod(0o755)
    done = tabcontam("report", str(finished), "--open", "-q", "--out", "page", cwd=tmp_path, BROWSER=f"{browser} %s")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"asked for file://{tmp_path}/page/index.html\n" in capfd.readouterr().out


def test_without_a_browser_a_line_says_where_the_report_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    done = tabcontam(*SIMULATED, "--open", "--out", "run", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.endswith("tabcontam: no browser can be opened here; the report is run/index.html\n")


@pytest.mark.parametrize("arguments", [("run", "--dry-run", "--open"), ("report", "x", "--format", "csv", "--open")])
def test_without_pages_there_is_nothing_to_open(arguments: tuple[str, ...]) -> None:
    done = tabcontam(*arguments)
    assert done.returncode == 4
    assert "--open" in done.stderr


def test_the_package_shows_its_public_names_alone() -> None:
    assert dir(package) == sorted(package.__all__)
    assert inspect.isclass(package.Results)
    assert package.UsageError is UsageError


@pytest.mark.parametrize("named", ["--llm claude", "--llm openai:gpt-4o", "--llm simulated:oracle --reference claude"])
def test_a_key_that_is_missing_is_told_before_anything_is_prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("tabcontam.runs.run.plan", lambda *given: pytest.fail("planned before the key was looked for"))
    done = tabcontam("run", *named.split(), "--dataset", "iris", cwd=tmp_path)
    assert done.returncode == 4
    assert "set the environment variable" in done.stderr.splitlines()[-1]
    assert not list(tmp_path.iterdir())


def test_a_plan_needs_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    done = tabcontam(
        "run", "--dry-run", "--llm", "claude", "--dataset", "iris", "-k", "feature_list_informed", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "no key for Anthropic" in done.stdout
