"""Recorded answers: one JSON object a line, with the expected values as the authors printed them."""

import ast
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tabcontam.evidence.base import Prompt
from tabcontam.groups import grouped
from tabcontam.replay.record_lines import count_of, parse_lines, read_lines, text_of

WORD_TESTS = (
    "feature_list_informed",
    "feature_list_uninformed",
    "feature_values_informed",
    "feature_values_uninformed",
)
NAME_TESTS = ("recognition_features", "recognition_examples")
NEXT_ROW, ONE_CELL = "full_completion", "feature_completion"
ROW_TESTS = ("incomplete_completion", "incomplete_completion_single", NEXT_ROW, ONE_CELL)
MEMBERSHIP = "membership"
RECORDED = (*WORD_TESTS, *NAME_TESTS, *ROW_TESTS, MEMBERSHIP)

KEYS = ("llm", "dataset", "serialization", "test", "file", "output", "expected", "matches", "decision")

# LLMs that are recorded under a name that is not in the catalogue, or names another LLM there
CATALOGUE = {"gpt3": "gpt-3.5-turbo", "mistral": "mistral-7b-v0.1"}

CUT = "..."  # the end of a value that pandas has cut


@dataclass(frozen=True)
class Record:
    """One recorded answer, or one recorded membership score. `line` is its number in the file.

    `words`: the expected words or names, None for an item that is no word. `values`: the expected row by feature.
    `asked`: the words or features that were looked for, which are the keys of the record's `matches`; the values of
    `matches` are not used.
    """

    line: int
    llm: str
    dataset: str
    serializer: str | None
    test: str
    file: str
    output: str = ""
    words: tuple[str | None, ...] = ()
    values: Mapping[str, str | None] | None = None
    asked: tuple[str, ...] = ()
    decision: bool | None = None
    right: int = 0
    queries: int = 1
    answered: int = 1

    @property
    def place(self) -> dict[str, Any]:
        """The fields that identify the record's result, under the names that results have for them."""
        names = {"llm": self.llm, "dataset": self.dataset, "serializer": self.serializer}
        return names | {"test": self.test, "source": self.file}


def read_records(path: Path) -> list[Record]:
    """Return all records of a file. Raises `UsageError`, with the line's number, for a line that is no record."""
    return parse_lines(path, read_lines(path), parse_record, KEYS)


def by_result(records: Iterable[Record]) -> list[list[Record]]:
    """Return the records of each result, as one list a result, in the order of the file."""
    return list(grouped(records, lambda record: tuple(record.place.values())).values())


def unrecorded() -> Prompt:
    """Return an empty prompt, since the prompt of a recorded answer is unknown."""
    return Prompt((), "", "")


def parse_record(raw: Mapping[str, Any], number: int) -> Record:
    """Return the record in a line. Raises KeyError, TypeError, ValueError or SyntaxError if there is none."""
    place: dict[str, Any] = {key: text_of(raw, key) for key in ("llm", "dataset", "test", "file")}
    place["serializer"] = None if raw.get("serialization") is None else text_of(raw, "serialization")
    test = place["test"]
    if test not in RECORDED:
        raise ValueError(f"unknown test {test!r}")
    if test == MEMBERSHIP:
        right, queries, yes, no = (count_of(raw, key) for key in ("score", "n", "n_yes", "n_no"))
        if queries < max(right, yes + no, 1):
            raise ValueError("more answers than queries")
        return Record(number, **place, right=right, queries=queries, answered=yes + no)
    expected, matches = text_of(raw, "expected"), text_of(raw, "matches")
    if not isinstance(raw["decision"], bool):
        raise TypeError("'decision' is not true or false")
    answer: dict[str, Any] = {"output": text_of(raw, "output"), "decision": raw["decision"], "asked": _keys(matches)}
    if test in ROW_TESTS:
        answer["values"] = row(expected)
        if unknown := set(answer["asked"]) - set(answer["values"]):
            raise ValueError(f"'expected' does not have {sorted(unknown)[0]!r}")
    else:
        answer["words"] = tuple(expected.split(" / ")) if test in NAME_TESTS else words(expected)
    return Record(number, **place, **answer)


def words(text: str) -> tuple[str | None, ...]:
    """Return the items of a printed Python list: texts, True and False as words, numbers and nan as None."""
    tree = _literal(text)
    if not isinstance(tree, ast.List):
        raise ValueError("'expected' is not a list")
    return tuple(_word(item) for item in tree.elts)


def lines(text: str) -> str:
    """Return the text of an answer. If it was recorded as a printed list of lines, the lines are joined."""
    try:
        tree = _literal(text) if text.startswith("[") else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    if not isinstance(tree, ast.List) or not all(isinstance(item, ast.Constant) for item in tree.elts):
        return text
    return "\n".join(str(item.value) for item in tree.elts if isinstance(item, ast.Constant))


def _literal(text: str) -> ast.expr:
    """Return the syntax tree of a printed Python object. Nothing is run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a print contains no escapes that Python warns about
        return ast.parse(text, mode="eval").body


def _word(item: ast.expr) -> str | None:
    if isinstance(item, ast.Constant) and isinstance(item.value, str | bool):
        return str(item.value)
    return None


def _keys(text: str) -> tuple[str, ...]:
    tree = _literal(text)
    if not isinstance(tree, ast.Dict):
        raise ValueError("'matches' is not a dictionary")
    return tuple(word for key in tree.keys if key is not None and (word := _word(key)) is not None)


def row(text: str) -> dict[str, str | None]:
    """Return the row of a printed pandas Series. Names are left and values right of a gap that all lines share."""
    spaces = 4  # pandas puts this many spaces between the longest name and the longest value
    lines = [line for line in text.split("\n") if line.strip()]
    if lines and re.match(r"(Name: .*, )?dtype: \w+$", lines[-1]):
        lines.pop()
    if not lines:
        raise ValueError("'expected' is not a printed row")
    columns = zip_longest(*lines, fillvalue=" ")
    gap = "".join(" " if set(column) == {" "} else "x" for column in columns).find(" " * spaces)
    if gap <= 0:
        raise ValueError("'expected' is not a printed row")
    return {line[:gap].rstrip(): _value(line[gap:].lstrip(" ")) for line in lines}


# longest: pandas cuts values to this many characters, marks included
def _value(shown: str, *, longest: int = 50) -> str | None:
    if shown in ("NaN", "nan", "None", ""):
        return None
    return shown.removesuffix(CUT) if len(shown) >= longest - len(CUT) else shown
