"""The interface of unseen twins: a twin's rows, each with the place of its original row, and the kinds of twins."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import ClassVar

import numpy as np

from tabcontam.tables.table import Cell, Table
from tabcontam.twins.blind_classifier import BlindClassifier
from tabcontam.twins.label_baseline import LabelBaseline
from tabcontam.twins.twin_sample import Row, TwinSample


@dataclass(frozen=True)
class UnseenTwin:
    """A twin of a table: made-up rows with their classes, one for each of some of the table's rows.

    `originals` are the places of the table's rows. `rows` are the features of their twins, in the order of `features`.
    `labels` are the twins' classes, as answers to the classification question. `own` and `twins` are the classes that
    two learners, gradient boosting and logistic regression, predict for each row and for its twin. Both learned from
    other rows of the table. Their accuracy shows whether rows and twins are equally hard to predict. `own_chances` and
    `twin_chances` are the chances of each of the `classes` for the rows and for the twins, averaged over both learners.
    These five fields are empty until the twin is checked. `unchanged` names the features that are equal in all rows and
    twins, because the meaning of other values is unknown.
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
        """The index in `rows` of each row's twin, by the place of the row in the table."""
        return {row: place for place, row in enumerate(self.originals)}

    def table(self, source: Table) -> Table:
        """Return the twin as a table, with the question's answers as target values."""
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
    """A kind of unseen twin, such as `perturbed`."""

    kind: ClassVar[str]
    like: ClassVar[bool] = True  # whether its rows look like the table's to a reader who has not read the table
    relearned: ClassVar[bool] = False  # whether learners must learn from twins to predict twins
    tries: ClassVar[int] = 1  # most draws until one passes its check

    @abstractmethod
    def make(self, sample: TwinSample, baseline: LabelBaseline, rng: np.random.Generator) -> UnseenTwin:
        """Return a twin of the sample's first rows.

        Raises `Skip` with the reason if these rows have no twin of this kind.
        """

    def _of_each(self, sample: TwinSample, features: Sequence[str], columns: Iterable[Sequence[Cell]]) -> UnseenTwin:
        """Return the twin with a row for each row that may have one, made of these cells of each feature."""
        rows, places = tuple(zip(*columns, strict=True)), sample.places[: sample.twins]
        return UnseenTwin(self.kind, places, tuple(features), rows, sample.labels[: sample.twins])

    def _of_draws(
        self,
        sample: TwinSample,
        draws: Mapping[int, Sequence[Row]],
        labelled: Callable[[list[Row], list[int]], Sequence[str]],
        rng: np.random.Generator,
    ) -> UnseenTwin:
        """Return a twin of each row with `draws`, by its index: one of them that looks like the table's rows.

        `labelled` returns the label of each draw; it gets all draws and the index of each one's original.
        """
        kept = sorted(draws)
        flat = [draw for row in kept for draw in draws[row]]
        of = np.repeat(np.arange(len(kept)), [len(draws[row]) for row in kept])
        labels = labelled(flat, np.array(kept)[of].tolist())
        blind = BlindClassifier(sample, kept, "choice")
        codes = np.array([sample.classes.index(label) for label in labels])
        taken = blind.chosen(blind.read(flat, codes), of, rng).tolist()
        rows, places = tuple(flat[place] for place in taken), tuple(sample.places[row] for row in kept)
        return UnseenTwin(self.kind, places, sample.features, rows, tuple(labels[place] for place in taken))
