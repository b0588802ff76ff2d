"""Texts that an answer lists: the table's text that each of them begins like, and how far it continues like that.

As with rows, a part that does not count identifies the text: five words in a row that stand in a single row of the
table. The words after them count, as long as they are that row's: a fluent writer that has been right so far has the
next word in at most half of the cases. Words at the end of four in a row that other texts of the table have, too, do
not count.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tabcontam.evidence.rows.guided.word_runs import WordRun, phrases, words
from tabcontam.evidence.rows.task.row_keys import FIRST, LAST
from tabcontam.evidence.thresholds import IDENTIFYING_WORDS, LEAST_PASSAGE_WORDS, PHRASE_WORDS, RUN_START_SHARE
from tabcontam.groups import grouped
from tabcontam.reading.answer_text import plain
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.known_rows import not_known
from tabcontam.tables.table import Table

NONE = WordRun((), 0, 0)
Phrase = tuple[str, ...]


@dataclass(frozen=True)
class RecitedPassage:
    """A line of an answer: the row of the table whose text it is like, and the longest run after the identifying words.

    `exact` is whether it is the row's whole text. The row is None if none is identified.
    """

    row: int | None
    run: WordRun
    exact: bool


def listed_passages(text: str, cut: bool = False) -> list[str]:
    """Return the lines of an answer that are texts, each once; without the last of a cut one, which may go on."""
    if cut:
        text = text.rpartition("\n")[0]
    return list(dict.fromkeys(line for line in plain(text).splitlines() if len(words(line)) >= LEAST_PASSAGE_WORDS))


def text_of(table: Table, row: int) -> str:
    """Return the text of a row; those of several columns are one."""
    names = table.text.texts if table.text else ()
    cells = [table.rows[row][table.columns.index(name)] for name in names]
    return " ".join(" ".join(cell.split()) for cell in cells if cell is not None and not table.is_missing(cell))


def find_passages(table: Table, passages: Iterable[str]) -> list[RecitedPassage]:
    """Return for each of these lines the words that it has in common with the table's texts.

    Rows that a model may know, and those at the beginning and the end of the file, are identified and have no run that
    counts.
    """
    lines = [words(line) for line in passages]
    keys, others = (
        _where(table, {key for line in lines for key in phrases(line, IDENTIFYING_WORDS)}, IDENTIFYING_WORDS),
        set[Phrase](),
    )
    others = {
        phrase
        for phrase, rows in _where(
            table, {one for line in lines for one in phrases(line, PHRASE_WORDS)}, PHRASE_WORDS
        ).items()
        if len(rows) > 1
    }
    counting = set(not_known(table, range(FIRST, max(FIRST, len(table.rows) - LAST))))
    return [_passage(table, line, keys, others, counting) for line in lines]


def best_by_row(passages: Sequence[RecitedPassage]) -> list[WordRun]:
    """Return the best run of each row that is identified, and a worthless one for each line that identifies none."""
    identified = grouped((one for one in passages if one.row is not None), lambda one: one.row)
    best = [max((one.run for one in own), key=lambda run: run.bits) for own in identified.values()]
    return [*best, *(NONE for one in passages if one.row is None)]


def _where(table: Table, wanted: set[Phrase], length: int) -> Mapping[Phrase, set[int]]:
    """Return for each of these phrases the rows whose text has it."""
    found: dict[Phrase, set[int]] = {}
    for row, text in enumerate(cached_fact(table, "words of texts", lambda: _texts(table))):
        for phrase in phrases(text, length):
            if phrase in wanted:
                found.setdefault(phrase, set()).add(row)
    return found


def _texts(table: Table) -> list[list[str]]:
    return [words(text_of(table, row)) for row in range(len(table.rows))]


def _passage(
    table: Table, line: Sequence[str], keys: Mapping[Phrase, set[int]], others: set[Phrase], counting: set[int]
) -> RecitedPassage:
    """Return the longest run of a line after five words that identify a row."""
    texts, place, runs = (
        cached_fact(table, "words of texts", lambda: _texts(table)),
        0,
        list[tuple[int, Phrase, int]](),
    )
    while place + IDENTIFYING_WORDS <= len(line):
        rows = keys.get(tuple(line[place : place + IDENTIFYING_WORDS]), set())
        if len(rows) != 1:
            place += 1
            continue
        (row,) = rows
        goes_on = _going_on(line, place, texts[row])
        own = sum(
            tuple(line[at - PHRASE_WORDS + 1 : at + 1]) not in others
            for at in range(place + IDENTIFYING_WORDS, place + goes_on)
        )
        runs.append((row, tuple(line[place : place + goes_on]), own if row in counting else 0))
        place += goes_on  # the next row is identified after it
    if not runs:
        return RecitedPassage(None, NONE, exact=False)
    row, run_words, own = max(runs, key=lambda one: (one[2], len(one[1])))
    return RecitedPassage(row, WordRun(run_words, own, round(len(runs) / RUN_START_SHARE)), list(line) == texts[row])


def _going_on(line: Sequence[str], place: int, text: Sequence[str]) -> int:
    """Return how many words of a line, from a place on, stand in a text in the same order, five at least."""
    key = list(line[place : place + IDENTIFYING_WORDS])
    most = IDENTIFYING_WORDS
    for start in range(len(text) - IDENTIFYING_WORDS + 1):
        if list(text[start : start + IDENTIFYING_WORDS]) == key:
            both = zip(line[place + IDENTIFYING_WORDS :], text[start + IDENTIFYING_WORDS :], strict=False)
            more = next((count for count, (one, other) in enumerate(both) if one != other), None)
            most = max(
                most,
                IDENTIFYING_WORDS
                + (min(len(line) - place, len(text) - start) - IDENTIFYING_WORDS if more is None else more),
            )
    return most
