"""Documents as a subject of a run: who is asked what, and for whom what they hold counts."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tabcontam as python
from tabcontam.errors import Exit, UsageError
from tests.commands import tabcontam
from tests.made_documents import Pages, installed, rows_of

MODE, MEMORY = "simulated:mode", "simulated:memoriser:0.5"
DUMP, EMPTY, LOST = "pages:dump.txt", "pages:empty.txt", "pages:lost.txt"
ROWS = ("-k", "full_completion or rows_held", "--queries", "20", "--no-controls", "-q")


@pytest.fixture(autouse=True, scope="module")
def documents() -> Iterator[None]:
    """A body of documents and a test that searches it."""
    with installed():
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents, of which one body holds iris, and a private table that one holds, too."""
    made = tmp_path_factory.mktemp("documents")
    (made / "empty.txt").write_text("some,other,line\n", "utf-8")
    private = "".join(f"patient{row},{row * 37 % 101},zick{row % 3}\n" for row in range(30))
    (made / "mine.csv").write_text(f"name,weightol,outkome\n{private}", "utf-8")
    (made / "dump.txt").write_text(f"<b>a</b>\n{rows_of('iris')}{private}", "utf-8")
    return made


@pytest.fixture(scope="module")
def past(folder: Path) -> Path:
    """A run of two LLMs, one of which was trained on what holds iris, and one on documents without it."""
    declared = ("--trained-on", f"{MODE}={DUMP}", "--trained-on", f"{MEMORY}={EMPTY}")
    asked = ("--llm", MODE, "--llm", MEMORY, *declared, "--dataset", "iris", "--dataset", "wine")
    done = tabcontam("run", *asked, *ROWS, "--out", "past", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "past"


def results(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "results.json").read_text("utf-8"))
    return document


def page_of(folder: Path) -> str:
    """The page, whose names may be folded at their signs."""
    return (folder / "index.html").read_text("utf-8").replace("<wbr>", "")


def tables(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    return {(table["llm"], table["dataset"]): table for table in results(folder)["tables"]}


@pytest.mark.slow
def test_documents_are_searched_by_their_tests_and_asked_no_other(past: Path) -> None:
    asked = {(cell["llm"], cell["test"]) for cell in results(past)["results"]}
    assert asked == {
        (MODE, "full_completion"), (MEMORY, "full_completion"), (DUMP, "rows_held"), (EMPTY, "rows_held"),
    }  # fmt: skip


def test_what_documents_hold_counts_for_the_llm_that_was_trained_on_them(past: Path) -> None:
    found = tables(past)
    assert found[MODE, "iris"]["verdict"] == found[DUMP, "iris"]["verdict"] == "contaminated"
    assert found[MODE, "iris"]["by_corpora"] is True
    assert found[MODE, "iris"]["reason"] == (
        "corpora that it was trained on hold 20 of 20 rows (pages:dump.txt): rows_held, p = 9.5e-07"
    )
    assert found[MODE, "wine"]["verdict"] != "contaminated"
    assert found[MEMORY, "iris"]["corpora"] == []
    assert [rank["llm"] for rank in results(past)["ranking"]] == [MEMORY, MODE]
    assert next(rank for rank in results(past)["ranking"] if rank["llm"] == MODE)["score"] == 0


@pytest.mark.slow
def test_a_declaration_is_recorded_and_survives_judging_again_merging_and_the_gate(past: Path) -> None:
    facts = results(past)["run"]["trained_on"]
    assert facts == [{"llm": MODE, "corpus": DUMP}, {"llm": MEMORY, "corpus": EMPTY}]
    before = tables(past)
    assert tabcontam("rescore", str(past)).returncode == 0
    assert tables(past) == before
    assert tabcontam("report", str(past), str(past), "--out", str(past.parent / "merged")).returncode == 0
    assert {key: one["verdict"] for key, one in tables(past.parent / "merged").items()} == {
        key: one["verdict"] for key, one in before.items()
    }
    said = tabcontam("gate", str(past), "--llm", MODE, "--dataset", "iris")
    assert said.returncode == Exit.CONTAMINATED
    assert "simulated:mode on iris: corpora that it was trained on hold 20 of 20 rows (pages:dump.txt)" in said.stdout


def test_the_page_says_whose_documents_hold_what_and_marks_it(past: Path) -> None:
    page = page_of(past)
    assert "documents that it was trained on (pages:dump.txt) hold rows of Iris" in page
    assert "<strong>pages:dump.txt</strong> holds rows of Iris" in page
    assert "rows were found in pages:dump.txt" in page
    assert "no rows were found in pages:empty.txt" in page
    assert "2 LLMs, 2 corpora, 2 tables" in page


def test_rows_that_documents_hold_stand_in_recalled_csv_with_their_place(past: Path) -> None:
    with (past / "recalled.csv").open(encoding="utf-8", newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["llm"] == DUMP]
    assert len(lines) == 20
    assert (lines[0]["row"], lines[0]["column"], lines[0]["right"]) == ("1", "target", "true")
    assert (lines[0]["documents"], lines[0]["found_in"]) == ("1", "dump.txt#1, byte 0")


def test_a_trial_says_in_words_what_was_looked_up(past: Path) -> None:
    lines = [json.loads(line) for line in (past / "trials.jsonl").read_text("utf-8").splitlines()]
    found = next(line for line in lines if line["llm"] == DUMP and line["dataset"] == "iris")
    assert found["prompt"] == "5.1, 3.5, 1.4, 0.2 next to one of 0, another"


@pytest.mark.slow
def test_the_gate_takes_documents_and_stops_where_they_hold_the_table(folder: Path) -> None:
    asked = ("gate", "--dataset", "mine.csv", "--out")
    found = tabcontam(*asked, "held", "--llm", DUMP, cwd=folder)
    assert (found.returncode, "pages:dump.txt on mine.csv: detected by rows_held" in found.stdout) == (1, True), (
        found.stderr
    )
    clean = tabcontam(*asked, "not-held", "--llm", EMPTY, cwd=folder)
    assert clean.returncode == Exit.DONE, clean.stdout
    assert not any(cell["control"] for cell in results(folder / "held")["results"])  # no control joins
    lost = tabcontam(*asked, "lost", "--llm", LOST, cwd=folder)
    assert (lost.returncode, "lost.txt cannot be read" in lost.stderr) == (Exit.USAGE, True)


def test_documents_that_cannot_be_read_make_no_llm_clean(folder: Path) -> None:
    named = ("--llm", MODE, "--trained-on", f"{MODE}={LOST}", "--dataset", "iris", "-k", "rows_held", "--out", "unread")
    done = tabcontam("run", *named, cwd=folder)
    assert (done.returncode, "no documents could be searched: every one of 20 lookups failed" in done.stderr) == (
        4,
        True,
    )
    assert tabcontam("gate", "unread", cwd=folder).returncode == Exit.CANNOT_TELL
    assert "contaminated" not in {table["verdict"] for table in tables(folder / "unread").values()}
    assert "not detected" not in {table["verdict"] for table in tables(folder / "unread").values()}


def test_an_llm_need_not_be_asked_for_documents_to_count(folder: Path) -> None:
    named = ("--llm", "openai:gone@http://127.0.0.1:9/v1", "--dataset", "iris", "-k", "rows_held", "--out", "unasked")
    declared = ("--trained-on", f"openai:gone@http://127.0.0.1:9/v1={DUMP}")
    done = tabcontam("gate", *named, *declared, cwd=folder)
    assert done.returncode == Exit.CONTAMINATED, done.stderr
    page = page_of(folder / "unasked")
    assert "was asked nothing; documents that it was trained on (pages:dump.txt) hold rows of Iris" in page


def test_documents_that_are_declared_twice_over_are_searched_once(folder: Path) -> None:
    Pages.searches = 0
    named = ("--llm", MODE, "--llm", MEMORY, "--llm", f"dolma={DUMP}", "--dataset", "iris", "-k", "rows_held")
    declared = ("--trained-on", f"{MODE}={DUMP}", "--trained-on", f"{MEMORY}=dolma", "--no-cache", "--out", "twice")
    assert tabcontam("run", *named, *declared, "-q", cwd=folder).returncode == 0
    assert Pages.searches == 20
    assert {llm: table["corpora"] for (llm, _), table in tables(folder / "twice").items() if llm != "dolma"} == {
        MODE: ["dolma"], MEMORY: ["dolma"],
    }  # fmt: skip


def test_a_plan_says_how_much_is_looked_up_and_names_no_price(folder: Path) -> None:
    plan = tabcontam("run", "--llm", DUMP, "--dataset", "iris", "--dry-run", "-k", "rows_held", cwd=folder).stdout
    assert "pages:dump.txt  iris@scikit-learn  is  default  rows_held  20 to look up\n" in plan
    assert "pages:dump.txt: 20 lookups are left\n" in plan
    assert "20 lookups for 1 result; nothing was asked" in plan
    assert "$" not in plan
    beside = tabcontam("run", "--llm", DUMP, "--llm", MODE, *ROWS[:4], "--dry-run", "--no-controls", cwd=folder).stdout
    assert "requests and 40 lookups for 4 results, at most $0.00; nothing was asked" in beside


@pytest.mark.parametrize(
    ("typed", "code", "line"),
    [
        (["--llm", DUMP, "-k", "feature_completion"], 5,
         "feature_completion asks LLMs, and pages:dump.txt is a corpus; choose -m corpus instead, or also "
         "name a model"),
        (["--llm", MODE, "-k", "rows_held"], 5,
         "rows_held searches documents, and no corpus is named; name one with --llm corpus:PATH"),
        (["-m", "corpus"], 5,
         "documents, and no corpus is named; name one with --llm corpus:PATH"),
        (["--llm", DUMP, "--until-decided"], 4,
         "--until-decided is for models, and pages:dump.txt is a corpus: leave --until"),
        (["--llm", DUMP, "--shots", "3"], 4, "--shots is for models"),
        (["--llm", DUMP, "--samples", "3"], 4, "--samples is for models"),
        (["--llm", DUMP, "--batch-api"], 4, "--batch-api is for models"),
        (["--llm", DUMP, "--reference", MODE], 4, "--reference is for models"),
        (["--llm", MODE, "--reference", DUMP], 4, "--reference: pages:dump.txt is a corpus, which cannot answer"),
        (["--llm", MODE, "--trained-on", f"llama3={DUMP}"], 4,
         "--trained-on: llama3 is not an LLM of this run; add --llm llama3"),
        (["--llm", MODE, "--trained-on", f"simulated:moda={DUMP}"], 4, "did you mean simulated:mode?"),
        (["--llm", MODE, "--trained-on", DUMP], 4, "'pages:dump.txt' does not name a model and its documents"),
        (["--llm", MODE, "--trained-on", f"{MODE}="], 4, "does not name a model and its documents"),
        (["--llm", MODE, "--trained-on", f"{MODE}={MEMORY}"], 4, f"{MEMORY} is not a corpus; write LLM=corpus"),
        (["--llm", EMPTY, "--trained-on", f"{EMPTY}={DUMP}"], 4, "is a corpus, not a model"),
        (["--llm", MODE, *["--trained-on", f"{MODE}={DUMP}"] * 2], 4, "pages:dump.txt is declared twice for simul"),
        (["--llm", "control:exposed", "--trained-on", f"control:exposed={DUMP}"], 4, "control, whose reading is known"),
        (["--llm", MODE, "--trained-on", f"{MODE}={DUMP}", "-k", "feature_completion"], 4,
         "--trained-on: none of the chosen tests searches pages:dump.txt (feature_completion); choose one of "
         "-m corpus, too"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_one_line(folder: Path, typed: list[str], code: int, line: str) -> None:
    done = tabcontam("run", *typed, "--dataset", "iris", cwd=folder)
    assert done.returncode == code, done.stdout + done.stderr
    assert line in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_who_is_named_and_takes_no_chosen_test_is_told(folder: Path) -> None:
    named = ("--llm", DUMP, "--llm", MODE, "--dataset", "iris", "--dry-run")
    done = tabcontam("run", *named, "-k", "rows_held", cwd=folder)
    assert "simulated:mode is asked nothing: the chosen tests search only documents (rows_held)" in done.stderr
    done = tabcontam("run", *named, "-k", "full_completion", "--no-controls", cwd=folder)
    assert "pages:dump.txt is not searched: the chosen tests ask only LLMs (full_completion)" in done.stderr


def test_what_says_how_llms_are_asked_leaves_documents_beside_them_alone(folder: Path) -> None:
    named = ("--llm", DUMP, "--llm", MODE, "--dataset", "iris", *ROWS, "--out", "turns")
    done = tabcontam("run", *named, "--until-decided", cwd=folder)
    assert done.returncode == 0, done.stderr
    held = next(cell for cell in results(folder / "turns")["results"] if cell["test"] == "rows_held")
    assert (held["sequential"], held["answered"]) == (False, 20)


def test_a_run_goes_on_only_where_the_declaration_stays(past: Path) -> None:
    asked = ("--llm", MODE, "--llm", MEMORY, "--llm", DUMP, "--llm", EMPTY, "--dataset", "iris", "--dataset", "wine")
    done = tabcontam("run", *asked, *ROWS, "--out", "past", cwd=past.parent)
    assert done.returncode == Exit.USAGE
    assert "past holds a run with --trained-on simulated:mode=pages:dump.txt; choose another folder" in done.stderr


def test_from_python_the_words_are_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    found = python.run(MODE, "iris", tests="rows_held", trained_on={MODE: DUMP}, out=folder / "python")
    assert found.verdict(MODE, "iris") == "contaminated"
    assert found.gate(llm=MODE).exit_code == Exit.CONTAMINATED
    with pytest.raises(UsageError, match="trained_on: llama3 is not an LLM of this run; add llm='llama3'"):
        python.run(MODE, "iris", trained_on="llama3=pages:dump.txt")


def test_power_is_about_llms(folder: Path) -> None:
    done = tabcontam("power", "--dataset", "iris", "-k", "rows_held", cwd=folder)
    assert (done.returncode, done.stderr) == (
        Exit.NOTHING_SELECTED,
        "tabcontam: rows_held searches a corpus, but power is about models' answers; choose tests that ask models\n",
    )


def test_results_in_which_documents_count_for_an_llm_undeclared_contradict_themselves(past: Path) -> None:
    edited = past.parent / "edited"
    edited.mkdir()
    document = results(past)
    document["run"]["trained_on"] = []
    (edited / "results.json").write_text(json.dumps(document), "utf-8")
    said = tabcontam("gate", str(edited))
    assert said.returncode == Exit.USAGE
    assert "pages:dump.txt counts for simulated:mode on iris but was not declared as its training data" in said.stderr
    document["run"]["trained_on"] = results(past)["run"]["trained_on"]
    document["results"] = [cell for cell in document["results"] if (cell["llm"], cell["dataset"]) != (DUMP, "iris")]
    (edited / "results.json").write_text(json.dumps(document), "utf-8")
    assert "pages:dump.txt has no result on iris" in tabcontam("gate", str(edited)).stderr
