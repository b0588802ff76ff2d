"""Published scores that compare a row's loss after another text with its loss alone: ReCaLL and CoDeC."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from tabcontam.evidence.base import Query, Reading, Scores
from tabcontam.evidence.likelihood.paired_score import PairedScore, rows_and_twins
from tabcontam.evidence.likelihood.scored_rows import ValueToken, query, reading, select_value_tokens
from tabcontam.evidence.questions import Passage
from tabcontam.evidence.thresholds import MOST_SHOT_CHARACTERS, UNREAD_SHOTS
from tabcontam.tables.row_draws import by_content
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table
from tabcontam.tables.twin_tables import twin_rows

SALT = "shots"  # seed of the twin whose rows are shown first: another twin than the one that is compared
AFTER = "-after"  # at the end of the name of a query with a text before the row


class InContextScore(PairedScore):
    """A score that compares a row after another text with the row alone.

    Both losses are computed from the same characters: those of all values except the first. The first is left out,
    since many servers do not score the first token of a text.
    """

    unit: ClassVar[str] = "nats a character"

    def _after(
        self, above: str, context: tuple[int, ...], alone: Sequence[Query], table: Table, serializer: Serializer
    ) -> list[Query]:
        """Return the queries `alone` once more, each after the text `above`, which shows the table's rows `context`."""
        own = alone[0].id
        return [
            query(f"{one.id}{AFTER}", table, serializer, one.expected, (*one.rows, *context), decoy_of=own, above=above)
            for one in alone
        ]

    def read(self, query: Query, reply: Scores, serializer: Serializer) -> Reading:
        """Return the mean log-probability of a character of the row's values; unreadable if another text was scored."""
        question = query.question
        row = serializer.row(query.asked, query.expected)
        above = question.text.removesuffix(row) if isinstance(question, Passage) else ""
        found = select_value_tokens(reply, serializer, query.asked, query.expected, above, left=1)
        return reading(self.score(found, row) if found else None, self.unit)

    def score(self, tokens: Sequence[ValueToken], row: str) -> float:
        """Return the mean negative log-probability of a character, in nats."""
        return -sum(one.log_probability for one in tokens) / sum(one.characters for one in tokens)


@dataclass(frozen=True)
class Recall(InContextScore):
    """The model is asked nothing: the change of a row's loss after unread rows is compared with that of a twin's row.

    Measures: the loss of a row after rows that the model has not read, divided by the loss of the row alone. The ratio
    is larger for a row that the model has read. The test gives a score and no verdict.

    Queries: the texts of `perplexity` and `loss`, and each text once more after seven rows, one a line. The seven rows
    are the same for all texts. If rows are wide, fewer rows are shown: at most 1,500 characters, but at least one row.
    The shown rows are from a second shuffled twin, not from the twin that is compared. No shown row is a row of the
    table, so the model cannot have read it.

    Null: none. Both losses are computed from the same characters: those of all values except the first. The score is
    the AUC of the table's rows against a shuffled twin's rows, as in `loss`.

    Published rule: none. The source's authors choose the number of shots on labelled texts. Here at most seven shots
    are shown, the smallest number that the authors try.

    Needs: log-probabilities of given text; a table that has a twin, and a model whose context is long enough for so
    many rows. The test is run if it is chosen, or if a model that is loaded on this machine scores text.

    Cannot show: that rows were seen. Like the score of `loss`, the score only ranks rows, and the ranking depends on
    the text before the rows.

    Source: Xie et al. 2024, "ReCaLL: Membership Inference via Relative Conditional Log-Likelihoods", section 3. The
    twin is the project's own. The tests of Ronval et al. 2024, section 3.1, read only answers, not log-probabilities.

    Example: `The age is 39, ...` has a loss of 0.40 nats a character alone and of 0.60 after seven rows of a twin: its
    score is 1.5.
    """

    id: ClassVar[str] = "recall"
    title: ClassVar[str] = "ReCaLL"
    score_unit: ClassVar[str] = "times as large a loss after unread rows"
    toward: ClassVar[int] = 1

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        pairs = rows_and_twins(table, rng)
        compared = {tuple(cells) for _, cells in pairs}
        shots = [cells for _, cells in twin_rows(table, SALT) if cells not in compared]
        drawn = rng.sample(shots, min(UNREAD_SHOTS, len(shots)))
        lines = [f"{serializer.row(table.columns, cells)}\n" for cells in drawn]
        while len(lines) > 1 and sum(map(len, lines)) > MOST_SHOT_CHARACTERS:
            lines.pop()
        above = "".join(lines)
        found = []
        for number, pair in enumerate(pairs):
            alone = self._pair(number, *pair, table, serializer)
            found += [*alone, *self._after(above, (), alone, table, serializer)]
        return found

    def score_of(self, name: str, found: Mapping[str, float]) -> float | None:
        alone, after = found.get(name), found.get(name + AFTER)
        return after / alone if alone and after is not None else None


@dataclass(frozen=True)
class Codec(InContextScore):
    """The model is asked nothing: the fall of a row's loss after another row is compared with that of a twin's row.

    Measures: by how much the loss of a row falls after another row of the table. The loss falls little if the model has
    read the rows. The test gives a score and no verdict.

    Queries: the texts of `perplexity` and `loss`, and each text once more after a random other row of the table. A row
    and its twin are scored after the same other row.

    Null: none. The source counts the texts whose loss does not fall after another text of the same dataset. On tables
    this share is near zero for all models, since a single row shows the model names, separators and ranges. So the
    share is reported for the table's rows and for the twin's rows, after the same other rows. Both losses are computed
    from the same characters: those of all values except the first. The score is the AUC of the table's rows against a
    shuffled twin's rows, as in `loss`: how often the loss falls less for a row of the table than for a twin's row.

    Published rule: none. The source calls a share of such texts above 80 % a red flag, and states no error rate.

    Needs: log-probabilities of given text; a table that has a twin. The test is run if it is chosen, or if a model that
    is loaded on this machine scores text.

    Cannot show: that rows were seen. Like the score of `loss`, the score only ranks rows.

    Source: Zawalski et al. 2025, "Detecting Data Contamination in LLMs via In-Context Learning" (CoDeC). The twin is
    the project's own. The tests of Ronval et al. 2024, section 3.1, read only answers, not log-probabilities.

    Example: `The age is 39, ...` has a loss of 0.40 nats a character alone and of 0.35 after another row: the loss
    falls by 0.05.
    """

    id: ClassVar[str] = "codec"
    title: ClassVar[str] = "CoDeC"
    score_unit: ClassVar[str] = "nats a character gained by another row"

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        found = []
        for number, (place, twin) in enumerate(rows_and_twins(table, rng)):
            alone = self._pair(number, place, twin, table, serializer)
            context = _another(table, place, rng)
            above = f"{serializer.row(table.columns, table.rows[context])}\n"
            found += [*alone, *self._after(above, (context,), alone, table, serializer)]
        return found

    def score_of(self, name: str, found: Mapping[str, float]) -> float | None:
        alone, after = found.get(name), found.get(name + AFTER)
        return None if alone is None or after is None else alone - after

    def more(self, pairs: Sequence[tuple[float, float]], found: Mapping[str, float]) -> str:
        """Return the source's own measure in words: the share of rows whose loss does not fall after another row."""
        if not pairs:
            return ""
        rows, twins = (sum(gain < 0 for gain in side) / len(pairs) for side in zip(*pairs, strict=True))
        return f"; after another row of the table the loss rises for {rows:.0%} of rows and {twins:.0%} of the twin's"


def _another(table: Table, place: int, rng: Random) -> int:
    """Return a random row with other cells. The choice does not depend on the order of the rows."""
    rows = by_content(table)
    while True:
        other = rng.choice(rows)
        if table.rows[other] != table.rows[place]:
            return other
