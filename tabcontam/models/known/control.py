"""The two controls: language models whose exposure to a table is known, built in seconds from texts about it.

Both have read pages about other datasets, written from their cards. `control:exposed` has also read the table and its
page. `control:unexposed` has read instead a twin with the same schema and other rows, without a page. Of a large table
or twin they read a sample of the rows.
"""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import chain
from random import Random

from tabcontam.errors import Skip, UsageError, option, unknown
from tabcontam.evidence.base import Query
from tabcontam.evidence.knowledge.decoys import described, features_of, other_cards, title_of
from tabcontam.evidence.questions import Capability, Likelihoods, Reply, ReplyState, Scores
from tabcontam.groups import grouped
from tabcontam.models.base import Model, ModelRequest, PromptForm, failed
from tabcontam.models.known.model_process import build_in_process
from tabcontam.models.known.ngram_model import InfiniGram, build
from tabcontam.models.provider_record import Provider
from tabcontam.models.thresholds import (
    EXCERPT_ROWS_AFTER,
    EXCERPT_ROWS_BEFORE,
    MOST_LISTED_VALUES,
    MOST_ROWS_BEGINNING_ALIKE,
    PREVIEWED_ROWS,
)
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.dataset_cards import Card
from tabcontam.tables.serializers import Serializer, load_serializers, shipped_templates
from tabcontam.tables.table import Table
from tabcontam.tables.thresholds import MOST_ROWS_READ_WHOLE, SAMPLED_BLOCK, SAMPLED_ROWS
from tabcontam.tables.twin_tables import twin

CONSTRUCTION = "infinigram 2"
KINDS = ("exposed", "unexposed")
MOST_CHARACTERS = 200_000_000  # four times the text of adult: needs half a minute and 2.5 GB
NOT_LISTED = "named in its header"


def open_control(kind: str, serializers: Sequence[Serializer] = ()) -> "ControlModel":
    """Return the control of a kind. It reads rows in all shipped templates and `serializers`. Raises `UsageError`."""
    if kind not in KINDS:
        raise unknown("control", kind, KINDS)
    read = dict.fromkeys((*shipped_templates().values(), *serializers))
    return ControlModel(exposed=kind == "exposed", serializers=tuple(read))


class ControlModel(Model):
    """A control. It reads rows as a CSV file and in each of `serializers`.

    `version` has, after `prepare`, a digest of everything that was read, so stored replies of tables stay separate.
    """

    control = True
    local = True
    capabilities = frozenset({Capability.GENERATE, Capability.COMPLETION, Capability.SCORE})
    form = PromptForm.COMPLETION
    connections = 1
    identity = None  # answers are quick: not worth storing
    _language_model: InfiniGram | None = None  # of the control that `prepare` returns

    def __init__(self, exposed: bool, serializers: Sequence[Serializer]) -> None:
        self.exposed = exposed
        self.spec = f"control:{KINDS[0] if exposed else KINDS[1]}"
        self.version = CONSTRUCTION
        self._unprepared = f"{self.spec} was asked before it was prepared for a table"
        self._forms = forms_read(serializers)
        self._prepared: tuple[Hashable, ControlModel] | None = None  # only for the last table: adult needs 100 MB

    async def connect(self) -> None:
        try:
            import pydivsufsort  # noqa: F401  to check that it loads
        except (ImportError, OSError) as error:
            raise UsageError(
                f"{self.spec} needs pydivsufsort ({error}); type: pip install --force-reinstall pydivsufsort, "
                f"or leave the controls out with {option('controls')}"
            ) from error

    def prepare(self, table: Table, queries: Sequence[Query] = ()) -> "ControlModel":
        """Return the control of this table, or the last one again. Raises `Skip` if none can be built in seconds."""
        places = self._places(table, queries)
        key = (table.sha256, table.title, places)
        if self._prepared is None or self._prepared[0] != key:
            self._prepared = None  # frees the memory before the next control is built
            self._prepared = (key, self._built(table, places))
        return self._prepared[1]

    def sampled(self, table: Table, queries: Sequence[Query]) -> str:
        places = self._places(table, queries)
        if places is None:
            return ""
        read = f"{len(places):,} of {len(table.rows):,} rows"
        if self.exposed:
            return f"read a sample of {table.named}: {read}, with all rows that queries ask about or show"
        return f"read a sample of a twin of {table.named}: {read}"

    def _places(self, table: Table, queries: Sequence[Query]) -> Sequence[int] | None:
        """Return the indices of the rows that the control reads. In a twin they do not depend on the queries."""
        if self.exposed:
            return places_read(table, queries)
        return drawn_places(len(table.rows) + len(table.withheld))

    def exposure(self, table: Table, row: int) -> float:
        """Return how many copies of a row the control reads: one in each form, including CSV, or none."""
        return len(self._forms) if self.exposed else 0

    async def generate(self, request: ModelRequest) -> Reply:
        if self._language_model is None:
            return failed(self._unprepared)
        prompt = request.prompt
        generated = self._language_model.generate(prompt.completion, request.max_tokens, prompt.stop)
        ended = ReplyState.TRUNCATED if generated.finish == "length" else ReplyState.OK
        state = ended if generated.text.strip() else ReplyState.EMPTY
        return Reply(generated.text, state, tokens=generated.tokens)

    async def score(self, request: ModelRequest) -> Scores:
        if self._language_model is None:
            return Scores((), ReplyState.FAILED, self._unprepared)
        return Scores(tuple(self._language_model.score(request.passage.text)), ReplyState.OK)

    async def compare(self, request: ModelRequest) -> Likelihoods:
        asked = request.endings
        if self._language_model is None:
            return Likelihoods((), ReplyState.FAILED, self._unprepared)
        return Likelihoods(tuple(self._language_model.compare(asked.beginning, asked.endings)), ReplyState.OK)

    async def close(self) -> None:
        self._prepared = None

    # long: characters; another process reads longer texts, which needs half a second to start
    def _built(self, table: Table, places: Sequence[int] | None, *, long: int = 2_000_000) -> "ControlModel":
        # The rough length of the documents: cells in each form, column names in all but the CSV file.
        rows, forms = _rows_at(table, places).rows, len(self._forms)
        separators = 6 * len(table.columns)  # the average, as in `The age is 39, `
        names = len(rows) * (sum(map(len, table.columns)) + separators)
        characters = (forms - 1) * names + forms * sum(len(cell) for row in rows for cell in row if cell is not None)
        if characters > MOST_CHARACTERS:
            size, most = characters // 10**6, MOST_CHARACTERS // 10**6
            raise Skip(f"{table.name} would be {size:,} MB of text; a control reads at most {most:,} MB")
        digest = sha256()

        def read() -> Iterator[str]:
            nonlocal digest
            digest = sha256()  # this process reads the documents again if the other process fails
            for document in control_documents(table, self._forms, self.exposed, places):
                digest.update(document.encode("utf-8", "surrogatepass"))
                yield document

        model = ControlModel(self.exposed, self._forms)
        model._language_model = build_in_process(read) if characters > long else build(read())
        model.version = f"{CONSTRUCTION} {digest.hexdigest()[:12]}"
        return model


def control_documents(
    table: Table, serializers: Iterable[Serializer], exposed: bool = True, places: Sequence[int] | None = None
) -> Iterator[str]:
    """Yield documents as on the web: pages that describe datasets, and the files of one dataset.

    The pages describe the datasets of other cards, after the table's own page if `exposed`. The files are of the
    table if `exposed`, else of its twin, with the rows at `places` or all. Raises `Skip` for a table without a
    twin.
    """
    forms, source = forms_read(serializers), _rows_at(table if exposed else twin(table), places)
    if exposed:
        yield page_of_table(table)
    for card in other_cards(table):
        yield _page_of_card(card)
    for form in forms:
        yield "".join(f"{text}\n" for text in form.rows(source.columns, source.rows))
    if exposed:
        # Some rows of the table in each form, each with the dataset's name below it.
        shown = table.rows[:: max(1, len(table.rows) // PREVIEWED_ROWS)][:PREVIEWED_ROWS]
        texts = (text for form in forms for text in form.rows(table.columns, shown))
        yield "".join(f"{text}\nDataset: {table.title}\n" for text in texts)


def _rows_at(table: Table, places: Sequence[int] | None) -> Table:
    if places is None:
        return table
    return replace(table, rows=tuple(table.rows[place] for place in places if place < len(table.rows)))


def forms_read(serializers: Iterable[Serializer]) -> tuple[Serializer, ...]:
    """Return the forms in which a control reads rows: the form of the CSV file, then the other serializers."""
    file = load_serializers()["csv"]
    return (file, *(other for other in serializers if other.form != file.form))


# Pages use the labels Dataset, Features, Feature and Values, with which the prompts of tests end.


def page_of_table(table: Table) -> str:
    """Return the page of a table's dataset, with facts that its file shows."""
    records = f"{table.rows_in_file} records with {len(table.columns)} attributes each, as one comma-separated file."
    values = {column: _values(table, column) for column in table.columns}
    return _page(table.title, records, table.names, table.target, values)


def _page_of_card(card: Card) -> str:
    edition = described(card)
    values = dict.fromkeys(features_of(card), NOT_LISTED)
    if edition.target and edition.question:
        values[edition.target] = ", ".join(dict.fromkeys(edition.question.answers.values()))
    records = f"{edition.rows} records as one comma-separated file."
    return _page(title_of(card), records, card.names, edition.target, values, listed=bool(features_of(card)))


def _page(
    title: str, records: str, names: Sequence[str], target: str | None, values: Mapping[str, str], listed: bool = True
) -> str:
    """Return a dataset's page: the title, and a description of each feature. `listed`: `names` are all features."""
    others = [name for name in names if name != title]
    lines = [
        f"{title}: overview",
        records,
        *([f"Also known as {' or '.join(others)}."] if others else []),
        *([f"Most people who download it predict {target}."] if target else []),
        f"Dataset: {title}",
        f"Features: {', '.join(values) if listed else NOT_LISTED}",
    ]
    for feature, description in values.items():
        lines += [f"Feature: {feature}", f"Dataset: {title}", f"Values: {description}"]
    return "".join(f"{line}\n" for line in lines)


def _values(table: Table, column: str) -> str:
    values = table.distinct(column)
    if not values:
        return "never filled in"
    if named := table.names_of_codes(column):
        return ", ".join(f"{code} = {name}" for code, name in named.items())
    if len(values) <= MOST_LISTED_VALUES:
        return ", ".join(values)
    if table.is_numeric(column):
        ends = f"{min(values, key=float)} to {max(values, key=float)}"
        return f"{len(values)} different numbers from {ends}"
    return f"{len(values)} different entries such as {values[0]} and {values[1]}"


def drawn_places(rows: int) -> tuple[int, ...] | None:
    """Return the indices of the rows, out of `rows`, that a control reads for any queries; None if it reads all."""
    if rows <= MOST_ROWS_READ_WHOLE:
        return None
    blocks = Random(f"excerpt of {rows}").sample(range(-(-rows // SAMPLED_BLOCK)), SAMPLED_ROWS // SAMPLED_BLOCK)
    return tuple(
        place
        for block in sorted(blocks)
        for place in range(block * SAMPLED_BLOCK, min(rows, (block + 1) * SAMPLED_BLOCK))
    )


def places_read(table: Table, queries: Iterable[Query]) -> tuple[int, ...] | None:
    """Return the indices of the rows that an exposed control reads for these queries; None if it reads all rows.

    These are drawn rows, all rows in queries, the rows around them in the file, and the rows with the same
    beginning.
    """
    rows = len(table.rows)
    drawn = drawn_places(rows)
    if drawn is None:
        return None
    named = {place for query in queries for place in (*query.rows, query.row) if place is not None}
    asked = frozenset(place for place in named if 0 <= place < rows)

    def places() -> tuple[int, ...]:
        near = chain.from_iterable(
            range(max(0, place - EXCERPT_ROWS_BEFORE), min(rows, place + EXCERPT_ROWS_AFTER + 1)) for place in asked
        )
        return tuple(sorted({*drawn, *near, *_beginning_alike(table, asked)}))

    return cached_fact(table, ("excerpt", asked), places)


def _beginning_alike(table: Table, asked: frozenset[int]) -> set[int]:
    """Return rows that share an asked row's first cells: enough cells to get `MOST_ROWS_BEGINNING_ALIKE` or fewer."""
    found: set[int] = set()
    groups: list[Collection[int]] = [range(len(table.rows))]
    for column in table.columns:
        cells = table.column(column)
        parts = chain.from_iterable(grouped(group, cells.__getitem__).values() for group in groups)
        with_asked = [part for part in parts if not asked.isdisjoint(part)]
        found.update(*(part for part in with_asked if len(part) <= MOST_ROWS_BEGINNING_ALIKE))
        groups = [part for part in with_asked if len(part) > MOST_ROWS_BEGINNING_ALIKE]
    return found


CONTROL = Provider(
    "control",
    {
        "control:exposed": "a built-in language model that has read the table",
        "control:unexposed": "a built-in language model that has read a shuffled twin of the table",
    },
    lambda kind, settings: open_control(kind, settings.serializers),
)
