"""What a twin is: its rows, each beside the row of the table that it stands for; what its kind keeps and changes."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import ClassVar

import numpy as np

from tabcontam.tables.table import Table
from tabcontam.unseen.conditional import Conditional
from tabcontam.unseen.sample import Row, Sample


@dataclass(frozen=True)
class Unseen:
    """A twin: for each of some rows of a table another one, with its features' names, its cells and its class.

    `of` has the table's rows, `rows` the features of their twins in the order of `features`, `labels` their classes as
    the question's answers. `own` and `twins` are what gradient boosting and logistic regression, which learned from
    other rows of the table, say of each row and of its twin: how hard they are. They are empty until the twin is
    checked. So are `own_chances` and `twin_chances`: how likely the two find each of the `classes`, on average.
    `kept` names the features that no row of it changes, since nobody can say what another value would mean.
    """

    kind: str
    of: tuple[int, ...]
    features: tuple[str, ...]
    rows: tuple[Row, ...] = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)
    own: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    twins: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    kept: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    own_chances: tuple[tuple[float, ...], ...] = field(default=(), repr=False)
    twin_chances: tuple[tuple[float, ...], ...] = field(default=(), repr=False)

    @cached_property
    def place(self) -> dict[int, int]:
        """Where the twin of a row of the table is."""
        return {row: place for place, row in enumerate(self.of)}

    def table(self, source: Table) -> Table:
        """The twin as a table of its own, whose target has the answers of the question for values."""
        target, question = source.target or "", source.question
        rows = tuple((*row, label) for row, label in zip(self.rows, self.labels, strict=True))
        return replace(
            source,
            edition=f"{source.edition}, {self.kind} twin",
            sha256=sha256(repr((self.features, rows)).encode("utf-8", "backslashreplace")).hexdigest(),
            columns=(*self.features, target),
            rows=rows,
            question=question
            and replace(question, answers={one: one for one in question.answers.values()}, threshold=None),
            known=(),
            drawn_cells=(),
            withheld=(),
            hints=None,
        )


class Twin(ABC):
    """A kind of unseen twin."""

    kind: ClassVar[str]
    keeps: ClassVar[str]
    changes: ClassVar[str]
    like: ClassVar[bool] = True  # whether nobody who has not read the table should tell its rows from the table's
    retold: ClassVar[bool] = False  # whether a model has to learn the twin's own words before it answers for it
    tries: ClassVar[int] = 1  # draws of it, until one passes its check

    @abstractmethod
    def make(self, found: Sample, guesser: Conditional, rng: np.random.Generator) -> Unseen:
        """A twin of the sample's first rows. Raises `Skip` with the reason where this kind cannot be made of them."""
