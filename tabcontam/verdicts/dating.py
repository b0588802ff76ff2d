"""The dates of tables and of training cut-offs, as precise as they are stated, and their order."""

from calendar import isleap
from datetime import date

from tabcontam.models.catalogue import CatalogueEntry, load_catalogue
from tabcontam.tables.dataset_cards import Card, all_cards, find_card
from tabcontam.verdicts.result_types import TableFields
from tabcontam.verdicts.results import RunResults

BEFORE, AFTER, NEITHER = 1, -1, 0


def card_of(view: RunResults, table: TableFields) -> Card | None:
    """Return the card of a table, by its file's SHA-256 or, for recorded answers, by its name; None without a card."""
    if view.run.recorded:
        return find_card(table.dataset)
    digests = {one.sha256 for one in view.run.datasets if one.key == (table.dataset, table.edition, table.split or "")}
    for card in all_cards().values():
        if card.name == table.dataset and digests & {file.sha256 for file in card.files}:
            return card
    return None


def entry_of(view: RunResults, llm: str) -> CatalogueEntry | None:
    """Return the catalogue's entry of a model of a run; None if the model has no entry."""
    return load_catalogue().get(view.run.catalogue[llm].name) if llm in view.run.catalogue else None


def side(released: str, cutoff: str, completed: str = "") -> int:
    """Return 1 if a table was published before the end of training data, -1 if after it, 0 if that is not known.

    All dates are YYYY, YYYY-MM or YYYY-MM-DD. Two dates are compared at the precision that both have. If they are equal
    at that precision, the result is 0. A table that grew after its release until `completed`, such as the data of a
    season, counts as before only if its last row is.

    >>> side("2021", "2021-09"), side("2020", "2021-09"), side("2021-10-03", "2021-09")
    (0, 1, -1)
    >>> side("2025-08-15", "2026-01", "2026-05-24")
    0
    """
    alike = min(len(released), len(cutoff))
    if not alike or released[:alike] == cutoff[:alike]:
        return NEITHER
    if released > cutoff:
        return AFTER
    return NEITHER if completed and side(completed, cutoff) != BEFORE else BEFORE


def year_of(stated: str) -> float:
    """Return a date as a number of years: the middle of the stated year, month or day.

    >>> year_of("2020"), round(year_of("2020-06"), 2), year_of("2020-01-01")
    (2020.5, 2020.46, 2020.0)
    """
    year, month, day = (*map(int, stated.split("-")), 0, 0)[:3]
    if not month:
        return year + 0.5
    if not day:
        return year + (month - 0.5) / 12
    return year + (date(year, month, day).timetuple().tm_yday - 1) / (366 if isleap(year) else 365)
