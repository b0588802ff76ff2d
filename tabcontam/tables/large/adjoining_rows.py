"""The rows of a file next to the sampled rows, among the rows of the same kind (found by `file_order_search.py`)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from tabcontam.tables.table_contents import Rows

Row = tuple[str | None, ...]


@dataclass(frozen=True)
class AdjoiningRows:
    """For each sampled row the nearest row of its kind before it in the file, and the nearest one behind it.

    The kind is the cell of the column `by`; without one, all rows are of one kind. `order` is the column that shows
    where a row stands, and `informative` are the columns in which nearby rows are more alike than others.
    """

    by: str | None
    order: str
    informative: tuple[str, ...]
    before: tuple[Row | None, ...]
    after: tuple[Row | None, ...]

    def facts(self) -> dict[str, Any]:
        """Return the content as JSON can hold it."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def read(cls, facts: Mapping[str, Any]) -> "AdjoiningRows":
        """Return the object from the output of `facts` after a round trip through JSON."""
        before, after = (
            tuple(row if row is None else tuple(row) for row in facts[name]) for name in ("before", "after")
        )
        return cls(facts["by"], facts["order"], tuple(facts["informative"]), before, after)

    def with_rows(self, change: Callable[[Rows], Rows]) -> "AdjoiningRows":
        """Return the adjoining rows of a table whose rows `change` changes."""

        def changed(rows: Sequence[Row | None]) -> tuple[Row | None, ...]:
            found = iter(change(tuple(row for row in rows if row is not None)))
            return tuple(row if row is None else next(found) for row in rows)

        return replace(self, before=changed(self.before), after=changed(self.after))

    def columns(self, name: str) -> Iterator[tuple[str, tuple[Row | None, ...]]]:
        """Yield the name of a column's cells in the adjoining rows, with these rows."""
        kind = "" if self.by is None else f" by {self.by}"
        yield f"{name} of the row before{kind}", self.before
        yield f"{name} of the row behind{kind}", self.after
