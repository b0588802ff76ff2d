"""The exact generation test, Li and Flanigan's membership inference: the model must write the output of an input."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from statistics import median
from typing import ClassVar

from tabcontam.errors import Skip
from tabcontam.evidence.base import GENERATED, Evidence, Prompt, PublishedRule, Query, Reading, Reply, Test, Trial
from tabcontam.evidence.number_wording import explain_out_of_reach
from tabcontam.evidence.prompts import ask
from tabcontam.extensions.papers.guided.cut_instances import elsewhere
from tabcontam.extensions.papers.guided.guided_completion import (
    arms_in_words,
    evidence_of_pieces,
    gained_by_names,
    partial_conjunction,
    with_more,
)
from tabcontam.extensions.papers.guided.guided_test import (
    GENERAL,
    SECOND,
    WRONG_NAME,
    GuidedAnswers,
    GuidedTest,
    other_places,
    run_of,
    whole_run,
    with_arms,
)
from tabcontam.extensions.papers.guided.guided_wording import OTHERS, InstanceOrigin
from tabcontam.extensions.papers.guided.word_runs import common, words
from tabcontam.extensions.papers.task.task_examples import LI, OWN_MARKS
from tabcontam.extensions.papers.thresholds import (
    FURTHER_OUTPUTS,
    LEAST_DISTINCT_OUTPUTS,
    LEAST_OUTPUT_WORDS,
    LEAST_SECOND_PIECE_WORDS,
    LUCKY_RUN_BITS,
    MOST_OUTPUT_ROWS,
    PUBLISHED_OUTPUTS,
    SECOND_PIECE_TOKENS,
)
from tabcontam.statistics.permutation_tests import sign_flipped
from tabcontam.tables.cached_facts import table_fact
from tabcontam.tables.known_rows import not_known
from tabcontam.tables.row_draws import by_content
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table
from tabcontam.tables.text_tasks import TextForm, TextTask

ENDS = {TextForm.SUMMARY: "the summary", TextForm.SENTENCE: "the summary", TextForm.PAIR: "the text"}
FREE = "free"  # in the id of a query whose output does not follow from its input
NAME = "output:"
NULL = (
    "the longest runs of words are as long if the prompt names another dataset or none; those of summaries are also "
    "as long as those of a fluent writer"
)


@dataclass(frozen=True)
class OutputAnswers(GuidedAnswers):
    """Answers with the output of an input. A model without memory gives another input's output."""

    def piece(self, table: Table, query: Query, row: int) -> str:
        return " ".join((table.column(output_of(table).column)[row] or "").split())


@dataclass(frozen=True)
class ExactGeneration(GuidedTest):
    """Given an instance's input and the name of its dataset, the model must write the output word for word.

    Measures: whether the model knows outputs of a dataset that are free texts: summaries, queries, second sentences.
    This row test can show that rows were seen.

    Queries: twenty instances of any length, to which the published rule is applied, and twenty instances with outputs
    of twelve words or more. The prompt shows the whole input and names the dataset, its split and the output. The
    twenty instances with long outputs are asked twice more as decoys: with another dataset's name, and without a name.

    Null: an output may follow from its input, as a database query follows from a question, so that an exact output is
    no proof. The test counts the longest run of words that an answer has in common with the true output, as in
    `guided_completion`. Words in phrases of other rows, and two consecutive words of the input, do not count.
    Contaminated: runs are longer under the right name than under another name and under no name, by an exact
    permutation test of the signs of paired differences. This comparison counts only a run's bits above three. A text
    does not determine its summary. So a table of summaries is also contaminated if at least two summaries are recited
    better than fluent writing explains; the best summary does not count.

    Published rule: the model has read an instance if it generates the output exactly. The authors count such instances,
    and compare the count with the accuracy over models. (Their outputs are in a query language, and no prompt names
    tables.) Here white space, capitals and final punctuation are ignored. Models that have read nothing also generate
    short outputs, and outputs that follow from the input.

    Needs: a card of texts that are pairs or summaries, or a file whose target is a text (`--target query`) next to a
    column of texts; and a model that generates text, in chat or completion form.

    Cannot show: that an output was read, if the output follows from its input and the model writes it under any name.
    The test cannot show which paraphrases the model knows. The style of a name also makes runs longer, but hardly by
    three bits.

    Source: Li and Flanigan 2024, "Task Contamination: Language Models May Not Be Few-Shot Anymore", sections 2 and 8,
    figures 5 and 6.

    Example: `Input: How many singers do we have?` is answered by `SELECT count(*) FROM singer`.
    """

    id: ClassVar[str] = "exact_generation"
    follows = "task_examples"
    measure: ClassVar[str] = GENERATED
    published = PublishedRule("outputs are generated exactly", source=LI)
    answering: ClassVar[GuidedAnswers] = OutputAnswers()
    own_marks: ClassVar[frozenset[str]] = OWN_MARKS
    shows_rows: ClassVar[bool] = False  # inputs and outputs are not rows

    def planned(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        return Test.planned(self, table, serializer, rng)

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        return sorted(_instances(self.id, table, output_of(table), rng), key=lambda query: bool(query.decoy_of))

    def read(self, query: Query, reply: Reply, serializer: Serializer) -> Reading:
        """Return the output as it was written. It is right even if white space and capitals differ."""
        text = reply.text.lstrip()
        bare = text[len(NAME) :] if text.casefold().startswith(NAME) else text
        reading = super().read(query, replace(reply, text=bare), serializer)
        written = reading.parsed.get(SECOND) if isinstance(reading.parsed, Mapping) else None
        exact = reading.readable and _plain(written) == _plain(query.expected[0])
        return replace(reading, hit=exact, paper_hit=exact and query.paper, right=(SECOND,) if exact else ())

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        own = [trial for trial in trials if not trial.query.decoy_of]
        p_value = gained_by_names(trials)
        if own and all(f"-{FREE}-" in trial.query.id for trial in own):
            p_value = min(1.0, 2 * min(p_value, partial_conjunction(list(map(run_of, own)))))
        return with_more(evidence_of_pieces(NULL, "outputs are exact", own, p_value, "bits"), arms_in_words(trials))

    def uninformative(self, queries: Sequence[Query], level: float) -> str | None:
        paired = {query.decoy_of for query in queries if query.decoy_of}
        own = [query for query in queries if query.id in paired]
        best = sign_flipped([max(0.0, whole_run(query).bits - LUCKY_RUN_BITS) for query in own])
        what, whole = "words of their own in the outputs", "all were recited under their name alone"
        return explain_out_of_reach(what, whole, best, level)


@dataclass(frozen=True)
class TextOutput:
    """An output that is a text: its column, the columns of its input, and its name in prompts.

    `free` is true if the output does not follow from the input, as a summary does not.
    """

    column: str
    inputs: tuple[str, ...]
    words: str
    free: bool
    task: TextTask

    def of_row(self, table: Table, row: int) -> tuple[str, str] | None:
        """Return the input and the output of a row, or None if a cell is missing or one of them has no word."""
        cells = [table.rows[row][table.columns.index(name)] for name in (*self.inputs, self.column)]
        if any(table.is_missing(cell) for cell in cells):
            return None
        *given, output = (" ".join((cell or "").split()) for cell in cells)
        return ("\n".join(given), output) if words(" ".join(given)) and words(output) else None


def output_of(table: Table) -> TextOutput:
    """Return the output of a table. Raises `Skip` if no column is an output."""
    found = _find_output(table)
    if found is None:
        raise Skip("no column is a text that belongs to another: a pair, a summary, or a target that is a text")
    return found


@table_fact
def _find_output(table: Table) -> TextOutput | None:
    task = table.text
    if task is not None and task.form in ENDS:
        column = task.texts[-1]
        free = task.form is not TextForm.PAIR
        called = f"{ENDS[task.form]} ({column})"
        return TextOutput(column, task.texts[:-1], called, free, task) if len(task.texts) > 1 else None
    if table.target is None or not _is_text(table, table.target):
        return None
    inputs = tuple(name for name in table.columns if name != table.target and _is_text(table, name))
    made = TextTask(TextForm.CLASSIFICATION, (*inputs, table.target))
    return TextOutput(table.target, inputs, f"the text ({table.target})", False, made) if inputs else None


def _is_text(table: Table, name: str) -> bool:
    cells = table.column(name)[:MOST_OUTPUT_ROWS]
    usual = median([len(words(cell or "")) for cell in cells] or [0])
    return usual >= LEAST_OUTPUT_WORDS and len(set(cells)) >= LEAST_DISTINCT_OUTPUTS * len(cells)


def _plain(text: Cell) -> str:
    """Return a text without extra white space, capitals and final punctuation: equal outputs have equal texts."""
    return " ".join((text or "").split()).casefold().strip(" .;`\"'")


def _instances(name: str, table: Table, output: TextOutput, rng: Random) -> Iterator[Query]:
    """Yield the queries about the drawn instances, each followed by its arms. Raises `Skip` if there are none."""
    rows = not_known(table, by_content(table))
    rng.shuffle(rows)
    cells = {row: texts for row in rows if (texts := output.of_row(table, row)) is not None}
    papers, rest = list(cells)[:PUBLISHED_OUTPUTS], list(cells)[PUBLISHED_OUTPUTS:]
    longer = [row for row in rest if len(words(cells[row][1])) >= LEAST_SECOND_PIECE_WORDS][:FURTHER_OUTPUTS]
    drawn = [*papers, *longer]
    if not drawn:
        raise Skip("no row has both an input and an output of words")
    shown, seconds = [cells[row][0] for row in drawn], {row: cells[row][1] for row in drawn}
    known, rare = elsewhere(table, output.task, seconds, shown)
    place, others = InstanceOrigin(table.title, table.split), other_places(table, OTHERS[output.task.form])
    paired = set(longer) or set(papers)
    for number, row in enumerate(drawn):
        given, true = cells[row]
        write = partial(_prompt, output, given)
        query = Query(
            id=f"{name}-{FREE}-{number}" if output.free else f"{name}-{number}",
            write=partial(write, place),
            asked=(SECOND,),
            expected=(true,),
            max_tokens=SECOND_PIECE_TOKENS,
            paper=row in set(papers),
            rows=(row,),
            not_expected=common(true, given, known, rare),
        )
        other = others[rng.randrange(len(others))]
        arms = {GENERAL: partial(write, None), WRONG_NAME: partial(write, other)} if row in paired else {}
        for each in with_arms(query, arms):
            yield replace(each, paper=query.paper and not each.decoy_of)


def _prompt(output: TextOutput, given: str, place: InstanceOrigin | None) -> Prompt:
    """Return the instruction to write the output of an input; it names `place`, or no dataset if that is None."""
    if place is None:
        what = f"Write {output.words} that belongs to the input below."
        wanted = "Write it alone."
        of_base = f"Input: {given}\nOutput:"
    else:
        what = f"The input below is from {place.words}. Write {output.words} that belongs to it."
        wanted = "Write it exactly as it stands in the dataset, word for word, and write it alone."
        of_base = f"From {place.words}\nInput: {given}\nOutput:"
    return ask(f"{what} {wanted}", f"Input: {given}\nOutput:", of_base)
