"""The style that all figures of matplotlib share: sizes in inches, colours, and the length of a name."""

from functools import lru_cache

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

from tabcontam.verdicts.wording import visible

WIDTH, PAGE = 7.0, 9.4  # size of a page
COLUMN = 3.35  # width of one column of a two-column page
EDGE = 0.05  # of the page
POINTS_AN_INCH = 72
LONGEST = {"llm": 26, "dataset": 26, "test": 28}  # most letters of a name
INK, QUIET, PALE = "#1b1f24", "#57606a", "#98a2ad"
FOUND, SILENT, GREY = "#b42318", "#f2c94c", "#8c959f"


def cut(name: str, longest: int) -> str:
    """Return a name on one line of at most `longest` letters. The middle is cut; control characters are made visible.

    >>> cut("openai:meta-llama/Meta-Llama-3-8B", 20)
    'openai:met…lama-3-8B'
    """
    name = visible(name, line=True)
    half = (longest - 1) // 2
    return name if len(name) <= longest else f"{name[: longest - 1 - half]}…{name[-half:]}"


@lru_cache(maxsize=4096)
def length(words: str, size: float, weight: str = "normal") -> float:
    """Return the printed length of a text in inches."""
    font = FontProperties(size=size, weight=weight)
    points: float = TextToPath().get_text_width_height_descent(words, font, ismath=False)[0]
    return points / POINTS_AN_INCH
