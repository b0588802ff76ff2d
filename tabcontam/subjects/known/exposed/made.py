"""What `expose` left in a folder: its models, and which tables they have read."""

from pathlib import Path

from tabcontam.errors import UsageError, option
from tabcontam.subjects.known.exposed.card import Card, read_card
from tabcontam.tables.table import Table, load_table


def models_in(folder: Path) -> list[tuple[Path, Card]]:
    """The finished models of a folder, each with its card: the folder itself, or those in it; none where none is.

    Raises `UsageError` for a card that cannot be believed.
    """
    own = read_card(folder)
    if own is not None:
        return [(folder, own)]
    inside = sorted(folder.glob("model-*"), key=lambda one: (len(one.name), one.name))
    return [(one, card) for one in inside if (card := read_card(one)) is not None]


def tables_read(card: Card) -> list[str]:
    """The names of the tables that a model has read. Raises `UsageError` where one is not found by its name."""
    for read in card.tables:
        if not _is(read.name, read.sha256):
            advice = f"name each table that is to be asked about with {option('dataset', 'FILE')}"
            raise UsageError(f"the models have read {read.name}, which is not found here by that name; {advice}")
    return [read.name for read in card.tables]


def _is(name: str, sha256: str) -> bool:
    try:
        table: Table = load_table(name)
    except UsageError:
        return False
    return table.sha256 == sha256
