"""What is known of a contamination test stands in the test alone: no other module names one, nor lists them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from tabcontam.evidence.base import Measure
from tabcontam.evidence.registry import built_in_tests

PACKAGE = Path(__file__).parents[2] / "tabcontam"
IDS = [test.id for test in built_in_tests()]
# What one test measures has its name: a field of results, an option, a column of the ranking.
MEASURED = ("memory_share", "Memory's share")
NAMES = [name for test in built_in_tests() for name in (test.id, test.title) if name not in MEASURED]
WITHIN = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in NAMES if re.search(r"[ _]", name)))
NUMBERED = re.compile(r"(?i)\btests? \d+ to \d|\(\d to \d+ and|matched membership")  # tests 1 to 6, in prose
# that say something else alone
OTHER_WORDS = ("digits", "first", "header", "loss", "quiz", "recall", "sampling", "zlib")
IDS_AND_TITLES = {
    name for name in NAMES if name.casefold() not in (*get_args(Measure), *OTHER_WORDS)
}  # a column may be called as its test
RECORDED = "replay/answer_records.py"  # the strings of other people's files


def elsewhere(pattern: str) -> Iterator[Path]:
    """The files of the core outside `evidence/`. An extension may name the tests that it brings."""
    for file in sorted(PACKAGE.rglob(pattern)):
        place = file.relative_to(PACKAGE)
        if place.parts[0] not in ("evidence", "extensions") and str(place) != RECORDED:
            yield file


def named(file: Path) -> list[str]:
    """The strings of a module, docstrings aside, that name a test by id or title; a single word must be all of it."""
    tree = ast.parse(file.read_text("utf-8"))
    own = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    strings = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in own
    ]
    return [text for text in strings if text in IDS_AND_TITLES or WITHIN.search(text) or NUMBERED.search(text)]


@pytest.mark.slow
def test_no_module_but_its_own_names_a_test() -> None:
    found = {str(file.relative_to(PACKAGE)): texts for file in elsewhere("*.py") if (texts := named(file))}
    assert found == {}, "a test says of itself what others need to know: see evidence/base.py"


@pytest.mark.parametrize("pattern", ["*.jinja", "*.js", "*.css"])
def test_no_template_names_a_test(pattern: str) -> None:
    assert [
        file.name
        for file in elsewhere(pattern)
        if WITHIN.search(text := file.read_text("utf-8")) or NUMBERED.search(text)
    ] == []


def test_a_list_of_tests_would_be_seen(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    lines = ('"""Of full_completion."""', f"TITLES = {{{IDS[0]!r}: 1}}", 'ABOUT = f"as {1} of full_completion, {2}"')
    module.write_text("\n".join((*lines, 'KIND = "perplexity"', 'WORD = "perplexities"')))
    assert sorted(named(module)) == [" of full_completion, ", IDS[0], "perplexity"]
    for said in ("tests 1 to 6 may find both", "row tests (7 to 9 and others)"):
        module.write_text(f"NOTE = {said!r}")
        assert named(module) == [said]


# Beginnings of ids that are words of their own, or what a dot of a figure is called.
ALONE = (
    "classification",
    "row",
    "min",
    "dataset",
    "feature",
    "list",
    "guided",
    "exact",
    "memory",
    "incomplete",
    "full",
)


@pytest.mark.slow
def test_no_test_is_known_by_the_beginning_of_its_id() -> None:
    """`query.id.partition("-")` gave the test, and `id.startswith("feature_list")` its family."""
    beginnings = {test_id.rpartition("_")[0] for test_id in IDS} - {"", *OTHER_WORDS}
    found = {
        str(file.relative_to(PACKAGE)): node.value
        for file in elsewhere("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in beginnings - set(ALONE)
    }
    assert found == {}
