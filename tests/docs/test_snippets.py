"""Every command and snippet of README and docs runs, in the order of its page."""

from pathlib import Path

import pytest

from tests.docs.blocks import PAGES, Block, Command, blocks, commands
from tests.docs.made import DOCS, ROOT
from tests.docs.running import Absent, Place, served
from tests.installed import with_every_extension

# pages that change the project: they work on a copy, in a process a command
COPIED = (DOCS / "add-a-test.md", DOCS / "extend.md")
ELSEWHERE = (DOCS / "extensions.md",)  # shows a package that tests/test_entry_points.py installs and runs
LANGUAGES = {"console", "python", "toml", "ini", "yaml", "diff", "text"}


def asked(page: Path) -> list[tuple[Block, Command | None]]:
    """What a page has to run, in order: its commands, and blocks that are files or snippets."""
    found: list[tuple[Block, Command | None]] = []
    for block in blocks(page):
        found += [(block, command) for command in commands(block)]
        if block.language != "console":
            found.append((block, None))
    return found


@pytest.mark.slow
@with_every_extension
@pytest.mark.usefixtures("cheaply")
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page not in ELSEWHERE and asked(page)],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_what_a_page_shows_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    absent: set[str] = set()
    with served(monkeypatch) as servers:
        place = Place(tmp_path, monkeypatch, servers, page in COPIED)
        for block, command in asked(page):
            if command is None:
                place.take(block)
            else:
                try:
                    place.run(command, block)
                except Absent as what:
                    absent.add(str(what))
    if absent:
        pytest.skip(f"neither under TABCONTAM_DATA nor installed, so left out: {', '.join(sorted(absent))}")


def test_every_block_says_what_it_is() -> None:
    assert {block.language for page in PAGES for block in blocks(page)} <= LANGUAGES


def test_a_new_test_is_a_file_of_under_40_lines_and_one_line_in_the_list() -> None:
    page = list(blocks(DOCS / "add-a-test.md"))
    (number,) = [number for number, block in enumerate(page) if block.file.endswith("bare_completion.py")]
    new, line = page[number : number + 2]
    assert len(new.text.splitlines()) < 40
    assert line.file == "tabcontam/evidence/registry.py"
    assert [changed for changed in line.text.splitlines() if changed[0] in "+-"] == [
        '+    "tabcontam.evidence.rows.bare_completion:BareCompletion",'
    ]
