"""[tool.tabcontam] of pyproject.toml: a project's defaults, which are seen, and what no file may set."""

import json
from pathlib import Path

import pytest

import tabcontam as package
from tests.commands import process, tabcontam
from tests.loopback import LoopbackServer

ASKED = """\
[tool.tabcontam]
llm = "simulated:oracle"
dataset = ["iris"]
no-controls = true
k = "recognition_features"
"""
SHOWN = "--llm simulated:oracle --dataset iris --no-controls -k recognition_features"
PLAN = ("run", "--dry-run", "--json")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with defaults."""
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "x"\n{ASKED}alpha = 0.02\n')
    return tmp_path


def document(folder: Path) -> dict[str, object]:
    """What a run says of itself."""
    run: dict[str, object] = json.loads((folder / "results.json").read_text("utf-8"))["run"]
    return run


def test_a_run_takes_them_says_so_and_writes_it_down(project: Path) -> None:
    done = tabcontam("run", "--out", "run", cwd=project)
    line = f"defaults from pyproject.toml: {SHOWN} --alpha 0.02"
    assert done.returncode == 0
    assert done.stderr.startswith(f"{line}\n")
    assert line in done.stdout
    run = document(project / "run")
    assert run["alpha"] == 0.02
    assert line in [note["text"] for note in run["notes"]]  # type: ignore[attr-defined]
    (project / "pyproject.toml").unlink()
    assert line in tabcontam("rescore", "run", cwd=project).stdout
    assert "--alpha</span> 0.02" in (project / "run" / "index.html").read_text("utf-8")


def test_what_is_typed_goes_before_the_file_and_may_leave_it_aside(project: Path) -> None:
    (project / "below" / "it").mkdir(parents=True)
    typed = tabcontam(*PLAN, "--alpha", "0.05", "-k", "list_informed", cwd=project / "below" / "it")
    line = "defaults from ../../pyproject.toml: --llm simulated:oracle --dataset iris --no-controls"
    assert typed.stderr.splitlines()[0] == line
    assert {cell["test"] for cell in json.loads(typed.stdout)["results"]} == {"feature_list_informed"}
    aside = tabcontam("run", "--no-defaults", "--llm", "simulated:mode", "--dry-run", "-k", "list_inf", cwd=project)
    assert "defaults" not in aside.stderr
    assert "wine" in aside.stdout


def test_a_choice_that_is_typed_as_its_default_is_typed(project: Path) -> None:
    (project / "pyproject.toml").write_text(f'{ASKED}color = "always"\n')
    assert "\x1b[" in tabcontam("run", "--out", "one", cwd=project).stdout
    assert "\x1b[" not in tabcontam("run", "--out", "one", "--color", "auto", cwd=project).stdout


def test_the_gate_has_conditions_of_its_own(project: Path) -> None:
    held = (project / "pyproject.toml").read_text()
    (project / "pyproject.toml").write_text(f'{held}[tool.tabcontam.gate]\nfail-on = "undecided"\nmin-power = 0.5\n')
    assert tabcontam("run", "--out", "run", cwd=project).returncode == 0  # no gate was asked for
    past = tabcontam("gate", "run", cwd=project)
    assert (past.returncode, past.stderr) == (
        1, "defaults from pyproject.toml: --fail-on undecided --min-power 0.5\n",
    )  # fmt: skip
    assert past.stdout.startswith("cannot tell: ")
    now = tabcontam("gate", "--out", "run", cwd=project)
    assert now.returncode == 1
    assert now.stderr.startswith(f"defaults from pyproject.toml: {SHOWN} --alpha 0.02 --fail-on undecided")


def test_files_are_looked_for_beside_it(tmp_path: Path) -> None:
    rows = [f"{number},{number % 7},{number % 5}" for number in range(40)]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "my.csv").write_text("\n".join(["a,b,c", *rows]))
    (tmp_path / "pyproject.toml").write_text('[tool.tabcontam]\ndataset = "data/my.csv"\n')
    (tmp_path / "below").mkdir()
    asked = ("--llm", "simulated:mode", "--no-controls", "-k", "list_informed")
    done = tabcontam(*PLAN, *asked, cwd=tmp_path / "below")
    assert done.stderr.splitlines()[0].endswith("--dataset ../data/my.csv")
    assert [cell["dataset"].partition("@")[0] for cell in json.loads(done.stdout)["results"]] == ["my.csv"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("send-rows = true", "send-rows may not stand in [tool.tabcontam]: only the user of the command may"),
        ('prices = "cheap.toml"', "prices may not stand in [tool.tabcontam]: only the user who pays may set them"),
        ('out = "/tmp"', "out may not stand in [tool.tabcontam]: a run's folder belongs to one command; type --out"),
        ("json = true", "json may not stand in [tool.tabcontam]: a file cannot set it; type --json"),
        ('llm = "openai:m@http://evil.example/v1"', "no address, key or other provider"),
        ('llm = ["openai:m@http://evil.example/v1#HOME"]', "no address, key or other provider"),
        ('llm = "mine=gpt-4o"', "no address, key or other provider"),
        ('llm = "ollama:llama3@http://evil.example"', "no address, key or other provider"),
        ('reference = "gemini:gemini-3-pro"', "no address, key or other provider"),
        ('dataset = ["iris", "https://evil.example/rows.csv"]', "a file may not name an address; type it"),
        ("alpa = 0.1", "unknown key 'alpa' in [tool.tabcontam]; did you mean alpha?"),
        ("min-power = 0.2", "min-power belongs in [tool.tabcontam.gate]"),
        ("gate = true", "gate in [tool.tabcontam] must be a table of conditions"),
        ('alpha = "0.1"', "alpha cannot be '0.1': write the number without quotes"),
        ("alpha = 7", "alpha cannot be '7': '7' is not a number between 0 and 1"),
        ('rules = "papr"', "rules cannot be 'papr': choose one of calibrated, paper"),
        ('no-controls = "yes"', "no-controls cannot be 'yes': write true or false"),
        ("dataset = []", "dataset cannot be '[]': the list is empty"),
        ("queries = true", "queries cannot be 'True': write a text or a number"),
        ('"\\u001b[31m" = 1', "unknown key '␛[31m'"),
        ("alpha = ", "pyproject.toml cannot be read: "),
        ("[tool.tabcontam.gate]\nalpha = 0.1", "alpha belongs in [tool.tabcontam]"),
    ],
)
def test_what_no_file_may_say_is_one_line(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.tabcontam]\n{line}\n")
    done = tabcontam("run", cwd=tmp_path)
    (said,) = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (4, "")
    assert said.startswith("tabcontam: pyproject.toml")
    assert message in said
    assert [path.name for path in tmp_path.iterdir()] == ["pyproject.toml"]


def test_a_paid_llm_is_not_asked_because_a_file_names_it(tmp_path: Path) -> None:
    """A repository's pyproject.toml must not spend the money of whoever types `tabcontam run` in it."""
    (tmp_path / "pyproject.toml").write_text('[tool.tabcontam]\nllm = "gpt-4o"\nk = "list_informed"\n')
    with LoopbackServer() as server:
        done = tabcontam("run", cwd=tmp_path, OPENAI_API_KEY="sk-secret-secret", HTTPS_PROXY=server.url)
        assert not server.requests
    assert done.returncode == 4
    assert "gpt-4o is asked over the network, and only pyproject.toml names it; type --llm gpt-4o" in done.stderr


@pytest.mark.parametrize("key", ["send_rows", "llm", "address", "key"])
def test_a_dataset_card_allows_no_rows_to_leave_and_names_nobody(tmp_path: Path, key: str) -> None:
    card = f'name = "mine"\ntitle = "Mine"\nreleased = "2026"\nlicence = "none"\n{key} = true\n[[editions]]\n'
    (tmp_path / "card.toml").write_text(card)
    done = tabcontam("run", "--dataset", "card.toml", "--llm", "simulated:mode", cwd=tmp_path)
    assert done.returncode == 4
    assert f"unknown key '{key}'" in done.stderr


def test_a_file_that_does_not_name_us_and_one_that_is_broken_elsewhere_are_no_matter(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("this is = no TOML [")
    done = tabcontam("run", "--dry-run", "--llm", "simulated:mode", "-k", "list_inf", cwd=tmp_path)
    assert done.returncode == 0


def test_python_does_not_read_them(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    results = package.run("simulated:mode", "iris", tests="recognition_features", controls=False)
    assert results.run_results.run.alpha == 0.01


@pytest.mark.slow
def test_other_commands_never_look_for_them(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.tabcontam]\nsend-rows = true\n")
    assert process("list", "tests", cwd=tmp_path).returncode == 0
    assert process("run", "--help", cwd=tmp_path).returncode == 0
