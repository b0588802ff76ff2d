"""The key of a corpus: by content, and cheap where nothing changed."""

import os
from pathlib import Path

from tabcontam.extensions.corpora.search import digest as module
from tabcontam.extensions.corpora.search.corpus_files import corpus_files
from tabcontam.extensions.corpora.search.digest import digest


def test_the_key_is_of_content_names_and_fields(corpus: Path) -> None:
    (corpus / "a.txt").write_text("one", "utf-8")
    first = digest(corpus_files("a.txt"))
    assert digest(corpus_files(str(corpus / "a.txt"))) == first
    assert digest(corpus_files("a.txt#field")) != first
    (corpus / "b.txt").write_text("one", "utf-8")
    assert digest(corpus_files("b.txt")) != first
    assert digest(corpus_files(".")) != first
    (corpus / "a.txt").write_text("two", "utf-8")
    assert digest(corpus_files("a.txt")) != first


def test_a_file_that_did_not_change_is_not_read_again(corpus: Path) -> None:
    path = corpus / "a.txt"
    path.write_text("one", "utf-8")
    os.utime(path, ns=(10**18, 10**18))
    first = digest(corpus_files("a.txt"))
    path.write_text("two", "utf-8")
    os.utime(path, ns=(10**18, 10**18))  # the same size and time: taken for the same
    assert digest(corpus_files("a.txt")) == first
    os.utime(path, ns=(10**18 + 1, 10**18 + 1))
    assert digest(corpus_files("a.txt")) != first


def test_a_file_changed_just_now_is_always_read(corpus: Path) -> None:
    path = corpus / "a.txt"
    path.write_text("one", "utf-8")
    facts = path.stat()
    first = digest(corpus_files("a.txt"))
    path.write_text("two", "utf-8")
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert digest(corpus_files("a.txt")) != first


def test_what_was_kept_may_be_damaged(corpus: Path) -> None:
    (corpus / "a.txt").write_text("one", "utf-8")
    os.utime(corpus / "a.txt", ns=(10**18, 10**18))
    first = digest(corpus_files("a.txt"))
    for content in ("{", "[]", '{"a": [1]}'):
        (module.corpora_folder() / "digests.json").write_text(content, "utf-8")
        assert digest(corpus_files("a.txt")) == first
