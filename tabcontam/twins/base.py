"""The classes of twins: a twin's rows, each with the row of the table that it stands for, and the kinds of twins."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import ClassVar

import numpy as np

from tabcontam.tables.table import Table
from tabcontam.twins.label_baseline import LabelBaseline
from tabcontam.twins.twin_sample import Row, TwinSample


@dataclass(frozen=True)
class UnseenTwin:
    """A twin of a table: a made-up row for each of some of its rows, with its class.

    `originals` has the places of the table's rows, `rows` the features of their twins in the order of `features`,
    `labels` their classes as the question's answers. `own` and `twins` are the predictions of gradient boosting and
    logistic regression, which learned from other rows of the table, for each row and for its twin; they measure its
    difficulty. They are empty until the twin is checked. So are `own_chances` and `twin_chances`: the chance of each of
    the `classes`, on average over the two learners. `unchanged` names the features that no row of it changes, since the
    meaning of another value is unknown.
    """

    kind: str
    originals: tuple[int, ...]
    features: tuple[str, ...]
    rows: tuple[Row, ...] = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)
    own: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    twins: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    unchanged: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    own_chances: tuple[tuple[float, ...], ...] = field(default=(), repr=False)
    twin_chances: tuple[tuple[float, ...], ...] = field(default=(), repr=False)

    @cached_property
    def place(self) -> dict[int, int]:
        """The place of the twin of each of the table's rows."""
        return {row: place for place, row in enumerate(self.originals)}

    def table(self, source: Table) -> Table:
        """Return the twin as a table; the values of its target are the answers of the question."""
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
    like: ClassVar[bool] = True  # whether a reader who has not read the table takes its rows for the table's
    relearned: ClassVar[bool] = False  # whether a learner must learn from the twin's rows before it predicts for them
    tries: ClassVar[int] = 1  # most draws of it until one passes its check

    @abstractmethod
    def make(self, sample: TwinSample, baseline: LabelBaseline, rng: np.random.Generator) -> UnseenTwin:
        """Return a twin of the sample's first rows.

        Raises `Skip` with the reason if this kind cannot be made of them.
        """
