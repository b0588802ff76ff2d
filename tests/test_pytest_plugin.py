"""The pytest plugin as the author of an experiment meets it: in sessions of its own.

They run in this process, but for those about what is imported, warned of or interrupted, and several processes at once.
"""

import json
import re
import subprocess
import sys
import tomllib
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tabcontam.api import load_results
from tabcontam.pytest_plugin.session_gate import _corpus_state, _source
from tabcontam.pytest_plugin.uncontaminated_mark import uncontaminated
from tabcontam.verdicts.document import as_json
from tabcontam.verdicts.thresholds import MIN_POWER
from tests.commands import tabcontam

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow  # each test is a session of its own

ROOT = Path(__file__).parent.parent
CONTAMINATED, CLEAN, UNDECIDED = "simulated:memoriser:0.5", "simulated:guesser", "simulated:decliner"
STRICT = "[pytest]\naddopts = --strict-markers --strict-config\nfilterwarnings = error\nxfail_strict = true\n"


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch, imported: None) -> None:
    """The plugin and nothing else, whether or not this package is installed with its entry point."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "tabcontam.pytest_plugin")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that is over: three LLMs on iris."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    llms = [part for llm in (CONTAMINATED, CLEAN, UNDECIDED) for part in ("--llm", llm)]
    done = tabcontam("run", *llms, "--dataset", "iris", "--out", str(folder))
    assert done.returncode == 0, done.stderr
    return folder


def session(
    pytester: pytest.Pytester, *arguments: str | Path, ini: str = "", own_process: bool = False
) -> tuple[pytest.RunResult, dict[str, str]]:
    """A session over the tests that were made, and what became of each: a word, and the reason if there is one."""
    pytester.makefile(".ini", pytest=STRICT + ini)
    run = pytester.runpytest_subprocess if own_process else pytester.runpytest_inprocess
    result = run("--junit-xml=junit.xml", *arguments)
    junit = pytester.path / "junit.xml"
    cases = ElementTree.parse(junit).iter("testcase") if junit.exists() else []
    return result, {case.attrib["name"]: _outcome(case) for case in cases}


def _outcome(case: ElementTree.Element) -> str:
    for part in case:
        if part.tag in ("failure", "error", "skipped"):
            word = "xfailed" if part.get("type") == "pytest.xfail" else part.tag
            return f"{word}: {part.text if part.tag != 'skipped' else part.get('message')}"
    return "passed"


def reported(runs: Path) -> str:
    return f"--tabcontam-report={runs}"


def test_a_project_that_does_not_use_it_sees_nothing_of_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys
        def test_nothing_is_imported():
            ours = sorted(name for name in sys.modules if name.startswith("tabcontam"))
            light = ["config", "errors", "pytest_plugin", "version"]
            assert ours == ["tabcontam", *(f"tabcontam.{name}" for name in light)]
            assert not {"numpy", "pandas", "scipy", "rich", "jinja2", "sqlite3"} & set(sys.modules)
        """
    )
    result, _ = session(pytester, "-p", "no:cacheprovider", own_process=True)
    result.assert_outcomes(passed=1)
    assert not [line for line in result.outlines if "tabcontam" in line and not line.startswith("rootdir")]
    assert result.errlines == []


def test_the_entry_point_names_the_plugin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"tabcontam": "tabcontam.pytest_plugin"}
    assert find_spec(project["entry-points"]["pytest11"]["tabcontam"]) is not None


BODIES = f"""
import pytest

@pytest.fixture
def costly():
    raise SystemError("set up")

@pytest.mark.uncontaminated(llm="{CONTAMINATED}", dataset="iris")
def test_contaminated(costly): ...

@pytest.mark.uncontaminated("{CLEAN}", "iris")
def test_clean(): ...

@pytest.mark.uncontaminated("{UNDECIDED}", "iris")
def test_undecided(costly): ...
"""


def test_by_default_contaminated_fails_and_undecided_is_skipped(pytester: pytest.Pytester, runs: Path) -> None:
    """With the reason in pytest's own report, at the test's own place, and before its fixtures."""
    pytester.makepyfile(test_it=BODIES)
    result, outcomes = session(pytester, "-ra", reported(runs))
    result.assert_outcomes(failed=1, passed=1, skipped=1)
    assert re.match(rf"failure: contaminated: {CONTAMINATED} on iris: detected by \w+", outcomes["test_contaminated"])
    assert re.match(rf"skipped: cannot tell: {UNDECIDED} on iris: no answer to \w+", outcomes["test_undecided"])
    result.stdout.re_match_lines_random(
        [
            rf"SKIPPED \[1\] test_it.py:13: cannot tell: {UNDECIDED} on iris: .*",
            rf"FAILED test_it.py::test_contaminated - .*contaminated: {CONTAMINATED} on iris: .*",
        ]
    )


def test_the_session_ends_with_a_line_for_each_llm_and_table(pytester: pytest.Pytester, runs: Path) -> None:
    pytester.makepyfile(test_it=BODIES)
    result, _ = session(pytester, reported(runs))
    result.stdout.re_match_lines(
        [
            "=+ tabcontam =+",
            f"cannot tell: {UNDECIDED} on iris: .*",
            f"clean: {CLEAN} on iris: .*of the rows would have been detected",
            f"contaminated: {CONTAMINATED} on iris: .*",
            f"evidence: {re.escape(str(runs / 'index.html'))}",
        ],
        consecutive=True,
    )


@pytest.mark.parametrize("action", ["fail", "xfail", "skip"])
@pytest.mark.parametrize("by", ["mark", "ini", "mark over ini"])
def test_what_becomes_of_a_stopped_test(pytester: pytest.Pytester, runs: Path, action: str, by: str) -> None:
    said = f', contaminated="{action}", undecided="{action}"' if "mark" in by else ""
    other = "skip" if action == "fail" else "fail"
    word = other if by == "mark over ini" else action
    ini = f"tabcontam_contaminated = {word}\ntabcontam_undecided = {word}\n" if "ini" in by else ""
    pytester.makepyfile(
        f"""
        import pytest
        @pytest.mark.uncontaminated("{CONTAMINATED}", "iris"{said})
        def test_contaminated():
            raise SystemError("ran")
        @pytest.mark.uncontaminated("{UNDECIDED}", "iris"{said})
        def test_undecided():
            raise SystemError("ran")
        """
    )
    result, outcomes = session(pytester, reported(runs), ini=ini)
    result.assert_outcomes(**{{"fail": "failed", "xfail": "xfailed", "skip": "skipped"}[action]: 2})
    assert f"contaminated: {CONTAMINATED} on iris: detected by" in outcomes["test_contaminated"]
    assert f"cannot tell: {UNDECIDED} on iris: no answer" in outcomes["test_undecided"]


def test_what_cannot_be_told_runs_only_if_that_is_said(pytester: pytest.Pytester, runs: Path) -> None:
    pytester.makepyfile(
        f"""
        import pytest
        @pytest.mark.uncontaminated("{UNDECIDED}", "iris", undecided="run")
        def test_runs(): ...
        @pytest.mark.uncontaminated("{UNDECIDED}", "iris", undecided="run", fail_on="undecided")
        def test_fails(): ...
        @pytest.mark.uncontaminated("{CLEAN}", "iris", min_power=0.01)
        def test_too_weak(): ...
        @pytest.mark.uncontaminated("{CLEAN}", "iris", max_memory_share=0.05)
        def test_no_share(): ...
        """
    )
    result, outcomes = session(pytester, reported(runs))
    result.assert_outcomes(passed=1, failed=1, skipped=2)
    assert outcomes["test_no_share"].startswith(
        f"skipped: cannot tell: {CLEAN} on iris: memory's share was not measured"
    )
    assert outcomes["test_runs"] == "passed"
    assert outcomes["test_too_weak"].startswith(f"skipped: cannot tell: {CLEAN} on iris: nothing was detected, but")
    result.stdout.re_match_lines([rf"cannot tell: {UNDECIDED} on iris: .* \(1 test run anyway\)"])


@pytest.mark.parametrize(("option", "stopped"), [("--setup-only", 1), ("--setup-show", 1), ("--setup-plan", 0)])
def test_no_option_sets_up_what_is_stopped(pytester: pytest.Pytester, runs: Path, option: str, stopped: int) -> None:
    """Fixtures of any scope may cost as much as the test; only --setup-plan sets none of them up."""
    pytester.makepyfile(
        f"""
        import pytest
        pytestmark = pytest.mark.uncontaminated("{CONTAMINATED}", "iris")
        @pytest.fixture(scope="session", autouse=True)
        def costly():
            print("spent")
        def setup_module():
            print("spent")
        def test_contaminated(): ...
        """
    )
    result, _ = session(pytester, "-s", option, reported(runs))
    assert "spent" not in result.outlines
    assert result.parseoutcomes().get("failed", 0) == stopped


def test_runxfail_runs_nothing_that_is_stopped(pytester: pytest.Pytester, runs: Path) -> None:
    """As xfail it would: pytest lets every xfail pass that is raised."""
    pytester.makepyfile(
        f"""
        import pytest
        @pytest.mark.uncontaminated("{CONTAMINATED}", "iris", contaminated="xfail")
        def test_contaminated():
            raise SystemError("ran")
        """
    )
    _, outcomes = session(pytester, "--runxfail", reported(runs))
    assert outcomes["test_contaminated"].startswith("failure: contaminated:")


def test_marks_of_modules_classes_and_parameters(pytester: pytest.Pytester, runs: Path) -> None:
    """All of them must hold, and the severest decides; llm and dataset may be the test's own parameters."""
    pytester.makepyfile(
        test_module=f"""
        import pytest
        pytestmark = pytest.mark.uncontaminated("{UNDECIDED}", "iris")
        def test_of_module(): ...
        @pytest.mark.uncontaminated("{CONTAMINATED}", "iris")
        def test_both(): ...
        """,
        test_class=f"""
        import unittest
        import pytest
        @pytest.mark.uncontaminated("{CONTAMINATED}", "iris")
        class TestOurs:
            def test_of_class(self): ...
        @pytest.mark.uncontaminated("{CONTAMINATED}", "iris")
        class TestTheirs(unittest.TestCase):
            def test_of_case(self): ...
        """,
        test_parameters=f"""
        import pytest
        @pytest.mark.uncontaminated
        @pytest.mark.parametrize("dataset", ["iris"])
        @pytest.mark.parametrize("llm", ["{CLEAN}", "{CONTAMINATED}"])
        def test_named(llm, dataset): ...
        @pytest.mark.parametrize("table", [
            "any", pytest.param("iris", marks=pytest.mark.uncontaminated("{CONTAMINATED}", "iris")),
        ])
        def test_marked(table): ...
        """,
    )
    _, outcomes = session(pytester, reported(runs))
    words = {name: outcome.partition(":")[0] for name, outcome in outcomes.items()}
    assert words == {
        "test_of_module": "skipped",
        "test_both": "failure",
        "test_of_class": "failure",
        "test_of_case": "failure",
        f"test_named[{CLEAN}-iris]": "passed",
        f"test_named[{CONTAMINATED}-iris]": "failure",
        "test_marked[any]": "passed",
        "test_marked[iris]": "failure",
    }
    assert "; cannot tell: " in outcomes["test_both"]


def test_a_mark_may_ask_for_the_papers_queries_alone() -> None:
    from tabcontam.pytest_plugin.uncontaminated_mark import uncontaminated

    condition = uncontaminated("llama3", "iris", contaminated="fail", undecided="fail", queries="paper")
    assert condition.asking.queries == "paper"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ('"llama3"', "missing a required argument: 'dataset'"),
        ('"llama3", "iris", 3', "too many positional arguments"),
        ('"llama3", "iris", sometimes=True', "got an unexpected keyword argument 'sometimes'"),
        ('"llama3", "iris", contaminated="run"', "contaminated is one of fail, xfail, skip, not 'run'"),
        ('"llama3", "iris", undecided="hope"', "undecided is one of fail, xfail, skip or run, not 'hope'"),
        ('"llama3", "iris", fail_on=3', "fail_on is a text, or several, not 3"),
        ('"llama3", "iris", min_power=2', "min_power is a number between 0 and 1, not 2"),
        ('"llama3", "iris", max_memory_share=1', "max_memory_share is a number between 0 and 1, not 1"),
        ('"llama3", "iris", queries=0', "queries is a whole number above 0, or 'paper', not 0"),
        ('3, "iris"', "llm is the name of an LLM, not 3"),
        ('"llama3", ""', "dataset is a dataset's name or a file, not ''"),
    ],
)
def test_a_mistaken_mark_ends_the_session_at_collection(pytester: pytest.Pytester, arguments: str, line: str) -> None:
    pytester.makepyfile(
        test_it=f"import pytest\n@pytest.mark.uncontaminated({arguments})\ndef test_a(): ...\ndef test_b(): ...\n"
    )
    result, outcomes = session(pytester, "--collect-only")
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    assert [text for text in result.errlines if text] == [
        f"ERROR: test_it.py::test_a: @pytest.mark.uncontaminated: {line}"
    ]
    assert outcomes == {}


def test_a_misspelt_mark_does_not_let_its_test_through(pytester: pytest.Pytester) -> None:
    """pytest itself only warns of it, and the experiment ran without a gate."""
    mark = "import pytest\n@pytest.mark.{}('llama3', 'iris')\ndef test_a(): ...\n"
    pytester.makepyfile(test_it=mark.format("uncontaminted"))
    result = pytester.runpytest_subprocess()  # this one's filters would make an error of the warning
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    line = "test_it.py::test_a: @pytest.mark.uncontaminted gates nothing; did you mean @pytest.mark.uncontaminated?"
    assert [text for text in result.errlines if text] == [f"ERROR: {line}"]


@pytest.mark.parametrize(("mark", "registered"), [("contaminated", ""), ("uncontaminates", "uncontaminates: ours")])
def test_a_mark_of_the_project_that_looks_alike_is_its_own(
    pytester: pytest.Pytester, mark: str, registered: str
) -> None:
    pytester.makepyfile(test_it=f"import pytest\n@pytest.mark.{mark}\ndef test_a(): ...\n")
    pytester.makefile(".ini", pytest=f"[pytest]\nmarkers =\n    {registered}\n")
    outcome = pytester.runpytest_subprocess()
    outcome.assert_outcomes(passed=1, warnings=0 if registered else 1)


def test_a_folder_that_is_no_run_ends_the_session(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=BODIES)
    result, _ = session(pytester, "--tabcontam-report=nowhere")
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --tabcontam-report: nowhere is not the folder of a run: it has no results.json"]
    )


QUICK = "queries=5, undecided='run'"


def asks(result: pytest.RunResult) -> list[str]:
    """What the session said that it asks."""
    return [line for line in result.outlines if line.startswith("tabcontam asks")]


def kept(pytester: pytest.Pytester) -> list[Path]:
    """The run folders in pytest's cache."""
    return sorted(path.parent for path in pytester.path.glob(".pytest_cache/d/tabcontam/*/results.json"))


def document(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "results.json").read_text("utf-8"))
    return loaded


def gated(llm: str, *datasets: str, more: str = "") -> str:
    """An experiment on these tables."""
    return "\n".join(
        [
            "import pytest",
            f"@pytest.mark.parametrize('dataset', {list(datasets)!r})",
            f"@pytest.mark.uncontaminated({llm!r}, {more})",
            "def test_experiment(dataset): ...",
        ]
    )


def test_a_run_is_made_once_for_all_tables_of_an_llm_and_kept(pytester: pytest.Pytester) -> None:
    """It is judged as one family; the next session asks nothing, and --cache-clear asks again."""
    pytester.makepyfile(test_it=gated(CLEAN, "wine", "iris", more=QUICK), test_other=gated(CLEAN, "iris", more=QUICK))
    collected, _ = session(pytester, "--collect-only")
    assert kept(pytester) == []
    first, _ = session(pytester)
    first.assert_outcomes(passed=3)
    assert (asks(collected), asks(first)) == ([], [f"tabcontam asks {CLEAN} about iris, wine"])
    (folder,) = kept(pytester)
    assert [table["dataset"] for table in document(folder)["tables"] if table["llm"] == CLEAN] == ["iris", "wine"]
    first.stdout.fnmatch_lines([f"evidence: .pytest_cache/d/tabcontam/{folder.name}/index.html"])
    again, _ = session(pytester)
    again.assert_outcomes(passed=3)
    cleared, _ = session(pytester, "--cache-clear", "-q")
    assert (asks(again), asks(cleared)) == ([], [])  # -q says less, not what it asks
    assert document(folder)["run"]["finished"]


def test_a_run_that_was_cut_off_is_continued(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=gated(CLEAN, "iris", more=QUICK))
    session(pytester)
    (folder,) = kept(pytester)
    lines = (folder / "trials.jsonl").read_text("utf-8").splitlines(keepends=True)
    (folder / "trials.jsonl").write_text("".join(lines[: len(lines) // 2]), "utf-8")
    cut = document(folder)
    cut["run"] |= {"finished": False, "interrupted": True}
    (folder / "results.json").write_text(as_json(cut), "utf-8")
    result, _ = session(pytester)
    assert asks(result) == [f"tabcontam asks {CLEAN} about iris"]
    assert document(folder)["run"]["finished"]
    assert (folder / "trials.jsonl").read_text("utf-8").splitlines(keepends=True)[: len(lines) // 2] == lines[
        : len(lines) // 2
    ]
    assert len((folder / "trials.jsonl").read_text("utf-8").splitlines()) == len(lines)


def test_a_run_that_cannot_be_continued_says_how_to_begin_anew(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=gated(CLEAN, "iris", more=QUICK))
    session(pytester)
    (folder,) = kept(pytester)
    other = document(folder)
    other["run"] |= {"finished": False, "seed": 5}
    (folder / "results.json").write_text(as_json(other), "utf-8")
    _, outcomes = session(pytester)
    assert "holds a run with seed=5" in outcomes["test_experiment[iris]"]
    assert "(pytest --cache-clear starts a new run)" in outcomes["test_experiment[iris]"]


def test_a_file_that_has_changed_is_asked_about_anew(pytester: pytest.Pytester) -> None:
    """And a FILE is found from pytest's root folder, wherever pytest was started."""
    rows = "".join(f"{n % 7},{n * 37 % 1000},{n * 91 % 1000}\n" for n in range(60))
    (pytester.mkdir("data") / "own.csv").write_text(f"a,b,c\n{rows}", "utf-8")
    pytester.makepyfile(test_it=gated("simulated:mode", "data/own.csv", more=QUICK))
    first, _ = session(pytester, "--rootdir=.")
    (pytester.path / "data" / "own.csv").write_text(f"a,b,c\n{rows}8,8,8\n", "utf-8")
    second, _ = session(pytester, "--rootdir=.")
    assert len(asks(first)) == len(asks(second)) == 1
    assert len(kept(pytester)) == 2


def test_a_card_and_a_serializer_of_ones_own_are_asked_about_anew_when_they_change(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = pytester.mkdir("mine")
    (mine / "arrow.toml").write_text('value_separator = " -> "\nfeature_separator = "; "\n')
    monkeypatch.setenv("TABCONTAM_PATH", str(mine))
    pytester.makepyfile(
        f"""
        import pytest

        @pytest.mark.uncontaminated("{CLEAN}", "mine/own.toml@first", serializer="mine/arrow.toml", queries=2)
        @pytest.mark.uncontaminated("{CLEAN}", "own", queries=2)
        def test_experiment(): ...
        """
    )
    for number, label in enumerate(("yes", "aye"), 1):
        lines = [f"{row},{row * row % 97},{label if row % 3 else 'no'}" for row in range(40)]
        content = "\n".join(["id,square,label", *lines, ""]).encode()
        (mine / "own.csv").write_bytes(content)
        (mine / "own.toml").write_text(
            'name = "own"\ntitle = "Own"\nreleased = "2026"\nlicence = "none"\n[[editions]]\nname = "first"\n'
            f'file = "own.csv"\nsha256 = "{sha256(content).hexdigest()}"\nbytes = {len(content)}\nrows = 40\n'
        )
        _, outcomes = session(pytester)
        assert "own" in outcomes["test_experiment"]
        assert len(kept(pytester)) == 2 * number
    cells = [cell for folder in kept(pytester) for cell in document(folder)["results"] if cell["llm"] == CLEAN]
    assert {(cell["dataset"], cell["serializer"]) for cell in cells} == {("own", "is"), ("own", "arrow")}
    assert len({cell["edition"] for cell in cells}) == 2


def test_marks_that_ask_otherwise_have_runs_of_their_own(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        f"""
        import pytest
        @pytest.mark.uncontaminated("{CLEAN}", "iris", serializer="colon", queries=3)
        def test_few(): ...
        @pytest.mark.uncontaminated("{CLEAN}", "iris", serializer="colon", queries=4)
        def test_more(): ...
        @pytest.mark.uncontaminated("{CLEAN}", "iris", serializer="colon", prompts="paper", queries=5)
        def test_other_words(): ...
        """
    )
    session(pytester)
    cells = [[cell for cell in document(folder)["results"] if cell["llm"] == CLEAN] for folder in kept(pytester)]
    assert sorted(max(cell["queries"] for cell in run) for run in cells) == [3, 4, 5]
    assert sorted({cell["prompts"] for cell in run}.pop() for run in cells) == ["default", "default", "paper"]
    assert {cell["serializer"] for run in cells for cell in run} == {"colon"}


def test_ctrl_c_ends_the_session(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import tabcontam.pytest_plugin.session_gate
        def interrupted(*named, **options):
            raise KeyboardInterrupt("from below")
        tabcontam.pytest_plugin.session_gate.run = interrupted
        """
    )
    pytester.makepyfile(test_it=gated(CLEAN, "iris"))
    result, outcomes = session(pytester, own_process=True)
    assert result.ret is pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*KeyboardInterrupt: the answers are stored; the next session continues the run"])
    assert outcomes == {}


def test_two_sessions_at_once_make_one_run(pytester: pytest.Pytester) -> None:
    """As the workers of xdist do: one asks, the others wait for it."""
    pytester.makepyfile(test_it=gated(CLEAN, "iris"))
    command = [sys.executable, "-m", "pytest"]
    both = [subprocess.Popen(command, cwd=pytester.path, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    printed = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum(text.count("tabcontam asks") for text in printed) == 1
    assert all("1 passed" in text for text in printed)


@pytest.mark.skipif(find_spec("xdist") is None, reason="pytest-xdist is not installed")
def test_xdist(pytester: pytest.Pytester, runs: Path) -> None:
    """The workers' verdicts reach the summary; a mistaken mark is an error of its test."""
    pytester.makepyfile(test_it=BODIES, test_bad="import pytest\n@pytest.mark.uncontaminated\ndef test_bad(): ...\n")
    result, outcomes = session(pytester, "-p", "xdist", "-n", "2", reported(runs), own_process=True)
    result.assert_outcomes(failed=1, passed=1, skipped=1, errors=1)
    result.stdout.re_match_lines(["=+ tabcontam =+", "cannot tell: ", "clean: ", "contaminated: ", "evidence: "])
    assert outcomes["test_bad"].startswith("error: @pytest.mark.uncontaminated: missing a required argument: 'llm'")


def test_what_stops_the_run_is_an_error_of_each_test(pytester: pytest.Pytester) -> None:
    """No verdict is made up: not even where what cannot be told may run. A test that is skipped anyway asks nothing."""
    pytester.makepyfile(
        """
        import pytest
        @pytest.mark.uncontaminated("lama3", "iris", undecided="run")
        def test_one(): ...
        @pytest.mark.uncontaminated("lama3", "iris", contaminated="xfail")
        def test_two(): ...
        @pytest.mark.skip(reason="for now")
        @pytest.mark.uncontaminated("nobody", "iris")
        def test_skipped(): ...
        """
    )
    result, outcomes = session(pytester)
    result.assert_outcomes(errors=2, skipped=1)
    assert outcomes["test_one"] == outcomes["test_two"]
    assert outcomes["test_one"].startswith("error: tabcontam: unknown model 'lama3'; did you mean ")
    assert outcomes["test_skipped"] == "skipped: for now"
    assert len(asks(result)) == 1


def test_without_a_cache_there_is_no_run(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=gated(CLEAN, "iris"))
    _, outcomes = session(pytester, "-p", "no:cacheprovider")
    assert "leave out -p no:cacheprovider, or give --tabcontam-report" in outcomes["test_experiment[iris]"]


def test_a_run_folder_that_lacks_the_pair_cannot_tell_and_nothing_is_asked(
    pytester: pytest.Pytester, runs: Path
) -> None:
    pytester.makepyfile(test_it=gated(CLEAN, "iris", "wine"))
    result, outcomes = session(pytester, ini=f"tabcontam_report = {runs}\n")
    assert outcomes["test_experiment[iris]"] == "passed"
    assert outcomes["test_experiment[wine]"].startswith(
        f"skipped: cannot tell: {CLEAN} on wine: not tested in {runs}: unknown dataset of these results 'wine'"
    )
    assert asks(result) == []
    assert kept(pytester) == []


def test_of_several_run_folders_the_worst_counts(pytester: pytest.Pytester, runs: Path) -> None:
    """Another run clears nothing. The first here tests another table, the last finds what the second does not."""
    renamed = json.dumps(document(runs)).replace('"iris"', '"other"')
    found = document(runs)
    for part in (*found["results"], *found["tables"]):
        if part["llm"] == CLEAN:
            part["verdict"] = "contaminated"
    for name, text in {"elsewhere": renamed, "found": as_json(found)}.items():
        (pytester.mkdir(name) / "results.json").write_text(text, "utf-8")
    pytester.makepyfile(test_it=gated(CLEAN, "iris"))
    two = ["--tabcontam-report=elsewhere", reported(runs)]
    _, clean = session(pytester, *two)
    _, worse = session(pytester, *two, "--tabcontam-report=found")
    assert clean["test_experiment[iris]"] == "passed"
    assert worse["test_experiment[iris]"].startswith("failure: contaminated:")


def test_a_broken_run_is_an_error_and_another_run_does_not_stand_in_for_it(
    pytester: pytest.Pytester, runs: Path
) -> None:
    broken = document(runs)
    broken["results"] = [cell for cell in broken["results"] if cell["llm"] != CLEAN]
    (pytester.mkdir("broken") / "results.json").write_text(as_json(broken), "utf-8")
    pytester.makepyfile(test_it=gated(CLEAN, "iris"))
    _, outcomes = session(pytester, "--tabcontam-report=broken", reported(runs))
    assert f"contradict themselves: {CLEAN} has no result" in outcomes["test_experiment[iris]"]


def test_a_run_in_another_serializer_is_not_the_one_that_a_mark_names(pytester: pytest.Pytester, runs: Path) -> None:
    pytester.makepyfile(
        test_it=gated(CLEAN, "iris", more="serializer='colon'"), test_is=gated(CLEAN, "iris", more="serializer='is'")
    )
    result, _ = session(pytester, reported(runs))
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["*its rows were not written by serializer colon*"])


def test_a_run_in_other_words_is_not_the_one_that_a_mark_names(pytester: pytest.Pytester, runs: Path) -> None:
    pytester.makepyfile(
        test_it=gated(CLEAN, "iris", more="prompts='paper'"), test_is=gated(CLEAN, "iris", more="prompts='default'")
    )
    result, _ = session(pytester, reported(runs))
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["*its queries were not worded by prompt set paper*"])


def test_what_a_result_holds_cannot_drive_the_terminal(pytester: pytest.Pytester, runs: Path) -> None:
    hostile = document(runs)
    for part in hostile["tables"]:
        part["reason"] = "\x1b[2J\u202eevil\r\n=== 9 passed ===\n]]>"
    for part in hostile["results"]:
        part["reason"] = part["sentence"] = "\x1b]0;evil\x07 </script>"
    (pytester.mkdir("hostile") / "results.json").write_text(as_json(hostile), "utf-8")
    pytester.makepyfile(test_it=BODIES)
    result, outcomes = session(pytester, "-rA", "--tabcontam-report=hostile")
    result.assert_outcomes(failed=1, passed=1, skipped=1)
    assert "␛[2J" in outcomes["test_undecided"]
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", result.stdout.str())
    assert "=== 9 passed ===" not in result.outlines


FIXTURE = """
import pytest
{marked}
def test_experiment(): ...
def test_results(tabcontam_results):
    frames = [results.to_frame("tables") for results in tabcontam_results]
    assert [frame.query("llm == 'simulated:guesser'").dataset.to_list() for frame in frames] == [["iris"]]
"""


@pytest.mark.parametrize("made", [False, True])
def test_the_fixture_gives_the_results(pytester: pytest.Pytester, runs: Path, made: bool) -> None:
    marked = f"@pytest.mark.uncontaminated({CLEAN!r}, 'iris')" if made else ""
    pytester.makepyfile(test_it=FIXTURE.format(marked=marked))
    result, outcomes = session(pytester, *([] if made else [reported(runs)]))
    assert outcomes == {"test_experiment": "passed", "test_results": "passed"}, result.stdout.str()


def test_the_fixture_says_where_results_would_come_from(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_results(tabcontam_results): ...")
    _, outcomes = session(pytester)
    assert "no results; give --tabcontam-report RUN_DIR, or mark tests uncontaminated" in outcomes["test_results"]


def test_a_mark_may_ask_until_a_table_is_decided() -> None:
    mark = partial(uncontaminated, "llama3", "iris", contaminated="fail", undecided="skip")
    asked = [
        mark().asking,
        mark(min_power=0.1).asking,
        mark(until_decided=True).asking,
        mark(until_decided=True, min_power=0.1).asking,
    ]
    assert [each.until_decided and each.min_power for each in asked] == [False, False, MIN_POWER, 0.1]


def test_a_mark_asks_no_more_than_its_verdict_needs(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        f"""
        import pytest
        @pytest.mark.uncontaminated("{CLEAN}", "iris", until_decided=True)
        def test_clean(): ...
        """
    )
    session(pytester)[0].assert_outcomes(passed=1)
    (results,) = pytester.path.rglob("results.json")
    run = load_results(results.parent).run_results
    assert run.run.until_decided == MIN_POWER
    assert [table.decided_after for table in run.tables if table.llm == CLEAN] != [None]


def test_a_table_of_a_file_is_told_from_what_it_was_before_by_the_file(tmp_path: Path) -> None:
    (tmp_path / "my.db").write_bytes(b"first")
    assert _source(f"{tmp_path}/my.db#ships") == str(tmp_path / "my.db")
    assert _source("https://example.org/my.csv#ships") == "https://example.org/my.csv#ships"
    assert _source("openml:61") == "openml:61"


def test_a_mark_names_what_an_llm_was_trained_on() -> None:
    said: dict[str, Any] = {"contaminated": "fail", "undecided": "skip"}
    asking = uncontaminated("llama3", "iris", trained_on="corpus:dumps/", **said).asking
    assert asking.trained_on == ("corpus:dumps/",)
    assert uncontaminated("llama3", "iris", trained_on=["corpus:a", "corpus:b"], **said).asking != asking
    wrongs: tuple[Any, ...] = ("", 3, [""])
    for wrong in wrongs:
        with pytest.raises(ValueError, match="trained_on is a name, or several"):
            uncontaminated("llama3", "iris", trained_on=wrong, **said)


def test_a_mark_names_a_reference_or_several() -> None:
    said: dict[str, Any] = {"contaminated": "fail", "undecided": "skip"}
    asking = uncontaminated("llama3", "iris", reference="mistral", **said).asking
    assert asking == uncontaminated("llama3", "iris", reference=["mistral"], **said).asking
    several = uncontaminated("llama3", "iris", reference=("mistral", "phi"), **said).asking
    assert (asking.reference, several.reference) == (("mistral",), ("mistral", "phi"))
    assert uncontaminated("llama3", "iris", reference=None, **said).asking.reference == ()
    wrongs: tuple[Any, ...] = ("", 3, [""], {"mistral"})
    for wrong in wrongs:
        with pytest.raises(ValueError, match="reference is a name, or several"):
            uncontaminated("llama3", "iris", reference=wrong, **said)


def test_several_references_stand_beside_the_llm_of_a_mark(pytester: pytest.Pytester) -> None:
    """Named twice, one is an error that says so, and no test is run on half of what it asks for."""
    pytester.makepyfile(
        f"""
        import pytest
        two = ["simulated:mode", "simulated:decliner", "simulated:guesser"]
        @pytest.mark.uncontaminated("simulated:oracle", "wine", reference=two, max_memory_share=0.9, rows=20, queries=8)
        def test_beside(): ...
        @pytest.mark.uncontaminated("{CLEAN}", "iris", reference=["simulated:mode", "b=simulated:mode"])
        def test_twice(): ...
        """
    )
    _, outcomes = session(pytester)
    assert outcomes["test_twice"].startswith(
        "error: tabcontam: reference: b=simulated:mode is simulated:mode, which is named already"
    )
    (results,) = pytester.path.rglob("results.json")
    run = load_results(results.parent).run_results
    assert [llm.spec for llm in run.run.references] == ["simulated:mode", "simulated:decliner", "simulated:guesser"]
    (cell,) = [cell for cell in run.results if cell.evidence.memory]
    assert cell.evidence.memory is not None
    assert cell.evidence.memory.several_references is not None
    assert [one.llm for one in cell.evidence.memory.several_references.references] == [
        "simulated:mode",
        "simulated:guesser",
    ]


def test_a_kept_verdict_on_documents_is_of_these_files_as_they_are(tmp_path: Path) -> None:
    deep = tmp_path / "dumps" / "deep"
    deep.mkdir(parents=True)
    (deep / "page.txt").write_text("a row")
    states = [_corpus_state(f"mine=corpus:{tmp_path / 'dumps'}")]
    (deep / "page.txt").write_text("another row")
    states.append(_corpus_state(f"corpus:{tmp_path / 'dumps'}"))
    assert states[0] != states[1]
    assert _corpus_state("llama3") is _corpus_state("corpus:nowhere") is None
