"""The models that `expose` made in a folder, and the tables that they have read."""

from pathlib import Path

from tabcontam.errors import UsageError, option
from tabcontam.models.known.exposure_card import ExposureCard, read_card
from tabcontam.tables.dataset_cards import all_cards
from tabcontam.tables.table import Table, load_table


def models_in(folder: Path) -> list[tuple[Path, ExposureCard]]:
    """Return the finished models, each with its card: `folder` itself if it is a model, else the models in it.

    Raises `UsageError` for an invalid card.
    """
    own = read_card(folder)
    if own is not None:
        return [(folder, own)]
    inside = sorted(folder.glob("model-*"), key=lambda one: (len(one.name), one.name))
    return [(one, card) for one in inside if (card := read_card(one)) is not None]


def tables_read(card: ExposureCard) -> list[str]:
    """Return the names of the tables that a model has read. Raises `UsageError` if a name finds no table."""
    found = []
    for read in card.tables:
        names = [*dict.fromkeys((read.named, read.name)), *_splits(read.name, read.sha256)]
        name = next((name for name in names if _is(name, read.sha256)), None)
        if name is None:
            advice = f"name each table that is to be asked about with {option('dataset', 'FILE')}"
            raise UsageError(f"the models have read {read.named}, which is not found here by that name; {advice}")
        found.append(name)
    return found


def _splits(name: str, sha256: str) -> list[str]:
    """Return the splits of the dataset `name` whose file has this SHA-256, if the dataset has a card."""
    known = all_cards().get(name)
    files = known.files if known is not None else ()
    return [f"{name}@{file.name}#{file.split}" for file in files if file.split and file.sha256 == sha256]


def _is(name: str, sha256: str) -> bool:
    try:
        table: Table = load_table(name, whole=True)
    except UsageError:
        return False
    return table.sha256 == sha256
