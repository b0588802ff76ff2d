"""What a name means among the results of a run: which LLMs, and which tables."""

from collections.abc import Sequence
from pathlib import Path

from tabcontam.errors import UsageError, unknown
from tabcontam.subjects.catalogue import find_entry
from tabcontam.subjects.labels import split_label
from tabcontam.tables.cards import SHORT, find_card, split_edition, split_named
from tabcontam.tables.files import digest_of, named_file
from tabcontam.tables.sources import card_of, is_source, stated_name
from tabcontam.verdicts.cells import TableName
from tabcontam.verdicts.results import RunResults


def llms_named(view: RunResults, names: Sequence[str]) -> list[str]:
    """The LLMs of a run that these names mean: as the run has them, what that stood for, or names of the catalogue.

    Without names all but the controls that joined. Raises `UsageError` for a name that no LLM of the run has.
    """
    known = view.llms
    if not names:
        return [llm for llm in known if llm not in view.joined]
    return list(dict.fromkeys(llm for name in names for llm in _llms(view, name, known)))


def _llms(view: RunResults, name: str, known: Sequence[str]) -> list[str]:
    if name in known:
        return [name]
    stood_for = {llm.spec: llm.stands_for or llm.spec for llm in view.run.llms}
    label, written = split_label(name)
    if label in known and _means(written) & _means(stood_for.get(label, "")):
        return [label]
    means = _means(name)
    found = [llm for llm in known if name == llm or means & _means(stood_for.get(llm, llm))]
    if not found:
        raise unknown("LLM of these results", name, known)
    return found


def _means(spec: str) -> set[str]:
    """An LLM as it is written, and what the catalogue has under that name: PROVIDER:MODEL is the entry of MODEL."""
    entry = find_entry(spec) or find_entry(spec.partition(":")[2])
    return {spec, *((entry.name, *entry.served) if entry else ())}


def places_named(view: RunResults, name: str) -> list[TableName]:
    """The tables of a run that a name means: a label of the report, NAME, NAME@EDITION, an alias, a FILE or a source.

    Behind each may stand `#SPLIT`; without it all splits are meant.

    Raises `UsageError` for a name that no table of the run has, and for a FILE or a user's own card that has changed
    since.
    """
    fetched = is_source(name)
    if fetched:
        name = card_of(name) or stated_name(name)
    labels = {cell.table: view.label(cell) for cell in view.cells}
    named, split = split_named(name)
    base, edition = split_edition(named)
    card, file = find_card(base), None if fetched else named_file(name)
    found = [place for place, label in labels.items() if name in (label, *_names(place))]
    if not found and card is not None:
        places = [place for place in labels if place.dataset == card.name]
        found = [
            place
            for place in places
            if edition in (None, card.named(place.edition or "")) and split in (None, place.split)
        ]
    if not found:
        found = [place for place in labels if (file.name if file else Path(name).name) in _names(place)]
    if not found:
        raise unknown("dataset of these results", name, dict.fromkeys(labels.values()))
    if card is not None and card.source:
        now, changed = [card.stated(edition) for edition in card.editions], "the table that was tested: its card"
    elif card is None and file is not None:
        now, changed = [digest_of(file.path)[:SHORT]], "the file that was tested: it"
    else:
        return found
    found = [place for place in found if place.edition in now]
    if not found:
        raise UsageError(f"{name} is not {changed} has changed since; run the tests again")
    return found


def _names(place: TableName) -> list[str]:
    """The names of a table: its dataset's, with the edition or without, and both with the split that it is."""
    names = [place.dataset, f"{place.dataset}@{place.edition}"]
    return names + [f"{name}#{place.split}" for name in names if place.split]
