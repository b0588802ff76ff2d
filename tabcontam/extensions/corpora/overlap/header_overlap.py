"""Header overlap: a search in documents for the dataset's header, its names and its question."""

from dataclasses import dataclass
from random import Random
from typing import ClassVar

from tabcontam.errors import Skip
from tabcontam.evidence.base import EvidenceKind, Family, Lookup, LookupMode, Matches, Query
from tabcontam.extensions.corpora.overlap.document_score import DocumentScore, word_lookup
from tabcontam.extensions.corpora.overlap.searched_rows import can_be_found
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table

NAMES = "names"  # part of the id of the query about the dataset's names


@dataclass(frozen=True)
class HeaderOverlap(DocumentScore):
    """Documents are searched for the names of the table's columns, the names of the dataset, and its question.

    Measures: whether documents describe the dataset. The score is about knowledge, not about rows: a page about the
    dataset contains all of the searched items. So the score gives no verdict about rows.

    Queries: at most four. The first searches for a place with all names of columns close together in any order. The
    second searches for the header line in the file's order. The third searches for each name of the dataset, the fourth
    for its card's question about a row.

    Null: none. Nothing is compared. The result's sentence reports how many documents contain each searched item, and
    quotes a place. If the dataset has several names, the sentence counts each name. The score is the share of the
    searched items that at least one document contains.

    Published rule: none.

    Needs: documents that can be searched. If the first line of a file is no header, the names of columns are not
    searched for.

    Cannot show: that rows were seen, or that a document is about the dataset. Many unrelated documents contain a short
    name (`Adult`, `Bank`), or short names of columns (`age`, `sex`) close together. The test cannot show that no
    document contains the names of columns, either: in records (JSON lines, Parquet), only values are read, not the
    fields' names.

    Source: the project's own. The knowledge tests of Ronval et al. 2024, section 3.1, ask a model for these items.

    Example: `sepal length (cm),sepal width (cm),petal length (cm),petal width (cm),target` and `Iris`.
    """

    id: ClassVar[str] = "header_overlap"
    follows = "ngram_overlap"
    family: ClassVar[Family] = Family.KNOWLEDGE
    kind: ClassVar[EvidenceKind] = EvidenceKind.KNOWLEDGE
    counted: ClassVar[str] = "the header, the names and the question"

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Return the queries, the same for every seed. Raises `Skip` if none of the dataset's names has a word."""
        found = []
        columns = tuple(filter(can_be_found, table.columns)) if table.read.header else ()
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
        """Return how many documents contain each name if there are several: a short name may mean something else."""
        if query.id != f"{self.id}-{NAMES}" or len(query.expected) < 2 or len(matches.counts) != len(query.expected):
            return ""
        held = ((name, count) for name, count in zip(query.expected, matches.counts, strict=True) if count)
        return " [" + ", ".join(f"{name}: {count:,}" for name, count in held) + "]"
