"""A document as a sequence of words, so that a row's values are found in it in any notation.

A word is a run of letters and digits. A full stop before a digit belongs to the word, unless a letter or another full
stop precedes it (`5.1`, `.5`). Everything else is punctuation. This includes HTML's entities (`&amp;`), escaped line
breaks and tabs (the two characters of `\\n`, `\\r`, `\\t`), and Unicode's blanks, quotes, dashes and line separators.
The case of A to Z is ignored.
"""

import re
from typing import NamedTuple

WORD_BYTES = rb"0-9A-Za-z\x80-\xff"
WORD = re.compile(rb"(?:[%b]|(?<![A-Za-z\x80-\xff.])\.(?=[0-9]))+" % WORD_BYTES)
NUMBER = re.compile(rb"([0-9]*)(?:\.([0-9]+))?")
OF_A_WORD = frozenset(re.findall(rb"[%b]" % WORD_BYTES, bytes(range(256))))
ENTITY = re.compile(rb"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,23});")
HYPHEN = ord("-")
ESCAPED = {b"\\n": b" \n", b"\\r": b"  ", b"\\t": b"  "}
MINUS = b"\xe2\x88\x92"  # U+2212, the minus sign, is read as a hyphen
TWO = re.compile(rb"\xc2(?:[\x80-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf])")  # U+0080 to U+00BF except three letters
THREE = re.compile(
    rb"\xe2[\x80-\xaf][\x80-\xbf]"  # U+2000 to U+2BFF: blanks, quotes, dashes, arrows, lines, shapes
    rb"|\xe3\x80[\x80-\x9f]"  # U+3000 to U+301F: Chinese and Japanese punctuation
    rb"|\xef\xbc[\x81-\x8f\x9a-\xa0]|\xef\xbb\xbf"  # full-width punctuation; the byte order mark
)


class TextWord(NamedTuple):
    """A word of a text, from byte `begin` to before byte `end`. Words with the same `key` are equal.

    The key is in lower case. A number's key omits the zeros that do not change its value (`12` for `12.00` and `012`,
    `.5` for `0.50`). `minus` is True for a number with a minus sign before it.
    """

    key: bytes
    begin: int
    end: int
    number: bool
    minus: bool


def blank_punctuation(text: bytes) -> bytes:
    """Return the text with blanks or line breaks instead of multi-byte punctuation marks. Its length stays the same."""
    if b"&" in text:
        text = ENTITY.sub(lambda match: b" " * len(match[0]), text)
    if b"\\" in text:
        for escaped, blanks in ESCAPED.items():
            text = text.replace(escaped, blanks)
    if not text.isascii():
        text = THREE.sub(b"   ", TWO.sub(b"  ", text.replace(MINUS, b"  -")))
    return text


def words(clean: bytes, begin: int = 0, end: int | None = None) -> list[TextWord]:
    """Return the words of a text from byte `begin` to before byte `end`. `clean` is a result of `blank_punctuation`."""
    found = WORD.finditer(clean, begin, len(clean) if end is None else end)
    return [_word(clean, match[0].lower(), *match.span()) for match in found]


def plain_words(clean: bytes, begin: int = 0, end: int | None = None) -> list[tuple[bytes, int, int]]:
    """Return each word in lower case, numbers as they are written, with the bytes at which it begins and ends."""
    found = WORD.finditer(clean, begin, len(clean) if end is None else end)
    return [(match[0].lower(), *match.span()) for match in found]


def number_key(word: bytes) -> bytes | None:
    """Return the key by which a number is compared, or None if the word is not a number."""
    if word[0] > 0x39 or (match := NUMBER.fullmatch(word)) is None:
        return None
    whole, part = match[1].lstrip(b"0"), (match[2] or b"").rstrip(b"0")
    return b"%b.%b" % (whole, part) if part else whole or b"0"


def _word(clean: bytes, word: bytes, begin: int, end: int) -> TextWord:
    key = number_key(word)
    if key is None:
        return TextWord(word, begin, end, False, False)
    return TextWord(key, begin, end, True, key != b"0" and _is_negative(clean, begin))


def _is_negative(clean: bytes, begin: int) -> bool:
    """Return whether a hyphen before a number is a minus sign. A hyphen after another word is none (`3-5`)."""
    return begin > 0 and clean[begin - 1] == HYPHEN and clean[begin - 2 : begin - 1] not in OF_A_WORD
