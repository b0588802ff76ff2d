"""Header overlap: a search in documents for the dataset's header, its names and its question."""

from dataclasses import dataclass
from random import Random
from typing import ClassVar

from tabcontam.errors import Skip
from tabcontam.evidence.base import EvidenceKind, Family, Lookup, LookupMode, Matches, Query
from tabcontam.evidence.corpus.document_score import DocumentScore, word_lookup
from tabcontam.evidence.corpus.searched_rows import can_be_found
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table

NAMES = "names"  # part of the id of the query for the dataset's names


@dataclass(frozen=True)
class HeaderOverlap(DocumentScore):
    """Documents are searched for the names of the table's columns, those of the dataset, and its question.

    Measures: whether documents describe the dataset. It is a score of knowledge, not of rows: a page about the dataset
    holds all of this, and no verdict about its rows comes from it.

    Queries: at most four. Documents are searched for a place where all names of columns stand close together in any
    order, for the header line in the file's order, for each name of the dataset, and for the question that its card
    asks of a row.

    Null: none. Nothing is compared. The sentence gives the number of documents that hold each item, and each of the
    names if the dataset has several, and quotes a place. The score is the share of these items that any document holds.

    Published rule: none.

    Needs: documents that can be searched. If the first line of a file is no header, the names of columns are not
    searched for.

    Cannot show: that rows were seen, nor that the dataset is meant: short names (`Adult`, `Bank`) stand in many
    documents that have nothing to do with it, and short names of columns (`age`, `sex`) close together in others. Nor
    that the names of columns are absent: of records (JSON lines, Parquet) only the values are read, and not the names
    of their fields.

    Source: ours. The content of a page about a dataset is what the knowledge tests of Ronval et al. 2024, section 3.1,
    ask a model for.

    Example: `sepal length (cm),sepal width (cm),petal length (cm),petal width (cm),target` and `Iris`.
    """

    id: ClassVar[str] = "header_overlap"
    family: ClassVar[Family] = Family.KNOWLEDGE
    kind: ClassVar[EvidenceKind] = EvidenceKind.KNOWLEDGE
    counted: ClassVar[str] = "the header, the names and the question"

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Return the queries, the same for every seed. Raises `Skip` if nothing of the dataset has a word."""
        found = []
        columns = tuple(filter(can_be_found, table.columns)) if table.header else ()
        if len(columns) > 1:
            together = Lookup(columns[:1], by=LookupMode.CELLS, context=columns[1:])
            found.append(self.query("columns", "all names of columns", together))
            found.append(self.query("header", "the header line", word_lookup(" ".join(columns))))
        names = [name for name in table.names if can_be_found(name)]
        if names:
            found.append(self.query(NAMES, "the dataset's names", word_lookup(*names)))
        if table.question and can_be_found(table.question.text):
            found.append(self.query("question", "its question", word_lookup(table.question.text)))
        if not found:
            raise Skip("the table has no header, no name and no question to search for")
        return found

    def each(self, query: Query, matches: Matches) -> str:
        """Return how many documents hold each name, if there are several: a short one may mean something else."""
        if query.id != f"{self.id}-{NAMES}" or len(query.expected) < 2 or len(matches.counts) != len(query.expected):
            return ""
        held = ((name, count) for name, count in zip(query.expected, matches.counts, strict=True) if count)
        return " [" + ", ".join(f"{name}: {count:,}" for name, count in held) + "]"
