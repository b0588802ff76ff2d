"""The control pair: two language models whose exposure to a table is known, built on the spot from texts about it.

`control:exposed` has read the table; `control:unexposed` has read a twin with the same schema and none of its rows.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256

from tabcontam.errors import Skip, UsageError, unknown
from tabcontam.evidence.base import Query
from tabcontam.evidence.questions import Capability, Reply, Scores, State
from tabcontam.subjects.base import Form, Model, Request
from tabcontam.subjects.known.infinigram import InfiniGram, build
from tabcontam.tables.serializers import Serializer, load_serializers, shipped_templates
from tabcontam.tables.table import Table
from tabcontam.tables.twins import twin

CONSTRUCTION = "infinigram 1"
KINDS = ("exposed", "unexposed")
MOST_CHARACTERS = 200_000_000  # four times what is written of adult: half a minute, and 2.5 GB while it is read
LISTED_VALUES = 30  # a column with more distinct values is described by its range


def open_control(kind: str, serializers: Sequence[Serializer] = ()) -> "ControlModel":
    """The control of a kind, which reads rows in all shipped templates and these serializers. Raises `UsageError`."""
    if kind not in KINDS:
        raise unknown("control", kind, KINDS)
    read = dict.fromkeys((*shipped_templates().values(), *serializers))
    return ControlModel(exposed=kind == "exposed", serializers=tuple(read))


class ControlModel(Model):
    """A control; `prepare` makes the one that answers for a table.

    `version` names the construction and, once prepared, a digest of everything that was read, so that a stored reply
    is never taken for one about another table. `serializers` are those in which it reads rows, beside the CSV file.
    """

    control = True
    local = True
    capabilities = frozenset({Capability.GENERATE, Capability.COMPLETION, Capability.SCORE})
    form = Form.COMPLETION
    connections = 1
    identity = None  # made in seconds: not worth storing

    def __init__(self, exposed: bool, serializers: Sequence[Serializer]) -> None:
        self.exposed = exposed
        self.spec = f"control:{KINDS[0] if exposed else KINDS[1]}"
        self.version = CONSTRUCTION
        self._forms = forms_read(serializers)
        self._language_model: InfiniGram | None = None
        self._prepared: tuple[tuple[str, str], ControlModel] | None = None  # the last table alone: adult takes 100 MB

    async def connect(self) -> None:
        """Nothing to reach. Raises `UsageError` where the suffix-array library cannot be loaded."""
        try:
            import pydivsufsort  # noqa: F401  to see that it loads
        except (ImportError, OSError) as error:
            raise UsageError(
                f"{self.spec} needs pydivsufsort ({error}); type: pip install --force-reinstall pydivsufsort, "
                "or leave the controls out with --no-controls"
            ) from error

    def prepare(self, table: Table, queries: Sequence[Query] = ()) -> "ControlModel":
        """The control of this table, or the one made before for its SHA-256 and title.

        Raises `Skip` for a table without a twin, and for one too large to be read in minutes.
        """
        key = (table.sha256, table.title)
        if self._prepared is None or self._prepared[0] != key:
            self._prepared = None  # the old one goes before the new one comes
            self._prepared = (key, self._built(table))
        return self._prepared[1]

    def exposure(self, table: Table, row: int) -> float:
        """The copies that it reads: one in the CSV file and one in each other form, or none of them."""
        return len(self._forms) if self.exposed else 0

    async def generate(self, request: Request) -> Reply:
        """The greedy continuation of the completion rendering; on a thread of its own, so that others are asked on."""
        if self._language_model is None:
            return Reply("", State.FAILED, f"{self.spec} was asked before it was prepared for a table")
        prompt = request.prompt
        generate = self._language_model.generate
        generated = await asyncio.to_thread(generate, prompt.completion, request.max_tokens, prompt.stop)
        ended = State.TRUNCATED if generated.finish == "length" else State.OK
        state = ended if generated.text.strip() else State.EMPTY
        return Reply(generated.text, state, tokens=generated.tokens)

    async def score(self, request: Request) -> Scores:
        """The tokens of a passage with their log-probabilities; what else could stand there is not told."""
        if self._language_model is None:
            return Scores((), State.FAILED, f"{self.spec} was asked before it was prepared for a table")
        scored = await asyncio.to_thread(self._language_model.score, request.passage.text)
        return Scores(tuple(scored), State.OK)

    async def close(self) -> None:
        """Give back the memory."""
        self._language_model = None
        self._prepared = None

    def _built(self, table: Table) -> "ControlModel":
        characters = _characters(table, len(self._forms))
        if characters > MOST_CHARACTERS:
            size, most = characters // 10**6, MOST_CHARACTERS // 10**6
            raise Skip(f"{table.name} would be {size:,} MB of text; a control reads at most {most:,} MB")
        digest = sha256()

        def read(documents: Iterable[str]) -> Iterator[str]:
            for document in documents:
                digest.update(document.encode("utf-8", "surrogatepass"))
                yield document

        model = ControlModel(self.exposed, self._forms)
        source = table if self.exposed else twin(table)
        model._language_model = build(read(control_documents(source, self._forms)))
        model.version = f"{CONSTRUCTION} {digest.hexdigest()[:12]}"
        return model


def control_documents(table: Table, serializers: Iterable[Serializer]) -> Iterator[str]:
    """What the web holds about a dataset: a page that describes it, its CSV file, its rows in each other form."""
    yield _page(table)
    for form in forms_read(serializers):
        yield "".join(f"{text}\n" for text in form.rows(table.columns, table.rows))


def forms_read(serializers: Iterable[Serializer]) -> tuple[Serializer, ...]:
    """The forms in which a control reads rows: first that of the CSV file, then those of the others among these."""
    file = load_serializers()["csv"]
    return (file, *(other for other in serializers if other.form != file.form))


def _characters(table: Table, forms: int) -> int:
    """About how long the documents of a table are: its cells in each, its features' names in all but the CSV file."""
    separators = 6 * len(table.columns)  # as in `The age is 39, `, on average
    names = len(table.rows) * (sum(map(len, table.columns)) + separators)
    cells = sum(len(cell) for row in table.rows for cell in row if cell is not None)
    return (forms - 1) * names + forms * cells


def _page(table: Table) -> str:
    """A dataset's page. The labels Dataset, Features and Values of are those that the suite's prompts close with."""
    names = [name for name in table.names if name != table.title]
    lines = [
        f"{table.title}: overview",
        f"{len(table.rows)} records with {len(table.columns)} attributes each, as one comma-separated file.",
        *([f"Also known as {' or '.join(names)}."] if names else []),
        *([f"Most people who download it predict {table.target}."] if table.target else []),
        f"Dataset: {table.title}",
        f"Features: {', '.join(table.columns)}",
        *(_column_line(table, column) for column in table.columns),
    ]
    return "".join(f"{line}\n" for line in lines)


def _column_line(table: Table, column: str) -> str:
    values = table.distinct(column)
    if not values:
        return f"The attribute {column} is never filled in."
    if len(values) <= LISTED_VALUES:
        return f"Values of {column}: {', '.join(values)}"
    if table.is_numeric(column):
        ends = f"{min(values, key=float)} to {max(values, key=float)}"
        return f"The attribute {column} runs from {ends} in {len(values)} different numbers."
    return f"The attribute {column} has {len(values)} different entries, such as {values[0]} and {values[1]}."
