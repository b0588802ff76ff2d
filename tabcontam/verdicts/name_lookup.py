"""The lookup of a run's models and tables by a name."""

from collections.abc import Sequence
from pathlib import Path

from tabcontam.errors import UsageError, unknown
from tabcontam.models.catalogue import find_entry, split_label
from tabcontam.tables.dataset_cards import SHORT, find_card, split_edition, split_named
from tabcontam.tables.file_specs import digest_of, named_file
from tabcontam.tables.sources import card_of, is_source, stated_name
from tabcontam.verdicts.result_types import TableName
from tabcontam.verdicts.results import RunResults


def llms_named(view: RunResults, names: Sequence[str]) -> list[str]:
    """Return the models that have one of these names: in the run, at the provider after resolution, or in the
    catalogue.

    Without names, return all models except the controls that joined. Raises `UsageError` for a name without a model.
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
    """Return a model's spec and its names in the catalogue, which lists PROVIDER:MODEL under MODEL."""
    entry = find_entry(spec) or find_entry(spec.partition(":")[2])
    return {spec, *((entry.name, *entry.served) if entry else ())}


def places_named(view: RunResults, name: str) -> list[TableName]:
    """Return the tables of a run that a name means: a report's label, NAME, NAME@EDITION, an alias, a FILE or a source.

    A name may end in `#SPLIT`; without it, the name means all splits. Raises `UsageError` for a name without a table in
    the run, and for a FILE or a user's own card that has changed since the run.
    """
    fetched = is_source(name)
    if fetched:
        name = card_of(name) or stated_name(name)
    labels = {result.table: view.label(result) for result in view.results}
    named, split = split_named(name)
    base, edition = split_edition(named)
    card, file = find_card(base), None if fetched else named_file(name)
    matches = [place for place, label in labels.items() if name in (label, *_names(place))]
    if not matches and card is not None:
        places = [place for place in labels if place.dataset == card.name]
        matches = [
            place
            for place in places
            if edition in (None, card.named(place.edition or "")) and split in (None, place.split)
        ]
    if not matches:
        matches = [place for place in labels if (file.name if file else Path(name).name) in _names(place)]
    if not matches:
        raise unknown("dataset of these results", name, dict.fromkeys(labels.values()))
    if card is not None and card.source:
        now, changed = [card.stated(edition) for edition in card.editions], "the table that was tested: its card"
    elif card is None and file is not None:
        now, changed = [digest_of(file.path)[:SHORT]], "the file that was tested: it"
    else:
        return matches
    matches = [place for place in matches if place.edition in now]
    if not matches:
        raise UsageError(f"{name} is not {changed} has changed since; run the tests again")
    return matches


def _names(place: TableName) -> list[str]:
    """Return the possible names of a table: the dataset with or without its edition, and with or without its split."""
    names = [place.dataset, f"{place.dataset}@{place.edition}"]
    return names + [f"{name}#{place.split}" for name in names if place.split]
