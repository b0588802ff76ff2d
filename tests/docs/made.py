"""The pages of the docs that are made: of each contamination test, their index, every --help, a JSON Schema."""

import inspect
import json
import os
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from unittest.mock import patch

from tabcontam.cli.arguments import commands_of, parser
from tabcontam.cli.command_parser import CommandParser
from tabcontam.config import PYTHON, settings
from tabcontam.evidence.base import Test
from tabcontam.evidence.mixins import WordedTest
from tabcontam.evidence.registry import all_tests
from tabcontam.models.provider_registry import BUILT_IN
from tabcontam.tables.serializers import DEFAULT, load_serializer
from tabcontam.verdicts.document import json_schema
from tests.made_tables import as_needed, wide

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXTENSION_PAGES = sorted((ROOT / "tabcontam" / "extensions").glob("*/README.md"))
COMMANDS = DOCS / "commands"
MODELS = DOCS / "test-your-own-model.md"
SCHEMA = DOCS / "results.schema.json"
ARGUMENTS = ROOT / "tabcontam" / "run_settings.py"
MADE = "<!-- made by python -m tests.docs -->"
WIDTH = "100"  # columns of a help text
TYPES = (
    '"""The arguments of `tabcontam.run`, for type checkers. `python -m tests.docs` makes this module."""\n',
    "from collections.abc import Mapping, Sequence",
    "from decimal import Decimal",
    "from pathlib import Path",
    "from typing import Literal, TypeAlias, TypedDict\n",
    "from tabcontam.tables.frames import Frame",
    "from tabcontam.tables.table import Table\n",
    'Dataset: TypeAlias = "str | Path | Table | Frame"\n\n',
    "class RunSettings(TypedDict, total=False):",
    '    """Further arguments of `tabcontam.run`."""\n',
)
HEADINGS = {
    "Measures": "What it measures",
    "Queries": "What it asks",
    "Null": "Its null",
    "Published rule": "The published rule",
    "Needs": "What it needs",
    "Cannot show": "What it cannot show",
    "Source": "Source",
    "Example": "An example",
}


def made() -> dict[Path, str]:
    """The text of every page that is made."""
    return {**{path_of(test): page(test) for test in all_tests()}, **beside()}


def path_of(test: Test) -> Path:
    """The page of a test."""
    return DOCS / "tests" / f"{test.id}.md"


def beside() -> dict[Path, str]:
    """The text of every page that is made but those of the tests, for which each is planned on a large table."""
    schema = json.dumps(json_schema(), ensure_ascii=False, indent=1) + "\n"
    before, _, rest = MODELS.read_text("utf-8").partition(f"{MADE}\n")
    after = rest.partition("\n\n")[2]
    return {
        DOCS / "tests" / "README.md": index(),
        SCHEMA: schema,
        **helps(),
        ARGUMENTS: arguments(),
        MODELS: f"{before}{MADE}\n{providers()}\n\n{after}",
    }


def sections(test: Test) -> dict[str, str]:
    """The paragraphs of a test's docstring by their labels, the first one under an empty label."""
    first, *rest = (inspect.getdoc(test) or "").split("\n\n")
    labelled = (paragraph.partition(":") for paragraph in rest)
    return {"": first, **{label: text.strip() for label, _, text in labelled}}


def page(test: Test) -> str:
    """A test's page: what its class states, then its docstring."""
    own = sections(test)
    facts = "\n".join(f"| {name} | {value} |" for name, value in _facts(test).items())
    text = "\n\n".join(f"## {heading}\n\n{_sentence(own[label])}" for label, heading in HEADINGS.items())
    links = "[All tests](README.md) · [How verdicts are made](../method.md) · [Docs](../README.md)"
    return f"{MADE}\n\n# {test.id}\n\n{own['']}\n\n| | |\n|---|---|\n{facts}\n\n{text}\n\n{links}\n"


def index() -> str:
    """The list of all tests."""
    lines = [
        f"| {test.number or ''} | [{test.id}]({test.id}.md) | {_kind(test)} | {sections(test)['']} |"
        for test in all_tests()
    ]
    return "\n".join(
        [
            f"{MADE}\n",
            "# The contamination tests\n",
            "Nine knowledge and memorization tests, example membership and classification, in the order of Table 1 of",
            "Ronval, Dupont and Nijssen (2024). Only the row tests can show that rows were seen. A page is made of the",
            "test's own docstring; `python -m tabcontam list tests -v` prints them all.\n",
            "| no. | test | kind | what the LLM is asked |",
            "|---|---|---|---|",
            *lines,
            "",
            "[How verdicts are made](../method.md) · [Add a test](../add-a-test.md) · [Docs](../README.md)\n",
        ]
    )


def providers() -> str:
    """The table of providers: how an LLM is written, its key, whether it gives log-probabilities and takes a seed."""
    lines = ["| written | model | key | log-probabilities | takes a seed |", "|---|---|---|---|---|"]
    for provider in BUILT_IN.values():
        if provider.name in ("control", "simulated"):
            continue
        facts = f"{provider.log_probabilities or 'not stated'} | {provider.seed or 'not stated'}"
        for spelling, about in provider.spellings.items():
            elsewhere = "@" in spelling
            named = elsewhere and provider.keys
            own = () if "FOLDER" in spelling else provider.keys  # what is loaded here needs none
            keys = "a variable that you name" if named else " or ".join(f"`{key}`" for key in own)
            able = "if the server gives them | no" if elsewhere and provider.name == "openai" else facts
            lines.append(f"| `{spelling}` | {about.partition('; ')[0]} | {keys or 'none'} | {able} |")
    return "\n".join(lines)


def arguments() -> str:
    """The arguments of `tabcontam.run` as a type that type checkers read."""
    lines = [
        f'    {name}: "{setting.annotation}"'
        for name, setting in settings(PYTHON).items()
        if name not in ("llm", "dataset")
    ]
    return "\n".join([*TYPES, *lines, ""])


def helps() -> dict[Path, str]:
    """Return the page of each command, which shows its help."""
    links = "[Commands](../commands.md) · [Docs](../README.md)"
    with patch.dict(os.environ, COLUMNS=WIDTH, NO_COLOR="1"):
        texts = {name: _help(command) for name, command in {"tabcontam": parser(), **commands()}.items()}
    return {
        COMMANDS / f"{name}.md": f"{MADE}\n\n# {name}\n\n```text\n{text}\n```\n\n{links}\n"
        for name, text in texts.items()
    }


def _help(command: CommandParser) -> str:
    """Return the help of a command, and the full help where --help-all shows more."""
    short, full = command.format_help().strip(), command.full_help().strip()
    return f"{short}\n```\n\n`--help-all` shows all options:\n\n```text\n{full}" if command.further else short


def commands() -> Mapping[str, CommandParser]:
    """The parser of each command."""
    return commands_of(parser())


def _facts(test: Test) -> Mapping[str, str]:
    rows = tuple(Random("docs").sample(wide().rows, len(wide().rows)))  # a table large enough for all, and unsorted
    table = replace(wide(), rows=rows)
    queries = test.queries(as_needed(test, table), load_serializer(DEFAULT), Random(0))
    asked = [query for query in queries if not query.decoy_of]
    own, decoys = sum(query.paper for query in asked), len(queries) - len(asked)
    alike = [other for other in all_tests() if test.id in other.id and other is not test]
    others = [other.id for other in alike if test.on_request or not other.on_request]
    expression = " and not ".join([test.id, *others])
    papers = f", {own or 'none'} of them the paper's own" if own < len(asked) else ""
    return {
        "number in the paper's Table 1": str(test.number or "none"),
        "kind": _kind(test),
        "gives": "a verdict" if test.decides else "a score, no verdict",
        "queries": f"at most {len(asked)}{papers}",
        "decoys": f"at most {decoys}" if decoys else "none",
        "length of an answer": f"at most {asked[0].max_tokens} tokens",
        "the serializer": "matters: rows are shown" if test.shows_rows else "does not matter: no row is shown",
        "the prompt set": "words its queries"
        if isinstance(test, WordedTest)
        else "does not matter: its queries are not worded by it",
        "run it alone": f"`python -m tabcontam run -k {shlex.quote(expression)}`",
    }


def _kind(test: Test) -> str:
    return f"{test.kind}, a row test" if test.row_test else str(test.kind)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
