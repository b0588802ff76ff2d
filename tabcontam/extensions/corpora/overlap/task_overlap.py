"""Task overlap: a search in a corpus of instructions for examples of the table's task."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from tabcontam.errors import Skip
from tabcontam.evidence.base import EvidenceKind, Family, Lookup, LookupMode, Match, Matches, Query
from tabcontam.extensions.corpora.overlap.document_score import DocumentScore, in_number, word_lookup
from tabcontam.extensions.corpora.overlap.row_finds import place_of
from tabcontam.extensions.corpora.overlap.searched_rows import can_be_found
from tabcontam.extensions.corpora.thresholds import (
    LEAST_NAMED_FEATURES_SHARE,
    MOST_COUNTED_DOCUMENTS,
    MOST_LISTED_ANSWERS,
    MOST_SEARCHED_FEATURES,
)
from tabcontam.groups import grouped
from tabcontam.tables.dataset_cards import ClassificationQuestion
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table

QUESTION, ANSWERED = "question", "answered"
LINES, KEYS = "lines", "keys"  # the two templates of features: sentences, and keys of a JSON object
# Texts before an answer: headings of prompts, and the names of speakers in records of chats.
ANSWERS = ("", "Answer", "The answer is", "A", "Response", "Output", "Label", "assistant", "gpt", "model")


@dataclass(frozen=True)
class TaskOverlap(DocumentScore):
    """Documents are searched for examples of the table's task: its question, its answers, its rows as in prompts.

    Measures: how many documents of a corpus of instructions look like examples of the classification task. A score
    without a verdict: a person has to look at the places.

    Queries: one for each of five templates. The first is the question in the dataset's card. The second is the question
    and one of its answers, but not a list of all answers. The answer follows the question directly, or after `Answer`,
    `The answer is`, `A`, `Response`, `Output`, `Label` or the speaker's name in a chat (`assistant`, `gpt`, `model`).
    The third is the list of all answers, unless the answers are Yes and No. The fourth is `The <feature> is` for at
    most ten features of the table, as TabLLM writes rows. The fifth is these features as keys of a JSON object. For the
    fourth and the fifth template, a document counts if it has at least half of these features.

    Null: none. The result's sentence first reports how many documents contain both the question and the features of a
    row. Then the sentence reports the number of documents for each template, and quotes a place for each template. At
    most 200 documents a template are counted, and the sentence notes if there are more documents. The score is the
    share of templates that are found.

    Published rule: not applied. In the source, a pattern finds texts, and a person counts the found texts that are
    examples of the task. The source names no number of examples that means contaminated. The source's patterns are
    single words that name tasks of texts (entailment, paraphrase); a table's question has no such word.

    Needs: documents that can be searched; a classification question.

    Cannot show: that there are no examples. The test does not find a question in other words. It does not find an
    answer far from its question, for example after the row; such a document counts as a document with the question and
    features of a row. The test cannot show that a document contains rows of the table; `row_overlap` can.

    Source: Li and Flanigan 2024, "Task Contamination", section 5 (training data inspection), Table 3 and appendix D.
    The templates of rows are those of Hegselmann et al. 2023 (TabLLM).

    Example: `The age is 39. The workclass is State-gov. … Does this person earn more than 50K dollars a year? Yes`
    """

    id: ClassVar[str] = "task_overlap"
    follows = "header_overlap"
    family: ClassVar[Family] = Family.CORPUS
    kind: ClassVar[EvidenceKind] = EvidenceKind.CORPUS
    own_marks: ClassVar[frozenset[str]] = frozenset({"task", "li2024"})
    counted: ClassVar[str] = "the task's templates"

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Return a query for each template, the same for every seed. Raises `Skip` if there is no question."""
        if table.question is None:
            raise Skip("the table has no classification question, and so no examples of its task")
        return [self.query(*template) for template in _templates(table, table.question)]

    def count_documents(self, query: Query, matches: Matches) -> int:
        """Return how many documents count; for an answer and for features, only documents with an example count."""
        return len(_holding(query, matches)) if _by_places(query) else matches.documents

    def places(self, query: Query, matches: Matches) -> Sequence[Match]:
        """Return the places in documents that count."""
        return [match for own in _holding(query, matches).values() for match in own]

    def partly(self, query: Query, matches: Matches) -> bool:
        """Return whether more documents may count: some were not counted, or some places were not reported."""
        return matches.more or (_by_places(query) and len(matches.places) < sum(matches.counts))

    def together(self, searches: Sequence[tuple[Query, Matches]]) -> list[str]:
        """Return in words how many documents contain the question and a row's features; a person reads them first."""
        by_name = {query.id.rpartition("-")[2]: (query, reply) for query, reply in searches}
        if QUESTION not in by_name or not {LINES, KEYS} & set(by_name):
            return []
        own = _holding(*by_name[QUESTION])
        rows = {source for name in (LINES, KEYS) if name in by_name for source in _holding(*by_name[name])}
        least = any(self.partly(*by_name[name]) for name in (QUESTION, LINES, KEYS) if name in by_name)
        examples = [source for source in own if source in rows]
        where = f" ({place_of(own[examples[0]][0])})" if examples else ""
        return [f"the question and features of a row: {in_number(len(examples), least)}{where}"]


def _by_places(query: Query) -> bool:
    return query.id.rpartition("-")[2] in (ANSWERED, LINES, KEYS)


def _holding(query: Query, found: Matches) -> dict[str, list[Match]]:
    """Return the documents with an example by this template, each with its places."""
    kind = query.id.rpartition("-")[2]
    places = [match for match in found.places if kind != ANSWERED or not _begins_a_choice(match, query.asked[1:])]
    by_document = grouped(places, lambda match: match.source)
    enough = max(2, LEAST_NAMED_FEATURES_SHARE * len(query.expected)) if kind in (LINES, KEYS) else 1
    return {source: own for source, own in by_document.items() if len({match.text for match in own}) >= enough}


def _begins_a_choice(match: Match, answers: Sequence[str]) -> bool:
    """Return whether a list of all answers follows the question, and not one answer: `Yes or No?`."""
    others = "|".join(map(re.escape, answers))
    return bool(others) and re.match(rf"\W*(?:or\W+|and\W+)?(?:{others})\b", match.quote[match.end :], re.I) is not None


def _templates(table: Table, question: ClassificationQuestion) -> Iterator[tuple[str, str, Lookup, *tuple[str, ...]]]:
    """Yield each template: its id, its name in words, the lookup and, for the question with an answer, the answers."""
    answers = list(dict.fromkeys(question.answers.values()))
    in_a_row = (", ".join(answers), f"{', '.join(answers[:-1])} or {answers[-1]}")
    yield QUESTION, "the question", word_lookup(question.text, most=MOST_COUNTED_DOCUMENTS)
    choices = ("", *in_a_row) if len(answers) <= MOST_LISTED_ANSWERS else ("",)
    followed = [f"{question.text} {of} {by} {answer}" for of in choices for by in ANSWERS for answer in answers]
    yield ANSWERED, "the question with an answer", word_lookup(*followed, most=2 * MOST_COUNTED_DOCUMENTS), *answers
    if not {answer.casefold() for answer in answers} <= {"yes", "no"}:
        yield "answers", "the answers in a row", word_lookup(*in_a_row)
    features = [name for name in table.columns if name != table.target and can_be_found(name)][:MOST_SEARCHED_FEATURES]
    if len(features) > 1:
        most = MOST_COUNTED_DOCUMENTS * len(features)
        yield LINES, "lines of features", word_lookup(*(f"The {name} is" for name in features), most=most)
        keys = tuple(dict.fromkeys(f'"{name}":' for name in features))
        yield KEYS, "features as keys of JSON", Lookup(keys, most, LookupMode.LETTERS)
