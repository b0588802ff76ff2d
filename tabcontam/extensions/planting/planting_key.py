"""Digits that a table's owner drew from a secret key before publication: the draws, and the key file.

The owner of the key knows all texts that could have been drawn for each planted cell, its alternatives. Carlini et al.
2019 ("The Secret Sharer", section 4) rank random canaries among their alternatives in this way. Zhang et al. 2024
("Membership Inference Attacks Cannot Prove that a Model Was Trained On Your Data", section 5) explain why such evidence
is sound.
"""

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from tabcontam.errors import UsageError
from tabcontam.paths import write_secret
from tabcontam.tables.table import DrawnCell

KIND, VERSION = "the key of a planted table", 1
SECRET = 32  # bytes


@dataclass(frozen=True)
class PlantingKey:
    """The secret of the owner of a planted table.

    `table` is the file's name, `sha256` the digest of its planted bytes. `tolerances` maps each planted column to the
    largest change of a cell, in the column's unit. The `repr` does not show the secret.
    """

    secret: bytes = field(repr=False)
    table: str
    sha256: str
    tolerances: Mapping[str, str]
    cells: tuple[DrawnCell, ...] = field(repr=False)

    def drawn(self, cell: DrawnCell) -> str:
        """Return the text that was drawn for a cell. All alternatives have the same probability."""
        return cell.alternatives[drawn_place(self.secret, self.table, cell.column, cell.row, len(cell.alternatives))]


def drawn_place(secret: bytes, table: str, column: str, row: int, among: int) -> int:
    """Return the index, below `among`, of the alternative text that a cell gets."""
    return keyed_number(secret, ("digits", table, column, row), among)


def keyed_number(secret: bytes, parts: tuple[str | int, ...], below: int) -> int:
    """Return a whole number from 0 to `below` - 1, all equally probable, by HMAC-SHA-256 of `parts`.

    To keep them equally probable, a 64-bit word above the last multiple of `below` is rejected and drawn again.
    """
    word_bits = 64  # bits from which one number is drawn
    usable = 2**word_bits - 2**word_bits % below
    for tries in count():
        message = json.dumps([*parts, tries], ensure_ascii=True, separators=(",", ":")).encode()
        word = int.from_bytes(hmac.digest(secret, message, "sha256")[: word_bits // 8])
        if word < usable:
            return word % below
    raise AssertionError("the count of tries has no end")


def write_key(path: Path, key: PlantingKey) -> None:
    """Write the key to a new file that only its owner can read.

    Raises `UsageError` if the file exists already, or cannot be written.
    """
    stored = {
        "tabcontam": KIND,
        "version": VERSION,
        "table": key.table,
        "sha256": key.sha256,
        "secret": key.secret.hex(),
        "tolerance": dict(key.tolerances),
        "cells": [
            {"row": cell.row + 1, "column": cell.column, "alternatives": cell.alternatives} for cell in key.cells
        ],
    }
    try:
        write_secret(path, json.dumps(stored, ensure_ascii=False, indent=1) + "\n")
    except FileExistsError:
        raise UsageError(f"{path} exists already, and a key is never overwritten; name another file") from None
    except OSError as error:
        raise UsageError(f"the key cannot be written to {path}: {error.strerror or error}") from error


def read_key(path: Path) -> PlantingKey:
    """Return the key in a file. Raises `UsageError`, which shows nothing of the file's content."""
    try:
        stored = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"the key {path} cannot be read: {error.strerror or error}") from error
    except ValueError:
        raise _no_key(path) from None
    try:
        if stored["tabcontam"] != KIND:
            raise _no_key(path)
        if stored["version"] != VERSION:
            raise UsageError(f"{path} is a key of another version of tabcontam; update tabcontam")
        key = PlantingKey(
            secret=bytes.fromhex(stored["secret"]),
            table=str(stored["table"]),
            sha256=str(stored["sha256"]),
            tolerances={str(column): str(amount) for column, amount in stored["tolerance"].items()},
            cells=tuple(_cell(cell) for cell in stored["cells"]),
        )
    except (LookupError, TypeError, ValueError, AttributeError):
        raise _no_key(path) from None
    if len(key.secret) != SECRET or not key.cells:
        raise _no_key(path)
    return key


def _cell(entry: Mapping[str, object]) -> DrawnCell:
    row, column, texts = entry["row"], entry["column"], entry["alternatives"]
    if not isinstance(row, int) or row < 1 or not isinstance(column, str) or not isinstance(texts, list):
        raise ValueError("no cell")
    if len(texts) < 2 or len(set(texts)) < len(texts) or not all(isinstance(text, str) for text in texts):
        raise ValueError("no alternatives")
    return DrawnCell(row - 1, column, tuple(texts))


def _no_key(path: Path) -> UsageError:
    return UsageError(f"{path} is no key of a planted table; give the key file that `tabcontam plant` wrote")
