"""Dataset cards and serializers of the user's own: by their file, and by name in the folders of TABCONTAM_PATH."""

import hashlib
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tabcontam.api import load_results, run
from tabcontam.asking.query_plan import RunSource, plan, rows_shown
from tabcontam.cli import list_command
from tabcontam.cli.commands import main
from tabcontam.config import RunConfig
from tabcontam.errors import Exit, UsageError
from tabcontam.evidence.registry import by_id
from tabcontam.models.provider_registry import ModelSettings, resolve
from tabcontam.tables.dataset_cards import all_cards, find_card, load_cards
from tabcontam.tables.serializers import all_serializers, load_serializer, load_serializers
from tabcontam.tables.table import Table, load_table
from tests.made_tables import ships

ROWS = ships(60)
CONTENT = "".join(
    ",".join(f'"{cell}"' if cell else "" for cell in line) + "\n" for line in (ROWS.columns, *ROWS.rows)
).encode()
ARROW = 'name = "arrow"\nabout = "as arrows"\nvalue_separator = " -> "\nfeature_separator = "; "\n'


def card_text(content: bytes = CONTENT, **changes: Any) -> str:
    """A card of the ships' register; what is None is left out."""
    about: dict[str, Any] = {
        "name": "register",
        "title": "Harbour Register of Zand",
        "released": "2026",
        "licence": "none",
        "target": "tolldue",
    }
    edition: dict[str, Any] = {
        "file": "ships.csv",
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "rows": len(ROWS.rows),
    }
    own = {key: changes.pop(key) for key in tuple(changes) if key in edition}
    lines = [*written(about | changes), "[[editions]]", 'name = "first"', *written(edition | own)]
    return "\n".join(lines) + "\n"


def written(facts: dict[str, Any]) -> list[str]:
    texts = {key: str(value).lower() if isinstance(value, bool | int) else f'"{value}"' for key, value in facts.items()}
    return [f"{key} = {text}" for key, text in texts.items()]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a card and its file, on a machine that has no others."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "register.toml").write_text(card_text())
    (folder / "ships.csv").write_bytes(CONTENT)
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(tmp_path / "cache"))
    for variable in ("TABCONTAM_DATA", "TABCONTAM_PATH"):
        monkeypatch.delenv(variable, raising=False)
    return folder


def failure(spec: str) -> str:
    with pytest.raises(UsageError) as caught:
        load_table(spec)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_card_is_known_by_its_file(folder: Path) -> None:
    table = load_table(str(folder / "register.toml"))
    assert (table.name, table.title, table.target) == ("register", "Harbour Register of Zand", "tolldue")
    assert table.rows == ROWS.rows
    assert load_table(f"{folder}/register.toml@first").rows == ROWS.rows
    assert "unknown edition of register 'second'" in failure(f"{folder}/register.toml@second")


def test_an_at_sign_may_be_part_of_a_path(folder: Path) -> None:
    moved = folder.rename(folder.with_name("mine@home"))
    assert load_table(f"{moved}/register.toml").name == load_table(f"{moved}/register.toml@first").name == "register"


def test_its_file_is_looked_for_from_the_card_and_where_shipped_ones_are(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "deep").mkdir()
    (folder / "ships.csv").rename(folder / "deep" / "ships.csv")
    assert "put ships.csv" in failure(f"{folder}/register.toml")
    (folder / "register.toml").write_text(card_text(file="deep/ships.csv"))
    assert len(load_table(f"{folder}/register.toml").rows) == len(ROWS.rows)
    elsewhere = folder.with_name("elsewhere")
    (folder / "deep").rename(elsewhere)
    assert "is not on this machine" in failure(f"{folder}/register.toml")
    monkeypatch.setenv("TABCONTAM_DATA", str(elsewhere))
    assert len(load_table(f"{folder}/register.toml").rows) == len(ROWS.rows)


def test_a_file_that_has_changed_is_a_hash_mismatch_that_names_both(folder: Path) -> None:
    (folder / "ships.csv").write_bytes(CONTENT + b"1\n")
    said = failure(f"{folder}/register.toml")
    assert f"hash mismatch: {folder / 'ships.csv'}" in said
    assert f"next to its card {folder / 'register.toml'}, or correct the card" in said


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"target": "toll"}, "'toll' is no column; the file has hullNo"),
        ({"rows": 59}, "rows is 59, and the file has 60"),
        ({"delimiter": ";"}, "unknown key 'delimiter'"),
        ({"title": ""}, "the card title cannot be ''"),
        ({"name": "my register"}, "name cannot be 'my register'; write a-z"),
        ({"public": 1}, "the card public cannot be 1"),
        ({"source": "elsewhere"}, "unknown key 'source'"),
        ({"sha256": "abc"}, "edition 'first' sha256 cannot be 'abc'"),
        ({"bytes": 0}, "edition 'first' bytes cannot be 0"),
        ({"name": "adult"}, "has the name 'adult', which the shipped"),
        ({"name": "census-income"}, "has the name 'census-income', which the shipped"),
    ],
)
def test_a_bad_card_is_one_line_with_file_and_field_and_exit_code_4(
    folder: Path, changes: dict[str, Any], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    card = folder / "register.toml"
    card.write_text(card_text(**changes))
    assert main(["run", "--dataset", str(card), "--out", str(folder / "run")]) == Exit.USAGE
    said = capsys.readouterr().err
    assert str(card) in said
    assert complaint in said
    assert len(said.splitlines()) == 1
    assert not (folder / "run").exists()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"a,b\n1,x\n2\n", "row 2 has 1 cells, and there are 2 columns"),
        (b"a,b\n1,x\n2,y,z\n", "row 2 has 3 cells"),
        (b"a,a\n1,x\n2,y\n", "columns are 'a', 'a'"),
        (b"a,b\n1,\xff\n2,y\n", "codec can't decode"),
    ],
)
def test_a_file_that_a_card_does_not_describe_is_one_line(folder: Path, content: bytes, complaint: str) -> None:
    (folder / "ships.csv").write_bytes(content)
    text = card_text(content, rows=2).replace('target = "tolldue"\n', "")
    (folder / "register.toml").write_text(text)
    said = failure(f"{folder}/register.toml")
    assert complaint in said
    assert f"edition 'first' of dataset card {folder / 'register.toml'} does not fit its file" in said


@pytest.mark.parametrize(
    ("question", "complaint"),
    [
        ('answers = { yes = "Yes", maybe = "No" }', "the question has no answer for the target 'no'"),
        ('answers = { ">=" = "Yes", "<" = "No" }\nthreshold = 3', "the question has no answer for the target 'no'"),
        ('answers = { yes = "Yes", no = "No" }\nthreshold = 3', "has a threshold, so that its answers are to"),
        ('answers = { yes = "Yes" }', "give a text for each value of the target"),
        ("answers = 1", "answers cannot be 1"),
        ('answers = { yes = "Yes", no = "No" }\nfair = 0', "fair cannot be 0"),
    ],
)
def test_a_question_that_does_not_fit_the_target_is_one_line(folder: Path, question: str, complaint: str) -> None:
    text = card_text().replace("[[editions]]", f'[question]\ntext = "Is toll due?"\n{question}\n[[editions]]')
    (folder / "register.toml").write_text(text)
    assert complaint in failure(f"{folder}/register.toml")


@pytest.mark.parametrize(("line", "fair"), [("", True), ("fair = true\n", True), ("fair = false\n", False)])
def test_a_card_says_whether_its_question_can_be_answered(folder: Path, line: str, fair: bool) -> None:
    question = f'[question]\ntext = "Is toll due?"\nanswers = {{ yes = "b_1", no = "b_2" }}\n{line}[[editions]]'
    (folder / "register.toml").write_text(card_text().replace("[[editions]]", question))
    found = load_table(f"{folder}/register.toml").question
    assert found is not None
    assert found.fair is fair


def test_no_name_in_a_card_leads_out_of_the_cache(folder: Path) -> None:
    changes: list[dict[str, Any]] = [{"name": "../up"}, {"file": ".."}, {"file": "a\\u0000b"}]
    for change in changes:
        (folder / "register.toml").write_text(card_text(**change))
        assert "cannot be" in failure(f"{folder}/register.toml")
    (folder / "register.toml").write_text(card_text().replace('"first"', '"../../up"'))
    assert "edition '../../up' name cannot be" in failure(f"{folder}/register.toml")


def test_a_function_of_scikit_learn_that_gives_no_table_is_one_line(folder: Path) -> None:
    (folder / "ships.csv").unlink()
    for loader in ("load_files", "fetch_openml", "load_nothing"):
        (folder / "register.toml").write_text(card_text() + f'loader = "{loader}"\n')
        assert f"register@first: sklearn.datasets.{loader} gives no table" in failure(f"{folder}/register.toml")


# Whose rows are private


def leaving(table: Table) -> dict[tuple[str, str], int]:
    model = resolve("openai:somebody@http://192.0.2.1/v1").open(ModelSettings())
    serializer, tests = load_serializers()["is"], [by_id()["feature_completion"]]
    return rows_shown(plan([RunSource(model)], [table], [serializer], tests, RunConfig()))


@pytest.mark.slow
@pytest.mark.parametrize("addresses", ["", 'addresses = ["https://example.org/ships.csv"]\n'])
def test_rows_of_a_card_of_ones_own_are_private_even_if_it_has_an_address(folder: Path, addresses: str) -> None:
    (folder / "register.toml").write_text(card_text() + addresses)  # an address of an intranet is no publication
    table = load_table(f"{folder}/register.toml")
    assert table.private
    assert leaving(table)["openai:somebody@http://192.0.2.1/v1", "register"] > 0


@pytest.mark.slow
def test_a_card_may_state_that_its_rows_are_public(folder: Path) -> None:
    (folder / "register.toml").write_text(card_text(public=True))
    table = load_table(f"{folder}/register.toml")
    assert not table.private
    assert leaving(table) == {}


@pytest.mark.slow
def test_private_rows_go_nowhere_unasked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--llm", "openai:somebody@http://192.0.2.1/v1", "--no-controls", "-k", "feature_completion"]
    card, out = str(folder / "register.toml"), folder / "run"
    assert main(["run", *asked, "--dataset", card, "--out", str(out)]) == Exit.USAGE
    assert "add --send-rows to allow that" in capsys.readouterr().err
    assert not out.exists()


# Folders


def test_what_lies_in_the_folders_of_the_variable_is_known_by_name(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = tmp_path / "second"
    (second / "serializers").mkdir(parents=True)
    (second / "serializers" / "arrow.toml").write_text(ARROW)
    (folder / "pyproject.toml").write_text('[project]\nname = "something else"\n')
    assert find_card("register") is None
    monkeypatch.setenv("TABCONTAM_PATH", os.pathsep.join(("", str(folder), str(second), str(folder))))
    assert load_table("register@first").rows == load_table("harbour register of ZAND").rows == ROWS.rows
    assert load_serializer("arrow").row(["a"], ["1"]) == "a -> 1"
    assert list(all_cards()) == [*load_cards(), "register"]
    assert list(all_serializers()) == [*load_serializers(), "arrow"]
    assert "did you mean register" in failure("registr")
    with pytest.raises(UsageError, match="unknown serializer 'arow'; did you mean arrow"):
        load_serializer("arow")


def test_they_may_lie_in_a_subfolder_or_in_the_folder_itself(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABCONTAM_PATH", str(folder))
    (folder / "datasets").mkdir()
    (folder / "register.toml").rename(folder / "datasets" / "register.toml")
    (folder / "ships.csv").rename(folder / "datasets" / "ships.csv")
    (folder / "arrow.toml").write_text(ARROW)
    assert load_table("register").rows == ROWS.rows
    assert load_serializer("arrow").source == str(folder / "arrow.toml")


def test_list_shows_them_with_their_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "arrow.toml").write_text(ARROW)
    shipped = list_command.datasets()
    monkeypatch.setenv("TABCONTAM_PATH", str(folder))
    assert list_command.datasets()[:-1] == shipped
    card, serializer = list_command.datasets()[-1], list_command.serializers()[-1]
    assert card["about"] == f"Harbour Register of Zand (first); from {folder / 'register.toml'}"
    assert "private: its rows leave this machine only with --send-rows" in card["text"]
    assert (card["card"]["source"], card["card"]["public"]) == (str(folder / "register.toml"), False)
    assert serializer["about"] == f"as arrows; from {folder / 'arrow.toml'}"


def test_the_tests_compare_no_table_with_a_card_of_somebody_else(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = [query.prompt for query in asked()]
    monkeypatch.setenv("TABCONTAM_PATH", str(folder))
    assert [query.prompt for query in asked()] == before


def asked() -> Any:
    from random import Random

    return by_id()["feature_list_uninformed"].queries(load_table("iris"), load_serializers()["is"], Random(0))


def test_a_folder_that_is_not_there_is_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABCONTAM_PATH", f"{folder}{os.pathsep}{folder}/nowhere")
    assert failure("iris") == f"TABCONTAM_PATH names no folder: {folder}/nowhere; correct it, or unset it"


@pytest.mark.parametrize("text", ["name = ", "\xff", card_text(name="a b")])
def test_a_file_there_that_cannot_be_read_is_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (folder / "odd.toml").write_text(text, "latin-1")
    monkeypatch.setenv("TABCONTAM_PATH", str(folder))
    assert str(folder / "odd.toml") in failure("iris")


def test_two_of_one_name_are_an_error_that_names_both(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABCONTAM_PATH", str(folder))
    (folder / "again.toml").write_text(card_text())
    said = failure("register")
    assert "two dataset cards are named 'register'" in said
    assert str(folder / "again.toml") in said
    assert str(folder / "register.toml") in said
    for name in ("one.toml", "two.toml"):
        (folder / name).write_text(ARROW.replace("->", name))
    with pytest.raises(UsageError, match=r"two serializers are named 'arrow': .*one\.toml and .*two\.toml"):
        load_serializer("arrow")


def test_a_serializer_of_a_shipped_name_is_an_error_that_names_both(folder: Path) -> None:
    (folder / "is.toml").write_text(ARROW.replace('name = "arrow"\n', ""))
    with pytest.raises(UsageError, match=r"is\.toml has the name 'is', which the shipped .*is\.toml has"):
        load_serializer(str(folder / "is.toml"))


def test_a_copy_of_a_shipped_file_is_the_shipped_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parents[2]
    assert find_card(str(root / "datasets" / "iris.toml")) == load_cards()["iris"]
    monkeypatch.setenv("TABCONTAM_PATH", str(root))
    assert all_cards() == load_cards()
    assert all_serializers() == load_serializers()
    assert load_serializer(str(root / "serializers" / "is.toml")) is load_serializers()["is"]


def test_each_kind_says_which_option_takes_the_other(folder: Path) -> None:
    (folder / "arrow.toml").write_text(ARROW)
    assert "arrow.toml is no dataset card; give it with --serializer" in failure(f"{folder}/arrow.toml")
    with pytest.raises(UsageError, match=r"register\.toml is no serializer; give it with --dataset"):
        load_serializer(f"{folder}/register.toml")


# In a run


@pytest.mark.slow
def test_a_run_and_its_gate_take_them_by_file_and_by_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "arrow.toml").write_text(ARROW)
    monkeypatch.chdir(folder)
    made = run("simulated:memoriser:1", Path("register.toml"), serializer="arrow.toml", controls=False, out="out")
    assert {(cell.dataset, (cell.edition or "")[:6], cell.serializer) for cell in made.results} == {
        ("register", "first-", "arrow")
    }
    assert load_results("out").verdict("simulated:memoriser:1", "register.toml@first") == "contaminated"
    assert main(["gate", "out", "--dataset", "register.toml"]) == Exit.CONTAMINATED
    monkeypatch.setenv("TABCONTAM_PATH", str(folder))
    assert main(["gate", "out", "--dataset", "Harbour Register of Zand"]) == Exit.CONTAMINATED
    assert main(["gate", "out", "--dataset", "register@first"]) == Exit.CONTAMINATED
    assert main(["rescore", "out"]) == main(["report", "out", "--out", "again"]) == Exit.DONE


@pytest.mark.slow
def test_a_card_that_means_another_file_now_is_not_what_was_tested(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    asked = {"tests": "full_completion", "controls": False, "out": "out"}
    made = run("simulated:guesser", "register.toml", **asked)  # type: ignore[arg-type]
    changed = CONTENT.replace(b"yes", b"aye")
    (folder / "ships.csv").write_bytes(changed)
    (folder / "register.toml").write_text(card_text(changed))
    for name in ("register.toml", "register.toml@first"):
        with pytest.raises(UsageError, match="its card has changed since; run the tests again"):
            made.gate(dataset=name)
    with pytest.raises(UsageError, match=re.escape("which this run does not ask; choose another folder with out=")):
        run("simulated:guesser", "register.toml", **asked)  # type: ignore[arg-type]
