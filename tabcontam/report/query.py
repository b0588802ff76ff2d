"""A query of trials.jsonl as a page shows it: the kind of reply, its right parts, and their chance under the baseline.

`visible` is applied to every text that this module returns. A shortened text states how much was cut.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite, log
from typing import Any

from tabcontam.asking.trial_file import PASSAGE, UNREAD
from tabcontam.baseline.cell_prediction import CellPrediction, bits
from tabcontam.baseline.rounded_numbers import RoundedPrediction, worths
from tabcontam.evidence.base import ReplyState, UnreadReason
from tabcontam.reading.answer_text import is_mark, same_value
from tabcontam.report.answer_marks import Mark, marked, of_row, of_words
from tabcontam.report.lookup_places import as_list, documents, documents_by_text, is_lookup, places
from tabcontam.report.thresholds import LEAST_CHOICE_CHANCE
from tabcontam.report.trials_by_result import Trial, cached_on_trial, is_mapping
from tabcontam.verdicts.wording import rounded, shorten, text, visible

NUMBER = re.compile(r"-?\d+(\.\d+)?")
SMALL = 0.001  # a smaller chance is not shown in percent
NO_CHANCES: Sequence[float] = ()

# The kinds of a query's result with their plurals, the most informative first.
KINDS = {
    "hit": "hits",
    "scored": "scored",
    "miss": "misses",
    "declined": "declined",
    "not understood": "not understood",
    "unreadable": "unreadable",
    "cut off": "cut off",
    "refused": "refused",
    "empty": "empty",
    "failed": "failed",
}
UNREAD_KINDS = ("declined", "not understood", "cut off", "refused", "empty", "failed")  # of answers in words
DECOY = "decoy"
RIGHT = ("right", "rounded")
GIVEN = (*RIGHT, "wrong")  # states of cells that have an answer
OF_STATE = {
    ReplyState.TRUNCATED: "cut off",
    ReplyState.REFUSED: "refused",
    ReplyState.EMPTY: "empty",
    ReplyState.FAILED: "failed",
}


@dataclass(frozen=True)
class CellAnswer:
    """A cell that was asked for: its value in the table, the value read in the answer, and the latter's chance.

    `state` is "right", "rounded" (right, but in fewer digits than the table's number), "wrong", "missing" (only the
    table has a value) or "blank" (neither has one). `chance` is the baseline's probability of the read value or, if
    that is rounded, of its digits. `has_prediction` states whether the baseline predicts the cell.
    """

    feature: str
    expected: str | None
    read: str | None
    state: str
    chance: float | None
    has_prediction: bool
    bits: float = 0.0
    """The recalled bits: 0 unless the value is right, or a number that is right in fewer digits."""


def kind_of(trial: Trial) -> str:
    """Return the kind of a query's reply: one of `KINDS`, such as a hit, or `DECOY`."""
    if trial.get("decoy_of"):
        return DECOY
    if trial.get("hit") is True:
        return "hit"
    if (state := text(trial.get("state"))) != ReplyState.OK:
        return next((kind for known, kind in OF_STATE.items() if known == state), "failed")
    if trial.get("readable") is True:
        return "scored" if is_passage(trial) and trial.get("hit") is None else "miss"
    if not is_prompt(trial):
        return "unreadable"
    return (UnreadReason.DECLINED if trial.get(UNREAD) == UnreadReason.DECLINED else UnreadReason.NOT_UNDERSTOOD).value


@cached_on_trial
def bits_of(trial: Trial) -> float:
    """Return the recalled bits of an answer: the surprisal of its right parts under the baseline."""
    if is_mapping(trial.get("expected")):
        return sum(cell.bits for cell in row_of(trial))
    if _asks_words(trial):
        return sum(bits(chance) for word in words_read(trial) if (chance := _chance(_prediction(trial, word), word)))
    return _choice_bits(trial) if trial.get("hit") is True else 0.0


@cached_on_trial
def words_read(trial: Trial) -> tuple[str, ...]:
    """Return the expected words that an answer contains; empty for other kinds of queries."""
    expected, rest = trial.get("expected"), text(trial.get("parsed"))
    found = []
    for word in expected if isinstance(expected, list) and _asks_words(trial) else ():
        if rest == word or rest.startswith(f"{word}, "):
            found.append(text(word))
            rest = rest[len(text(word)) + 2 :]
    return tuple(found)


@cached_on_trial
def row_of(trial: Trial) -> list[CellAnswer]:
    """Return the answers for the asked cells of a row, in the row's order."""
    parsed = trial.get("parsed")
    given = parsed if is_mapping(parsed) else {}
    return [_cell(trial, text(name), value, given.get(name)) for name, value in _expected_cells(trial)]


def _expected_cells(trial: Trial) -> Iterable[tuple[Any, Any]]:
    expected = trial.get("expected")
    return expected.items() if is_mapping(expected) else ()


def _cell(trial: Trial, feature: str, in_table: object, in_answer: object) -> CellAnswer:
    expected, read = (None if value is None else text(value) for value in (in_table, in_answer))
    prediction = _prediction(trial, feature)
    fewer = 0  # how many digits fewer than the table's a right rounded number has
    if prediction is not None and read is not None and expected is not None:
        fewer = prediction.precision(read, expected) or 0
    if same_value(read, expected):
        state = "right"
    elif read is None or is_mark(read):
        state = "blank" if expected is None else "missing"
    else:
        state = "rounded" if fewer else "wrong"
    given = state in GIVEN
    chances = _chances(prediction, read or "") if given else NO_CHANCES
    chance = _likely(chances, fewer)
    has_prediction = prediction is not None and (chance is not None or not given)
    counts = state in RIGHT and chance is not None and trial.get("readable") is True
    return CellAnswer(feature, expected, read, state, chance, has_prediction, _worth(chances, fewer) if counts else 0.0)


def _worth(chances: Sequence[float], fewer: int) -> float:
    return max(0.0, worths(chances)[fewer])  # avoids -0.0


def bits_if_right(trial: Trial) -> float:
    """Return the bits that an answer about a row would have if all asked cells with a value were right."""
    pairs = _expected_cells(trial)
    asked = (_chances(_prediction(trial, text(name)), text(value)) for name, value in pairs if value is not None)
    return sum(_worth(chances, 0) for chances in asked if _likely(chances) is not None)


# longest_answer: most characters shown of an answer
def query_for_page(trial: Trial, *, longest_answer: int = 4_000) -> dict[str, Any]:
    """Return a query in the form that the page's script needs, without empty fields."""
    reply = text(trial.get("reply"))
    answer = visible(reply[:longest_answer])
    row = row_of(trial)
    weight = bits_of(trial)
    state, detail = text(trial.get("state")), text(trial.get("detail"))
    found = {
        "kind": kind_of(trial),
        "bits": rounded("recalled_bits", weight) if weight else "",
        "paper": trial.get("paper") is True and not trial.get("decoy_of"),
        "line": trial.get("line"),
        "prompt": [["", one_line(text(trial.get("prompt")))]] if is_lookup(trial) else prompt_of(trial),
        **({"answer": marked(answer, _marks(trial, row, answer))} if is_prompt(trial) else {}),
        "cut": max(0, len(reply) - longest_answer) if is_prompt(trial) else 0,
        "state": "" if state == ReplyState.OK else one_line(": ".join(filter(None, (state, detail)))),
        **_asked(trial, row),
        "judged": _judged(trial),
    }
    return {name: value for name, value in found.items() if value}


def _asked(trial: Trial, row: Sequence[CellAnswer]) -> dict[str, Any]:
    if is_passage(trial):
        return {"passage": {"read": one_line(text(trial.get("parsed"))), "tokens": _costly(trial)}}
    if is_lookup(trial):
        return {"lookup": _lookup(trial)}
    if is_mapping(trial.get("expected")):
        return {"row": [_cell_shown(cell) for cell in row]}
    return {"words": _words(trial)} if _asks_words(trial) else {"choice": _choice(trial)}


def _judged(trial: Trial) -> list[list[str]]:
    pairs = [one for one in as_list(trial.get("judged")) if isinstance(one, list) and len(one) == 2]
    return [[one_line(text(by)), one_line(text(word))] for by, word in pairs]


def is_prompt(trial: Trial) -> bool:
    """Return whether a prompt was sent. Passages and lookups have none."""
    return not is_passage(trial) and not is_lookup(trial)


def _lookup(trial: Trial) -> dict[str, Any]:
    """Return what a lookup found: the row's own value, the number of documents with each text, and some places."""
    found = [[one.where, one.before, "right" if one.own else "", one.found, one.after] for one in places(trial)]
    counts = ", ".join(f"{one}: {count:,}" for one, count in documents_by_text(trial))
    own = one_line(", ".join(f"{text(feature)} = {text(value)}" for feature, value in _expected_cells(trial)))
    return {"own": own, "documents": documents(trial) + (f" ({counts})" if counts else ""), "found": found}


def is_passage(trial: Trial) -> bool:
    """Return whether the LLM only scored a passage and answered no question."""
    return trial.get("question") == PASSAGE


def scored(trial: Trial) -> float | None:
    """Return the number that summarises the LLM's scores of a passage; None if there is none."""
    number = NUMBER.match(text(trial.get("parsed"))) if is_passage(trial) else None
    return float(number[0]) if number else None


def _costly(trial: Trial) -> list[list[str]]:
    """Return the least likely tokens of a passage, each with its bits. The least likely token comes first."""
    costly_tokens = 5  # most tokens shown of a passage
    tokens = [one for one in as_list(trial.get("scores")) if isinstance(one, list) and len(one) > 1]
    found = [(text(token), -score / log(2)) for token, score, *_ in tokens if isinstance(score, int | float)]
    costly = sorted(found, key=lambda token: -token[1])[:costly_tokens]
    return [[one_line(token), f"{bits:.1f}"] for token, bits in costly if isfinite(bits)]


def _cell_shown(cell: CellAnswer) -> list[str | None]:
    """Return a cell as a list: feature, expected value, value read, state, chance (None without a prediction), bits."""
    expected, read = (None if value is None else one_line(value) for value in (cell.expected, cell.read))
    chance = percent(cell.chance) if cell.has_prediction else None
    weight = rounded("recalled_bits", cell.bits) if cell.has_prediction and cell.state in RIGHT else ""
    return [one_line(cell.feature), expected, read, cell.state, chance, weight]


def _words(trial: Trial) -> list[list[str]]:
    """Return each expected word with "right" or "missing", and the smallest of the right words' chances."""
    expected, read = trial.get("expected"), words_read(trial)
    words = [text(word) for word in as_list(expected) if word is not None]
    chances = {word: percent(_chance(_prediction(trial, word), word)) for word in read}
    return [[one_line(word), "right" if word in read else "missing", chances.get(word, "")] for word in words]


def _choice(trial: Trial) -> dict[str, Any]:
    """Return the right choice, the choice read in the answer with its chance, and the choices of the baselines."""
    read, chance = trial.get("parsed"), trial.get("chance")
    named = chance if is_mapping(chance) else {}
    choice: dict[str, Any] = {"expected": one_line(_truth(trial))}
    choice["read"] = None if read is None else one_line(text(read))
    if not set(named) & set(_choices(trial)):
        baselines = {name: _likeliest(prediction) for name in named if (prediction := _prediction(trial, name))}
        choice["baselines"] = [
            [one_line(name), one_line(answer)] for name, answer in baselines.items() if answer is not None
        ]
    elif read is not None:
        choice["chance"] = percent(_choice_chance(trial))
        choice["bits"] = rounded("recalled_bits", _choice_bits(trial)) if trial.get("hit") is True else ""
    return choice


def _likeliest(prediction: CellPrediction) -> str | None:
    try:
        return prediction.likeliest
    except TypeError:  # the prediction has no probabilities
        return None


def _choice_chance(trial: Trial) -> float | None:
    read = text(trial.get("parsed"))
    chance = _chance(_prediction(trial, read), read) if read in _choices(trial) else None
    return None if chance is None else max(chance, LEAST_CHOICE_CHANCE)


def _choice_bits(trial: Trial) -> float:
    chance = _choice_chance(trial)
    return bits(chance) if chance else 0.0


@cached_on_trial
def _asks_words(trial: Trial) -> bool:
    """Return whether the answer should contain words, rather than cells of a row or one of several choices."""
    return isinstance(trial.get("expected"), list) and _truth(trial) not in _choices(trial)


def _truth(trial: Trial) -> str:
    expected = as_list(trial.get("expected"))
    return text(expected[0]) if len(expected) == 1 else ""


def _choices(trial: Trial) -> tuple[str, ...]:
    choices = as_list(trial.get("asked"))
    return tuple(map(text, choices)) if len(choices) > 1 else ()


def _marks(trial: Trial, row: Sequence[CellAnswer], answer: str) -> list[Mark]:
    if row:
        given = [cell for cell in row if cell.state in GIVEN]
        values = [(visible(cell.feature), visible(cell.read or ""), cell.state) for cell in given]
        return of_row(answer, [visible(cell.feature) for cell in row], values)
    if _asks_words(trial):
        return of_words(answer, map(visible, words_read(trial)), "right")
    read = trial.get("parsed")
    state = "right" if read == _truth(trial) else "wrong"
    return of_words(answer, [visible(read)], state) if isinstance(read, str) else []


def prompt_of(trial: Trial) -> list[list[str]]:
    """Return the messages as (role, text). The role is empty in a prompt without roles."""
    prompt = trial.get("prompt")
    if not isinstance(prompt, list):
        return [["", visible(text(prompt))]]
    messages = [message for message in prompt if is_mapping(message)]
    return [[one_line(text(message.get("role"))), visible(text(message.get("content")))] for message in messages]


@cached_on_trial
def _prediction(trial: Trial, name: str) -> CellPrediction | None:
    """Return the prediction for a feature, word or choice; None if there is none."""
    chance = trial.get("chance")
    stored = chance.get(name) if is_mapping(chance) else None
    if (
        not is_mapping(stored)
        or not is_mapping(stored.get("values"))
        or not isinstance(stored.get("rest"), int | float)
    ):
        return None
    return CellPrediction(stored["values"], stored["rest"], coarser=_coarser(stored.get("coarser")))


def _coarser(stored: object) -> tuple[RoundedPrediction, ...]:
    try:
        return tuple(map(RoundedPrediction.read, as_list(stored)))
    except (ValueError, TypeError, KeyError):
        return ()


def _chance(prediction: CellPrediction | None, answer: str) -> float | None:
    """Return the probability that the baseline's `prediction` gives to `answer`; None if it has no probabilities."""
    return _likely(_chances(prediction, answer))


def _chances(prediction: CellPrediction | None, answer: str) -> Sequence[float]:
    """Return an answer's chances in all digits and in fewer digits; `NO_CHANCES` if no prediction has probabilities."""
    try:
        return prediction.chances(answer) if prediction else NO_CHANCES
    except TypeError:
        return NO_CHANCES


def _likely(chances: Sequence[float], fewer: int = 0) -> float | None:
    return min(1.0, chances[fewer]) if chances and chances[fewer] > 0 else None


def percent(chance: float | None) -> str:
    """Return a chance as text: in percent or, if it is tiny, as a power of ten.

    >>> percent(0.5), percent(0.0123), percent(7e-17), percent(None)
    ('50%', '1.2%', '7e-17', '')
    """
    if chance is None:
        return ""
    return f"{chance:.2g}" if chance < SMALL else f"{100 * chance:.2g}%" if chance < 0.995 else f"{chance:.0%}"


def one_line(value: str, *, longest_value: int = 400) -> str:
    """Return a name or value for display: without control characters, on one line, shortened if long."""
    return shorten(visible(value, line=True), longest_value)
