"""Functions that make texts and numbers ready for display: harmless, on one line, short and readable.

Every text of a result was written by a model, a table or a user. Before it reaches a page or a terminal, `visible`
makes control characters harmless and shows where they were.
"""

import re
from collections.abc import Mapping, Sequence

from tabcontam.verdicts.thresholds import LARGEST_E

# C0 and C1 controls except tab and newline, bidirectional marks, line separators, surrogates, non-characters.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)


def visible(text: str, *, line: bool = False) -> str:
    """Return `text` with a visible sign for each character that could control a terminal or break a page.

    `line=True` also keeps it on one line.

    >>> visible("\\x1b[31m")
    '␛[31m'
    """
    if text.isascii() and text.isprintable():  # nearly all texts
        return text
    text = _UNSAFE.sub(_picture, text.replace("\r\n", "\n"))
    return text.replace("\n", " ⏎ ").replace("\t", " ") if line else text


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"\\u{code:04x}"


def with_ellipsis(text: str, longest: int) -> str:
    """Return `text`, cut to `longest` characters with an ellipsis at its end."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def shorten(text: str, limit: int, *, tail: bool = False) -> str:
    """Return the first `limit` characters of `text` (with `tail=True`, the last), and the number left out.

    >>> shorten("abcdef", 4)
    'abcd… (+2 characters)'
    """
    left_out = len(text) - limit
    if left_out <= 0:
        return text
    if tail:
        return f"(+{left_out} characters) …{text[left_out:]}"
    return f"{text[:limit]}… (+{left_out} characters)"


def rounded(key: str, value: float) -> str:
    """Return a number as text for readers, by its field `key`: probabilities in two digits, bits with one decimal,
    shares in percent.

    >>> rounded("q_value", 0.00123), rounded("recalled_bits", 212.34), rounded("detectable_share", 0.12)
    ('0.0012', '212.3', '12%')
    >>> rounded("e_value", 0.51), rounded("e_value", 1530.2), rounded("e_value", 2.44e9)
    ('0.51', '1,530', '2.4e+09')
    """
    if key in ("p_value", "q_value"):
        return f"{value:.2g}" if value else "under 1e-300"
    if key == "e_value" and value >= LARGEST_E:
        return f"over {LARGEST_E:.0e}"
    if key == "e_value":
        return f"{value:.2g}" if value < 100 else f"{value:,.0f}" if value < 1e6 else f"{value:.1e}"
    if key == "recalled_bits":
        return f"{value:.1f}"
    return f"{value:.0%}" if key == "detectable_share" else f"{value:.4g}"


def phrase(names: Sequence[str], last: str = "and") -> str:
    """Return the names as a phrase, with the word `last` before the last name.

    >>> phrase(["a", "b", "c"])
    'a, b and c'
    """
    return f" {last} ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def needing(tests: Sequence[str], lacks: str) -> str:
    """Return a sentence that these tests need `lacks`, the need that an LLM does not meet.

    >>> needing(["membership"], "a chat model")
    '1 test needs a chat model: membership'
    """
    return f"{len(tests)} {'test needs' if len(tests) == 1 else 'tests need'} {lacks}: {', '.join(tests)}"


def listed(value: object) -> str:
    """Return a word, a list or a mapping (feature to value) as lines, an item a line; None is a missing value.

    >>> listed({"age": "39", "note": "a\\nb", "income": None})
    'age = 39\\nnote = a ⏎ b\\nincome = (missing)'
    """
    if isinstance(value, Mapping):
        return "\n".join(f"{key} = {visible(listed(item), line=True)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return "\n".join(visible(listed(item), line=True) for item in value)
    return "(missing)" if value is None else text(value)


def text(value: object) -> str:
    """Return a JSON value as text; null is empty."""
    return "" if value is None else str(value)
