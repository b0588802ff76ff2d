"""The base of the guided completion tests: their queries, the reader of answers, and simulated answers.

A query asks for the second piece of an instance. Guided queries name the instance's dataset. Each other arm asks for
the same piece as a decoy of the guided query: `general` names no dataset, `wrong-name` another one, and `wrong-label`
the right dataset with another label.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import ClassVar

from tabcontam.evidence.answering import CellAnswers
from tabcontam.evidence.base import READ, BetPlace, Prompt, Query, Reading, Reply, ReplyState, Test, Trial
from tabcontam.evidence.knowledge.decoys import described, other_cards, title_of
from tabcontam.evidence.rows.answer_length import answer_tokens
from tabcontam.evidence.rows.hidden_cells import without_missing
from tabcontam.evidence.rows.row_test import CellTest, read_one_cell, read_several_cells
from tabcontam.extensions.papers.guided.cut_instances import CutRow, CutText, cut_rows, cut_texts, label_first, label_of
from tabcontam.extensions.papers.guided.guided_wording import (
    OTHERS,
    InstanceOrigin,
    is_pair,
    row_prompt,
    shown_in,
    text_prompt,
)
from tabcontam.extensions.papers.guided.word_runs import WordRun, longest, words
from tabcontam.extensions.papers.thresholds import (
    LEAST_ROW_PIECE_TOKENS,
    PAIRED_TEXTS,
    PUBLISHED_INSTANCES,
    SECOND_PIECE_TOKENS,
)
from tabcontam.reading.answer_text import declines, plain
from tabcontam.reading.value_forms import FeatureValues
from tabcontam.reading.word_decision import stands_in
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table
from tabcontam.tables.text_tasks import TextTask

SECOND = "second piece"  # the asked feature of a query about a text
GENERAL, WRONG_NAME, WRONG_LABEL = "general", "wrong-name", "wrong-label"
ARMS = (GENERAL, WRONG_NAME, WRONG_LABEL)


def of_text(query: Query) -> bool:
    """Return whether a query asks for the second piece of a text, and not for cells of a row."""
    return query.asked == (SECOND,)


def of_pair(query: Query) -> bool:
    """Return whether a query shows the first sentence of a pair and asks for the second."""
    return of_text(query) and is_pair(_instruction(query))


def arm_of(query: Query) -> str:
    """Return the arm (instruction) of a query by its id: `general`, `wrong-name` or `wrong-label`; "" if guided."""
    return next((arm for arm in ARMS if query.decoy_of and query.id == f"{query.decoy_of}-{arm}"), "")


def run_of(trial: Trial) -> WordRun:
    """Return the longest run of words that a reply about a text has in common with the true second piece."""
    text = trial.reply.text if isinstance(trial.reply, Reply) and trial.reply.state in READ else ""
    return longest(trial.query.expected[0] or "", text, trial.query.not_expected)


def whole_run(query: Query) -> WordRun:
    """Return the longest run if the answer is exactly the true second piece."""
    return longest(query.expected[0] or "", query.expected[0] or "", query.not_expected)


def first_piece(query: Query) -> str:
    """Return the first piece of an instance as the query shows it, without the words before and after it."""
    return shown_in(_instruction(query))


def _instruction(query: Query) -> str:
    prompt = query.prompt
    return prompt.chat[-1].content if prompt.chat else prompt.seq2seq


@dataclass(frozen=True)
class GuidedAnswers(CellAnswers):
    """Answers with cells of a row or the second piece of a text. A model without memory gives another row's piece."""

    def truth(self, query: Query) -> Sequence[Cell]:
        return query.expected

    def usual(self, query: Query, table: Table) -> Sequence[Cell]:
        return self._of_another(table, query, 0) if of_text(query) else super().usual(query, table)

    def predicted(self, query: Query, table: Table, rng: Random) -> Sequence[Cell]:
        if of_text(query):
            return self._of_another(table, query, rng.randrange(len(table.rows)))
        return super().predicted(query, table, rng)

    def by_schema(self, query: Query, table: Table, rng: Random) -> Sequence[Cell]:
        return self.predicted(query, table, rng) if of_text(query) else super().by_schema(query, table, rng)

    def text(self, query: Query, values: Sequence[Cell], prompt: Prompt | None = None) -> str:
        return values[0] or "" if of_text(query) else super().text(query, values, prompt)

    def piece(self, table: Table, query: Query, row: int) -> str:
        """Return the end of a row's last text, with as many words as the expected piece."""
        column = table.text.texts[-1] if table.text else table.columns[-1]
        return " ".join((table.column(column)[row] or "").split()[-len((query.expected[0] or "").split()) :])

    def _of_another(self, table: Table, query: Query, row: int) -> list[str]:
        """Return the piece of `row`, or of the next row if the query asks about `row`."""
        return [self.piece(table, query, row if row not in query.rows else (row + 1) % len(table.rows))]


class GuidedTest(CellTest):
    """A test that asks for second pieces in the guided and other arms; subclasses weigh the answers."""

    whole: ClassVar[str] = "second pieces are right in all that counts"
    answering: ClassVar[CellAnswers] = GuidedAnswers()
    on_request: ClassVar[bool] = True

    def planned(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Return the queries of a result. Queries about texts have no prediction; they are weighed by their words."""
        if table.text is None:
            return super().planned(table, serializer, rng)
        return Test.planned(self, table, serializer, rng)

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        text = table.text
        written = self._of_rows(table, serializer, rng) if text is None else self._of_texts(table, text, rng)
        return sorted(written, key=lambda query: bool(query.decoy_of))

    def complete(self, query: Query, text: str, serializer: Serializer) -> bool:
        if not of_text(query):
            return super().complete(query, text, serializer)
        return len(words(text)) >= len(words(query.expected[0] or ""))

    def read(self, query: Query, reply: Reply, serializer: Serializer) -> Reading:
        """Return the cells in the answer, or the piece as it was written.

        A text is right if the answer begins with all words of the second piece. An answer that declines is unread,
        unless it has five consecutive words of the piece. An answer about a text that was cut too early is also unread.
        """
        least_words = 5  # words of a run with which an answer does not count as declining
        if not of_text(query):
            return super().read(query, reply, serializer)
        if reply.state not in READ:
            return Reading(None, hit=False, paper_hit=False, readable=False)
        true, answer = words(query.expected[0] or ""), _without_name(plain(reply.text))
        run = longest(query.expected[0] or "", answer)
        right = bool(true) and words(answer)[: len(true)] == true
        answers = bool(words(answer)) and reply.state is ReplyState.OK and not declines(answer)
        readable = answers or len(run.text) >= least_words
        return Reading({SECOND: answer}, right, query.paper and right, readable, (SECOND,) if right else ())

    def _read_cells(
        self, query: Query, text: str, sorts: Mapping[str, FeatureValues], serializer: Serializer
    ) -> dict[str, Cell]:
        read = read_one_cell if len(query.asked) == 1 else read_several_cells
        return read(query, text, sorts, serializer)

    def _of_texts(self, table: Table, task: TextTask, rng: Random) -> Iterator[Query]:
        place, others = InstanceOrigin(table.title, table.split), other_places(table, OTHERS[task.form])
        for number, instance in enumerate(cut_texts(table, task, rng)):
            other_label = _other_label(table, task, instance, rng)
            other = others[rng.randrange(len(others))]
            write = partial(text_prompt, task.form, first=instance.halves.first)
            query = Query(
                f"{self.id}-{number}",
                partial(write, place, label=instance.label),
                (SECOND,),
                (instance.halves.second,),
                SECOND_PIECE_TOKENS,
                number < PUBLISHED_INSTANCES,
                (instance.row,),
                not_expected=instance.common,
            )
            named = {GENERAL: None, WRONG_NAME: other} if number < PAIRED_TEXTS else {}
            arms = {arm: partial(write, name, label=instance.label) for arm, name in named.items()}
            if query.paper and other_label:
                arms[WRONG_LABEL] = partial(write, place, label=other_label)
            yield from with_arms(query, arms)

    def _of_rows(self, table: Table, serializer: Serializer, rng: Random) -> Iterator[Query]:
        # the titles of other cards with rows of cells, like this table's rows
        titles = [title_of(card) for card in other_cards(table) if described(card).text is None]
        place, others = InstanceOrigin(table.title, table.split), other_places(table, titles)
        columns = label_first(table)
        room = answer_tokens(table, serializer, columns, LEAST_ROW_PIECE_TOKENS)
        for number, instance in enumerate(cut_rows(table, rng)):
            other = others[rng.randrange(len(others))]
            cells = _with_other_label(table, instance, rng)
            write = partial(_write_row, serializer, table.target, instance)
            query = Query(
                f"{self.id}-{number}",
                partial(write, place, instance.cells),
                columns[instance.shown :],
                instance.cells[instance.shown :],
                room,
                number < PUBLISHED_INSTANCES,
                (instance.row,),
                chance=instance.predictions,
                row=instance.row,
                bet=BetPlace(instance.unsure),
            )
            named = {GENERAL: None, WRONG_NAME: other} if query.paper else {}
            arms = {arm: partial(write, name, instance.cells) for arm, name in named.items()}
            if query.paper and cells:
                arms[WRONG_LABEL] = partial(write, place, cells)
            yield from (without_missing(each, table) for each in with_arms(query, arms))


def with_arms(query: Query, arms: Mapping[str, partial[Prompt]]) -> Iterator[Query]:
    """Yield a guided query and its arms. If the guided query is the paper's, its general arm is, too."""
    yield query
    for arm, write in arms.items():
        paper = query.paper and arm == GENERAL
        yield replace(
            query, id=f"{query.id}-{arm}", write=write, paper=paper, chance={}, bet=BetPlace(), decoy_of=query.id
        )


def _write_row(
    serializer: Serializer, label: str | None, instance: CutRow, place: InstanceOrigin | None, cells: Sequence[Cell]
) -> Prompt:
    columns = instance.columns
    return row_prompt(
        place,
        serializer.alone(columns[: instance.shown], cells[: instance.shown]),
        label or "",
        columns[instance.shown :],
        serializer.header(columns),
        serializer.prefix(columns, cells, instance.shown),
    )


def other_places(table: Table, titles: Sequence[str]) -> list[InstanceOrigin]:
    """Return the datasets with these titles, except the table's own, as origins, each with the table's split name."""
    own = (*table.names, table.title)
    others = [title for title in titles if not any(stands_in(name, title) or stands_in(title, name) for name in own)]
    return [InstanceOrigin(title, table.split) for title in others or titles]


def _other_label(table: Table, task: TextTask, instance: CutText, rng: Random) -> str:
    """Return another label of the dataset, or "" if there is none."""
    if task.label is None or not instance.label:
        return ""
    labels = (label_of(task, value) for value in sorted(table.distinct(task.label)))
    return rng.choice([label for label in labels if label != instance.label] or [""])


def _with_other_label(table: Table, instance: CutRow, rng: Random) -> tuple[Cell, ...]:
    """Return the cells with another label as the first cell; () if the table has no label, or only one."""
    if table.target is None:
        return ()
    others = [value for value in sorted(table.distinct(table.target)) if value != instance.cells[0]]
    return (rng.choice(others), *instance.cells[1:]) if others else ()


def _without_name(text: str) -> str:
    """Return an answer without the name of the asked piece at its beginning."""
    first, colon, rest = text.partition(":")
    names = {SECOND, "sentence 2"}
    return rest.strip() if colon and first.strip(" *#\"'").casefold() in names else text.strip()
