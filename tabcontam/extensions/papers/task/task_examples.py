"""The task examples test: the model writes training examples of a dataset, which may be rows of the table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from random import Random
from typing import ClassVar

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.errors import Skip
from tabcontam.evidence.answering import AnswerKind
from tabcontam.evidence.base import (
    READ,
    Evidence,
    Prompt,
    PublishedRule,
    Query,
    Reading,
    Reply,
    ReplyState,
    Test,
    Trial,
)
from tabcontam.evidence.checks import check_comparable
from tabcontam.evidence.mixins import ResampledTest
from tabcontam.evidence.number_wording import describe_p_value, format_small_number
from tabcontam.evidence.prompts import ask
from tabcontam.evidence.rows.answer_length import answer_tokens
from tabcontam.evidence.rows.row_test import CellTest, low_power
from tabcontam.extensions.papers.answers_of_several_rows import RememberedRows, cell_name, group_by_row
from tabcontam.extensions.papers.memcheck.csv_row_tests import csv_serializer, dataset_in_prompt
from tabcontam.extensions.papers.task.packed_table import packed
from tabcontam.extensions.papers.task.recited_passages import (
    TEXT,
    hardly_recited,
    listed_passages,
    of_texts,
    read_texts,
    recited,
    text_of,
)
from tabcontam.extensions.papers.task.rows_in_answers import listed_rows
from tabcontam.extensions.papers.task.written_rows import (
    counted_of,
    identified_rows,
    may_count,
    predictions_of,
    trials_by_row,
    written_rows,
)
from tabcontam.extensions.papers.thresholds import (
    ASKED_EXAMPLES,
    ASKED_TEXTS,
    LEAST_EXAMPLE_TOKENS,
    MOST_ASKED_LABELS,
    MOST_CLASS_LABELS,
    MOST_EXAMPLES_TOKENS,
    PROBED_ROWS,
    TEXT_LIST_TOKENS,
)
from tabcontam.groups import grouped
from tabcontam.reading.answer_text import declines
from tabcontam.tables.known_rows import not_known
from tabcontam.tables.row_draws import pool
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table

LI = "li2024"  # Li and Flanigan 2024, "Task Contamination: Language Models May Not Be Few-Shot Anymore"
OWN_MARKS = frozenset({"task"})
NULL = (
    "the answers stay; each written row is compared with the only row of the table that has its first cells, and that "
    "row's other cells are drawn again from the baseline's prediction, given the cells before them"
)


@dataclass(frozen=True)
class TaskExampleAnswers(RememberedRows):
    """Answers with rows or texts of the table, one a line.

    A simulated model without memory joins cells of different rows with the same label. If the label has more than
    twenty values, it would itself identify the row: then the model joins cells of any rows.
    """

    def usual(self, query: Query, table: Table) -> Sequence[Cell]:
        return [text_of(table, 0)] if of_texts(query) else super().usual(query, table)

    def predicted(self, query: Query, table: Table, rng: Random) -> Sequence[Cell]:
        if of_texts(query):
            drawn = rng.sample(range(len(table.rows)), min(50, len(table.rows)))
            every = [word for row in drawn for word in text_of(table, row).split()]
            return [" ".join(rng.choice(every) for _ in range(20)) for _ in self.rows]
        several = table.target is not None and len(table.distinct(table.target)) <= MOST_CLASS_LABELS
        labels = table.column(table.target or "") if several else (None,) * len(table.rows)
        alike = grouped(range(len(labels)), lambda row: str(labels[row]))
        places = range(len(query.asked))
        return [table.rows[rng.choice(alike[str(labels[row])])][place] for row in self.rows for place in places]

    def text(self, query: Query, values: Sequence[Cell], prompt: Prompt | None = None) -> str:
        return "\n".join(value or "" for value in values) if of_texts(query) else super().text(query, values, prompt)


@dataclass(frozen=True)
class TaskExamples(ResampledTest, CellTest):
    """Given the dataset's name, its features and labels, the model must write down training examples of the dataset.

    Measures: whether a model that is asked for examples of the dataset or of its task writes rows of the table. This
    row test can show that rows were seen.

    Queries: one query asks for twenty training examples of the dataset. One query asks for twenty examples from
    anywhere except the beginning of the file. For each label, up to five labels, one query asks for twenty examples of
    the label. The prompt names the dataset, its split if there is one, the features in their order and, for a table
    with a question, the values of its target. It shows no row. For a table of texts, ten texts are asked for instead.
    With `--samples` each query is asked several times at a temperature, and all answers count together.

    Null: the model's answers are kept, and cells of the table are drawn again. The columns have a fixed order for each
    table, the hardest to predict first. Cells of a written row are read in this order until only one row of the table
    begins with these cells. The written row is compared with this row of the table. The first cells do not count, since
    among many rows one row always looks similar. The cells after them, in at most eight columns, count as in
    `feature_completion`. Each of these cells is drawn from the baseline's prediction, given all cells before it and the
    easiest columns, which never count. So a row with lucky first cells is worth nothing, and a row that continues like
    the table's row is worth its bits. A row that is written again counts once. If several written rows have the same
    first cells, the best of these rows counts in each cell, with the sum of the rows' chances. The first ten rows of
    the file, which web pages print, its last five, and rows that a model may know (`--known`) do not count.
    Contaminated: the right cells are worth more bits than the null model explains. In a table of texts, five
    consecutive words that only one text contains identify this text. The words after these five count as long as they
    match the text: each word is right by luck in one of two cases. Words in phrases that other texts contain do not
    count. At least two texts have to be recited.

    Published rule: a model has seen the task if it writes training examples of the task on request; the examples need
    not be real. Here one row in the table's form is enough. So the rule calls any model contaminated that follows
    instructions, since the prompt names the features. The result also reports how many written rows equal a row of the
    table, equal a row in all except one or two cells, have only the table's form, or have another form (an unknown
    label, a word instead of a number). The authors read the answers themselves.

    Needs: rows that their first cells identify (so no table that lists every combination of its values), or texts of
    eight words or more; and a model that generates text, in chat or completion form.

    Cannot show: anything, if a model declines, writes only the beginning of the file, or writes rows with a wrong cell
    that is hard to predict. So a model that is not detected need not be clean. A model that has not read the table can
    write rows of public facts, such as facts about famous people. So a verdict of contaminated needs evidence from a
    second column.

    Source: Li and Flanigan 2024, "Task Contamination: Language Models May Not Be Few-Shot Anymore", sections 2 and 6,
    Table 4 and appendix H.

    Example: `Dataset: Iris ... 20 training examples whose target is setosa` is answered by `5.1,3.5,1.4,0.2,setosa` and
    so on: if only one row of the table has both 5.1 and 1.4, then 3.5 and 0.2 count.
    """

    id: ClassVar[str] = "task_examples"
    follows = "list_instances"
    published = PublishedRule("answers hold training examples in the table's form, real or not", source=LI)
    answering: ClassVar[AnswerKind] = TaskExampleAnswers()
    shows_rows: ClassVar[bool] = False  # the format is fixed
    on_request: ClassVar[bool] = True
    own_marks: ClassVar[frozenset[str]] = OWN_MARKS
    whole: ClassVar[str] = "rows that begin like a written one continue like it in every counted cell"

    def planned(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Return the queries of a result. Each carries the rows with which a model that remembers rows answers."""
        queries = Test.planned(self, table, serializer, rng)
        if self.too_small(len(table.row_set)):
            queries = [replace(query, chance={}) for query in queries]
        examples = (_known_examples(table, label, rng) for _, label in _wanted(table))
        return [replace(query, answering=known) for query, known in zip(queries, examples, strict=True)]

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Return the queries, the same for each seed; the first carries the table. Raises `Skip` without any."""
        check_comparable(table)
        if table.text is not None:
            return self._queries(table, (TEXT,), TEXT_LIST_TOKENS)
        if table.enumerates_domain:
            raise Skip("the table lists every combination of its values: every row that a model writes is one of them")
        if len(table.rows) < 3 or len(table.columns) < 2:
            raise Skip("too few rows or features to identify a written row")
        room = min(
            MOST_EXAMPLES_TOKENS,
            ASKED_EXAMPLES * answer_tokens(table, csv_serializer(), table.columns, LEAST_EXAMPLE_TOKENS),
        )
        first, *others = self._queries(table, table.columns, room)
        return [replace(first, chance=_probed(table)), *others]

    def _queries(self, table: Table, asked: tuple[str, ...], room: int) -> list[Query]:
        written = [partial(_prompt, table, what) for what, _ in _wanted(table)]
        first, *others = [Query(f"{self.id}-{at}", write, asked, (), room, at == 0) for at, write in enumerate(written)]
        return [replace(first, not_expected=(packed(table),)), *others]

    def complete(self, query: Query, text: str, serializer: Serializer) -> bool:
        return bool(listed_passages(text, cut=True) if of_texts(query) else listed_rows(text, query.asked, cut=True))

    def read(self, query: Query, reply: Reply, serializer: Serializer) -> Reading:
        if of_texts(query):
            return read_texts(query, reply)
        rows = listed_rows(reply.text, query.asked, reply.state is ReplyState.TRUNCATED) if reply.state in READ else []
        if not rows or (len(rows) < 2 and declines(reply.text)):
            return Reading(None, hit=None, paper_hit=False, readable=False)
        parsed = {cell_name(name, number): cell for number, row in enumerate(rows) for name, cell in row.items()}
        whole = any(len(row) == len(query.asked) for row in rows)
        return Reading(parsed, hit=None, paper_hit=query.paper and whole, readable=True)

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        if any(of_texts(trial.query) for trial in trials):
            return recited(trials)
        found = written_rows(trials)
        rows = [] if found is None else trials_by_row(found)
        evidence = super().weigh(rows, level)
        counts = "there is no table to compare with" if found is None else found.in_words
        sentence = (
            f"{counts}; {evidence.hits} of {evidence.asked} that begin like a single row continue like it in every "
            f"counted cell; recalled bits {evidence.measured.value:.0f}, "
            f"{format_small_number(evidence.measured.expected or 0.0)} expected by chance"
        )
        right = {trial.query.row for trial in rows if trial.reading and trial.reading.hit}
        holding = sum(not right.isdisjoint(identified_rows(trial, found.table)) for trial in trials) if found else 0
        return replace(
            evidence,
            null=NULL,
            sentence=f"{sentence} ({describe_p_value(1.0 if evidence.p_value is None else evidence.p_value)})",
            hits=holding,
            asked=len(trials),
            answered=sum(trial.readable for trial in trials),
            expected_hits=None,
            interval=None,
            interval_of=None,
            detectable_share=None,
        )

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        if queries and of_texts(queries[0]):
            return hardly_recited(queries[0], ASKED_TEXTS, level)
        chance = {name: prediction for query in queries for name, prediction in query.chance.items()}
        rows = [[chance[name] for name in names] for names in group_by_row(list(chance))]
        if not rows:
            return "no row is identified by its first cells, so that no continuation of a written row could be checked"
        return low_power(rows, level)


def _wanted(table: Table) -> list[tuple[str, str]]:
    """Return for each query what it asks for, in words, and the label that it names."""
    what = f"{ASKED_EXAMPLES if table.text is None else ASKED_TEXTS} training examples of this dataset"
    found = [(what, ""), (f"{what}, from anywhere in the file but its beginning", "")]
    labels = _labels(table)
    if 1 < len(labels) <= MOST_ASKED_LABELS:
        found += [(f"{what} whose {table.target} is {label}", label) for label in labels]
    return found


def _labels(table: Table) -> tuple[str, ...]:
    """Return the values of the target if each is an answer to the table's question, else ()."""
    if table.target is None or table.question is None or table.question.threshold is not None:
        return ()
    return tuple(sorted(str(value) for value in table.distinct(table.target)))


def _prompt(table: Table, what: str) -> Prompt:
    """Return the prompt that names the dataset, its features and labels, and asks for the examples `what`."""
    (name, header), labels = dataset_in_prompt(table), _labels(table)
    task = f"\nThe task is to predict {table.target}, which is one of: {', '.join(labels)}" if labels else ""
    wanted = what.removesuffix(" of this dataset")
    if table.text is not None:
        question = f"Write down the texts of {what}, word for word as they stand in it, each on a line of its own."
        return ask(f"Dataset: {name}{task}", question, f"{name}, {wanted}:\n", stop=())
    question = (
        f"Write down {what}, exactly as they stand in it, each on a line of its own: as a line of a CSV file without "
        "header. Write the lines alone."
    )
    about = f"Dataset: {name}\nIts columns: {header}{task}"
    return ask(about, question, f"{name}, {wanted}:\n\n{header}\n", stop=())


def _known_examples(table: Table, label: str, rng: Random) -> TaskExampleAnswers:
    """Return random rows of the table as an answer; if there is a label, they have it."""
    rows = not_known(table, range(len(table.rows)))
    if label and table.target:
        column = table.column(table.target)
        rows = [row for row in rows if column[row] == label]
    rows = rng.sample(rows, min(ASKED_EXAMPLES if table.text is None else ASKED_TEXTS, len(rows)))
    own = [table.rows[row] if table.text is None else (text_of(table, row),) for row in rows]
    return TaskExampleAnswers(tuple(rows), tuple(chain.from_iterable(own)))


def _probed(table: Table) -> dict[str, CellPrediction]:
    """Return the predictions of the counted cells of random rows; the keys are the cells' names."""
    rows = pool(table, sorted(may_count(table)), PROBED_ROWS)
    found = predictions_of(table, rows) if rows else {}
    return {cell_name(name, row): found[row].cells[name] for row in rows for name in counted_of(table, row)}
