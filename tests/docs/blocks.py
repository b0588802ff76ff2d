"""The fenced blocks of a page, and the commands in them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.docs.made import DOCS, EXTENSION_PAGES, ROOT

PAGES = (ROOT / "README.md", *sorted(DOCS.rglob("*.md")), *EXTENSION_PAGES)
FENCE = re.compile(r"```(\w*)$")
NAMED = re.compile(r"`([^`\s]*[\w-]\.\w+|\.[\w-]+\.yml)`:$")
AT_THE_END = "At the end of"
IN_YAML = re.compile(r"^\s*- (?:run: )?((?:python -m tabcontam|pip install) .+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: `line` is where its text begins, `file` the file that the line before it names, if it does."""

    page: Path
    line: int
    language: str
    text: str
    file: str
    appended: bool

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@dataclass(frozen=True)
class Command:
    """A command of a block, and the lines of output that the page shows."""

    text: str
    output: tuple[str, ...] = ()


def blocks(page: Path) -> Iterator[Block]:
    """Every fenced block of a page."""
    lines = page.read_text("utf-8").splitlines()
    opened, file, before = None, "", ""
    for number, line in enumerate(lines):
        if opened is None and (fence := FENCE.match(line)):
            named = NAMED.search(before)
            file = named[1] if named else file if fence[1] == "diff" else ""
            opened = (number + 1, fence[1], AT_THE_END in before)
        elif opened is not None and line == "```":
            start, language, appended = opened
            yield Block(page, start + 1, language, "\n".join([*lines[start:number], ""]), file, appended)
            opened, before = None, ""
        elif opened is None and line.strip():
            before = line
    assert opened is None, f"{page} has a fence that never ends"


def commands(block: Block) -> list[Command]:
    """The commands of a block: in a console those behind `$`, in YAML the steps that are ours."""
    if block.language == "yaml":
        key = "OPENAI_API_KEY=… " if "OPENAI_API_KEY" in block.text else ""
        return [Command(key + found if found.startswith("python") else found) for found in IN_YAML.findall(block.text)]
    if block.language != "console":
        return []
    found: list[Command] = []
    for line in block.text.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            found.append(Command(line[2:]))
        else:
            found[-1] = Command(found[-1].text, (*found[-1].output, line))
    return found
