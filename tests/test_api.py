"""tabcontam from Python: the words of the command line, as a library's."""

import asyncio
import csv
import inspect
import os
import signal
import subprocess
import sys
from ast import literal_eval
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest

import tabcontam
from tabcontam.cli import commands as cli
from tabcontam.cli.arguments import parser
from tabcontam.report.frame import PARTS, frame
from tabcontam.verdicts.document import parse_results
from tests.cli.test_commands import PATIENCE, slow, wait_for
from tests.commands import environment
from tests.installed import LACKING
from tests.report import synthetic

PUBLIC = {"Conclusion", "Results", "Table", "UsageError", "Verdict", "__version__", "join", "load_results", "run"}
PUBLIC |= set() if "fresh" in LACKING else {"Fresh", "fresh"}
QUICK = {"tests": "full_completion", "controls": False}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tabcontam.Results:
    return tabcontam.run(
        ["simulated:memoriser:0.5", "simulated:guesser"], "iris", out=tmp_path_factory.mktemp("api") / "run"
    )


def test_the_public_names_are_exactly_the_exported_ones() -> None:
    assert set(tabcontam.__all__) == PUBLIC <= set(dir(tabcontam))
    for name in PUBLIC:
        assert getattr(tabcontam, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'gate_it'"):
        _ = tabcontam.gate_it


def test_to_import_the_package_imports_nothing_else() -> None:
    program = "import sys; before = set(sys.modules); import tabcontam; print(sorted(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    imported = done.stdout
    assert {name for name in literal_eval(imported) if name.startswith("tabcontam")} == {
        "tabcontam",
        "tabcontam.version",
    }
    assert "pandas" not in imported


def test_every_word_of_the_command_line_is_there() -> None:
    words = vars(parser().parse_args(["run"]))
    of_the_output = {"command", "verbose", "quiet", "summary", "durations", "color", "json", "open"}
    elsewhere = {"dry_run", "no_defaults"}  # of `Results.gate`; a plan is no result
    named = set(words) - of_the_output - elsewhere
    assert named | {"progress"} == set(inspect.signature(tabcontam.run).parameters)


@pytest.mark.slow
def test_a_run_is_the_command_lines_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ours = tabcontam.run("simulated:oracle", "iris", tests="completion", queries=9, seed=3, out="ours")
    assert capsys.readouterr() == ("", "")
    asked = ["--llm", "simulated:oracle", "--dataset", "iris", "-k", "completion", "--queries", "9", "--seed", "3"]
    assert cli.main(["run", *asked, "--out", "theirs"]) == 0
    theirs = tabcontam.load_results("theirs")
    assert ours.document["results"] == theirs.document["results"]
    assert ours.document["tables"] == theirs.document["tables"]
    assert (here / "ours" / "index.html").exists()
    assert ours.document["run"]["command"] == (
        "tabcontam.run(llm='simulated:oracle', dataset='iris', tests='completion', out='ours', queries=9, seed=3)"
    )
    assert tabcontam.load_results(Path("ours")) == ours


def test_the_papers_queries_alone(here: Path) -> None:
    asked = {"tests": "full", "controls": False, "rules": "paper", "cache": False}
    found = tabcontam.run("simulated:guesser", "iris", queries="paper", out="own", **asked)  # type: ignore[arg-type]
    assert found.document["run"]["queries"] == "paper"
    assert [cell["queries"] for cell in found.document["results"]] == [1]
    with pytest.raises(tabcontam.UsageError, match="queries is 'most'"):
        tabcontam.run("simulated:guesser", "iris", queries="most")  # type: ignore[arg-type]


def test_without_a_folder_it_goes_where_the_command_line_puts_it(here: Path) -> None:
    results = tabcontam.run("simulated:guesser", "iris", **QUICK)  # type: ignore[arg-type]
    assert results.folder.parent == Path("reports")
    assert (here / results.folder / "results.json").exists()


def test_progress_goes_to_standard_error_where_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    tabcontam.run("simulated:guesser", "iris", progress=True, **QUICK)  # type: ignore[arg-type]
    out, err = capsys.readouterr()
    assert not out
    assert "simulated:guesser: 30/30 answered" in err


@pytest.mark.slow
def test_what_was_found(made: tabcontam.Results) -> None:
    assert made.verdict("simulated:memoriser:0.5", "iris") is tabcontam.Verdict.CONTAMINATED
    assert made.verdict("simulated:guesser", "Iris") is tabcontam.Verdict.NOT_DETECTED
    assert made.gate().conclusion is tabcontam.Conclusion.CONTAMINATED
    assert made.gate(llm="simulated:guesser", dataset=["iris"]).conclusion is tabcontam.Conclusion.CLEAN
    undecided = made.gate(llm="simulated:guesser", min_power=0.01, fail_on="undecided")
    assert (undecided.conclusion, undecided.exit_code) == (tabcontam.Conclusion.CANNOT_TELL, 1)
    assert {cell.llm for cell in made.results} >= {"control:exposed", "simulated:guesser"}
    assert [rank.llm for rank in made.ranking] == ["simulated:memoriser:0.5", "simulated:guesser"]
    assert len(made.tables) == 4
    assert repr(made).startswith(f"<Results {made.folder}: 4 LLMs, 56 results: 3 contaminated, ")


def test_cells_are_chosen_by_verdicts_that_there_are(made: tabcontam.Results) -> None:
    skipped = made.select(verdict=tabcontam.Verdict.SKIPPED)
    assert (
        skipped == made.select(verdict="skipped") == tuple(cell for cell in made.results if cell.verdict == "skipped")
    )
    with pytest.raises(tabcontam.UsageError, match=r"unknown verdict 'contaminted'; did you mean contaminated\?"):
        made.select(verdict="contaminted")


def test_a_name_that_means_several_tables_is_an_error() -> None:
    serializers = ["is", "equals"]
    results = tabcontam.run("simulated:guesser", "iris", serializer=serializers, **QUICK)  # type: ignore[arg-type]
    with pytest.raises(tabcontam.UsageError, match="mean 2 tables: simulated:guesser on iris is, simulated:guesser on"):
        results.verdict("simulated:guesser", "iris")
    assert results.verdict("simulated:guesser", "iris equals") is tabcontam.Verdict.NOT_DETECTED


def test_prompt_sets_are_told_apart_by_their_names() -> None:
    results = tabcontam.run("simulated:guesser", "iris", prompts=["default", "paper"], **QUICK)  # type: ignore[arg-type]
    assert results.verdict("simulated:guesser", "iris paper") is tabcontam.Verdict.NOT_DETECTED
    assert set(results.to_frame("tables")["prompts"]) == {"default", "paper"}


class TestFrame:
    def test_one_row_a_cell_with_types(self, made: tabcontam.Results) -> None:
        frame = made.to_frame()
        assert len(frame) == len(made.results)
        kinds = {name: str(frame[name].dtype) for name in ("llm", "hits", "p_value", "control", "verdict")}
        wanted = {"llm": "string", "hits": "Int64", "p_value": "Float64", "control": "boolean", "verdict": "category"}
        assert kinds == wanted
        found = frame[(frame["verdict"] == "contaminated") & ~frame["control"]]
        assert set(found["test"]) == {"incomplete_completion", "full_completion", "feature_completion"}
        assert (found["interval_low"] < found["interval_high"]).all()
        assert (found["p_value"] < 0.001).all()

    def test_tables_and_ranking(self, made: tabcontam.Results) -> None:
        assert list(made.to_frame("tables")["llm"]) == [table.llm for table in made.tables]
        ranking = made.to_frame("ranking").set_index("llm")
        assert ranking.loc["simulated:guesser", "score"] == 0
        with pytest.raises(tabcontam.UsageError, match="did you mean tables"):
            made.to_frame("table")  # type: ignore[arg-type]

    def test_the_columns_are_the_same_whatever_was_found(self) -> None:
        empty = tabcontam.Results(Path("run"), parse_results(synthetic.document([])))
        full = tabcontam.Results(Path("run"), parse_results(synthetic.results(["m", "n"], ["adult"])))
        for part in PARTS:
            of_empty, of_full = (frame(each.run_results, part) for each in (empty, full))
            assert list(of_empty.dtypes.items()) == list(of_full.dtypes.items())
        assert set(full.to_frame()["score"].dropna()) == {0.52, 0.4, 0.0222}

    def test_what_models_wrote_stays_as_it_is(self) -> None:
        hostile = tabcontam.Results(
            Path("run"), parse_results(synthetic.results([synthetic.HOSTILE], [synthetic.HOSTILE]))
        )
        assert set(hostile.to_frame()["llm"]) == {synthetic.HOSTILE}


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)


def test_a_notebook_shows_the_heatmap_and_what_names_hold_is_text() -> None:
    results = tabcontam.Results(Path("run"), parse_results(synthetic.results([synthetic.HOSTILE], [synthetic.HOSTILE])))
    shown = results._repr_html_()
    tags = _Tags()
    tags.feed(shown)
    assert "svg" in tags.found
    assert not tags.found & {"script", "style", "img", "iframe", "a", "foreignobject", "use"}
    assert "\x1b" not in shown
    assert repr(results).isprintable()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"llm": "simulated:orcl"}, "did you mean simulated:oracle?"),
        ({"llm": "simulated:memorizer"}, "did you mean simulated:memoriser:0.5?"),
        ({"llm": [1]}, "1 is not a name"),
        ({"llm": None}, "None is not a name"),
        ({"dataset": None}, "a dataset is a name"),
        ({"dataset": "irsi"}, "did you mean iris"),
        ({"dataset": pd.DataFrame({"a": [1]})}, "a frame has no name; give it one"),
        ({"dataset": [pd.DataFrame({"a": [1]})], "name": "t"}, "t has one column"),
        ({"dataset": pd.Series([1])}, "a data frame of pandas or polars, not int"),
        ({"dataset": "my.csv", "delimiter": "::"}, "delimiter is '::'; give one character"),
        ({"dataset": "my.csv", "encoding": "utf-9"}, "encoding is 'utf-9', which is no encoding"),
        ({"dataset": "my.csv", "encoding": "base64"}, "encoding is 'base64', which is no encoding"),
        ({"dataset": "my.csv", "header": "no"}, "header is 'no'; write True, False or None"),
        ({"delimiter": ";"}, "delimiter applies to files alone"),
        ({"tests": "nothing"}, "no test matches"),
        ({"rules": "papers"}, "did you mean paper"),
        ({"form": "poem"}, "unknown form"),
        ({"alpha": 1}, "alpha is 1"),
        ({"alpha": "0.1"}, "alpha is '0.1'"),
        ({"seed": 0.5}, "seed is 0.5"),
        ({"queries": 0}, "queries is 0"),
        ({"queries": True}, "queries is True"),
        ({"batch_size": -1}, "batch_size is -1"),
        ({"max_cost": "much"}, "max_cost is 'much'"),
        ({"max_requests": 1.5}, "max_requests is 1.5"),
        ({"out": " "}, "out is ' '; write a path"),
        ({"target": "species"}, "target applies to files"),
    ],
)
def test_a_bad_input_is_one_line_and_nothing_is_written(here: Path, words: dict[str, Any], message: str) -> None:
    with pytest.raises(tabcontam.UsageError, match=message) as caught:
        tabcontam.run(**{"llm": "simulated:guesser", "dataset": "iris", "out": "run"} | words)
    assert "\n" not in str(caught.value)
    assert not list(here.iterdir())


def test_results_that_are_not_there_are_one_line() -> None:
    with pytest.raises(tabcontam.UsageError, match="no run folder"):
        tabcontam.load_results("nowhere")


def table(name: str = "my frame") -> tabcontam.Table:
    """60 rows with two columns to remember: what lies in one alone would be no finding."""
    rng = Random("frame")
    rows = [
        (number, rng.randrange(400) / 4, rng.randrange(150, 200), rng.choice(["yes", "no"])) for number in range(60)
    ]
    frame = pd.DataFrame(rows, columns=["id", "score", "height", "label"])
    return tabcontam.Table.from_frame(frame, name=name, target="label")


class TestTables:
    @pytest.mark.slow
    def test_a_frame_is_asked_about(self) -> None:
        results = tabcontam.run("simulated:oracle", [table(), "iris"], tests="completion or 0shot", controls=False)
        assert results.verdict("simulated:oracle", "my frame") is tabcontam.Verdict.CONTAMINATED
        assert results.document["run"]["datasets"][0]["sha256"] == table().sha256
        assert "[Table('my frame'), 'iris']" in results.document["run"]["command"]
        scored = {cell.test for cell in results.results if cell.dataset == "my frame" and cell.verdict is None}
        assert "classification_0shot" in scored  # its target was told

    @pytest.mark.slow
    def test_a_frame_is_taken_as_it_is(self) -> None:
        import polars

        frame = pd.DataFrame(table().rows, columns=list(table().columns))
        words: dict[str, Any] = {**QUICK, "name": "mine", "target": "label"}
        results = tabcontam.run("simulated:oracle", frame, **words)
        (asked,) = results.document["run"]["datasets"]
        assert (asked["name"], asked["title"], asked["sha256"]) == ("mine", "mine", table().sha256)
        command = results.document["run"]["command"]
        assert "dataset=<pandas DataFrame, 60 rows>, " in command
        assert table().rows[0][1] not in command
        frame[:30].to_csv("other.csv", index=False)
        of_polars = polars.DataFrame(frame.to_dict("list"))
        again = tabcontam.run("simulated:oracle", [of_polars, "other.csv"], **words | {"known": frame[:10]})
        assert [one["rows"] for one in again.document["run"]["datasets"]] == [60, 30]
        assert [one["name"] for one in again.document["run"]["known"]] == ["known rows"]

    @pytest.mark.slow
    def test_the_same_table_twice_is_one_and_two_of_a_name_are_an_error(self) -> None:
        own = table()
        assert len(tabcontam.run("simulated:guesser", [own, own], **QUICK).tables) == 1  # type: ignore[arg-type]
        with pytest.raises(tabcontam.UsageError, match="two datasets of one run"):
            tabcontam.run("simulated:guesser", [table(), table()])

    def test_a_table_has_its_target_and_name(self) -> None:
        with pytest.raises(tabcontam.UsageError, match="set them on the table 'my frame' itself"):
            tabcontam.run("simulated:guesser", table(), target="label")

    @pytest.mark.slow
    def test_its_rows_leave_only_with_leave(self, here: Path) -> None:
        with pytest.raises(
            tabcontam.UsageError, match="rows and others made of its cells would be shown to openai:any"
        ):
            tabcontam.run("openai:any@http://192.0.2.1:9/v1", table(), out="run")
        assert not list(here.iterdir())

    @pytest.mark.slow
    def test_a_path_is_a_file_whatever_it_is_called(self, here: Path) -> None:
        (here / "iris").write_text("a,b\n" + "".join(f"{number},{number * number}\n" for number in range(40)))
        results = tabcontam.run("simulated:oracle", Path("iris"), **QUICK)  # type: ignore[arg-type]
        assert results.document["run"]["datasets"][0]["rows"] == 40
        assert results.document["run"]["command"].startswith("tabcontam.run(llm='simulated:oracle', dataset='iris'")

    @pytest.mark.slow
    def test_the_file_of_a_frame_is_the_same_table(self, here: Path) -> None:
        """What was found of one goes for the other."""
        frame = pd.DataFrame(table().rows, columns=list(table().columns))
        frame.to_csv("own.csv", index=False, lineterminator="\n")
        own = tabcontam.Table.from_frame(frame, name="own.csv")
        results = tabcontam.run("simulated:oracle", own, **QUICK)  # type: ignore[arg-type]
        assert results.verdict("simulated:oracle", "own.csv") is tabcontam.Verdict.CONTAMINATED
        with Path("own.csv").open("a", newline="") as file:
            csv.writer(file).writerow(["1", "2", "no"])
        with pytest.raises(tabcontam.UsageError, match="has changed since"):
            results.verdict("simulated:oracle", "own.csv")


class TestEventLoop:
    """Called where an event loop is at work, as in a notebook."""

    def test_it_is_run_beside_the_loop(self) -> None:
        async def cell() -> tabcontam.Results:
            return tabcontam.run("simulated:oracle", "iris", **QUICK)  # type: ignore[arg-type]

        assert asyncio.run(cell()).verdict("simulated:oracle", "iris") is tabcontam.Verdict.CONTAMINATED

    @pytest.mark.slow
    def test_a_server_and_stored_replies_work_there_as_well(self) -> None:
        async def cell(out: str) -> tabcontam.Results:
            llm = f"openai:slow@{server.url}"
            return tabcontam.run(llm, "iris", tests="recognition", controls=False, out=out)

        with slow(0) as server:
            first = asyncio.run(cell("first"))
            asked = len(server.asked)
            second = asyncio.run(cell("second"))
            assert asked
            assert len(server.asked) == asked  # the second is answered from the store
        assert first.document["results"] == second.document["results"]

    def test_what_goes_wrong_there_is_raised_here(self) -> None:
        async def cell() -> None:
            tabcontam.run("openai:x@http://127.0.0.1:9/v1", "iris", **QUICK)  # type: ignore[arg-type]

        with pytest.raises(tabcontam.UsageError, match=r"127\.0\.0\.1:9"):
            asyncio.run(cell())


NOTHING = "import sys, tabcontam\nurl = sys.argv[1]\n"
CALL = "tabcontam.run(f'openai:slow@{url}', 'iris', controls=False, max_connections=2, out='run')"
INTERRUPTED = {
    "a script": f"{NOTHING}{CALL}\nprint('went on')",
    "a loop": (
        f"{NOTHING}import asyncio\nloop = asyncio.new_event_loop()\n"
        f"def cell():\n    {CALL}\n    print('went on')\n"
        "def begin():\n    try: cell()\n    except KeyboardInterrupt as stop: print(stop); raise SystemExit(130)\n"
        "loop.call_soon(begin)\nloop.run_forever()"
    ),
}


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
@pytest.mark.parametrize("where", INTERRUPTED)
def test_ctrl_c_keeps_what_was_answered_and_stops_the_script(here: Path, where: str) -> None:
    with slow(0.05) as server:
        command = [sys.executable, "-c", INTERRUPTED[where], server.url]
        process = subprocess.Popen(
            command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        wait_for(5, here / "run")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode not in (0, 1), err
    assert "went on" not in out
    assert "the answers are in run; the same call with this `out` continues the run" in out + err
    results = tabcontam.load_results("run")
    assert results.document["run"]["interrupted"]
    assert results.gate().conclusion is tabcontam.Conclusion.CANNOT_TELL


NOTEBOOK = """\
import tabcontam
results = tabcontam.run("simulated:oracle", "iris", tests="full_completion", out="run")
results
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_in_a_notebook(here: Path) -> None:
    nbclient = pytest.importorskip("nbclient", reason="pip install nbclient ipykernel")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK)])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    (output,) = notebook.cells[0].outputs
    assert output.data["text/html"].startswith('<div style="overflow-x: auto"><svg')
    assert output.data["text/plain"].startswith("<Results run: 3 LLMs")
    assert tabcontam.load_results("run").gate().conclusion is tabcontam.Conclusion.CONTAMINATED
