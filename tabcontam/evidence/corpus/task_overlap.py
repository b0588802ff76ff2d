"""Task overlap: which examples of the table's task stand in a body of instructions?"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from tabcontam.errors import Skip
from tabcontam.evidence.base import By, Family, Kind, Lookup, Matches, Query
from tabcontam.evidence.corpus.dealt import can_be_found
from tabcontam.evidence.corpus.told import PLACES, Told, in_words
from tabcontam.groups import grouped
from tabcontam.tables.cards import Question
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table

SEVERAL = 0.5  # of the features, at least, that one document has to name in a template's words
LINES, KEYS = "lines", "keys"  # the templates of features: sentences, and the keys of a JSON object


@dataclass(frozen=True)
class TaskOverlap(Told):
    """Documents are searched for examples of the table's task: its question, its answers, rows in a prompt's words.

    Measures: how many documents of a body of instructions look like examples of the classification task. A score
    without a verdict: a person has to look at the places.

    Queries: one for each template. The question of the card; the question followed by one of its answers; the answers
    in a row, where they are more than Yes and No; `The <feature> is` of the table's features, as TabLLM writes rows;
    and the features as keys of a JSON object. Of the last two a document counts that has half of the features or more.

    Null: none. The sentence says how many documents each template is found in, and quotes a place; counts of the
    templates of features are of the places that are told, at most 200. The score is the share of templates that are
    found.

    Published rule: not applied. The source counts what a pattern finds and a person then takes for an example of the
    task; it states no number from which on an LLM is contaminated. Its patterns are single words of the tasks of texts
    (entailment, paraphrase); a table's question is in words of its own.

    Needs: documents that can be searched; a classification question.

    Cannot show: that there are no examples: a question in other words is not found. Nor that rows of the table
    are among what is found, which is `row_overlap`'s.

    Source: Li and Flanigan 2024, "Task Contamination", section 5 (training data inspection), Table 3 and appendix D.
    The templates of rows are those of Hegselmann et al. 2023 (TabLLM).

    Example: `The age is 39. The workclass is State-gov. … Does this person earn more than 50K dollars a year? Yes`
    """

    id: ClassVar[str] = "task_overlap"
    family: ClassVar[Family] = Family.CORPUS
    kind: ClassVar[Kind] = Kind.DOCUMENTS
    own_marks: ClassVar[frozenset[str]] = frozenset({"task", "li2024"})
    counted: ClassVar[str] = "the task's templates"

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """A query for each template, the same for every seed. Raises `Skip` where there is no question."""
        if table.question is None:
            raise Skip("no classification question, so that there are no examples of its task")
        return [self.query(*template) for template in _templates(table, table.question)]

    def documents(self, query: Query, found: Matches) -> int:
        """How many documents; of a template of features those alone that have enough of them."""
        if not query.id.endswith((f"-{LINES}", f"-{KEYS}")):
            return found.documents
        features = grouped(found.found, lambda match: match.source).values()
        enough = max(2, SEVERAL * len(query.expected))
        return sum(len({match.text for match in places}) >= enough for places in features)


def _templates(table: Table, question: Question) -> Iterator[tuple[str, str, Lookup]]:
    """The templates' names, in a word and in words, and what is looked for."""
    answers = list(dict.fromkeys(question.answers.values()))
    yield "question", "the question", in_words(question.text)
    followed = [f"{question.text} {between}{answer}" for between in ("", "Answer: ") for answer in answers]
    yield "answered", "the question with an answer", in_words(*followed)
    if not {answer.casefold() for answer in answers} <= {"yes", "no"}:
        in_a_row = (", ".join(answers), f"{', '.join(answers[:-1])} or {answers[-1]}")
        yield "answers", "the answers in a row", in_words(*in_a_row)
    features = [name for name in table.columns if name != table.target and can_be_found(name)]
    if len(features) > 1:
        lines = in_words(*(f"The {name} is" for name in features), most=PLACES)
        yield LINES, "lines of features", lines
        keys = tuple(dict.fromkeys(f'"{name}":' for name in features))
        yield KEYS, "features as keys of JSON", Lookup(keys, PLACES, By.LETTERS)
