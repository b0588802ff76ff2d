"""Learners that see only the rows of a prompt: they show how accurate a classifier without a language model is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabcontam.errors import one_line
from tabcontam.extensions.evaluate.thresholds import ROWS_A_LEAF

Floats = NDArray[np.float64]
Chances = Mapping[str, float]


@dataclass(frozen=True)
class ShotLearner:
    """A kind of learner, the function that makes one for a number of rows, and its `package` if that is optional."""

    name: str
    make: Callable[[int], Any]
    package: str = ""

    @property
    def here(self) -> bool:
        return not self.package or find_spec(self.package) is not None


def _logistic_regression(rows: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def _gradient_boosting(rows: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(min_samples_leaf=_leaf(rows), early_stopping=False, random_state=0)


def _lightgbm(rows: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(min_child_samples=_leaf(rows), n_jobs=1, random_state=0, verbose=-1)


def _tabpfn(rows: int) -> Any:
    from tabpfn import TabPFNClassifier

    return TabPFNClassifier(device="cpu", random_state=0)


def _leaf(rows: int) -> int:
    return max(1, min(20, rows // ROWS_A_LEAF))


LOGISTIC_REGRESSION, GRADIENT_BOOSTING = "logistic regression", "gradient boosting"
LEARNERS = (
    ShotLearner(LOGISTIC_REGRESSION, _logistic_regression),
    ShotLearner(GRADIENT_BOOSTING, _gradient_boosting),
    ShotLearner("LightGBM", _lightgbm, "lightgbm"),
    ShotLearner("TabPFN", _tabpfn, "tabpfn"),
)


def absent() -> Iterator[str]:
    """Yield a line on each learner whose package is not installed."""
    for learner in LEARNERS:
        if not learner.here:
            yield f"{learner.name} is not installed: pip install 'tabcontam[{learner.package}]'"


def learned(learner: ShotLearner, shown: Floats, labels: Sequence[str], asked: Floats) -> list[Chances] | str:
    """Return the chances of the shown classes for each asked row, or the reason if the learner cannot be fitted."""
    classes = sorted(set(labels))
    if len(classes) == 1:
        return [{classes[0]: 1.0}] * len(asked)
    try:
        model = learner.make(len(labels))
        model.fit(shown, np.array(labels))
        probabilities = np.asarray(model.predict_proba(asked), dtype=np.float64)
        names = [str(name) for name in model.classes_]
    except Exception as error:  # a library may raise anything, for example without its weights
        return f"{learner.name} failed: {one_line(error)}"
    return [dict(zip(names, map(float, row), strict=True)) for row in probabilities]
