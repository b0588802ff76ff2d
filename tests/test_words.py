"""The code keeps to the words of docs/glossary.md: words and beginnings that it does without, and what to write."""

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "tabcontam"
WORDS = {
    r"\bbeside\b": "next to, compared with, besides",
    r"\btold\b": "named, reported, shown, given",
    r"\bwhoever\b": "a model that, a reader who",
    r"\baccused?\b": "contaminated",
    r"\blet go\b": "not detected",
    r"\bguesser\b": "baseline",
    r"\bbod(y|ies) of documents\b": "corpus, corpora",
    r"\bwhat is none\b": "the noun",
}
BEGINNINGS = {
    r"The same\b": "the noun: a docstring is read alone",
    r"(What|Whether|How|Who|Which|Those)\b": "a verb: Return, Write, Yield; or a noun",
}
OF_PROVIDERS = {"batch.py", "connection.py", "errors.py", "habits.py", "provider.py", "replies.py"}
MANY = {"__init__.py", "__main__.py", "base.py", "thresholds.py", *OF_PROVIDERS}
LONGEST = 4_000  # words of the page on the method, and of each appendix of it


@cache
def modules() -> dict[str, tuple[str, ast.Module]]:
    """Return the text and the syntax tree of each module, by its path."""
    texts = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    return {path: (text, ast.parse(text)) for path, text in texts.items()}


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each docstring, also of fields."""
    for path, (_, tree) in modules().items():
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                yield f"{path}:{node.lineno}", node.value.value


def comments() -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each comment."""
    for path, (text, _) in modules().items():
        if "#" in text:
            for token in tokenize.generate_tokens(io.StringIO(text).readline):
                if token.type == tokenize.COMMENT:
                    yield f"{path}:{token.start[0]}", token.string


def pages() -> Iterator[tuple[str, str]]:
    """Yield each page of the docs without code blocks, quotations and tables that benchmarks write."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        if page.name != "glossary.md":
            text = re.sub(r"```.*?```|<!-- (?!end).*?<!-- end", "", page.read_text("utf-8"), flags=re.DOTALL)
            text = re.sub(r"\"[^\"\n]*\"", "", text)
            yield str(page.relative_to(ROOT)), text


def without_code(text: str) -> str:
    """Return a text without its quoted code, in which an identifier may have any name."""
    return re.sub(r"`[^`]*`|\]\([^)]*\)", "", text)


def test_docstrings_comments_and_docs_do_without_these_words() -> None:
    found = [
        f"{place}: {word.group()!r}, write {instead}"
        for place, text in (*docstrings(), *comments(), *pages())
        for rule, instead in WORDS.items()
        for word in re.finditer(rule, without_code(text))
    ]
    assert not found, "\n".join(found)


def test_a_docstring_begins_with_what_comes_back() -> None:
    found = [
        f"{place}: {beginning.group()!r}, write {instead}"
        for place, text in docstrings()
        for rule, instead in BEGINNINGS.items()
        if (beginning := re.match(rule, text))
    ]
    assert not found, "\n".join(found)


def test_no_two_classes_and_no_two_files_share_a_name() -> None:
    places = defaultdict(list)
    for path, (_, tree) in modules().items():
        places[Path(path).name].append(path)
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path)
    assert {name: own for name, own in places.items() if len(own) > 1 and name not in MANY} == {}


def test_each_page_on_the_method_is_read_in_twenty_minutes() -> None:
    pages = [ROOT / "docs" / "method.md", *(ROOT / "docs" / "method").glob("*.md")]
    assert len(pages) > 1
    assert {page.name: words for page in pages if (words := len(page.read_text("utf-8").split())) > LONGEST} == {}
