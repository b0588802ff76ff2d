"""The command line as a user meets it."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tabcontam.asking.query_plan import RunSource, plan
from tabcontam.cli.commands import main
from tabcontam.config import RunConfig
from tabcontam.evidence.base import Query
from tabcontam.evidence.registry import all_tests
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.runs.folder import new_folder
from tabcontam.tables.serializers import DEFAULT, load_serializers
from tabcontam.tables.table import load_table
from tests.commands import FILES, environment, tabcontam
from tests.loopback import LoopbackServer, Response, error, reply
from tests.results_schema import checked
from tests.usual import USUAL

HEAVY = (
    "argcomplete",
    "pandas",
    "scipy",
    "sklearn",
    "openai",
    "numpy",
    "rich",
    "jinja2",
    "enchant",
    "scipy.stats",
    "scipy.optimize",
)
ARITHMETIC = ("numpy", "scipy")  # of which the tests themselves need a little
PATIENCE = 180  # seconds for a process that takes three, on a machine with other work
PASSAGES = 200  # that are scored where the server turns out to do so
PROBES = 2  # requests of the first passage, which find out that a server scores no text
STARTED = ("recognition_features", "feature_completion", "perplexity")  # tests that processes ask: three kinds
SIMULATED = ("run", "--llm", "simulated:oracle", "--no-controls", "--dataset", "iris")
FEW = (*SIMULATED, "-k", "feature_completion or recognition")
ASKED = ("--dataset", "iris", "-k", " or ".join(STARTED))


def complaints(done: "subprocess.CompletedProcess[str]") -> list[str]:
    """Standard error without what a slow machine has time to say before: what the command is doing."""
    doing = ("tabcontam 0", "looking ", "reading ", "preparing ", "connecting")
    return [line for line in done.stderr.splitlines() if not line.startswith(doing)]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that is over; a test that changes it copies it."""
    folder = tmp_path_factory.mktemp("finished")
    tabcontam(*SIMULATED, "--out", "run", cwd=folder)
    return folder / "run"


@lru_cache(maxsize=2)
def planned(*chosen: str) -> list[Query]:
    """What is to be asked about iris by the chosen tests, or by all that a run asks."""
    iris, form = load_table("iris"), load_serializers()[DEFAULT]
    tests = [test for test in USUAL if not chosen or test.id in chosen]
    cells = plan([RunSource(SimulatedModel("oracle"))], [iris], [form], tests, RunConfig())
    return [query for cell in cells for query in cell.queries]


def to_ask(*chosen: str) -> int:
    """How many queries there are about iris."""
    return len(planned(*chosen))


def to_send(*chosen: str) -> int:
    """How many requests they take: two of its rows are the same, and so may be what is asked about them."""
    return len({(query.prompt, query.max_tokens) for query in planned(*chosen)})


def document(folder: Path) -> dict[str, list[dict[str, Any]]]:
    loaded: dict[str, list[dict[str, Any]]] = json.loads((folder / "results.json").read_text("utf-8"))
    checked(loaded)
    return loaded


@pytest.mark.slow
def test_the_demo_runs_offline_without_a_key(tmp_path: Path) -> None:
    """Both controls on iris and wine. The docs' own `python -m tabcontam run` asks all tests."""
    done = tabcontam("run", "-k", "completion or membership and not matched", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "reports").iterdir()
    assert {path.name for path in folder.iterdir()} == FILES
    assert f"reports/{folder.name}/index.html" in done.stdout
    verdicts = {(cell["llm"], cell["dataset"], cell["test"]): cell["verdict"] for cell in document(folder)["results"]}
    for dataset in ("iris", "wine"):
        for test in ("incomplete_completion", "full_completion", "feature_completion"):
            assert verdicts["control:exposed", dataset, test] == "contaminated"
            assert verdicts["control:unexposed", dataset, test] == "not detected"
        assert verdicts["control:exposed", dataset, "membership"] == "skipped"
    assert "\x1b[" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("run --datset x.csv", "run takes no '--datset'; did you mean --dataset?; see tabcontam run --help"),
        ("run x.csv", "run takes no 'x.csv'; did you mean --dataset x.csv?; see tabcontam run --help"),
        (
            "gate here --min_power=0.2",
            "gate takes no '--min_power'; did you mean --min-power?; see tabcontam gate --help",
        ),
        ("report here --formt csv", "report takes no '--formt'; did you mean --format?; see tabcontam report --help"),
        ("cache --xyzzy", "cache takes no '--xyzzy'; see tabcontam cache --help"),
    ],
)
def test_a_misspelt_option_names_the_nearest_one_of_its_command(
    arguments: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments.split())
    assert (ended.value.code, capsys.readouterr().err) == (4, f"tabcontam: {line}\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("commands", "heavy"),
    [
        (["list datasets -v", "list llms -v", "list serializers -v", "list prompts -v", "--help"], HEAVY),
        (["list tests -v"], [name for name in HEAVY if name not in ARITHMETIC]),
        (["--help"], ["dataclasses", "tabcontam.config"]),
    ],
)
def test_help_and_list_import_nothing_heavy(commands: list[str], heavy: Sequence[str]) -> None:
    program = (
        "import sys, tabcontam.cli.commands as cli\n"
        f"for command in {commands!r}:\n"
        "    try: assert cli.main(command.split()) == 0\n"
        "    except SystemExit as end: assert end.code == 0\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("what", ["datasets", "llms", "tests", "serializers", "prompts"])
def test_list_as_text_and_as_json(what: str) -> None:
    names = [item["name"] for item in json.loads(tabcontam("list", what, "--json").stdout)]
    lines = tabcontam("list", what).stdout.splitlines()
    assert len(names) == len(lines)
    assert all(line.startswith(name) for name, line in zip(names, lines, strict=True))


def test_list_tests_prints_every_docstring() -> None:
    text = tabcontam("list", "tests", "-v").stdout
    for test in all_tests():
        assert test.id in text
        assert (test.__doc__ or "").splitlines()[0] in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--dataset", "irsi"], "unknown dataset 'irsi'; did you mean iris"),
        (["run", "--dataset", "iris@uic"], "edition"),
        (["run", "--serializer", "equal"], "unknown serializer 'equal'; did you mean equals"),
        (["run", "--prompts", "papr"], "unknown prompt set 'papr'; did you mean paper"),
        (
            ["gate", "--llm", "t0", "--dataset", "iris", "--prompts", "nowhere.toml"],
            "prompt set nowhere.toml cannot be read",
        ),
        (["run", "--llm", "opnai:x"], "unknown provider 'opnai'; did you mean openai"),
        (["run", "--llm", "llama3"], "Llama"),
        (["run", "--llm", "lama3"], "unknown model 'lama3'; did you mean llama-3"),
        (["run", "--llm", "xyzzy"], "unknown model 'xyzzy'; see list llms, or write PROVIDER:MODEL"),
        (["run", "--llm", "llama3:8b"], "unknown provider 'llama3'; did you mean ollama:llama3:8b?"),
        (["run", "--llm", "gemini-1.5"], "Gemini 1.5 Pro was retired on 2025-09-24; its successor is gemini-"),
        (["run", "--llm", "ollama:llama3"], "no server answers at http://127.0.0.1:9/v1"),
        (["run", "--form", "poem"], "--form"),
        (["run", "--batch-size", "0"], "--batch-size"),
        (["run", "--llm", "control:exposd"], "did you mean exposed"),
        (["run", "--llm", "simulated:"], "names no model"),
        (["run", "--llm", "openai:gpt-4o"], "OPENAI_API_KEY"),
        (["run", "--llm", "openai:x@http://127.0.0.1:9/v1"], "http://127.0.0.1:9/v1"),
        (["run", "--target", "species"], "--target"),
        (["run", "-k", "a and"], "cannot be read"),
        (["run", "--queries", "0"], "--queries"),
        (["run", "--seed", "one"], "--seed"),
        (["rescore", "nowhere"], "nowhere"),
        (["report", "nowhere"], "nowhere"),
        (["replay", "nowhere.jsonl"], "nowhere.jsonl"),
        (["run", "--dataset", "nowhere.csv"], "nowhere.csv"),
        (["run", "--dataset", "Boston Housing"], "it is not housing (California Housing"),
        (["run", "--out", ""], "--out: '' is not a path"),
        (["run", "-r", "cz"], "-r: 'cz' is not made of the letters cnuaspAN"),
        (["run", "--durations", "0"], "--durations"),
        (["tset"], "tset"),
    ],
)
@pytest.mark.slow
def test_a_bad_input_is_one_line_and_exit_4(tmp_path: Path, arguments: list[str], message: str) -> None:
    done = tabcontam(*arguments, cwd=tmp_path)
    assert done.returncode == 4, done.stderr
    assert len(complaints(done)) == 1
    assert message in done.stderr
    assert not done.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "empty"), (b"a\n1\n2\n", "one column"), (b"a,b\n1,2\n", "one row"), (b"\x00\x01\x02\x03" * 50, "bad.csv")],
)
def test_a_file_that_is_no_table_is_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "bad.csv").write_bytes(content)
    done = tabcontam("run", "--dataset", "bad.csv", cwd=tmp_path)
    assert (done.returncode, len(complaints(done))) == (4, 1), done.stderr
    assert message in done.stderr


def test_a_target_that_is_not_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text("colour,size\n" + "red,1\nblue,2\n" * 5)
    done = tabcontam("run", "--dataset", "my.csv", "--target", "color", cwd=tmp_path)
    assert done.returncode == 4
    assert "colour" in done.stderr


def test_an_out_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = tabcontam(*SIMULATED, "--out", "file/folder", cwd=tmp_path)
    assert (done.returncode, len(complaints(done))) == (4, 1), done.stderr
    assert "--out" in done.stderr


def test_nothing_selected_is_exit_5(tmp_path: Path) -> None:
    done = tabcontam("run", "-k", "nothing", cwd=tmp_path)
    assert done.returncode == 5
    assert "no test matches" in done.stderr


@pytest.mark.slow
def test_json_is_results_json_and_nothing_else(tmp_path: Path) -> None:
    done = tabcontam(*FEW, "--json", "--out", "run", cwd=tmp_path)
    assert json.loads(done.stdout) == document(tmp_path / "run")


@pytest.mark.slow
@pytest.mark.parametrize(("color", "coloured"), [("auto", False), ("always", True), ("never", False)])
def test_a_pipe_gets_colours_only_where_they_are_asked_for(finished: Path, color: str, coloured: bool) -> None:
    done = tabcontam("report", str(finished), "--out", "joined", "--color", color, cwd=finished.parent)
    assert ("\x1b[" in done.stdout) is coloured
    assert "short test" not in done.stdout


@pytest.mark.slow
def test_the_slowest_cells_and_the_summary_are_chosen(tmp_path: Path) -> None:
    done = tabcontam(*SIMULATED, "--out", "run", "--durations", "2", "-r", "a", cwd=tmp_path)
    slowest = done.stdout.split("slowest 2 results")[1].splitlines()[1:3]
    assert all(re.match(r"\d+\.\d\ds simulated:", line) for line in slowest)
    about: Any = document(tmp_path / "run")["run"]
    took = [fact["seconds"] for fact in about["durations"]]
    assert float(slowest[0].split("s ")[0]) == round(max(took), 2)
    assert "8 contaminated" in done.stdout
    assert "short summary info" not in done.stdout


@pytest.mark.slow
def test_a_dry_run_asks_and_writes_nothing(tmp_path: Path) -> None:
    with LoopbackServer(lambda body: "42") as server:
        spec = f"openai:model@{server.url}"
        done = tabcontam("run", "--llm", spec, "--dataset", "iris", "--dry-run", cwd=tmp_path)
        assert [request.method for request in server.requests] == ["GET"]  # the version, which stored replies go by
    assert done.returncode == 0, done.stderr
    assert f"{spec}: 0 of {to_ask() + PASSAGES} queries are answered already, " in done.stdout
    assert "perplexity  up to 200 to ask, if it has log-probabilities" in done.stdout
    cells = 3 * len(USUAL)  # those of the model and of both controls
    assert f"requests for {cells} results, at most $0.00; nothing was asked" in done.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_name_goes_to_the_ollama_that_has_it_and_the_report_says_so(tmp_path: Path) -> None:
    asked = ["run", "--llm", "Llama-3", "--dataset", "iris", "-k", "recognition", "--no-controls", "--out", "run"]
    with LoopbackServer(lambda body: "Iris", models=["llama3:latest"]) as server:
        done = tabcontam(*asked, cwd=tmp_path, OLLAMA_HOST=server.url.removesuffix("/v1"))
        assert {body["model"] for body in server.asked} == {"llama3"}
    assert done.returncode == 0, done.stderr
    run: dict[str, Any] = json.loads((tmp_path / "run/results.json").read_text("utf-8"))
    assert {cell["llm"] for cell in run["results"]} == {"Llama-3"}
    assert run["run"]["llms"][0]["resolved"] == "ollama:llama3 (the instruct model)"
    assert "llm: Llama-3 (ollama:llama3 (the instruct model))" in done.stdout
    assert "ollama:llama3" in (tmp_path / "run/index.html").read_text("utf-8")


def test_runs_of_the_same_second_have_a_folder_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    moment = datetime(2026, 11, 21, 12, 0, 0)
    folders = []
    for _ in range(3):
        folders.append(new_folder(moment))
        folders[-1].mkdir(parents=True)
    assert [str(folder) for folder in folders] == [f"reports/2026-11-21T12-00-00{end}" for end in ("", "-2", "-3")]


def test_a_folder_is_not_continued_by_another_model_of_the_same_name(tmp_path: Path) -> None:
    asked = ["run", "--llm", "llama3", "--dataset", "iris", "-k", "recognition", "--no-controls", "--out", "run"]
    for tag, code in (("llama3", 0), ("llama3:8b", 4)):
        with LoopbackServer(lambda body: "Iris", models=[tag]) as server:
            done = tabcontam(*asked, cwd=tmp_path, OLLAMA_HOST=server.url.removesuffix("/v1"))
        assert done.returncode == code, done.stderr
    assert "llama3 is ollama:llama3 (the instruct model), now it is ollama:llama3:8b" in done.stderr


@pytest.mark.slow
def test_the_form_can_be_forced(tmp_path: Path) -> None:
    with LoopbackServer(lambda body: "Iris", models=["small"]) as server:
        spec = f"openai:small@{server.url}"
        asked = ["run", "--llm", spec, "--form", "completion", "--dataset", "iris", "-k", "recognition", "--out", "run"]
        assert tabcontam(*asked, cwd=tmp_path).returncode == 0
        assert all("prompt" in body for body in server.asked)


def test_a_dry_run_as_json(tmp_path: Path) -> None:
    plan = json.loads(tabcontam(*SIMULATED, "--dry-run", "--json", cwd=tmp_path).stdout)
    assert len(plan["results"]) == len(USUAL)
    assert plan["rows_leaving"] == []


def test_a_server_that_fails_every_request_is_exit_4(tmp_path: Path) -> None:
    with LoopbackServer(lambda body: error(401, "bad key"), models=["small"]) as server:
        spec = f"openai:small@{server.url}"
        arguments = ["run", "--llm", spec, "--dataset", "iris", "-k", "recognition", "--out", "run"]
        arguments += ["--max-connections", "2"]
        done = tabcontam(*arguments, cwd=tmp_path)
    assert done.returncode == 4
    assert "no LLM could be reached: " in done.stderr
    assert "HTTP 401: bad key" in done.stderr
    assert len(server.asked) <= 16  # what was on its way, and no second try
    verdicts = {cell["verdict"] for cell in document(tmp_path / "run")["results"] if cell["llm"] == spec}
    assert verdicts == {"no answer"}


@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
def test_two_files_of_the_same_bytes_are_both_asked(tmp_path: Path) -> None:
    rng = Random(1)
    rows = "\n".join(f"{number},{rng.randrange(10**4)},{rng.randrange(10**4)}" for number in range(30))
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(f"id,score,weight\n{rows}\n")
    arguments = ["run", "--llm", "simulated:oracle", "--no-controls", "--dataset", "a.csv", "--dataset", "b.csv"]
    arguments += ["-k", "completion"]
    assert tabcontam(*arguments, "--out", "run", cwd=tmp_path).returncode == 0
    found = {(cell["dataset"], cell["verdict"]) for cell in document(tmp_path / "run")["results"]}
    assert found >= {("a.csv", "contaminated"), ("b.csv", "contaminated")}


@pytest.mark.slow
def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -m tabcontam {' '.join(SIMULATED)} -k recognition | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "0"
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_an_openai_compatible_server_is_asked_in_chat_form(tmp_path: Path) -> None:
    with LoopbackServer(lambda body: "I cannot say.", models=["small"]) as server:
        spec = f"openai:small@{server.url}"
        done = tabcontam("run", "--llm", spec, "--dataset", "iris", "--no-controls", "--out", "run", cwd=tmp_path)
        asked = len(server.asked)
    assert done.returncode == 0, done.stderr
    cells = document(tmp_path / "run")["results"]
    assert sum(int(str(cell["queries"])) for cell in cells) == to_ask()
    assert asked == to_send() + PROBES
    assert {cell["verdict"] for cell in cells} == {"no answer", "skipped"}
    assert "not detected" not in done.stdout.replace(". not detected", "").split("short summary")[-1]


def test_a_model_that_is_not_there_suggests_one_that_is(tmp_path: Path) -> None:
    with LoopbackServer(lambda body: "x", models=["llama3:8b"]) as server:
        done = tabcontam("run", "--llm", f"openai:llama3@{server.url}", "--dataset", "iris", cwd=tmp_path)
    assert done.returncode == 4
    assert "llama3:8b" in done.stderr


@pytest.mark.slow
def test_the_same_seed_writes_the_same_results(tmp_path: Path) -> None:
    def stripped(folder: Path) -> object:
        return document(folder)["results"]

    for name, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        done = tabcontam(*SIMULATED, "--queries", "20", "--seed", seed, "--out", name, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert stripped(tmp_path / "a") == stripped(tmp_path / "b")
    first, second, third = ((tmp_path / name / "trials.jsonl").read_text() for name in "abc")
    assert sorted(first.splitlines()) == sorted(second.splitlines()) != sorted(third.splitlines())


@pytest.mark.slow
def test_a_folder_is_not_continued_by_a_run_without_its_cells(tmp_path: Path) -> None:
    tabcontam(*SIMULATED, "--queries", "5", "--out", "run", cwd=tmp_path)
    arguments = ["run", "--llm", "simulated:oracle", "--no-controls", "--queries", "5", "--out", "run"]
    done = tabcontam(*arguments, "--dataset", "wine", cwd=tmp_path)
    assert done.returncode == 4
    assert "which this run does not ask" in done.stderr
    done = tabcontam(*arguments, "--dataset", "wine", "--dataset", "iris", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(document(tmp_path / "run")["results"]) == 2 * len(USUAL)


@pytest.mark.slow
def test_fewer_queries_in_the_same_folder_are_rescored_as_fewer(tmp_path: Path) -> None:
    for count in ("5", "2"):
        tabcontam(*SIMULATED, "--queries", count, "--out", "run", cwd=tmp_path)
    before = document(tmp_path / "run")
    assert tabcontam("rescore", "run", cwd=tmp_path).returncode == 0
    assert document(tmp_path / "run")["results"] == before["results"]


@pytest.mark.slow
def test_the_papers_queries_alone_by_the_command_line(tmp_path: Path) -> None:
    asked = ("run", "--llm", "simulated:guesser", "--no-controls", "--dataset", "wine", "--queries", "paper")
    plan = tabcontam(*asked, "--dry-run", cwd=tmp_path).stdout
    assert plan.count("only the paper's own queries: left out are matched_membership and perplexity whole and ") == 1
    assert re.search(r"membership +100 to ask", plan)
    document_of_plan = json.loads(tabcontam(*asked, "--dry-run", "--json", cwd=tmp_path).stdout)
    assert document_of_plan["left_out"] in plan
    done = tabcontam(*asked, "--rules", "paper", "-k", "membership or list", "--out", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "only the paper's own queries" in done.stdout.replace("\n", " ")
    found: dict[str, Any] = document(tmp_path / "run")
    assert found["run"]["queries"] == "paper"
    assert {cell["test"]: cell["queries"] for cell in found["results"]} == {
        "feature_list_informed": 3, "feature_list_uninformed": 1, "membership": 100,
    }  # fmt: skip
    assert all(json.loads(line)["paper"] for line in (tmp_path / "run" / "trials.jsonl").read_text().splitlines())
    assert "only the paper&#39;s own queries" in (tmp_path / "run" / "index.html").read_text("utf-8")
    refused = tabcontam(*asked, "-k", "matched", cwd=tmp_path)
    assert (refused.returncode, "queries of the paper's own" in refused.stderr) == (5, True)


@pytest.mark.slow
def test_the_ranking_has_the_columns_of_one_who_refuses(tmp_path: Path) -> None:
    llms = [part for kind in ("memoriser:0.5", "refuser", "guesser") for part in ("--llm", f"simulated:{kind}")]
    done = tabcontam(
        "run", *llms, "--no-controls", "--dataset", "wine", "--queries", "20", "--out", "run", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = document(tmp_path / "run")
    ranks = {rank["llm"]: rank for rank in found["ranking"]}
    refuser, memoriser = ranks["simulated:refuser"], ranks["simulated:memoriser:0.5"]
    assert (refuser["score"], refuser["score_all"], refuser["score_shared"]) == (None, 0.0, None)
    assert 0 < memoriser["score_all"] < memoriser["score"] == memoriser["score_shared"]
    assert (memoriser["zero_shot"], memoriser["one_shot"]) == (None, None)  # wine's classes are codes
    own = [cell for cell in found["results"] if cell["test"].startswith("classification")]
    assert all("class_0" in cell["not_averaged"] for cell in own)
    assert all(cell["score"] is not None for cell in own if cell["llm"] != "simulated:refuser")
    shown = " ".join(done.stdout.split())
    assert "LLM contam. all member. 0-shot 1-shot" in shown
    assert "The means of 0-shot and 1-shot leave out wine, since no model can know" in shown
    again = tabcontam("rescore", "run", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert {rank["llm"]: rank for rank in document(tmp_path / "run")["ranking"]} == ranks


def test_a_folder_of_replayed_answers_is_no_run(tmp_path: Path) -> None:
    record = {"llm": "m", "dataset": "d", "serialization": None, "test_id": "2", "test": "feature_list_uninformed"}
    record |= {"output": "qwxz", "expected": "['qwxz']", "matches": "{'qwxz': True}", "file": "f"}
    (tmp_path / "records.jsonl").write_text(json.dumps({**record, "decision": True}) + "\n")
    done = tabcontam("replay", "records.jsonl", "--rules", "paper", "--out", "replayed", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "results: 1 (1 contaminated)" in done.stdout
    for command in ("rescore", "report", "gate"):
        done = tabcontam(command, "replayed", cwd=tmp_path)
        assert (done.returncode, "not a run" in done.stderr) == (4, True), done.stderr


@pytest.mark.slow
def test_two_runs_in_one_folder_do_not_pay_twice(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with slow(1) as server:
        first = started(server, folder)
        wait_for(1, folder)
        second = tabcontam(*asked_of(server, folder))
        first.kill()
        first.communicate()
    assert "in use by another run" in second.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:100], "not readable JSON; delete that file"),
        (lambda text: text.replace('"rules"', '"rulez"'), "run: rules is missing"),
        (
            lambda text: text.replace('"serializer": "is"', '"serializer": 1'),
            "serializer: Input should be a valid string",
        ),
        (lambda text: re.sub(r'"queries": \d+', '"queries": null', text), "queries: None is no integer"),
        (
            lambda text: text.replace('"test": "full_', '"test": "fuller_'),
            "run.tests does not describe the test 'fuller_completion'",
        ),
    ],
)
@pytest.mark.parametrize("command", ["rescore", "report", "gate"])
def test_a_damaged_results_file_is_one_line(
    tmp_path: Path, finished: Path, command: str, change: Callable[[str], str], message: str
) -> None:
    shutil.copytree(finished, tmp_path / "run", ignore=shutil.ignore_patterns("index.html"))  # no run's own any more
    path = tmp_path / "run" / "results.json"
    path.write_text(change(path.read_text()))
    done = tabcontam(command, "run", cwd=tmp_path)
    assert (done.returncode, len(complaints(done))) == (4, 1), done.stderr
    assert message in done.stderr


def answered_in(run: dict[str, list[dict[str, Any]]]) -> int:
    return sum(cell["answered"] for cell in run["results"])


@pytest.mark.slow
def test_damaged_trials_are_asked_again_and_never_judged(tmp_path: Path) -> None:
    tabcontam(*FEW, "--out", "run", cwd=tmp_path)
    before = document(tmp_path / "run")
    path = tmp_path / "run" / "trials.jsonl"
    lines = path.read_text().splitlines()
    damaged = next(number for number, line in enumerate(lines) if '"query": "feature_completion-9"' in line)
    lines[damaged] = lines[damaged].replace('"state": "ok"', '"state": "fine"')
    path.write_text("\n".join(["[1]", "{}", '{"query": 0}', "not json", *lines]) + "\n")
    assert tabcontam("rescore", "run", cwd=tmp_path).returncode == 0
    assert answered_in(document(tmp_path / "run")) == answered_in(before) - 1
    assert tabcontam(*FEW, "--out", "run", cwd=tmp_path).returncode == 0
    assert document(tmp_path / "run")["results"] == before["results"]
    path.unlink()
    done = tabcontam("rescore", "run", cwd=tmp_path)
    assert (done.returncode, "is incomplete" in done.stderr) == (4, True)


@pytest.mark.slow
def test_another_seed_does_not_go_into_the_same_folder(tmp_path: Path) -> None:
    tabcontam(*FEW, "--out", "run", cwd=tmp_path)
    done = tabcontam(*FEW, "--seed", "1", "--out", "run", cwd=tmp_path)
    assert (done.returncode, "seed 0" in done.stderr) == (4, True)


@pytest.mark.slow
def test_rescore_knows_the_forms_of_rows_from_the_results(tmp_path: Path) -> None:
    forms = [word for name in ("csv", "json", "markdown") for word in ("--serializer", name)]
    asked = [
        "--llm",
        "simulated:formatter",
        "--no-controls",
        "--dataset",
        "iris",
        "-k",
        "completion",
        "--queries",
        "20",
    ]
    tabcontam("run", *asked, *forms, "--out", "run", cwd=tmp_path)
    before = document(tmp_path / "run")
    assert tabcontam("rescore", "run", cwd=tmp_path).returncode == 0
    assert document(tmp_path / "run")["results"] == before["results"]
    hits = {(cell["test"], cell["serializer"]): cell["hits"] for cell in before["results"]}
    assert all(hits[test, "csv"] == hits[test, form] > 0 for test, form in hits)


def test_rescore_says_which_form_it_does_not_know(tmp_path: Path) -> None:
    asked = ["--llm", "simulated:oracle", "--no-controls", "--dataset", "iris", "-k", "full_completion"]
    tabcontam("run", *asked, "--serializer", "csv", "--out", "run", cwd=tmp_path)
    text = (tmp_path / "run" / "results.json").read_text("utf-8")
    (tmp_path / "run" / "results.json").write_text(text.replace('"form": "csv"', '"form": "parquet"'), "utf-8")
    done = tabcontam("rescore", "run", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (4, 1)
    assert "the serializer 'csv' has the form 'parquet'; known: template, csv, json, markdown" in done.stderr


@pytest.mark.slow
def test_rescore_judges_again_without_asking(tmp_path: Path) -> None:
    asked = ("--llm", "simulated:formatter", "--no-controls", "--dataset", "wine", "--queries", "8")
    tabcontam("run", *asked, "--out", "run", cwd=tmp_path)
    before = document(tmp_path / "run")
    assert tabcontam("rescore", "run", cwd=tmp_path).returncode == 0
    assert document(tmp_path / "run")["results"] == before["results"]
    assert tabcontam("rescore", "run", "--rules", "paper", cwd=tmp_path).returncode == 0
    cells = document(tmp_path / "run")["results"]
    assert {cell["verdict"] for cell in cells if cell["test"] == "full_completion"} == {"not detected"}
    assert tabcontam("rescore", "run", "--rules", "calibrated", cwd=tmp_path).returncode == 0
    assert document(tmp_path / "run")["results"] == before["results"]


@pytest.mark.slow
def test_one_report_from_two_runs(tmp_path: Path) -> None:
    for kind in ("oracle", "decliner"):
        llm = f"simulated:{kind}"
        asked = ("--llm", llm, "--no-controls", "--dataset", "iris", "--queries", "5")
        tabcontam("run", *asked, "--out", kind, cwd=tmp_path)
    done = tabcontam("report", "oracle", "decliner", "--out", "both", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    both = document(tmp_path / "both")
    assert len(both["results"]) == 2 * len(USUAL)
    assert [line["llm"] for line in both["ranking"]] == ["simulated:oracle", "simulated:decliner"]


def slow(latency: float) -> LoopbackServer:
    body = reply("I cannot say.").body
    return LoopbackServer(lambda request: Response(body, latency=latency), models=["slow"])


LASTING = """
import signal, sys
from tabcontam.cli import commands

def lasting(options):
    signal.raise_signal(signal.SIGTERM)
    raise AssertionError("it went on")

commands.list_names = lasting
sys.exit(commands.main(["list", "tests"]))
"""


@contextmanager
def handled(number: signal.Signals, handler: Any = signal.SIG_DFL) -> Iterator[None]:
    """Handle a signal so meanwhile; by default as usual, also where what started the tests ignores it."""
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


def asked_of(server: LoopbackServer, folder: Path) -> list[str]:
    """The command that asks a server's model."""
    command = ["run", "--llm", f"openai:slow@{server.url}", "--no-controls", *ASKED]
    return [*command, "--out", str(folder), "--max-connections", "2"]


def started(server: LoopbackServer, folder: Path, number: signal.Signals = signal.SIGINT) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tabcontam", *asked_of(server, folder)]
    with handled(number):  # a new process has what is ignored here ignored, too
        return subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def answered(folder: Path) -> int:
    path = folder / "trials.jsonl"
    return path.read_text("utf-8").count("\n") if path.exists() else 0


def wait_for(count: int, folder: Path) -> None:
    end = time.monotonic() + PATIENCE
    while answered(folder) < count:
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
def test_ctrl_c_or_a_scheduler_writes_the_report_of_what_there_is(tmp_path: Path, number: signal.Signals) -> None:
    with slow(0.05) as server:
        process = started(server, tmp_path / "run", number)
        wait_for(5, tmp_path / "run")
        process.send_signal(number)
        output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2, errors
    assert "continue with the same command" in errors
    assert "Traceback" not in errors
    cells = document(tmp_path / "run")["results"]
    assert "not detected" not in {cell["verdict"] for cell in cells}
    assert "interrupted" in output


@pytest.mark.slow
@pytest.mark.parametrize("ctrl_c", [signal.SIG_DFL, signal.SIG_IGN], ids=["usual", "ignored"])
def test_a_scheduler_ends_a_command_also_where_ctrl_c_is_ignored(ctrl_c: signal.Handlers) -> None:
    with handled(signal.SIGINT, ctrl_c), handled(signal.SIGTERM):
        done = subprocess.run([sys.executable, "-c", LASTING], capture_output=True, text=True, check=False)
    assert (done.returncode, len(complaints(done))) == (2, 1), done.stderr
    assert "interrupted" in done.stderr


@pytest.mark.slow
def test_a_terminal_that_goes_leaves_the_report_of_what_there_is(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with slow(0.05) as server:
        ours, theirs = os.openpty()
        command = [sys.executable, "-m", "tabcontam", *asked_of(server, folder)]
        with handled(signal.SIGHUP):
            process = subprocess.Popen(
                command, env=environment(), stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
            )
        os.close(theirs)
        wait_for(5, folder)
        os.close(ours)  # what is written to it from now on is an error
        process.send_signal(signal.SIGHUP)
        assert process.wait(PATIENCE) == 2
    assert json.loads((folder / "results.json").read_text())["run"]["interrupted"]


@pytest.mark.slow
def test_a_killed_run_is_continued_and_loses_no_answer(tmp_path: Path) -> None:
    folder, latencies = tmp_path / "run", [0.02]
    body = reply("I cannot say.").body
    with LoopbackServer(lambda request: Response(body, latency=latencies[-1]), models=["slow"]) as server:
        process = started(server, folder)
        wait_for(10, folder)
        process.kill()
        process.communicate()
        kept = answered(folder)
        assert tabcontam("rescore", str(folder)).returncode == 0
        assert {cell["verdict"] for cell in document(folder)["results"]} >= {"no answer", "skipped"}
        before = len(server.asked)
        latencies.append(0)  # nobody waits for what the second run is asked
        again = tabcontam(*asked_of(server, folder))
        assert again.returncode == 0, again.stderr
        (recalled,) = map(int, re.findall(rf"(\d+) of {to_ask(*STARTED)} answered already", again.stderr))
        assert kept <= recalled <= kept + 2  # of each connection a reply may be stored and not yet in the folder
        assert len(server.asked) - before == to_send(*STARTED) - recalled + PROBES


@pytest.mark.slow
def test_rows_of_a_file_leave_only_with_leave(tmp_path: Path) -> None:
    rows = "\n".join(f"{number},{number * 37 % 101},{'yes' if number % 3 else 'no'}" for number in range(30))
    (tmp_path / "my.csv").write_text(f"id,score,label\n{rows}\n")
    arguments = ["run", "--llm", "openai:any@http://192.0.2.1:9/v1", "--no-controls", "--dataset", "my.csv"]
    plan = tabcontam(*arguments, "--dry-run", cwd=tmp_path)
    line = "rows of my.csv and others made of its cells would be shown to openai:any@http://192.0.2.1:9/v1"
    assert line in plan.stdout
    done = tabcontam(*arguments, cwd=tmp_path)
    assert (done.returncode, len(complaints(done))) == (4, 1)
    assert "add --send-rows" in done.stderr


@pytest.mark.slow
def test_a_users_own_serializer_is_known_to_the_controls(tmp_path: Path) -> None:
    (tmp_path / "arrow.toml").write_text('value_separator = " -> "\nfeature_separator = " | "')
    arguments = ["run", "--dataset", "iris", "--serializer", "arrow.toml", "-k", "completion", "--out", "run"]
    assert tabcontam(*arguments, cwd=tmp_path).returncode == 0
    verdicts = {(cell["llm"], cell["test"]): cell["verdict"] for cell in document(tmp_path / "run")["results"]}
    for test in ("incomplete_completion", "full_completion", "feature_completion"):
        assert verdicts["control:exposed", test] == "contaminated"
        assert verdicts["control:unexposed", test] == "not detected"


@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
def test_a_users_own_file_goes_through_the_whole_suite(tmp_path: Path) -> None:
    rng = Random(0)  # what follows from the rows before tells nothing
    rows = "\n".join(
        f'{number},{rng.randrange(1000)},"a, b {rng.randrange(1000)}",{rng.choice(("yes", "no"))}'
        for number in range(60)
    )
    (tmp_path / "my.csv").write_text(f"id,score,note,label\n{rows}\n")
    done = tabcontam("run", "--dataset", "my.csv", "--target", "label", "--out", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    verdicts = {(cell["llm"], cell["test"]): cell["verdict"] for cell in document(tmp_path / "run")["results"]}
    assert verdicts["control:exposed", "incomplete_completion"] == "contaminated"
    assert verdicts["control:exposed", "feature_completion"] == "contaminated"
    assert verdicts["control:exposed", "full_completion"] == "contaminated"


# How much is asked, and what is asked no more


def recognition(server: LoopbackServer, *more: str, out: str = "run") -> list[str]:
    """A run of a few queries of the server's model."""
    arguments = ["run", "--llm", f"openai:small@{server.url}", "--dataset", "iris", "--no-controls"]
    return [*arguments, "-k", "recognition or domain", "--out", out, *more]


def facts(folder: Path) -> dict[str, Any]:
    """What results.json says of the run itself."""
    loaded: dict[str, Any] = json.loads((folder / "results.json").read_text("utf-8"))["run"]
    return loaded


def small(answer: Callable[[dict[str, Any]], str | Response] = lambda body: "Iris") -> LoopbackServer:
    return LoopbackServer(answer, models=["small"])


def charged(tokens: int) -> Response:
    """A reply for which the server counts so many tokens each way."""
    answer = reply("Iris", tokens=tokens)
    body = answer.body
    assert isinstance(body, dict)
    return Response({**body, "usage": {"prompt_tokens": tokens, "completion_tokens": tokens}})


@pytest.mark.slow
def test_a_second_run_into_another_folder_asks_nothing(tmp_path: Path) -> None:
    with small() as server:
        assert tabcontam(*recognition(server, out="first"), cwd=tmp_path).returncode == 0
        asked = len(server.asked)
        done = tabcontam(*recognition(server, out="second"), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert len(server.asked) == asked > 0
        assert document(tmp_path / "first")["results"] == document(tmp_path / "second")["results"]
        lines = [json.loads(line) for line in (tmp_path / "second/trials.jsonl").read_text("utf-8").splitlines()]
        assert {line["cached"] for line in lines} == {True}
        assert facts(tmp_path / "second")["llms"][0]["requests"] == 0


def test_without_the_cache_no_reply_is_stored(tmp_path: Path, cache: Path) -> None:
    with small() as server:
        assert tabcontam(*recognition(server, "--no-cache"), cwd=tmp_path).returncode == 0
    assert not list(cache.rglob("replies*"))


def test_cache_tells_what_is_stored_and_drops_it(tmp_path: Path, cache: Path) -> None:
    with small() as server:
        tabcontam(*recognition(server), cwd=tmp_path)
        asked, spec = len(server.asked), f"openai:small@{server.url}"
    told = tabcontam("cache")
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith(str(cache))
    assert f"{asked} replies" in told.stdout
    assert f"{asked}  {spec}" in told.stdout
    dropped = tabcontam("cache", "--clear").stdout
    assert dropped.splitlines()[0] == f"{asked} stored replies deleted"
    assert "0 replies" in dropped.splitlines()[1]
    assert json.loads(tabcontam("cache", "--json").stdout)["replies"] == 0


@pytest.mark.slow
def test_never_more_requests_than_allowed(tmp_path: Path) -> None:
    with small() as server:
        arguments = ["run", "--llm", f"openai:small@{server.url}", "--dataset", "iris", "--no-controls"]
        done = tabcontam(*arguments, "--max-requests", "5", "--out", "run", cwd=tmp_path)
        assert len(server.asked) == 5
    assert done.returncode == 0, done.stderr
    assert "--max-requests 5 is reached" in done.stdout
    assert facts(tmp_path / "run")["limit"] == "--max-requests 5 is reached"
    assert facts(tmp_path / "run")["llms"][0]["requests"] == 5
    unasked = [cell for cell in document(tmp_path / "run")["results"] if "--max-requests 5" in str(cell["reason"])]
    assert len(unasked) > 5
    assert {cell["verdict"] for cell in unasked} == {"no answer"}


def test_requests_that_fail_count_towards_the_limit(tmp_path: Path) -> None:
    with small(lambda body: error(500, "broken", {"retry-after-ms": "1"})) as server:
        done = tabcontam(*recognition(server, "--max-requests", "5"), cwd=tmp_path)
        assert len(server.asked) == 5
    assert done.returncode == 0, done.stderr
    assert facts(tmp_path / "run")["llms"][0]["retries"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(("dollars", "faulty"), [("0.15", False), ("0.3", True)])
def test_never_more_dollars_than_allowed(tmp_path: Path, dollars: str, faulty: bool) -> None:
    """A token costs a hundredth of a cent, and a reply 20 of them; a prompt is some hundreds at most."""
    asked: list[int] = []

    def answer(body: dict[str, Any]) -> Response:
        if "prompt" in body:
            return error(400, "no log-probabilities")
        asked.append(1)
        return error(500, "broken", {"retry-after-ms": "1"}) if faulty and len(asked) % 3 == 0 else charged(10)

    with small(answer) as server:
        prices = tmp_path / "prices.toml"
        prices.write_text(f'"openai:small@{server.url}" = {{ input = 100.0, output = 100.0 }}\n')
        arguments = ["run", "--llm", f"openai:small@{server.url}", "--dataset", "iris", "--no-controls"]
        arguments += ["--prices", str(prices), "--max-cost", dollars, "--out", "run"]
        done = tabcontam(*arguments, cwd=tmp_path)
        answered = len(asked) - (len(asked) // 3 if faulty else 0)
    assert done.returncode == 0, done.stderr
    assert 0 < len(asked) < to_ask()
    assert answered * 20 * 0.0001 <= float(dollars)
    assert f"--max-cost {dollars} allows no further request" in done.stdout
    (llm,) = facts(tmp_path / "run")["llms"]
    assert llm["dollars"] == pytest.approx(answered * 20 * 0.0001)


def test_a_limit_on_dollars_needs_a_price(tmp_path: Path) -> None:
    arguments = ["run", "--llm", "openai:small@http://192.0.2.1:9/v1", "--dataset", "iris", "--max-cost", "1"]
    done = tabcontam(*arguments, cwd=tmp_path)
    assert (done.returncode, len(complaints(done))) == (4, 1), done.stderr
    assert "no price is known for openai:small@http://192.0.2.1:9/v1" in done.stderr
    assert "--prices" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("amount", ["0", "-1", "nan", "inf", "1e999999999", "much"])
def test_a_limit_that_is_no_sum_is_one_line(tmp_path: Path, amount: str) -> None:
    done = tabcontam(*FEW, f"--max-cost={amount}", cwd=tmp_path)
    if amount == "1e999999999":
        assert done.returncode == 0, done.stderr
    else:
        assert (done.returncode, len(complaints(done))) == (4, 1), done.stderr
        assert "--max-cost" in done.stderr


def test_a_missing_llm_beside_one_that_works_says_so_in_one_line(tmp_path: Path) -> None:
    missing = "openai:gpt-4o"
    with small() as server:
        done = tabcontam(*recognition(server), "--llm", missing, cwd=tmp_path)
        assert len(server.asked) > 0
    assert done.returncode == 0, done.stderr
    cells = [cell for cell in document(tmp_path / "run")["results"] if cell["llm"] == missing]
    (reason,) = {str(cell["reason"]) for cell in cells}
    assert {cell["verdict"] for cell in cells} == {"no answer"}
    assert "OPENAI_API_KEY" in reason
    assert len(reason.splitlines()) == 1
    assert "OPENAI_API_KEY" in " ".join(done.stdout.split())


CANARY = "sk-canary-0123456789abcdefghijklmnopqrstuvwxyz"


@pytest.mark.slow
@pytest.mark.parametrize("answer", [
    lambda body: "Iris",
    lambda body: f"your key is {CANARY}",
    lambda body: error(401, f"Incorrect API key provided: {CANARY}"),
    lambda body: error(400, f"bad request of {CANARY}"),
    lambda body: Response(raw=f"not JSON {CANARY}".encode()),
], ids=["well", "echo", "401", "400", "broken"])  # fmt: skip
def test_a_key_is_in_no_file_and_no_output(
    tmp_path: Path, cache: Path, answer: Callable[[dict[str, Any]], str | Response]
) -> None:
    with small(answer) as server:
        arguments = [*recognition(server, "--max-requests", "3", "-v"), "--max-connections", "2"]
        done = tabcontam(*arguments, cwd=tmp_path, TABCONTAM_API_KEY=CANARY)
        sent = [request.headers.get("authorization") for request in server.requests]
    assert sent
    assert set(sent) == {f"Bearer {CANARY}"}
    files = [path for folder in (tmp_path, cache) for path in folder.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"results.json", "replies.sqlite"}
    assert [path for path in files if CANARY.encode() in path.read_bytes()] == []
    assert CANARY not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
