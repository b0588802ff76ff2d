"""Readers of the rows that an answer lists: lines of a file, a Markdown table, JSON, sentences, names and values.

The readers of other row tests read each of these forms. This module finds the boundaries between rows.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from tabcontam.evidence.rows.answer_cells import named_cells
from tabcontam.extensions.papers.memcheck.csv_row_tests import NUMBERED, csv_serializer, cuts
from tabcontam.extensions.papers.thresholds import LEAST_NAMED_FEATURES, MOST_JSON_CHARACTERS, MOST_ROWS_READ
from tabcontam.reading.answer_readers import TABLE_RULE, bare, first_value, read_json, spelling
from tabcontam.reading.answer_text import plain, unlabelled
from tabcontam.reading.numbers import is_number
from tabcontam.reading.value_forms import FeatureValues
from tabcontam.tables.table import Cell

Row = dict[str, Cell]  # a cell that the answer leaves out is absent
PAIR = re.compile(r"^[\s>*-]*(?P<name>[^:=|]{1,80}?)[\s*`\"']*[:=]\s*(?P<value>.*)$")
SIGNS_BETWEEN = ",;\t|"
OPENING = re.compile(r"[\[{]")


def listed_rows(text: str, columns: Sequence[str], cut: bool = False) -> list[Row]:
    """Return the rows that an answer lists, in its order; the last line of a cut answer is left out."""
    if cut:
        text = text.rpartition("\n")[0]
    if "{" in text or "[" in text:
        found = list(islice(_json_rows(text[:MOST_JSON_CHARACTERS], columns), MOST_ROWS_READ))
        if found:
            return found
    lines = [unlabelled(line) for line in _lines(text)]
    named = {place: row for place, line in enumerate(lines) if (row := _named_row(line, columns))}
    ordered = _ordered_rows(["" if place in named else line for place, line in enumerate(lines)], columns)
    found = [row for _, row in sorted({**ordered, **named}.items(), key=lambda one: one[0])]
    return (found or list(_listed_pairs(lines, columns)))[:MOST_ROWS_READ]


def _lines(text: str) -> list[str]:
    """Return the lines of an answer without marks of code and emphasis. Empty lines stay: they separate rows."""
    parts = text.split("\n\n")
    return [line for part in parts for line in (*plain(part).splitlines(), "")]


def _json_rows(text: str, columns: Sequence[str]) -> Iterator[Row]:
    """Yield the rows in JSON in a text: objects with features as names, and lists with a value for each feature."""
    decoder, start = json.JSONDecoder(parse_float=str, parse_int=str, strict=False), 0
    while opening := OPENING.search(text, start):
        try:
            value, start = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            start = opening.end()
            continue
        yield from _of_json(value, columns)


def _of_json(value: Any, columns: Sequence[str]) -> Iterator[Row]:
    if isinstance(value, Mapping):
        names = {str(key).strip().casefold() for key in value}
        if sum(name.casefold() in names for name in columns) >= _least(columns):
            yield read_json(json.dumps(value), columns)
            return
    elif len(value) == len(columns) and not any(isinstance(item, list | dict) for item in value):
        yield read_json(json.dumps(value), columns)
        return
    for item in value.values() if isinstance(value, Mapping) else value:
        if isinstance(item, list | dict):
            yield from _of_json(item, columns)


def _least(columns: Sequence[str]) -> float:
    """Return how many features a text must name to be a row."""
    return max(2, LEAST_NAMED_FEATURES * len(columns))


def _ordered_rows(lines: Sequence[str], columns: Sequence[str]) -> dict[int, Row]:
    """Return the rows without feature names, by the number of their line, in the order of a header or the table."""
    wanted = {spelling(name): name for name in columns}
    order: list[str | None] = list(columns)
    headed, found = False, dict[int, Row]()
    for place, line in enumerate(_unlisted(lines)):
        if TABLE_RULE.match(line) or not line.strip():
            continue
        for cells in cuts(line):
            names = [wanted.get(spelling(cell or "")) for cell in cells]
            known = [name for name in names if name is not None]
            if len(known) >= _least(columns) and len(set(known)) == len(known):
                order, headed = names, True
                break
            if len(cells) == len(order) + 1 and not headed and (cells[0] or "").isdigit():
                cells = cells[1:]  # the first number counts the rows
            if len(cells) == len(order):
                row = {name: cell for name, cell in zip(order, cells, strict=True) if name is not None}
                if any(cell is not None for cell in row.values()):
                    found[place] = {name: cell and bare(cell) for name, cell in row.items()}
                    break
    return found


def _unlisted(lines: Sequence[str]) -> list[str]:
    """Return the lines without the number or dash at their beginning, if most lines that may be rows have one."""
    inner = [line.strip().strip("|").strip() if line.strip().startswith("|") else line.strip() for line in lines]
    could_be = [line for line in inner if any(map(line.count, SIGNS_BETWEEN))]
    listed = 2 * sum(NUMBERED.match(line) is not None for line in could_be) >= len(could_be)
    return [NUMBERED.sub("", line) for line in inner] if listed else inner


def _named_row(line: str, columns: Sequence[str]) -> Row:
    """Return the row in a line that names its features, as a serializer writes it; {} for any other line."""
    row = named_cells(NUMBERED.sub("", line), {name: FeatureValues() for name in columns}, csv_serializer())
    return row if len(row) >= _least(columns) else {}


def _listed_pairs(lines: Iterable[str], columns: Sequence[str]) -> Iterator[Row]:
    """Yield the rows with one line for each feature; a repeated name or an empty line begins a new row."""
    wanted, row = {spelling(name): name for name in columns}, Row()
    for line in (*lines, ""):
        pair = PAIR.match(NUMBERED.sub("", line))
        name = wanted.get(spelling(pair["name"].strip(" *`\"'"))) if pair else None
        if (name is not None and name in row) or not line:
            if len(row) >= _least(columns):
                yield row
            row = Row() if name is not None or len(row) >= len(columns) or not _goes_on(row, columns) else row
        if name is not None and pair:
            row[name] = first_value(pair["value"].strip(" *`,"))


def _goes_on(row: Row, columns: Sequence[str]) -> bool:
    """Return whether a row may continue after an empty line, since most of its features are missing."""
    return 0 < len(row) < LEAST_NAMED_FEATURES * len(columns)


def may_be(row: Row, numeric: Iterable[str]) -> bool:
    """Return whether a row has numbers in the features `numeric`, so that it has the table's form."""
    return all(cell is None or is_number(cell) for name in numeric if (cell := row.get(name)) is not None)
