"""The recipe of exposed models: everything that determines the models and the text that they read, in its order.

The recipe states the number of times that a model reads each row. An arm is a group of rows, or of tables, with the
same number.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from random import Random

from tabcontam.errors import UsageError, option, unknown
from tabcontam.extensions.exposed.base_models import BaseLlm, base_of
from tabcontam.extensions.exposed.model_sizes import SIZES, ModelSize, StepSettings
from tabcontam.groups import grouped
from tabcontam.models.known.exposure_card import Copies
from tabcontam.tables.serializers import DEFAULT, Serializer, as_facts, load_serializer
from tabcontam.tables.table import Table

ROWS, TABLES = ARMS = ("rows", "tables")
KEPT, SHUFFLED = "kept", "shuffled"
ORDERS = (KEPT, SHUFFLED)
DEFAULT_SIZE = "small"
Facts = dict[str, object]


@dataclass(frozen=True)
class Filler:
    """English prose that is read in addition to the tables. `name` is the user's file, or "" for the shipped prose."""

    text: str
    name: str = ""

    @property
    def sha256(self) -> str:
        """The SHA-256 of the text in UTF-8."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True)
class Recipe:
    """The checked choices of a user. `copies` lists how often texts are read. `arms` is the unit that has one of these
    numbers: rows or tables.

    A model starts from random weights in the named size, or from the weights of `base`.
    """

    tables: tuple[Table, ...]
    copies: tuple[int, ...]
    arms: str = ROWS
    renderings: tuple[Serializer, ...] = ()
    order: str = KEPT
    page: bool = False
    seed: int = 0
    size_name: str = "small"
    filler: Filler = field(default_factory=lambda: Filler(""))
    base: BaseLlm | None = None

    @property
    def size(self) -> ModelSize:
        """The size of a new model."""
        return SIZES[self.size_name]

    @property
    def steps(self) -> StepSettings:
        """The steps in which a model learns."""
        return self.base.steps if self.base else self.size.steps

    @property
    def facts(self) -> Facts:
        """The recipe's facts for JSON. Recipes with the same facts make the same models."""
        version = 1  # raised when the same choices make other models
        named = [
            {"name": table.name, "title": table.title, "sha256": table.sha256, "rows": len(table.rows)}
            for table in self.tables
        ]
        return {
            "recipe": version,
            "datasets": named,
            "copies": list(self.copies),
            "arms": self.arms,
            "renderings": [as_facts(form) | {"source": ""} for form in self.renderings],
            "order": self.order,
            "page": self.page,
            "seed": self.seed,
            **({"base": self.base.facts} if self.base else {"size": self.size_name}),
            "filler": self.filler.sha256,
        }


def recipe(
    tables: Sequence[Table],
    copies: Sequence[int],
    *,
    arms: str = ROWS,
    renderings: Sequence[str] = (),
    order: str = KEPT,
    page: bool = False,
    seed: int = 0,
    size: str = "",
    filler: Path | None = None,
    llm: str = "",
    lora: bool = False,
    rate: float | None = None,
    most_copies: int = 100_000,
) -> Recipe:
    """Return the recipe for the user's choices. Raises `UsageError` if they are not possible.

    `llm` is the model to train further, with the options `lora` and `rate`. Without `llm`, a new model of this `size`
    is made (by default `small`).
    """
    _check_start(llm, size, lora, rate)
    size = size or DEFAULT_SIZE
    for kind, name, known in (("arms", arms, ARMS), ("order", order, ORDERS), ("size", size, SIZES)):
        if name not in known:
            raise unknown(kind, name, known)
    if not tables:
        raise UsageError(f"the models have no table to read; name one with {option('dataset', 'iris')}")
    digests = [table.sha256 for table in tables]
    if twice := [table.name for place, table in enumerate(tables) if table.sha256 in digests[:place]]:
        raise UsageError(f"{twice[0]} is given twice; name each table once")
    if not copies or not all(0 <= number <= most_copies for number in copies):
        raise UsageError(f"copies are whole numbers from 0 to {most_copies:,}; write them as 0,1,4,16")
    if len(set(copies)) < len(copies):
        raise UsageError("a number of copies is given twice; name each once, such as 0,1,4,16")
    forms = tuple(dict.fromkeys(map(load_serializer, renderings or (DEFAULT,))))
    text, base = _filler(filler, tables), base_of(llm, lora, rate) if llm else None
    return Recipe(tuple(tables), tuple(copies), arms, forms, order, page, seed, size, text, base)


def _check_start(llm: str, size: str, lora: bool, rate: float | None) -> None:
    if llm and size:
        raise UsageError(f"--size is for models that are made from nothing; leave out --size or {option('llm', llm)}")
    if not llm and (lora or rate is not None):
        given, example = "--lora" if lora else "--rate", option("llm", "hf:REPO_OR_FOLDER")
        raise UsageError(f"{given} is for an existing model; name one with {example}")


def _filler(file: Path | None, tables: Sequence[Table]) -> Filler:
    """Return a file's text, or the shipped prose. Raises `UsageError` if it is unreadable or has rows of a table."""
    if file is None:
        return Filler(files(__package__).joinpath("prose.txt").read_text("utf-8"))
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the filler {file}: {error}; name a file of English prose in UTF-8") from error
    if not text.strip():
        raise UsageError(f"the filler {file} is empty; name a file of English prose in UTF-8")
    lines = set(map(str.strip, text.splitlines()))
    form = load_serializer("csv")
    for table in tables:
        if row := next((n for n, row in enumerate(table.rows, 1) if form.row(table.columns, row) in lines), 0):
            raise UsageError(f"the filler {file} holds row {row} of {table.name}; its copies cannot be counted then")
    return Filler(text, str(file))


def first_difference(stated: Mapping[str, object], wanted: Mapping[str, object]) -> str | None:
    """Return the name of the first fact that differs between a recorded and a wanted recipe, or None."""
    same = json.loads(json.dumps(wanted))
    return next((key for key in (*same, *stated) if stated.get(key) != same.get(key)), None)


def designs(tables: Sequence[Table], copies: Sequence[int], arms: str, seed: int) -> list[list[Copies]]:
    """Return, for each model and each table, how often each row of the table is read.

    With arms of rows there is one model. The rows of each table are divided at random into one arm for each number in
    `copies`. With arms of tables there is one model for each number in `copies`. Model m reads table t `copies[(t + m)
    % len(copies)]` times. In this Latin square, each table is read each number of times by one model.
    """
    if arms == ROWS:
        return [[deal_copies(table, copies, seed) for table in tables]]
    rungs = len(copies)
    return [
        [(copies[(place + model) % rungs],) * len(table.rows) for place, table in enumerate(tables)]
        for model in range(rungs)
    ]


def deal_copies(table: Table, copies: Sequence[int], seed: int) -> Copies:
    """Return a number of copies for each row, as evenly as possible. Equal rows get the same number."""
    places = list(grouped(range(len(table.rows)), table.rows.__getitem__).values())
    Random(f"arms {seed} {table.sha256}").shuffle(places)
    found = [0] * len(table.rows)
    for number, same in enumerate(places):
        for place in same:
            found[place] = copies[number % len(copies)]
    return tuple(found)
