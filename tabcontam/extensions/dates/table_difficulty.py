"""The difficulty of a run's tables, for the command `chronology`: the lift of a supervised baseline."""

from collections.abc import Callable

from tabcontam.errors import UsageError, one_line
from tabcontam.extensions.dates.cross_validated_accuracy import supervised
from tabcontam.tables.dataset_cards import find_card
from tabcontam.tables.splits_by_date import is_dated
from tabcontam.tables.table import load_table
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.run_facts import DatasetFacts


def _is_part(dataset: DatasetFacts) -> bool:
    """Return whether the dataset is a part of a table's rows, chosen by their dates."""
    card = find_card(dataset.name)
    return is_dated(dataset.split or "") and (card is None or bool(card.dates.dated_by))


def baselines(
    view: RunResults, tell: Callable[[str], object] = lambda name: None
) -> tuple[dict[str, float], list[str]]:
    """Return the lift of a supervised baseline over the majority class, and a line on each table without a lift.

    The lifts are by the table's name in the run. A card's table that is not available here has no lift. `tell` is
    called with the name of each table before it is read.
    """
    tables = [dataset for dataset in view.run.datasets if not dataset.is_file and not _is_part(dataset)]
    specs = {dataset.name: dataset.named for dataset in tables}
    if view.run.recorded:
        cards = {result.dataset: find_card(result.dataset) for result in view.results}
        specs = {name: card.name for name, card in cards.items() if card is not None}
    found: dict[str, float] = {}
    lines: list[str] = []
    for name, spec in specs.items():
        tell(name)
        try:
            baseline = supervised(load_table(spec))
        except (UsageError, ArithmeticError, ValueError) as error:  # the baseline may fail on a table
            lines.append(f"{name}: its difficulty cannot be measured: {one_line(error)}")
        else:
            if baseline is not None:
                found[name] = baseline.lift
    return found, lines
