"""The area of a plot on a page, and conversion of shares to positions in the area."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PlotArea:
    """The size of a plot and the edges of its axes, in the plot's units."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int

    def across(self, share: float) -> float:
        """Return the horizontal position of a share from 0 to 1, rounded for SVG."""
        return round(self.left + share * (self.right - self.left), 1)

    def up(self, share: float) -> float:
        """Return the vertical position of a share from 0 to 1, rounded for SVG."""
        return round(self.bottom - share * (self.bottom - self.top), 1)
