"""The pages that are made are what their generator writes, and a test's docstring has all that its page needs."""

import re
from functools import cache

import pytest

from tabcontam.cli import list_command
from tabcontam.evidence import base
from tabcontam.evidence.registry import all_tests
from tests.docs.made import ARGUMENTS, COMMANDS, DOCS, HEADINGS, ROOT, beside, commands, page, path_of, sections
from tests.installed import with_every_extension

others = cache(beside)  # made by the first test that needs them
AGAIN = "run `python -m tests.docs`"


@pytest.mark.slow
@with_every_extension
@pytest.mark.usefixtures("cheaply")
@pytest.mark.parametrize("test", all_tests(), ids=lambda test: test.id)
def test_a_page_of_a_test_is_as_it_would_be_made(test: base.Test) -> None:
    assert path_of(test).read_text("utf-8") == page(test), AGAIN


@with_every_extension
def test_the_other_pages_are_as_they_would_be_made() -> None:
    made = {path: text for path, text in others().items() if path.parent != COMMANDS}
    assert [path.name for path, text in made.items() if path.read_text("utf-8") != text] == [], AGAIN


@with_every_extension
def test_there_is_no_page_of_a_test_that_is_gone() -> None:
    assert set((DOCS / "tests").iterdir()) == {*map(path_of, all_tests()), DOCS / "tests" / "README.md"}


@with_every_extension
def test_help_is_as_the_docs_show_it() -> None:
    # argparse breaks lines differently from one Python to the next; the words are the same
    made = {path: text for path, text in others().items() if path.parent == COMMANDS}
    assert set(COMMANDS.iterdir()) == set(made)
    assert [path.name for path, text in made.items() if path.read_text("utf-8").split() != text.split()] == [], AGAIN


def test_each_command_has_a_line_in_the_overview() -> None:
    overview = (DOCS / "commands.md").read_text("utf-8").partition("## Exit codes")[0]
    assert [name for name in commands() if f"| [`{name}`](commands/{name}.md) |" not in overview] == []


def test_every_docstring_has_every_paragraph_in_order() -> None:
    for test in all_tests():
        own = sections(test)
        assert list(own) == ["", *HEADINGS], test.id
        assert all(own.values()), test.id


def test_every_docstring_names_a_source_and_an_example_of_code() -> None:
    for test in all_tests():
        own = sections(test)
        of_another = test.source not in ("", base.RONVAL) or "Ronval" not in own["Source"]
        paper = r"[A-Z]\w+.* 20\d\d\b" if of_another else r"Ronval et al\. 2024, section "
        assert re.search(paper, own["Source"], re.DOTALL), test.id
        assert own["Example"].count("`") >= 2, test.id
        if test.number:
            assert own["Source"].startswith(f"test {test.number} of "), test.id


def test_a_listing_says_each_thing_once() -> None:
    for item in list_command.tests():
        lines = list_command.as_text([item], verbose=True).splitlines()
        assert len([line for line in lines if line]) == len({line for line in lines if line})
        assert item["about"].partition(") ")[2] not in " ".join(item["text"].split())


def test_nothing_made_lies_beside_what_is_written_by_hand() -> None:
    assert all(
        path == ARGUMENTS or path.is_relative_to(ROOT / "docs") for path in (*others(), *map(path_of, all_tests()))
    )
