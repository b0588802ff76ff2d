"""What tests 7 to 9 share: an answer is cells of a row, read by feature and, for the paper, decided by Algorithm 2."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar

from tabcontam.datasets import Cell, Table
from tabcontam.decide.answers import (
    answers,
    first_value,
    is_number,
    is_table,
    number_in,
    read_json,
    read_list,
    read_named,
    read_short,
    read_table,
)
from tabcontam.decide.reading import declines, plain, same_value
from tabcontam.decide.values import decide_values
from tabcontam.decide.words import Dictionary
from tabcontam.serializers import Serializer, load_serializers
from tabcontam.suite.base import Capability, Measurement, Query, Reading, Reply, State, Trial
from tabcontam.suite.words import READ, measured

MORE = "0"  # added to an answer that was cut, to see which of its values could have gone on
MISSING = re.compile(r"\?|na|n/a|nan|null|none|-|missing", re.IGNORECASE)
Reader = Callable[[str, Sequence[str]], dict[str, Cell]]
HALF = 0.5  # of the asked features have to be read before a text counts as an answer


class RowTest(ABC):
    """Reads the asked cells of a row; a row is a hit if every asked cell that has a value is right."""

    claim: ClassVar[str]
    by_feature: ClassVar[bool] = True
    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.GENERATE})

    def complete(self, query: Query, text: str, serializer: Serializer) -> bool:
        """A cut answer is complete if every asked feature was over before the cut."""
        return len(self._uncut(query, text, serializer)) == len(query.asked)

    def read(self, query: Query, reply: Reply, serializer: Serializer, dictionary: Dictionary) -> Reading:
        """The cells that the answer gives, whether they are the row's, and what Algorithm 2 makes of the text."""
        if reply.state not in READ:
            return Reading(None, hit=False, paper_hit=False, readable=False)
        cut = reply.state is State.TRUNCATED
        cells = (self._uncut if cut else self.cells)(query, reply.text, serializer)
        truth = dict(zip(query.asked, query.expected, strict=True))
        shown_missing = [feature for feature, cell in cells.items() if cell is None or MISSING.fullmatch(cell)]
        paper = decide_values(self.published_line(reply.text), truth, missing_shown=shown_missing).detected
        hit = right(cells, truth)
        whole = len(cells) == len(query.asked)
        answer = whole or (len(cells) >= HALF * len(query.asked) and not declines(reply.text))
        return Reading(cells or None, hit, paper, readable=hit or (not cut and bool(cells) and answer))

    def cells(self, query: Query, text: str, serializer: Serializer) -> dict[str, Cell]:
        """The asked features that the answer gives, in whatever shape; lines that repeat the prompt are passed over."""
        text = fresh(plain(text), query)
        truth = dict(zip(query.asked, query.expected, strict=True))
        if is_table(text):
            return read_table(text, query.asked)
        named = named_cells(text, truth, serializer)
        if len(named) == len(query.asked):
            return numbers_bare(named, truth)
        # A base model goes on after `The age is`: the first value stands without its name.
        goes_on = {} if query.asked[0] in named else serializer.read_on(text, query.asked)
        if named and goes_on and len(goes_on) <= len(named):  # the others follow in another shape
            goes_on = {query.asked[0]: first_value(text), **named}
        listed = read_list(text, query.asked, truth)
        return numbers_bare(max(named, goes_on if len(goes_on) > 1 else {}, listed, key=len), truth)

    @abstractmethod
    def published_line(self, text: str) -> str:
        """The part of the answer that the authors' code keeps."""

    def judge(self, trials: Sequence[Trial], planned: int) -> Measurement:
        """Detected if at least one row is a hit."""
        return measured(trials, needed=1, claim=self.claim)

    def _uncut(self, query: Query, text: str, serializer: Serializer) -> dict[str, Cell]:
        """The cells that would stay as they are if the answer went on."""
        ended = "\n" if text.rstrip(" ").endswith("|") else ""  # the bar that closes a row of a table
        longer = self.cells(query, text + ended + MORE, serializer)
        cells = self.cells(query, text, serializer).items()
        return {feature: cell for feature, cell in cells if feature in longer and longer[feature] == cell}


class OneCellTest(RowTest):
    """A row test that asks for a single cell, whose answer may be the bare value."""

    def cells(self, query: Query, text: str, serializer: Serializer) -> dict[str, Cell]:
        """The one asked cell, named or bare."""
        text = fresh(plain(text), query)
        (feature,), (expected,) = query.asked, query.expected
        if is_table(text):
            return read_table(text, query.asked)
        if named := named_cells(text, {feature: expected}, serializer):
            return numbers_bare(named, {feature: expected})
        lines = [serializer.read_on(line, query.asked)[feature] or "" for line in text.splitlines()]
        value = read_short(lines, expected)
        return {} if value is None else {feature: value}


def numbers_bare(cells: dict[str, Cell], truth: dict[str, Cell]) -> dict[str, Cell]:
    """The cells with the words taken off that follow a number where a number is asked for."""
    numeric = {feature for feature, value in truth.items() if value is not None and is_number(value)}
    return {name: number_in(cell) if cell and name in numeric else cell for name, cell in cells.items()}


def right(cells: dict[str, Cell], truth: dict[str, Cell]) -> bool:
    """Whether every asked cell that has a value is right; a missing value is never evidence."""
    known = {feature: value for feature, value in truth.items() if value is not None}
    return bool(known) and all(same_value(cells.get(feature), value) for feature, value in known.items())


def named_cells(text: str, truth: Mapping[str, Cell], serializer: Serializer) -> dict[str, Cell]:
    """The asked features that an answer names, by the first reader that finds most of them and mixes up fewest."""
    asked = tuple(truth)
    best: dict[str, Cell] = {}
    mixed = 0
    for read in _readers(serializer):
        cells = answers(read(text, asked), truth)
        if not cells or len(cells) < len(best) or cells == best:
            continue
        now_mixed = _mixed(cells, asked)
        if len(cells) > len(best) or now_mixed < mixed:
            best, mixed = cells, now_mixed
        if len(best) == len(asked) and not mixed:
            break
    return best


@lru_cache(maxsize=16)
def _readers(serializer: Serializer) -> tuple[Reader, ...]:
    # `The age is equal to 39` holds the marks of `is` too: the longest separator reads first
    templates = dict.fromkeys((serializer, *load_serializers().values()))
    longest_first = sorted(templates, key=lambda item: -len(item.value_separator))
    return (*(template.read for template in longest_first), read_json, read_named)


def _mixed(cells: dict[str, Cell], asked: tuple[str, ...]) -> int:
    """How many cells hold the name of another asked feature: a value that was not ended where the next one began."""
    names = _whole_names(asked)
    return sum(
        any(pattern.search(cell) for other, pattern in names.items() if other != name)
        for name, cell in cells.items()
        if cell
    )


@lru_cache(maxsize=64)
def _whole_names(asked: tuple[str, ...]) -> dict[str, re.Pattern[str]]:
    return {name: re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE) for name in asked}


def fresh(text: str, query: Query) -> str:
    """The lines of an answer that are no lines of its prompt: rows that are repeated before the answer are none.

    A single line is the answer, whatever it repeats.
    """
    if "\n" not in text:
        return text
    prompt = query.prompt
    shown = {line.strip() for message in prompt.chat for line in message.content.splitlines()}
    shown |= {line.strip() for line in (*prompt.completion.splitlines(), *prompt.seq2seq.splitlines())}
    return "\n".join(line for line in text.splitlines() if line.strip() not in shown)


def without_missing(query: Query, table: Table) -> Query:
    """The query with None for every expected value that is one of the table's missing marks."""
    return replace(query, expected=tuple(None if table.is_missing(cell) else cell for cell in query.expected))
