"""Replacement of equivalent signs: typographic hyphens, quotes and blanks, full-width letters, digits of any script."""

import re
import unicodedata
from functools import lru_cache
from html import unescape

HYPHENS = "\u2010\u2011\u2012\u2212\ufe63"
SINGLE, DOUBLE = (
    "\u2018\u2019\u201a\u201b\u2039\u203a\u2032",
    "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\u300c\u300d\u300e\u300f",
)
BLANKS = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
NOTHING = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\x00"
POINTS = {"\u3002": ".", "\u3001": ",", "\u060c": ",", "\u061b": ";", "\u0964": ".", "\u3010": "[", "\u3011": "]"}
SIGNS = str.maketrans(
    {
        **dict.fromkeys(HYPHENS, "-"),
        **dict.fromkeys(SINGLE, "'"),
        **dict.fromkeys(DOUBLE, '"'),
        **dict.fromkeys(BLANKS, " "),
        **dict.fromkeys(NOTHING, ""),
        **POINTS,
        **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    }
)
THOUSANDS = re.compile(rf"(?<=\d)[{BLANKS}](?=\d{{3}}(?!\d))")
ESCAPED = re.compile(r"\\([_*#.~>+!$%&-])")  # escapes of Markdown and LaTeX, without those of table cells
ENTITY = re.compile(r"&(?:#\d+|#x[0-9a-f]+|[a-z]+);", re.IGNORECASE)
GROUPED = "\u00a0"  # a separator of thousands within one number


def plain_signs(text: str) -> str:
    """Return a text with the signs of a keyboard instead of typographic signs, other digits and escapes."""
    if text.isascii() and "\\" not in text and "&" not in text:
        return text
    text = ESCAPED.sub(r"\1", ENTITY.sub(lambda match: unescape(match.group()), text))
    return text if text.isascii() else _plain(text)


@lru_cache(maxsize=10_000)
def _plain(text: str) -> str:
    text = THOUSANDS.sub("\x01", text).translate(SIGNS).replace("\x01", GROUPED)
    if any(letter.isdecimal() and not letter.isascii() for letter in text):
        text = "".join(str(unicodedata.decimal(letter)) if letter.isdecimal() else letter for letter in text)
    return text


@lru_cache(maxsize=10_000)
def script(letter: str) -> str:
    """Return the script of a letter as Unicode names it: LATIN, CYRILLIC, CJK."""
    return unicodedata.name(letter, "?").partition(" ")[0]
