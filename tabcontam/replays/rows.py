"""Recorded rows weighed: every answer read by feature, each right cell for what it was worth to guess."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from tabcontam.datasets import Cell
from tabcontam.decide.chance import bits
from tabcontam.decide.dictionary import Dictionary
from tabcontam.decide.reading import same_value
from tabcontam.decide.statistics import share_interval, units, weighted_tail
from tabcontam.records import Record, lines
from tabcontam.replays.null import KNOWN, Hidden, Known
from tabcontam.replays.weighing import Weighed, shown
from tabcontam.serializers import DEFAULT, Serializer, load_serializer
from tabcontam.suite.base import Evidence, Prompt, Query, Reading, Reply, State
from tabcontam.suite.completion import FeatureCompletion, FullCompletion, IncompleteCompletion
from tabcontam.suite.rows import MISSING, RowTest

NEXT_ROW, ONE_CELL = "full_completion", "feature_completion"
STATISTIC = "recalled bits"
HALF = 0.5  # of the rows
TEMPLATE = re.compile(r"(.*)\{feature_name\}(.*\S.*)\{feature_value\}(.*\S.*)", re.DOTALL)
PREAMBLE = "read after a preamble"
OTHER_FEATURE = "a value of another feature counted (B4)"
COUNTER = "the feature only counts the rows"
LIKELIEST = "what is right are the likeliest values"


@dataclass(frozen=True)
class Row:
    """One asked row: each asked cell, and those among them that are not missing in the table.

    `answers` are the given ones that are no missing mark; `right` are the features whose answer is the row's.
    """

    hidden: Mapping[str, Hidden]
    there: tuple[str, ...]
    answers: Mapping[str, str]
    right: tuple[str, ...]
    whole: bool
    readable: bool
    notes: tuple[str, ...] = ()

    @property
    def trials(self) -> list[tuple[str, float]]:
        """The answered features, each with the guesser's chance of the answer."""
        return [(name, self.hidden[name].guess.of(answer)) for name, answer in self.answers.items()]

    @property
    def likeliest(self) -> bool:
        """Whether each right cell is one that the guesser would have named."""
        return all(chance >= self.hidden[name].guess.surest for name, chance in self.trials if name in self.right)

    @property
    def chance(self) -> float:
        """The guesser's chance of the whole row as it was answered."""
        chances = dict(self.trials)
        return prod(chances.get(name, 0.0) for name in self.there) if self.there else 0.0


def weigh_rows(records: Iterable[Record], known: Known, dictionary: Dictionary) -> Weighed | str:
    """What the answers of a cell weigh against the edition's frequencies; or why that is not known.

    A row that was asked twice in the same way counts once: a greedy model gives the same answer again.
    """
    asked: dict[tuple[int, tuple[str, ...]], Record] = {}
    for record in records:
        place = known.place(record.values or {})
        if place is not None and record.asked:
            asked.setdefault((place, record.asked), record)
    if not asked:
        return f"not recorded: the asked rows are not in {known.table.name}@{known.table.edition}"
    rows = [_row(record, place, known, dictionary) for (place, _), record in asked.items()]
    if all(cell is KNOWN for row in rows for cell in row.hidden.values()):
        return f"{', '.join(rows[0].hidden)} follows from the row's number"
    groups = tuple(tuple(cell.typical for cell in row.hidden.values()) for row in rows)
    notes = tuple(dict.fromkeys(note for row in rows for note in row.notes))
    if any(row.right for row in rows) and all(row.likeliest for row in rows):
        notes = (*notes, LIKELIEST)
    return Weighed(_evidence(rows, f"{known.table.name}@{known.table.edition}"), len(rows), groups, HALF, notes)


def _row(record: Record, place: int, known: Known, dictionary: Dictionary) -> Row:
    cells = known.row(place)
    truth = {name: cells[name] for name in record.asked}
    hidden = known.hidden(place, record.asked, record.test != ONE_CELL)
    reading, notes = _reading(record, truth, dictionary)
    parsed = reading.parsed if isinstance(reading.parsed, Mapping) else {}
    answers = {name: cell for name in truth if (cell := parsed.get(name)) and not MISSING.fullmatch(cell)}
    right = tuple(name for name, answer in answers.items() if same_value(answer, truth[name]))
    if any(hidden[name] is KNOWN for name in right):
        notes = (*notes, COUNTER)
    there = tuple(name for name, cell in truth.items() if cell is not None)
    return Row(hidden, there, answers, right, reading.hit, reading.readable, notes)


def _reading(record: Record, truth: Mapping[str, Cell], dictionary: Dictionary) -> tuple[Reading, tuple[str, ...]]:
    """The answer read as a run reads it, and how the published rules read it otherwise."""
    serializer, test = _serializer(record.serializer), _test(record)
    query = Query("", _unrecorded, tuple(truth), tuple(truth.values()), max_tokens=0)
    text = _text(record.output, serializer, record.asked[0])
    reading = test.read(query, Reply(text, State.OK), serializer, dictionary)
    notes = []
    first = test.read(query, Reply(test.published_line(record.output), State.OK), serializer, dictionary)
    if reading.parsed and not first.parsed:
        notes.append(PREAMBLE)
    if reading.paper_hit and not reading.hit:
        notes.append(OTHER_FEATURE)
    return reading, tuple(notes)


def _test(record: Record) -> RowTest:
    if record.test == ONE_CELL and len(record.asked) == 1:
        return FeatureCompletion()
    return FullCompletion() if record.test == NEXT_ROW else IncompleteCompletion()


def _unrecorded() -> Prompt:
    return Prompt((), "", "")


def _serializer(template: str | None) -> Serializer:
    """The serializer that a template names, `The {feature_name} is {feature_value}, `; the default for another text."""
    default = load_serializer(DEFAULT)
    match = TEMPLATE.fullmatch(template or "")
    if match is None:
        return default
    before, between, after = match.groups()
    return replace(default, name=template or "", specifier=before, value_separator=between, feature_separator=after)


def _text(output: str, serializer: Serializer, first: str) -> str:
    """The answer as it was given: as lines, where it is recorded as a printed list of them, and with its beginning.

    The authors cut some characters too many off the answers that go on with a row (`e age is 39` for `The age is 39`).
    """
    text = lines(output)
    start = serializer.feature(first, None)
    begun = text.lstrip()
    for cut in range(1, len(serializer.specifier) + len(first)):
        if begun.startswith(start[cut:]) and not begun.startswith(first):
            return start[:cut] + begun
    return text


def _evidence(rows: Sequence[Row], edition: str) -> Evidence:
    trials = [(chance, name in row.right) for row in rows for name, chance in row.trials]
    weights = [units(chance) for chance, _ in trials]
    observed = sum(weight for weight, (_, right) in zip(weights, trials, strict=True) if right)
    recalled = sum(bits(chance) for chance, right in trials if right)
    expected = sum(chance * bits(chance) for chance, _ in trials)
    hits, answered = sum(row.whole for row in rows), sum(row.readable for row in rows)
    chances = [row.chance for row in rows]
    p_value = weighted_tail(weights, [chance for chance, _ in trials], observed) if trials else None
    said = (
        f"{hits} of {len(rows)} rows, {sum(right for _, right in trials)} of {len(trials)} answered cells are right: "
        f"{recalled:.1f} bits recalled, {expected:.1f} expected by guessing"
    )
    return Evidence(
        statistic=STATISTIC,
        value=recalled,
        expected=expected,
        null=f"the answers stay, the asked cells are drawn anew from the frequencies of {edition}, the row left out",
        sentence=said if p_value is None else f"{said} ({shown(p_value)})",
        hits=hits,
        asked=len(rows),
        answered=answered,
        p_value=p_value,
        expected_hits=sum(chances),
        interval=share_interval(chances, hits),
        interval_of="of the rows remembered",
        recalled_bits=recalled,
    )
