"""The rows next to the sampled rows in a file, among rows of the same kind (detected by `file_order_search.py`)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from tabcontam.tables.table_contents import Rows

Row = tuple[str | None, ...]


@dataclass(frozen=True)
class AdjoiningRows:
    """For each sampled row, the nearest earlier and the nearest later row of its kind in the file.

    Rows with equal cells in the column `by` are of one kind; if `by` is None, all rows are. `order` is the column that
    shows a row's position. `informative` are the columns in which nearby rows are more alike than other rows.
    """

    by: str | None
    order: str
    informative: tuple[str, ...]
    before: tuple[Row | None, ...]
    after: tuple[Row | None, ...]

    def facts(self) -> dict[str, Any]:
        """Return all fields in a form that JSON can store."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def read(cls, facts: Mapping[str, Any]) -> "AdjoiningRows":
        """Return the object that `facts` described; `facts` may have been written to JSON and read again."""
        before, after = (
            tuple(row if row is None else tuple(row) for row in facts[name]) for name in ("before", "after")
        )
        return cls(facts["by"], facts["order"], tuple(facts["informative"]), before, after)

    def with_rows(self, change: Callable[[Rows], Rows]) -> "AdjoiningRows":
        """Return a copy with the rows that `change` makes of the rows before and after."""

        def changed(rows: Sequence[Row | None]) -> tuple[Row | None, ...]:
            found = iter(change(tuple(row for row in rows if row is not None)))
            return tuple(row if row is None else next(found) for row in rows)

        return replace(self, before=changed(self.before), after=changed(self.after))

    def columns(self, name: str) -> Iterator[tuple[str, tuple[Row | None, ...]]]:
        """Yield the earlier rows, then the later rows, each with a title for the cells of column `name` in them."""
        kind = "" if self.by is None else f" by {self.by}"
        yield f"{name} of the row before{kind}", self.before
        yield f"{name} of the row behind{kind}", self.after
