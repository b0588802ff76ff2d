"""Cells of a row in an answer, in whatever shape it has: JSON, a table, named values in prose, a bare list.

Each reader gives the asked features that it finds, with their values as text; None is a missing value. What a reader
cannot place it leaves out: a text that is no answer gives nothing.
"""

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

Cells = dict[str, str | None]

MARKS = r"[\"'`*]*"
SAID = rf"{MARKS}\s*(?:is equal to|is|was|=>|->|[:=|])\s*{MARKS}"
BEFORE = r"(?:^|[\n,;|{(\[:]|(?:^|\n)\s*[-*•]\s|\d[.)]\s|\.\s|\b(?:the|and|of)\s)\s*"
NEXT = re.compile(
    rf"(?:\s*[,;]\s*|\.\s+)(?:and\s+)?(?:the\s+)?{MARKS}[^,;.:=\n]{{1,80}}?{MARKS}\s*(?:\bis\b|->|[:=])|[\n\r]"
)
PREFIX = re.compile(r"^(?:the )?(?:answer|value|result)\s*(?:is|[:=])\s*", re.IGNORECASE)
FILLER = re.compile(
    r"^(?:sure|certainly|of course|okay|ok|here (?:is|are|you)|the (?:row|answer|value)[^:]*:|let me|i )\b.*",
    re.IGNORECASE,
)
NOTHING = re.compile(r"^(?:unknown|n/?a|none|nothing|not (?:available|known|applicable)|no idea)\W*$", re.IGNORECASE)
MOST_STARTS = 50  # brackets that are tried: a text of nothing else would take long
MOST_WORDS = 8  # of a short answer, unless the expected one is longer


def read_json(text: str, asked: Sequence[str]) -> Cells:
    """The first JSON object that names an asked feature, or a list of as many values as are asked."""
    decoder = json.JSONDecoder(parse_float=str, parse_int=str, strict=False)
    for start in (match.start() for match in islice(re.finditer(r"[\[{]", text), MOST_STARTS)):
        try:
            value, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if cells := _from_json(value, asked):
            return cells
    return {}


def _from_json(value: Any, asked: Sequence[str]) -> Cells:
    if isinstance(value, dict):
        named = {str(key).strip().casefold(): item for key, item in value.items()}
        return {name: _scalar(named[name.casefold()]) for name in asked if _is_scalar(named.get(name.casefold(), []))}
    if not isinstance(value, list):
        return {}
    if len(value) == len(asked) > 1 and all(map(_is_scalar, value)):
        return {name: _scalar(item) for name, item in zip(asked, value, strict=True)}
    return next((cells for item in value if (cells := _from_json(item, asked))), {})


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | bool)


def _scalar(value: object) -> str | None:
    return None if value is None else str(value).strip() or None


def read_table(text: str, asked: Sequence[str]) -> Cells:
    """The first row of a Markdown table whose header names asked features."""
    lines = [
        [cell.strip(" *`") for cell in line.strip().strip("|").split("|")] for line in text.splitlines() if "|" in line
    ]
    wanted = {name.casefold(): name for name in asked}
    for number, header in enumerate(lines):
        places = {wanted[cell.casefold()]: place for place, cell in enumerate(header) if cell.casefold() in wanted}
        for row in lines[number + 1 :] if places else ():
            if len(row) == len(header) and not all(set(cell) <= set("-: ") for cell in row):
                return {name: row[place] or None for name, place in places.items()}
    return {}


def read_named(text: str, asked: Sequence[str]) -> Cells:
    """The asked features that the text names with a value: `**age**: 39`, `age=39`, `the value of age is 39.`"""
    cells: Cells = {}
    for name in asked:
        match = re.search(rf"{BEFORE}{MARKS}{re.escape(name)}{SAID}", text, re.IGNORECASE)
        if match:
            rest = text[match.end() :]
            following = NEXT.search(rest)
            cells[name] = bare(rest[: following.start()] if following else rest) or None
    return cells


def read_list(text: str, asked: Sequence[str], expected: Mapping[str, str | None]) -> Cells:
    """A line of as many values as are asked, of which those that have to be numbers are numbers."""
    for line in text.splitlines():
        for delimiter in (",", ";", "\t", "|"):
            values = [bare(value) for value in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])]
            if len(values) == len(asked) > 1 and all(
                fits(value, expected.get(name)) for name, value in zip(asked, values, strict=True)
            ):
                return {name: value or None for name, value in zip(asked, values, strict=True)}
    return {}


def read_short(lines: Iterable[str], expected: str | None) -> str | None:
    """The first line that could be the one value asked for, without what announces it."""
    for line in lines:
        value = bare(PREFIX.sub("", line.strip()))
        value = number_in(value) if expected is not None and is_number(expected) else value
        if value and fits(value, expected):
            return value
    return None


def fits(value: str, expected: str | None) -> bool:
    """Whether a text could be a value of the expected one's kind: a number for a number, no talk for a word."""
    if NOTHING.match(value) and not (expected and NOTHING.match(expected)):
        return False
    if expected is not None and is_number(expected):
        return not value or is_number(value)
    longest = max(MOST_WORDS, len((expected or "").split()) + 3)
    return len(value.split()) <= longest and not FILLER.match(value) and not value.endswith((":", "!", "?"))


def is_number(text: str) -> bool:
    """Whether a text is a number, thousands separated by commas or not."""
    try:
        float(ungrouped(text))
    except ValueError:
        return False
    return True


def number_in(text: str) -> str:
    """The number that a text begins with, if words follow it: `39. This is a guess.`, `39 years`; else the text."""
    match = re.match(r"[-+]?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?(?=[.;]?\s+[^\W\d_])", text, re.IGNORECASE)
    return match.group() if match else text


def ungrouped(text: str) -> str:
    """A number without the commas between its thousands."""
    return text.replace(",", "") if re.fullmatch(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d*)?", text) else text


def bare(text: str) -> str:
    """A value without the quotes, emphasis and punctuation around it."""
    text = text.strip().strip("`*").strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    text = text.rstrip(",;").strip().strip("`*}]").strip()
    return text[:-1] if text.endswith(".") and len(text) > 1 else text
