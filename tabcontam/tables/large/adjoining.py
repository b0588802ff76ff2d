"""The rows of a file that stand next to the kept ones among those of their kind (`lines.py` finds them)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from tabcontam.tables.cells import Rows

Row = tuple[str | None, ...]


@dataclass(frozen=True)
class Adjoining:
    """For each kept row the row of its kind that stands next before it in the file, and the one next behind it.

    The kind is the cell of the column `by`; without one, all rows are of one kind. `order` is the column that tells
    where a row stands, and `told` are the columns in which rows that stand close together are more alike than others.
    """

    by: str | None
    order: str
    told: tuple[str, ...]
    before: tuple[Row | None, ...]
    behind: tuple[Row | None, ...]

    def facts(self) -> dict[str, Any]:
        """What it holds, as JSON can hold it."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def read(cls, facts: Mapping[str, Any]) -> "Adjoining":
        """What `facts` and JSON made of one."""
        before, behind = (
            tuple(row if row is None else tuple(row) for row in facts[name]) for name in ("before", "behind")
        )
        return cls(facts["by"], facts["order"], tuple(facts["told"]), before, behind)

    def with_rows(self, change: Callable[[Rows], Rows]) -> "Adjoining":
        """The same of a table whose rows are changed so."""

        def changed(rows: Sequence[Row | None]) -> tuple[Row | None, ...]:
            found = iter(change(tuple(row for row in rows if row is not None)))
            return tuple(row if row is None else next(found) for row in rows)

        return replace(self, before=changed(self.before), behind=changed(self.behind))

    def columns(self, name: str) -> Iterator[tuple[str, tuple[Row | None, ...]]]:
        """What the cells of a column in the adjoining rows are called, with these rows."""
        kind = "" if self.by is None else f" by {self.by}"
        yield f"{name} of the row before{kind}", self.before
        yield f"{name} of the row behind{kind}", self.behind
