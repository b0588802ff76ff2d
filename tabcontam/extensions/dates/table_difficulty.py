"""The difficulty of a table, for the command `chronology`: the cross-validated accuracy of gradient boosting."""

from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from tabcontam.baseline.stored_facts import stored_fact
from tabcontam.errors import UsageError, one_line
from tabcontam.evidence.score.classification import described
from tabcontam.evidence.thresholds import FIFTHS
from tabcontam.extensions.dates.thresholds import MOST_CROSS_VALIDATED_ROWS
from tabcontam.tables.dataset_cards import find_card
from tabcontam.tables.row_draws import pool
from tabcontam.tables.splits_by_date import is_dated
from tabcontam.tables.table import Table, load_table
from tabcontam.twins.twin_sample import labelled
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.run_facts import DatasetFacts


@dataclass(frozen=True)
class CrossValidatedAccuracy:
    """The share of rows predicted right by a learner of other rows, and the share of the most frequent class."""

    accuracy: float
    majority: float
    rows: int

    @property
    def lift(self) -> float:
        return self.accuracy - self.majority


# version: cached results of other versions are not read
def supervised(table: Table, *, version: int = 1) -> CrossValidatedAccuracy | None:
    """Return the accuracy of scikit-learn's HistGradientBoostingClassifier, cross-validated in five parts.

    The classifier uses at most 2,000 rows. Its accuracy is the difficulty control of Li and Flanigan (2024), section 4
    and figure 4, who use a fine-tuned language model. Return None if the table has no question, if a class has fewer
    rows than there are parts, or if features are texts, which the classifier cannot read. It takes about a second; the
    result is stored in the cache.
    """
    target, question = table.target, table.question
    if target is None or question is None or table.text is not None:
        return None
    labels = labelled(table, target, question)
    rows = pool(table, sorted(labels), MOST_CROSS_VALIDATED_ROWS)
    answers = np.array([labels[row] for row in rows])
    counts = np.unique(answers, return_counts=True)[1] if len(answers) else np.array([])
    if len(counts) < 2 or counts.min() < FIFTHS:
        return None

    def find() -> CrossValidatedAccuracy:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.model_selection import StratifiedKFold, cross_val_predict

        parts = StratifiedKFold(FIFTHS, shuffle=True, random_state=0)
        model = HistGradientBoostingClassifier(max_iter=60, early_stopping=False, random_state=0)
        right = cross_val_predict(model, described(table, target, rows), answers, cv=parts) == answers
        return CrossValidatedAccuracy(float(right.mean()), float(counts.max() / len(answers)), len(rows))

    def read(found: Any) -> CrossValidatedAccuracy:
        accuracy, majority, rows = found
        return CrossValidatedAccuracy(float(accuracy), float(majority), int(rows))

    question_of_it = ["supervised", version, target, dict(question.answers), question.threshold, sorted(table.missing)]
    return stored_fact(table, question_of_it, find, lambda found: list(astuple(found)), read)


def _is_part(dataset: DatasetFacts) -> bool:
    """Return whether the dataset is a part of a table's rows, chosen by their dates."""
    card = find_card(dataset.name)
    return is_dated(dataset.split or "") and (card is None or bool(card.dates.dated_by))


def baselines(view: RunResults) -> tuple[dict[str, float], list[str]]:
    """Return the baseline's lift by the table's name in the run, and a line on each table that cannot be measured."""
    tables = [dataset for dataset in view.run.datasets if not dataset.is_file and not _is_part(dataset)]
    specs = {dataset.name: dataset.named for dataset in tables}
    if view.run.recorded:
        cards = {result.dataset: find_card(result.dataset) for result in view.results}
        specs = {name: card.name for name, card in cards.items() if card is not None}
    found: dict[str, float] = {}
    lines: list[str] = []
    for name, spec in specs.items():
        try:
            baseline = supervised(load_table(spec))
        except (UsageError, ArithmeticError, ValueError) as error:  # the baseline may fail on a table
            lines.append(f"{name}: its difficulty cannot be measured: {one_line(error)}")
        else:
            if baseline is not None:
                found[name] = baseline.lift
    return found, lines
