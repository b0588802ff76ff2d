"""The examples of a table of texts, weighed against a fluent writer."""

from collections.abc import Mapping, Sequence

from tabcontam.evidence.base import READ, Evidence, Query, Reading, Reply, ReplyState, Trial
from tabcontam.evidence.number_wording import describe_p_value, explain_out_of_reach
from tabcontam.evidence.rows.answers_of_several_rows import cell_name
from tabcontam.evidence.rows.guided.guided_completion import partial_conjunction
from tabcontam.evidence.rows.task.packed_table import unpacked
from tabcontam.evidence.rows.task.recited_passages import best_by_row, find_passages, listed_passages, text_of
from tabcontam.evidence.rows.task.row_keys import FIRST, LAST
from tabcontam.evidence.thresholds import IDENTIFYING_WORDS
from tabcontam.reading.answer_text import declines
from tabcontam.tables.known_rows import not_known
from tabcontam.tables.row_draws import pool

TEXT = "text"  # the asked column of a table of texts
NULL = (
    f"a fluent writer that has {IDENTIFYING_WORDS} words in a row of a text that it has not read continues it by luck"
)


def of_texts(query: Query) -> bool:
    """Return whether texts are asked for; else rows of cells."""
    return query.asked == (TEXT,)


def read_texts(query: Query, reply: Reply) -> Reading:
    """Return the texts that an answer lists."""
    texts = listed_passages(reply.text, reply.state is ReplyState.TRUNCATED) if reply.state in READ else []
    if not texts or (len(texts) < 2 and declines(reply.text)):
        return Reading(None, hit=None, paper_hit=False, readable=False)
    return Reading({cell_name(TEXT, number): text for number, text in enumerate(texts)}, None, query.paper, True)


def recited(trials: Sequence[Trial]) -> Evidence:
    """Return the evidence of the runs after the words that identify texts; of two or more, as in guided completion."""
    packed = next((text for trial in trials for text in trial.query.not_expected), None)
    texts = list(dict.fromkeys(text for trial in trials for text in _texts_of(trial)))
    found = find_passages(unpacked(packed), texts) if packed else []
    runs, exact = best_by_row(found), {text for text, one in zip(texts, found, strict=False) if one.exact}
    p_value, recalled = partial_conjunction(runs), sum(run.bits for run in runs)
    gained = (
        f"{len(found)} texts written: {len(exact)} equal texts of the table, "
        f"{sum(one.row is not None for one in found)} have {IDENTIFYING_WORDS} words in a row of a single one, "
        f"the longest run has {max((len(run.text) for run in runs), default=0)} words: {recalled:.0f} bits recalled"
    )
    return Evidence(
        statistic="recalled bits",
        value=recalled,
        null=NULL,
        sentence=f"{gained} ({describe_p_value(p_value)})",
        hits=sum(not exact.isdisjoint(_texts_of(trial)) for trial in trials),
        asked=len(trials),
        answered=sum(trial.readable for trial in trials),
        p_value=p_value,
        recalled_bits=recalled,
    )


def hardly_recited(query: Query, texts: int, level: float) -> str | None:
    """Return why reciting so many texts would not be detected, or None if it would. The query carries the table."""
    table = unpacked(query.not_expected[0])
    rows = pool(table, not_known(table, range(FIRST, max(FIRST, len(table.rows) - LAST))), texts)
    best = partial_conjunction(best_by_row(find_passages(table, [text_of(table, row) for row in rows])))
    what = "words of their own in the texts"
    return None if best <= level else explain_out_of_reach(what, f"{len(rows)} were recited", best, level)


def _texts_of(trial: Trial) -> list[str]:
    """Return the texts of a read answer."""
    parsed = trial.reading.parsed if trial.readable and trial.reading else None
    return [text or "" for text in parsed.values()] if isinstance(parsed, Mapping) else []
