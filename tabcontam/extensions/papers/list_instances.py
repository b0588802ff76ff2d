"""The test that asks a model for the first instances of a dataset, given only its name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import ClassVar

from tabcontam.baseline.thresholds import LAGS
from tabcontam.errors import Skip
from tabcontam.evidence.answering import AnswerKind
from tabcontam.evidence.base import READ, Evidence, Prompt, PublishedRule, Query, Reading, Reply, ReplyState, Trial
from tabcontam.evidence.mixins import FeatureTest, ResampledTest
from tabcontam.evidence.number_wording import explain_out_of_reach
from tabcontam.evidence.prompts import ask
from tabcontam.evidence.rows.answer_cells import values_bare
from tabcontam.evidence.rows.answer_length import answer_tokens
from tabcontam.evidence.rows.answered_rows import CellReference
from tabcontam.evidence.rows.bits_by_column import entity_names
from tabcontam.evidence.rows.hidden_cells import without_missing
from tabcontam.evidence.rows.row_test import CellTest, low_power
from tabcontam.extensions.papers.answers_of_several_rows import (
    SeveralRowsAnswers,
    cell_name,
    cells_of,
    chances_of,
    column_of,
    columns_of,
    group_by_row,
    predict_whole_rows,
    read_rows,
)
from tabcontam.extensions.papers.guided.guided_completion import evidence_of_runs, partial_conjunction, with_more
from tabcontam.extensions.papers.guided.word_runs import WordRun, longest, phrases, words
from tabcontam.extensions.papers.memcheck.csv_row_tests import (
    NUMBERED,
    agrees,
    csv_serializer,
    dataset_in_prompt,
    without_counts,
)
from tabcontam.extensions.papers.task.recited_passages import text_of
from tabcontam.extensions.papers.thresholds import (
    LEAST_NEAR_CELL_SHARE,
    LEAST_NEAR_WORDS,
    LISTED_INSTANCES,
    MOST_PHRASE_TEXTS,
    PHRASE_WORDS,
)
from tabcontam.reading.answer_readers import possible_cells
from tabcontam.reading.answer_text import declines, plain, same_value, unlabelled
from tabcontam.reading.value_forms import FeatureValues
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.row_draws import pool
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table

EDGES = "|\"'` \t"
TEXT_NULL = "the longest runs of words are as long as those of a fluent writer that has not seen the texts"


@dataclass(frozen=True)
class InstanceListAnswers(SeveralRowsAnswers):
    """Answers with rows of a file, one a line."""

    def text(self, query: Query, values: Sequence[Cell], prompt: Prompt | None = None) -> str:
        return "\n".join(map(str, values)) if _of_words(query) else super().text(query, values, prompt)


@dataclass(frozen=True)
class ListInstances(ResampledTest, CellReference, FeatureTest, CellTest):
    """Given only the dataset's name and split, the model must write down its first ten instances.

    Measures: whether the model knows the beginning of the dataset by its name. This row test can show that rows were
    seen.

    Queries: one query, which shows no row. The query names the dataset, its split if there is one, and the features in
    their order. It asks for the first ten rows as lines of a CSV file, or for the first ten texts, one a line. The
    lines of the answer are compared with the rows of the table in order: the first line with the first row.

    Null: for rows, the model's answers are kept, and the cells of the fifth to the tenth row are drawn again from the
    baseline's prediction, given all rows before them. The model does not see these rows. In each row only eight
    features count: those that the baseline predicts worst. The first four rows do not count, since too few rows are
    before them. For texts, the longest runs of words in common with the true texts count, as in `guided_completion`; at
    least two texts have to be recited. Contaminated: the right cells or words are worth more bits than the null model
    explains.

    Published rule: the strict reading. The table is contaminated if the answer contains one exact instance of the
    dataset, at any place. A model that writes instances that are nearly right, or only in the right format, is
    suspicious. Any other model is clean. A lenient reading counts a suspicious model as contaminated; the result
    reports both readings. The format shows nothing, since the prompt lists the features. Golchin and Surdeanu call the
    lenient reading unrealistic.

    Needs: a table of more than four rows, in the file's order, that does not list every combination of its values; a
    model that generates text, in chat or completion form.

    Cannot show: that more than the first rows were seen, since many pages print the first rows of a known dataset. If
    the model declines to recite, the result is no answer, and never clean.

    Source: Sainz et al. 2023, "Did ChatGPT Cheat on Your Test?", and the LM contamination index; the strict and the
    lenient reading are those of Golchin and Surdeanu 2024, who compare this test with their own method.

    Example: `The first 10 rows of Iris:` is continued with `5.1,3.5,1.4,0.2,setosa` and so on.
    """

    id: ClassVar[str] = "list_instances"
    follows = "quiz_completion_obfuscated"
    published = PublishedRule("answers hold an instance that is exactly the dataset's", source="sainz2023")
    answering: ClassVar[AnswerKind] = InstanceListAnswers()
    shows_rows: ClassVar[bool] = False  # the format is fixed
    on_request: ClassVar[bool] = True
    whole: ClassVar[str] = "lists of instances are right in every counted cell"
    max_tokens: ClassVar[int] = 512

    def lies_in(self, table: Table, query: Query) -> dict[str, str]:
        return columns_of(query, entity_names(table, table.columns) if table.text is None else {})

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Return one query, the same for every seed. Raises `Skip` if rows follow from each other, or are too few."""
        if table.text is not None:
            return [self._of_texts(table, table.text.texts[-1])]
        if table.enumerates_domain:
            raise Skip("the table lists every combination of its values in order: its first rows need no memory")
        if len(table.rows) <= LAGS:
            raise Skip(f"too few rows: {LAGS + 1} are needed")
        rows = range(min(LISTED_INSTANCES, len(table.rows)))
        asked = tuple(cell_name(name, row) for row in rows for name in table.columns)
        cells = tuple(cell for row in rows for cell in table.rows[row])
        room = len(rows) * answer_tokens(table, csv_serializer(), table.columns, 64)
        write, chance = partial(_listed, table, len(rows)), chances_of(table, predict_whole_rows(table, rows))
        query = Query(f"{self.id}-0", write, asked, cells, max(self.max_tokens, room), chance=chance)
        return [without_missing(query, table)]

    def _of_texts(self, table: Table, name: str) -> Query:
        """Return the query for texts. The cells of several text columns make one text, named after the last column."""
        rows = range(min(LISTED_INSTANCES, len(table.rows)))
        texts = [text_of(table, row) for row in rows]
        asked = tuple(cell_name(name, row) for row in rows)
        room = max(self.max_tokens, sum(2 * len(words(text)) + 8 for text in texts))
        left_out = cached_fact(table, "phrases of first texts", lambda: _elsewhere(table, texts))
        write = partial(_listed, table, len(rows))
        return Query(f"{self.id}-0", write, asked, tuple(texts), room, not_expected=left_out)

    def read(self, query: Query, reply: Reply, serializer: Serializer) -> Reading:
        """Return the instances that the answer lists, in order; a hit for the paper if one is an exact instance."""
        if reply.state not in READ or declines(reply.text):
            return Reading(None, hit=False, paper_hit=False, readable=False)
        lines = _lines(reply.text, cut=reply.state is ReplyState.TRUNCATED)
        answered = _as_texts(query, lines) if _of_words(query) else _as_rows(query, lines)
        exact = bool(_exact(query, answered))
        return read_rows(query, answered, exact, _same_words if _of_words(query) else same_value)

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        texts = any(_of_words(trial.query) for trial in trials)
        evidence = _recited(trials) if texts else replace(super().weigh(trials, level), detectable_share=None)
        read = (trial for trial in trials if trial.readable and trial.query.paper)
        return with_more(evidence, "; ".join(dict.fromkeys(map(_published, read))))

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        texts = [query for query in queries if _of_words(query)]
        if not texts:
            every = [(query.chance, own) for query in queries[:1] for own in group_by_row(query.asked)]
            rows = [[chance[name] for name in own if name in chance] for chance, own in every]
            return low_power(list(filter(None, rows)), level)
        best = partial_conjunction(_runs(texts[0], dict(zip(texts[0].asked, texts[0].expected, strict=True))))
        what, whole = "words of their own in the first texts", "all were recited"
        return explain_out_of_reach(what, whole, best, level)


def _recited(trials: Sequence[Trial]) -> Evidence:
    runs = _best(trials)
    right = {name for trial in trials if trial.reading for name in trial.reading.right}
    gained = f"{len(right)} of {len(runs)} texts are right word for word, the longest run"
    hits = int(any(trial.reading and trial.reading.hit for trial in trials))
    evidence = evidence_of_runs(TEXT_NULL, gained, runs, partial_conjunction(runs), hits, trials)
    return replace(evidence, asked=1, answered=int(evidence.answered > 0))


def _of_words(query: Query) -> bool:
    """Return whether the query asks for texts: each instance has a single value."""
    return len(group_by_row(query.asked)[0]) == 1


def _listed(table: Table, count: int) -> Prompt:
    name, header = dataset_in_prompt(table)
    if table.text is not None:
        about = f"Dataset: {name}"
        question = f"Write down the first {count} texts of this dataset, in their order and word for word, a line each."
        return ask(about, question, f"{about}\nThe first {count} texts:\n", stop=())
    wanted = f"the first {count} rows"
    question = f"Write down {wanted} of this dataset, in their order, as lines of a CSV file without header."
    return ask(f"Dataset: {name}\nIts columns: {header}", question, f"{name}, {wanted}:\n\n{header}\n", stop=())


def _lines(text: str, cut: bool) -> list[str]:
    """Return the lines of an answer that may be instances, without the last line of a cut answer."""
    lines = [NUMBERED.sub("", unlabelled(line)).strip() for line in plain(text).splitlines()]
    lines = [line for line in lines if line.strip(EDGES + "-:")]
    return lines[:-1] if cut else lines


def _as_rows(query: Query, lines: Sequence[str]) -> dict[str, Cell]:
    """Return the cells, row by row, of the lines with as many cells as there are features; a header is left out."""
    rows = group_by_row(query.asked)
    width, names = len(rows[0]), list(map(column_of, rows[0]))
    cuts = [cells for line in lines if (cells := _cells(line, width)) is not None and cells != names]
    if not cuts:  # there may be a number before each row
        wider = [cells for line in lines if (cells := _cells(line, width + 1)) is not None]
        cuts = list(without_counts(wider, width))
    found = {name: cell for own, cells in zip(rows, cuts, strict=False) for name, cell in zip(own, cells, strict=True)}
    like = dict(zip(query.asked, query.expected, strict=True))
    sorts = {name: FeatureValues((), partial(tuple, () if text is None else (text,))) for name, text in like.items()}
    return possible_cells(values_bare(found, sorts), sorts, lambda cell: False)


def _same_words(text: Cell, other: Cell) -> bool:
    return words(text or "") == words(other or "")


def _cells(line: str, width: int) -> list[Cell] | None:
    """Return the cells of a line split at commas, bars, tabs or semicolons; None if there are not `width` of them."""
    forms = list(csv_serializer().cuts(line))
    forms += [[cell.strip() or None for cell in line.strip("| ").split(sign)] for sign in "|\t;"]
    return next((cells for cells in forms if len(cells) == width), None)


def _as_texts(query: Query, lines: Sequence[str]) -> dict[str, Cell]:
    long = [line.strip(EDGES) for line in lines if len(words(line)) > 1]
    if len(long) > len(query.asked) and long[0].endswith(":"):
        long = long[1:]
    return dict(zip(query.asked, long, strict=False))


def _elsewhere(table: Table, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the phrases of the first texts that other texts of the table contain, too: they do not show memory."""
    own = [set(phrases(words(text), PHRASE_WORDS)) for text in texts]
    every = set().union(*own)
    shared = {phrase for phrase in every if sum(phrase in one for one in own) > 1}
    for row in pool(table, range(len(texts), len(table.rows)), MOST_PHRASE_TEXTS):
        shared.update(every & set(phrases(words(text_of(table, row)), PHRASE_WORDS)))
    return tuple(sorted(" ".join(phrase) for phrase in shared))


def _runs(query: Query, answer: Mapping[str, Cell]) -> list[WordRun]:
    """Return for each instance the longest run of words in the line that is compared with it."""
    truth = zip(query.asked, query.expected, strict=True)
    return [longest(text or "", answer.get(name) or "", query.not_expected) for name, text in truth]


def _best(trials: Sequence[Trial]) -> list[WordRun]:
    """Return the best run of each instance in all answers. Each different answer increases the number of places."""
    every = {tuple(cells_of(trial).items()): _runs(trial.query, cells_of(trial)) for trial in trials}
    best = [max(own, key=lambda one: one.bits) for own in zip(*every.values(), strict=True)]
    return [replace(one, length=one.length * len(every)) for one in best]


def _exact(query: Query, answer: Mapping[str, Cell]) -> list[int]:
    """Return the places of the instances that are exact in the answer, in any line."""
    rows = group_by_row(query.asked)
    truth = dict(zip(query.asked, query.expected, strict=True))
    written = [[answer[name] for name in own] for own in rows if all(name in answer for name in own)]
    same = _same_words if _of_words(query) else agrees
    true = [[truth[name] for name in own] for own in rows]
    return [place for place, own in enumerate(true) if any(all(map(same, cells, own)) for cells in written)]


def _published(trial: Trial) -> str:
    """Return the strict and the lenient reading in words."""
    query, answer = trial.query, cells_of(trial)
    exact, rows = _exact(query, answer), group_by_row(query.asked)
    near = [place for place, own in enumerate(rows) if place not in exact and _nearly(trial, own)]
    format_only = sum(all(name in answer for name in own) for own in rows) - len(exact) - len(near)
    counted = f"{len(exact)} exact, {len(near)} near, {max(0, format_only)} in the format alone"
    if exact:
        return f"the published reading calls this contaminated ({counted})"
    return f"the published reading calls this suspicious ({counted}), and a lenient one contaminated"


def _nearly(trial: Trial, own: Sequence[str]) -> bool:
    """Return whether at least half of an instance's cells are right, or five consecutive words of a text."""
    if _of_words(trial.query):
        truth = dict(zip(trial.query.asked, trial.query.expected, strict=True))
        return len(longest(truth[own[0]] or "", cells_of(trial).get(own[0]) or "").text) >= LEAST_NEAR_WORDS
    right = trial.reading.right if trial.reading else ()
    return sum(name in right for name in own) >= LEAST_NEAR_CELL_SHARE * len(own)
