"""Readers of a row's cells in an answer of any shape: JSON, a table, named values in prose, a bare list.

Each reader returns the asked features that it finds, with their values as text; None is a missing value.
"""

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice, pairwise, takewhile
from typing import Any

from tabcontam.reading.languages import (
    ARTICLE,
    BECAUSE,
    CALL,
    EITHER,
    FILLER,
    I_THINK,
    IT_IS,
    JOINED,
    OF_IT,
    PRESUMABLY,
    QUALITY,
    SAY,
    SAYS,
    SIGNS,
    TAIL,
    THING,
    UNKNOWN,
)
from tabcontam.reading.numbers import COMMA, is_finite, is_number, number_in
from tabcontam.reading.thresholds import MOST_JSON_STARTS, MOST_TIMES_LONGEST_VALUE, MOST_VALUE_WORDS
from tabcontam.reading.value_forms import ASIDE, PLACEHOLDER, FeatureValues

Cells = dict[str, str | None]

MARKS = r"[\"'`*\u201c\u201d\u201e\u00ab\u00bb]*"
AFTER_NAME = (
    rf"{MARKS}\s*(?:(?:of|for|in) (?:this|the) \w+\s*)?(?:value\s*)?(?:\b{SAYS}|{SIGNS})\s*:?\s*"
    rf"(?:{PRESUMABLY}\s+)*{MARKS}\s*"
)
BEFORE_NAME = rf"(?:^|[\n,;{{(\[:!|]|(?:^|\n)\s*[-*•]\s|\d[.)]\s|\.\s|\s-\s|\b{OF_IT}\s|\b[ldnLDN]['\u2019]|'s\s)\s*"
NEXT = re.compile(
    rf"(?:\s*(?:(?<!\d),|,(?!\d)|;)\s*|\.\s+|\s+(?:{JOINED}|-)\s+)(?:{JOINED}\s+)?(?:{ARTICLE}\s+)?{MARKS}[^,;.:=\n]{{1,80}}?{MARKS}\s*"
    rf"(?:\b{SAYS}|->|[:=\u2192])|\s\|\s|[\n\r]",
    re.IGNORECASE,
)
OTHER = re.compile(rf"\s*(?:[-*•]|\d+[.)])?\s*{MARKS}[^\n]{{1,80}}?{MARKS}\s*(?:\b{SAYS}|[:=])", re.IGNORECASE)
PREFIX = re.compile(
    rf"^(?:{CALL}\s*[,!.:]\s+)?(?:(?:{ARTICLE}\s+)?(?:{QUALITY}\s+)?(?:\w+\s+)?{THING}s?(?:\s+{QUALITY}|{TAIL})?\s*"
    rf"(?:{SAYS}|{SAY}|{SIGNS})\s*:?\s*(?:{PRESUMABLY}\s+)*"
    rf"|{IT_IS}\s+(?:{PRESUMABLY}\s+)*"
    rf"|(?:{I_THINK}|{PRESUMABLY})(?:\s*:)?\s+|(?:[-*•]|\d+[.)])\s+)",
    re.IGNORECASE,
)
NOTE = re.compile(r"(?<=\S)\s*\(.*\)\s*$")  # in parentheses after a name
SEPARATORS = re.compile(r"[-_ .]+")  # signs between the words of a name
NOTHING = re.compile(rf"^(?:{UNKNOWN}|not \w+(?: in the prompt)?|(?:data )?not found|cannot \w+)\W*$", re.IGNORECASE)
GAP = re.compile(r"na|n/a|nan|null|none|-|missing", re.IGNORECASE)  # marks of a missing value in a list
QUOTES = ('""', "''", "\u201c\u201d", "\u201e\u201c", "\u00ab\u00bb")
CALLED = re.compile(rf"^{CALL}\s*[,!.:]\s+(?=\S)", re.IGNORECASE)
TWO = re.compile(rf"\s(?:{EITHER})\s", re.IGNORECASE)
EXPLAINED = re.compile(r"\s*[(\[]|\s+#\s|\s[-\u2013\u2014]+\s|\u2014|[,;:!]\s+(?=[a-z])|[.;!]+\s")
TALK = re.compile(  # after a value, in a clause or a sentence of its own
    rf"[,;]?\s+(?:but|though|although|however)\s+(?:i|it|this|that|don't)\b.*|,\s+i(?:'\w+)?\s+\w+.*|\s+#\s.*"
    rf"|[.!]\s+(?:(?:please )?note|this|these|i|it|that|based|the (?:value|row|{THING})|{BECAUSE})\b.*",
    re.IGNORECASE | re.DOTALL,
)
BEFORE_VALUE = re.compile(r"^(?:[~\u2248?!:;=\s]+|\.{2,})+")
OWN_NAME = re.compile(r"\(([^()]*(?:\([^()]*\))?)\)?$")
SUFFIX = re.compile(r"'[^\W\d_A-Z]{1,5}$")  # a case ending after a name, in languages that have such
CORRECTION = re.compile(
    r"\b(?:or|oder|ou|wait|actually|hmm|wrong|instead|rather|falsch|doch|sondern|eher|plut(?:\u00f4|o)t|sino)\b",
    re.IGNORECASE,
)
ELLIPSIS = re.compile(r"^(?:\.{3}|\u2026)[,\s]+|[,;]\s*(?:\.{3}|\u2026)$")
TABLE_RULE = re.compile(r"^[\s|:\-]*-[\s|:\-]*$")
WORDED = re.compile(r"\w\S*")


def read_json(text: str, asked: Sequence[str]) -> Cells:
    """Return the cells of the first JSON object with an asked feature, or of the first list with all values."""
    decoder = json.JSONDecoder(parse_float=str, parse_int=str, strict=False)
    for start in (match.start() for match in islice(re.finditer(r"[\[{]", text), MOST_JSON_STARTS)):
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
        if scalars := {
            name: _scalar(named[name.casefold()]) for name in asked if _is_scalar(named.get(name.casefold(), []))
        }:
            return scalars
        lists = [item for item in value.values() if isinstance(item, list) and all(map(_is_scalar, item))]
        for names, values in pairwise(lists):  # a list of column names, then a row
            row = {spelling(str(name)): _scalar(item) for name, item in zip(names, values, strict=False)}
            if len(names) == len(values) and all(spelling(name) in row for name in asked):
                return {name: row[spelling(name)] for name in asked}
        return {}
    if not isinstance(value, list):
        return {}
    if len(value) == len(asked) > 1 and all(map(_is_scalar, value)):
        return {name: _scalar(item) for name, item in zip(asked, value, strict=True)}
    return next((cells for item in value if (cells := _from_json(item, asked))), {})


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | bool)


def _scalar(value: object) -> str | None:
    return None if value is None else str(value).strip() or None


def is_table(text: str) -> bool:
    """Return whether a text contains lines of a Markdown table."""
    return any(line.lstrip().startswith("|") for line in text.splitlines())


def read_table(text: str, asked: Sequence[str]) -> Cells:
    """Return the cells of a Markdown table: one row below the feature names, or one feature name and value per row."""
    lines = [line.strip() for line in text.splitlines()]
    lines = [line.removesuffix(".") if line.endswith("|.") else line for line in lines]
    # A line without its closing bar is not yet complete.
    ended = [line for line in lines if line.startswith("|") and line.endswith("|") and line != "|"]
    rows = [[cell.strip(" *`") for cell in line.strip("|").split("|")] for line in ended]
    rows = [row for row in rows if not all(TABLE_RULE.match(cell) or not cell for cell in row)]
    wanted = {spelling(name): name for name in asked}
    for header, row in pairwise(rows):
        named = [(wanted[spelling(cell)], place) for place, cell in enumerate(header) if spelling(cell) in wanted]
        if len(named) > 1 or (named and len(header) != 2 and not any(spelling(cell) in wanted for cell in row)):
            return unambiguous_cells((name, row[place]) for name, place in named) if len(row) == len(header) else {}
    pairs = [(wanted[spelling(row[0])], row[1]) for row in rows if len(row) == 2 and spelling(row[0]) in wanted]
    pairs = pairs or [
        (wanted[spelling(name)], value) for row in rows for name, value in pairwise(row) if spelling(name) in wanted
    ]
    below = [
        (name, row[1])
        for header, row in pairwise(rows)
        if len(row) == len(header) == 2 and (name := wanted.get(spelling(header[1])))
    ]
    if not pairs and below:  # each row begins with a label
        return unambiguous_cells(below)
    if pairs or len(rows) != 1 or len(rows[0]) != len(asked) or any(spelling(cell) in wanted for cell in rows[0]):
        return unambiguous_cells(pairs)
    return {name: cell or None for name, cell in zip(asked, rows[0], strict=True)}


def unambiguous_cells(pairs: Iterable[tuple[str, str]]) -> Cells:
    """Return the features with their values. Features with two different values are left out."""
    by_name: dict[str, set[str | None]] = {}
    for name, value in pairs:
        by_name.setdefault(name, set()).add(value or None)
    return {name: values.pop() for name, values in by_name.items() if len(values) == 1}


@lru_cache(maxsize=100_000)
def spelling(name: str) -> str:
    """Return a name in lower case, without separators between words and without a note in parentheses."""
    return SEPARATORS.sub("", NOTE.sub("", name)).casefold()


def _loosely(name: str) -> str:
    """Return a pattern for a name. It allows other separators between words, and no note in parentheses at the end."""
    note = re.search(r"(?<=\S)\s*\([^()]*\)\s*$", name)
    words = SEPARATORS.split(name[: note.start()] if note else name)
    pattern = r"[-_ .]?".join(map(re.escape, words))
    return pattern + (rf"(?:{re.escape(note.group())})?" if note else "")


@lru_cache(maxsize=1024)  # a wide table has more names than `re` caches patterns
def _naming(name: str) -> re.Pattern[str]:
    return re.compile(rf"{BEFORE_NAME}{MARKS}{_loosely(name)}{AFTER_NAME}", re.IGNORECASE)


def read_named(text: str, asked: Sequence[str]) -> Cells:
    """Return the asked features to which the text gives a value: `**age**: 39`, `age=39`, `the value of age is 39.`"""
    cells: Cells = {}
    for name in asked:
        match = _naming(name).search(text)
        if match:
            rest = text[match.end() :]
            if "\n" in match.group()[len(match.group().rstrip()) :] and OTHER.match(rest):
                cells[name] = None  # no value: the next line names another feature
                continue
            cells[name] = first_value(rest)
    return cells


def stated_values(text: str, name: str) -> Iterator[str | None]:
    """Return all values that a text gives for a feature, in the order of the text."""
    return (first_value(text[match.end() :]) for match in _naming(name).finditer(text))


def answers(cells: Cells, sorts: Mapping[str, FeatureValues]) -> Cells:
    """Return the cells without placeholders, and without words for "no value" that are no value in `sorts`."""

    def is_one(name: str, cell: str | None) -> bool:
        if cell is None or is_number(cell):
            return True
        sort = sorts[name]
        if PLACEHOLDER.match(cell):
            return sort.form.bracketed
        return not NOTHING.match(cell) or not (sort.numeric or sort.likely) or sort.has(cell)

    return {name: cell for name, cell in cells.items() if is_one(name, cell)}


def possible_cells(cells: Cells, sorts: Mapping[str, FeatureValues], is_none: Callable[[str], bool]) -> Cells:
    """Return the cells that can be values. Left out (unread, not wrong) are non-numbers in a numeric column, two values
    in one cell, and cells for which `is_none` is true. Any value that the baseline lists is kept.
    """

    def could_be_one(name: str, cell: str | None) -> bool:
        sort = sorts[name]
        if sort.numeric and cell and is_finite(cell):
            return True
        if not cell or GAP.fullmatch(cell) or cell == "?" or sort.has(cell):
            return True
        note = OWN_NAME.search(cell)
        if note and spelling(note.group(1)) == spelling(name):  # the cell repeats its name
            return False
        two = TWO.search(cell) is not None and not any(map(TWO.search, sort.values))
        return fits(cell, sort) and not (two and sort.likely) and not is_none(cell)

    return {name: cell for name, cell in cells.items() if could_be_one(name, cell)}


def read_list(text: str, asked: Sequence[str], sorts: Mapping[str, FeatureValues]) -> Cells:
    """Return a value for each asked feature, on one line or one per line. Numeric features in `sorts` need numbers."""
    header = [spelling(name) for name in asked]  # the line that has the features' names
    for values in _lists(text):
        if len(values) != len(asked) or len(asked) == 1 or [spelling(value) for value in values] == header:
            continue
        if all(GAP.fullmatch(value) or fits(value, sorts[name]) for name, value in zip(asked, values, strict=True)):
            return {name: value or None for name, value in zip(asked, values, strict=True)}
    return {}


def _lists(text: str) -> Iterator[list[str]]:
    lines = [PREFIX.sub("", line.strip()) for line in text.splitlines() if line.strip()]
    for line in lines:
        inner = line[1:-1] if line[:1] + line[-1:] in ("[]", "()") else line
        yield [bare(value.removeprefix("and ")) for value in re.split(r"[,;]\s+", inner)]  # a value may contain a comma
        for delimiter in (",", ";", "\t"):
            for quote in "\"'":
                rows = csv.reader([inner], delimiter=delimiter, quotechar=quote, skipinitialspace=True)
                with suppress(csv.Error):  # a field that is too long for the reader
                    yield [bare(value.removeprefix("and ")) for value in next(rows, [])]
    yield [bare(line) for line in lines]


def read_decimal(line: str, sort: FeatureValues) -> bool:
    """Return whether a line is only a number with a decimal comma, and the column has numbers with decimals."""
    value = bare(PREFIX.sub("", line.strip())) if sort.numeric and "," in line else ""
    return COMMA.fullmatch(value) is not None and sort.writing.decimals


def fits(value: str, sort: FeatureValues) -> bool:
    """Return whether a text could be a value of this feature: a number if all values are, else not talk."""
    if value in ("?", "") or sort.has(value):
        return True
    if sort.numeric:
        return is_finite(number_in(value, sort.writing))
    if sort.has_numbers and not any(map(str.isalpha, value)) and not is_number(value):
        return False
    if sort.closed and not (sort.form.known and sort.form.is_like(value)):
        return False  # a wrong value must look like the known ones; two values do not show their form
    if NOTHING.match(value) or (PLACEHOLDER.match(value) and not sort.form.bracketed):
        return False
    words, longest = len(value.split()), max((len(other.split()) for other in sort.values), default=0)
    if words > MOST_VALUE_WORDS and words > (
        longest + 3 if longest <= MOST_VALUE_WORDS else MOST_TIMES_LONGEST_VALUE * longest
    ):
        return False
    return not FILLER.match(value) and not value.endswith((":", "?")) and sort.form.has(value)


def cleaned(cell: str, sort: FeatureValues) -> str:
    """Return the longest piece of a cell that could be a value, without talk around it, or else the whole cell."""
    if sort.has(cell):
        return cell
    cell = _native(unquoted(ELLIPSIS.sub("", cell)), sort)
    if sort.numeric:
        return _number(cell, sort)
    if is_number(cell) or sort.has(cell):
        return cell
    if sort.has_numbers and is_finite(number := number_in(cell, sort.writing)):
        return number
    pieces: Iterable[str] = _pieces(cell, sort)
    if sort.closed:
        pieces = sorted(pieces, key=lambda piece: not sort.has(piece))  # known values come first
    for piece in pieces:
        could_be = sort.has(piece) or (fits(piece, sort) and (piece == cell or sort.form.is_like(piece)))
        if could_be and (piece == cell or not CORRECTION.search(cell.removeprefix(piece))):
            return piece
    return cell


def _number(cell: str, sort: FeatureValues) -> str:
    """Return the number that a cell is, or that it begins with if the rest has no digit and no correction."""
    cell = SUFFIX.sub("", cell)
    number = number_in(cell, sort.writing)
    for match in () if is_finite(number) else reversed(list(EXPLAINED.finditer(cell))):
        rest = cell[match.start() :]
        if any(map(str.isdigit, rest)):
            break  # every longer rest also has a digit
        if is_finite(begun := number_in(cell[: match.start()], sort.writing)) and not CORRECTION.search(rest):
            return begun
    return number


def unquoted(text: str) -> str:
    """Return a text without the pair of quotes around it, or without a single quote that has no partner."""
    for begin, end in ("()", "[]", "{}"):
        while text.endswith(end) and text.count(begin) < text.count(end):
            text = text[:-1].rstrip()
    if len(text) > 1 and text[0] + text[-1] in QUOTES:
        return text[1:-1].strip()
    for quote in "\"'":
        text = text.strip(quote) if text.count(quote) == 1 else text
    return text


def _native(cell: str, sort: FeatureValues) -> str:
    """Return a cell without foreign words around it: letters of scripts that no value has."""
    if cell.isascii():
        return cell

    def is_foreign(letter: str) -> bool:
        return letter.isalpha() and (not letter.isascii() if sort.numeric else sort.form.foreign(letter))

    inside = [place for place, letter in enumerate(cell) if letter.isalnum() and not is_foreign(letter)]
    if not inside:
        return cell
    start, end = inside[0], inside[-1] + 1
    before, after = (any(map(str.isalpha, part)) for part in (cell[:start], cell[end:]))
    while cell[end : end + 1] and cell[end] in ")]}\"'":
        end += 1
    return cell[start if before else 0 : end if after else len(cell)]


# long: letters; in a longer cell, only the beginnings that a value may fill are tried
def _pieces(cell: str, sort: FeatureValues, *, long: int = 500) -> Iterator[str]:
    """Yield the cell, and its beginnings before each possible explanation, the longest first."""
    cell = BEFORE_VALUE.sub("", cell)
    aside = ASIDE.search(cell)  # an aside unlike those of values is removed first
    if aside and sort.form.is_talk(aside.group()):
        yield bare(cell[: aside.start()])
    if (talk := TALK.search(cell) or SUFFIX.search(cell)) and not any(map(SUFFIX.search, sort.values)):
        yield bare(cell[: talk.start()])
    yield cell
    yield bare(cell)
    explained = EXPLAINED.finditer(cell)
    if len(cell) > long and cell.isascii():
        end = _end_of_value(cell, sort)
        explained = takewhile(lambda match: match.start() <= end, explained)
    for match in reversed(list(explained)):
        yield bare(cell[: match.start()])


def _end_of_value(cell: str, sort: FeatureValues) -> int:
    """Return the index in a long cell after which it has more words than any value: no longer beginning can match."""
    known = max((key.count(" ") + 1 for key in sort.form.keys), default=0)
    longest = max((len(value.split()) for value in sort.values), default=0)
    most = max(MOST_VALUE_WORDS, known, MOST_TIMES_LONGEST_VALUE * longest, longest + 3)
    begins = [match.start() for match in islice(WORDED.finditer(cell), most + 1)]
    return begins[most] if len(begins) > most else len(cell)


def bare(text: str) -> str:
    """Return a value without quotes, emphasis and punctuation around it."""
    text = text.strip().strip("`*|").rstrip(",;").strip("`*}] ") if text.strip() else ""
    text = text[:-1].strip("`*") if text.endswith(".") and len(text) > 1 else text
    if len(text) > 1 and text[0] + text[-1] in QUOTES:
        return text[1:-1].strip("\u00a0\u202f ") if text[0] == "\u00ab" else text[1:-1]
    return text


def first_value(text: str) -> str | None:
    """Return the value at the beginning of a text, up to the first feature name."""
    following = NEXT.search(text)
    return bare(text[: following.start()] if following else text) or None
