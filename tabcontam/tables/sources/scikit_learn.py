"""Tables that scikit-learn ships or fetches: `sklearn:diabetes`, as scikit-learn's frame writes them."""

import inspect
from typing import Any

from tabcontam.errors import UsageError, one_line, unknown
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.tables.readers.base import File, TextFormat
from tabcontam.tables.sources.base import TableSource

PREFIX = "sklearn:"
LOADERS = ("load_", "fetch_")
AS_WRITTEN = TextFormat(",", "utf-8", header=True)


def card_of(spec: str) -> str | None:
    """Return the spec of the card's edition with this table: `iris@sklearn` for `sklearn:iris`; None without a card."""
    name = spec.removeprefix(PREFIX)
    loaders = {f"{prefix}{name}" for prefix in LOADERS}
    editions = ((card, edition) for card in load_cards().values() for edition in card.editions)
    return next((f"{card.name}@{edition.name}" for card, edition in editions if edition.loader in loaders), None)


def read_scikit_learn(spec: str) -> TableSource:
    """Return the frame of a `load_` or `fetch_` function and its target. Raises `UsageError` for other names."""
    from sklearn import datasets

    name = spec.removeprefix(PREFIX)
    known = {
        function.removeprefix(prefix): getattr(datasets, function)
        for function in sorted(datasets.__all__)
        for prefix in LOADERS
        if function.startswith(prefix) and "as_frame" in inspect.signature(getattr(datasets, function)).parameters
    }
    known.pop("openml", None)  # openml:ID keeps the file's own text
    if name not in known:
        raise unknown("table of scikit-learn", name, known)
    try:
        bunch: Any = known[name](as_frame=True)
    except (OSError, ValueError, ImportError, EOFError) as error:
        raise UsageError(f"{spec} cannot be fetched ({one_line(error)}); try again, or give the file itself") from None
    content = bunch.frame.to_csv(index=False, lineterminator="\n").encode()
    target = getattr(bunch.target, "name", None)  # several targets cannot be classified
    file = File(content, spec, form=AS_WRITTEN)
    return TableSource(spec, name.replace("_", " "), (file,), public=True, target=target)
