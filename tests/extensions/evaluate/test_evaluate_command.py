"""The command `evaluate`."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import tabcontam

ASKED = ("--dataset", "iris", "--shots", "0,4", "--queries", "20")


def evaluate(llm: str, out: Path, *more: str) -> Any:
    return tabcontam("evaluate", "--llm", llm, *ASKED, "--out", str(out), *more)


@pytest.fixture(scope="module")
def guessed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("guessed") / "run"
    done = evaluate("simulated:guesser", out)
    assert done.returncode == 0, done.stderr
    assert "simulated:guesser on iris (template text)" in done.stdout
    assert "logistic regression" in done.stdout
    assert "gave no log-probabilities, so there is no AUC" in done.stdout
    return out


@pytest.mark.slow
def test_a_run_has_its_page_and_its_numbers(guessed: Path) -> None:
    files = {file.name for file in guessed.iterdir()}
    assert files >= {"evaluation.html", "evaluation.json", "results.json", "trials.jsonl", "index.html"}
    (one,) = json.loads((guessed / "evaluation.json").read_text("utf-8"))["evaluations"]
    assert [(at["shots"], at["asked"], at["by"]) for at in one["shots"]] == [(0, 20, "words"), (4, 20, "words")]
    assert one["shots"][0]["memory"]["share"] == 0.0
    assert {at["own"]["auc"] for at in one["shots"]} == {None}


@pytest.mark.slow
def test_the_same_command_asks_nothing_again(guessed: Path) -> None:
    before = (guessed / "trials.jsonl").read_bytes()
    held = json.loads((guessed / "evaluation.json").read_text("utf-8"))
    again = evaluate("simulated:guesser", guessed, "--json")
    assert json.loads(again.stdout)["evaluations"] == held["evaluations"]
    assert (guessed / "trials.jsonl").read_bytes() == before


def test_rescore_judges_it_again(guessed: Path) -> None:
    before = json.loads((guessed / "results.json").read_text("utf-8"))["results"]
    assert tabcontam("rescore", str(guessed), "-q").returncode == 0
    assert json.loads((guessed / "results.json").read_text("utf-8"))["results"] == before
    assert "of 20 rows are right" in before[0]["sentence"].split(";")[0]


def test_other_shots_do_not_mix_with_the_answers_of_a_folder(guessed: Path) -> None:
    done = tabcontam(
        "evaluate", "--llm", "simulated:guesser", "--dataset", "iris", "--shots", "0", "--out", str(guessed)
    )
    assert done.returncode == 4
    assert "holds an evaluation with other numbers of shots, draws or queries" in done.stderr


@pytest.mark.slow
def test_an_end_before_the_end_is_told_and_gone_on_with(tmp_path: Path) -> None:
    first = evaluate("simulated:mode", tmp_path / "run", "--max-requests", "30", "--no-memory-share")
    assert first.returncode == 0
    assert "10 queries are not answered yet" in first.stdout
    again = evaluate("simulated:mode", tmp_path / "run", "--no-memory-share")
    assert "not answered" not in again.stdout
    (one,) = json.loads((tmp_path / "run" / "evaluation.json").read_text("utf-8"))["evaluations"]
    assert [at["memory"] for at in one["shots"]] == [None, None]


def test_a_plan_asks_nothing(tmp_path: Path) -> None:
    done = evaluate("simulated:guesser", tmp_path / "run", "--dry-run")
    assert done.returncode == 0
    assert "classification_shots" in done.stdout
    assert "nothing was asked" in done.stdout
    assert not (tmp_path / "run").exists()


def test_rows_of_a_private_file_stay_without_leave(tmp_path: Path) -> None:
    rows = "".join(f"{place},{place % 9},{'ab'[place % 9 > 4]}\n" for place in range(90))
    (tmp_path / "mine.csv").write_text(f"number,size,kind\n{rows}")
    asked = ("evaluate", "--llm", "openai:m@https://192.0.2.1:9/v1", "--dataset", str(tmp_path / "mine.csv"))
    done = tabcontam(*asked, "--target", "kind", "--shots", "4", "--no-memory-share", TABCONTAM_API_KEY="k")
    assert done.returncode == 4
    assert "rows would be shown to openai:m@https://192.0.2.1:9/v1; add --send-rows to allow that" in done.stderr


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (("--shots", "0,x"), "'0,x' is not a list of numbers of shots"),
        (("--draws", "6"), "'6' is more than 5"),
        (("--template", "lsit"), "did you mean list?"),
        (("--shots", "200"), None),
    ],
)
def test_what_cannot_be_asked_is_one_line(tmp_path: Path, typed: tuple[str, str], said: str | None) -> None:
    done = tabcontam(
        "evaluate", "--llm", "simulated:guesser", "--dataset", "iris", *typed, "--out", str(tmp_path / "run")
    )
    if said is None:
        assert "besides the asked rows only 119 can be shown, fewer than 200 shots" in done.stdout
    else:
        assert (done.returncode, done.stderr.count("\n")) == (4, 1)
        assert said in done.stderr
        assert not (tmp_path / "run").exists()


def test_whoever_names_nobody_is_told(tmp_path: Path) -> None:
    done = tabcontam("evaluate", "--dataset", "iris")
    assert (done.returncode, done.stderr.strip()) == (
        4,
        "tabcontam: evaluate needs --llm and --dataset; see evaluate --help",
    )


def test_a_control_takes_no_part(tmp_path: Path) -> None:
    done = evaluate("control:unexposed", tmp_path / "run", "--no-memory-share")
    assert (
        "Nothing was asked: control:unexposed cannot take part: the test needs an LLM that understands" in done.stdout
    )


def test_no_test_takes_rows_on_several_lines() -> None:
    done = tabcontam("run", "--llm", "simulated:guesser", "--dataset", "iris", "--serializer", "list")
    assert done.returncode == 4
    assert "give it to evaluate as a template" in done.stderr


@pytest.mark.slow
def test_a_model_on_this_machine_tells_probabilities_and_cuts_no_prompt(tmp_path: Path) -> None:
    from tabcontam.tables.serializers import load_serializers
    from tabcontam.tables.table import load_table
    from tests.models.hf import tiny

    lines = tiny.rows_of(load_table("iris"), load_serializers()["is"])
    folder = tiny.saved(tiny.causal(), tiny.tokenizer(lines), tmp_path / "model")
    done = tabcontam(
        "evaluate", "--llm", f"hf:{folder}", "--dataset", "iris", "--shots", "0,4,64", "--queries", "10",
        "--template", "list", "--out", str(tmp_path / "run"), XDG_CACHE_HOME=str(tmp_path),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (one,) = json.loads((tmp_path / "run" / "evaluation.json").read_text("utf-8"))["evaluations"]
    assert [(at["asked"], at["failed"], at["by"]) for at in one["shots"]] == [
        (10, 0, "log-probabilities"),
        (10, 0, "log-probabilities"),
        (0, 10, "log-probabilities"),
    ]
    assert one["shots"][0]["own"]["auc"] is not None
    assert "At 64 shots, 10 of 10 rows got no answer and are left out" in " ".join(done.stdout.split())
    assert "the text is too long" in done.stdout
