"""The two controls: language models whose exposure to a table is known, built in seconds from texts about it.

Both have read pages about other datasets, written from their cards. `control:exposed` has also read the table and its
page. `control:unexposed` has read instead a twin with the same schema and other rows, without a page. Of a large table
or twin they read a sample of the rows (`control_excerpt.py`).
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from tabcontam.errors import Skip, UsageError, option, unknown
from tabcontam.evidence.base import Query
from tabcontam.evidence.knowledge.decoys import described, features_of, other_cards, title_of
from tabcontam.evidence.questions import Capability, Likelihoods, Reply, ReplyState, Scores
from tabcontam.models.base import Model, ModelRequest, PromptForm, failed
from tabcontam.models.known.control_excerpt import drawn_places, places_read
from tabcontam.models.known.model_process import build_in_process
from tabcontam.models.known.ngram_model import InfiniGram, build
from tabcontam.models.thresholds import MOST_LISTED_VALUES, PREVIEWED_ROWS
from tabcontam.tables.dataset_cards import Card
from tabcontam.tables.serializers import Serializer, load_serializers, shipped_templates
from tabcontam.tables.table import Table
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
    """A control. `prepare` returns the control that answers queries about a table.

    `version` names the construction and, after `prepare`, a digest of everything that was read, so stored replies of
    different tables stay separate. The control reads rows as a CSV file and in each of `serializers`.
    """

    control = True
    local = True
    capabilities = frozenset({Capability.GENERATE, Capability.COMPLETION, Capability.SCORE})
    form = PromptForm.COMPLETION
    connections = 1
    identity = None  # answers are quick: not worth storing

    def __init__(self, exposed: bool, serializers: Sequence[Serializer]) -> None:
        self.exposed = exposed
        self.spec = f"control:{KINDS[0] if exposed else KINDS[1]}"
        self.version = CONSTRUCTION
        self._forms = forms_read(serializers)
        self._language_model: InfiniGram | None = None
        self._prepared: tuple[Hashable, ControlModel] | None = None  # only for the last table: adult needs 100 MB

    async def connect(self) -> None:
        """Check that the suffix-array library can be loaded. Raises `UsageError` if not."""
        try:
            import pydivsufsort  # noqa: F401  to check that it loads
        except (ImportError, OSError) as error:
            raise UsageError(
                f"{self.spec} needs pydivsufsort ({error}); type: pip install --force-reinstall pydivsufsort, "
                f"or leave the controls out with {option('controls')}"
            ) from error

    def prepare(self, table: Table, queries: Sequence[Query] = ()) -> "ControlModel":
        """Return the control of this table. It is cached by the table's SHA-256, title and sample.

        Raises `Skip` for a table without a twin, and for a table that needs minutes to read.
        """
        places = self._places(table, queries)
        key = (table.sha256, table.title, places)
        if self._prepared is None or self._prepared[0] != key:
            self._prepared = None  # frees the memory before the next control is built
            self._prepared = (key, self._built(table, places))
        return self._prepared[1]

    def sampled(self, table: Table, queries: Sequence[Query]) -> str:
        """Return a sentence on how many rows of a large table, or of its twin, the control reads."""
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
        """Return the greedy continuation of the prompt in completion form. This takes a millisecond."""
        if self._language_model is None:
            return failed(f"{self.spec} was asked before it was prepared for a table")
        prompt = request.prompt
        generated = self._language_model.generate(prompt.completion, request.max_tokens, prompt.stop)
        ended = ReplyState.TRUNCATED if generated.finish == "length" else ReplyState.OK
        state = ended if generated.text.strip() else ReplyState.EMPTY
        return Reply(generated.text, state, tokens=generated.tokens)

    async def score(self, request: ModelRequest) -> Scores:
        """Return the tokens of a passage with their log-probabilities, without alternative tokens."""
        if self._language_model is None:
            return Scores((), ReplyState.FAILED, f"{self.spec} was asked before it was prepared for a table")
        return Scores(tuple(self._language_model.score(request.passage.text)), ReplyState.OK)

    async def compare(self, request: ModelRequest) -> Likelihoods:
        """Return how likely each ending of a text is. The common beginning is scored once."""
        if self._language_model is None:
            return Likelihoods((), ReplyState.FAILED, f"{self.spec} was asked before it was prepared for a table")
        asked = request.endings
        return Likelihoods(tuple(self._language_model.compare(asked.beginning, asked.endings)), ReplyState.OK)

    async def close(self) -> None:
        """Free the memory."""
        self._language_model = None
        self._prepared = None

    # long: characters; another process reads longer texts, which needs half a second to start
    def _built(self, table: Table, places: Sequence[int] | None, *, long: int = 2_000_000) -> "ControlModel":
        characters = _characters(_rows_at(table, places), len(self._forms))
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

    The pages describe the datasets of other cards, after the table's own page if `exposed`. The files are a CSV file
    and its rows in each other form. They are of the table if `exposed`, else of its twin, and contain the rows at
    `places`, or all rows. The pages and the twin are made from the whole table. Raises `Skip` for a table without a
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
        yield _preview(table, forms)


def _rows_at(table: Table, places: Sequence[int] | None) -> Table:
    """Return a table of the rows with these indices, if the table has them, or the table itself if `places` is None."""
    if places is None:
        return table
    return replace(table, rows=tuple(table.rows[place] for place in places if place < len(table.rows)))


def forms_read(serializers: Iterable[Serializer]) -> tuple[Serializer, ...]:
    """Return the forms in which a control reads rows: the form of the CSV file, then the other serializers."""
    file = load_serializers()["csv"]
    return (file, *(other for other in serializers if other.form != file.form))


def _characters(table: Table, forms: int) -> int:
    """Return the rough length of a table's documents: cells in each form, column names in all but the CSV file."""
    separators = 6 * len(table.columns)  # the average, as in `The age is 39, `
    names = len(table.rows) * (sum(map(len, table.columns)) + separators)
    cells = sum(len(cell) for row in table.rows for cell in row if cell is not None)
    return (forms - 1) * names + forms * cells


# Pages use the labels Dataset, Features, Feature and Values, with which the prompts of tests end.


def page_of_table(table: Table) -> str:
    """Return the page of a table's dataset, with facts that its file shows."""
    records = f"{table.rows_in_file} records with {len(table.columns)} attributes each, as one comma-separated file."
    values = {column: _values(table, column) for column in table.columns}
    return _page(table.title, records, table.names, table.target, values)


def _page_of_card(card: Card) -> str:
    """Return the page of a dataset for which only the card is known."""
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


def _preview(table: Table, forms: Iterable[Serializer]) -> str:
    """Return some rows of the table in each form, each with the dataset's name below it."""
    step = max(1, len(table.rows) // PREVIEWED_ROWS)
    rows = table.rows[::step][:PREVIEWED_ROWS]
    return "".join(f"{text}\nDataset: {table.title}\n" for form in forms for text in form.rows(table.columns, rows))
