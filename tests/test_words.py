"""Code, messages and docs keep to the words of docs/glossary.md: words that they do without, and what to write."""

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
NAMES = {"beside", "told", "untold", "whoever", "accused", "guesser"}  # words that no identifier has
JUDGED = (
    "extensions/papers/completion_judge.py",
    "extensions/fresh/passages/judge_queries.py",
)  # prompts, whose recorded replies stay
LONGEST = 4_000  # words of a page of the docs


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


def messages() -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each string of four words or more that is no docstring."""
    for path, (_, tree) in modules().items():
        docstring = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or id(node) in docstring or path.endswith(JUDGED):
                continue
            if isinstance(node.value, str) and len(node.value.split()) > 3:
                yield f"{path}:{node.lineno}", node.value


def identifiers() -> Iterator[tuple[str, str]]:
    """Yield the place and the name of each class, function, parameter, variable and field."""
    for path, (_, tree) in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path}:{node.lineno}", node.name
            elif isinstance(node, ast.arg):
                yield f"{path}:{node.lineno}", node.arg
            elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
                yield f"{path}:{node.lineno}", node.id if isinstance(node, ast.Name) else node.attr


def written_pages() -> list[Path]:
    """Return the pages of the docs and of the extensions."""
    return sorted([*(ROOT / "docs").rglob("*.md"), *(PACKAGE / "extensions").glob("*/README.md")])


def pages() -> Iterator[tuple[str, str]]:
    """Yield each page of the docs without code blocks, quotations and tables that benchmarks write."""
    for page in written_pages():
        if page.name != "glossary.md":
            text = re.sub(r"```.*?```|<!-- (?!end).*?<!-- end", "", page.read_text("utf-8"), flags=re.DOTALL)
            text = re.sub(r"\"[^\"\n]*\"", "", text)
            yield str(page.relative_to(ROOT)), text


def without_code(text: str) -> str:
    """Return a text without its quoted code, in which an identifier may have any name."""
    return re.sub(r"`[^`]*`|\]\([^)]*\)", "", text)


def test_code_messages_and_docs_do_without_these_words() -> None:
    found = [
        f"{place}: {word.group()!r}, write {instead}"
        for place, text in (*docstrings(), *comments(), *messages(), *pages())
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


def test_no_identifier_has_a_word_that_says_nothing() -> None:
    found = [
        f"{place}: {name}"
        for place, name in identifiers()
        if NAMES & set(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().split("_"))
    ]
    assert not found, "\n".join(found)


def test_each_page_of_the_docs_is_read_in_twenty_minutes() -> None:
    lengths = {page: len(page.read_text("utf-8").split()) for page in written_pages()}
    assert len(lengths) > 50
    assert {page.name: words for page, words in lengths.items() if words > LONGEST} == {}
