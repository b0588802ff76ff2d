"""Tables: the rows as the file's own strings, and facts about columns; from a dataset card or a user's file."""

import csv
import hashlib
import os
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

from tabcontam.errors import UsageError, one_line, option_name, several, unknown, unknown_one_or_several
from tabcontam.tables.cached_facts import table_fact
from tabcontam.tables.dataset_cards import (
    SHORT,
    Card,
    ClassificationQuestion,
    DataDates,
    Edition,
    all_cards,
    find_card,
    mistaken_card,
    split_edition,
    split_named,
)
from tabcontam.tables.editions import edition_bytes
from tabcontam.tables.file_specs import FileSpec, check_file, check_part_named, check_stays, named_file
from tabcontam.tables.large.table_excerpt import TableExcerpt, WholeTableFacts
from tabcontam.tables.readers.base import FOUND_OUT, File, TextFormat, check_size
from tabcontam.tables.readers.file_kinds import stem
from tabcontam.tables.sources import TableSource, card_of, is_source, open_source, read_source
from tabcontam.tables.table_contents import Contents, Rows, column_names, is_number, missing_marks
from tabcontam.tables.text_tasks import TextTask, found_texts
from tabcontam.tables.thresholds import MOST_CATEGORIES, MOST_CLASSES, MOST_ROWS_READ_WHOLE
from tabcontam.tables.toml_files import SUFFIX

if TYPE_CHECKING:
    from tabcontam.tables.frames import Frame
    from tabcontam.tables.large.hashes import HeldRows

Cell = str | None  # None: missing. An empty field of a text is missing; of a typed file it is an empty string.

UNDATED = DataDates("", dated_as="")
NAMELESS = frozenset({"target", "class", "label", "y", "category", "cluster", "group", "output"})  # of any column
CODE = re.compile(r"[+-]?\d+(\.0*)?|[^\W\d_]+[ _-]?\d+")


@dataclass(frozen=True)
class DrawnCell:
    """A cell with drawn digits: its row (from 0, below the header), and all texts that could have been drawn for it."""

    row: int
    column: str
    alternatives: tuple[str, ...]


@dataclass(frozen=True)
class FileReading:
    """The way in which the file of a table was read.

    `how` describes it in a line ("" for a card's file), `options` are the user's options for reading the text. `header`
    is True if the file's first line names the columns; if not, a card names them, or they get numbers.
    """

    how: str = ""
    options: str = ""
    header: bool = True


@dataclass(frozen=True)
class Table:
    """One edition of a dataset, or a user's file.

    `name` is the short name (`adult`, or the FILE's name), `title` the name in prompts. A reply that names the table
    may use any of `names` (title and aliases, long ones first). The `not_names` are names of other data (Wine Quality
    for Wine). `missing` are the marks of missing values besides None. `order` states the order of the rows: "kept", or
    a phrase such as "sorted by class". `hints` maps the id of a test to the features that the card recommends for it.
    `private` rows belong to a FILE, or to a user's own card that does not state that they are public. `text` names the
    columns of running text, if the table has any.

    `split` names the part of the dataset that these rows are (`train`), "" if it has no parts. `elsewhere` is the
    number of rows that are in another split, too (None if a split cannot be read).

    `known` has the rows of each known file, in the order of `columns` (`known_rows.py`). `drawn_cells` are the cells
    with digits drawn by the owner, if the key is given (`planted_tables.py`). `withheld` are rows of the source that
    were never published (`unread_rows.py`). `fresh` are similar rows that no model can have read
    (`unread_rows.py`). `whole` has the facts about all rows of a large file; it is None if `rows` are all rows.
    `facts` is the cache of `cached_fact`.
    """

    name: str
    title: str
    edition: str
    sha256: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...] = field(repr=False)
    names: tuple[str, ...] = ()
    not_names: tuple[str, ...] = ()
    target: str | None = None
    question: ClassificationQuestion | None = None
    missing: frozenset[str] = frozenset()
    order: str = "kept"
    hints: Mapping[str, tuple[str, ...]] | None = None
    private: bool = False
    known: tuple[Rows, ...] = field(default=(), repr=False)
    drawn_cells: tuple[DrawnCell, ...] = field(default=(), repr=False)
    withheld: Rows = field(default=(), repr=False)
    fresh: Rows = field(default=(), repr=False)
    split: str = ""
    elsewhere: int | None = 0
    text: TextTask | None = None
    read: FileReading = FileReading()
    dates: DataDates = UNDATED
    whole: WholeTableFacts | None = field(default=None, repr=False)
    facts: dict[Hashable, object] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def from_frame(cls, frame: "Frame", *, name: str, target: str | None = None) -> "Table":
        """Return a pandas or polars DataFrame as a table, which counts as a FILE; prompts show `name`.

        The cells are the texts that the frame's `to_csv` (polars: `write_csv`) writes, without the index. Digits that
        the frame lost are missing here, too: a column read as numbers has 7 for `007`, 1.5 for `1.50` and, if it has a
        missing cell, 3.0 for `3`. To keep them, read the file with `dtype=str`, or name the file itself. None, NaN, NaT
        and an empty text are missing. The SHA-256 is that of the CSV text in UTF-8 with line feeds.

        Raises `UsageError` for a value that is no DataFrame, for fewer than two rows or columns, for column names that
        are not unique texts or numbers, for an empty name, and for a target that is no column.
        """
        from tabcontam.tables.frames import read_frame

        title = name.strip() if isinstance(name, str) else ""
        if not title:
            raise UsageError("the table needs a name, which prompts show; give a text")
        if target is not None and not isinstance(target, str):
            raise UsageError(f"the target is {target!r}; write the name of a column as a text")
        columns, rows, content = read_frame(frame, title)
        read = _read(title, Contents(columns, rows), target, sampled=True)
        return _table_of(title, title, read, hashlib.sha256(content).hexdigest(), target)

    @property
    def rows_in_file(self) -> int:
        """The number of rows of the file; larger than the number of `rows` if these are a sample."""
        return len(self.rows) if self.whole is None else self.whole.rows

    @property
    def sampled(self) -> str:
        """A sentence on the number of sampled rows of a large file; "" if `rows` are all rows."""
        if self.whole is None:
            return ""
        return (
            f"{self.named} has {self.whole.rows:,} rows. Queries and the baseline use {len(self.rows):,} of them, "
            "drawn from all over the file. No query asks about a row that another row of the file answers differently"
        )

    @property
    def places(self) -> Sequence[int]:
        """The place of each of the `rows` in the file, from 0."""
        return range(len(self.rows)) if self.whole is None else self.whole.places

    @cached_property
    def rows_before(self) -> Sequence[int]:
        """For each row, the number of stored rows directly before it in the file, without a gap."""
        return range(len(self.rows)) if self.whole is None else self.whole.before()

    @cached_property
    def all_stored(self) -> tuple[tuple[Cell, ...], ...]:
        """The `rows`, then the rows of a large file that are stored for comparison and learning, and never asked about.

        A search for rows similar to a given row has to include them.
        """
        return self.rows if self.whole is None else (*self.rows, *self.whole.resembling, *self.whole.key_rows)

    def check_whole(self, option: str) -> None:
        """Check that `rows` are all rows of the file, as `option` needs. Raises `UsageError` if they are a sample."""
        if self.whole is not None:
            raise UsageError(
                f"{option_name(option)}: {self.name} has {self.whole.rows:,} rows, of which a sample is read, and this "
                f"option needs all of them; give a part of at most {MOST_ROWS_READ_WHOLE:,} rows as a file of its own"
            )

    @property
    def named(self) -> str:
        """The name, with the split if there is one: `adult#test`."""
        return f"{self.name}#{self.split}" if self.split else self.name

    @property
    def key(self) -> tuple[str, str, str]:
        """Name, edition and split, which distinguish the tables of a run."""
        return self.name, self.edition, self.split

    def column(self, name: str) -> tuple[Cell, ...]:
        """Return the cells of one column, in row order."""
        return self._cells[name]

    @cached_property
    def _cells(self) -> Mapping[str, tuple[Cell, ...]]:
        return dict(zip(self.columns, zip(*self.rows, strict=True) if self.rows else repeat(()), strict=False))

    def is_missing(self, cell: Cell) -> bool:
        """Return whether a cell is None or one of the edition's missing marks."""
        return cell is None or cell in self.missing

    @table_fact
    def distinct(self, column: str) -> tuple[str, ...]:
        """Return the values of a column except missing ones, most frequent first, then by first appearance."""
        if self.whole is not None and column in self.whole.distinct:
            return self.whole.distinct[column]
        counts = Counter(self.column(column)).most_common()
        return tuple(cell for cell, _ in counts if cell is not None and cell not in self.missing)

    @table_fact
    def is_numeric(self, column: str) -> bool:
        """Return whether a column has a value, and all of its values are finite numbers."""
        if self.whole is not None:
            return column in self.whole.numeric
        values = self.distinct(column)
        return bool(values) and all(map(is_number, values))

    def is_categorical(self, column: str) -> bool:
        """Return whether a column has few distinct values, and is either the target or no column of numbers."""
        few = 2 <= len(self.distinct(column)) <= MOST_CATEGORIES
        return few and (column == self.target or not self.is_numeric(column))

    def names_of_codes(self, column: str) -> Mapping[str, str]:
        """Return the names of a target's codes, by the card's question (`setosa` for 0); empty without such names.

        Yes, No and names that are codes themselves do not count: they do not explain a value.
        """
        question = self.question
        if column != self.target or question is None or question.threshold is not None or not question.fair:
            return {}
        names = {value: question.answers[value] for value in self.distinct(column) if value in question.answers}
        folded = {name.casefold() for name in names.values()}
        return names if self.is_numeric(column) and not folded <= {"yes", "no"} else {}

    @cached_property
    def row_set(self) -> frozenset[tuple[Cell, ...]]:
        """The set of all rows, with the other stored rows of a large file."""
        return frozenset(self.all_stored)

    def is_row(self, cells: Sequence[Cell]) -> bool:
        """Return whether `cells` is a row of the table, or of the whole file if the table is a sample.

        A row of the file is always recognised. For a large file, about 2 in 100 tests of other cells return True, too.
        """
        return tuple(cells) in self.row_set or self.may_hold(cells)

    def may_hold(self, cells: Sequence[Cell], *, answered: bool = True) -> bool:
        """Return whether a large file seems to have a row of these cells; unless `answered`, targets are not compared.

        Return False if the table has all rows of its file, or if its rows were changed.
        """
        if self.whole is None or not self.whole.bloom:
            return False
        but = None if answered or self.target is None else self.columns.index(self.target)
        return self._held_rows.may_hold(cells, but)

    @cached_property
    def _held_rows(self) -> "HeldRows":
        from tabcontam.tables.large.hashes import HeldRows  # imports numerical code

        return HeldRows(self.whole.bloom if self.whole else b"", self.rows)

    @cached_property
    def enumerates_domain(self) -> bool:
        """True if all combinations of the values of two or more features occur."""
        if self.whole is not None:
            return self.whole.enumerates_domain
        features = [self.column(column) for column in self.columns if column != self.target]
        varied, combinations = 0, 1
        for cells in features:
            size = len(set(cells))
            varied, combinations = varied + (size > 1), combinations * size
            if combinations > len(self.rows):  # more combinations than rows
                return False
        return varied > 1 and combinations == len(set(zip(*features, strict=True)))


def load_table(
    spec: str, *, target: str | None = None, name: str | None = None, form: TextFormat = FOUND_OUT, whole: bool = False
) -> Table:
    """Return the table that a spec names.

    A spec names a card (`NAME`, `NAME@EDITION`, `NAME#SPLIT`), a user's own card (`CARD.toml`, `CARD.toml@EDITION`), a
    source (an address, `openml:ID`, `hf:datasets/OWNER/NAME#SPLIT`, `sklearn:NAME`), or a FILE by its path. After a `#`
    a FILE or an address may name a table in it or a split, or both (`my.csv#test`, `my.db#table#test`).

    `target`, `name` and `form` (how a text is read) apply only to a FILE or a source. If a FILE or a source has more
    than 60,000 rows, the table is a sample with exact facts about all rows (`tables/large/`), unless `whole`. Raises
    `UsageError` for an unknown dataset, edition or target; for a card that cannot be read or does not fit its file; and
    for a file that is missing, has the wrong hash, cannot be fetched or has no table.
    """
    check_part_named(spec)
    if is_source(spec):
        if (known := card_of(spec)) is not None:
            return load_table(known, target=target, name=name, form=form)
        return _source_table(open_source(spec, form), target, name, form, whole)
    path = Path(os.path.expanduser(spec))
    named, split = split_named(spec)
    card_name, edition_name = split_edition(named)
    file = named_file(spec)
    card = None if edition_name is not None and file is not None else find_card(card_name)
    if card is not None:
        named_options = [option_name(key) for key, value in (("target", target), ("name", name)) if value is not None]
        if given := [*named_options, *form.given.values()]:
            raise UsageError(f"{given[0]} applies to files alone; leave it out for the dataset {card.name!r}")
        edition = card.edition(edition_name)
        from tabcontam.tables.splits_by_date import is_dated, part_of

        if split is not None and not edition.split and (card.dates.dated_by or is_dated(split)):
            return part_of(_card_table(card, edition), split)
        return _card_table(card, edition if split is None else edition.part(split))
    if not spec or (file is None and not path.exists() and not path.suffix and len(path.parts) <= 1):
        if other := mistaken_card(card_name):
            raise UsageError(f"unknown dataset {card_name!r}; it is not {other.name} ({other.title}): give its file")
        if spec == "-":
            raise UsageError("a table is not read from standard input; write it to a file, and name the file")
        commas = several("dataset", spec, _is_known) or unknown_one_or_several("dataset", "dataset", spec)
        raise commas or unknown("dataset", card_name, all_cards())
    if file is None and not path.exists() and (error := several("dataset", spec, _is_known)):
        raise error
    return _file_table(file or FileSpec(path), target, name, form, whole)


def _is_known(spec: str) -> bool:
    """Return whether a spec names a card (with or without an edition), a source or an existing file."""
    there, card_name = is_source(spec) or named_file(spec) is not None, split_edition(split_named(spec)[0])[0]
    return there or (not card_name.endswith(SUFFIX) and find_card(card_name) is not None)


def _card_table(card: Card, edition: Edition) -> Table:
    content = edition_bytes(card, edition)
    try:
        columns, rows = edition.layout.read(content, edition.file)
        if card.source:
            _check_card(edition, columns, rows)
    except (ValueError, IndexError, StopIteration, csv.Error) as error:
        where = f"edition {edition.name!r} of dataset card {card.source or card.name}"
        raise UsageError(f"{where} does not fit its file: {one_line(error)}") from error
    table = Table(
        name=card.name,
        title=card.title_of(edition),
        edition=card.stated(edition),
        sha256=edition.sha256,
        columns=columns,
        rows=rows,
        names=card.names,
        not_names=card.not_aliases,
        target=edition.target,
        question=edition.question,
        missing=edition.missing,
        order=edition.order,
        split=edition.split,
        text=edition.text,
        read=FileReading(header=edition.layout.columns is None),
        hints=edition.hints or None,
        private=not card.public,
        dates=card.dates,
    )
    if card.source and card.dates.dated_by:
        from tabcontam.tables.splits_by_date import months_of

        months_of(table)  # raises the error for a cell that is no date
    return table


def _check_card(edition: Edition, columns: Sequence[str], rows: Rows) -> None:
    """Check that a user's own card fits its file. Raises ValueError, which names the wrong field, if not."""
    if len(columns) < 2 or len(set(columns)) < len(columns) or not all(columns):
        raise ValueError(f"columns are {', '.join(map(repr, columns))}; two or more are needed, each with its own name")
    if len(rows) != edition.rows:
        raise ValueError(f"rows is {edition.rows}, and the file has {len(rows)}")
    task = [] if edition.text is None else [*edition.text.texts, edition.text.label]
    named = [edition.target, *task, *(name for names in edition.hints.values() for name in names)]
    if strange := [name for name in named if name is not None and name not in columns]:
        raise ValueError(f"{strange[0]!r} is no column; the file has {', '.join(columns)}")
    if edition.question is None:
        return
    if edition.target is None:
        raise ValueError("it has a question and no target")
    at, known = columns.index(edition.target), edition.question
    values = {row[at] for row in rows} - edition.missing - {None}
    if known.threshold is None:
        unanswered = [value for value in values if value not in known.answers]
    else:
        unanswered = [value for value in values if value is None or not is_number(value)]
    if unanswered:
        raise ValueError(f"the question has no answer for the target {min(map(str, unanswered))!r}")


def _file_table(named: FileSpec, target: str | None, name: str | None, form: TextFormat, whole: bool) -> Table:
    from tabcontam.tables.large.large_files import read_large

    path = named.path
    check_stays(path)
    source = TableSource(path.name, stem(path.name), (), part=named.part or "")
    if not whole and (large := read_large(named, form, target)) is not None:
        read, digest, split = large
        called, title = source.called(split)
        return replace(_table_of(called, (name or "").strip() or title, read, digest, target, form), split=split)
    check_size(path)
    file = File(check_file(path), path.name, named.part, form, path)
    return _source_table(replace(source, files=(file,)), target, name, form, whole)


def _source_table(source: TableSource, target: str | None, name: str | None, form: TextFormat, whole: bool) -> Table:
    contents, split = read_source(source)
    digest = hashlib.sha256()
    for file in source.files:
        digest.update(file.content)
    called, title = source.called(split)
    title, asked = (name or "").strip() or title, target if target is not None else source.target
    read = _read(called, contents, asked, sampled=not whole)
    table = _table_of(called, title, read, digest.hexdigest(), asked, form)
    return replace(table, private=not source.public, split=split)


def bare_codes(target: str, answers: Iterable[str]) -> bool:
    """Return whether neither the column name nor the values explain the classes: `target` with 0 and 1, or class_0.

    `Survived` with 0 and 1 is explained by its name, so a reader knows what is asked.
    """
    words = re.findall(r"[^\W\d_]+", target.casefold())
    return bool(words) and set(words) <= NAMELESS and all(CODE.fullmatch(answer.strip()) for answer in answers)


def _read(name: str, contents: Contents, target: str | None, *, sampled: bool) -> TableExcerpt:
    """Return the rows of a FILE or frame to store: if `sampled`, of many rows only a sample. Raises `UsageError`."""
    columns, rows = contents
    if len(columns) < 2:
        raise UsageError(f"{name} has one column; give a table with two or more")
    if len(rows) < 2:
        count = "one row" if rows else "no row"
        raise UsageError(f"{name} has {count} below its header; give a table with two or more")
    if target is not None and target not in columns:
        raise unknown(f"target column of {name}", target, columns)
    if sampled and len(rows) > MOST_ROWS_READ_WHOLE:
        from tabcontam.tables.large.large_table_reading import read_rows

        if (read := read_rows(columns, rows, target, name)) is not None:
            return replace(read, how=contents.how)
    return TableExcerpt(columns, rows, None, missing_marks(list(zip(*rows, strict=True))), rows, contents.how)


def _table_of(
    name: str, title: str, read: TableExcerpt, sha256: str, target: str | None, form: TextFormat = FOUND_OUT
) -> Table:
    """Return the table of an excerpt, without a card. Raises `UsageError` if it has only one column."""
    if len(read.columns) < 2:
        raise UsageError(f"{name} has one column; give a table with two or more")
    question = None
    if target is not None:
        answers = sorted(read.values(target))
        if 2 <= len(answers) <= MOST_CLASSES:
            text, fair = f"What is the value of {target}?", not bare_codes(target, answers)
            question = ClassificationQuestion(text, {value: value for value in answers}, fair=fair)
    return Table(
        name=name,
        title=title,
        edition=sha256[:SHORT],
        sha256=sha256,
        columns=read.columns,
        rows=read.rows,
        names=(title,),
        target=target,
        question=question,
        missing=read.missing,
        text=found_texts(read.columns, read.first, target),
        read=FileReading(
            read.how.line(len(read.rows) if read.whole is None else read.whole.rows, len(read.columns)),
            str(form),
            header=read.columns != column_names([""] * len(read.columns)),
        ),
        private=True,
        whole=read.whole,
    )
