"""The `cache` command says where the replies are, how large the file is and whose replies they are."""

from tabcontam.asking.reply_store import StoreFacts
from tabcontam.report.cache_text import cache_text
from tests.report.synthetic import HOSTILE


def test_path_size_and_a_line_for_each_llm() -> None:
    facts: StoreFacts = {
        "path": "/home/me/replies.sqlite", "size": 4_321_000, "replies": 12_345,
        "llms": {"openai:gpt-4o": 12_300, "gemini:g": 45},
    }  # fmt: skip
    assert cache_text(facts).splitlines() == [
        "/home/me/replies.sqlite: 4.3 MB, 12,345 replies",
        "  12,300  openai:gpt-4o",
        "      45  gemini:g",
    ]


def test_an_empty_store_is_one_line() -> None:
    assert cache_text({"path": "/r", "size": 0, "replies": 0, "llms": {}}) == "/r: 0 bytes, 0 replies"


def test_hostile_names_stay_on_their_line() -> None:
    text = cache_text({"path": "/r", "size": 1, "replies": 1, "llms": {f"a\nb{HOSTILE}": 1}})
    assert text.startswith("/r: 1 byte, 1 reply\n")
    assert text.count("\n") == 1
    assert "\x1b" not in text
