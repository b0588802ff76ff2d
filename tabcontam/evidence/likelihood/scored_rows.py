"""The base of tests in which rows are scored: a row's query, the tokens of its values, and its score."""

from collections.abc import Sequence
from math import isfinite, sqrt
from typing import ClassVar, NamedTuple

from tabcontam.evidence.base import Capability, EvidenceKind, Family, Query, Reading, Trial
from tabcontam.evidence.mixins import FeatureTest
from tabcontam.evidence.questions import Passage, ReplyState, Scores, Token
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table


class LikelihoodTest(FeatureTest):
    """A test in which a model scores rows of a table."""

    family: ClassVar[Family] = Family.LIKELIHOOD
    kind: ClassVar[EvidenceKind] = EvidenceKind.LIKELIHOOD
    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.SCORE})


class ValueToken(NamedTuple):
    """A token with `characters` characters of values, and the index in the row's text at which it starts."""

    token: Token
    start: int
    characters: int

    @property
    def log_probability(self) -> float:
        """The part of the token's log-probability for its characters of values, in nats."""
        return self.token.log_probability * self.characters / len(self.token.text)


def whole(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens with characters; a token without any (part of a split letter) joins the token before it.

    The joined token has the sum of both tokens' means as its mean, and the sum of both variances as its variance.
    """
    found: list[Token] = []
    for token in tokens:
        if token.text or not found:
            found.append(token)
            continue
        last = found[-1]
        known = None not in (last.mean, last.deviation, token.mean, token.deviation)
        found[-1] = last._replace(
            log_probability=last.log_probability + token.log_probability,
            mean=(last.mean or 0.0) + (token.mean or 0.0) if known else None,
            deviation=sqrt((last.deviation or 0.0) ** 2 + (token.deviation or 0.0) ** 2) if known else None,
        )
    return found


def select_value_tokens(
    scores: Scores,
    serializer: Serializer,
    columns: Sequence[str],
    cells: Sequence[Cell],
    above: str = "",
    left: int = 0,
) -> list[ValueToken] | None:
    """Return the tokens of a row that hold characters of its values, except values of the first `left` features.

    `above` is the text before the row; its tokens are left out. The first token of the text is left out, since many
    servers do not score it. Return None if another text was scored, or if a log-probability is not finite.
    """
    row = serializer.row(columns, cells)
    if scores.state is not ReplyState.OK or scores.text != above + row:
        return None
    in_value = bytearray(len(above) + len(row))
    places = list(zip(serializer.places(columns, cells), cells, strict=True))
    for (start, end), cell in places[left:]:
        if cell is not None:
            in_value[len(above) + start : len(above) + end] = b"\1" * (end - start)
    found, place = [], 0
    for number, token in enumerate(whole(scores.tokens)):
        end = place + len(token.text)
        if number and (characters := sum(in_value[place:end])):
            found.append(ValueToken(token, place - len(above), characters))
        place = end
    return found if all(isfinite(one.token.log_probability) for one in found) else None


def query(
    name: str,
    table: Table,
    serializer: Serializer,
    cells: Sequence[Cell],
    rows: tuple[int, ...],
    *,
    decoy_of: str = "",
    above: str = "",
) -> Query:
    """Return the query that has a row scored after the text `above`."""

    def write() -> Passage:
        return Passage(above + serializer.row(table.columns, cells))

    return Query(name, write, table.columns, tuple(cells), max_tokens=1, rows=rows, decoy_of=decoy_of)


def reading(number: float | None, unit: str) -> Reading:
    """Return the reading with `number` as a row's score in this unit; unreadable if `number` is None."""
    parsed = None if number is None else f"{number:.6f} {unit}"
    return Reading(parsed, hit=None, paper_hit=False, readable=parsed is not None)


def number_read(trial: Trial, unit: str) -> float | None:
    """Return the score that was read for a row, or None if there is none."""
    parsed = trial.reading.parsed if trial.reading else None
    return float(parsed.removesuffix(unit)) if isinstance(parsed, str) else None


def format_interval(interval: tuple[float, float] | None) -> str:
    """Return an interval as text that follows a number in a sentence, or "" if there is none."""
    return f" [{interval[0]:.2f}, {interval[1]:.2f}]" if interval else ""
