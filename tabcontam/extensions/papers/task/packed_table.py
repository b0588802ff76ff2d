"""Tables as packed text in a query: answers may contain any of the rows, so weighing compares them with all rows."""

import json
import zlib
from base64 import b85decode, b85encode
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache

from tabcontam.errors import Skip
from tabcontam.evidence.base import Trial
from tabcontam.extensions.papers.thresholds import MOST_CARRIED_CHARACTERS
from tabcontam.tables.cached_facts import table_fact
from tabcontam.tables.dataset_cards import ClassificationQuestion
from tabcontam.tables.table import Table
from tabcontam.tables.text_tasks import TextForm, TextTask


@table_fact
def packed(table: Table) -> str:
    """Return the table's columns, rows and known rows as packed text. Raises `Skip` if it is too long."""
    fields = [table.name, table.title, table.edition, table.sha256, table.columns, table.target]
    of_card = [table.question and asdict(table.question), table.text and asdict(table.text)]
    text = json.dumps([*fields, *of_card, sorted(table.missing), table.known, table.rows], separators=(",", ":"))
    if len(text) > MOST_CARRIED_CHARACTERS:
        most = f"more than {MOST_CARRIED_CHARACTERS} characters"
        raise Skip(f"the table's rows have {most}: too many to compare answers with")
    return b85encode(zlib.compress(text.encode())).decode()


@lru_cache(maxsize=2)
def unpacked(packed_text: str) -> Table:
    """Return the table in a packed text, cached with its facts. Raises `ValueError` if the text has none."""
    try:
        held = json.loads(zlib.decompressobj().decompress(b85decode(packed_text), MOST_CARRIED_CHARACTERS))
        name, title, edition, sha256, columns, target, question, read, missing, known, rows = held
    except (zlib.error, ValueError, TypeError) as error:
        raise ValueError(f"the text holds no packed table: {error}") from error
    return Table(
        name=name,
        title=title,
        edition=edition,
        sha256=sha256,
        columns=tuple(columns),
        rows=tuple(map(tuple, rows)),
        names=(name,),
        target=target,
        question=question and ClassificationQuestion(**question),
        text=read and TextTask(TextForm(read["form"]), tuple(read["texts"]), read["label"], read["names"]),
        missing=frozenset(missing),
        known=tuple(tuple(map(tuple, own)) for own in known),
    )


def carried_table(trials: Sequence[Trial]) -> Table | None:
    """Return the table that a query of these trials carries; None if no query does."""
    packed_text = next((text for trial in trials for text in trial.query.not_expected), None)
    return None if packed_text is None else unpacked(packed_text)
