"""Recorded answers as trials of tabcontam's tests, to get results by the rules of a run.

No prompt is recorded. The row of a query is found in the edition on this machine. Answers to tests 1 to 6 are compared
with their decoys: the same LLM's answers to the same test on other datasets. A word in the dataset's name counts as
shown.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from tabcontam.evidence.base import Query, Reply, ReplyState, Test, Trial, as_read
from tabcontam.evidence.knowledge.decoys import decoy, floors, is_english
from tabcontam.evidence.knowledge.word_test import trials_about_table
from tabcontam.evidence.number_wording import explain_low_power
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.rows.answered_rows import answered_row
from tabcontam.evidence.rows.completion_tests import FeatureCompletion, FullCompletion, IncompleteCompletion
from tabcontam.evidence.thresholds import REMEMBERED_SHARE
from tabcontam.reading.word_decision import appears, stands_in, without_note
from tabcontam.replay.answer_records import NAME_TESTS, NEXT_ROW, ONE_CELL, Record, lines, unrecorded
from tabcontam.replay.recorded_null_model import KnownEdition
from tabcontam.statistics.power import row_power
from tabcontam.tables.dataset_cards import Card, find_card
from tabcontam.tables.serializers import DEFAULT, TemplateRows, load_serializer, shipped_templates

TEMPLATE = re.compile(r"(.*)\{feature_name\}(.*\S.*)\{feature_value\}(.*\S.*)", re.DOTALL)
NO_DECOYS = "not recorded: no answers of this LLM to this test on another dataset"
NO_WORDS = "not recorded: the dataset's name shows every expected word"

PREAMBLE = "read after a preamble"
OTHER_FEATURE = "a value of another feature counted (B4)"
COUNTER = "the feature only counts the rows"
LIKELIEST = "the right values are the likeliest ones"
INSIDE = "a word stands only inside a longer one"
ELSEWHERE = "its answers on other datasets also hold the words"
ENGLISH = "common English words, which the topic suggests"
SINGLE = "one expected word, which may follow from the prompt (B5, B6)"
ONE_NAME = "one name, asked once"
NOT_ITS_NAME = "no name of the dataset, or another dataset's (B10)"


@dataclass(frozen=True)
class RecordedEvidence:
    """A recorded result: the `test` that judges its `trials`, the null model in words, and the beginning of the
    sentence that states the result.

    `notes`: how the published rules read the answers differently, the most important first.
    """

    test: Test
    trials: tuple[Trial, ...]
    null: str
    counted: str = ""
    notes: tuple[str, ...] = ()

    @property
    def queries(self) -> int:
        """The number of queries about the table itself, without decoys."""
        return len(trials_about_table(self.trials))

    def uninformative(self, level: float) -> str | None:
        """Return why the queries cannot tell memory from prediction at this level; None if they can.

        Half of the asked rows, rounded up, are assumed to be remembered: most results ask only one row.
        """
        queries = [trial.query for trial in self.trials]
        if not self.test.row_test:
            return self.test.uninformative(queries, level)
        remembered = ceil(REMEMBERED_SHARE * len(queries))
        rows = [list(query.chance.values()) for query in queries]
        power = row_power(rows, remembered / len(rows), level)
        return explain_low_power(power, level, f"{remembered} of the {len(rows)} asked rows")


def asked_rows(records: Iterable[Record], known: KnownEdition) -> RecordedEvidence | str:
    """Return the rows of a result, with the edition's frequencies as their null model, or why these are not known.

    A row that was asked twice in the same way counts once, since a greedy model gives the same answer again.
    """
    asked: dict[tuple[int, tuple[str, ...]], Record] = {}
    for record in records:
        place = known.place(record.values or {})
        if place is not None and record.asked:
            asked.setdefault((place, record.asked), record)
    edition = f"{known.table.name}@{known.table.edition}"
    if not asked:
        return f"not recorded: the asked rows are not in {edition}"
    read = [_row(record, place, known) for (place, _), record in asked.items()]
    trials = tuple(trial for trial, _ in read if trial.query.chance)
    if not trials:
        return f"{', '.join(read[0][0].query.asked)} follows from the row's number"
    given = [cell for trial in trials for cell in answered_row(trial).given]
    notes = dict.fromkeys(note for _, own in read for note in own)
    return RecordedEvidence(
        _row_test(next(iter(asked.values()))),
        trials,
        f"the answers stay; the asked cells are drawn from the frequencies of {edition} without the row",
        f"{sum(cell.right for cell in given)} of {len(given)} answered cells are right; ",
        (*notes, LIKELIEST) if _likeliest(trials) else tuple(notes),
    )


def _row_test(record: Record) -> FeatureCompletion | FullCompletion | IncompleteCompletion:
    if record.test == ONE_CELL and len(record.asked) == 1:
        return FeatureCompletion()
    return FullCompletion() if record.test == NEXT_ROW else IncompleteCompletion()


def _row(record: Record, place: int, known: KnownEdition) -> tuple[Trial, list[str]]:
    """Return the answer about a row, read as in a run, and notes on where the published rules read it differently."""
    test, serializer, cells = _row_test(record), _serializer(record.serializer), known.row(place)
    query = Query(
        f"line {record.line}",
        unrecorded,
        record.asked,
        tuple(cells[name] for name in record.asked),
        max_tokens=0,
        chance=known.predictions(place, record.asked, record.test != ONE_CELL),
    )
    reply = Reply(_text(record.output, serializer, record.asked[0]), ReplyState.OK)
    published = Reply(test.published_line(record.output), ReplyState.OK)
    reading = test.read(query, as_read(reply), serializer)
    first = reading if published == as_read(reply) else test.read(query, published, serializer)
    why = {
        PREAMBLE: reading.parsed and not first.parsed,
        OTHER_FEATURE: reading.paper_hit and not reading.hit,
        COUNTER: not query.chance.keys() >= set(reading.right),
    }
    return Trial(query, reply, reading), [note for note, holds in why.items() if holds]


def _serializer(template: str | None) -> TemplateRows:
    """Return the serializer of a template such as `The {feature_name} is {feature_value}, `; else the default one."""
    default = shipped_templates()[DEFAULT]
    match = TEMPLATE.fullmatch(template or "")
    if match is None:
        return default
    before, between, after = match.groups()
    return replace(default, name=template or "", specifier=before, value_separator=between, feature_separator=after)


def _text(output: str, serializer: TemplateRows, first: str) -> str:
    """Return the answer as the LLM gave it: with its lines joined, and with its beginning restored.

    The authors cut too many characters off answers that go on with a row (`e age is 39` for `The age is 39`).
    """
    text = lines(output)
    start = serializer.start(first)
    begun = text.lstrip()
    for cut in range(1, len(serializer.specifier) + len(first)):
        if begun.startswith(start[cut:]) and not begun.startswith(first):
            return start[:cut] + begun
    return text


def _likeliest(trials: Iterable[Trial]) -> bool:
    """Return whether some cells are right, and each of these has the value that the baseline finds likeliest."""
    right = [
        prediction.chance_of(str(trial.reading.parsed[name])) >= prediction.surest
        for trial in trials
        if trial.reading is not None and isinstance(trial.reading.parsed, Mapping)
        for name, prediction in trial.query.chance.items()
        if name in trial.reading.right
    ]
    return bool(right) and all(right)


def asked_words(records: Sequence[Record], others: Sequence[Sequence[Record]]) -> RecordedEvidence | str:
    """Return the words or names of a result, with the answers in `others` as decoys, or why that is not possible.

    `others`: the results on other datasets. The first answer about a dataset is compared with the first about each
    other dataset, the second with the second, and so on. If a dataset was asked in several files, its first file
    counts.
    """
    card = find_card(records[0].dataset)
    if card is None:
        return "not recorded: no card states the dataset's names"
    other_of = {own_records[0].dataset: own_records for own_records in reversed(others)}
    trials: list[Trial] = []
    for number, record in enumerate(records):
        decoys = [own_records[number] for own_records in other_of.values() if number < len(own_records)]
        trials += _word_trials(record, decoys, card)
    if not any(trial.query.decoy_of and trial.reading and trial.reading.readable for trial in trials):
        return NO_DECOYS
    if not any(trial.query.expected for trial in trials):
        return NO_WORDS
    null = f"the answers are as likely about any of {len(other_of)} other datasets; the prompts are not recorded"
    notes = _name_notes if records[0].test in NAME_TESTS else _word_notes
    return RecordedEvidence(by_id()[records[0].test], tuple(trials), null, notes=notes(trials))


def _word_trials(record: Record, decoys: Sequence[Record], card: Card) -> list[Trial]:
    """Return an answer and its decoys as trials. Each is searched for the expected words of the answer."""
    test, serializer = by_id()[record.test], load_serializer(DEFAULT)
    names = record.test in NAME_TESTS
    words = dict.fromkeys(without_note(word) for word in record.words if word)
    expected = card.names if names else tuple(word for word in words if not stands_in(word, record.dataset))
    not_expected = card.not_aliases if names else ()
    true = Query(f"line {record.line}", unrecorded, (), expected, max_tokens=0, not_expected=not_expected)
    others = [decoy(true, number, unrecorded) for number in range(len(decoys))]
    queries = [replace(true, chance=floors(expected, others, private=False)), *others]
    trials = []
    for query, answer in zip(queries, [record, *decoys], strict=True):
        reply = Reply(lines(answer.output), ReplyState.OK)
        trials.append(Trial(query, reply, test.read(query, as_read(reply), serializer)))
    return trials


def _word_notes(trials: Sequence[Trial]) -> tuple[str, ...]:
    true = trials_about_table(trials)
    answered, elsewhere = _right_words(true), _right_words(trial for trial in trials if trial.query.decoy_of)
    expected = {word: trial for trial in true for word in trial.query.expected if word}
    why = {
        SINGLE: len(expected) == 1,
        INSIDE: any(appears(word, trial.reply.text) for word, trial in expected.items() if word not in answered),
        ELSEWHERE: bool(answered & elsewhere),
        ENGLISH: any(map(is_english, answered)),
    }
    return tuple(note for note, holds in why.items() if holds)


def _name_notes(trials: Sequence[Trial]) -> tuple[str, ...]:
    return (ONE_NAME if _right_words(trials_about_table(trials)) else NOT_ITS_NAME,)


def _right_words(trials: Iterable[Trial]) -> set[str]:
    return {word for trial in trials if trial.reading is not None for word in trial.reading.right}
