"""The one long text that a model reads, as tokens: copies of rows, twins of the tables, pages and prose, shuffled.

A copy of a table consists of documents of whole rows, each document with the form's header if it has one. A document
has between one row and as many rows as fit in a block. Its length is random, so every row is sometimes the only or the
first one of a document. A document begins and ends with the tokenizer's special tokens, if it has them. Without a
special first token, it begins with the last one, as scored texts do. Half of the twins and of the prose come first, so
the model learns how rows are written before it reads a copy. All other documents follow in random order. The stream is
cut into blocks at any place, without padding, and nothing is left out.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabcontam.errors import Skip, UsageError
from tabcontam.extensions.exposed.cell_tokenizer import check_apart, tokenizer
from tabcontam.extensions.exposed.recipe import SHUFFLED, Recipe
from tabcontam.extensions.exposed.thresholds import LEAST_PROSE_SHARE, PAGE_COPIES, TWINS_IN_STREAM
from tabcontam.models.hf.model_tokenizer import ModelTokenizer
from tabcontam.models.known.control import page_of_table
from tabcontam.models.known.exposure_card import Copies
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table
from tabcontam.tables.twin_tables import twin_rows

MARKS = 2  # special tokens at a document's beginning and end
Rows = Sequence[tuple[Cell, ...]]
Ids = list[int]


@dataclass(frozen=True)
class Stream:
    """The tokens in the order in which they are read. `starts` are the places of the first tokens of documents.

    `positions` has, for each table and each copy of it, the places of the copy's first and last token. `twins` has the
    number of twins' rows that are read for each table, or None for a table without a twin.
    """

    tokens: NDArray[np.int32]
    starts: NDArray[np.int64]
    positions: tuple[tuple[tuple[int, int], ...], ...]
    twins: tuple[int | None, ...]

    @property
    def sha256(self) -> str:
        """The SHA-256 of the tokens."""
        return hashlib.sha256(self.tokens.astype("<i4").tobytes()).hexdigest()


@dataclass(frozen=True)
class _Document:
    ids: Ids
    table: int | None = None
    copy: int | None = None


def learned_tokenizer(recipe: Recipe) -> Any:
    """Return the tokenizer of a recipe's models. It is learned from twins and prose, not from the tables' rows.

    Raises `UsageError` if one of its tokens joins a value with the text next to it.
    """
    made = tokenizer(_seen_form(recipe), recipe.size.vocabulary, recipe.size.context)
    for table in recipe.tables:
        for form in recipe.renderings:
            check_apart(made, table, form, table.rows)
    return made


def _seen_form(recipe: Recipe) -> Iterator[str]:
    for table in recipe.tables:
        for form in recipe.renderings:
            yield "\n".join(form.header(table.columns))
            yield from (form.row(table.columns, row) for row in twins_of(table, recipe.seed, 0) or ())
    yield from recipe.filler.text.splitlines()


def twins_of(table: Table, seed: int, number: int) -> Rows | None:
    """Return the rows of a table's twin number `number`; None without a twin, as for a table of all combinations."""
    try:
        return [row for _, row in twin_rows(table, f"exposed {seed} {number}")]
    except Skip:
        return None


def stream(recipe: Recipe, design: Sequence[Copies], reader: Any, model: int = 0) -> Stream:
    """Return the stream of a model. `design` states how often each row of each table is read. The stream is
    deterministic.

    Raises `UsageError` for a row that is too long for a block.
    """
    rng = Random(f"stream {recipe.seed} {model}")
    writer = _Writer(recipe.steps.block, reader)
    documents, twins = [], []
    for number, (table, copies) in enumerate(zip(recipe.tables, design, strict=True)):
        for copy in range(max(copies)):
            rows = [row for row, often in zip(table.rows, copies, strict=True) if often > copy]
            if recipe.order == SHUFFLED:
                rng.shuffle(rows)
            form = recipe.renderings[copy % len(recipe.renderings)]
            documents += [_Document(ids, number, copy) for ids in writer.rows(table, form, rows, rng)]
        made = [twins_of(table, recipe.seed, each) for each in range(max(TWINS_IN_STREAM, len(recipe.renderings)))]
        for each, shuffled in enumerate(made):
            form = recipe.renderings[each % len(recipe.renderings)]
            documents += [_Document(ids) for ids in writer.rows(table, form, shuffled or (), rng)]
        twins.append(None if None in made else sum(len(rows or ()) for rows in made))
        if recipe.page:
            documents += [_Document(ids) for ids in writer.lines(page_of_table(table))] * PAGE_COPIES
    prose = writer.prose(recipe.filler.text, rng)
    wanted = sum(len(document.ids) for document in documents) * LEAST_PROSE_SHARE / (1 - LEAST_PROSE_SHARE)
    while wanted > 0:
        documents.append(_Document(next(prose)))
        wanted -= len(documents[-1].ids)
    rng.shuffle(documents)
    return _joined(_form_first(documents), prose, recipe, tuple(twins))


def longest_document(recipe: Recipe, reader: Any) -> int:
    """Return the number of tokens of a document with the longest row only."""
    writer = _Writer(recipe.steps.block, reader)
    return max(writer.longest(table, form) for table in recipe.tables for form in recipe.renderings)


def _form_first(documents: Sequence[_Document]) -> list[_Document]:
    """Return half of the documents that are not copies, then all others, each group in the given order."""
    half = sum(document.copy is None for document in documents) // 2
    first: list[_Document] = []
    others: list[_Document] = []
    for document in documents:
        (first if document.copy is None and len(first) < half else others).append(document)
    return [*first, *others]


def _joined(
    documents: Sequence[_Document], prose: Iterator[Ids], recipe: Recipe, twins: tuple[int | None, ...]
) -> Stream:
    """Return the stream of the documents. Prose fills the last training step. The very last token is only predicted."""
    step = recipe.steps.batch * recipe.steps.block
    ids: Ids = []
    starts: list[int] = []
    places: list[dict[int, tuple[int, int]]] = [{} for _ in recipe.tables]
    for document in documents:
        if document.table is not None and document.copy is not None:
            first, _ = places[document.table].get(document.copy, (len(ids), 0))
            places[document.table][document.copy] = (first, len(ids) + len(document.ids) - 1)
        starts.append(len(ids))
        ids += document.ids
    length = -(-(len(ids) - 1) // step) * step + 1
    while len(ids) < length:
        starts.append(len(ids))
        ids += next(prose)
    positions = tuple(tuple(of_table[copy] for copy in sorted(of_table)) for of_table in places)
    return Stream(np.array(ids[:length], np.int32), np.array(starts, np.int64), positions, twins)


class _Writer:
    """A writer of texts as documents of tokens. No document is longer than a block."""

    def __init__(self, block: int, reader: Any) -> None:
        self._reader = reader
        self._begin = ModelTokenizer(reader).begin
        self._end = [token for token in (reader.eos_token_id,) if token is not None]
        self._most = block - MARKS
        self._known: dict[str, Ids] = {}

    def rows(self, table: Table, form: Serializer, rows: Rows, rng: Random) -> Iterator[Ids]:
        """Yield documents of rows, one row per line. Raises `UsageError` for a row that is too long."""
        header = form.header(table.columns)
        head = sum(len(self._line(line)) for line in header)
        lines = [form.row(table.columns, row) for row in rows]
        sizes = [head + len(self._line(line)) for line in lines]
        longest, what = max(sizes, default=0), f"{table.name}: a row takes %s tokens in the form {form.name}"
        self._check(longest, what)
        body: list[str] = []
        room = taken = 0
        for line, size in zip(lines, sizes, strict=True):
            if not body:
                room, taken = rng.randint(longest, self._most), head
            elif taken + size - head > room:
                yield from self._whole(header, body, what)
                body, room, taken = [], rng.randint(longest, self._most), head
            body.append(line)
            taken += size - head
        yield from self._whole(header, body, what)

    def longest(self, table: Table, form: Serializer) -> int:
        """Return the number of tokens of a document with only the longest row of a table."""
        head = sum(len(self._line(line)) for line in form.header(table.columns))
        rows = (len(self._line(form.row(table.columns, row))) for row in table.rows)
        return head + max(rows, default=0) + MARKS

    def _whole(self, header: Sequence[str], lines: Sequence[str], what: str) -> Iterator[Ids]:
        """Yield the document of these lines. If together they are too long, yield documents of each half."""
        if not lines:
            return
        ids = self._read("".join(f"{line}\n" for line in (*header, *lines)))
        half = len(lines) // 2
        if half and len(ids) > self._most:
            yield from self._whole(header, lines[:half], what)
            yield from self._whole(header, lines[half:], what)
        else:
            self._check(len(ids), what)
            yield self._document(ids)

    def _check(self, tokens: int, what: str) -> None:
        if tokens > self._most:
            raise UsageError(
                f"{what % f'{tokens:,}'} and a document holds {self._most:,}; "
                "choose another rendering or a larger model, or leave out long columns"
            )

    def lines(self, text: str) -> Iterator[Ids]:
        """Yield documents of whole lines. A line that alone is too long is cut."""
        body: Ids = []
        for line in map(self._line, text.splitlines()):
            for start in range(0, len(line), self._most):
                part = line[start : start + self._most]
                if len(body) + len(part) > self._most:
                    yield self._document(body)
                    body = []
                body += part
        if body:
            yield self._document(body)

    def prose(self, text: str, rng: Random) -> Iterator[Ids]:
        """Yield documents of paragraphs without end. After each reading of the text the paragraphs are shuffled."""
        paragraphs = [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]
        while True:
            rng.shuffle(paragraphs)
            yield from self.lines("\n".join(paragraphs))

    def _document(self, ids: Ids) -> Ids:
        return [*self._begin, *ids, *self._end]

    def _line(self, text: str) -> Ids:
        """Return the tokens of a line with its line break, tokenised alone."""
        if text not in self._known:
            self._known[text] = self._read(f"{text}\n")
        return self._known[text]

    def _read(self, text: str) -> Ids:
        ids: Ids = self._reader(text, add_special_tokens=False, verbose=False)["input_ids"]
        return ids
