"""Entry points of other packages, for the tests that act as if these were installed."""

from collections.abc import Sequence

import pytest

from tabcontam import entry_points
from tabcontam.entry_points import EntryPoint


def added_points(monkeypatch: pytest.MonkeyPatch, group: str, points: Sequence[tuple[str, str, str]]) -> None:
    """Add entry points to a group, each by its name, its value and its package."""
    listed = entry_points.listed
    added = [EntryPoint(*point) for point in points]
    monkeypatch.setattr(
        entry_points, "listed", lambda asked: (*listed(asked), *added) if asked == group else listed(asked)
    )
