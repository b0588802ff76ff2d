"""A filter for refusals in any language: a text that answers most queries and is no value of the asked columns."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tabcontam.evidence.base import READ, Reading, Reply, Test, Trial, UnreadReason, as_read
from tabcontam.evidence.rows.row_test import CellTest
from tabcontam.evidence.thresholds import LEAST_REPEATS, MOST_REPEATED_SHARE
from tabcontam.reading.answer_text import value_key
from tabcontam.reading.numbers import is_number


def without_repeats(test: Test, trials: Sequence[Trial]) -> Sequence[Trial]:
    """Return the read trials of a result; in a row test, a text that answers most of its queries becomes unread.

    Texts are compared without the asked names. A text counts as an answer, however often it comes, if it has a number
    or a value that the baseline lists for one of these queries. The hidden values are not used. If later answers
    differ, the text may count as an answer again.
    """
    if not (isinstance(test, CellTest) and test.row_test):
        return trials
    texts = [_text(trial) for trial in trials]
    counted = Counter(filter(None, texts))
    often = {
        text for text, count in counted.items() if count >= LEAST_REPEATS and count > MOST_REPEATED_SHARE * len(trials)
    }
    if not often:
        return trials
    known = defaultdict[str, set[str]](set)
    for trial in trials:
        for name, prediction in trial.query.chance.items():
            known[name].update(map(value_key, prediction.values))
    answers = {text for trial, text in zip(trials, texts, strict=True) if text in often and _has_value(trial, known)}

    def unread(trial: Trial) -> Trial:
        paper = trial.reading is not None and trial.reading.paper_hit  # the published rule's decision does not change
        reading = Reading(None, hit=False, paper_hit=paper, readable=False, unread=UnreadReason.DECLINED)
        return replace(trial, reading=reading)

    return [unread(trial) if text in often - answers else trial for trial, text in zip(trials, texts, strict=True)]


def _text(trial: Trial) -> str:
    """Return the text of a reply without the asked names, or "" if it has no text."""
    reply = trial.reply
    if not isinstance(reply, Reply) or reply.state not in READ:
        return ""
    names = sorted(trial.query.asked, key=len, reverse=True)
    text = re.sub("|".join(map(re.escape, names)), "\x00", as_read(reply).text, flags=re.IGNORECASE)
    return value_key(text)


def _has_value(trial: Trial, known: Mapping[str, set[str]]) -> bool:
    parsed = trial.reading.parsed if trial.reading else None
    cells = parsed.items() if isinstance(parsed, Mapping) else ()
    answered = [(name, cell) for name, cell in cells if cell is not None]
    return any(is_number(cell) or value_key(cell) in known[name] for name, cell in answered)
