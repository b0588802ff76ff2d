"""A tally of the documents that were read, and of parts that were skipped or changed, with the reasons."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Reason(StrEnum):
    """A reason why a part of a corpus was not read, or was changed. In messages, a number follows it."""

    ARCHIVE = "archives, not read (unpack them)"
    NESTED = "archives or compressed files inside compressed ones, not read (unpack them)"
    BINARY = "files that hold no text, not read"
    EMPTY = "empty files"
    UNREADABLE = "files that could not be read completely"
    CHANGED = "files that changed while they were read"
    DAMAGED = "files whose compressed or Parquet data are damaged, read up to the damage"
    NO_JSON = "pieces that are not JSON, read as plain text"
    NO_JSON_SKIPPED = "pieces that are not JSON and so have no fields, not read"
    TOO_LARGE = "records above the size limit, read as plain text"
    TOO_LARGE_SKIPPED = "records above the size limit, which have no fields, not read"
    NO_FIELD = "records without the named fields, not read"
    NOT_UTF8 = "bytes that are not UTF-8, each read as a question mark"
    NO_TEXT = "WARC records that are not of the text form (WET), not read"
    BROKEN_WARC = "places where a WARC file is damaged, continued at the next record"
    BYTES = "columns that hold bytes and no text, not read"


OF_FILES = frozenset(  # reasons that count whole files, each once
    {Reason.ARCHIVE, Reason.NESTED, Reason.BINARY, Reason.EMPTY, Reason.UNREADABLE, Reason.CHANGED, Reason.DAMAGED}
)


@dataclass
class Tally:
    """A count of the read parts of a corpus: `documents`, the `bytes` of their text (UTF-8, overlaps counted once), and
    for each reason how often it occurred in each file. An index stores it by `as_dict` and `from_dict`.
    """

    documents: int = 0
    bytes: int = 0
    by_reason: dict[Reason, dict[str, int]] = field(default_factory=dict)

    def note(self, reason: Reason, file: str, number: int = 1) -> None:
        """Count something in the file of this name that was skipped or changed."""
        places = self.by_reason.setdefault(reason, {})
        places[file] = places.get(file, 0) + number

    def count(self, reason: Reason) -> int:
        """Return how often a reason occurred; for a reason that concerns whole files, the number of files."""
        places = self.by_reason.get(reason, {})
        return len(places) if reason in OF_FILES else sum(places.values())

    def add(self, other: "Tally") -> None:
        """Add the counts of another process or portion."""
        self.documents += other.documents
        self.bytes += other.bytes
        for reason, places in other.by_reason.items():
            for file, number in places.items():
                self.note(reason, file, number)

    @property
    def counts(self) -> Mapping[Reason, int]:
        """The number of times that each reason occurred, without the reasons that did not."""
        return {reason: self.count(reason) for reason in Reason if reason in self.by_reason}

    def sentence(self) -> str:
        """Return one line for the user on skipped and changed parts; empty if everything was read unchanged."""
        return "; ".join(
            f"{reason}: {number:,} ({_named(self.by_reason[reason])})" for reason, number in self.counts.items()
        )

    def as_dict(self) -> dict[str, object]:
        """Return the tally as values for JSON."""
        found = {reason.name: dict(places) for reason, places in self.by_reason.items()}
        return {"documents": self.documents, "bytes": self.bytes, "found": found}

    @classmethod
    def from_dict(cls, kept: Mapping[str, object]) -> "Tally":
        """Return the tally from the result of `as_dict`."""
        documents, size, found = kept["documents"], kept["bytes"], kept["found"]
        if not (isinstance(documents, int) and isinstance(size, int) and isinstance(found, dict)):
            raise ValueError("no tally")
        return cls(documents, size, {Reason[name]: dict(places) for name, places in found.items()})


# named: the most files that a sentence names for each reason
def _named(places: Mapping[str, int], *, named: int = 3) -> str:
    """Return the names of the first files, and the number of further files."""
    names = sorted(places)
    more = f" and {len(names) - named} more" if len(names) > named else ""
    return f"{', '.join(names[:named])}{more}"
