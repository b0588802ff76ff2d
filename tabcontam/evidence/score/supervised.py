"""How hard a table is: what gradient boosting that learns from most of its rows gets on the others."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tabcontam.evidence.score.classification import described
from tabcontam.guesser.kept import kept
from tabcontam.tables.draws import pool
from tabcontam.tables.table import Table
from tabcontam.unseen.sample import labelled

VERSION = 1  # of the baseline: what another one found is not read
ROWS = 2000  # of a larger table, chosen by a seed
PARTS = 5  # of which each is predicted from the others


@dataclass(frozen=True)
class Supervised:
    """The share of rows that are predicted right, each from rows of other parts, and that of the largest class."""

    accuracy: float
    majority: float
    rows: int

    @property
    def lift(self) -> float:
        """The accuracy less the majority's."""
        return self.accuracy - self.majority


def supervised(table: Table) -> Supervised | None:
    """scikit-learn's HistGradientBoostingClassifier, cross-validated in five parts on at most 2,000 rows.

    The difficulty control of Li and Flanigan (2024), section 4 and figure 4, which there is a fine-tuned language
    model. None where nothing can be learned so: without a question, with a class of fewer rows than parts, and of
    texts, which such a model cannot read. It takes about a second, and what was found is kept in the cache folder.
    """
    target, question = table.target, table.question
    if target is None or question is None or table.text is not None:
        return None
    labels = labelled(table, target, question)
    rows = pool(table, sorted(labels), ROWS)
    answers = np.array([labels[row] for row in rows])
    counts = np.unique(answers, return_counts=True)[1] if len(answers) else np.array([])
    if len(counts) < 2 or counts.min() < PARTS:
        return None

    def find() -> Supervised:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.model_selection import StratifiedKFold, cross_val_predict

        parts = StratifiedKFold(PARTS, shuffle=True, random_state=0)
        model = HistGradientBoostingClassifier(max_iter=60, early_stopping=False, random_state=0)
        said = cross_val_predict(model, described(table, target, rows), answers, cv=parts)
        return Supervised(float((said == answers).mean()), float(counts.max() / len(answers)), len(rows))

    question_of_it = ["supervised", VERSION, target, dict(question.answers), question.threshold, sorted(table.missing)]
    return kept(table, question_of_it, find, _write, _read)


def _write(found: Supervised) -> object:
    return [found.accuracy, found.majority, found.rows]


def _read(found: Any) -> Supervised:
    accuracy, majority, rows = found
    return Supervised(float(accuracy), float(majority), int(rows))
