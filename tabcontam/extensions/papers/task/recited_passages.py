"""Texts that an answer lists: the table's text that each one matches, and how far the match continues.

As with rows, a part that does not count identifies the text: five consecutive words that occur in one row of the table.
The words after these count as long as they match that row's text: a fluent writer that has been right so far has the
next word in at most half of the cases. A word does not count if it ends a phrase of four words that another text of the
table contains.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile

from tabcontam.evidence.base import READ, Evidence, Query, Reading, Reply, ReplyState, Trial
from tabcontam.evidence.number_wording import explain_out_of_reach
from tabcontam.extensions.papers.answers_of_several_rows import cell_name, cells_of
from tabcontam.extensions.papers.guided.guided_completion import evidence_of_runs, partial_conjunction
from tabcontam.extensions.papers.guided.word_runs import WordRun, phrases, words
from tabcontam.extensions.papers.task.packed_table import carried_table, unpacked
from tabcontam.extensions.papers.thresholds import (
    IDENTIFYING_WORDS,
    LEAST_PASSAGE_WORDS,
    PHRASE_WORDS,
    PRINTED_FIRST_ROWS,
    PRINTED_LAST_ROWS,
    RUN_START_SHARE,
)
from tabcontam.groups import grouped
from tabcontam.reading.answer_text import declines, plain
from tabcontam.tables.cached_facts import table_fact
from tabcontam.tables.known_rows import not_known
from tabcontam.tables.row_draws import pool
from tabcontam.tables.table import Table

TEXT = "text"  # the asked column in queries about texts
NULL = (
    f"a fluent writer that has {IDENTIFYING_WORDS} words in a row of a text that it has not read continues it by luck"
)
NONE = WordRun((), 0, 0)
Phrase = tuple[str, ...]


@dataclass(frozen=True)
class RecitedPassage:
    """A line of an answer: the row with the matching text, and the longest run after the identifying words.

    `exact` is true if the line is the row's whole text. `row` is None if no row is identified.
    """

    row: int | None
    run: WordRun
    exact: bool


def listed_passages(text: str, cut: bool = False) -> list[str]:
    """Return the lines of an answer that are texts, each once; the last line of a cut answer is left out."""
    if cut:
        text = text.rpartition("\n")[0]
    return list(dict.fromkeys(line for line in plain(text).splitlines() if len(words(line)) >= LEAST_PASSAGE_WORDS))


def text_of(table: Table, row: int) -> str:
    """Return the text of a row; several columns are joined to one text."""
    names = table.text.texts if table.text else ()
    cells = [table.rows[row][table.columns.index(name)] for name in names]
    return " ".join(" ".join(cell.split()) for cell in cells if cell is not None and not table.is_missing(cell))


def find_passages(table: Table, passages: Iterable[str]) -> list[RecitedPassage]:
    """Return each line's match with the table's texts; rows that may be known or printed on web pages do not count."""
    lines = [words(line) for line in passages]
    keys = _where(table, lines, IDENTIFYING_WORDS)
    others = {phrase for phrase, rows in _where(table, lines, PHRASE_WORDS).items() if len(rows) > 1}
    counting = set(_middle(table))
    return [_passage(table, line, keys, others, counting) for line in lines]


def best_by_row(passages: Sequence[RecitedPassage]) -> list[WordRun]:
    """Return the best run of each identified row, and a run without worth for each line that identifies no row."""
    identified = grouped((one for one in passages if one.row is not None), lambda one: one.row)
    best = [max((one.run for one in own), key=lambda run: run.bits) for own in identified.values()]
    return [*best, *(NONE for one in passages if one.row is None)]


def _middle(table: Table) -> list[int]:
    """Return the rows that may count: not known rows, and not those at the beginning and the end of the file."""
    return not_known(table, range(PRINTED_FIRST_ROWS, max(PRINTED_FIRST_ROWS, len(table.rows) - PRINTED_LAST_ROWS)))


def _where(table: Table, lines: Sequence[Sequence[str]], length: int) -> Mapping[Phrase, set[int]]:
    """Return for each phrase of `length` words in these lines the rows whose text contains it."""
    wanted = {phrase for line in lines for phrase in phrases(line, length)}
    found: dict[Phrase, set[int]] = {}
    for row, text in enumerate(_texts(table)):
        for phrase in phrases(text, length):
            if phrase in wanted:
                found.setdefault(phrase, set()).add(row)
    return found


@table_fact
def _texts(table: Table) -> list[list[str]]:
    return [words(text_of(table, row)) for row in range(len(table.rows))]


def _passage(
    table: Table, line: Sequence[str], keys: Mapping[Phrase, set[int]], others: set[Phrase], counting: set[int]
) -> RecitedPassage:
    """Return a line's longest run after five words that identify a row."""
    texts, place, runs = _texts(table), 0, list[tuple[int, Phrase, int]]()
    while place + IDENTIFYING_WORDS <= len(line):
        rows = keys.get(tuple(line[place : place + IDENTIFYING_WORDS]), set())
        if len(rows) != 1:
            place += 1
            continue
        (row,) = rows
        end = place + _going_on(line, place, texts[row])
        ends = range(place + IDENTIFYING_WORDS, end) if row in counting else ()
        own = sum(tuple(line[at - PHRASE_WORDS + 1 : at + 1]) not in others for at in ends)
        runs.append((row, tuple(line[place:end]), own))
        place = end  # the next row is identified in the words after it
    if not runs:
        return RecitedPassage(None, NONE, exact=False)
    row, run_words, own = max(runs, key=lambda one: (one[2], len(one[1])))
    return RecitedPassage(row, WordRun(run_words, own, round(len(runs) / RUN_START_SHARE)), list(line) == texts[row])


def _going_on(line: Sequence[str], place: int, text: Sequence[str]) -> int:
    """Return how many consecutive words of `line`, from `place` on, stand in `text`, too; at least five."""
    most = IDENTIFYING_WORDS
    for start in (start for start, word in enumerate(text) if word == line[place]):
        both = zip(line[place:], text[start:], strict=False)
        most = max(most, sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both)))
    return most


def of_texts(query: Query) -> bool:
    """Return whether the query asks for texts, and not for rows of cells."""
    return query.asked == (TEXT,)


def read_texts(query: Query, reply: Reply) -> Reading:
    """Return the texts that an answer lists."""
    texts = listed_passages(reply.text, reply.state is ReplyState.TRUNCATED) if reply.state in READ else []
    if not texts or (len(texts) < 2 and declines(reply.text)):
        return Reading(None, hit=None, paper_hit=False, readable=False)
    return Reading({cell_name(TEXT, number): text for number, text in enumerate(texts)}, None, query.paper, True)


def recited(trials: Sequence[Trial]) -> Evidence:
    """Return the evidence of the runs after identifying words; at least two texts have to be recited."""
    table = carried_table(trials)
    written = [[text or "" for text in cells_of(trial).values()] for trial in trials]
    texts = list(dict.fromkeys(chain.from_iterable(written)))
    found = find_passages(table, texts) if table else []
    runs, exact = best_by_row(found), {text for text, one in zip(texts, found, strict=False) if one.exact}
    gained = (
        f"{len(found)} texts written: {len(exact)} equal texts of the table, "
        f"{sum(one.row is not None for one in found)} have {IDENTIFYING_WORDS} words in a row of a single one, "
        "the longest run"
    )
    hits = sum(not exact.isdisjoint(own) for own in written)
    return evidence_of_runs(NULL, gained, runs, partial_conjunction(runs), hits, trials)


def hardly_recited(query: Query, texts: int, level: float) -> str | None:
    """Return why reciting `texts` texts would not be detected, or None if it would. The query carries the table."""
    table = unpacked(query.not_expected[0])
    rows = pool(table, _middle(table), texts)
    best = partial_conjunction(best_by_row(find_passages(table, [text_of(table, row) for row in rows])))
    what = "words of their own in the texts"
    return explain_out_of_reach(what, f"{len(rows)} were recited", best, level)
