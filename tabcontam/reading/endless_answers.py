"""Detection of answers that continue without end, for which more text would not change the value that is read.

Small models often answer in twenty tokens, then write on to their limit: further rows, or one number again and again.
"""

from collections import Counter
from collections.abc import Sequence

from tabcontam.reading.named_values import any_name
from tabcontam.reading.thresholds import (
    LEAST_REPEATED_CHARACTERS,
    LEAST_REPEATED_LINES_CHARACTERS,
    LEAST_REPEATS,
    LONGEST_REPEATED_PIECE,
    MOST_ROWS_IN_A_LINE,
)
from tabcontam.reading.wrapping import without_thought


def goes_on(text: str, asked: Sequence[str], shown: str = "") -> bool:
    """Return whether an unfinished answer names an asked feature too often in a line, or ends with a repeated piece.

    A repetition that is also in `shown`, the prompt, does not count, nor does thinking before the answer.
    """
    answer = without_thought(text)[0]
    return _names_again(answer, tuple(asked)) or _repeats(answer, shown)


def _names_again(text: str, asked: tuple[str, ...]) -> bool:
    """Return whether a line names a feature, each time in the same way, more often than a line can have rows."""
    named, last = Counter[str](), 0
    for match in any_name(asked).finditer(text):
        if "\n" in text[last : match.start()]:
            named.clear()
        last = match.end()
        # Prose may also name a feature often, but not each time with the same sign or word after it.
        name = match.group() + text[last : last + 2].rstrip("0123456789")
        named[name] += 1
        if named[name] > MOST_ROWS_IN_A_LINE:
            return True
    return False


def _repeats(text: str, shown: str) -> bool:
    """Return whether the text ends with three or more repetitions of one piece."""
    for size in range(1, min(LONGEST_REPEATED_PIECE, len(text) // LEAST_REPEATS) + 1):
        piece = text[-size:]
        length = max(
            LEAST_REPEATS * size, LEAST_REPEATED_LINES_CHARACTERS if "\n" in piece else LEAST_REPEATED_CHARACTERS
        )
        end = text[-length:]
        # A line of dashes, or blanks that fill a column, is not a value.
        if len(end) == length and end[size:] == end[:-size] and any(map(str.isalnum, piece)):
            return end not in shown
    return False
