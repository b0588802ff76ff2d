"""Tables that are not files on this machine: at an address, on OpenML or Hugging Face, or in scikit-learn.

A spec names a source by an address, or by the prefix before a colon, as in `openml:61`.
"""

import re

from tabcontam.errors import UsageError
from tabcontam.tables.readers.base import FOUND_OUT, TextFormat
from tabcontam.tables.sources import addresses, hugging_face, openml, scikit_learn
from tabcontam.tables.sources.addresses import without_queries as without_queries
from tabcontam.tables.sources.base import TableSource as TableSource
from tabcontam.tables.sources.base import read_source as read_source

ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
PREFIXES = (openml.PREFIX, hugging_face.PREFIX, scikit_learn.PREFIX)


def is_source(spec: str) -> bool:
    """Return whether a spec names a source, not a card or a file."""
    return is_address(spec) or spec.startswith(PREFIXES)


def is_address(spec: str) -> bool:
    """Return whether a spec is an address: of the web, or of an unsupported kind (`s3://…`)."""
    return bool(ADDRESS.match(spec))


def stated_name(spec: str) -> str:
    """Return the name in results of a source's table."""
    return addresses.name_of(spec) if is_address(spec) else spec


def card_of(spec: str) -> str | None:
    """Return the spec of the card's edition with this table: a card has more facts; None without a card."""
    return scikit_learn.card_of(spec) if spec.startswith(scikit_learn.PREFIX) else None


def open_source(spec: str, form: TextFormat) -> TableSource:
    """Return the source's files. Raises `UsageError` if they cannot be fetched."""
    if is_address(spec):
        return addresses.read_address(spec, form)
    if spec.startswith(hugging_face.PREFIX):
        return hugging_face.read_hugging_face(spec, form)
    if form != FOUND_OUT:
        raise UsageError(f"{next(iter(form.given.values()))} means nothing for {spec}; leave it out")
    if spec.startswith(openml.PREFIX):
        return openml.read_openml(spec)
    return scikit_learn.read_scikit_learn(spec)
