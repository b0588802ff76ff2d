"""The page of each test is its docstring, whole."""

from tabcontam.evidence.registry import by_id
from tabcontam.report.html import pages_of


def test_every_test_of_the_suite_has_its_page_and_no_other() -> None:
    pages = pages_of([*by_id(), "of_my_own"])
    assert list(pages) == list(by_id())


def test_a_page_has_every_word_of_the_docstring() -> None:
    for test, page in pages_of(by_id()).items():
        words = "".join(piece for paragraph in page for piece, _ in paragraph)
        assert words.split() != []
        assert "".join(words.split()) == "".join((by_id()[test].__doc__ or "").replace("`", "").split())


def test_what_stands_between_backticks_is_code() -> None:
    pieces = [piece for paragraph in pages_of(by_id())["recognition_features"] for piece in paragraph]
    assert ("diluted_wines", True) in pieces
    assert not any("`" in piece for piece, _ in pieces)
