"""Everything that a user can name is named in what was written by hand: options, datasets, variables, fields."""

import argparse
import json
import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest

from tabcontam.cli.arguments import parser
from tabcontam.cli.commands import main
from tabcontam.errors import Exit
from tabcontam.evidence.base import ReplyState, Verdict
from tabcontam.evidence.prompts import load_prompts
from tabcontam.evidence.registry import all_tests
from tabcontam.models.catalogue import load_catalogue
from tabcontam.models.known.simulated import KINDS
from tabcontam.models.provider_registry import BUILT_IN
from tabcontam.report.formats import format_names
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.tables.serializers import load_serializers
from tests.commands import FILES
from tests.docs.blocks import PAGES
from tests.docs.made import COMMANDS, DOCS, ROOT, commands
from tests.installed import with_every_extension

TEXTS = {page: page.read_text("utf-8") for page in PAGES}
BY_HAND = "\n".join(text for page, text in TEXTS.items() if page.parent != COMMANDS)
OVERVIEW = TEXTS[DOCS / "commands.md"]
REPORT = TEXTS[DOCS / "read-a-report.md"] + TEXTS[DOCS / "files-of-a-run.md"]
VARIABLE = re.compile(r"""(?:environ(?:\.get\(|\[)|environ\.get\(\s*)["'](\w+)["']""")
INNER = {"ENCHANT_CONFIG_DIR", "TERM"}  # set for a moment for a library; read by every program of a terminal


def whole(word: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def options(of: argparse.ArgumentParser) -> list[str]:
    """The options of a parser, each by one of its spellings."""
    actions = [action for action in of._actions if action.option_strings and action.dest not in ("help", "version")]
    return [action.option_strings[0] for action in actions]


@pytest.mark.slow
@pytest.mark.parametrize("command", list(commands()))
def test_every_option_is_explained_somewhere(command: str) -> None:
    own = commands()[command]
    assert [option for option in options(own) if not whole(option, BY_HAND)] == []


def test_every_command_is_shown() -> None:
    assert [name for name in commands() if not re.search(rf"tabcontam {name}\b|`{name} ", BY_HAND)] == []


def test_every_dataset_serializer_prompt_set_and_simulated_kind_is_named() -> None:
    names = [
        *load_cards(),
        *load_serializers(),
        *load_prompts(),
        *KINDS,
        *(test.id for test in all_tests()),
        *format_names(),
    ]
    assert [name for name in names if f"`{name}`" not in BY_HAND and not whole(name, BY_HAND)] == []


def test_every_way_to_name_an_llm_is_in_the_table() -> None:
    page = TEXTS[DOCS / "test-your-own-model.md"]
    spellings = [spelling for provider in BUILT_IN.values() for spelling in provider.spellings]
    assert [spelling for spelling in spellings if f"`{spelling}`" not in page] == []


def test_counts_are_true() -> None:
    entries = load_catalogue().values()
    assert f"lists the {len(entries)} named ones" in TEXTS[DOCS / "test-your-own-model.md"]
    assert "Fifteen have a card" in TEXTS[DOCS / "test-your-own-table.md"]
    assert "Six more are datasets of texts" in TEXTS[DOCS / "test-your-own-table.md"]
    texts = [card for card in load_cards().values() if card.editions[0].text]
    records = [card for card in load_cards().values() if card.dates.completed]
    assert "Eight are records of public facts" in TEXTS[DOCS / "test-your-own-table.md"]
    assert len(records) == 8
    assert len(load_cards()) - len(texts) - len(records) == sum(entry.paper for entry in entries) == 15
    assert len(texts) == 6


def test_every_verdict_and_state_is_explained() -> None:
    assert [word for word in Verdict if f"| {word} |" not in REPORT] == []
    assert [state for state in ReplyState if f"`{state}`" not in REPORT] == []


def test_every_exit_code_is_in_the_list() -> None:
    text = OVERVIEW.partition("## Exit codes")[2].partition("\n## ")[0]
    assert re.findall(r"^\| (\d) \|", text, re.MULTILINE) == [str(int(code)) for code in Exit]


def test_every_environment_variable_is_in_the_list() -> None:
    sources = [path.read_text("utf-8") for path in (ROOT / "tabcontam").rglob("*.py")]
    read = {name for source in sources for name in VARIABLE.findall(source)} - INNER
    assert {"TABCONTAM_DATA", "OLLAMA_HOST"} <= read
    text = OVERVIEW.partition("## Environment")[2].partition("\n## ")[0]
    assert [name for name in read if f"`{name}`" not in text] == []


def test_every_field_of_a_run_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    asked = ["--llm", "simulated:oracle", "--no-controls", "--dataset", "iris", "-k", "full_completion or 0shot"]
    assert main(["run", *asked, "--out", str(out)]) == Exit.DONE
    document = json.loads((out / "results.json").read_text("utf-8"))
    lines = (out / "trials.jsonl").read_text("utf-8").splitlines()
    told = REPORT.partition("## results.json")[2]
    keys = {*document, *document["results"][0], *document["tables"][0], *json.loads(lines[0])}
    keys |= {name for rank in document["ranking"] for name in rank if not name.endswith(("_interval", "_majority"))}
    assert [key for key in keys if f"`{key}`" not in told] == []
    assert {path.name for path in out.iterdir()} == FILES


def test_the_program_names_itself_as_the_docs_do() -> None:
    assert parser().prog == "tabcontam"


def test_the_readmes_figures_are_those_of_the_method_page() -> None:
    line = next(line for line in TEXTS[DOCS / "method.md"].splitlines() if line.startswith("| **table** |"))
    _, _, _, false, _, half, _, tenth, _ = [part.strip() for part in line.strip("|").split("|")]
    readme = TEXTS[ROOT / "README.md"]
    assert f"{false.partition(' (')[0]} runs (at most {false.partition('≤ ')[2]}" in readme
    assert f"half of the rows | {half} |" in readme
    assert f"a tenth | {tenth} |" in readme


def test_the_readme_is_a_screen() -> None:
    assert len(TEXTS[ROOT / "README.md"].splitlines()) <= 100


INLINE = sorted({code for text in TEXTS.values() for code in re.findall(r"`(python -m [^`\n]+)`", text)})


@pytest.mark.slow
@with_every_extension
def test_a_command_within_a_sentence_could_be_typed() -> None:
    assert len(INLINE) > 50
    for command in INLINE:
        _, _, module, *arguments = shlex.split(command)
        if module == "tabcontam" and arguments:
            assert parser().parse_args(arguments).command == arguments[0], command
        assert find_spec(module), command
