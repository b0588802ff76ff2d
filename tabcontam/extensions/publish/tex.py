"""Escape any text for LaTeX, as plain ASCII."""

import re
import unicodedata

from tabcontam.verdicts.wording import visible

_NAMED = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_\allowbreak{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"{\char34}", "`": "{`}",
    "[": "{[}", "]": "{]}", "*": "{*}",  # without braces they would be options after the end of a row
    "\u00a0": "~", "\u2013": r"\textendash{}", "\u2014": r"\textemdash{}", "\u2018": r"\textquoteleft{}",
    "\u2019": r"\textquoteright{}", "\u201c": r"\textquotedblleft{}", "\u201d": r"\textquotedblright{}",
    "\u2026": r"\ldots{}", "\u00b7": r"\(\cdot\)", "\u00b1": r"\(\pm\)", "\u00d7": r"\(\times\)",
    "\u2192": r"\(\rightarrow\)", "\u2264": r"\(\leq\)", "\u2265": r"\(\geq\)", "\u23ce": r"\(\hookleftarrow\)",
    "\u25cf": r"\(\bullet\)", "\u2212": r"\(-\)",
    "\u00df": r"\ss{}", "\u00e6": r"\ae{}", "\u00c6": r"\AE{}", "\u00f8": r"\o{}", "\u00d8": r"\O{}",
    "\u0142": r"\l{}", "\u0141": r"\L{}",
}  # fmt: skip
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c",
}  # fmt: skip


def escaped(value: str) -> str:
    r"""Return a text as plain ASCII that LaTeX prints unchanged. A character without a LaTeX name becomes its number.

    >>> print(escaped("50% of café_1 汉"))
    50\% of caf\'{e}\_\allowbreak{}1 {[}U+6C49{]}
    """
    # LaTeX would merge two of these in a row
    return re.sub(r"([-,'])(?=\1)", r"\1{}", "".join(map(_printed, visible(value, line=True))))


def _printed(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    if character.isascii():
        return character
    parts = unicodedata.normalize("NFD", character)
    if len(parts) == 2 and parts[0].isascii() and parts[1] in _ACCENTS:
        return rf"\{_ACCENTS[parts[1]]}{{{parts[0]}}}"
    return f"{{[}}U+{ord(character):04X}{{]}}"
