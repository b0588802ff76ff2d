"""Links within README and docs lead somewhere."""

import os
import re
import tomllib
from pathlib import Path

from benchmarks.rate_tables import RATES, stored_table
from tests.docs.blocks import PAGES
from tests.docs.made import DOCS, EXTENSION_PAGES, ROOT
from tests.installed import with_every_extension

FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def prose(page: Path) -> str:
    return CODE.sub("``", FENCED.sub("", page.read_text("utf-8")))


def anchors(page: Path) -> set[str]:
    """As GitHub and GitLab make them of headings."""
    headings = HEADING.findall(FENCED.sub("", page.read_text("utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@with_every_extension
def test_links_lead_to_files_and_headings() -> None:
    broken = []
    for page in PAGES:
        for link in LINK.findall(prose(page)):
            target, _, anchor = link.partition("#")
            if link.startswith("https://"):
                continue
            path = (page.parent / target).resolve() if target else page
            if not path.exists() or not path.is_relative_to(ROOT) or (anchor and anchor not in anchors(path)):
                broken.append((str(page.relative_to(ROOT)), link))
    assert broken == []


@with_every_extension
def test_every_page_is_reached_from_the_readme() -> None:
    seen, left = set(), [ROOT / "README.md"]
    while left:
        page = left.pop()
        if page in seen:
            continue
        seen.add(page)
        links = (link.partition("#")[0] for link in LINK.findall(prose(page)) if not link.startswith("https://"))
        left += [path for link in links if (path := (page.parent / link).resolve()).suffix == ".md" and path.exists()]
    assert set(PAGES) <= seen


def test_the_index_names_every_page() -> None:
    links = LINK.findall(prose(DOCS / "README.md"))
    pages = {page for page in DOCS.glob("*.md") if page.name != "README.md"} | set(EXTENSION_PAGES)
    own = [os.path.relpath(page, DOCS) for page in pages]
    assert [name for name in own if name not in links] == []


@with_every_extension
def test_what_the_pages_lead_to_lies_in_the_source_distribution() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    held = [ROOT / name for name in project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]]
    links = {(page, link.partition("#")[0]) for page in PAGES for link in LINK.findall(prose(page))}
    files = {(page.parent / link).resolve() for page, link in links if link and not link.startswith("https://")}
    assert [file for file in files if not any(file.is_relative_to(path) for path in held)] == []


@with_every_extension
def test_tables_of_rates_are_written_from_what_benchmarks_stored() -> None:
    pages = "\n".join(page.read_text("utf-8") for page in PAGES)
    stored = sorted(RATES.glob("*.json"))
    assert stored
    for path in stored:
        lines = "\n".join(stored_table(path).lines)
        assert f"\n{lines}\n<!-- end of {path.stem} -->" in pages, f"{path.stem}: type python -m benchmarks.rate_tables"
