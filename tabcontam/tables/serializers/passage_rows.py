"""Rows as passages of their own: on several lines, or in sentences, as TabLLM writes them (Hegselmann et al. 2023).

Such a row cannot be continued, so that it can be shown and asked about as a whole, and not completed: `evaluate` takes
these forms, and tests that hide a cell do not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tabcontam.tables.serializers.template import TemplateRows
from tabcontam.tables.table import Cell


@dataclass(frozen=True)
class PassageRows(TemplateRows):
    """A template whose features may stand on lines of their own, each with an `end` after its value."""

    end: str = ""
    form: ClassVar[str] = "passage"

    def row(self, columns: Sequence[str], cells: Sequence[Cell]) -> str:
        """Return the row as one text."""
        return self._sentences.row(columns, cells) + self.end

    def parse(self, text: str, columns: Sequence[str]) -> tuple[Cell, ...]:
        """Return the cells of a serialized row. Raises ValueError where `text` is not a row of these columns."""
        if not text.endswith(self.end):
            raise ValueError(f"no {self.end!r} at the end")
        return self._sentences.parse(text.removesuffix(self.end), columns)

    @property
    def _sentences(self) -> TemplateRows:
        """The form as a template, in which the end of a feature belongs to the separator after it."""
        between = self.end + self.feature_separator
        return TemplateRows(self.name, self.about, self.specifier, self.value_separator, between)
