"""The examples of a table of texts, weighed against a fluent writer."""

from collections.abc import Mapping, Sequence

from tabcontam.evidence.base import READ, Evidence, Query, Reading, Reply, State, Trial
from tabcontam.evidence.rows.guided.completion import several
from tabcontam.evidence.rows.several_rows import named
from tabcontam.evidence.rows.task.held import unpacked
from tabcontam.evidence.rows.task.keyed import FIRST, LAST
from tabcontam.evidence.rows.task.passages import KEY, best_by_row, compared, passages_said, text_of
from tabcontam.evidence.sentences import out_of_reach, stated
from tabcontam.reading.reading import declines
from tabcontam.tables.draws import pool
from tabcontam.tables.known import not_known

TEXT = "text"  # what is asked of a table of texts
NULL = f"a fluent writer who has {KEY} words in a row of a text that was not read goes on as it does by luck"


def of_texts(query: Query) -> bool:
    """Return whether texts are asked for; else rows of cells."""
    return query.asked == (TEXT,)


def read_texts(query: Query, reply: Reply) -> Reading:
    """Return the texts that an answer lists."""
    said = passages_said(reply.text, reply.state is State.TRUNCATED) if reply.state in READ else []
    if not said or (len(said) < 2 and declines(reply.text)):
        return Reading(None, hit=None, paper_hit=False, readable=False)
    return Reading({named(TEXT, number): text for number, text in enumerate(said)}, None, query.paper, True)


def recited(trials: Sequence[Trial]) -> Evidence:
    """Return the evidence of the runs after the words that identify texts; of two or more, as in guided completion."""
    held = next((text for trial in trials for text in trial.query.not_expected), None)
    said = list(dict.fromkeys(text for trial in trials for text in _said(trial)))
    found = compared(unpacked(held), said) if held else []
    runs, exact = best_by_row(found), {text for text, one in zip(said, found, strict=False) if one.exact}
    p_value, recalled = several(runs), sum(run.bits for run in runs)
    gained = (
        f"{len(found)} texts written: {len(exact)} exactly the table's, {sum(one.row is not None for one in found)} "
        f"with {KEY} words in a row of a single text of it, the longest run of "
        f"{max((len(run.text) for run in runs), default=0)} words: {recalled:.0f} bits recalled"
    )
    return Evidence(
        statistic="recalled bits",
        value=recalled,
        null=NULL,
        sentence=f"{gained} ({stated(p_value)})",
        hits=sum(not exact.isdisjoint(_said(trial)) for trial in trials),
        asked=len(trials),
        answered=sum(trial.readable for trial in trials),
        p_value=p_value,
        recalled_bits=recalled,
    )


def hardly_recited(query: Query, texts: int, level: float) -> str | None:
    """Return why reciting so many texts would not be found, or None if it would. The query carries the table."""
    table = unpacked(query.not_expected[0])
    rows = pool(table, not_known(table, range(FIRST, max(FIRST, len(table.rows) - LAST))), texts)
    best = several(best_by_row(compared(table, [text_of(table, row) for row in rows])))
    what = "words of their own in the texts"
    return None if best <= level else out_of_reach(what, f"{len(rows)} were recited", best, level)


def _said(trial: Trial) -> list[str]:
    """Return the texts of a read answer."""
    parsed = trial.reading.parsed if trial.readable and trial.reading else None
    return [text or "" for text in parsed.values()] if isinstance(parsed, Mapping) else []
