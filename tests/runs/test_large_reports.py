"""Reports of large runs: nothing that grows with the answers is held, nothing is half written, and nothing is lost."""

import gzip
import json
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console

import tabcontam
from tabcontam.asking.trial_file import TRIALS, as_lines
from tabcontam.report import evidence, heatmap_squares, html, junit, terminal
from tabcontam.runs.folder import merge, record
from tabcontam.runs.stored_trials import StoredTrials, last_lines
from tabcontam.verdicts import document
from tabcontam.verdicts.document import as_document, as_json, parse_results, read_results, write_results
from tabcontam.verdicts.result_types import ResultKey
from tabcontam.verdicts.results import RunResults
from tests.report.rendered import pack_evidence, pages_of
from tests.report.synthetic import HOSTILE, results, trial, trials

LLMS, TABLES = ["m1", "M1", "../../etc", f"a {HOSTILE}"], ["iris", "wine", "Iris", "x</td>\"'"]
WHOLE = {"serializers": [], "level": 0.001}


@pytest.fixture(scope="module")
def made() -> RunResults:
    return parse_results(results(LLMS, TABLES, **WHOLE))


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few squares count as too many."""
    for module, name in ((html, "MOST_LLMS"), (heatmap_squares, "CROWDED"), (html, "MOST_LISTED"), (junit, "LARGE")):
        monkeypatch.setattr(module, name, 3)
    monkeypatch.setattr(terminal, "CROWDED", 3)
    monkeypatch.setattr(terminal, "LISTED", 2)


def run_in(folder: Path, llms: list[str], **changes: Any) -> RunResults:
    """A run's folder without a report."""
    of = results(llms, ["iris", "wine"], **WHOLE, **changes)
    folder.mkdir(parents=True)
    (folder / "results.json").write_text(as_json(parse_results(of)), "utf-8", "backslashreplace")
    (folder / TRIALS).write_text(as_lines(trials(of, each=3)), "utf-8")
    return read_results(folder)


def everything(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class TestText:
    def test_each_result_is_a_line(self, made: RunResults) -> None:
        text = as_json(made)
        assert json.loads(text) == as_document(made)
        lines = text.splitlines()
        first = lines.index(' "results": [') + 1
        assert [json.loads(line.rstrip(","))["llm"] for line in lines[first:][: len(made.results)]] == [
            cell.llm for cell in made.results
        ]

    @pytest.mark.parametrize(
        "value", [[], {}, [{}], {"a": [1, 2.5, True, None, float("inf")]}, {1: "x"}, "é\n\x00", [[], ["x"]], 1e300]
    )
    def test_other_documents_are_indented(self, value: object) -> None:
        assert as_json(value) == json.dumps(value, ensure_ascii=False, indent=1) + "\n"

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "change",
        [
            lambda text: json.dumps(json.loads(text)),
            lambda text: json.dumps(json.loads(text), indent=1),
            lambda text: text.replace("\n ]", "\n  ]"),
            lambda text: json.dumps(json.loads(text), indent=1),
            lambda text: text,
        ],
    )
    def test_what_is_written_otherwise_is_read_as_well(
        self, made: RunResults, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[str], str]
    ) -> None:
        (tmp_path / "results.json").write_text(change(as_json(made)), "utf-8", "backslashreplace")
        monkeypatch.setattr(document, "LARGE", 1)
        assert read_results(tmp_path) == made
        assert tabcontam.load_results(tmp_path).tables == made.tables_in_order
        chosen = tabcontam.load_results(tmp_path).select(dataset=TABLES[-1])
        assert list(chosen) == [cell for cell in made.results if cell.dataset == TABLES[-1]] != []
        both = tabcontam.load_results(tmp_path).select(llm=made.results[0].llm, dataset=TABLES[-1])
        assert list(both) == [cell for cell in chosen if cell.llm == made.results[0].llm] != []
        assert f"{len(made.results)} results" in repr(tabcontam.load_results(tmp_path))

    def test_what_is_wrong_in_a_large_file_is_still_said_where(
        self, made: RunResults, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        held = json.loads(as_json(made))
        held["results"][7]["p_value"] = "small"
        (tmp_path / "results.json").write_text(json.dumps(held, indent=1))
        monkeypatch.setattr(document, "LARGE", 1)
        with pytest.raises(tabcontam.UsageError, match=r"result 8: p_value"):
            read_results(tmp_path)


class TestTrials:
    def test_each_cell_is_read_once_and_no_more_than_one_is_held(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found, read = run_in(tmp_path / "run", ["m1", "m2"]), list[ResultKey]()
        of = StoredTrials.trials_of

        def noted(kept: StoredTrials, name: ResultKey) -> list[dict[str, Any]]:
            read.append(name)
            return of(kept, name)

        monkeypatch.setattr(StoredTrials, "trials_of", noted)
        monkeypatch.setattr(StoredTrials, "__iter__", None)  # nobody goes through all of them
        merge([tmp_path / "run"], tmp_path / "out")
        assert len(read) == len(set(read)) == len(found.results)

    def test_a_cut_line_and_strange_ones_are_passed_over(self, tmp_path: Path) -> None:
        found = run_in(tmp_path / "run", ["m1"])
        cell = next(cell for cell in found.results if cell.verdict != "skipped")
        path, of = tmp_path / "run" / TRIALS, json.loads(as_json(found))["results"][found.results.index(cell)]
        newer = as_lines([trial(of, "1", reply="newer", prompts="default", split="")])
        path.write_text(f'{path.read_text()}[1]\n{{"llm": "m1", "cached": true}}\n{newer}' + newer[: len(newer) // 2])
        replies = [line["reply"] for line in last_lines(tmp_path / "run", found.results).trials_of(cell.key)]
        assert (len(replies), replies[1]) == (3, "newer")
        merge([tmp_path / "run"], tmp_path / "out")
        written = (tmp_path / "out" / TRIALS).read_text().splitlines()
        assert all(json.loads(line)["llm"] == "m1" for line in written)

    def test_a_file_that_takes_the_place_of_the_one_read_changes_nothing(self, tmp_path: Path) -> None:
        found = run_in(tmp_path / "run", ["m1"])
        kept = last_lines(tmp_path / "run", found.results)
        before = list(kept)
        other = tmp_path / "other"
        other.write_text("")
        other.replace(tmp_path / "run" / TRIALS)
        assert list(kept) == before
        assert before


class TestInterrupted:
    @pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
    def test_the_old_report_stays_and_nothing_is_left_half_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException] | BaseException
    ) -> None:
        run_in(tmp_path / "run", ["m1"])
        run_in(tmp_path / "more", ["m2"])
        merge([tmp_path / "run"], tmp_path / "out")
        before = everything(tmp_path / "out")

        def stop(*given: object) -> None:
            raise error

        monkeypatch.setattr(junit, "write_junit", stop)
        with pytest.raises((KeyboardInterrupt, tabcontam.UsageError)):
            merge([tmp_path / "run", tmp_path / "more"], tmp_path / "out")
        assert everything(tmp_path / "out") == before

    def test_pages_of_an_earlier_report_go(self, tmp_path: Path) -> None:
        found = run_in(tmp_path / "run", ["m1"])
        (tmp_path / "run" / "llm-7.html").write_text("old")
        record(tmp_path / "run", found)
        assert sorted(everything(tmp_path / "run")) == [
            "index.html", "junit.xml", "recalled.csv", "results.json", TRIALS
        ]  # fmt: skip


def test_of_a_very_large_run_a_cell_shows_three_queries_and_the_hit_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "LARGE", 1)
    of = results(["m"], ["iris"])
    found = next(one for one in of["results"] if one["verdict"] == "contaminated")
    states = ["refused", "empty", "failed", "truncated", "ok", "ok"]
    asked = [trial(found, f"{number}", state=state, hit=number == 5) for number, state in enumerate(states)]
    told = pack_evidence(parse_results(of), [one | {"line": number} for number, one in enumerate(asked, start=1)])
    (place,) = told.shown
    assert (told.shown[place], told.left[place]) == (3, 3)
    held = json.loads(gzip.decompress(b64decode(told.blobs[1].partition("\n")[2])))[place]
    assert held["queries"][0]["kind"] == "hit"
    assert "at least one of each kind" not in held["about"]


@pytest.mark.usefixtures("crowded")
class TestCrowded:
    def test_the_first_page_has_a_letter_a_table_and_no_markup_of_others(self, made: RunResults) -> None:
        pages = pages_of(made, [])
        assert set(pages) == {"index.html", *(f"llm-{number}.html" for number in range(1, 5))}
        index = pages["index.html"]
        grid = index[index.index('id="grid"') : index.index("</table>", index.index('id="grid"'))]
        assert grid.count("<td") == len(LLMS) * len(TABLES)
        assert 'title="x&lt;/td&gt;&#34;&#39;"' in grid
        for page in pages.values():
            assert "<script>alert" not in page
            assert "</td>\"'" not in page
        assert "13 more are on the pages of their LLMs" in index
        assert "Each table, by its row tests" in pages["llm-2.html"]

    def test_an_llm_without_cells_is_passed_over(self, made: RunResults) -> None:
        silent = replace(made.run.llms[0], spec="silent")
        pages = pages_of(replace(made, run=replace(made.run, llms=(*made.run.llms, silent))), [])
        assert len(pages) == 1 + len(LLMS)

    @pytest.mark.parametrize("verdict", ["skipped", "no answer", "uninformative"])
    def test_where_nothing_was_decided_nothing_is_called_clean(self, verdict: str) -> None:
        of = results(LLMS, TABLES)
        of["results"] = [one | {"verdict": verdict, "otherwise": None} for one in of["results"]]
        of["tables"] = [one | {"verdict": verdict} for one in of["tables"]]
        index = pages_of(parse_results(of), [])["index.html"]
        assert f"16 {verdict}." in index
        assert "<td class=not-detected>" not in index

    def test_a_case_of_junit_is_a_table(self, made: RunResults) -> None:
        root = ElementTree.fromstring(junit.render_junit(made))
        cases = root.findall("testsuite/testcase")
        assert (len(root), len(cases), root.get("tests")) == (len(LLMS), len(LLMS) * len(TABLES), "16")
        found = {(cell.llm, cell.dataset) for cell in made.results if cell.verdict == "contaminated"}
        assert int(root.get("failures") or 0) == len(found)

    def test_a_terminal_shows_a_line_an_llm_and_cuts_lists(self, made: RunResults) -> None:
        console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
        with console.file:
            terminal.print_header(console, made)
            terminal.print_report(console, made, [])
        text = console.export_text()
        assert sum(line.startswith("m1 ") for line in text.splitlines()) <= 6
        header = next(line for line in text.splitlines() if line.split()[:2] == ["C", "."])
        row = next(line for line in text.splitlines() if line.startswith("m1 "))
        own = [cell.outcome for cell in made.results if cell.llm == "m1"]
        numbers = dict(zip(header.split(), map(int, row.split("[")[0].split()[1:]), strict=True))
        assert (numbers["C"], numbers["."]) == (own.count("contaminated"), own.count("not detected"))
        assert sum(numbers.values()) == len(own)
        assert "more contaminated: see -v, or index.html" in text
        assert "16 pairs of LLM and table: " in text


class TestStored:
    """Results of a large run, which stay on disk until they are needed."""

    @pytest.fixture(autouse=True)
    def large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(document, "LARGE", 1)

    def plain(self) -> RunResults:
        return parse_results(results(["m1", "m2", "control:exposed"], ["iris", "wine"], **WHOLE))

    def test_they_are_read_from_results_json(self, tmp_path: Path) -> None:
        write_results(tmp_path, self.plain())
        kept, of_json = tabcontam.load_results(tmp_path), read_results(tmp_path)
        assert f"{len(of_json.results)} results, read from disk" in repr(kept)
        assert kept.tables == of_json.tables_in_order
        assert kept.ranking == of_json.ranks_in_order
        chosen = kept.select(llm="m2", verdict=["contaminated", "skipped"])
        own = [cell for cell in of_json.results if cell.llm == "m2" and cell.verdict in ("contaminated", "skipped")]
        assert list(chosen) == own != []
        assert kept.select(llm="nobody") == ()
        assert "run_results" not in vars(kept)
        assert kept.run_results == of_json == self.plain()

    def test_a_name_is_found_however_it_is_written(self, made: RunResults, tmp_path: Path) -> None:
        write_results(tmp_path, made)
        path = tmp_path / "results.json"
        path.write_text(path.read_text("utf-8").replace('"llm": "m1"', '"llm":  "m\\u0031"'), "utf-8")
        for name in LLMS:
            own = [cell for cell in made.results if cell.llm == name]
            assert list(tabcontam.load_results(tmp_path).select(llm=name)) == own != []

    def test_what_is_wrong_in_a_line_is_said(self, tmp_path: Path) -> None:
        write_results(tmp_path, self.plain())
        path = tmp_path / "results.json"
        path.write_text(path.read_text().replace('"lacks": null', '"lacks": 5', 1))
        kept = tabcontam.load_results(tmp_path)
        with pytest.raises(tabcontam.UsageError, match=r"result 1: lacks"):
            kept.select(llm=["m1", "m2", "control:exposed"])

    @pytest.mark.parametrize("share", [0.2, 0.5, 0.95])
    def test_half_a_file_is_not_read(self, tmp_path: Path, share: float) -> None:
        write_results(tmp_path, self.plain())
        path = tmp_path / "results.json"
        path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
        with pytest.raises(tabcontam.UsageError, match="not readable JSON"):
            tabcontam.load_results(tmp_path)
